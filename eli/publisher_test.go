package eli_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/publish"
	"github.com/websync-go/websync/sitemap"
)

const (
	country   = "https://www.country.example/"
	acts      = country + "eli/act/"
	mapPath   = "/eli/sitemap.xml"
	feedPath  = "/eli/eli-update-feed.atom"
	ownSource = "acts"
)

// newPublisher returns a Publisher of acts whose pages another program serves.
func newPublisher(c websync.Catalog) *eli.Publisher {
	return &eli.Publisher{Place: websync.Place{Catalog: c, Base: country, Sources: []string{ownSource}}, Author: websync.Person{Name: "Gazette"}}
}

// act returns an act with a date, which may be empty.
func act(t testkit.T, name, modified string) websync.Resource {
	r := websync.Resource{ID: acts + name}
	if modified != "" {
		r.Modified = testkit.Date(t, modified)
	}
	return r
}

// render gets a document again until the Catalog does not change while it is written.
func render(t require.TestingT, p websync.Publisher, path string) (*websync.Document, []byte) {
	for {
		doc, err := p.Document(context.Background(), path)
		require.NoError(t, err, path)
		var b bytes.Buffer
		err = doc.Write(context.Background(), &b)
		if errors.Is(err, websync.ErrConflict) {
			continue
		}
		require.NoError(t, err, path)
		return doc, b.Bytes()
	}
}

// paths returns the paths of the documents.
func paths(t require.TestingT, p websync.Publisher) (all []string) {
	for path, err := range p.Documents(context.Background()) {
		require.NoError(t, err)
		all = append(all, path)
	}
	return all
}

// requireFlawless checks that the documents of p have no findings.
func requireFlawless(t *testing.T, p *eli.Publisher) {
	t.Helper()
	report := func(f websync.Finding) {
		if f.Rule != "sitemap-empty" {
			assert.Fail(t, f.String())
		}
	}
	for _, path := range paths(t, p) {
		url := strings.TrimSuffix(country, "/") + path
		doc, body := render(t, p, path)
		switch doc.Type {
		case "application/xml", "application/gzip":
			_, err := sitemap.Validate(bytes.NewReader(body), sitemap.ValidateOptions{Document: url, Report: report})
			require.NoError(t, err)
		case "application/atom+xml; charset=utf-8":
			_, err := atom.Validate(bytes.NewReader(body), atom.ValidateOptions{Document: url, Report: report})
			require.NoError(t, err)
		default:
			assert.Equal(t, "/robots.txt", path)
		}
	}
}

// What a reader of the documents sees that knows nothing of this module.
type (
	xmlSitemap struct {
		XMLName  xml.Name
		Relation string     `xml:"http://purl.org/dc/terms/ relation,attr"`
		URLs     []xmlEntry `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 url"`
		Parts    []xmlEntry `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 sitemap"`
	}
	xmlEntry struct {
		Loc     string `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 loc"`
		LastMod string `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 lastmod"`
	}
	xmlFeed struct {
		XMLName xml.Name       `xml:"http://www.w3.org/2005/Atom feed"`
		ID      string         `xml:"http://www.w3.org/2005/Atom id"`
		Title   string         `xml:"http://www.w3.org/2005/Atom title"`
		Updated time.Time      `xml:"http://www.w3.org/2005/Atom updated"`
		Author  string         `xml:"http://www.w3.org/2005/Atom author>name"`
		Links   []xmlLink      `xml:"http://www.w3.org/2005/Atom link"`
		Entries []xmlFeedEntry `xml:"http://www.w3.org/2005/Atom entry"`
	}
	xmlFeedEntry struct {
		ID      string    `xml:"http://www.w3.org/2005/Atom id"`
		Title   string    `xml:"http://www.w3.org/2005/Atom title"`
		Updated time.Time `xml:"http://www.w3.org/2005/Atom updated"`
		Content string    `xml:"http://www.w3.org/2005/Atom content"`
		Links   []xmlLink `xml:"http://www.w3.org/2005/Atom link"`
	}
	xmlLink struct {
		Rel  string `xml:"rel,attr"`
		Href string `xml:"href,attr"`
	}
)

