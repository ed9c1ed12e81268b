// Package filelock locks files between processes. The lock of a process that ends, for
// whatever reason, ends with it.
package filelock
