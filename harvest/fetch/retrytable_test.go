package fetch

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/testing/testkit"
)

const retryTable = "testdata/retries.md"

// A retryCase is a row of the table: one Fetch whose body is read to its end.
type retryCase struct {
	name   string
	answer func() answer // to http://example.org/, called for each run; nil: 404
	before func(*testing.T, *web, *Client)
	req    harvest.Request
}

// A retryResult is the outcome of a retryCase.
type retryResult struct {
	requests []float64 // in seconds, with the longest waits
	shortest time.Duration
	longest  time.Duration
	kinds    string
	next     time.Duration // after the end; negative: not stated
}

// TestRetryTable records what is repeated, when, and for how long. The waits are random
// below 1, 2, 4 … seconds: each case runs with the shortest and with the longest.
func TestRetryTable(t *testing.T) {
	var b strings.Builder
	fmt.Fprint(&b, retryHead)
	section := func(name string, cases []retryCase) {
		fmt.Fprintf(&b, "\n## %s\n\n", name)
		rows := [][]string{{"", "requests", "at, in seconds", "lasts", "error", "next"}, {"-", "-", "-", "-", "-", "-"}}
		for _, c := range cases {
			rows = append(rows, append([]string{c.name}, c.run(t).cells()...))
		}
		writeTable(&b, rows)
	}
	section("Status", statusCases(t))
	section("Retry-After", retryAfterCases())
	section("Connection", connectionCases())
	section("Body", bodyCases())
	section("Not asked", refusedCases())

	testkit.Golden(t, retryTable, []byte(b.String()))
}

const retryHead = `# What is repeated, when, and for how long

Written by TestRetryTable, with the default settings: 4 attempts, 5 minutes of waiting in all.

- requests: how many are made, robots.txt and redirects included
- at: when, if each wait between attempts is as long as it can be: 1, 2, 4 seconds, or what the host asks for
- lasts: from the call to the result, with the shortest and the longest waits
- error: what the final error matches; "none of these" is final, "-" is success
- next: how long after the end the error states to come back
`

func writeTable(b *strings.Builder, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	for _, row := range rows {
		for i, cell := range row {
			fill := " "
			if cell == "-" && row[0] == "-" {
				fill = "-"
			}
			fmt.Fprintf(b, "|%s%s%s%s", fill, cell, strings.Repeat(fill, widths[i]-len([]rune(cell))), fill)
		}
		b.WriteString("|\n")
	}
}

// run makes the Fetch with the shortest and with the longest waits.
func (c *retryCase) run(t *testing.T) retryResult {
	var result retryResult
	for _, jitter := range []time.Duration{0, 1} {
		synctest.Test(t, func(t *testing.T) {
			w := newWeb()
			if c.answer != nil {
				w.answers["http://example.org/"] = c.answer()
			}
			client := w.client()
			client.jitter = func(d time.Duration) time.Duration { return d * jitter }
			if c.before != nil {
				c.before(t, w, client)
			}
			began, seen := time.Now(), len(w.seen)
			req := c.req
			req.URL = cmp.Or(req.URL, "http://example.org/")
			resp, err := client.Fetch(t.Context(), &req)
			if err == nil && resp.Body != nil {
				_, err = read(resp)
			}
			result.longest = time.Since(began)
			if jitter == 0 {
				result.shortest = result.longest
			}
			result.requests = nil
			for _, r := range w.seen[seen:] {
				result.requests = append(result.requests, (r.At - began.Sub(w.began)).Seconds())
			}
			result.kinds, result.next = kinds(err), -1
			if at, ok := harvest.RetryAfter(err); ok {
				result.next = max(time.Until(at), 0)
			}
		})
	}
	return result
}

