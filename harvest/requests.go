package harvest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
)

// counted is the Fetcher that Sources and jobs see: it sets what Requests have from the
// engine, and counts and reports them.
type counted struct {
	run  *run
	list bool
}

var errNoFetcher = errors.New("harvest: Harvester.Fetcher is nil")

// errBudget: a limit of the Budget is reached.
var errBudget = errors.New("the budget of this run is spent")

// spent reports whether the run gets no further body: the Budget does not allow it, or
// the last ones were too much alike.
func (r *run) spent() bool {
	if r.alike.stopped.Load() {
		return true
	}
	b, c := r.h.Budget, r.report
	c.mu.Lock()
	defer c.mu.Unlock()
	c.BudgetSpent = c.BudgetSpent || b.Time > 0 && time.Since(c.Started) >= b.Time ||
		b.Requests > 0 && c.bodyRequests >= b.Requests || b.Bytes > 0 && c.Bytes >= b.Bytes
	return c.BudgetSpent
}

func (c *counted) Fetch(ctx context.Context, req *Request) (*Response, error) {
	if c.run.h.Fetcher == nil {
		return nil, errNoFetcher
	}
	if !c.list && c.run.spent() {
		return nil, errBudget
	}
	sent := *req
	sent.Root, sent.Source, sent.List = cmp.Or(c.run.root, req.Root), c.run.key, c.list
	sent.Began, sent.SameHost = c.run.report.Started, req.SameHost || c.run.h.SameHost
	req = &sent
	began := time.Now()
	resp, err := c.run.h.Fetcher.Fetch(ctx, req)
	if wrong := breach(req, resp); err == nil && wrong != "" {
		err = fmt.Errorf("the Fetcher, a %T, returned %s", c.run.h.Fetcher, wrong)
	}
	if err == nil && resp.NotModified {
		// that of the bytes which are held, whatever the answer has (RFC 9111 §4.3.4)
		resp.Validator = req.Validator
	}
	status := statusOf(resp, err)
	if status != 0 || !aborted(ctx, err) && !errors.Is(err, ErrNotYet) && !errors.Is(err, ErrForbidden) {
		c.count(status)
	}
	if err == nil && c.list {
		c.run.noteDate(resp)
	}
	c.noteAlone(err)
	c.watch(ctx, req, resp, status, began, err)
	return resp, err
}

// noteAlone reports the host if err is that of one which the run leaves alone.
func (c *counted) noteAlone(err error) {
	alone, ok := errors.AsType[*LeftAloneError](err)
	if !ok {
		return
	}
	c.run.report.leftAlone(alone)
	if !c.list {
		c.run.alone.Store(alone.Host, alone)
	}
}

// breach returns how an answer without an error breaks the contract of a Fetcher; "" if
// it does not.
func breach(req *Request, resp *Response) string {
	switch {
	case resp == nil:
		return "neither a Response nor an error"
	case resp.Body == nil && !resp.NotModified:
		return "a Response without a Body"
	case resp.NotModified && req.Validator.IsZero():
		return "NotModified for a Request without a Validator"
	}
	return ""
}

// watch counts the bytes of the answer and reports the request: at once if its body is
// already read, or there is none, else when the caller has read or closed it.
func (c *counted) watch(ctx context.Context, req *Request, resp *Response, status int, began time.Time, err error) {
	ended := func(bytes int64, err error) {
		defer c.run.ours()
		if hook := c.run.hooks.Attempt; hook != nil {
			host, _ := syntax.OriginOf(req.URL)
			hook(ctx, AttemptInfo{
				Source: c.run.key, List: c.list, Method: "GET", Host: string(host), URL: websync.RedactURL(req.URL),
				Status: status, Bytes: bytes, Duration: time.Since(began), Err: err,
			})
		}
	}
	switch {
	case err != nil || resp.Body == nil:
		ended(0, err)
	case c.list && req.Spool && resp.Length >= 0:
		ended(resp.Length, nil)
	case !c.list || c.run.hooks.Attempt != nil:
		body := &countedBody{ReadCloser: resp.Body, ended: ended}
		if !c.list {
			body.report = c.run.report
		}
		resp.Body = body
	}
}

func (c *counted) count(status int) {
	r := c.run.report
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Requests[status]++
	if !c.list {
		r.bodyRequests++
		if status == 200 {
			r.Fetched++
		}
	}
}

// statusOf returns the status of an answer, 0 if there was none. An error states it with
// a method StatusCode() int.
func statusOf(resp *Response, err error) int {
	if err == nil {
		return resp.Status
	}
	var s interface{ StatusCode() int }
	if errors.As(err, &s) {
		return s.StatusCode()
	}
	return 0
}

// countedBody counts the bytes that are read, and calls ended once when there are no
// more.
type countedBody struct {
	io.ReadCloser
	report *Report // if nil, the Report does not count them
	bytes  atomic.Int64
	once   sync.Once
	ended  func(bytes int64, err error)
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.bytes.Add(int64(n))
	if b.report != nil {
		b.report.mu.Lock()
		b.report.Bytes += int64(n)
		b.report.mu.Unlock()
	}
	switch err {
	case nil:
	case io.EOF:
		b.end(nil)
	default:
		b.end(err)
	}
	return n, err
}

// Sent is that of the Body of a Response.
func (b *countedBody) Sent(w io.Writer) bool { return sent(b.ReadCloser, w) }

func (b *countedBody) Close() error {
	err := b.ReadCloser.Close()
	b.end(nil)
	return err
}

func (b *countedBody) end(err error) { b.once.Do(func() { b.ended(b.bytes.Load(), err) }) }
