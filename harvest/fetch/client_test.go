package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

func TestFetch(t *testing.T) {
	w := newWeb()
	w.answers["https://example.org/a?q=%C3%A5%20b"] = reply(200, "hello", "ETag: \"1\"", "Last-Modified: Wed, 21 Oct 2015 07:28:00 GMT", "X-Y: z")
	c := w.client()
	resp, err := c.Fetch(t.Context(), &harvest.Request{
		URL: "https://example.org/a?q=å b#frag", Accept: "text/xml", Header: map[string][]string{"x-more": {"1"}},
	})
	require.NoError(t, err)
	assert.Equal(t, int64(5), resp.Length)
	body, err := read(resp)
	require.NoError(t, err)
	assert.Equal(t, "hello", body)
	assert.Equal(t, 200, resp.Status)
	assert.Equal(t, "https://example.org/a?q=%C3%A5%20b", resp.URL)
	assert.Equal(t, []string{"z"}, resp.Header["X-Y"])
	assert.Equal(t, harvest.Validator{
		URL: "https://example.org/a?q=å b#frag", ETag: `"1"`, LastModified: "Wed, 21 Oct 2015 07:28:00 GMT",
	}, resp.Validator)
	h := w.seen[0].Header
	assert.Equal(t, "text/xml", h.Get("Accept"))
	assert.Equal(t, "gzip", h.Get("Accept-Encoding"))
	assert.Equal(t, "1", h.Get("X-More"))
	assert.Equal(t, "websync/"+websync.Version+" (+https://github.com/websync-go/websync)", h.Get("User-Agent"))
	assert.NotContains(t, h, "Referer")
	assert.NotContains(t, h, "If-None-Match")
}

func TestUserAgent(t *testing.T) {
	for _, tt := range []struct{ agent, contact, want, from string }{
		{"", "ops@example.org", "websync/" + websync.Version + " (ops@example.org; +https://github.com/websync-go/websync)", "ops@example.org"},
		{"", "https://example.org/bot", "websync/" + websync.Version + " (https://example.org/bot; +https://github.com/websync-go/websync)", ""},
		{"Lawbot/2 (x)", "", "Lawbot/2 (x)", ""},
		{"Lawbot/2", "https://example.org/@bot", "Lawbot/2 (https://example.org/@bot)", ""},
	} {
		w := newWeb()
		w.answers["http://example.org/"] = reply(200, "")
		c := w.client()
		c.UserAgent, c.Contact = tt.agent, tt.contact
		mustGet(t, c, "http://example.org/")
		assert.Equal(t, tt.want, w.seen[0].Header.Get("User-Agent"))
		assert.Equal(t, tt.from, w.seen[0].Header.Get("From"))
	}
}

func TestRefusedRequests(t *testing.T) {
	for name, req := range map[string]*harvest.Request{
		"scheme":          {URL: "ftp://example.org/"},
		"file":            {URL: "file:///etc/passwd"},
		"relative":        {URL: "/a"},
		"no host":         {URL: "http:///a"},
		"userinfo":        {URL: "http://user:hunter2@example.org/"},
		"authorization":   {URL: "http://example.org/", Header: map[string][]string{"authorization": {"Bearer x"}}},
		"cookie":          {URL: "http://example.org/", Header: map[string][]string{"Cookie": {"a=b"}}},
		"proxy":           {URL: "http://example.org/", Header: map[string][]string{"Proxy-Authorization": {"x"}}},
		"range":           {URL: "http://example.org/", Header: map[string][]string{"Range": {"bytes=1-"}}},
		"host":            {URL: "http://example.org/", Header: map[string][]string{"Host": {"other"}}},
		"header smuggled": {URL: "http://example.org/", Header: map[string][]string{"X": {"a\r\nCookie: b"}}},
		"accept smuggled": {URL: "http://example.org/", Accept: "a\r\nCookie: b"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWeb()
			_, err := w.client().Fetch(t.Context(), req)
			require.ErrorIs(t, err, harvest.ErrForbidden)
			assert.NotErrorIs(t, err, harvest.ErrTemporary)
			assert.NotContains(t, err.Error(), "hunter2")
			assert.Empty(t, w.seen)
		})
	}
	_, err := newWeb().client().Fetch(t.Context(), &harvest.Request{URL: "http://user:hun%ter2@example.org:x/"})
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "ter2")
}