func (r retryResult) cells() []string {
	at := make([]string, len(r.requests))
	for i, s := range r.requests {
		at[i] = fmt.Sprintf("%g", s)
	}
	lasts := r.longest.String()
	if r.shortest != r.longest {
		lasts = r.shortest.String() + " to " + lasts
	}
	next := "-"
	if r.next >= 0 {
		next = r.next.String()
	}
	return []string{fmt.Sprint(len(r.requests)), strings.Join(at, ", "), lasts, r.kinds, next}
}

func kinds(err error) string {
	if err == nil {
		return "-"
	}
	var names []string
	for _, k := range []struct {
		err  error
		name string
	}{
		{websync.ErrGone, "ErrGone"}, {harvest.ErrForbidden, "ErrForbidden"}, {harvest.ErrTemporary, "ErrTemporary"},
		{harvest.ErrNotYet, "ErrNotYet"}, {websync.ErrTruncated, "ErrTruncated"}, {websync.ErrLimit, "ErrLimit"},
	} {
		if errors.Is(err, k.err) {
			names = append(names, k.name)
		}
	}
	return cmp.Or(strings.Join(names, ", "), "none of these")
}

// statusCases returns one case for all codes with the same result, and names it by them.
func statusCases(t *testing.T) []retryCase {
	codes := map[string][]int{}
	for code := 200; code < 600; code++ {
		c := retryCase{answer: always(reply(code, ""))}
		r := c.run(t)
		outcome := fmt.Sprint(r.cells())
		codes[outcome] = append(codes[outcome], code)
	}
	var cases []retryCase
	for _, same := range slices.SortedFunc(maps.Values(codes), slices.Compare[[]int]) {
		cases = append(cases, retryCase{name: spans(same), answer: always(reply(same[0], ""))})
	}
	return append(cases,
		retryCase{name: "304, asked for", answer: always(reply(304, "")), req: harvest.Request{Validator: harvest.Validator{ETag: `"1"`}}},
		retryCase{name: "500 once", answer: func() answer { return then(reply(500, ""), reply(200, "")) }},
		retryCase{name: "503 twice", answer: func() answer { return then(reply(503, ""), reply(503, ""), reply(200, "")) }},
		retryCase{name: "302 in a circle", answer: always(reply(302, "", "Location: /"))},
		retryCase{name: "302 to 503", answer: always(reply(302, "", "Location: /b")), before: func(_ *testing.T, w *web, _ *Client) {
			w.answers["http://example.org/b"] = reply(503, "")
		}},
		retryCase{name: "302 from https with credentials to http", req: harvest.Request{URL: "https://example.org/"}, before: func(t *testing.T, w *web, c *Client) {
			w.answers["https://example.org/"] = reply(302, "", "Location: http://example.org/")
			require.NoError(t, c.Authorize("https://example.org", Bearer("x")))
		}},
	)
}

// spans writes 1, 2, 3, 5 as "1-3, 5".
func spans(codes []int) string {
	var b strings.Builder
	for i := 0; i < len(codes); {
		j := i
		for j+1 < len(codes) && codes[j+1] == codes[j]+1 {
			j++
		}
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, codes[i])
		if j > i {
			fmt.Fprintf(&b, "-%d", codes[j])
		}
		i = j + 1
	}
	return b.String()
}

func retryAfterCases() []retryCase {
	date := func(after time.Duration) string { return synctestEpoch.Add(after).Format(http.TimeFormat) }
	var cases []retryCase
	for _, v := range []struct{ name, value string }{
		{"in 10 seconds", "10"}, {"in 0 seconds", "0"}, {"in 200 seconds", "200"}, {"in 301 seconds", "301"}, {"in 30 days", "2592000"},
		{"date, 10 seconds ahead", date(10 * time.Second)}, {"date, an hour ahead", date(time.Hour)}, {"date that has passed", date(-time.Hour)},
		{"nonsense", "soon"}, {"negative", "-10"},
	} {
		cases = append(cases, retryCase{name: "503, " + v.name, answer: always(reply(503, "", "Retry-After: "+v.value, "Date: "+date(0)))})
	}
	return append(cases,
		retryCase{name: "429, in 10 seconds", answer: always(reply(429, "", "Retry-After: 10"))},
		retryCase{name: "500, in 10 seconds", answer: always(reply(500, "", "Retry-After: 10"))},
		retryCase{name: "404, in 10 seconds", answer: always(reply(404, "", "Retry-After: 10"))},
		retryCase{name: "520, in 10 seconds", answer: always(reply(520, "", "Retry-After: 10"))},
		retryCase{name: "503 once, in 10 seconds", answer: func() answer { return then(reply(503, "", "Retry-After: 10"), reply(200, "")) }},
	)
}

