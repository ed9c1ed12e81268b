package atom_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/internal/testing/testkit"
)

const (
	www     = "https://www.example.com/"
	feedURL = www + "feed"
)

// moment returns the text of the time n seconds after a fixed one.
func moment(n int) string { return fmt.Sprintf("2026-01-01T00:%02d:%02dZ", n/60, n%60) }

// feedOf returns a document of the feed urn:feed with the markup of its metadata and
// items.
func feedOf(parts ...string) string {
	return feedStart + "<title>f</title><updated>" + moment(0) + "</updated>\n" + strings.Join(parts, "\n") + "\n</feed>\n"
}

// entryOf returns an entry; at is as in moment. If at is negative, it has no time.
func entryOf(id string, at int, more ...string) string {
	updated := ""
	if at >= 0 {
		updated = "<updated>" + moment(at) + "</updated>"
	}
	return "<entry><id>urn:" + id + "</id><title>" + id + "</title>" + updated + strings.Join(more, "") + "</entry>"
}

func tombstoneOf(id string, at int, more ...string) string {
	return `<at:deleted-entry ref="urn:` + id + `" when="` + moment(at) + `">` + strings.Join(more, "") + "</at:deleted-entry>"
}

// entryAt and tombstoneAt return an entry and a tombstone of a time as it is written.
func entryAt(id, at string) string {
	return "<entry><id>urn:" + id + "</id><title>" + id + "</title><updated>" + at + "</updated></entry>"
}

func tombstoneAt(id, at string) string {
	return `<at:deleted-entry ref="urn:` + id + `" when="` + at + `"/>`
}

// cut returns a document without its end.
func cut(document string) string { return document[:len(document)-len("</feed>\n")-1] }

// linkTo returns a link to a path.
func linkTo(rel, path string) string { return `<link rel="` + rel + `" href="` + www + path + `"/>` }

func prev(path string) string { return linkTo("prev-archive", path) }

const (
	isComplete = `<fh:complete xmlns:fh="` + atom.HistoryNamespace + `"/>`
	isArchive  = `<fh:archive xmlns:fh="` + atom.HistoryNamespace + `"/>`
)

// siteOf returns a site of documents by path, each with an ETag of its content. A
// document that begins with "-> " is a redirect to the path after that.
func siteOf(documents map[string]string) sourcetest.Site {
	s := sourcetest.Site{}
	for path, text := range documents {
		if to, ok := strings.CutPrefix(text, "-> "); ok {
			s[www+path] = sourcetest.Document{Location: www + to}
			continue
		}
		s[www+path] = sourcetest.Document{Body: text, ETag: fmt.Sprintf("%q", websync.SHA256([]byte(text)))}
	}
	return s
}

// A yielded is what a run yielded.
type yielded struct {
	events   []string
	puts     map[string]harvest.Event
	bytes    map[string]string
	findings []websync.Finding
	asked    []string // paths, with " 304" if they had not changed
	resume   harvest.Checkpoint
	expect   int64
	err      error
}

func (t *yielded) rules() []string { return testkit.Rules(t.findings) }

// runAll runs a Source over a site.
func runAll(t testing.TB, s *atom.Source, from harvest.Checkpoint, site sourcetest.Site) *yielded {
	return runWith(t, t.Context(), s, from, &sourcetest.Fetcher{Site: site}, 0)
}

// runWith runs a Source. If stop is positive, it breaks off after that many events.
func runWith(t testing.TB, ctx context.Context, s *atom.Source, from harvest.Checkpoint, f *sourcetest.Fetcher, stop int) *yielded {
	t.Helper()
	got := &yielded{puts: map[string]harvest.Event{}, bytes: map[string]string{}, resume: from}
	run := &harvest.Run{
		From:    from,
		Fetcher: f,
		Report:  func(f websync.Finding) { got.findings = append(got.findings, f) },
		Expect:  func(n int64) { got.expect = n },
		Log:     slog.New(slog.DiscardHandler),
	}
	for ev, err := range s.Events(ctx, run) {
		if err != nil {
			got.err = err
			break
		}
		got.add(t, ev)
		if len(got.events) == stop {
			break
		}
	}
	for _, x := range f.Exchanges() {
		path := strings.TrimPrefix(x.URL, www)
		if x.Status != 200 {
			path = fmt.Sprintf("%s %d", path, x.Status)
		}
		got.asked = append(got.asked, path)
	}
	streams, spools := f.Open()
	assert.Zero(t, streams+spools, "bodies left open")
	return got
}

func (t *yielded) add(tb testing.TB, ev harvest.Event) {
	text := ev.Kind.String()
	switch ev.Kind {
	case harvest.Put, harvest.Delete:
		text = strings.TrimPrefix(ev.Resource.ID, "urn:")
		if ev.Kind == harvest.Delete {
			text = "-" + text
		} else {
			t.puts[text] = ev
		}
		if ev.Open != nil {
			r, err := ev.Open()
			require.NoError(tb, err)
			data, err := io.ReadAll(r)
			require.NoError(tb, errors.Join(err, r.Close()))
			t.bytes[text] = string(data)
		}
		if !ev.At.IsZero() {
			text += fmt.Sprintf("@%d", ev.At.Time().Minute()*60+ev.At.Time().Second())
		}
	case harvest.Problem:
		text = "problem: " + strings.ReplaceAll(ev.Err.Error(), www, "")
	case harvest.SnapshotEnd:
		if ev.Complete {
			text += ", complete"
		}
	}
	if ev.Skipped > 0 {
		text += fmt.Sprintf(", %d skipped", ev.Skipped)
	}
	if !ev.Resume.IsZero() {
		text += "+"
		t.resume = ev.Resume
	}
	t.events = append(t.events, text)
}

func TestSourceIdentity(t *testing.T) {
	s := &atom.Source{URL: feedURL}
	assert.Equal(t, feedURL, s.Key())
	assert.Equal(t, feedURL, s.Root())
	s.Name = "laws"
	assert.Equal(t, "laws", s.Key())
	assert.Equal(t, feedURL, s.Root())
}

// TestSourceWithoutURL names the setting that is missing.
func TestSourceWithoutURL(t *testing.T) {
	for _, s := range []*atom.Source{{}, {Name: "laws"}} {
		got := runAll(t, s, harvest.Checkpoint{}, nil)
		assert.EqualError(t, got.err, "atom: Source.URL is empty")
		assert.Empty(t, got.asked)
	}
}

// TestAll: it yields each entry in its latest state, and at the end an error for what
// could not be read.
func TestAll(t *testing.T) {
	tests := map[string]struct {
		docs map[string]string
		want []string
		err  string
	}{
		"an archive": {docs: archiveDocs(), want: []string{"e", "a", "b", "f"}},
		"complete":   {docs: map[string]string{"feed": feedOf(isComplete, entryOf("b", 2), inlineOf("a", 1, "x"))}, want: []string{"a", "b"}},
		"a hole": {docs: map[string]string{"feed": archiveDocs()["feed"], "3": archiveDocs()["3"]},
			want: []string{"b", "f"}, err: "atom: " + www + "2: status 404"},
		"skipped": {docs: map[string]string{"feed": feedOf(linkTo("next", "2"), entryOf("a", 1), "<entry/>"), "2": feedOf("<entry/>")},
			want: []string{"a"}, err: "atom: " + feedURL + ": 2 entries can't be read"},
		"no feed": {docs: map[string]string{"feed": "<html/>"}, err: "an HTML page, not an Atom document"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := &sourcetest.Fetcher{Site: siteOf(test.docs)}
			var got []string
			var last error
			for entry, err := range atom.All(t.Context(), f, feedURL) {
				require.NoError(t, last, "an error is the last thing")
				if last = err; err == nil {
					got = append(got, entry.Title.Value)
				} else {
					assert.Zero(t, entry)
				}
			}
			assert.Equal(t, test.want, got)
			if test.err == "" {
				assert.NoError(t, last)
			} else {
				assert.ErrorContains(t, last, test.err)
			}
			// a break anywhere is no error
			for entry := range atom.All(t.Context(), f, feedURL) {
				_ = entry
				break
			}
			streams, spools := f.Open()
			assert.Zero(t, streams+spools)
		})
	}
	t.Run("with settings", func(t *testing.T) {
		s := &atom.Source{URL: feedURL, Dir: t.TempDir(), AcceptGaps: true}
		docs := archiveDocs()
		delete(docs, "1")
		runWith(t, t.Context(), s, harvest.Checkpoint{}, &sourcetest.Fetcher{Site: siteOf(docs)}, 2)
		kept := files(t, s.Dir)
		require.NotZero(t, kept)
		var rules []string
		run := &harvest.Run{Fetcher: &sourcetest.Fetcher{Site: siteOf(docs)}, Report: func(f websync.Finding) { rules = append(rules, f.Rule) },
			From: runAll(t, &atom.Source{URL: feedURL}, harvest.Checkpoint{}, siteOf(archiveDocs())).resume}
		n := 0
		for _, err := range s.All(t.Context(), run) {
			require.NoError(t, err)
			n++
		}
		assert.Equal(t, 3, n)
		assert.Contains(t, rules, "atom-archive-gap")
		assert.Equal(t, kept, files(t, s.Dir), "those of a harvest stay")
	})
	for _, err := range atom.All(t.Context(), nil, feedURL) {
		assert.ErrorContains(t, err, "Fetcher is nil")
	}
	for _, err := range atom.All(t.Context(), nil, "") {
		assert.EqualError(t, err, "atom: Source.URL is empty")
	}
}

// archiveDocs is an archive of three documents before the subscription document.
func archiveDocs() map[string]string {
	return map[string]string{
		"feed": feedOf(prev("3"), entryOf("f", 62), entryOf("b", 61)),
		"3":    feedOf(isArchive, prev("2"), tombstoneOf("d", 52), tombstoneOf("c", 51)),
		"2":    feedOf(isArchive, prev("1"), entryOf("d", 42), entryOf("a", 41)),
		"1":    feedOf(isArchive, entryOf("e", 34), entryOf("c", 33), entryOf("b", 32), entryOf("a", 31)),
	}
}

