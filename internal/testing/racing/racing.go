// Package racing is for tests that take long, and longer under the race detector. They
// have two forms. The short form, with few cases, is the default. The environment
// variable WEBSYNC_LONG chooses the long one, with all cases; if it is "alone", tests that
// need the machine alone run, too.
package racing

import (
	"os"
	"testing"
)

// Few reports whether a test of many cases is to try only some of them: in the short
// form, and under the race detector, which sees as much in fewer.
func Few() bool { return Enabled || os.Getenv("WEBSYNC_LONG") == "" }

// Short reports whether a suite for drivers, which others run too, is to try only some of
// its cases: with -short, and under the race detector.
func Short() bool { return Enabled || testing.Short() }

// Some returns how many of n cases a test tries: a tenth, but at least two, if Few.
func Some[N int | uint64](n N) N {
	if Few() {
		return min(n, max(n/10, 2))
	}
	return n
}

// Long skips a test unless all cases are to be tried.
func Long(t testing.TB) {
	t.Helper()
	if Few() {
		t.Skip("takes long: set WEBSYNC_LONG")
	}
}

// Alone skips a test that needs the machine alone, such as one of the memory of a process,
// which is not that of its program while it gets no processor.
func Alone(t testing.TB) {
	t.Helper()
	if Enabled || os.Getenv("WEBSYNC_LONG") != "alone" {
		t.Skip("needs the machine alone: set WEBSYNC_LONG=alone")
	}
}

// Skip skips a test if the race detector is on, which makes it ten times as slow and finds
// nothing new in it: it does much in one goroutine, or what other tests do in less time.
func Skip(t testing.TB) {
	t.Helper()
	if Enabled {
		t.Skip("takes long, and has no races that shorter tests do not have")
	}
}