func TestConditional(t *testing.T) {
	const url, date = "http://example.org/a", "Wed, 21 Oct 2015 07:28:00 GMT"
	for _, tt := range []struct {
		name        string
		v           harvest.Validator
		header      []string
		etag, since string // sent
		kept        harvest.Validator
	}{
		{"both", harvest.Validator{URL: url, ETag: `W/"1"`, LastModified: date}, nil, `W/"1"`, date, harvest.Validator{URL: url, ETag: `W/"1"`, LastModified: date}},
		{"etag", harvest.Validator{ETag: `"1"`}, nil, `"1"`, "", harvest.Validator{URL: url, ETag: `"1"`}},
		{"date", harvest.Validator{URL: url, LastModified: date}, nil, "", date, harvest.Validator{URL: url, LastModified: date}},
		{"the etag without its coding", harvest.Validator{ETag: `"1-gzip"`}, []string{`ETag: "1"`}, `"1-gzip"`, "", harvest.Validator{URL: url, ETag: `"1-gzip"`}},
		{"the etag with a coding", harvest.Validator{ETag: `W/"1"`}, []string{`ETag: "1;gzip"`}, `W/"1"`, "", harvest.Validator{URL: url, ETag: `W/"1"`}},
		{"the same, weaker", harvest.Validator{URL: url, ETag: `"1"`}, []string{`ETag: W/"1"`}, `"1"`, "", harvest.Validator{URL: url, ETag: `"1"`}},
		{"an etag for a date", harvest.Validator{URL: url, LastModified: date}, []string{`ETag: "2"`, "Last-Modified: " + date}, "", date, harvest.Validator{URL: url, LastModified: date}},
		{"the date in another form", harvest.Validator{URL: url, LastModified: date}, []string{"Last-Modified: Wednesday, 21-Oct-15 07:28:00 GMT"}, "", date, harvest.Validator{URL: url, LastModified: date}},
		{"an unreadable date", harvest.Validator{URL: url, LastModified: date}, []string{"Last-Modified: yesterday"}, "", date, harvest.Validator{URL: url, LastModified: date}},
		{"the etag with another date", harvest.Validator{URL: url, ETag: `"1"`, LastModified: date}, []string{`ETag: "1"`, "Last-Modified: Thu, 22 Oct 2015 07:28:00 GMT"}, `"1"`, date, harvest.Validator{URL: url, ETag: `"1"`, LastModified: date}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWeb()
			w.answers[url] = reply(304, "", tt.header...)
			resp, err := w.client().Fetch(t.Context(), &harvest.Request{URL: url, Validator: tt.v, Spool: true})
			require.NoError(t, err)
			assert.True(t, resp.NotModified)
			assert.Nil(t, resp.Body)
			assert.Equal(t, tt.kept, resp.Validator)
			assert.Equal(t, tt.etag, w.seen[0].Header.Get("If-None-Match"))
			assert.Equal(t, tt.since, w.seen[0].Header.Get("If-Modified-Since"))
		})
	}
	const older = "Tue, 20 Oct 2015 07:28:00 GMT"
	for name, sent := range map[string]harvest.Validator{
		"for another etag":  {ETag: `"1"`, LastModified: date},
		"for an older file": {LastModified: date},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWeb()
			now := harvest.Validator{URL: url, LastModified: older}
			header := []string{"Last-Modified: " + older}
			if sent.ETag != "" {
				now.ETag = `"2"`
				header = append(header, `ETag: "2"`)
			}
			w.answers[url] = func(r *http.Request) (*http.Response, error) {
				if r.Header.Get("If-Modified-Since") != "" {
					return reply(304, "", header...)(r)
				}
				return reply(200, "older", header...)(r)
			}
			resp, err := w.client().Fetch(t.Context(), &harvest.Request{URL: url, Validator: sent, Spool: true})
			require.NoError(t, err)
			require.False(t, resp.NotModified)
			body, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			assert.Equal(t, "older", string(body))
			assert.Equal(t, now, resp.Validator)
			require.Len(t, w.seen, 2)
			assert.NotContains(t, w.seen[1].Header, "If-None-Match")
		})
	}
	t.Run("whatever is asked", func(t *testing.T) {
		w := newWeb()
		w.answers[url] = reply(304, "", `ETag: "2"`)
		_, err := w.client().Fetch(t.Context(), &harvest.Request{URL: url, Validator: harvest.Validator{ETag: `"1"`}})
		require.ErrorIs(t, err, harvest.ErrTemporary)
		assert.Len(t, w.seen, 2)
	})
	t.Run("of another URL", func(t *testing.T) {
		w := newWeb()
		w.answers[url] = reply(200, "x")
		_, err := w.client().Fetch(t.Context(), &harvest.Request{URL: url, Validator: harvest.Validator{URL: url + "b", ETag: `"1"`}})
		require.NoError(t, err)
		assert.NotContains(t, w.seen[0].Header, "If-None-Match")
	})
	t.Run("without a condition", func(t *testing.T) {
		w := newWeb()
		w.answers[url] = reply(304, "")
		_, err := w.client().Fetch(t.Context(), &harvest.Request{URL: url})
		require.ErrorIs(t, err, harvest.ErrTemporary)
		assert.Len(t, w.seen, 1)
	})
	t.Run("malformed validators", func(t *testing.T) {
		w := newWeb()
		w.answers[url] = reply(200, "x", "Last-Modified: yesterday", "ETag: "+strings.Repeat("x", 2000))
		resp, err := w.client().Fetch(t.Context(), &harvest.Request{URL: url})
		require.NoError(t, err)
		assert.True(t, resp.Validator.IsZero())
	})
	t.Run("through redirects", func(t *testing.T) {
		w := newWeb()
		w.answers[url] = reply(301, "", "Location: https://www.example.org/a")
		w.answers["https://www.example.org/a"] = reply(302, "", "Location: /other")
		w.answers["https://www.example.org/other"] = reply(304, "")
		_, err := w.client().Fetch(t.Context(), &harvest.Request{URL: url, Validator: harvest.Validator{URL: url, ETag: `"1"`, LastModified: date}})
		require.NoError(t, err)
		for i, since := range []string{date, date, ""} {
			assert.Equal(t, `"1"`, w.seen[i].Header.Get("If-None-Match"))
			assert.Equal(t, since, w.seen[i].Header.Get("If-Modified-Since"), "a date does not identify another document")
		}
	})
}

