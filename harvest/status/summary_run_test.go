package status

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

func TestVerdict(t *testing.T) {
	ended := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	problem := []harvest.Failure{{Error: "no"}}
	for name, test := range map[string]struct {
		run     Result
		report  *harvest.Report
		state   State
		verdict string
		next    []string
	}{
		"nothing to do": {Result{}, &harvest.Report{Complete: true}, InStep, "In step: 0 held, nothing new.", nil},
		"changes":       {Result{}, &harvest.Report{Complete: true, Deleted: 1}, InStep, "In step: 0 held. The store has what the source lists.", nil},
		"gone":          {Result{}, &harvest.Report{Complete: true, Left: harvest.TaskCounts{Gone: 3}}, InStep, "In step: 0 held, nothing new.", nil},
		"work": {Result{}, &harvest.Report{Complete: true, Left: harvest.TaskCounts{Waiting: 1}}, NotInStep, "Not in step: work is left for the next run.",
			[]string{"Run again: 1 resource is still to be fetched."}},
		"later": {Result{}, &harvest.Report{Complete: true, Ended: ended, Left: harvest.TaskCounts{Waiting: 2, Next: ended.Add(time.Minute)}}, NotInStep, "Not in step: work is left for the next run.",
			[]string{"Run again: 2 resources are still to be fetched. The first is due after 2026-01-02 03:05:05 UTC."}},
		"parked": {Result{}, &harvest.Report{Complete: true, Left: harvest.TaskCounts{Parked: 2}}, NotInStep, "Not in step: work is left for the next run.",
			[]string{"2 resources have failed too often to be tried again before the source states a change. Harvester.Recheck tries them at once."}},
		"withheld": {Result{}, &harvest.Report{Complete: true, Left: harvest.TaskCounts{Withheld: 1}}, NotInStep, "Not in step: deletions are withheld.",
			[]string{"Look at 1 resource that the source no longer lists: Harvester.Plan, with Full, names them. If it is right that they go, Harvester.Approve deletes them."}},
		"budget": {Result{}, &harvest.Report{Complete: true, BudgetSpent: true, Left: harvest.TaskCounts{Waiting: 1}}, NotInStep,
			"Not in step: the budget is spent, and the next run goes on from here.", []string{"Run again: 1 resource is still to be fetched."}},
		"filter": {Result{}, &harvest.Report{Complete: true, ExcludedHeld: 2}, InStep, "In step: 0 held, nothing new.",
			[]string{"The filter leaves out 2 resources of the store from now on: what is held of them stays as it is until the source no longer lists them."}},
		"lagging": {Result{}, &harvest.Report{Complete: true, Touched: 1, Left: harvest.TaskCounts{Lagging: 3}}, InStep, "In step: 0 held, nothing new.", nil},
		"not believed": {Result{}, &harvest.Report{Complete: true, Rechecked: harvest.Rechecks{Times: harvest.Recheck{Asked: 60, Wrong: 4}, Unasked: 8120}}, NotInStep,
			"Not in step: too much of what seemed unchanged had changed, and the rest is still to be asked for.",
			[]string{"Tell the publisher: of 60 resources that seemed unchanged, 4 had changed. Run again: the next run asks for the other 8,120."}},
		"equal bodies": {Result{}, &harvest.Report{Complete: true, Withheld: 3, Left: harvest.TaskCounts{Waiting: 3}, Guard: &harvest.GuardError{Rule: "bodies"}}, NotInStep,
			"Not in step: work is left for the next run.", []string{
				"Run again: 3 resources are still to be fetched.",
				"Look at what the server sends now. If the new bodies are right, Harvester.Approve accepts them.",
			}},
		"skipped": {Result{}, &harvest.Report{Complete: true, Skipped: 2}, NotInStep, "Not in step: a part of the listing could not be read.",
			[]string{"2 entries of the listing could not be read: tell the publisher. Harvester.AcceptSkipped does without them."}},
		"skipped, accepted": {Result{}, &harvest.Report{Complete: true, Skipped: 2, AcceptSkipped: true}, InStep, "In step: 0 held, nothing new.", nil},
		"incomplete":        {Result{}, &harvest.Report{}, NotInStep, "Not in step: a part of the listing could not be read.", []string{"Run again."}},
		"problem and work": {Result{}, &harvest.Report{Problems: problem, Left: harvest.TaskCounts{Parked: 1}}, NotInStep,
			"Not in step: a part of the listing could not be read, and work is left for the next run.", []string{
				"1 resource has failed too often to be tried again before the source states a change. Harvester.Recheck tries them at once.",
				"Documents of the source could not be read; its problems name them. Run again; if it stays so, tell the publisher.",
			}},
		"clock": {Result{}, &harvest.Report{LogAhead: ended}, NotInStep, "Not in step: a part of the listing could not be read.",
			[]string{"Check the clock: the last entry of the store's log has the time 2026-01-02 03:04:05 UTC."}},
		"a host left alone": {Result{}, &harvest.Report{Complete: true, Left: harvest.TaskCounts{Waiting: 2}, LeftAlone: []*harvest.LeftAloneError{
			{Host: "https://h", Refusals: 5, Status: 429, RetryAt: ended}}}, NotInStep, "Not in step: work is left for the next run.", []string{
			"Give https://h time, at least until 2026-01-02 03:04:05 UTC.",
			"Run again: 2 resources are still to be fetched.",
		}},
		"interrupted": {Result{Interrupted: true, Err: context.Canceled}, &harvest.Report{}, Interrupted, "Interrupted.", []string{"Run again."}},
		"interrupted, kept": {Result{Interrupted: true, Lasts: true, Err: context.Canceled}, &harvest.Report{}, Interrupted, "Interrupted: the next run goes on from here.",
			[]string{"Run again: the next run goes on where this one was interrupted."}},
		"error": {Result{Err: io.EOF}, &harvest.Report{Complete: true}, Failed, "Not harvested to the end: the source or the store could not be read.",
			[]string{"Mend what the error names, and run again."}},
		"plan, nothing": {Result{}, &harvest.Report{Dry: true, Complete: true}, InStep, "In step: there is nothing to do. Nothing was written.", nil},
		"plan, nothing but tasks": {Result{}, &harvest.Report{Dry: true, Complete: true, Left: harvest.TaskCounts{Waiting: 5}}, NotInStep, "Not in step: work is left for the next run. Nothing was written.",
			[]string{"Run again."}},
		"plan": {Result{}, &harvest.Report{Dry: true, Complete: true, Created: 2}, NotInStep, "Not in step: 2 differences. Nothing was written.", []string{"This run only looked. One that writes would carry out the differences."}},
		"plan, incomplete": {Result{}, &harvest.Report{Dry: true}, NotInStep, "A part of the listing could not be read. Nothing was written.",
			[]string{"Run again."}},
	} {
		t.Run(name, func(t *testing.T) {
			test.run.Report = test.report
			assert.Equal(t, test.state, test.run.State())
			assert.Equal(t, test.verdict, test.run.Verdict())
			var next []string
			for _, s := range new(Summary).next(&test.run) {
				next = append(next, strings.Join(strings.Fields(s.Text+" "+s.Setting+" "+s.Effect), " "))
			}
			assert.Equal(t, test.next, next)
		})
	}
}