// instant returns the first moment of a W3C date or datetime.
func instant(t require.TestingT, text string) time.Time {
	layout := time.RFC3339Nano
	if len(text) == len(time.DateOnly) {
		layout = time.DateOnly
	}
	at, err := time.Parse(layout, text)
	require.NoError(t, err)
	return at.UTC()
}

// readSitemap returns the lastmod of all acts, by the rest of their ELI, and the number
// of documents.
func readSitemap(t require.TestingT, p *eli.Publisher, path string) (all map[string]string, documents int) {
	_, body := render(t, p, path)
	var m xmlSitemap
	require.NoError(t, xml.Unmarshal(body, &m))
	require.Equal(t, country+strings.TrimPrefix(feedPath, "/"), m.Relation, path)
	all = make(map[string]string)
	for _, u := range m.URLs {
		name, ok := strings.CutPrefix(u.Loc, acts)
		require.True(t, ok, u.Loc)
		_, listed := all[name] // NotContains would look at all names
		require.False(t, listed, name)
		all[name] = u.LastMod
	}
	for _, part := range m.Parts {
		require.NotEmpty(t, part.LastMod)
		more, n := readSitemap(t, p, strings.TrimPrefix(part.Loc, strings.TrimSuffix(country, "/")))
		require.Equal(t, 1, n, "an index in an index")
		for name, at := range more {
			_, listed := all[name]
			require.False(t, listed, name)
			all[name] = at
		}
		documents += n
	}
	return all, documents + 1
}

// readFeed returns the feed after checking all that each feed must have.
func readFeed(t require.TestingT, p *eli.Publisher) xmlFeed {
	_, body := render(t, p, feedPath)
	var f xmlFeed
	require.NoError(t, xml.Unmarshal(body, &f))
	require.Equal(t, "urn:www-country-example:eli:eli-update-feed", f.ID)
	require.Equal(t, []xmlLink{{"self", country + "eli/eli-update-feed.atom"}}, f.Links)
	require.Equal(t, "Gazette", f.Author)
	require.NotEmpty(t, f.Title)
	seen := make(map[string]bool)
	for i, e := range f.Entries {
		require.False(t, seen[e.ID], e.ID)
		seen[e.ID] = true
		require.Equal(t, []xmlLink{{"alternate", e.ID}}, e.Links)
		require.NotEmpty(t, e.Title)
		if i == 0 {
			require.Equal(t, f.Updated, e.Updated, "the time of the feed is that of its latest entry")
		} else {
			require.False(t, e.Updated.After(f.Entries[i-1].Updated), "the latest first")
		}
	}
	return f
}

// TestPublisherGolden has the documents of a small gazette.
func TestPublisherGolden(t *testing.T) {
	s := testkit.NewStore(t)
	first := act(t, "2026/1", "2026-01-02")
	first.Title, first.Lang = "An Act on “A & B” <small>", "en"
	first.Summary = "It allows\n& forbids."
	second := act(t, "2026/2", "2025-12-30T10:00:00.5+01:00")
	second.Title = " \n"
	s.Put(ownSource, first, second, act(t, "2026/3", ""), act(t, "2026/4", "2026-01"), act(t, "2026/5", "2027-01-01"))
	s.Delete(ownSource, acts+"2026/4")
	s.Clock = s.Clock.Add(time.Hour)
	second.Title = "Deuxième loi"
	second.Lang = "fr"
	s.Put(ownSource, second)
	p := newPublisher(s)
	p.Title = "What is new in Country"
	requireFlawless(t, p)
	for _, path := range paths(t, p) {
		_, body := render(t, p, path)
		testkit.Golden(t, "testdata/publisher/"+filepath.Base(path), body)
	}
}

