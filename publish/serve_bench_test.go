package publish

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/sqlitestore"
	"github.com/websync-go/websync/internal/testing/bench"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/sitemap"
)

// BenchmarkServe serves 1,000 pages of 11 KB from SQLite, in full and as 304, beside a
// http.FileServer of the same pages as files. Both sides are asked in the same way, and
// that is part of their time.
func BenchmarkServe(b *testing.B) {
	const pages, requests = 1000, 3000
	db, err := sqlitestore.Open(b.Context(), filepath.Join(b.TempDir(), "pages.db"), nil)
	require.NoError(b, err)
	defer db.Close()
	store := harvest.NewCatalog(db)
	dir := b.TempDir()
	var paths []string
	base := "https://www.example.org/"
	for i := range pages {
		text := strings.Repeat(fmt.Sprintf("<p>%d", i), 11_000/4)[:11_000]
		path := fmt.Sprintf("/%d.html", i)
		key := websync.SHA256([]byte(text))
		link := websync.Link{Type: "text/html", Length: int64(len(text))}
		testkit.Fill(b, store, "own", []string{text}, websync.Item{
			Resource: websync.Resource{ID: base + path[1:], Content: link},
			Bodies:   []websync.Body{{Name: websync.ContentName, Link: link, Key: key}},
		})
		require.NoError(b, os.WriteFile(filepath.Join(dir, path), []byte(text), 0o600))
		paths = append(paths, path)
	}
	site := &Site{Catalog: store, Base: base, Own: []string{"own"}, Sources: []string{"own"}}
	handler := site.Handler(&sitemap.Publisher{})
	defer handler.Close()
	for name, conditional := range map[string]bool{"body": false, "304": true} {
		b.Run(name, func(b *testing.B) {
			side := func(name string, h http.Handler) bench.Side {
				asked := make([]string, len(paths))
				for i, path := range paths {
					asked[i] = "GET " + path + " HTTP/1.1\r\nHost: www.example.org\r\nUser-Agent: bench\r\n"
					if conditional {
						w := httptest.NewRecorder()
						h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
						if tag := w.Header().Get("ETag"); tag != "" {
							asked[i] += "If-None-Match: " + tag + "\r\n"
						} else {
							asked[i] += "If-Modified-Since: " + w.Header().Get("Last-Modified") + "\r\n"
						}
					}
					asked[i] += "\r\n"
				}
				server := httptest.NewServer(h)
				b.Cleanup(server.Close)
				conn, err := net.Dial("tcp", server.Listener.Addr().String())
				require.NoError(b, err)
				b.Cleanup(func() { conn.Close() })
				answers := bufio.NewReaderSize(conn, 64<<10)
				n := 0
				return bench.CPU(name, func() error {
					for range requests {
						n++
						if err := exchange(conn, answers, asked[n*7919%len(asked)], conditional); err != nil {
							return err
						}
					}
					return nil
				})
			}
			bench.Beside(b, requests*11_000, side("own", handler), side("FileServer", http.FileServer(http.Dir(dir))))
		})
	}
}

// exchange sends a request and reads the answer, without looking at more of it than its
// length.
func exchange(conn net.Conn, answers *bufio.Reader, request string, conditional bool) error {
	if _, err := io.WriteString(conn, request); err != nil {
		return err
	}
	length, status := 0, []byte(nil)
	for {
		line, err := answers.ReadSlice('\n')
		if err != nil {
			return err
		}
		if status == nil {
			status = bytes.Clone(line[9:12])
		}
		if value, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			fmt.Sscan(string(value), &length)
		}
		if len(line) == 2 {
			break
		}
	}
	if want := map[bool]string{true: "304", false: "200"}[conditional]; string(status) != want {
		return fmt.Errorf("status %s, want %s", status, want)
	}
	_, err := answers.Discard(length)
	return err
}
