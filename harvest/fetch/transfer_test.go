package fetch

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

const (
	bigURL  = "http://example.org/big"
	oldDate = "Wed, 21 Oct 2015 07:28:00 GMT"
	newDate = "Wed, 21 Oct 2015 07:29:00 GMT"
)

// A flaky host has one body, and breaks connections.
type flaky struct {
	body   string
	header []string
	// after how many bytes the first answer breaks off, the second …
	cuts    []int
	unsized bool                          // Content-Length is not stated
	change  func(n int, r *http.Response) // changes answer n, from 1; nil: nothing
	n       int
	sent    int64
	asked   []string // Range headers
}

func (f *flaky) answer(r *http.Request) (*http.Response, error) {
	f.n++
	f.asked = append(f.asked, r.Header.Get("Range"))
	resp, _ := reply(200, f.body, f.header...)(r)
	part := f.body
	validator := resp.Header.Get("ETag")
	if validator == "" {
		validator = resp.Header.Get("Last-Modified")
	}
	if from, ok := strings.CutPrefix(r.Header.Get("Range"), "bytes="); ok && r.Header.Get("If-Range") == validator {
		at, _ := strconv.Atoi(strings.TrimSuffix(from, "-"))
		part = f.body[at:]
		resp.StatusCode = http.StatusPartialContent
		resp.Header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", at, len(f.body)-1, len(f.body)))
	}
	resp.ContentLength = int64(len(part))
	if f.unsized {
		resp.ContentLength = -1
	}
	resp.Body = f.send(part)
	if f.change != nil {
		f.change(f.n, resp)
	}
	return resp, nil
}

// send returns a body that counts its bytes, and breaks off if this answer has a cut.
func (f *flaky) send(part string) io.ReadCloser {
	var rest io.Reader = strings.NewReader("")
	if f.n <= len(f.cuts) && f.cuts[f.n-1] < len(part) {
		part = part[:f.cuts[f.n-1]]
		rest = readerFunc(func([]byte) (int, error) { return 0, io.ErrUnexpectedEOF })
	}
	whole := io.MultiReader(strings.NewReader(part), rest)
	return io.NopCloser(readerFunc(func(p []byte) (int, error) {
		n, err := whole.Read(p)
		f.sent += int64(n)
		return n, err
	}))
}

// half returns a host whose body of 200,000 bytes breaks off in the middle, once.
func half() *flaky {
	return &flaky{body: noise(200_000, 1), header: []string{`ETag: "1"`}, cuts: []int{100_000}}
}

// noise returns n bytes that gzip cannot compress.
func noise(n int, seed uint64) string {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)}).Read(b)
	return string(b)
}

// Wherever a body breaks off, in gzip or not, the reader gets the whole, and no byte is
// sent twice.
func TestResume(t *testing.T) {
	for seed := range uint64(60) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		text := noise(2*resumeFloor+rnd.IntN(200<<10), seed)
		f := &flaky{body: text, header: []string{`ETag: "1"`}, unsized: seed%5 == 0}
		if seed%2 == 0 {
			f.body = zip(t, text)
			f.header = append(f.header, "Content-Encoding: gzip")
		}
		if seed%3 == 0 {
			f.header = append(f.header[1:], "Last-Modified: "+oldDate, "Date: "+newDate)
		}
		at := 0
		for range rnd.IntN(4) {
			cut := rnd.IntN(len(f.body) - at)
			if at == 0 {
				cut = resumeFloor + rnd.IntN(len(f.body)-resumeFloor)
			}
			f.cuts = append(f.cuts, cut)
			at += cut
		}
		t.Run(fmt.Sprintf("%d spool %v", seed, seed%7 == 0), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWeb()
				w.answers[bigURL] = f.answer
				c := w.client()
				var reported int64
				c.OnAttempt = func(_ context.Context, a harvest.AttemptInfo) { reported += a.Bytes }
				resp, err := c.Fetch(t.Context(), &harvest.Request{URL: bigURL, Spool: seed%7 == 0})
				require.NoError(t, err)
				got, err := read(resp)
				require.NoError(t, err)
				require.True(t, text == got, "the bytes")
				assert.Equal(t, int64(len(f.body)), f.sent)
				assert.Equal(t, f.sent, reported)
				assert.Equal(t, len(f.cuts)+1, f.n)
				at := 0
				for i, cut := range f.cuts {
					at += cut
					assert.Equal(t, fmt.Sprintf("bytes=%d-", at), f.asked[i+1])
				}
				h := c.hosts.m["http://example.org"]
				assert.Empty(t, h.slots)
				assert.Empty(t, c.set.slots)
				assert.Zero(t, h.users)
				assert.Zero(t, w.running)
			})
		})
	}
}

