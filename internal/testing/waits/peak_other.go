//go:build !unix

package main

import "os"

// peak returns 0: the size is not at hand.
func peak(*os.ProcessState) int64 { return 0 }