func connectionCases() []retryCase {
	op := func(err error) answer { return fail(&net.OpError{Op: "dial", Net: "tcp", Err: err}) }
	return []retryCase{
		{name: "refused", answer: always(op(os.NewSyscallError("connect", syscall.ECONNREFUSED)))},
		{name: "reset", answer: always(op(os.NewSyscallError("read", syscall.ECONNRESET)))},
		{name: "no route", answer: always(op(os.NewSyscallError("connect", syscall.EHOSTUNREACH)))},
		{name: "closed before the answer", answer: always(fail(io.EOF))},
		{name: "connecting takes too long", answer: always(op(os.ErrDeadlineExceeded))},
		{name: "no header within 30 seconds", answer: always(hang)},
		{name: "name server fails", answer: always(op(&net.DNSError{IsTemporary: true}))},
		{name: "name server takes too long", answer: always(op(&net.DNSError{IsTimeout: true}))},
		{name: "no such name", answer: always(op(&net.DNSError{IsNotFound: true}))},
		{name: "certificate that is not trusted", answer: always(fail(&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}))},
		{name: "certificate for another name", answer: always(fail(&tls.CertificateVerificationError{Err: x509.HostnameError{Certificate: new(x509.Certificate)}}))},
		{name: "TLS handshake refused", answer: always(op(tls.AlertError(40)))},
		{name: "not TLS", answer: always(fail(tls.RecordHeaderError{}))},
		{name: "http where https was asked for", answer: always(fail(http.ErrSchemeMismatch))},
		{name: "private address, by name", answer: always(op(new(Guard).Control("tcp4", "10.0.0.1:80", nil)))},
		{name: "reset once", answer: func() answer { return then(op(os.NewSyscallError("read", syscall.ECONNRESET)), reply(200, "")) }},
	}
}

