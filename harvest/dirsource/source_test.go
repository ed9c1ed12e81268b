package dirsource_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/dirsource"
)

func TestFollowsTheTree(t *testing.T) {
	x := newTree(t, t.TempDir())
	x.write("index.html", "<p>Laws")
	x.write("2026/1/text.txt", "Be it enacted")
	x.write("2026/2/text.txt", "Be it repealed")
	x.write("empty", "")

	report := x.run()
	assert.True(t, report.InStep())
	assert.EqualValues(t, 4, report.Created)
	assert.Equal(t, 1, report.Snapshots)
	assert.Equal(t, map[string]string{"index.html": "<p>Laws", "2026/1/text.txt": "Be it enacted",
		"2026/2/text.txt": "Be it repealed", "empty": ""}, x.live())

	report = x.run()
	assert.EqualValues(t, 4, report.Unchanged)
	assert.Empty(t, x.read, "nothing is read again")

	x.write("2026/1/text.txt", "Be it enacted otherwise")
	x.remove("2026/2")
	require.NoError(t, os.Rename(x.path("empty"), x.path("void")))
	report = x.run()
	assert.True(t, report.InStep())
	assert.Equal(t, []int64{1, 1, 2, 1}, []int64{report.Created, report.Updated, report.Deleted, report.Unchanged})
	assert.Equal(t, []string{base + "2026/1/text.txt", base + "void"}, x.read)
	assert.Equal(t, map[string]string{"index.html": "<p>Laws", "2026/1/text.txt": "Be it enacted otherwise", "void": ""}, x.live())
}

func TestFileAndDirectoryTradePlaces(t *testing.T) {
	x := newTree(t, t.TempDir())
	x.write("a", "file")
	x.write("b/c", "below")
	x.run()
	x.remove("a")
	x.remove("b")
	x.write("a/c", "below")
	x.write("b", "file")
	assert.True(t, x.run().InStep())
	assert.Equal(t, map[string]string{"a/c": "below", "b": "file"}, x.live())
}

// oddNames are names of files, and their ids, on systems that allow all bytes but two.
var oddNames = map[string]string{
	"a b":                    "a%20b",
	"100%":                   "100%25",
	"%41":                    "%2541",
	"a?b#c":                  "a%3Fb%23c",
	"line\nbreak\tand\x01":   "line%0Abreak%09and%01",
	"\x7f\xff\xfe":           "%7F%FF%FE",
	"lögn.txt":               "l%C3%B6gn.txt",
	`back\slash`:             "back%5Cslash",
	"a&b;c=d,e+f!g$h'i(j)*k": "a&b;c=d,e+f!g$h'i(j)*k",
	"~user@host:1":           "~user@host:1",
	"<x>\"{}|^`[]":           "%3Cx%3E%22%7B%7D%7C%5E%60%5B%5D",
	"...":                    "...",
	strings.Repeat("ö", 127): strings.Repeat("%C3%B6", 127),
	" ":                      "%20",
	"\u2028\u202e":           "%E2%80%A8%E2%80%AE",
}

func TestIDs(t *testing.T) {
	x := newTree(t, t.TempDir())
	x.src.Hidden = true
	want := map[string]string{}
	for name, escaped := range oddNames {
		x.write(name+"/"+name, name)
		want[escaped+"/"+escaped] = name
	}
	report := x.run()
	assert.True(t, report.InStep(), "%v", report.Failures)
	assert.Equal(t, want, x.live())
	locator := websync.PathLocator{Base: base, Own: []string{x.src.Key()}}
	for id := range want {
		item := &websync.Item{Source: x.src.Key(), Resource: websync.Resource{ID: base + id}}
		_, _, found := locator.Find(strings.TrimPrefix(locator.URL(item, websync.ContentName), strings.TrimSuffix(base, "/")))
		assert.True(t, found, id)
	}
	for name := range oddNames {
		x.remove(name)
	}
	assert.EqualValues(t, len(oddNames), x.run().Deleted)
}

func TestLongIDs(t *testing.T) {
	x := newTree(t, t.TempDir())
	x.write("a", "a")
	x.run()
	at, err := os.OpenRoot(x.dir)
	require.NoError(t, err)
	name := strings.Repeat("\xff", 250) // 750 bytes of an id
	for range 7 {
		require.NoError(t, at.WriteFile("x", nil, 0o666))
		require.NoError(t, at.Mkdir(name, 0o777))
		next, err := at.OpenRoot(name)
		require.NoError(t, err)
		at.Close()
		at = next
	}
	at.Close()
	x.remove("a")
	report := x.run()
	assert.EqualValues(t, 6, report.Created, "what has a short enough id is there")
	assert.Equal(t, 1, report.Skipped, "a directory that is too deep counts once")
	require.NotNil(t, report.Guard)
	assert.Equal(t, "skipped", report.Guard.Rule)
	require.Len(t, x.findings, 1)
	assert.Equal(t, "id-length", x.findings[0].Rule)
	assert.Equal(t, x.dir, x.findings[0].Document)
}

