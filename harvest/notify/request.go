package notify

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"code.dny.dev/ssrf"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/outgoing"
)

// requestTime is how long a request to a hub may take.
const requestTime = 30 * time.Second

func (s *Subscriber) newClient() *http.Client {
	dialer := &net.Dialer{Timeout: 10 * time.Second, Control: ssrf.New(ssrf.WithAnyPort()).Safe}
	client := outgoing.NewClient(s.Client, &http.Transport{DialContext: dialer.DialContext}, keepsSecret)
	client.Transport = &perHost{RoundTripper: cmp.Or(client.Transport, http.DefaultTransport), hosts: map[string]*hostSlots{}}
	return client
}

// keepsSecret reports whether a redirect to another hub (WebSub §5.1) may be followed:
// the secret in the request must not be sent unencrypted.
func keepsSecret(from, to *url.URL) bool { return from.Scheme != "https" || to.Scheme == "https" }

// findTime is how long finding a hub may take.
const findTime = time.Minute

// request makes the request that is due for a URL, what begin has noted in h, and
// releases a slot of w. A hub is asked to subscribe after it was found again, unless that
// was just done.
func (s *Subscriber) request(ctx context.Context, w worker, r *record, h *held) {
	if h.Status != Ending {
		h = s.wanted(ctx, r, h)
	}
	if <-w.slots; h == nil {
		return
	}
	select {
	case <-ctx.Done():
	case s.asks.slots <- struct{}{}:
		s.ask(ctx, h)
		<-s.asks.slots
	}
}

// wanted returns the subscription to request in place of h, or nil if there is none.
func (s *Subscriber) wanted(ctx context.Context, r *record, h *held) (next *held) {
	topic, hubs, failed := h.Topic, r.Hubs, error(nil)
	stale := r.stale(now())
	if stale {
		topic, hubs, failed = s.discover(ctx, h.URL)
	}
	if ctx.Err() != nil {
		return nil
	}
	err := s.change(ctx, idOf(h.URL), func(r *record) *record {
		if next = nil; r == nil || r.Subs[0].Token != h.Token || r.Subs[0].Status == Ending {
			return r // another Run was faster, or it is not wanted any more
		}
		if stale {
			r.Sought = now()
		}
		switch {
		case failed != nil && len(r.Hubs) == 0:
			r.Subs[0].Error = failed.Error()
			return r
		case failed != nil: // what was found before serves
			topic, hubs = r.Subs[0].Topic, r.Hubs
		case len(hubs) == 0:
			r.none(now())
			return r
		}
		r.choose(topic, hubs, now())
		next = r.Subs[0]
		return r
	})
	log := h.logger(s.log)
	switch {
	case err != nil:
		log.Warn("notify: subscription not stored", "error", err)
		return nil
	case failed != nil:
		log.Warn("notify: hub not found", "error", failed)
	case len(hubs) == 0:
		log.Info("notify: the document names no hub")
	case next != nil && (next.Topic != h.Topic || next.Hub != h.Hub):
		next.logger(s.log).Info("notify: hub found", "topic", websync.RedactURL(next.Topic))
	}
	return next
}

// maxHubs is how many hubs of a document count.
const maxHubs = 8

// discover finds the topic and hubs of the document at a URL. Hubs that WebSub can't use
// do not count if there are others.
func (s *Subscriber) discover(ctx context.Context, url string) (topic string, hubs []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, findTime)
	defer cancel()
	topic, hubs, err = s.Discover(ctx, url)
	if err != nil || len(hubs) == 0 {
		return "", nil, err
	}
	if err := checkURL("topic", topic); err != nil {
		return "", nil, err
	}
	usable := slices.DeleteFunc(slices.Clone(hubs), func(hub string) bool { return checkURL("hub", hub) != nil })
	if len(usable) == 0 {
		return "", nil, checkURL("hub", hubs[0])
	}
	return topic, usable[:min(len(usable), maxHubs)], nil
}

// ask sends a request to the hub of h, and notes its error.
func (s *Subscriber) ask(ctx context.Context, h *held) {
	began := time.Now()
	limited, cancel := context.WithTimeout(ctx, requestTime)
	failed := outgoing.Post(limited, s.client, h.Hub, outgoing.Form, s.form(h))
	cancel()
	if ctx.Err() != nil {
		return
	}
	log := h.logger(s.log).With("mode", h.mode(), "attempt", h.Attempts, "dur", time.Since(began))
	if failed == nil {
		log.Info("notify: hub asked")
	} else {
		log.Warn("notify: hub has not accepted", "error", failed)
	}
	err := s.change(ctx, idOf(h.URL), func(r *record) *record {
		now := r.byToken(h.Token)
		if now == nil || now.Attempts != h.Attempts || now.mode() != h.mode() {
			return r // confirmed, denied, or cancelled in the meantime
		}
		now.Error = ""
		if failed != nil {
			now.Error = failed.Error()
		}
		r.patience(now, failed)
		return r
	})
	if err != nil {
		log.Warn("notify: answer of the hub not stored", "error", err)
	}
}

// patience makes h wait as long as the answer of its hub states, unless another hub has
// its turn before.
func (r *record) patience(h *held, failed error) {
	e, ok := errors.AsType[*outgoing.StatusError](failed)
	if !ok || h == r.Subs[0] && !r.lastTurn() {
		return
	}
	if later := now().Add(e.RetryAfter); later.After(h.Next) {
		h.Next = later
	}
}

// mode returns the hub.mode of the next request; empty if there is none.
func (h *held) mode() string {
	switch h.Status {
	case Pending, Active:
		return "subscribe"
	case Ending:
		return "unsubscribe"
	}
	return ""
}

// form returns the body of the request (WebSub §5.1).
func (s *Subscriber) form(h *held) string {
	form := url.Values{
		"hub.mode":     {h.mode()},
		"hub.topic":    {h.Topic},
		"hub.callback": {strings.TrimSuffix(s.Callback, "/") + "/" + h.Token},
	}
	if h.mode() == "subscribe" {
		if h.Secret != "" {
			form.Set("hub.secret", h.Secret)
		}
		if s.Lease >= 0 {
			form.Set("hub.lease_seconds", strconv.FormatInt(int64(s.lease()/time.Second), 10))
		}
	}
	return form.Encode()
}

// lease returns the lease to request.
func (s *Subscriber) lease() time.Duration {
	if s.Lease <= 0 {
		return 10 * 24 * time.Hour
	}
	return max(s.Lease, time.Second)
}

// logger returns a Logger that names h.
func (h *held) logger(log *slog.Logger) *slog.Logger {
	log = log.With("uri", websync.RedactURL(h.URL))
	if u, err := url.Parse(h.Hub); err == nil && u.Host != "" {
		log = log.With("host", u.Host)
	}
	return log
}