// TestSourceKinds: the subscription document decides how the feed is read.
func TestSourceKinds(t *testing.T) {
	long := strings.Repeat("x", harvest.MaxID)
	tests := map[string]struct {
		source atom.Source
		docs   map[string]string
		want   []string
		asked  []string // default: each once, in the order of the walk
		rules  []string
	}{
		"a window": {
			docs:  map[string]string{"feed": feedOf(entryOf("b", 2), entryOf("a", 1), tombstoneOf("c", 3))},
			want:  []string{"a@1", "b@2", "-c@3", "mark+"},
			asked: []string{"feed"},
		},
		"nothing in it": {
			docs:  map[string]string{"feed": feedOf()},
			want:  []string{"mark+"},
			asked: []string{"feed"},
		},
		"complete": {
			docs:  map[string]string{"feed": feedOf(isComplete, entryOf("b", 2), "<entry/>", entryOf(long, 3), entryOf("a", 1))},
			want:  []string{"snapshot start", "a@1", "b@2", "snapshot end, complete, 2 skipped+"},
			asked: []string{"feed"},
			rules: []string{"atom-element-size", "atom-entry-child"},
		},
		"complete, and empty": {
			docs:  map[string]string{"feed": feedOf(isComplete)},
			want:  []string{"snapshot start", "snapshot end, complete+"},
			asked: []string{"feed"},
		},
		"complete, with pages: a log": {
			docs:  map[string]string{"feed": feedOf(isComplete, linkTo("next", "2"), entryOf("b", 3), tombstoneOf("c", 2)), "2": feedOf(entryOf("a", 1))},
			want:  []string{"a@1", "mark", "-c@2", "b@3", "mark+"},
			asked: []string{"feed", "2", "feed 304"},
		},
		"complete, with an archive: a log": {
			docs:  map[string]string{"feed": feedOf(isComplete, prev("2"), entryOf("b", 2)), "2": feedOf(entryOf("a", 1))},
			want:  []string{"a@1", "mark+", "b@2", "mark+"},
			asked: []string{"feed", "2"},
		},
		"an archive, the latest of each only": {
			docs:  archiveDocs(),
			want:  []string{"e@34", "mark+", "a@41", "mark+", "-c@51", "-d@52", "mark+", "b@61", "f@62", "mark+"},
			asked: []string{"feed", "3", "2", "1"},
		},
		"an archive that pages, too": {
			docs:  map[string]string{"feed": feedOf(linkTo("next", "n"), prev("2"), entryOf("b", 2)), "2": feedOf(linkTo("next", "n"), entryOf("a", 1))},
			want:  []string{"a@1", "mark+", "b@2", "mark+"},
			asked: []string{"feed", "2"},
		},
		"pages": {
			docs: map[string]string{
				"feed": feedOf(linkTo("next", "2"), entryOf("d", 4), tombstoneOf("c", 3)),
				"2":    feedOf(linkTo("next", "3"), entryOf("c", 2)),
				"3":    feedOf(entryOf("a", 1)),
			},
			want:  []string{"a@1", "mark", "mark", "-c@3", "d@4", "mark+"},
			asked: []string{"feed", "2", "3", "feed 304"},
		},
		"complete, with links to itself: the whole": {
			docs: map[string]string{"feed": feedOf(isComplete, linkTo("first", "feed"), linkTo("last", "feed"), linkTo("current", "feed#now"),
				linkTo("self", "feed"), entryOf("a", 1))},
			want:  []string{"snapshot start", "a@1", "snapshot end, complete+"},
			asked: []string{"feed"},
		},
		"complete, and known by its self link": {
			docs:  map[string]string{"feed": feedOf(isComplete, linkTo("self", "other"), linkTo("current", "other"), entryOf("a", 1))},
			want:  []string{"snapshot start", "a@1", "snapshot end, complete+"},
			asked: []string{"feed"},
		},
		"complete, and an archive document": {
			docs:  map[string]string{"feed": feedOf(isComplete, isArchive, entryOf("a", 1))},
			want:  []string{"a@1", "mark+"},
			asked: []string{"feed"},
			rules: []string{"atom-complete-paged"},
		},
		"tombstones alone, and nothing": {
			docs: map[string]string{
				"feed": feedOf(prev("2")),
				"2":    feedOf(isArchive, prev("1"), tombstoneOf("a", 2)),
				"1":    feedOf(isArchive, entryOf("a", 1)),
			},
			want:  []string{"mark+", "-a@2", "mark+", "mark+"},
			asked: []string{"feed", "2", "1"},
		},
		"deleted, published again": {
			docs: map[string]string{
				"feed": feedOf(prev("2"), entryOf("a", 2), entryOf("b", 5)),
				"2":    feedOf(isArchive, prev("1"), tombstoneOf("a", 2), tombstoneOf("b", 4)),
				"1":    feedOf(isArchive, entryOf("a", 1), entryOf("b", 1)),
			},
			want:  []string{"mark+", "mark+", "a@2", "b@5", "mark+"},
			asked: []string{"feed", "2", "1"},
		},
		"tombstones without a time": {
			docs: map[string]string{"feed": feedOf(prev("1"), entryOf("a", 1), `<at:deleted-entry ref="urn:a"/>`, strings.Replace(tombstoneOf("b", 1), moment(1), "soon", 1)),
				"1": feedOf(isArchive, entryOf("b", 1), `<entry xmlns:gd="`+atom.GDataNamespace+`"><id>urn:b</id><gd:deleted/></entry>`)},
			want:  []string{"b@1", "mark, 1 skipped+", "a@1", "mark, 2 skipped+"},
			asked: []string{"feed", "1"},
			rules: []string{"atom-tombstone-when"},
		},
		"skipped, wherever it is": {
			docs: map[string]string{"feed": feedOf(linkTo("next", "2"), entryOf("b", 3), entryOf("c", 2), "<entry/>"),
				"2": feedOf(linkTo("next", "3"), "<entry/>", entryOf(long, 2), entryOf("a", 1)), "3": feedOf()},
			want:  []string{"mark", "a@1", "mark, 2 skipped", "c@2", "b@3", "mark, 1 skipped+"},
			asked: []string{"feed", "2", "3", "feed 304"},
		},
		"instants": {
			docs: map[string]string{"feed": feedOf(prev("1"), tombstoneAt("a", "2026-01-01T00:00:00Z"), entryAt("b", "2026-01-01T00:00:00Z"),
				entryAt("c", "2026-01-01T00:00:00Z"), entryAt("c", "2026-01-01T01:00:00.000001+01:00"), tombstoneAt("d", "2026-01-01T00:00:00.00Z"), entryAt("d", "2026-01-01T00:00:00Z")),
				"1": feedOf(isArchive, entryAt("a", "2026-01-01T00:00:00.9Z"), tombstoneAt("b", "2026-01-01T00:00:00.1Z"))},
			want:  []string{"-b@0", "a@0", "mark+", "-d@0", "c@0", "mark+"},
			asked: []string{"feed", "1"},
		},
		"a date without a time is a day": {
			docs: map[string]string{"feed": feedOf(prev("1"), entryAt("a", "2026-01-01")),
				"1": feedOf(isArchive, tombstoneAt("a", "2026-01-01T12:00:00Z"))},
			want:  []string{"mark+", "a@0", "mark+"},
			asked: []string{"feed", "1"},
		},
		"one time in one document: the tombstone": {
			docs:  map[string]string{"feed": feedOf(tombstoneOf("a", 2), entryOf("a", 2), entryOf("b", 2), tombstoneOf("b", 2))},
			want:  []string{"-a@2", "-b@2", "mark+"},
			asked: []string{"feed"},
		},
		"the later time wins, wherever it is": {
			docs:  map[string]string{"feed": feedOf(prev("1"), entryOf("a", 2)), "1": feedOf(isArchive, entryOf("a", 3))},
			want:  []string{"a@3", "mark+", "mark+"},
			asked: []string{"feed", "1"},
		},
		"no times": {
			docs:  map[string]string{"feed": feedOf(prev("1"), entryOf("a", -1)), "1": feedOf(isArchive, entryOf("a", -1), entryOf("b", -1))},
			want:  []string{"b", "mark+", "a", "mark+"},
			asked: []string{"feed", "1"},
		},
		"deletions as in the wild": {
			docs: map[string]string{"feed": feedOf(`<entry xmlns:gd="` + atom.GDataNamespace + `"><id>urn:a</id><updated>` + moment(2) +
				`</updated><gd:deleted/></entry>`)},
			want:  []string{"-a@2", "mark+"},
			asked: []string{"feed"},
			rules: []string{"atom-deleted-form"},
		},
		"the via is the id": {
			source: atom.Source{ViaID: true},
			docs: map[string]string{"feed": feedOf(
				entryOf("a", 1, linkTo("via", "first/a")), tombstoneOf("b", 2, linkTo("via", "first/b")), entryOf("c", 3))},
			want:  []string{www + "first/a@1", "-" + www + "first/b@2", "c@3", "mark+"},
			asked: []string{"feed"},
		},
		"the via is the id, and a tombstone has none": {
			source: atom.Source{ViaID: true},
			docs: map[string]string{"feed": feedOf(prev("2"), entryOf("a", 6, linkTo("via", "first/c")), tombstoneOf("b", 4)),
				"2": feedOf(isArchive, prev("1"), tombstoneOf("a", 3), tombstoneOf("z", 3), entryOf("d", 3)),
				"1": feedOf(isArchive, entryOf("a", 1, linkTo("via", "first/a")), entryOf("b", 1, linkTo("via", "first/b")), tombstoneOf("d", 0, linkTo("via", "first/d")))},
			want: []string{"-" + www + "first/d@0", "-" + www + "first/a@3", "-" + www + "first/b@4", "mark+",
				"-a@3", "-z@3", "d@3", "mark, 2 skipped+", "-b@4", www + "first/c@6", "mark, 1 skipped+"},
			asked: []string{"feed", "2", "1"},
			rules: []string{"atom-tombstone-via"},
		},
		"the via is not the id": {
			docs:  map[string]string{"feed": feedOf(entryOf("a", 1, linkTo("via", "first/a")))},
			want:  []string{"a@1", "mark+"},
			asked: []string{"feed"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.source.URL = feedURL
			got := runAll(t, &test.source, harvest.Checkpoint{}, siteOf(test.docs))
			require.NoError(t, got.err)
			assert.Equal(t, test.want, got.events)
			assert.Equal(t, test.asked, got.asked)
			for _, rule := range test.rules {
				assert.Contains(t, got.rules(), rule)
			}
			for _, f := range got.findings {
				assert.Contains(t, f.Document, www)
			}
			events := 0
			for _, ev := range got.events {
				if strings.Contains(ev, "@") || ev == "a" || ev == "b" {
					events++
				}
			}
			if !strings.Contains(got.events[0], "snapshot") {
				assert.EqualValues(t, events, got.expect)
			}

			again := runAll(t, &test.source, got.resume, siteOf(test.docs))
			require.NoError(t, again.err)
			if last := got.events[len(got.events)-1]; strings.Contains(last, "skipped") {
				assert.Equal(t, "feed", again.asked[0], "what is skipped is so in each run")
				assert.Equal(t, skippedBy(got), skippedBy(again))
				return
			}
			assert.Equal(t, []string{"mark+"}, again.events, "the server reports what has not changed")
			assert.Equal(t, []string{"feed 304"}, again.asked)
			assert.Equal(t, got.resume, again.resume)
		})
	}
}

// TestSourceFails: a document that can't be read as a feed ends the run, with an error
// that describes the document.
func TestSourceFails(t *testing.T) {
	tests := map[string]struct {
		document sourcetest.Document
		want     string
		is       error
	}{
		"not there":             {sourcetest.Document{Status: 404}, "atom: " + feedURL + ": status 404", websync.ErrGone},
		"a login page":          {sourcetest.Document{Body: "<!DOCTYPE html><html><body>Log in</body></html>"}, "an HTML page, not an Atom document", websync.ErrNotDocument},
		"nothing":               {sourcetest.Document{}, "not an Atom document", websync.ErrNotDocument},
		"cut short":             {sourcetest.Document{Body: cut(feedOf(entryOf("a", 1)))}, feedURL, websync.ErrTruncated},
		"an entry document":     {sourcetest.Document{Body: `<entry xmlns="` + atom.Namespace + `"><id>urn:a</id></entry>`}, "a document of the kind entry, not a feed", websync.ErrNotDocument},
		"a tombstone document":  {sourcetest.Document{Body: `<deleted-entry xmlns="` + atom.TombstoneNamespace + `" ref="urn:a" when="` + moment(1) + `"/>`}, "a document of the kind deleted-entry, not a feed", websync.ErrNotDocument},
		"broken":                {sourcetest.Document{Body: feedOf(), Broken: true}, feedURL, websync.ErrTruncated},
		"longer than is wanted": {sourcetest.Document{Body: feedOf(strings.Repeat(" ", 5000))}, feedURL, websync.ErrLimit},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := runAll(t, &atom.Source{URL: feedURL, MaxBytes: 4000}, harvest.Checkpoint{}, sourcetest.Site{feedURL: test.document})
			require.ErrorIs(t, got.err, test.is)
			assert.ErrorContains(t, got.err, test.want)
			assert.Empty(t, got.events)
		})
	}
}

// quietRun returns a run from the beginning that drops all reports.
func quietRun(f harvest.Fetcher) *harvest.Run {
	return &harvest.Run{Fetcher: f, Report: func(websync.Finding) {}, Expect: func(int64) {}, Log: slog.New(slog.DiscardHandler)}
}

// TestSourceUnspooled: the connection breaks while the Source reads it.
func TestSourceUnspooled(t *testing.T) {
	lost := errors.New("lost")
	unspooled := testkit.FetchFunc(func(context.Context, *harvest.Request) (*harvest.Response, error) {
		r := io.MultiReader(strings.NewReader(feedOf(entryOf("a", 1))), iotest.ErrReader(lost))
		return &harvest.Response{Body: io.NopCloser(r)}, nil
	})
	for ev, err := range (&atom.Source{URL: feedURL}).Events(t.Context(), quietRun(unspooled)) {
		require.ErrorIs(t, err, lost, ev.Kind)
		assert.ErrorContains(t, err, feedURL)
	}
}

