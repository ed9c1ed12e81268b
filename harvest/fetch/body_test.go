package fetch

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/spool"
	"github.com/websync-go/websync/internal/testing/racing"
)

func zip(t testing.TB, text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := io.WriteString(z, text)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.String()
}

func TestContentCodings(t *testing.T) {
	const text = "hello, hello, hello"
	zipped := zip(t, text)
	for _, tt := range []struct {
		name, body, coding string
		req                harvest.Request
		asked, want        string
		length             int64
		err                error
	}{
		{"plain", text, "", harvest.Request{}, "gzip", text, 19, nil},
		{"gzip", zipped, "gzip", harvest.Request{}, "gzip", text, -1, nil},
		{"x-gzip", zipped, "X-GZIP", harvest.Request{}, "gzip", text, -1, nil},
		{"two members", zipped + zipped, "gzip", harvest.Request{}, "gzip", text + text, -1, nil},
		{"empty members", zip(t, "") + zipped + zip(t, "") + zip(t, ""), "gzip", harvest.Request{}, "gzip", text, -1, nil},
		{"bytes behind it", zipped + "\r\n", "gzip", harvest.Request{}, "gzip", "", 0, errAfterGzip},
		{"a byte behind it", zipped + "\n", "gzip", harvest.Request{}, "gzip", "", 0, errAfterGzip},
		{"much behind it", zipped + strings.Repeat("\x00", 1000), "gzip", harvest.Request{}, "gzip", "", 0, errAfterGzip},
		{"half a member behind it", zipped + zipped[:12], "gzip", harvest.Request{}, "gzip", "", 0, websync.ErrTruncated},
		{"identity", text, "identity", harvest.Request{Identity: true}, "identity", text, 19, nil},
		{"gzip for identity", zipped, "gzip", harvest.Request{Identity: true}, "identity", text, -1, nil},
		{"empty", "", "gzip", harvest.Request{}, "gzip", "", -1, nil},
		{"a file that is gzip", zipped, "", harvest.Request{}, "gzip", zipped, int64(len(zipped)), nil},
		{"requested by the caller", zipped, "gzip", harvest.Request{Header: map[string][]string{"Accept-Encoding": {"gzip"}}}, "gzip", zipped, int64(len(zipped)), nil},
		{"a word that is no coding", text, "UTF-8", harvest.Request{}, "gzip", text, 19, nil},
		{"brotli", text, "br", harvest.Request{}, "gzip", "", 0, errCoding},
		{"twice", zip(t, zipped), "gzip, gzip", harvest.Request{}, "gzip", "", 0, errCoding},
		{"plain that is said to be gzip", text, "gzip", harvest.Request{}, "gzip", text, -1, nil},
		{"a document that is said to be gzip", "<?xml version='1.0'?><a/>", "gzip", harvest.Request{}, "gzip", "<?xml version='1.0'?><a/>", -1, nil},
		{"a letter that is said to be gzip", "a", "gzip", harvest.Request{}, "gzip", "a", -1, nil},
		{"another coding that is said to be gzip", "x\x9c\x03\x00\x00\x00\x00\x01" + strings.Repeat("\x00", 8), "gzip", harvest.Request{}, "gzip", "", 0, errCoding},
		{"cut after a byte", zipped[:1], "gzip", harvest.Request{}, "gzip", "", 0, websync.ErrTruncated},
		{"damaged", zipped[:12] + "\xff\xff" + zipped[14:], "gzip", harvest.Request{}, "gzip", "", 0, errCoding},
		{"cut short", zipped[:len(zipped)-3], "gzip", harvest.Request{}, "gzip", "", 0, websync.ErrTruncated},
		{"cut in the header", zipped[:5], "gzip", harvest.Request{}, "gzip", "", 0, websync.ErrTruncated},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWeb()
			w.answers["http://example.org/"] = reply(200, tt.body, "Content-Encoding: "+tt.coding)
			tt.req.URL = "http://example.org/"
			var got string
			resp, err := w.client().Fetch(t.Context(), &tt.req)
			assert.Equal(t, tt.asked, w.seen[0].Header.Get("Accept-Encoding"))
			if err == nil {
				got, err = read(resp)
			}
			if tt.err != nil {
				require.ErrorIs(t, err, tt.err)
				assert.Equal(t, tt.err == websync.ErrTruncated, errors.Is(err, harvest.ErrTemporary))
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.want, got)
			assert.Equal(t, tt.length, resp.Length)
			if tt.length < 0 {
				assert.NotContains(t, resp.Header, "Content-Encoding")
			} else {
				assert.Equal(t, tt.coding, http.Header(resp.Header).Get("Content-Encoding"))
			}
		})
	}
}

