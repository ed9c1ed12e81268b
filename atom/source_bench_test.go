package atom_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/sqlitestore"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// annalsEnv makes the test binary harvest the annals that it describes, and print time,
// memory and requests.
const annalsEnv = "WEBSYNC_ATOM_ANNALS"

func TestMain(m *testing.M) {
	if args := os.Getenv(annalsEnv); args != "" {
		harvestAnnals(args)
		return
	}
	os.Exit(m.Run())
}

// Annals are an archived feed of many documents, which are generated on request. One item
// in five is an update and one in twenty a deletion of an earlier item. The last document
// is the subscription document.
type annals struct {
	Documents, Items int // number of documents, and of items in each

	Store, Dir string
	DieAtPage  int // the request for a document that kills the process; 0: none
	DieAtEvent int // the event that does; 0: none

	pages, bodies atomic.Int64
}

// mix returns a number that looks random.
func mix(n, salt int) int {
	x := uint64(n)*0x9e3779b97f4a7c15 + uint64(salt)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return int(x>>1 ^ x>>32)
}

// item returns the number of the item that item k updates or deletes, k itself if it is
// new, and whether it deletes it.
func (a *annals) item(k int) (id int, deleted bool) {
	kind := mix(k, 1) % 100
	if kind >= 25 || k == 0 {
		return k, false
	}
	for id = mix(k, 2) % k; id > 0 && mix(id, 1)%100 < 25; id-- {
	}
	return id, kind < 5
}

// replay computes the last item of each id: 0 if there is none, k+1 for an entry, -k-1
// for a tombstone.
func (a *annals) replay() (last []int, live int) {
	last = make([]int, a.Documents*a.Items)
	for k := range last {
		id, deleted := a.item(k)
		if last[id] = k + 1; deleted {
			last[id] = -k - 1
		}
	}
	for _, k := range last {
		if k > 0 {
			live++
		}
	}
	return last, live
}

func annalsID(id int) string { return fmt.Sprintf("https://www.example.com/annals/id/%07d", id) }

// page writes a document, its newest item first.
func (a *annals) page(n int) []byte {
	b := make([]byte, 0, a.Items*440+400)
	b = append(b, feedStart...)
	b = append(b, "<title>Annals</title><author><name>Clerk</name></author><updated>2026-01-01T00:00:00Z</updated>"...)
	if n > 0 {
		b = fmt.Appendf(b, `<link rel="prev-archive" href="%sannals/%d"/>`, www, n-1)
	}
	start := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for k := (n+1)*a.Items - 1; k >= n*a.Items; k-- {
		id, deleted := a.item(k)
		if deleted {
			b = fmt.Appendf(b, "\n"+`<at:deleted-entry ref="%s" when="`, annalsID(id))
			b = start.Add(time.Duration(k)*time.Second).AppendFormat(b, time.RFC3339)
			b = append(b, `"/>`...)
			continue
		}
		b = fmt.Appendf(b, "\n<entry><id>%s</id><title>Item %d</title><updated>", annalsID(id), k)
		b = start.Add(time.Duration(k)*time.Second).AppendFormat(b, time.RFC3339)
		b = fmt.Appendf(b, `</updated><summary>What the clerk wrote down that day, for all who come after and want to know</summary>`+
			`<link rel="alternate" type="text/plain" href="%sannals/item/%d" length="%d"/>`+
			`<category term="annals" scheme="urn:scheme"/></entry>`, www, k, len(strconv.Itoa(k)))
	}
	return append(b, "\n</feed>\n"...)
}

// Fetch implements harvest.Fetcher.
func (a *annals) Fetch(_ context.Context, req *harvest.Request) (*harvest.Response, error) {
	path := strings.TrimPrefix(req.URL, www)
	answer := func(body []byte) (*harvest.Response, error) {
		return &harvest.Response{URL: req.URL, Status: 200, Body: spooledBytes{bytes.NewReader(body)}, Length: int64(len(body))}, nil
	}
	if item, ok := strings.CutPrefix(path, "annals/item/"); ok {
		a.bodies.Add(1)
		return answer([]byte(item))
	}
	if a.pages.Add(1) == int64(a.DieAtPage) {
		die()
	}
	if path == "feed" {
		return answer(a.page(a.Documents - 1))
	}
	n, err := strconv.Atoi(strings.TrimPrefix(path, "annals/"))
	if err != nil || n < 0 || n >= a.Documents {
		return nil, fmt.Errorf("%s: %w", req.URL, websync.ErrGone)
	}
	return answer(a.page(n))
}

type spooledBytes struct{ *bytes.Reader }

func (spooledBytes) Close() error { return nil }

func die() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	panic(err)
}

// annalsRun is the report of a process about its run.
type annalsRun struct {
	Seconds       float64
	Peak          int64 // of resident memory
	Pages, Bodies int64 // that were asked for
}

