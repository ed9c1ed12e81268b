package cli

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
)

// The page is there from the start, and written again during a long run.
func TestPageDuringARun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report.html")
	text := func() string {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		return string(data)
	}
	p, err := OpenPage(file, "")
	require.NoError(t, err)
	assert.Contains(t, text(), "No run has ended yet.")
	hooks := p.Hooks()
	hooks.Outcome("s", "https://example.org/a", harvest.OutcomeCreated, nil)
	hooks.Progress(harvest.Progress{})
	assert.NotContains(t, text(), "https://example.org/a")
	p.wrote = p.wrote.Add(-time.Hour)
	hooks.Progress(harvest.Progress{})
	assert.Contains(t, text(), "https://example.org/a")
}
