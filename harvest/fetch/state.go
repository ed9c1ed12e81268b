package fetch

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/websync-go/websync"
)

const (
	stateTimeout = 10 * time.Second

	// A host is reserved for a time in which this process may send several requests. It
	// begins with the interval or, if that is shorter than quick, with shareMin. While no
	// other process wants the host it is doubled each time, up to shareMax.
	quick    = 50 * time.Millisecond
	shareMin = 500 * time.Millisecond
	shareMax = 5 * time.Second

	unsavedLimit = 1 << 20  // bytes that wait for a Commit
	keptHosts    = 4096     // hosts in a State
	keptDays     = 30       // since the last request to a host
	keptRobots   = 16 << 10 // bytes of a robots.txt; a longer one is not kept
	keptKey      = "fetch/hosts"
)

func hostKey(origin string) string   { return "fetch/host/" + origin }
func robotsKey(origin string) string { return "fetch/robots/" + origin }

// A hostNote is what a State holds of a host: the gate that all processes with this State
// pass. It is changed with compare-and-swap.
type hostNote struct {
	Next     time.Time `json:"next,omitzero"`  // no process may send before, for the interval
	Until    time.Time `json:"until,omitzero"` // likewise, for Retry-After
	Refusals int       `json:"refusals,omitempty"`
	// see host.refused
	Refused [2]refusals `json:"refused,omitzero"`
	Public  bool        `json:"public,omitempty"`
	Wanted  bool        `json:"wanted,omitempty"` // another process waits for Next

	Interval time.Duration `json:"interval,omitempty"` // the longest Request.Interval of the process that wrote the note
}

// shared returns a context for reading or writing the State. A cancelled request does not
// cancel it: the gate is for other requests, too.
func shared(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), stateTimeout)
}

// reserve moves the shared gate forward for a request that is to be sent now, and reports
// whether it may be sent: no other process was faster, or has closed the host. For a host
// without an interval it only reads the gate, every shareMin, to learn what closes the
// host.
func (h *host) reserve(ctx context.Context, now time.Time) bool {
	if h.c.state == nil {
		return true
	}
	h.mu.Lock()
	interval, owns := h.interval, now.Before(h.own)
	h.mu.Unlock()
	if owns {
		return true
	}
	h.sharing.Lock()
	defer h.sharing.Unlock()
	if interval == 0 {
		if h.readGate(ctx); h.wait(now) > 0 {
			return false
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.own = now.Add(shareMin)
		return true
	}
	share := max(interval, h.share)
	if interval < quick {
		share = max(share, shareMin)
	}
	next := now.Add(share)
	if errors.Is(h.writeGate(ctx, hostNote{Next: next}), websync.ErrConflict) {
		h.share = 0
		if h.readGate(ctx) {
			return false
		}
	} else {
		h.share = min(2*share, shareMax)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.free, h.own = next, next.Add(-interval)
	return true
}

// release ends the reservations of this process: others may send when the interval after
// its last request is over.
func (c *Client) release() {
	if c.state == nil {
		return
	}
	c.hosts.mu.Lock()
	all := slices.Collect(maps.Values(c.hosts.m))
	c.hosts.mu.Unlock()
	for _, h := range all {
		h.release()
	}
}

func (h *host) release() {
	h.sharing.Lock()
	defer h.sharing.Unlock()
	now := time.Now()
	h.mu.Lock()
	reserved := h.interval > 0 && now.Before(h.own)
	var next time.Time
	if reserved {
		next = now.Add(time.Duration(max(0, 1-h.pace.TokensAt(now)) * float64(h.interval)))
		h.free, h.own = next, next.Add(-h.interval)
	}
	h.mu.Unlock()
	if reserved {
		h.share = 0
		h.writeGate(context.Background(), hostNote{Next: next}) // on error others wait for the end of the reservation
	}
}

// askForTurn asks another process that has reserved the host to reserve it for shorter
// times.
func (h *host) askForTurn(ctx context.Context, now time.Time) {
	h.mu.Lock()
	next, others := h.free, h.own.IsZero()
	h.mu.Unlock()
	if others && next.After(now) {
		h.sharing.Lock()
		defer h.sharing.Unlock()
		h.writeGate(ctx, hostNote{Next: next, Wanted: true})
	}
}

// save writes the gate of a host to the State.
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
		if !errors.Is(h.writeGate(ctx, hostNote{Next: next}), websync.ErrConflict) || !h.readGate(ctx) {
			return
		}
	}
}