// TestResumeAnswers has the possible answers to the request for the rest, when a body of
// 200,000 bytes breaks off after 100,000.
func TestResumeAnswers(t *testing.T) {
	const size, cut = 200_000, 100_000
	text := noise(size, 1)
	on := func(n int, change func(r *http.Response)) func(int, *http.Response) {
		return func(i int, r *http.Response) {
			if i == n {
				change(r)
			}
		}
	}
	set := func(name, value string) func(*http.Response) {
		return func(r *http.Response) { r.Header.Set(name, value) }
	}
	status := func(code int, header ...string) func(*http.Response) {
		return func(r *http.Response) {
			other, _ := reply(code, "sorry", header...)(r.Request)
			*r = *other
		}
	}
	strong := []string{`ETag: "1"`}
	for _, tt := range []struct {
		name   string
		f      flaky
		ranges []int // where requests begin, when streamed
		err    error // of the stream; nil: it is whole
		spool  []int // where requests begin, when spooled: the result is always whole
		sent   int64 // bytes in all, when spooled
	}{
		{"strong ETag", flaky{header: strong}, []int{0, cut}, nil, []int{0, cut}, size},
		{"ranges are offered", flaky{header: append(strong, "Accept-Ranges: bytes")}, []int{0, cut}, nil, []int{0, cut}, size},
		{"Last-Modified a minute before Date", flaky{header: []string{"Last-Modified: " + oldDate, "Date: " + newDate}}, []int{0, cut}, nil, []int{0, cut}, size},
		{"the part states less", flaky{header: []string{"Last-Modified: " + oldDate, "Date: " + newDate, "Content-Encoding: identity"}, change: on(2, func(r *http.Response) {
			r.Header.Del("Last-Modified")
			r.Header.Del("Content-Encoding")
		})}, []int{0, cut}, nil, []int{0, cut}, size},
		{"503 between", flaky{header: strong, change: on(2, status(503, "Retry-After: 10"))}, []int{0, cut, cut}, nil, []int{0, cut, cut}, size},
		{"half of the rest", flaky{header: strong, change: on(2, func(r *http.Response) {
			r.Header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", cut, 149_999, size))
			r.ContentLength = 50_000
			r.Body = struct {
				io.Reader
				io.Closer
			}{io.LimitReader(r.Body, 50_000), r.Body}
		})}, []int{0, cut, 150_000}, nil, []int{0, cut, 150_000}, size},

		{"no validator", flaky{}, []int{0}, websync.ErrTruncated, []int{0, 0}, cut + size},
		{"weak ETag", flaky{header: []string{`ETag: W/"1"`, "Last-Modified: " + oldDate, "Date: " + newDate}}, []int{0}, websync.ErrTruncated, []int{0, 0}, cut + size},
		{"malformed ETag", flaky{header: []string{`ETag: 1`}}, []int{0}, websync.ErrTruncated, []int{0, 0}, cut + size},
		{"Last-Modified without Date", flaky{header: []string{"Last-Modified: " + oldDate}}, []int{0}, websync.ErrTruncated, []int{0, 0}, cut + size},
		{"Last-Modified just now", flaky{header: []string{"Last-Modified: " + newDate, "Date: " + newDate}}, []int{0}, websync.ErrTruncated, []int{0, 0}, cut + size},
		{"Accept-Ranges: none", flaky{header: append(strong, "Accept-Ranges: none")}, []int{0}, websync.ErrTruncated, []int{0, 0}, cut + size},
		{"too short to matter", flaky{header: strong, cuts: []int{resumeFloor - 1}}, []int{0}, websync.ErrTruncated, []int{0, 0}, resumeFloor - 1 + size},

		{"ranges are ignored", flaky{header: strong, change: on(2, func(r *http.Response) { r.StatusCode = 200 })}, []int{0, cut}, errChanged, []int{0, cut, 0}, cut + size + 65536},
		{"ranges are always ignored", flaky{header: strong, cuts: []int{cut, size, cut}, change: func(_ int, r *http.Response) { r.StatusCode = 200 }}, []int{0, cut}, errChanged, []int{0, cut, 0, 0}, cut + cut + size + 65536},
		{"changed, and broken off again", flaky{header: strong, cuts: []int{cut, size, cut}, change: on(2, func(r *http.Response) {
			r.StatusCode = 200
			r.Header.Set("ETag", `"2"`)
		})}, []int{0, cut}, errChanged, []int{0, cut, 0, cut}, cut + size + 65536},
		{"changed meanwhile", flaky{header: strong, change: on(2, func(r *http.Response) {
			r.StatusCode = 200
			r.Header.Set("ETag", `"2"`)
		})}, []int{0, cut}, errChanged, []int{0, cut, 0}, cut + size + 65536},
		{"changed, and If-Range is ignored", flaky{header: strong, change: on(2, set("ETag", `"2"`))}, []int{0, cut}, errChanged, []int{0, cut, 0}, cut + size},
		{"a part without the ETag", flaky{header: strong, change: on(2, func(r *http.Response) { r.Header.Del("ETag") })}, []int{0, cut}, errChanged, []int{0, cut, 0}, cut + size},
		{"another Last-Modified", flaky{header: []string{"Last-Modified: " + oldDate, "Date: " + newDate}, change: on(2, set("Last-Modified", newDate))}, []int{0, cut}, errChanged, []int{0, cut, 0}, cut + size},
		{"416", flaky{header: strong, change: on(2, status(416, "Content-Range: bytes */200000"))}, []int{0, cut}, errChanged, []int{0, cut, 0}, cut + size},
		{"a redirect", flaky{header: strong, change: on(2, status(302, "Location: /other"))}, []int{0, cut}, errChanged, []int{0, cut, 0}, cut + size},
		{"404", flaky{header: strong, change: on(2, status(404))}, []int{0, cut}, errChanged, []int{0, cut, 0}, cut + size},
		{"no Content-Range", flaky{header: strong, change: on(2, func(r *http.Response) { r.Header.Del("Content-Range") })}, []int{0, cut}, errChanged, []int{0, cut, 0}, cut + size},
		{"a part from elsewhere", flaky{header: strong, change: on(2, set("Content-Range", "bytes 99999-199998/200000"))}, []int{0, cut}, errChanged, []int{0, cut, 0}, cut + size},
		{"a part of something longer", flaky{header: strong, change: on(2, set("Content-Range", "bytes 100000-199999/200001"))}, []int{0, cut}, errChanged, []int{0, cut, 0}, cut + size},
		{"a part that ends after the end", flaky{header: strong, unsized: true, change: on(2, set("Content-Range", "bytes 100000-200000/200000"))}, []int{0, cut}, errChanged, []int{0, cut, 0}, cut + size},
		{"a part of another length", flaky{header: strong, change: on(2, func(r *http.Response) { r.ContentLength++ })}, []int{0, cut}, errChanged, []int{0, cut, 0}, cut + size},
		{"the length is never stated", flaky{header: strong, unsized: true, change: on(2, set("Content-Range", "bytes 100000-199999/*"))}, []int{0, cut}, errChanged, []int{0, cut, 0}, cut + size},
		{"more than was stated", flaky{header: strong, unsized: true, change: on(2, set("Content-Range", "bytes 100000-150000/150001"))}, []int{0, cut}, errChanged, []int{0, cut, 0}, size + size},
		{"another coding", flaky{header: strong, change: on(2, set("Content-Encoding", "gzip"))}, []int{0, cut}, errChanged, []int{0, cut, 0}, cut + size},
		{"decoded by the Transport", flaky{header: strong, change: on(2, func(r *http.Response) { r.Uncompressed = true })}, []int{0, cut}, errChanged, []int{0, cut, 0}, cut + size},
	} {
		for _, spooled := range []bool{false, true} {
			t.Run(fmt.Sprint(tt.name, " spool ", spooled), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := tt.f
					f.body = text
					if f.cuts == nil {
						f.cuts = []int{cut}
					}
					w := newWeb()
					w.answers[bigURL] = f.answer
					c := w.client()
					var got string
					resp, err := c.Fetch(t.Context(), &harvest.Request{URL: bigURL, Spool: spooled})
					if err == nil {
						got, err = read(resp)
					}
					want, failure := tt.ranges, tt.err
					if spooled {
						want, failure = tt.spool, nil
						assert.LessOrEqual(t, f.sent, tt.sent)
						assert.Greater(t, f.sent, tt.sent-65537)
					}
					var from []int
					for _, asked := range f.asked {
						at, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(asked, "bytes="), "-"))
						from = append(from, at)
					}
					assert.Equal(t, want, from)
					if failure == nil {
						require.NoError(t, err)
						assert.True(t, text == got, "the bytes")
					} else {
						require.ErrorIs(t, err, failure)
						require.ErrorIs(t, err, websync.ErrTruncated)
						require.ErrorIs(t, err, harvest.ErrTemporary)
						require.NotErrorIs(t, err, websync.ErrGone)
						assert.Equal(t, 1, strings.Count(err.Error(), "fetch: "), err.Error())
						assert.True(t, strings.HasPrefix(text, got), "nothing wrong was delivered")
					}
					assert.Empty(t, c.set.slots)
					assert.Zero(t, w.running)
				})
			})
		}
	}
}

