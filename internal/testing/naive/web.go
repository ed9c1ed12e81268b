package naive

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"
)

// A Page is what a [Web] has at one path.
type Page struct {
	Body     string
	Status   int    // if zero, it is 200
	Type     string // Content-Type
	Encoding string // Content-Encoding
	Location string // of a redirect
	Cut      bool   // the connection breaks off after half of the Body
}

// A Web is a server on loopback whose pages a test changes. It answers conditional
// requests.
type Web struct {
	URL string // without a slash at the end

	mu    sync.Mutex
	pages map[string]Page
	hook  func(path string)
}

// NewWeb returns a server without pages.
func NewWeb(t testing.TB) *Web {
	w := &Web{pages: map[string]Page{}}
	server := httptest.NewServer(w)
	t.Cleanup(server.Close)
	w.URL = server.URL
	return w
}

// Set puts a page at a path.
func (w *Web) Set(path string, p Page) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pages[path] = p
}

// Put puts a page with status 200 at a path.
func (w *Web) Put(path, body string) { w.Set(path, Page{Body: body}) }

// Remove removes the page at a path.
func (w *Web) Remove(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.pages, path)
}

// Page returns the page at a path.
func (w *Web) Page(path string) Page {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pages[path]
}

// paths returns the paths of all pages, sorted.
func (w *Web) paths() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(maps.Keys(w.pages))
}

// Hook makes f be called before each answer.
func (w *Web) Hook(f func(path string)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hook = f
}

// ServeHTTP implements [http.Handler].
func (w *Web) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	hook := w.hook
	p, ok := w.pages[r.URL.EscapedPath()]
	w.mu.Unlock()
	if hook != nil {
		hook(r.URL.EscapedPath())
	}
	etag := fmt.Sprintf("%q", fmt.Sprintf("%x", sha256.Sum256([]byte(p.Body))))
	switch {
	case !ok:
		http.NotFound(rw, r)
	case p.Location != "":
		http.Redirect(rw, r, p.Location, http.StatusFound)
	case p.Status != 0:
		http.Error(rw, p.Body, p.Status)
	case r.Header.Get("If-None-Match") == etag:
		rw.WriteHeader(http.StatusNotModified)
	default:
		if p.Type != "" {
			rw.Header().Set("Content-Type", p.Type)
		}
		if p.Encoding != "" {
			rw.Header().Set("Content-Encoding", p.Encoding)
		}
		rw.Header().Set("ETag", etag)
		rw.Header().Set("Content-Length", strconv.Itoa(len(p.Body)))
		if p.Cut {
			io.WriteString(rw, p.Body[:len(p.Body)/2])
			panic(http.ErrAbortHandler)
		}
		io.WriteString(rw, p.Body)
	}
}

// Get returns what a client gets at a URL.
func Get(url string) ([]byte, error) {
	resp, err := http.Get(url)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, errors.New(url + ": " + resp.Status)
	}
	return io.ReadAll(resp.Body)
}