// TestSourceNext: from the checkpoint of one state to the next one.
func TestSourceNext(t *testing.T) {
	tests := map[string]struct {
		source      atom.Source
		first, then map[string]string
		want        []string
		asked       []string
		rules       []string
	}{
		"a window goes on": {
			first: map[string]string{"feed": feedOf(entryOf("b", 2), entryOf("a", 1))},
			then:  map[string]string{"feed": feedOf(entryOf("c", 3), entryOf("b", 2))},
			want:  []string{"b@2", "c@3", "mark+"}, asked: []string{"feed"},
		},
		"a window with a gap": {
			first: map[string]string{"feed": feedOf(entryOf("b", 2), entryOf("a", 1))},
			then:  map[string]string{"feed": feedOf(entryOf("d", 4), entryOf("c", 3))},
			want:  []string{"c@3", "d@4", "mark+"}, asked: []string{"feed"}, rules: []string{"atom-window-gap"},
		},
		"a window with another entry of the same time: a gap": {
			first: map[string]string{"feed": feedOf(entryOf("b", 2))},
			then:  map[string]string{"feed": feedOf(entryOf("c", 2))},
			want:  []string{"c@2", "mark+"}, asked: []string{"feed"}, rules: []string{"atom-window-gap"},
		},
		"a window that was emptied": {
			first: map[string]string{"feed": feedOf(entryOf("b", 2))},
			then:  map[string]string{"feed": feedOf()},
			want:  []string{"mark+"}, asked: []string{"feed"},
		},
		"an archive is read down to what is dealt with": {
			first: archiveDocs(),
			then: func() map[string]string {
				docs := archiveDocs()
				docs["5"] = feedOf(isArchive, prev("4"), entryOf("g", 82))
				docs["4"] = feedOf(isArchive, prev("3"), entryOf("f", 62), tombstoneOf("b", 72))
				docs["feed"] = feedOf(prev("5"), tombstoneOf("e", 91))
				return docs
			}(),
			want: []string{"f@62", "-b@72", "mark+", "g@82", "mark+", "-e@91", "mark+"}, asked: []string{"feed", "5", "4"},
		},
		"an older entry was put into an archive document": {
			first: archiveDocs(),
			then: func() map[string]string {
				docs := archiveDocs()
				docs["5"] = feedOf(isArchive, prev("4"), entryOf("y", 2))
				docs["4"] = feedOf(isArchive, prev("3"), entryOf("f", 62), entryOf("z", 70))
				docs["feed"] = feedOf(prev("5"), entryOf("x", 1))
				return docs
			}(),
			want: []string{"f@62", "z@70", "mark+", "y@2", "mark+", "x@1", "mark+"}, asked: []string{"feed", "5", "4"},
		},
		"another chain is read to its end": {
			first: archiveDocs(),
			then: map[string]string{
				"feed":  feedOf(prev("new/2"), entryOf("f", 62)),
				"new/2": feedOf(isArchive, prev("new/1"), entryOf("g", 55), entryOf("b", 61)),
				"new/1": feedOf(isArchive, entryOf("a", 41), entryOf("e", 34)),
			},
			want: []string{"e@34", "a@41", "mark+", "g@55", "b@61", "mark+", "f@62", "mark+"}, asked: []string{"feed", "new/2", "new/1"},
		},
		"pages are read down to one that ends with what is older": {
			first: map[string]string{"feed": feedOf(linkTo("next", "2"), entryOf("d", 4), entryOf("c", 3)), "2": feedOf(entryOf("a", 1))},
			then: map[string]string{
				"feed": feedOf(linkTo("next", "2"), entryOf("h", 8), entryOf("g", 7)),
				"2":    feedOf(linkTo("next", "3"), entryOf("e", 5), entryOf("c", 3)),
				"3":    feedOf(entryOf("b", 2), entryOf("a", 1)),
			},
			want: []string{"c@3", "e@5", "mark", "g@7", "h@8", "mark+"}, asked: []string{"feed", "2", "feed 304"},
		},
		"of one time there may be more on the next page": {
			first: map[string]string{"feed": feedOf(linkTo("next", "2"), entryOf("b", 2)), "2": feedOf(entryOf("a", 1))},
			then: map[string]string{"feed": feedOf(linkTo("next", "2"), entryOf("c", 3), entryOf("b", 2)),
				"2": feedOf(linkTo("next", "3"), entryOf("d", 2), entryOf("a", 1)), "3": feedOf()},
			want: []string{"a@1", "d@2", "mark", "b@2", "c@3", "mark+"}, asked: []string{"feed", "2", "feed 304"},
		},
		"the first page ends with what is older than what was yielded": {
			first: map[string]string{"feed": feedOf(linkTo("next", "2"), entryOf("b", 2)), "2": feedOf(entryOf("a", 1))},
			then:  map[string]string{"feed": feedOf(linkTo("next", "2"), entryOf("b", 3), entryOf("a", 1)), "2": feedOf()},
			want:  []string{"a@1", "b@3", "mark+"}, asked: []string{"feed"},
		},
		"tombstones stand before the entries": {
			first: map[string]string{"feed": feedOf(linkTo("next", "2"), entryOf("b", 2)), "2": feedOf(entryOf("a", 1))},
			then: map[string]string{"feed": feedOf(linkTo("next", "2"), tombstoneOf("a", 3), entryOf("c", 4), entryOf("d", 1)),
				"2": feedOf(entryOf("e", 1))},
			want: []string{"d@1", "-a@3", "c@4", "mark+"}, asked: []string{"feed"},
		},
		"pages with a gap": {
			first: map[string]string{"feed": feedOf(linkTo("next", "2"), entryOf("b", 2)), "2": feedOf(entryOf("a", 1))},
			then:  map[string]string{"feed": feedOf(linkTo("next", "2"), entryOf("d", 4)), "2": feedOf(entryOf("c", 3))},
			want:  []string{"c@3", "mark", "d@4", "mark+"}, asked: []string{"feed", "2", "feed 304"}, rules: []string{"atom-window-gap"},
		},
		"an archive of which the older documents were taken away": {
			first: archiveDocs(),
			then:  map[string]string{"feed": feedOf(prev("9"), entryOf("x", 200)), "9": feedOf(isArchive, entryOf("y", 199))},
			want:  []string{"y@199", "mark+", "x@200", "mark+"}, asked: []string{"feed", "9"}, rules: []string{"atom-window-gap"},
		},
		"nothing known in an archive that goes on": {
			first: archiveDocs(),
			then:  map[string]string{"feed": feedOf(prev("4"), entryOf("x", 200)), "4": feedOf(isArchive, prev("3"), entryOf("y", 199))},
			want:  []string{"y@199", "mark+", "x@200", "mark+"}, asked: []string{"feed", "4"},
		},
		"an entry that stays on top does not end the walk": {
			first: map[string]string{"feed": feedOf(linkTo("next", "2"), entryOf("b", 2)), "2": feedOf(entryOf("a", 1))},
			then: map[string]string{"feed": feedOf(linkTo("next", "2"), entryOf("a", 1), entryOf("d", 4)),
				"2": feedOf(linkTo("next", "3"), entryOf("c", 3)), "3": feedOf(entryOf("b", 2))},
			want: []string{"b@2", "mark", "c@3", "mark", "a@1", "d@4", "mark+"}, asked: []string{"feed", "2", "3", "feed 304"},
		},
		"pages in another order are read to their end, without a validator": {
			first: map[string]string{"feed": feedOf(linkTo("next", "2"), entryOf("a", 1), entryOf("b", 2)), "2": feedOf(entryOf("c", 3))},
			then: map[string]string{"feed": feedOf(linkTo("next", "2"), entryOf("a", 1), entryOf("b", 2)),
				"2": feedOf(entryOf("c", 3), entryOf("d", 4))},
			want: []string{"c@3", "d@4", "mark", "a@1", "b@2", "mark+"}, asked: []string{"feed", "2", "feed 304"},
		},
		"pages in another order, of which the first is in order": {
			first: map[string]string{"feed": feedOf(linkTo("next", "2"), entryOf("b", 2), entryOf("a", 1)), "2": feedOf(entryOf("c", 3))},
			then: map[string]string{"feed": feedOf(linkTo("next", "2"), entryOf("b", 2), entryOf("a", 1)),
				"2": feedOf(entryOf("d", 4), entryOf("c", 3))},
			want: []string{"c@3", "d@4", "mark", "a@1", "b@2", "mark+"}, asked: []string{"feed", "2", "feed 304"},
		},
		"pages of which the first has one time: no validator": {
			first: map[string]string{"feed": feedOf(linkTo("next", "2"), entryOf("b", 2)), "2": feedOf(entryOf("a", 1))},
			then:  map[string]string{"feed": feedOf(linkTo("next", "2"), entryOf("b", 2)), "2": feedOf(entryOf("c", 2), entryOf("a", 1))},
			want:  []string{"a@1", "c@2", "mark", "b@2", "mark+"}, asked: []string{"feed", "2", "feed 304"},
		},
		"a window that is the first of several pages now: the others were never read": {
			first: map[string]string{"feed": feedOf(entryOf("d", 4), entryOf("c", 3))},
			then:  map[string]string{"feed": feedOf(linkTo("next", "2"), entryOf("e", 5), entryOf("d", 4), entryOf("c", 3)), "2": feedOf(entryOf("b", 2), entryOf("a", 1))},
			want:  []string{"a@1", "b@2", "mark", "c@3", "d@4", "e@5", "mark+"}, asked: []string{"feed", "2", "feed 304"},
		},
		"pages of what was complete: the others were never read": {
			first: map[string]string{"feed": feedOf(isComplete, entryOf("d", 4), entryOf("c", 3))},
			then:  map[string]string{"feed": feedOf(linkTo("next", "2"), entryOf("d", 4), entryOf("c", 3)), "2": feedOf(entryOf("b", 2))},
			want:  []string{"b@2", "mark", "c@3", "d@4", "mark+"}, asked: []string{"feed", "2", "feed 304"},
		},
		"old tombstones on the first page do not end the walk": {
			first: map[string]string{"feed": feedOf(linkTo("next", "2"), tombstoneOf("x", 2), entryOf("d", 4)), "2": feedOf(entryOf("a", 1))},
			then: map[string]string{"feed": feedOf(linkTo("next", "2"), tombstoneOf("y", 9), tombstoneOf("x", 2), entryOf("h", 8), entryOf("g", 7)),
				"2": feedOf(linkTo("next", "3"), entryOf("f", 6), entryOf("e", 5)), "3": feedOf(linkTo("next", "4"), entryOf("d", 4), entryOf("c", 3)), "4": feedOf(entryOf("a", 1))},
			want: []string{"c@3", "d@4", "mark", "e@5", "f@6", "mark", "-x@2", "g@7", "h@8", "-y@9", "mark+"}, asked: []string{"feed", "2", "3", "feed 304"},
		},
		"tombstones on the last page": {
			first: map[string]string{"feed": feedOf(linkTo("next", "2"), entryOf("d", 4), entryOf("c", 3)), "2": feedOf(linkTo("next", "3"), entryOf("a", 1)), "3": feedOf(tombstoneOf("x", 2))},
			then: map[string]string{"feed": feedOf(linkTo("next", "2"), entryOf("e", 5), entryOf("c", 3)), "2": feedOf(linkTo("next", "3"), entryOf("a", 1)),
				"3": feedOf(tombstoneOf("d", 6), tombstoneOf("x", 2))},
			want: []string{"-x@2", "-d@6", "mark", "a@1", "mark", "c@3", "e@5", "mark+"}, asked: []string{"feed", "2", "3", "feed 304"},
		},
		"an entry without a time does not hide the order of the others": {
			first: map[string]string{"feed": feedOf(linkTo("next", "2"), entryOf("a", 1), entryOf("x", -1), entryOf("b", 2)), "2": feedOf(entryOf("y", -1), entryOf("c", 3))},
			then: map[string]string{"feed": feedOf(linkTo("next", "2"), entryOf("a", 1), entryOf("x", -1), entryOf("b", 2)),
				"2": feedOf(entryOf("y", -1), entryOf("c", 3), entryOf("d", 4))},
			want: []string{"y", "c@3", "d@4", "mark", "x", "a@1", "b@2", "mark+"}, asked: []string{"feed", "2", "feed 304"},
		},
		"other options: from the beginning": {
			source: atom.Source{Content: []string{"alternate", "content"}},
			first:  archiveDocs(), then: archiveDocs(),
			want:  []string{"e@34", "mark+", "a@41", "mark+", "-c@51", "-d@52", "mark+", "b@61", "f@62", "mark+"},
			asked: []string{"feed", "3", "2", "1"},
		},
		"another feed: nothing is yielded": {
			first: map[string]string{"feed": feedOf(entryOf("a", 1))},
			then:  map[string]string{"feed": strings.Replace(feedOf(entryOf("b", 2)), "urn:feed", "urn:other", 1)},
			want:  []string{`problem: atom: feed: the feed id is "urn:other", and must be "urn:feed"`}, asked: []string{"feed"},
		},
		"another feed that is accepted: from the beginning": {
			source: atom.Source{FeedID: "urn:other"},
			first:  map[string]string{"feed": feedOf(linkTo("next", "2"), entryOf("b", 9)), "2": feedOf(entryOf("a", 8))},
			then: map[string]string{"feed": strings.Replace(feedOf(linkTo("next", "2"), entryOf("d", 2)), "urn:feed", "urn:other", 1),
				"2": strings.Replace(feedOf(entryOf("c", 1)), "urn:feed", "urn:other", 1)},
			want: []string{"c@1", "mark", "d@2", "mark+"}, asked: []string{"feed", "2", "feed 304"},
		},
		"complete from now on": {
			first: archiveDocs(),
			then:  map[string]string{"feed": feedOf(isComplete, entryOf("f", 62))},
			want:  []string{"snapshot start", "f@62", "snapshot end, complete+"}, asked: []string{"feed"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := runAll(t, &atom.Source{URL: feedURL}, harvest.Checkpoint{}, siteOf(test.first))
			require.NoError(t, got.err)
			require.NotZero(t, got.resume)
			test.source.URL = feedURL
			next := runAll(t, &test.source, got.resume, siteOf(test.then))
			require.NoError(t, next.err)
			assert.Equal(t, test.want, next.events)
			assert.Equal(t, test.asked, next.asked)
			for _, rule := range []string{"atom-window-gap"} {
				assert.Equal(t, slices.Contains(test.rules, rule), slices.Contains(next.rules(), rule))
			}
		})
	}
}

// TestSourceFeedID: the feed is not the expected one from the first run on.
func TestSourceFeedID(t *testing.T) {
	site := siteOf(map[string]string{"feed": feedOf(entryOf("a", 1))})
	got := runAll(t, &atom.Source{URL: feedURL, FeedID: "urn:other"}, harvest.Checkpoint{}, site)
	require.NoError(t, got.err)
	assert.Equal(t, []string{`problem: atom: feed: the feed id is "urn:feed", and must be "urn:other"`}, got.events)
	got = runAll(t, &atom.Source{URL: feedURL, FeedID: "urn:feed"}, harvest.Checkpoint{}, site)
	assert.Equal(t, []string{"a@1", "mark+"}, got.events)
	got = runAll(t, &atom.Source{URL: feedURL, FeedID: "urn:other"}, got.resume, site)
	assert.Equal(t, []string{"feed"}, got.asked, "not modified is no answer")
	assert.Contains(t, got.events[0], "problem: ")
}

// skippedBy returns the sum of Skipped over the events of a run.
func skippedBy(got *yielded) (sum int) {
	for _, text := range got.events {
		n := 0
		fmt.Sscanf(text[strings.LastIndex(text, ",")+1:], "%d skipped", &n)
		sum += n
	}
	return sum
}

