package cli

import (
	"fmt"
	"time"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/display"
)

// MaxDays is the greatest number of days of a Retention.
const MaxDays = 36_500

// Retention returns the Retention of numbers of days. Zero is its default, and negative
// is for ever.
func Retention(log, bodies int) harvest.Retention {
	const day = 24 * time.Hour
	return harvest.Retention{Log: time.Duration(log) * day, Bodies: time.Duration(bodies) * day}
}

// DescribeRetained returns a line about what a retention has removed, or why it could
// not.
func DescribeRetained(done harvest.Retained, err error) string {
	if err != nil {
		return "the store keeps too much: " + OneLine(err.Error()) + "; tried again in an hour"
	}
	return fmt.Sprintf("no longer kept: %s of the log that were superseded, %s that nothing names",
		display.Plural(done.Entries, "entry", "entries"), display.Plural(int64(done.Bodies), "body", "bodies"))
}
