package sourcetest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/sourcetest"
)

// A model is a minimal Source. It reads documents of lines, between "list", with its own
// URL, and "end":
//
//	page URL              another document
//	put ID TIME           a resource at the URL ID
//	put ID TIME TEXT      a resource that comes with its bytes
//	delete ID TIME
//	odd                   something to report
//	bad                   an entry that can't be read
//
// As a snapshot it yields the puts of all pages. As a log it yields the pages one after
// the other, and its checkpoint holds the page and the number of its lines that it has
// yielded.
type model struct {
	url string
	log bool

	// What a broken model does instead.
	key   func() string
	fetch func(ctx context.Context, run *harvest.Run, url string) (string, error)
	read  func(w *walk, url string) ([]line, error)
	alter func(w *walk, ev *harvest.Event)
	all   func(w *walk)
}

type line struct{ word, id, at, text string }

// A note is what the model keeps in a checkpoint.
type note struct {
	Page string // the last page
	Done int    // number of its lines that were yielded
	Open bool   `json:",omitempty"` // the baseline is still to come
}

func (m *model) Key() string {
	if m.key != nil {
		return m.key()
	}
	return m.url
}

func (m *model) Events(ctx context.Context, run *harvest.Run) iter.Seq2[harvest.Event, error] {
	return func(yield func(harvest.Event, error) bool) {
		w := &walk{model: m, ctx: ctx, run: run, next: yield}
		if run.From.Version == 1 && json.Unmarshal(run.From.Data, &w.from) != nil {
			w.from = note{}
		}
		switch {
		case m.all != nil:
			m.all(w)
		case m.log:
			w.yieldLog()
		default:
			w.yieldSnapshot()
		}
	}
}

// A walk is one pass of a model.
type walk struct {
	*model
	ctx    context.Context
	run    *harvest.Run
	next   func(harvest.Event, error) bool
	from   note
	broken bool // there was a Problem
	bad    int  // entries that can't be read
	n      int  // events
	ended  bool // the whole snapshot was yielded
}

// yield yields an event after alter.
func (w *walk) yield(ev harvest.Event) bool {
	w.n++
	if w.alter != nil {
		w.alter(w, &ev)
	}
	return w.next(ev, nil)
}

func (w *walk) problem(err error) bool {
	w.broken = true
	return w.yield(harvest.Event{Kind: harvest.Problem, Err: err})
}

// fail ends the pass.
func (w *walk) fail(err error) { w.next(harvest.Event{}, err) }

func (w *walk) yieldSnapshot() {
	root, err := w.document(w.url)
	if err != nil {
		w.fail(err)
		return
	}
	if !w.yield(harvest.Event{Kind: harvest.SnapshotStart}) {
		return
	}
	for _, l := range root {
		if l.word == "page" && !w.page(l.id) || l.word == "put" && !w.yield(l.event()) {
			return
		}
	}
	end := harvest.Event{Kind: harvest.SnapshotEnd, Complete: !w.broken, Options: "model", Skipped: w.bad}
	if !w.broken {
		end.Resume = note{Page: "all"}.checkpoint()
	}
	w.ended = w.yield(end)
}

// page yields the puts of one page. It reports whether the pass goes on.
func (w *walk) page(url string) bool {
	lines, err := w.document(url)
	if w.ctx.Err() != nil {
		w.fail(w.ctx.Err())
		return false
	}
	if err != nil {
		return w.problem(err)
	}
	for _, l := range lines {
		if l.word == "put" && !w.yield(l.event()) {
			return false
		}
	}
	return true
}

func (w *walk) yieldLog() {
	root, err := w.document(w.url)
	if err != nil {
		w.fail(err)
		return
	}
	pages := slices.DeleteFunc(root, func(l line) bool { return l.word != "page" })
	known := max(0, slices.IndexFunc(pages, func(l line) bool { return l.id == w.from.Page }))
	for _, p := range pages[known:] {
		lines, err := w.document(p.id)
		if w.ctx.Err() != nil {
			err = w.ctx.Err()
		}
		if err != nil {
			w.fail(err) // yielding the later pages would leave a gap
			return
		}
		done := 0
		if p.id == w.from.Page {
			done = min(w.from.Done, len(lines))
		}
		if !w.yieldPage(p.id, lines, done) {
			return
		}
	}
}

