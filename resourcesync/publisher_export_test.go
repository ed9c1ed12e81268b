package resourcesync_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/publish"
	"github.com/websync-go/websync/resourcesync"
)

// A busy is a Publisher whose Catalog changes whenever a document is requested.
type busy struct {
	websync.Publisher
	change func()
}

func (b *busy) Document(ctx context.Context, path string) (*websync.Document, error) {
	b.change()
	return b.Publisher.Document(ctx, path)
}

// TestExportWhileChanging writes files while the Catalog changes. A reader that follows
// the changes from the at of the index loses none: no part is older than the index.
func TestExportWhileChanging(t *testing.T) {
	log := logOf("own", "a", "b", "c", "d", "e", "f", "g")
	p := publisherOf(log, &resourcesync.Publisher{PartSize: 2, ListSize: 5})
	n := 0
	changing := &busy{p, func() {
		n++
		log.Append(websync.Item{Source: "own", Resource: websync.Resource{ID: www + string(rune('a'+n%7))}})
	}}
	dir := t.TempDir()
	for range 3 {
		_, err := publish.WriteDir(t.Context(), dir, changing)
		require.NoError(t, err)
		read := func(name string) (resourcesync.Head, []resourcesync.Entry) {
			f, err := os.Open(filepath.Join(dir, name))
			require.NoError(t, err)
			defer f.Close()
			r := resourcesync.NewReader(f)
			head, err := r.Head()
			require.NoError(t, err)
			var entries []resourcesync.Entry
			for e, err := range r.All() {
				require.NoError(t, err)
				entries = append(entries, e)
			}
			return head, entries
		}
		index, parts := read("resourcelist.xml")
		require.True(t, index.Index)
		require.Greater(t, len(parts), 3)
		for _, part := range parts {
			head, _ := read(strings.TrimPrefix(part.Loc, www))
			assert.False(t, head.Metadata.At.Before(index.Metadata.At), "%s is of %v, and the index of %v", part.Loc, head.Metadata.At, index.Metadata.At)
		}
	}
}
