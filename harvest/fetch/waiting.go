package fetch

import (
	"context"
	"time"
)

// waitShown is how long a call must have waited for Waiting to return its host.
const waitShown = time.Second

// A wait is that of one call.
type wait struct {
	host  string
	since time.Time
	until func() time.Time
}

// Waiting returns the hosts, named by scheme, name and port, for which a Fetch has been
// waiting for longer than a second: for its turn, for a free transfer, or for its next
// attempt. The value is the moment at which the wait ends, the earliest if several calls
// wait, or the zero Time if it is not known. Waiting may be called at any time and from
// any goroutine.
func (c *Client) Waiting() map[string]time.Time {
	hosts := map[string]time.Time{}
	now := time.Now()
	for _, v := range c.waits.Range {
		w := v.(wait)
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

// wait notes that k waits for a host, and returns a function that ends that.
func (k *call) wait(host string, until func() time.Time) (done func()) {
	if k.since.IsZero() {
		k.since = time.Now()
	}
	k.c.waits.Store(k, wait{host, k.since, until})
	return func() { k.c.waits.Delete(k) }
}

// sleep waits for d, which must not be longer than the call's patience, or until alarm is
// closed.
func (k *call) sleep(ctx context.Context, host string, d time.Duration, alarm <-chan struct{}) error {
	began := time.Now()
	until := began.Add(d)
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
	case <-alarm:
		k.patience -= time.Since(began)
		return nil
	case <-ctx.Done():
		return k.cancelled(ctx)
	}
}

// take acquires a semaphore, if the call's patience lasts. A nil semaphore is free.
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
		h.mu.Lock()
		interval := h.interval
		h.mu.Unlock()
		return h.notYet(k, time.Now().Add(max(interval, time.Second)))
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
	return &RequestError{URL: k.name(), Err: context.Cause(ctx)}
}
