package instep

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/testkit"
)

const base = "https://example.org/"

// begin is the time of the first run of each test.
var begin = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// A row is a sentence, and its variants show that it is true.
type row struct {
	name     string
	variants []variant
}

type variant struct {
	name string
	test func(w *world)
}

// TestInStep runs each variant of each row in a bubble of its own, in which a day takes
// no time.
func TestInStep(t *testing.T) {
	for _, rows := range [][]row{sitemapRows(), laggingRows(), feedRows(), pagingRows(), duplicateRows(), damagedRows(), eliRows(),
		resourcesyncRows(), sampleRows(), doubtRows(), bodyRows(), taskRows()} {
		for _, r := range rows {
			t.Run(r.name, func(t *testing.T) {
				for _, v := range r.variants {
					t.Run(v.name, func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) { v.test(newWorld(t)) })
					})
				}
			})
		}
	}
}

// An answer is what a site has at one URL.
type answer func(out http.ResponseWriter, r *http.Request)

// A world is a site, a Store and who harvests the one into the other.
type world struct {
	*testing.T
	store     *harvest.Catalog
	harvester harvest.Harvester // the settings of the next run
	client    *fetch.Client
	findings  []websync.Finding // of the last run

	mu    sync.Mutex
	site  map[string]answer // by URL
	asked []string          // the URLs of the last run
}

func newWorld(t *testing.T) *world {
	time.Sleep(time.Until(begin))
	w := &world{T: t, store: harvest.NewCatalog(memstore.New()), site: map[string]answer{}}
	w.restart()
	w.client.Rate = -1
	return w
}

// restart makes the next run that of a new process.
func (w *world) restart() { w.client = fetch.New(w.store); w.client.Transport = w }

// serve has something at a path below base, or at a URL, from now on.
func (w *world) serve(path string, a answer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.site[url(path)] = a
}

func url(path string) string {
	if strings.Contains(path, "://") {
		return path
	}
	return base + path
}

// RoundTrip implements http.RoundTripper.
func (w *world) RoundTrip(r *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, r)
	resp := rec.Result()
	resp.Request = r
	return resp, nil
}

// ServeHTTP implements http.Handler. The Date is that of the clock.
func (w *world) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	a := w.site[r.URL.String()]
	w.asked = append(w.asked, r.URL.String())
	w.mu.Unlock()
	out.Header().Set("Date", time.Now().UTC().Format(http.TimeFormat))
	if a == nil {
		a = refused(http.StatusNotFound)
	}
	a(out, r)
}

// plain answers with bytes and no validator.
func plain(body string) answer {
	return func(out http.ResponseWriter, r *http.Request) {
		kind := "text/html; charset=utf-8"
		switch {
		case strings.HasPrefix(body, "\x1f\x8b"):
			kind = "application/gzip"
		case strings.HasPrefix(body, "PK"):
			kind = "application/zip"
		case strings.HasPrefix(body, "<?xml"):
			kind = "application/xml"
		case strings.HasPrefix(body, "{"):
			kind = "application/feed+json"
		case strings.HasPrefix(body, "http"), strings.HasPrefix(body, "User-agent"):
			kind = "text/plain; charset=utf-8"
		}
		out.Header().Set("Content-Type", kind)
		out.Header().Set("Content-Length", strconv.Itoa(len(body)))
		io.WriteString(out, body)
	}
}

// tagged answers with bytes and their entity tag, or with 304.
func tagged(body string) answer {
	tag := fmt.Sprintf(`"%08x"`, crc32.ChecksumIEEE([]byte(body)))
	return func(out http.ResponseWriter, r *http.Request) {
		out.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			out.WriteHeader(http.StatusNotModified)
			return
		}
		plain(body)(out, r)
	}
}

// dated answers with bytes and their Last-Modified, or with 304.
func dated(body string, at string) answer {
	when, err := time.Parse(time.RFC3339, at)
	if err != nil {
		panic(err)
	}
	return func(out http.ResponseWriter, r *http.Request) {
		out.Header().Set("Last-Modified", when.UTC().Format(http.TimeFormat))
		since, err := http.ParseTime(r.Header.Get("If-Modified-Since"))
		if err == nil && !when.After(since) {
			out.WriteHeader(http.StatusNotModified)
			return
		}
		plain(body)(out, r)
	}
}