// TestPublisherPeriod: the feed covers 60 days before the last commit, by the times of
// the commits.
func TestPublisherPeriod(t *testing.T) {
	s := testkit.NewStore(t)
	put := func(name string, wait time.Duration) {
		s.Clock = s.Clock.Add(wait - time.Second)
		s.Put(ownSource, act(t, name, "2001-02-03"))
	}
	const day = 24 * time.Hour
	put("1", time.Second)
	put("2", time.Second)
	put("3", time.Hour)
	put("4", 60*day-time.Hour) // 60 days after the second one
	listed := func(p *eli.Publisher) (names string) {
		for _, e := range readFeed(t, p).Entries {
			names += strings.TrimPrefix(e.ID, acts)
		}
		return names
	}
	p := newPublisher(s)
	assert.Equal(t, "432", listed(p))
	long := newPublisher(s)
	long.History = 61 * day
	assert.Equal(t, "4321", listed(long))
	_, err := s.Compact(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "432", listed(p))
	put("2", time.Second)
	assert.Equal(t, "243", listed(p), "the second one is changed without a later date")
	s.Delete(ownSource, acts+"3", acts+"4")
	assert.Equal(t, "2", listed(p))
	s.Delete(ownSource, acts+"2", acts+"1")
	assert.Empty(t, listed(p))
	head, err := s.Head(t.Context())
	require.NoError(t, err)
	assert.Equal(t, head.LastTime, readFeed(t, p).Updated)
	all, _ := readSitemap(t, p, mapPath)
	assert.Empty(t, all)
	assert.Equal(t, time.Unix(0, 0).UTC(), readFeed(t, newPublisher(testkit.NewStore(t))).Updated)
	requireFlawless(t, p)
}

// TestPublisherTimes: each state of an act has the time that it states if that is later
// than the one before, else that of its commit.
func TestPublisherTimes(t *testing.T) {
	const commit, deleted = "commit", "deleted"
	s := testkit.NewStore(t)
	year := s.Clock.Year()
	require.Equal(t, 2026, year)
	for name, test := range map[string]struct {
		stated, want []string
	}{
		"stated":                       {[]string{"2025-01-01", "2025-01-02", "2025-01-02T00:00:01Z"}, []string{"2025-01-01", "2025-01-02", "2025-01-02T00:00:01Z"}},
		"not stated":                   {[]string{"", "", "2025-01-01"}, []string{commit, commit, commit}},
		"the same":                     {[]string{"2025-01-01", "2025-01-01", "2025-01-01", "2025-01-02"}, []string{"2025-01-01", commit, commit, commit}},
		"the same moment":              {[]string{"2025-01-01", "2025-01-01T00:00:00Z"}, []string{"2025-01-01", commit}},
		"the same, in another zone":    {[]string{"2025-01-01T12:00:00Z", "2025-01-01T13:00:00+01:00"}, []string{"2025-01-01T12:00:00Z", commit}},
		"earlier":                      {[]string{"2025-01-02", "2025-01-01", "2025-01-03"}, []string{"2025-01-02", commit, commit}},
		"a year":                       {[]string{"2024-12-31", "2025", "2025-02"}, []string{"2024-12-31", "2025-01-01", "2025-02-01"}},
		"not stated before":            {[]string{"", "2025-01-01"}, []string{commit, commit}},
		"after the commit":             {[]string{"2027-01-01", "2025-01-01"}, []string{commit, commit}},
		"a day ahead":                  {[]string{"2026-01-03", "2026-01-02", "2026-01-03"}, []string{commit, commit, commit}},
		"today":                        {[]string{"2026-01-01", "2026-01-02", "2026-01-02"}, []string{"2026-01-01", "2026-01-02", commit}},
		"after the commit before":      {[]string{"", "2026-01-02T03:04:06.5Z"}, []string{commit, "2026-01-02T03:04:06.5Z"}},
		"deleted and published again":  {[]string{"2025-01-01", deleted, "2025-01-02"}, []string{"2025-01-01", "", commit}},
		"deleted and published later":  {[]string{"2025-01-01", deleted, "2026-01-02T03:04:07.5Z"}, []string{"2025-01-01", "", "2026-01-02T03:04:07.5Z"}},
		"as many states as are read":   {days(9), days(9)},
		"more states than are read":    {days(10), append(days(9), commit)},
		"more, one of them not stated": {append(append(days(3), ""), days(9)[4:]...), append(append(days(3), commit), commit, commit, commit, commit, commit)},
	} {
		t.Run(name, func(t *testing.T) {
			s := testkit.NewStore(t)
			p := newPublisher(s)
			for i, stated := range test.stated {
				want := test.want[i]
				if stated == deleted {
					s.Fill(ownSource, nil, websync.Item{Kind: websync.Deleted, Resource: act(t, "1", test.stated[i-1]+"T12:00:00Z")})
				} else {
					s.Put(ownSource, act(t, "1", stated))
				}
				if want == commit {
					want = websync.NewDatetime(s.Clock).String()
				}
				all, _ := readSitemap(t, p, mapPath)
				entries := readFeed(t, p).Entries
				if want == "" {
					assert.Empty(t, all)
					assert.Empty(t, entries)
					continue
				}
				require.Equal(t, map[string]string{"1": want}, all, "state %d", i)
				require.Len(t, entries, 1)
				require.Equal(t, instant(t, want), entries[0].Updated.UTC(), "state %d", i)
			}
		})
	}
}

