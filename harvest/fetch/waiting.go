package fetch

import (
	"sync"
	"time"
)

// waitShown is how long a call must wait for its host to be among those that wait.
const waitShown = time.Second

// waits are the calls that wait.
type waits struct {
	mu sync.Mutex
	m  map[*call]wait
}

type wait struct {
	host  string
	since time.Time
	until func() time.Time
}

// Waiting returns the hosts, named by scheme, name and port, for which some Fetch has
// been waiting for longer than a second: for its turn, for a free transfer, or for its
// next attempt. With each comes the moment until which that lasts, the earliest if
// several wait; the zero Time, if nobody knows. It may be called at any time and from any
// goroutine.
func (c *Client) Waiting() map[string]time.Time {
	c.waits.mu.Lock()
	defer c.waits.mu.Unlock()
	hosts := map[string]time.Time{}
	now := time.Now()
	for _, w := range c.waits.m {
		if now.Sub(w.since) <= waitShown {
			continue
		}
		until := w.until()
		if !until.After(now) {
			until = time.Time{}
		}
		if old, ok := hosts[w.host]; !ok || old.IsZero() || !until.IsZero() && until.Before(old) {
			hosts[w.host] = until
		}
	}
	return hosts
}

// wait notes that k waits for a host until the moment that a function returns, and
// returns what ends that.
func (k *call) wait(host string, until func() time.Time) (done func()) {
	now := time.Now()
	if k.since.IsZero() {
		k.since = now
	}
	w := &k.c.waits
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.m == nil {
		w.m = map[*call]wait{}
	}
	w.m[k] = wait{host, k.since, until}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.m, k)
	}
}
