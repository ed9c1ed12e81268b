package status

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/fill"
)

// A story is a Store with what runs have left there, in a bubble of synctest, whose
// clock begins at midnight of 2000-01-01.
type story struct {
	*testing.T
	db      *memstore.Store
	store   *harvest.Catalog
	rec     *Recorder
	handler *Handler
}

func newStory(t *testing.T) *story {
	db := memstore.New()
	store := harvest.NewCatalog(db)
	return &story{t, db, store, &Recorder{State: store}, &Handler{Catalog: store, MaxAge: -1}}
}

// run makes the Recorder note a run that takes a while and makes requests to a host.
func (s *story) run(report *harvest.Report, err error, took time.Duration, host string, statuses ...int) {
	hooks := s.rec.Hooks()
	ctx := hooks.Begin(context.Background(), report.Source)
	report.Started = time.Now()
	for _, status := range statuses {
		time.Sleep(took / time.Duration(len(statuses)+1))
		a := harvest.AttemptInfo{Source: report.Source, Method: "GET", Host: host, URL: host + "/a", Status: status, Duration: 80 * time.Millisecond}
		hooks.Attempt(ctx, a)
	}
	time.Sleep(took / time.Duration(len(statuses)+1))
	for o, n := range map[harvest.Outcome]int64{
		harvest.OutcomeCreated: report.Created, harvest.OutcomeUpdated: report.Updated, harvest.OutcomeDeleted: report.Deleted, harvest.OutcomeFailed: report.Failed,
	} {
		for range n {
			hooks.Outcome(report.Source, "id", o, nil)
		}
	}
	report.Ended = time.Now()
	report.Requests = map[int]int64{}
	for _, status := range statuses {
		report.Requests[status]++
	}
	hooks.End(ctx, report, err)
}

// commit puts tasks and records into the Store.
func (s *story) commit(source string, records int, tasks ...harvest.Task) {
	var content []any
	for i := range records {
		content = append(content, websync.Item{Resource: websync.Resource{ID: fmt.Sprintf("%s/%d", source, i)}})
	}
	for i, t := range tasks {
		t.Source = source
		if t.Resource.ID == "" {
			t.Resource.ID = fmt.Sprintf("%s/task/%d", source, i)
		}
		content = append(content, t)
	}
	require.NoError(s, fill.Commit(context.Background(), s.store, source, content...))
}

// set changes the history of a source.
func (s *story) set(source string, f func(*history)) {
	require.NoError(s, update(context.Background(), s.store, historyKey(source), f))
	require.NoError(s, update(context.Background(), s.store, indexKey, func(index *sourceIndex) { index.add(source) }))
}

func (s *story) get(path string, header ...string) *httptest.ResponseRecorder {
	s.Helper()
	r := httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	return w
}

// status returns what status.json has.
func (s *story) status() *Status {
	s.Helper()
	w := s.get("/status.json")
	require.Equal(s, 200, w.Code, w.Body)
	var status Status
	require.NoError(s, json.Unmarshal(w.Body.Bytes(), &status))
	return &status
}

func (s *story) html() string {
	s.Helper()
	w := s.get("/")
	require.Equal(s, 200, w.Code, w.Body)
	return w.Body.String()
}

const (
	laws    = "https://laws.example/sitemap.xml"
	library = "https://library.example/.well-known/resourcesync"
	journal = "https://journal.example/feed.atom"
	archive = "https://archive.example/oai/feed.atom?token=hunter2"
	gazette = "https://gazette.example/eli/sitemap.xml"
)

// tell tells of five sources and four weeks: one in step, one that is running, one that
// fails, one with work and deletions withheld, one that has never run.
func (s *story) tell() {
	for day := range 27 {
		for hour := range 2 {
			n := int64(1 + (day*7+hour*3)%9)
			s.run(&harvest.Report{
				Source: laws, Complete: true, Events: 1200, Created: n, Updated: 2 * n, Deleted: n / 4, Unchanged: 1190, Bytes: 40_000 * n,
				Latest: time.Now().Add(-90 * time.Minute),
			}, nil, 4*time.Minute, "https://laws.example", 200, 304, 200, 200)
			s.run(&harvest.Report{Source: library, Complete: true, Events: n, Updated: n, Bytes: 900, Latest: time.Now()}, nil, time.Minute, "https://library.example", 200, 200)
			time.Sleep(12*time.Hour - 5*time.Minute)
		}
	}
	for hour := range 30 {
		n := int64(hour % 4)
		s.run(&harvest.Report{Source: laws, Complete: true, Events: n, Created: n, Latest: time.Now().Add(-20 * time.Minute)}, nil, 2*time.Minute, "https://laws.example", 200, 304, 304)
		if hour%3 == 0 {
			s.run(&harvest.Report{
				Source: journal, Complete: true, Events: 40, Created: 3, Failed: 2, Withheld: 40, Latest: time.Now().Add(-9 * 24 * time.Hour),
				Left:     harvest.TaskCounts{Waiting: 18, Parked: 2, Withheld: 40},
				Failures: []harvest.Failure{{Error: "fetch: https://journal.example/a?token=hunter2: 503 Service Unavailable"}},
				Guard:    &harvest.GuardError{Rule: "share", Message: "40 of 60 records would be deleted, more than 0.5"},
			}, nil, 11*time.Minute, "https://journal.example", 200, 200, 503, 404, 0, 200)
		}
		s.run(&harvest.Report{Source: library, Complete: true, Latest: time.Now()}, nil, time.Minute, "https://library.example", 304)
		if hour%6 == 2 {
			s.run(&harvest.Report{Source: archive}, errors.New("harvest: https://archive.example/oai/feed.atom?token=hunter2: 503 Service Unavailable, retry after 2000-01-30T00:00:00Z"), 30*time.Second,
				"https://archive.example", 503, 503)
		}
		time.Sleep(time.Hour - 15*time.Minute)
	}
	s.commit(laws, 1204)
	s.commit(library, 380)
	var tasks []harvest.Task
	for i := range 60 {
		t := harvest.Task{Resource: websync.Resource{ID: fmt.Sprintf("https://journal.example/%02d", i)}, Due: time.Now()}
		switch {
		case i < 40:
			t.Kind, t.Error = harvest.TaskWithheld, "40 of 60 records would be deleted, more than 0.5"
		case i < 42:
			t.Parked, t.Error = true, fmt.Sprintf("fetch: https://journal.example/%d: 404 Not Found", i)
		default:
			t.Error = fmt.Sprintf("fetch: https://journal.example/%d: 503 Service Unavailable", i)
		}
		tasks = append(tasks, t)
	}
	s.commit(journal, 60, tasks...)
	now := time.Now()
	s.set(library, func(h *history) {
		h.Going = map[string]Going{"x": {Started: now.Add(-4 * time.Minute), Seen: now.Add(-10 * time.Second), Listed: 12_000, Done: 8_200, Total: 380_000}}
	})
	s.handler.Due = func() map[string]time.Time {
		return map[string]time.Time{laws: now.Add(17 * time.Minute), gazette: {}, journal: now.Add(-time.Second)}
	}
}
