package fetch

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// A web answers requests without a network. The answer to an unknown URL, also of a
// robots.txt, is 404.
type web struct {
	mu      sync.Mutex
	answers map[string]answer // by URL
	seen    []request
	began   time.Time
	running int
	most    int // transfers at the same time
}

// An answer is what the web returns for a request.
type answer = func(*http.Request) (*http.Response, error)

type request struct {
	URL    string
	Header http.Header
	At     time.Duration // since the web began
}

func newWeb() *web {
	return &web{answers: map[string]answer{}, began: time.Now()}
}

func (w *web) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	w.seen = append(w.seen, request{r.URL.String(), r.Header.Clone(), time.Since(w.began)})
	answer := w.answers[r.URL.String()]
	w.running++
	w.most = max(w.most, w.running)
	w.mu.Unlock()
	resp, err := reply(404, "")(r)
	if answer != nil {
		resp, err = answer(r)
	}
	if err != nil {
		w.done()
		return nil, err
	}
	resp.Body = &counted{ReadCloser: resp.Body, done: sync.OnceFunc(w.done)}
	return resp, nil
}

func (w *web) done() {
	w.mu.Lock()
	w.running--
	w.mu.Unlock()
}

// times returns when the URL was requested, in seconds.
func (w *web) times(url string) []float64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	var at []float64
	for _, r := range w.seen {
		if r.URL == url {
			at = append(at, r.At.Seconds())
		}
	}
	return at
}

// urls returns the requested URLs, in order.
func (w *web) urls() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var urls []string
	for _, r := range w.seen {
		urls = append(urls, r.URL)
	}
	return urls
}

type counted struct {
	io.ReadCloser
	done func()
}

func (c *counted) Close() error {
	c.done()
	return c.ReadCloser.Close()
}

// reply answers with a status, a body, and headers as "Name: value".
func reply(status int, body string, header ...string) answer {
	return func(r *http.Request) (*http.Response, error) {
		resp := &http.Response{
			StatusCode: status, Header: http.Header{}, Request: r, ContentLength: int64(len(body)),
			Body: io.NopCloser(strings.NewReader(body)), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		}
		for _, h := range header {
			name, value, _ := strings.Cut(h, ": ")
			resp.Header.Add(name, value)
		}
		return resp, nil
	}
}

func fail(err error) answer {
	return func(*http.Request) (*http.Response, error) { return nil, err }
}

// cutShort answers with a body that ends one byte early.
func cutShort(body string) answer {
	return func(r *http.Request) (*http.Response, error) {
		resp, err := reply(200, body)(r)
		resp.ContentLength++
		return resp, err
	}
}

// then returns its arguments one after the other, and repeats the last.
func then(answers ...answer) answer {
	var n int
	return func(r *http.Request) (*http.Response, error) {
		a := answers[min(n, len(answers)-1)]
		n++
		return a(r)
	}
}

// hang answers only when the request is cancelled.
func hang(r *http.Request) (*http.Response, error) { return nil, waitFor(r) }

// waitFor returns when the request is cancelled, with the reason.
func waitFor(r *http.Request) error {
	<-r.Context().Done()
	return context.Cause(r.Context())
}

// trickle sends n bytes in every interval, without end.
func trickle(n int, every time.Duration) answer {
	return func(r *http.Request) (*http.Response, error) {
		resp, _ := reply(200, "")(r)
		resp.ContentLength = -1
		rest := strings.NewReader("")
		resp.Body = io.NopCloser(readerFunc(func(p []byte) (int, error) {
			if rest.Len() > 0 {
				return rest.Read(p)
			}
			select {
			case <-time.After(every):
				rest.Reset(strings.Repeat("x", n))
				return rest.Read(p)
			case <-r.Context().Done():
				return 0, context.Cause(r.Context())
			}
		}))
		return resp, nil
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// client returns a Client of the web that ignores robots.txt and waits as long as its
// backoff allows.
func (w *web) client() *Client {
	return &Client{
		Transport: w, IgnoreRobots: true, Rate: -1,
		jitter: func(d time.Duration) time.Duration { return d },
	}
}

// get fetches a URL and reads the body.
func get(ctx context.Context, c *Client, url string) (string, error) {
	resp, err := c.Fetch(ctx, &harvest.Request{URL: url, Root: url})
	if err != nil {
		return "", err
	}
	return read(resp)
}

func read(resp *harvest.Response) (string, error) {
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return string(b), err
}

func mustGet(t testing.TB, c *Client, url string) string {
	t.Helper()
	body, err := get(t.Context(), c, url)
	require.NoError(t, err)
	return body
}

// A memState is a websync.State.
type memState struct {
	mu    sync.Mutex
	m     map[string][]byte
	swaps int
	err   error
}

func (s *memState) State(_ context.Context, key string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Clone(s.m[key]), s.err
}

func (s *memState) Swap(_ context.Context, key string, old, new []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !bytes.Equal(s.m[key], old) {
		return fmt.Errorf("%s: %w", key, websync.ErrConflict)
	}
	s.set(key, new)
	s.swaps++
	return s.err
}

func (s *memState) set(key string, value []byte) {
	if s.m == nil {
		s.m = map[string][]byte{}
	}
	if s.m[key] = bytes.Clone(value); len(value) == 0 {
		delete(s.m, key)
	}
}

// commit writes the values of Unsaved, as the engine does.
func (s *memState) commit(c *Client) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	values := c.Unsaved()
	for key, value := range values {
		s.set(key, value)
	}
	return len(values)
}

// sameTimes compares moments in seconds, to a millisecond.
func sameTimes(t testing.TB, want, got []float64, why ...any) {
	t.Helper()
	if assert.Len(t, got, len(want), why...) {
		assert.InDeltaSlice(t, want, got, 1e-3, why...)
	}
}