// TestSourceSkippedStaysSo: entries of an archive document that could not be read count
// as skipped in each run, which asks for the document again, until it is whole.
func TestSourceSkippedStaysSo(t *testing.T) {
	docs := archiveDocs()
	docs["2"] = strings.Replace(docs["2"], "<id>urn:a</id>", "", 1)
	first := runAll(t, &atom.Source{URL: feedURL}, harvest.Checkpoint{}, siteOf(docs))
	assert.Equal(t, 1, skippedBy(first))
	again := runAll(t, &atom.Source{URL: feedURL}, first.resume, siteOf(docs))
	assert.Equal(t, []string{"feed", "2"}, again.asked)
	assert.Equal(t, 1, skippedBy(again))

	docs["feed"] = feedOf(prev("4"), entryOf("g", 71))
	docs["4"] = feedOf(isArchive, prev("3"), entryOf("f", 62), entryOf("b", 61), "<entry/>")
	next := runAll(t, &atom.Source{URL: feedURL}, again.resume, siteOf(docs))
	assert.Equal(t, []string{"feed", "2", "4"}, next.asked)
	assert.Equal(t, 2, skippedBy(next), "the new one and the old one")
	same := runAll(t, &atom.Source{URL: feedURL}, next.resume, siteOf(docs))
	assert.Equal(t, 2, skippedBy(same), "the same bytes")
	assert.Equal(t, []string{"feed", "2", "4"}, same.asked)

	docs["2"] = archiveDocs()["2"]
	mended := runAll(t, &atom.Source{URL: feedURL}, same.resume, siteOf(docs))
	assert.Equal(t, 1, skippedBy(mended), "the new one")
	assert.Equal(t, []string{"feed", "2", "4", "3", "2", "1"}, mended.asked)
	assert.Contains(t, mended.events, "a@41")

	docs["4"] = feedOf(isArchive, prev("3"), entryOf("f", 62), entryOf("b", 61))
	whole := runAll(t, &atom.Source{URL: feedURL}, mended.resume, siteOf(docs))
	assert.Zero(t, skippedBy(whole))
	assert.Equal(t, []string{"feed 304"}, runAll(t, &atom.Source{URL: feedURL}, whole.resume, siteOf(docs)).asked)
}

// TestSourceSkippedOnPage: pages are read to the end until no entry of them is skipped.
func TestSourceSkippedOnPage(t *testing.T) {
	docs := map[string]string{"feed": feedOf(linkTo("next", "2"), entryOf("c", 3), entryOf("b", 2)), "2": feedOf("<entry/>")}
	first := runAll(t, &atom.Source{URL: feedURL}, harvest.Checkpoint{}, siteOf(docs))
	assert.Equal(t, 1, skippedBy(first))
	docs["2"] = feedOf(entryOf("a", 1))
	next := runAll(t, &atom.Source{URL: feedURL}, first.resume, siteOf(docs))
	assert.Zero(t, skippedBy(next))
	assert.Contains(t, next.events, "a@1")
}

// TestSourceSkippedOnFirstPage: an item of the first page that could not be read is read
// when it is whole, although it has moved to another page.
func TestSourceSkippedOnFirstPage(t *testing.T) {
	tests := map[string]struct {
		source     atom.Source
		rel, marks string
	}{
		"pages":                {atom.Source{URL: feedURL}, "next", ""},
		"archives that change": {atom.Source{URL: feedURL, Profile: atom.SourceProfile{Archives: atom.ArchivesChange}}, "prev-archive", isArchive},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			run := func(from harvest.Checkpoint, docs map[string]string) *yielded {
				site := siteOf(docs)
				for url, doc := range site {
					doc.Header = map[string][]string{"Date": {"Thu, 01 Jan 2026 12:00:00 GMT"}}
					site[url] = doc
				}
				return runAll(t, &test.source, from, site)
			}
			docs := map[string]string{
				"feed": feedOf(linkTo(test.rel, "2"), entryOf("d", 40), entryOf("c", 30), strings.Replace(entryOf("b", 20), "<id>", "<id>\x01", 1)),
				"2":    feedOf(test.marks, entryOf("a", 10)),
			}
			first := run(harvest.Checkpoint{}, docs)
			require.Equal(t, 1, skippedBy(first))
			docs["feed"] = feedOf(linkTo(test.rel, "3"), entryOf("e", 50), entryOf("d", 40))
			docs["3"] = feedOf(test.marks, linkTo(test.rel, "2"), entryOf("c", 30))
			docs["2"] = feedOf(test.marks, entryOf("b", 20), entryOf("a", 10))
			next := run(first.resume, docs)
			assert.Zero(t, skippedBy(next))
			assert.Contains(t, next.events, "b@20")
			docs["feed"] = feedOf(linkTo(test.rel, "3"), entryOf("f", 60), entryOf("d", 40))
			last := run(next.resume, docs)
			assert.NotContains(t, last.asked, "2", "all pages were whole")
		})
	}
}

// TestSourcePagesUnread: links of the subscription document that lead to newer documents
// are findings.
func TestSourcePagesUnread(t *testing.T) {
	tests := map[string]struct {
		head []string
		want int
	}{
		"previous":                   {[]string{linkTo("previous", "2")}, 1},
		"prev":                       {[]string{linkTo("prev", "2")}, 1},
		"next-archive":               {[]string{linkTo("next-archive", "2"), prev("1")}, 1},
		"previous of a page":         {[]string{linkTo("previous", "2"), linkTo("next", "1")}, 1},
		"previous, itself":           {[]string{linkTo("previous", "feed")}, 0},
		"next":                       {[]string{linkTo("next", "1")}, 0},
		"other links":                {[]string{linkTo("first", "2"), linkTo("last", "2"), linkTo("current", "2")}, 0},
		"previous of a complete one": {[]string{isComplete, linkTo("previous", "2")}, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			docs := map[string]string{"feed": feedOf(append(test.head, entryOf("b", 20))...), "1": feedOf(entryOf("a", 10)), "2": feedOf()}
			got := runAll(t, &atom.Source{URL: feedURL}, harvest.Checkpoint{}, siteOf(docs))
			n := 0
			for _, f := range got.findings {
				if f.Rule == "atom-pages-unread" {
					n++
					assert.Contains(t, f.String(), www+"2")
				}
			}
			assert.Equal(t, test.want, n, "%v", got.findings)
		})
	}
}

// TestSourceDamagedOnItsWay: a document that came with the validators of the whole one,
// but with other bytes, is read when it comes whole.
func TestSourceDamagedOnItsWay(t *testing.T) {
	damage := map[string]string{
		"an id":      "<id>urn:a\x01</id>",
		"a link":     "<id>urn:a</id><link href='http://www.example/\xff'/>",
		"an element": "<it>urn:a</it>",
	}
	for name, bad := range damage {
		for _, path := range []string{"feed", "2"} {
			t.Run(name+" of "+path, func(t *testing.T) {
				docs := archiveDocs()
				docs["feed"] = feedOf(prev("3"), entryOf("g", 71), entryOf("a", 72))
				if path == "2" {
					docs["feed"] = archiveDocs()["feed"]
				}
				site := siteOf(docs)
				whole := site[www+path]
				damaged := whole
				damaged.Body = strings.Replace(whole.Body, "<id>urn:a</id>", bad, 1)
				require.NotEqual(t, whole, damaged)
				site[www+path] = damaged
				source := &atom.Source{URL: feedURL, Dir: t.TempDir()}
				first := runAll(t, source, harvest.Checkpoint{}, site)
				require.Positive(t, skippedBy(first))
				site[www+path] = whole
				next := runAll(t, source, first.resume, site)
				assert.Zero(t, skippedBy(next))
				assert.Contains(t, next.events, map[string]string{"feed": "a@72", "2": "a@41"}[path])
			})
		}
	}
}

// TestSourceDamagedAndHole: a document with skipped items is not kept for the next run.
func TestSourceDamagedAndHole(t *testing.T) {
	docs := archiveDocs()
	site := siteOf(docs)
	whole := site[www+"2"]
	damaged := whole
	damaged.Body = strings.Replace(whole.Body, "<id>urn:a</id>", "", 1)
	oldest := site[www+"1"]
	delete(site, www+"1")
	site[www+"2"] = damaged
	source := &atom.Source{URL: feedURL, Dir: t.TempDir()}
	first := runAll(t, source, harvest.Checkpoint{}, site)
	require.Equal(t, 1, skippedBy(first))
	site[www+"1"], site[www+"2"] = oldest, whole
	next := runAll(t, source, first.resume, site)
	assert.Equal(t, []string{"feed", "3 304", "2", "1"}, next.asked)
	assert.Zero(t, skippedBy(next))
	assert.Contains(t, next.events, "a@41")
}

// TestSourcePagesMoveBack: if the times of a paged feed have moved back, all pages are
// read, since those of the last run don't show what is new.
func TestSourcePagesMoveBack(t *testing.T) {
	wrong := map[string]string{"feed": feedOf(linkTo("next", "2"), entryOf("b", 100)), "2": feedOf(entryOf("a", 99))}
	first := runAll(t, &atom.Source{URL: feedURL}, harvest.Checkpoint{}, siteOf(wrong))
	right := map[string]string{"feed": feedOf(linkTo("next", "2"), entryOf("d", 13)), "2": feedOf(linkTo("next", "3"), entryOf("c", 12)),
		"3": feedOf(entryOf("b", 11), entryOf("a", 10))}
	next := runAll(t, &atom.Source{URL: feedURL}, first.resume, siteOf(right))
	assert.Equal(t, []string{"a@10", "b@11", "mark", "c@12", "mark", "d@13", "mark+"}, next.events)
	right["feed"] = feedOf(linkTo("next", "2"), entryOf("e", 14), entryOf("d", 12))
	last := runAll(t, &atom.Source{URL: feedURL}, next.resume, siteOf(right))
	assert.Equal(t, []string{"feed"}, last.asked)
}

// An entry that is longer than the Source allows counts as skipped.
func TestSourceLimitsOfEntries(t *testing.T) {
	docs := map[string]string{"feed": feedOf(entryOf("a", 1, "<content>"+strings.Repeat("x", 100)+"</content>"), entryOf("b", 2))}
	got := runAll(t, &atom.Source{URL: feedURL, MaxContent: 50}, harvest.Checkpoint{}, siteOf(docs))
	assert.Equal(t, []string{"b@2", "mark, 1 skipped+"}, got.events)
}

// What entries inherit is limited, since each of them has it.
func TestSourceInheritsLittle(t *testing.T) {
	for size, inherits := range map[int]bool{60 << 10: true, 70 << 10: false} {
		author := "<author><name>" + strings.Repeat("x", size) + "</name></author>"
		got := runAll(t, &atom.Source{URL: feedURL}, harvest.Checkpoint{}, siteOf(map[string]string{
			"feed": feedOf(author, entryOf("a", 1), entryOf("b", 2, "<author><name>B</name></author>")),
		}))
		assert.Equal(t, []string{"a@1", "b@2", "mark+"}, got.events)
		assert.Equal(t, inherits, len(got.puts["a"].Resource.Authors) == 1)
		assert.Equal(t, []websync.Person{{Name: "B"}}, got.puts["b"].Resource.Authors)
		assert.Equal(t, !inherits, slices.Contains(got.rules(), "atom-element-size"))
	}
}

// What a walk holds of its documents is limited; what they share counts once.
func TestSourceHoldsLittle(t *testing.T) {
	const documents = 1200
	for name, author := range map[string]string{"of its own": "<author><name>%d %s</name></author>", "shared": "<author><name>%[2]s</name></author>"} {
		t.Run(name, func(t *testing.T) {
			long := strings.Repeat("x", 60<<10)
			site := sourcetest.Site{}
			for i := range documents {
				links := isArchive
				if i == 0 {
					links = ""
				}
				if i < documents-1 {
					links += prev(fmt.Sprint("feed", i+1))
				}
				url := fmt.Sprint(feedURL, i)
				if i == 0 {
					url = feedURL
				}
				site[url] = sourcetest.Document{Body: feedOf(links, fmt.Sprintf(author, i, long), entryOf(fmt.Sprint(i), 1))}
			}
			got := runAll(t, &atom.Source{URL: feedURL}, harvest.Checkpoint{}, site)
			require.NoError(t, got.err)
			if name == "shared" {
				assert.Len(t, got.puts, documents)
				assert.NotContains(t, got.events[0], "problem")
				return
			}
			assert.Contains(t, got.events[0], "problem: atom: feed1092: the URLs and authors of the documents are longer than 67108864 bytes")
			assert.Len(t, got.puts, 1093, "what was read is yielded")
			assert.True(t, got.resume.IsZero())
		})
	}
}

