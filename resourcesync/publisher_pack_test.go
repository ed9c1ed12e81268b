package resourcesync_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/resourcesync"
)

// TestDumpsFollowed: a Destination makes its baseline of the Resource Dump, and takes the
// bytes of changes from the Change Dump, whatever changes and is packed meanwhile.
func TestDumpsFollowed(t *testing.T) {
	for seed := range histories() / 2 {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel() // it waits for the disk
			random := rand.New(rand.NewPCG(seed, 6))
			dumps := &resourcesync.Dumps{Dir: t.TempDir(), MaxEntries: 5 + random.IntN(30), MaxPackages: random.IntN(5)}
			p := &resourcesync.Publisher{PartSize: 1 + random.IntN(9), ListSize: 5 + random.IntN(20), Dumps: dumps}
			l := newLibrary(t, p)
			dumps.State = l.store
			change := func() {
				name, text := fmt.Sprint("r", random.IntN(40)), fmt.Sprint("text ", random.IntN(1000))
				if random.IntN(4) == 0 && l.truth[name] != "" {
					text = ""
				}
				l.put(name, text)
			}
			pack := func() {
				kinds := [][]resourcesync.Capability{nil, {resourcesync.ResourceDump}, {resourcesync.ChangeDump}, {resourcesync.ChangeDump}}
				require.NoError(t, p.Pack(t.Context(), kinds[random.IntN(len(kinds))]...))
			}
			var store *harvest.Catalog
			resources, changes := 0, 0
			for round := range 6 {
				for range random.IntN(60) {
					change()
				}
				pack()
				if round%3 == 0 {
					store = harvest.NewCatalog(memstore.New())
				}
				for _, moving := range []bool{true, false} {
					if l.between = nil; moving {
						l.between = func() {
							switch random.IntN(20) {
							case 0, 1:
								change()
							case 2:
								pack()
							}
						}
					}
					l.asked = nil
					h := &harvest.Harvester{Sample: -1, Catalog: store, Fetcher: l, MaxDelete: 1, Recheck: !moving}
					report, err := h.Run(t.Context(), &resourcesync.Source{URL: l.URL()})
					require.NoError(t, err)
					require.True(t, moving || report.InStep(), report)
					for _, url := range l.asked {
						if strings.HasSuffix(url, ".zip") {
							if strings.Contains(url, "resourcedump") {
								resources++
							} else {
								changes++
							}
						}
					}
				}
				require.Equal(t, maps.Clone(l.truth), testkit.Live(t, store))
			}
			validateAll(t, p, websync.SeverityError)
			assert.Positive(t, resources)
			assert.Positive(t, changes)
		})
	}
}

// TestDumpsAlone: a Destination that reads nothing but dumps is in step with the last
// Pack.
func TestDumpsAlone(t *testing.T) {
	k := newPacker(t, &resourcesync.Publisher{Dumps: &resourcesync.Dumps{MaxEntries: 3}})
	k.Clock = time.Date(2025, 6, 1, 12, 0, 0, 0, time.UTC) // before that of serve
	store := harvest.NewCatalog(memstore.New())
	harvestDumps := func() {
		site := make(pages)
		for path, text := range docs(t, k.Publisher) {
			site[strings.TrimPrefix(path, "/")] = text
		}
		offered := []string{"resourcedump", "resourcedump.xml"}
		if site["changedump.xml"] != "" {
			offered = append(offered, "changedump", "changedump.xml")
		}
		report, said := harvestOnce(t, store, serve(site.with(offers(offered...)), map[string]string{}, 1))
		if len(offered) > 2 {
			require.True(t, report.InStep(), said)
		}
	}
	k.change("a=1 b=2 c=3 d=4 e=5")
	k.pack()
	harvestDumps()
	assert.Equal(t, held("a=1 b=2 c=3 d=4 e=5"), testkit.Live(t, store))
	k.change("a=6 -b f=7 g=8 g=9")
	k.pack()
	harvestDumps()
	assert.Equal(t, held("a=6 c=3 d=4 e=5 f=7 g=9"), testkit.Live(t, store))
	k.change("-a b=1 h=2 i=3 j=4 -j")
	k.pack(resourcesync.ChangeDump)
	harvestDumps()
	assert.Equal(t, held("b=1 c=3 d=4 e=5 f=7 g=9 h=2 i=3"), testkit.Live(t, store))
}

func docs(t *testing.T, p *resourcesync.Publisher) map[string]string {
	_, texts := documents(t, p)
	return texts
}

