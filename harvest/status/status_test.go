package status

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/union"
	"github.com/websync-go/websync/internal/display"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// bubble runs a test with a story.
func bubble(t *testing.T, f func(*testing.T, *story)) {
	synctest.Test(t, func(t *testing.T) { f(t, newStory(t)) })
}

func TestEmptyStore(t *testing.T) {
	bubble(t, func(t *testing.T, s *story) {
		status := s.status()
		assert.Equal(t, "There are no sources yet.", status.Verdict)
		assert.Equal(t, "none", status.State)
		assert.Contains(t, s.html(), "There are no sources yet.")
		for _, list := range []string{`"sources": []`, `"reasons": []`, `"days": []`, `"statuses": []`, `"hosts": []`} {
			assert.Contains(t, s.get("/status.json").Body.String(), list)
		}
	})
}

// The golden files are the page, without its style sheet, and its twin.
func TestGolden(t *testing.T) {
	bubble(t, func(t *testing.T, s *story) {
		s.tell()
		_, html, ok := strings.Cut(s.html(), "</style>\n")
		require.True(t, ok)
		testkit.Golden(t, "testdata/five.html", []byte(html))
		testkit.Golden(t, "testdata/five.json", s.get("/status.json").Body.Bytes())
		testkit.Golden(t, "testdata/five.metrics", s.get("/metrics").Body.Bytes())
	})
}

// text returns what a reader of a page sees, without markup.
func text(html string) string {
	_, html, _ = strings.Cut(html, "</style>")
	return regexp.MustCompile(`\s+`).ReplaceAllString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(html, " "), " ")
}

// Every figure of the twin is on the page.
func TestTwin(t *testing.T) {
	bubble(t, func(t *testing.T, s *story) {
		s.tell()
		status, shown := s.status(), text(s.html())
		has := func(words ...string) { t.Helper(); assert.Contains(t, shown, strings.Join(words, " ")) }
		has(status.Verdict)
		has(display.Number(status.Live), "records")
		has(display.Number(status.Tasks.Waiting), "waiting")
		has(display.Number(status.Tasks.Parked), "parked")
		has(display.Number(status.Tasks.Withheld), "deletions withheld")
		for _, src := range status.Sources {
			lag, last := "—", "—"
			if !src.Latest.IsZero() {
				lag = display.Duration(time.Duration(src.Lag) * time.Second)
			}
			if len(src.Runs) > 0 {
				last = display.Duration(status.Time.Sub(src.Runs[0].Ended)) + " ago"
			}
			row := regexp.QuoteMeta(src.Name) + ".{0,90} " + strings.Join([]string{display.Number(src.Live), lag, last}, " ")
			assert.Regexp(t, row, shown)
		}
		for _, r := range status.Reasons {
			has(display.Number(r.Tasks), "×", r.Text)
		}
		for _, c := range status.Statuses {
			has(statusName(c.Status), display.Number(c.Requests))
		}
		var created int64
		for _, d := range status.Days {
			created += d.Created
		}
		has("created: " + display.Number(created))
		for _, host := range status.Hosts {
			has(host.Name, display.Plural(host.total(), "request", "requests"))
		}
	})
}

func TestStates(t *testing.T) {
	bubble(t, func(t *testing.T, s *story) {
		s.tell()
		states := map[string]string{}
		for _, src := range s.status().Sources {
			states[src.Name] = string(src.State) + " " + src.Class
		}
		assert.Equal(t, map[string]string{
			laws: "in step pass", library: "running pass", journal: "not in step warn", "https://archive.example/oai/feed.atom?token=xxxxx": "failed fail",
			gazette: "never run none",
		}, states)
		assert.Equal(t, "fail", s.status().State)

		time.Sleep(2 * time.Hour)
		for _, src := range s.status().Sources {
			assert.NotEqual(t, running, src.State, "it gives no sign")
		}
		assert.Contains(t, text(s.html()), "its process may have ended")
		s.run(&harvest.Report{Source: library, Complete: true}, nil, time.Minute, "")
		assert.NotContains(t, text(s.html()), "its process may have ended", "another run has been made since")
	})
}

// The page has when retention was last done, and what it removed.
func TestRetained(t *testing.T) {
	bubble(t, func(t *testing.T, s *story) {
		assert.NotContains(t, s.html(), "no longer kept")
		assert.NotContains(t, s.get("/status.json").Body.String(), `"retained"`)
		for range 3 {
			s.commit("a", 2)
		}
		time.Sleep(time.Hour) // of the bubble
		done, err := s.handler.Catalog.Retain(t.Context(), harvest.Retention{Log: time.Minute})
		require.NoError(t, err)
		ran := time.Now().UTC()
		time.Sleep(2 * time.Hour)
		status := s.status()
		assert.Equal(t, ran, status.Retained)
		assert.Equal(t, done, status.Removed)
		assert.Contains(t, text(s.html()), "What is no longer kept was last removed 2 h ago: 4 entries of the log, 0 bodies.")
	})
}

