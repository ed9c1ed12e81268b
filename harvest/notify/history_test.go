package notify

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/racing"
)

// A grant is a subscription that a hub has granted.
type grant struct {
	form    url.Values
	expires time.Time
}

// A realHub is a hub that does as WebSub says, unless it has a mood.
type realHub struct {
	lease   time.Duration
	mood    mood
	granted map[string]grant // by callback
}

type mood int

const (
	sound mood = iota
	away       // no answer
	refusing
	silent // it accepts requests, and does not verify them
	denying
	mistaken // it verifies another topic
	moods
)

// A history is a publisher of one document, its hubs and a Subscriber, over months.
type history struct {
	*fixture
	random  *rand.Rand
	hubs    map[string]*realHub
	topic   string
	named   []string // hubs
	broken  bool     // the document can't be read
	version int      // of the document
	read    int      // the version that the source has read last
	log     []string
}

var historyHubs = []string{"https://a.example/", "https://b.example/", "http://c.example/"}

func newHistory(t *testing.T, seed uint64) *history {
	h := &history{random: rand.New(rand.NewPCG(seed, 1)), hubs: make(map[string]*realHub), topic: feedURL, named: historyHubs[:1]}
	for _, u := range historyHubs {
		h.hubs[u] = &realHub{lease: day, granted: make(map[string]grant)}
	}
	h.restart(t, harvest.NewCatalog(memstore.New()))
	return h
}

func (h *history) restart(t *testing.T, state *harvest.Catalog) {
	h.fixture = newFixtureOn(t, state)
	h.Client = &http.Client{Transport: roundTrip(h.subscribes)}
	h.Discover = func(context.Context, string) (string, []string, error) {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.broken {
			return "", nil, errors.New("not read")
		}
		return h.topic, h.named, nil
	}
	h.Notify = func(url string) bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.read = h.version
		return url == feedURL
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// subscribes is what a hub does with a request.
func (h *history) subscribes(r *http.Request) (*http.Response, error) {
	if err := r.ParseForm(); err != nil {
		return nil, err
	}
	h.mu.Lock()
	hub := h.hubs[r.URL.String()]
	mood, lease := hub.mood, hub.lease
	h.mu.Unlock()
	form, seconds := r.PostForm, strconv.Itoa(int(lease/time.Second))
	answer := &http.Response{StatusCode: http.StatusAccepted, Body: http.NoBody, Request: r}
	changes := []string{"hub.lease_seconds", seconds}
	switch mood {
	case away:
		return nil, errors.New("no route")
	case refusing:
		answer.StatusCode = http.StatusServiceUnavailable
		return answer, nil
	case silent:
		return answer, nil
	case denying:
		changes = []string{"hub.mode", "denied", "hub.challenge", ""}
	case mistaken:
		changes = append(changes, "hub.topic", form.Get("hub.topic")+"/")
	}
	confirmed := h.verify(form, changes...).Code == http.StatusOK
	h.mu.Lock()
	defer h.mu.Unlock()
	switch callback := form.Get("hub.callback"); {
	case mood != sound || !confirmed:
	case form.Get("hub.mode") == "subscribe":
		hub.granted[callback] = grant{form, now().Add(lease)}
	default:
		delete(hub.granted, callback)
	}
	return answer, nil
}

// publish publishes a version. The hubs of a careful publisher are those that it has ever
// named, for all topics that the document had.
func (h *history) publish(careful bool) {
	h.mu.Lock()
	h.version++
	var to []url.Values
	for _, u := range slices.Sorted(maps.Keys(h.hubs)) {
		hub := h.hubs[u]
		for callback, g := range hub.granted {
			named := careful || slices.Contains(h.named, u) && g.form.Get("hub.topic") == h.topic
			if !now().Before(g.expires) {
				delete(hub.granted, callback)
			} else if named && hub.mood != away {
				to = append(to, g.form)
			}
		}
	}
	h.mu.Unlock()
	for _, form := range to {
		h.post(form, "sha256", "<feed/>")
	}
}

func (h *history) current() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.read == h.version
}

