package riverjobs

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/testing/pgtest"
)

// newSchema returns a pool of connections and a new schema with River's tables.
func newSchema(t testing.TB) (pool *pgxpool.Pool, schema string) {
	dsn := pgtest.Server(t)
	pool, err := pgxpool.New(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	schema = pgtest.Schema(t, dsn)
	_, err = pool.Exec(t.Context(), "CREATE SCHEMA "+schema)
	require.NoError(t, err)
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Schema: schema})
	require.NoError(t, err)
	_, err = migrator.Migrate(t.Context(), rivermigrate.DirectionUp, nil)
	require.NoError(t, err)
	return pool, schema
}

// A counter is a Source of a log that yields one number in each slice, up to last.
type counter struct {
	key   string
	last  byte
	slice func() // called after each number
}

func (c *counter) Key() string { return c.key }

func (c *counter) Events(ctx context.Context, run *harvest.Run) iter.Seq2[harvest.Event, error] {
	return func(yield func(harvest.Event, error) bool) {
		n := byte(0)
		if len(run.From.Data) > 0 {
			n = run.From.Data[0]
		}
		if n++; n > c.last {
			return
		}
		id := fmt.Sprint(c.key, "/", n)
		at := harvest.Checkpoint{Version: 1, Data: []byte{n}}
		if yield(harvest.Event{Resource: websync.Resource{ID: id}, Resume: at}, nil) && yield(harvest.Event{Kind: harvest.Mark}, nil) {
			c.slice()
			<-ctx.Done()
			yield(harvest.Event{}, ctx.Err())
		}
	}
}

// TestSlices: a source that needs more than a slice is finished, slice by slice, in one
// job; while it runs, no other is inserted for it.
func TestSlices(t *testing.T) {
	pool, schema := newSchema(t)
	var client *river.Client[pgx.Tx]
	var mu sync.Mutex
	slices := 0
	w := newWorker()
	w.Slice = 300 * time.Millisecond
	w.Harvester.Bodies = harvest.SkipBodies
	w.Registry = Registry{"counter": func(_ context.Context, a Args) (harvest.Source, error) {
		return &counter{key: a.URL, last: 5, slice: func() {
			mu.Lock()
			defer mu.Unlock()
			slices++
			second, err := client.Insert(t.Context(), a, nil)
			assert.NoError(t, err)
			assert.True(t, second.UniqueSkippedAsDuplicate, "it has a job")
		}}, nil
	}}
	config := &river.Config{Schema: schema}
	require.NoError(t, w.Configure(config))
	client, err := river.NewClient(riverpgxv5.New(pool), config)
	require.NoError(t, err)
	args, err := w.Registry.Args(t.Context(), Args{Protocol: "counter", URL: "https://example.org/log"})
	require.NoError(t, err)

	ends, cancel := client.Subscribe(river.EventKindJobCompleted, river.EventKindJobFailed)
	defer cancel()
	first, err := client.Insert(t.Context(), args, nil)
	require.NoError(t, err)
	require.NoError(t, client.Start(t.Context()))
	end := <-ends
	assert.Equal(t, rivertype.JobStateCompleted, end.Job.State, "%v", end.Job.Errors)
	assert.Equal(t, first.Job.ID, end.Job.ID)
	assert.Empty(t, end.Job.Errors)
	assert.Equal(t, 1, end.Job.Attempt, "slices are no failures")
	assert.Equal(t, 5, slices)
	head, err := w.Harvester.Catalog.Head(t.Context())
	require.NoError(t, err)
	assert.EqualValues(t, 5, head.Last)

	again, err := client.Insert(t.Context(), args, nil)
	require.NoError(t, err)
	assert.False(t, again.UniqueSkippedAsDuplicate, "the job before it has ended")
	require.NoError(t, client.StopAndCancel(t.Context()))
}
