package notify

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// requested calls f with a Subscriber that has requested one subscription, and the form
// of the request.
func requested(t *testing.T, f func(*fixture, url.Values)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		x := newFixture(t)
		during(t, x.Run, func() {
			x.subscribe(feedURL, hubURL)
			synctest.Wait()
			require.Len(t, x.hubs.requests(), 1)
			f(x, x.last())
		})
	})
}

// confirmed is requested with an active subscription, and without the notice of its
// confirmation.
func confirmed(t *testing.T, f func(*fixture, url.Values)) {
	t.Helper()
	requested(t, func(x *fixture, form url.Values) {
		require.Equal(t, http.StatusOK, x.verify(form).Code)
		x.notified = nil
		f(x, form)
	})
}

func TestForgedVerificationsAreRefused(t *testing.T) {
	confirmed(t, func(f *fixture, form url.Values) {
		before := f.only()
		for name, changes := range map[string][]string{
			"another topic":         {"hub.topic", feedURL + "/"},
			"denied, another topic": {"hub.mode", "denied", "hub.topic", "https://example.org/"},
			"no topic":              {"hub.topic", ""},
			"no challenge":          {"hub.challenge", ""},
			"unsubscribe":           {"hub.mode", "unsubscribe"},
			"no mode":               {"hub.mode", ""},
			"a mode of publishers":  {"hub.mode", "publish"},
		} {
			answer := f.verify(form, changes...)
			assert.Equal(t, http.StatusNotFound, answer.Code, name)
			assert.NotContains(t, answer.Body.String(), "<b>1", name)
		}
		callback := form.Get("hub.callback")
		for name, other := range map[string]string{
			"no token":      "https://my.example/websub/",
			"no path":       "https://my.example",
			"short":         callback[:len(callback)-27],
			"cut":           callback[:len(callback)-1],
			"longer":        callback + "A",
			"another":       callback[:len(callback)-26] + strings.Repeat("A", 26),
			"another topic": strings.Replace(callback, idOf(feedURL), idOf("https://example.org/"), 1),
			"not hex":       "https://my.example/websub/" + strings.Repeat("%00", 58),
		} {
			forged := url.Values{"hub.mode": {"subscribe"}, "hub.topic": {feedURL}, "hub.callback": {other}, "hub.secret": form["hub.secret"]}
			assert.Equal(t, http.StatusNotFound, f.verify(forged).Code, name)
			assert.Equal(t, http.StatusGone, f.post(forged, "sha256", "<feed/>"), name)
		}
		assert.Equal(t, before, f.only())
		assert.Zero(t, f.notices())
	})
}

func TestAHubMayVerifyAgain(t *testing.T) {
	confirmed(t, func(f *fixture, form url.Values) {
		assert.Equal(t, http.StatusOK, f.verify(form).Code)
		assert.Zero(t, f.notices())
	})
}

func TestOtherMethods(t *testing.T) {
	confirmed(t, func(f *fixture, form url.Values) {
		for _, method := range []string{"HEAD", "PUT", "DELETE"} {
			answer := f.do(httptest.NewRequest(method, form.Get("hub.callback"), nil))
			assert.Equal(t, http.StatusMethodNotAllowed, answer.Code)
			assert.Equal(t, "GET, POST", answer.Header().Get("Allow"))
		}
	})
}

func TestSignatures(t *testing.T) {
	const body = "<feed>é</feed>"
	for name, tt := range map[string]struct {
		signature func(secret string) string
		genuine   bool
	}{
		"sha1":              {func(s string) string { return "sha1=" + sign("sha1", s, body) }, true},
		"sha256":            {func(s string) string { return "sha256=" + sign("sha256", s, body) }, true},
		"sha384":            {func(s string) string { return "sha384=" + sign("sha384", s, body) }, true},
		"sha512":            {func(s string) string { return "sha512=" + sign("sha512", s, body) }, true},
		"capitals":          {func(s string) string { return "sha256=" + strings.ToUpper(sign("sha256", s, body)) }, true},
		"none":              {func(s string) string { return "" }, false},
		"another secret":    {func(s string) string { return "sha256=" + sign("sha256", s+"A", body) }, false},
		"no secret":         {func(s string) string { return "sha256=" + sign("sha256", "", body) }, false},
		"another body":      {func(s string) string { return "sha256=" + sign("sha256", s, body+"\n") }, false},
		"another method":    {func(s string) string { return "sha512=" + sign("sha256", s, body) }, false},
		"cut":               {func(s string) string { return "sha256=" + sign("sha256", s, body)[:62] }, false},
		"longer":            {func(s string) string { return "sha256=" + sign("sha256", s, body) + "zz" }, false},
		"empty":             {func(s string) string { return "sha256=" }, false},
		"not hex":           {func(s string) string { return "sha256=" + strings.Repeat("x", 64) }, false},
		"no method":         {func(s string) string { return sign("sha256", s, body) }, false},
		"an unknown method": {func(s string) string { return "md5=" + sign("sha256", s, body) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			confirmed(t, func(f *fixture, form url.Values) {
				req := httptest.NewRequest("POST", form.Get("hub.callback"), strings.NewReader(body))
				req.Header.Set("X-Hub-Signature", tt.signature(form.Get("hub.secret")))
				assert.Equal(t, http.StatusAccepted, f.do(req).Code, "genuine or not")
				assert.Equal(t, map[bool]int{true: 1}[tt.genuine], f.notices())
			})
		})
	}
}

func TestLongAndTruncatedNotices(t *testing.T) {
	confirmed(t, func(f *fixture, form url.Values) {
		f.MaxBody = 10
		assert.Equal(t, http.StatusAccepted, f.post(form, "sha256", "0123456789"))
		require.Equal(t, 1, f.notices())
		assert.Equal(t, http.StatusAccepted, f.post(form, "sha256", "0123456789a"))
		require.Equal(t, 1, f.notices())
		f.MaxBody = -1
		assert.Equal(t, http.StatusAccepted, f.post(form, "sha256", "0123456789a"))
		require.Equal(t, 2, f.notices())

		broken := io.MultiReader(strings.NewReader("0123"), iotest.ErrReader(errors.New("reset")))
		req := httptest.NewRequest("POST", form.Get("hub.callback"), broken)
		req.Header.Set("X-Hub-Signature", "sha256="+sign("sha256", form.Get("hub.secret"), "0123"))
		f.do(req)
		assert.Equal(t, 2, f.notices())
	})
}

func TestSubscriberWithoutState(t *testing.T) {
	answer := httptest.NewRecorder()
	new(Subscriber).ServeHTTP(answer, httptest.NewRequest("POST", "/websub/x", nil))
	assert.Equal(t, http.StatusServiceUnavailable, answer.Code)
}
