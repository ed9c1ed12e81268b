//go:build unix

package dirsource

import "syscall"

// nonblock keeps the opening of a pipe that takes the place of a file from waiting for a
// writer.
const nonblock = syscall.O_NONBLOCK
