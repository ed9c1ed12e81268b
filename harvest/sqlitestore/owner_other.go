//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package sqlitestore

import (
	"errors"
	"os"
)

const canLock = false

func tryLock(*os.File) (bool, error) { return false, errors.ErrUnsupported }

// syncDir does nothing: a directory can't be synced here.
func syncDir(string) error { return nil }