// The request for the rest is like the first one, except for the range.
func TestResumeRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := half()
		w := newWeb()
		w.answers["http://example.org/moved"] = reply(302, "", "Location: "+bigURL)
		w.answers[bigURL] = f.answer
		c := w.client()
		require.NoError(t, c.Authorize("http://example.org", Bearer("t0ken")))
		resp, err := c.Fetch(t.Context(), &harvest.Request{
			URL: "http://example.org/moved", Accept: "a/b", Header: map[string][]string{"X-More": {"1"}}, Identity: true,
			Validator: harvest.Validator{ETag: `"0"`},
		})
		require.NoError(t, err)
		_, err = read(resp)
		require.NoError(t, err)
		assert.Equal(t, []string{"http://example.org/moved", bigURL, bigURL}, w.urls(), "where it was")
		first, rest := w.seen[1].Header, w.seen[2].Header
		assert.Equal(t, "bytes=100000-", rest.Get("Range"))
		assert.Equal(t, `"1"`, rest.Get("If-Range"))
		assert.Equal(t, `"0"`, first.Get("If-None-Match"))
		assert.NotContains(t, rest, "If-None-Match")
		for _, name := range []string{"If-None-Match", "Range", "If-Range"} {
			first.Del(name)
			rest.Del(name)
		}
		assert.Equal(t, first, rest)
	})
}

