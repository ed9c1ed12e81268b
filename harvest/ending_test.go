package harvest_test

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// A remote store waits for its server, as long as the context allows, while that is away.
type remote struct {
	harvest.Store
	away atomic.Bool
	slow atomic.Bool // Views take for ever
}

func (r *remote) wait(ctx context.Context) error {
	if r.away.Load() {
		<-ctx.Done()
	}
	return ctx.Err()
}

func (r *remote) Update(ctx context.Context, fn func(harvest.Tx) error) error {
	if err := r.wait(ctx); err != nil {
		return err
	}
	return r.Store.Update(ctx, fn)
}

func (r *remote) View(ctx context.Context, fn func(harvest.Reader) error) error {
	if r.slow.Load() {
		<-ctx.Done()
	}
	if err := r.wait(ctx); err != nil {
		return err
	}
	return r.Store.View(ctx, fn)
}

// TestEnding: a cancelled run stores what it has got. If its store is away, all that it
// still tries takes 10 seconds together, and its error says so.
func TestEnding(t *testing.T) {
	for _, work := range []bool{false, true} {
		for _, away := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.page("a")
				w.page("b")
				store := &remote{Store: harvest.StoreOf(w.store)}
				w.h.Catalog, w.h.Concurrency = harvest.NewCatalog(store), 1
				run, list := w.h.Run, harvest.Of(src, put("a", day(1)), put("b", day(1)))
				if work {
					_, err := w.h.List(t.Context(), list)
					require.NoError(t, err)
					run = w.h.Work
				}
				ctx, cancel := context.WithCancel(t.Context())
				w.site.before = func(url string) {
					if url == base+"b" {
						store.away.Store(away)
						<-ctx.Done()
						synctest.Wait() // until the contexts below ctx are cancelled, too
					}
				}
				done := make(chan error, 1)
				go func() {
					_, err := run(ctx, list)
					done <- err
				}()
				synctest.Wait()
				began := time.Now()
				cancel()
				err := <-done
				require.ErrorIs(t, err, context.Canceled)
				_, failed := errors.AsType[*harvest.StoreError](err)
				assert.Equal(t, away, failed, "%v", err)
				if away {
					assert.Equal(t, 10*time.Second, time.Since(began))
					return
				}
				assert.Zero(t, time.Since(began))
				head, err := w.store.Head(t.Context())
				require.NoError(t, err)
				assert.EqualValues(t, 1, head.Live[src])
				_, err = w.store.Claim(t.Context(), "source/"+src, time.Minute)
				assert.NoError(t, err, "the claim is released")
			})
		}
	}
}

// TestEndingHoldsNothing: a cancelled run that can't count in time what it leaves has
// stored what it got, and holds nothing.
func TestEndingHoldsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.page("a")
		store := &remote{Store: harvest.StoreOf(w.store)}
		w.h.Catalog = harvest.NewCatalog(store)
		ctx, cancel := context.WithCancel(t.Context())
		w.site.before = func(string) {
			store.slow.Store(true)
			cancel()
		}
		_, err := w.h.Run(ctx, harvest.Of(src, put("a", day(1))))
		require.ErrorIs(t, err, context.Canceled)
		_, failed := errors.AsType[*harvest.StoreError](err)
		assert.False(t, failed, "%v", err)
		_, err = w.store.Claim(t.Context(), "source/"+src, time.Hour)
		assert.NoError(t, err)
	})
}

func TestEndingOfEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &remote{Store: memstore.New()}
		catalog := harvest.NewCatalog(store)
		_, err := (&harvest.Harvester{Sample: -1, Catalog: catalog, Bodies: harvest.SkipBodies}).Run(t.Context(), harvest.Of(src, put("a", day(1))))
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		began := time.Now()
		err = harvest.Each(ctx, catalog, "consumer", func(*harvest.Delivery) error {
			store.away.Store(true)
			cancel()
			return nil
		})
		require.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, 10*time.Second, time.Since(began))
	})
}

// TestEndingWithACommit: the error of a cancelled run names a Commit that failed, and
// none that was only cancelled.
func TestEndingWithACommit(t *testing.T) {
	full := errors.New("disk full")
	for name, failed := range map[string]error{"fails": full, "is cancelled": nil} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.page("a")
				w.h.MaxDelete = -1
				w.run(snapshot(put("a", day(1))))
				ctx, cancel := context.WithCancel(t.Context())
				w.h.Catalog = w.watched(func(ctx context.Context, act testkit.Act) error {
					if act != testkit.Commit {
						return nil
					}
					cancel()
					return cmp.Or(failed, ctx.Err())
				})
				_, err := w.h.Run(ctx, snapshot())
				require.ErrorIs(t, err, context.Canceled)
				_, lost := errors.AsType[*harvest.StoreError](err)
				assert.Equal(t, failed != nil, lost, "%v", err)
				assert.Equal(t, failed != nil, errors.Is(err, full), "%v", err)
			})
		})
	}
}
