package notify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"code.dny.dev/ssrf"

	"github.com/websync-go/websync"
)

const (
	requestTime = 30 * time.Second
	maxReason   = 200 // bytes of a hub's error text
)

func (s *Subscriber) newClient() *http.Client {
	var client http.Client
	if s.Client != nil {
		client = *s.Client
	} else {
		dialer := &net.Dialer{Timeout: 10 * time.Second, Control: ssrf.New(ssrf.WithAnyPort()).Safe}
		client.Transport = &http.Transport{
			DialContext: dialer.DialContext, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: 64 << 10,
			TLSHandshakeTimeout: 10 * time.Second, IdleConnTimeout: 10 * time.Second,
		}
	}
	if client.CheckRedirect == nil {
		client.CheckRedirect = keepsMethod
	}
	return &client
}

// keepsMethod lets a redirect pass that leads to another hub (WebSub §5.1), and doesn't
// reveal the secret on the way.
func keepsMethod(r *http.Request, via []*http.Request) error {
	first := via[0]
	if len(via) > 3 || r.Method != first.Method || first.URL.Scheme == "https" && r.URL.Scheme != "https" {
		return http.ErrUseLastResponse
	}
	return nil
}

// ask sends the request that r has begun, and enters what was wrong with it.
func (s *Subscriber) ask(ctx context.Context, r *record) {
	began := time.Now()
	wait, failed := s.post(ctx, r)
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
			return held // confirmed, denied, or no longer wanted in the meantime
		}
		held.Error = ""
		if failed != nil {
			held.Error = failed.Error()
		}
		if later := now().Add(wait); wait > 0 && later.After(held.Next) {
			held.Next = later
		}
		return held
	})
	if err != nil {
		log.Warn("notify: answer of the hub not stored", "error", err)
	}
}

// mode returns what is asked of the hub.
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

// lease returns how long a subscription should last.
func (s *Subscriber) lease() time.Duration {
	if s.Lease <= 0 {
		return 10 * 24 * time.Hour
	}
	return max(s.Lease, time.Second)
}

// post sends the request once. Wait is how long the hub wants to be left alone.
func (s *Subscriber) post(ctx context.Context, r *record) (wait time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.Hub, strings.NewReader(s.form(r)))
	if err != nil {
		return 0, errors.New("not a URL to post to")
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("User-Agent", "websync/"+websync.Version+" (+https://github.com/websync-go/websync)")
	resp, err := s.client.Do(req)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err // without the URL, which may hold a secret
		}
		return 0, err
	}
	defer resp.Body.Close()
	reason, _ := io.ReadAll(io.LimitReader(resp.Body, maxReason))
	io.CopyN(io.Discard, resp.Body, 64<<10) // so that the connection can be used again
	if resp.StatusCode/100 == 2 {
		return 0, nil
	}
	err = fmt.Errorf("status %d", resp.StatusCode)
	if len(reason) > 0 {
		err = fmt.Errorf("status %d: %q", resp.StatusCode, reason)
	}
	return retryAfter(resp.Header, time.Now()), err
}

// retryAfter returns the wait that an answer asks for (RFC 9110 §10.2.3), a day at most.
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := strings.TrimSpace(h.Get("Retry-After"))
	const longest = 24 * time.Hour
	if n, err := strconv.ParseUint(text, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(min(n, uint64(longest/time.Second))) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(at.Sub(now), 0), longest)
	}
	return 0
}

func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Host
}