func bodyCases() []retryCase {
	const size, cut = 200_000, 100_000
	spool, strong := harvest.Request{Spool: true}, []string{`ETag: "1"`}
	// broken returns a body that breaks off in the given number of answers.
	broken := func(times int, header ...string) func() answer {
		return func() answer {
			return (&flaky{body: noise(size, 1), header: header, cuts: []int{cut, 1000, 1000, 1000}[:times]}).answer
		}
	}
	changed := func() answer {
		return (&flaky{body: noise(size, 1), header: strong, cuts: []int{cut}, change: func(n int, r *http.Response) {
			if n == 2 {
				r.StatusCode = 200
				r.Header.Set("ETag", `"2"`)
			}
		}}).answer
	}
	silent := func(r *http.Request) (*http.Response, error) {
		resp, err := reply(200, "")(r)
		resp.ContentLength = -1
		resp.Body = io.NopCloser(readerFunc(func([]byte) (int, error) { return 0, waitFor(r) }))
		return resp, err
	}
	return []retryCase{
		{name: "breaks off, streamed", answer: broken(4)},
		{name: "breaks off, spooled", answer: broken(4), req: spool},
		{name: "breaks off once, spooled", answer: broken(1), req: spool},
		{name: "breaks off once, with an ETag, streamed: resumed", answer: broken(1, strong...)},
		{name: "breaks off once, with an ETag, spooled: resumed", answer: broken(1, strong...), req: spool},
		{name: "breaks off always, with an ETag, streamed: resumed", answer: broken(4, strong...)},
		{name: "breaks off always, with an ETag, spooled: resumed", answer: broken(4, strong...), req: spool},
		{name: "breaks off and has changed, streamed", answer: changed},
		{name: "breaks off and has changed, spooled: from the start", answer: changed, req: spool},
		{name: "shorter than its Content-Length, spooled", answer: always(cutShort("x")), req: spool},
		{name: "no byte for 30 seconds, streamed", answer: always(silent)},
		{name: "no byte for 30 seconds, spooled", answer: always(silent), req: spool},
		{name: "less than 8 KiB in a minute, streamed", answer: always(trickle(1000, 10*time.Second))},
		{name: "less than 8 KiB in a minute, spooled", answer: always(trickle(1000, 10*time.Second)), req: spool},
		{name: "takes longer than 30 minutes, streamed", answer: always(trickle(2000, 10*time.Second))},
		{name: "takes longer than 30 minutes, spooled", answer: always(trickle(2000, 10*time.Second)), req: spool},
		{name: "longer than MaxBytes", answer: always(reply(200, "0123456789")), req: harvest.Request{Spool: true, MaxBytes: 9}},
		{name: "not the gzip it is said to be", answer: always(reply(200, "\x00123456789", "Content-Encoding: gzip")), req: spool},
		{name: "a coding that was not asked for", answer: always(reply(200, "0123456789", "Content-Encoding: br")), req: spool},
	}
}

func refusedCases() []retryCase {
	robots := func(robots func() answer) func(*testing.T, *web, *Client) {
		return func(_ *testing.T, w *web, c *Client) {
			w.answers[robotsURL] = robots()
			c.IgnoreRobots = false
		}
	}
	// asked makes a first call, which is not in the table.
	asked := func(before func(*testing.T, *web, *Client), url string) func(*testing.T, *web, *Client) {
		return func(t *testing.T, w *web, c *Client) {
			before(t, w, c)
			get(t.Context(), c, url)
		}
	}
	closed := func(seconds string) func(*testing.T, *web, *Client) {
		return asked(func(_ *testing.T, w *web, c *Client) {
			w.answers["http://example.org/closed"] = reply(404, "", "Retry-After: "+seconds)
		}, "http://example.org/closed")
	}
	ok := reply(200, "x")
	return []retryCase{
		{name: "another scheme", req: harvest.Request{URL: "ftp://example.org/"}},
		{name: "private address", req: harvest.Request{URL: "http://10.0.0.1/"}},
		{name: "forbidden by robots.txt", answer: always(ok), before: robots(always(reply(200, "User-agent: *\nDisallow: /")))},
		{name: "robots.txt 404", answer: always(ok), before: robots(always(reply(404, "")))},
		{name: "robots.txt 500", answer: always(ok), before: robots(always(reply(500, "")))},
		{name: "robots.txt 500 once", answer: always(ok), before: robots(func() answer { return then(reply(500, ""), reply(404, "")) })},
		{name: "robots.txt 503, Retry-After an hour", answer: always(ok), before: robots(always(reply(503, "", "Retry-After: 3600")))},
		{name: "robots.txt refused", answer: always(ok), before: robots(always(fail(syscall.ECONNREFUSED)))},
		{name: "robots.txt with a certificate that is not trusted", answer: always(ok), before: robots(always(fail(&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}})))},
		{name: "robots.txt 500 a moment ago", answer: always(ok), before: asked(robots(always(reply(500, ""))), "http://example.org/other")},
		{name: "host closed for 200 seconds", answer: always(ok), before: closed("200")},
		{name: "host closed for an hour", answer: always(ok), before: closed("3600")},
	}
}

// always returns the same answer for each run.
func always(a answer) func() answer { return func() answer { return a } }
