package websync_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/publish/catalogtest"
)

// library is a Log with the bytes of its bodies.
type library struct {
	websync.Log
	bytes map[websync.Digest]string
}

func (l *library) put(source, id, text string, kind websync.ChangeKind) {
	item := websync.Item{Source: source, Kind: kind, Resource: websync.Resource{ID: id}}
	if kind != websync.Deleted {
		link := websync.Link{Href: id, Digests: websync.Digests{websync.SHA256([]byte(text))}, Attrs: []websync.Attr{{Local: "a"}}}
		item.Resource.Authors = []websync.Person{{Name: "A"}}
		item.Resource.Content, item.Resource.Links = link, []websync.Link{link}
		item.Resource.Origin = &websync.Origin{Authors: item.Resource.Authors}
		item.Resource.Elements = []websync.Element{{Local: "e"}}
		item.Bodies = []websync.Body{{Name: "content", Link: link, Key: websync.SHA256([]byte(text))}}
		l.bytes[websync.SHA256([]byte(text))] = text
	}
	l.Append(item)
}

func (l *library) Open(ctx context.Context, b websync.Body) (io.ReadSeekCloser, error) {
	text, ok := l.bytes[b.Key]
	if !ok {
		return l.Log.Open(ctx, b)
	}
	return struct {
		*bytes.Reader
		io.Closer
	}{bytes.NewReader([]byte(text)), io.NopCloser(nil)}, nil
}

func TestLog(t *testing.T) {
	catalogtest.Run(t, catalogtest.Options{
		Open: func(t testing.TB) websync.Catalog {
			l := &library{bytes: map[websync.Digest]string{}}
			for i := range 30 {
				l.put(fmt.Sprint("source ", i%3), fmt.Sprint("urn:x:", i), fmt.Sprint("text ", i), websync.Created)
			}
			for i := range 10 {
				l.put(fmt.Sprint("source ", i%3), fmt.Sprint("urn:x:", i), "changed", websync.Updated)
			}
			l.put("source 0", "urn:x:0", "", websync.Deleted)
			l.put("source 1", "urn:x:1", "", websync.Deleted)
			l.put("source 1", "urn:x:1", "again", websync.Created)
			return l
		},
		Change: func(c websync.Catalog, n int) error {
			c.(*library).Append(websync.Item{Source: "source 0", Resource: websync.Resource{ID: fmt.Sprint("urn:new:", n)}})
			return nil
		},
		Replace: func(c websync.Catalog, n int) error {
			c.(*library).put("source 1", "urn:x:4", fmt.Sprint("replaced ", n), websync.Updated)
			return nil
		},
	})
}

func TestLogTimes(t *testing.T) {
	var l websync.Log
	head, err := l.Head(t.Context())
	require.NoError(t, err)
	assert.Equal(t, websync.Head{Generation: 1, Live: map[string]int64{}}, head)

	at := time.Date(2026, 1, 2, 3, 4, 5, 6789, time.UTC)
	l.Append(websync.Item{Time: at}, websync.Item{Time: at}, websync.Item{Time: at.Add(-time.Hour)}, websync.Item{Time: at.Add(time.Hour)})
	want := []time.Time{at.Truncate(time.Microsecond)}
	want = append(want, want[0].Add(time.Microsecond), want[0].Add(2*time.Microsecond), want[0].Add(time.Hour))
	var got []time.Time
	for item, err := range l.Changes(t.Context(), websync.Range{}) {
		require.NoError(t, err)
		got = append(got, item.Time)
	}
	assert.Equal(t, want, got)

	for i, at := range want {
		first, err := websync.FirstSince(t.Context(), &l, websync.Head{Generation: 1, First: 1, Last: 4}, at)
		require.NoError(t, err)
		assert.Equal(t, websync.Seq(i+1), first)
	}
	_, err = websync.FirstSince(t.Context(), &l, websync.Head{Generation: 1, First: 1, Last: 5}, want[3].Add(1))
	require.ErrorIs(t, err, websync.ErrCatalog)
	_, err = websync.FirstSince(t.Context(), &l, websync.Head{Generation: 2, First: 1, Last: 5}, at)
	require.ErrorIs(t, err, websync.ErrNotFound)
	first, err := websync.FirstSince(t.Context(), &l, websync.Head{Generation: 1}, at)
	require.NoError(t, err)
	assert.Equal(t, websync.Seq(1), first, "an empty log")

	l.Append(websync.Item{})
	head, err = l.Head(t.Context())
	require.NoError(t, err)
	assert.Equal(t, websync.Seq(5), head.Last)
	assert.True(t, head.LastTime.After(want[3]), "now")
}
