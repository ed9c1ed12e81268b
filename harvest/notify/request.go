package notify

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
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
	return outgoing.NewClient(s.Client, &http.Transport{DialContext: dialer.DialContext}, keepsSecret)
}

// keepsSecret reports whether a redirect to another hub (WebSub §5.1) may be followed:
// the secret in the request must not be sent unencrypted.
func keepsSecret(from, to *url.URL) bool { return from.Scheme != "https" || to.Scheme == "https" }

// ask sends the request that begin has noted in r, and notes its error.
func (s *Subscriber) ask(ctx context.Context, r *record) {
	began := time.Now()
	limited, cancel := context.WithTimeout(ctx, requestTime)
	failed := outgoing.Post(limited, s.client, r.Hub, outgoing.Form, s.form(r))
	cancel()
	if ctx.Err() != nil {
		return
	}
	mode := r.mode()
	log := s.log.With("uri", websync.RedactURL(r.Topic), "host", hostOf(r.Hub), "attempt", r.Attempts, "dur", time.Since(began))
	if failed != nil {
		log.Warn("notify: hub has not accepted", "mode", mode, "error", failed)
	} else {
		log.Info("notify: hub asked", "mode", mode)
	}
	err := s.change(ctx, idOf(r.Topic), func(held *record) *record {
		if !held.is(r.Token) || held.Attempts != r.Attempts || held.mode() != mode {
			return held // confirmed, denied, or cancelled in the meantime
		}
		held.Error = ""
		if failed != nil {
			held.Error = failed.Error()
		}
		if e, ok := errors.AsType[*outgoing.StatusError](failed); ok {
			if later := now().Add(e.RetryAfter); later.After(held.Next) {
				held.Next = later
			}
		}
		return held
	})
	if err != nil {
		log.Warn("notify: answer of the hub not stored", "error", err)
	}
}

// mode returns the hub.mode of the next request; empty if there is none.
func (r *record) mode() string {
	switch r.Status {
	case Pending, Active:
		return "subscribe"
	case Ending:
		return "unsubscribe"
	}
	return ""
}

// form returns the body of the request (WebSub §5.1).
func (s *Subscriber) form(r *record) string {
	form := url.Values{
		"hub.mode":     {r.mode()},
		"hub.topic":    {r.Topic},
		"hub.callback": {strings.TrimSuffix(s.Callback, "/") + "/" + r.Token},
	}
	if r.mode() == "subscribe" {
		if r.Secret != "" {
			form.Set("hub.secret", r.Secret)
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

func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Host
}
