package harvest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"github.com/websync-go/websync/internal/testing/racing"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// texted returns a put whose bytes come with it.
func texted(name, text string, day int) harvest.Event {
	e := put(name, dayOf(day))
	e.Open = harvest.OpenBytes([]byte(text))
	return e
}

func dayOf(n int) websync.Datetime {
	return websync.NewDatetime(time.Date(2026, 1, 1, 12, n, 0, 0, time.UTC))
}

// vacuum removes all that no record names.
func (w *world) vacuum() {
	_, err := w.store.Vacuum(w.Context(), 0)
	require.NoError(w, err)
}

func TestDelivery(t *testing.T) {
	w := newWorld(t)
	e := texted("a", "one", 1)
	e.Resource.Title = "A"
	w.run(harvest.Of(src, e, del("b", day(1))))
	calls := 0
	require.NoError(t, harvest.Each(t.Context(), w.store, "index", func(d *harvest.Delivery) error {
		calls++
		assert.Equal(t, []any{base + "a", "A", dayOf(1), false}, []any{d.ID, d.Title, d.Modified, d.Deleted})
		text, err := d.Content()
		require.NoError(t, err)
		assert.Equal(t, "one", string(text))
		r, err := d.Open("content")
		require.NoError(t, err)
		_, err = r.Seek(1, io.SeekStart)
		require.NoError(t, err)
		text, err = io.ReadAll(r)
		require.NoError(t, errors.Join(err, r.Close()))
		assert.Equal(t, "ne", string(text))
		_, err = d.Open("graph")
		require.ErrorIs(t, err, websync.ErrNotFound)
		return nil
	}))
	assert.Equal(t, 1, calls)
}

// TestSuperseded: after a later change has replaced the bytes Each goes on to it,
// whatever has been done with the log. Without a later change the bytes are missed.
func TestSuperseded(t *testing.T) {
	for name, test := range map[string]struct {
		change  func(w *world)
		deleted bool
	}{
		"changed": {func(w *world) { w.run(harvest.Of(src, texted("a", "two", 2))) }, false},
		"deleted": {func(w *world) { w.run(harvest.Of(src, del("a", dayOf(2)))) }, true},
		"removed": {func(w *world) { w.done(w.h.Remove(w.Context(), harvest.Of(src))) }, true},
	} {
		for _, compact := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, compacted: %t", name, compact), func(t *testing.T) {
				w := newWorld(t)
				w.run(harvest.Of(src, texted("z", "zero", 1))) // so that numbers change
				w.run(harvest.Of(src, texted("z", "uno", 2)))
				w.run(harvest.Of(src, texted("a", "one", 1)))
				var seen []string
				require.NoError(t, harvest.Each(t.Context(), w.store, "index", func(d *harvest.Delivery) error {
					if d.ID != base+"a" {
						return nil
					}
					if len(seen) == 0 { // the Each that began before goes on
						test.change(w)
						if compact {
							_, err := w.store.Compact(t.Context())
							require.NoError(t, err)
						}
						w.vacuum()
						seen = append(seen, "superseded")
						_, err := d.Content()
						require.ErrorIs(t, err, harvest.ErrSuperseded)
						require.NotErrorIs(t, err, websync.ErrNotFound)
						_, err = d.Open("content")
						require.ErrorIs(t, err, harvest.ErrSuperseded)
						return fmt.Errorf("index: %w", err)
					}
					text, err := d.Content()
					seen = append(seen, fmt.Sprint(d.Deleted, " ", string(text)))
					if d.Deleted {
						require.ErrorIs(t, err, websync.ErrNotFound)
						return nil
					}
					return err
				}))
				see := func(d *harvest.Delivery) error {
					if d.ID == base+"a" {
						text, _ := d.Content()
						seen = append(seen, fmt.Sprint(d.Deleted, " ", string(text)))
					}
					return nil
				}
				require.NoError(t, harvest.Each(t.Context(), w.store, "index", see))
				want := "false two"
				if test.deleted {
					want = "true "
				}
				require.Equal(t, []string{"superseded", want}, seen)
			})
		}
	}
	t.Run("not kept", func(t *testing.T) {
		w := newWorld(t)
		w.page("a")
		w.h.Bodies = harvest.VerifyBodies
		w.run(harvest.Of(src, put("a", day(1))))
		err := harvest.Each(t.Context(), w.store, "index", func(d *harvest.Delivery) error {
			_, err := d.Content()
			return err
		})
		require.ErrorIs(t, err, websync.ErrNotFound)
		require.NotErrorIs(t, err, harvest.ErrSuperseded)
	})
}