func TestLongestID(t *testing.T) {
	x := newTree(t, t.TempDir())
	below, escaped := strings.Repeat(strings.Repeat("\xff", 250)+"/", 5), strings.Repeat(strings.Repeat("%FF", 250)+"/", 5)
	last := harvest.MaxID - len(base) - len(escaped)
	x.write(below+strings.Repeat("f", last/2)+"/"+strings.Repeat("f", last-last/2-1), "fits")
	x.write(below+strings.Repeat("g", last/2)+"/"+strings.Repeat("g", last-last/2), "does not")
	report := x.run()
	assert.EqualValues(t, 1, report.Created)
	assert.Equal(t, 1, report.Skipped)
	for name, text := range x.live() {
		assert.Len(t, base+name, harvest.MaxID)
		assert.Equal(t, "fits", text)
	}
}

func TestDescription(t *testing.T) {
	x := newTree(t, t.TempDir())
	at := time.Date(2026, 5, 4, 3, 2, 1, 0, time.FixedZone("", 7200))
	for name, at := range map[string]time.Time{"whole.html": at, "micro.html": at.Add(12345678)} {
		x.write(name, "<p>"+name)
		x.touch(name, at)
	}
	yielded, _, err := events(t.Context(), x.src)
	require.NoError(t, err)
	require.Len(t, yielded, 4)
	assert.Equal(t, harvest.Event{Kind: harvest.SnapshotStart}, yielded[0], "without a moment: times of files are arbitrary")
	for _, ev := range yielded[1:3] {
		assert.NotEmpty(t, ev.Tag)
		ev.Resource.Modified, ev.Resource.ID = websync.Datetime{}, ""
		assert.Equal(t, websync.Resource{Content: websync.Link{Type: "text/html"}}, ev.Resource, "no URL, no length")
	}
	assert.Equal(t, "2026-05-04T01:02:01.012345Z", yielded[1].Resource.Modified.String())
	assert.Equal(t, "2026-05-04T01:02:01Z", yielded[2].Resource.Modified.String())

	x.run()
	rec := x.record("whole.html")
	assert.Equal(t, yielded[2].Resource, rec.Resource)
	body, _ := rec.Body(websync.ContentName)
	assert.Equal(t, websync.Link{Type: "text/html", Length: 13, Digests: websync.Digests{websync.SHA256([]byte("<p>whole.html"))}}, body.Link)
}

func TestOrder(t *testing.T) {
	x := newTree(t, t.TempDir())
	for _, name := range []string{"c", "a/z", "b", "a/a/x", "A", "a/b", "a.b"} {
		x.write(name, name)
	}
	assert.Equal(t, []string{"A", "a/a/x", "a/b", "a/z", "a.b", "b", "c"}, names(t, x.src))
}

// A directory whose listing does not fit into memory yields each file once.
func TestManyFiles(t *testing.T) {
	x := newTree(t, t.TempDir())
	const many = 1500
	for i := range many {
		x.write(fmt.Sprintf("%060d", i), "")
	}
	seen := map[string]bool{}
	for _, name := range names(t, x.src) {
		assert.False(t, seen[name], name)
		seen[name] = true
	}
	assert.Len(t, seen, many)
}

func TestWhatIsShown(t *testing.T) {
	files := []string{"a.html", "a.txt", ".hidden", ".git/config", "sub/b.html", "sub/b.txt", "sub/deep/c.html", "sub/.x", "tmp/d.html"}
	for _, c := range []struct {
		name             string
		include, exclude []string
		hidden           bool
		want             []string
	}{
		{name: "all", want: []string{"a.html", "a.txt", "sub/b.html", "sub/b.txt", "sub/deep/c.html", "tmp/d.html"}},
		{name: "hidden", hidden: true, exclude: []string{"*.txt", "*.html"}, want: []string{".git/config", ".hidden", "sub/.x"}},
		{name: "by name", include: []string{"*.html"}, want: []string{"a.html", "sub/b.html", "sub/deep/c.html", "tmp/d.html"}},
		{name: "by path", include: []string{"sub/*"}, want: []string{"sub/b.html", "sub/b.txt"}},
		{name: "below", include: []string{"sub/**", "a.txt"}, want: []string{"a.txt", "sub/b.html", "sub/b.txt", "sub/deep/c.html"}},
		{name: "tied to Dir", include: []string{"/*.html"}, want: []string{"a.html"}},
		{name: "a directory is left out", exclude: []string{"sub"}, want: []string{"a.html", "a.txt", "tmp/d.html"}},
		{name: "and what is in one", exclude: []string{"sub/**", "tmp"}, want: []string{"a.html", "a.txt"}},
		{name: "both", include: []string{"*.html"}, exclude: []string{"**/deep", "/a.*"}, want: []string{"sub/b.html", "tmp/d.html"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := newTree(t, t.TempDir())
			for _, name := range files {
				x.write(name, name)
			}
			x.src.Include, x.src.Exclude, x.src.Hidden = c.include, c.exclude, c.hidden
			assert.Equal(t, c.want, names(t, x.src))
		})
	}
}

