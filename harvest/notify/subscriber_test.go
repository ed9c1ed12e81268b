package notify

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
)

const day = 24 * time.Hour

func TestSubscribeConfirmRenew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		during(t, f.Run, func() {
			f.subscribe(feedURL, hubURL)
			synctest.Wait()
			require.Len(t, f.hubs.requests(), 1)
			assert.Equal(t, hubURL, f.hubs.requests()[0].url)
			form := f.last()
			assert.Equal(t, "subscribe", form.Get("hub.mode"))
			assert.Equal(t, feedURL, form.Get("hub.topic"))
			assert.Equal(t, "864000", form.Get("hub.lease_seconds"))
			assert.Regexp(t, `^https://my\.example/websub/[0-9a-f]{32}[A-Z2-7]{26}$`, form.Get("hub.callback"))
			assert.Regexp(t, `^[A-Z2-7]{52}$`, form.Get("hub.secret"))
			assert.Equal(t, Pending, f.only().Status)

			answer := f.verify(form)
			assert.Equal(t, http.StatusOK, answer.Code)
			assert.Equal(t, "<b>1", answer.Body.String())
			assert.Equal(t, "text/plain; charset=utf-8", answer.Header().Get("Content-Type"))
			assert.Equal(t, "nosniff", answer.Header().Get("X-Content-Type-Options"))
			sub := f.only()
			assert.Equal(t, Active, sub.Status)
			assert.Equal(t, 100000*time.Second, time.Until(sub.Expires))
			assert.Equal(t, 1, f.notices(), "what changed before it was confirmed is not missed")

			f.hubs.confirm(func(r request) { f.verify(r.form) })
			time.Sleep(70000*time.Second - time.Second)
			require.Len(t, f.hubs.requests(), 1)
			time.Sleep(10002 * time.Second)
			require.Len(t, f.hubs.requests(), 2)
			assert.Equal(t, form, f.last(), "the same callback and secret")
			assert.Equal(t, Active, f.only().Status)
			assert.Equal(t, f.hubs.requests()[1].at+100000*time.Second, f.only().Expires.Sub(f.hubs.began))
			assert.Equal(t, 1, f.notices(), "nothing was missed")
		})
	})
}

func TestSubscriptionsOutliveAProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := harvest.NewCatalog(memstore.New())
		before := newFixtureOn(t, store)
		during(t, before.Run, func() {
			before.subscribe(feedURL, hubURL)
			synctest.Wait()
			before.verify(before.last())
		})
		after := newFixtureOn(t, store)
		assert.Equal(t, before.only(), after.only())
		assert.Equal(t, http.StatusAccepted, after.post(before.last(), "sha256", "<feed/>"), "before Run")
		require.Equal(t, 1, after.notices())
		after.hubs.confirm(func(r request) { after.verify(r.form) })
		during(t, after.Run, func() {
			after.subscribe(feedURL, hubURL) // as programs do at every start
			time.Sleep(69999 * time.Second)
			require.Empty(t, after.hubs.requests())
			time.Sleep(10001 * time.Second)
			require.Len(t, after.hubs.requests(), 1)
			assert.Equal(t, before.last(), after.last())
		})
	})
}

func TestALeaseThatEndedIsReplaced(t *testing.T) {
	confirmed(t, func(f *fixture, first url.Values) {
		f.hubs.answer("hub.example.net", reply{status: 500, body: "out of order\n"})
		time.Sleep(100000 * time.Second)
		sub := f.only()
		assert.Equal(t, Pending, sub.Status)
		assert.Equal(t, `status 500: "out of order\n"`, sub.Error)
		assert.Equal(t, http.StatusAccepted, f.post(first, "sha1", ""), "late notices are accepted")

		f.hubs.answer("hub.example.net", reply{})
		time.Sleep(6 * time.Hour)
		second := f.last()
		assert.NotEqual(t, first.Get("hub.callback"), second.Get("hub.callback"))
		assert.NotEqual(t, first.Get("hub.secret"), second.Get("hub.secret"))
		assert.Equal(t, http.StatusNotFound, f.verify(first).Code)
		assert.Equal(t, http.StatusGone, f.post(first, "sha1", ""))
		notified := f.notices()
		assert.Equal(t, http.StatusOK, f.verify(second).Code)
		assert.Equal(t, notified+1, f.notices(), "what changed in between is not missed")
		assert.Empty(t, f.only().Error)
	})
}

