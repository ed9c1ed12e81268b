package dirsource_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/dirsource"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
)

func TestConformance(t *testing.T) {
	top := t.TempDir()
	states := []map[string]string{
		{"a": "1", "b.html": "1", "c/1": "1", "c/2": "1", "c/d/1": "1", "odd %\xff\n": "1", "e": "1"},
		{"a": "1", "b.html": "2", "c/2": "1", "c/d/1": "2", "odd %\xff\n": "1", "e/1": "1", "f": "1"},
		{"a": "2", "b.html": "2", "c": "1", "e": "2", "f": "1"},
	}
	dir := func(state int) string { return filepath.Join(top, string(rune('0'+state))) }
	for i, files := range states {
		for name, text := range files {
			file := filepath.Join(dir(i), name)
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o777))
			if i > 0 && states[i-1][name] == text {
				require.NoError(t, os.Link(filepath.Join(dir(i-1), name), file))
				continue
			}
			require.NoError(t, os.WriteFile(file, []byte(strings.Repeat(text, i+1)), 0o666))
			// TestModifiedMoves checks what the clock of a file system is too coarse for
			at := time.Date(2026, 5, 4, 1, i, 0, 0, time.UTC)
			require.NoError(t, os.Chtimes(file, at, at))
		}
	}
	now := 0
	sourcetest.Run(t, sourcetest.Options{
		Source: func() harvest.Source {
			s := &dirsource.Source{Dir: dir(now), Base: base}
			s.Ahead(time.Hour)
			return s
		},
		Sites: make([]sourcetest.Site, len(states)),
		Store: func(testing.TB) harvest.Store { return memstore.New() },
		Enter: func(_ testing.TB, state int) { now = state },
	})
}
