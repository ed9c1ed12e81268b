package status

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// A statusError is an answer with a status, as those of package fetch.
type statusError struct {
	url  string
	code int
}

func (e *statusError) Error() string {
	return fmt.Sprintf("fetch: %s: %d of the server", e.url, e.code)
}
func (e *statusError) StatusCode() int    { return e.code }
func (e *statusError) RequestURL() string { return e.url }

// A requestError is a request without an answer.
type requestError struct {
	url string
	err error
}

func (e *requestError) Error() string      { return "fetch: " + e.url + ": " + e.err.Error() }
func (e *requestError) RequestURL() string { return e.url }
func (e *requestError) Unwrap() error      { return e.err }

// A telling calls a Summary as runs do, in a bubble of synctest: its clock begins at
// midnight of 2000-01-01.
type telling struct {
	rec   *Summary
	hooks *harvest.Hooks
}

func newTelling() *telling {
	rec := &Summary{Title: "Harvest of laws", Approve: "-approve", AcceptSkipped: "-accept-skipped", Recheck: "-recheck"}
	return &telling{rec, rec.Hooks()}
}

// hostOf returns the scheme, name and port of a URL.
func hostOf(url string) string { return strings.Join(strings.SplitN(url, "/", 4)[:3], "/") }

// get makes a request that takes a while, and returns its error.
func (s *telling) get(source, url string, status int, bytes int64, takes time.Duration) (err error) {
	time.Sleep(takes)
	switch {
	case status == 0:
		err = &requestError{url, fmt.Errorf("%w: dial tcp 192.0.2.7:%d: connection refused", harvest.ErrTemporary, 40000+bytes)}
		bytes = 0
	case status >= 400:
		err = &statusError{url, status}
	}
	s.rec.Request(context.Background(), harvest.AttemptInfo{Host: hostOf(url), URL: url, Status: status, Bytes: bytes, Duration: takes})
	if status == 0 {
		s.rec.Request(context.Background(), harvest.AttemptInfo{Host: hostOf(url), URL: url, Duration: takes, Err: errors.Unwrap(err)})
	}
	s.hooks.Attempt(context.Background(), harvest.AttemptInfo{Source: source, Host: hostOf(url), URL: url, Status: status, Duration: 2 * takes, Err: err})
	return err
}

