package atompmh_test

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atompmh"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/testing/naive"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// The tests in this file were written from the text of the specification, without the
// sources of the package. They have their own producer, their own consumer and their own
// validator; see package naive.

// foreign is how another producer writes the entries of its feed.
var foreign = naive.Profile{
	Source: func(url string) harvest.Source {
		return &atompmh.Source{URL: url, Name: testkit.Src, AllFormats: true}
	},
	Docs: []string{"xml", "rdf"},
	Entry: func(d *naive.Depot, name string, v int) string {
		return fmt.Sprintf(`<entry><title>T</title><id>urn:record:%s</id><updated>%s</updated>
<link rel="alternate" type="application/xml" href="%s/doc/%s.xml"/><link type="application/rdf+xml" href="%s/doc/%s.rdf"/></entry>`,
			name, naive.At(v), d.URL, name, d.URL, name)
	},
	Deletion: func(_ *naive.Depot, name string, v int) string {
		return fmt.Sprintf(`<entry><title>T</title><id>urn:record:%s</id><updated>%s</updated><content/></entry>`, name, naive.At(v))
	},
	Deletes: func(e *naive.Entry) bool {
		return len(alternatesOf(e)) == 0 && len(e.Content) == 1 && e.Content[0].Src == "" && strings.TrimSpace(e.Content[0].Inner) == ""
	},
}

// alternatesOf returns the alternate links of an entry.
func alternatesOf(e *naive.Entry) []naive.Link {
	return slices.DeleteFunc(slices.Clone(e.Links), func(l naive.Link) bool { return l.Rel != "alternate" })
}

// foreignSeeds is how many random histories the tests of this file run; with 100 or more
// they run all faults, too.
var foreignSeeds = flag.Int("foreign", racing.Some(10), "random histories of foreign producers")

func TestForeignFaults(t *testing.T) {
	every := 7
	if *foreignSeeds >= 100 {
		every = 1
	}
	naive.RunFaults(t, foreign, every)
}

func TestForeignScenarios(t *testing.T) { naive.RunScenarios(t, foreign) }

func TestForeignHistories(t *testing.T) { naive.RunHistories(t, foreign, *foreignSeeds) }

// TestForeignDeletionMeanwhile: a record is deleted or modified after its entry was read:
// its links lead to nothing, and the next run knows why (Resolvability of URIs).
func TestForeignDeletionMeanwhile(t *testing.T) {
	for name, test := range map[string]struct{ now func(d *naive.Depot) string }{
		"deleted":  {func(d *naive.Depot) string { return d.Del("a", 20) }},
		"modified": {func(d *naive.Depot) string { return strings.ReplaceAll(d.Past("a", 20), "/doc/a", "/doc/b") }},
	} {
		t.Run(name, func(t *testing.T) {
			d := naive.NewDepot(t, foreign)
			d.Feed("/index.atom", 10, "", d.Now("a", 1), d.Now("b", 2), d.Now("c", 3))
			d.Hook(func(path string) {
				if strings.HasPrefix(path, "/doc/a") {
					d.Feed("/index.atom", 20, "", d.Past("b", 2), d.Past("c", 3), test.now(d))
					d.Remove("/doc/a.xml")
					d.Remove("/doc/a.rdf")
				}
			})
			d.Doubt("meanwhile")
			d.Hook(nil)
			d.Sound("the next run")
		})
	}
}