// TestSourceRedirects: a document that a server returns instead of a document of the
// archive is not that document.
func TestSourceRedirects(t *testing.T) {
	source := &atom.Source{URL: feedURL}
	first := runAll(t, source, harvest.Checkpoint{}, siteOf(archiveDocs()))
	require.NoError(t, first.err)
	docs := archiveDocs()
	docs["feed"] = feedOf(prev("4"), entryOf("g", 71))
	docs["4"] = feedOf(isArchive, prev("3"), entryOf("f", 62), entryOf("b", 61))
	next := []string{"b@61", "f@62", "mark+", "g@71", "mark+"}

	tests := map[string]struct {
		path, text string
		want       []string
	}{
		"nothing": {want: next},
		"the feed to an archive document": {path: "feed", text: "-> 1",
			want: []string{"problem: atom: feed: redirects to 1, which is an archive document"}},
		"an archive document to the oldest": {path: "4", text: "-> 1",
			want: []string{"problem: atom: 4: redirects to 1, and the archive ends without 3, which an earlier run has read"}},
		"an archive document to where it has moved": {path: "4", text: "-> moved/4", want: next},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			docs := maps.Clone(docs)
			docs["moved/4"] = docs["4"]
			if test.path != "" {
				docs[test.path] = test.text
			}
			got := runAll(t, source, first.resume, siteOf(docs))
			require.NoError(t, got.err)
			require.GreaterOrEqual(t, len(got.events), len(test.want), got.events)
			assert.Equal(t, test.want, got.events[:len(test.want)])
			healed := runAll(t, source, got.resume, siteOf(docs))
			assert.Equal(t, strings.HasPrefix(test.want[0], "problem"), strings.HasPrefix(healed.events[0], "problem"), "as long as it lasts")
		})
	}
}

// TestSourceHoles: documents newer than one that can't be read are yielded, and each run
// walks the archive again.
func TestSourceHoles(t *testing.T) {
	with := func(path, text string) map[string]string {
		docs := archiveDocs()
		docs[path] = text
		if text == "" {
			delete(docs, path)
		}
		return docs
	}
	younger := []string{"-c@51", "-d@52", "mark", "b@61", "f@62", "mark"}
	tests := map[string]struct {
		source atom.Source
		docs   map[string]string
		hole   string
		want   []string
	}{
		"missing":               {docs: with("2", ""), hole: "atom: 2: status 404", want: younger},
		"a login page":          {docs: with("2", "<html><body/></html>"), hole: "atom: 2: ", want: younger},
		"cut short":             {docs: with("2", cut(archiveDocs()["2"])), hole: "atom: 2: ", want: younger},
		"of another feed":       {docs: with("2", strings.Replace(archiveDocs()["2"], "urn:feed", "urn:other", 1)), hole: `atom: 2: the feed id is "urn:other", and must be "urn:feed"`, want: younger},
		"an entry document":     {docs: with("2", `<entry xmlns="`+atom.Namespace+`"><id>urn:z</id></entry>`), hole: "atom: 2: a document of the kind entry, not a feed", want: younger},
		"back to the feed":      {docs: with("3", feedOf(isArchive, prev("feed"), tombstoneOf("c", 51), tombstoneOf("d", 52))), hole: "atom: 3: prev-archive leads back to " + "feed", want: younger},
		"before itself":         {docs: with("3", feedOf(isArchive, prev("3"), tombstoneOf("c", 51), tombstoneOf("d", 52))), hole: "atom: 3: prev-archive leads back to 3", want: younger},
		"before nothing":        {docs: with("3", feedOf(isArchive, `<link rel="prev-archive"/>`, tombstoneOf("c", 51), tombstoneOf("d", 52))), hole: "atom: 3: prev-archive leads back to 3", want: younger},
		"too many documents":    {source: atom.Source{MaxDocuments: 2}, docs: archiveDocs(), hole: "atom: 3: more than 2 documents: ", want: younger},
		"longer than is wanted": {source: atom.Source{MaxBytes: 900}, docs: with("2", feedOf(strings.Repeat(" ", 2000))), hole: "atom: 2: ", want: younger},
		"of pages": {docs: map[string]string{"feed": feedOf(linkTo("next", "2"), entryOf("c", 3), entryOf("b", 2)), "2": feedOf(linkTo("next", "3"), entryOf("a", 1))},
			hole: "atom: 3: status 404", want: []string{"a@1", "mark", "b@2", "c@3", "mark"}},
		"two documents before it": {docs: with("3", feedOf(isArchive, prev("2"), prev("2"), prev("1"), tombstoneOf("c", 51), tombstoneOf("d", 52))),
			hole: "atom: 3: two links prev-archive: to 2 and to 1", want: younger},
		"redirected to the feed":      {docs: with("2", "-> feed"), hole: "atom: 2: redirects to feed, which is another document of the set", want: younger},
		"redirected to one before it": {docs: with("2", "-> 3"), hole: "atom: 2: redirects to 3, which is another document of the set", want: younger},
		"redirected to one that it precedes": {docs: func() map[string]string {
			docs := with("2", "-> 1")
			docs["1"] = feedOf(isArchive, linkTo("next-archive", "2"), entryOf("a", 31))
			return docs
		}(), hole: "atom: 2: redirects to 1, which is another document of the set", want: younger},
		"page redirected to one that it precedes": {docs: map[string]string{"feed": feedOf(linkTo("next", "2"), entryOf("c", 3), entryOf("b", 2)), "2": "-> 3",
			"3": feedOf(linkTo("previous", "2"), entryOf("a", 1))},
			hole: "atom: 2: redirects to 3, which is another document of the set", want: []string{"b@2", "c@3", "mark"}},
		"two pages after it": {docs: map[string]string{"feed": feedOf(linkTo("next", "2"), linkTo("next", "3"), entryOf("c", 3), entryOf("b", 2)), "2": feedOf(), "3": feedOf()},
			hole: "atom: feed: two links next: to 2 and to 3", want: []string{"b@2", "c@3", "mark"}},
		"next to itself": {docs: map[string]string{"feed": feedOf(linkTo("next", "feed"), entryOf("b", 2), entryOf("a", 1))},
			hole: "atom: feed: next leads back to feed", want: []string{"a@1", "b@2", "mark"}},
		"next to nothing": {docs: map[string]string{"feed": feedOf(`<link rel="next"/>`, entryOf("b", 2), entryOf("a", 1))},
			hole: "atom: feed: next leads back to feed", want: []string{"a@1", "b@2", "mark"}},
		"complete and next to itself": {docs: map[string]string{"feed": feedOf(isComplete, linkTo("next", "feed#2"), entryOf("b", 2), entryOf("a", 1))},
			hole: "atom: feed: next leads back to feed", want: []string{"a@1", "b@2", "mark"}},
		"pages that lead back": {docs: map[string]string{"feed": feedOf(linkTo("next", "2"), entryOf("c", 3), entryOf("b", 2)), "2": feedOf(linkTo("next", "feed"), entryOf("a", 1))},
			hole: "atom: 2: next leads back to feed", want: []string{"a@1", "mark", "b@2", "c@3", "mark"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.source.URL = feedURL
			got := runAll(t, &test.source, harvest.Checkpoint{}, siteOf(test.docs))
			require.NoError(t, got.err)
			require.True(t, strings.HasPrefix(got.events[0], "problem: "+test.hole), got.events[0])
			assert.Equal(t, test.want, got.events[1:])
			assert.Zero(t, got.resume)
			assert.NotContains(t, got.rules(), "atom-archive-gap")

			test.source.AcceptGaps = true
			got = runAll(t, &test.source, harvest.Checkpoint{}, siteOf(test.docs))
			require.NoError(t, got.err)
			var yielded []string
			for _, ev := range got.events {
				yielded = append(yielded, strings.TrimSuffix(ev, "+"))
			}
			assert.Equal(t, test.want, yielded)
			assert.NotZero(t, got.resume)
			assert.Contains(t, got.rules(), "atom-archive-gap")
			again := runAll(t, &test.source, got.resume, siteOf(test.docs))
			assert.Equal(t, []string{"feed 304"}, again.asked)
		})
	}
	t.Run("the document is back", func(t *testing.T) {
		s := &atom.Source{URL: feedURL}
		first := map[string]string{"feed": feedOf(prev("1"), entryOf("b", 61)), "1": archiveDocs()["1"]}
		got := runAll(t, s, harvest.Checkpoint{}, siteOf(first))
		require.NoError(t, got.err)
		lost := runAll(t, s, got.resume, siteOf(with("2", "")))
		assert.Equal(t, got.resume, lost.resume, "the checkpoint and the validator stay")
		back := runAll(t, s, lost.resume, siteOf(archiveDocs()))
		assert.Equal(t, []string{"a@41", "mark+", "-c@51", "-d@52", "mark+", "b@61", "f@62", "mark+"}, back.events)
		assert.Equal(t, []string{"feed", "3", "2"}, back.asked)
	})
}

// TestSourceMoves: the feed is replaced with another one during the walk.
func TestSourceMoves(t *testing.T) {
	moved := siteOf(map[string]string{
		"feed":  feedOf(prev("new/2"), entryOf("f", 62), entryOf("b", 61)),
		"new/2": feedOf(isArchive, prev("new/1"), tombstoneOf("d", 52), tombstoneOf("c", 51), entryOf("a", 41)),
		"new/1": feedOf(isArchive, entryOf("e", 34)),
	})
	switching := func(at int, to sourcetest.Site) *sourcetest.Fetcher {
		return &sourcetest.Fetcher{Site: siteOf(archiveDocs()),
			Hook: func(_ context.Context, n int, req *harvest.Request, doc sourcetest.Document) (sourcetest.Document, error) {
				if n >= at {
					doc = sourcetest.Document{Status: 410}
					if d, ok := to[req.URL]; ok {
						doc = d
					}
				}
				return doc, nil
			}}
	}
	for at := 2; at <= 4; at++ {
		t.Run(fmt.Sprintf("before request %d", at), func(t *testing.T) {
			got := runWith(t, t.Context(), &atom.Source{URL: feedURL}, harvest.Checkpoint{}, switching(at, moved), 0)
			require.NoError(t, got.err)
			assert.Equal(t, []string{"e@34", "mark+", "a@41", "-c@51", "-d@52", "mark+", "b@61", "f@62", "mark+"}, got.events)
			assert.Equal(t, []string{"feed", "feed", "new/2", "new/1"}, got.asked[len(got.asked)-4:])
		})
	}
	t.Run("the head is gone as well", func(t *testing.T) {
		got := runWith(t, t.Context(), &atom.Source{URL: feedURL}, harvest.Checkpoint{}, switching(3, nil), 0)
		require.NoError(t, got.err)
		assert.Equal(t, "problem: atom: 2: status 410", got.events[0])
	})
	t.Run("the head is broken", func(t *testing.T) {
		broken := sourcetest.Site{feedURL: {Body: "<html/>"}}
		got := runWith(t, t.Context(), &atom.Source{URL: feedURL}, harvest.Checkpoint{}, switching(3, broken), 0)
		require.NoError(t, got.err)
		assert.Equal(t, "problem: atom: 2: status 410", got.events[0])
	})
	t.Run("again and again", func(t *testing.T) {
		f := &sourcetest.Fetcher{Site: sourcetest.Site{},
			Hook: func(_ context.Context, n int, req *harvest.Request, doc sourcetest.Document) (sourcetest.Document, error) {
				if req.URL == feedURL {
					doc = sourcetest.Document{Body: feedOf(prev(fmt.Sprint("gone/", n)), entryOf("a", 1))}
				}
				return doc, nil
			}}
		got := runWith(t, t.Context(), &atom.Source{URL: feedURL}, harvest.Checkpoint{}, f, 0)
		require.NoError(t, got.err)
		assert.Equal(t, []string{"problem: atom: gone/7: status 404", "a@1", "mark"}, got.events)
	})
	t.Run("pages, once", func(t *testing.T) {
		was := siteOf(map[string]string{"feed": feedOf(linkTo("next", "2"), entryOf("c", 3)), "2": feedOf(entryOf("a", 1), entryOf("b", 2))})
		is := siteOf(map[string]string{"feed": feedOf(linkTo("next", "2"), entryOf("b", 4), entryOf("c", 3)), "2": feedOf(entryOf("a", 1))})
		f := &sourcetest.Fetcher{Site: is, Hook: func(_ context.Context, n int, req *harvest.Request, doc sourcetest.Document) (sourcetest.Document, error) {
			if n <= 2 {
				doc = was[req.URL]
			}
			return doc, nil
		}}
		got := runWith(t, t.Context(), &atom.Source{URL: feedURL}, harvest.Checkpoint{}, f, 0)
		require.NoError(t, got.err)
		assert.Equal(t, []string{"a@1", "mark", "c@3", "b@4", "mark+"}, got.events)
		assert.Equal(t, []string{"feed", "2", "feed", "feed", "2", "feed 304"}, got.asked)
		assert.Equal(t, []string{"feed 304"}, runAll(t, &atom.Source{URL: feedURL}, got.resume, is).asked)
	})
	changing := func(body func(n int) string) *sourcetest.Fetcher {
		return &sourcetest.Fetcher{Site: siteOf(map[string]string{"2": feedOf(entryOf("a", 1))}),
			Hook: func(_ context.Context, n int, req *harvest.Request, doc sourcetest.Document) (sourcetest.Document, error) {
				if req.URL == feedURL {
					doc = sourcetest.Document{Body: body(n)}
				}
				return doc, nil
			}}
	}
	t.Run("pages, all the time", func(t *testing.T) {
		body := func(n int) string { return feedOf(linkTo("next", "2"), entryOf("b", 10+n)) }
		got := runWith(t, t.Context(), &atom.Source{URL: feedURL}, harvest.Checkpoint{}, changing(body), 0)
		require.NoError(t, got.err)
		assert.Equal(t, []string{"problem: atom: feed: the feed changes while its pages are read: entries may have moved out of sight",
			"a@1", "mark", "b@17", "mark"}, got.events)
		got = runWith(t, t.Context(), &atom.Source{URL: feedURL, AcceptGaps: true}, harvest.Checkpoint{}, changing(body), 0)
		assert.Equal(t, []string{"a@1", "mark", "b@17", "mark+"}, got.events)
		assert.Contains(t, got.rules(), "atom-pages-changed")
	})
	t.Run("pages, but for their items", func(t *testing.T) {
		body := func(n int) string {
			return feedOf(linkTo("next", "2"), entryOf("b", 10), fmt.Sprintf("<!-- made in %d ms -->", n))
		}
		got := runWith(t, t.Context(), &atom.Source{URL: feedURL}, harvest.Checkpoint{}, changing(body), 0)
		require.NoError(t, got.err)
		assert.Equal(t, []string{"a@1", "mark", "b@10", "mark+"}, got.events)
	})
	t.Run("the first page is gone", func(t *testing.T) {
		f := changing(func(n int) string { return feedOf(linkTo("next", "2"), entryOf("b", 10))[len("<")*(n-1):] })
		got := runWith(t, t.Context(), &atom.Source{URL: feedURL}, harvest.Checkpoint{}, f, 0)
		require.NoError(t, got.err)
		assert.Contains(t, got.events[0], "problem: atom: feed: ")
		assert.Zero(t, got.resume)
	})
}

