package harvest_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/fill"
	"github.com/websync-go/websync/internal/testing/pgtest"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// fillToMove fills a Catalog with n records of each of two sources: some changed, deleted
// or touched, with bodies of all lengths, before and after a Compact.
func fillToMove(t testing.TB, c *harvest.Catalog, n int) {
	c.ChunkSize = 4 << 10
	harvest.OnePage(c)
	h := &harvest.Harvester{Catalog: c, MaxDelete: 1}
	for _, source := range []string{"https://a.example/", "https://b.example/"} {
		for pass := range 3 {
			events := []harvest.Event{{Kind: harvest.SnapshotStart}}
			for i := range n {
				if pass == 1 && i%7 == 0 {
					continue
				}
				day := testkit.Day(1)
				if i%5 == 0 {
					day = testkit.Day(1 + pass)
				}
				e := testkit.Put(fmt.Sprintf("%s%d", source[8:9], i), day)
				e.Open = harvest.OpenBytes([]byte(strings.Repeat(fmt.Sprint(day, i, "\n"), 1+100*(i%3)+2000*(i%50/49))))
				events = append(events, e)
			}
			events = append(events, harvest.Event{Kind: harvest.SnapshotEnd, Complete: true},
				harvest.Event{Kind: harvest.Mark, Resume: harvest.Checkpoint{Version: 1, Data: fmt.Appendf(nil, "pass %d", pass)}})
			report, err := h.Run(t.Context(), harvest.Of(source, events...))
			require.NoError(t, err)
			require.Zero(t, report.Failed)
			if pass == 0 {
				_, err := c.Compact(t.Context())
				require.NoError(t, err)
			}
		}
	}
	task := harvest.Task{Resource: testkit.Resource("task", testkit.Day(2)), Due: time.UnixMicro(7).UTC(), Error: "no answer"}
	require.NoError(t, fill.Commit(t.Context(), c, "https://a.example/", task))
	require.NoError(t, c.Swap(t.Context(), "any", nil, []byte("value")))
}

// everything returns all that readers of a Catalog see, as text.
func everything(t testing.TB, c *harvest.Catalog) string {
	var b strings.Builder
	describe(t, &b, c)
	return b.String()
}

// describe writes it.
func describe(t testing.TB, b io.Writer, c *harvest.Catalog) {
	head, err := c.Head(t.Context())
	require.NoError(t, err)
	fmt.Fprintf(b, "%+v\n", head)
	for generation := range head.Generation {
		for item, err := range c.Changes(t.Context(), websync.Range{Generation: generation + 1}) {
			require.NoError(t, err)
			fmt.Fprintf(b, "log %+v\n", item)
			for _, body := range item.Bodies {
				if r, err := c.Open(t.Context(), body); err == nil {
					data, err := io.ReadAll(r)
					require.NoError(t, errors.Join(err, r.Close()))
					fmt.Fprintf(b, "%v\n", websync.SHA256(data))
				}
			}
		}
	}
	for item, err := range c.Resources(t.Context(), websync.Range{}) {
		require.NoError(t, err)
		fmt.Fprintf(b, "%+v\n", item)
	}
	for _, source := range slices.Sorted(maps.Keys(head.Live)) {
		for r, err := range c.Records(t.Context(), source, "") {
			require.NoError(t, err)
			fmt.Fprintf(b, "record %+v\n", r)
		}
		for task, err := range c.Tasks(t.Context(), source, "") {
			require.NoError(t, err)
			fmt.Fprintf(b, "task %+v\n", task)
		}
		at, err := c.Checkpoint(t.Context(), source)
		require.NoError(t, err)
		fmt.Fprintf(b, "%+v\n", at)
	}
	value, err := c.State(t.Context(), "any")
	require.NoError(t, err)
	fmt.Fprintf(b, "%s", value)
}

func openTransferred(t testing.TB) map[string]func(t testing.TB) *harvest.Catalog {
	return map[string]func(t testing.TB) *harvest.Catalog{
		"memory":       func(testing.TB) *harvest.Catalog { return harvest.NewCatalog(memstore.New()) },
		"memory, bare": func(testing.TB) *harvest.Catalog { return new(testkit.Blobs).On(memstore.New()) },
		"SQLite": func(t testing.TB) *harvest.Catalog {
			c, db := openSQLite(t, filepath.Join(t.TempDir(), "store.db"))
			t.Cleanup(func() { db.Close() })
			return c
		},
		"PostgreSQL": func(t testing.TB) *harvest.Catalog {
			dsn := pgtest.Server(t)
			return openPostgres(t, dsn, pgtest.Schema(t, dsn)).Catalog
		},
	}
}

