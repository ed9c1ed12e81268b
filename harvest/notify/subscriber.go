package notify

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/websync-go/websync"
)

// A Subscriber receives notices from WebSub hubs. It is the http.Handler of its
// callbacks; Run subscribes at hubs and renews subscriptions. Set its fields before the
// first call and do not change them afterwards. It is safe for concurrent use.
//
// Each subscription has a callback of its own that cannot be guessed and, at a hub of
// https, a secret with which the hub signs its notices. A renewal keeps both, so that no
// notice is lost; after the end of a lease they are replaced. When a hub confirms a
// subscription that was not active, its source runs as after a notice, so that no earlier
// change is missed.
type Subscriber struct {
	// Callback is the URL of this handler for hubs, http or https, without a query, for
	// example "https://my.example/websub/". The callback of a subscription is this URL
	// and a token. It is required.
	Callback string

	// State holds the subscriptions with their secrets, under keys that begin with
	// "notify/websub/". The handlers of several processes may share it; only one of them
	// may call the other methods. It is required.
	State websync.State

	// Discover finds the topic and the hubs of the document at a URL, those to ask first
	// at the front: the method Channel of a discover.Finder. If the document names no
	// hub, hubs is empty. A hub that a document does not name is returned by a function
	// of the program's own. It is required.
	Discover func(ctx context.Context, url string) (topic string, hubs []string, err error)

	// Notify receives the URL for which a notice has come, as Subscribe was given it, and
	// reports whether a source has it: the method of a schedule.Scheduler. It must return
	// at once. It is required.
	Notify func(url string) bool

	// Payload, if set, receives the URL and the content of a notice in place of Notify,
	// and reports whether a source has the URL: the method of a schedule.Scheduler. It
	// must return at once, and may keep body. It receives signed notices only; those of a
	// hub of http, empty ones and longer ones than MaxPayload go to Notify, and so do those
	// that come while 16 others do.
	//
	// Sources apply what they receive, deletions included, without asking the publisher:
	// the hub is trusted as much as the publisher is. If nil, the content of notices is
	// dropped.
	Payload func(url string, body []byte) bool

	// MaxPayload limits what Payload receives, in bytes. If zero, it is 1 MiB; if
	// negative, MaxBody is the only limit.
	MaxPayload int64

	// Lease is the requested duration of a subscription, in whole seconds. The hub
	// decides. If zero, it is 10 days; if negative, requests state none.
	Lease time.Duration

	// MaxBody limits the body of a notice, in bytes, all of which is read to check the
	// signature. A longer notice is dropped. If zero, it is 64 MiB; if negative, there is
	// no limit.
	MaxBody int64

	// Client makes the requests to hubs. Unless it has a CheckRedirect, only redirects
	// that keep the method (307, 308) are followed, and none from https to http. A
	// request may take 30 seconds, whatever the Client allows. At most two at a time go to
	// one host.
	//
	// The URL of a hub comes from a stranger. If Client is nil, the Subscriber has one of
	// its own, which refuses connections to addresses that are not public and uses no
	// proxy. Any other Client should have such a guard, too: that of package
	// harvest/fetch fits into a net.Dialer.
	Client *http.Client

	// Log receives notices (debug), changes of subscriptions (info), and failures and
	// notices that are not genuine (warning). If nil, nothing is logged.
	Log *slog.Logger

	mu     sync.Mutex // held while the index changes
	once   sync.Once
	finds  worker        // calls Discover
	asks   worker        // asks hubs
	reads  chan struct{} // of notices whose content is kept
	client *http.Client
	log    *slog.Logger
}

var _ http.Handler = (*Subscriber)(nil)

// A worker makes some of the requests. One that waits for a source does not delay those
// of the other.
type worker struct {
	wake  chan struct{} // holds at most one
	slots chan struct{} // of requests at the same time
}

func newWorker(slots int) worker { return worker{make(chan struct{}, 1), make(chan struct{}, slots)} }

