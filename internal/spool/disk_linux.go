package spool

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// wholeDisks are the file systems whose syncfs flushes to the disk all that fsync would.
var wholeDisks = map[int64]bool{
	unix.EXT4_SUPER_MAGIC: true, unix.XFS_SUPER_MAGIC: true, unix.BTRFS_SUPER_MAGIC: true, unix.F2FS_SUPER_MAGIC: true,
	unix.TMPFS_MAGIC: true,
}

// CanSyncDisk reports whether SyncDisk can flush the file system of a file.
func CanSyncDisk(f *os.File) bool {
	var fs unix.Statfs_t
	var system unix.Utsname
	if unix.Fstatfs(int(f.Fd()), &fs) != nil || unix.Uname(&system) != nil {
		return false
	}
	return wholeDisks[int64(fs.Type)] && reportsErrors(unix.ByteSliceToString(system.Release[:]))
}

// SyncDisk flushes the whole file system of an open file to disk: all that was written to
// it since f was opened is there when SyncDisk returns, names too, or the result is an
// error. It takes hardly longer than flushing one file.
func SyncDisk(f *os.File) error { return os.NewSyscallError("syncfs", unix.Syncfs(int(f.Fd()))) }

// reportsErrors reports whether this release of Linux reports failed writes from syncfs:
// since 5.8 it does.
func reportsErrors(release string) bool {
	var major, minor int
	n, _ := fmt.Sscanf(release, "%d.%d", &major, &minor)
	return n == 2 && (major > 5 || major == 5 && minor >= 8)
}
