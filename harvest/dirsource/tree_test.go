package dirsource_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/dirsource"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/testkit"
)

const base = "https://law.example/"

// A TB is what testing.TB and *rapid.T have in common.
type tb interface {
	require.TestingT
	Helper()
}

// A tree is a directory, a Source over it and a Store that follows it.
type tree struct {
	tb
	dir   string
	src   *dirsource.Source
	db    *memstore.Store
	store *harvest.Catalog
	h     *harvest.Harvester

	mu       sync.Mutex
	read     []string // ids that Get was called for in the last run
	findings []websync.Finding
}

// newTree returns a tree whose Source has a clock that is an hour ahead, so that no file
// counts as just changed.
func newTree(t tb, dir string) *tree {
	db := memstore.New()
	x := &tree{tb: t, dir: dir, db: db, store: harvest.NewCatalog(db), src: &dirsource.Source{Dir: dir, Base: base}}
	x.src.Ahead(time.Hour)
	x.h = &harvest.Harvester{Catalog: x.store, MaxDelete: -1, Attempts: -1, Sample: -1}
	x.h.Hooks = testkit.OnFinding(func(f websync.Finding) { x.findings = append(x.findings, f) })
	return x
}

// A counted Source records which files are read.
type counted struct {
	*dirsource.Source
	x *tree
}

func (c *counted) Get(ctx context.Context, job *harvest.Job) error {
	c.x.mu.Lock()
	c.x.read = append(c.x.read, job.Resource.ID)
	c.x.mu.Unlock()
	return c.Source.Get(ctx, job)
}

// run harvests, and lists what was read.
func (x *tree) run() *harvest.Report {
	x.Helper()
	report, err := x.try()
	require.NoError(x, err)
	return report
}

func (x *tree) try() (*harvest.Report, error) {
	x.read = nil
	report, err := x.h.Run(context.Background(), &counted{x.src, x})
	slices.Sort(x.read)
	return report, err
}

func (x *tree) path(name string) string { return filepath.Join(x.dir, filepath.FromSlash(name)) }

// write makes a file, and the directories above it.
func (x *tree) write(name, text string) {
	x.Helper()
	require.NoError(x, os.MkdirAll(filepath.Dir(x.path(name)), 0o777))
	require.NoError(x, os.WriteFile(x.path(name), []byte(text), 0o666))
}

func (x *tree) remove(name string) {
	x.Helper()
	require.NoError(x, os.RemoveAll(x.path(name)))
}

func (x *tree) touch(name string, at time.Time) {
	x.Helper()
	require.NoError(x, os.Chtimes(x.path(name), at, at))
}

// live returns the bytes of what the Store holds, by id without Base.
func (x *tree) live() map[string]string {
	x.Helper()
	all := map[string]string{}
	for rec, err := range x.store.Records(context.Background(), x.src.Key(), "") {
		require.NoError(x, err)
		if rec.Live() {
			all[strings.TrimPrefix(rec.Resource.ID, base)] = x.bytes(&rec)
		}
	}
	return all
}

func (x *tree) bytes(rec *harvest.Record) string {
	x.Helper()
	body, ok := rec.Body(websync.ContentName)
	require.True(x, ok)
	r, err := x.store.Open(context.Background(), body)
	require.NoError(x, err)
	defer r.Close()
	data, err := io.ReadAll(r)
	require.NoError(x, err)
	return string(data)
}

// record returns what the Store holds of a file.
func (x *tree) record(name string) harvest.Record {
	x.Helper()
	return testkit.RecordOf(x, x.store, x.src.Key(), base+name)
}

// log returns how many entries the log has.
func (x *tree) log() websync.Seq {
	x.Helper()
	head, err := x.store.Head(context.Background())
	require.NoError(x, err)
	return head.Last
}

// events lists without an engine. It stops at an error.
func events(ctx context.Context, src harvest.Source) (all []harvest.Event, findings []websync.Finding, err error) {
	run := &harvest.Run{Report: func(f websync.Finding) { findings = append(findings, f) }, Expect: func(int64) {}}
	for ev, err := range src.Events(ctx, run) {
		if err != nil {
			return all, findings, err
		}
		all = append(all, ev)
	}
	return all, findings, nil
}

// names returns the ids that a Source yields, in its order, without Base.
func names(t testing.TB, src harvest.Source) (all []string) {
	t.Helper()
	yielded, _, err := events(t.Context(), src)
	require.NoError(t, err)
	for _, ev := range yielded {
		if ev.Kind == harvest.Put {
			all = append(all, strings.TrimPrefix(ev.Resource.ID, base))
		}
	}
	return all
}

// list returns what the Source yields, and the paths of that.
func (x *tree) list(t *testing.T) (listed []string, yielded []harvest.Event) {
	t.Helper()
	yielded, _, err := events(t.Context(), x.src)
	require.NoError(t, err)
	for _, ev := range yielded {
		if ev.Kind == harvest.Put {
			listed = append(listed, ev.Resource.ID[len(base):])
		}
	}
	return listed, yielded
}
