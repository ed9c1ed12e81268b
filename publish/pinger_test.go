package publish

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
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
	"github.com/websync-go/websync/internal/outgoing"
)

// A web answers the requests to each host with its replies in order, repeats the last
// one, and records the times of the requests.
type web struct {
	mu      sync.Mutex
	began   time.Time
	answers map[string][]reply
	asked   map[string][]time.Duration
	bodies  []string
	links   map[string][]string // of the last request to each host
}

type reply struct {
	status     int // if 0, an error
	retryAfter string
	takes      time.Duration
}

func newWeb(answers map[string][]reply) *web {
	return &web{began: time.Now(), answers: answers, asked: make(map[string][]time.Duration), links: make(map[string][]string)}
}

func (w *web) RoundTrip(r *http.Request) (*http.Response, error) {
	body, _ := io.ReadAll(r.Body)
	w.mu.Lock()
	host := r.URL.Host
	w.asked[host] = append(w.asked[host], time.Since(w.began))
	w.bodies = append(w.bodies, string(body))
	w.links[host] = r.Header.Values("Link")
	answer := w.answers[host][0]
	if len(w.answers[host]) > 1 {
		w.answers[host] = w.answers[host][1:]
	}
	w.mu.Unlock()
	select {
	case <-time.After(answer.takes):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	if answer.status == 0 {
		return nil, errors.New("no route")
	}
	header := http.Header{}
	if answer.retryAfter != "" {
		header.Set("Retry-After", answer.retryAfter)
	}
	return &http.Response{StatusCode: answer.status, Header: header, Body: io.NopCloser(strings.NewReader("thanks")), Request: r}, nil
}

func (w *web) times(host string) []time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.asked[host])
}

func newPinger(w *web, hosts ...string) *Pinger {
	p := &Pinger{Topics: []string{"https://example.org/sitemap.xml"}, Client: &http.Client{Transport: w}}
	for _, h := range hosts {
		p.Subscribers = append(p.Subscribers, "https://"+h+"/ping")
	}
	return p
}

// startRun starts a Pinger. The result stops it.
func startRun(t testing.TB, p *Pinger) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- p.Run(ctx) }()
	return func() {
		cancel()
		assert.ErrorIs(t, <-done, context.Canceled)
	}
}

func TestPingerForms(t *testing.T) {
	var mu sync.Mutex
	var got []string
	var all sync.WaitGroup
	mux := http.NewServeMux()
	mux.HandleFunc("POST /", func(w http.ResponseWriter, r *http.Request) {
		assert.NoError(t, r.ParseForm())
		mu.Lock()
		got = append(got, r.URL.Path+" "+r.PostForm.Encode())
		mu.Unlock()
		all.Done()
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	p := &Pinger{Topics: []string{"https://example.org/a?b&c", "https://example.org/d"}, Subscribers: []string{server.URL + "/s"}, Hubs: []string{server.URL + "/h"}}
	all.Add(4)
	p.Notify()
	stop := startRun(t, p)
	all.Wait()
	stop()
	slices.Sort(got)
	assert.Equal(t, []string{
		"/h hub.mode=publish&hub.topic=https%3A%2F%2Fexample.org%2Fa%3Fb%26c&hub.url=https%3A%2F%2Fexample.org%2Fa%3Fb%26c",
		"/h hub.mode=publish&hub.topic=https%3A%2F%2Fexample.org%2Fd&hub.url=https%3A%2F%2Fexample.org%2Fd",
		"/s feed=https%3A%2F%2Fexample.org%2Fa%3Fb%26c&url=https%3A%2F%2Fexample.org%2Fa%3Fb%26c",
		"/s feed=https%3A%2F%2Fexample.org%2Fd&url=https%3A%2F%2Fexample.org%2Fd",
	}, got)
}

func TestPingerRedirects(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("followed to another host") }))
	defer elsewhere.Close()
	var forms []string
	mux := http.NewServeMux()
	mux.Handle("/away", http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	mux.Handle("/see", http.RedirectHandler("/to", http.StatusSeeOther))
	mux.Handle("/kept", http.RedirectHandler("/to", http.StatusPermanentRedirect))
	mux.Handle("/round", http.RedirectHandler("/round", http.StatusPermanentRedirect))
	mux.HandleFunc("/to", func(_ http.ResponseWriter, r *http.Request) { forms = append(forms, r.Method+" "+r.FormValue("url")) })
	server := httptest.NewServer(mux)
	defer server.Close()
	for path, status := range map[string]int{"/away": 307, "/see": 303, "/kept": 0, "/round": 308} {
		p := &Pinger{Topics: []string{"t"}, Subscribers: []string{server.URL + path}}
		p.start()
		err := outgoing.Post(t.Context(), p.client, p.targets[0].url, outgoing.Form, p.targets[0].form)
		if status == 0 {
			assert.NoError(t, err)
		} else {
			assert.EqualError(t, err, fmt.Sprint("status ", status))
		}
	}
	assert.Equal(t, []string{"POST t"}, forms)
}