// days returns some days, one after the other.
func days(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("2025-01-%02d", i+1))
	}
	return all
}

// After a compaction the states before are not known: the time of an act that has changed
// is that of the commit, which is not before any time that was listed.
func TestPublisherTimesCompacted(t *testing.T) {
	s := testkit.NewStore(t)
	p := newPublisher(s)
	put := func(name string, kind websync.ChangeKind, modified string) {
		s.Fill(ownSource, nil, websync.Item{Kind: kind, Resource: act(t, name, modified)})
	}
	at := func(name string) string {
		t.Helper()
		all, _ := readSitemap(t, p, mapPath)
		for _, e := range readFeed(t, p).Entries {
			if e.ID == acts+name {
				require.Equal(t, instant(t, all[name]), e.Updated.UTC())
			}
		}
		return all[name]
	}
	compact := func() {
		t.Helper()
		_, err := s.Compact(t.Context())
		require.NoError(t, err)
	}
	put("new", websync.Created, "2025-01-01")
	put("changed", websync.Created, "2025-01-01")
	put("changed", websync.Updated, "2025-01-02")
	changed := websync.NewDatetime(s.Clock).String()
	put("raised", websync.Created, "2025-01-03")
	put("raised", websync.Updated, "2025-01-02")
	raised := websync.NewDatetime(s.Clock).String()
	assert.Equal(t, []string{"2025-01-01", "2025-01-02", raised}, []string{at("new"), at("changed"), at("raised")})
	for range 2 {
		compact()
		assert.Equal(t, []string{"2025-01-01", changed, raised}, []string{at("new"), at("changed"), at("raised")})
	}
	put("new", websync.Updated, "2025-01-02")
	put("changed", websync.Updated, "2025-01-03")
	assert.Equal(t, []string{websync.NewDatetime(s.Clock.Add(-time.Second)).String(), websync.NewDatetime(s.Clock).String()}, []string{at("new"), at("changed")})
	later := websync.NewDatetime(s.Clock.Add(500 * time.Millisecond)).String()
	put("changed", websync.Updated, later)
	assert.Equal(t, later, at("changed"))
}

