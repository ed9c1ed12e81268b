//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package spool

import (
	"errors"
	"os"
)

// CanLock reports whether this system has locks of files.
const CanLock = false

// TryLock returns [errors.ErrUnsupported].
func TryLock(*os.File) (bool, error) { return false, errors.ErrUnsupported }
