//go:build !linux

package spool

import (
	"errors"
	"os"
)

// CanSyncDisk reports whether SyncDisk can flush the file system of a file.
func CanSyncDisk(*os.File) bool { return false }

// SyncDisk is never called.
func SyncDisk(*os.File) error { return errors.ErrUnsupported }
