package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/examples/internal/cli"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/notify"
	"github.com/websync-go/websync/harvest/sqlitestore"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// post posts a form and returns the status of the answer.
func post(t *testing.T, to string, form url.Values) int {
	t.Helper()
	resp, err := http.PostForm(to, form)
	require.NoError(t, err)
	resp.Body.Close()
	return resp.StatusCode
}

// TestSchedules: a source runs when it is due, also after a restart, and one with a
// schedule of its own, or none, does not run with the others.
func TestSchedules(t *testing.T) {
	often, daily, never := newUpstream(t, "atom"), newUpstream(t, "atom"), newUpstream(t, "atom")
	file := filepath.Join(t.TempDir(), "relay.db")
	args := []string{"-store=sqlite:" + file, configured(t, `{
		"publish": [{"protocol": "atom"}],
		"sources": [
			{"url": %q, "protocol": "atom", "every": "5ms", "interval": "0s"},
			{"url": %q, "protocol": "atom", "daily": [%q], "zone": "Europe/Stockholm", "interval": "0s"},
			{"url": %q, "protocol": "atom", "every": "never", "interval": "0s"}
		]}`, often.entry, daily.entry, time.Now().UTC().Add(12*time.Hour).Format("15:04"), never.entry)}
	never.put("first.txt", "first")
	runs := func(u *upstream, n int64) { eventually(t, func() bool { return u.asked.Load() >= n }, u.entry) }
	r := startRelay(t, 1, args...)
	runs(often, 10)
	runs(daily, 1) // which has never run
	reader := newReader(&atom.Source{URL: r.entries[0], Name: testkit.Src})
	reader.follows(t, never)
	ping := strings.Replace(r.entries[0], "feed.atom", "notify/ping", 1)
	assert.Equal(t, http.StatusNotFound, post(t, ping, url.Values{"url": {"https://example.org/"}}))
	assert.Equal(t, http.StatusBadRequest, post(t, ping, nil))
	never.put("a.txt", "a")
	assert.Equal(t, http.StatusAccepted, post(t, ping, url.Values{"url": {never.entry}}))
	reader.follows(t, never)
	again := func() {
		r = startRelay(t, 1, args...)
		runs(often, often.asked.Load()+10)
		assert.Equal(t, exitDone, r.stop())
	}
	for r.stop(); !planned(t, file, daily.entry); {
		again() // a run was interrupted
	}

	ran := daily.asked.Load()
	again()
	assert.Equal(t, ran, daily.asked.Load())
}

// planned reports whether a store knows when a source is due next.
func planned(t *testing.T, file, source string) bool {
	db, err := sqlitestore.Open(t.Context(), file, nil)
	require.NoError(t, err)
	defer db.Close()
	store := harvest.NewCatalog(db)
	plan, err := store.State(t.Context(), "schedule/"+source)
	require.NoError(t, err)
	return plan != nil
}

// TestPingWhileFindingOut: a ping for a source that is still looked for is not lost.
func TestPingWhileFindingOut(t *testing.T) {
	u := newUpstream(t, "resourcesync")
	u.put("a.txt", "a")
	file := filepath.Join(t.TempDir(), "relay.db")
	args := []string{"-store=sqlite:" + file, "-as=atom", configured(t, `{"sources": [
		{"url": %q, "protocol": "resourcesync", "every": "24h", "interval": "0s"}]}`, u.entry)}
	follow := func(r *running) {
		newReader(&atom.Source{URL: r.entries[0], Name: testkit.Src}).follows(t, u)
		r.stop()
	}
	for follow(startRelay(t, 1, args...)); !planned(t, file, u.entry); { // the run was interrupted
		follow(startRelay(t, 1, args...))
	}

	u.put("b.txt", "b")
	reached, release := make(chan struct{}, 100), make(chan struct{})
	then := func(*http.Request) {
		reached <- struct{}{}
		<-release
	}
	u.then.Store(&then)
	r := startRelay(t, 1, args...)
	<-reached
	ping := strings.Replace(r.entries[0], "feed.atom", "notify/ping", 1)
	assert.Equal(t, http.StatusAccepted, post(t, ping, url.Values{"feed": {u.entry}}))
	close(release)
	follow(r)
}

