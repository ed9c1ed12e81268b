package fetch

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/websync-go/websync"
)

const (
	unsavedLimit = 1 << 20 // bytes that wait for a Commit
	stateTimeout = 10 * time.Second

	// A host whose interval is shorter than quick is not reserved for each request, but
	// for a stretch of time in which a process sends several.
	quick   = 50 * time.Millisecond
	stretch = 500 * time.Millisecond

	keptKey   = "fetch/hosts"
	keptHosts = 4096 // of which a State keeps something
	keptDays  = 30   // since a host was asked last
	// bytes of a robots.txt; a longer one is read again after a restart
	keptRobots = 16 << 10
)

func hostKey(origin string) string   { return "fetch/host/" + origin }
func robotsKey(origin string) string { return "fetch/robots/" + origin }

// A hostNote is what a State keeps of a host: the gate that all processes pass which
// share the State. It is changed with compare-and-swap.
type hostNote struct {
	Next time.Time `json:"next,omitzero"` // nobody sends before
	// likewise, as the host demands (Retry-After)
	Until    time.Time `json:"until,omitzero"`
	Refusals int       `json:"refusals,omitempty"`
	Public   bool      `json:"public,omitempty"`
}

// unsaved holds values until the next Commit takes them along.
type unsaved struct {
	mu   sync.Mutex
	m    map[string][]byte
	size int
}

// Unsaved is an optional method of a [harvest.Fetcher].
func (c *Client) Unsaved() map[string][]byte {
	c.unsaved.mu.Lock()
	defer c.unsaved.mu.Unlock()
	m := c.unsaved.m
	c.unsaved.m, c.unsaved.size = nil, 0
	if list := c.kept.value(); list != nil {
		if m == nil {
			m = map[string][]byte{}
		}
		m[keptKey] = list
	}
	return m
}

// keep adds a value to the next Commit; nil deletes it. If there is no Commit, the values
// are written at once when they are too many.
func (c *Client) keep(ctx context.Context, key string, value []byte) {
	if c.state == nil {
		return
	}
	c.unsaved.mu.Lock()
	if c.unsaved.m == nil {
		c.unsaved.m = map[string][]byte{}
	}
	c.unsaved.size += len(key) + len(value) - len(c.unsaved.m[key])
	c.unsaved.m[key] = value
	full := c.unsaved.size > unsavedLimit
	c.unsaved.mu.Unlock()
	if full {
		for key, value := range c.Unsaved() {
			c.write(ctx, key, value)
		}
	}
}

// write sets a value in the State now. A value that can't be written is lost, which costs
// politeness and nothing else.
func (c *Client) write(ctx context.Context, key string, value []byte) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stateTimeout)
	defer cancel()
	err := websync.ErrConflict
	for try := 0; try < 3 && errors.Is(err, websync.ErrConflict); try++ {
		var old []byte
		if old, err = c.state.State(ctx, key); err == nil && !bytes.Equal(old, value) {
			err = c.state.Swap(ctx, key, old, value)
		}
	}
	if err != nil {
		c.set.log.WarnContext(ctx, "state not written", "key", key, "err", err)
	}
}

// reserve moves the shared gate on for a request that is sent now. It reports whether the
// request may be sent: no other process was faster, or has closed the host. Where
// requests follow each other quickly it reserves a stretch of time for this process. A
// host without an interval is only looked at as often, for what closes it.
func (h *host) reserve(ctx context.Context, now time.Time) bool {
	h.mu.Lock()
	interval, owns := h.interval, now.Before(h.own)
	h.mu.Unlock()
	if h.c.state == nil || owns {
		return true
	}
	h.sharing.Lock()
	defer h.sharing.Unlock()
	var next, own time.Time
	switch {
	case interval == 0:
		if h.look(ctx); h.wait(now) > 0 {
			return false
		}
		own = now.Add(stretch)
	case interval < quick:
		next, own = now.Add(stretch), now.Add(stretch-interval)
	default:
		next = now.Add(interval)
	}
	if interval > 0 && errors.Is(h.note(ctx, next), websync.ErrConflict) && h.look(ctx) {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.free, h.own = next, own
	return true
}

// save notes the gate of a host in the State.
func (h *host) save(ctx context.Context) {
	if h.c.state == nil {
		return
	}
	h.sharing.Lock()
	defer h.sharing.Unlock()
	for range 5 {
		h.mu.Lock()
		next := h.free
		h.mu.Unlock()
		if !errors.Is(h.note(ctx, next), websync.ErrConflict) || !h.look(ctx) {
			return
		}
	}
}

// note writes the gate of a host, unless another process has changed it: then the error
// matches websync.ErrConflict. Another failure costs politeness and nothing else. It
// wants h.sharing.
func (h *host) note(ctx context.Context, next time.Time) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stateTimeout)
	defer cancel()
	h.mu.Lock()
	note := hostNote{Next: next.UTC(), Until: h.until.UTC(), Refusals: h.refusals, Public: h.public}
	h.mu.Unlock()
	value, err := json.Marshal(note)
	if err == nil && !bytes.Equal(value, h.noted) {
		err = h.c.state.Swap(ctx, hostKey(h.origin), h.noted, value)
	}
	switch {
	case err == nil:
		h.noted = value
	case !errors.Is(err, websync.ErrConflict):
		h.c.set.log.WarnContext(ctx, "state not written", "host", h.origin, "err", err)
	}
	return err
}

