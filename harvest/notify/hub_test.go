package notify

import (
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
)

const hubURL = "https://hub.example.net/"

// A reply is the answer of a hub. The zero value is an immediate 202.
type reply struct {
	status int // -1: no answer
	takes  time.Duration
	header http.Header
	body   string
}

// hubs are all hubs of a test. They record their requests.
type hubs struct {
	mu      sync.Mutex
	began   time.Time
	asked   []request
	answers map[string]reply // by host
	verify  func(request)    // called before a request is answered, if set
}

type request struct {
	at   time.Duration
	url  string
	form url.Values
}

func (h *hubs) RoundTrip(r *http.Request) (*http.Response, error) {
	body, _ := io.ReadAll(r.Body)
	form, _ := url.ParseQuery(string(body))
	h.mu.Lock()
	req := request{time.Since(h.began), r.URL.String(), form}
	h.asked = append(h.asked, req)
	answer := h.answers[r.URL.Host]
	verify := h.verify
	h.mu.Unlock()
	if verify != nil {
		verify(req)
	}
	select {
	case <-time.After(answer.takes):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	switch answer.status {
	case -1:
		return nil, errors.New("no route")
	case 0:
		answer.status = http.StatusAccepted
	}
	return &http.Response{StatusCode: answer.status, Header: answer.header, Body: io.NopCloser(strings.NewReader(answer.body)), Request: r}, nil
}

func (h *hubs) requests() []request {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.asked)
}

func (h *hubs) confirm(verify func(request)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.verify = verify
}

func (h *hubs) answer(host string, r reply) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.answers == nil {
		h.answers = make(map[string]reply)
	}
	h.answers[host] = r
}

// A fixture is a Subscriber with its hubs.
type fixture struct {
	*Subscriber
	t        *testing.T
	hubs     *hubs
	mu       sync.Mutex
	notified []string
	found    map[string]channel // by URL
	calls    atomic.Int64       // calls of Discover
	during   func()             // called by the next call, if set
}

// A channel is what Discover finds.
type channel struct {
	topic string
	hubs  []string
	err   error
}

// names makes the document at url name a topic and hubs.
func (f *fixture) names(url string, c channel) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.found[url] = c
}

// meanwhile sets what the next call of Discover does, and returns what that was.
func (f *fixture) meanwhile(next func()) (before func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before, f.during = f.during, next
	return before
}

func (f *fixture) discover(_ context.Context, url string) (string, []string, error) {
	if during := f.meanwhile(nil); during != nil {
		during()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls.Add(1)
	c := f.found[url]
	return c.topic, c.hubs, c.err
}

func newFixture(t *testing.T) *fixture { return newFixtureOn(t, harvest.NewCatalog(memstore.New())) }

func newFixtureOn(t *testing.T, state websync.State) *fixture {
	f := &fixture{t: t, hubs: &hubs{began: time.Now()}, found: make(map[string]channel)}
	f.Subscriber = &Subscriber{
		Callback: "https://my.example/websub/",
		State:    state,
		Client:   &http.Client{Transport: f.hubs},
		Discover: f.discover,
		Notify: func(url string) bool {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.notified = append(f.notified, url)
			return true
		},
	}
	return f
}

func (f *fixture) notices() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.notified)
}

// only returns the one subscription.
func (f *fixture) only() Subscription {
	f.t.Helper()
	all := f.all()
	require.Len(f.t, all, 1)
	return all[0]
}

func (f *fixture) all() (all []Subscription) {
	f.t.Helper()
	for sub, err := range f.Subscriptions(context.Background()) {
		require.NoError(f.t, err)
		all = append(all, sub)
	}
	return all
}

// subscribe subscribes to a topic that is the URL of its document.
func (f *fixture) subscribe(topic string, hubs ...string) {
	f.t.Helper()
	f.names(topic, channel{topic: topic, hubs: hubs})
	require.NoError(f.t, f.Subscribe(context.Background(), topic))
}

// last returns the form of the last request to a hub.
func (f *fixture) last() url.Values {
	f.t.Helper()
	all := f.hubs.requests()
	require.NotEmpty(f.t, all)
	return all[len(all)-1].form
}

// verify sends the verification of a request as a hub does, with changes.
func (f *fixture) verify(form url.Values, changes ...string) *httptest.ResponseRecorder {
	query := url.Values{"hub.mode": form["hub.mode"], "hub.topic": form["hub.topic"], "hub.challenge": {"<b>1"}, "hub.lease_seconds": {"100000"}}
	for i := 0; i < len(changes); i += 2 {
		query.Set(changes[i], changes[i+1])
	}
	return f.do(httptest.NewRequest("GET", form.Get("hub.callback")+"?"+query.Encode(), nil))
}

// post sends a notice, signed with method unless that is empty.
func (f *fixture) post(form url.Values, method, body string) int {
	req := httptest.NewRequest("POST", form.Get("hub.callback"), strings.NewReader(body))
	if method != "" {
		req.Header.Set("X-Hub-Signature", method+"="+sign(method, form.Get("hub.secret"), body))
	}
	return f.do(req).Code
}

func (f *fixture) do(req *http.Request) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	f.ServeHTTP(answer, req)
	return answer
}

func sign(method, secret, body string) string {
	hashes := map[string]func() hash.Hash{"sha1": sha1.New, "sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New}
	mac := hmac.New(hashes[method], []byte(secret))
	io.WriteString(mac, body)
	return hex.EncodeToString(mac.Sum(nil))
}