func (s *Subscriber) start() {
	s.once.Do(func() {
		s.finds, s.asks = newWorker(4), newWorker(32)
		s.reads = make(chan struct{}, 16)
		s.client = s.newClient()
		s.log = logger(s.Log)
	})
}

// Subscribe stores that changes of the document at url, a feed or a list, are wanted. Run
// finds its hub, sends the request until that has confirmed it, and renews the
// subscription until Unsubscribe. If that was stored before, Subscribe does nothing.
func (s *Subscriber) Subscribe(ctx context.Context, url string) error {
	s.start()
	if err := errors.Join(s.check(), checkURL("document", url)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.change(ctx, idOf(url), func(r *record) *record {
		if r == nil {
			r = new(record)
		}
		if len(r.Subs) == 0 || r.Subs[0].Status == Ending {
			r.Subs = slices.Insert(r.Subs, 0, newHeld(url, "", "", now()))
		}
		return r
	})
	if err == nil {
		err = s.enroll(ctx, url)
	}
	s.raise()
	return wrap(err)
}

// Unsubscribe stores the end of the subscriptions for url, whose notices are answered
// with 410 from now on. Run sends the requests until the hubs have confirmed them, or the
// leases end. It is no error if there is no subscription.
func (s *Subscriber) Unsubscribe(ctx context.Context, url string) error {
	s.start()
	if err := s.check(); err != nil {
		return err
	}
	err := s.change(ctx, idOf(url), func(r *record) *record {
		if r != nil {
			for _, h := range r.Subs {
				h.end(now()) // and is over, if no hub has confirmed it
			}
		}
		return r
	})
	s.raise()
	return wrap(err)
}

// Subscriptions yields all subscriptions, confirmed or not, in the order of their URLs.
// There may be several for a URL: the first is the wanted one, and those after it have
// been replaced, because the topic or the hub of the document is another one, or are
// Ending.
func (s *Subscriber) Subscriptions(ctx context.Context) iter.Seq2[Subscription, error] {
	return func(yield func(Subscription, error) bool) {
		urls, err := s.urls(ctx)
		for _, url := range urls {
			var r *record
			if r, err = s.load(ctx, idOf(url)); err != nil {
				break
			}
			if r == nil {
				continue
			}
			for _, h := range r.Subs {
				if h.Status == Active && !h.active(now()) {
					h.Status = Pending
				}
				if !yield(h.Subscription, nil) {
					return
				}
			}
		}
		if err != nil {
			yield(Subscription{}, wrap(err))
		}
	}
}

func (s *Subscriber) check() error {
	if s.State == nil || s.Notify == nil || s.Discover == nil {
		return errors.New("notify: Subscriber.State, Subscriber.Discover and Subscriber.Notify must not be nil")
	}
	return checkURL("callback", s.Callback)
}

// maxURL is how long a URL may be: strangers write those of topics and hubs.
const maxURL = 2 << 10

// checkURL returns an error unless WebSub can use the URL.
func checkURL(what, text string) error {
	u, err := url.Parse(text)
	if len(text) > maxURL {
		return fmt.Errorf("notify: %s %.100q… must not be longer than %d bytes", what, websync.RedactURL(text), maxURL)
	}
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
		return fmt.Errorf("notify: %s %q must be an http(s) URL without user name and fragment", what, websync.RedactURL(text))
	}
	if what == "callback" && (u.RawQuery != "" || u.ForceQuery) {
		return fmt.Errorf("notify: callback %q must have no query", websync.RedactURL(text))
	}
	return nil
}

func wrap(err error) error {
	if err != nil {
		err = fmt.Errorf("notify: %w", err)
	}
	return err
}