// stamped answers with bytes and their Last-Modified, and never with 304.
func stamped(body, at string) answer {
	return func(out http.ResponseWriter, r *http.Request) {
		r.Header.Del("If-Modified-Since")
		dated(body, at)(out, r)
	}
}

// refused answers with a status.
func refused(status int) answer {
	return func(out http.ResponseWriter, r *http.Request) {
		out.Header().Set("Content-Length", "0")
		out.WriteHeader(status)
	}
}

// A server is a way to serve bytes that were made at a time.
type server struct {
	name string
	as   func(body, at string) answer
}

var servers = []server{
	{"entity tags", func(body, _ string) answer { return tagged(body) }},
	{"Last-Modified", dated},
	{"no validators", func(body, _ string) answer { return plain(body) }},
}

// each makes a variant for each server.
func each(test func(w *world, as func(body, at string) answer)) (all []variant) {
	for _, s := range servers {
		all = append(all, variant{s.name, func(w *world) { test(w, s.as) }})
	}
	return all
}

// engine returns the Harvester of the next call.
func (w *world) engine() *harvest.Harvester {
	h := w.harvester
	h.Catalog, h.Fetcher = w.store, w.client
	h.Hooks = testkit.OnFinding(func(f websync.Finding) { w.findings = append(w.findings, f) })
	return &h
}

// tryRun harvests once, and may end in an error.
func (w *world) tryRun(src harvest.Source) (*harvest.Report, error) {
	w.Helper()
	w.mu.Lock()
	w.asked, w.findings = nil, nil
	w.mu.Unlock()
	report, err := w.engine().Run(w.Context(), src)
	require.NotNil(w, report)
	return report, err
}

// run harvests once.
func (w *world) run(src harvest.Source) *harvest.Report {
	w.Helper()
	report, err := w.tryRun(src)
	require.NoError(w, err)
	return report
}

// approve carries out what was withheld.
func (w *world) approve(src harvest.Source) *harvest.Report {
	w.Helper()
	report, err := w.engine().Approve(w.Context(), src)
	require.NoError(w, err)
	return report
}

// nextDay lets a day pass.
func (w *world) nextDay() { time.Sleep(24 * time.Hour) }

// countAsked returns how often the last run asked for URLs that fit.
func (w *world) countAsked(fits func(url string) bool) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, u := range w.asked {
		if fits(u) {
			n++
		}
	}
	return n
}

// inStep checks that a run was in step.
func (w *world) inStep(r *harvest.Report, when string) {
	w.Helper()
	assert.True(w, r.InStep(), "%s: the run must be in step: %s", when, brief(r))
}

// notInStep checks that a run was not in step.
func (w *world) notInStep(r *harvest.Report, when string) {
	w.Helper()
	assert.False(w, r.InStep(), "%s: the run must not be in step: %s", when, brief(r))
}

func brief(r *harvest.Report) string {
	return fmt.Sprintf("complete %v skipped %d created %d updated %d deleted %d failed %d withheld %d left %+v findings %d problems %v failures %v guard %v",
		r.Complete, r.Skipped, r.Created, r.Updated, r.Deleted, r.Failed, r.Withheld, r.Left, r.Findings, r.Problems, r.Failures, r.Guard)
}

// live returns what the Store holds: by id the content and the time of each resource. The
// time is left out if dates is false.
func (w *world) live(dates bool) map[string]string {
	w.Helper()
	all := map[string]string{}
	for item, err := range w.store.Resources(w.Context(), websync.Range{}) {
		require.NoError(w, err)
		text := "-"
		if b, ok := item.Body(websync.ContentName); ok {
			text = testkit.Read(w, w.store, b)
		}
		if dates && !item.Resource.Modified.IsZero() {
			text += " @ " + item.Resource.Modified.String()
		}
		all[strings.TrimPrefix(item.Resource.ID, base)] = text
	}
	return all
}

// holds checks that the Store holds exactly these entries.
func (w *world) holds(when string, entries ...entry) {
	w.Helper()
	w.holdsMap(when, true, stateOf(true, entries))
}

