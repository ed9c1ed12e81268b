package schedule

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
)

// A readable is a PayloadSource that takes every payload but "bad".
type readable struct{ key string }

func (s readable) Key() string { return s.key }

func (s readable) Events(context.Context, *harvest.Run) iter.Seq2[harvest.Event, error] {
	return func(func(harvest.Event, error) bool) {}
}

func (s readable) Payload(body []byte) (harvest.Source, error) {
	switch string(body) {
	case "bad":
		return nil, errors.New("not for this source")
	case "panic":
		panic("on purpose")
	}
	return content{s, string(body)}, nil
}

// A content is a Source of what a payload lists.
type content struct {
	readable
	body string
}

// A journal records what ran, and when.
type journal struct {
	t       *testing.T
	mu      sync.Mutex
	began   time.Time
	entries []string
	takes   time.Duration
	now     int                                           // running
	answer  func(payload string) (*harvest.Report, error) // of payloads, if set
}

func (j *journal) harvest(ctx context.Context, src harvest.Source) (report *harvest.Report, err error) {
	report = &harvest.Report{Complete: true}
	name := "lists"
	c, ok := src.(content)
	if ok {
		name = c.body
	}
	j.mu.Lock()
	j.entries = append(j.entries, fmt.Sprint(name, " ", time.Since(j.began)))
	j.now++
	assert.Equal(j.t, 1, j.now, "runs at the same time")
	j.mu.Unlock()
	select {
	case <-time.After(j.takes):
	case <-ctx.Done():
		err = ctx.Err()
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.now--
	if ok && j.answer != nil && err == nil {
		return j.answer(c.body)
	}
	return report, err
}

func (j *journal) all() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.entries
}

// payloadTest runs f with a Scheduler of one PayloadSource in a bubble.
func payloadTest(t *testing.T, f func(t *testing.T, r *Scheduler, j *journal)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		j := &journal{t: t, began: time.Now()}
		src := readable{"set"}
		f(t, scheduler(j.harvest, Entry{Source: src, URLs: []string{feedURL, "http://example.org/feed.atom"}}), j)
	})
}

func TestAPayloadNeedsNoOtherRun(t *testing.T) {
	payloadTest(t, func(t *testing.T, r *Scheduler, j *journal) {
		during(t, r.Run, func() {
			assert.True(t, r.Payload(feedURL, []byte("a")))
			assert.False(t, r.Payload("https://example.org/other", []byte("a")))
			time.Sleep(time.Hour)
		})
		assert.Equal(t, []string{"a 0s"}, j.all())
	})
}

// TestWhenThePayloadIsNotEnough: the source itself runs after a payload that was not
// applied wholly.
func TestWhenThePayloadIsNotEnough(t *testing.T) {
	report := func(change func(*harvest.Report)) func(string) (*harvest.Report, error) {
		return func(string) (*harvest.Report, error) {
			r := &harvest.Report{Complete: true}
			change(r)
			return r, nil
		}
	}
	for name, test := range map[string]struct {
		body   string
		answer func(string) (*harvest.Report, error)
		want   []string
	}{
		"an empty one":         {"", nil, []string{"lists 0s"}},
		"of no use":            {"bad", nil, []string{"lists 0s"}},
		"a panic":              {"panic", nil, []string{"lists 0s"}},
		"an error":             {"a", func(string) (*harvest.Report, error) { return new(harvest.Report), errors.New("no baseline") }, []string{"a 0s", "lists 0s"}},
		"no report":            {"a", func(string) (*harvest.Report, error) { return nil, nil }, []string{"a 0s", "lists 0s"}},
		"a problem":            {"a", report(func(r *harvest.Report) { r.Complete = false }), []string{"a 0s", "lists 0s"}},
		"a skipped entry":      {"a", report(func(r *harvest.Report) { r.Skipped = 1 }), []string{"a 0s", "lists 0s"}},
		"a body that failed":   {"a", report(func(r *harvest.Report) { r.Failed = 1 }), []string{"a 0s", "lists 0s"}},
		"a body for later":     {"a", report(func(r *harvest.Report) { r.Deferred = 1 }), []string{"a 0s", "lists 0s"}},
		"a withheld deletion":  {"a", report(func(r *harvest.Report) { r.Withheld = 1 }), []string{"a 0s", "lists 0s"}},
		"tasks of earlier run": {"a", report(func(r *harvest.Report) { r.Left = harvest.TaskCounts{Parked: 3, Withheld: 1} }), []string{"a 0s"}},
	} {
		t.Run(name, func(t *testing.T) {
			payloadTest(t, func(t *testing.T, r *Scheduler, j *journal) {
				j.answer = test.answer
				during(t, r.Run, func() {
					require.True(t, r.Payload(feedURL, []byte(test.body)))
					time.Sleep(time.Hour)
				})
				assert.Equal(t, test.want, j.all())
			})
		})
	}
}

