// Package racing is for tests that the race detector makes long.
package racing

import "testing"

// Skip skips a test that reads or writes much in one goroutine, if the race detector is
// on.
func Skip(t testing.TB) {
	t.Helper()
	if Enabled {
		t.Skip("one goroutine has no races, and the race detector makes it ten times as slow")
	}
}