func TestMaxBytes(t *testing.T) {
	const text = "0123456789"
	for _, coding := range []string{"", "gzip", "chunked"} {
		for _, tt := range []struct {
			client, request int64
			fails           bool
		}{{0, 10, false}, {0, 9, true}, {9, 0, true}, {9, 10, false}, {9, -1, false}, {10, 0, false}, {-1, 0, false}, {-1, 9, true}} {
			w := newWeb()
			w.answers["http://example.org/"] = func(r *http.Request) (*http.Response, error) {
				if coding == "gzip" {
					return reply(200, zip(t, text), "Content-Encoding: gzip")(r)
				}
				resp, err := reply(200, text)(r)
				if coding == "chunked" {
					resp.ContentLength = -1
				}
				return resp, err
			}
			c := w.client()
			c.MaxBytes = tt.client
			var got string
			resp, err := c.Fetch(t.Context(), &harvest.Request{URL: "http://example.org/", MaxBytes: tt.request})
			if err == nil {
				got, err = read(resp)
			}
			if tt.fails {
				require.ErrorIs(t, err, websync.ErrLimit)
				assert.NotErrorIs(t, err, harvest.ErrTemporary)
				assert.LessOrEqual(t, len(got), 9)
				if coding == "" {
					assert.Empty(t, got, "refused before a byte is read")
				}
			} else {
				require.NoError(t, err)
				assert.Equal(t, text, got)
			}
		}
	}
}

// The transfer is limited, too, if it decodes to nothing: deflate has empty blocks, and
// gzip empty members.
func TestMaxBytesOfTransfer(t *testing.T) {
	header := zip(t, "")[:10]
	const emptyBlock = "\x00\x00\x00\xff\xff"
	for name, endless := range map[string]string{"blocks": emptyBlock, "members": zip(t, "")} {
		for _, stated := range []bool{false, true} {
			t.Run(fmt.Sprint(name, stated), func(t *testing.T) {
				var sent int64
				w := newWeb()
				w.answers["http://example.org/"] = func(r *http.Request) (*http.Response, error) {
					resp, err := reply(200, "", "Content-Encoding: gzip")(r)
					resp.ContentLength = -1
					if stated {
						resp.ContentLength = 1 << 30
					}
					more := strings.NewReader(header)
					resp.Body = io.NopCloser(readerFunc(func(p []byte) (int, error) {
						if more.Len() == 0 {
							more = strings.NewReader(strings.Repeat(endless, 1000))
						}
						n, err := more.Read(p)
						sent += int64(n)
						return n, err
					}))
					return resp, err
				}
				if name == "members" {
					header = endless
				}
				resp, err := w.client().Fetch(t.Context(), &harvest.Request{URL: "http://example.org/", MaxBytes: 1000})
				if err == nil {
					_, err = read(resp)
				}
				require.ErrorIs(t, err, websync.ErrLimit)
				assert.NotErrorIs(t, err, harvest.ErrTemporary)
				assert.Less(t, sent, int64(32<<10), "a buffer and the limit")
				assert.Len(t, w.seen, 1)
			})
		}
	}
}

// Incompressible bytes become longer in gzip, but are not over the limit.
func TestMaxBytesOfNoise(t *testing.T) {
	for _, size := range []int{0, 1, 1000, 100_000} {
		noise := make([]byte, size)
		rand.New(rand.NewSource(1)).Read(noise)
		w := newWeb()
		w.answers["http://example.org/"] = reply(200, zip(t, string(noise)), "Content-Encoding: gzip")
		resp, err := w.client().Fetch(t.Context(), &harvest.Request{URL: "http://example.org/", MaxBytes: max(int64(size), 1)})
		require.NoError(t, err)
		got, err := read(resp)
		require.NoError(t, err)
		assert.Equal(t, string(noise), got)
	}
}

func TestExpansion(t *testing.T) {
	racing.Skip(t)
	bomb := zip(t, strings.Repeat("\x00", 40<<20)) // about 1 to 1000
	for _, tt := range []struct {
		limit int64
		size  int
		fails bool
	}{{0, 9 << 20, false}, {0, 40 << 20, true}, {2000, 40 << 20, false}, {-1, 40 << 20, false}} {
		w := newWeb()
		body := bomb
		if tt.size < 40<<20 {
			body = zip(t, strings.Repeat("\x00", tt.size))
		}
		w.answers["http://example.org/"] = reply(200, body, "Content-Encoding: gzip")
		c := w.client()
		c.MaxExpansion = tt.limit
		resp, err := c.Fetch(t.Context(), &harvest.Request{URL: "http://example.org/"})
		require.NoError(t, err)
		n, err := io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if tt.fails {
			require.ErrorIs(t, err, websync.ErrLimit)
			assert.Less(t, n, int64(11<<20))
		} else {
			require.NoError(t, err)
			assert.Equal(t, int64(tt.size), n)
		}
	}
}

