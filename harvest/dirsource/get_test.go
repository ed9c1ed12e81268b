package dirsource_test

import (
	"bytes"
	"context"
	"crypto/md5"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/dirsource"
	"github.com/websync-go/websync/internal/testing/testkit"
)

func TestChangedWhileItIsRead(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(x *tree)
		want   string
	}{
		{"grows", func(x *tree) { x.write("a", "old and new") }, "old and new"},
		{"shrinks", func(x *tree) { x.write("a", "ol") }, "ol"},
		{"other bytes", func(x *tree) { x.write("a", "new") }, "new"},
		{"other time", func(x *tree) { x.touch("a", time.Unix(1e9, 0)) }, "old"},
		{"replaced", func(x *tree) {
			x.write(".new", "new")
			require.NoError(x, os.Rename(x.path(".new"), x.path("a")))
		}, "new"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := newTree(t, t.TempDir())
			x.write("a", "old")
			x.touch("a", time.Unix(1.1e9, 0))
			tries := 0
			x.store = (&testkit.Blobs{Creating: func() {
				if tries++; tries == 1 {
					c.change(x)
				}
			}}).On(x.db)
			x.h.Catalog = x.store
			report := x.run()
			assert.True(t, report.InStep(), "%v", report.Failures)
			assert.Equal(t, 2, tries)
			assert.Equal(t, c.want, x.live()["a"])
			info, err := os.Stat(x.path("a"))
			require.NoError(t, err)
			assert.Equal(t, websync.NewDatetime(info.ModTime().UTC().Truncate(time.Microsecond)), x.record("a").Resource.Modified)
			x.run()
			assert.Len(t, x.read, 1, "the listing had another state")
			x.run()
			assert.Empty(t, x.read)
		})
	}
}

func TestNeverKeepsStill(t *testing.T) {
	x := newTree(t, t.TempDir())
	x.h.Attempts, x.h.Concurrency = 1, 1
	x.write("a", "00")
	x.write("b", "b")
	tries := 0
	x.h.Catalog = (&testkit.Blobs{Creating: func() {
		tries++
		x.write("a", "longer and longer"[:tries+2])
	}}).On(x.db)
	report := x.run()
	assert.EqualValues(t, 1, report.Deferred, "not this time is no failure")
	assert.Zero(t, report.Failed)
	assert.EqualValues(t, 1, report.Left.Waiting)
	require.Len(t, report.Failures, 1)
	assert.Contains(t, report.Failures[0].Error, "changes while it is read")
	assert.Zero(t, report.Failures[0].Attempt, "it does not count as an attempt")
	assert.LessOrEqual(t, tries, 4)

	x.h.Catalog = x.store
	assert.True(t, x.run().InStep())
	assert.Len(t, x.live(), 2)
}

func TestVanishedBeforeItIsRead(t *testing.T) {
	x := newTree(t, t.TempDir())
	x.write("a", "a")
	x.write("b", "b")
	_, err := x.h.List(context.Background(), x.src)
	require.NoError(t, err)
	x.remove("a")
	report, err := x.h.Work(context.Background(), x.src)
	require.NoError(t, err)
	assert.EqualValues(t, 1, report.Failed)
	require.Len(t, report.Failures, 1)
	assert.Contains(t, report.Failures[0].Error, "no such file")
	assert.True(t, x.run().InStep(), "the next listing ends the task")
	assert.Equal(t, map[string]string{"b": "b"}, x.live())
}

// A link that replaces a listed file, or a directory above it, is not followed.
func TestLinkInPlaceOfAFile(t *testing.T) {
	for _, c := range []struct {
		name string
		swap func(x *tree)
	}{
		{"file", func(x *tree) {
			x.remove("dir/a")
			require.NoError(x, os.Symlink("../other/a", x.path("dir/a")))
		}},
		{"directory", func(x *tree) {
			x.remove("dir")
			require.NoError(x, os.Symlink("other", x.path("dir")))
		}},
		{"a directory in its place", func(x *tree) {
			x.remove("dir/a")
			x.write("dir/a/b", "below")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := newTree(t, t.TempDir())
			x.write("dir/a", "a")
			x.write("other/a", "other")
			_, err := x.h.List(context.Background(), x.src)
			require.NoError(t, err)
			c.swap(x)
			report, err := x.h.Work(context.Background(), x.src)
			require.NoError(t, err)
			assert.EqualValues(t, 1, report.Failed)
			assert.Equal(t, map[string]string{"other/a": "other"}, x.live())
		})
	}
}

func TestForeignIDs(t *testing.T) {
	x := newTree(t, t.TempDir())
	x.write("a", "a")
	x.write("b/c", "c")
	for _, id := range []string{"", base, "https://other.example/a", base + "a/", base + "../a", base + "b//c", base + "./a",
		base + "%61", base + "b%2Fc", base + "b%2fc", base + "a%", base + "a%00", base + "a%zz", base + "a b"} {
		job := &harvest.Job{Resource: websync.Resource{ID: id}}
		assert.ErrorContains(t, x.src.Get(context.Background(), job), "not the id of a file", id)
	}
}

