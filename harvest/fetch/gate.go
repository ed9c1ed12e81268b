package fetch

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// hostBudget is how many bytes are kept about hosts, by estimate. Beyond it, idle ones
// are forgotten.
const hostBudget = 32 << 20

// hosts are those that the Client has to do with. The zero value is ready.
type hosts struct {
	mu   sync.Mutex
	m    map[string]*host
	size int // estimated bytes
}

// A host is a gate that requests pass, and the robots.txt behind it. Origin, slots and
// turn don't change.
type host struct {
	c      *Client
	origin string
	slots  chan struct{} // one for each transfer that may run; nil: any number
	turn   chan struct{} // held by the call that is the next to go
	queue  atomic.Int64  // calls that want to go, the one with the turn included
	load   sync.Once     // of what the State knows

	users int       // under hosts.mu
	used  time.Time // under hosts.mu
	size  int       // under hosts.mu

	mu       sync.Mutex
	pace     *rate.Limiter
	interval time.Duration
	until    time.Time // nobody goes before
	closed   time.Time // when until was set last
	refusals int       // 429 and 503 in a row
	// it had a public address when it was first asked as that of a source
	public bool
	free   time.Time // no process that shares the State sends before
	own    time.Time // but this one may, until then: see reserve

	sharing sync.Mutex // held while the State is read or written for the host
	noted   []byte     // what the State has, as far as is known; under sharing

	robots robotsCache
}

// use returns the host at origin and keeps it until leave.
func (hs *hosts) use(ctx context.Context, c *Client, origin string) *host {
	hs.mu.Lock()
	h := hs.m[origin]
	if h == nil {
		if hs.m == nil {
			hs.m = map[string]*host{}
		}
		h = newHost(c, origin)
		hs.m[origin] = h
		hs.resize(h, 1024)
	}
	h.users++
	hs.mu.Unlock()
	h.load.Do(func() { h.restore(ctx) })
	return h
}

func (hs *hosts) leave(h *host) {
	hs.mu.Lock()
	h.users--
	h.used = time.Now()
	hs.mu.Unlock()
}

// resize notes what h takes and forgets idle hosts while all take too much. It wants
// hs.mu.
func (hs *hosts) resize(h *host, size int) {
	hs.size += size - h.size
	h.size = size
	for hs.size > hostBudget {
		oldest := hs.idle(h)
		if oldest == nil {
			return
		}
		hs.size -= oldest.size
		delete(hs.m, oldest.origin)
	}
}

// idle returns the host that was longest without use among some, but not h.
func (hs *hosts) idle(h *host) *host {
	var oldest *host
	n := 0
	for _, o := range hs.m { // in random order
		if o.users == 0 && o != h && (oldest == nil || o.used.Before(oldest.used)) {
			oldest = o
		}
		if n++; n >= 32 && oldest != nil {
			break
		}
	}
	return oldest
}

func newHost(c *Client, origin string) *host {
	h := &host{c: c, origin: origin, turn: make(chan struct{}, 1), pace: rate.NewLimiter(rate.Inf, 1)}
	if c.set.perHost > 0 {
		h.slots = make(chan struct{}, c.set.perHost)
	}
	h.robots.turn = make(chan struct{}, 1)
	h.setInterval(c.set.interval)
	return h
}

// setInterval sets the time between two requests. It wants h.mu, once h is known to
// others.
func (h *host) setInterval(d time.Duration) {
	h.interval = d
	h.pace.SetLimit(rate.Every(d))
}

// enter waits until a request may be sent to the host, and counts it against the limits
// of the host and of all. Exit gives both back.
func (h *host) enter(ctx context.Context, k *call) (err error) {
	ahead := h.queue.Add(1) - 1
	defer h.queue.Add(-1)
	now := time.Now()
	if wait := h.wait(now) + time.Duration(ahead)*h.spacing(); wait > k.patience {
		return h.notYet(k, now.Add(wait))
	}
	if err := k.take(ctx, h, h.turn); err != nil {
		return err
	}
	defer func() { <-h.turn }()
	if err := k.take(ctx, h, h.slots); err != nil {
		return err
	}
	if err := h.depart(ctx, k); err != nil {
		give(h.slots)
		return err
	}
	return nil
}

