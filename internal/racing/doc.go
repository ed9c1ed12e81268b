// Package racing is for tests that the race detector makes long.
package racing