func TestRedirects(t *testing.T) {
	w := newWeb()
	w.answers["http://example.org/a"] = reply(301, "moved", "Location: b?x=1#frag")
	w.answers["http://example.org/b?x=1"] = reply(302, "", "Location: //www.example.org/c")
	w.answers["http://www.example.org/c"] = reply(303, "", "Location: https://www.example.org/d e")
	w.answers["https://www.example.org/d%20e"] = reply(307, "", "Location: http://example.org/end")
	w.answers["http://example.org/end"] = reply(200, "end", `ETag: "1"`)
	c := w.client()
	resp, err := c.Fetch(t.Context(), &harvest.Request{URL: "http://example.org/a", Accept: "a/b", Header: map[string][]string{"accept-datetime": {"Thu, 03 Jan 2013 18:00:00 GMT"}}})
	require.NoError(t, err)
	assert.Equal(t, "http://example.org/end", resp.URL)
	assert.Equal(t, "http://example.org/a", resp.Validator.URL)
	for _, r := range w.seen {
		assert.Equal(t, "a/b", r.Header.Get("Accept"))
		assert.Equal(t, "Thu, 03 Jan 2013 18:00:00 GMT", r.Header.Get("Accept-Datetime"))
	}

	w.answers["http://example.org/loop"] = reply(302, "", "Location: /pool")
	w.answers["http://example.org/pool"] = reply(302, "", "Location: /loop")
	w.answers["http://example.org/self"] = reply(302, "", "Location: /self")
	w.answers["http://example.org/bad"] = reply(302, "", "Location: http://[::1/")
	w.answers["http://example.org/nowhere"] = reply(302, "login here")
	for path, text := range map[string]string{
		"loop": "in a circle", "self": "in a circle", "bad": "malformed", "nowhere": "302 Found",
	} {
		_, err := get(t.Context(), c, "http://example.org/"+path)
		require.ErrorContains(t, err, text)
		assert.NotErrorIs(t, err, harvest.ErrTemporary)
	}
	w.answers["http://example.org/file"] = reply(302, "", "Location: file:///etc/passwd")
	w.answers["http://example.org/long"] = reply(302, "", "Location: /?"+strings.Repeat("x", 200_000))
	w.answers["http://example.org/host"] = reply(302, "", "Location: http://"+strings.Repeat("x.", 600)+"/")
	for _, path := range []string{"long", "host"} {
		_, err := get(t.Context(), c, "http://example.org/"+path)
		require.ErrorIs(t, err, harvest.ErrForbidden)
		assert.Less(t, len(err.Error()), 3000)
	}
	w.answers["http://example.org/user"] = reply(302, "", "Location: http://u:hunter2@example.org/end")
	for _, path := range []string{"file", "user"} {
		_, err := get(t.Context(), c, "http://example.org/"+path)
		require.ErrorIs(t, err, harvest.ErrForbidden)
		assert.NotContains(t, err.Error(), "hunter2")
	}
}