func TestRequestsAreRepeatedUntilTheHubConfirms(t *testing.T) {
	for name, answer := range map[string]reply{
		"no answer":            {status: -1},
		"never confirmed":      {},
		"rejected":             {status: 403},
		"redirected with GET":  {status: 302, header: http.Header{"Location": {"https://other.example/"}}},
		"redirected elsewhere": {status: 307, header: http.Header{"Location": {"http://plain.example/"}}},
		"too slow":             {takes: day},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				f.hubs.answer("hub.example.net", answer)
				during(t, f.Run, func() {
					f.subscribe(feedURL, hubURL)
					time.Sleep(3 * day)
					asked := f.hubs.requests()
					require.Greater(t, len(asked), 12)
					for i, wait := 1, time.Minute; i < len(asked); i++ {
						gap := asked[i].at - asked[i-1].at
						assert.True(t, wait/2 <= gap && gap <= wait, "%v after attempt %d", gap, i)
						wait = min(2*wait, 6*time.Hour)
						assert.Equal(t, asked[0].form, asked[i].form, "a late confirmation still fits")
						assert.Equal(t, hubURL, asked[i].url)
					}
				})
			})
		})
	}
}

func TestRetryAfterIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.hubs.answer("hub.example.net", reply{status: 429, header: http.Header{"Retry-After": {"7200"}}})
		during(t, f.Run, func() {
			f.subscribe(feedURL, hubURL)
			time.Sleep(3 * time.Hour)
			asked := f.hubs.requests()
			require.Len(t, asked, 2)
			assert.Equal(t, 2*time.Hour, asked[1].at)
		})
	})
}

// TestASlowHubDelaysNoOther: to the slow one go two requests at a time, also if other
// hubs redirect to it.
func TestASlowHubDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.hubs.answer("slow.example", reply{takes: day})
		f.hubs.answer("SLOW.example", reply{takes: day})
		during(t, f.Run, func() {
			for i := range 5 {
				hub := fmt.Sprintf("https://hub%d.example/", i)
				f.hubs.answer(fmt.Sprintf("hub%d.example", i), reply{status: 307, header: http.Header{"Location": {"https://SLOW.example/"}}})
				f.subscribe(fmt.Sprintf("https://example.org/%d", i), "https://slow.example/")
				f.subscribe(fmt.Sprintf("https://example.org/by/%d", i), hub)
			}
			synctest.Wait()
			f.subscribe(feedURL, hubURL)
			synctest.Wait()
			slow := 0
			for _, r := range f.hubs.requests() {
				if strings.EqualFold(r.url, "https://slow.example/") {
					slow++
				}
			}
			assert.Equal(t, 2, slow)
			assert.Len(t, f.hubs.requests(), 2+5+1)
			time.Sleep(30 * time.Second) // which a request may take
			synctest.Wait()
			assert.Empty(t, f.client.Transport.(*perHost).hosts)
		})
	})
}

func TestAHubMayConfirmBeforeItAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.hubs.answer("hub.example.net", reply{status: 500, header: http.Header{"Retry-After": {"86400"}}})
		f.hubs.confirm(func(r request) { f.verify(r.form) })
		during(t, f.Run, func() {
			f.subscribe(feedURL, hubURL)
			time.Sleep(time.Hour)
			sub := f.only()
			assert.Equal(t, Active, sub.Status)
			assert.Empty(t, sub.Error)
			assert.Less(t, time.Until(sub.Next), 80000*time.Second)
			assert.Len(t, f.hubs.requests(), 1)
		})
	})
}

func TestRedirectsToAnotherHub(t *testing.T) {
	for _, status := range []int{307, 308} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t)
			f.hubs.answer("hub.example.net", reply{status: status, header: http.Header{"Location": {"https://other.example/hub"}}})
			during(t, f.Run, func() {
				f.subscribe(feedURL, hubURL)
				synctest.Wait()
				asked := f.hubs.requests()
				require.Len(t, asked, 2)
				assert.Equal(t, "https://other.example/hub", asked[1].url)
				assert.Equal(t, asked[0].form, asked[1].form)
				assert.Equal(t, http.StatusOK, f.verify(f.last()).Code)
			})
		})
	}
}