// TestSourceResumes: a run after one that was broken off anywhere continues after the
// last document that was yielded, and does not request older ones. With a Dir it does not
// request again the documents that it has.
func TestSourceResumes(t *testing.T) {
	whole := runAll(t, &atom.Source{URL: feedURL}, harvest.Checkpoint{}, siteOf(archiveDocs()))
	for _, keep := range []bool{false, true} {
		for n := 1; n < len(whole.events); n++ {
			t.Run(fmt.Sprintf("keep %t, after event %d", keep, n), func(t *testing.T) {
				s := &atom.Source{URL: feedURL}
				if keep {
					s.Dir = filepath.Join(t.TempDir(), "pages")
				}
				first := runWith(t, t.Context(), s, harvest.Checkpoint{}, &sourcetest.Fetcher{Site: siteOf(archiveDocs())}, n)
				require.NoError(t, first.err)
				if keep {
					assert.Equal(t, 3, files(t, s.Dir))
				}
				then := runAll(t, s, first.resume, siteOf(archiveDocs()))
				require.NoError(t, then.err)
				complete := 0 // documents of the archive
				for _, ev := range first.events {
					complete += strings.Count(ev, "mark+")
				}
				asked := []string{"feed", "3", "2", "1"}[:4-complete]
				if keep {
					asked = asked[:1]
					assert.Zero(t, files(t, s.Dir))
				}
				assert.Equal(t, asked, then.asked)
				assert.Equal(t, whole.resume, then.resume)
				since := 0
				for i, ev := range first.events {
					if ev == "mark+" {
						since = i + 1
					}
				}
				assert.Equal(t, whole.events[since:], then.events)
			})
		}
	}
}

// TestSourceValidator: the validator of the subscription document is kept only when all
// of the document has been yielded.
func TestSourceValidator(t *testing.T) {
	s := &atom.Source{URL: feedURL}
	before := siteOf(map[string]string{"feed": feedOf(entryOf("b", 1))})
	first := runAll(t, s, harvest.Checkpoint{}, before)
	require.Equal(t, []string{"b@1", "mark+"}, first.events)
	part := runWith(t, t.Context(), s, first.resume, &sourcetest.Fetcher{Site: siteOf(archiveDocs())}, 2)
	require.Equal(t, []string{"e@34", "mark+"}, part.events)
	for from, want := range map[*yielded]string{first: "feed 304", part: "feed"} {
		assert.Equal(t, []string{want}, runAll(t, s, from.resume, before).asked)
	}
	long := sourcetest.Site{feedURL: {Body: feedOf(), ETag: `"` + strings.Repeat("x", 1000) + `"`}}
	got := runAll(t, s, harvest.Checkpoint{}, long)
	assert.Less(t, len(got.resume.Data), 500)
}

// TestSourceRedirect: relative links are resolved against the URL at the end of
// redirects.
func TestSourceRedirect(t *testing.T) {
	site := siteOf(map[string]string{
		"new/feed": feedOf(`<link rel="prev-archive" href="1"/>`, entryOf("b", 2)),
		"new/1":    feedOf(isArchive, `<link rel="prev-archive" href="/old/0"/>`, entryOf("a", 1)),
		"moved/0":  feedOf(isArchive, `<link rel="prev-archive" href="00"/>`),
		"moved/00": feedOf(isArchive),
	})
	site[feedURL] = sourcetest.Document{Location: "/new/feed"}
	site[www+"old/0"] = sourcetest.Document{Location: "/moved/0"}
	for _, dir := range []string{"", t.TempDir()} {
		s := &atom.Source{URL: feedURL, Dir: dir}
		runWith(t, t.Context(), s, harvest.Checkpoint{}, &sourcetest.Fetcher{Site: site}, 1)
		got := runAll(t, s, harvest.Checkpoint{}, site)
		require.NoError(t, got.err)
		assert.Equal(t, []string{"mark+", "mark+", "a@1", "mark+", "b@2", "mark+"}, got.events)
	}
}

// TestSourceRedirectToItself: the subscription document is recognised by both of its
// URLs.
func TestSourceRedirectToItself(t *testing.T) {
	for rel, want := range map[string][]string{
		"next":         {"problem: atom: feed: next leads back to new/feed", "a@1", "mark"},
		"prev-archive": {"problem: atom: feed: prev-archive leads back to new/feed", "a@1", "mark"},
	} {
		site := siteOf(map[string]string{"new/feed": feedOf(`<link rel="`+rel+`" href=""/>`, entryOf("a", 1))})
		site[feedURL] = sourcetest.Document{Location: "/new/feed"}
		got := runAll(t, &atom.Source{URL: feedURL}, harvest.Checkpoint{}, site)
		require.NoError(t, got.err)
		assert.Equal(t, want, got.events, rel)
		assert.Equal(t, "feed", got.asked[0])
		assert.NotContains(t, got.asked, "new/feed", "it is read already")
	}
}

// files returns the number of files in a directory and in the directories below it.
func files(t *testing.T, dir string) (n int) {
	err := filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return err
	})
	if !errors.Is(err, os.ErrNotExist) {
		require.NoError(t, err)
	}
	return n
}

// TestSourceDir: a kept document is checked as if it came from the server, and belongs to
// one Source.
func TestSourceDir(t *testing.T) {
	dir := t.TempDir()
	s := &atom.Source{URL: feedURL, Dir: dir}
	other := &atom.Source{URL: feedURL, Name: "other", Dir: dir}
	broken := siteOf(archiveDocs())
	broken[www+"1"] = sourcetest.Document{Status: 500}
	for _, s := range []*atom.Source{s, other} {
		got := runAll(t, s, harvest.Checkpoint{}, broken)
		require.NoError(t, got.err)
		assert.Equal(t, []string{"feed", "3", "2", "1 500", "feed 304"}, got.asked)
	}
	require.Equal(t, 4, files(t, dir))
	again := runAll(t, s, harvest.Checkpoint{}, broken)
	assert.Equal(t, []string{"feed", "3 304", "2 304", "1 500", "feed 304"}, again.asked, "below a hole, conditionally")
	require.Equal(t, 4, files(t, dir))

	damage := []string{"", "no line", feedURL + "\n<html/>", feedURL + "\n" + cut(archiveDocs()["2"]), feedURL + "\n" + strings.Replace(archiveDocs()["2"], "urn:feed", "urn:other", 1)}
	for _, text := range damage {
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
			}
			return err
		})
		require.NoError(t, err)
		got := runAll(t, s, harvest.Checkpoint{}, broken)
		require.NoError(t, got.err)
		assert.Equal(t, []string{"feed", "3", "2", "1 500", "feed 304"}, got.asked, text)
		assert.Equal(t, append([]string{"problem: atom: 1: status 500"}, "a@41", "mark", "-c@51", "-d@52", "mark", "b@61", "f@62", "mark"), got.events)
	}
	done := runAll(t, s, harvest.Checkpoint{}, siteOf(archiveDocs()))
	require.NoError(t, done.err)
	assert.Equal(t, 2, files(t, dir), "those of the other Source")
	runAll(t, other, harvest.Checkpoint{}, siteOf(archiveDocs()))
	assert.Zero(t, files(t, dir))

	blocked := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(blocked, nil, 0o600))
	got := runAll(t, &atom.Source{URL: feedURL, Dir: blocked}, harvest.Checkpoint{}, siteOf(archiveDocs()))
	assert.Error(t, got.err)
}

// TestSourceDirMended: the publisher repairs a document that is kept and that caused a
// hole.
func TestSourceDirMended(t *testing.T) {
	damages := map[string][2]string{
		"before itself":         {"2", feedOf(isArchive, prev("2"), entryOf("d", 42), entryOf("a", 41))},
		"back":                  {"2", feedOf(isArchive, prev("3"), entryOf("d", 42), entryOf("a", 41))},
		"to nowhere":            {"3", feedOf(isArchive, prev("nowhere"), tombstoneOf("d", 52), tombstoneOf("c", 51))},
		"two before it":         {"3", feedOf(isArchive, prev("nowhere"), prev("2"), tombstoneOf("d", 52), tombstoneOf("c", 51))},
		"redirected to another": {"2", "-> 3"},
	}
	whole := runAll(t, &atom.Source{URL: feedURL}, harvest.Checkpoint{}, siteOf(archiveDocs()))
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			s := &atom.Source{URL: feedURL, Dir: t.TempDir()}
			docs := archiveDocs()
			docs[damage[0]] = damage[1]
			for range 2 {
				got := runAll(t, s, harvest.Checkpoint{}, siteOf(docs))
				require.NoError(t, got.err)
				assert.Contains(t, got.events[0], "problem: ")
				assert.Zero(t, got.resume)
			}
			got := runAll(t, s, harvest.Checkpoint{}, siteOf(archiveDocs()))
			require.NoError(t, got.err)
			assert.Equal(t, whole.events, got.events)
			assert.Zero(t, files(t, s.Dir))
		})
	}
	t.Run("what is kept serves while the server fails", func(t *testing.T) {
		s := &atom.Source{URL: feedURL, Dir: t.TempDir()}
		site := siteOf(archiveDocs())
		site[www+"1"] = sourcetest.Document{Status: 500}
		runAll(t, s, harvest.Checkpoint{}, site)
		site = siteOf(archiveDocs())
		site[www+"3"], site[www+"2"] = sourcetest.Document{Status: 500}, sourcetest.Document{Body: cut(archiveDocs()["2"])}
		got := runAll(t, s, harvest.Checkpoint{}, site)
		require.NoError(t, got.err)
		assert.Equal(t, whole.events, got.events)
		assert.Equal(t, []string{"feed", "3 500", "2", "1"}, got.asked)
	})
	t.Run("a full pass uses nothing that is kept", func(t *testing.T) {
		s := &atom.Source{URL: feedURL, Dir: t.TempDir()}
		runWith(t, t.Context(), s, harvest.Checkpoint{}, &sourcetest.Fetcher{Site: siteOf(archiveDocs())}, 1)
		require.Equal(t, 3, files(t, s.Dir))
		f := &sourcetest.Fetcher{Site: siteOf(archiveDocs())}
		for _, err := range s.Events(t.Context(), &harvest.Run{Full: true, Fetcher: f}) {
			require.NoError(t, err)
		}
		assert.Len(t, f.Exchanges(), 4)
	})
}

// TestSourceContext: the end of the context is not a Problem.
func TestSourceContext(t *testing.T) {
	for k := 1; k <= 4; k++ {
		ctx, cancel := context.WithCancel(t.Context())
		f := &sourcetest.Fetcher{Site: siteOf(archiveDocs()),
			Hook: func(_ context.Context, n int, _ *harvest.Request, doc sourcetest.Document) (sourcetest.Document, error) {
				if n == k {
					cancel()
				}
				return doc, nil
			}}
		got := runWith(t, ctx, &atom.Source{URL: feedURL}, harvest.Checkpoint{}, f, 0)
		assert.ErrorIs(t, got.err, context.Canceled)
		assert.Empty(t, got.events)
	}
}

// TestSourceContentBase: a div keeps the xml:base of its entry or feed; the URL of the
// document is no such base.
func TestSourceContentBase(t *testing.T) {
	doc := feedOf("", entryOf("a", 1, `<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">x</div></content>`))
	for base, want := range map[string]string{
		"":                `<div xmlns="http://www.w3.org/1999/xhtml">x</div>`,
		` xml:base="/z/"`: `<div xmlns="http://www.w3.org/1999/xhtml" xml:base="` + www + `z/">x</div>`,
	} {
		for _, element := range []string{"<feed", "<entry"} {
			got := runAll(t, &atom.Source{URL: feedURL}, harvest.Checkpoint{}, siteOf(map[string]string{"feed": strings.Replace(doc, element, element+base, 1)}))
			require.NoError(t, got.err)
			assert.Equal(t, want, got.bytes["a"], element+base)
		}
	}
}