// A run of another process, or one that nobody noted, still counts by its tasks.
func TestTasksWithoutRuns(t *testing.T) {
	bubble(t, func(t *testing.T, s *story) {
		s.commit("a", 2, harvest.Task{Due: time.Now()}, harvest.Task{Parked: true, Gone: true, Error: "fetch: https://a.example/x: 410 Gone"})
		status := s.status()
		require.Len(t, status.Sources, 1)
		assert.Equal(t, Tasks{Waiting: 1, Gone: 1}, status.Sources[0].Tasks)
		assert.Equal(t, []Reason{
			{"gone", "the server answered with status 410: gone", 1, []string{"a/task/1"}}, {"waiting", "listed, and not fetched yet", 1, []string{"a/task/0"}},
		}, status.Reasons)
	})
}

// A source is in step with tasks that ask again because its server may lag.
func TestLaggingTasks(t *testing.T) {
	bubble(t, func(t *testing.T, s *story) {
		s.commit("a", 2, harvest.Task{Since: time.Now(), Due: time.Now()})
		s.run(&harvest.Report{Source: "a", Complete: true, Left: harvest.TaskCounts{Lagging: 1}}, nil, time.Minute, "")
		status := s.status()
		require.Len(t, status.Sources, 1)
		src := status.Sources[0]
		assert.Equal(t, InStep, src.State)
		assert.Equal(t, "pass", src.Class)
		assert.Equal(t, Tasks{Lagging: 1}, src.Tasks)
		assert.Equal(t, Tasks{Lagging: 1}, src.Runs[0].Left)
		assert.Equal(t, Tasks{Lagging: 1}, status.Tasks)
		assert.Equal(t, []Reason{{"lagging", "asked for again later: the server still sent the bytes from before a change", 1, []string{"a/task/0"}}}, status.Reasons)
	})
}

// The reason of a guard says what is withheld.
func TestGuard(t *testing.T) {
	bubble(t, func(t *testing.T, s *story) {
		s.run(&harvest.Report{Source: "a", Complete: true, Left: harvest.TaskCounts{Waiting: 3}, Guard: &harvest.GuardError{Rule: "bodies", Message: "all are equal"}}, nil, time.Minute, "")
		assert.Contains(t, text(s.html()), "New bodies are withheld: all are equal")
	})
}

// The page reads a bounded number of tasks, and says that there are more.
func TestManyTasks(t *testing.T) {
	bubble(t, func(t *testing.T, s *story) {
		tasks := make([]harvest.Task, 400)
		s.commit("a", 0, tasks...)
		s.run(&harvest.Report{Source: "a", Complete: true, Left: harvest.TaskCounts{Waiting: 400}}, nil, time.Minute, "")
		counting := &countingStore{Store: s.db}
		s.handler.Catalog = harvest.NewCatalog(counting)
		status := s.status()
		assert.True(t, status.AtLeast)
		assert.EqualValues(t, 400, status.Tasks.Waiting, "as the last run said")
		assert.Contains(t, s.html(), "≥ 400")
		assert.LessOrEqual(t, counting.tasks, 2*pageOfTasks)
		assert.Zero(t, counting.others, "it reads no records and no log")

		for i := range 30 {
			s.commit(fmt.Sprint("b", i), 0, tasks...)
			s.run(&harvest.Report{Source: fmt.Sprint("b", i)}, nil, time.Minute, "")
		}
		counting.tasks = 0
		s.status()
		assert.LessOrEqual(t, counting.tasks, 31*pageOfTasks)
	})
}

// A countingStore counts the tasks and the other parts of sources that are scanned.
type countingStore struct {
	harvest.Store
	tasks, others int
}

// pageOfTasks is how many tasks a Catalog reads at once.
const pageOfTasks = 256

func (c *countingStore) View(ctx context.Context, fn func(harvest.Reader) error) error {
	return c.Store.View(ctx, func(r harvest.Reader) error { return fn(countingReader{r, c}) })
}

type countingReader struct {
	harvest.Reader
	c *countingStore
}

func (r countingReader) Scan(from, to []byte, n int, fn func(key, value []byte) bool) error {
	return r.Reader.Scan(from, to, n, func(key, value []byte) bool {
		switch key[0] {
		case 't':
			r.c.tasks++
		case 'r', 'l':
			r.c.others++
		}
		return fn(key, value)
	})
}