// yieldPage yields the lines of a page after the first done ones.
func (w *walk) yieldPage(page string, lines []line, done int) bool {
	for i, l := range lines[done:] {
		ev := l.event()
		ev.Resume = note{Page: page, Done: done + i + 1}.checkpoint()
		if !w.yield(ev) {
			return false
		}
	}
	return w.yield(harvest.Event{Kind: harvest.Mark, Resume: note{Page: page, Done: len(lines)}.checkpoint()})
}

// yieldBaseline yields a snapshot of the state that the log leads to, and in later passes
// the log. The snapshot covers the log up to its position before the snapshot.
func (w *walk) yieldBaseline() {
	if w.from != (note{}) && !w.from.Open {
		w.yieldLog()
		return
	}
	root, err := w.document(w.url)
	at, live := w.from, map[string]line{}
	var ids []string
	for _, p := range root {
		var lines []line
		if lines, err = w.document(p.id); err != nil {
			break
		}
		for _, l := range lines {
			if live[l.id] = l; !slices.Contains(ids, l.id) {
				ids = append(ids, l.id)
			}
		}
		if !w.from.Open {
			at = note{Page: p.id, Done: len(lines), Open: true}
		}
	}
	if err != nil {
		w.fail(err)
		return
	}
	going := w.yield(harvest.Event{Kind: harvest.Mark, Resume: at.checkpoint()}) && w.yield(harvest.Event{Kind: harvest.SnapshotStart})
	for _, id := range ids {
		if l := live[id]; l.word == "put" {
			going = going && w.yield(l.event())
		}
	}
	at.Open = false
	if going {
		w.yield(harvest.Event{Kind: harvest.SnapshotEnd, Complete: true, Options: "model", Resume: at.checkpoint()})
	}
}

func (n note) checkpoint() harvest.Checkpoint {
	data, _ := json.Marshal(n)
	return harvest.Checkpoint{Version: 1, Data: data}
}

func (l line) event() harvest.Event {
	ev := harvest.Event{Kind: harvest.Put, Resource: websync.Resource{ID: l.id}}
	ev.Resource.Modified, _ = websync.ParseDatetime(l.at)
	switch {
	case l.word == "delete":
		ev.Kind = harvest.Delete
		return ev
	case l.text != "":
		ev.Open = harvest.OpenBytes([]byte(l.text))
		ev.Resource.Content = websync.Link{Length: int64(len(l.text)), Digests: websync.Digests{websync.SHA256([]byte(l.text))}}
	default:
		ev.Resource.Content.Href = l.id
	}
	return ev
}

// document reads one document to its end and checks it.
func (w *walk) document(url string) ([]line, error) {
	if w.read != nil {
		return w.read(w, url)
	}
	return w.check(url)
}

func (w *walk) check(url string) ([]line, error) {
	fetch := fetchText
	if w.fetch != nil {
		fetch = w.fetch
	}
	text, err := fetch(w.ctx, w.run, url)
	if err != nil {
		return nil, err
	}
	return w.parse(url, text)
}

func fetchText(ctx context.Context, run *harvest.Run, url string) (string, error) {
	resp, err := run.Fetcher.Fetch(ctx, &harvest.Request{URL: url, Spool: true})
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}

var errMistaken = errors.New("another document")

func (w *walk) parse(url, text string) (lines []line, err error) {
	all := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	own, ok := strings.CutPrefix(all[0], "list ")
	if ok && own != url {
		return nil, fmt.Errorf("%s: it is %w: %s", url, errMistaken, own)
	}
	if !ok {
		return nil, &websync.ParseError{Format: "list", Document: url, Err: websync.ErrNotDocument}
	}
	if all[len(all)-1] != "end" {
		return nil, &websync.ParseError{Format: "list", Document: url, Err: websync.ErrTruncated}
	}
	w.run.Expect(int64(len(all) - 2))
	for _, s := range all[1 : len(all)-1] {
		f := append(strings.SplitN(s, " ", 4), "", "", "")
		if f[0] == "bad" {
			w.bad++
			continue
		}
		if f[0] == "odd" {
			w.run.Report(websync.Finding{Document: url, Rule: "odd", Message: "an odd line"})
			continue
		}
		lines = append(lines, line{f[0], f[1], f[2], f[3]})
	}
	return lines, nil
}

var _ harvest.Source = (*model)(nil)

const base = "https://example.com/"

