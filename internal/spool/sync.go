package spool

import (
	"errors"
	"io/fs"
	"os"
)

// SyncDir flushes the names in an open directory to disk, and closes it. It is no error
// if the system can't flush a directory.
func SyncDir(d *os.File) error {
	err := d.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrInvalid) {
		err = nil
	}
	return errors.Join(err, d.Close())
}
