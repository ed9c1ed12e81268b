package hostile

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest/discover"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/harvest/notify"
	"github.com/websync-go/websync/sitemap"
)

var robots = []struct {
	name    string
	verdict verdict
	send    func(string) http.HandlerFunc
}{
	{"forbids all", refused, robotsText(text("User-agent: *\nDisallow: /"))},
	{"without an end", anything, robotsText(many(4<<20, "Disallow: /private\n"))},
	{"one line", anything, robotsText(many(72<<20, "a"))},
	{"million groups", anything, robotsText(many(500_000, "User-agent: *\nAllow: /\n"))},
	{"pattern that branches", anything, robotsText(join(text("User-agent: *\nDisallow: /"), many(2000, "*a"), text("$\n")))},
	{"many patterns", anything, robotsText(many(20_000, "User-agent: *\nDisallow: /*a*b*c*d*e*f$\n"))},
	{"bytes", anything, robotsText(text("User-agent: *\xff\x00\nDisallow: /\xfe\nAllow: /%zz%"))},
	{"UTF-16", anything, robotsText(text("\xff\xfeU\x00s\x00e\x00r\x00"))},
	{"login page", anything, robotsText(text("<html><body>Log in</body></html>"))},
	{"delay beyond all numbers", anything, robotsText(text("User-agent: *\nCrawl-delay: 1e400\n"))},
	{"delay of no number", anything, robotsText(text("User-agent: *\nCrawl-delay: NaN\n"))},
	{"negative delay", anything, robotsText(text("User-agent: *\nCrawl-delay: -1e9\n"))},
	{"long delay", refused, robotsText(text("User-agent: *\nCrawl-delay: 99999999\n"))},
	{"million sitemaps", anything, robotsText(numbered(300_000, "Sitemap: http://x.example/%d\n"))},
	{"gzip bomb", anything, coded("gzip", func(string) flow { return bomb(1 << 30) })},
	{"redirect to itself", anything, redirect("/robots.txt")},
	{"redirect inside", anything, redirect("http://169.254.169.254/")},
	{"redirect to a file", anything, redirect("file:///etc/passwd")},
	{"error", refused, status(500)},
	{"error for ever", refused, status(503, "Retry-After", "99999999999")},
	{"no answer", refused, func(string) http.HandlerFunc { return raw(nil) }},
}

func robotsText(f flow) func(string) http.HandlerFunc {
	return func(string) http.HandlerFunc { return as("text/plain", f) }
}

// robots.txt, as rules for the Client and as a list of sitemaps.
func TestRobots(t *testing.T) {
	for _, r := range robots {
		t.Run(r.name, func(t *testing.T) {
			attack(t, shapeOf("sitemap"), r.verdict, func(w *world) {
				w.serve("/robots.txt", r.send(""))
				w.renew(func(c *fetch.Client) { c.IgnoreRobots = false })
			})
		})
		t.Run(r.name+", as a source", func(t *testing.T) {
			w := newWorld(t)
			w.leads = []string{"x.example"}
			w.serve("/robots.txt", r.send(""))
			src := &sitemap.Source{URL: w.url + "/robots.txt", Complete: true, MaxDocuments: documentLimit}
			o := w.run(src, requestLimit)
			w.expect(refused, o)
		})
	}
}