// TestPublisherLeavesOut: what can't be listed is a finding in the sitemap, once, and in
// neither document.
func TestPublisherLeavesOut(t *testing.T) {
	page := func(mediaType string) websync.Item {
		return websync.Item{Bodies: []websync.Body{{Name: "content", Link: websync.Link{Type: mediaType}, Key: websync.SHA256([]byte("page"))}}}
	}
	served := func(p *eli.Publisher) {
		p.Locator = websync.PathLocator{Base: country, Own: []string{ownSource}, Reserved: p.Reserved}
	}
	all := func(p *eli.Publisher) {
		served(p)
		p.Sources = nil
	}
	for name, test := range map[string]struct {
		id, source string
		item       websync.Item
		change     func(*eli.Publisher)
		want       string // a part of the message; empty: it is listed
	}{
		"an act":                  {id: acts + "1"},
		"of a directory":          {id: acts},
		"with a query":            {id: acts + "1?v=2"},
		"escaped":                 {id: acts + "a%2fb"},
		"another host":            {id: "https://data.country.example/eli/act/1", want: `does not begin with "https://www.country.example/eli/"`},
		"another scheme":          {id: "http://www.country.example/eli/act/1", want: "does not begin with"},
		"another directory":       {id: country + "oj/eli/act/1", want: "does not begin with"},
		"another spelling":        {id: "https://WWW.country.example/eli/act/1", want: "does not begin with"},
		"the directory itself":    {id: country + "eli/", want: "does not begin with"},
		"no URL":                  {id: "urn:eli:act:1", want: "does not begin with"},
		"an IRI":                  {id: acts + "é", want: "percent-encod"},
		"a space":                 {id: acts + "a b", want: "white space"},
		"a fragment":              {id: acts + "1#a", want: "fragment"},
		"a fragment of a query":   {id: acts + "1?v=2#a", want: "fragment"},
		"dot segments":            {id: acts + "../../robots.txt", want: "dot segments"},
		"empty segments":          {id: acts + "/1", want: "empty segments"},
		"the sitemap":             {id: country + "eli/sitemap.xml", want: "one of the publisher's documents"},
		"a compressed sitemap":    {id: country + "eli/sitemap.xml.gz?x", want: "one of the publisher's documents"},
		"the feed":                {id: country + "eli/eli-update-feed.atom", want: "one of the publisher's documents"},
		"no match":                {id: acts + "1/en", change: func(p *eli.Publisher) { p.Pattern = regexp.MustCompile(`/act/\d+$`) }, want: "does not match the pattern"},
		"a match":                 {id: acts + "1", change: func(p *eli.Publisher) { p.Pattern = regexp.MustCompile(`/act/\d+$`) }},
		"a page":                  {id: acts + "1", item: page("text/html; charset=utf-8"), change: served},
		"a page in XHTML":         {id: acts + "1", item: page("Application/XHTML+xml"), change: served},
		"a page of unknown type":  {id: acts + "1", item: page(""), change: served},
		"no page":                 {id: acts + "1", change: served},
		"a PDF file":              {id: acts + "1", item: page("application/pdf"), change: served, want: `"application/pdf", not the HTML page`},
		"a PDF file elsewhere":    {id: acts + "1", item: page("application/pdf")},
		"not at its ELI":          {id: acts + "1?v=2", change: served, want: `its page is not at the ELI, but at "https://www.country.example/r/`},
		"a source that isn't own": {id: acts + "1", source: "other", change: all, want: "its source is not own"},
		"of all own sources":      {id: acts + "1", change: all},
	} {
		t.Run(name, func(t *testing.T) {
			s := testkit.NewStore(t)
			source := ownSource
			if test.source != "" {
				source = test.source
			}
			test.item.Resource.ID = test.id
			var texts []string
			if len(test.item.Bodies) > 0 {
				texts = []string{"page"}
			}
			s.Fill(source, texts, test.item)
			p := newPublisher(s)
			if test.change != nil {
				test.change(p)
			}
			var findings []websync.Finding
			p.Report = func(f websync.Finding) { findings = append(findings, f) }
			require.NoError(t, p.Check())
			var m xmlSitemap
			for range 2 {
				_, body := render(t, p, mapPath)
				m = xmlSitemap{}
				require.NoError(t, xml.Unmarshal(body, &m))
			}
			entries := readFeed(t, p).Entries
			if test.want == "" {
				assert.Empty(t, findings)
				require.Len(t, entries, 1)
				assert.Equal(t, test.id, entries[0].ID)
				require.Len(t, m.URLs, 1)
				assert.Equal(t, test.id, m.URLs[0].Loc)
				return
			}
			assert.Empty(t, entries)
			assert.Empty(t, m.URLs)
			findings = slices.DeleteFunc(findings, func(f websync.Finding) bool { return f.Rule == "sitemap-empty" })
			require.Len(t, findings, 1, "the reason, once")
			assert.Contains(t, findings[0].Message, test.want)
			assert.Equal(t, test.id, findings[0].Value)
			assert.Equal(t, websync.SeverityError, findings[0].Severity)
		})
	}
}

// A state that can't be listed hides the one before it, which is no longer true.
func TestPublisherLeavesOutLater(t *testing.T) {
	s := testkit.NewStore(t)
	p := newPublisher(s)
	p.Locator = websync.PathLocator{Base: country, Own: []string{ownSource}, Reserved: p.Reserved}
	page := func(mediaType string) websync.Item {
		return websync.Item{Resource: act(t, "1", ""), Bodies: []websync.Body{{Name: "content", Link: websync.Link{Type: mediaType}, Key: websync.SHA256([]byte("page"))}}}
	}
	s.Fill(ownSource, []string{"page"}, page("text/html"))
	assert.Len(t, readFeed(t, p).Entries, 1)
	s.Fill(ownSource, nil, page("application/pdf"))
	assert.Empty(t, readFeed(t, p).Entries)
	all, _ := readSitemap(t, p, mapPath)
	assert.Empty(t, all)
}