func TestTwoHundredSources(t *testing.T) {
	bubble(t, func(t *testing.T, s *story) {
		for i := range 200 {
			s.run(&harvest.Report{Source: fmt.Sprintf("https://%03d.example/", i), Complete: true, Latest: time.Now().Add(-time.Duration(i) * time.Hour)}, nil, time.Second, fmt.Sprintf("https://%03d.example", i), 200)
		}
		status := s.status()
		assert.Len(t, status.Sources, 200)
		assert.Len(t, status.Hosts, maxHostsShown)
		assert.Equal(t, "All 200 sources are in step.", status.Verdict)
		html := s.html()
		assert.Contains(t, text(html), "175 more sources are not drawn")
		assert.Less(t, len(html), 1<<20)

		for i := range 600 {
			s.run(&harvest.Report{Source: fmt.Sprintf("https://z%03d.example/", i)}, errors.New("no"), time.Second, "")
		}
		status = s.status()
		assert.Len(t, status.Sources, maxShown)
		assert.EqualValues(t, 300, status.More)
		assert.Contains(t, text(s.html()), "300 more sources are not listed")
	})
}

// TestShares: of too many sources that fail, those to which one URL or one host leads
// hide no others, whatever they are called.
func TestShares(t *testing.T) {
	for name, origin := range map[string]func(string) string{
		"by host": nil,
		"by URL":  func(source string) string { return source[len(source)-10:] },
	} {
		bubble(t, func(t *testing.T, s *story) {
			s.handler.Origin = origin
			for i := range maxShown + 100 {
				host := "a"
				if origin != nil {
					host = fmt.Sprintf("a%03d", i)
				}
				s.run(&harvest.Report{Source: fmt.Sprintf("https://%s.example/%03d-of-many.xml", host, i)}, errors.New("no"), time.Second, "")
			}
			const honest, other = "https://honest.example/feed-1.xml", "https://other.example/feed-2.xml"
			s.run(&harvest.Report{Source: honest}, errors.New("no"), time.Second, "")
			s.run(&harvest.Report{Source: other, Complete: true}, nil, time.Second, "")
			var names []string
			status := s.status()
			for _, src := range status.Sources {
				names = append(names, src.Name)
			}
			assert.Len(t, names, maxShown, name)
			assert.EqualValues(t, 102, status.More, name)
			assert.True(t, slices.Contains(names, honest), name)
			assert.False(t, slices.Contains(names, other), "it is in step")
			assert.True(t, slices.IsSorted(names), name)
			assert.True(t, strings.Contains(s.get("/metrics").Body.String(), `websync_source_failing{source="`+honest+`"} 1`), name)
		})
	}
}

// hostile are texts that a publisher may choose.
var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, "a\x00b\x1b[2J\u202egpj", "\xff\xfe", strings.Repeat("long ", 800), "{{.Title}}", "</style></title>",
	"javascript:alert(1)", "https://me:hunter2@x.example/?token=hunter2&api_key=hunter2",
}

func (s *story) hostile() {
	for _, text := range hostile {
		s.run(&harvest.Report{
			Source: text, Failed: 1, Latest: time.Now(), Problems: []harvest.Failure{{Error: text}}, Guard: &harvest.GuardError{Message: text},
		}, errors.New(text), time.Minute, text, -5, 99999, 200)
		s.commit(text, 1, harvest.Task{Error: text, Resource: websync.Resource{ID: text[:min(len(text), 1000)] + "x", Title: text}})
	}
}

// checkedMetrics returns the metrics, each of which must be there once and in one line.
func checkedMetrics(t *testing.T, s *story) string {
	text := s.get("/metrics").Body.String()
	line := regexp.MustCompile(`^(# (HELP|TYPE) \w+ .+|\w+(\{(\w+="([^"\\\n]|\\[\\"n])*",?)+\})? -?\d+)$`)
	seen := map[string]bool{}
	for l := range strings.Lines(text) {
		l = strings.TrimSuffix(l, "\n")
		assert.Regexp(t, line, l)
		name := l[:max(0, strings.LastIndex(l, " "))]
		assert.False(t, seen[name], l)
		seen[name] = !strings.HasPrefix(l, "#")
	}
	return text
}

// TestMetricsOfAProcess: what Handler.Metrics writes is served, too, and what it cannot
// write is an error.
func TestMetricsOfAProcess(t *testing.T) {
	bubble(t, func(t *testing.T, s *story) {
		s.tell()
		plain := s.get("/metrics").Body.String()
		s.handler.Metrics = func(w io.Writer) error {
			_, err := io.WriteString(w, "mine 1\n")
			return err
		}
		assert.Equal(t, plain+"mine 1\n", s.get("/metrics").Body.String())
		assert.NotContains(t, s.html(), "mine 1")
		s.handler.Metrics = func(io.Writer) error { return errors.New("on purpose") }
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/metrics", nil))
		assert.Equal(t, http.StatusInternalServerError, w.Code)
	})
}

