//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package spool

import (
	"errors"
	"os"
	"syscall"
)

// CanLock reports whether this system has locks of files. A file system may still have
// none.
const CanLock = true

// TryLock locks f between processes until it is closed, or its process ends for whatever
// reason. It returns false if the file is locked through another opening, even one of the
// same process, and an error if it can't be locked.
func TryLock(f *os.File) (bool, error) {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, syscall.EINTR):
			return false, err
		}
	}
}
