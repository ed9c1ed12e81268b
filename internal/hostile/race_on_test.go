//go:build race

package hostile

// The race detector takes several times the memory, and as much time.
const slow = 10