func TestOtherOptionsWithholdDeletions(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*dirsource.Source)
	}{
		{"Include", func(s *dirsource.Source) { s.Include = []string{"*.html"} }},
		{"Exclude", func(s *dirsource.Source) { s.Exclude = []string{"*.txt"} }},
		{"Hidden", func(s *dirsource.Source) { s.Hidden = false }},
		{"Base", func(s *dirsource.Source) { s.Base = "https://other.example/" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := newTree(t, t.TempDir())
			x.src.Name, x.src.Hidden = "laws", true
			x.write("a.html", "a")
			x.write(".b.txt", "b")
			x.run()
			c.change(x.src)
			report := x.run()
			require.NotNil(t, report.Guard)
			assert.Equal(t, "options", report.Guard.Rule)
			assert.Zero(t, report.Deleted)
		})
	}
}

func TestKey(t *testing.T) {
	assert.Equal(t, base, (&dirsource.Source{Base: base}).Key())
	assert.Equal(t, "laws", (&dirsource.Source{Base: base, Name: "laws"}).Key())
}

func TestUsage(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o666))
	for _, c := range []struct {
		name string
		src  dirsource.Source
		want string
	}{
		{"no Dir", dirsource.Source{Base: base}, "Source.Dir is empty"},
		{"no Base", dirsource.Source{Dir: dir}, `Source.Base ""`},
		{"Base without a slash", dirsource.Source{Dir: dir, Base: "https://law.example"}, "must be an absolute URL"},
		{"Base of a file", dirsource.Source{Dir: dir, Base: base + "laws"}, "must be an absolute URL"},
		{"relative Base", dirsource.Source{Dir: dir, Base: "/laws/"}, "must be an absolute URL"},
		{"opaque Base", dirsource.Source{Dir: dir, Base: "urn:x/"}, "must be an absolute URL"},
		{"Base with a query", dirsource.Source{Dir: dir, Base: base + "?x/"}, "must be an absolute URL"},
		{"malformed pattern", dirsource.Source{Dir: dir, Base: base, Include: []string{"*", "a[/b"}}, `Include: "a[/b": syntax error`},
		{"pattern of a directory", dirsource.Source{Dir: dir, Base: base, Exclude: []string{"tmp/"}}, `Exclude: "tmp/": an element that is empty`},
		{"Dir that is a file", dirsource.Source{Dir: filepath.Join(dir, "file"), Base: base}, "not a directory"},
		{"Dir that does not exist", dirsource.Source{Dir: filepath.Join(dir, "none"), Base: base}, "no such file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			yielded, _, err := events(t.Context(), &c.src)
			assert.ErrorContains(t, err, c.want)
			assert.ErrorContains(t, err, "dirsource: ")
			assert.Empty(t, yielded)
		})
	}
}

func TestDirThatIsGone(t *testing.T) {
	x := newTree(t, t.TempDir())
	x.write("a", "a")
	x.run()
	require.NoError(t, os.Rename(x.dir, x.dir+".gone"))
	report, err := x.try()
	assert.ErrorIs(t, err, fs.ErrNotExist)
	assert.False(t, report.Complete)
	assert.Len(t, x.live(), 1)
}

// meddling calls f when the listing has yielded this many files.
func meddling(t *testing.T, src harvest.Source, after int, f func()) (all []harvest.Event) {
	t.Helper()
	run := &harvest.Run{Report: func(websync.Finding) {}, Expect: func(int64) {}}
	for ev, err := range src.Events(t.Context(), run) {
		require.NoError(t, err)
		all = append(all, ev)
		if len(all) == after+1 {
			f()
		}
	}
	return all
}

func problems(all []harvest.Event) (errs []error) {
	for _, ev := range all {
		if ev.Kind == harvest.Problem {
			errs = append(errs, ev.Err)
		}
	}
	return errs
}