func TestPublisherCheck(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*eli.Publisher)
		want   string // empty: the settings are valid
	}{
		"as it is":          {func(*eli.Publisher) {}, ""},
		"no Catalog":        {func(p *eli.Publisher) { p.Catalog = nil }, "Publisher.Catalog"},
		"no Base":           {func(p *eli.Publisher) { p.Base = "" }, "Publisher.Base"},
		"no slash":          {func(p *eli.Publisher) { p.Base = "https://www.country.example" }, `ending in "/"`},
		"a query":           {func(p *eli.Publisher) { p.Path = "x?/eli/" }, "without query"},
		"another directory": {func(p *eli.Publisher) { p.Path = "oj/eli/" }, ""},
		"a slash before":    {func(p *eli.Publisher) { p.Path = "/eli/" }, ""},
		"not eli":           {func(p *eli.Publisher) { p.Path = "law/" }, `Publisher.Path "law/" must end in "eli/"`},
		"almost eli":        {func(p *eli.Publisher) { p.Path = "reli/" }, "must end in"},
		"not a directory":   {func(p *eli.Publisher) { p.Path = "oj/eli" }, "must end in"},
		"dots":              {func(p *eli.Publisher) { p.Path = "../eli/" }, "clean URL"},
		"no Author":         {func(p *eli.Publisher) { p.Author = websync.Person{} }, "no valid feed"},
		"a short History":   {func(p *eli.Publisher) { p.History = 59 * 24 * time.Hour }, "at least 60 days"},
		"a negative one":    {func(p *eli.Publisher) { p.History = -1 }, "at least 60 days"},
		"60 days":           {func(p *eli.Publisher) { p.History = 60 * 24 * time.Hour }, ""},
		"a bad ID":          {func(p *eli.Publisher) { p.ID = "not an IRI" }, "no valid feed"},
		"no Sources":        {func(p *eli.Publisher) { p.Sources = nil }, "Publisher.Sources"},
		"a foreign source": {func(p *eli.Publisher) {
			p.Locator = websync.PathLocator{Base: country, Own: []string{"another"}, Reserved: p.Reserved}
		}, `does not own the source "acts"`},
		"a Locator that takes the feed": {func(p *eli.Publisher) {
			p.Locator = websync.PathLocator{Base: country, Own: []string{ownSource}, Reserved: func(path string) bool { return path == mapPath }}
		}, feedPath},
		"a Locator that takes the sitemap": {func(p *eli.Publisher) {
			p.Locator = websync.PathLocator{Base: country, Own: []string{ownSource}, Reserved: func(path string) bool { return path == feedPath }}
		}, mapPath},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPublisher(new(websync.Log))
			test.change(p)
			err := p.Check()
			if test.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, test.want)
			if strings.HasPrefix(name, "a Locator") {
				return
			}
			_, docErr := p.Document(t.Context(), feedPath)
			assert.Equal(t, err, docErr)
			for path, docErr := range p.Documents(t.Context()) {
				assert.Empty(t, path)
				assert.Equal(t, err, docErr)
			}
		})
	}
}

func TestPublisherFeedID(t *testing.T) {
	for _, test := range []struct{ base, path, id, title string }{
		{"https://country.xy/", "", "urn:country-xy:eli:eli-update-feed", "country.xy"},
		{"http://WWW.Country.xy:8080/", "", "urn:www-country-xy:eli:eli-update-feed", "www.country.xy"},
		{"https://country.xy/", "oj/eli/", "urn:country-xy:oj:eli:eli-update-feed", "country.xy"},
		{"https://country.xy/oj/", "", "urn:country-xy:oj:eli:eli-update-feed", "country.xy"},
		{"http://127.0.0.1:80/", "/eli/", "urn:127-0-0-1:eli:eli-update-feed", "127.0.0.1"},
		{"http://[2001:db8::1]:80/", "", "urn:2001-db8--1:eli:eli-update-feed", "2001:db8::1"},
	} {
		p := newPublisher(new(websync.Log))
		p.Base, p.Path = test.base, test.path
		require.NoError(t, p.Check())
		path := strings.TrimPrefix(p.FeedURL(), strings.TrimSuffix(test.base, "/"))
		if strings.HasSuffix(test.base, "/oj/") {
			path = "/oj/eli/eli-update-feed.atom"
		}
		_, body := render(t, p, path)
		var f xmlFeed
		require.NoError(t, xml.Unmarshal(body, &f))
		assert.Equal(t, test.id, f.ID)
		assert.Equal(t, "ELI update feed of "+test.title, f.Title)
	}
	p := newPublisher(new(websync.Log))
	p.ID, p.Title = "urn:x-country:feed", "T"
	_, body := render(t, p, feedPath)
	assert.Contains(t, string(body), "<id>urn:x-country:feed</id>")
	assert.Contains(t, string(body), ">T</title>")
}