func TestTypes(t *testing.T) {
	x := newTree(t, t.TempDir())
	x.src.Types = map[string]string{".law": "application/akn+xml", ".txt": "text/plain; charset=utf-8", ".html": ""}
	for name, text := range map[string]string{"a.LAW": "x", "a.txt": "x", "a.html": "%PDF-1.7", "a.css": "x", "noname": "<?xml version='1.0'?>"} {
		x.write(name, text)
	}
	x.run()
	for name, want := range map[string]string{"a.LAW": "application/akn+xml", "a.txt": "text/plain; charset=utf-8",
		"a.html": "application/pdf", "a.css": "text/css", "noname": "application/xml"} {
		rec := x.record(name)
		body, _ := rec.Body(websync.ContentName)
		assert.Equal(t, want, rec.Resource.Content.Type, name)
		assert.Equal(t, want, body.Link.Type, name)
	}
	x.run()
	assert.Empty(t, x.read)

	before := x.record("a.css").Resource.Modified
	x.src.Types[".css"] = "text/css; charset=utf-8"
	report := x.run()
	assert.EqualValues(t, 1, report.Updated)
	assert.Equal(t, "text/css; charset=utf-8", x.record("a.css").Resource.Content.Type)
	assert.Equal(t, before, x.record("a.css").Resource.Modified, "the bytes are the same")
}

func TestMD5(t *testing.T) {
	x := newTree(t, t.TempDir())
	text := bytes.Repeat([]byte("law"), 1000)
	x.write("a", string(text))
	x.run()
	assert.Empty(t, x.record("a").Resource.Content.Digests)
	x.src.MD5 = true
	report := x.run()
	assert.EqualValues(t, 1, report.Updated, "it is learned of a file that stayed as it is, too")
	sum := md5.Sum(text)
	assert.Equal(t, websync.Digests{{Algorithm: "md5", Sum: string(sum[:])}}, x.record("a").Resource.Content.Digests)
	x.run()
	assert.Empty(t, x.read)
}

// Bytes that changed get a later time even if the time of the file is the same.
func TestModifiedMoves(t *testing.T) {
	x := newTree(t, t.TempDir())
	x.src.Ahead(0)
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	version := func(text string, at time.Time) string {
		x.write("a", text)
		x.touch("a", at)
		x.run()
		return x.record("a").Resource.Modified.String()
	}
	assert.Equal(t, "2026-01-01T00:00:00Z", version("one", at))
	assert.Equal(t, "2026-01-01T00:00:00.000001Z", version("two", at))
	assert.Equal(t, "2026-01-01T00:00:00.000002Z", version("thr", at), "never one that was stated before")
	assert.Equal(t, "2026-01-01T00:00:00.000002Z", version("thr", at), "the same bytes")
	assert.Equal(t, "2026-01-01T00:00:00.000003Z", version("four", at.Add(-time.Millisecond)))
	assert.Equal(t, "2026-01-01T00:00:01Z", version("five", at.Add(time.Second)))
	assert.Equal(t, "2025-01-01T00:00:00Z", version("six", at.AddDate(-1, 0, 0)), "the time of the file decides")
	assert.Equal(t, map[string]string{"a": "six"}, x.live())
}

func TestContextEndsWhileItIsRead(t *testing.T) {
	x := newTree(t, t.TempDir())
	x.write("a", strings.Repeat("law", 1<<18))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	writes := 0
	x.h.Catalog = (&testkit.Blobs{Writing: func() { writes++; cancel() }}).On(x.db)
	_, err := x.h.Run(ctx, x.src)
	assert.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, 1, writes, "the rest is not read")
	x.h.Catalog = x.store
	assert.True(t, x.run().InStep())
	assert.Len(t, x.live(), 1)
}

func TestDigestOnly(t *testing.T) {
	x := newTree(t, t.TempDir())
	x.src.Ahead(0)
	x.h.Bodies = harvest.VerifyBodies
	at := time.Unix(1e9, 0)
	x.write("a", "one")
	x.touch("a", at)
	x.run()
	x.write("a", "two")
	x.touch("a", at)
	assert.EqualValues(t, 1, x.run().Updated)
	assert.Equal(t, "2001-09-09T01:46:40.000001Z", x.record("a").Resource.Modified.String())
}

func TestErrorsOfGetMatch(t *testing.T) {
	x := newTree(t, t.TempDir())
	for name, want := range map[string]string{"none": `none": no such file`, "none/a": `a": no longer a directory`} {
		err := x.src.Get(context.Background(), &harvest.Job{Resource: websync.Resource{ID: base + name}})
		assert.ErrorIs(t, err, fs.ErrNotExist)
		assert.ErrorContains(t, err, want)
	}
	assert.ErrorIs(t, &dirsource.ChangedError{Path: "a"}, harvest.ErrNotYet)
}
