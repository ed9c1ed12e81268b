package notify

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
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
	// Pending: the hub is not known yet, or has not confirmed the subscription yet, or
	// the lease has ended.
	Pending Status = "pending"
	// Active: the hub has confirmed the subscription, and the lease has not ended.
	Active Status = "active"
	// Denied: the hub has denied the subscription (WebSub §5.2). It is asked again a day
	// later.
	Denied Status = "denied"
	// NoHub: the document names no hub, so nothing announces its changes. It is read
	// again a day later.
	NoHub Status = "no hub"
	// Ending: Unsubscribe was called, or another subscription has taken its place, and
	// the hub has not confirmed that yet.
	Ending Status = "ending"

	ended Status = "ended" // to be removed
)

// A Subscription is one topic at one hub, for the document at a URL.
type Subscription struct {
	URL    string `json:"url"`
	Topic  string `json:"topic,omitempty"` // empty: not known yet
	Hub    string `json:"hub,omitempty"`   // empty: not known yet, or there is none
	Status Status `json:"status"`

	// Expires is the end of the lease. It is zero if the hub has confirmed none.
	Expires time.Time `json:"expires,omitzero"`

	// Next is the time of the next request: to find the hub, to subscribe, to renew or to
	// unsubscribe.
	Next time.Time `json:"next,omitzero"`

	// Error is the error of the last request, or the reason for which the hub has denied
	// the subscription.
	Error string `json:"error,omitempty"`
}

// A held is a subscription in the State.
type held struct {
	Subscription
	Token    string `json:"token"`            // the last segment of the callback
	Secret   string `json:"secret,omitempty"` // empty: notices are not signed
	Attempts int    `json:"attempts,omitempty"`
}

// A record is what the State holds of a URL.
type record struct {
	// Subs are its subscriptions, at least one. The first is the wanted one, unless it is
	// Ending. Of the others, those that are Active serve until the first is.
	Subs   []*held   `json:"subs"`
	Hubs   []string  `json:"hubs,omitempty"`  // as found last
	Sought time.Time `json:"sought,omitzero"` // when Discover was called last
}

const (
	// pause is how long a hub that has denied, or a document without a hub, is left alone.
	pause = 24 * time.Hour
	// firstWait is how long to wait at most after the first failure.
	firstWait = time.Minute
	// fresh is how long Discover is not called again after it has found hubs.
	fresh = 10 * time.Minute
	// shortest and longest are the limits of leases. A shorter one would be a stream of
	// requests.
	shortest = 10 * time.Second
	longest  = 365 * 24 * time.Hour
)

// now returns the time as it is stored: in UTC.
func now() time.Time { return time.Now().UTC() }

// newHeld returns a subscription that is due at once. Its callback cannot be guessed. It
// has a secret if the request is encrypted (WebSub §5.1).
func newHeld(url, topic, hub string, now time.Time) *held {
	h := &held{
		Subscription: Subscription{URL: url, Topic: topic, Hub: hub, Status: Pending, Next: now},
		Token:        idOf(url) + rand.Text(),
	}
	if strings.HasPrefix(strings.ToLower(hub), "https:") {
		h.Secret = rand.Text() + rand.Text()
	}
	return h
}

// wanted reports whether notices are accepted.
func (h *held) wanted() bool { return h.Status == Pending || h.Status == Active }

// active reports whether a hub has confirmed h, and its lease has not ended.
func (h *held) active(now time.Time) bool { return h.Status == Active && now.Before(h.Expires) }

// over reports whether h may be deleted.
func (h *held) over(now time.Time) bool {
	return h.Status == ended || h.Status == Ending && !now.Before(h.Expires)
}

// end makes the request due by which h ends.
func (h *held) end(now time.Time) {
	if h.Status != Ending {
		h.Status, h.Next, h.Attempts, h.Error = Ending, now, 0, ""
	}
}

// tidy removes what is over, and what was replaced and has lapsed.
func (r *record) tidy(now time.Time) {
	all := slices.Clone(r.Subs)
	r.Subs = slices.DeleteFunc(r.Subs, func(h *held) bool {
		return h.over(now) || h != all[0] && h.Status != Ending && !h.active(now)
	})
}

// byToken returns the subscription with a token, or nil.
func (r *record) byToken(token string) *held {
	if r == nil {
		return nil
	}
	for _, h := range r.Subs {
		if subtle.ConstantTimeCompare([]byte(h.Token), []byte(token)) == 1 {
			return h
		}
	}
	return nil
}