// TestForeignEntries: a feed has an entry that is odd or wrong in the place of a good
// one, and another good one. Want are the bodies that the Store holds afterwards, and
// whether the run is in doubt; rule is a finding.
func TestForeignEntries(t *testing.T) {
	const (
		deleted = ""
		old     = "/doc/a.rdf /doc/a.xml"
		inDoubt = "in doubt: "
		a       = "urn:record:a"
		updated = "<updated>2021-02-01T00:00:00Z</updated>"
		link    = `<link rel="alternate" type="application/xml" href="/f/a"/>`
	)
	entry := func(id string, rest ...string) string {
		return "<entry><title>T</title><id>" + id + "</id>" + strings.Join(rest, "") + "</entry>"
	}
	is := func(rest ...string) string { return entry(a, append(rest, updated)...) }
	for name, test := range map[string]struct{ items, want, rule string }{
		"an active entry": {is(link), "/f/a", ""},
		"two of one time": {is(link) + is(strings.Replace(link, "/f/a", "/f/b", 1)), "/f/a", ""},
		"no rel":          {is(`<link type="application/xml" href="/f/a"/>`), "/f/a", ""},
		"rel as an IRI":   {is(`<link rel="http://www.iana.org/assignments/relation/alternate" href="/f/a"/>`), "/f/a", ""},
		"no type":         {is(`<link href="/f/a"/>`), "/f/a", ""},
		"two of one type": {is(link, `<link type="application/xml" href="/f/b"/>`), "/f/a /f/b", ""},
		"another hash":    {is(strings.Replace(link, "href", `hash="md5:`+strings.Repeat("0", 32)+`" href`, 1)), inDoubt + old, ""},
		"another length":  {is(strings.Replace(link, "href", `length="99" href`, 1)), inDoubt + old, ""},
		"xml:base":        {strings.Replace(is(`<link href="a"/>`), "<entry", `<entry xml:base="/f/"`, 1), "/f/a", ""},
		"not resolvable":  {is(link, `<link type="x/y" href="/f/nothing"/>`), inDoubt + old, ""},
		"a mail address":  {is(`<link href="mailto:a@example.org"/>`), inDoubt + old, ""},
		"a private host":  {is(`<link href="http://10.1.2.3/"/>`), inDoubt + old, ""},
		"an empty href":   {is(link, `<link type="x/y" href=""/>`), inDoubt + old, "atom-link-itself"},
		"no href":         {is(link, `<link type="x/y"/>`), inDoubt + old, "atom-link-href"},
		"with content":    {is(link, "<content>x</content>"), "/f/a", "atompmh-content"},
		"no updated":      {entry(a, link), "/f/a", ""},

		"a deletion entry":    {is("<content/>"), deleted, ""},
		"with an end tag":     {is("<content></content>"), deleted, ""},
		"with a comment":      {is("<content><!-- gone --></content>"), deleted, ""},
		"with a type":         {is(`<content type="application/xml"/>`), deleted, ""},
		"with a summary":      {is("<content/><summary>S</summary>"), deleted, ""},
		"with another link":   {is(`<content/><link rel="self" href="/x"/>`), deleted, ""},
		"with white space":    {is("<content> \n</content>"), deleted, "atompmh-deletion-content"},
		"a tombstone":         {`<at:deleted-entry ref="` + a + `" when="2021-03-01T00:00:00Z"/>` + is(link), deleted, "atompmh-tombstone"},
		"one without when":    {`<at:deleted-entry ref="` + a + `"/>` + is(link), inDoubt + "/f/a", "atom-tombstone-when"},
		"before the entry":    {is("<content/>") + is(link), deleted, ""},
		"after it, same time": {is(link) + is("<content/>"), deleted, ""},
		"an older one":        {entry(a, "<updated>2021-01-01T00:00:00Z</updated><content/>") + is(link), "/f/a", ""},

		"with text":                 {is("<content>gone</content>"), inDoubt + old, "atom-profile"},
		"with XHTML":                {is(`<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"/></content>`), inDoubt + old, "atom-profile"},
		"with src":                  {is(`<content type="x/y" src="/f/a"/>`), inDoubt + old, "atom-profile"},
		"with an empty src":         {is(`<content src=""/>`), inDoubt + old, "atom-profile"},
		"with an alternate":         {is("<content/>", link), inDoubt + old, "atom-profile"},
		"with a damaged one":        {is(`<content/><link rel="alternate"/>`), inDoubt + old, "atom-profile"},
		"with it in capitals":       {is(`<content/><link rel="ALTERNATE" href="/f/a"/>`), inDoubt + old, "atom-profile"},
		"with it as an IRI":         {is(`<content/><link rel="http://www.iana.org/assignments/relation/alternate" href="/f/a"/>`), inDoubt + old, "atom-profile"},
		"twice":                     {is("<content/><content/>"), inDoubt + old, "atom-profile"},
		"in no namespace":           {is(`<content xmlns=""/>`), inDoubt + old, "atom-profile"},
		"without time":              {entry(a, "<content/>"), inDoubt + old, "atom-profile"},
		"at no time":                {entry(a, "<updated>soon</updated><content/>"), inDoubt + old, "atom-profile"},
		"neither":                   {is(), inDoubt + old, "atom-profile"},
		"a deletion in an entry":    {entry(a, entry(a, "<updated>2021-03-01T00:00:00Z</updated><content>x</content>"), link, updated), inDoubt + old, "atom-nesting"},
		"no id":                     {entry("", link, updated), inDoubt + old, "atom-id"},
		"a long id":                 {entry("urn:x:"+strings.Repeat("x", 5000), link, updated), inDoubt + old, "atom-element-size"},
		"a deletion of nine MB":     {is("<content/><rights>" + strings.Repeat("x", 9<<20) + "</rights>"), inDoubt + old, "atom-element-size"},
		"a deletion of great depth": {is("<content/>" + strings.Repeat("<x>", 500) + strings.Repeat("</x>", 500)), inDoubt + old, "atom-element-size"},
	} {
		t.Run(name, func(t *testing.T) {
			d := naive.NewDepot(t, foreign)
			d.Feed("/index.atom", 1, "", d.Now("a", 1), d.Now("b", 1))
			d.Sound("good")
			d.Rules()
			d.Put("/f/a", "a")
			d.Put("/f/b", "b")
			d.Put("/index.atom", strings.Replace(d.Doc("/index.atom", 2_000_000, "", d.Now("b", 2)), "<entry>", test.items+"<entry>", 1))
			report, err := d.Harvest()
			require.NoError(t, err)
			want, doubt := strings.CutPrefix(test.want, inDoubt)
			assert.Equal(t, !doubt, report.InStep())
			assert.Equal(t, want, strings.Join(d.Bodies(a), " "))
			assert.Contains(t, d.Held()["urn:record:b"], naive.At(2), "the other entry")
			if test.rule != "" {
				assert.Contains(t, d.Rules(), test.rule)
			}
		})
	}
}