func TestASourceThatReadsNoPayloads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := new(runs)
		r := newScheduler(seen)
		during(t, r.Run, func() {
			assert.True(t, r.Payload(feedURL, []byte("a")))
			time.Sleep(time.Hour)
		})
		assert.Equal(t, []time.Duration{0}, seen.times())
	})
}

func TestPayloadsDuringARun(t *testing.T) {
	payloadTest(t, func(t *testing.T, r *Scheduler, j *journal) {
		j.takes = 20 * time.Second
		during(t, r.Run, func() {
			r.Notify(feedURL)
			time.Sleep(time.Second)
			r.Payload(feedURL, []byte("a"))
			r.Payload("http://example.org/feed.atom", []byte("b"))
			r.Notify(feedURL)
			time.Sleep(time.Hour)
		})
		assert.Equal(t, []string{"lists 0s", "a 20s", "b 40s", "lists 1m0s"}, j.all(), "Interval is over then")
	})
}

// TestPayloadsDoNotWait: Interval holds for the lists only.
func TestPayloadsDoNotWait(t *testing.T) {
	payloadTest(t, func(t *testing.T, r *Scheduler, j *journal) {
		r.Entries[0].Interval = time.Minute
		during(t, r.Run, func() {
			r.Notify(feedURL)
			time.Sleep(time.Second)
			r.Payload(feedURL, []byte("a"))
			r.Notify(feedURL)
			time.Sleep(time.Second)
			r.Payload(feedURL, []byte("bad"))
			time.Sleep(time.Second)
			r.Payload(feedURL, []byte("b"))
			time.Sleep(time.Hour)
		})
		assert.Equal(t, []string{"lists 0s", "a 1s", "b 3s", "lists 1m0s"}, j.all())
	})
}

func TestTwentyPayloadsAtOnce(t *testing.T) {
	payloadTest(t, func(t *testing.T, r *Scheduler, j *journal) {
		j.takes = time.Second
		var want []string
		for i := range 20 { // before Run: none is taken meanwhile
			r.Payload(feedURL, fmt.Appendf(nil, "p%d", i))
			if i < maxPayloads {
				want = append(want, fmt.Sprintf("p%d %ds", i, i))
			}
		}
		during(t, r.Run, func() { time.Sleep(time.Hour) })
		assert.Equal(t, append(want, "lists 16s"), j.all())
	})
}

// TestPayloadsOfManySources: what waits of all sources is limited. Those of what is
// removed or applied count no more.
func TestPayloadsOfManySources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		ran := map[string]int{} // by key: 1 for a payload, 100 for the source itself
		var entries []Entry
		for i := range 34 {
			key := fmt.Sprintf("https://h%d.example/", i)
			entries = append(entries, Entry{Source: readable{key}, URLs: []string{key}})
		}
		s := scheduler(func(_ context.Context, src harvest.Source) (*harvest.Report, error) {
			mu.Lock()
			defer mu.Unlock()
			if _, ok := src.(content); ok {
				ran[src.Key()]++
			} else {
				ran[src.Key()] += 100
			}
			return &harvest.Report{Complete: true}, nil
		}, entries...)
		body := make([]byte, 1<<20)
		for _, e := range entries[:33] {
			s.Payload(e.Source.Key(), body)
		}
		require.NoError(t, s.Remove(t.Context(), entries[0].Source.Key()))
		s.Payload(entries[33].Source.Key(), body)
		during(t, s.Run, func() {
			time.Sleep(time.Minute)
			for _, e := range entries[1:] {
				s.Payload(e.Source.Key(), body)
				time.Sleep(time.Minute)
			}
		})
		for i, e := range entries {
			want := 2
			switch i {
			case 0: // removed
				want = 0
			case 32: // too much was waiting
				want = 101
			}
			assert.Equal(t, want, ran[e.Source.Key()], i)
		}
	})
}

