//go:build !unix

package bench

import "time"

var start = time.Now()

// CPUTime returns the time that has passed: processor time is not at hand.
func CPUTime() time.Duration { return time.Since(start) }