// TestForeignRules: of a valid feed, one thing after the other is made wrong, and each is
// found in the right document, as what "Protocol details" says of it: an error for what
// shall be, a warning for what should be.
func TestForeignRules(t *testing.T) {
	doc := func(path, updated, rest string) string {
		return `<feed xmlns="http://www.w3.org/2005/Atom" xmlns:at="http://purl.org/atompub/tombstones/1.0" xmlns:fh="http://purl.org/syndication/history/1.0">
<id>urn:uuid:3ce05531-b9c0-4a7d-8966-4d9a9a3a0695</id><title>F</title><author><name>A</name></author><updated>` + updated + `</updated>
<link rel="current" href="http://a.example/feed"/><link rel="self" href="http://a.example` + path + `"/>` + rest + "</feed>"
	}
	const id = "<id>urn:uuid:177d5415-c443-410f-a5b6-44bf843359"
	entry := func(n, at, rest string) string {
		return "<entry><title>T</title>" + id + n + "</id><updated>2012-" + at + "T00:00:00Z</updated>" + rest + "</entry>\n"
	}
	active := func(n, at string) string {
		return entry(n, at, `<link rel="alternate" type="application/xml" href="http://a.example/r/`+n+`"/>`)
	}
	chain := map[string]string{
		"/feed": doc("/feed", "2012-11-02T00:00:00Z", naive.Prev("/2")+active("4a", "11-01")+entry("4b", "11-01", "<content/>")),
		"/2":    doc("/2", "2012-10-31T00:00:00Z", naive.Archive+naive.Prev("/1")+active("4c", "10-30")+active("4b", "10-30")),
		"/1":    doc("/1", "2012-09-30T00:00:00Z", naive.Archive+active("4d", "09-01")+active("4a", "09-02")),
	}
	complete := map[string]string{"/feed": doc("/feed", "2012-11-02T00:00:00Z", naive.Complete+active("4a", "11-01")+active("4c", "10-30")+active("4a", "09-02"))}
	validate := func(docs map[string]string) (findings []string) {
		c := atompmh.NewChainValidator()
		c.Report = func(f websync.Finding) {
			if f.Severity > websync.SeverityInfo {
				findings = append(findings, fmt.Sprintf("%s %s %v", strings.TrimPrefix(f.Document, "http://a.example"), f.Rule, f.Severity))
			}
		}
		c.Walk("http://a.example/feed", func(url string) (io.ReadCloser, error) {
			if text := docs[strings.TrimPrefix(url, "http://a.example")]; text != "" {
				return io.NopCloser(strings.NewReader(text)), nil
			}
			return nil, errors.New("404")
		})
		return findings
	}
	require.Empty(t, validate(chain))
	require.Empty(t, validate(complete))
	for name, test := range map[string]struct {
		docs                 map[string]string
		path, old, new, want string
	}{
		"RFC 4287: no feed id":                               {chain, "/feed", "<id>urn:uuid:3ce05531-b9c0-4a7d-8966-4d9a9a3a0695</id>", "", "atom-feed-child error"},
		"RFC 4287: no title":                                 {chain, "/feed", "<title>F</title>", "", "atom-feed-child error"},
		"RFC 4287: no author":                                {chain, "/feed", "<author><name>A</name></author>", "", "atom-feed-author error"},
		"RFC 4287: an entry without id":                      {chain, "/feed", id + "4a</id>", "", "atom-entry-child error"},
		"RFC 4287: an entry without title":                   {chain, "/feed", "<title>T</title>", "", "atom-entry-child error"},
		"RFC 4287: an entry without updated":                 {chain, "/feed", "<updated>2012-11-01T00:00:00Z</updated>", "", "atom-entry-child error"},
		"RFC 5005: a loop":                                   {chain, "/1", naive.Archive, naive.Archive + naive.Prev("/2"), "atom-chain-loop error"},
		"RFC 5005: the subscription document":                {chain, "/feed", "<title>F", naive.Archive + "<title>F", "atom-archive-self error"},
		"Timestamps: older than an entry":                    {chain, "/feed", "2012-11-02", "2012-10-31", "atompmh-updated error"},
		"Timestamps: the archive is missing":                 {chain, "/1", "", "", "atom-chain-missing error"},
		"Timestamps: it is no feed":                          {chain, "/1", "", "<html/>", "atom-chain-missing error"},
		"Timestamps: later than what links to it":            {chain, "/2", "<updated>2012-10-31", "<updated>2012-11-02", "atompmh-archive-updated error"},
		"Timestamps: later than the document after the next": {chain, "/1", "<updated>2012-09-30", "<updated>2012-10-31", "atompmh-archive-updated error"},
		"Active entries: two":                                {chain, "/2", "</feed>", active("4a", "11-01") + "</feed>", "atompmh-active-twice error"},
		"Active entries: two in a document":                  {complete, "/feed", "</feed>", active("4a", "11-01") + "</feed>", "atompmh-active-twice error"},
		"Active entries: content":                            {chain, "/feed", "</entry>", "<content>x</content></entry>", "atompmh-content error"},
		"Active entries: no type":                            {chain, "/feed", ` type="application/xml"`, "", "atompmh-alternate-type error"},
		"Active entries: no alternate":                       {chain, "/feed", "alternate", "related", "atompmh-entry-type error"},
		"Active entries: it leads to the feed":               {chain, "/feed", "http://a.example/r/4a", "", "atom-link-itself warning"},
		"Active entries: it leads nowhere":                   {chain, "/feed", ` href="http://a.example/r/4a"`, "", "atom-link-href error"},
		"Historical entries: content":                        {chain, "/1", "4a\"/>", "4a\"/><content>x</content>", "atompmh-content error"},
		"Historical entries: no alternate":                   {chain, "/1", "alternate", "related", "atompmh-entry-type error"},
		"Deletion entries: content":                          {chain, "/feed", "<content/>", "<content>x</content>", "atompmh-entry-type error"},
		"Deletion entries: white space":                      {chain, "/feed", "<content/>", "<content> </content>", "atompmh-deletion-content error"},
		"Deletion entries: src":                              {chain, "/feed", "<content/>", `<content type="x/y" src="http://a.example/x"/>`, "atompmh-entry-type error"},
		"Deletion entries: an alternate":                     {chain, "/feed", "<content/>", `<content/><link type="x/y" href="http://a.example/x"/>`, "atompmh-entry-type error"},
		"Deletion entries: no content":                       {chain, "/feed", "<content/>", "", "atompmh-entry-type error"},
		"Deletion entries: two":                              {chain, "/feed", "</feed>", entry("4b", "11-01", "<content/>") + "</feed>", "atompmh-deletion-twice error"},
		"Deletion entries: the time of another":              {chain, "/feed", "</feed>", active("4b", "11-01") + "</feed>", "atompmh-same-time warning"},
		"Deletion entries: a tombstone":                      {chain, "/feed", "<entry>", `<at:deleted-entry ref="urn:uuid:177d5415-c443-410f-a5b6-44bf8433594f" when="2012-11-01T00:00:00Z"/><entry>`, "atompmh-tombstone warning"},
		"Deletion entries: in a complete feed":               {complete, "/feed", "</feed>", entry("4b", "11-01", "<content/>") + "</feed>", "atompmh-complete-deletion warning"},
		"Complete feeds: one that lacks entries":             {chain, "/2", naive.Archive, naive.Archive + naive.Complete, "atompmh-complete error"},
		"Complete feeds: with what is deleted":               {chain, "/1", naive.Archive, naive.Archive + naive.Complete, "atompmh-complete error"},
		"Complete feeds: pages":                              {complete, "/feed", naive.Complete, naive.Complete + `<link rel="next" href="/2"/>`, "atom-complete-paged warning"},
	} {
		t.Run(name, func(t *testing.T) {
			docs := map[string]string{}
			for path, text := range test.docs {
				docs[path] = text
			}
			require.Contains(t, docs[test.path], test.old)
			if test.old == "" {
				docs[test.path] = test.new
			} else {
				docs[test.path] = strings.Replace(docs[test.path], test.old, test.new, 1)
			}
			assert.Contains(t, validate(docs), test.path+" "+test.want)
		})
	}
}