// move joins Export and Import.
func move(from, to *harvest.Catalog) error {
	r, w := io.Pipe()
	go func() { w.CloseWithError(from.Export(context.Background(), w)) }()
	err := to.Import(context.Background(), r)
	return errors.Join(err, r.CloseWithError(err))
}

// isWhole checks a Catalog that should hold the same as another one.
func isWhole(t testing.TB, want string, c *harvest.Catalog) {
	t.Helper()
	if got := everything(t, c); got != want { // which is long
		wants, gots := strings.Split(want, "\n"), strings.Split(got, "\n")
		for i := range min(len(wants), len(gots)) {
			if wants[i] != gots[i] {
				t.Fatalf("line %d:\n%s\n%s", i, wants[i], gots[i])
			}
		}
		t.Fatalf("%d lines, want %d", len(gots), len(wants))
	}
	isConsistent(t, c)
}

func isConsistent(t testing.TB, c *harvest.Catalog) {
	t.Helper()
	faults, err := c.Inspect(t.Context())
	require.NoError(t, err)
	require.Empty(t, faults)
}

// Whatever the Stores, the moved one holds the same, and goes on from there.
func TestMove(t *testing.T) {
	for from, open := range openTransferred(t) {
		for to, openTo := range openTransferred(t) {
			if racing.Few() && from+to != "SQLitePostgreSQL" && from+to != "PostgreSQLSQLite" && from != "memory" {
				continue
			}
			t.Run(from+" to "+to, func(t *testing.T) {
				source, target := open(t), harvest.OnePage(openTo(t))
				fillToMove(t, source, 50)
				want := everything(t, source)
				require.NoError(t, move(source, target))
				isWhole(t, want, target)
				assert.Equal(t, want, everything(t, source), "the source is as it was")
				// runs go on, and what they supersede can be removed
				report, err := (&harvest.Harvester{Catalog: target, MaxDelete: 1}).Run(t.Context(),
					harvest.Of("https://a.example/", harvest.Event{Kind: harvest.SnapshotStart}, testkit.Put("a1", testkit.Day(9)),
						harvest.Event{Kind: harvest.SnapshotEnd, Complete: true}))
				require.NoError(t, err)
				require.EqualValues(t, 49, report.Deleted)
				target.Now = func() time.Time { return time.Now().Add(48 * time.Hour) }
				_, err = target.Vacuum(t.Context(), time.Hour)
				require.NoError(t, err)
				_, err = target.Compact(t.Context())
				require.NoError(t, err)
				isConsistent(t, target)
			})
		}
	}
}

// Claims stay behind: their holders do not know the new Store.
func TestMoveLeavesClaims(t *testing.T) {
	source, target := harvest.NewCatalog(memstore.New()), harvest.NewCatalog(memstore.New())
	_, err := source.Claim(t.Context(), "source/x", time.Hour)
	require.NoError(t, err)
	require.NoError(t, move(source, target))
	_, err = target.Claim(t.Context(), "source/x", time.Hour)
	require.NoError(t, err)
}

// exported returns an export of a Store of some records.
func exported(t testing.TB, n int) (export []byte, want string) {
	source := harvest.NewCatalog(memstore.New())
	fillToMove(t, source, n)
	var b bytes.Buffer
	require.NoError(t, source.Export(t.Context(), &b))
	return b.Bytes(), everything(t, source)
}

// An export that is cut anywhere, or in which a bit is another one, is refused with the
// place, and leaves a Store that nobody takes for whole.
func TestImportRefusesDamage(t *testing.T) {
	export, want := exported(t, 2)
	whole := harvest.NewCatalog(memstore.New())
	require.NoError(t, whole.Import(t.Context(), iotest.OneByteReader(bytes.NewReader(export))))
	isWhole(t, want, whole)
	refuse := func(damaged []byte, what string, at int) {
		t.Helper()
		target := harvest.NewCatalog(memstore.New())
		err := target.Import(t.Context(), bytes.NewReader(damaged))
		require.Error(t, err, "%s at %d", what, at)
		require.ErrorContains(t, err, "harvest: import: ")
		kinds := []error{websync.ErrNotDocument, websync.ErrTruncated, websync.ErrLimit, websync.ErrMismatch, harvest.ErrNewer}
		require.Condition(t, func() bool {
			for _, kind := range kinds {
				if errors.Is(err, kind) {
					return true
				}
			}
			return false
		}, "%v", err)
		if _, err = target.Head(t.Context()); at < len(exportMagic) {
			require.NoError(t, err, "it is still empty")
		} else {
			require.ErrorContains(t, err, "unfinished")
		}
	}
	step := 1
	if racing.Few() {
		step = 5
	}
	for n := 0; n < len(export); n += step {
		refuse(export[:n], "cut", n)
		damaged := bytes.Clone(export)
		damaged[n] ^= 1 << (n % 8)
		refuse(damaged, "damaged", n)
	}
}