// TestSourceContent: which content is selected, and the inline bytes.
func TestSourceContent(t *testing.T) {
	alternate, enclosure := linkTo("alternate", "page"), linkTo("enclosure", "file")
	src := `<content src="` + www + `src" type="text/plain"/>`
	inline := func(attrs, content string) string { return "<content " + attrs + ">" + content + "</content>" }
	only, page, file := []string{"content"}, []string{"alternate", "content"}, []string{"enclosure", "content", "alternate"}
	long := strings.Repeat("long ", 20_000)
	tests := map[string]struct {
		content []string
		entry   string
		href    string
		mime    string
		bytes   string
		inline  bool
		rules   []string
	}{
		"src":                     {entry: alternate + src, href: "src", mime: "text/plain"},
		"alternate":               {entry: enclosure + alternate, href: "page"},
		"neither":                 {entry: enclosure},
		"content only":            {content: only, entry: alternate + src, href: "src", mime: "text/plain"},
		"content only, none":      {content: only, entry: alternate},
		"the alternate":           {content: page, entry: src + alternate, href: "page"},
		"the alternate, none":     {content: page, entry: src + enclosure, href: "src", mime: "text/plain"},
		"the enclosure":           {content: file, entry: src + alternate + enclosure, href: "file"},
		"the enclosure, src":      {content: file, entry: alternate + src, href: "src", mime: "text/plain"},
		"the enclosure, the page": {content: file, entry: alternate, href: "page"},
		"text":                    {entry: alternate + inline("", "a &lt; b"), inline: true, bytes: "a < b", mime: "text/plain"},
		"text that is long":       {entry: inline("", long), inline: true, bytes: long, mime: "text/plain"},
		"empty":                   {entry: alternate + inline("", ""), inline: true, mime: "text/plain"},
		"HTML":                    {entry: inline(`type="html"`, "&lt;p>x"), inline: true, bytes: "<p>x", mime: "text/html"},
		"XHTML": {entry: inline(`type="xhtml"`, `<div xmlns="http://www.w3.org/1999/xhtml">x</div>`), inline: true,
			bytes: `<div xmlns="http://www.w3.org/1999/xhtml">x</div>`, mime: "application/xhtml+xml"},
		"XHTML with a base": {entry: inline(`type="xhtml" xml:base="/b/c"`, `<x:div xmlns:x="http://www.w3.org/1999/xhtml"><x:a href="d"/></x:div>`), inline: true,
			bytes: `<x:div xmlns:x="http://www.w3.org/1999/xhtml" xml:base="` + www + `b/c"><x:a href="d"/></x:div>`, mime: "application/xhtml+xml"},
		"XHTML with a base of its own": {entry: inline(`type="xhtml" xml:base="/b/"`, `<div xmlns="http://www.w3.org/1999/xhtml" title="&gt;" xml:base="c/?d&amp;e">x</div>`), inline: true,
			bytes: `<div xmlns="http://www.w3.org/1999/xhtml" title=">" xml:base="` + www + `b/c/?d&amp;e">x</div>`, mime: "application/xhtml+xml"},
		"text in another charset": {entry: inline(`type="text/csv; header=present; charset=ISO-8859-1"`, "å"), inline: true,
			bytes: "å", mime: "text/csv; charset=utf-8; header=present"},
		"text in UTF-8": {entry: inline(`type="text/csv;charset=UTF-8"`, "å"), inline: true, bytes: "å", mime: "text/csv;charset=UTF-8"},
		"XML in another charset": {entry: inline(`type="application/xml;charset=iso-8859-1"`, `<x xmlns="urn:x">å</x>`), inline: true,
			bytes: `<x xmlns="urn:x">å</x>`, mime: "application/xml; charset=utf-8"},
		"bytes in a charset": {entry: inline(`type="application/x;charset=iso-8859-1"`, "5Q=="), inline: true,
			bytes: "\xe5", mime: "application/x;charset=iso-8859-1"},
		"XML": {entry: inline(`type="application/rdf+xml"`, `<r:RDF xmlns:r="urn:r"/>`), inline: true,
			bytes: `<r:RDF xmlns:r="urn:r"/>`, mime: "application/rdf+xml"},
		"HTML with a base": {entry: inline(`type="html" xml:base="/b/c"`, "&lt;a href=d>x"), inline: true,
			bytes: `<a href="` + www + `b/d">x`, mime: "text/html"},
		"HTML with relative references": {entry: inline(`type="html"`, "&lt;img src='/a.png'>&lt;a href='#x'>"), inline: true,
			bytes: `<img src="` + www + `a.png"><a href='#x'>`, mime: "text/html"},
		"XHTML with relative references": {entry: inline(`type="xhtml"`, `<div xmlns="http://www.w3.org/1999/xhtml"><a href="/d"/></div>`), inline: true,
			bytes: `<div xmlns="http://www.w3.org/1999/xhtml" xml:base="` + www + `"><a href="/d"/></div>`, mime: "application/xhtml+xml"},
		"SVG with a base": {entry: inline(`type="image/svg+xml" xml:base="/b/"`, `<svg xmlns="http://www.w3.org/2000/svg"/>`), inline: true,
			bytes: `<svg xmlns="http://www.w3.org/2000/svg" xml:base="` + www + `b/"/>`, mime: "image/svg+xml"},
		"SVG with relative references": {entry: inline(`type="image/svg+xml"`, `<svg xmlns="http://www.w3.org/2000/svg"><image href="a.png"/></svg>`), inline: true,
			bytes: `<svg xmlns="http://www.w3.org/2000/svg" xml:base="` + www + `"><image href="a.png"/></svg>`, mime: "image/svg+xml"},
		"base64": {entry: inline(`type="application/pdf"`, "\n"+base64.StdEncoding.EncodeToString([]byte("%PDF\x00\xff"))+"\n"), inline: true,
			bytes: "%PDF\x00\xff", mime: "application/pdf"},
		"the alternate beside inline": {content: page, entry: inline("", "x") + alternate, href: "page"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			site := siteOf(map[string]string{"feed": feedOf("<author><name>A</name></author>", entryOf("a", 1, test.entry))})
			got := runAll(t, &atom.Source{URL: feedURL, Content: test.content}, harvest.Checkpoint{}, site)
			require.NoError(t, got.err)
			ev := got.puts["a"]
			href := test.href
			if href != "" {
				href = www + href
			}
			assert.Equal(t, href, ev.Resource.Content.Href)
			assert.Equal(t, test.mime, ev.Resource.Content.Type)
			assert.Equal(t, test.inline, ev.Open != nil)
			assert.Equal(t, test.inline, ev.Tag != "")
			assert.Equal(t, test.bytes, got.bytes["a"])
			assert.Equal(t, "A", ev.Resource.Authors[0].Name, "the feed's")
			assert.Equal(t, "a", ev.Resource.Title)
			for _, rule := range test.rules {
				assert.Contains(t, got.rules(), rule)
			}
		})
	}
}

// TestSourceInlineChanges: inline content is compared, even if nothing else in the entry
// has changed.
func TestSourceInlineChanges(t *testing.T) {
	store := harvest.NewCatalog(memstore.New())
	for i, text := range []string{"one", "two", "two"} {
		site := siteOf(map[string]string{"feed": feedOf(entryOf("a", 1, "<content>"+text+"</content>"))})
		h := &harvest.Harvester{Sample: -1, Catalog: store, Fetcher: &sourcetest.Fetcher{Site: site}}
		report, err := h.Run(t.Context(), &atom.Source{URL: feedURL})
		require.NoError(t, err)
		require.True(t, report.InStep())
		assert.EqualValues(t, min(i, 1), headOf(t, store).Last-1)
		assert.Equal(t, "a "+text, contentsOf(t, store, feedURL)["urn:a"])
	}
}

// TestSourceInlineMoves: an entry with relative references that goes from the feed to an
// archive document is the same.
func TestSourceInlineMoves(t *testing.T) {
	entry := entryOf("a", 1, `<content type="html">&lt;a href="x"></content>`)
	store := harvest.NewCatalog(memstore.New())
	for _, docs := range []map[string]string{
		{"feed": feedOf(entry)},
		{"feed": feedOf(entryOf("b", 2), linkTo("prev-archive", "archive")), "archive": feedOf(isArchive, entry)},
	} {
		h := &harvest.Harvester{Sample: -1, Catalog: store, Fetcher: &sourcetest.Fetcher{Site: siteOf(docs)}}
		testkit.MakeDue(t, store)
		report, err := h.Run(t.Context(), &atom.Source{URL: feedURL})
		require.NoError(t, err)
		require.True(t, report.InStep())
		assert.Zero(t, report.Updated)
		assert.Equal(t, "a "+`<a href="`+www+`x">`, contentsOf(t, store, feedURL)["urn:a"])
	}
}

// TestSourceContentDamaged: content that can't be decoded fails like any other body: the
// record stays, with its title, until the content is valid again.
func TestSourceContentDamaged(t *testing.T) {
	store := harvest.NewCatalog(memstore.New())
	for _, run := range []struct {
		title, content, want string
		inStep               bool
	}{
		{"one", "b25l", "one one", true},
		{"two", "~~", "one one", false},
		{"two", "~~", "one one", false},
		{"three", "dGhyZWU=", "three three", true},
	} {
		entry := entryOf("a", 1, `<content type="application/pdf">`+run.content+"</content>")
		site := siteOf(map[string]string{"feed": feedOf(strings.Replace(entry, "<title>a", "<title>"+run.title, 1))})
		var found []websync.Finding
		h := &harvest.Harvester{Sample: -1, Catalog: store, Fetcher: &sourcetest.Fetcher{Site: site},
			Hooks: testkit.OnFinding(func(f websync.Finding) { found = append(found, f) })}
		report, err := h.Run(t.Context(), &atom.Source{URL: feedURL})
		require.NoError(t, err)
		assert.Equal(t, run.inStep, report.InStep(), run.title)
		assert.Equal(t, run.want, contentsOf(t, store, feedURL)["urn:a"])
		if !run.inStep {
			require.NotEmpty(t, found)
			assert.Equal(t, "atom-content-base64", found[0].Rule)
			assert.ErrorContains(t, errors.New(report.Problems[0].Error), "urn:a")
		}
	}
}

// TestSourceContentWithdrawn: content that an entry no longer has is not kept.
func TestSourceContentWithdrawn(t *testing.T) {
	store := harvest.NewCatalog(memstore.New())
	for _, run := range []struct{ content, want string }{
		{"<content>one</content>", "a one"}, {"", "a"}, {"<content>two</content>", "a two"},
		{"<content>two</content>", "a two"}, {linkTo("alternate", "page"), "a page"}, {linkTo("related", "page"), "a"},
	} {
		site := siteOf(map[string]string{"feed": feedOf(isComplete, entryOf("a", 1, run.content)), "page": "page"})
		report, err := (&harvest.Harvester{Sample: -1, Catalog: store, Fetcher: &sourcetest.Fetcher{Site: site}}).Run(t.Context(), &atom.Source{URL: feedURL})
		require.NoError(t, err)
		require.True(t, report.InStep())
		assert.Equal(t, run.want, contentsOf(t, store, feedURL)["urn:a"])
	}
}

// TestSourceTombstoneWithoutVia: a deletion of a resource whose id an earlier run took
// from its via is reported, and a full pass makes the deletion.
func TestSourceTombstoneWithoutVia(t *testing.T) {
	store := harvest.NewCatalog(memstore.New())
	source := &atom.Source{URL: feedURL, ViaID: true}
	first := map[string]string{"feed": feedOf(prev("1")), "1": feedOf(isArchive, entryOf("a", 1, linkTo("via", "first/a")), entryOf("b", 1))}
	then := maps.Clone(first)
	then["feed"] = feedOf(prev("1"), tombstoneOf("a", 2))
	for i, docs := range []map[string]string{first, then, then, then} {
		h := &harvest.Harvester{Sample: -1, Catalog: store, Fetcher: &sourcetest.Fetcher{Site: siteOf(docs)}, Full: i == 3}
		report, err := h.Run(t.Context(), source)
		require.NoError(t, err)
		assert.Equal(t, i == 0, report.InStep())
		assert.Equal(t, min(i, 1), report.Skipped)
		_, live := contentsOf(t, store, feedURL)[www+"first/a"]
		assert.Equal(t, i < 3, live)
		assert.Contains(t, contentsOf(t, store, feedURL), "urn:b")
	}
}

// TestSourceCompletePage: a page that is marked as complete deletes nothing.
func TestSourceCompletePage(t *testing.T) {
	for _, rel := range []string{"previous", "prev", "last", "first", "current", "next-archive"} {
		docs := map[string]string{"feed": feedOf(isComplete, linkTo("self", "feed"), linkTo(rel, "2"), entryOf("a", 1))}
		got := runAll(t, &atom.Source{URL: feedURL}, harvest.Checkpoint{}, siteOf(docs))
		require.NoError(t, got.err)
		assert.Equal(t, []string{"a@1", "mark+"}, got.events, rel)
		assert.Contains(t, got.rules(), "atom-complete-paged", rel)
	}
}

