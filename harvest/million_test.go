package harvest_test

import (
	"context"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/sqlitestore"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// millionEnv makes the test binary harvest a long listing into the SQLite store that it
// names, and print the time and memory that it took. millionEntriesEnv is the number of
// entries, and millionOrderEnv their order.
const (
	millionEnv        = "WEBSYNC_MILLION_STORE"
	millionEntriesEnv = "WEBSYNC_MILLION_ENTRIES"
	millionOrderEnv   = "WEBSYNC_MILLION_ORDER"
)

// harvestMillion prints the seconds of the run and the peak of resident memory in bytes.
func harvestMillion(file string) {
	ctx := context.Background()
	n, err := strconv.Atoi(os.Getenv(millionEntriesEnv))
	if err != nil {
		panic(err)
	}
	db, err := sqlitestore.Open(ctx, file, nil)
	if err != nil {
		panic(err)
	}
	store := harvest.NewCatalog(db)
	h := &harvest.Harvester{Sample: -1, Catalog: store, Bodies: harvest.SkipBodies}
	began := time.Now()
	order := os.Getenv(millionOrderEnv)
	report, err := h.Run(ctx, pages{n, order == scattered, order == ordinary})
	if err != nil {
		panic(err)
	}
	took := time.Since(began)
	if report.Created+report.Unchanged != int64(n) {
		panic(fmt.Sprintf("%+v", report))
	}
	if err := db.Close(); err != nil {
		panic(err)
	}
	fmt.Println(took.Seconds(), testkit.PeakMemory())
}

// pages is a Source of this many web pages in one complete snapshot, in the order of
// their ids or scattered over it.
type pages struct {
	n         int
	scattered bool
	ordinary  bool // they have what sitemaps usually state
}

func (pages) Key() string { return src }

func (p pages) Events(context.Context, *harvest.Run) iter.Seq2[harvest.Event, error] {
	return func(yield func(harvest.Event, error) bool) {
		if !yield(start, nil) {
			return
		}
		for i := range p.n {
			if !yield(harvest.Event{Resource: p.page(uint64(i))}, nil) {
				return
			}
		}
		yield(harvest.Event{Kind: harvest.SnapshotEnd, Complete: true, Resume: checkpoint("listed")}, nil)
	}
}

// page returns the description of one page. Its URL has 53 to 79 bytes.
func (p pages) page(i uint64) websync.Resource {
	x := mix(i)
	number := i
	if p.scattered {
		number = x >> 24
	}
	id := append(make([]byte, 0, 96), "https://www.example.org/catalogue/items/0000000000000"...)
	for k := len(id) - 1; number > 0; k-- {
		id[k] += byte(number % 10)
		number /= 10
	}
	switch x % 4 {
	case 0:
		id = append(id, "/document.html"...)
	case 1:
		id = strconv.AppendUint(append(id, "?lang=de&version="...), x>>40, 10)
	}
	r := websync.Resource{ID: string(id), Modified: websync.NewDatetime(time.Unix(1_600_000_000+int64(x>>37), 0).UTC())}
	r.Content.Href = r.ID
	if p.ordinary {
		const space = "http://www.sitemaps.org/schemas/sitemap/0.9"
		frequency := [...]string{"daily", "weekly", "monthly", "yearly"}[x%4]
		r.Elements = []websync.Element{
			{Space: space, Local: "changefreq", XML: `<changefreq xmlns="` + space + `">` + frequency + "</changefreq>"},
			{Space: space, Local: "priority", XML: `<priority xmlns="` + space + `">0.` + strconv.Itoa(int(x%10)) + "</priority>"},
		}
	}
	return r
}

// mix returns another number for each i, in no order.
func mix(i uint64) uint64 {
	i += 0x9e3779b97f4a7c15
	i = (i ^ i>>30) * 0xbf58476d1ce4e5b9
	i = (i ^ i>>27) * 0x94d049bb133111eb
	return i ^ i>>31
}

const (
	ordered   = "ordered"
	ordinary  = "ordinary"
	scattered = "scattered"
)

// A harvested is what one process took for a listing.
type harvested struct {
	entries      int
	seconds, cpu float64
	peak, file   int64 // bytes
}

func (h harvested) micros() float64    { return h.seconds * 1e6 / float64(h.entries) }
func (h harvested) cpuMicros() float64 { return h.cpu * 1e6 / float64(h.entries) }

// harvestIn harvests n entries in a process of its own, so that the peak of its resident
// memory counts everything, SQLite's caches too.
func harvestIn(b *testing.B, file, order string, n int) harvested {
	h := harvested{entries: n}
	cmd := exec.CommandContext(b.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), millionEnv+"="+file, fmt.Sprint(millionEntriesEnv, "=", n), millionOrderEnv+"="+order, "GOGC=100") // as users run it
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	require.NoError(b, err)
	_, err = fmt.Sscan(string(out), &h.seconds, &h.peak)
	require.NoError(b, err)
	h.cpu = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	info, err := os.Stat(file)
	require.NoError(b, err)
	h.file = info.Size()
	return h
}

// BenchmarkMillion harvests listings without bodies into SQLite, first into an empty
// store, then again: 100,000 and 1,000,000 entries in the order of their ids and
// scattered, in their order with changefreq and priority, and 3,000,000 to see the peak of memory. x-cpu is how many times the
// processor time of an entry the larger listing takes.
func BenchmarkMillion(b *testing.B) {
	small, large, most := 100_000, 1_000_000, 3_000_000
	if testing.Short() {
		small, large, most = 2_000, 20_000, 40_000
	}
	for _, order := range []string{ordered, scattered, ordinary} {
		b.Run(order, func(b *testing.B) {
			for b.Loop() {
				dir := b.TempDir()
				first := harvestIn(b, filepath.Join(dir, "small.db"), order, small)
				file := filepath.Join(dir, "large.db")
				second, again := harvestIn(b, file, order, large), harvestIn(b, file, order, large)
				b.ReportMetric(first.micros(), "µs/new-small")
				b.ReportMetric(first.cpuMicros(), "cpu-µs/new-small")
				b.ReportMetric(second.micros(), "µs/new")
				b.ReportMetric(second.cpuMicros(), "cpu-µs/new")
				b.ReportMetric(second.cpuMicros()/first.cpuMicros(), "x-cpu")
				b.ReportMetric(again.micros(), "µs/unchanged")
				b.ReportMetric(again.cpuMicros(), "cpu-µs/unchanged")
				b.ReportMetric(float64(second.file)/float64(large), "bytes/record")
				b.ReportMetric(float64(second.peak)/(1<<20), "peak-MiB")
			}
		})
	}
	b.Run("memory", func(b *testing.B) {
		for b.Loop() {
			file := filepath.Join(b.TempDir(), "store.db")
			harvestIn(b, file, ordered, most)
			again := harvestIn(b, file, ordered, most)
			b.ReportMetric(float64(again.peak)/(1<<20), "peak-MiB")
			b.ReportMetric(again.cpuMicros(), "cpu-µs/unchanged")
		}
	})
}
