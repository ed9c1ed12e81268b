package eli_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
)

// A server is a site as the Transport of HTTP clients. It notes when it was asked.
type server struct {
	site *lawSite
	mu   sync.Mutex
	at   []time.Time
}

func (s *server) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	s.at = append(s.at, time.Now())
	s.mu.Unlock()
	doc, ok := s.site.Site[r.URL.String()]
	resp := &http.Response{StatusCode: 404, Header: http.Header{}, Request: r, Body: http.NoBody, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
	if ok {
		resp.StatusCode, resp.Header = 200, http.Header(doc.Header).Clone()
		resp.ContentLength, resp.Body = int64(len(doc.Body)), io.NopCloser(strings.NewReader(doc.Body))
	}
	return resp, nil
}

// TestInterval: no two requests are closer than Interval, although the Client allows five
// a second: not in one run, nor after a restart in the middle of one, nor when two
// processes share the work.
func TestInterval(t *testing.T) {
	for name, test := range map[string]struct{ interval, want time.Duration }{
		"by default": {0, 5 * time.Second}, "longer": {time.Minute, time.Minute}, "that of the Fetcher": {-1, 200 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				site := newSite(40).lists(urlset("a 2026-01-05", "b 2026-01-06", "c 2026-01-07", "d 2026-01-08"), feed("d 2026-01-08"))
				for _, name := range []string{"a", "b", "c", "d"} {
					site.act(name, "An act", "en/pdf")
				}
				s := &server{site: site}
				store := harvest.NewCatalog(memstore.New())
				source := eli.Source{Sitemap: sitemapURL, Feed: feedURL, Interval: test.interval}
				process := func() *harvest.Harvester {
					c := fetch.New(store)
					c.Transport, c.MaxWait = s, time.Hour
					return &harvest.Harvester{Sample: -1, Catalog: store, Fetcher: c}
				}
				ctx, cancel := context.WithTimeout(t.Context(), 5*test.want+test.want/2)
				_, err := process().Run(ctx, &source) // is killed
				cancel()
				require.ErrorIs(t, err, context.DeadlineExceeded)
				_, err = process().List(t.Context(), &source)
				require.NoError(t, err)
				var group sync.WaitGroup
				for range 2 {
					group.Go(func() {
						_, err := process().Work(t.Context(), &source)
						assert.NoError(t, err)
					})
				}
				group.Wait()
				report, err := process().Run(t.Context(), &source)
				require.NoError(t, err)
				assert.True(t, report.InStep())

				require.Greater(t, len(s.at), 12)
				for i := range s.at[1:] {
					require.GreaterOrEqual(t, s.at[i+1].Sub(s.at[i]), test.want, "request %d", i+1)
				}
				if whole := s.at[len(s.at)-1].Sub(s.at[0]); test.interval >= 0 {
					assert.Less(t, whole, 2*time.Duration(len(s.at))*test.want)
				}
			})
		})
	}
}

// TestEveryRequest: each request has the Interval, for lists, pages, redirects in HTML
// and full texts.
func TestEveryRequest(t *testing.T) {
	site := newSite(40).lists(urlset("a 2026-01-05", "b 2026-01-05"), feed("a 2026-01-05")).act("a", "An act", "en/pdf", "en/html").
		add("eli/b", "text/html", `<meta http-equiv="refresh" content="0;url=/eli/c">`).add("eli/c", "text/html", rdfaPage(law+"eli/b", "Another", "fr/xml")).
		add("eli/b/fr/xml", "application/xml", "<act/>")
	f := &sourcetest.Fetcher{Site: site.Site, Hook: func(_ context.Context, _ int, req *harvest.Request, doc sourcetest.Document) (sourcetest.Document, error) {
		assert.Equal(t, 7*time.Second, req.Interval, req.URL)
		return doc, nil
	}}
	source := eli.Source{Sitemap: sitemapURL, Feed: feedURL, Interval: 7 * time.Second}
	report, err := (&harvest.Harvester{Sample: -1, Catalog: harvest.NewCatalog(memstore.New()), Fetcher: f}).Run(t.Context(), &source)
	require.NoError(t, err)
	assert.True(t, report.InStep())
	assert.Len(t, f.Exchanges(), 8)
}