// The page sums up the latest runs of all sources.
func TestSummaryVerdict(t *testing.T) {
	const good, bad = true, false
	run := func(source string, good bool, err error) Result {
		return Result{Report: &harvest.Report{Source: source, Complete: good}, Err: err}
	}
	for name, test := range map[string]struct {
		runs           []Result
		verdict, class string
		toDo           int
	}{
		"none":         {nil, "No run has ended yet.", "none", 0},
		"one":          {[]Result{run("a", good, nil)}, "In step: 0 held, nothing new.", "pass", 0},
		"mended":       {[]Result{run("a", bad, nil), run("a", good, nil)}, "In step: 0 held, nothing new.", "pass", 0},
		"broken":       {[]Result{run("a", good, nil), run("a", bad, nil)}, "Not in step: a part of the listing could not be read.", "warn", 1},
		"two":          {[]Result{run("a", good, nil), run("b", good, nil)}, "All 2 sources are in step.", "pass", 0},
		"one of two":   {[]Result{run("a", good, nil), run("b", bad, nil)}, "2 sources: 1 not in step, 1 in step.", "warn", 1},
		"none of two":  {[]Result{run("a", bad, nil), run("b", bad, io.EOF)}, "2 sources: 1 failed, 1 not in step.", "fail", 2},
		"many of many": {many(300, func(i int) Result { return run(fmt.Sprint(i), bad, nil) }), "200 sources: 200 not in step.", "warn", maxToDo},
	} {
		t.Run(name, func(t *testing.T) {
			var rec Summary
			for _, r := range test.runs {
				rec.Add(r)
			}
			v := rec.view()
			assert.Equal(t, test.verdict, v.Verdict)
			assert.Equal(t, test.class, v.Class)
			assert.Len(t, v.ToDo, test.toDo)
		})
	}
}