// All requests for a body count as its attempts, with the waits between them, and MaxWait
// holds for all together.
func TestResumeAttempts(t *testing.T) {
	for _, tt := range []struct {
		attempts int
		maxWait  time.Duration
		spool    bool
		times    []float64
	}{
		{0, 0, false, []float64{0, 1, 3, 7}},
		{0, 0, true, []float64{0, 1, 3, 7}},
		{2, 0, false, []float64{0, 1}},
		{-1, 0, false, []float64{0}},
		{0, 5 * time.Second, false, []float64{0, 1, 3}},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := &flaky{body: noise(1<<20, 1), header: []string{`ETag: "1"`}, cuts: []int{100_000, 100_000, 0, 100_000, 100_000}}
			w := newWeb()
			w.answers[bigURL] = f.answer
			c := w.client()
			c.Attempts, c.MaxWait = tt.attempts, tt.maxWait
			var attempts []int
			c.OnAttempt = func(_ context.Context, a harvest.AttemptInfo) { attempts = append(attempts, a.Attempt) }
			resp, err := c.Fetch(t.Context(), &harvest.Request{URL: bigURL, Spool: tt.spool})
			if !tt.spool {
				require.NoError(t, err)
				_, err = read(resp)
			}
			require.ErrorIs(t, err, websync.ErrTruncated)
			require.ErrorIs(t, err, harvest.ErrTemporary)
			sameTimes(t, tt.times, w.times(bigURL))
			assert.Equal(t, []int{1, 2, 3, 4}[:len(attempts)], attempts)
		})
	}
}