// A mapState is a State that calls read before it returns a value, and step before and
// after it changes one.
type mapState struct {
	mu     sync.Mutex
	values map[string][]byte
	read   func(key string)
	step   func() error
}

func (s *mapState) State(_ context.Context, key string) ([]byte, error) {
	if s.read != nil {
		s.read(key)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Clone(s.values[key]), nil
}

func (s *mapState) swap(key string, old, value []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !bytes.Equal(s.values[key], old) {
		return websync.ErrConflict
	}
	if s.values == nil {
		s.values = make(map[string][]byte)
	}
	s.values[key] = bytes.Clone(value)
	return nil
}

func (s *mapState) Swap(_ context.Context, key string, old, value []byte) error {
	if s.step == nil {
		return s.swap(key, old, value)
	}
	return errors.Join(s.step(), s.swap(key, old, value), s.step())
}

func (s *mapState) clone() *mapState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &mapState{values: maps.Clone(s.values)}
}

// TestPackKilled kills a Pack at each step: what was there before is there still, or what
// is new; and the next Pack makes the same, and leaves nothing else.
func TestPackKilled(t *testing.T) {
	t.Parallel() // it waits for the disk
	state := new(mapState)
	k := newPacker(t, &resourcesync.Publisher{Dumps: &resourcesync.Dumps{MaxEntries: 2}})
	k.Dumps.State = state
	k.change("a=1 b=2 c=3 -a")
	k.pack()
	k.change("a=4 d=5 -b e=6 f=7")
	lists := func(p *resourcesync.Publisher) (texts [2]string) {
		for i, path := range []string{"/resourcedump.xml", "/changedump.xml"} {
			if doc, err := p.Document(t.Context(), path); err == nil {
				texts[i] = string(render(t, doc))
			}
		}
		return texts
	}
	before := lists(k.Publisher)

	type image struct {
		dir   string
		state *mapState
	}
	var images []image
	catalog := &testkit.Catalog{Catalog: k.Store}
	k.Catalog = catalog
	p := k.again()
	step := func() error {
		dir := t.TempDir()
		require.NoError(t, os.CopyFS(dir, os.DirFS(k.Dumps.Dir)))
		images = append(images, image{dir, state.clone()})
		return nil
	}
	catalog.Before, state.step = func(string, int) error { return step() }, step
	require.NoError(t, p.Pack(t.Context()))
	catalog.Before, state.step = nil, nil
	after := lists(p)
	require.NotEqual(t, before, after)
	require.NoError(t, p.Pack(t.Context()))
	files := len(k.files())
	require.Greater(t, len(images), 20)

	for i, image := range images {
		k.Dumps = &resourcesync.Dumps{Dir: image.dir, State: image.state, MaxEntries: 2}
		k.Publisher.Dumps = k.Dumps
		p := k.again()
		for j, text := range lists(p) {
			assert.Contains(t, []string{before[j], after[j]}, text, i)
		}
		if i%7 == 0 {
			validateAll(t, p, websync.SeverityError)
		}
		require.NoError(t, p.Pack(t.Context()), i)
		assert.Equal(t, after, lists(p), i)
		if i%7 == 0 {
			validateAll(t, p, websync.SeverityError)
		}
		require.NoError(t, p.Pack(t.Context()), i)
		assert.Len(t, k.files(), files, i)
	}
}

// TestPackFails: an error of the Catalog or of the State, at any step, leaves what was
// there before or the new dump, and no other file.
func TestPackFails(t *testing.T) {
	t.Parallel() // it waits for the disk
	broken := errors.New("broken")
	state, catalog := new(mapState), new(testkit.Catalog)
	k := newPacker(t, new(resourcesync.Publisher))
	k.Dumps.State, catalog.Catalog, k.Catalog = state, k.Store, catalog
	k.change("a=1 b=2")
	k.pack()
	k.change("a=3 c=4")
	k.pack()
	k.change("d=5 e=6")
	k.pack() // the second Resource Dump is not listed any more
	k.change("f=7")
	dir, files := k.Dumps.Dir, len(k.files())
	for n := range 100 {
		now := state.clone()
		k.Dumps = &resourcesync.Dumps{Dir: t.TempDir(), State: now}
		k.Publisher.Dumps = k.Dumps
		require.NoError(t, os.CopyFS(k.Dumps.Dir, os.DirFS(dir)))
		steps := 0
		step := func() error {
			if steps++; steps == n+1 {
				return broken
			}
			return nil
		}
		catalog.Before, now.step = func(string, int) error { return step() }, step
		err := k.again().Pack(t.Context())
		catalog.Before, now.step = nil, nil
		if steps <= n {
			require.NoError(t, err)
			require.Greater(t, n, 10)
			return
		}
		if err != nil { // a State that has failed after it took effect is no error
			require.ErrorIs(t, err, broken)
		}
		p := k.again()
		validateAll(t, p, websync.SeverityError)
		require.NoError(t, p.Pack(t.Context()))
		require.NoError(t, p.Pack(t.Context()))
		assert.Equal(t, []string{"3", "2", "4", "5", "6", "7"}, texts(t, p, resourcesync.ResourceDump))
		assert.Equal(t, []string{"3", "4", "5", "6", "7"}, texts(t, p, resourcesync.ChangeDump))
		assert.Len(t, k.files(), files, n)
	}
	t.Error("it never ends")
}

