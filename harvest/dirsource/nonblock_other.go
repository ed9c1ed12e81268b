//go:build !unix

package dirsource

// nonblock is of use where pipes have names among those of files.
const nonblock = 0
