package testkit

import (
	"context"
	"io"
	"iter"
	"sync"

	"github.com/websync-go/websync"
)

// A Catalog is a [websync.Catalog] that counts its calls and the items of its loops. It
// may be used by many goroutines at once.
type Catalog struct {
	websync.Catalog

	// Before, if set, is called with the name of the method and the new count: at each
	// call of Head, Get and Open, and at each item of Resources and Changes, before it is
	// yielded. If Before returns an error, the method returns or yields it.
	Before func(method string, n int) error

	mu     sync.Mutex
	counts map[string]int
}

// Count returns how often a method was called or, for Resources and Changes, how many
// items it read, since the last Reset.
func (c *Catalog) Count(method string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts[method]
}

// Reset sets all counts to zero.
func (c *Catalog) Reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.counts)
}

func (c *Catalog) call(method string) error {
	c.mu.Lock()
	if c.counts == nil {
		c.counts = map[string]int{}
	}
	c.counts[method]++
	n := c.counts[method]
	c.mu.Unlock()
	if c.Before == nil {
		return nil
	}
	return c.Before(method, n)
}

// Head implements [websync.Catalog].
func (c *Catalog) Head(ctx context.Context) (websync.Head, error) {
	if err := c.call("Head"); err != nil {
		return websync.Head{}, err
	}
	return c.Catalog.Head(ctx)
}

// Get implements [websync.Catalog].
func (c *Catalog) Get(ctx context.Context, source string, ids []string) ([]websync.Item, error) {
	if err := c.call("Get"); err != nil {
		return nil, err
	}
	return c.Catalog.Get(ctx, source, ids)
}

// Resources implements [websync.Catalog].
func (c *Catalog) Resources(ctx context.Context, r websync.Range) iter.Seq2[websync.Item, error] {
	return c.each("Resources", c.Catalog.Resources(ctx, r))
}

// Changes implements [websync.Catalog].
func (c *Catalog) Changes(ctx context.Context, r websync.Range) iter.Seq2[websync.Item, error] {
	return c.each("Changes", c.Catalog.Changes(ctx, r))
}

// Open implements [websync.Catalog].
func (c *Catalog) Open(ctx context.Context, b websync.Body) (io.ReadSeekCloser, error) {
	if err := c.call("Open"); err != nil {
		return nil, err
	}
	return c.Catalog.Open(ctx, b)
}

func (c *Catalog) each(method string, items iter.Seq2[websync.Item, error]) iter.Seq2[websync.Item, error] {
	return func(yield func(websync.Item, error) bool) {
		for item, err := range items {
			if e := c.call(method); e != nil {
				yield(websync.Item{}, e)
				return
			}
			if !yield(item, err) {
				return
			}
		}
	}
}
