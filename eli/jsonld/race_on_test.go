//go:build race

package jsonld_test

// The race detector makes a program allocate several times as much.
func init() { mostAllocated = 8000 }