// TestPackTwice: of two Packs at once one changes the dump; the other one says so and
// leaves nothing.
func TestPackTwice(t *testing.T) {
	k, state := newPacker(t, new(resourcesync.Publisher)), new(mapState)
	catalog := &testkit.Catalog{Catalog: k.Store}
	k.Catalog, k.Dumps.State = catalog, state
	for _, change := range []string{"a=1 b=2 c=3", "a=4 -b d=5"} {
		k.change(change)
		slow, quick := k.again(), k.again()
		catalog.Reset()
		catalog.Before = func(method string, n int) error {
			if method == "Open" && n == 2 {
				catalog.Before = nil
				require.NoError(t, quick.Pack(t.Context()))
			}
			return nil
		}
		var files []string
		state.step = func() error { files = k.files(); return nil }
		err := slow.Pack(t.Context())
		state.step = nil
		require.ErrorIs(t, err, websync.ErrConflict)
		assert.Less(t, len(k.files()), len(files), "what the slow one has made is gone")
		for _, name := range k.files() {
			assert.Contains(t, files, name)
		}
		validateAll(t, k.again(), websync.SeverityError)
		require.NoError(t, slow.Pack(t.Context()))
	}
	assert.Equal(t, []string{"4", "3", "5"}, texts(t, k.again(), resourcesync.ResourceDump))
	k.pack()
	want := k.files()

	var all sync.WaitGroup
	for i := range 8 {
		p := k.again()
		all.Go(func() {
			for range 5 {
				var err error
				if i == 0 {
					err = p.Discard(t.Context())
				} else {
					err = p.Pack(t.Context())
				}
				if err != nil {
					assert.ErrorIs(t, err, websync.ErrConflict)
				}
			}
		})
	}
	all.Wait()
	k.pack()
	k.pack()
	assert.LessOrEqual(t, len(k.files()), len(want))
	assert.Equal(t, []string{"4", "3", "5"}, texts(t, k.again(), resourcesync.ResourceDump))
	validateAll(t, k.again(), websync.SeverityError)
}

// TestPackNothing: a Pack that has nothing to pack finds the files of one that began
// later. It removes them, so that one fails.
func TestPackNothing(t *testing.T) {
	k, state := newPacker(t, new(resourcesync.Publisher)), new(mapState)
	k.Dumps.State = state
	k.change("a=1")
	k.pack()
	k.change("b=2")
	k.pack()
	k.pack()
	slow, done := k.again(), make(chan error)
	ready, release := make(chan struct{}), make(chan struct{})
	var read, swapped atomic.Bool // once
	state.step = func() error {
		if swapped.CompareAndSwap(false, true) {
			close(ready)
			<-release
		}
		return nil
	}
	state.read = func(key string) {
		// Pack reads that of the Resource Dump when it knows how long the log is.
		if strings.Contains(key, "resourcedump") && read.CompareAndSwap(false, true) {
			k.change("c=3")
			go func() { done <- slow.Pack(t.Context(), resourcesync.ChangeDump) }()
			<-ready
		}
	}
	require.NoError(t, k.again().Pack(t.Context(), resourcesync.ChangeDump))
	close(release)
	require.ErrorIs(t, <-done, websync.ErrConflict)
	validateAll(t, k.again(), websync.SeverityError)
	assert.Equal(t, []string{"2"}, texts(t, k.again(), resourcesync.ChangeDump))
	k.pack()
	assert.Equal(t, []string{"2", "3"}, texts(t, k.again(), resourcesync.ChangeDump))
}

