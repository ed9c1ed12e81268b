package notify

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const plainHub = "http://plain.example/"

// TestAChannelThatMoves: at the next renewal the subscription is replaced. The former one
// serves until the new one is confirmed, and is ended then.
func TestAChannelThatMoves(t *testing.T) {
	for name, to := range map[string]channel{
		"another topic": {topic: "https://other.example/feed", hubs: []string{hubURL}},
		"another hub":   {topic: feedURL, hubs: []string{plainHub}},
		"both":          {topic: "https://other.example/feed", hubs: []string{plainHub}},
	} {
		t.Run(name, func(t *testing.T) {
			confirmed(t, func(f *fixture, first url.Values) {
				f.names(feedURL, to)
				time.Sleep(80000 * time.Second)
				asked := f.hubs.requests()
				require.Greater(t, len(asked), 1)
				second := asked[1]
				assert.Equal(t, to.hubs[0], second.url)
				assert.Equal(t, to.topic, second.form.Get("hub.topic"))
				assert.Equal(t, to.hubs[0] == hubURL, second.form.Has("hub.secret"))
				assert.NotEqual(t, first.Get("hub.callback"), second.form.Get("hub.callback"))
				both := f.all()
				require.Len(t, both, 2)
				assert.Equal(t, []Status{Pending, Active}, []Status{both[0].Status, both[1].Status})
				assert.Equal(t, []string{feedURL, feedURL}, []string{both[0].URL, both[1].URL})
				assert.Equal(t, http.StatusAccepted, f.post(first, "sha256", "<feed/>"))
				assert.Equal(t, []string{feedURL}, f.notified, "the source, whatever the topic is")

				assert.Equal(t, http.StatusOK, f.verify(second.form).Code)
				assert.Equal(t, []string{feedURL, feedURL}, f.notified, "what changed before it was confirmed is not missed")
				synctest.Wait()
				end := f.hubs.requests()[len(f.hubs.requests())-1]
				assert.Equal(t, hubURL, end.url)
				assert.Equal(t, url.Values{"hub.mode": {"unsubscribe"}, "hub.topic": {feedURL}, "hub.callback": first["hub.callback"]}, end.form)
				assert.Equal(t, http.StatusOK, f.verify(end.form, "hub.lease_seconds", "").Code)
				assert.Equal(t, http.StatusGone, f.post(first, "sha256", "<feed/>"))
				assert.Equal(t, to.topic, f.only().Topic)
				assert.Equal(t, Active, f.only().Status)
				f.post(second.form, "sha256", "<feed/>")
				assert.Equal(t, 3, f.notices())
			})
		})
	}
}

// TestAChannelThatMovesBack before another hub has confirmed: the first subscription goes
// on.
func TestAChannelThatMovesBack(t *testing.T) {
	confirmed(t, func(f *fixture, first url.Values) {
		f.names(feedURL, channel{topic: feedURL, hubs: []string{plainHub}})
		time.Sleep(time.Until(f.only().Next))
		synctest.Wait()
		require.Len(t, f.all(), 2)
		f.names(feedURL, channel{topic: feedURL, hubs: []string{hubURL}})
		f.hubs.confirm(func(r request) {
			if r.url == hubURL {
				f.verify(r.form)
			}
		})
		time.Sleep(2 * time.Hour)
		assert.Equal(t, first, f.last())
		assert.Equal(t, Active, f.only().Status)
		assert.Zero(t, f.notices(), "nothing was missed")
	})
}

// TestAReplacedSubscriptionMayBeDenied, which is no reason to leave the new hub alone.
func TestAReplacedSubscriptionMayBeDenied(t *testing.T) {
	confirmed(t, func(f *fixture, first url.Values) {
		f.names(feedURL, channel{topic: feedURL, hubs: []string{plainHub}})
		time.Sleep(time.Until(f.only().Next))
		synctest.Wait()
		require.Len(t, f.all(), 2)
		assert.Equal(t, http.StatusOK, f.verify(first, "hub.mode", "denied", "hub.challenge", "").Code)
		assert.Equal(t, Pending, f.only().Status)
		assert.Equal(t, plainHub, f.only().Hub)
		assert.Equal(t, http.StatusGone, f.post(first, "sha256", ""))
	})
}

