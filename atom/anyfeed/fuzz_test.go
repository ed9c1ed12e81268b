package anyfeed_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atom/anyfeed"
)

func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.[xj]*")
	require.NoError(f, err)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(data)
	}
	f.Add([]byte("<!DOCTYPE html><html><body>Log in</body></html>"))
	f.Fuzz(func(t *testing.T, data []byte) {
		findings := 0
		feed, items, err := anyfeed.Parse(bytes.NewReader(data), atom.Origin{URL: testURL}, func(websync.Finding) { findings++ })
		if err != nil {
			var parse *websync.ParseError
			require.ErrorAs(t, err, &parse)
			require.NotContains(t, err.Error(), "gofeed", "the outline must see what gofeed sees")
			require.Nil(t, feed)
			require.Empty(t, items)
			return
		}
		require.NotNil(t, feed)
		require.Positive(t, findings)
		require.LessOrEqual(t, len(items), anyfeed.MaxEntries)
		for _, item := range items {
			require.NotNil(t, item.Entry)
			require.NotEmpty(t, item.ID())
			for _, l := range item.Entry.Links {
				require.NotEmpty(t, l.Rel)
				require.NotEmpty(t, l.Href)
				require.GreaterOrEqual(t, l.Length, int64(0))
			}
			item.Entry.Resource(feed)
		}
	})
}
