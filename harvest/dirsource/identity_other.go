//go:build !linux && !openbsd && !dragonfly && !solaris && !darwin && !freebsd && !netbsd

package dirsource

import (
	"os"
	"time"
)

// identity returns what stands for the number and the time of change, which this system
// does not have.
func identity(info os.FileInfo) (inode uint64, changed time.Time) { return 0, info.ModTime() }
