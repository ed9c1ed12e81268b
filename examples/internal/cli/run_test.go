package cli

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/status"
)

func TestDescribeRun(t *testing.T) {
	for rule, what := range map[string]string{"share": "Deletions", "document": "Deletions", "bodies": "New bodies"} {
		run := &status.Result{Report: &harvest.Report{Complete: true, Left: harvest.TaskCounts{Waiting: 1}, Guard: &harvest.GuardError{Rule: rule, Message: "the reason"}}}
		assert.Equal(t, "k: 0 created, 0 updated, 0 deleted. Not in step: work is left for the next run.\n  "+what+" are withheld: the reason", DescribeRun("k", run), rule)
	}
}
