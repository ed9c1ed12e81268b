package fetch

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
)

// A host that accepts a connection and sends nothing, not even a TLS handshake, cannot
// keep it open.
func TestHandshakeEnds(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	ended := make(chan error, 1)
	go func() {
		conn, err := listener.Accept()
		if err == nil {
			defer conn.Close()
			conn.SetReadDeadline(time.Now().Add(20 * time.Second))
			_, err = io.Copy(io.Discard, conn)
		}
		ended <- err
	}()
	c := &Client{Rate: -1, IgnoreRobots: true, Attempts: -1, Inactivity: 50 * time.Millisecond}
	url := "https://" + listener.Addr().String() + "/"
	_, err = get(t.Context(), c, url)
	require.ErrorIs(t, err, harvest.ErrTemporary)
	err = <-ended
	assert.False(t, errors.Is(err, os.ErrDeadlineExceeded), "the connection was left open")
}

// Headers, interim answers and trailers without end are limited.
func TestEndlessHeaders(t *testing.T) {
	for name, endless := range map[string]struct{ head, line, tail string }{
		"one header":      {"HTTP/1.1 200 OK\r\nX-A: ", "aaaaaaaaaaaaaaaa", ""},
		"many headers":    {"HTTP/1.1 200 OK\r\n", "X-A: a\r\n", ""},
		"interim answers": {"", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", ""},
		"a status":        {"HTTP/1.1 200 ", "OK", ""},
		"trailers":        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "X-A: a\r\n", ""},
		"chunk sizes":     {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1;aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\nx\r\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			defer listener.Close()
			sent := make(chan int, 1)
			go func() {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				defer conn.Close()
				http.ReadRequest(bufio.NewReader(conn))
				io.WriteString(conn, endless.head)
				block := strings.Repeat(endless.line, 1024)
				n := 0
				for n < 64<<20 {
					m, err := io.WriteString(conn, block)
					if n += m; err != nil {
						break
					}
				}
				sent <- n
			}()
			c := &Client{Rate: -1, IgnoreRobots: true, Attempts: -1}
			defer c.CloseIdleConnections()
			_, err = get(t.Context(), c, "http://"+listener.Addr().String()+"/")
			require.Error(t, err)
			assert.Less(t, <-sent, 32<<20, "what the buffers of the network take is more than what is read")
		})
	}
}

// Credentials are sent to their origin only: after a redirect not to another port, scheme
// or name, and not to the target of the next redirect.
func TestCredentialsStayAtTheirOrigin(t *testing.T) {
	var leaked []string
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" || r.Header.Get("Cookie") != "" || r.Referer() != "" {
			leaked = append(leaked, r.URL.Path)
		}
		fmt.Fprint(w, "other")
	}))
	defer other.Close()
	var to string
	own := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "session", Value: "hunter2", Path: "/"})
		if r.Header.Get("Cookie") != "" || r.Referer() != "" {
			leaked = append(leaked, r.URL.Path)
		}
		_, _, ok := r.BasicAuth()
		switch {
		case !ok:
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/moved":
			http.Redirect(w, r, to, http.StatusFound)
		default:
			fmt.Fprint(w, "own")
		}
	}))
	defer own.Close()
	c := &Client{Rate: -1, IgnoreRobots: true, AllowPrivate: true, Attempts: -1}
	defer c.CloseIdleConnections()
	require.NoError(t, c.Authorize(own.URL, Basic("me", "hunter2")))
	assert.Equal(t, "own", mustGet(t, c, own.URL+"/a"))
	for _, to = range []string{other.URL + "/x", strings.Replace(other.URL, "127.0.0.1", "localhost", 1) + "/y", strings.Replace(own.URL, "http:", "HTTP:", 1) + "/z"} {
		mustGet(t, c, own.URL+"/moved")
	}
	to = strings.Replace(own.URL, "127.0.0.1", "localhost", 1) + "/a"
	_, err := get(t.Context(), c, own.URL+"/moved")
	require.ErrorIs(t, err, harvest.ErrForbidden, "by another name it is another origin")
	to = strings.Replace(own.URL, "http://", "http://me:hunter2@", 1) + "/a"
	_, err = get(t.Context(), c, own.URL+"/moved")
	require.ErrorIs(t, err, harvest.ErrForbidden)
	assert.NotContains(t, err.Error(), "hunter2")
	assert.Empty(t, leaked)
}
