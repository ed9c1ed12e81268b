//go:build !race

package resourcesync_test

const race = false

const histories = uint64(8)
