package publish

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/resourcesync"
	"github.com/websync-go/websync/sitemap"
)

// A plainCatalog has no outlines.
type plainCatalog struct{ websync.Catalog }

// A published is a document and its bytes.
type published struct {
	ETag     string
	Modified time.Time
	Text     string
}

// TestOutlinesChangeNothing: documents are the same from the outlines and from the log, of
// a Publisher that knew an earlier state and of one that begins.
func TestOutlinesChangeNothing(t *testing.T) {
	s := newShelf(t, 60, 0)
	place := func(c websync.Catalog) websync.Place {
		return websync.Place{Catalog: c, Base: "https://example.org/", Sources: []string{"own", "other"}, Own: []string{"own"}}
	}
	publishers := func(c websync.Catalog) []websync.Publisher {
		return []websync.Publisher{
			&sitemap.Publisher{Place: place(c), PartSize: 4}, &resourcesync.Publisher{Place: place(c), ListSize: 4, PartSize: 4},
		}
	}
	all := func(p websync.Publisher) map[string]published {
		documents := map[string]published{}
		for path, err := range p.Documents(t.Context()) {
			require.NoError(t, err)
			doc, err := p.Document(t.Context(), path)
			require.NoError(t, err)
			var text strings.Builder
			require.NoError(t, doc.Write(t.Context(), io.Writer(&text)))
			documents[path] = published{doc.ETag, doc.Modified, text.String()}
		}
		return documents
	}
	kept := publishers(s)
	for round := range 25 {
		for range round {
			s.change()
		}
		if round == 20 {
			_, err := s.Compact(t.Context())
			require.NoError(t, err)
		}
		begun, plain := publishers(s), publishers(plainCatalog{s})
		for i := range plain {
			want := all(plain[i])
			assert.Equal(t, want, all(kept[i]), "round %d", round)
			assert.Equal(t, want, all(begun[i]), "round %d", round)
		}
	}
}