var places = []struct {
	name string
	send func(string) http.HandlerFunc
}{
	{"million links", robotsHTML(numbered(300_000, `<link rel="alternate" type="application/atom+xml" href="/%d">`))},
	{"links inside", robotsHTML(text(`<link rel="sitemap" href="http://169.254.169.254/"><link rel="alternate" type="application/atom+xml" href="file:///etc/passwd">`))},
	{"link to itself", robotsHTML(text(`<link rel="sitemap" href="">`))},
	{"deep page", robotsHTML(many(nested, "<div>"))},
	{"page without an end", robotsHTML(many(8<<20, "<p>aaaa\n"))},
	{"million attributes", robotsHTML(join(text("<link"), numbered(1_000_000, " a%d=b"), text(">")))},
	{"gzip bomb", coded("gzip", func(string) flow { return bomb(1 << 30) })},
	{"many links in the header", func(string) http.HandlerFunc {
		return func(rw http.ResponseWriter, r *http.Request) {
			for i := range 2000 {
				rw.Header().Add("Link", fmt.Sprintf(`<http://127.0.0.1:%s/%d>; rel="sitemap"`, inside.port(), i))
			}
			io.WriteString(rw, "<html></html>")
		}
	}},
	{"links of nonsense", func(string) http.HandlerFunc {
		return with("Link", text(`<<<>;;;rel="sitemap\`+strings.Repeat(";a=\"", 10_000)))("<html></html>")
	}},
	{"robots.txt of many sitemaps", robotsText(numbered(300_000, "Sitemap: /%d\n"))},
	{"index of itself", func(string) http.HandlerFunc { return as("text/xml", text(index("/"))) }},
	{"laughs", func(string) http.HandlerFunc { return as("text/xml", text(laughs("x")+"<feed>&e10;</feed>")) }},
	{"feed of archives", func(string) http.HandlerFunc {
		return as("text/xml", text(feed("", "urn:f", "1", link("prev-archive", "/a")+link("current", "/b")+link("hub", inside.url()))))
	}},
	{"description of ten thousand", func(string) http.HandlerFunc {
		return as("text/xml", join(text("<urlset "+syncSpace+`><rs:md capability="description"/>`), numbered(10000, `<url><loc>/c/%d</loc><rs:md capability="capabilitylist"/></url>`), text("</urlset>")))
	}},
	{"redirect to itself", redirect("")},
	{"redirect inside", redirect("http://169.254.169.254/")},
	{"nothing", robotsText(nil)},
	{"NUL bytes", robotsText(many(1<<20, "\x00"))},
	{"error", status(503, "Retry-After", "9999999")},
	{"JSON Feed without an end", robotsText(join(text(`{"version":"https://jsonfeed.org/version/1.1","items":`), many(1<<20, "[")))},
}

func robotsHTML(f flow) func(string) http.HandlerFunc {
	return func(string) http.HandlerFunc {
		return as("text/html", join(text("<!DOCTYPE html><html><head>"), f))
	}
}

// Discovery of what every path of a host sends.
func TestDiscovery(t *testing.T) {
	for _, p := range places {
		t.Run(p.name, func(t *testing.T) {
			w := newWorld(t)
			w.serve("", p.send(""))
			ctx, cancel := w.context()
			defer cancel()
			w.measured(func() {
				result, err := (&discover.Finder{Fetcher: w.client}).Find(ctx, w.url+"/")
				if err != nil {
					assert.Contains(t, err.Error(), strings.TrimPrefix(w.url, "http://"))
					assert.Less(t, len(err.Error()), 64<<10)
				}
				if result != nil {
					assert.LessOrEqual(t, len(result.Offers), 10000)
				}
			})
			require.NoError(t, ctx.Err())
			assert.LessOrEqual(t, w.requests, 60)
		})
	}
}

// Requests to the receivers of pings and notices, by strangers.
func TestReceivers(t *testing.T) {
	form := func(pairs string) string { return pairs }
	long := strings.Repeat("a", 1<<20)
	for name, c := range map[string]struct{ method, target, mediaType, body string }{
		"ping of nothing":           {"POST", "/", "text/plain", ""},
		"ping of a stranger":        {"POST", "/", "text/plain", "http://evil.example/feed\n"},
		"ping inside":               {"POST", "/", "text/plain", inside.url() + "/\nhttp://169.254.169.254/\n"},
		"ping of a megabyte":        {"POST", "/", "text/plain", "http://x.example/" + long},
		"ping of many lines":        {"POST", "/", "text/plain", strings.Repeat("http://x.example/\n", 10_000)},
		"ping of bytes":             {"POST", "/", "text/plain", "http://x.example/\xff\x00\r\nX: y"},
		"ping in a broken form":     {"POST", "/", "application/x-www-form-urlencoded", form("url=%zz&url=%00&feed=%0d%0a")},
		"ping in a huge form":       {"POST", "/", "application/x-www-form-urlencoded", "url=" + long},
		"ping of many fields":       {"POST", "/", "application/x-www-form-urlencoded", strings.Repeat("url=a&", 9000)},
		"ping in parts":             {"POST", "/", "multipart/form-data; boundary=x", strings.Repeat("--x\r\nContent-Disposition: form-data; name=\"url\"\r\n\r\na\r\n", 900)},
		"ping by another method":    {"DELETE", "/", "", ""},
		"ping with a query":         {"POST", "/?url=" + strings.Repeat("a&url=", 5000), "", ""},
		"challenge for nothing":     {"GET", "/websub/", "", ""},
		"challenge of a stranger":   {"GET", "/websub/AAAA?hub.mode=subscribe&hub.topic=http://evil.example/&hub.challenge=<script>alert(1)</script>&hub.lease_seconds=1", "", ""},
		"challenge with lines":      {"GET", "/websub/AAAA?hub.mode=subscribe%0d%0aX:y&hub.topic=%0d%0a&hub.challenge=%0d%0a%0d%0ahello", "", ""},
		"lease beyond all numbers":  {"GET", "/websub/AAAA?hub.mode=subscribe&hub.topic=http://a.example/&hub.challenge=x&hub.lease_seconds=99999999999999999999", "", ""},
		"negative lease":            {"GET", "/websub/AAAA?hub.mode=subscribe&hub.topic=http://a.example/&hub.challenge=x&hub.lease_seconds=-1", "", ""},
		"denial by a stranger":      {"GET", "/websub/AAAA?hub.mode=denied&hub.topic=http://a.example/&hub.reason=" + strings.Repeat("x", 5000), "", ""},
		"notice of a stranger":      {"POST", "/websub/AAAA", "application/atom+xml", "<feed/>"},
		"notice of a long path":     {"POST", "/websub/" + strings.Repeat("a/", 20_000), "", ""},
		"notice with an odd path":   {"POST", "/websub/%2e%2e%2f%00", "", ""},
		"notice of many megabytes":  {"POST", "/websub/AAAA", "text/plain", strings.Repeat("a", 70<<20)},
		"notice by another method":  {"PUT", "/websub/AAAA", "", ""},
		"challenge of a megabyte":   {"GET", "/websub/AAAA?hub.mode=unsubscribe&hub.topic=x&hub.challenge=" + long, "", ""},
		"challenge with many modes": {"GET", "/websub/AAAA?" + strings.Repeat("hub.mode=subscribe&", 5000), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			called := false
			notified := func(u string) bool { called = true; return u == "http://a.example/" }
			var handler http.Handler = &notify.Receiver{Notify: func(u string) bool { return u == "http://a.example/" }}
			if strings.HasPrefix(c.target, "/websub/") {
				s := &notify.Subscriber{Callback: w.url + "/websub/", State: w.store, Discover: announcedAt(inside.url() + "/hub"), Notify: notified}
				require.NoError(t, s.Subscribe(t.Context(), "http://a.example/"))
				handler = s
			}
			r := &http.Request{Method: c.method, Header: http.Header{"Content-Type": {c.mediaType}, "X-Hub-Signature": {"sha256=" + strings.Repeat("0", 64)}}, Host: "x", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
			r.URL = parsed(c.target)
			r.Body = io.NopCloser(strings.NewReader(c.body))
			rec := httptest.NewRecorder()
			w.measured(func() { handler.ServeHTTP(rec, r.WithContext(t.Context())) })
			assert.GreaterOrEqual(t, rec.Code, 400, "accepted: %d", rec.Code)
			assert.False(t, called)
			assert.NotContains(t, rec.Body.String(), "<script>")
			assert.Less(t, rec.Body.Len(), 4096)
			for k, values := range rec.Header() {
				assert.NotContains(t, k+strings.Join(values, ""), "\n")
			}
		})
	}
	t.Run("hub inside", func(t *testing.T) {
		w := newWorld(t)
		s := &notify.Subscriber{
			Callback: w.url + "/websub/", State: w.store, Discover: announcedAt(inside.url() + "/hub"), Notify: func(string) bool { return true },
		}
		ctx, cancel := context.WithCancel(t.Context())
		require.NoError(t, s.Subscribe(ctx, "http://a.example/"))
		ended := make(chan error)
		go func() { ended <- s.Run(ctx) }()
		assert.Eventually(t, func() bool {
			for sub, err := range s.Subscriptions(ctx) {
				if err == nil && sub.Error != "" {
					return true
				}
			}
			return false
		}, hangLimit, 1e7)
		cancel()
		<-ended
	})
}

// announcedAt returns what finds a hub in each document.
func announcedAt(hub string) func(context.Context, string) (string, []string, error) {
	return func(_ context.Context, url string) (string, []string, error) { return url, []string{hub}, nil }
}

// parsed returns a URL as a server gets it, whatever is in it.
func parsed(target string) *url.URL {
	u, err := url.ParseRequestURI(target)
	if err != nil {
		path, query, _ := strings.Cut(target, "?")
		u = &url.URL{Path: path, RawQuery: query}
	}
	return u
}