// Run finds hubs, sends subscriptions to them, renews leases after seven to eight tenths
// of them, and repeats failed requests after 1, 2, 4 … minutes, at most six hours, less a
// random part of up to a half. Of several hubs, the next one is asked when one has
// refused, or has not confirmed; each has its turn before the wait becomes longer. A hub
// that has denied, and a document that names no hub, are left alone for a day.
//
// Before a renewal and a repetition, Discover is asked again, but not twice in ten
// minutes. If the topic has moved, or the hub is not named any more, the subscription is
// replaced; the former one serves until the new one is confirmed, and is ended then. If
// Discover fails, Run goes on with what it knows.
//
// It returns when ctx is cancelled, with the cause. It continues the subscriptions of
// earlier runs. Call it once.
func (s *Subscriber) Run(ctx context.Context) error {
	s.start()
	if err := s.check(); err != nil {
		return err
	}
	defer s.client.CloseIdleConnections()
	var both sync.WaitGroup
	for _, w := range []worker{s.finds, s.asks} {
		both.Go(func() { s.work(ctx, w) })
	}
	both.Wait()
	return context.Cause(ctx)
}

// work makes the requests of a worker until ctx ends.
func (s *Subscriber) work(ctx context.Context, w worker) {
	var all sync.WaitGroup
	defer all.Wait()
	for ctx.Err() == nil {
		wait, err := s.round(ctx, w, &all)
		if err != nil && ctx.Err() == nil {
			s.log.Warn("notify: subscriptions not read", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-w.wake:
		case <-time.After(wait):
		}
	}
}

// round begins all requests that are due, and returns how long to wait for the next
// round.
func (s *Subscriber) round(ctx context.Context, w worker, all *sync.WaitGroup) (time.Duration, error) {
	wait := time.Hour
	urls, err := s.urls(ctx)
	for _, url := range urls {
		next, e := s.advance(ctx, w, url, all)
		if e != nil {
			err = e
		}
		if !next.IsZero() {
			wait = min(wait, time.Until(next))
		}
	}
	if err != nil {
		wait = min(wait, time.Minute)
	}
	return wait, err
}

// advance begins the request that is due for a URL, or removes the URL if there is
// nothing to do any more. It returns when to look again; zero if nothing is due any more.
func (s *Subscriber) advance(ctx context.Context, w worker, url string, all *sync.WaitGroup) (time.Time, error) {
	r, err := s.load(ctx, idOf(url))
	switch {
	case err != nil:
		return time.Time{}, err
	case r == nil:
		return time.Time{}, s.remove(ctx, url)
	}
	h, at := r.due()
	switch finds := h.Status != Ending && r.stale(now()); {
	case now().Before(at):
		return at, nil
	case finds != (w == s.finds): // and then it may be due for this one
		return now().Add(firstWait / 2), nil
	}
	select {
	case <-ctx.Done():
		return time.Time{}, ctx.Err()
	case w.slots <- struct{}{}:
	}
	r, h, err = s.begin(ctx, url)
	if err != nil || h == nil {
		<-w.slots
		return time.Time{}, err
	}
	_, at = r.due()
	all.Go(func() { s.request(ctx, w, r, h) })
	return at, nil
}

// begin notes an attempt, so that no other process makes it at the same time, and returns
// the subscription that it is for; nil if none is due.
func (s *Subscriber) begin(ctx context.Context, url string) (rec *record, h *held, err error) {
	err = s.change(ctx, idOf(url), func(r *record) *record {
		rec, h = r, nil
		if r != nil {
			if next, at := r.due(); !now().Before(at) {
				h = next
				r.begin(h, now())
			}
		}
		return r
	})
	return rec, h, err
}

// remove deletes a URL without a record.
func (s *Subscriber) remove(ctx context.Context, url string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	gone := false
	err := s.change(ctx, idOf(url), func(r *record) *record {
		gone = r == nil
		return r
	})
	if err != nil || !gone {
		return err
	}
	return s.setURLs(ctx, func(urls []string) []string {
		return slices.DeleteFunc(urls, func(u string) bool { return u == url })
	})
}

// raise makes the workers look for what is due.
func (s *Subscriber) raise() {
	for _, w := range []worker{s.finds, s.asks} {
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
}

func logger(l *slog.Logger) *slog.Logger {
	if l == nil {
		return slog.New(slog.DiscardHandler)
	}
	return l
}
