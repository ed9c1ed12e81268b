package harvest_test

import (
	"context"
	"fmt"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
)

// remembering is a Source that yields its events once.
type remembering struct{ harvest.Source }

func (r remembering) Events(ctx context.Context, run *harvest.Run) iter.Seq2[harvest.Event, error] {
	return func(yield func(harvest.Event, error) bool) {
		if run.From.IsZero() {
			for e, err := range r.Source.Events(ctx, run) {
				if !yield(e, err) {
					return
				}
			}
		}
		yield(harvest.Event{Kind: harvest.Mark, Resume: harvest.Checkpoint{Version: 1}}, nil)
	}
}

// TestRemove: nothing is left of a source but tombstones, however often it is
// interrupted, and if it is followed again, everything comes back.
func TestRemove(t *testing.T) {
	const n = 1200 // of which several commits are made
	for name, source := range map[string]harvest.Source{
		"snapshot": remembering{snapshot(numbered(0, n)...)},
		"log":      remembering{harvest.Of(src, numbered(0, n)...)},
	} {
		undisturbed := newWorld(t)
		undisturbed.numbered(n)
		undisturbed.page("other")
		undisturbed.run(source)
		undisturbed.run(harvest.Of("urn:other", put("other", day(1))))
		want := undisturbed.live()
		for cut := range 6 {
			t.Run(fmt.Sprint(name, ", cut at commit ", cut), func(t *testing.T) {
				w := newWorld(t)
				w.h.MaxDelete, w.h.MaxDeletes = 0.01, 1
				w.numbered(n)
				w.site.failing[numbered(7, 8)[0].Resource.Content.Href] = harvest.ErrTemporary
				w.run(source)
				require.Len(t, w.tasks(), 1)
				clear(w.site.failing)
				w.page("other")
				w.run(harvest.Of("urn:other", put("other", day(1))))

				w.h.Catalog = w.cut(cut, false)
				_, err := w.h.Remove(t.Context(), source)
				w.h.Catalog = w.store
				if cut%2 == 1 && err != nil { // followed again, after all
					require.True(t, w.run(source).InStep())
					require.Equal(t, want, w.live())
				}
				r := w.done(w.h.Remove(t.Context(), source))
				require.True(t, r.InStep())
				require.Equal(t, map[string]string{"other": "other"}, w.live())
				require.Empty(t, w.tasks())
				for _, key := range []string{"guard", "documents", "listing", "belief", "alike"} {
					value, err := w.store.State(t.Context(), "harvest/"+key+"/"+src)
					require.NoError(t, err)
					require.Empty(t, value, key)
				}
				require.Zero(t, w.done(w.h.Remove(t.Context(), source)).Deleted, "once")

				require.True(t, w.run(source).InStep())
				require.Equal(t, want, w.live())
			})
		}
	}
}