// The error states why the body was not resumed, and when to come back.
func TestResumeRefused(t *testing.T) {
	for _, tt := range []struct {
		name   string
		second answer
		kind   error
		text   string
		next   time.Duration
	}{
		{"closed for long", reply(503, "", "Retry-After: 3600"), harvest.ErrTemporary, "503", time.Hour + time.Second},
		{"no connection", fail(errors.New("refused")), harvest.ErrTemporary, "too early after 100000 bytes: refused", 0},
		{"a private address", fail(new(Guard).Control("tcp4", "10.0.0.1:80", nil)), harvest.ErrForbidden, "not a public address", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := half()
				w := newWeb()
				w.answers[bigURL] = then(f.answer, tt.second)
				resp, err := w.client().Fetch(t.Context(), &harvest.Request{URL: bigURL})
				require.NoError(t, err)
				_, err = read(resp)
				require.ErrorIs(t, err, websync.ErrTruncated)
				require.ErrorContains(t, err, tt.text)
				for _, kind := range []error{harvest.ErrTemporary, harvest.ErrForbidden, websync.ErrGone} {
					assert.Equal(t, kind == tt.kind, errors.Is(err, kind), "%v is %v", err, kind)
				}
				at, ok := harvest.RetryAfter(err)
				assert.Equal(t, tt.next > 0, ok)
				if ok {
					assert.Equal(t, tt.next, at.Sub(w.began))
				}
			})
		})
	}
}

// If the host is closed between attempts, the error is not harvest.ErrNotYet, since there
// was a request.
func TestClosedBetweenAttempts(t *testing.T) {
	for _, spool := range []bool{false, true} {
		for name, first := range map[string]answer{
			"500": reply(500, ""),
			"cut": (half()).answer,
		} {
			synctest.Test(t, func(t *testing.T) {
				w := newWeb()
				w.answers[bigURL] = first
				w.answers["http://example.org/other"] = reply(503, "", "Retry-After: 3600")
				c := w.client()
				time.AfterFunc(500*time.Millisecond, func() { get(t.Context(), c, "http://example.org/other") })
				resp, err := c.Fetch(t.Context(), &harvest.Request{URL: bigURL, Spool: spool})
				if err == nil {
					_, err = read(resp)
				}
				require.Error(t, err, name)
				require.NotErrorIs(t, err, harvest.ErrNotYet)
				require.ErrorIs(t, err, harvest.ErrTemporary)
				at, _ := harvest.RetryAfter(err)
				assert.Equal(t, time.Hour+500*time.Millisecond, at.Sub(w.began))
				assert.Equal(t, name == "cut", errors.Is(err, websync.ErrTruncated))
			})
		}
	}
}

