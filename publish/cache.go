package publish

import (
	"container/list"
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
)

// A slot holds one state of one document, in one coding.
type slot struct {
	path string
	gzip bool
}

// A key is a state of what a slot holds.
type key struct {
	slot
	tag string
}

// A cache keeps the latest state of the most recently read lists, within its limits. A
// rendering that it drops remains until its readers have closed it.
type cache struct {
	memoryMax, fileMax int64
	dir                string // of the temporary files

	mu      sync.Mutex
	flights map[key]*flight
	kept    map[slot]*list.Element // of *entry
	recent  list.List              // the most recently read one first
	memory  int64
	files   int64
}

type entry struct {
	key
	*rendering
}

// A flight is a rendering in progress.
type flight struct {
	cancel  context.CancelFunc
	waiting int // how many callers wait for it; with none it is cancelled
	done    chan struct{}
	spool   *rendering // with a reference for each of those who wait
	err     error
}

func newCache(dir string, memoryMax, fileMax int64) *cache {
	return &cache{
		memoryMax: memoryMax, fileMax: fileMax,
		dir:     dir,
		flights: make(map[key]*flight),
		kept:    make(map[slot]*list.Element),
	}
}

// held returns the rendering of k with a reference for the caller, or nil if it is not
// kept.
func (c *cache) held(k key) *rendering {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.find(k)
}

func (c *cache) find(k key) *rendering {
	e := c.kept[k.slot]
	if e == nil || e.Value.(*entry).key != k {
		return nil
	}
	c.recent.MoveToFront(e)
	s := e.Value.(*entry).rendering
	s.refs.Add(1)
	return s
}

// get returns the rendering of k with a reference for the caller. If the cache does not
// have it, get renders it, once for all concurrent callers. If they all give up, the
// rendering is cancelled. The cache does not keep a rendering that moved.
func (c *cache) get(ctx context.Context, k key, write func(context.Context, io.Writer) error) (*rendering, error) {
	c.mu.Lock()
	if s := c.find(k); s != nil {
		c.mu.Unlock()
		return s, nil
	}
	f := c.flights[k]
	if f == nil {
		f = &flight{done: make(chan struct{})}
		c.flights[k] = f
		var flown context.Context
		flown, f.cancel = context.WithCancel(context.WithoutCancel(ctx))
		go c.fly(flown, f, k, write)
	}
	f.waiting++
	c.mu.Unlock()

	select {
	case <-f.done:
		return f.spool, f.err
	case <-ctx.Done():
		c.leave(f, k)
		return nil, ctx.Err()
	}
}

// leave removes one of the callers that wait for f.
func (c *cache) leave(f *flight, k key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-f.done:
		if f.spool != nil {
			f.spool.release()
		}
		return
	default:
	}
	if f.waiting--; f.waiting == 0 {
		f.cancel()
		delete(c.flights, k) // the next caller must not get its error
	}
}

func (c *cache) fly(ctx context.Context, f *flight, k key, write func(context.Context, io.Writer) error) {
	var (
		s   *rendering
		err = fmt.Errorf("publish: the rendering of %s ended its goroutine", k.path)
	)
	defer func() {
		// Only this request fails, as it would had the handler's own goroutine panicked.
		if p := recover(); p != nil {
			err = fmt.Errorf("publish: panic: %v\n%s", p, debug.Stack())
		}
		f.cancel()
		c.land(f, k, s, err)
	}()
	s, err = c.render(ctx, write)
}

// land gives the result of a flight to its callers.
func (c *cache) land(f *flight, k key, s *rendering, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.flights[k] == f {
		delete(c.flights, k)
	}
	if f.spool, f.err = s, err; s != nil {
		s.refs.Add(int32(f.waiting))
		if !s.moved && f.waiting > 0 {
			c.keep(k, s)
		}
		s.release()
	}
	close(f.done)
}

// keep adds s, drops what it replaces, and drops the oldest beyond the limits.
func (c *cache) keep(k key, s *rendering) {
	c.drop(c.kept[k.slot])
	s.refs.Add(1)
	c.kept[k.slot] = c.recent.PushFront(&entry{k, s})
	c.count(s, s.size)
	for e := c.recent.Back(); e != nil && (c.memory > c.memoryMax || c.files > c.fileMax); {
		next := e.Prev()
		if c.memory > c.memoryMax && e.Value.(*entry).file == nil || c.files > c.fileMax && e.Value.(*entry).file != nil {
			c.drop(e)
		}
		e = next
	}
}

// keepNew is keep of a rendering that nobody waits for.
func (c *cache) keepNew(k key, s *rendering) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep(k, s)
}

func (c *cache) count(s *rendering, n int64) {
	if s.file == nil {
		c.memory += n
	} else {
		c.files += n
	}
}

func (c *cache) drop(e *list.Element) {
	if e == nil {
		return
	}
	kept := c.recent.Remove(e).(*entry)
	delete(c.kept, kept.slot)
	c.count(kept.rendering, -kept.size)
	kept.release()
}

// clear drops all that is kept.
func (c *cache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.recent.Len() > 0 {
		c.drop(c.recent.Back())
	}
}