// lists returns a Site of documents by path, and the pages at the ids that come without
// bytes.
func lists(documents map[string]string) sourcetest.Site {
	s := sourcetest.Site{}
	for path, text := range documents {
		text = strings.ReplaceAll(text, " /", " "+base)
		s[base+path] = sourcetest.Document{Body: "list " + base + path + "\n" + text + "end\n"}
		for l := range strings.Lines(text) {
			f := strings.Fields(l)
			if f[0] == "put" && len(f) == 3 && s[f[1]].Body < f[2] { // the latest version
				s[f[1]] = sourcetest.Document{Body: f[2], ETag: fmt.Sprintf("%q", f[2])}
			}
		}
	}
	return s
}

func snapshotSites() []sourcetest.Site {
	return []sourcetest.Site{
		lists(map[string]string{
			"root": "put /a 2026-01-01\npage /1\npage /2\n",
			"1":    "put /b 2026-01-02\nput /c 2026-01-01\nodd\n",
			"2":    "put /d 2026-01-03\nput /e 2026-01-03 some text\nput /Upper 2026-01-01 the same text\n",
		}),
		lists(map[string]string{
			"root": "put /a 2026-01-01\npage /1\npage /2\npage /3\n",
			"1":    "put /b 2026-01-05\nodd\n",
			"2":    "put /d 2026-01-03\nput /e 2026-01-05 other text\nput /Upper 2026-01-05 the same text\n",
			"3":    "put /f 2026-01-05\nput /g 2026-01-06\n",
		}),
	}
}

func logSites() []sourcetest.Site {
	one := "put /a 2026-01-01\nput /b 2026-01-02 text\nput /c 2026-01-03\ndelete /b 2026-01-04\n"
	two := "put /d 2026-01-05\nput /a 2026-01-06\nodd\nput /e 2026-01-07 more text\n"
	three := "delete /d 2026-01-08\nput /f 2026-01-09\n"
	return []sourcetest.Site{
		lists(map[string]string{"root": "page /1\npage /2\n", "1": one, "2": two}),
		lists(map[string]string{"root": "page /1\npage /2\npage /3\n", "1": one, "2": two + "put /g 2026-01-07\n", "3": three}),
	}
}

func modelOptions(source func() harvest.Source, sites []sourcetest.Site) sourcetest.Options {
	return sourcetest.Options{Source: source, Sites: sites, Store: newStore}
}

func TestModel(t *testing.T) {
	t.Run("snapshot", func(t *testing.T) {
		source := func() harvest.Source { return &model{url: base + "root"} }
		sourcetest.Run(t, modelOptions(source, snapshotSites()))
	})
	t.Run("log", func(t *testing.T) {
		source := func() harvest.Source { return &model{url: base + "root", log: true} }
		sourcetest.Run(t, modelOptions(source, logSites()))
	})
	t.Run("baseline", func(t *testing.T) {
		source := func() harvest.Source { return &model{url: base + "root", all: (*walk).yieldBaseline} }
		sourcetest.Run(t, modelOptions(source, logSites()))
	})
}

// Enter changes the state of a Source that does not read through its Fetcher. A Source
// without documents has less to check.
func TestEnter(t *testing.T) {
	var mu sync.Mutex
	state := 0
	ids := [][]string{{"a", "b"}, {"a", "c", "d"}}
	source := func() harvest.Source {
		mu.Lock()
		defer mu.Unlock()
		events := []harvest.Event{{Kind: harvest.SnapshotStart}}
		for _, id := range ids[state] {
			events = append(events, harvest.Event{Resource: websync.Resource{ID: id}, Open: harvest.OpenBytes([]byte(id))})
		}
		return harvest.Of("memory", append(events, harvest.Event{Kind: harvest.SnapshotEnd, Complete: true})...)
	}
	sourcetest.Run(t, sourcetest.Options{
		Source: source,
		Sites:  make([]sourcetest.Site, 2),
		Store:  newStore,
		Enter: func(_ testing.TB, n int) {
			mu.Lock()
			defer mu.Unlock()
			state = n
		},
	})
}

// A getting is a model that is a Getter.
type getting struct{ *model }

func (g getting) Get(ctx context.Context, job *harvest.Job) error {
	resp, err := job.Fetch(ctx, &harvest.Request{URL: job.Resource.ID})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = job.Keep(ctx, "page", job.Resource.Content, resp.Body)
	return err
}

func TestGetter(t *testing.T) {
	sites := []sourcetest.Site{lists(map[string]string{"root": "put /a 2026-01-01\nput /b 2026-01-01\n"})}
	sourcetest.Run(t, modelOptions(func() harvest.Source { return getting{&model{url: base + "root"}} }, sites))
}