// TestPublisherParts: an index, whose parts all name the feed.
func TestPublisherParts(t *testing.T) {
	s := testkit.NewStore(t)
	want := make(map[string]string)
	var all []websync.Resource
	for i := range 25 {
		all = append(all, act(t, fmt.Sprint(i), "2025-01-01"))
		want[fmt.Sprint(i)] = "2025-01-01"
	}
	s.Put(ownSource, all...)
	p := newPublisher(s)
	p.PartSize = 10
	got, documents := readSitemap(t, p, mapPath)
	assert.Equal(t, want, got)
	assert.Equal(t, 4, documents)
	requireFlawless(t, p)
	order := paths(t, p)
	require.Len(t, order, 6)
	assert.Equal(t, feedPath, order[0], "the sitemap leads to it")
	assert.Equal(t, []string{mapPath, "/robots.txt"}, order[4:])
	for _, path := range order[:5] {
		assert.True(t, p.Reserved(path), path)
	}
	assert.False(t, p.Reserved("/eli/act/1"))
	_, err := p.Document(t.Context(), "/eli/act/1")
	assert.ErrorIs(t, err, websync.ErrNotFound)
	p = newPublisher(s)
	p.Gzip, p.NoRobots, p.PartSize = true, true, 10
	order = paths(t, p)
	require.Len(t, order, 5)
	assert.True(t, strings.HasSuffix(order[1], ".xml.gz"))
	requireFlawless(t, p)
}

// Without a PartSize, an index comes with act 50,001, as the protocol demands.
func TestPublisherPartSize(t *testing.T) {
	racing.Skip(t)
	log := new(websync.Log)
	for i := range sitemap.MaxEntries {
		log.Append(websync.Item{Source: ownSource, Resource: act(t, fmt.Sprint(i), "2025-01-01")})
	}
	p := newPublisher(log)
	all, documents := readSitemap(t, p, mapPath)
	assert.Len(t, all, sitemap.MaxEntries)
	assert.Equal(t, 1, documents)
	log.Append(websync.Item{Source: ownSource, Resource: act(t, "more", "")})
	all, documents = readSitemap(t, p, mapPath)
	assert.Len(t, all, sitemap.MaxEntries+1)
	assert.Equal(t, 3, documents)
}

// TestPublisherETags: the ETag of the feed changes with the log and with the settings.
func TestPublisherETags(t *testing.T) {
	s := testkit.NewStore(t)
	s.Put(ownSource, act(t, "1", ""))
	catalog := &testkit.Catalog{Catalog: s}
	tag := func(change func(*eli.Publisher)) string {
		p := newPublisher(catalog)
		change(p)
		doc, err := p.Document(t.Context(), feedPath)
		require.NoError(t, err)
		return doc.ETag
	}
	same := func(*eli.Publisher) {}
	tags := []string{tag(same)}
	assert.Equal(t, tags[0], tag(same))
	assert.Zero(t, catalog.Count("Changes"), "nothing is read for an ETag")
	for _, change := range []func(*eli.Publisher){
		func(p *eli.Publisher) { p.Title = "T" },
		func(p *eli.Publisher) { p.ID = "urn:xy:a" },
		func(p *eli.Publisher) { p.Author.Email = "a@country.example" },
		func(p *eli.Publisher) { p.History = 61 * 24 * time.Hour },
		func(p *eli.Publisher) { p.Pattern = regexp.MustCompile("act") },
		func(p *eli.Publisher) { p.Sources = append(p.Sources, "more") },
		func(p *eli.Publisher) {
			p.Locator = websync.PathLocator{Base: country, Own: p.Sources, Reserved: p.Reserved}
		},
	} {
		tags = append(tags, tag(change))
	}
	s.Put(ownSource, act(t, "1", ""))
	tags = append(tags, tag(same))
	slices.Sort(tags)
	assert.Len(t, slices.Compact(tags), 9)

	p := newPublisher(catalog)
	doc, first := render(t, p, feedPath)
	s.Put(ownSource, act(t, "2", ""))
	var again bytes.Buffer
	require.NoError(t, doc.Write(t.Context(), &again))
	assert.Equal(t, string(first), again.String(), "a document is of the state that its ETag names")
	assert.Equal(t, []websync.Link{{Rel: "self", Href: p.FeedURL(), Type: "application/atom+xml"}}, doc.Links)
}

