package bench_test

import (
	"bytes"
	"encoding/xml"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/internal/testing/bench"
)

// The documents are well-formed, have as many entries as were asked for, and depend on
// nothing but their seed.
func TestDocuments(t *testing.T) {
	for name, write := range map[string]func(seed uint64, n int, s bench.Script) []byte{
		"url": bench.Sitemap, "urlset": bench.Extended, "entry": bench.Atom, "md": bench.ResourceList,
	} {
		for _, s := range bench.Scripts {
			doc := write(7, 40, s.Script)
			assert.Equal(t, doc, write(7, 40, s.Script), name)
			assert.NotEqual(t, doc, write(8, 40, s.Script), name)
			n := 0
			for d := xml.NewDecoder(bytes.NewReader(doc)); ; {
				tok, err := d.Token()
				if err == io.EOF {
					break
				}
				require.NoError(t, err, "%s, %s", name, s.Name)
				if start, ok := tok.(xml.StartElement); ok && start.Name.Local == name {
					n++
				}
			}
			assert.Equal(t, map[string]int{"url": 40, "urlset": 1, "entry": 40, "md": n}[name], n, name)
		}
	}
}
