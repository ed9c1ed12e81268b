package websync_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
)

func TestChangeKind(t *testing.T) {
	assert.Zero(t, websync.Updated)
	for kind, want := range map[websync.ChangeKind]string{
		websync.Updated: "updated", websync.Created: "created", websync.Deleted: "deleted",
	} {
		assert.Equal(t, want, kind.String())
		text, err := kind.MarshalText()
		require.NoError(t, err)
		assert.Equal(t, want, string(text))
		out := websync.ChangeKind(100)
		require.NoError(t, out.UnmarshalText(text))
		assert.Equal(t, kind, out)
	}
	assert.Equal(t, "ChangeKind(3)", websync.ChangeKind(3).String())
	_, err := websync.ChangeKind(3).MarshalText()
	assert.EqualError(t, err, "ChangeKind 3 is not Updated, Created or Deleted")
	kind := websync.Deleted
	assert.EqualError(t, kind.UnmarshalText([]byte("moved")), `change "moved" is not "updated", "created" or "deleted"`)
	assert.Equal(t, websync.Deleted, kind)
}

func TestItemBody(t *testing.T) {
	content, graph := websync.Body{Name: "content"}, websync.Body{Name: "graph", Key: digest("sha-256")}
	item := websync.Item{Bodies: []websync.Body{content, graph}}
	b, ok := item.Body("graph")
	assert.True(t, ok)
	assert.Equal(t, graph, b)
	b, ok = item.Body("metadata")
	assert.False(t, ok)
	assert.Zero(t, b)
}

func TestResourceLink(t *testing.T) {
	first, second := websync.Link{Rel: "alternate", Href: "/a"}, websync.Link{Rel: "alternate", Href: "/b"}
	via := websync.Link{Rel: "via", Href: "https://example.com/a"}
	r := websync.Resource{Links: []websync.Link{first, via, second}}
	l, ok := r.Link("alternate")
	assert.True(t, ok)
	assert.Equal(t, first, l)
	l, ok = r.Via()
	assert.True(t, ok)
	assert.Equal(t, via, l)
	l, ok = r.Link("memento")
	assert.False(t, ok)
	assert.Zero(t, l)
}

func TestHeadTotal(t *testing.T) {
	head := websync.Head{Live: map[string]int64{"a": 1, "b": 20}}
	assert.EqualValues(t, 21, head.Total())
	assert.EqualValues(t, 20, head.Total("b"))
	assert.EqualValues(t, 21, head.Total("b", "a", "unknown"))
	assert.Zero(t, head.Total("unknown"))
	assert.Zero(t, websync.Head{}.Total())
}

func TestItemPrior(t *testing.T) {
	for _, item := range []websync.Item{{}, {Seq: 1}, {Seq: 2, Prior: 1}} {
		assert.NoError(t, item.Check())
	}
	for _, item := range []websync.Item{{Prior: 1}, {Seq: 2, Prior: 2}, {Seq: 2, Prior: 3}} {
		assert.ErrorIs(t, item.Check(), websync.ErrCatalog)
	}
}
