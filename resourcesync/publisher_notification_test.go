package resourcesync_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/notify"
	"github.com/websync-go/websync/harvest/schedule"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/publish"
	"github.com/websync-go/websync/resourcesync"
)

// TestNotification walks a log by its notifications: each is valid, and together they
// list each change once.
func TestNotification(t *testing.T) {
	ctx := t.Context()
	var changes []string
	for i := range 600 {
		changes = append(changes, fmt.Sprint("r", i))
	}
	log := logOf("own", changes...)
	p := publisherOf(log, &resourcesync.Publisher{Place: websync.Place{Sources: []string{"own"}}})
	doc, end, err := p.Notification(ctx, "nonsense")
	require.NoError(t, err)
	assert.Nil(t, doc, "who has no position begins at the end")
	doc, same, err := p.Notification(ctx, end)
	require.NoError(t, err)
	assert.Nil(t, doc)
	assert.Equal(t, end, same)

	var listed []string
	at, documents, silent := "0 0 0", 0, 0
	for range 10 {
		doc, end, err := p.Notification(ctx, at)
		require.NoError(t, err)
		if at == end {
			break
		}
		if at = end; doc == nil {
			silent++
			continue
		}
		documents++
		text := render(t, doc)
		assert.Less(t, len(text), 1<<20)
		resourcesync.Validate(bytes.NewReader(text), resourcesync.ValidateOptions{Report: func(f websync.Finding) {
			if f.Severity >= websync.SeverityWarning {
				t.Error(f)
			}
		}})
		r := resourcesync.NewReader(bytes.NewReader(text))
		head, err := r.Head()
		require.NoError(t, err)
		assert.Equal(t, p.URL(), head.Href("up"))
		assert.False(t, head.Metadata.Until.IsZero())
		for e, err := range r.All() {
			require.NoError(t, err)
			listed = append(listed, strings.TrimPrefix(e.Loc, www))
		}
		if documents == 3 {
			for i := range 300 {
				log.Append(websync.Item{Source: "theirs", Resource: websync.Resource{ID: fmt.Sprint(www, "x", i)}})
			}
		}
	}
	assert.Equal(t, changes, listed)
	assert.Equal(t, []int{3, 2}, []int{documents, silent}, "changes of other sources are not listed")
	_, _, err = new(resourcesync.Publisher).Notification(ctx, at)
	assert.ErrorContains(t, err, "Publisher.Catalog is nil")
}

// A fakeHub is a hub of WebSub with one subscriber. It forwards what it is posted.
type fakeHub struct {
	t         *testing.T
	sub       url.Values
	confirmed chan error
	posted    chan string
}

func (h *fakeHub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Content-Type") == "application/x-www-form-urlencoded" {
		assert.NoError(h.t, r.ParseForm())
		h.sub = r.PostForm
		w.WriteHeader(http.StatusAccepted)
		go func() {
			query := url.Values{"hub.mode": {"subscribe"}, "hub.topic": h.sub["hub.topic"], "hub.challenge": {"x"}, "hub.lease_seconds": {"10000"}}
			answer, err := http.Get(h.sub.Get("hub.callback") + "?" + query.Encode())
			if err == nil {
				answer.Body.Close()
			}
			h.confirmed <- err
		}()
		return
	}
	body, err := io.ReadAll(r.Body)
	assert.NoError(h.t, err)
	assert.Equal(h.t, "application/xml", r.Header.Get("Content-Type"))
	assert.Equal(h.t, fmt.Sprintf(`<%s>; rel="self"`, h.sub.Get("hub.topic")), r.Header.Values("Link")[0])
	mac := hmac.New(sha256.New, []byte(h.sub.Get("hub.secret")))
	mac.Write(body)
	post, err := http.NewRequestWithContext(r.Context(), "POST", h.sub.Get("hub.callback"), bytes.NewReader(body))
	assert.NoError(h.t, err)
	post.Header.Set("X-Hub-Signature", fmt.Sprintf("sha256=%x", mac.Sum(nil)))
	answer, err := http.DefaultClient.Do(post)
	if assert.NoError(h.t, err) {
		answer.Body.Close()
	}
	h.posted <- string(body)
}

// A watchedState reports each change of a State.
type watchedState struct {
	*harvest.Catalog
	swapped chan string
}

func (s *watchedState) Swap(ctx context.Context, key string, old, new []byte) error {
	err := s.Catalog.Swap(ctx, key, old, new)
	s.swapped <- key
	return err
}

