package publish

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/websync-go/websync"
)

// A Pinger notifies others that there is something new to read. Set its fields before the
// first call and do not change them afterwards. It is safe for concurrent use.
//
//	pinger := &publish.Pinger{Topics: []string{"https://example.org/sitemap.xml"}, Subscribers: subscribers}
//	go pinger.Run(ctx)
//	… after each commit: pinger.Notify()
//
// A notice has no content: its receiver reads the topics. So notices that come while one
// is being delivered are coalesced into one more, and notices that come while a delivery
// is repeated into that. A slow address delays no other.
//
// An answer of 2xx is a delivery. After no answer, or one of 408, 425, 429 and 5xx, the
// delivery is repeated: after 1, 2, 4 … seconds, at most an hour, less a random part of
// up to a half, and not before the time that Retry-After names. Any other answer ends it
// until the next notice.
type Pinger struct {
	// Topics are the URLs of the documents that a reader begins with. Each has its own
	// request.
	Topics []string

	// Subscribers are URLs to which a form (application/x-www-form-urlencoded) is posted.
	// Its fields url and feed both hold the topic.
	Subscribers []string

	// Hubs are URLs of WebSub hubs. The form has hub.mode=publish, and the topic as
	// hub.url and as hub.topic: WebSub §6 leaves the form to publishers and hubs, and
	// hubs understand this one.
	Hubs []string

	// Client makes the requests. If nil, it is a client of the Pinger's own, in which a
	// request may take 30 seconds. Redirects are followed within a host only, and only
	// those that keep the method (307, 308), unless the Client has a CheckRedirect.
	Client *http.Client

	// Attempts limits how often a notice is sent to one address before it is dropped. If
	// zero, it is 15, which takes two to three hours; if negative, there is no limit.
	Attempts int

	// State, if set, remembers which deliveries are open, under keys that begin with
	// "publish/ping/". After a run that was cut off, or ended while a delivery was open,
	// the next begins with a notice.
	State websync.State

	// Log gets deliveries (debug), repetitions (info) and what was dropped (warning). If
	// nil, they are not logged.
	Log *slog.Logger

	once    sync.Once
	targets []*target
	client  *http.Client
	log     *slog.Logger
}

// A target is one address and one topic.
type target struct {
	url    string
	host   string
	form   string
	notice chan struct{} // holds one
}

func (p *Pinger) start() {
	p.once.Do(func() {
		for _, topic := range p.Topics {
			for _, to := range p.Subscribers {
				p.add(to, url.Values{"url": {topic}, "feed": {topic}})
			}
			for _, to := range p.Hubs {
				p.add(to, url.Values{"hub.mode": {"publish"}, "hub.url": {topic}, "hub.topic": {topic}})
			}
		}
		p.client = p.newClient()
		p.log = p.Log
		if p.log == nil {
			p.log = slog.New(slog.DiscardHandler)
		}
	})
}

func (p *Pinger) add(to string, form url.Values) {
	t := &target{url: to, form: form.Encode(), notice: make(chan struct{}, 1)}
	if u, err := url.Parse(to); err == nil {
		t.host = u.Host
	}
	p.targets = append(p.targets, t)
}

func (p *Pinger) newClient() *http.Client {
	client := http.Client{Timeout: 30 * time.Second}
	if p.Client != nil {
		client = *p.Client
	} else {
		client.Transport = &http.Transport{
			Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: 64 << 10,
			TLSHandshakeTimeout: 10 * time.Second, IdleConnTimeout: 10 * time.Second,
		}
	}
	if client.CheckRedirect == nil {
		client.CheckRedirect = sameHost
	}
	return &client
}

// sameHost lets a redirect pass that leads to the same host by the same method.
func sameHost(r *http.Request, via []*http.Request) error {
	first := via[0]
	if len(via) > 3 || r.Method != first.Method || r.URL.Scheme != first.URL.Scheme || r.URL.Host != first.URL.Host {
		return http.ErrUseLastResponse
	}
	return nil
}

// Notify says that there is something new. It never waits, so it can be called where a
// commit is reported.
func (p *Pinger) Notify() {
	p.start()
	for _, t := range p.targets {
		t.notify()
	}
}