// TestPayloadsOfAnotherTopic are for the URL that was subscribed to, whatever its document
// names as its topic.
func TestPayloadsOfAnotherTopic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		var got []string
		f.Payload = func(url string, _ []byte) bool { got = append(got, url); return true }
		f.names(feedURL, channel{topic: "https://other.example/feed", hubs: []string{hubURL}})
		require.NoError(t, f.Subscribe(t.Context(), feedURL))
		during(t, f.Run, func() {
			form := f.last()
			assert.Equal(t, http.StatusOK, f.verify(form).Code)
			f.post(form, "sha256", "<urlset/>")
			assert.Equal(t, []string{feedURL}, got)
			assert.Equal(t, []string{feedURL}, f.notified)
		})
	})
}

// TestChangesDuringDiscovery: what Unsubscribe and Subscribe have stored meanwhile counts.
func TestChangesDuringDiscovery(t *testing.T) {
	for name, again := range map[string]bool{"unsubscribed": false, "unsubscribed and subscribed": true} {
		t.Run(name, func(t *testing.T) {
			confirmed(t, func(f *fixture, first url.Values) {
				f.hubs.confirm(func(r request) { f.verify(r.form) })
				f.meanwhile(func() {
					require.NoError(t, f.Unsubscribe(t.Context(), feedURL))
					if again {
						require.NoError(t, f.Subscribe(t.Context(), feedURL))
					}
				})
				time.Sleep(90000 * time.Second)
				modes := map[string]int{}
				for _, r := range f.hubs.requests()[1:] {
					modes[r.form.Get("hub.mode")]++
				}
				assert.Equal(t, 1, modes["unsubscribe"])
				assert.Equal(t, map[bool]int{true: 1}[again], modes["subscribe"])
				assert.Len(t, f.all(), modes["subscribe"])
				for _, s := range f.all() {
					assert.Equal(t, Active, s.Status)
				}
			})
		})
	}
}

// TestSubscribeWhileItEnds: with another callback, and the end goes on.
func TestSubscribeWhileItEnds(t *testing.T) {
	confirmed(t, func(f *fixture, first url.Values) {
		require.NoError(t, f.Unsubscribe(t.Context(), feedURL))
		require.NoError(t, f.Subscribe(t.Context(), feedURL))
		synctest.Wait()
		both := f.all()
		require.Len(t, both, 2)
		assert.Equal(t, []Status{Pending, Ending}, []Status{both[0].Status, both[1].Status})
		f.hubs.confirm(func(r request) { f.verify(r.form) })
		time.Sleep(time.Hour)
		assert.Equal(t, Active, f.only().Status)
		assert.Equal(t, http.StatusGone, f.post(first, "sha256", ""))
		assert.Equal(t, 1, f.notices())
	})
}

// TestManyHubs: a document may name thousands.
func TestManyHubs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		var hubs []string
		for i := range 1000 {
			hubs = append(hubs, fmt.Sprintf("https://hub.example.net/%d", i))
		}
		during(t, f.Run, func() {
			f.subscribe(feedURL, hubs...)
			time.Sleep(10 * day)
			asked := map[string]bool{}
			for _, r := range f.hubs.requests() {
				asked[r.url] = true
			}
			assert.Len(t, asked, maxHubs)
		})
	})
}

// TestADocumentWithoutAHub: it is read again a day later.
func TestADocumentWithoutAHub(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		during(t, f.Run, func() {
			f.subscribe(feedURL)
			synctest.Wait()
			sub := f.only()
			assert.Equal(t, Subscription{URL: feedURL, Status: NoHub, Next: sub.Next}, sub)
			assert.Equal(t, day, time.Until(sub.Next))
			time.Sleep(5*day + time.Minute)
			assert.EqualValues(t, 6, f.calls.Load())
			assert.Empty(t, f.hubs.requests())
			f.names(feedURL, channel{topic: feedURL, hubs: []string{hubURL}})
			f.hubs.confirm(func(r request) { f.verify(r.form) })
			time.Sleep(day)
			assert.Equal(t, Active, f.only().Status)
			assert.Equal(t, 1, f.notices())
		})
	})
}