func TestDirThatIsReplacedDuringTheWalk(t *testing.T) {
	for _, after := range []int{1, 2} {
		x := newTree(t, t.TempDir())
		x.write("a", "a")
		x.write("b/c", "c")
		yielded := meddling(t, x.src, after, func() {
			require.NoError(t, os.Rename(x.dir, x.dir+".old"))
			require.NoError(t, os.Mkdir(x.dir, 0o777))
		})
		assert.NotEmpty(t, problems(yielded))
		end := yielded[len(yielded)-1]
		assert.Equal(t, harvest.SnapshotEnd, end.Kind)
		assert.False(t, end.Complete)
		assert.True(t, end.Resume.IsZero())
	}
}

func TestDirThatVanishesDuringTheWalk(t *testing.T) {
	x := newTree(t, t.TempDir())
	x.write("a", "a")
	x.write("b/c", "c")
	yielded := meddling(t, x.src, 1, func() { require.NoError(t, os.RemoveAll(x.dir)) })
	assert.Len(t, problems(yielded), 2)
	assert.ErrorIs(t, problems(yielded)[0], fs.ErrNotExist)
	assert.False(t, yielded[len(yielded)-1].Complete)
}

func TestWhatVanishesDuringTheWalk(t *testing.T) {
	x := newTree(t, t.TempDir())
	x.write("a", "a")
	x.write("b/c", "c")
	x.write("d/e", "e")
	yielded := meddling(t, x.src, 1, func() { x.remove("b") })
	assert.Empty(t, problems(yielded))
	assert.True(t, yielded[len(yielded)-1].Complete)
	assert.Len(t, yielded, 4, "start, two files, end")
}

// A link that replaces a listed directory is not entered.
func TestLinkInPlaceOfADirectory(t *testing.T) {
	x := newTree(t, t.TempDir())
	x.write("a", "a")
	x.write("b/c", "c")
	x.write("d/e", "e")
	yielded := meddling(t, x.src, 1, func() {
		x.remove("b")
		require.NoError(t, os.Symlink("d", x.path("b")))
	})
	assert.Len(t, yielded, 4)
}

func TestLinksAreNotFollowed(t *testing.T) {
	outside := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o666))
	x := newTree(t, t.TempDir())
	x.write("dir/file", "file")
	for name, target := range map[string]string{"out": outside, "up": "..", "in": "dir", "file": "dir/file",
		"secret": filepath.Join(outside, "secret"), "loop": "loop", "self": ".", "none": "nowhere"} {
		require.NoError(t, os.Symlink(target, x.path(name)))
	}
	report := x.run()
	assert.True(t, report.InStep())
	assert.Equal(t, map[string]string{"dir/file": "file"}, x.live())

	// A file that becomes a link is deleted, and the target of the link is not read.
	x.write("dir/file2", "file")
	x.run()
	x.remove("dir/file2")
	require.NoError(t, os.Symlink(filepath.Join(outside, "secret"), x.path("dir/file2")))
	assert.EqualValues(t, 1, x.run().Deleted)
}

func TestDirMayBeALink(t *testing.T) {
	x := newTree(t, t.TempDir())
	x.write("a", "a")
	link := filepath.Join(t.TempDir(), "current")
	require.NoError(t, os.Symlink(x.dir, link))
	x.src.Dir = link
	assert.True(t, x.run().InStep())
	assert.Len(t, x.live(), 1)
}

func TestContextEnds(t *testing.T) {
	x := newTree(t, t.TempDir())
	x.write("a", "a")
	x.write("b", "b")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	run := &harvest.Run{Report: func(websync.Finding) {}, Expect: func(int64) {}}
	var last error
	for _, err := range x.src.Events(ctx, run) {
		cancel()
		last = err
	}
	assert.ErrorIs(t, last, context.Canceled)
	_, _, err := events(ctx, x.src)
	assert.ErrorIs(t, err, context.Canceled)
}

func TestExpect(t *testing.T) {
	x := newTree(t, t.TempDir())
	x.write("a", "a")
	x.write("b", "b")
	expect := func(from harvest.Checkpoint) (totals []int64, to harvest.Checkpoint) {
		run := &harvest.Run{From: from, Report: func(websync.Finding) {}, Expect: func(n int64) { totals = append(totals, n) }}
		for ev, err := range x.src.Events(t.Context(), run) {
			require.NoError(t, err)
			to = ev.Resume
		}
		return totals, to
	}
	totals, to := expect(harvest.Checkpoint{})
	assert.Equal(t, []int64{2}, totals)
	x.write("c", "c")
	totals, _ = expect(to)
	assert.Equal(t, []int64{2, 3}, totals, "what there was the last time")
	totals, _ = expect(harvest.Checkpoint{Version: 1, Data: []byte("-5")})
	assert.Equal(t, []int64{3}, totals)
}

