package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/status"
)

// Interrupted reports whether err is that of a run which ended only because ctx did: the
// Store has what the run got.
func Interrupted(ctx context.Context, err error) bool {
	_, failed := errors.AsType[*harvest.StoreError](err)
	return err != nil && ctx.Err() != nil && !failed
}

// DescribeRun returns a line about a run, and one for each problem.
func DescribeRun(key string, run *status.Result) string {
	r := run.Report
	var b strings.Builder
	key = websync.RedactURL(key)
	fmt.Fprintf(&b, "%s: %d created, %d updated, %d deleted. %s", key, r.Created, r.Updated, r.Deleted, run.Verdict())
	for _, line := range run.Errors() {
		fmt.Fprintf(&b, "\n  %s", OneLine(line))
	}
	if r.Guard != nil {
		fmt.Fprintf(&b, "\n  %s", OneLine(r.Guard.Sentence()))
	}
	return b.String()
}
