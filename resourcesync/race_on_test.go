//go:build race

package resourcesync_test

// race: the race detector is on, which makes long tests very long.
const race = true

// histories is how many random histories a test of each shape has.
const histories = uint64(2)