// Limits hold for all parts together.
func TestResumeLimits(t *testing.T) {
	text := noise(200_000, 1)
	strong := []string{`ETag: "1"`}
	synctest.Test(t, func(t *testing.T) { // MaxBytes
		f := &flaky{body: text, header: strong, cuts: []int{100_000}, unsized: true}
		w := newWeb()
		w.answers[bigURL] = f.answer
		resp, err := w.client().Fetch(t.Context(), &harvest.Request{URL: bigURL, MaxBytes: 150_000})
		require.NoError(t, err)
		got, err := read(resp)
		require.ErrorIs(t, err, websync.ErrLimit)
		assert.Len(t, got, 150_000)
		assert.Equal(t, 2, f.n)
	})
	synctest.Test(t, func(t *testing.T) { // MaxExpansion
		bomb := noise(100_000, 1) + strings.Repeat("\x00", 20<<20)
		f := &flaky{body: zip(t, bomb), header: append(strong, "Content-Encoding: gzip"), cuts: []int{90_000, 20_000}}
		w := newWeb()
		w.answers[bigURL] = f.answer
		c := w.client()
		c.MaxExpansion = 100
		resp, err := c.Fetch(t.Context(), &harvest.Request{URL: bigURL})
		require.NoError(t, err)
		_, err = read(resp)
		require.ErrorIs(t, err, websync.ErrLimit)
		require.NotErrorIs(t, err, harvest.ErrTemporary)
		c = w.client()
		c.MaxExpansion = 400
		f.n = 0
		resp, err = c.Fetch(t.Context(), &harvest.Request{URL: bigURL})
		require.NoError(t, err)
		got, err := read(resp)
		require.NoError(t, err)
		assert.True(t, bomb == got)
	})
	// Inactivity, and Timeout over the parts but not the waits
	synctest.Test(t, func(t *testing.T) {
		f := &flaky{body: text, header: strong}
		f.change = func(n int, r *http.Response) {
			inner, slept := r.Body, 0
			r.Body = io.NopCloser(readerFunc(func(p []byte) (int, error) {
				wait := 20 * time.Second
				if slept++; slept > 10*n {
					wait = time.Hour
				}
				select {
				case <-time.After(wait):
				case <-r.Request.Context().Done():
					return 0, context.Cause(r.Request.Context())
				}
				return inner.Read(p[:min(len(p), 8_000)])
			}))
		}
		w := newWeb()
		w.answers[bigURL] = f.answer
		c := w.client()
		resp, err := c.Fetch(t.Context(), &harvest.Request{URL: bigURL})
		require.NoError(t, err)
		got, err := io.ReadAll(bufio.NewReaderSize(resp.Body, 8_000))
		require.NoError(t, err)
		assert.True(t, text == string(got))
		// 80,000 bytes, 30 seconds without, and one to wait
		sameTimes(t, []float64{0, 231}, w.times(bigURL))

		c = w.client()
		c.Timeout = 400 * time.Second // 230 of which the first part takes
		f.n = 0
		began := time.Now()
		resp, err = c.Fetch(t.Context(), &harvest.Request{URL: bigURL})
		require.NoError(t, err)
		_, err = io.ReadAll(bufio.NewReaderSize(resp.Body, 8_000))
		require.ErrorIs(t, err, errTooLong)
		assert.Equal(t, 401*time.Second, time.Since(began))
	})
}

// Parts that do not fit together are an error of gzip, and the whole is requested again.
func TestResumeMisfit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text := noise(200_000, 1)
		f := &flaky{body: zip(t, text), header: []string{`ETag: "1"`, "Content-Encoding: gzip"}, cuts: []int{100_000}}
		f.change = func(n int, r *http.Response) {
			if n == 2 {
				r.Body = io.NopCloser(strings.NewReader(strings.Repeat("x", int(r.ContentLength))))
			}
		}
		w := newWeb()
		w.answers[bigURL] = f.answer
		resp, err := w.client().Fetch(t.Context(), &harvest.Request{URL: bigURL})
		require.NoError(t, err)
		_, err = read(resp)
		require.ErrorIs(t, err, errCoding)
		require.ErrorIs(t, err, harvest.ErrTemporary)
		f.n = 0
		resp, err = w.client().Fetch(t.Context(), &harvest.Request{URL: bigURL, Spool: true})
		require.NoError(t, err)
		got, err := read(resp)
		require.NoError(t, err)
		assert.True(t, text == got)
	})
}

