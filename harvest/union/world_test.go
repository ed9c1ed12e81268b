package union_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/testkit"
)

const (
	base = testkit.Base
	src  = testkit.Src
)

var (
	day  = testkit.Day
	date = testkit.Date
	put  = testkit.Put
	del  = testkit.Del
)

// world is the store of a union and a harvester that keeps it.
type world struct {
	*testing.T
	db    *memstore.Store
	store *harvest.Catalog
	h     harvest.Harvester
}

func newWorld(t *testing.T) *world {
	db := memstore.New()
	w := &world{T: t, db: db, store: harvest.NewCatalog(db), h: harvest.Harvester{Sample: -1}}
	w.h.Catalog = w.store
	return w
}

func (w *world) run(s harvest.Source) *harvest.Report {
	w.Helper()
	r, err := w.h.Run(w.Context(), s)
	require.NoError(w, err)
	return r
}

func (w *world) live() map[string]string           { return testkit.Live(w, w.store) }
func (w *world) log() []string                     { return testkit.Log(w, w.store) }
func (w *world) tasks() []harvest.Task             { return testkit.Tasks(w, w.store) }
func (w *world) record(name string) harvest.Record { return testkit.Record(w, w.store, name) }