// TestADeniedSubscriptionIsLeftAlone: for a day, and again for a day.
func TestADeniedSubscriptionIsLeftAlone(t *testing.T) {
	confirmed(t, func(f *fixture, form url.Values) {
		answer := f.verify(form, "hub.mode", "denied", "hub.challenge", "", "hub.reason", "not\nyou")
		assert.Equal(t, http.StatusOK, answer.Code)
		sub := f.only()
		assert.Equal(t, Denied, sub.Status)
		assert.Equal(t, `denied: "not\nyou"`, sub.Error)
		assert.Equal(t, day, time.Until(sub.Next))
		assert.Zero(t, sub.Expires)
		assert.Equal(t, http.StatusGone, f.post(form, "sha256", ""))
		assert.Equal(t, http.StatusNotFound, f.verify(form).Code)
		f.subscribe(feedURL, hubURL)
		f.hubs.confirm(func(r request) { f.verify(r.form, "hub.mode", "denied", "hub.challenge", "") })
		time.Sleep(day - time.Second)
		require.Len(t, f.hubs.requests(), 1)
		time.Sleep(9 * day)
		require.Len(t, f.hubs.requests(), 10)
		assert.NotEqual(t, form.Get("hub.callback"), f.last().Get("hub.callback"))

		f.hubs.confirm(func(r request) { f.verify(r.form) })
		require.NoError(t, f.Unsubscribe(t.Context(), feedURL))
		f.subscribe(feedURL, hubURL)
		synctest.Wait()
		require.Len(t, f.hubs.requests(), 11)
		assert.Equal(t, Active, f.only().Status)
	})
}

func TestUnsubscribe(t *testing.T) {
	require.NoError(t, newFixture(t).Unsubscribe(t.Context(), feedURL), "not subscribed")
	confirmed(t, func(f *fixture, first url.Values) {
		require.NoError(t, f.Unsubscribe(t.Context(), feedURL))
		assert.Equal(t, http.StatusGone, f.post(first, "sha256", ""), "at once")
		assert.Equal(t, http.StatusNotFound, f.verify(first).Code)
		synctest.Wait()
		last := f.last()
		assert.Equal(t, url.Values{"hub.mode": {"unsubscribe"}, "hub.topic": {feedURL}, "hub.callback": first["hub.callback"]}, last)
		assert.Equal(t, Ending, f.only().Status)
		require.NoError(t, f.Unsubscribe(t.Context(), feedURL), "again")
		synctest.Wait()

		answer := f.verify(last, "hub.lease_seconds", "")
		assert.Equal(t, http.StatusOK, answer.Code)
		assert.Equal(t, "<b>1", answer.Body.String())
		require.NoError(t, f.Unsubscribe(t.Context(), feedURL), "and again")
		synctest.Wait()
		assert.Empty(t, f.all())
		assertNothingKept(t, f.State)
		assert.Equal(t, http.StatusNotFound, f.verify(last).Code)
		assert.Len(t, f.hubs.requests(), 2)
		assert.Zero(t, f.notices())
	})
}

func TestTheEndIsConfirmed(t *testing.T) {
	for name, changes := range map[string][]string{
		"as the specification says": nil,
		"by a denial":               {"hub.mode", "denied", "hub.challenge", ""},
	} {
		t.Run(name, func(t *testing.T) {
			confirmed(t, func(f *fixture, _ url.Values) {
				require.NoError(t, f.Unsubscribe(t.Context(), feedURL))
				synctest.Wait()
				assert.Equal(t, http.StatusOK, f.verify(f.last(), changes...).Code)
				synctest.Wait()
				assertNothingKept(t, f.State)
			})
		})
	}
}

func TestRepetitionsGoOnBeyondTheLease(t *testing.T) {
	confirmed(t, func(f *fixture, _ url.Values) {
		f.hubs.answer("hub.example.net", reply{status: -1})
		time.Sleep(10 * day)
		asked := f.hubs.requests()[1:]
		for i, wait := 1, time.Minute; i < len(asked); i++ {
			gap := asked[i].at - asked[i-1].at
			assert.True(t, wait/2 <= gap && gap <= wait, "%v after attempt %d", gap, i)
			wait = min(2*wait, 6*time.Hour)
		}
	})
}

func TestAnAttemptIsMadeOnce(t *testing.T) {
	f := newFixture(t)
	f.subscribe(feedURL, hubURL)
	_, began, err := f.begin(t.Context(), feedURL)
	require.NoError(t, err)
	assert.NotNil(t, began)
	_, began, err = f.begin(t.Context(), feedURL)
	require.NoError(t, err)
	assert.Nil(t, began, "another Run was faster")
}

// assertNothingKept checks that the State has no value of the subscription.
func assertNothingKept(t *testing.T, state websync.State) {
	t.Helper()
	for _, key := range []string{indexKey, prefix + idOf(feedURL)} {
		value, err := state.State(context.Background(), key)
		require.NoError(t, err)
		assert.Empty(t, value, key)
	}
}

