package discover_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/discover"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/rinfo"
)

func find(t *testing.T, f *discover.Finder, s sourcetest.Site, url string) (*discover.Result, int) {
	fetcher := &sourcetest.Fetcher{Site: site(s)}
	f.Fetcher = fetcher
	r, err := f.Find(t.Context(), www+url)
	require.NoError(t, err)
	return r, len(fetcher.Exchanges())
}

func TestUsage(t *testing.T) {
	_, err := (&discover.Finder{}).Find(t.Context(), www)
	assert.EqualError(t, err, "discover: Finder.Fetcher is nil")
	for _, url := range []string{"", "example.org", "ftp://example.org/", "/sitemap.xml", "https://"} {
		_, err = (&discover.Finder{Fetcher: &sourcetest.Fetcher{}}).Find(t.Context(), url)
		assert.ErrorContains(t, err, "must be an absolute URL with http or https", url)
	}
	_, err = (&discover.Finder{Fetcher: &sourcetest.Fetcher{}}).Find(t.Context(), "https://user:secret@example.org/?token=secret")
	require.ErrorIs(t, err, websync.ErrGone)
}

// TestContext: Find ends with its context, whenever that ends.
func TestContext(t *testing.T) {
	s := site(sourcetest.Site{"/": page(alternate("atom+xml", "/feed") + `<link rel="resourcesync" href="/list.xml">`), "/feed": feed("F", ""), "/list.xml": resourceSync("resourcelist", "/caps.xml")})
	for stop := 1; ; stop++ {
		ctx, cancel := context.WithCancel(t.Context())
		fetcher := &sourcetest.Fetcher{Site: s, Hook: func(ctx context.Context, n int, _ *harvest.Request, d sourcetest.Document) (sourcetest.Document, error) {
			if n == stop {
				cancel() // of a server that never answers
				<-ctx.Done()
				return d, ctx.Err()
			}
			return d, nil
		}}
		r, err := (&discover.Finder{Fetcher: fetcher}).Find(ctx, www+"/")
		cancel()
		if err == nil {
			assert.Len(t, r.Offers, 2)
			assert.Equal(t, 14, stop)
			return
		}
		assert.Equal(t, context.Canceled, err)
		assert.Len(t, fetcher.Exchanges(), stop)
	}
}

func TestMaxRequests(t *testing.T) {
	s := sourcetest.Site{"/": page(numbered(30))}
	for i := range 30 {
		s[fmt.Sprint("/", i)] = feed(fmt.Sprint("F", i), "")
	}
	for limit, want := range map[int]int{0: 30, 1: 1, 3: 3, -1: 40} {
		r, requests := find(t, &discover.Finder{MaxRequests: limit}, s, "/")
		assert.Equal(t, want, requests)
		assert.Len(t, r.Offers, min(max(want-10, 0), 30), "the host is asked before the feeds")
		if limit == 1 {
			_, err := r.Choose()
			assert.ErrorIs(t, err, websync.ErrLimit)
			assert.NotErrorIs(t, err, websync.ErrNotFound)
		}
		if limit >= 0 {
			last := r.Tried[len(r.Tried)-1]
			assert.ErrorIs(t, last.Err, websync.ErrLimit)
			assert.Contains(t, last.String(), "MaxRequests")
		}
	}
}

// TestMaxBytes: a document that is not read to its end is what its beginning says.
func TestMaxBytes(t *testing.T) {
	racing.Skip(t)
	filler := strings.Repeat(" ", 1<<20)
	paths := make([]string, 30_000)
	for i := range paths {
		paths[i] = fmt.Sprint("/a/", i)
	}
	posts := make([]string, 7_000)
	for i := range posts {
		posts[i] = post(fmt.Sprint("/", i))
	}
	documents := sourcetest.Site{
		"/urlset": urlset(paths...), "/atom": feed("F", `<link rel="prev-archive" href="/old"/>`, posts...), "/rss": rss("R", paths...),
		"/rss1": text(`<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel><title>R</title></channel>` + filler + `</rdf:RDF>`),
		"/json": text(`{"version": "https://jsonfeed.org/version/1", "title": "` + filler + `", "items": []}`),
		"/text": text(www + strings.Join(paths, "\n"+www)),
		"/page": page(alternate("atom+xml", "/atom") + "</head><body>" + filler),
		"/late": page(filler + alternate("atom+xml", "/atom")),
		"/list": text(resourceSync("resourcelist", "/caps", "/a ").Body + filler), "/caps": resourceSync("capabilitylist", ""),
	}
	for path, want := range map[string]string{
		"/urlset": "sitemap " + www + "/urlset", "/atom": `atom ` + www + `/atom "F"`, "/rss": "atom " + www + "/rss", "/rss1": "atom " + www + "/rss1", "/json": "atom " + www + "/json",
		"/text": "sitemap " + www + "/text", "/page": `atom ` + www + `/atom "F"`, "/list": "resourcesync " + www + "/caps", "/late": "",
	} {
		t.Run(path, func(t *testing.T) {
			if want == "" {
				_, err := (&discover.Finder{Fetcher: &sourcetest.Fetcher{Site: site(documents)}}).Find(t.Context(), www+path)
				assert.ErrorIs(t, err, websync.ErrLimit)
				assert.NotErrorIs(t, err, websync.ErrTruncated)
				return
			}
			r, _ := find(t, &discover.Finder{}, documents, path)
			require.Len(t, r.Offers, 1)
			assert.Equal(t, want, r.Offers[0].String())
			assert.NoError(t, r.Tried[0].Err, "nobody wanted to read all of it")
			r, _ = find(t, &discover.Finder{MaxBytes: -1}, documents, path)
			require.Len(t, r.Offers, 1)
		})
	}
	_, err := (&discover.Finder{Fetcher: &sourcetest.Fetcher{Site: site(documents)}, MaxBytes: 100}).Find(t.Context(), www+"/urlset")
	assert.ErrorIs(t, err, websync.ErrLimit)
}

