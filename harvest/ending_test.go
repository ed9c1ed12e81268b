package harvest_test

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
)

// A remote store waits for its server, as long as the context allows, while that is away.
type remote struct {
	harvest.Store
	away atomic.Bool
	slow atomic.Bool // Tasks takes for ever
}

func (r *remote) wait(ctx context.Context) error {
	if r.away.Load() {
		<-ctx.Done()
	}
	return ctx.Err()
}

func (r *remote) Commit(ctx context.Context, c *harvest.Claim, b *harvest.Batch) ([]string, error) {
	if err := r.wait(ctx); err != nil {
		return nil, err
	}
	return r.Store.Commit(ctx, c, b)
}

func (r *remote) Renew(ctx context.Context, c *harvest.Claim) error {
	if err := r.wait(ctx); err != nil {
		return err
	}
	return r.Store.Renew(ctx, c)
}

func (r *remote) Release(ctx context.Context, c *harvest.Claim) error {
	if err := r.wait(ctx); err != nil {
		return err
	}
	return r.Store.Release(ctx, c)
}

func (r *remote) State(ctx context.Context, key string) ([]byte, error) {
	if err := r.wait(ctx); err != nil {
		return nil, err
	}
	return r.Store.State(ctx, key)
}

func (r *remote) Swap(ctx context.Context, key string, old, new []byte) error {
	if err := r.wait(ctx); err != nil {
		return err
	}
	return r.Store.Swap(ctx, key, old, new)
}

func (r *remote) Tasks(ctx context.Context, source, after string) iter.Seq2[harvest.Task, error] {
	if r.slow.Load() {
		<-ctx.Done()
	}
	if err := r.wait(ctx); err != nil {
		return func(yield func(harvest.Task, error) bool) { yield(harvest.Task{}, err) }
	}
	return r.Store.Tasks(ctx, source, after)
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
				store := &remote{Store: w.store}
				w.h.Store, w.h.Concurrency = store, 1
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
		store := &remote{Store: w.store}
		w.h.Store = store
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
		_, err := (&harvest.Harvester{Store: store, Bodies: harvest.SkipBodies}).Run(t.Context(), harvest.Of(src, put("a", day(1))))
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		began := time.Now()
		err = harvest.Each(ctx, store, "consumer", func(websync.Item) error {
			store.away.Store(true)
			cancel()
			return nil
		})
		require.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, 10*time.Second, time.Since(began))
	})
}

// A committer calls before at each Commit.
type committer struct {
	harvest.Store
	before func(context.Context, *harvest.Batch) error
}

func (c *committer) Commit(ctx context.Context, claim *harvest.Claim, b *harvest.Batch) ([]string, error) {
	if err := c.before(ctx, b); err != nil {
		return nil, err
	}
	return c.Store.Commit(ctx, claim, b)
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
				w.h.Store = &committer{w.store, func(ctx context.Context, b *harvest.Batch) error {
					cancel()
					return cmp.Or(failed, ctx.Err())
				}}
				_, err := w.h.Run(ctx, snapshot())
				require.ErrorIs(t, err, context.Canceled)
				_, lost := errors.AsType[*harvest.StoreError](err)
				assert.Equal(t, failed != nil, lost, "%v", err)
				assert.Equal(t, failed != nil, errors.Is(err, full), "%v", err)
			})
		})
	}
}