// look learns what other processes have noted of a host, and reports whether there is
// anything new. No note of a strange clock closes the host for ever. The caller holds
// h.sharing.
func (h *host) look(ctx context.Context) (changed bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stateTimeout)
	defer cancel()
	value, err := h.c.state.State(ctx, hostKey(h.origin))
	if err != nil {
		h.c.set.log.WarnContext(ctx, "state not read", "host", h.origin, "err", err)
	}
	if err != nil || bytes.Equal(value, h.noted) {
		return false
	}
	h.noted = value
	var note hostNote
	if json.Unmarshal(value, &note) != nil {
		return true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	if until := now.Add(min(note.Until.Sub(now), h.c.set.maxRetryAfter)); until.After(h.until) {
		h.until = until
	}
	h.refusals, h.public = max(h.refusals, note.Refusals), h.public || note.Public
	h.free, h.own = note.Next, time.Time{}
	if latest := now.Add(max(h.interval, crawlDelayCap)); h.free.After(latest) {
		h.free = latest
	}
	return true
}

// restore reads what the State knows of a host. If that does not say when the next
// request may be sent, it waits one interval.
func (h *host) restore(ctx context.Context) {
	if h.c.state == nil {
		return
	}
	h.sharing.Lock()
	defer h.sharing.Unlock()
	h.restoreRobots(ctx)
	h.c.enter(ctx, h)
	if h.look(ctx) && h.free.IsZero() {
		h.pace.AllowN(time.Now(), 1)
	}
}

func (h *host) restoreRobots(ctx context.Context) {
	value, err := h.c.state.State(ctx, robotsKey(h.origin))
	if err != nil || json.Unmarshal(value, &h.robots.robotsNote) != nil || h.robots.Checked.IsZero() {
		return
	}
	h.robots.rules = parseRobots(h.robots.Text, h.c.set.token)
	h.obey(h.robots.rules)
}

// kept lists the hosts of which the State keeps something, so that what is of no use any
// more can be deleted: a State can't be listed. Two processes that share a State may each
// lose what the other has entered; it is entered again when the host is asked again.
type kept struct {
	mu sync.Mutex
	// by origin: the day on which it was asked last, counted from 1970; nil: not read yet
	hosts   map[string]int
	tidied  int // the day on which old ones were last looked for
	changed bool
}

// keepOf adds a value of a host to the next Commit.
func (c *Client) keepOf(ctx context.Context, h *host, key string, value []byte) {
	c.enter(ctx, h)
	c.keep(ctx, key, value)
}

// enter notes that a host was asked today, and deletes what is kept of others for too
// long.
func (c *Client) enter(ctx context.Context, h *host) {
	if c.state == nil {
		return
	}
	for _, origin := range c.kept.enter(h.origin, func() []byte {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stateTimeout)
		defer cancel()
		value, _ := c.state.State(ctx, keptKey) // what can't be read is as good as lost
		return value
	}) {
		c.keep(ctx, hostKey(origin), nil)
		c.keep(ctx, robotsKey(origin), nil)
	}
}

// enter notes that a host was asked today. It returns those that are no longer on the
// list.
func (k *kept) enter(origin string, load func() []byte) (gone []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.hosts == nil {
		k.hosts = map[string]int{}
		if json.Unmarshal(load(), &k.hosts) != nil || k.hosts == nil {
			k.hosts = map[string]int{}
		}
	}
	today := int(time.Now().Unix() / (24 * 60 * 60))
	if k.hosts[origin] == today && k.tidied == today {
		return nil
	}
	k.hosts[origin], k.changed = today, true
	if k.tidied != today || len(k.hosts) > keptHosts {
		k.tidied = today
		gone = k.tidy(today)
	}
	return gone
}

// tidy takes the hosts off the list that were not asked for long, and if there are too
// many, an eighth of them.
func (k *kept) tidy(today int) (gone []string) {
	byAge := slices.SortedFunc(maps.Keys(k.hosts), func(a, b string) int {
		return cmp.Or(cmp.Compare(k.hosts[a], k.hosts[b]), cmp.Compare(a, b))
	})
	surplus := 0
	if len(byAge) > keptHosts {
		surplus = len(byAge) - keptHosts*7/8
	}
	for i, origin := range byAge {
		// by a strange clock
		if day := k.hosts[origin]; i < surplus || day < today-keptDays || day > today+1 {
			delete(k.hosts, origin)
			gone = append(gone, origin)
		}
	}
	return gone
}

// value returns what the State is to hold of the list, nil if that has not changed since
// the last call.
func (k *kept) value() []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.changed {
		return nil
	}
	k.changed = false
	value, err := json.Marshal(k.hosts)
	if err != nil {
		return nil
	}
	return value
}