func TestUnsubscribeFromAHubThatIsGone(t *testing.T) {
	confirmed(t, func(f *fixture, _ url.Values) {
		f.hubs.answer("hub.example.net", reply{status: -1})
		require.NoError(t, f.Unsubscribe(t.Context(), feedURL))
		time.Sleep(99999 * time.Second)
		assert.Equal(t, Ending, f.only().Status)
		assert.Equal(t, "no route", f.only().Error)
		time.Sleep(2 * time.Second)
		assert.Empty(t, f.all(), "the lease is over")
		time.Sleep(7 * time.Hour)
		asked := len(f.hubs.requests())
		time.Sleep(day)
		assert.Len(t, f.hubs.requests(), asked)
		assertNothingKept(t, f.State)
	})
}

func TestUnsubscribeBeforeTheHubConfirms(t *testing.T) {
	requested(t, func(f *fixture, form url.Values) {
		require.NoError(t, f.Unsubscribe(t.Context(), feedURL))
		assert.Equal(t, http.StatusNotFound, f.verify(form).Code)
		assert.Empty(t, f.all())
		time.Sleep(day)
		assert.Len(t, f.hubs.requests(), 1)
		assertNothingKept(t, f.State)
	})
}

func TestLeases(t *testing.T) {
	for name, tt := range map[string]struct {
		lease    time.Duration
		asked    string
		granted  string
		expires  time.Duration
		earliest time.Duration
	}{
		"as asked":             {time.Hour, "3600", "3600", time.Hour, 42 * time.Minute},
		"not asked":            {-1, "", "7200", 2 * time.Hour, 84 * time.Minute},
		"less than a second":   {time.Millisecond, "1", "60", time.Minute, 42 * time.Second},
		"a second, not stated": {time.Millisecond, "1", "", 10 * time.Second, 7 * time.Second},
		"ten seconds":          {0, "864000", "10", 10 * time.Second, 7 * time.Second},
		"a fraction":           {time.Hour, "3600", "1.5", time.Hour, 42 * time.Minute},
		"no number":            {time.Hour, "3600", "for ever", time.Hour, 42 * time.Minute},
		"not stated":           {time.Hour, "3600", "", time.Hour, 42 * time.Minute},
		"nonsense":             {time.Hour, "3600", "-5", time.Hour, 42 * time.Minute},
		"zero":                 {time.Hour, "3600", "0", time.Hour, 42 * time.Minute},
		"a second":             {0, "864000", "1", 10 * time.Second, 7 * time.Second},
		"for ever":             {0, "864000", "99999999999", 365 * day, 250 * day},
		"more than a number":   {0, "864000", strings.Repeat("9", 40), 365 * day, 250 * day},
		"longer than an hour":  {3 * time.Hour, "10800", "20000", 20000 * time.Second, 14000 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				f.Lease = tt.lease
				during(t, f.Run, func() {
					f.subscribe(feedURL, hubURL)
					synctest.Wait()
					assert.Equal(t, tt.asked, f.last().Get("hub.lease_seconds"))
					f.verify(f.last(), "hub.lease_seconds", tt.granted)
					sub := f.only()
					assert.Equal(t, tt.expires, time.Until(sub.Expires))
					assert.GreaterOrEqual(t, time.Until(sub.Next), tt.earliest)
					assert.LessOrEqual(t, time.Until(sub.Next), tt.expires*4/5)
				})
			})
		})
	}
}

func TestBadURLs(t *testing.T) {
	for name, tt := range map[string]struct{ url, callback string }{
		"no document":              {"", "https://my.example/"},
		"document that is no URL":  {"urn:x", "https://my.example/"},
		"document with a fragment": {feedURL + "#1", "https://my.example/"},
		"document with a password": {"https://me:secret@example.org/", "https://my.example/"},
		"too long":                 {feedURL + strings.Repeat("x", maxURL), "https://my.example/"},
		"no callback":              {feedURL, ""},
		"callback with a query":    {feedURL, "https://my.example/?a=1"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.Callback = tt.callback
			err := f.Subscribe(t.Context(), tt.url)
			require.Error(t, err)
			assert.NotContains(t, err.Error(), "secret")
			assert.Empty(t, f.all())
		})
	}
	assert.Error(t, new(Subscriber).Run(t.Context()))
	assert.Error(t, new(Subscriber).Unsubscribe(t.Context(), feedURL))
}

