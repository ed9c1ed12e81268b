//go:build !race

package resourcesync_test

const race = false
