package testkit

import (
	"flag"
	"os"
	"runtime/debug"

	_ "pgregory.net/rapid" // defines the flag

	"github.com/websync-go/websync/internal/testing/racing"
)

// Most tests hold little, and would collect it all the time. Unless all cases are to be
// tried, package rapid makes a fifth of its histories.
func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
		debug.SetMemoryLimit(200 << 20)
	}
	if racing.Few() {
		flag.Set("rapid.checks", "20")
	}
}