// A consumed is what a consumer holds of a record.
type consumed struct {
	at    time.Time
	texts string
	live  bool
}

// consume brings a consumer in step with a feed: it reads to the first document that is
// older than its last harvest.
func consume(t *testing.T, at string, held map[string]consumed) {
	var last time.Time
	for _, c := range held {
		if c.at.After(last) {
			last = c.at
		}
	}
	var feeds []*naive.Feed
	for at != "" {
		data, err := naive.Get(at)
		require.NoError(t, err)
		f, err := naive.Read(at, data)
		require.NoError(t, err)
		feeds = append(feeds, f)
		if f.Complete != nil {
			for id := range held {
				if !slices.ContainsFunc(f.Entries, func(e naive.Entry) bool { return e.ID[0] == id }) {
					delete(held, id)
				}
			}
		}
		if timeOf(t, f.Updated).Before(last) {
			break
		}
		at = f.Link("prev-archive")
	}
	for id, s := range naive.Latest(feeds) {
		if !s.Time.After(held[id].at) {
			continue
		}
		now := consumed{at: s.Time, live: !foreign.Deletes(s.Entry)}
		var texts []string
		for _, l := range alternatesOf(s.Entry) {
			data, err := naive.Get(l.Href)
			require.NoError(t, err)
			texts = append(texts, string(data))
		}
		slices.Sort(texts)
		now.texts = strings.Join(texts, "; ")
		held[id] = now
	}
}

