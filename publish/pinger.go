package publish

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
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
// A notice has no content: its receiver reads the topics. With a Notifier, hubs are
// posted what has changed since the last delivery. In both cases notices that arrive
// during a delivery are coalesced into one more, and notices that arrive while a delivery
// waits for its next attempt are coalesced into that. A slow address does not delay
// others.
//
// A status of 2xx ends a delivery. Without an answer, or after a status of 408, 425, 429
// or 5xx, the Pinger tries again after 1, 2, 4 … seconds, at most an hour, less a random
// part of up to a half, and not before the time that Retry-After states. Any other status
// drops the notice; changes that it had are in the next one.
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

	// Notifier, if set, has the content that Hubs are posted in place of the form, with
	// links to the topic (self) and the hub in the header. It lists what has been
	// committed since the last delivery to the hub, each change once unless a delivery
	// fails. The first Run begins with what is committed while it runs.
	Notifier Notifier

	// Client makes the requests. If nil, it is a client of the Pinger's own, in which a
	// request may take 30 seconds. Redirects are followed within a host only, and only
	// those that keep the method (307, 308), unless the Client has a CheckRedirect.
	Client *http.Client

	// Attempts limits how often a notice is sent to one address before it is dropped. If
	// zero, it is 15, which takes two to three hours; if negative, there is no limit.
	Attempts int

	// State, if set, records open deliveries, and how far the content of the Notifier was
	// delivered, under keys that begin with "publish/ping/". If a run is killed, or ends
	// during a delivery, the next run begins with a notice. With a Notifier it begins
	// where the last delivery ended.
	State websync.State

	// Log receives deliveries (debug), failed attempts (info) and dropped notices
	// (warning). If nil, they are not logged.
	Log *slog.Logger

	once    sync.Once
	targets []*target
	client  *http.Client
	log     *slog.Logger
}

// A Notifier makes the content of notices. A resourcesync.Publisher is one.
type Notifier interface {
	// Notification returns a document of changes that were committed after a position,
	// and the position at its end. If more may follow, the end differs from after. The
	// document is nil if none of these changes is to be listed. If after is empty,
	// Notification returns the present end and no document.
	Notification(ctx context.Context, after string) (doc *websync.Document, end string, err error)
}

// A target is one address and one topic.
type target struct {
	url    string
	host   string
	form   string
	notice chan struct{} // holds one

	// of a target that is posted content:
	links    []string // if nil, it is posted the form
	position string   // up to which changes were delivered
}

func (p *Pinger) start() {
	p.once.Do(func() {
		for _, topic := range p.Topics {
			for _, to := range p.Subscribers {
				p.add(to, url.Values{"url": {topic}, "feed": {topic}})
			}
			for _, to := range p.Hubs {
				t := p.add(to, url.Values{"hub.mode": {"publish"}, "hub.url": {topic}, "hub.topic": {topic}})
				if p.Notifier != nil {
					t.links = []string{
						formatLink(websync.Link{Rel: "self", Href: topic}), formatLink(websync.Link{Rel: "hub", Href: to}),
					}
				}
			}
		}
		p.client = outgoing.NewClient(p.Client, &http.Transport{Proxy: http.ProxyFromEnvironment}, sameHost)
		p.log = p.Log
		if p.log == nil {
			p.log = slog.New(slog.DiscardHandler)
		}
	})
}

func (p *Pinger) add(to string, form url.Values) *target {
	t := &target{url: to, form: form.Encode(), notice: make(chan struct{}, 1)}
	if u, err := url.Parse(to); err == nil {
		t.host = u.Host
	}
	p.targets = append(p.targets, t)
	return t
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
		err := p.send(ctx, t)
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

// send posts the form, or all changes after the position. The position moves over what
// was delivered.
func (p *Pinger) send(ctx context.Context, t *target) error {
	if t.links == nil {
		return outgoing.Post(ctx, p.client, t.url, outgoing.Form, t.form)
	}
	for {
		doc, end, err := p.Notifier.Notification(ctx, t.position)
		if err != nil {
			return err
		}
		if doc != nil {
			var content strings.Builder
			if err := copyDocument(ctx, &content, doc); err != nil {
				return err
			}
			if err := outgoing.Post(ctx, p.client, t.url, doc.Type, content.String(), t.links...); err != nil {
				return err
			}
		}
		if end == t.position {
			return nil
		}
		p.record(ctx, t, []byte(t.position), []byte(end))
		t.position = end
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
	text := t.url + "\n" + t.form
	if t.links != nil {
		text += "\ncontent"
	}
	return "publish/ping/" + digestTag(websync.SHA256([]byte(text)))
}

// wasOpen reports whether the previous run may have ended with an open delivery. For a
// form it sets the mark that leave removes, so a killed run leaves it set. For content it
// reads the position.
func (p *Pinger) wasOpen(ctx context.Context, t *target) bool {
	if p.State == nil {
		return t.links != nil
	}
	mark, err := p.State.State(ctx, t.key())
	if err != nil {
		p.log.Warn("publish: cannot read open deliveries", "host", t.host, "error", err)
	}
	if t.links != nil {
		t.position = string(mark)
		return true
	}
	if err == nil && mark == nil {
		p.record(ctx, t, nil, openMark)
	}
	return mark != nil
}

// record replaces the value of a target in State.
func (p *Pinger) record(ctx context.Context, t *target, old, new []byte) {
	if p.State == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if len(old) == 0 {
		old = nil
	}
	if err := p.State.Swap(ctx, t.key(), old, new); err != nil && !errors.Is(err, websync.ErrConflict) {
		p.log.Warn("publish: cannot record open deliveries", "host", t.host, "error", err)
	}
}

// leave removes the mark unless a notice is queued.
func (p *Pinger) leave(ctx context.Context, t *target) {
	if t.links == nil && len(t.notice) == 0 {
		p.record(ctx, t, openMark, nil)
	}
}
