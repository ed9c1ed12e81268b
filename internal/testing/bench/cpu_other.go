//go:build !unix

package bench

import "time"

var start = time.Now()

// cpuTime returns the time that has passed: processor time is not at hand.
func cpuTime() time.Duration { return time.Since(start) }