// TestWebSub: the relay subscribes at the hub that a source names, or that its
// configuration does, and runs the source after a notice.
func TestWebSub(t *testing.T) {
	for name, test := range map[string]struct{ protocol, source string }{
		"a feed names it":        {"atom", `"protocol": "atom"`},
		"found by itself":        {"atom", `"protocol": "auto"`},
		"ResourceSync names it":  {"resourcesync", `"protocol": "resourcesync"`},
		"configured":             {"sitemap", `"protocol": "sitemap", "hub": %q`},
		"on the host of the URL": {"atom", `"same_host": true`},
	} {
		t.Run(name, func(t *testing.T) {
			requests := make(chan url.Values, 10)
			hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				r.ParseForm()
				requests <- r.PostForm
				w.WriteHeader(http.StatusAccepted)
			}))
			defer hub.Close()
			u := newUpstream(t, test.protocol, hub.URL)
			f := newFront(t, func() {})
			source := strings.Replace(test.source, "%q", `"`+hub.URL+`"`, 1)
			r := startRelay(t, 1, "-store=mem", "-as=atom", "-allow-private", "-base="+f.URL, configured(t, `{"sources": [
				{"url": %q, "every": "never", "interval": "0s", `+source+`}]}`, u.entry))
			f.leadsTo(t, r)

			form := <-requests
			to := form.Get("hub.callback")
			require.True(t, strings.HasPrefix(to, f.URL+"/notify/websub/"), to)
			assert.Equal(t, u.entry, form.Get("hub.topic"))
			query := url.Values{"hub.mode": {"subscribe"}, "hub.topic": {u.entry}, "hub.challenge": {"yes"}, "hub.lease_seconds": {"864000"}}
			resp, err := http.Get(to + "?" + query.Encode())
			require.NoError(t, err)
			resp.Body.Close()
			require.Equal(t, http.StatusOK, resp.StatusCode)

			reader := newReader(&atom.Source{URL: r.entries[0], Name: testkit.Src})
			reader.follows(t, u)
			u.put("a.txt", "a")
			resp, err = http.Post(to, "application/atom+xml", strings.NewReader("<feed/>"))
			require.NoError(t, err)
			resp.Body.Close()
			require.Equal(t, 2, resp.StatusCode/100)
			reader.follows(t, u)
			resp, err = http.Post(f.URL+"/notify/websub/unknown", "application/atom+xml", strings.NewReader("<feed/>"))
			require.NoError(t, err)
			resp.Body.Close()
			assert.Equal(t, http.StatusGone, resp.StatusCode)
		})
	}
}

// TestPayloads: the changes in a notice of a source's own hub are applied without a
// request for its lists; in a notice about another URL they only make it run.
func TestPayloads(t *testing.T) {
	u := newUpstream(t, "resourcesync")
	u.put("a.txt", "a")
	f := newFront(t, func() {})
	p := &relayCommand{}
	r := startProgram(t, p, 1, "-store=mem", "-as=atom", "-allow-private", "-base="+f.URL, configured(t, `{"sources": [
		{"url": %q, "protocol": "resourcesync", "every": "never", "interval": "0s", "payloads": true, "pings": ["https://ping.example/"]}]}`, u.entry))
	f.leadsTo(t, r)
	reader := newReader(&atom.Source{URL: r.entries[0], Name: testkit.Src})
	reader.follows(t, u)

	asked := u.asked.Load()
	notice := func(name, change string) []byte {
		return fmt.Appendf(nil, `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:rs="http://www.openarchives.org/rs/terms/">
			<rs:ln rel="up" href="%s"/><rs:md capability="changelist" from="2026-01-01T00:00:00Z"/>
			<url><loc>%s</loc><rs:md change="%s" datetime="%s"/></url></urlset>`,
			u.entry, u.url+name, change, time.Now().UTC().Format(time.RFC3339Nano))
	}
	u.put("b.txt", "b")
	assert.True(t, p.payload(u.entry, notice("b.txt", "created")))
	reader.follows(t, u)
	assert.Equal(t, asked, u.asked.Load())

	assert.True(t, p.payload("https://ping.example/", notice("a.txt", "deleted")))
	eventually(t, func() bool { return u.asked.Load() > asked })
	u.put("c.txt", "c")
	p.notice(u.entry)
	reader.follows(t, u)
}

