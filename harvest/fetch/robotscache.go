package fetch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

const (
	robotsFresh = 24 * time.Hour // RFC 9309 §2.4
	// after which an unreachable one forbids nothing, RFC 9309 §2.3.1.4
	robotsGrace = 30 * 24 * time.Hour
	// between two rounds for an unreachable one, at first
	robotsRepeat = time.Minute
	robotsSeldom = time.Hour // later
)

// errRobots: robots.txt, or not having it, forbids the request.
var errRobots = errors.New("robots.txt")

// A robotsCache is what is known of a host's robots.txt.
type robotsCache struct {
	turn chan struct{} // held by the call that looks after it; guards all below
	robotsNote
	rules *robotsRules // nil: not known
	again time.Time
	err   error // why it is unreachable
}

// A robotsNote is what a State keeps of it.
type robotsNote struct {
	Text        []byte    `json:"text,omitempty"`
	Checked     time.Time `json:"checked,omitzero"`     // zero: never read
	Unreachable time.Time `json:"unreachable,omitzero"` // since
	ETag        string    `json:"etag,omitempty"`
	Modified    string    `json:"modified,omitempty"`
}

// permitted returns an error if robots.txt forbids u.
func (k *call) permitted(ctx context.Context, h *host, u *url.URL) error {
	rules, err := k.rules(ctx, h)
	if err != nil {
		return err
	}
	if ok, rule := rules.Allowed(u); !ok {
		return refused(u.String(), "forbidden by %s/%w, line %d: %s", h.origin, errRobots, rule.Line, rule)
	}
	return nil
}

// rules returns the host's rules, read again if they are old.
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
		return r.unread(k, h, fmt.Errorf("%w: %v", harvest.ErrNotYet, r.err))
	}
	err := k.readRobots(ctx, h)
	switch {
	case err == nil:
		return r.rules, nil
	case ctx.Err() != nil, errors.Is(err, harvest.ErrNotYet):
		return nil, err
	case errors.Is(err, harvest.ErrForbidden): // which may be so for this call only
		return nil, &RequestError{
			URL: websync.RedactURL(k.url.String()), Kind: harvest.ErrForbidden,
			Err: fmt.Errorf("%w of %s: %w", errRobots, h.origin, err),
		}
	}
	r.lost(err)
	h.keepRobots(ctx)
	return r.unread(k, h, err)
}

// lost notes that robots.txt can't be reached. The longer this lasts, the more seldom it
// is asked for.
func (r *robotsCache) lost(err error) {
	now := time.Now()
	if r.Unreachable.IsZero() {
		r.Unreachable = now.UTC()
	}
	r.err, r.again = err, now.Add(min(max(now.Sub(r.Unreachable), robotsRepeat), robotsSeldom))
	if at, ok := harvest.RetryAfter(err); ok && at.After(r.again) {
		r.again = at
	}
}

// unread answers for a robots.txt that can't be reached: the old rules, or nothing is
// allowed.
func (r *robotsCache) unread(k *call, h *host, why error) (*robotsRules, error) {
	switch {
	case r.rules != nil:
		return r.rules, nil
	case time.Since(r.Unreachable) > robotsGrace:
		return &robotsRules{}, nil
	}
	e := &RequestError{
		URL: websync.RedactURL(k.url.String()), RetryAt: r.again,
		Err: fmt.Errorf("%w of %s can't be reached, and nothing is fetched without: %w", errRobots, h.origin, why),
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

// readRobots asks the host for its robots.txt.
func (k *call) readRobots(ctx context.Context, h *host) error {
	r := &h.robots
	req := &harvest.Request{URL: h.origin + "/robots.txt", Root: k.req.Root, Accept: "text/plain, */*;q=0.1", MaxBytes: -1}
	if r.rules != nil {
		req.Validator = harvest.Validator{ETag: r.ETag, LastModified: r.Modified}
	}
	sub, err := k.c.newCall(req)
	if err != nil {
		return err
	}
	sub.robots, sub.patience = true, k.patience
	text, resp, err := sub.robotsText(ctx)
	k.patience = sub.patience
	switch {
	case err == nil && resp.NotModified:
		text = r.Text
	case err == nil:
	case unavailable(err):
		text, resp = nil, &harvest.Response{}
	default:
		return err
	}
	r.robotsNote = robotsNote{Text: text, Checked: time.Now().UTC(), ETag: resp.Validator.ETag, Modified: resp.Validator.LastModified}
	r.rules = parseRobots(text, k.c.set.token)
	h.obey(r.rules)
	h.keepRobots(ctx)
	return nil
}

// unavailable reports whether err says that there is no robots.txt (RFC 9309 §2.3.1.2 and
// §2.3.1.3). What may pass, as 429, doesn't say so: it is treated as unreachable, which
// asks less of the host.
func unavailable(err error) bool {
	if errors.Is(err, errRedirect) {
		return !errors.Is(err, harvest.ErrForbidden)
	}
	_, answered := errors.AsType[*StatusError](err)
	return answered && !serverError(err) && !errors.Is(err, harvest.ErrTemporary)
}

// robotsText reads a robots.txt as far as it counts, with as many attempts as any body.
func (k *call) robotsText(ctx context.Context) ([]byte, *harvest.Response, error) {
	var text []byte
	resp, err := k.repeat(ctx, func(resp *harvest.Response) (err error) {
		if resp.NotModified {
			return nil
		}
		defer resp.Body.Close()
		text, err = io.ReadAll(io.LimitReader(resp.Body, robotsBytes+1))
		return err
	})
	return text, resp, err
}

// obey makes the host's interval at least as long as robots.txt wants it.
func (h *host) obey(r *robotsRules) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if d := max(h.c.set.interval, r.CrawlDelay); d != h.interval && !h.c.IgnoreRobots {
		h.setInterval(d)
		h.pace.AllowN(time.Now(), 1) // robots.txt was a request, too
	}
}

// keepRobots notes robots.txt for the State, unless it is long, and what it takes of
// memory.
func (h *host) keepRobots(ctx context.Context) {
	note := h.robots.robotsNote
	h.c.hosts.mu.Lock()
	h.c.hosts.resize(h, 1024+8*len(note.Text))
	h.c.hosts.mu.Unlock()
	if len(note.Text) > keptRobots {
		note = robotsNote{Unreachable: note.Unreachable} // as if it was never read
	}
	value, err := json.Marshal(note)
	if err == nil {
		h.c.keepOf(ctx, h, robotsKey(h.origin), value)
	}
}