func TestPingerCoalesces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb(map[string][]reply{"a": {{status: 200, takes: time.Minute}}, "slow": {{status: 200, takes: time.Hour}}})
		p := newPinger(w, "a", "slow")
		for range 100 {
			p.Notify()
		}
		stop := startRun(t, p)
		time.Sleep(30 * time.Second)
		for range 100 {
			p.Notify()
		}
		time.Sleep(10 * time.Minute)
		p.Notify()
		time.Sleep(10 * time.Minute)
		assert.Equal(t, []time.Duration{0, time.Minute, 10*time.Minute + 30*time.Second}, w.times("a"))
		assert.Equal(t, []time.Duration{0}, w.times("slow"), "it holds up no other")
		stop()
	})
}

func TestPingerRepeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb(map[string][]reply{
			"down":    {{}, {status: 503}, {status: 429}, {status: 200}},
			"later":   {{status: 503, retryAfter: "120"}, {status: 200}},
			"date":    {{status: 503, retryAfter: time.Now().Add(10 * time.Minute).UTC().Format(http.TimeFormat)}, {status: 200}},
			"refuses": {{status: 404}},
			"never":   {{}},
		})
		var log bytes.Buffer
		p := newPinger(w, "down", "later", "date", "refuses", "never")
		p.Log = slog.New(slog.NewTextHandler(&log, nil))
		p.Notify()
		stop := startRun(t, p)
		time.Sleep(100 * time.Millisecond)
		p.Notify() // sent with the next attempt
		time.Sleep(time.Hour)
		down := w.times("down")
		require.Len(t, down, 4)
		for i, longest := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
			wait := down[i+1] - down[i]
			assert.True(t, longest/2 <= wait && wait <= longest, wait)
		}
		assert.Equal(t, []time.Duration{0, 2 * time.Minute}, w.times("later"))
		assert.Equal(t, []time.Duration{0, 10 * time.Minute}, w.times("date"))
		assert.Equal(t, []time.Duration{0, 100 * time.Millisecond}, w.times("refuses"), "once for each notice")
		time.Sleep(24 * time.Hour)
		assert.Len(t, w.times("never"), 15)
		p.Notify()
		time.Sleep(time.Minute)
		assert.Greater(t, len(w.times("never")), 15, "a new notice begins anew")
		stop()
		assert.Contains(t, log.String(), "notice dropped")
		assert.NotContains(t, log.String(), "/ping", "an address may hold a secret")
	})
}

// A run sends the notices that were open when the previous run ended or was killed.
func TestPingerRemembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := harvest.NewCatalog(memstore.New())
		pinger := func(w *web) *Pinger {
			p := newPinger(w, "a")
			p.State = state
			return p
		}
		up := newWeb(map[string][]reply{"a": {{status: 200}}})
		down := newWeb(map[string][]reply{"a": {{}}})

		stop := startRun(t, pinger(up))
		time.Sleep(time.Minute)
		stop()
		assert.Empty(t, up.times("a"), "nothing was open")

		p := pinger(down)
		stop = startRun(t, p)
		p.Notify()
		time.Sleep(time.Minute)
		stop()
		stop = startRun(t, pinger(up))
		time.Sleep(time.Minute)
		assert.Len(t, up.times("a"), 1)

		// A killed run leaves the mark as it is now.
		killed := pinger(up)
		stopKilled := startRun(t, killed)
		time.Sleep(time.Minute)
		assert.Len(t, up.times("a"), 2)
		stopKilled()
		stop()

		stop = startRun(t, pinger(up))
		time.Sleep(time.Minute)
		stop()
		assert.Len(t, up.times("a"), 2)
	})
}

