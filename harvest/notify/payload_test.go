package notify

import (
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const feedURL = "https://example.org/feed.atom"

// during runs a loop while f runs.
func during(t *testing.T, run func(context.Context) error, f func()) {
	t.Helper()
	stopped := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	synctest.Wait()
	f()
	cancel(stopped)
	assert.ErrorIs(t, <-done, stopped)
}

// TestWhatThePayloadReceives: only content whose sender is proven, up to a limit.
func TestWhatThePayloadReceives(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for name, test := range map[string]struct {
		method, body string
		set          func(*Subscriber)
		payload      bool
		notified     int
	}{
		"signed":             {"sha256", "<urlset/>", nil, true, 0},
		"no signature":       {"", "<urlset/>", nil, false, 0},
		"empty":              {"sha256", "", nil, false, 1},
		"as long as allowed": {"sha256", long, nil, true, 0},
		"too long":           {"sha256", long + "x", nil, false, 1},
		"another limit":      {"sha256", "0123456789", func(s *Subscriber) { s.MaxPayload = 9 }, false, 1},
		"far too long":       {"sha256", long[:140_000], func(s *Subscriber) { s.MaxPayload = 100_000 }, false, 1},
		"no limit":           {"sha256", long + "x", func(s *Subscriber) { s.MaxPayload = -1 }, true, 0},
		"not wanted":         {"sha256", "<urlset/>", func(s *Subscriber) { s.Payload = nil }, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			confirmed(t, func(f *fixture, form url.Values) {
				var got []string
				f.Payload = func(topic string, body []byte) bool {
					assert.Equal(t, form.Get("hub.topic"), topic)
					got = append(got, string(body))
					return true
				}
				if test.set != nil {
					test.set(f.Subscriber)
				}
				f.post(form, test.method, test.body)
				assert.Equal(t, test.payload, len(got) == 1 && got[0] == test.body)
				assert.Len(t, got, map[bool]int{true: 1}[test.payload])
				assert.Equal(t, test.notified, f.notices())
			})
		})
	}
}

// TestPayloadsWithoutSecret: a hub of http signs nothing, so anybody can have sent a
// notice.
func TestPayloadsWithoutSecret(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.Payload = func(string, []byte) bool { t.Error("applied"); return true }
		during(t, f.Run, func() {
			f.subscribe(feedURL, "http://hub.example.net/")
			synctest.Wait()
			form := f.last()
			require.Empty(t, form.Get("hub.secret"))
			f.post(form, "", "<urlset/>")
			f.post(form, "sha256", "<urlset/>")
			assert.Equal(t, 2, f.notices())
		})
	})
}

// TestManyNoticesAtOnce: a hub that sends many notices, and none to its end, takes no
// more memory than 16 of them. The source of another one runs.
func TestManyNoticesAtOnce(t *testing.T) {
	confirmed(t, func(f *fixture, form url.Values) {
		var mu sync.Mutex
		payloads := 0
		f.Payload = func(string, []byte) bool {
			mu.Lock()
			defer mu.Unlock()
			payloads++
			return true
		}
		var open []*io.PipeWriter
		var answered sync.WaitGroup
		for range 17 {
			r, w := io.Pipe()
			open = append(open, w)
			req := httptest.NewRequest("POST", form.Get("hub.callback"), r)
			req.Header.Set("X-Hub-Signature", "sha256="+sign("sha256", form.Get("hub.secret"), "abc"))
			answered.Go(func() { f.do(req) })
			_, err := io.WriteString(w, "ab")
			require.NoError(t, err)
		}
		f.post(form, "sha256", "another")
		assert.Equal(t, 1, f.notices())
		for _, w := range open {
			_, err := io.WriteString(w, "c")
			require.NoError(t, err)
			require.NoError(t, w.Close())
		}
		answered.Wait()
		assert.Equal(t, 16, payloads)
		assert.Equal(t, 2, f.notices())
		f.post(form, "sha256", "a later one")
		assert.Equal(t, 17, payloads)
	})
}