// TestTheDefaultClientRefusesPrivateAddresses: whatever a document names as its hub.
func TestTheDefaultClientRefusesPrivateAddresses(t *testing.T) {
	reached := false
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer server.Close()
	f := newFixture(t)
	f.Client = nil
	f.subscribe(feedURL, server.URL)
	r, h, err := f.begin(t.Context(), feedURL)
	require.NoError(t, err)
	f.finds.slots <- struct{}{}
	f.request(t.Context(), f.finds, r, h)
	assert.False(t, reached)
	assert.Equal(t, server.URL, f.only().Hub)
	assert.Contains(t, f.only().Error, "prohibited IP address")
	assert.NotContains(t, f.only().Error, "hub.secret")
}

// A brokenState fails on demand.
type brokenState struct {
	whole     websync.State
	mu        sync.Mutex
	broken    bool
	conflicts int
}

func (b *brokenState) Swap(ctx context.Context, key string, old, new []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.conflicts > 0 {
		b.conflicts--
		return websync.ErrConflict
	}
	return b.whole.Swap(ctx, key, old, new)
}

func (b *brokenState) fail(broken bool) {
	b.mu.Lock()
	b.broken = broken
	b.mu.Unlock()
}

func (b *brokenState) State(ctx context.Context, key string) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.broken {
		return nil, errors.New("disk full")
	}
	return b.whole.State(ctx, key)
}

func TestAStateThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := &brokenState{whole: harvest.NewCatalog(memstore.New())}
		f := newFixtureOn(t, state)
		during(t, f.Run, func() {
			f.subscribe(feedURL, hubURL)
			synctest.Wait()
			form := f.last()
			state.fail(true)
			assert.Equal(t, http.StatusServiceUnavailable, f.verify(form).Code)
			assert.Equal(t, http.StatusServiceUnavailable, f.post(form, "sha256", ""), "rather than 410")
			form.Set("hub.callback", "https://my.example/websub/"+strings.Repeat("%00", 58))
			assert.Equal(t, http.StatusGone, f.post(form, "sha256", ""), "a key that no record has")
			require.ErrorContains(t, f.Subscribe(t.Context(), feedURL), "notify: disk full")
			require.Error(t, f.Unsubscribe(t.Context(), feedURL))
			for _, err := range f.Subscriptions(t.Context()) {
				require.Error(t, err)
			}
			time.Sleep(day)
			require.Len(t, f.hubs.requests(), 1)
			state.fail(false)
			time.Sleep(61 * time.Second)
			assert.Greater(t, len(f.hubs.requests()), 1)
		})
	})
}

func TestConflicts(t *testing.T) {
	state := &brokenState{whole: harvest.NewCatalog(memstore.New()), conflicts: 10}
	f := newFixtureOn(t, state)
	f.subscribe(feedURL, hubURL)
	assert.Equal(t, Pending, f.only().Status)
	state.conflicts = 1 << 20
	assert.ErrorIs(t, f.Unsubscribe(t.Context(), feedURL), websync.ErrConflict, "not for ever")
}

func TestMalformedValuesCountAsMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := harvest.NewCatalog(memstore.New())
		for _, key := range []string{indexKey, prefix + idOf(feedURL)} {
			require.NoError(t, store.Swap(t.Context(), key, nil, []byte("{")))
		}
		f := newFixtureOn(t, store)
		assert.Empty(t, f.all())
		during(t, f.Run, func() {
			f.subscribe(feedURL, hubURL)
			synctest.Wait()
			assert.Equal(t, http.StatusOK, f.verify(f.last()).Code)
			assert.Equal(t, Active, f.only().Status)
		})
	})
}

func TestManyAtOnce(t *testing.T) {
	f := newFixture(t)
	f.hubs.confirm(func(r request) { go f.verify(r.form) })
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	for range 2 { // as two processes do
		go func() { done <- f.Run(ctx) }()
	}
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			topic := fmt.Sprintf("https://example.org/%d", i/2) // each by two
			f.names(topic, channel{topic: topic, hubs: []string{hubURL}})
			assert.NoError(t, f.Subscribe(ctx, topic))
		})
	}
	all.Wait()
	assert.Eventually(t, func() bool { return f.notices() == 10 }, 20*time.Second, time.Millisecond)
	cancel()
	<-done
	<-done
	assert.Len(t, f.hubs.requests(), 10)
	for _, sub := range f.all() {
		assert.Equal(t, Active, sub.Status)
	}
}
