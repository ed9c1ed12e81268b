package fetch

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"
)

const (
	keptKey    = "fetch/hosts"
	keptHosts  = 4096     // of which a State keeps something
	keptDays   = 30       // since a host was asked last
	keptRobots = 16 << 10 // bytes of a robots.txt; a longer one is read again after a restart
)

// kept lists the hosts of which the State keeps something, so that what is of no use any
// more can be deleted: a State can't say what it holds. Two processes that share a State
// may each lose what the other has entered; it is entered again when the host is asked
// again.
type kept struct {
	mu      sync.Mutex
	hosts   map[string]int // by origin: the day on which it was asked last, counted from 1970; nil: not read yet
	tidied  int            // the day on which old ones were last looked for
	changed bool
}

// keepOf has a value of a host ride in the next Commit.
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
		if day := k.hosts[origin]; i < surplus || day < today-keptDays || day > today+1 { // by a strange clock
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