// disturb makes a random event.
func (h *history) disturb(kinds int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	hub := historyHubs[h.random.IntN(len(historyHubs))]
	switch h.random.IntN(kinds) {
	case 0:
		h.topic = fmt.Sprintf("%s?%d", feedURL, h.random.IntN(3))
	case 1:
		h.named = slices.Clone(historyHubs)
		h.random.Shuffle(len(h.named), func(i, k int) { h.named[i], h.named[k] = h.named[k], h.named[i] })
		h.named = h.named[:1+h.random.IntN(len(h.named))]
	case 2:
		h.hubs[hub].lease = []time.Duration{time.Second, 10 * time.Second, 10 * time.Minute, time.Hour, day, 10 * day}[h.random.IntN(6)]
	case 3, 4:
		h.hubs[hub].mood = mood(h.random.IntN(int(moods)))
	case 5:
		h.named = nil
	case 6:
		h.broken = !h.broken
	case 7: // a hub that forgets
		clear(h.hubs[hub].granted)
	}
	h.log = append(h.log, fmt.Sprint(now().Sub(h.began()), h.topic, h.named, h.broken, hub, *h.hubs[hub]))
}

func (h *history) began() time.Time { return h.fixture.hubs.began }

// sound makes everything sound, with leases that are not shorter.
func (h *history) sound(lease time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.broken = false
	if len(h.named) == 0 {
		h.named = historyHubs[1:]
	}
	for _, hub := range h.hubs {
		hub.mood, hub.lease = sound, max(hub.lease, lease)
	}
}

func (h *history) pause(most time.Duration) {
	time.Sleep(time.Duration(h.random.Int64N(int64(most))))
}

func runHistories(t *testing.T, run func(t *testing.T, h *history)) {
	for seed := range racing.Some(uint64(60)) {
		synctest.Test(t, func(t *testing.T) {
			h := newHistory(t, seed)
			require.NoError(t, h.Subscribe(t.Context(), feedURL))
			run(t, h)
			if t.Failed() {
				t.Log("seed", seed, h.log)
			}
		})
	}
}

// TestHistories: whatever hubs and documents do, the Subscriber is subscribed once, at a
// hub that the document names, some time after that has ended; and what no notice has
// announced the schedule has found.
func TestHistories(t *testing.T) {
	runHistories(t, func(t *testing.T, h *history) {
		for range 4 {
			during(t, h.Run, func() {
				for range 12 {
					h.disturb(8)
					h.publish(false)
					h.pause([]time.Duration{time.Minute, time.Hour, 6 * time.Hour}[h.random.IntN(3)])
				}
				h.sound(time.Hour)
				time.Sleep(12 * day) // the longest lease, and a pause
				h.Notify(feedURL)    // by the schedule
				require.True(t, h.current())
				all := h.all()
				require.Len(t, all, 1)
				require.Equal(t, Active, all[0].Status, all[0])
				require.Equal(t, h.topic, all[0].Topic)
				require.Contains(t, h.named, all[0].Hub)
			})
			h.restart(t, h.State.(*harvest.Catalog))
			during(t, h.Run, func() {
				time.Sleep(12 * day) // a hub may have forgotten the subscription
				h.publish(false)
				require.True(t, h.current(), "a notice comes")
			})
		}
	})
}

// TestMovesLoseNothing: if the publisher announces changes where it did before, too, each
// of them arrives at once, however topics and hubs move.
func TestMovesLoseNothing(t *testing.T) {
	runHistories(t, func(t *testing.T, h *history) {
		during(t, h.Run, func() {
			synctest.Wait()
			for range 40 {
				h.disturb(3)
				h.sound(shortest)
				for range 3 {
					h.pause([]time.Duration{time.Second, time.Minute, time.Hour}[h.random.IntN(3)])
					h.publish(true)
					require.True(t, h.current())
				}
			}
		})
	})
}
