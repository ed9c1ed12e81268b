//go:build !race

package racing

// Enabled reports whether the race detector is on. It multiplies time and memory: tests
// of many cases have fewer then, in which it sees as much, and those of memory measure
// nothing.
const Enabled = false
