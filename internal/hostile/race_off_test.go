//go:build !race

package hostile

const slow = 1
