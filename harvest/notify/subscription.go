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
	// Pending: the hub has not confirmed the subscription yet, or the lease has ended.
	Pending Status = "pending"
	// Active: the hub has confirmed the subscription, and the lease has not ended.
	Active Status = "active"
	// Denied: the hub has denied the subscription (WebSub §5.2).
	Denied Status = "denied"
	// Ending: Unsubscribe was called, and the hub has not confirmed that yet.
	Ending Status = "ending"

	ended Status = "ended" // to be removed by Run
)

// A Subscription is one topic at one hub.
type Subscription struct {
	Topic  string `json:"topic"`
	Hub    string `json:"hub"`
	Status Status `json:"status"`

	// Expires is the end of the lease. It is zero if the hub has confirmed none.
	Expires time.Time `json:"expires,omitzero"`

	// Next is the time of the next request to the hub: to subscribe, to renew or to
	// unsubscribe. It is zero if there will be none.
	Next time.Time `json:"next,omitzero"`

	// Error is the error of the last request to the hub, or the reason for which the hub
	// has denied the subscription.
	Error string `json:"error,omitempty"`
}

// A record is a subscription in the State.
type record struct {
	Subscription
	Token    string `json:"token"`            // the last segment of the callback
	Secret   string `json:"secret,omitempty"` // empty: notices are not signed
	Attempts int    `json:"attempts,omitempty"`
}

const (
	prefix   = "notify/websub/"
	indexKey = prefix + "index" // all topics, as a JSON array
	idLen    = 32
)

// idOf returns the end of the key of a topic's record, with which its tokens begin.
func idOf(topic string) string {
	return hex.EncodeToString([]byte(websync.SHA256([]byte(topic)).Sum))[:idLen]
}

// now returns the time as it is stored: in UTC.
func now() time.Time { return time.Now().UTC() }

// newRecord returns a subscription that is due at once. Its callback cannot be guessed.
// It has a secret if the request is encrypted (WebSub §5.1).
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

// wanted reports whether notices are accepted.
func (r *record) wanted() bool { return r.Status == Pending || r.Status == Active }

// confirm sets the lease that the hub grants.
func (r *record) confirm(now time.Time, lease time.Duration) {
	r.Status, r.Expires, r.Attempts, r.Error = Active, now.Add(lease), 0, ""
	renew := lease - lease/5 - mathrand.N(lease/10)
	r.Next = now.Add(max(renew, time.Minute))
}

// begin notes an attempt to reach the hub. A lease that has ended is not renewed, but
// replaced by a new subscription with another callback and another secret.
func (r *record) begin(now time.Time) {
	if r.Status == Active && !now.Before(r.Expires) {
		attempts := r.Attempts
		*r = *newRecord(r.Topic, r.Hub, now)
		r.Attempts = attempts
	}
	r.Attempts++
	r.Next = now.Add(outgoing.Backoff(r.Attempts, time.Minute, 6*time.Hour))
}

// over reports whether r may be deleted.
func (r *record) over(now time.Time) bool {
	return r.Status == ended || r.Status == Ending && !now.Before(r.Expires)
}

// due reports whether a request to the hub is due.
func (r *record) due(now time.Time) bool { return r.Status != Denied && !now.Before(r.Next) }

// change atomically replaces the record of id by the result of f. Both are nil for no
// record. It may call f more than once.
func (s *Subscriber) change(ctx context.Context, id string, f func(*record) *record) error {
	return s.swap(ctx, prefix+id, func(old []byte) ([]byte, error) {
		r := f(parseRecord(old))
		if r == nil {
			return nil, nil
		}
		return json.Marshal(r)
	})
}

// swap atomically replaces a value by the result of f.
func (s *Subscriber) swap(ctx context.Context, key string, f func([]byte) ([]byte, error)) error {
	for range 100 { // at each conflict another change was faster
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

// load returns the record of id, or nil if there is none.
func (s *Subscriber) load(ctx context.Context, id string) (*record, error) {
	value, err := s.State.State(ctx, prefix+id)
	return parseRecord(value), err
}

// parseRecord returns nil for a value that is no record, as if there were none.
func parseRecord(value []byte) *record {
	r := new(record)
	if json.Unmarshal(value, r) != nil {
		return nil
	}
	return r
}

// topics returns all topics that may have a record.
func (s *Subscriber) topics(ctx context.Context) (topics []string, err error) {
	value, err := s.State.State(ctx, indexKey)
	if err == nil && value != nil {
		json.Unmarshal(value, &topics) // a malformed index counts as empty
	}
	return topics, err
}

// enroll adds a topic to the index, which is sorted.
func (s *Subscriber) enroll(ctx context.Context, topic string) error {
	return s.setTopics(ctx, func(topics []string) []string {
		i, found := slices.BinarySearch(topics, topic)
		if !found {
			topics = slices.Insert(topics, i, topic)
		}
		return topics
	})
}

// setTopics changes the topics of the index.
func (s *Subscriber) setTopics(ctx context.Context, change func(topics []string) []string) error {
	return s.swap(ctx, indexKey, func(old []byte) ([]byte, error) {
		var topics []string
		json.Unmarshal(old, &topics) // a malformed index counts as empty
		if topics = change(topics); len(topics) == 0 {
			return nil, nil
		}
		return json.Marshal(topics)
	})
}

// find returns the id of the record that may have the token.
func find(token string) (id string, ok bool) {
	if len(token) <= idLen {
		return "", false
	}
	_, err := hex.DecodeString(token[:idLen])
	return token[:idLen], err == nil
}

// is reports whether r is not nil and has the token.
func (r *record) is(token string) bool {
	return r != nil && subtle.ConstantTimeCompare([]byte(r.Token), []byte(token)) == 1
}
