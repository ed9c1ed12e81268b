package fetch

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/websync-go/websync/harvest"
)

const (
	// hostBudget limits the memory for hosts, in bytes. Beyond it, idle ones are
	// forgotten.
	hostBudget = 32 << 20
	// hostSize is the estimated size of a host without its robots.txt, in bytes.
	hostSize = 1024
)

// hosts holds the hosts that the Client knows.
type hosts struct {
	mu    sync.Mutex
	m     map[string]*host // by origin
	size  int              // in bytes, estimated
	taken shares           // of size
}

// A host is a gate that every request to it passes.
type host struct {
	c      *Client
	origin string
	slots  chan struct{} // one for each transfer at the same time; nil: any number
	turn   chan struct{} // held by the call that is the next to send
	load   sync.Once     // of what the State holds

	users int       // under hosts.mu
	used  time.Time // under hosts.mu
	size  int       // under hosts.mu
	root  string    // for which size counts; under hosts.mu

	mu       sync.Mutex
	queue    int // calls that wait to send, the one with the turn included
	pace     *rate.Limiter
	interval time.Duration // the longest of the Client's, delay and asked or kept
	delay    time.Duration // Crawl-delay in robots.txt
	asked    time.Duration // the longest Request.Interval in this process
	kept     time.Duration // that of the process that changed the State last; unless asked
	sent     time.Time     // when the last request was sent
	until    time.Time     // the host is closed
	closed   time.Time     // when until was last set
	refusals int           // 429 and 503 in a row, those of one moment counted once
	refused  [2]refusals   // of runs: for lists, and for bodies
	alarm    chan struct{} // closed when the host is left alone, and replaced
	public   bool          // its first address, as the host of a source; see sourceNetworks
	free     time.Time     // no other process that shares the State may send before
	own      time.Time     // this one may until then; zero: another has reserved the host

	sharing sync.Mutex    // held while the State is read or written for the host
	noted   []byte        // what the State holds, as far as is known; under sharing
	share   time.Duration // for which the host is reserved next; under sharing

	robots robotsCache
}

// host returns the host at origin, for the source at root, and keeps it until leave.
func (c *Client) host(ctx context.Context, origin, root string) *host {
	hs := &c.hosts
	hs.mu.Lock()
	h := hs.m[origin]
	if h == nil {
		if hs.m == nil {
			hs.m, hs.taken = map[string]*host{}, shares{}
		}
		h = newHost(c, origin)
		h.root = root
		hs.m[origin] = h
		hs.resize(h, hostSize)
	} else if root = hs.taken.rootOf(origin, h.root, root); root != h.root {
		hs.taken.add(h.root, -h.size)
		hs.taken.add(root, h.size)
		h.root = root
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

// resize sets the size of h, and forgets idle hosts if all are too large. The caller
// holds hs.mu.
func (hs *hosts) resize(h *host, size int) {
	hs.add(h, size-h.size)
	if hs.size > hostBudget {
		hs.forget(h, hostBudget/8*7)
	}
}

func (hs *hosts) add(h *host, size int) {
	hs.size += size
	h.size += size
	hs.taken.add(h.root, size)
}

// forget forgets the longest unused idle hosts, but not h, of the roots that take most,
// until all hosts take no more than limit.
func (hs *hosts) forget(h *host, limit int) {
	fair := hs.taken.fair(limit)
	for _, o := range slices.SortedFunc(maps.Values(hs.m), func(a, b *host) int { return a.used.Compare(b.used) }) {
		if hs.size > limit && hs.taken[o.root] > fair && o.users == 0 && o != h {
			hs.add(o, -o.size)
			delete(hs.m, o.origin)
		}
	}
}

func newHost(c *Client, origin string) *host {
	h := &host{
		c: c, origin: origin,
		turn: make(chan struct{}, 1), alarm: make(chan struct{}), pace: rate.NewLimiter(rate.Inf, 1),
	}
	if c.set.perHost > 0 {
		h.slots = make(chan struct{}, c.set.perHost)
	}
	h.robots.turn = make(chan struct{}, 1)
	h.setInterval(c.set.interval)
	return h
}

// setInterval sets the time between two requests. The caller holds h.mu, unless h is new.
func (h *host) setInterval(d time.Duration) {
	h.interval = d
	h.pace.SetLimit(rate.Every(d))
}

// adjust sets the time between two requests to the longest that anybody asks for, and
// reports whether it has changed. The caller holds h.mu.
func (h *host) adjust() bool {
	d := max(h.c.set.interval, h.delay, cmp.Or(h.asked, h.kept))
	if d == h.interval {
		return false
	}
	h.setInterval(d)
	return true
}

// requireInterval makes the time between two requests at least d, also that since the
// last one. A reservation that was made for a shorter time ends.
func (h *host) requireInterval(d time.Duration) {
	if d <= 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if d <= h.asked {
		return
	}
	now := time.Now()
	h.asked = d
	if before := h.interval; !h.adjust() || h.interval < before {
		return
	}
	if !h.sent.IsZero() {
		h.pace = rate.NewLimiter(rate.Every(h.interval), 1)
		h.pace.AllowN(h.sent, 1)
	}
	if now.Before(h.own) {
		h.own = now
	}
}

// enter waits until a request may be sent to the host, and counts it against the limits
// of the host and of the Client until the exchange ends.
func (h *host) enter(ctx context.Context, k *call) error {
	now := time.Now()
	if wait := h.join(now, k.patience); wait > k.patience {
		return h.notYet(k, now.Add(wait))
	}
	err := h.await(ctx, k)
	if err != nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.queue--
	}
	return err
}

// join adds a call to the queue, unless it would wait for longer than patience. It
// returns how long.
func (h *host) join(now time.Time, patience time.Duration) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	wait := h.waitLocked(now) + time.Duration(h.queue)*h.interval
	if wait <= patience {
		h.queue++
	}
	return wait
}