// TestAHubThatIsNamedNoLonger serves until the lease ends, and is asked again if it is
// named before that.
func TestAHubThatIsNamedNoLonger(t *testing.T) {
	for name, tt := range map[string]struct {
		lease    string
		notified int
	}{
		"the lease ends": {"100000", 1}, "the lease goes on": {"864000", 0},
	} {
		t.Run(name, func(t *testing.T) {
			confirmed(t, func(f *fixture, first url.Values) {
				f.verify(first, "hub.lease_seconds", tt.lease)
				f.names(feedURL, channel{})
				time.Sleep(time.Until(f.only().Next))
				synctest.Wait()
				both := f.all()
				require.Len(t, both, 2)
				assert.Equal(t, []Status{NoHub, Active}, []Status{both[0].Status, both[1].Status})
				assert.Equal(t, http.StatusAccepted, f.post(first, "sha256", ""))
				f.notified = nil
				f.names(feedURL, channel{topic: feedURL, hubs: []string{hubURL}})
				f.hubs.confirm(func(r request) { f.verify(r.form) })
				time.Sleep(day + time.Minute)
				assert.Equal(t, Active, f.only().Status)
				assert.Equal(t, tt.notified == 0, first.Get("hub.callback") == f.last().Get("hub.callback"))
				assert.Equal(t, tt.notified, f.notices())
			})
		})
	}
}

// TestDiscoveryThatFails: what was found before serves; without it, Discover is asked
// again.
func TestDiscoveryThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		during(t, f.Run, func() {
			f.names(feedURL, channel{err: errors.New("boom")})
			require.NoError(t, f.Subscribe(t.Context(), feedURL))
			for name, c := range map[string]channel{
				"boom":                               {err: errors.New("boom")},
				"topic \"urn:x\" must be":            {topic: "urn:x", hubs: []string{hubURL}},
				"topic \"\" must be":                 {hubs: []string{hubURL}},
				"hub \"file:///etc/passwd\" must be": {topic: feedURL, hubs: []string{"file:///etc/passwd", "/hub"}},
				"must not be longer than 2048":       {topic: feedURL, hubs: []string{hubURL + strings.Repeat("x", 2048)}},
			} {
				f.names(feedURL, c)
				time.Sleep(7 * time.Hour)
				assert.Equal(t, Pending, f.only().Status)
				assert.Contains(t, f.only().Error, name)
			}
			require.Empty(t, f.hubs.requests())
			assert.Less(t, f.calls.Load(), int64(50))
			f.hubs.confirm(func(r request) { f.verify(r.form) })
			f.names(feedURL, channel{topic: feedURL, hubs: []string{"ftp://hub.example/", hubURL}})
			time.Sleep(7 * time.Hour)
			assert.Equal(t, Active, f.only().Status)

			f.names(feedURL, channel{err: errors.New("boom")})
			finds := f.calls.Load()
			time.Sleep(30 * day)
			assert.Greater(t, f.calls.Load(), finds)
			assert.Equal(t, Active, f.only().Status, "renewed")
			assert.Equal(t, 1, f.notices())
		})
	})
}

