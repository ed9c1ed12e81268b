package discover_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/discover"
	"github.com/websync-go/websync/harvest/sourcetest"
)

const (
	hub      = "https://hub.example/"
	selfHub  = `<%slink rel="self" href="https://www.example.org/topic"/><%[1]slink rel="hub" href="https://hub.example/"/>`
	rsLinks  = `<rs:ln rel="self" href="https://www.example.org/topic"/><rs:ln rel="hub" href="https://hub.example/"/>`
	jsonFeed = `{"version": "https://jsonfeed.org/version/1.1", "title": "F", "feed_url": "https://www.example.org/topic", ` +
		`"hubs": [{"type": "rssCloud", "url": "https://cloud.example/"}, {"type": "WebSub", "url": "https://hub.example/"}], "items": []}`
)

// links returns the links self and hub of XML with a prefix.
func links(prefix string) string {
	return strings.NewReplacer("%[1]s", prefix, "%s", prefix).Replace(selfHub)
}

func header(d sourcetest.Document, values ...string) sourcetest.Document {
	d.Header = map[string][]string{"Link": values, "Content-Type": d.Header["Content-Type"]}
	return d
}

func TestChannel(t *testing.T) {
	const (
		self    = www + "/topic"
		inRSS   = `<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>F</title><link>https://www.example.org/</link>`
		inLists = `<rs:md capability="capabilitylist"/>`
	)
	within := func(d sourcetest.Document, before, more string) sourcetest.Document {
		require.Contains(t, d.Body, before)
		d.Body = strings.Replace(d.Body, before, more+before, 1)
		return d
	}
	toHub := []string{`<https://hub.example/>; rel="hub"`, `</topic>; rel=self`}
	capabilities := resourceSync("capabilitylist", "/description.xml", "/changes.xml changelist", "/list.xml resourcelist")
	moved := sourcetest.Document{Location: "/moved"}
	damaged := feed("F", links(""), entry("1", ""))
	damaged.Body = damaged.Body[:len(damaged.Body)-len("</feed>")] + "<entry>"
	for name, test := range map[string]struct {
		site  sourcetest.Site
		topic string
		none  bool
		err   string
	}{
		"an Atom feed":             {sourcetest.Site{"/x": feed("F", links(""))}, self, false, ""},
		"its header":               {sourcetest.Site{"/x": header(feed("F", ""), toHub...)}, self, false, ""},
		"the header first":         {sourcetest.Site{"/x": header(feed("F", links("")), `</other>; rel=self`)}, www + "/other", false, ""},
		"without self":             {sourcetest.Site{"/x": feed("F", `<link rel="hub" href="https://hub.example/"/>`)}, www + "/x", false, ""},
		"without self, redirected": {sourcetest.Site{"/x": moved, "/moved": feed("F", `<link rel="hub" href="https://hub.example/"/>`)}, www + "/moved", false, ""},
		"self without a hub":       {sourcetest.Site{"/x": feed("F", `<link rel="self" href="https://www.example.org/topic"/>`)}, self, true, ""},
		"self on another host":     {sourcetest.Site{"/x": feed("F", `<link rel="self" href="https://other.example/f"/><link rel="hub" href="https://hub.example/"/>`)}, "https://other.example/f", false, ""},
		"relative links":           {sourcetest.Site{"/a/x": feed("F", `<link rel="self" href="y"/><link rel="hub" href="//hub.example/"/>`)}, www + "/a/y", false, ""},
		"a link of an entry":       {sourcetest.Site{"/x": feed("F", "", entry("1", `<link rel="hub" href="https://hub.example/"/>`))}, "", true, ""},
		"a feed that breaks off":   {sourcetest.Site{"/x": damaged}, self, false, ""},
		"a page of a feed": {
			sourcetest.Site{"/x": feed("F", `<link rel="first" href="https://www.example.org/first"/>`, entry("1", "")), "/first": feed("F", links(""))}, self, false, "",
		},
		"RSS":                   {sourcetest.Site{"/x": {Body: inRSS + links("atom:") + "</channel></rss>"}}, self, false, ""},
		"RSS without a hub":     {sourcetest.Site{"/x": {Body: inRSS + "</channel></rss>"}}, "", true, ""},
		"JSON Feed":             {sourcetest.Site{"/x": {Body: jsonFeed}}, self, false, ""},
		"a web page":            {sourcetest.Site{"/x": page(links(""))}, self, false, ""},
		"the body of a page":    {sourcetest.Site{"/x": within(page(""), "</body>", links(""))}, "", false, "discover: https://www.example.org/x: a web page with the title"},
		"the header of a page":  {sourcetest.Site{"/x": header(page(""), toHub...)}, self, false, ""},
		"a sitemap":             {sourcetest.Site{"/x": header(urlset("/1"), toHub...)}, self, false, ""},
		"a text sitemap":        {sourcetest.Site{"/x": header(text(www+"/1\n"), toHub...)}, self, false, ""},
		"a sitemap without":     {sourcetest.Site{"/x": urlset("/1")}, "", true, ""},
		"robots.txt":            {sourcetest.Site{"/robots.txt": text("Sitemap: /a.xml\nSitemap: /b.xml\n"), "/a.xml": urlset("/1"), "/b.xml": urlset("/2")}, "", true, ""},
		"a Capability List":     {sourcetest.Site{"/x": within(capabilities, inLists, rsLinks)}, self, false, ""},
		"its Change List":       {sourcetest.Site{"/x": capabilities, "/changes.xml": within(resourceSync("changelist", "/x"), "<rs:md", rsLinks)}, self, false, ""},
		"no links":              {sourcetest.Site{"/x": capabilities, "/changes.xml": resourceSync("changelist", "/x")}, "", true, ""},
		"a Resource List alone": {sourcetest.Site{"/x": within(resourceSync("resourcelist", ""), "<rs:md", rsLinks)}, self, false, ""},
		"not there":             {sourcetest.Site{}, "", false, "404"},
		"nothing to harvest":    {sourcetest.Site{"/x": text("hello")}, "", false, "names no hub"},
		"cut":                   {sourcetest.Site{"/x": cut(feed("F", links("")), 60)}, "", false, "discover: "},
	} {
		t.Run(name, func(t *testing.T) {
			at := "/x"
			for path := range test.site {
				if strings.HasPrefix(path, "/a/") || path == "/robots.txt" {
					at = path
				}
			}
			topic, hubs, err := (&discover.Finder{Fetcher: &sourcetest.Fetcher{Site: site(test.site)}}).Channel(t.Context(), www+at)
			switch {
			case test.err != "":
				assert.ErrorContains(t, err, test.err)
				assert.Empty(t, hubs)
			case test.none:
				assert.NoError(t, err)
				assert.True(t, test.topic == "" || test.topic == topic, topic)
				assert.Empty(t, hubs)
			default:
				assert.NoError(t, err)
				assert.Equal(t, test.topic, topic)
				assert.Equal(t, []string{hub}, hubs)
			}
		})
	}
	_, _, err := new(discover.Finder).Channel(t.Context(), www)
	assert.ErrorContains(t, err, "Finder.Fetcher is nil")
}

