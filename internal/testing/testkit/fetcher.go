package testkit

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/url"
	"sync"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// A FetchFunc is a [harvest.Fetcher].
type FetchFunc func(context.Context, *harvest.Request) (*harvest.Response, error)

// Fetch implements [harvest.Fetcher].
func (f FetchFunc) Fetch(ctx context.Context, req *harvest.Request) (*harvest.Response, error) {
	return f(ctx, req)
}

// A Mirror is a [harvest.Fetcher] of the documents of a Publisher, on any host. It
// answers conditional requests by their ETags.
type Mirror struct {
	Publisher websync.Publisher

	// Before, if set, is called before each answer.
	Before func()
	// Date, if set, is the header of all answers.
	Date string

	mu    sync.Mutex
	lists map[string]bool
}

// Lists returns how many lists were answered with their bytes since the last call.
func (m *Mirror) Lists() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := len(m.lists)
	clear(m.lists)
	return n
}

// Fetch implements [harvest.Fetcher].
func (m *Mirror) Fetch(ctx context.Context, req *harvest.Request) (*harvest.Response, error) {
	if m.Before != nil {
		m.Before()
	}
	u, err := url.Parse(req.URL)
	if err != nil {
		return nil, err
	}
	doc, err := m.Publisher.Document(ctx, u.EscapedPath())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", websync.ErrGone, err)
	}
	resp := &harvest.Response{URL: req.URL, Status: 200, Header: map[string][]string{}, Length: -1}
	if m.Date != "" {
		resp.Header["Date"] = []string{m.Date}
	}
	tag := `"` + doc.ETag + `"`
	if req.Validator.ETag == tag {
		resp.Status, resp.NotModified = 304, true
		return resp, nil
	}
	resp.Validator = harvest.Validator{URL: req.URL, ETag: tag}
	if doc.Write == nil {
		resp.Body, err = doc.Open(ctx)
		return resp, err
	}
	m.mu.Lock()
	if m.lists == nil {
		m.lists = make(map[string]bool)
	}
	m.lists[req.URL] = true
	m.mu.Unlock()
	var b bytes.Buffer
	if err := doc.Write(ctx, &b); err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(&b)
	return resp, nil
}
