//go:build race

package resourcesync_test

// race: the race detector is on, which makes long tests very long.
const race = true