// await waits for its turn and sends. Then the call is no longer in the queue. A call
// that probes keeps its turn until it has the answer.
func (h *host) await(ctx context.Context, k *call) error {
	if err := k.take(ctx, h, h.turn); err != nil {
		return err
	}
	defer func() {
		if !k.probe {
			give(h.turn)
		}
	}()
	if err := k.take(ctx, h, h.slots); err != nil {
		return err
	}
	if err := h.waitToSend(ctx, k); err != nil {
		give(h.slots)
		return err
	}
	return nil
}

// waitToSend waits for the moment at which the next request may be sent. Only then does
// it take a slot of the Client: a call that waits for a slow host must not delay others.
func (h *host) waitToSend(ctx context.Context, k *call) error {
	for {
		alarm := h.watch()
		if err := h.alone(k); err != nil {
			return err
		}
		now := time.Now()
		if wait := h.wait(now); wait > k.patience {
			return h.notYet(k, now.Add(wait))
		} else if wait > 0 {
			h.askForTurn(ctx, now)
			if err := k.sleep(ctx, h.origin, wait, alarm); err != nil {
				return err
			}
			continue
		}
		if err := k.take(ctx, h, h.c.set.slots); err != nil {
			return err
		}
		if h.trySend(ctx, k, time.Now()) {
			return nil
		}
		give(h.c.set.slots)
	}
}

// wait returns how long it is until a request may be sent.
func (h *host) wait(now time.Time) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.waitLocked(now)
}

// waitLocked is wait for a caller that holds h.mu.
func (h *host) waitLocked(now time.Time) time.Duration {
	wait := max(h.until.Sub(now), 0)
	if h.own.IsZero() {
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

// trySend takes the permission to send the request of k now, and reports whether there
// was one. The request of a call that probes is the only one until it is answered.
func (h *host) trySend(ctx context.Context, k *call, now time.Time) bool {
	if h.wait(now) > 0 || !h.reserve(ctx, now) {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.interval > 0 && !h.pace.AllowN(now, 1) {
		return false
	}
	h.queue--
	h.sent = now
	k.probe = h.c.isTooMany(h.refusalsOf(k))
	return true
}

// watch returns a channel that is closed when the host is left alone.
func (h *host) watch() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.alarm
}

// noteAnswer notes what the answer to a request asks for, by its status and Retry-After.
// It returns an error if the run leaves the host alone from now on.
func (h *host) noteAnswer(ctx context.Context, k *call, status int, retryAt, sent time.Time) error {
	h.mu.Lock()
	alone, changed := h.countRefusal(k, status, retryAt)
	busy := isRefusal(status)
	if !busy && status < 500 {
		h.refusals = 0
	}
	if busy && !sent.Before(h.closed) { // otherwise another answer of that time has counted
		h.refusals++
		if grown := time.Now().Add(h.c.backoff(h.refusals)); grown.After(retryAt) {
			retryAt = grown // even if Retry-After is 0
		}
	}
	closes := retryAt.After(h.until) && status >= 400
	if closes {
		h.until, h.closed = retryAt, time.Now()
	}
	h.mu.Unlock()
	if closes {
		h.c.set.log.InfoContext(ctx, "host closed for a while", "host", h.origin, "status", status, "until", retryAt)
	}
	if alone != nil {
		h.c.set.log.InfoContext(ctx, "host left alone", "host", h.origin, "status", status)
	}
	if closes || changed {
		h.save(ctx)
	}
	return alone
}

func (h *host) notYet(k *call, at time.Time) error {
	return &RequestError{
		URL: k.name(), Kind: harvest.ErrTemporary, RetryAt: at,
		Err: fmt.Errorf("%w: %s, not before %s", harvest.ErrNotYet, h.origin, at.UTC().Format(time.RFC3339)),
	}
}