func harvestAnnals(args string) {
	a := new(annals)
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	check(json.Unmarshal([]byte(args), a))
	ctx := context.Background()
	db, err := sqlitestore.Open(ctx, a.Store, nil)
	check(err)
	store := harvest.NewCatalog(db)
	var source harvest.Source = &atom.Source{URL: feedURL, Dir: a.Dir}
	if a.DieAtEvent > 0 {
		source = &interrupted{source.(*atom.Source), a.DieAtEvent, die}
	}
	h := &harvest.Harvester{Sample: -1, Catalog: store, Fetcher: a, Bodies: harvest.VerifyBodies}
	began := time.Now()
	report, err := h.Run(ctx, source)
	check(err)
	took := time.Since(began)
	if !report.InStep() {
		panic(fmt.Sprintf("%+v", report))
	}
	check(db.Close())
	check(json.NewEncoder(os.Stdout).Encode(annalsRun{took.Seconds(), testkit.PeakMemory(), a.pages.Load(), a.bodies.Load()}))
}

// harvest harvests the annals in a process of its own. It returns false if that was
// killed.
func (a *annals) harvest(tb testing.TB) (run annalsRun, ok bool) {
	args, err := json.Marshal(a)
	require.NoError(tb, err)
	cmd := exec.CommandContext(tb.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), annalsEnv+"="+string(args))
	if a.DieAtPage+a.DieAtEvent == 0 {
		cmd.Stderr = os.Stderr
	}
	out, err := cmd.Output()
	if a.DieAtPage+a.DieAtEvent > 0 {
		var exit *exec.ExitError
		require.ErrorAs(tb, err, &exit)
		require.False(tb, exit.Exited(), "killed: %v", err)
		return run, false
	}
	require.NoError(tb, err)
	require.NoError(tb, json.Unmarshal(out, &run))
	return run, true
}

// compare compares the store with the naive replay.
func (a *annals) compare(tb testing.TB) {
	db, err := sqlitestore.Open(tb.Context(), a.Store, nil)
	require.NoError(tb, err)
	defer db.Close()
	store := harvest.NewCatalog(db)
	last, live := a.replay()
	known := 0
	for r, err := range store.Records(tb.Context(), feedURL, "") {
		require.NoError(tb, err)
		id, err := strconv.Atoi(r.Resource.ID[len(annalsID(0))-7:])
		require.NoError(tb, err)
		k := last[id]
		if r.Live() != (k > 0) || r.Live() && r.Resource.Title != fmt.Sprintf("Item %d", k-1) {
			tb.Fatalf("%s: live %t, %q, want %d", r.Resource.ID, r.Live(), r.Resource.Title, k)
		}
		if r.Live() {
			known++
		}
	}
	require.Equal(tb, live, known)
}

// TestSourceKilled: after a process that is killed at any page of the walk, or while it
// yields, the next one continues.
func TestSourceKilled(t *testing.T) {
	const documents, items = 12, 40
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	for _, dir := range []string{"", "pages"} {
		a := &annals{Documents: documents, Items: items, Store: filepath.Join(t.TempDir(), "store.db")}
		if dir != "" {
			a.Dir = filepath.Join(t.TempDir(), dir)
		}
		a.DieAtPage = 2 + rng.IntN(documents-1)
		a.harvest(t)
		a.DieAtPage, a.DieAtEvent = 0, 100+rng.IntN(200)
		a.harvest(t)
		a.DieAtEvent = 0
		run, ok := a.harvest(t)
		require.True(t, ok)
		a.compare(t)
		if dir != "" {
			assert.EqualValues(t, 1, run.Pages, "the subscription document")
			assert.Zero(t, files(t, a.Dir))
		} else {
			assert.Less(t, run.Pages, int64(documents-1), "not those that were yielded")
		}
	}
}

// TestSourceLongWalk: in a long walk a checkpoint comes after several short documents. A
// run from any of them yields the rest, and each event once.
func TestSourceLongWalk(t *testing.T) {
	a := &annals{Documents: 40, Items: 60}
	damaged := testkit.FetchFunc(func(ctx context.Context, req *harvest.Request) (*harvest.Response, error) {
		resp, err := a.Fetch(ctx, req)
		if err == nil && (strings.HasSuffix(req.URL, "/5") || strings.HasSuffix(req.URL, "/6")) {
			page, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			resp.Body = spooledBytes{bytes.NewReader(bytes.ReplaceAll(page, []byte(` when="`), []byte(` at="`)))}
		}
		return resp, err
	})
	type mark struct {
		at     harvest.Checkpoint
		events int // before it
	}
	walk := func(from harvest.Checkpoint) (ids []string, marks []mark, skipped int) {
		run := quietRun(damaged)
		run.From = from
		for ev, err := range (&atom.Source{URL: feedURL}).Events(t.Context(), run) {
			require.NoError(t, err)
			switch ev.Kind {
			case harvest.Put, harvest.Delete:
				ids = append(ids, ev.Resource.ID)
			case harvest.Mark:
				require.False(t, ev.Resume.IsZero())
				marks = append(marks, mark{ev.Resume, len(ids)})
				skipped += ev.Skipped
			default:
				t.Fatal(ev)
			}
		}
		return ids, marks, skipped
	}
	ids, marks, skipped := walk(harvest.Checkpoint{})
	assert.Equal(t, len(ids)/500+1, len(marks), "of %d events", len(ids))
	assert.NotZero(t, skipped)
	for i, m := range marks[:len(marks)-1] {
		rest, _, again := walk(m.at)
		assert.Equal(t, ids[m.events:], rest, "from mark %d", i)
		assert.Equal(t, skipped, again, "from mark %d: what is skipped stays so", i)
	}
}