func TestHostileTexts(t *testing.T) {
	bubble(t, func(t *testing.T, s *story) {
		s.hostile()
		assert.Len(t, s.status().Sources, len(hostile), "also one whose key is not UTF-8 is one source")
		s.handler.Title = hostile[0]
		html, twin := s.html(), s.get("/status.json").Body.String()
		twin += checkedMetrics(t, s)
		for _, markup := range []string{"<script", "<img", "onerror=alert(1)>", "javascript:alert(1)\"", "\x1b", "\u202e", "\x00", "\xff"} {
			assert.NotContains(t, html, markup)
		}
		assert.Equal(t, 1, strings.Count(html, "</style>"))
		for _, secret := range []string{"hunter2", "\x1b", "\u202e"} {
			assert.NotContains(t, html, secret)
			assert.NotContains(t, twin, secret)
		}
		assert.Less(t, len(html), 400_000)
	})
}

func TestHugeNumbers(t *testing.T) {
	bubble(t, func(t *testing.T, s *story) {
		const big = int64(1) << 60
		s.set("a", func(h *history) {
			h.Latest = time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC)
			h.Days = []Day{{Date: dateOf(time.Now()), Created: big, Requests: map[int]int64{200: big, 0: 1}}}
			h.Hosts = []Host{{Name: "h", Hours: []Hour{{Start: time.Now().Truncate(time.Hour), Requests: [numStatuses]int64{big, 1}, Seconds: math.MaxFloat64}}}}
			h.Runs = []Run{{Started: time.Now().Add(-time.Hour), Ended: time.Now(), Count: big, State: InStep, Listed: big, Created: big, Bytes: big, Left: Tasks{Waiting: big}}}
		})
		html := s.html()
		assert.Contains(t, html, "1,152,921,504,606,846,976")
		for _, wrong := range []string{"NaN", "Inf", "%!"} {
			assert.NotContains(t, html, wrong)
		}
	})
}

// Times that other clocks stated lie in the future.
func TestTimesInTheFuture(t *testing.T) {
	bubble(t, func(t *testing.T, s *story) {
		ahead := time.Now().Add(3 * time.Hour)
		s.set("a", func(h *history) {
			h.Latest = ahead
			h.Runs = []Run{{Started: ahead, Ended: ahead.Add(time.Minute), Count: 1, State: InStep}}
			h.Going = map[string]Going{"x": {Started: ahead, Seen: ahead}}
			h.Days = []Day{{Date: "9999-12-31", Created: 5}}
			h.Hosts = []Host{{Name: "h", Hours: []Hour{{Start: ahead.Truncate(time.Hour), Requests: [numStatuses]int64{1}}, {Start: ahead.AddDate(9, 0, 0), Requests: [numStatuses]int64{1}}}}}
		})
		status := s.status()
		assert.Zero(t, status.Sources[0].Lag)
		assert.Empty(t, status.Days)
		assert.Len(t, status.Hosts[0].Hours, 1)
		assert.Contains(t, text(s.html()), "in 3 h 1 min")
	})
}

// A value of the State that is damaged, or of another version, is taken for none.
func TestDamagedHistory(t *testing.T) {
	bubble(t, func(t *testing.T, s *story) {
		for _, data := range []string{"{", `{"runs": 5}`, "null", "[]", `{"hosts": [{"hours": [{"start": "x"}]}]}`} {
			old, err := s.store.State(t.Context(), historyKey("a"))
			require.NoError(t, err)
			require.NoError(t, s.store.Swap(t.Context(), historyKey("a"), old, []byte(data)))
			require.Equal(t, 200, s.get("/").Code)
			s.run(&harvest.Report{Source: "a", Complete: true, Created: 1}, nil, time.Minute, "https://a.example", 200)
			assert.Len(t, s.status().Sources[0].Runs, 1, data)
		}
	})
}

