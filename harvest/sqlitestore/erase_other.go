//go:build !linux

package sqlitestore

import "os"

// erase replaces bytes with zeros. Their space is free when the file is removed.
func erase(f *os.File, from, to int64) error { return overwrite(f, from, to) }
