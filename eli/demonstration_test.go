package eli_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// TestDemonstrationSite: the pages of testdata/site describe the acts at their URLs,
// whatever the host is, with an expression and a format that leads to the text.
func TestDemonstrationSite(t *testing.T) {
	const dir = "testdata/site"
	pages := 0
	testkit.Files(t, dir, nil, func(path string, page []byte) {
		pages++
		url := country + strings.TrimPrefix(filepath.ToSlash(path), dir+"/")
		graph, err := eli.ReadPage(page, url, "text/html", nil, func(f websync.Finding) { assert.Fail(t, f.String()) })
		require.NoError(t, err, url)
		act, err := graph.Resource(url)
		require.NoError(t, err, url)
		require.NotEmpty(t, act.Expressions)
		for _, e := range act.Expressions {
			assert.NotEmpty(t, e.Titles, url)
			assert.NotEmpty(t, e.Language, url)
		}
		texts := act.FullText(eli.Preferences{Strict: true})
		require.NotEmpty(t, texts, url)
		for _, candidates := range texts {
			require.NotEmpty(t, candidates, url)
			assert.Equal(t, url, candidates[0].URL)
			assert.Equal(t, "text/html", candidates[0].MediaType)
		}
	})
	assert.Equal(t, 3, pages)
}
