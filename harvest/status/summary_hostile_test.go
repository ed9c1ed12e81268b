package status

import (
	"context"
	"errors"
	"fmt"
	"github.com/websync-go/websync/internal/testing/racing"
	"math"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// hostileTexts are what the web may contain wherever a Summary gets text.
var hostileTexts = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `'><svg onload=alert(1)>`, `</title><script>alert(1)</script>`,
	`</style><script>alert(1)</script>`, `javascript:alert(1)`, `<!--`, `]]>`, `{{.}}`, `&lt;b&gt;`, "\u202etxt.exe\u2066", "\x00\x1b[2J\r\n", "a\xffb",
	`<a href="http://evil.example/">`, "<style>*{display:none}</style>", strings.Repeat("w", 100_000), strings.Repeat("https://long.example/", 10_000),
}

// Texts from the web stay texts: the page has the elements of one without them.
func TestSummaryHostileTexts(t *testing.T) {
	elements := func(text func(int) string) map[string]int {
		var page []byte
		synctest.Test(t, func(t *testing.T) {
			s := newTelling()
			s.rec.Title = text(0)
			for i := range hostileTexts {
				bad := text(i)
				err := errors.New(bad)
				s.rec.Request(context.Background(), harvest.AttemptInfo{Host: bad, URL: bad, Err: err, Duration: time.Second})
				s.rec.Request(context.Background(), harvest.AttemptInfo{Host: bad, URL: bad, Status: 200, Bytes: 5})
				s.hooks.Attempt(context.Background(), harvest.AttemptInfo{Source: bad, Host: bad, URL: bad, Err: err})
				for o := range harvest.OutcomeWithheld + 1 {
					s.hooks.Outcome(bad, bad, o, err)
				}
				s.hooks.Problem(bad, &websync.ParseError{Format: bad, Document: bad, Element: bad, Err: err})
				s.hooks.Finding(bad, websync.Finding{Document: bad, Rule: bad, Section: bad, Element: bad, Value: bad, Message: bad})
				s.rec.Fail(err)
				s.rec.Add(Result{Title: bad, Err: err, Report: &harvest.Report{Source: bad, Created: 1, Guard: &harvest.GuardError{Rule: bad, Message: bad}}})
			}
			page = s.html(t)
		})
		assert.Less(t, len(page), 400_000)
		return countElements(t, string(page))
	}
	want := elements(func(i int) string { return fmt.Sprint("harmless text ", strings.Repeat("ab", i)) })
	got := elements(func(i int) string { return hostileTexts[i] })
	for _, active := range []string{"script", "img", "a", "iframe", "on*", "javascript:", "href", "style="} {
		assert.Zero(t, got[active], active)
	}
	assert.Equal(t, want["svg"], got["svg"])
	assert.Equal(t, want["style"], got["style"])
	assert.Equal(t, want["table"], got["table"])
}

// countElements counts the elements of a page, and what may be dangerous in attributes.
func countElements(t *testing.T, page string) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for _, odd := range []string{"\x00", "\x1b", "\u202e", "\xff"} {
		assert.NotContains(t, page, odd)
	}
	root, err := html.Parse(strings.NewReader(page))
	require.NoError(t, err)
	for n := range root.Descendants() {
		if n.Type == html.CommentNode {
			counts["comment"]++
		}
		if n.Type != html.ElementNode {
			continue
		}
		counts[n.Data]++
		for _, a := range n.Attr {
			switch {
			case strings.HasPrefix(a.Key, "on"):
				counts["on*"]++
			case a.Key == "href" || a.Key == "src":
				counts["href"]++
			case a.Key == "style":
				counts["style="]++
			}
			if strings.HasPrefix(strings.TrimSpace(a.Val), "javascript:") {
				counts["javascript:"]++
			}
		}
	}
	assert.Zero(t, counts["comment"])
	return counts
}