func TestMethodsAndPaths(t *testing.T) {
	bubble(t, func(t *testing.T, s *story) {
		s.tell()
		for _, test := range []struct {
			method, path string
			code         int
		}{
			{"GET", "/", 200}, {"HEAD", "/", 200}, {"GET", "/status.json", 200}, {"HEAD", "/status.json", 200}, {"GET", "/metrics", 200}, {"HEAD", "/metrics", 200},
			{"POST", "/", 405}, {"PUT", "/", 405}, {"DELETE", "/status.json", 405}, {"OPTIONS", "/", 405}, {"GET", "/x", 404}, {"GET", "//", 404},
		} {
			w := httptest.NewRecorder()
			s.handler.ServeHTTP(w, httptest.NewRequest(test.method, "http://localhost"+test.path, nil))
			assert.Equal(t, test.code, w.Code, "%s %s", test.method, test.path)
			assert.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"))
			policy := w.Header().Get("Content-Security-Policy")
			assert.Contains(t, policy, "default-src 'none'")
			assert.NotContains(t, policy, "script")
			assert.Equal(t, "no-referrer", w.Header().Get("Referrer-Policy"))
			switch {
			case test.code == 405:
				assert.Equal(t, "GET, HEAD", w.Header().Get("Allow"))
			case test.code == 200 && test.method == "HEAD":
				assert.Zero(t, w.Body.Len())
				assert.NotEmpty(t, w.Header().Get("Content-Length"))
			case test.code == 200:
				assert.Equal(t, fmt.Sprint(w.Body.Len()), w.Header().Get("Content-Length"))
			}
		}
		assert.NotContains(t, s.html(), "<script")
	})
}

func TestConditionalRequests(t *testing.T) {
	bubble(t, func(t *testing.T, s *story) {
		s.handler.MaxAge = 0
		tag := s.get("/").Header().Get("ETag")
		require.NotEmpty(t, tag)
		for _, header := range []string{tag, `"x", ` + tag, "W/" + tag, "*"} {
			w := s.get("/", "If-None-Match", header)
			assert.Equal(t, http.StatusNotModified, w.Code, header)
			assert.Zero(t, w.Body.Len())
			assert.Equal(t, tag, w.Header().Get("ETag"))
		}
		assert.Equal(t, 200, s.get("/", "If-None-Match", `"x"`).Code)
		assert.Equal(t, 200, s.get("/status.json", "If-None-Match", tag).Code, "which is another document")
		s.run(&harvest.Report{Source: "a"}, nil, time.Second, "")
		assert.Equal(t, 304, s.get("/", "If-None-Match", tag).Code, "for 5 seconds")
		time.Sleep(4 * time.Second)
		assert.Equal(t, 200, s.get("/", "If-None-Match", tag).Code)
	})
}

// broken is a Store that can't be read.
type broken struct{ harvest.Store }

func (broken) View(context.Context, func(harvest.Reader) error) error {
	return errors.New("secret of the disk")
}

func TestBrokenStore(t *testing.T) {
	bubble(t, func(t *testing.T, s *story) {
		var log bytes.Buffer
		s.handler.Catalog, s.handler.Log = harvest.NewCatalog(broken{s.db}), slog.New(slog.NewTextHandler(&log, nil))
		w := s.get("/")
		assert.Equal(t, 503, w.Code)
		assert.NotContains(t, w.Body.String(), "secret")
		assert.Contains(t, log.String(), "secret of the disk")
	})
}

// A Plan writes nothing, a run that another process makes is not noted, and a run that
// lasts gives signs.
func TestRecorder(t *testing.T) {
	bubble(t, func(t *testing.T, s *story) {
		h := &harvest.Harvester{Sample: -1, Catalog: s.store, Fetcher: slow{}, Concurrency: 1, Hooks: s.rec.Hooks()}
		changed := time.Now().Add(-time.Hour)
		source := harvest.Of("https://a.example/", harvest.Event{Kind: harvest.Put, Resource: websync.Resource{
			ID: "https://a.example/1", Modified: websync.NewDatetime(changed), Content: websync.Link{Href: "https://a.example/1"},
		}})
		_, err := h.Plan(t.Context(), source, nil)
		require.NoError(t, err)
		_, err = h.Plan(t.Context(), lasting{source}, nil)
		require.NoError(t, err)
		assert.Empty(t, s.status().Sources)

		_, release, err := s.store.Hold(t.Context(), "source/https://a.example/", time.Minute)
		require.NoError(t, err)
		_, err = h.Run(t.Context(), source)
		require.ErrorIs(t, err, harvest.ErrHeld)
		assert.Empty(t, s.status().Sources)
		release()

		began := time.Now()
		ended := make(chan error)
		go func() {
			_, err := h.Run(t.Context(), source)
			ended <- err
		}()
		time.Sleep(time.Minute)
		status := s.status()
		require.Len(t, status.Sources, 1)
		assert.Equal(t, running, status.Sources[0].State)
		assert.True(t, began.Equal(status.Sources[0].Going[0].Started))
		require.NoError(t, <-ended)

		src := s.status().Sources[0]
		assert.Equal(t, InStep, src.State)
		assert.Empty(t, src.Going)
		require.Len(t, src.Runs, 1)
		assert.Equal(t, "In step: 1 held. The store has what the source lists.", src.Runs[0].Verdict)
		assert.EqualValues(t, 1, src.Runs[0].Created)
		assert.EqualValues(t, 1, src.Runs[0].Requests)
		assert.True(t, changed.Equal(src.Latest), src.Latest)
		assert.EqualValues(t, time.Since(changed)/time.Second, src.Lag)
		assert.Equal(t, []StatusCount{{200, 1}}, s.status().Statuses)
	})
}

