package publish

import (
	"context"
	"io"
	"iter"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
)

// A site is a Publisher of documents that a test gives it.
type site struct {
	mu    sync.Mutex
	docs  map[string]func() (*websync.Document, error)
	order []string
}

func newSite() *site { return &site{docs: make(map[string]func() (*websync.Document, error))} }

func (s *site) Document(_ context.Context, path string) (*websync.Document, error) {
	s.mu.Lock()
	doc := s.docs[path]
	s.mu.Unlock()
	if doc == nil {
		return nil, websync.ErrNotFound
	}
	return doc()
}

func (s *site) Documents(context.Context) iter.Seq2[string, error] {
	s.mu.Lock()
	defer s.mu.Unlock()
	order := slices.Clone(s.order)
	return func(yield func(string, error) bool) {
		for _, path := range order {
			if !yield(path, nil) {
				return
			}
		}
	}
}

// set adds or replaces a document.
func (s *site) set(path string, doc func() (*websync.Document, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.docs[path] == nil {
		s.order = append(s.order, path)
	}
	s.docs[path] = doc
}

func (s *site) fail(path string, err error) {
	s.set(path, func() (*websync.Document, error) { return nil, err })
}

// list adds a list whose bytes are text. Its tag is a hash of them.
func (s *site) list(path, mediaType, text string) *rendered {
	r := new(rendered)
	s.set(path, func() (*websync.Document, error) {
		return &websync.Document{Type: mediaType, ETag: websync.SHA256([]byte(text)).String()[8:24], Modified: long, Write: r.write(text)}, nil
	})
	return r
}

// file adds a document that is opened.
func (s *site) file(path string, doc websync.Document, text string) *opened {
	o := new(opened)
	doc.Open = func(context.Context) (io.ReadSeekCloser, error) {
		o.add(1, 0)
		return &openedReader{strings.NewReader(text), o}, nil
	}
	s.set(path, func() (*websync.Document, error) { d := doc; return &d, nil })
	return o
}

func (s *site) remove(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.docs, path)
	s.order = slices.DeleteFunc(s.order, func(p string) bool { return p == path })
}

var long = time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC) // ago

// rendered counts how often a list is rendered.
type rendered struct {
	mu sync.Mutex
	n  int
}

func (r *rendered) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.n
}

func (r *rendered) write(text string) func(context.Context, io.Writer) error {
	return func(_ context.Context, w io.Writer) error {
		r.mu.Lock()
		r.n++
		r.mu.Unlock()
		for rest := text; rest != ""; {
			n := min(1000, len(rest))
			if _, err := io.WriteString(w, rest[:n]); err != nil {
				return err
			}
			rest = rest[n:]
		}
		return nil
	}
}

// opened counts what is opened and closed.
type opened struct {
	mu             sync.Mutex
	opened, closed int
}

func (o *opened) add(opened, closed int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.opened += opened
	o.closed += closed
}

func (o *opened) counts() (int, int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.opened, o.closed
}

type openedReader struct {
	*strings.Reader
	o *opened
}

func (r *openedReader) Close() error { r.o.add(0, 1); return nil }

// get sends a request to a Handler. Fields are name, value, name, value.
func get(h http.Handler, method, path string, fields ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(fields); i += 2 {
		r.Header.Add(fields[i], fields[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func newHandler(t testing.TB, publishers ...websync.Publisher) *Handler {
	h := &Handler{Publishers: publishers, Dir: t.TempDir()}
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	return h
}

// fieldsOf returns the fields of an answer that want names, "" for those it lacks.
func fieldsOf(h http.Header, want map[string]string) map[string]string {
	got := make(map[string]string)
	for name := range maps.Keys(want) {
		got[name] = strings.Join(h.Values(name), " | ")
	}
	return got
}
