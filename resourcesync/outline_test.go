package resourcesync

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
	random := rand.New(rand.NewPCG(1, 2))
	text := func() string { return strings.Repeat("&", random.IntN(200)) }
	link := func() websync.Link {
		return websync.Link{
			Href: text(), Rel: text(), Type: text(), Encoding: text(), Digests: make(websync.Digests, random.IntN(3)),
			Attrs: []websync.Attr{{Space: text(), Local: text(), Value: text()}}[:random.IntN(2)],
		}
	}
	for range 1000 {
		item := websync.Item{Resource: websync.Resource{ID: text(), Content: websync.Link{Href: text(), Type: text()}}}
		for range random.IntN(4) {
			item.Resource.Links = append(item.Resource.Links, link())
			item.Bodies = append(item.Bodies, websync.Body{Link: link()})
			item.Resource.Elements = append(item.Resource.Elements, websync.Element{Space: "x", XML: text()})
		}
		bytes, _ := p.bound(&item)
		require.LessOrEqual(t, bytes, websync.OutlineOf(&item).Bytes, "%+v", item)
	}
}
