//go:build race

package endtoend

import "flag"

// The race detector makes long tests very long: it sees as much in fewer of them.
func init() {
	flag.Set("damages", "100")
	faultStep = 9
}