// TestSourceForeignEntry: an element that may be an entry under another name withholds
// deletions.
func TestSourceForeignEntry(t *testing.T) {
	for _, foreign := range []string{`<entry xmlns="urn:x"><id>urn:b</id></entry>`, "<Entry><id>urn:b</id></Entry>", "<ENTRY><id>urn:b</id></ENTRY>"} {
		docs := map[string]string{"feed": feedOf(isComplete, entryOf("a", 1), foreign)}
		got := runAll(t, &atom.Source{URL: feedURL}, harvest.Checkpoint{}, siteOf(docs))
		require.NoError(t, got.err)
		assert.Contains(t, got.rules(), "atom-unknown-element", foreign)
		assert.Equal(t, []string{"snapshot start", "a@1", "snapshot end, complete, 1 skipped+"}, got.events, foreign)
	}
}

// TestSourceInstants: two states of an archived feed are a fraction of a second apart,
// and the older one comes in a later run.
func TestSourceInstants(t *testing.T) {
	for _, older := range []string{tombstoneAt("a", "2026-01-01T00:00:00Z"), strings.Replace(entryAt("a", "2026-01-01T00:00:00Z"), "<title>a", "<title>old", 1)} {
		store := harvest.NewCatalog(memstore.New())
		for _, items := range []string{entryAt("a", "2026-01-01T00:00:00.9Z"), older} {
			site := siteOf(map[string]string{"feed": feedOf(prev("1"), items), "1": feedOf(isArchive)})
			report, err := (&harvest.Harvester{Sample: -1, Catalog: store, Fetcher: &sourcetest.Fetcher{Site: site}}).Run(t.Context(), &atom.Source{URL: feedURL})
			require.NoError(t, err)
			require.True(t, report.InStep())
		}
		assert.Equal(t, map[string]string{"urn:a": "a"}, contentsOf(t, store, feedURL))
		for r, err := range store.Records(t.Context(), feedURL, "") {
			require.NoError(t, err)
			assert.Equal(t, "2026-01-01T00:00:00.9Z", r.Resource.Modified.String(), "as it is stated")
		}
	}
}

// TestSourceMarks: a document with much inline content gives several Marks.
func TestSourceMarks(t *testing.T) {
	for _, complete := range []string{"", isComplete} {
		parts := []string{complete}
		for i := range 20 {
			parts = append(parts, entryOf(fmt.Sprint(i), 1+i, "<content>"+strings.Repeat("x", 1<<20)+"</content>"))
		}
		got := runAll(t, &atom.Source{URL: feedURL}, harvest.Checkpoint{}, siteOf(map[string]string{"feed": feedOf(parts...)}))
		require.NoError(t, got.err)
		marks := 0
		for i, ev := range got.events[:len(got.events)-1] {
			if ev == "mark" {
				marks++
				assert.LessOrEqual(t, i-9*(marks-1), 10)
			}
			assert.NotContains(t, ev, "+", "no checkpoint before the end")
		}
		if complete == "" {
			assert.Equal(t, 2, marks)
		} else {
			assert.Equal(t, 3, marks, "one for the rest, which is not to be had after the end")
		}
	}
}

// TestSourceParser: documents that are not Atom.
func TestSourceParser(t *testing.T) {
	parse := func(src io.Reader, origin atom.Origin, report func(websync.Finding)) (*atom.Feed, []atom.Item, error) {
		text, err := io.ReadAll(src)
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		if err != nil || lines[0] != "lines" {
			return nil, nil, fmt.Errorf("not lines: %w", websync.ErrNotDocument)
		}
		report(websync.Finding{Document: origin.URL, Rule: "lines", Message: "called"})
		var items []atom.Item
		for i, line := range lines[1:] {
			switch {
			case line == "broken":
				return nil, nil, errors.New("broken line")
			case line == "none":
				items = append(items, atom.Item{}, atom.Item{Entry: &atom.Entry{}})
			case line[0] == '-':
				when, _ := websync.ParseDatetime(moment(9 - i))
				if line[1] == '?' {
					when = websync.Datetime{}
				}
				items = append(items, atom.Item{Tombstone: &atom.Tombstone{Ref: "urn:" + strings.Trim(line, "-?"), When: when, Links: []websync.Link{{Rel: "via", Href: "urn:via:" + strings.Trim(line, "-?")}}}})
			default:
				at, _ := websync.ParseDatetime(moment(9 - i))
				items = append(items, atom.Item{Entry: &atom.Entry{ID: "urn:" + line, Updated: at, Links: []websync.Link{{Rel: "via", Href: "urn:via:" + line}}}})
			}
		}
		return &atom.Feed{ID: "urn:lines", Links: []websync.Link{{Rel: "next", Href: www + "2"}}}, items, nil
	}
	s := &atom.Source{URL: feedURL, Parser: parse}
	site := siteOf(map[string]string{"feed": "lines\na\nb\nnone\n-c\n-?d", "2": "lines\nbroken"})
	got := runAll(t, s, harvest.Checkpoint{}, site)
	require.NoError(t, got.err)
	assert.Equal(t, []string{"problem: atom: 2: broken line", "-c@6", "b@8", "a@9", "mark, 2 skipped"}, got.events)
	assert.Equal(t, []string{"atom-tombstone-when", "lines"}, got.rules())
	assert.Len(t, got.findings, 3, "those of each document once")
	got = runAll(t, &atom.Source{URL: feedURL, Parser: parse, ViaID: true}, harvest.Checkpoint{}, site)
	assert.Equal(t, []string{"-via:c@6", "via:b@8", "via:a@9", "mark, 2 skipped"}, got.events[1:])

	atomic := runAll(t, s, harvest.Checkpoint{}, siteOf(map[string]string{"feed": feedOf(entryOf("a", 1))}))
	assert.Equal(t, []string{"a@1", "mark+"}, atomic.events)
	page := runAll(t, s, harvest.Checkpoint{}, siteOf(map[string]string{"feed": "<html><body/></html>"}))
	assert.ErrorContains(t, page.err, "an HTML page, not an Atom document")
	entry := runAll(t, s, harvest.Checkpoint{}, siteOf(map[string]string{"feed": `<entry xmlns="` + atom.Namespace + `"><id>urn:a</id></entry>`}))
	assert.ErrorContains(t, entry.err, "a document of the kind entry, not a feed")
	anything := func(io.Reader, atom.Origin, func(websync.Finding)) (*atom.Feed, []atom.Item, error) {
		return new(atom.Feed), []atom.Item{{Entry: &atom.Entry{ID: "urn:x"}}}, nil
	}
	entry = runAll(t, &atom.Source{URL: feedURL, Parser: anything}, harvest.Checkpoint{}, siteOf(map[string]string{"feed": `<entry xmlns="` + atom.Namespace + `"/>`}))
	assert.ErrorContains(t, entry.err, "a document of the kind entry, not a feed", "that is Atom")
	nothing := func(io.Reader, atom.Origin, func(websync.Finding)) (*atom.Feed, []atom.Item, error) {
		return nil, nil, nil
	}
	got = runAll(t, &atom.Source{URL: feedURL, Parser: nothing}, harvest.Checkpoint{}, siteOf(map[string]string{"feed": "?"}))
	require.NoError(t, got.err)
	assert.Equal(t, []string{"mark+"}, got.events)
}

// TestSourceFuture: a time far ahead of the server's clock does not hide later changes.
func TestSourceFuture(t *testing.T) {
	ahead := `<entry><id>urn:z</id><updated>2099-01-01T00:00:00Z</updated></entry>`
	dated := func(docs map[string]string) sourcetest.Site {
		site := siteOf(docs)
		for url, doc := range site {
			doc.Header = map[string][]string{"Date": {"Thu, 01 Jan 2026 12:00:00 GMT"}}
			site[url] = doc
		}
		return site
	}
	s := &atom.Source{URL: feedURL}
	got := runAll(t, s, harvest.Checkpoint{}, dated(map[string]string{"feed": feedOf(linkTo("next", "2"), ahead), "2": feedOf(entryOf("a", 1))}))
	require.NoError(t, got.err)
	assert.Contains(t, got.rules(), "atom-date-future")
	next := runAll(t, s, got.resume, dated(map[string]string{
		"feed": feedOf(linkTo("next", "2"), ahead, entryOf("c", 3)),
		"2":    feedOf(entryOf("b", 2), entryOf("a", 1)),
	}))
	assert.Equal(t, []string{"feed", "2", "feed 304"}, next.asked)
}

// TestSourceFutureCorrected: such a time does not supersede a newer document that
// corrects it.
func TestSourceFutureCorrected(t *testing.T) {
	const ahead = "2999-01-01T00:00:00Z"
	tests := map[string]struct{ older, newer, want string }{
		"entry":                 {entryAt("a", ahead), entryOf("a", 2), "a@2"},
		"entry, then deleted":   {entryAt("a", ahead), tombstoneOf("a", 2), "-a@2"},
		"deleted, then back":    {tombstoneAt("a", ahead), entryOf("a", 2), "a@2"},
		"both of them":          {entryAt("a", "2998-01-01T00:00:00Z"), tombstoneAt("a", "2997-01-01T00:00:00Z"), "-a@0"},
		"only the newer one is": {entryOf("a", 2), entryAt("a", ahead), "a@0"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			site := siteOf(map[string]string{"feed": feedOf(prev("1"), test.newer), "1": feedOf(isArchive, test.older)})
			for url, doc := range site {
				doc.Header = map[string][]string{"Date": {"Thu, 01 Jan 2026 12:00:00 GMT"}}
				site[url] = doc
			}
			got := runAll(t, &atom.Source{URL: feedURL}, harvest.Checkpoint{}, site)
			require.NoError(t, got.err)
			assert.Equal(t, []string{"mark+", test.want, "mark+"}, got.events)
		})
	}
}

// TestSourceSoon: a time a little ahead of the server's clock is not used either: changes
// before it would count as known.
func TestSourceSoon(t *testing.T) {
	at := func(docs map[string]string, clock string) sourcetest.Site {
		site := siteOf(docs)
		for url, doc := range site {
			doc.Header = map[string][]string{"Date": {"Thu, 01 Jan 2026 " + clock + " GMT"}}
			site[url] = doc
		}
		return site
	}
	s := &atom.Source{URL: feedURL}
	first := at(map[string]string{"feed": feedOf(linkTo("next", "2"), entryOf("soon", 600), entryOf("c", 60)), "2": feedOf(entryOf("a", 1))}, "00:02:00")
	got := runAll(t, s, harvest.Checkpoint{}, first)
	require.NoError(t, got.err)
	next := runAll(t, s, got.resume, at(map[string]string{
		"feed": feedOf(linkTo("next", "2"), entryOf("soon", 600), entryOf("f", 240)),
		"2":    feedOf(linkTo("next", "3"), entryOf("e", 200), entryOf("d", 180)),
		"3":    feedOf(linkTo("next", "4"), entryOf("c", 60), entryOf("b", 30)),
		"4":    feedOf(entryOf("a", 1)),
	}, "00:05:00"))
	require.NoError(t, next.err)
	assert.Equal(t, []string{"feed", "2", "3", "feed 304"}, next.asked)
	assert.Contains(t, next.events, "d@180")
}

// TestSourceFindings: the findings of a document are reported once a run.
func TestSourceFindings(t *testing.T) {
	docs := archiveDocs()
	docs["2"] = strings.Replace(docs["2"], moment(42), "2026-01-01", 1)
	got := runAll(t, &atom.Source{URL: feedURL}, harvest.Checkpoint{}, siteOf(docs))
	n := 0
	for _, f := range got.findings {
		if f.Rule == "atom-date" {
			n++
			assert.Equal(t, www+"2", f.Document)
		}
	}
	assert.Equal(t, 1, n)
}

// TestSourceBorder: entries of the time of the checkpoint are recognised by their ids,
// unless there are too many of them.
func TestSourceBorder(t *testing.T) {
	for _, n := range []int{1, 1000, 1001} {
		var parts []string
		for i := range n {
			parts = append(parts, entryOf(fmt.Sprint(i), 1))
		}
		s := &atom.Source{URL: feedURL}
		got := runAll(t, s, harvest.Checkpoint{}, siteOf(map[string]string{"feed": feedOf(parts...)}))
		require.NoError(t, got.err)
		assert.Less(t, len(got.resume.Data), 30_000)
		same := runAll(t, s, got.resume, siteOf(map[string]string{"feed": feedOf(entryOf("x", 2), entryOf("0", 1))}))
		assert.Equal(t, n > 1000, slices.Contains(same.rules(), "atom-window-gap"))
		other := runAll(t, s, got.resume, siteOf(map[string]string{"feed": feedOf(entryOf("x", 2), entryOf("y", 1))}))
		assert.Contains(t, other.rules(), "atom-window-gap")
	}
}

func headOf(t testing.TB, store *harvest.Catalog) websync.Head {
	head, err := store.Head(t.Context())
	require.NoError(t, err)
	return head
}

// contentsOf returns the title, and the bytes if there are any, of each live record of a
// source.
func contentsOf(t testing.TB, store *harvest.Catalog, key string) map[string]string {
	all := map[string]string{}
	for r, err := range store.Records(t.Context(), key, "") {
		require.NoError(t, err)
		if !r.Live() {
			continue
		}
		text := r.Resource.Title
		if b, ok := r.Body(websync.ContentName); ok && !b.Key.IsZero() {
			body, err := store.Open(t.Context(), b)
			require.NoError(t, err)
			data, err := io.ReadAll(body)
			require.NoError(t, errors.Join(err, body.Close()))
			text += " " + string(data)
		}
		all[r.Resource.ID] = text
	}
	return all
}