// TestPayloadsKeepNobodyWaiting: a source to which payloads come all the time does not
// keep another one from its turn.
func TestPayloadsKeepNobodyWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const often, other = "https://often.example/", "https://other.example/"
		var s *Scheduler
		var ran []string
		s = scheduler(func(_ context.Context, src harvest.Source) (*harvest.Report, error) {
			ran = append(ran, src.Key())
			s.Payload(often, []byte("more")) // during each run
			time.Sleep(time.Second)
			return &harvest.Report{Complete: true}, nil
		}, Entry{Source: readable{often}, URLs: []string{often}}, Entry{Source: readable{other}, URLs: []string{other}, Every: time.Minute})
		s.Concurrency = 1
		s.Payload(often, []byte("first"))
		during(t, s.Run, func() { time.Sleep(time.Hour) })
		n := 0
		for _, key := range ran {
			if key == other {
				n++
			}
		}
		assert.Greater(t, n, 40, "of 60, each of which waits for 16 payloads at most")
	})
}

// TestPayloadsOfAProcessThatEnds are lost: Every repairs that.
func TestPayloadsOfAProcessThatEnds(t *testing.T) {
	payloadTest(t, func(t *testing.T, r *Scheduler, j *journal) {
		j.takes = time.Minute
		during(t, r.Run, func() {
			r.Notify(feedURL)
			time.Sleep(time.Second)
			r.Payload(feedURL, []byte("a"))
		})
		again := scheduler(j.harvest, Entry{Source: r.Entries[0].Source, Every: time.Hour})
		again.Harvester = r.Harvester
		during(t, again.Run, func() { time.Sleep(time.Minute) })
		assert.Equal(t, []string{"lists 0s", "lists 1s"}, j.all())
	})
}

// TestPayloadsDoNotReplaceEvery: whatever payloads come, the lists are read in time.
func TestPayloadsDoNotReplaceEvery(t *testing.T) {
	payloadTest(t, func(t *testing.T, r *Scheduler, j *journal) {
		r.Entries[0].Every = time.Hour
		during(t, r.Run, func() {
			time.Sleep(time.Second)
			for range 120 {
				r.Payload(feedURL, []byte("a"))
				time.Sleep(time.Minute)
			}
		})
		var lists []string
		for _, e := range j.all() {
			if strings.HasPrefix(e, "lists") {
				lists = append(lists, e)
			}
		}
		assert.Equal(t, []string{"lists 0s", "lists 1h0m0s", "lists 2h0m0s"}, lists)
		assert.Len(t, j.all(), 123)
	})
}

func TestPayloadsThatASlotDelays(t *testing.T) {
	payloadTest(t, func(t *testing.T, r *Scheduler, j *journal) {
		j.takes = time.Minute
		r.Concurrency = 1
		r.Entries = append(r.Entries, Entry{Source: harvest.Of("other"), URLs: []string{"https://example.org/other"}, Every: -1})
		during(t, r.Run, func() {
			r.Notify("https://example.org/other")
			time.Sleep(time.Second)
			r.Payload(feedURL, []byte("a"))
			time.Sleep(time.Second)
			r.Payload(feedURL, []byte("b"))
			time.Sleep(time.Hour)
		})
		assert.Equal(t, []string{"lists 0s", "a 1m0s", "b 2m0s"}, j.all())
	})
}
