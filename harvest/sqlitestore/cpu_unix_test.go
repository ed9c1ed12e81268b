//go:build unix

package sqlitestore_test

import (
	"syscall"
	"time"
)

// cpu returns the time that this process has spent on processors.
func cpu() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