// A file that changes within the resolution of the clock after the walk keeps its size
// and times; the change is found.
func TestJustChanged(t *testing.T) {
	x := newTree(t, t.TempDir())
	x.src.Ahead(0)
	x.write("a", "old")
	info, err := os.Stat(x.path("a"))
	require.NoError(t, err)
	x.run()
	assert.Equal(t, []string{base + "a"}, x.read)
	x.run()
	assert.Equal(t, []string{base + "a"}, x.read, "it may have been changed again")

	x.src.Ahead(time.Hour)
	report := x.run()
	assert.Equal(t, []string{base + "a"}, x.read, "for the last time")
	assert.EqualValues(t, 1, report.Touched)
	assert.EqualValues(t, 1, x.log())
	x.run()
	assert.Empty(t, x.read)

	x.src.Ahead(-time.Hour) // a file from the future: it may change again
	x.run()
	assert.NotEmpty(t, x.read)
	x.run()
	assert.NotEmpty(t, x.read)
	assert.Equal(t, info.ModTime().UTC().Truncate(time.Microsecond), x.record("a").Resource.Modified.Time())
}

func TestTouched(t *testing.T) {
	x := newTree(t, t.TempDir())
	x.write("a", "text")
	x.run()
	before := x.record("a")
	x.touch("a", time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))
	report := x.run()
	assert.EqualValues(t, 1, report.Touched)
	assert.EqualValues(t, 1, x.log(), "no entry in the log")
	assert.Equal(t, before.Item, x.record("a").Item)
	x.run()
	assert.Empty(t, x.read)
}

// A file has changed if its size, its time or its inode differs.
func TestWhatTellsAChange(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 123456789, time.UTC)
	for _, c := range []struct {
		name   string
		change func(x *tree)
	}{
		{"size", func(x *tree) { x.write("a", "longer"); x.touch("a", at) }},
		{"time within a microsecond", func(x *tree) { x.write("a", "new"); x.touch("a", at.Add(1)) }},
		{"earlier time", func(x *tree) { x.write("a", "new"); x.touch("a", at.AddDate(-1, 0, 0)) }},
		{"inode", func(x *tree) {
			x.write(".new", "new")
			x.touch(".new", at)
			require.NoError(x, os.Rename(x.path(".new"), x.path("a")))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := newTree(t, t.TempDir())
			x.write("a", "old")
			x.touch("a", at)
			x.run()
			c.change(x)
			report := x.run()
			assert.EqualValues(t, 1, report.Updated)
			assert.NotEqual(t, "old", x.live()["a"])
		})
	}
}

// A directory whose files can't be read yields one Problem.
func TestFilesThatCannotBeLookedAt(t *testing.T) {
	x := newTree(t, t.TempDir())
	for _, name := range []string{"a", "b", "c"} {
		x.write(name, name)
	}
	yielded, err := x.src.Faulty(t.Context())
	require.NoError(t, err)
	require.Len(t, yielded, 1)
	assert.Equal(t, harvest.Problem, yielded[0].Kind)
	assert.ErrorContains(t, yielded[0].Err, `/a": file already closed, and 2 more in this directory`)
}

func TestProblemNamesTheFile(t *testing.T) {
	_, _, err := events(t.Context(), &dirsource.Source{Dir: "/none\nsuch", Base: base})
	assert.EqualError(t, err, `dirsource: "/none\nsuch": no such file or directory`)
	assert.True(t, errors.Is(err, fs.ErrNotExist))
}

// A file whose time is still to come is harvested, with a finding, and followed.
func TestFuture(t *testing.T) {
	x := newTree(t, t.TempDir())
	x.write("now", "a")
	x.write("later", "b")
	at := time.Date(2099, 1, 2, 3, 4, 5, 0, time.UTC)
	require.NoError(t, os.Chtimes(x.path("later"), at, at))
	assert.EqualValues(t, 2, x.run().Created)
	require.Len(t, x.findings, 1)
	assert.Equal(t, "time-future", x.findings[0].Rule)
	assert.Equal(t, "later", x.findings[0].Value)
	assert.Contains(t, x.findings[0].Message, "2099-01-02T03:04:05Z")
	x.write("later", "c")
	assert.True(t, x.run().InStep())
	assert.Equal(t, map[string]string{"now": "a", "later": "c"}, x.live())
}