func timeOf(t *testing.T, s string) time.Time {
	d, err := time.Parse(time.RFC3339Nano, s)
	require.NoError(t, err)
	return d
}

// TestForeignConsumer: a consumer that keeps to the text of the specification stays in
// step with a Publisher, and each document has what "Protocol details" demands.
func TestForeignConsumer(t *testing.T) {
	for seed := range *foreignSeeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			collection := naive.NewCollection(t, seed)
			p := &atom.Publisher{Profile: atompmh.Profile(), Place: websync.Place{Catalog: collection.Store, Base: collection.URL}, Author: websync.Person{Name: "A"},
				ArchiveSize: 1 + seed%5, LatestOnly: seed%3 == 0, Complete: seed%7 == 6}
			p.Locator = websync.PathLocator{Base: collection.URL, Reserved: p.Reserved}
			collection.Serve(p, p.Locator)
			held := map[string]consumed{}
			for range 6 {
				collection.Change()
				consume(t, p.URL(), held)
				got := map[string]string{}
				for id, c := range held {
					if c.live {
						got[id] = c.texts
					}
				}
				require.Equal(t, collection.Truth(), got)
				feeds, err := naive.Walk(p.URL(), naive.Get)
				require.NoError(t, err)
				conforms(t, p.URL(), feeds)
			}
		})
	}
}