func (t *target) notify() {
	select {
	case t.notice <- struct{}{}:
	default:
	}
}

// Run delivers notices until ctx ends, and returns the cause. Call it once. Notices from
// before are delivered, too.
func (p *Pinger) Run(ctx context.Context) error {
	p.start()
	defer p.client.CloseIdleConnections()
	var all sync.WaitGroup
	for _, t := range p.targets {
		all.Go(func() { p.serve(ctx, t) })
	}
	all.Wait()
	<-ctx.Done()
	return context.Cause(ctx)
}

// serve delivers the notices of one target.
func (p *Pinger) serve(ctx context.Context, t *target) {
	if p.wasOpen(ctx, t) {
		t.notify()
	}
	for {
		select {
		case <-ctx.Done():
			p.leave(ctx, t)
			return
		case <-t.notice:
			p.deliver(ctx, t)
		}
	}
}

// deliver sends one notice until it has arrived or is dropped, or ctx ends: then the
// notice is still there.
func (p *Pinger) deliver(ctx context.Context, t *target) {
	for attempt := 1; ; attempt++ {
		began := time.Now()
		err := p.post(ctx, t)
		log := p.log.With("host", t.host, "attempt", attempt, "dur", time.Since(began))
		if err == nil {
			log.Debug("publish: notice delivered")
			return
		}
		if ctx.Err() != nil {
			t.notify()
			return
		}
		failed, answered := errors.AsType[*statusError](err)
		if answered && !failed.temporary() || int64(attempt) >= limit(int64(p.Attempts), 15) {
			log.Warn("publish: notice dropped", "error", err)
			return
		}
		wait := backoff(attempt)
		if answered {
			wait = max(wait, failed.retryAfter)
		}
		log.Info("publish: notice not delivered", "error", err, "wait", wait)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			t.notify()
			return
		}
		select {
		case <-t.notice: // the next attempt covers it
		default:
		}
	}
}

// backoff returns how long to wait after the given attempt.
func backoff(attempt int) time.Duration {
	longest := time.Hour
	if attempt < 13 {
		longest = min(longest, time.Second<<(attempt-1))
	}
	return longest - rand.N(longest/2)
}

// post sends the form once.
func (p *Pinger) post(ctx context.Context, t *target) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.url, strings.NewReader(t.form))
	if err != nil {
		return errors.New("not a URL to post to")
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("User-Agent", "websync/0.1 (+https://github.com/websync-go/websync)")
	resp, err := p.client.Do(req)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err // without the URL, which may hold a secret
		}
		return err
	}
	defer resp.Body.Close()
	io.CopyN(io.Discard, resp.Body, 64<<10) // so that the connection can be used again
	if resp.StatusCode/100 != 2 {
		return &statusError{resp.StatusCode, retryAfter(resp.Header, time.Now())}
	}
	return nil
}

// A statusError is an answer other than success.
type statusError struct {
	status     int
	retryAfter time.Duration
}

func (e *statusError) Error() string { return fmt.Sprintf("status %d", e.status) }

func (e *statusError) temporary() bool {
	switch e.status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	}
	return e.status >= 500
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

var openMark = []byte("open")

func (t *target) key() string {
	return "publish/ping/" + digestTag(websync.SHA256([]byte(t.url+"\n"+t.form)))
}

// wasOpen reports whether a delivery was open at the end of the run before, and marks the
// one that begins: only its proper end takes the mark away, so what a kill cuts off is
// not forgotten.
func (p *Pinger) wasOpen(ctx context.Context, t *target) bool {
	if p.State == nil {
		return false
	}
	mark, err := p.State.State(ctx, t.key())
	if err == nil && mark == nil {
		err = p.State.Swap(ctx, t.key(), nil, openMark)
	}
	if err != nil {
		p.log.Warn("publish: open notices are not remembered", "host", t.host, "error", err)
	}
	return mark != nil
}

// leave takes the mark away unless a notice is open.
func (p *Pinger) leave(ctx context.Context, t *target) {
	if p.State == nil || len(t.notice) > 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := p.State.Swap(ctx, t.key(), openMark, nil); err != nil && !errors.Is(err, websync.ErrConflict) {
		p.log.Warn("publish: open notices are not remembered", "host", t.host, "error", err)
	}
}
