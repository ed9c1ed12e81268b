package fetch

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// serveRaw answers each request with the same bytes and closes the connection. It returns
// the URL.
func serveRaw(t *testing.T, answer string) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if r, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
				r.Body.Close()
				io.WriteString(conn, answer)
			}
			conn.Close()
		}
	}()
	return "http://" + listener.Addr().String() + "/a"
}

// An answer that only the end of its connection ends may have been cut, so it has no
// Validator.
func TestMayBeCut(t *testing.T) {
	const stated = "ETag: \"1\"\r\nLast-Modified: Wed, 21 Oct 2015 07:28:00 GMT\r\n"
	zipped := zip(t, "hello")
	for _, tt := range []struct {
		name, answer string
		cut          bool
		err          error
	}{
		{"1.0", "HTTP/1.0 200 OK\r\n" + stated + "\r\nhello", true, nil},
		{"1.0 with a length", "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n" + stated + "\r\nhello", false, nil},
		{"1.1", "HTTP/1.1 200 OK\r\n" + stated + "\r\nhello", true, nil},
		{"1.1, about to close", "HTTP/1.1 200 OK\r\nConnection: close\r\n" + stated + "\r\nhello", true, nil},
		{"1.1 with a length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n" + stated + "\r\nhello", false, nil},
		{"1.1 in chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n" + stated + "\r\n5\r\nhello\r\n0\r\n\r\n", false, nil},
		{"1.1 in chunks, cut", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n" + stated + "\r\n5\r\nhello\r\n", false, websync.ErrTruncated},
		{"gzip", "HTTP/1.0 200 OK\r\nContent-Encoding: gzip\r\n" + stated + "\r\n" + zipped, true, nil},
		{"gzip, cut", "HTTP/1.0 200 OK\r\nContent-Encoding: gzip\r\n" + stated + "\r\n" + zipped[:len(zipped)-3], true, websync.ErrTruncated},
		{"gzip, cut to nothing", "HTTP/1.0 200 OK\r\nContent-Encoding: gzip\r\n" + stated + "\r\n", true, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			url := serveRaw(t, tt.answer)
			c := &Client{Rate: -1, IgnoreRobots: true, Attempts: -1}
			defer c.CloseIdleConnections()
			resp, err := c.Fetch(t.Context(), &harvest.Request{URL: url, Root: url})
			require.NoError(t, err)
			assert.Equal(t, tt.cut, resp.MayBeCut)
			assert.Equal(t, tt.cut, resp.Validator.IsZero())
			body, err := read(resp)
			require.ErrorIs(t, err, tt.err)
			if err == nil && !strings.Contains(tt.name, "nothing") {
				assert.Equal(t, "hello", body)
			}

			resp, err = c.Fetch(t.Context(), &harvest.Request{URL: url, Root: url, Spool: true})
			require.ErrorIs(t, err, tt.err)
			if err == nil {
				defer resp.Body.Close()
				assert.Equal(t, tt.cut, resp.MayBeCut)
				assert.Equal(t, tt.cut, resp.Validator.IsZero())
			}
		})
	}
}

// HTTP/2 marks the end of an answer, with a length or without.
func TestHTTP2IsNotCut(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		w.(http.Flusher).Flush()
		io.WriteString(w, r.Proto)
	}))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	c := &Client{Rate: -1, IgnoreRobots: true}
	c.start()
	c.set.sourceTransport.(*http.Transport).TLSClientConfig = srv.Client().Transport.(*http.Transport).TLSClientConfig
	defer c.CloseIdleConnections()
	resp, err := c.Fetch(t.Context(), &harvest.Request{URL: srv.URL, Root: srv.URL})
	require.NoError(t, err)
	assert.False(t, resp.MayBeCut)
	assert.Equal(t, `"1"`, resp.Validator.ETag)
	body, err := read(resp)
	require.NoError(t, err)
	assert.Equal(t, "HTTP/2.0", body)
}