// TestNotificationEndToEnd: what is committed here is applied there without a request for
// a list, also what was committed while no Pinger ran.
func TestNotificationEndToEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	hub := &fakeHub{t: t, confirmed: make(chan error, 1), posted: make(chan string, 10)}
	hubServer := httptest.NewTLSServer(hub)
	defer hubServer.Close()

	h := newWebHost(t, func(h *webHost) { h.maps.Hubs = []string{hubServer.URL} })
	h.put("maps", "text/plain", map[string]string{"a": "1", "b": "1"})
	state := &watchedState{harvest.NewCatalog(memstore.New()), make(chan string, 100)}
	newPinger := func() *publish.Pinger {
		return &publish.Pinger{Topics: []string{h.maps.URL()}, Hubs: h.maps.Hubs, Notifier: h.maps, Client: hubServer.Client(), State: state}
	}

	source := &resourcesync.Source{URL: h.maps.URL()}
	topic, hubs, err := source.Channel(ctx, h.client)
	require.NoError(t, err)
	assert.Equal(t, h.maps.URL(), topic)
	assert.Equal(t, []string{hubServer.URL}, hubs)
	store := harvest.NewCatalog(memstore.New())
	ran := make(chan *harvest.Report, 10)
	lists := make(chan string, 100)
	fetcher := testkit.FetchFunc(func(ctx context.Context, req *harvest.Request) (*harvest.Response, error) {
		if strings.HasSuffix(req.URL, ".xml") {
			lists <- req.URL
		}
		return h.client.Fetch(ctx, req)
	})
	scheduler := &schedule.Scheduler{
		Harvester: &harvest.Harvester{Sample: -1, Catalog: store, Fetcher: fetcher},
		Entries:   []schedule.Entry{{Source: source, URLs: []string{source.URL}, Every: -1}},
		Ended:     func(_ harvest.Source, report *harvest.Report, _ error) { ran <- report },
	}
	subscriber := &notify.Subscriber{
		State: harvest.NewCatalog(memstore.New()), Notify: scheduler.Notify, Payload: scheduler.Payload, Client: hubServer.Client(),
		Discover: func(ctx context.Context, _ string) (string, []string, error) { return source.Channel(ctx, h.client) },
	}
	callback := httptest.NewServer(subscriber)
	defer callback.Close()
	subscriber.Callback = callback.URL + "/"
	done := make(chan struct{}, 3)
	for _, run := range []func(context.Context) error{scheduler.Run, subscriber.Run} {
		go func() { _ = run(ctx); done <- struct{}{} }()
	}
	require.NoError(t, subscriber.Subscribe(ctx, source.URL))
	require.NoError(t, <-hub.confirmed)
	report := <-ran
	require.True(t, report.InStep(), report)
	require.NotEmpty(t, lists)
	for len(lists) > 0 {
		<-lists
	}

	contents := func(store *harvest.Catalog, source string) map[string]string {
		all := make(map[string]string)
		for rec, err := range store.Records(ctx, source, "") {
			require.NoError(t, err)
			if body, ok := rec.Body("content"); ok && rec.Live() {
				all[rec.Resource.ID] = testkit.Read(t, store, body)
			}
		}
		return all
	}
	inStep := func() {
		t.Helper()
		posted := <-hub.posted
		report := <-ran
		require.True(t, report.InStep(), report)
		assert.Empty(t, lists, "no list was read")
		assert.Equal(t, contents(h.store, "maps"), contents(store, source.Key()), posted)
		<-state.swapped
	}
	first, stop := context.WithCancel(ctx)
	pinger := newPinger()
	go func() { _ = pinger.Run(first); done <- struct{}{} }()
	<-state.swapped // it has found the end of the log
	h.put("maps", "text/plain", map[string]string{"a": "2", "c": "1"})
	pinger.Notify()
	inStep()
	h.remove("maps", "b")
	h.put("maps", "text/plain", map[string]string{"c": "2"})
	pinger.Notify()
	inStep()
	stop()
	<-done
	h.put("maps", "text/plain", map[string]string{"d": "1"})
	pinger = newPinger()
	go func() { _ = pinger.Run(ctx); done <- struct{}{} }()
	inStep()
	assert.Len(t, contents(store, source.Key()), 3)
	cancel()
	for range 3 {
		<-done
	}
	assert.Empty(t, hub.posted, "each change is posted once")
}
