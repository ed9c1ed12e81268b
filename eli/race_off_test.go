//go:build !race

package eli_test

const race = false