const exportMagic = "websync export 1\n"

// A frame that is missing or comes twice is noticed although each is sound.
func TestImportCountsFrames(t *testing.T) {
	export, _ := exported(t, 2)
	begins := []int{len(exportMagic)}
	for at := begins[0]; at < len(export); begins = append(begins, at) {
		at += 9 + int(binary.BigEndian.Uint32(export[at+1:]))
	}
	for i := range len(begins) - 1 {
		frame := export[begins[i]:begins[i+1]]
		for what, changed := range map[string][]byte{
			"without": append(bytes.Clone(export[:begins[i]]), export[begins[i+1]:]...),
			"twice":   append(append(bytes.Clone(export[:begins[i+1]]), frame...), export[begins[i+1]:]...),
		} {
			if i == len(begins)-2 && what == "twice" {
				continue // Import reads no more than the export
			}
			target := harvest.NewCatalog(memstore.New())
			require.Error(t, target.Import(t.Context(), bytes.NewReader(changed)), "%s frame %d, %q", what, i, frame[0])
			_, err := target.Head(t.Context())
			require.ErrorIs(t, err, harvest.ErrUnfinished)
		}
	}
}

// Keys that are not in their order, or of no kind that an export has, are refused although
// the frame is sound.
func TestImportRefusesKeys(t *testing.T) {
	export, _ := exported(t, 2)
	layout := len(exportMagic) + 9 + 1
	for _, keys := range [][]string{{"Sb", "Sa"}, {"Sa", "Sa"}, {"h"}, {"c12345"}, {"?"}} {
		var pairs []byte
		for _, k := range keys {
			pairs = append(append(append(pairs, byte(len(k))), k...), 1, 'v')
		}
		damaged := append(bytes.Clone(export[:layout]), frame('p', pairs)...)
		err := harvest.NewCatalog(memstore.New()).Import(t.Context(), bytes.NewReader(damaged))
		require.ErrorIs(t, err, websync.ErrMismatch, "%q", keys)
		require.ErrorContains(t, err, "not in its order", "%q", keys)
	}
}

// frame returns a sound frame of an export.
func frame(kind byte, content []byte) []byte {
	b := binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(content)))
	sum := crc32.Checksum(append(bytes.Clone(b), content...), crc32.MakeTable(crc32.Castagnoli))
	return append(binary.BigEndian.AppendUint32(b, sum), content...)
}

// An export of a newer layout is refused, whatever follows.
func TestImportRefusesNewer(t *testing.T) {
	export, _ := exported(t, 2)
	at := len(exportMagic)
	newer := export[at+9] + 1
	export = append(append(bytes.Clone(export[:at]), frame('L', []byte{newer})...), export[at+9+1:]...)
	err := harvest.NewCatalog(memstore.New()).Import(t.Context(), bytes.NewReader(export))
	require.ErrorIs(t, err, harvest.ErrNewer)
}

// Import refuses a Store in use, and leaves it as it is.
func TestImportRefusesUse(t *testing.T) {
	export, _ := exported(t, 2)
	target := harvest.NewCatalog(memstore.New())
	require.NoError(t, target.Swap(t.Context(), "any", nil, []byte("mine")))
	require.ErrorContains(t, target.Import(t.Context(), bytes.NewReader(export)), "the Store is in use")
	value, err := target.State(t.Context(), "any")
	require.NoError(t, err)
	assert.Equal(t, "mine", string(value))
}

// An Import goes on where one was interrupted, writes nothing twice, and refuses to go on
// with another state.
func TestImportGoesOn(t *testing.T) {
	export, want := exported(t, 200)
	other, _ := exported(t, 200)
	target := harvest.OnePage(harvest.NewCatalog(memstore.New()))
	for n := len(exportMagic) + 1; n < len(export); n += len(export) / 7 {
		require.ErrorIs(t, target.Import(t.Context(), bytes.NewReader(export[:n])), websync.ErrTruncated)
		_, err := target.Claim(t.Context(), "source/a", time.Minute)
		require.ErrorIs(t, err, harvest.ErrUnfinished)
		require.ErrorIs(t, move(target, harvest.NewCatalog(memstore.New())), harvest.ErrUnfinished)
	}
	require.ErrorContains(t, target.Import(t.Context(), bytes.NewReader(other)), "another state")
	require.NoError(t, target.Import(t.Context(), bytes.NewReader(export)))
	isWhole(t, want, target)
}