// The request for the rest waits for its turn, holds no slot meanwhile, and obeys
// robots.txt.
func TestResumeIsPolite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := half()
		w := newWeb()
		w.answers[bigURL] = f.answer
		w.answers["http://example.org/other"] = reply(200, "x")
		c := w.client()
		c.Rate, c.PerHost, c.Concurrency = 0.1, 1, 1
		resp, err := c.Fetch(t.Context(), &harvest.Request{URL: bigURL})
		require.NoError(t, err)
		time.AfterFunc(500*time.Millisecond, func() { mustGet(t, c, "http://example.org/other") })
		_, err = read(resp)
		require.NoError(t, err)
		sameTimes(t, []float64{10}, w.times("http://example.org/other"))
		sameTimes(t, []float64{0, 20}, w.times(bigURL))
	})
	synctest.Test(t, func(t *testing.T) {
		f := half()
		w := newWeb()
		w.answers[robotsURL] = then(reply(200, ""), reply(200, "User-agent: *\nDisallow: /big"))
		w.answers[bigURL] = f.answer
		c := w.obedient()
		c.Timeout = -1
		resp, err := c.Fetch(t.Context(), &harvest.Request{URL: bigURL})
		require.NoError(t, err)
		time.Sleep(25 * time.Hour)
		_, err = read(resp)
		require.ErrorIs(t, err, harvest.ErrForbidden)
		require.NotErrorIs(t, err, harvest.ErrTemporary)
		assert.Equal(t, 1, f.n)
	})
}

// The reader can stop during the wait for the rest.
func TestResumeStopped(t *testing.T) {
	why := errors.New("enough")
	for name, stop := range map[string]func(*harvest.Response, context.CancelCauseFunc){
		"closed":    func(r *harvest.Response, _ context.CancelCauseFunc) { r.Body.Close() },
		"cancelled": func(_ *harvest.Response, cancel context.CancelCauseFunc) { cancel(why) },
	} {
		for second, answer := range map[string]answer{
			"before it is asked for": reply(503, "", "Retry-After: 100"), "while it is asked for": hang, "before it breaks off": nil,
		} {
			t.Run(name+" "+second, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := half()
					w := newWeb()
					w.answers[bigURL] = then(f.answer, answer)
					if answer == nil {
						f.change = func(_ int, r *http.Response) {
							r.Body = struct {
								io.Reader
								io.Closer
							}{io.MultiReader(
								io.LimitReader(r.Body, 100_000), readerFunc(func([]byte) (int, error) { return 0, waitFor(r.Request) })), r.Body}
						}
					}
					c := w.client()
					ctx, cancel := context.WithCancelCause(t.Context())
					defer cancel(nil)
					resp, err := c.Fetch(ctx, &harvest.Request{URL: bigURL})
					require.NoError(t, err)
					time.AfterFunc(5*time.Second, func() { stop(resp, cancel) })
					_, err = read(resp)
					require.Error(t, err)
					require.NotErrorIs(t, err, harvest.ErrTemporary)
					assert.Equal(t, name == "cancelled", errors.Is(err, why))
					assert.Equal(t, 5*time.Second, time.Since(w.began))
					assert.Equal(t, answer == nil, len(w.seen) == 1)
					assert.Empty(t, c.set.slots)
					assert.Empty(t, c.hosts.m["http://example.org"].slots)
				})
			})
		}
	}
}