// Bodies that break off, over real connections: none of them ends in io.EOF.
func TestTruncated(t *testing.T) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/chunked" {
			w.Header().Set("Content-Length", "1000")
		}
		io.WriteString(w, "some of it")
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	for _, proto := range []string{"HTTP/1.1", "HTTP/2.0"} {
		srv := httptest.NewUnstartedServer(handler)
		srv.EnableHTTP2 = proto == "HTTP/2.0"
		srv.StartTLS()
		defer srv.Close()
		for _, path := range []string{"/length", "/chunked"} {
			for _, spool := range []bool{false, true} {
				t.Run(fmt.Sprint(proto, path, " spool ", spool), func(t *testing.T) {
					c := &Client{IgnoreRobots: true, Attempts: -1, Transport: srv.Client().Transport, AllowPrivate: true}
					resp, err := c.Fetch(t.Context(), &harvest.Request{URL: srv.URL + path, Spool: spool})
					if !spool {
						require.NoError(t, err)
						var got string
						got, err = read(resp)
						assert.Equal(t, "some of it", got)
					}
					require.ErrorIs(t, err, websync.ErrTruncated)
					require.ErrorIs(t, err, harvest.ErrTemporary)
				})
			}
		}
	}
}

// The Client checks the length if the Transport does not.
func TestTruncatedByTransport(t *testing.T) {
	w := newWeb()
	w.answers["http://example.org/"] = cutShort("some of it")
	_, err := get(t.Context(), w.client(), "http://example.org/")
	require.ErrorIs(t, err, websync.ErrTruncated)
}

// The body of a spooled request is covered by its attempts.
func TestSpool(t *testing.T) {
	var n atomic.Int32
	text := strings.Repeat("0123456789", 300_000) // goes to a file
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(len(text)))
		if n.Add(1) == 1 {
			io.WriteString(w, text[:100])
			panic(http.ErrAbortHandler)
		}
		io.WriteString(w, text)
	}))
	defer srv.Close()
	c := &Client{IgnoreRobots: true, Rate: -1, jitter: func(time.Duration) time.Duration { return 0 }}
	resp, err := c.Fetch(t.Context(), &harvest.Request{URL: srv.URL, Root: srv.URL, Spool: true})
	require.NoError(t, err)
	spool, ok := resp.Body.(*spool.Spool)
	require.True(t, ok)
	assert.Equal(t, int64(len(text)), spool.Size())
	assert.Equal(t, int64(len(text)), resp.Length)
	for range 2 {
		_, err = spool.Seek(0, io.SeekStart)
		require.NoError(t, err)
		got, err := io.ReadAll(spool)
		require.NoError(t, err)
		assert.Equal(t, text, string(got))
	}
	require.NoError(t, spool.Close())
	assert.Equal(t, int32(2), n.Load())
	assert.Empty(t, c.set.slots, "nothing is held")
}

// Close ends a Read that waits.
func TestCloseDuringRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		w.answers["http://example.org/"] = trickle(1, time.Hour)
		resp, err := w.client().Fetch(t.Context(), &harvest.Request{URL: "http://example.org/"})
		require.NoError(t, err)
		time.AfterFunc(time.Second, func() { resp.Body.Close() })
		_, err = resp.Body.Read(make([]byte, 1))
		require.Error(t, err)
		assert.Equal(t, time.Second, time.Since(w.began))
		_, err = resp.Body.Read(make([]byte, 1))
		require.Error(t, err)
	})
}

// Connections are reused: after bodies, after errors, and by concurrent calls.
func TestConnectionsAreReused(t *testing.T) {
	var mu sync.Mutex
	opened := map[string]bool{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		opened[r.RemoteAddr] = true
		mu.Unlock()
		switch r.URL.Path {
		case "/gzip":
			w.Header().Set("Content-Encoding", "gzip")
			io.WriteString(w, zip(t, "hello"))
		case "/found":
			io.WriteString(w, "hello")
		case "/moved":
			http.Redirect(w, r, "/found", http.StatusFound)
		default:
			http.Error(w, strings.Repeat("sorry", 1000), http.StatusNotFound)
		}
	}))
	defer srv.Close()
	c := &Client{Rate: -1, AllowPrivate: true}
	defer c.CloseIdleConnections()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				path := []string{"/found", "/gzip", "/moved", "/missing"}[rand.Intn(4)]
				_, err := get(t.Context(), c, srv.URL+path)
				assert.Equal(t, path == "/missing", err != nil, "%s: %v", path, err)
			}
		})
	}
	wg.Wait()
	mu.Lock()
	defer mu.Unlock()
	assert.LessOrEqual(t, len(opened), 16, "PerHost connections, and the few that net/http gives up when the machine is busy")
}
