package notify

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/outgoing"
)

// A Status is the state of a subscription.
type Status string

const (
	// Pending: asked for, or to be asked for, and not confirmed yet; or its lease has run
	// out.
	Pending Status = "pending"
	// Active: confirmed, and the lease lasts.
	Active Status = "active"
	// Denied: the hub will not have it (WebSub §5.2).
	Denied Status = "denied"
	// Ending: no longer wanted, but the hub has not confirmed that yet.
	Ending Status = "ending"

	ended Status = "ended" // to be removed by Run
)

// A Subscription is one topic at one hub.
type Subscription struct {
	Topic  string `json:"topic"`
	Hub    string `json:"hub"`
	Status Status `json:"status"`

	// Expires is when the lease ends. Zero: none was confirmed.
	Expires time.Time `json:"expires,omitzero"`

	// Next is when the hub is asked next: to confirm, to renew, or to end. Zero: not at
	// all.
	Next time.Time `json:"next,omitzero"`

	// Error is what was wrong with the last request to the hub, or why the hub has denied
	// the subscription.
	Error string `json:"error,omitempty"`
}

// A record is what the State holds of a subscription.
type record struct {
	Subscription
	Token    string `json:"token"`            // the last step of the callback
	Secret   string `json:"secret,omitempty"` // empty: notices are not signed
	Attempts int    `json:"attempts,omitempty"`
}

const (
	prefix   = "notify/websub/"
	indexKey = prefix + "index" // all topics, as a JSON array
	idLen    = 32
)

// idOf returns what the key of a topic's record ends in, and its tokens begin with.
func idOf(topic string) string {
	return hex.EncodeToString([]byte(websync.SHA256([]byte(topic)).Sum))[:idLen]
}

// now is the time in the form that a State keeps.
func now() time.Time { return time.Now().UTC() }

// newRecord returns a subscription to be asked for at once. Its callback can't be
// guessed. It has a secret if the request is encrypted (WebSub §5.1).
func newRecord(topic, hub string, now time.Time) *record {
	r := &record{
		Subscription: Subscription{Topic: topic, Hub: hub, Status: Pending, Next: now},
		Token:        idOf(topic) + rand.Text(),
	}
	if strings.HasPrefix(strings.ToLower(hub), "https:") {
		r.Secret = rand.Text() + rand.Text()
	}
	return r
}

// wanted reports whether the user wants notices.
func (r *record) wanted() bool { return r.Status == Pending || r.Status == Active }

// confirm enters the lease that the hub grants.
func (r *record) confirm(now time.Time, lease time.Duration) {
	r.Status, r.Expires, r.Attempts, r.Error = Active, now.Add(lease), 0, ""
	renew := lease - lease/5 - mathrand.N(lease/10)
	r.Next = now.Add(max(renew, time.Minute))
}

// begin enters an attempt to reach the hub. A lease that has run out is not renewed: what
// is asked for is a new subscription, with a callback and a secret of its own.
func (r *record) begin(now time.Time) {
	if r.Status == Active && !now.Before(r.Expires) {
		attempts := r.Attempts
		*r = *newRecord(r.Topic, r.Hub, now)
		r.Attempts = attempts
	}
	r.Attempts++
	r.Next = now.Add(outgoing.Backoff(r.Attempts, time.Minute, 6*time.Hour))
}

// over reports whether nothing has to be remembered of r.
func (r *record) over(now time.Time) bool {
	return r.Status == ended || r.Status == Ending && !now.Before(r.Expires)
}

// due reports whether the hub is to be asked.
func (r *record) due(now time.Time) bool { return r.Status != Denied && !now.Before(r.Next) }

// change sets the record of id to what f makes of it, all at once. F gets nil if there is
// none; what it returns may be nil, too. It may be called more than once.
func (s *Subscriber) change(ctx context.Context, id string, f func(*record) *record) error {
	return s.swap(ctx, prefix+id, func(old []byte) ([]byte, error) {
		r := f(parseRecord(old))
		if r == nil {
			return nil, nil
		}
		return json.Marshal(r)
	})
}

// swap sets a value to what f makes of it.
func (s *Subscriber) swap(ctx context.Context, key string, f func([]byte) ([]byte, error)) error {
	for range 100 { // each conflict means that another was faster
		old, err := s.State.State(ctx, key)
		if err != nil {
			return err
		}
		value, err := f(slices.Clone(old))
		if err != nil || bytes.Equal(old, value) {
			return err
		}
		if err = s.State.Swap(ctx, key, old, value); !errors.Is(err, websync.ErrConflict) {
			return err
		}
	}
	return websync.ErrConflict
}

// load returns the record of id, nil if there is none.
func (s *Subscriber) load(ctx context.Context, id string) (*record, error) {
	value, err := s.State.State(ctx, prefix+id)
	return parseRecord(value), err
}

// parseRecord returns nil for what is no record: what can't be read is as good as lost.
func parseRecord(value []byte) *record {
	r := new(record)
	if json.Unmarshal(value, r) != nil {
		return nil
	}
	return r
}

// topics returns all topics that there may be records of.
func (s *Subscriber) topics(ctx context.Context) (topics []string, err error) {
	value, err := s.State.State(ctx, indexKey)
	if err == nil && value != nil {
		json.Unmarshal(value, &topics) // none, if it can't be read
	}
	return topics, err
}

// enroll adds a topic to the index, or takes it out.
func (s *Subscriber) enroll(ctx context.Context, topic string, in bool) error {
	return s.swap(ctx, indexKey, func(old []byte) ([]byte, error) {
		var topics []string
		json.Unmarshal(old, &topics)
		i, found := slices.BinarySearch(topics, topic)
		switch {
		case found == in:
			return old, nil
		case in:
			topics = slices.Insert(topics, i, topic)
		default:
			topics = slices.Delete(topics, i, i+1)
		}
		if len(topics) == 0 {
			return nil, nil
		}
		return json.Marshal(topics)
	})
}

// find returns the id of the record that a token may belong to.
func find(token string) (id string, ok bool) {
	if len(token) <= idLen {
		return "", false
	}
	_, err := hex.DecodeString(token[:idLen])
	return token[:idLen], err == nil
}

// is reports whether r is there and token is its own.
func (r *record) is(token string) bool {
	return r != nil && subtle.ConstantTimeCompare([]byte(r.Token), []byte(token)) == 1
}