// holdsTexts checks that the Store holds exactly these entries, whatever their times.
func (w *world) holdsTexts(when string, entries ...entry) {
	w.Helper()
	w.holdsMap(when, false, stateOf(false, entries))
}

func (w *world) holdsMap(when string, dates bool, want map[string]string) {
	w.Helper()
	got := w.live(dates)
	var wrong []string
	for _, id := range slices.Sorted(maps.Keys(want)) {
		if text, ok := got[id]; !ok {
			wrong = append(wrong, fmt.Sprintf("%s is not held", id))
		} else if text != want[id] {
			wrong = append(wrong, fmt.Sprintf("%s is held as %q and not as %q", id, cut(text), cut(want[id])))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[id]; !ok {
			wrong = append(wrong, fmt.Sprintf("%s is held", id))
		}
	}
	n := len(wrong)
	if n > 5 {
		wrong = append(wrong[:5], "…")
	}
	assert.Zero(w, n, "%s: %d wrong: %s", when, n, strings.Join(wrong, "; "))
}

func cut(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}

// An entry is one resource: its id, which is a path below base or a URL, the time that is
// stated of it, and its text.
type entry struct{ id, time, text string }

func stateOf(dates bool, entries []entry) map[string]string {
	all := map[string]string{}
	for _, e := range entries {
		text := e.text
		if dates && e.time != "" {
			text += " @ " + e.time
		}
		all[e.id] = text
	}
	return all
}

// pages serves the text of each entry at its URL, with an entity tag.
func (w *world) pages(entries ...entry) {
	for _, e := range entries {
		w.serve(e.id, tagged(e.text))
	}
}

// entries returns n entries with a name, a time and a text of their own.
func entries(name, time string, n int) (all []entry) {
	for i := range n {
		id := fmt.Sprintf("%s/%03d", name, i+1)
		all = append(all, entry{id, time, "text of " + id})
	}
	return all
}

// with returns entries in which some are replaced, by their ids, and others added.
func with(all []entry, others ...entry) []entry {
	all = slices.Clone(all)
	for _, o := range others {
		if i := slices.IndexFunc(all, func(e entry) bool { return e.id == o.id }); i >= 0 {
			all[i] = o
		} else {
			all = append(all, o)
		}
	}
	return all
}

// changed returns entries with a new time, if it is not empty, and another text.
func changed(all []entry, time string) []entry {
	all = slices.Clone(all)
	for i := range all {
		if time != "" {
			all[i].time = time
		}
		all[i].text = "new " + all[i].text
	}
	return all
}

// says reports whether a finding of the last run, or a Problem or a Failure of the
// Report, has all of some words.
func (w *world) says(r *harvest.Report, words ...string) bool {
	var all []string
	for _, f := range w.findings {
		all = append(all, findingText(f))
	}
	for _, f := range slices.Concat(r.Problems, r.Failures) {
		all = append(all, fmt.Sprintf("%+v", f))
	}
	return slices.ContainsFunc(all, func(s string) bool {
		return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(strings.ToLower(s), strings.ToLower(word)) })
	})
}

func findingText(f websync.Finding) string {
	return fmt.Sprintf("%s %s line %d %s %s %s", f.Document, f.Rule, f.Line, f.Element, f.Value, f.Message)
}

// findingTexts returns the findings of the last run, one a line.
func (w *world) findingTexts() string {
	var b strings.Builder
	for _, f := range w.findings {
		b.WriteString("\n" + findingText(f))
	}
	return b.String()
}

// counts reports whether a Report, in its JSON form, has the number n under a name that
// has one of some words.
func counts(w *world, r *harvest.Report, n float64, words ...string) bool {
	text, err := json.Marshal(r)
	require.NoError(w, err)
	var all any
	require.NoError(w, json.Unmarshal(text, &all))
	var look func(name string, v any) bool
	look = func(name string, v any) bool {
		switch v := v.(type) {
		case float64:
			return v == n && slices.ContainsFunc(words, func(word string) bool { return strings.Contains(name, word) })
		case map[string]any:
			for k, inner := range v {
				if look(name+"."+strings.ToLower(k), inner) {
					return true
				}
			}
		}
		return false
	}
	return look("", all)
}
