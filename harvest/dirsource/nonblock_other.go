//go:build !unix

package dirsource

// nonblock is needed only on systems with named pipes.
const nonblock = 0
