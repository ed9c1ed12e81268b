//go:build unix

package dirsource

import "syscall"

// nonblock makes opening a pipe that has replaced a file return without waiting for a
// writer.
const nonblock = syscall.O_NONBLOCK
