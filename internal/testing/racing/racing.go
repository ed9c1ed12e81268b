// Package racing is for tests that take long, and longer under the race detector.
package racing

import "testing"

// Few reports whether a test of many cases is to try only some of them: with -short, and
// under the race detector, which sees as much in fewer.
func Few() bool { return Enabled || testing.Short() }

// Some returns how many of n cases a test tries: a tenth, but at least two, if Few.
func Some[N int | uint64](n N) N {
	if Few() {
		return min(n, max(n/10, 2))
	}
	return n
}

// Skip skips a test that reads or writes much in one goroutine, if the race detector is
// on.
func Skip(t testing.TB) {
	t.Helper()
	if Enabled {
		t.Skip("one goroutine has no races, and the race detector makes it ten times as slow")
	}
}