// A lasting Source is listed after some minutes.
type lasting struct{ harvest.Source }

func (l lasting) Events(ctx context.Context, run *harvest.Run) iter.Seq2[harvest.Event, error] {
	time.Sleep(10 * time.Minute)
	return l.Source.Events(ctx, run)
}

// slow is a Fetcher that takes ten minutes.
type slow struct{}

func (slow) Fetch(_ context.Context, req *harvest.Request) (*harvest.Response, error) {
	time.Sleep(10 * time.Minute)
	return &harvest.Response{URL: req.URL, Status: 200, Length: 1, Body: io.NopCloser(strings.NewReader("x"))}, nil
}

// The wire counts in place of what the engine reports.
func TestWire(t *testing.T) {
	bubble(t, func(t *testing.T, s *story) {
		hooks := s.rec.Hooks()
		ctx := hooks.Begin(t.Context(), "a")
		s.rec.Request(ctx, harvest.AttemptInfo{Host: "https://a.example", Status: 503})
		s.rec.Request(ctx, harvest.AttemptInfo{Host: "https://a.example", Status: 200})
		s.rec.Request(context.Background(), harvest.AttemptInfo{Host: "https://b.example", Status: 200}) // of no run
		hooks.Attempt(ctx, harvest.AttemptInfo{Host: "https://a.example", Status: 200})
		hooks.End(ctx, &harvest.Report{Source: "a"}, nil)
		assert.Equal(t, []StatusCount{{200, 1}, {503, 1}}, s.status().Statuses)
	})
}

// Others change the State at the same time.
func TestConflicts(t *testing.T) {
	bubble(t, func(t *testing.T, s *story) {
		s.rec.State = &contested{Catalog: s.store, conflicts: 5}
		s.run(&harvest.Report{Source: "a", Complete: true}, nil, time.Minute, "")
		require.Len(t, s.status().Sources, 1)
		assert.Len(t, s.status().Sources[0].Runs, 1)
	})
}

// A contested State has conflicts first.
type contested struct {
	*harvest.Catalog
	conflicts int
}

func (c *contested) Swap(ctx context.Context, key string, old, new []byte) error {
	if c.conflicts--; c.conflicts >= 0 {
		return websync.ErrConflict
	}
	return c.Catalog.Swap(ctx, key, old, new)
}

// What the State holds of a source is bounded.
func TestBounds(t *testing.T) {
	bubble(t, func(t *testing.T, s *story) {
		long := strings.Repeat("é", 1000)
		for i := range 120 {
			statuses := []int{200}
			for k := range 40 {
				statuses = append(statuses, 400+(i*7+k)%200)
			}
			s.run(&harvest.Report{
				Source: "a", Created: int64(i % 3), Guard: &harvest.GuardError{Message: long},
				Problems: []harvest.Failure{{Error: long + "1"}, {Error: "2" + long}, {Error: "3" + long}, {Error: "4" + long}},
			}, errors.New(long), time.Hour, fmt.Sprintf("https://%d.example", i%20), statuses...)
			time.Sleep(11 * time.Hour)
		}
		data, err := s.store.State(t.Context(), historyKey("a"))
		require.NoError(t, err)
		assert.Less(t, len(data), 200_000)
		var h history
		require.NoError(t, json.Unmarshal(data, &h))
		assert.Len(t, h.Runs, maxRuns)
		assert.LessOrEqual(t, len(h.Days), maxDays)
		assert.LessOrEqual(t, len(h.Hosts), maxHosts)
		for _, d := range h.Days {
			assert.LessOrEqual(t, len(d.Requests), maxCodes+10)
		}
	})
}

// Runs in a row that found nothing to do are one.
func TestIdleRuns(t *testing.T) {
	bubble(t, func(t *testing.T, s *story) {
		for i := range 50 {
			r := &harvest.Report{Source: "a", Complete: true}
			if i == 20 {
				r.Updated = 1
			}
			s.run(r, nil, time.Minute, "https://a.example", 304)
		}
		runs := s.status().Sources[0].Runs
		require.Len(t, runs, 3)
		assert.EqualValues(t, []int64{29, 1, 20}, []int64{runs[0].Count, runs[1].Count, runs[2].Count})
		assert.EqualValues(t, 29, runs[0].Requests)
		assert.Equal(t, 29*time.Minute, runs[0].Ended.Sub(runs[0].Started))
	})
}