// leadsTo makes the front lead to a relay that listens.
func (f *front) leadsTo(t *testing.T, r *running) {
	eventually(t, func() bool { return strings.Contains(r.stderr.String(), "listening at ") })
	_, addr, _ := strings.Cut(r.stderr.String(), "listening at ")
	addr, _, _ = strings.Cut(addr, "\n")
	f.relay.Store(&url.URL{Scheme: "http", Host: addr})
}

// TestHubsThatAreNotAsked: without a base no hub reaches the relay; with same_host, and
// with the guard against private addresses, those that strangers name are left alone.
func TestHubsThatAreNotAsked(t *testing.T) {
	for name, test := range map[string]struct {
		base, source string
		want         func(notify.Subscription) bool
	}{
		"without a base": {"", "", nil},
		"quarantined":    {"https://relay.example/", `"quarantined": true,`, nil},
		"another host": {"https://relay.example/", `"same_host": true,`, func(s notify.Subscription) bool {
			return s.Status == notify.NoHub
		}},
		"a private address": {"https://relay.example/", "", func(s notify.Subscription) bool {
			return s.Status == notify.Pending && strings.Contains(s.Error, "prohibited IP address")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			hub := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("asked") }))
			defer hub.Close()
			u := newUpstream(t, "atom", strings.Replace(hub.URL, "127.0.0.1", "localhost", 1))
			args := []string{"-store=mem", configured(t, `{"sources": [{`+test.source+`"url": %q, "protocol": "atom", "every": "never"}]}`, u.entry)}
			if test.base != "" {
				args = append(args, "-base="+test.base)
			}
			p := &relayCommand{}
			r := startProgram(t, p, 1, args...)
			eventually(t, func() bool { return strings.Contains(r.stderr.String(), "listening at ") })
			subscriptions := func() (all []notify.Subscription) {
				for s, err := range p.subscriber.Subscriptions(t.Context()) {
					require.NoError(t, err)
					all = append(all, s)
				}
				return all
			}
			if test.want == nil {
				p.subscribe(t.Context(), []string{u.entry})
				assert.Empty(t, subscriptions())
				return
			}
			eventually(t, func() bool {
				all := subscriptions()
				return len(all) == 1 && test.want(all[0])
			})
		})
	}
}

// TestSubscriptionsOfSourcesThatGo end: also those that went while the relay did not run.
func TestSubscriptionsOfSourcesThatGo(t *testing.T) {
	hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) }))
	defer hub.Close()
	u, other := newUpstream(t, "atom", hub.URL), newUpstream(t, "atom", hub.URL)
	file := filepath.Join(t.TempDir(), "relay.db")
	start := func(p *relayCommand, urls ...string) *running {
		args := []string{"-store=sqlite:" + file, "-base=https://relay.example/", "-protocol=atom"}
		r := startProgram(t, p, 1, append(args, urls...)...)
		eventually(t, func() bool { return strings.Contains(r.stderr.String(), "listening at ") })
		return r
	}
	subscribed := func(p *relayCommand, want ...string) {
		eventually(t, func() bool {
			var all []string
			for s, err := range p.subscriber.Subscriptions(t.Context()) {
				require.NoError(t, err)
				all = append(all, s.URL)
			}
			slices.Sort(want)
			return slices.Equal(want, all)
		})
	}
	p := &relayCommand{}
	r := start(p, u.entry, other.entry)
	subscribed(p, u.entry, other.entry)
	r.stop()
	p = &relayCommand{}
	start(p, other.entry)
	subscribed(p, other.entry)
}

