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

	// Notify receives the topic of a notice, and reports whether a source has it: the
	// method of a schedule.Scheduler. It must return at once. It is required.
	Notify func(topic string) bool

	// Payload, if set, receives the topic and the content of a notice in place of Notify,
	// and reports whether a source has the topic: the method of a schedule.Scheduler. It
	// must return at once, and may keep body. It receives signed notices only; those of a
	// hub of http, empty ones and longer ones than MaxPayload go to Notify.
	//
	// Sources apply what they receive, deletions included, without asking the publisher:
	// the hub is trusted as much as the publisher is. If nil, the content of notices is
	// dropped.
	Payload func(topic string, body []byte) bool

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
	// request may take 30 seconds, whatever the Client allows.
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
	wake   chan struct{} // holds at most one
	slots  chan struct{} // of requests to hubs
	client *http.Client
	log    *slog.Logger
}

var _ http.Handler = (*Subscriber)(nil)

func (s *Subscriber) start() {
	s.once.Do(func() {
		s.wake = make(chan struct{}, 1)
		s.slots = make(chan struct{}, 8)
		s.client = s.newClient()
		s.log = logger(s.Log)
	})
}

// Subscribe stores a subscription to topic, the URL of a feed's self link, at hub. Run
// sends the request until the hub has confirmed it, and renews it until Unsubscribe.
//
// A topic has one hub: another one replaces the first, whose next notice is answered with
// 410. If the topic is subscribed at hub, Subscribe does nothing, even if the hub has
// denied the subscription: to try again, call Unsubscribe first.
func (s *Subscriber) Subscribe(ctx context.Context, topic, hub string) error {
	s.start()
	if err := errors.Join(s.check(), checkURL("topic", topic), checkURL("hub", hub)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.change(ctx, idOf(topic), func(r *record) *record {
		if r != nil && r.Hub == hub && (r.wanted() || r.Status == Denied) {
			return r
		}
		return newRecord(topic, hub, now())
	})
	if err == nil {
		err = s.enroll(ctx, topic)
	}
	raise(s.wake)
	return wrap(err)
}

// Unsubscribe stores the end of the subscription to topic, whose notices are answered
// with 410 from now on. Run sends the request until the hub has confirmed it, or the
// lease ends. It is no error if there is no subscription.
func (s *Subscriber) Unsubscribe(ctx context.Context, topic string) error {
	s.start()
	if err := s.check(); err != nil {
		return err
	}
	err := s.change(ctx, idOf(topic), func(r *record) *record {
		if r == nil || r.Status == Ending || r.Status == ended {
			return r
		}
		r.Next, r.Attempts, r.Error = now(), 0, ""
		r.Status = Ending // and over, if no hub has confirmed the subscription
		return r
	})
	raise(s.wake)
	return wrap(err)
}

// Subscriptions yields all subscriptions, confirmed or not, in the order of their topics.
func (s *Subscriber) Subscriptions(ctx context.Context) iter.Seq2[Subscription, error] {
	return func(yield func(Subscription, error) bool) {
		topics, err := s.topics(ctx)
		for _, topic := range topics {
			var r *record
			if r, err = s.load(ctx, idOf(topic)); err != nil {
				break
			}
			if r == nil || r.over(now()) {
				continue
			}
			if r.Status == Active && !now().Before(r.Expires) {
				r.Status = Pending
			}
			if !yield(r.Subscription, nil) {
				return
			}
		}
		if err != nil {
			yield(Subscription{}, wrap(err))
		}
	}
}

func (s *Subscriber) check() error {
	if s.State == nil || s.Notify == nil {
		return errors.New("notify: Subscriber.State and Subscriber.Notify must not be nil")
	}
	return checkURL("callback", s.Callback)
}

// checkURL returns an error unless WebSub can use the URL.
func checkURL(what, text string) error {
	u, err := url.Parse(text)
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

// Run sends subscriptions to their hubs, renews leases after seven to eight tenths of
// them, and repeats failed requests after 1, 2, 4 … minutes, at most six hours, less a
// random part of up to a half. It returns when ctx is cancelled, with the cause. It
// continues the subscriptions of earlier runs. Call it once.
func (s *Subscriber) Run(ctx context.Context) error {
	s.start()
	if err := s.check(); err != nil {
		return err
	}
	defer s.client.CloseIdleConnections()
	var all sync.WaitGroup
	defer all.Wait()
	for {
		wait, err := s.round(ctx, &all)
		if err != nil && ctx.Err() == nil {
			s.log.Warn("notify: subscriptions not read", "error", err)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.wake:
		case <-time.After(wait):
		}
	}
}

// round begins all requests that are due, and returns how long to wait for the next
// round.
func (s *Subscriber) round(ctx context.Context, all *sync.WaitGroup) (time.Duration, error) {
	wait := time.Hour
	topics, err := s.topics(ctx)
	for _, topic := range topics {
		r, e := s.advance(ctx, topic, all)
		if e != nil {
			err, wait = e, min(wait, time.Minute)
		}
		if r != nil && r.Status != Denied {
			wait = min(wait, time.Until(r.Next))
		}
	}
	if err != nil {
		wait = min(wait, time.Minute)
	}
	return wait, err
}

// advance begins the request that is due for a topic, or removes its record if it is
// over, and returns the new record.
func (s *Subscriber) advance(ctx context.Context, topic string, all *sync.WaitGroup) (*record, error) {
	r, err := s.load(ctx, idOf(topic))
	switch at := now(); {
	case err != nil:
		return nil, err
	case r == nil || r.over(at):
		return nil, s.remove(ctx, topic)
	case !r.due(at):
		return r, nil
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case s.slots <- struct{}{}:
	}
	r, began, err := s.begin(ctx, topic)
	if err != nil || !began {
		<-s.slots
		return r, err
	}
	all.Go(func() {
		s.ask(ctx, r)
		<-s.slots
	})
	return r, nil
}

// begin notes an attempt, so that no other process makes it at the same time, and reports
// whether it is still due.
func (s *Subscriber) begin(ctx context.Context, topic string) (rec *record, began bool, err error) {
	err = s.change(ctx, idOf(topic), func(r *record) *record {
		if began = r != nil && !r.over(now()) && r.due(now()); began {
			r.begin(now())
		}
		rec = r
		return r
	})
	return rec, began, err
}

// remove deletes the record of a subscription that is over.
func (s *Subscriber) remove(ctx context.Context, topic string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	gone := false
	err := s.change(ctx, idOf(topic), func(r *record) *record {
		if gone = r == nil || r.over(now()); gone {
			return nil
		}
		return r
	})
	if err != nil || !gone {
		return err
	}
	return s.setTopics(ctx, func(topics []string) []string {
		return slices.DeleteFunc(topics, func(t string) bool { return t == topic })
	})
}

// raise adds a notice unless there is one.
func raise(notice chan struct{}) {
	select {
	case notice <- struct{}{}:
	default:
	}
}

func logger(l *slog.Logger) *slog.Logger {
	if l == nil {
		return slog.New(slog.DiscardHandler)
	}
	return l
}
