//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package filelock

import (
	"errors"
	"os"
)

// Supported reports whether this system has such locks.
const Supported = false

// Try returns [errors.ErrUnsupported].
func Try(*os.File) (bool, error) { return false, errors.ErrUnsupported }