// A notice that is not delivered before Run ends is not lost, and Notify never blocks.
func TestPingerStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb(map[string][]reply{"a": {{status: 200, takes: 24 * time.Hour}}})
		p := newPinger(w, "a")
		p.State = harvest.NewCatalog(memstore.New())
		stop := startRun(t, p)
		p.Notify()
		time.Sleep(time.Minute)
		stop()
		assert.Len(t, p.targets[0].notice, 1)
		mark, err := p.State.State(t.Context(), p.targets[0].key())
		require.NoError(t, err)
		assert.Equal(t, openMark, mark)
		for range 10 {
			p.Notify()
		}
	})
	bad := &Pinger{Topics: []string{"t"}, Subscribers: []string{"http://[::1"}}
	bad.start()
	assert.EqualError(t, outgoing.Post(t.Context(), bad.client, bad.targets[0].url, outgoing.Form, ""), "not a URL to post to")
}

// A journal is a Notifier of texts. Its position is how many there were.
type journal struct {
	mu    sync.Mutex
	texts []string
	most  int
	fails int // so many calls
}

func (j *journal) add(texts ...string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.texts = append(j.texts, texts...)
}

func (j *journal) Notification(_ context.Context, after string) (*websync.Document, string, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.fails > 0 {
		j.fails--
		return nil, after, errors.New("a catalog that fails")
	}
	n, err := strconv.Atoi(after)
	if err != nil {
		return nil, strconv.Itoa(len(j.texts)), nil
	}
	end := min(n+j.most, len(j.texts))
	text := strings.Join(slices.DeleteFunc(slices.Clone(j.texts[n:end]), func(s string) bool { return s == "" }), " ")
	if text == "" {
		return nil, strconv.Itoa(end), nil
	}
	write := func(_ context.Context, w io.Writer) error { _, err := io.WriteString(w, text); return err }
	return &websync.Document{Type: "text/plain", Write: write}, strconv.Itoa(end), nil
}

// With a Notifier, a hub is posted each change once, again after a failure, and those
// that were open when a run ended or was killed.
func TestPingerContent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state, j := harvest.NewCatalog(memstore.New()), &journal{texts: []string{"old"}, most: 2}
		run := func(w *web) (p *Pinger, stop func()) {
			p = newPinger(w, "s")
			p.Hubs, p.Notifier, p.State = []string{"https://a/hub"}, j, state
			return p, startRun(t, p)
		}
		posted := func(w *web) (all []string) {
			w.mu.Lock()
			defer w.mu.Unlock()
			for _, body := range w.bodies {
				if !strings.HasPrefix(body, "feed=") {
					all = append(all, body)
				}
			}
			return all
		}
		good := []reply{{status: 200}}
		up := newWeb(map[string][]reply{"s": good, "a": good})
		p, stop := run(up)
		time.Sleep(time.Minute)
		assert.Empty(t, posted(up), "nothing is new")
		j.add("1")
		p.Notify()
		time.Sleep(time.Minute)
		p.Notify()
		time.Sleep(time.Minute)
		j.add("2", "", "", "", "3", "4", "5")
		p.Notify()
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"1", "2", "3 4", "5"}, posted(up))
		assert.Len(t, up.times("s"), 3, "a subscriber gets forms")
		assert.Equal(t, []string{`<https://example.org/sitemap.xml>; rel="self"`, `<https://a/hub>; rel="hub"`}, up.links["a"])
		stop()

		j.add("6")
		shaky := newWeb(map[string][]reply{"s": good, "a": {{}, {status: 503}, {status: 202}, {status: 413}, {status: 202}}})
		p, stop = run(shaky)
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"6", "6", "6"}, posted(shaky), "it was committed between the runs")
		j.add("7")
		p.Notify()
		time.Sleep(time.Minute)
		j.add("8")
		j.fails = 3
		p.Notify()
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"6", "6", "6", "7", "7 8"}, posted(shaky), "what was refused is in the next notice")
		stop()

		hangs := newWeb(map[string][]reply{"s": good, "a": {{status: 200, takes: time.Hour}}})
		p, stop = run(hangs)
		j.add("9")
		p.Notify()
		time.Sleep(time.Minute)
		stop()
		up = newWeb(map[string][]reply{"s": good, "a": good})
		_, stop = run(up)
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"9"}, posted(up))
		stop()
	})
}
