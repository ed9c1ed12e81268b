package chaos

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/pgstore"
	"github.com/websync-go/websync/harvest/sqlitestore"
	"github.com/websync-go/websync/internal/testing/pgtest"
)

// A storage is where a Store is.
type storage struct {
	File   string // of SQLite; empty: it is PostgreSQL
	Server string
	Schema string
	Retry  time.Duration // of PostgreSQL; zero: the default
}

// An opened is a Store that is open.
type opened struct {
	*harvest.Catalog
	io.Closer
}

// A marked is a Store that calls mark before and after each Update.
type marked struct {
	harvest.Store
	mark func()
}

func (m marked) Update(ctx context.Context, fn func(harvest.Tx) error) error {
	m.mark()
	defer m.mark()
	return m.Store.Update(ctx, fn)
}

// open opens the Store, or creates it. It calls mark before and after it is changed.
func (at storage) open(ctx context.Context, mark func()) (*opened, error) {
	if at.File != "" {
		s, err := sqlitestore.Open(ctx, at.File, nil)
		if err != nil {
			return nil, err
		}
		return &opened{harvest.NewCatalog(struct {
			marked
			harvest.Blobs
			harvest.Owners
		}{marked{s, mark}, s, s}), s}, nil
	}
	s, err := pgstore.Open(ctx, at.Server, &pgstore.Options{Schema: at.Schema, Retry: at.Retry})
	if err != nil {
		return nil, err
	}
	return &opened{harvest.NewCatalog(marked{s, mark}), s}, nil
}

// setClock makes the clock of the Store jump at each look: by each of the distances, in
// turns of some looks.
func (s *opened) setClock(off []time.Duration) {
	var looks atomic.Int64
	s.Now = func() time.Time {
		n := int(looks.Add(1)-1) / 20
		return time.Now().Add(off[n%len(off)])
	}
}

// kinds are the Stores that outlive a process.
var kinds = map[string]func(t *testing.T) storage{
	"SQLite": func(t *testing.T) storage { return storage{File: filepath.Join(t.TempDir(), "store.db")} },
	"PostgreSQL": func(t *testing.T) storage {
		server := pgtest.Server(t)
		return storage{Server: server, Schema: pgtest.Schema(t, server)}
	},
}

// A holding is what a Catalog holds of the one source that is harvested.
type holding struct {
	live    map[string]held
	deleted map[string]bool
}

// A held is a live record with the digests of the bytes of its bodies.
type held struct {
	resource websync.Resource
	bodies   []websync.Body
	sums     []websync.Digest
}

// inspected returns what a Catalog holds, after it has checked all of it. The Store may
// be one that a process was killed on, or nobody has opened yet.
func (at storage) inspected(t *testing.T) holding {
	t.Helper()
	if at.File != "" {
		at.File = copied(t, at.File) // the next process is to recover it, not this one
		if at.File == "" {
			return holding{}
		}
		defer os.RemoveAll(filepath.Dir(at.File))
	}
	store, err := at.open(t.Context(), func() {})
	require.NoError(t, err)
	defer store.Close()
	return inspect(t, store.Catalog)
}

// copied returns the name of a copy of a database and all that belongs to it; "" if there
// is none.
func copied(t *testing.T, file string) string {
	t.Helper()
	dir, err := os.MkdirTemp(t.TempDir(), "copy")
	require.NoError(t, err)
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Dir(file))))
	file = filepath.Join(dir, filepath.Base(file))
	if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
		return ""
	}
	require.NoError(t, os.RemoveAll(file+"-shm")) // it is only memory, and does not outlive a machine
	return file
}

// inspect returns what a Catalog holds, after it has checked all of it: the parts agree,
// the log is dense, its times rise, its changes make the records, and every body is
// there.
func inspect(t *testing.T, store *harvest.Catalog) holding {
	t.Helper()
	ctx := t.Context()
	faults, err := store.Inspect(ctx)
	require.NoError(t, err)
	require.Empty(t, faults, "the parts of the Store disagree")

	head, err := store.Head(ctx)
	require.NoError(t, err)
	logged := map[string]websync.Seq{}
	var last websync.Item
	for item, err := range store.Changes(ctx, websync.Range{}) {
		require.NoError(t, err)
		require.Equal(t, last.Seq+1, item.Seq, "the log is not dense")
		require.True(t, item.Time.After(last.Time), "entry %d of %v comes after one of %v", item.Seq, item.Time, last.Time)
		_, known := logged[item.Resource.ID]
		require.Equal(t, item.Kind != websync.Created, known, "entry %d: %v %s", item.Seq, item.Kind, item.Resource.ID)
		if item.Kind == websync.Deleted {
			delete(logged, item.Resource.ID)
		} else {
			logged[item.Resource.ID] = item.Seq
		}
		last = item
	}
	require.Equal(t, head.Last, last.Seq)

	h := holding{map[string]held{}, map[string]bool{}}
	for source := range head.Live {
		for rec, err := range store.Records(ctx, source, "") {
			require.NoError(t, err)
			id := rec.Resource.ID
			if !rec.Live() {
				h.deleted[id] = true
				continue
			}
			require.Equal(t, logged[id], rec.Seq, "the log has another state of %s", id)
			one := held{resource: rec.Resource, bodies: rec.Bodies}
			for _, b := range rec.Bodies {
				r, err := store.Open(ctx, b)
				require.NoError(t, err)
				data, err := io.ReadAll(r)
				require.NoError(t, errors.Join(err, r.Close()))
				require.Equal(t, b.Key, websync.SHA256(data), "the bytes of %s %s", id, b.Name)
				one.sums = append(one.sums, b.Key)
			}
			h.live[id] = one
		}
	}
	require.Len(t, h.live, len(logged), "the log has other records")
	return h
}

// requireInStep compares what a Catalog holds with what the undisturbed one does. Ever
// are the ids that were once seen in the former.
func (s *site) requireInStep(t *testing.T, h holding, ever map[string]bool) {
	t.Helper()
	want := inspect(t, s.calm)
	ids := slices.Sorted(maps.Keys(s.live))
	require.Equal(t, ids, slices.Sorted(maps.Keys(want.live)), "the live ids of the undisturbed Store")
	require.Equal(t, ids, slices.Sorted(maps.Keys(h.live)), "the live ids")
	for id := range want.live {
		require.Equal(t, want.live[id], h.live[id], "record %s", id)
	}
	for id := range ever {
		_, live := h.live[id]
		require.True(t, live || h.deleted[id], "record %s has vanished", id)
	}
	for id := range h.deleted {
		require.True(t, want.deleted[id], "%s was deleted", id)
	}
}

// add adds the live ids to a set.
func (h holding) add(ever map[string]bool) {
	for id := range h.live {
		ever[id] = true
	}
}