// Verify accepts a body that was resumed.
func TestResumeVerified(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text := noise(200_000, 1)
		f := &flaky{body: text, header: []string{`ETag: "1"`}, cuts: []int{100_000, 30_000}}
		w := newWeb()
		w.answers[bigURL] = f.answer
		resp, err := w.client().Fetch(t.Context(), &harvest.Request{URL: bigURL, Identity: true})
		require.NoError(t, err)
		defer resp.Body.Close()
		var kept bytes.Buffer
		sum := sha256.Sum256([]byte(text))
		link := websync.Link{Length: int64(len(text)), Digests: websync.Digests{{Algorithm: "sha-256", Sum: string(sum[:])}}}
		_, err = io.Copy(&kept, link.Verify(resp.Body))
		require.NoError(t, err)
		assert.Equal(t, int64(len(text)), resp.Length)
	})
}

// Over real connections, in HTTP/1.1 and 2, from a server that supports ranges.
func TestResumeFromServer(t *testing.T) {
	text := noise(1<<20, 1)
	for _, proto := range []string{"HTTP/1.1", "HTTP/2.0"} {
		for _, spool := range []bool{false, true} {
			t.Run(fmt.Sprint(proto, " spool ", spool), func(t *testing.T) {
				var n atomic.Int32
				srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("ETag", `"1"`)
					if n.Add(1) < 4 {
						w = &cutter{w, 200_000}
					}
					http.ServeContent(w, r, "", time.Time{}, strings.NewReader(text))
				}))
				srv.EnableHTTP2 = proto == "HTTP/2.0"
				srv.StartTLS()
				defer srv.Close()
				c := &Client{
					IgnoreRobots: true, AllowPrivate: true, Rate: -1, Transport: srv.Client().Transport,
					jitter: func(time.Duration) time.Duration { return 0 },
				}
				var bytes int64
				c.OnAttempt = func(_ context.Context, a harvest.AttemptInfo) { bytes += a.Bytes }
				resp, err := c.Fetch(t.Context(), &harvest.Request{URL: srv.URL, Spool: spool})
				require.NoError(t, err)
				got, err := read(resp)
				require.NoError(t, err)
				assert.True(t, text == got)
				assert.Equal(t, int32(4), n.Load())
				assert.Equal(t, int64(len(text)), bytes)
			})
		}
	}
}

// A cutter breaks off an answer.
type cutter struct {
	http.ResponseWriter
	left int
}

func (c *cutter) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p[:min(len(p), c.left)])
	if c.left -= n; c.left == 0 || err != nil {
		http.NewResponseController(c.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	return n, err
}

func TestContentRange(t *testing.T) {
	for text, want := range map[string]byteRange{
		"bytes 0-0/1": {0, 0, 1}, " Bytes 10-19/20": {10, 19, 20}, "bytes 1-2/*": {1, 2, -1},
		"bytes 9223372036854775805-9223372036854775805/9223372036854775806": {1<<63 - 3, 1<<63 - 3, 1<<63 - 2},
	} {
		got, ok := contentRange(text)
		assert.True(t, ok, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{
		"", "bytes", "bytes ", "bytes */10", "bytes 1-0/10", "bytes 0-10/10", "bytes -1-5/10", "bytes 1-/10", "bytes 1-2", "bytes 1-2/",
		"bytes +1-2/10", "bytes 1-2/x", "bytes 0x1-2/10", "lines 1-2/10", "bytes 1-9223372036854775807/*", "bytes 1-99999999999999999999/*",
	} {
		_, ok := contentRange(text)
		assert.False(t, ok, text)
	}
}

func FuzzContentRange(f *testing.F) {
	f.Add("bytes 1-2/3")
	f.Add("bytes 1-2/*")
	f.Fuzz(func(t *testing.T, text string) {
		if r, ok := contentRange(text); ok && (r.first < 0 || r.last < r.first || r.total >= 0 && r.total <= r.last) {
			t.Errorf("%q: %v", text, r)
		}
	})
}
