//go:build unix

package main

import (
	"os"
	"syscall"
)

// peak returns the greatest resident size of a process that has ended, in KiB on Linux.
func peak(p *os.ProcessState) int64 { return int64(p.SysUsage().(*syscall.Rusage).Maxrss) }