// TestChannelOfLegislation: the hub of the update feed counts, or else that of the
// sitemap.
func TestChannelOfLegislation(t *testing.T) {
	s := legislation("/eli/")
	find := func() (string, []string) {
		topic, hubs, err := (&discover.Finder{Fetcher: &sourcetest.Fetcher{Site: site(s)}}).Channel(t.Context(), www+"/eli/sitemap.xml")
		require.NoError(t, err)
		return topic, hubs
	}
	_, hubs := find()
	assert.Empty(t, hubs)
	s["/eli/sitemap.xml"] = header(s["/eli/sitemap.xml"], `<https://other.example/>; rel=hub`)
	topic, hubs := find()
	assert.Equal(t, www+"/eli/sitemap.xml", topic)
	assert.Equal(t, []string{"https://other.example/"}, hubs)
	s["/eli/eli-update-feed.atom"] = header(s["/eli/eli-update-feed.atom"], `<https://hub.example/>; rel=hub`)
	topic, hubs = find()
	assert.Equal(t, www+"/eli/eli-update-feed.atom", topic)
	assert.Equal(t, []string{hub}, hubs)
}

// TestChannelAsksForTheURLOnly as Root of its requests: a private address is reached only
// if the user named its host.
func TestChannelAsksForTheURLOnly(t *testing.T) {
	s := site(sourcetest.Site{"/x": resourceSync("capabilitylist", "", "/changes.xml changelist"), "/changes.xml": resourceSync("changelist", "/x")})
	asked := 0
	fetcher := &sourcetest.Fetcher{Site: s, Hook: func(_ context.Context, _ int, r *harvest.Request, d sourcetest.Document) (sourcetest.Document, error) {
		asked++
		assert.Equal(t, www+"/x", r.Root)
		return d, nil
	}}
	_, _, err := (&discover.Finder{Fetcher: fetcher}).Channel(t.Context(), www+"/x")
	require.NoError(t, err)
	assert.Equal(t, 2, asked)
	_, _, err = (&discover.Finder{Fetcher: fetcher, MaxRequests: 1}).Channel(t.Context(), www+"/x")
	assert.ErrorIs(t, err, websync.ErrLimit, "nobody knows what the Change List says")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = (&discover.Finder{Fetcher: fetcher}).Channel(ctx, www+"/x")
	assert.Equal(t, context.Canceled, err)
}
