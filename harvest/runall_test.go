package harvest_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
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

// A sourceFunc is a Source that calls f when it is listed.
type sourceFunc struct {
	key string
	f   func(ctx context.Context) error
}

func (s *sourceFunc) Key() string { return s.key }

func (s *sourceFunc) Events(ctx context.Context, _ *harvest.Run) iter.Seq2[harvest.Event, error] {
	return func(yield func(harvest.Event, error) bool) {
		err := s.f(ctx)
		yield(harvest.Event{Resource: websync.Resource{ID: s.key + "/1"}}, err)
	}
}

func allOf(n int, f func(ctx context.Context, i int) error) (sources []harvest.Source) {
	for i := range n {
		sources = append(sources, &sourceFunc{fmt.Sprint("source ", i), func(ctx context.Context) error { return f(ctx, i) }})
	}
	return sources
}

// RunAll runs 8 sources at a time, in their order, and a failure stops no other.
func TestRunAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &harvest.Harvester{Catalog: harvest.NewCatalog(memstore.New())}
		var now, most atomic.Int64
		errs := map[int]error{3: errors.New("three"), 19: errors.New("nineteen")}
		reports, err := h.RunAll(t.Context(), allOf(20, func(_ context.Context, i int) error {
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
			time.Sleep(time.Duration(20-i) * time.Second) // the first ends last
			now.Add(-1)
			return errs[i]
		})...)
		assert.EqualValues(t, 8, most.Load())
		assert.ErrorIs(t, err, errs[3])
		assert.ErrorIs(t, err, errs[19])
		require.Len(t, reports, 20)
		for i, r := range reports {
			assert.Equal(t, fmt.Sprint("source ", i), r.Source)
			want := int64(1)
			if errs[i] != nil {
				want = 0
			}
			assert.Equal(t, want, r.Created)
		}
		head, err := h.Catalog.Head(t.Context())
		require.NoError(t, err)
		assert.EqualValues(t, 18, head.Total())

		reports, err = h.RunAll(t.Context())
		require.NoError(t, err)
		assert.Empty(t, reports)
	})
}

// What is wrong with the sources is found before anything runs.
func TestRunAllRefuses(t *testing.T) {
	h := &harvest.Harvester{Catalog: harvest.NewCatalog(memstore.New())}
	sources := allOf(3, func(context.Context, int) error {
		t.Error("a source runs")
		return nil
	})
	reports, err := h.RunAll(t.Context(), sources[0], nil, sources[1])
	assert.EqualError(t, err, "harvest: source 2 of 3 is nil")
	assert.Nil(t, reports)
	sources[2].(*sourceFunc).key = "https://a:secret@example.org/"
	reports, err = h.RunAll(t.Context(), append(sources, sources[2])...)
	assert.EqualError(t, err, `harvest: two sources have the Key "https://example.org/"; each needs its own`)
	assert.Nil(t, reports)
}

// A claim that another holds ends its source only, and each claim is released.
func TestRunAllClaims(t *testing.T) {
	h := &harvest.Harvester{Catalog: harvest.NewCatalog(memstore.New())}
	sources := allOf(3, func(context.Context, int) error { return nil })
	other, err := h.Catalog.Claim(t.Context(), "source/source 1", time.Hour)
	require.NoError(t, err)
	reports, err := h.RunAll(t.Context(), sources...)
	require.ErrorIs(t, err, harvest.ErrHeld)
	assert.Equal(t, []int64{1, 0, 1}, []int64{reports[0].Created, reports[1].Created, reports[2].Created})
	require.NoError(t, h.Catalog.Release(t.Context(), other))
	_, err = h.RunAll(t.Context(), sources...)
	require.NoError(t, err)
}

// When the context ends all runs end, those that have not begun included.
func TestRunAllEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &harvest.Harvester{Catalog: harvest.NewCatalog(memstore.New())}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		began := time.Now()
		var listed atomic.Int64
		reports, err := h.RunAll(ctx, allOf(30, func(ctx context.Context, _ int) error {
			listed.Add(1)
			<-ctx.Done()
			return ctx.Err()
		})...)
		require.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, time.Second, time.Since(began))
		assert.EqualValues(t, 8, listed.Load())
		for i, r := range reports {
			require.NotNil(t, r, "source %d", i)
		}
	})
}

// A panic of a hook continues in the goroutine of RunAll, after all runs have ended and
// released their claims.
func TestRunAllPanics(t *testing.T) {
	var begun atomic.Int64
	h := &harvest.Harvester{Catalog: harvest.NewCatalog(memstore.New()), Hooks: &harvest.Hooks{
		Outcome: func(source, _ string, _ harvest.Outcome, _ error) {
			if source == "source 2" {
				explode(errBoom)
			}
		},
	}}
	sources := allOf(20, func(ctx context.Context, i int) error {
		begun.Add(1)
		if i != 2 {
			<-ctx.Done()
		}
		return ctx.Err()
	})
	func() {
		defer func() {
			err, _ := recover().(error)
			require.ErrorIs(t, err, errBoom)
			assert.ErrorContains(t, err, "explode(", "the stack")
		}()
		h.RunAll(t.Context(), sources...)
	}()
	assert.LessOrEqual(t, begun.Load(), int64(9))
	for _, src := range sources {
		_, err := h.Catalog.Claim(t.Context(), "source/"+src.Key(), time.Hour)
		require.NoError(t, err)
	}
}

// A Source that ends its goroutine ends that of RunAll.
func TestRunAllExits(t *testing.T) {
	h := &harvest.Harvester{Catalog: harvest.NewCatalog(memstore.New())}
	ended := make(chan bool, 1)
	go func() {
		returned := false
		defer func() { ended <- returned }()
		h.RunAll(t.Context(), allOf(3, func(context.Context, int) error { runtime.Goexit(); return nil })...)
		returned = true
	}()
	assert.False(t, <-ended)
}
