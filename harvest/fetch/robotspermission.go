package fetch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"

	"github.com/websync-go/websync/harvest"
)

const (
	robotsFresh = 24 * time.Hour      // a robots.txt is used, RFC 9309 §2.4
	robotsGrace = 30 * 24 * time.Hour // an unreachable one forbids all, RFC 9309 §2.3.1.4
	// The time between two requests for an unreachable one grows from robotsRetryMin to
	// robotsRetryMax.
	robotsRetryMin = time.Minute
	robotsRetryMax = time.Hour
)

// errRobots: robots.txt forbids the request, or is needed for it and unreachable.
var errRobots = errors.New("robots.txt")

// A robotsCache holds the robots.txt of a host.
type robotsCache struct {
	turn chan struct{} // a semaphore that guards all fields below
	robotsNote
	rules *robotsRules // nil: never read
	again time.Time    // when an unreachable one may be asked for again
	err   error        // why it is unreachable
}

// A robotsNote is what a State holds of a robotsCache.
type robotsNote struct {
	Text        []byte    `json:"text,omitempty"`
	Checked     time.Time `json:"checked,omitzero"`     // zero: never read
	Unreachable time.Time `json:"unreachable,omitzero"` // since
	ETag        string    `json:"etag,omitempty"`
	Modified    string    `json:"modified,omitempty"`
}

// permitted returns an error if robots.txt forbids u.
func (k *call) permitted(ctx context.Context, h *host, u *url.URL) error {
	if k.robots || k.c.IgnoreRobots {
		return nil
	}
	rules, err := k.rules(ctx, h)
	if err != nil {
		return err
	}
	if rule := rules.match(u); rule != nil && !rule.allow {
		return refused(u.String(), "forbidden by %s/%w, line %d: %s", h.origin, errRobots, rule.line, rule)
	}
	return nil
}

// rules returns the host's rules. It reads robots.txt if it is not known or too old.
func (k *call) rules(ctx context.Context, h *host) (*robotsRules, error) {
	r := &h.robots
	if err := k.take(ctx, h, r.turn); err != nil {
		return nil, err
	}
	defer give(r.turn)
	now := time.Now()
	if r.rules != nil && now.Sub(r.Checked) < robotsFresh && !now.Before(r.Checked.Add(-time.Hour)) {
		return r.rules, nil
	}
	if now.Before(r.again) {
		return k.withoutRobots(h, fmt.Errorf("%w: %v", harvest.ErrNotYet, h.withoutURL(r.err)))
	}
	err := k.readRobots(ctx, h)
	switch {
	case err == nil:
		return r.rules, nil
	case ctx.Err() != nil, errors.Is(err, harvest.ErrNotYet):
		return nil, err
	case errors.Is(err, harvest.ErrForbidden): // perhaps for this call only
		return nil, &RequestError{
			URL: k.name(), Kind: harvest.ErrForbidden,
			Err: fmt.Errorf("%w: %w", errRobots, h.withoutURL(err)),
		}
	}
	r.failed(err)
	h.keepRobots(ctx)
	return k.withoutRobots(h, h.withoutURL(err))
}

// A reasonError is an error of a request whose text does not name the URL.
type reasonError struct {
	error
	reason string
}

func (e reasonError) Error() string { return e.reason }

func (e reasonError) Unwrap() error { return e.error }

// withoutURL returns an error of the request for robots.txt. It is told with the error of
// another request to the host: its text names the URL only where a redirect has led away.
func (h *host) withoutURL(err error) error {
	switch e := err.(type) {
	case *StatusError:
		if e.URL == h.origin+"/robots.txt" {
			return reasonError{err, e.reason()}
		}
	case *RequestError:
		if e.URL == h.origin+"/robots.txt" {
			return reasonError{err, e.Err.Error()}
		}
	}
	return err
}

// failed notes that robots.txt is unreachable. The longer it is, the longer the wait
// until the next request for it.
func (r *robotsCache) failed(err error) {
	now := time.Now()
	if r.Unreachable.IsZero() {
		r.Unreachable = now.UTC()
	}
	r.err, r.again = err, now.Add(min(max(now.Sub(r.Unreachable), robotsRetryMin), robotsRetryMax))
	if at, ok := harvest.RetryAfter(err); ok && at.After(r.again) {
		r.again = at
	}
}