// TestBind: the Root of a Source is the URL that the user named, if an offer is on
// another host.
func TestBind(t *testing.T) {
	s := sourcetest.Site{
		"/blog":                   page(alternate("atom+xml", "https://other.example/f") + alternate("atom+xml", "/f") + `<link rel="sitemap" href="https://other.example/s">`),
		"https://other.example/f": feed("One", "", act("/1", md5, rdf)), "/f": feed("Two", "", act("/1", md5, rdf)), "https://other.example/s": urlset("/a"),
	}
	r, _ := find(t, &discover.Finder{}, s, "/blog")
	require.Len(t, r.Offers, 3)
	for _, o := range r.Offers {
		src := o.Source()
		assert.Equal(t, o.URL, src.Key())
		_, isGetter := src.(harvest.Getter)
		assert.Equal(t, o.Protocol == discover.Rinfo, isGetter)
		if o.URL == www+"/f" {
			assert.IsType(t, &rinfo.Source{}, src)
		}
		rooted, ok := src.(interface{ Root() string })
		require.True(t, ok || o.URL == www+"/f")
		if strings.HasPrefix(o.URL, "https://other.example/") {
			assert.Equal(t, www+"/blog", rooted.Root())
			assert.NoError(t, src.(interface{ Check() error }).Check())
		}
		h := &harvest.Harvester{Sample: -1, Catalog: testkit.NewStore(t).Plain(), Fetcher: &sourcetest.Fetcher{Site: site(s), Hook: func(_ context.Context, _ int, req *harvest.Request, d sourcetest.Document) (sourcetest.Document, error) {
			assert.True(t, req.Root == www+"/blog" || req.Root == www+"/f", req.Root)
			return d, nil
		}}}
		report, err := h.Run(t.Context(), src)
		require.NoError(t, err)
		assert.EqualValues(t, 1, report.Events)
	}
	refused := errors.New("refused")
	other := r.Offers[0]
	require.Contains(t, other.URL, "other.example")
	bound := other.Bind(checked{harvest.Of("x"), refused})
	assert.Equal(t, refused, bound.(interface{ Check() error }).Check())
	assert.NoError(t, other.Bind(harvest.Of("x")).(interface{ Check() error }).Check())
}

type checked struct {
	harvest.Source
	err error
}

func (c checked) Check() error { return c.err }

func TestErrors(t *testing.T) {
	many := sourcetest.Site{"/": page(numbered(12)), "/x": page("")}
	for i := range 12 {
		many[fmt.Sprint("/", i)] = feed(fmt.Sprint("F", i), "")
	}
	r, _ := find(t, &discover.Finder{}, many, "/")
	_, err := r.Choose()
	assert.ErrorContains(t, err, `https://www.example.org/ leads to 12 offers that are equally good, so name one by its URL and protocol: atom https://www.example.org/0 "F0", atom https://www.example.org/1 "F1"`)
	assert.ErrorContains(t, err, "and 4 more")
	r, _ = find(t, &discover.Finder{}, many, "/x")
	_, err = r.Choose()
	assert.ErrorContains(t, err, `discover: https://www.example.org/x leads to nothing that can be harvested; https://www.example.org/x: a web page with the title "Acts"; nothing is at https://www.example.org/.well-known/resourcesync, https://www.example.org/robots.txt, `)
	_, err = (&discover.Finder{Fetcher: &sourcetest.Fetcher{Site: site(many)}}).Find(t.Context(), www+"/y?token=secret")
	assert.ErrorContains(t, err, "status 404; nothing is at https://www.example.org/.well-known/resourcesync, ")
}

// FuzzFind: whatever a server answers, Find ends after a few requests.
func FuzzFind(f *testing.F) {
	for _, test := range fixtures {
		for _, d := range test.site {
			f.Add(d.Body, strings.Join(d.Header["Content-Type"], ""), strings.Join(d.Header["Link"], ", "))
		}
	}
	f.Fuzz(func(t *testing.T, body, kind, links string) {
		d := sourcetest.Document{Body: body, Header: map[string][]string{"Content-Type": {kind}, "Link": {links}}}
		fetcher := &sourcetest.Fetcher{Hook: func(_ context.Context, n int, req *harvest.Request, _ sourcetest.Document) (sourcetest.Document, error) {
			if !strings.HasPrefix(strings.ToLower(req.URL), "http") {
				t.Fatalf("asks for %q", req.URL)
			}
			return d, nil
		}}
		r, err := (&discover.Finder{Fetcher: fetcher}).Find(t.Context(), www+"/a")
		if n := len(fetcher.Exchanges()); n > 30 {
			t.Fatalf("%d requests", n)
		}
		if err != nil {
			return
		}
		for i := range r.Offers {
			if len(r.Offers[i].Evidence) == 0 || r.Offers[i].Source().Key() == "" {
				t.Fatalf("%+v", r.Offers[i])
			}
		}
		if _, err = r.Choose(); err == nil && len(r.Offers) == 0 {
			t.Fatal("nothing was chosen")
		}
	})
}
