//go:build race

package eli_test

// race: the race detector is on, which makes long tests very long.
const race = true
