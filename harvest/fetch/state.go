package fetch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/websync-go/websync"
)

const (
	atOnce       = 10 * time.Second // waits from this on are written without waiting for a Commit
	unsavedLimit = 1 << 20          // bytes that wait for one
	stateTimeout = 10 * time.Second
)

func hostKey(origin string) string   { return "fetch/host/" + origin }
func robotsKey(origin string) string { return "fetch/robots/" + origin }

// A hostNote is what a State keeps of a host. That there is one means that the host was
// asked before.
type hostNote struct {
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

// keep has a value ride in the next Commit, where nil deletes it. If nobody takes them,
// they are written from here.
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

// save notes the gate of a host, at once if it is closed for long.
func (h *host) save(ctx context.Context) {
	if h.c.state == nil {
		return
	}
	h.mu.Lock()
	note := hostNote{Until: h.until.UTC(), Refusals: h.refusals, Public: h.public}
	h.mu.Unlock()
	value, err := json.Marshal(note)
	if err != nil {
		return
	}
	h.c.keepOf(ctx, h, hostKey(h.origin), value) // also if it is written now: an older value may be on its way
	if time.Until(note.Until) > atOnce {
		h.c.write(ctx, hostKey(h.origin), value)
	}
}

// restore reads what the State knows of a host, and waits one interval if it knows it:
// how long ago the last request was can't be told.
func (h *host) restore(ctx context.Context) {
	if h.c.state == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stateTimeout)
	defer cancel()
	h.restoreRobots(ctx)
	value, err := h.c.state.State(ctx, hostKey(h.origin))
	if err != nil {
		h.c.set.log.WarnContext(ctx, "state not read", "host", h.origin, "err", err)
	}
	var note hostNote
	if json.Unmarshal(value, &note) != nil {
		h.save(ctx)
		return
	}
	h.c.enter(ctx, h)
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	h.refusals, h.public = max(note.Refusals, 0), note.Public
	h.until = now.Add(min(note.Until.Sub(now), h.c.set.maxRetryAfter)) // no note of a strange clock closes it for ever
	h.pace.AllowN(now, 1)
}

func (h *host) restoreRobots(ctx context.Context) {
	value, err := h.c.state.State(ctx, robotsKey(h.origin))
	if err != nil || json.Unmarshal(value, &h.robots.robotsNote) != nil || h.robots.Checked.IsZero() {
		return
	}
	h.robots.rules = ParseRobots(h.robots.Text, h.c.set.token)
	h.obey(h.robots.rules)
}