// Pages that redirect in a circle until a client has their cookie.
func TestRedirectCookie(t *testing.T) {
	gate := func(cookie, inside string, outside answer) answer {
		return func(r *http.Request) (*http.Response, error) {
			if c, err := r.Cookie(cookie); err == nil && c.Value == "1" {
				return reply(200, inside)(r)
			}
			return outside(r)
		}
	}
	const page, check, other = "http://example.org/page", "http://example.org/check", "http://other.example/check"
	for name, c := range map[string]struct {
		answers  map[string]answer
		requests int
		err      string
	}{
		"of the same URL": {map[string]answer{page: gate("a", "in", reply(302, "", "Location: /page", "Set-Cookie: a=1; Path=/"))}, 2, ""},
		"of another page": {map[string]answer{
			page:  gate("a", "in", reply(302, "", "Location: /check")),
			check: reply(302, "", "Location: /page", "Set-Cookie: a=1"),
		}, 3, ""},
		"of two pages": {map[string]answer{
			page:  gate("b", "in", reply(302, "", "Location: /check", "Set-Cookie: a=1")),
			check: gate("a", "no", reply(307, "", "Location: /page", "Set-Cookie: b=1")),
		}, 3, ""},
		"refused": {map[string]answer{page: gate("b", "in", reply(302, "", "Location: /page", "Set-Cookie: a=1"))}, 2, "in a circle"},
		"a new one each time": {map[string]answer{page: func() answer {
			n := 0
			return func(r *http.Request) (*http.Response, error) {
				n++
				return reply(302, "", "Location: /page", fmt.Sprintf("Set-Cookie: a%d=1", n))(r)
			}
		}()}, 2, "in a circle"},
		"of another host": {map[string]answer{
			page:  gate("a", "in", reply(302, "", "Location: "+other)),
			other: reply(302, "", "Location: "+page, "Set-Cookie: a=1; Domain=example.org"),
		}, 4, "in a circle"},
		"of another path":    {map[string]answer{page: gate("a", "in", reply(302, "", "Location: /page", "Set-Cookie: a=1; Path=/other"))}, 2, "in a circle"},
		"of encrypted pages": {map[string]answer{page: gate("a", "in", reply(302, "", "Location: /page", "Set-Cookie: a=1; Secure"))}, 2, "in a circle"},
		"that nobody needs": {map[string]answer{
			page:  reply(302, "", "Location: /check", "Set-Cookie: a=1"),
			check: gate("a", "no", reply(200, "in")),
		}, 2, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWeb()
			w.answers = c.answers
			client := w.client()
			body, err := get(t.Context(), client, page)
			if c.err == "" {
				require.NoError(t, err)
				assert.Equal(t, "in", body)
			} else {
				require.ErrorContains(t, err, c.err)
			}
			assert.Len(t, w.seen, c.requests)
			w.seen = nil
			_, _ = get(t.Context(), client, page)
			assert.Empty(t, w.seen[0].Header.Get("Cookie"), "another request has none")
		})
	}
}