// TestPackChanges: a body that is replaced while it is packed is packed as it is then.
func TestPackChanges(t *testing.T) {
	k := newPacker(t, new(resourcesync.Publisher))
	catalog := &testkit.Catalog{Catalog: k.Store}
	k.Catalog = catalog
	gone := fmt.Errorf("a body: %w", websync.ErrNotFound)
	during := func(method string, at int, do func()) {
		catalog.Reset()
		catalog.Before = func(m string, n int) error {
			if m != method || n != at {
				return nil
			}
			catalog.Before = nil
			do()
			return gone
		}
	}
	k.change("a=1 b=2 c=3")
	during("Open", 2, func() { k.change("b=4 -c d=5") })
	p := k.again()
	require.NoError(t, p.Pack(t.Context()))
	assert.Equal(t, []string{"1", "4"}, texts(t, p, resourcesync.ResourceDump), "d is later than at")
	text := body(get(t, p, "/resourcedump.xml"))
	assert.Contains(t, text, `<rs:md capability="resourcedump" at="2026-01-02T03:04:08Z" completed="2026-01-02T03:04:11Z"/>`)
	validateAll(t, p, websync.SeverityError)

	k.change("a=6 e=7")
	during("Open", 1, func() { k.change("a=8") })
	require.NoError(t, p.Pack(t.Context(), resourcesync.ChangeDump))
	assert.Equal(t, []string{"4", "5", "7"}, texts(t, p, resourcesync.ChangeDump), "the new a is in the next package")
	validateAll(t, p, websync.SeverityError)
	require.NoError(t, p.Pack(t.Context(), resourcesync.ChangeDump))
	assert.Equal(t, []string{"4", "5", "7", "8"}, texts(t, p, resourcesync.ChangeDump))

	k.change("a=9")
	catalog.Before = func(method string, _ int) error {
		if method == "Open" {
			return gone
		}
		return nil
	}
	files := k.files()
	err := p.Pack(t.Context())
	require.ErrorContains(t, err, "does not keep the bytes")
	assert.NotErrorIs(t, err, websync.ErrNotFound)
	catalog.Before = nil
	assert.Equal(t, files, k.files())
	assert.Equal(t, []string{"1", "4"}, texts(t, p, resourcesync.ResourceDump), "what was there stays")

	k.Catalog = &lying{k.Store}
	err = k.again().Pack(t.Context())
	require.ErrorIs(t, err, websync.ErrMismatch)
	assert.ErrorContains(t, err, `packing the content of "`+www+`a"`)
	assert.Equal(t, files, k.files())
}

// A lying Catalog opens other bytes than it names.
type lying struct{ websync.Catalog }

func (*lying) Open(context.Context, websync.Body) (io.ReadSeekCloser, error) {
	return nopCloser{strings.NewReader("x")}, nil
}

type nopCloser struct{ io.ReadSeeker }

func (nopCloser) Close() error { return nil }

// A bulky Catalog has bodies of zeros, with the lengths that their links state.
type bulky struct{ *websync.Log }

func (bulky) Open(_ context.Context, b websync.Body) (io.ReadSeekCloser, error) {
	return nopCloser{io.NewSectionReader(zeros{}, 0, b.Link.Length)}, nil
}

type zeros struct{}

func (zeros) ReadAt(b []byte, _ int64) (int, error) {
	clear(b)
	return len(b), nil
}

// TestPackMemory packs a body of 200 MB, stored, and a long one, deflated, in little
// memory.
func TestPackMemory(t *testing.T) {
	if racing.Enabled {
		t.Skip("the memory of the race detector is no figure")
	}
	const stored, deflated = 200 << 20, 16 << 20
	log := bulky{new(websync.Log)}
	for mediaType, size := range map[string]int64{"text/plain": deflated, "video/mp4": stored} {
		h := sha256.New()
		_, err := io.Copy(h, io.NewSectionReader(zeros{}, 0, size))
		require.NoError(t, err)
		item := textItem(www+mediaType, mediaType, "")
		item.Source, item.Time = "own", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		item.Bodies[0].Key.Sum, item.Bodies[0].Link.Length = string(h.Sum(nil)), size
		log.Append(item)
	}
	p := publisherOf(log, &resourcesync.Publisher{Dumps: &resourcesync.Dumps{Dir: filepath.Join(t.TempDir(), "x"), State: new(mapState)}})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	require.NoError(t, p.Pack(t.Context()))
	runtime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8<<20))
	doc, err := p.Document(t.Context(), listedPackages(t, p, resourcesync.ResourceDump)[0])
	require.NoError(t, err)
	r, err := doc.Open(t.Context())
	require.NoError(t, err)
	defer r.Close()
	length, err := r.Seek(0, io.SeekEnd)
	require.NoError(t, err)
	assert.Greater(t, length, int64(stored))
	assert.Less(t, length, int64(stored+deflated/16))
}