// TestNotifies: subscribers and hubs are posted the URL at which readers begin, after a
// run that has changed something; by ResourceSync a hub is posted the changes.
func TestNotifies(t *testing.T) {
	u := newUpstream(t, "atom")
	u.put("a.txt", "a")
	forms, changes := make(chan string, 100), make(chan string, 100)
	to := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Content-Type") != "application/x-www-form-urlencoded" {
			body, _ := io.ReadAll(r.Body)
			changes <- string(body)
			return
		}
		forms <- r.FormValue("hub.url") + r.FormValue("feed")
	}))
	defer to.Close()
	r := startRelay(t, 2, configured(t, `{"store": "mem", "subscribers": [%q], "hubs": [%q], "publish": [{"protocol": "atom"}, {"protocol": "resourcesync"}],
		"sources": [{"url": %q, "protocol": "atom", "every": "5ms", "interval": "0s"}]}`, to.URL+"/ping", to.URL+"/hub", u.entry))
	assert.ElementsMatch(t, []string{r.entries[0], r.entries[0], r.entries[1]}, []string{<-forms, <-forms, <-forms})
	u.put("b.txt", "b")
	for all := ""; !strings.Contains(all, "b.txt"); {
		all += <-changes
	}
}

// TestStop: a signal ends a run that is going on, and the next start goes on from there.
func TestStop(t *testing.T) {
	u := newUpstream(t, "atom")
	u.put("a.txt", "a")
	reached, release := make(chan struct{}, 100), make(chan struct{})
	then := func(r *http.Request) {
		if r.URL.Path == "/a.txt" { // only a run asks for it; who looks for hubs asks for the feed, too
			reached <- struct{}{}
			<-release
		}
	}
	u.then.Store(&then)
	f := newFront(t, func() {})
	args := []string{"-store=sqlite:" + filepath.Join(t.TempDir(), "relay.db"), "-addr=127.0.0.1:0", "-base=" + f.URL, "-as=atom", "-protocol=atom", u.entry}
	p := launch(t, f, args...)
	<-reached
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	<-p.ended
	assert.Equal(t, exitDone, p.ProcessState.ExitCode(), &p.stderr)
	assert.Contains(t, p.stderr.String(), "Interrupted: the next run goes on from here.")
	close(release)
	launch(t, f, args...)
	newReader(&atom.Source{URL: f.URL + "/feed.atom", Name: testkit.Src}).follows(t, u)
}

// TestStoreAway: while the store fails, readers are answered so, and the relay goes on
// when the store does.
func TestStoreAway(t *testing.T) {
	u := newUpstream(t, "atom")
	u.put("a.txt", "a")
	var err error
	stdout, stderr := new(buffer), new(buffer)
	p := &relayCommand{Console: cli.NewConsole("relay", stdout, stderr), log: slog.New(slog.DiscardHandler)}
	p.settings, err = parseRelay([]string{configured(t, `{"store": "mem", "addr": "127.0.0.1:0", "status": "127.0.0.1:0",
		"publish": [{"protocol": "atom"}], "sources": [{"url": %q, "protocol": "atom", "every": "5ms", "interval": "0s"}]}`, u.entry)})
	require.NoError(t, err)
	var down atomic.Bool
	fails := func() error {
		if down.Load() {
			return errors.New("no connection to the server")
		}
		return nil
	}
	store := &testkit.Watched{Store: memstore.New(), Viewing: func(context.Context) error { return fails() }, Before: func(_ context.Context, act testkit.Act) error {
		if act == testkit.Claim {
			return nil // a claim that is not released would stand for a minute
		}
		return fails()
	}}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- p.relay(ctx, cli.Store{Kind: "mem"}, harvest.NewCatalog(store)) }()
	defer func() {
		cancel()
		assert.ErrorIs(t, <-done, context.Canceled)
	}()
	eventually(t, func() bool { return strings.HasSuffix(stdout.String(), "\n") })
	entry := strings.TrimSpace(stdout.String())
	reader := newReader(&atom.Source{URL: entry, Name: testkit.Src})
	reader.follows(t, u)
	_, page, _ := strings.Cut(stderr.String(), "status page at ")
	page, _, _ = strings.Cut(page, "\n")
	get := func(url string) int {
		resp, err := http.Get(url)
		if !assert.NoError(t, err) {
			return 0
		}
		defer resp.Body.Close()
		return resp.StatusCode
	}

	down.Store(true)
	eventually(t, func() bool { return strings.Contains(stderr.String(), "schedule: store failed") })
	assert.Equal(t, http.StatusInternalServerError, get(entry))
	eventually(t, func() bool { return get(page) == http.StatusServiceUnavailable })
	u.put("b.txt", "b")

	down.Store(false)
	eventually(t, func() bool { return get(entry) == http.StatusOK })
	reader.follows(t, u)
}
