//go:build race

package atom_test

import "flag"

// The race detector makes long tests very long: it sees as much in fewer histories.
func init() { flag.Set("rapid.checks", "25") }