// TestSupersededWhileRead removes the bytes between two Reads.
func TestSupersededWhileRead(t *testing.T) {
	w := newWorld(t)
	w.store.ChunkSize = 1000
	text := string(noise(1, 10_000))
	w.run(harvest.Of(src, texted("a", text, 1)))
	require.NoError(t, harvest.Each(t.Context(), w.store, "index", func(d *harvest.Delivery) error {
		if d.Item.Kind == websync.Updated {
			return nil
		}
		r, err := d.Open("content")
		require.NoError(t, err)
		defer r.Close()
		_, err = io.ReadFull(r, make([]byte, 100))
		require.NoError(t, err)
		w.run(harvest.Of(src, texted("a", "two", 2)))
		w.vacuum()
		_, err = io.ReadAll(r)
		require.ErrorIs(t, err, harvest.ErrSuperseded)
		return err
	}))
}

// TestDeliveryOfMuch: Content reads 64 MiB and no more.
func TestDeliveryOfMuch(t *testing.T) {
	racing.Long(t) // 64 MiB
	w := newWorld(t)
	text := bytes.Repeat([]byte("0123456789abcdef"), 4<<20)
	for i, text := range [][]byte{text, append(text, 'x')} {
		e := put(fmt.Sprint(i), day(1))
		e.Open = harvest.OpenBytes(text)
		w.run(harvest.Of(src, e))
	}
	n := 0
	require.NoError(t, harvest.Each(t.Context(), w.store, "index", func(d *harvest.Delivery) error {
		got, err := d.Content()
		if n++; n == 1 {
			require.Equal(t, len(text), len(got))
			return err
		}
		require.ErrorIs(t, err, websync.ErrLimit)
		return nil
	}))
	require.Equal(t, 2, n)
}

// TestDeliveriesBesideCommits: an index that Each feeds while others commit, compact and
// remove holds in the end what the Catalog holds.
func TestDeliveriesBesideCommits(t *testing.T) {
	w := newWorld(t)
	var writing sync.WaitGroup
	done := make(chan struct{})
	writing.Go(func() {
		defer close(done)
		random := rand.New(rand.NewPCG(1, 2))
		h := &harvest.Harvester{Catalog: w.store, Sample: -1}
		for i := range 300 {
			name := fmt.Sprint(random.IntN(10))
			e := texted(name, fmt.Sprint("text ", i), i)
			if random.IntN(4) == 0 {
				e = del(name, dayOf(i))
			}
			_, err := h.Run(t.Context(), harvest.Of(src, e))
			assert.NoError(t, err)
			switch random.IntN(20) {
			case 0:
				generation, err := w.store.Compact(t.Context())
				assert.NoError(t, err)
				assert.NoError(t, w.store.Drop(t.Context(), generation))
			case 1, 2, 3, 4, 5, 6:
				_, err := w.store.Vacuum(t.Context(), 0)
				assert.NoError(t, err)
			}
		}
	})
	index := map[string]string{}
	update := func(d *harvest.Delivery) error {
		if d.Deleted {
			delete(index, d.ID)
			return nil
		}
		text, err := d.Content()
		if err != nil {
			return err
		}
		index[d.ID] = string(text)
		return nil
	}
	for writes := true; writes; {
		select {
		case <-done:
			writes = false
		default:
		}
		require.NoError(t, harvest.Each(t.Context(), w.store, "index", update))
	}
	writing.Wait()
	want := map[string]string{}
	for name, text := range w.live() {
		want[base+name] = text
	}
	require.Equal(t, want, index)
}

type failingViews struct {
	harvest.Store
	err error
}

func (f *failingViews) View(ctx context.Context, fn func(harvest.Reader) error) error {
	if f.err != nil {
		return f.err
	}
	return f.Store.View(ctx, fn)
}

// An error of the Store is neither that of bytes that are gone nor of a later change.
func TestDeliveryOfABrokenStore(t *testing.T) {
	w := newWorld(t)
	w.run(harvest.Of(src, texted("a", "one", 1)))
	down := &failingViews{Store: harvest.StoreOf(w.store)}
	err := harvest.Each(t.Context(), harvest.NewCatalog(down), "index", func(d *harvest.Delivery) error {
		down.err = errBoom
		_, err := d.Content()
		down.err = nil
		return err
	})
	require.ErrorIs(t, err, errBoom)
	require.NotErrorIs(t, err, harvest.ErrSuperseded)
}