// A million hosts, ids, reasons, rules and sources need no more memory than a few
// hundred.
func TestMemoryIsBounded(t *testing.T) {
	racing.Long(t) // a million hosts take seconds
	synctest.Test(t, func(t *testing.T) {
		s := newTelling()
		feed := func(from, to int) {
			for i := from; i < to; i++ {
				name := url.PathEscape(fmt.Sprintf("%x", i*2_654_435_761))
				host := "https://" + name + ".example"
				s.rec.Request(context.Background(), harvest.AttemptInfo{Host: host, URL: host + "/a", Status: i % 700, Bytes: int64(i), Duration: time.Duration(i % 1000)})
				if i%100 > 0 {
					continue
				}
				time.Sleep(10 * time.Hour)
				err := errors.New("failed: " + strings.Map(func(r rune) rune { return 'g' + r%16 }, name))
				s.hooks.Attempt(context.Background(), harvest.AttemptInfo{Host: host, URL: host})
				s.hooks.Outcome("s", host, harvest.OutcomeFailed, err)
				s.hooks.Problem("s", err)
				s.hooks.Finding("s", websync.Finding{Rule: name, Message: name})
				s.rec.Add(Result{Report: &harvest.Report{Source: host, Created: 1}})
			}
		}
		feed(0, 20_000)
		before := heap()
		feed(20_000, 1_000_000)
		assert.Less(t, heap()-before, int64(1<<20))

		page := s.html(t)
		assert.Less(t, len(page), 600_000)
		assert.Contains(t, string(page), "all others")
		assert.Contains(t, string(page), "9,800 further runs are not listed")
		v := s.rec.view()
		var requests, failures int64
		for _, h := range v.Hosts {
			requests += h.N
		}
		for _, g := range v.Groups[0].Groups {
			failures += g.N
		}
		assert.EqualValues(t, 1_000_000, requests, "every request counts, if only among others")
		assert.EqualValues(t, 10_000, failures)
		assert.LessOrEqual(t, len(v.Periods), maxPeriods)
		assert.EqualValues(t, 10_000, s.rec.runs.sum.Created)
	})
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A host that takes much time stays in the table, whatever comes besides.
func TestSlowHostStays(t *testing.T) {
	var table table[host, *host]
	for i := range 100_000 {
		table.at(fmt.Sprintf("host %d", i)).add(&host{requests: [numStatuses]int64{1}, total: 1})
		if i == 50 {
			table.at("slow").add(&host{requests: [numStatuses]int64{1}, total: time.Second})
		}
	}
	names, others, folded := table.top(3)
	assert.Equal(t, "slow", names[0])
	assert.Len(t, names, 3)
	assert.EqualValues(t, 100_001-3, others.count())
	assert.EqualValues(t, 100_001-3, folded)
	assert.LessOrEqual(t, len(table.rows), 2*keep)
}

// Odd numbers break nothing.
func TestOddNumbers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTelling()
		for _, n := range []int64{0, 1, -1, math.MaxInt64, math.MinInt64} {
			s.rec.Request(context.Background(), harvest.AttemptInfo{Status: int(n), Bytes: n, Duration: time.Duration(n)})
			s.hooks.Attempt(context.Background(), harvest.AttemptInfo{Status: int(n), Duration: time.Duration(n), URL: "%"})
			s.hooks.Commit(context.Background(), harvest.CommitInfo{Duration: time.Duration(n)})
			s.rec.Add(Result{Report: &harvest.Report{Created: n, Failed: n, Bytes: n, Ended: time.Unix(n%1e9, 0)}})
		}
		s.hooks.Outcome("", "", harvest.Outcome(200), nil)
		s.hooks.Outcome("", "", harvest.OutcomeFailed, nil)
		time.Sleep(280 * 365 * 24 * time.Hour)
		s.hooks.Outcome("", "", harvest.OutcomeCreated, nil)
		s.html(t)
	})
}