// due returns the subscription that is due next, and when. Those that were replaced are
// not due: they end or lapse.
func (r *record) due() (next *held, at time.Time) {
	for _, h := range r.Subs {
		due := h == r.Subs[0] || h.Status == Ending
		if due && (next == nil || h.Next.Before(at)) {
			next, at = h, h.Next
		}
	}
	return next, at
}

// begin notes an attempt for a subscription that is due. An attempt is a turn: before
// requests are repeated after a longer wait, each hub has its turn.
func (r *record) begin(h *held, now time.Time) {
	h.Attempts++
	turns := max(1, len(r.Hubs))
	h.Next = now.Add(outgoing.Backoff((h.Attempts+turns-1)/turns, firstWait, 6*time.Hour))
}

// stale reports whether the topic and the hubs must be found again.
func (r *record) stale(now time.Time) bool { return len(r.Hubs) == 0 || now.Sub(r.Sought) >= fresh }

// lastTurn reports whether each hub has had its turn since one has confirmed.
func (r *record) lastTurn() bool { return r.Subs[0].Attempts%max(1, len(r.Hubs)) == 0 }

// none notes that the document names no hub. A subscription that is active serves until
// its lease ends.
func (r *record) none(now time.Time) {
	r.Hubs = nil
	if r.Subs[0].Status != NoHub {
		r.replace(newHeld(r.Subs[0].URL, "", "", now), now)
	}
	h := r.Subs[0]
	h.Status, h.Next, h.Attempts, h.Error = NoHub, now.Add(pause), 0, ""
}

// choose makes the wanted subscription one for a topic at one of the hubs: at the one
// that it has, unless that has failed. One that was denied, or whose lease has ended, is
// replaced by one with another callback and another secret.
func (r *record) choose(topic string, hubs []string, now time.Time) {
	h := r.Subs[0]
	at := slices.Index(hubs, h.Hub)
	if failed := h.Attempts > 1; at < 0 || failed {
		at = (at + 1) % len(hubs)
	}
	lapsed := h.Status == Active && !h.active(now)
	if r.Hubs = hubs; h.Topic == topic && h.Hub == hubs[at] && !lapsed && h.wanted() {
		return
	}
	next := newHeld(h.URL, topic, hubs[at], now)
	for _, other := range r.Subs[1:] {
		if other.Topic == topic && other.Hub == next.Hub && other.active(now) {
			next = other // it was replaced by one that has failed
		}
	}
	next.Next, next.Attempts = h.Next, h.Attempts
	r.replace(next, now)
}

// replace makes another subscription the wanted one. The one before serves as long as it
// is active.
func (r *record) replace(h *held, now time.Time) {
	r.Subs = slices.DeleteFunc(r.Subs, func(other *held) bool { return other == h })
	r.Subs = slices.Insert(r.Subs, 0, h)
	r.tidy(now)
}

// confirm sets the lease that the hub of h grants. If h is the wanted one, those that it
// has replaced end.
func (r *record) confirm(h *held, now time.Time, lease time.Duration) {
	h.Status, h.Expires, h.Attempts, h.Error = Active, now.Add(lease), 0, ""
	h.Next = now.Add(lease - lease/5 - mathrand.N(lease/10))
	for _, other := range r.Subs {
		if h == r.Subs[0] && other != h {
			other.end(now)
		}
	}
}

// deny notes that the hub of h has denied it. If another hub has not had its turn yet, h
// stays due.
func (r *record) deny(h *held, now time.Time, reason string) {
	if r.lastTurn() {
		h.Attempts, h.Next = max(1, h.Attempts), now.Add(pause)
	}
	h.Status, h.Expires, h.Error = Denied, time.Time{}, reason
}

// idLen is the length of what tokens begin with.
const idLen = 32

// idOf returns the end of the key of a URL's record, with which its tokens begin.
func idOf(url string) string {
	return hex.EncodeToString([]byte(websync.SHA256([]byte(url)).Sum))[:idLen]
}

// find returns the id of the record that may have the token.
func find(token string) (id string, ok bool) {
	if len(token) <= idLen {
		return "", false
	}
	_, err := hex.DecodeString(token[:idLen])
	return token[:idLen], err == nil
}