// TestSourceLongWalkInline: inline content of short documents is read before there is much of it.
func TestSourceLongWalkInline(t *testing.T) {
	const documents, each = 20, 300 << 10
	fetcher := testkit.FetchFunc(func(_ context.Context, req *harvest.Request) (*harvest.Response, error) {
		n := documents - 1
		if older, ok := strings.CutPrefix(req.URL, www+"older/"); ok {
			n, _ = strconv.Atoi(older)
		}
		page := feedStart + "<title>Letters</title>"
		if n > 0 {
			page += fmt.Sprintf(`<link rel="prev-archive" href="%solder/%d"/>`, www, n-1)
		}
		page += fmt.Sprintf("<entry><id>%s%d</id><updated>2026-01-01T00:00:%02dZ</updated><content>%s</content></entry></feed>",
			www, n, n, strings.Repeat("x", each))
		return &harvest.Response{URL: req.URL, Status: 200, Body: spooledBytes{bytes.NewReader([]byte(page))}, Length: int64(len(page))}, nil
	})
	pending, marks := 0, 0
	for ev, err := range (&atom.Source{URL: feedURL}).Events(t.Context(), quietRun(fetcher)) {
		require.NoError(t, err)
		if ev.Kind == harvest.Mark {
			pending, marks = 0, marks+1
		} else if pending += each; pending > 1<<20+each {
			t.Fatalf("%d bytes are pending", pending)
		}
	}
	assert.Equal(t, documents/4, marks)
}

// BenchmarkArchive harvests an archive of a million items in a thousand documents, a
// fifth of them updates and a twentieth deletions, into SQLite; their bodies are tiny,
// verified and not kept. With -short it is a twentieth of that. Each run is a process of
// its own, so that the peak of its resident memory counts everything.
func BenchmarkArchive(b *testing.B) {
	documents := 1000
	if testing.Short() {
		documents = 50
	}
	report := func(b *testing.B, a *annals, run annalsRun) {
		b.ReportMetric(run.Seconds*1e6/float64(a.Documents*a.Items), "µs/entry")
		b.ReportMetric(float64(run.Peak)/(1<<20), "peak-MiB")
		b.ReportMetric(float64(run.Pages), "pages")
		b.ReportMetric(0, "ns/op")
	}
	b.Run("whole", func(b *testing.B) {
		for b.Loop() {
			a := &annals{Documents: documents, Items: 1000, Store: filepath.Join(b.TempDir(), "store.db")}
			run, _ := a.harvest(b)
			a.compare(b)
			_, live := a.replay()
			require.EqualValues(b, live, run.Bodies, "only what survives is fetched")
			require.EqualValues(b, documents, run.Pages)
			report(b, a, run)
		}
	})
	b.Run("killed", func(b *testing.B) {
		for b.Loop() {
			a := &annals{Documents: documents, Items: 1000, Store: filepath.Join(b.TempDir(), "store.db"), Dir: b.TempDir()}
			a.DieAtPage = 2 + rand.IntN(documents-2)
			a.harvest(b)
			a.DieAtPage, a.DieAtEvent = 0, 1+rand.IntN(documents*500)
			a.harvest(b)
			a.DieAtEvent = 0
			run, _ := a.harvest(b)
			a.compare(b)
			require.EqualValues(b, 1, run.Pages, "the subscription document")
			report(b, a, run)
		}
	})
}

// BenchmarkSource reads, checks and yields an archive, without an engine.
func BenchmarkSource(b *testing.B) {
	a := &annals{Documents: 20, Items: 1000}
	size := 0
	for n := range a.Documents {
		size += len(a.page(n))
	}
	b.Run("render", func(b *testing.B) {
		b.SetBytes(int64(size))
		for b.Loop() {
			for n := range a.Documents {
				io.Discard.Write(a.page(n))
			}
		}
	})
	b.Run("yield", func(b *testing.B) {
		b.SetBytes(int64(size))
		b.ReportAllocs()
		for b.Loop() {
			got := 0
			for ev, err := range (&atom.Source{URL: feedURL}).Events(b.Context(), quietRun(a)) {
				require.NoError(b, err)
				if ev.Kind <= harvest.Delete {
					got++
				}
			}
			if got == 0 {
				b.Fatal("nothing")
			}
		}
	})
}
