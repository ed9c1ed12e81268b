package notify

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/websync-go/websync"
)

// A Subscriber gets notices from WebSub hubs. It is the http.Handler of its callbacks
// and, while Run runs, the one that asks hubs for subscriptions and renews them. Set its
// fields before the first call and leave them alone afterwards. It is safe for concurrent
// use.
//
// Each subscription has a callback of its own that can't be guessed, and at a hub of
// https a secret with which the hub signs its notices. Both stay through renewals, so
// that no notice is lost in between; a lease that ran out brings new ones. When a
// subscription is confirmed, and was not active before, its source runs as after a
// notice: what changed before is not missed.
type Subscriber struct {
	// Callback is the URL under which hubs reach this handler, http or https, without a
	// query. The callbacks are right below it: "https://my.example/websub/" and a token
	// each. Required.
	Callback string

	// State keeps the subscriptions with their secrets, under keys that begin with
	// "notify/websub/". Required. The handlers of several processes may share it; all
	// other methods are for one of them.
	State websync.State

	// Notify receives the topic of a notice, and reports whether anybody waits for it:
	// the method of a Runner. It must return at once. Required.
	Notify func(topic string) bool

	// Lease is how long a subscription should last, in whole seconds. The hub decides. If
	// zero, it is 10 days; if negative, it is not stated.
	Lease time.Duration

	// MaxBody is how many bytes of a notice are read to check its signature. A notice
	// that is longer is dropped. If zero, it is 64 MiB; if negative, there is no limit.
	MaxBody int64

	// Client makes the requests to hubs. Redirects are followed only if they keep the
	// method (307, 308), unless it has a CheckRedirect. Whatever it is, a request may
	// take 30 seconds.
	//
	// The URL of a hub comes from a stranger. Nil means a Client of the Subscriber's own,
	// which refuses connections to addresses that are not public and knows no proxy.
	// Another one should have a guard, too: that of package harvest/fetch fits into a
	// net.Dialer.
	Client *http.Client

	// Log gets notices (debug), what became of subscriptions (info), and what failed or
	// was not genuine (warning). Nil: silent.
	Log *slog.Logger

	mu     sync.Mutex // held while the index changes
	once   sync.Once
	wake   chan struct{} // holds one
	slots  chan struct{}
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

// Subscribe wants notices of topic, the URL that a feed links to as self, from hub. It
// stores the wish and returns; Run sends the request until the hub has confirmed, and
// renews it until Unsubscribe.
//
// A topic has one hub: another one replaces the first, whose next notice is answered with
// 410. If topic is at hub already, nothing happens, even if the hub has denied it: to ask
// again, Unsubscribe first.
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
		err = s.enroll(ctx, topic, true)
	}
	raise(s.wake)
	return wrap(err)
}

// Unsubscribe wants no more notices of topic. From now on they are answered with 410. It
// stores the request and returns; Run asks the hub until it has confirmed, or the lease
// ends. It is no error if there is no subscription.
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
		r.Status = Ending // and over, if no hub has confirmed it
		return r
	})
	raise(s.wake)
	return wrap(err)
}

// Subscriptions yields what is subscribed to, or is to be, in the order of the topics.
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
		return errors.New("notify: a Subscriber needs State and Notify")
	}
	return checkURL("callback", s.Callback)
}

// checkURL refuses what neither side of WebSub has a use for.
func checkURL(what, text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
		return fmt.Errorf("notify: %s: not a URL of http or https", what)
	}
	if what == "callback" && (u.RawQuery != "" || u.ForceQuery) {
		return errors.New("notify: callback: has a query")
	}
	return nil
}

func wrap(err error) error {
	if err != nil {
		err = fmt.Errorf("notify: %w", err)
	}
	return err
}

// Run asks hubs for what is subscribed to, renews leases when four fifths or a little
// less of them are over, and repeats what fails after 1, 2, 4 … minutes, at most six
// hours, less a random part of up to a half. It ends when ctx does, and returns the
// cause. Subscriptions of runs before go on. Call it once.
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

// round does what is due, and returns how long to wait for the next round.
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

// advance does what is due for one topic, and returns its record as it is then.
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

// begin enters an attempt, so that no other makes it at the same time, and reports
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

// remove forgets a subscription that is over.
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
	return s.enroll(ctx, topic, false)
}
