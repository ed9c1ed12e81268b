package sitemap

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
)

// TestBoundOfOutlines: an outline limits what bound does.
func TestBoundOfOutlines(t *testing.T) {
	p := &Publisher{Place: websync.Place{Catalog: new(websync.Log), Base: "https://" + strings.Repeat("x", websync.OutlineBase-9) + "/"}}
	p.open()
	require.Len(t, p.Base, websync.OutlineBase)
	random := rand.New(rand.NewPCG(1, 2))
	text := func() string { return strings.Repeat("&", random.IntN(200)) }
	for range 1000 {
		item := websync.Item{Resource: websync.Resource{ID: text(), Content: websync.Link{Href: text()}}}
		for range random.IntN(4) {
			space := []string{"x", XHTMLNamespace, Namespace}[random.IntN(3)]
			item.Resource.Elements = append(item.Resource.Elements, websync.Element{Space: space, XML: text()})
		}
		bytes, links := p.bound(&item)
		o := websync.OutlineOf(&item)
		require.LessOrEqual(t, bytes, o.Bytes, "%+v", item)
		require.Equal(t, links, o.Links)
	}
}
