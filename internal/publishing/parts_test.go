package publishing_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/publishing"
)

// newList returns a list of ids in plain text, one a line, in parts of up to four ids and
// 100 bytes.
func newList(log websync.Catalog) *publishing.PartList {
	l := &publishing.PartList{
		Site: publishing.New(publishing.Settings{Package: "text", Place: websync.Place{Catalog: log, Base: "https://example.org/"}, Path: "ids.txt"}),
		Size: 4, MaxBytes: 100, Settings: func(size websync.Seq) string { return fmt.Sprint("ids ", size) },
		Bound: func(item *websync.Item) (int64, bool) {
			return int64(len(item.Resource.ID)) + 1, len(item.Resource.Links) > 0
		},
	}
	l.Measure = func(ctx context.Context, p *publishing.Part) (int64, error) {
		text, err := writePart(ctx, p)
		return min(int64(len(text)), l.MaxBytes), err
	}
	return l
}

func writePart(ctx context.Context, p *publishing.Part) (text string, err error) {
	for item, err := range p.Resources(ctx, nil) {
		if err != nil {
			return "", err
		}
		text += item.Resource.ID + "\n"
	}
	return text, nil
}

func add(log *websync.Log, ids ...string) {
	for _, id := range ids {
		log.Append(websync.Item{Resource: websync.Resource{ID: id}})
	}
}

func paths(t *testing.T, l *publishing.PartList) (all []string) {
	for path, err := range l.Site.Documents([]publishing.Numbered{l.Numbered(t.Context())}, l.Site.Root) {
		require.NoError(t, err)
		all = append(all, path)
	}
	return all
}

func TestList(t *testing.T) {
	ctx := t.Context()
	log := new(websync.Log)
	l := newList(log)
	add(log, "a", "b", "c", "d")
	root, err := l.Root(ctx)
	require.NoError(t, err)
	assert.False(t, root.Index)
	assert.False(t, root.IsReported(4))
	head, err := log.Head(ctx)
	require.NoError(t, err)
	assert.Equal(t, head.LastTime, root.At)
	require.NoError(t, root.Finish(ctx))
	again, err := l.Root(ctx)
	require.NoError(t, err)
	assert.True(t, again.IsReported(4))
	assert.Equal(t, root.ETag(""), again.ETag(""))

	add(log, "a")
	assert.ErrorIs(t, root.Finish(ctx), websync.ErrConflict)
	add(log, "e")
	root, err = l.Root(ctx)
	require.NoError(t, err)
	assert.True(t, root.Index)
	all := paths(t, l)
	require.Len(t, all, 3)
	for i, want := range []string{"a\nb\nc\nd\n", "e\n"} {
		assert.True(t, l.IsPart(all[i]))
		p, err := l.Part(ctx, all[i])
		require.NoError(t, err)
		text, err := writePart(ctx, &p)
		require.NoError(t, err)
		assert.Equal(t, want, text)
		assert.Equal(t, all[i], p.Path)
	}
	for path, want := range map[string]error{
		"/ids-00000000-1.txt":                    websync.ErrGone,
		strings.Replace(all[0], "-1.", "-3.", 1): websync.ErrNotFound,
	} {
		_, err := l.Part(ctx, path)
		assert.ErrorIs(t, err, want, path)
	}

	log.Append(websync.Item{Kind: websync.Deleted, Resource: websync.Resource{ID: "e"}})
	listed, err := l.Listed(ctx)
	require.NoError(t, err)
	head, err = log.Head(ctx)
	require.NoError(t, err)
	assert.Equal(t, head.LastTime, listed[0].At, "of the log, though nothing has touched the part")
	assert.True(t, listed[0].Modified().Before(listed[0].At))
	require.Len(t, listed, 1, "an empty part is not in the index")
	assert.Equal(t, all[0], listed[0].Path)
	assert.Equal(t, all[:1], paths(t, l)[:1])
}

// A part that would be longer than MaxBytes makes all parts smaller, at other paths.
func TestListOfLongParts(t *testing.T) {
	log := new(websync.Log)
	l := newList(log)
	add(log, "a", "b", "c", "d", "e")
	before := paths(t, l)
	require.Len(t, before, 3)
	add(log, strings.Repeat("f", 80), "g", strings.Repeat("h", 80))
	after := paths(t, l)
	require.Len(t, after, 5, "four parts of two")
	assert.NotContains(t, after, before[0])
	p, err := l.Part(t.Context(), after[2])
	require.NoError(t, err)
	text, err := writePart(t.Context(), &p)
	require.NoError(t, err)
	assert.Equal(t, "e\n"+strings.Repeat("f", 80)+"\n", text)
	assert.NotZero(t, p.Modified())
	assert.False(t, p.DependsOnIDs())
	log.Append(websync.Item{Resource: websync.Resource{ID: "g", Links: []websync.Link{{Href: "a"}}}})
	p, err = l.Part(t.Context(), after[3])
	require.NoError(t, err)
	assert.True(t, p.DependsOnIDs())
	assert.Contains(t, p.ETag(""), "-born-8")
}

// An outlinedLog is a Log with outlines.
type outlinedLog struct {
	*websync.Log
	bytes int64 // of each; 0: not known
}

func (l outlinedLog) Outlines(ctx context.Context, r websync.Range) iter.Seq2[websync.Outline, error] {
	return func(yield func(websync.Outline, error) bool) {
		for item, err := range l.Resources(ctx, r) {
			o := websync.OutlineOf(&item)
			if o.Bytes = l.bytes; !yield(o, err) {
				return
			}
		}
	}
}

// Parts that may be too long, by their outlines, are read: they are split as without
// outlines.
func TestListOfOutlines(t *testing.T) {
	log := new(websync.Log)
	add(log, strings.Repeat("a", 40), strings.Repeat("b", 40), strings.Repeat("c", 40))
	want := paths(t, newList(log))
	require.Len(t, want, 3)
	for bytes, split := range map[int64]bool{0: true, 41: true, 1: false} {
		l := newList(outlinedLog{log, bytes})
		l.Outlined = func(o websync.Outline) (int64, bool) { return o.Bytes, false }
		if split {
			assert.Equal(t, want, paths(t, l), bytes)
		} else {
			assert.Len(t, paths(t, l), 1, "the log is not read")
		}
	}
}