func TestRedirectLimit(t *testing.T) {
	for limit, want := range map[int]int{0: 11, 3: 4, -1: 1} {
		w := newWeb()
		for i := range 20 {
			w.answers["http://example.org/"+strings.Repeat("a", i)] = reply(302, "", "Location: /"+strings.Repeat("a", i+1))
		}
		c := w.client()
		c.MaxRedirects = limit
		_, err := get(t.Context(), c, "http://example.org/")
		require.ErrorContains(t, err, "redirect")
		assert.Len(t, w.seen, want)
	}
}

func TestCredentials(t *testing.T) {
	w := newWeb()
	w.answers["https://example.org/a"] = reply(302, "", "Location: https://example.org:8443/b")
	w.answers["https://example.org:8443/b"] = reply(302, "", "Location: https://other.example/c")
	w.answers["https://other.example/c"] = reply(302, "", "Location: https://EXAMPLE.org:443/d")
	w.answers["https://EXAMPLE.org:443/d"] = reply(200, "x")
	c := w.client()
	require.NoError(t, c.Authorize("https://Example.org/", Basic("me", "hunter2")))
	require.NoError(t, c.Authorize("https://other.example", Bearer("t0ken")))
	mustGet(t, c, "https://example.org/a")
	var sent []string
	for _, r := range w.seen {
		sent = append(sent, r.Header.Get("Authorization"))
	}
	assert.Equal(t, []string{"Basic bWU6aHVudGVyMg==", "", "Bearer t0ken", "Basic bWU6aHVudGVyMg=="}, sent)

	w.answers["https://example.org/down"] = reply(302, "", "Location: http://example.org/plain")
	w.answers["https://free.example/down"] = reply(302, "", "Location: http://example.org/plain")
	w.answers["http://example.org/plain"] = reply(200, "x")
	_, err := get(t.Context(), c, "https://example.org/down")
	require.ErrorIs(t, err, harvest.ErrForbidden)
	mustGet(t, c, "https://free.example/down")

	require.NoError(t, c.Authorize("https://example.org", func(*http.Request) error { return errors.New("no key") }))
	_, err = get(t.Context(), c, "https://example.org/a")
	require.ErrorContains(t, err, "no key")
	require.NoError(t, c.Authorize("https://example.org", nil))
	mustGet(t, c, "https://example.org/a")

	for _, bad := range []string{"example.org", "https://example.org/a", "https://u:hunter2@example.org", "ftp://example.org", "https://u:hunter2@exa mple.org/"} {
		err := c.Authorize(bad, Bearer("x"))
		require.Error(t, err, bad)
		assert.NotContains(t, err.Error(), "hunter2")
	}
}

// TestEntrust: who may use the credentials of another origin is asked for each request,
// also after a redirect; for its own origin nobody is asked.
func TestEntrust(t *testing.T) {
	w := newWeb()
	w.answers["https://example.org/a"] = reply(302, "", "Location: https://files.example/b")
	w.answers["https://files.example/b"] = reply(200, "x")
	c := w.client()
	require.NoError(t, c.Authorize("https://example.org", Bearer("own")))
	require.NoError(t, c.Authorize("https://files.example", Bearer("files")))
	asked := ""
	for _, answer := range []bool{false, true} {
		c.Entrust = func(root, origin string) bool {
			asked += root + " " + origin + "\n"
			return answer
		}
		for _, root := range []string{"https://example.org/list", "https://other.example", ""} {
			resp, err := c.Fetch(t.Context(), &harvest.Request{URL: "https://example.org/a", Root: root})
			require.NoError(t, err)
			resp.Body.Close()
		}
	}
	var sent []string
	for _, r := range w.seen {
		sent = append(sent, r.Header.Get("Authorization"))
	}
	assert.Equal(t, []string{"Bearer own", "", "", "", "", "", "Bearer own", "Bearer files", "Bearer own", "Bearer files", "Bearer own", "Bearer files"}, sent)
	once := "https://example.org https://files.example\nhttps://other.example https://example.org\nhttps://other.example https://files.example\n" +
		" https://example.org\n https://files.example\n"
	assert.Equal(t, once+once, asked)
}