func many(n int, run func(int) Result) (all []Result) {
	for i := range n {
		all = append(all, run(i))
	}
	return all
}

// Of too many runs those stay that matter most: the latest of each source, and of these
// the ones that are not in step.
func TestWhichRunsStay(t *testing.T) {
	var rec Summary
	rec.Add(Result{Report: &harvest.Report{Source: "broken"}})
	rec.Add(Result{Report: &harvest.Report{Source: "quiet", Complete: true}})
	for range 1000 {
		rec.Add(Result{Report: &harvest.Report{Source: "busy", Complete: true}})
	}
	v := rec.view()
	require.Len(t, v.Runs.Rows, maxFinished)
	assert.Equal(t, "broken", v.Runs.Rows[0].Name)
	assert.Equal(t, "quiet", v.Runs.Rows[1].Name)
	for i := range 1000 {
		rec.Add(Result{Report: &harvest.Report{Source: fmt.Sprint(i), Complete: true}})
	}
	v = rec.view()
	require.Len(t, v.Runs.Rows, maxFinished)
	assert.Equal(t, "broken", v.Runs.Rows[0].Name)
	assert.Equal(t, "999", v.Runs.Rows[maxFinished-1].Name)
	assert.EqualValues(t, 2002-maxFinished, v.MoreRuns)
}

func TestReasons(t *testing.T) {
	const url = "https://x.example/a?b=1"
	for name, test := range map[string]struct {
		err  error
		want string
		hint string
	}{
		"status":     {&statusError{url, 404}, "the server answered with status 404: not found", "publisher lists"},
		"odd status": {fmt.Errorf("atom: %w", &statusError{url, 299}), "the server answered with status 299", ""},
		"busy":       {&statusError{url, 429}, "the server answered with status 429: too many requests", "fewer requests"},
		"fault":      {&statusError{url, 599}, "the server answered with status 599", "has a fault"},
		"refused":    {&statusError{url, 403}, "the server answered with status 403: forbidden", "credentials"},
		"left alone": {&harvest.LeftAloneError{Host: "https://x.example", Refusals: 5, Status: 429},
			"… refused … requests in a row, the last with status …, and is left alone until the next run", "may pass"},
		"no answer":      {&requestError{url, errors.New("dial tcp 192.0.2.1:40123: connection refused")}, "dial tcp …: connection refused", ""},
		"time limit":     {&requestError{url, fmt.Errorf("no byte for 30s: %w", harvest.ErrTemporary)}, "no byte for 30s: temporary", "may pass"},
		"robots":         {&requestError{url, harvest.ErrForbidden}, "not allowed", "robots.txt"},
		"digest":         {&websync.MismatchError{Href: url, What: "sha-256", Want: strings.Repeat("ab12", 16), Got: strings.Repeat("0", 64)}, "…: sha-256: want …, got …", "other bytes"},
		"login page":     {&websync.ParseError{Format: "sitemap", Document: url, Line: 3, Column: 17, Err: websync.ErrNotDocument}, "sitemap: …: line …, column …: not a document of this kind", "login page"},
		"limit":          {fmt.Errorf("body: %w", websync.ErrLimit), "body: over the limit", "limit that protects"},
		"cut":            {fmt.Errorf("%s: %w", url, websync.ErrTruncated), "…: document ends too early", "ended early"},
		"quoted":         {errors.New(`feed id "urn:x 1" is not "urn:y 2"`), "feed id … is not …", ""},
		"id before text": {errors.New("urn:x:y: no content"), "no content", ""},
		"long word":      {errors.New("bad " + strings.Repeat("w", 61)), "bad …", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := reasonOf(test.err, "urn:x:y")
			assert.Equal(t, test.want, got.name)
			assert.Contains(t, got.advice, test.hint)
			assert.Equal(t, test.hint == "", got.advice == "")
		})
	}
}