// TestSeveralHubs: one after the other has its turn, until one has confirmed, and that one
// is asked as long as it does.
func TestSeveralHubs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		hubs := []string{"https://a.example/", "https://b.example/", "https://c.example/"}
		f.hubs.answer("a.example", reply{status: 410})
		f.hubs.answer("b.example", reply{status: 429, header: http.Header{"Retry-After": {"3600"}}})
		f.hubs.answer("c.example", reply{status: -1})
		during(t, f.Run, func() {
			f.subscribe(feedURL, hubs...)
			time.Sleep(14 * day)
			asked := f.hubs.requests()
			require.Greater(t, len(asked), 20)
			for i, r := range asked {
				assert.Equal(t, hubs[i%3], r.url)
				if i == 0 {
					continue
				}
				wait := min(time.Minute<<min((i+2)/3-1, 10), 6*time.Hour)
				gap := r.at - asked[i-1].at
				assert.True(t, wait/2 <= gap && gap <= wait+firstWait/2, "%v after attempt %d", gap, i)
			}
			f.hubs.confirm(func(r request) {
				if r.url == hubs[1] {
					f.verify(r.form)
				}
			})
			time.Sleep(day)
			assert.Equal(t, hubs[1], f.only().Hub)
			assert.Equal(t, Active, f.only().Status)
			before := len(f.hubs.requests())
			time.Sleep(30 * day)
			for _, r := range f.hubs.requests()[before:] {
				assert.Equal(t, hubs[1], r.url)
			}
			assert.Equal(t, 1, f.notices())

			f.hubs.confirm(func(r request) {
				if r.url == hubs[2] {
					f.verify(r.form)
				}
			})
			time.Sleep(100000 * time.Second)
			all := f.all()
			assert.Equal(t, hubs[2], all[0].Hub)
			assert.Equal(t, Active, all[0].Status)
			assert.Equal(t, 2, f.notices(), "no lease has ended")
		})
	})
}

// TestHubsThatDeny: each is asked, and then they are left alone for a day.
func TestHubsThatDeny(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.hubs.confirm(func(r request) { f.verify(r.form, "hub.mode", "denied", "hub.challenge", "") })
		during(t, f.Run, func() {
			f.subscribe(feedURL, "https://a.example/", "https://b.example/")
			time.Sleep(time.Hour)
			asked := f.hubs.requests()
			require.Len(t, asked, 2)
			assert.NotEqual(t, asked[0].url, asked[1].url)
			assert.Equal(t, Denied, f.only().Status)
			time.Sleep(10 * day)
			assert.LessOrEqual(t, len(f.hubs.requests()), 22)
			assert.Zero(t, f.notices())
		})
	})
}

// TestAHubThatChangesItsMind: one that confirms and denies again and again does not make a
// stream of requests and runs.
func TestAHubThatChangesItsMind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.hubs.confirm(func(r request) {
			f.verify(r.form)
			f.verify(r.form, "hub.mode", "denied", "hub.challenge", "")
		})
		during(t, f.Run, func() {
			f.subscribe(feedURL, "https://a.example/", "https://b.example/")
			time.Sleep(10*day - time.Hour)
			assert.Len(t, f.hubs.requests(), 10)
			assert.Equal(t, 10, f.notices())
		})
	})
}

// TestShortLeases are renewed before they end, and the document is not read each time.
func TestShortLeases(t *testing.T) {
	for _, seconds := range []string{"10", "60", "3600"} {
		confirmed(t, func(f *fixture, first url.Values) {
			f.verify(first, "hub.lease_seconds", seconds)
			f.hubs.confirm(func(r request) { f.verify(r.form, "hub.lease_seconds", seconds) })
			finds := f.calls.Load()
			time.Sleep(3 * time.Hour)
			assert.Equal(t, Active, f.only().Status)
			assert.Zero(t, f.notices(), "none has ended")
			assert.Equal(t, first, f.last())
			f.names(feedURL, channel{err: errors.New("boom")})
			time.Sleep(3 * time.Hour)
			assert.Equal(t, Active, f.only().Status)
			assert.LessOrEqual(t, f.calls.Load()-finds, int64(6*time.Hour/fresh))
		})
	}
}

// TestAHubOfAnotherTopic: a hub that verifies another topic than it was asked for has not
// confirmed.
func TestAHubOfAnotherTopic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.hubs.confirm(func(r request) {
			assert.Equal(t, http.StatusNotFound, f.verify(r.form, "hub.topic", "https://example.org/other").Code)
		})
		during(t, f.Run, func() {
			f.subscribe(feedURL, hubURL)
			time.Sleep(3 * day)
			assert.Equal(t, Pending, f.only().Status)
			assert.Zero(t, f.notices())
		})
	})
}