// The page is read while runs of one source and of others end at the same time, in two
// processes that share the Store.
func TestConcurrency(t *testing.T) {
	store := harvest.NewCatalog(memstore.New())
	page := &Handler{Catalog: store, MaxAge: -1}
	const runs = 20
	done := make(chan error)
	for process := range 4 {
		rec := &Recorder{State: store}
		h := &harvest.Harvester{Sample: -1, Catalog: store, Bodies: harvest.SkipBodies, Hooks: rec.Hooks()}
		go func() {
			for i := range runs {
				source := harvest.Of(fmt.Sprint("https://a.example/", process/2*(i%2)), harvest.Event{Kind: harvest.Put, Resource: websync.Resource{ID: fmt.Sprint("p", process, "/", i)}})
				if _, err := h.Run(context.Background(), source); err != nil && !errors.Is(err, harvest.ErrHeld) {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for left := 4; left > 0; {
		select {
		case err := <-done:
			require.NoError(t, err)
			left--
		default:
			w := httptest.NewRecorder()
			page.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/", nil))
			require.Equal(t, 200, w.Code)
		}
	}
	status, err := page.Status(t.Context())
	require.NoError(t, err)
	var created, live int64
	for _, src := range status.Sources {
		live += src.Live
	}
	for _, d := range status.Days {
		created += d.Created
	}
	assert.Equal(t, live, created, "no count is lost")
}

// BenchmarkPage is what a page costs that is made anew.
func BenchmarkPage(b *testing.B) {
	for _, records := range []int{100, 100_000} {
		b.Run(fmt.Sprint(records), func(b *testing.B) {
			store := harvest.NewCatalog(memstore.New())
			rec := &Recorder{State: store}
			h := &harvest.Harvester{Sample: -1, Catalog: store, Bodies: harvest.SkipBodies, Hooks: rec.Hooks()}
			for i := range 20 {
				var events []harvest.Event
				for k := range records / 20 {
					events = append(events, harvest.Event{Kind: harvest.Put, Resource: websync.Resource{ID: fmt.Sprint(i, "/", k)}})
				}
				_, err := h.Run(b.Context(), harvest.Of(fmt.Sprintf("https://%d.example/", i), events...))
				require.NoError(b, err)
			}
			page := &Handler{Catalog: store, MaxAge: -1}
			for b.Loop() {
				w := httptest.NewRecorder()
				page.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/", nil))
				require.Equal(b, 200, w.Code)
			}
		})
	}
}

// TestOpened: a URL of which is not known what it offers is on the page as a source that
// failed, until that is known.
func TestOpened(t *testing.T) {
	bubble(t, func(t *testing.T, s *story) {
		open := func(url string, keys []string, err error) []string {
			s.rec.Opened(t.Context(), url, keys, err)
			var names []string
			for _, src := range s.status().Sources {
				names = append(names, src.Name+": "+string(src.State))
			}
			return names
		}
		down := errors.New("connection refused")
		s.run(&harvest.Report{Source: "https://a.example/list", Complete: true}, nil, time.Second, "https://a.example", 200)
		assert.Equal(t, []string{"https://b.example/: failed", "https://a.example/list: in step"}, open("https://b.example/", nil, down))
		status := s.status()
		assert.Equal(t, "fail", status.State)
		assert.Equal(t, []string{"connection refused"}, status.Sources[0].Runs[0].Errors)
		assert.Contains(t, text(s.html()), "connection refused")
		assert.Len(t, open("https://c.example/", nil, down), 3)

		assert.Equal(t, []string{"https://c.example/: failed", "https://a.example/list: in step"}, open("https://b.example/", []string{"https://b.example/feed"}, nil))
		assert.Len(t, open("https://c.example/", []string{"https://c.example/"}, nil), 2, "it is a source itself")
		s.run(&harvest.Report{Source: "https://c.example/", Complete: true}, nil, time.Second, "https://c.example", 200)
		assert.Equal(t, []string{"https://a.example/list: in step", "https://c.example/: in step"}, open("https://a.example/list", []string{"https://a.example/list"}, nil))
		assert.Len(t, open("https://b.example/", nil, down), 3, "it is listed again")
	})
}

// An unreachable State waits until the context ends.
type unreachable struct{}

func (unreachable) State(ctx context.Context, _ string) ([]byte, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (unreachable) Swap(ctx context.Context, _ string, _, _ []byte) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestEndWhileUnreachable: all notes of a cancelled run end 15 seconds after it was.
func TestEndWhileUnreachable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hooks := (&Recorder{State: unreachable{}}).Hooks()
		ctx, cancel := context.WithCancel(t.Context())
		ctx = hooks.Begin(ctx, "source")
		time.Sleep(signOfLife)
		began := time.Now()
		cancel()
		hooks.Progress(harvest.Progress{Source: "source"})
		hooks.End(ctx, &harvest.Report{Source: "source"}, context.Canceled)
		assert.Equal(t, 15*time.Second, time.Since(began))
	})
}

// TestHosts: a name that is not one of the page's is refused, whatever its port.
func TestHosts(t *testing.T) {
	page := &Handler{Catalog: harvest.NewCatalog(memstore.New()), Hosts: []string{"status.example"}}
	for host, known := range map[string]bool{
		"localhost": true, "localhost:8080": true, "127.0.0.1:8080": true, "[::1]:8080": true, "[::1]": true, "192.0.2.1": true,
		"status.example": true, "Status.Example:9": true,
		"evil.example": false, "evil.example:8080": false, "localhost.evil.example": false, "": false, "127.0.0.1.evil.example": false,
	} {
		for _, path := range []string{"/", "/status.json"} {
			r := httptest.NewRequest(http.MethodGet, path, nil)
			r.Host = host
			w := httptest.NewRecorder()
			page.ServeHTTP(w, r)
			want := http.StatusOK
			if !known {
				want = http.StatusMisdirectedRequest
			}
			assert.Equal(t, want, w.Code, "%q", host)
		}
	}
}

// TestSharedIDs: the page names both sources of a conflict, and the set that is merged of
// others counts once.
func TestSharedIDs(t *testing.T) {
	c := harvest.NewCatalog(memstore.New())
	h := &harvest.Harvester{Catalog: c}
	for _, source := range []string{"one", "two", "merged"} {
		_, err := h.Run(t.Context(), harvest.Of(source, harvest.Event{Resource: websync.Resource{ID: "urn:x"}}))
		require.NoError(t, err)
	}
	conflict := union.Conflict{Owner: "https://u:s3cret@a.example/", Other: "two <b>", IDs: 1, Example: "urn:x"}
	page := &Handler{Catalog: c, Merged: "merged", Conflicts: func() []union.Conflict { return []union.Conflict{conflict} }}
	s, err := page.Status(t.Context())
	require.NoError(t, err)
	assert.Len(t, s.Sources, 2)
	assert.EqualValues(t, 2, s.Live)
	assert.EqualValues(t, 1, s.Published)
	require.Len(t, s.Conflicts, 1)
	assert.Equal(t, "two <b>", s.Conflicts[0].Other)
	w := httptest.NewRecorder()
	page.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/", nil))
	assert.Contains(t, w.Body.String(), "two &lt;b&gt;")
	assert.NotContains(t, w.Body.String(), "s3cret")
}

// TestFullDisk: while runs can't be noted, the page is not what the Store has of earlier
// ones, and /healthz says so.
func TestFullDisk(t *testing.T) {
	var full atomic.Bool
	c := harvest.NewCatalog(&testkit.Watched{Store: memstore.New(), Before: func(context.Context, testkit.Act) error {
		if full.Load() {
			return errors.New("no space left")
		}
		return nil
	}})
	recorder := &Recorder{State: c}
	h := &harvest.Harvester{Catalog: c, Hooks: recorder.Hooks()}
	page := &Handler{Catalog: c, Recorder: recorder, MaxAge: -1}
	check := func(health int, body, state string) {
		t.Helper()
		w := httptest.NewRecorder()
		page.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/healthz", nil))
		assert.Equal(t, health, w.Code)
		assert.Equal(t, body, w.Body.String())
		s, err := page.Status(t.Context())
		require.NoError(t, err)
		assert.Equal(t, state, s.State, s.Verdict)
	}
	source := harvest.Of("one", harvest.Event{Resource: websync.Resource{ID: "urn:x"}})
	check(http.StatusOK, "ok\n", "none")
	_, err := h.Run(t.Context(), source)
	require.NoError(t, err)
	check(http.StatusOK, "ok\n", "pass")
	full.Store(true)
	_, err = h.Run(t.Context(), source)
	require.Error(t, err)
	check(http.StatusServiceUnavailable, "the store can't be written\n", "fail")
	full.Store(false)
	_, err = h.Run(t.Context(), source)
	require.NoError(t, err)
	check(http.StatusOK, "ok\n", "pass")
}

// TestAlertRules: the rules in docs are about metrics that there are.
func TestAlertRules(t *testing.T) {
	rules, err := os.ReadFile("../../docs/alerts.yml")
	require.NoError(t, err)
	golden, err := os.ReadFile("testdata/five.metrics")
	require.NoError(t, err)
	names := regexp.MustCompile(`websync_\w+`).FindAllString(string(rules), -1)
	require.NotEmpty(t, names)
	for _, name := range names {
		assert.Contains(t, string(golden), "# TYPE "+name+" gauge")
	}
}