// A timeline loses nothing when its periods become longer.
func TestTimeline(t *testing.T) {
	for i, w := range widths[1:] {
		assert.Zero(t, w%widths[i], "each is a multiple of the one before")
	}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var l timeline
	l.at(start)
	n := int64(0)
	for d := time.Duration(1); d < math.MaxInt64/3; d = d*3/2 + 1 {
		l.at(start.Add(d)).requests[n%numStatuses]++
		l.at(start.Add(d)).entries[n%numEntries]++
		l.spread(1000+n, start.Add(d/2), start.Add(d))
		n++
		var requests, entries, bytes int64
		for i := range l.periods {
			p := &l.periods[i]
			requests, entries, bytes = requests+sum(p.requests[:]), entries+sum(p.entries[:]), bytes+p.bytes
		}
		require.LessOrEqual(t, len(l.periods), maxPeriods)
		require.Equal(t, n, requests)
		require.Equal(t, n, entries)
		require.Equal(t, 1000*n+n*(n-1)/2, bytes)
	}
	assert.Positive(t, l.periods[0].requests[0], "the first stay first")
	assert.Positive(t, l.at(start.Add(-time.Hour)).requests[0], "what lies before counts as the start")

	var even timeline
	even.at(start)
	even.spread(1000, start, start.Add(99*time.Millisecond))
	for i := range 10 {
		assert.EqualValues(t, 100, even.periods[i].bytes)
	}
}

// Without calls of Request the page shows what the engine reports.
func TestWithoutRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var rec Summary
		time.Sleep(time.Second)
		rec.Hooks().Attempt(context.Background(), harvest.AttemptInfo{Host: "https://x.example:8080", URL: "https://x.example:8080/a", Status: 503, Duration: time.Second})
		v := rec.view()
		assert.False(t, v.Wire)
		require.Len(t, v.Hosts, 1)
		assert.Equal(t, "https://x.example:8080", v.Hosts[0].Name)
		assert.EqualValues(t, 1, v.Hosts[0].Counts[statusBroken])
		assert.Equal(t, "requests", v.Charts[0].ID)
	})
}

// Recording and writing may go on at the same time.
func TestConcurrentUse(t *testing.T) {
	var (
		rec   Summary
		group sync.WaitGroup
	)
	hooks := rec.Hooks()
	for i := range 8 {
		group.Go(func() {
			for j := range 100 {
				rec.Request(context.Background(), harvest.AttemptInfo{Host: fmt.Sprint(i), Status: 200, Bytes: 1})
				hooks.Outcome("s", fmt.Sprint(j), harvest.OutcomeFailed, io.EOF)
				rec.Add(Result{Report: &harvest.Report{Source: fmt.Sprint(i), Created: 1}})
				if j%25 == 0 {
					assert.NoError(t, rec.WriteHTML(io.Discard))
				}
			}
		})
	}
	group.Wait()
	assert.EqualValues(t, 800, rec.view().Groups[0].N)
}

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "report.html")
	var rec Summary
	for range 2 { // new, then replaced
		require.NoError(t, rec.WriteFile(name))
		got, err := os.ReadFile(name)
		require.NoError(t, err)
		assert.Contains(t, string(got), "</html>")
	}
	if runtime.GOOS != "windows" {
		info, err := os.Stat(name)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o644), info.Mode().Perm(), "for everybody")
		link := filepath.Join(dir, "link.html")
		require.NoError(t, os.Symlink("report.html", link))
		require.NoError(t, rec.WriteFile(link))
		info, err = os.Lstat(link)
		require.NoError(t, err)
		assert.Equal(t, os.ModeSymlink, info.Mode().Type(), "a link stays")
		require.NoError(t, rec.WriteFile(os.DevNull))
	}
	for _, bad := range []string{filepath.Join(dir, "none", "report.html"), dir} {
		err := rec.WriteFile(bad)
		require.Error(t, err)
		assert.Contains(t, err.Error(), bad)
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.LessOrEqual(t, len(entries), 2, "no temporary file stays")

	require.EqualError(t, rec.WriteHTML(full{}), "status: no space")
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space") }
