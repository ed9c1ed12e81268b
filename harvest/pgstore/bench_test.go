package pgstore

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/sqlitestore"
	"github.com/websync-go/websync/internal/testing/bench"
	"github.com/websync-go/websync/internal/testing/pgtest"
)

// A listing is a Source of many entries, as a sitemap has them.
type listing struct {
	key string
	n   int
}

func (l listing) Key() string { return l.key }

func (l listing) Events(context.Context, *harvest.Run) iter.Seq2[harvest.Event, error] {
	return func(yield func(harvest.Event, error) bool) {
		at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		if !yield(harvest.Event{Kind: harvest.SnapshotStart}, nil) {
			return
		}
		for i := range l.n {
			id := fmt.Sprintf("https://www.example.com/documents/%d/%d", i%97, i)
			modified := websync.NewDatetime(at.Add(time.Duration(i) * time.Second))
			resource := websync.Resource{ID: id, Modified: modified, Content: websync.Link{Href: id}}
			if !yield(harvest.Event{At: modified, Resource: resource}, nil) {
				return
			}
		}
		yield(harvest.Event{Kind: harvest.SnapshotEnd, Complete: true, Resume: harvest.Checkpoint{Version: 1, Data: []byte("end")}}, nil)
	}
}

// harvest harvests the listing, without bodies.
func (l listing) harvest(ctx context.Context, s *harvest.Catalog) (*harvest.Report, error) {
	h := &harvest.Harvester{Sample: -1, Catalog: s, Bodies: harvest.SkipBodies}
	return h.Run(ctx, l)
}

// run harvests the listing and returns the time that an entry took.
func (l listing) run(t testing.TB, s *harvest.Catalog, created int) time.Duration {
	t.Helper()
	began := time.Now()
	report, err := l.harvest(t.Context(), s)
	require.NoError(t, err)
	require.EqualValues(t, created, report.Created)
	return time.Since(began) / time.Duration(l.n)
}

// BenchmarkMillion harvests a listing into a fresh schema, whose tables were never
// analysed, and into a fresh SQLite file, in turns, and then all of it again.
func BenchmarkMillion(b *testing.B) {
	l := listing{"a", 1_000_000}
	if testing.Short() {
		l.n = 100_000
	}
	dsn := pgtest.Server(b)
	var created, unchanged, beside, size, cpu, server, besideCPU []float64
	for b.Loop() {
		schema := pgtest.Schema(b, dsn)
		s := reopen(b, dsn+"&application_name="+schema, schema)
		client, remote := bench.CPUTime(), serverCPU(b, dsn, schema)
		ours := l.run(b, s.Catalog, l.n)
		client, remote = bench.CPUTime()-client, serverCPU(b, dsn, schema)-remote
		created = append(created, float64(ours.Nanoseconds())/1e3)
		server = append(server, l.micros(remote))
		cpu = append(cpu, l.micros(client+remote))
		size = append(size, float64(schemaSize(b, dsn, schema))/float64(l.n))
		unchanged = append(unchanged, float64(l.run(b, s.Catalog, 0).Nanoseconds())/1e3)
		pgtest.Ask(b, dsn, "drop schema "+schema+" cascade")
		file, err := sqlitestore.Open(b.Context(), filepath.Join(b.TempDir(), "store.db"), nil)
		require.NoError(b, err)
		peer := bench.CPUTime()
		beside = append(beside, float64(ours)/float64(l.run(b, harvest.NewCatalog(file), l.n)))
		besideCPU = append(besideCPU, float64(client+remote)/float64(bench.CPUTime()-peer))
		require.NoError(b, file.Close())
	}
	b.ReportMetric(median(created), "µs/new")
	b.ReportMetric(median(unchanged), "µs/unchanged")
	b.ReportMetric(median(beside), "x-sqlite")
	b.ReportMetric(median(cpu), "cpu-µs/new")
	b.ReportMetric(median(server), "server-cpu-µs/new")
	b.ReportMetric(median(besideCPU), "x-cpu-sqlite")
	b.ReportMetric(median(size), "bytes/record")
}

// micros returns how many microseconds of a time an entry took.
func (l listing) micros(t time.Duration) float64 {
	return float64(t.Nanoseconds()) / 1e3 / float64(l.n)
}

// serverCPU returns the processor time of the connections of an application, and of the
// server's own processes.
func serverCPU(t testing.TB, dsn, application string) (sum time.Duration) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	defer conn.Close(t.Context())
	rows, err := conn.Query(t.Context(), "select pid from pg_stat_activity where application_name = $1 or backend_type <> 'client backend'", application)
	require.NoError(t, err)
	pids, err := pgx.CollectRows(rows, pgx.RowTo[int])
	require.NoError(t, err)
	for _, pid := range pids {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue // it has ended
		}
		_, fields, _ := strings.Cut(string(stat), ") ")
		for _, ticks := range strings.Fields(fields)[11:13] {
			n, err := strconv.Atoi(ticks)
			require.NoError(t, err)
			sum += time.Duration(n) * 10 * time.Millisecond
		}
	}
	return sum
}

// schemaSize returns the bytes of the tables of a schema and of their indexes.
func schemaSize(t testing.TB, dsn, schema string) (size int64) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	defer conn.Close(t.Context())
	const sql = "select sum(pg_total_relation_size(c.oid)) from pg_class c join pg_namespace n on n.oid = relnamespace where nspname = $1 and relkind = 'r'"
	require.NoError(t, conn.QueryRow(t.Context(), sql, schema).Scan(&size))
	return size
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}
