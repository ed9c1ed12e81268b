//go:build darwin || freebsd || netbsd

package dirsource

import (
	"os"
	"syscall"
	"time"
)

// identity returns the number of a file in its file system, and when the system last
// changed anything about it.
func identity(info os.FileInfo) (inode uint64, changed time.Time) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Ino), time.Unix(st.Ctimespec.Unix())
	}
	return 0, info.ModTime()
}