// writeGate writes the gate of a host to the State, with Next and Wanted of the note.
// Wanted makes the next note of the process that has reserved the host a conflict. It
// returns an error that matches websync.ErrConflict if another process has changed the
// gate. Any other error costs politeness and nothing else. The caller holds h.sharing.
func (h *host) writeGate(ctx context.Context, note hostNote) error {
	ctx, cancel := shared(ctx)
	defer cancel()
	h.mu.Lock()
	note.Next, note.Until, note.Interval = note.Next.UTC(), h.until.UTC(), cmp.Or(h.asked, h.kept)
	note.Refusals, note.Refused, note.Public = h.refusals, h.refused, h.public
	h.mu.Unlock()
	value, err := json.Marshal(note)
	if err == nil && !bytes.Equal(value, h.noted) {
		err = h.c.state.Swap(ctx, hostKey(h.origin), h.noted, value)
	}
	switch {
	case err == nil:
		h.noted = value
		h.noteContact(ctx)
	case !errors.Is(err, websync.ErrConflict):
		h.c.set.log.WarnContext(ctx, "state not written", "host", h.origin, "err", err)
	}
	return err
}

// readGate reads the gate of a host from the State, and reports whether another process
// has changed it. However wrong the clock of that process is, the host does not stay
// closed for ever. The caller holds h.sharing.
func (h *host) readGate(ctx context.Context) (changed bool) {
	ctx, cancel := shared(ctx)
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
	h.kept = max(note.Interval, 0)
	h.adjust()
	h.refusals, h.public = max(h.refusals, note.Refusals), h.public || note.Public
	for i, other := range note.Refused {
		if other.N > 0 && other.At.After(h.refused[i].At) && !other.At.After(now) {
			h.refused[i] = other
		}
	}
	h.free, h.own = note.Next, time.Time{}
	if latest := now.Add(max(h.interval, crawlDelayCap)); h.free.After(latest) {
		h.free = latest
	}
	return true
}

// restore reads from the State what it holds of a host. If it is known, but not when the
// next request may be sent, that is after one interval.
func (h *host) restore(ctx context.Context) {
	if h.c.state == nil {
		return
	}
	h.sharing.Lock()
	defer h.sharing.Unlock()
	r := &h.robots
	value, err := h.c.state.State(ctx, robotsKey(h.origin))
	if err == nil && json.Unmarshal(value, &r.robotsNote) == nil && !r.Checked.IsZero() {
		h.setRules(parseRobots(string(r.Text), h.c.set.token))
	}
	h.noteContact(ctx)
	if h.readGate(ctx) && h.free.IsZero() {
		h.pace.AllowN(time.Now(), 1)
	}
}

// saved holds values until the next Commit, and the list of hosts in the State. A State
// cannot be listed; the list is what allows to delete the values of hosts that are not
// contacted any more. Of two processes that share a State each may overwrite what the
// other has added to the list; it is added again with the next request to the host.
type saved struct {
	mu     sync.Mutex
	values map[string][]byte // nil: to be deleted
	size   int               // of values, in bytes

	hosts   map[string]contact // by origin; nil: not read
	taken   shares             // of the number of hosts
	checked int                // the day on which old hosts were last deleted
	changed bool               // since the list was last written
}

// A contact is what the list of hosts has of one.
type contact struct {
	Day  int    `json:"day"`  // of the last request, from 1970
	Root string `json:"root"` // for which the host counts
}

// UnmarshalJSON also reads what earlier versions have written, the day alone.
func (c *contact) UnmarshalJSON(data []byte) error {
	type fields contact
	if json.Unmarshal(data, &c.Day) == nil {
		return nil
	}
	return json.Unmarshal(data, (*fields)(c))
}