// depart waits for the moment at which the next request may be sent. It counts against
// the limit of all only then: whoever waits for a slow host must not hold up the others.
func (h *host) depart(ctx context.Context, k *call) error {
	for {
		if wait := h.wait(time.Now()); wait > 0 {
			if wait > k.patience {
				return h.notYet(k, time.Now().Add(wait))
			}
			if err := k.sleep(ctx, h.origin, wait); err != nil {
				return err
			}
			continue
		}
		if err := k.take(ctx, h, h.c.set.slots); err != nil {
			return err
		}
		if h.launch(ctx, time.Now()) {
			return nil
		}
		give(h.c.set.slots)
	}
}

// exit gives back what enter took.
func (h *host) exit() {
	give(h.c.set.slots)
	give(h.slots)
}

func (h *host) spacing() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.interval
}

// wait returns how long it is until a request may be sent.
func (h *host) wait(now time.Time) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	wait := max(h.until.Sub(now), 0)
	if !now.Before(h.own) {
		wait = max(wait, h.free.Sub(now))
	}
	if h.interval == 0 {
		return wait
	}
	if tokens := h.pace.TokensAt(now); tokens < 1 {
		wait = max(wait, time.Duration((1-tokens)*float64(h.interval)), time.Microsecond)
	}
	return wait
}

// next returns the moment at which a request may be sent.
func (h *host) next() time.Time {
	now := time.Now()
	return now.Add(h.wait(now))
}

// launch takes the permission to send one request now, if there is one.
func (h *host) launch(ctx context.Context, now time.Time) bool {
	if h.wait(now) > 0 || !h.reserve(ctx, now) {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.interval == 0 || h.pace.AllowN(now, 1)
}

// heed learns from an answer to a request that was sent at the given moment: its status
// and Retry-After.
func (h *host) heed(ctx context.Context, status int, retryAt, sent time.Time) {
	h.mu.Lock()
	busy := status == 429 || status == 503
	if !busy && status < 500 {
		h.refusals = 0
	}
	if busy && !sent.Before(h.closed) { // not one of a volley that was answered already
		h.refusals++
		if grown := time.Now().Add(h.c.backoff(h.refusals)); grown.After(retryAt) {
			retryAt = grown // a Retry-After of no time doesn't end the growing
		}
	}
	if !retryAt.After(h.until) || status < 400 {
		h.mu.Unlock()
		return
	}
	h.until, h.closed = retryAt, time.Now()
	h.mu.Unlock()
	h.c.set.log.InfoContext(ctx, "host closed for a while", "host", h.origin, "status", status, "until", retryAt)
	h.save(ctx)
}

func (h *host) notYet(k *call, at time.Time) error {
	return &RequestError{
		URL: websync.RedactURL(k.url.String()), Kind: harvest.ErrTemporary, RetryAt: at,
		Err: fmt.Errorf("%w: %s, not before %s", harvest.ErrNotYet, h.origin, at.UTC().Format(time.RFC3339)),
	}
}

// sleep waits for d, which must not be longer than the call's patience, and takes it off
// that.
func (k *call) sleep(ctx context.Context, host string, d time.Duration) error {
	until := time.Now().Add(d)
	if k.c.OnWait != nil {
		k.c.OnWait(host, until)
	}
	defer k.wait(host, func() time.Time { return until })()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		k.patience -= d
		return nil
	case <-ctx.Done():
		return k.cancelled(ctx)
	}
}

// take acquires a semaphore as long as patience lasts.
func (k *call) take(ctx context.Context, h *host, sem chan struct{}) error {
	if sem == nil {
		return nil
	}
	select {
	case sem <- struct{}{}:
		return nil
	default:
	}
	began := time.Now()
	defer k.wait(h.origin, h.next)()
	t := time.NewTimer(k.patience)
	defer t.Stop()
	select {
	case sem <- struct{}{}:
		k.patience -= time.Since(began)
		return nil
	case <-t.C:
		k.patience = 0
		return h.notYet(k, time.Now().Add(max(h.spacing(), time.Second)))
	case <-ctx.Done():
		return k.cancelled(ctx)
	}
}

// give releases a semaphore.
func give(sem chan struct{}) {
	if sem != nil {
		<-sem
	}
}

func (k *call) cancelled(ctx context.Context) error {
	return &RequestError{URL: websync.RedactURL(k.url.String()), Err: context.Cause(ctx)}
}