// tell tells of runs of three sources, of which one ends well.
func (s *telling) tell() {
	const first, second, third = "https://laws.example/sitemap.xml", "https://slow.example/feed.atom", "https://gone.example/list"
	started := time.Now()
	s.get(first, first, 200, 45_000, 80*time.Millisecond)
	for i := range 200 {
		id := fmt.Sprintf("https://laws.example/law/%03d?token=hunter2", i)
		o, status := harvest.OutcomeUnchanged, 304
		switch {
		case i%10 == 3:
			o, status = harvest.OutcomeUpdated, 200
		case i%25 == 7:
			o, status = harvest.OutcomeCreated, 200
		}
		s.get(first, id, status, int64(status-200)*7+900, time.Duration(20+i%7)*time.Millisecond)
		s.hooks.Outcome(first, id, o, nil)
	}
	s.hooks.Commit(context.Background(), harvest.CommitInfo{Source: first, Puts: 28, Duration: 12 * time.Millisecond})
	s.hooks.Commit(context.Background(), harvest.CommitInfo{Source: first, Puts: 1, Duration: 4 * time.Millisecond})
	s.rec.Add(Result{Report: &harvest.Report{
		Source: first, Started: started, Ended: time.Now(), Complete: true, Snapshots: 1, Events: 200,
		Created: 8, Updated: 20, Unchanged: 172, Requests: map[int]int64{200: 29, 304: 172}, Fetched: 28, Bytes: 25_200,
	}})

	started = time.Now()
	s.get(second, second, 200, 7_000, 3*time.Second)
	s.hooks.Finding(second, websync.Finding{Document: second, Rule: "entry-author", Section: "RFC 4287 §4.2.1", Severity: websync.SeverityError, Line: 12, Column: 3, Element: "entry", Message: "an entry without an author"})
	for i := range 12 {
		s.hooks.Finding(second, websync.Finding{Document: second, Rule: "updated-format", Section: "RFC 4287 §3.3", Line: 20 + i, Value: "2026-01-02", Message: "a date without a time"})
	}
	for i := range 30 {
		id := fmt.Sprintf("https://slow.example/entry/%d", i)
		status := []int{200, 200, 503, 404, 0}[i%5]
		err := s.get(second, id, status, int64(2000+i), time.Duration(i%4+1)*time.Second)
		switch {
		case err == nil:
			s.hooks.Outcome(second, id, harvest.OutcomeCreated, nil)
		case i == 29:
			s.hooks.Outcome(second, id, harvest.OutcomeParked, err)
		default:
			s.hooks.Outcome(second, id, harvest.OutcomeFailed, err)
		}
	}
	s.hooks.Outcome(second, "https://slow.example/entry/30", harvest.OutcomeFailed, &websync.MismatchError{Href: "https://slow.example/entry/30", What: "length", Want: "120", Got: "118"})
	for i := range 40 {
		s.hooks.Outcome(second, fmt.Sprintf("https://slow.example/old/%d", i), harvest.OutcomeWithheld, nil)
	}
	s.hooks.Problem(second, &websync.ParseError{Format: "atom", Document: second + "?page=2", Line: 812, Err: websync.ErrTruncated})
	s.rec.Add(Result{Lasts: true, Report: &harvest.Report{
		Source: second, Started: started, Ended: time.Now(), Events: 71, Created: 12, Failed: 19, Withheld: 40, Findings: 13, Skipped: 2,
		Left: harvest.TaskCounts{Waiting: 18, Parked: 1, Withheld: 40, Next: time.Now().Add(time.Hour)}, Requests: map[int]int64{200: 13, 404: 6, 503: 6, 0: 6},
		Fetched: 12, Bytes: 25_000, Problems: []harvest.Failure{{}}, Guard: &harvest.GuardError{Rule: "share", Message: "40 of 60 records would be deleted, more than 0.5"},
	}})

	time.Sleep(time.Minute)
	started = time.Now()
	err := s.get(third, third, 410, 20, 90*time.Millisecond)
	s.rec.Add(Result{Report: &harvest.Report{Source: third, Started: started, Ended: time.Now(), Requests: map[int]int64{410: 1}}, Err: err})
}

func (s *telling) html(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, s.rec.WriteHTML(&b))
	return b.Bytes()
}

// withoutStyle returns a page without its style sheet, in which nothing is recorded.
func withoutStyle(t *testing.T, page []byte) []byte {
	t.Helper()
	head, rest, ok := bytes.Cut(page, []byte("<style>"))
	require.True(t, ok)
	_, body, ok := bytes.Cut(rest, []byte("</style>\n"))
	require.True(t, ok)
	return slices.Concat(head, body)
}

// The golden files hold all but the style sheet.
func TestSummaryGolden(t *testing.T) {
	for name, tell := range map[string]func(*telling){
		"nothing": func(*telling) {},
		"three":   (*telling).tell,
		"in-step": func(s *telling) {
			const source = "https://laws.example/sitemap.xml"
			s.get(source, source, 304, 0, 80*time.Millisecond)
			s.rec.Add(Result{Report: &harvest.Report{Source: source, Started: time.Now(), Ended: time.Now(), Complete: true, Requests: map[int]int64{304: 1}}})
		},
		"no-store": func(s *telling) { s.rec.Fail(errors.New("store: no space")) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newTelling()
				tell(s)
				testkit.Golden(t, "testdata/summary-"+name+".html", withoutStyle(t, s.html(t)))
			})
		})
	}
}

func TestSecretsAreRedacted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTelling()
		s.tell()
		assert.NotContains(t, string(s.html(t)), "hunter2")
	})
}
