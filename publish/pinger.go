package publish

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/outgoing"
)

// A Pinger notifies subscribers and hubs of new content. Set its fields before the first
// call and do not change them afterwards. It is safe for concurrent use.
//
//	pinger := &publish.Pinger{Topics: []string{"https://example.org/sitemap.xml"}, Subscribers: subscribers}
//	go pinger.Run(ctx)
//	… after each commit: pinger.Notify()
//
// A notice has no content: its receiver reads the topics. So notices that arrive during a
// delivery are coalesced into one more, and notices that arrive while a delivery waits
// for its next attempt are coalesced into that. A slow address does not delay others.
//
// A status of 2xx ends a delivery. Without an answer, or after a status of 408, 425, 429
// or 5xx, the Pinger tries again after 1, 2, 4 … seconds, at most an hour, less a random
// part of up to a half, and not before the time that Retry-After states. Any other status
// drops the notice.
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

	// State, if set, records open deliveries under keys that begin with "publish/ping/".
	// If a run is killed, or ends during a delivery, the next run begins with a notice.
	State websync.State

	// Log receives deliveries (debug), failed attempts (info) and dropped notices
	// (warning). If nil, they are not logged.
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
		p.client = outgoing.NewClient(p.Client, &http.Transport{Proxy: http.ProxyFromEnvironment}, sameHost)
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

// sameHost reports whether a redirect stays on the host.
func sameHost(from, to *url.URL) bool { return from.Scheme == to.Scheme && from.Host == to.Host }

// Notify queues a notice to every address. It does not block, so a commit hook can call
// it.
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

// Run delivers notices until ctx ends, and returns the cause. Call it once. It also
// delivers notices that were queued before.
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

// deliver sends one notice until it is delivered or dropped. If ctx ends first, it queues
// the notice again.
func (p *Pinger) deliver(ctx context.Context, t *target) {
	for attempt := 1; ; attempt++ {
		began := time.Now()
		err := outgoing.Post(ctx, p.client, t.url, t.form)
		log := p.log.With("host", t.host, "attempt", attempt, "dur", time.Since(began))
		if err == nil {
			log.Debug("publish: notice delivered")
			return
		}
		if ctx.Err() != nil {
			t.notify()
			return
		}
		failed, answered := errors.AsType[*outgoing.StatusError](err)
		if answered && !temporary(failed.Code) || int64(attempt) >= limit(int64(p.Attempts), 15) {
			log.Warn("publish: notice dropped", "error", err)
			return
		}
		wait := outgoing.Backoff(attempt, time.Second, time.Hour)
		if answered {
			wait = max(wait, failed.RetryAfter)
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

// temporary reports whether a delivery is repeated after an answer of this status.
func temporary(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	}
	return status >= 500
}

var openMark = []byte("open")

func (t *target) key() string {
	return "publish/ping/" + digestTag(websync.SHA256([]byte(t.url+"\n"+t.form)))
}

// wasOpen reports whether the previous run ended with an open delivery. It sets the mark
// that leave removes, so a killed run leaves it set.
func (p *Pinger) wasOpen(ctx context.Context, t *target) bool {
	if p.State == nil {
		return false
	}
	mark, err := p.State.State(ctx, t.key())
	if err == nil && mark == nil {
		err = p.State.Swap(ctx, t.key(), nil, openMark)
	}
	if err != nil {
		p.log.Warn("publish: cannot record open deliveries", "host", t.host, "error", err)
	}
	return mark != nil
}

// leave removes the mark unless a notice is queued.
func (p *Pinger) leave(ctx context.Context, t *target) {
	if p.State == nil || len(t.notice) > 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := p.State.Swap(ctx, t.key(), openMark, nil); err != nil && !errors.Is(err, websync.ErrConflict) {
		p.log.Warn("publish: cannot record open deliveries", "host", t.host, "error", err)
	}
}
