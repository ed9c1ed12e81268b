package cli

import (
	"fmt"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/runreport"
)

// DescribeRun returns a line about a run, and one for each problem.
func DescribeRun(key string, run *runreport.Run) string {
	r := run.Report
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d created, %d updated, %d deleted. %s", websync.RedactURL(key), r.Created, r.Updated, r.Deleted, run.Verdict())
	if run.State() == runreport.Failed {
		fmt.Fprintf(&b, "\n  %s", OneLine(run.Err.Error()))
	}
	for _, f := range append(append([]harvest.Failure(nil), r.Problems...), r.Failures...) {
		fmt.Fprintf(&b, "\n  %s", OneLine(strings.TrimPrefix(websync.RedactURL(f.ID)+": "+f.Error, ": ")))
	}
	if r.Guard != nil {
		fmt.Fprintf(&b, "\n  deletions are withheld: %s", OneLine(r.Guard.Message))
	}
	return b.String()
}