// Unsaved is an optional method of a [harvest.Fetcher].
func (c *Client) Unsaved() map[string][]byte {
	s := &c.saved
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changed {
		list, _ := json.Marshal(s.hosts) // which consists of strings and numbers
		s.set(keptKey, list)
		s.changed = false
	}
	values := s.values
	s.values, s.size = nil, 0
	return values
}

// set adds a value to the next Commit; nil deletes it. The caller holds s.mu.
func (s *saved) set(key string, value []byte) {
	if s.values == nil {
		s.values = map[string][]byte{}
	}
	s.size += len(key) + len(value) - len(s.values[key])
	s.values[key] = value
}

// keep adds a value to the next Commit. If there is none, the values are written as soon
// as they are too large.
func (c *Client) keep(ctx context.Context, key string, value []byte) {
	if c.state == nil {
		return
	}
	c.saved.mu.Lock()
	c.saved.set(key, value)
	full := c.saved.size > unsavedLimit
	c.saved.mu.Unlock()
	if full {
		for key, value := range c.Unsaved() {
			c.write(ctx, key, value)
		}
	}
}

// write sets a value in the State now. An error costs politeness and nothing else.
func (c *Client) write(ctx context.Context, key string, value []byte) {
	ctx, cancel := shared(ctx)
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

// noteContact notes that a host is contacted today. Once a day, and if there are too many
// hosts, it deletes those that were not contacted for long.
func (h *host) noteContact(ctx context.Context) {
	c := h.c
	if c.state == nil {
		return
	}
	c.hosts.mu.Lock()
	root := h.root
	c.hosts.mu.Unlock()
	s := &c.saved
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hosts == nil {
		ctx, cancel := shared(ctx)
		defer cancel()
		value, _ := c.state.State(ctx, keptKey)
		s.read(value)
	}
	today := int(time.Now().Unix() / (24 * 60 * 60))
	s.note(h.origin, contact{today, root})
	if s.checked == today && len(s.hosts) <= keptHosts {
		return
	}
	s.checked = today
	for _, gone := range s.oldHosts(h.origin, today) {
		s.taken.add(s.hosts[gone].Root, -1)
		delete(s.hosts, gone)
		s.changed = true
		s.set(hostKey(gone), nil)
		s.set(robotsKey(gone), nil)
	}
}

// read reads the list of hosts. One that is malformed counts as empty.
func (s *saved) read(value []byte) {
	if json.Unmarshal(value, &s.hosts) != nil || s.hosts == nil {
		s.hosts = map[string]contact{}
	}
	s.taken = shares{}
	for _, known := range s.hosts {
		s.taken.add(known.Root, 1)
	}
}

// note sets what the list has of a host.
func (s *saved) note(origin string, now contact) {
	known, ok := s.hosts[origin]
	if ok {
		now.Root = s.taken.rootOf(origin, known.Root, now.Root)
	}
	if ok && now == known {
		return
	}
	if ok {
		s.taken.add(known.Root, -1)
	} else if key := hostKey(origin); s.values[key] == nil {
		delete(s.values, key) // it was forgotten, and what is written of it now is to stay
	}
	s.taken.add(now.Root, 1)
	s.hosts[origin], s.changed = now, true
}

// oldHosts returns the hosts that were not contacted for long and, if there are too many,
// an eighth of all: of the roots that have most. It does not return the host at except.
func (s *saved) oldHosts(except string, today int) (old []string) {
	byAge := slices.SortedFunc(maps.Keys(s.hosts), func(a, b string) int {
		return cmp.Or(cmp.Compare(s.hosts[a].Day, s.hosts[b].Day), cmp.Compare(a, b))
	})
	fair := math.MaxInt
	if len(byAge) > keptHosts {
		fair = s.taken.fair(keptHosts / 8 * 7)
	}
	taken := maps.Clone(s.taken)
	for _, origin := range byAge {
		// A day in the future is of a wrong clock.
		h := s.hosts[origin]
		long := h.Day < today-keptDays || h.Day > today+1
		if origin != except && (long || taken[h.Root] > fair) {
			taken.add(h.Root, -1)
			old = append(old, origin)
		}
	}
	return old
}