// withoutRobots returns the rules while robots.txt is unreachable: the last known ones;
// if there are none, an error during the grace period, and no rules after it.
func (k *call) withoutRobots(h *host, why error) (*robotsRules, error) {
	r := &h.robots
	switch {
	case r.rules != nil:
		return r.rules, nil
	case time.Since(r.Unreachable) > robotsGrace:
		return &robotsRules{}, nil
	}
	e := &RequestError{
		URL: k.name(), RetryAt: r.again,
		Err: fmt.Errorf("%w is unreachable, which forbids all requests to the host: %w", errRobots, why),
	}
	if errors.Is(r.err, harvest.ErrTemporary) || serverError(r.err) {
		e.Kind = harvest.ErrTemporary
	}
	return nil, e
}

func serverError(err error) bool {
	e, ok := errors.AsType[*StatusError](err)
	return ok && e.Code >= 500
}

// readRobots requests the host's robots.txt, as far as it is used, with as many attempts
// as any body.
func (k *call) readRobots(ctx context.Context, h *host) error {
	r := &h.robots
	req := &harvest.Request{
		URL: h.origin + "/robots.txt", Root: k.req.Root, Source: k.req.Source, List: k.req.List,
		Accept: "text/plain, */*;q=0.1", MaxBytes: -1,
	}
	if r.rules != nil {
		req.Validator = harvest.Validator{ETag: r.ETag, LastModified: r.Modified}
	}
	sub, err := k.c.newCall(req)
	if err != nil {
		return err
	}
	sub.robots, sub.patience, sub.redirects = true, k.patience, 5 // RFC 9309 §2.3.1.2
	var text []byte
	resp, err := sub.repeat(ctx, func(resp *harvest.Response) (err error) {
		if resp.NotModified {
			text = r.Text
			return nil
		}
		defer resp.Body.Close()
		text, err = io.ReadAll(io.LimitReader(resp.Body, robotsBytes+1))
		return err
	})
	k.patience = sub.patience
	if noRobots(err) {
		text, resp, err = nil, &harvest.Response{}, nil
	}
	if err != nil {
		return err
	}
	v := resp.Validator
	r.robotsNote = robotsNote{Text: text, Checked: time.Now().UTC(), ETag: v.ETag, Modified: v.LastModified}
	h.setRules(parseRobots(string(text), k.c.set.token))
	h.keepRobots(ctx)
	return nil
}

// noRobots reports whether err means that there is no robots.txt (RFC 9309 §2.3.1.2 and
// §2.3.1.3). A temporary status such as 429 does not: it counts as unreachable, which
// makes fewer requests.
func noRobots(err error) bool {
	if errors.Is(err, errRedirect) {
		return !errors.Is(err, harvest.ErrForbidden)
	}
	_, answered := errors.AsType[*StatusError](err)
	return answered && !serverError(err) && !errors.Is(err, harvest.ErrTemporary)
}

// setRules sets the rules of the host, and makes its interval at least as long as their
// Crawl-delay.
func (h *host) setRules(r *robotsRules) {
	h.robots.rules = r
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.c.IgnoreRobots {
		h.delay = r.crawlDelay
	}
	if h.adjust() {
		h.pace.AllowN(time.Now(), 1) // for the request for robots.txt
	}
}

// keepRobots writes the note to the State, without its text if that is long, and updates
// the memory that is counted for the host.
func (h *host) keepRobots(ctx context.Context) {
	note := h.robots.robotsNote
	h.c.hosts.mu.Lock()
	h.c.hosts.resize(h, hostSize+8*len(note.Text))
	h.c.hosts.mu.Unlock()
	if len(note.Text) > keptRobots {
		note = robotsNote{Unreachable: note.Unreachable} // as if it was never read
	}
	if value, err := json.Marshal(note); err == nil {
		h.noteContact(ctx)
		h.c.keep(ctx, robotsKey(h.origin), value)
	}
}