// conforms checks the documents of a feed, the newest first.
func conforms(t *testing.T, subscription string, feeds []*naive.Feed) {
	var oldest time.Time // of the entries of newer documents
	seen := map[string]bool{}
	for i, f := range feeds {
		updated := timeOf(t, f.Updated)
		assert.Equal(t, feeds[0].ID, f.ID)
		assert.NotEmpty(t, f.ID)
		assert.NotNil(t, f.Title)
		assert.Len(t, f.Authors, 1)
		assert.Equal(t, f.URL, f.Link("self"))
		assert.Equal(t, subscription, f.Link("current"))
		assert.Equal(t, i > 0, f.Archive != nil)
		assert.False(t, f.Complete != nil && len(feeds) > 1)
		assert.Empty(t, f.Deleted)
		assert.True(t, oldest.IsZero() || !updated.After(oldest), "Timestamps: of the referee")
		for _, e := range f.Entries {
			for _, one := range [][]string{e.ID, e.Title, e.Updated} {
				require.Len(t, one, 1)
			}
			at := timeOf(t, e.Updated[0])
			assert.False(t, at.After(updated), "Timestamps")
			if oldest.IsZero() || at.Before(oldest) {
				oldest = at
			}
			state := e.ID[0] + e.Updated[0]
			assert.False(t, seen[state], "Active entries: exactly one")
			seen[state] = true
			if foreign.Deletes(&e) {
				assert.Nil(t, f.Complete, "Deletion entries")
				continue
			}
			links := alternatesOf(&e)
			assert.Empty(t, e.Content, "Active entries")
			assert.NotEmpty(t, links, "Active entries")
			types := map[string]bool{}
			for _, l := range links {
				assert.Contains(t, l.Type, "/", "Active entries")
				assert.False(t, types[l.Type+l.Lang], "RFC 4287 §4.1.2")
				types[l.Type+l.Lang] = true
			}
		}
	}
}