// What a StatusError matches is in testdata/retries.md.
func TestStatusError(t *testing.T) {
	w := newWeb()
	w.answers["http://example.org/?key=1"] = reply(410, "<html>sorry</html>")
	_, err := get(t.Context(), w.client(), "http://example.org/?key=1")
	status, ok := errors.AsType[*StatusError](err)
	require.True(t, ok)
	assert.Equal(t, 410, status.StatusCode())
	assert.Equal(t, "http://example.org/?key=xxxxx", status.RequestURL())
	assert.EqualError(t, err, "fetch: http://example.org/?key=xxxxx: 410 Gone")
}

func TestOnAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		w.answers["http://example.org/a"] = then(reply(500, "oops"), reply(302, "", "Location: /b?key=1"))
		w.answers["http://example.org/b?key=1"] = reply(200, "hello")
		c := w.client()
		c.IgnoreRobots = false
		var attempts []harvest.AttemptInfo
		var log strings.Builder
		c.OnAttempt = func(_ context.Context, a harvest.AttemptInfo) { a.Duration = 0; attempts = append(attempts, a) }
		c.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		resp, err := c.Fetch(t.Context(), &harvest.Request{URL: "http://example.org/a", Source: "s", List: true})
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, resp.Body)
		require.NoError(t, err)
		const host = "http://example.org"
		assert.Equal(t, []harvest.AttemptInfo{
			{Source: "s", List: true, Method: "GET", Host: host, URL: host + "/robots.txt", Attempt: 1, Status: 404},
			{Source: "s", List: true, Method: "GET", Host: host, URL: host + "/a", Attempt: 1, Status: 500, Bytes: 4},
			{Source: "s", List: true, Method: "GET", Host: host, URL: host + "/a", Attempt: 2, Status: 302},
			{Source: "s", List: true, Method: "GET", Host: host, URL: host + "/b?key=xxxxx", Attempt: 2, Status: 200, Bytes: 5},
		}, attempts)
		assert.Contains(t, log.String(), "uri=http://example.org/a attempt=2 status=302")
	})
}

// TestServers uses real connections, in HTTP/1.1 and 2.
func TestServers(t *testing.T) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		io.WriteString(w, r.Proto)
	})
	plain := httptest.NewServer(handler)
	defer plain.Close()
	c := New(nil)
	c.Rate = -1
	defer c.CloseIdleConnections()
	assert.Equal(t, "HTTP/1.1", mustGet(t, c, plain.URL+"/a"))

	secure := httptest.NewUnstartedServer(handler)
	secure.EnableHTTP2 = true
	secure.StartTLS()
	defer secure.Close()
	_, err := get(t.Context(), c, secure.URL+"/a")
	require.ErrorContains(t, err, "certificate")
	assert.NotErrorIs(t, err, harvest.ErrTemporary)

	trusting := New(nil)
	trusting.start()
	trusting.set.sourceTransport.(*http.Transport).TLSClientConfig = secure.Client().Transport.(*http.Transport).TLSClientConfig
	defer trusting.CloseIdleConnections()
	assert.Equal(t, "HTTP/2.0", mustGet(t, trusting, secure.URL+"/a"))
}

func TestCancelled(t *testing.T) {
	for name, answer := range map[string]answer{
		"waiting for the answer": hang, "in the body": trickle(1, time.Second), "between attempts": reply(500, ""),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWeb()
				w.answers["http://example.org/"] = answer
				why := errors.New("enough")
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(500*time.Millisecond, func() { cancel(why) })
				c := w.client()
				if name != "between attempts" {
					c.Attempts = 1
				}
				_, err := c.Fetch(ctx, &harvest.Request{URL: "http://example.org/", Spool: true})
				require.ErrorIs(t, err, why)
				assert.NotErrorIs(t, err, harvest.ErrTemporary)
				assert.Equal(t, 500*time.Millisecond, time.Since(w.began))
			})
		})
	}
}