// TestPublisherErrors: an error of the Catalog ends a document, and is never an empty
// list.
func TestPublisherErrors(t *testing.T) {
	broken := errors.New("broken")
	s := testkit.NewStore(t)
	s.Put(ownSource, act(t, "1", "2025-01-01"))
	s.Put(ownSource, act(t, "1", "2025-01-02"))
	for _, path := range []string{feedPath, mapPath} {
		for failing, fails := 0, true; fails; failing++ {
			catalog := &testkit.Catalog{Catalog: s}
			p := newPublisher(catalog)
			doc, err := p.Document(t.Context(), path)
			require.NoError(t, err)
			calls := 0
			catalog.Before = func(string, int) error {
				if calls++; calls-1 == failing {
					return broken
				}
				return nil
			}
			err = doc.Write(t.Context(), new(bytes.Buffer))
			if fails = calls > failing; fails {
				require.ErrorIs(t, err, broken)
			} else {
				require.NoError(t, err)
				assert.Greater(t, calls, 3, path)
			}
		}
	}
}

// A compaction while the sitemap is written: the times are those of commits rather than
// of unrelated entries, and the document is not of the state that its ETag names.
func TestPublisherCompactedMeanwhile(t *testing.T) {
	s := testkit.NewStore(t)
	for i := range 5 {
		s.Put(ownSource, act(t, fmt.Sprint(i), "2025-01-01"))
	}
	for i := range 5 {
		s.Put(ownSource, act(t, fmt.Sprint(4-i), "2025-01-02"))
	}
	catalog := &testkit.Catalog{Catalog: s}
	p := newPublisher(catalog)
	doc, err := p.Document(t.Context(), mapPath)
	require.NoError(t, err)
	catalog.Before = func(method string, n int) error {
		if method == "Resources" && n == 5 {
			_, err := s.Compact(t.Context())
			return err
		}
		return nil
	}
	require.ErrorIs(t, doc.Write(t.Context(), new(bytes.Buffer)), websync.ErrConflict)
	catalog.Before = nil
	all, _ := readSitemap(t, p, mapPath)
	assert.Equal(t, websync.NewDatetime(s.Clock).String(), all["0"])
	assert.Len(t, all, 5)
}

// TestPublisherServed: the documents and the pages over HTTP and as files.
func TestPublisherServed(t *testing.T) {
	s := testkit.NewStore(t)
	s.Fill(ownSource, []string{"<html>"}, websync.Item{Resource: act(t, "1", "2025-01-01"), Bodies: []websync.Body{
		{Name: "content", Link: websync.Link{Type: "text/html"}, Key: websync.SHA256([]byte("<html>"))},
	}})
	p := newPublisher(s)
	locator := websync.PathLocator{Base: country, Own: []string{ownSource}, Reserved: p.Reserved}
	p.Locator = locator
	bodies := publish.Bodies(s, locator)
	dir := t.TempDir()
	_, err := publish.WriteDir(t.Context(), dir, p, bodies)
	require.NoError(t, err)
	h := &publish.Handler{Publishers: []websync.Publisher{p, bodies}}
	t.Cleanup(func() { h.Close() })
	require.NoError(t, h.Check())
	requireServed(t, h, dir, feedPath, "application/atom+xml; charset=utf-8", acts+"1")
	requireServed(t, h, dir, mapPath, "application/xml", acts+"1")
	requireServed(t, h, dir, "/eli/act/1", "text/html", "<html>")
	requireServed(t, h, dir, "/robots.txt", "text/plain; charset=utf-8", "Sitemap: "+country+"eli/sitemap.xml\n")
}
