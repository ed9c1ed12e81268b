package fetch

import (
	"time"

	"github.com/websync-go/websync/harvest"
)

// leftAlone is how long a host is left alone by a run that was refused: a run of days
// asks it again.
const leftAlone = time.Hour

// A refusals is how often a host has refused the requests of runs, for lists or for
// bodies: a host may serve its lists and refuse everything else.
type refusals struct {
	N       int       `json:"n,omitempty"`       // answers of 429 and 503 in a row
	At      time.Time `json:"at,omitzero"`       // of the last of them
	Began   time.Time `json:"-"`                 // of the run that it ended
	RetryAt time.Time `json:"retry_at,omitzero"` // by its Retry-After; zero: not stated
	Status  int       `json:"status,omitempty"`  // of the last of them
}

// refusalsOf returns the refusals that a call counts with; nil if it is not of a run, or
// asks for a robots.txt, which has its own waits. The caller holds h.mu.
func (h *host) refusalsOf(k *call) *refusals {
	switch {
	case k.req.Began.IsZero() || k.robots:
		return nil
	case k.req.List:
		return &h.refused[0]
	}
	return &h.refused[1]
}

// isTooMany reports whether the host is left alone after these refusals.
func (c *Client) isTooMany(r *refusals) bool {
	return r != nil && c.set.maxRefusals > 0 && r.N >= c.set.maxRefusals
}

// alone returns an error if the run of k leaves the host alone: one that began before the
// last refusal. A later run may probe, and so may each run after some time.
func (h *host) alone(k *call) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.refusalsOf(k)
	if !h.c.isTooMany(r) {
		return nil
	}
	refused := k.req.Began.Before(r.At) || k.req.Began.Equal(r.Began) // the latter by a coarse clock
	if !refused || time.Since(r.At) > leftAlone {
		return nil
	}
	return h.aloneError(k, r, 0)
}

// aloneError returns the error of a call to a host that is left alone. Status is that of
// the answer to its request; if 0, none was made.
func (h *host) aloneError(k *call, r *refusals, status int) error {
	return &RequestError{
		URL: k.name(), Kind: harvest.ErrTemporary, RetryAt: r.RetryAt,
		Err: &harvest.LeftAloneError{Host: h.origin, Refusals: r.N, Status: r.Status, RetryAt: r.RetryAt, Answered: status != 0},
	}
}

// countRefusal counts an answer to a request of a run. It returns the error of the call
// if the answer makes the run leave the host alone, and reports whether the State has to
// have it. The caller holds h.mu.
func (h *host) countRefusal(k *call, status int, retryAt time.Time) (err error, changed bool) {
	r := h.refusalsOf(k)
	switch {
	case r == nil:
		return nil, false
	case isRefusal(status):
	case status >= 500:
		return nil, false
	default:
		changed = h.c.isTooMany(r)
		*r = refusals{}
		return nil, changed
	}
	*r = refusals{N: r.N + 1, At: time.Now().UTC(), Began: k.req.Began, RetryAt: retryAt.UTC(), Status: status}
	if !h.c.isTooMany(r) {
		return nil, false
	}
	close(h.alarm)
	h.alarm = make(chan struct{})
	return h.aloneError(k, r, status), true
}

// isRefusal reports whether the status of an answer asks for fewer requests.
func isRefusal(status int) bool { return status == 429 || status == 503 }
