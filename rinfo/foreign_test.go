package rinfo_test

import (
	"crypto/md5"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/internal/testing/naive"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/rinfo"
)

// The tests in this file were written from the text of the specification, without the
// sources of the package. They have their own publisher, their own reader and their own
// validator; see package naive.

const official = "http://rinfo.example/publ/"

// foreign is how another publisher writes the items of its feed.
var foreign = naive.Profile{
	Source:  func(url string) harvest.Source { return &rinfo.Source{URL: url, Name: testkit.Src} },
	Docs:    []string{"pdf", "rdf"},
	Digests: true,
	Entry: func(d *naive.Depot, name string, v int) string {
		pdf, rdf := naive.Text(name, "pdf", v), naive.Text(name, "rdf", v)
		return fmt.Sprintf(`<entry><id>%s%s</id><updated>%s</updated><published>%s</published><title>T</title><summary/>
<content type="application/pdf" src="%s/doc/%s.pdf" hash="%s"/>
<link rel="alternate" type="application/rdf+xml" length="%d" hash="%s" href="%s/doc/%s.rdf"/></entry>`,
			official, name, naive.At(v), naive.At(0), d.URL, name, md5Of(pdf), len(rdf), md5Of(rdf), d.URL, name)
	},
	Deletion: func(_ *naive.Depot, name string, v int) string {
		return fmt.Sprintf(`<at:deleted-entry ref="%s%s" when="%s"/>`, official, name, naive.At(v))
	},
}

func md5Of(s string) string { return fmt.Sprintf("md5:%x", md5.Sum([]byte(s))) }

// foreignSeeds is how many random histories the tests of this file run; with 100 or more
// they run all faults, too.
var foreignSeeds = flag.Int("foreign", racing.Some(10), "random histories of foreign publishers")

func TestForeignFaults(t *testing.T) {
	every := 7
	if *foreignSeeds >= 100 {
		every = 1
	}
	naive.RunFaults(t, foreign, every)
}

func TestForeignScenarios(t *testing.T) { naive.RunScenarios(t, foreign) }

func TestForeignHistories(t *testing.T) { naive.RunHistories(t, foreign, *foreignSeeds) }

// TestForeignOrder: the walk does not end at a document that is older than the last run
// but has no entry of it (§8.3).
func TestForeignOrder(t *testing.T) {
	d := naive.NewDepot(t, foreign)
	d.Feed("/a0.atom", 40, naive.Archive, d.Now("a", 10), d.Now("b", 40))
	d.Feed("/index.atom", 41, naive.Prev("/a0.atom"), d.Now("c", 41))
	d.Sound("first")
	d.Feed("/a1.atom", 50, naive.Archive+naive.Prev("/a0.atom"), d.Now("d", 45), d.Past("c", 41), d.Now("e", 50))
	d.Feed("/a2.atom", 55, naive.Archive+naive.Prev("/a1.atom"), d.Now("late", 15))
	d.Feed("/index.atom", 61, naive.Prev("/a2.atom"), d.Now("f", 60))
	d.Sound("second")
}

// TestForeignWalk: in a feed whose times are in order, a run reads what is new, and one
// document that it knows.
func TestForeignWalk(t *testing.T) {
	d := naive.NewDepot(t, foreign)
	d.Chain(8)
	d.Sound("first")
	d.Chain(10)
	var mu sync.Mutex
	var lists []string
	d.Hook(func(path string) {
		mu.Lock()
		defer mu.Unlock()
		if strings.HasSuffix(path, ".atom") {
			lists = append(lists, path)
		}
	})
	d.Harvest()
	// without Last-Modified two are asked for again: they may have changed meanwhile
	assert.Equal(t, []string{"/index.atom", "/a9.atom", "/a8.atom", "/a7.atom", "/a9.atom", "/a8.atom"}, lists)
	lists = nil
	d.Harvest()
	assert.Equal(t, []string{"/index.atom"}, lists)
	d.Hook(nil)
	d.Sound("grown")
}

// TestForeignCompleteArchive: a complete feed can't have an archive (§6), so it is in
// doubt whether what neither lists is deleted: it is not.
func TestForeignCompleteArchive(t *testing.T) {
	d := naive.NewDepot(t, foreign)
	d.Feed("/index.atom", 10, naive.Complete, d.Now("a", 1), d.Now("b", 2), d.Now("c", 3))
	d.Sound("complete")
	want := d.Truth()
	d.Rules()
	d.Feed("/a0.atom", 10, naive.Archive)
	d.Feed("/index.atom", 20, naive.Complete+naive.Prev("/a0.atom"), d.Past("b", 2))
	d.InStep("and an archive", want)
	assert.Contains(t, d.Rules(), "rinfo-complete")
}

// TestForeignEntries: a feed has an entry that is odd or wrong in the place of a good
// one, and another good one. Want are the bodies that the Store holds afterwards, and
// whether the run is in doubt; rule is a finding.
func TestForeignEntries(t *testing.T) {
	const (
		deleted   = ""
		a         = official + "a"
		times     = "<updated>2021-02-01T00:00:00Z</updated><published>2021-02-01T00:00:00Z</published>"
		pdf       = `<content type="application/pdf" src="/f/a.pdf"/>`
		rdf       = `<link rel="alternate" type="application/rdf+xml" href="/f/a.rdf"/>`
		both, old = "/f/a.pdf /f/a.rdf", "/doc/a.pdf /doc/a.rdf"
		inDoubt   = "in doubt: "
	)
	entry := func(id string, rest ...string) string {
		return "<entry><id>" + id + "</id><title>T</title><summary/>" + strings.Join(rest, "") + "</entry>"
	}
	is := func(rest ...string) string { return entry(a, append(rest, pdf, rdf)...) }
	content := func(attrs string) string { return entry(a, times, "<content type='application/pdf' "+attrs+"/>", rdf) }
	alternate := func(attrs string) string {
		return entry(a, times, pdf, "<link rel='alternate' type='application/rdf+xml' href='/f/a.rdf' "+attrs+"/>")
	}
	enclosure := func(attrs string) string {
		return is(times, "<link rel='enclosure' type='application/pdf' "+attrs+"/>")
	}
	tombstone := func(attrs string) string { return "<at:deleted-entry " + attrs + "/>" + is(times) }
	const when = `when="2021-03-01T00:00:00Z"`
	right, wrong := md5Of("/f/a.rdf"), md5Of("x")
	for name, test := range map[string]struct{ items, want, rule string }{
		"good":                      {is(times), both, ""},
		"no published":              {is("<updated>2021-02-01T00:00:00Z</updated>"), both, "rinfo-published"},
		"updated before published":  {is("<updated>2021-02-01T00:00:00Z</updated><published>2022-01-01T00:00:00Z</published>"), both, "rinfo-updated"},
		"updated is no time":        {is("<updated>soon</updated>"), both, "atom-date"},
		"updated without a zone":    {is("<updated>2021-02-01T00:00:00</updated>"), both, "atom-date"},
		"updated is a date":         {is("<updated>2021-02-01</updated>"), both, "atom-date"},
		"updated in the year 0":     {is("<updated>0000-02-01T00:00:00Z</updated>"), both, "atom-date"},
		"updated in the year 9999":  {is("<updated>9999-12-31T23:59:59Z</updated>"), both, "atom-date-future"},
		"updated in the year 10000": {is("<updated>10000-01-01T00:00:00Z</updated>"), both, "atom-date"},
		"a leap second":             {is("<updated>2016-12-31T23:59:60Z</updated>"), old, ""},

		"no content":            {entry(a, times, rdf), "/f/a.rdf", "rinfo-content"},
		"no RDF":                {entry(a, times, pdf), "/f/a.pdf", "rinfo-rdf"},
		"inline content":        {entry(a, times, "<content>text</content>", rdf), " /f/a.rdf", "rinfo-inline"},
		"two contents":          {is(times, pdf), inDoubt + old, "atom-entry-child"},
		"src is empty":          {content("src=''"), inDoubt + old, "atom-link-itself"},
		"src of FTP":            {content("src='ftp://example.org/a'"), inDoubt + old, "rinfo-link"},
		"src is a file":         {content("src='file:///etc/passwd'"), inDoubt + old, "rinfo-link"},
		"src has the data":      {content("src='data:text/plain,x'"), inDoubt + old, "rinfo-link"},
		"src is a feed":         {entry(a, times, "<content type='Application/Atom+XML; Type=Feed' src='/f/a.pdf'/>"), inDoubt + old, "rinfo-index"},
		"src with backslashes":  {content("src='\\f\\a.pdf'"), inDoubt + old, ""},
		"src with white space":  {content("src=' /f/a.pdf '"), both, "atom-space"},
		"src below an xml:base": {strings.Replace(content("src='a.pdf'"), "<entry", "<entry xml:base='/f/'", 1), both, ""},
		"a private address":     {content("src='http://10.1.2.3/a'"), inDoubt + old, ""},
		"another IPv6 address":  {content("src='http://[fd00::1]/a'"), inDoubt + old, ""},
		"a link-local address":  {content("src='http://169.254.169.254/latest'"), inDoubt + old, ""},
		"another port":          {content("src='http://127.0.0.1:1/a'"), inDoubt + old, ""},
		"a redirect to one":     {content("src='/private'"), inDoubt + old, ""},

		"no href":               {is(times, "<link type='text/html'/>"), inDoubt + old, "atom-link-href"},
		"no href of another":    {is(times, "<link rel='related'/>"), both, "atom-link-href"},
		"href is empty":         {is(times, "<link type='text/html' href=''/>"), inDoubt + old, "atom-link-itself"},
		"href of mail":          {is(times, "<link type='text/html' href='mailto:a@example.org'/>"), both, "rinfo-link"},
		"rel as an IRI":         {is(times, "<link rel='http://www.iana.org/assignments/relation/enclosure' href='/f/b.pdf'/>"), both + " /f/b.pdf", "rinfo-digest"},
		"rel in capitals":       {is(times, "<link rel='ALTERNATE' href='/f/b.pdf'/>"), both + " /f/b.pdf", "rinfo-digest"},
		"no rel":                {is(times, "<link href='/f/b.pdf'/>"), both + " /f/b.pdf", "rinfo-digest"},
		"the content again":     {is(times, "<link href='/f/a.pdf'/>"), both, ""},
		"two of one type":       {is(times, strings.Replace(rdf, "a.rdf", "b.pdf", 1)), both + " /f/b.pdf", ""},
		"le:md5":                {alternate("le:md5='" + right[4:] + "'"), both, ""},
		"a wrong le:md5":        {alternate("le:md5='" + wrong[4:] + "'"), inDoubt + old, ""},
		"hash before le:md5":    {alternate("le:md5='" + wrong[4:] + "' hash='" + right + "'"), both, ""},
		"a wrong hash":          {alternate("le:md5='" + right[4:] + "' hash='" + wrong + "'"), inDoubt + old, ""},
		"the stronger hash":     {alternate("hash='" + right + " sha-256:" + strings.Repeat("0", 64) + "'"), inDoubt + old, ""},
		"a hash in capitals":    {alternate("hash='" + strings.ToUpper(right) + "'"), both, ""},
		"a hash cut short":      {alternate("hash='md5:1115651b5e8380aff8d'"), both, "atom-hash"}, // as in §3.3.7
		"a hash of no name":     {alternate("hash='" + right[4:] + "'"), both, "atom-hash"},
		"another length":        {alternate("length='1'"), inDoubt + old, ""},
		"a length of zero":      {alternate("length='0'"), inDoubt + old, ""},
		"a length below zero":   {alternate("length='-1'"), both, "atom-link-length"},
		"an enclosure":          {enclosure("href='/f/b.pdf' dct:isFormatOf='" + a + "#b'"), both + " /f/b.pdf", ""},
		"one of nothing":        {enclosure("href='/f/b.pdf' dct:isFormatOf='" + a + "/../x'"), both + " /f/b.pdf", "rinfo-attachment"},
		"one elsewhere":         {enclosure("href='/b.pdf'"), "/b.pdf " + both, "rinfo-attachment"},
		"one that is not there": {enclosure("href='/f/nothing'"), inDoubt + old, ""},

		"no id":                 {entry("", times, pdf, rdf), inDoubt + old, "atom-id"},
		"two ids":               {is("<id>"+official+"x</id>", times), inDoubt + both, "atom-entry-child"},
		"a relative id":         {entry("a", times, pdf, rdf), old, "rinfo-id"},
		"a long id":             {entry(official+strings.Repeat("x", 5000), times, pdf, rdf), inDoubt + old, "atom-element-size"},
		"a NUL in an id":        {entry(official+"&#0;", times, pdf, rdf), inDoubt + old, "atom-xml"},
		"a line in an id":       {entry(official+"x\n"+official+"y", times, pdf, rdf), inDoubt + old, "atom-id"},
		"an entry in an entry":  {is(times, entry(official+"x", times, pdf, rdf)), inDoubt + old, "atom-nesting"},
		"a title of a megabyte": {is(times, "<rights>"+strings.Repeat("x", 1<<20)+"</rights>"), both, ""},
		"one of nine":           {is(times, "<rights>"+strings.Repeat("x", 9<<20)+"</rights>"), inDoubt + old, "atom-element-size"},
		"deep elements":         {is(times, strings.Repeat("<x>", 500)+strings.Repeat("</x>", 500)), inDoubt + old, "atom-element-size"},

		"a tombstone":            {tombstone("ref='" + a + "' " + when), deleted, ""},
		"one after the entry":    {is(times) + "<at:deleted-entry ref='" + a + "' " + when + "/>", deleted, ""},
		"one of the same time":   {tombstone("ref='" + a + "' when='2021-02-01T00:00:00Z'"), deleted, ""},
		"an older one":           {tombstone("ref='" + a + "' when='2021-01-01T00:00:00Z'"), both, ""},
		"one as in §4.2":         {tombstone("ref='" + a + "' when='2021-03-08T15:55:34+0100'"), deleted, "atom-tombstone-when"},
		"one without when":       {tombstone("ref='" + a + "'"), inDoubt + both, "atom-tombstone-when"},
		"one with another when":  {tombstone("ref='" + a + "' when='soon'"), inDoubt + both, "atom-tombstone-when"},
		"one without ref":        {tombstone(when), inDoubt + both, "atom-tombstone-ref"},
		"one in an entry":        {is(times, "<at:deleted-entry ref='"+a+"' "+when+"/>"), inDoubt + both, "atom-nesting"},
		"gd:deleted of an entry": {is(times, "<gd:deleted xmlns:gd='http://schemas.google.com/g/2005'/>"), deleted, "atom-deleted-form"},
	} {
		t.Run(name, func(t *testing.T) {
			d := naive.NewDepot(t, foreign)
			d.Feed("/index.atom", 1, "", d.Now("a", 1), d.Now("b", 1))
			d.Sound("good")
			d.Rules()
			for _, path := range []string{"/f/a.pdf", "/f/a.rdf", "/f/b.pdf", "/b.pdf"} {
				d.Put(path, path)
			}
			d.Set("/private", naive.Page{Location: "http://10.1.2.3/a"})
			d.Put("/index.atom", strings.Replace(d.Doc("/index.atom", 2_000_000, "", d.Now("b", 2)), "<entry>", test.items+"<entry>", 1))
			report, err := d.Harvest()
			require.NoError(t, err)
			want, doubt := strings.CutPrefix(test.want, inDoubt)
			assert.Equal(t, !doubt, report.InStep())
			assert.Equal(t, want, strings.Join(d.Bodies(a), " "))
			assert.Contains(t, d.Held()[official+"b"], naive.At(2), "the other entry")
			if test.rule != "" {
				assert.Contains(t, d.Rules(), test.rule)
			}
		})
	}
}

// TestForeignAttachments: an enclosure gets a URL below the id, or none (§3.3.7).
func TestForeignAttachments(t *testing.T) {
	const (
		id  = "http://rinfo.example/publ/livsfs/2006:22"
		dir = "http://agency.example/upload/lag/"
	)
	check := func(t *testing.T, id, content, href, formatOf string) string {
		t.Helper()
		link := websync.Link{Rel: "enclosure", Href: href, Type: "application/pdf"}
		if formatOf != "" {
			link.Attrs = []websync.Attr{{Space: rinfo.DCTermsNamespace, Local: "isFormatOf", Value: formatOf}}
		}
		got, err := rinfo.AttachmentURL(&websync.Resource{ID: id, Content: websync.Link{Href: content}, Links: []websync.Link{link}}, link)
		base, bad := url.Parse(id)
		if err != nil || bad != nil || strings.ContainsAny(id, "?#") {
			return ""
		}
		u, err := url.Parse(got)
		require.NoError(t, err)
		rest, below := strings.CutPrefix(got, strings.TrimSuffix(id, "/")+"/")
		require.True(t, below, "%q is not below %q", got, id)
		require.Equal(t, base.Host, u.Host)
		require.True(t, strings.HasPrefix(path.Clean(u.Path), strings.TrimSuffix(path.Clean(base.Path), "/")+"/"), "%q leaves %q", got, id)
		for step := range strings.SplitSeq(rest, "/") {
			name, err := url.PathUnescape(step)
			require.NoError(t, err)
			require.False(t, name == "" || name[0] == '.' || strings.ContainsAny(name, "/\\\x00\n"), "%q has the step %q", got, name)
		}
		return rest
	}
	for formatOf, want := range map[string]string{
		id + "#bilaga_1": "bilaga_1.pdf", id + "/b": "b.pdf", id + "/b/c": "b/c.pdf", id + "/b#c": "b/c.pdf", " " + id + "#b ": "b.pdf",
		id: "", id + "#": "", id + "/": "", id + "?b": "", id + "#a?b": "", id + "#a#b": "", id + "x": "", id + "0#b": "",
		id + "#../b": "", id + "/../b": "", id + "/./b": "", id + "/..%2fb": "", id + "#%2e%2e": "", id + "/%2E%2E/b": "", id + "//b": "", id + "#..": "",
		id + "#.htaccess": "", id + "#a%2Fb": "", id + "#a%5Cb": "", id + "#a\\b": "", id + "#a b": "", id + "#%00": "", id + "#\x00": "", id + "#%": "",
		id + "#" + strings.Repeat("x", 300): "", "https" + id[4:] + "#b": "", "http://evil.example/x#b": "",
	} {
		assert.Equal(t, want, check(t, id, dir+"22.pdf", dir+"b.pdf", formatOf), formatOf)
	}
	for href, want := range map[string]string{
		dir + "b.pdf": "b.pdf", dir + "x/b.pdf": "x/b.pdf", dir + "22.pdf/b.pdf": "b.pdf", id + "/b.pdf": "b.pdf", dir + "a%20b.pdf": "a%20b.pdf",
		dir + "../b.pdf": "", dir + "../lag/b.pdf": "", dir + "..%2fb.pdf": "", dir + "x/./b.pdf": "", dir + "/b.pdf": "", dir: "", dir + "..": "", dir + "b.pdf/": "",
		dir + ".b.pdf": "", dir + "b.pdf?x": "", dir + "b.pdf#x": "", dir + "a b.pdf": "", dir + "a\\..\\b.pdf": "", dir + "%00.pdf": "", dir + "%41.pdf": "",
		id: "", id + "/": "", id + "/../b.pdf": "", id + "/%2e%2e/b.pdf": "", "http://agency.example/b.pdf": "", "http://other.example/upload/lag/b.pdf": "", "b.pdf": "", "": "",
	} {
		assert.Equal(t, want, check(t, id, dir+"22.pdf", href, ""), href)
	}
	r := rand.New(rand.NewPCG(1, 2))
	parts := strings.Fields("a b .. . / // %2e %2F %5c \\ # ? å : @ http:// lag rinfo.example publ 2006:22 %00 ; ~ % [ \xff")
	random := func(from ...string) string {
		s := from[r.IntN(len(from))]
		for range r.IntN(7) {
			s += parts[r.IntN(len(parts))]
		}
		return s
	}
	found := 0
	for range 20_000 {
		id := random(id)
		if check(t, id, random(dir+"22.pdf"), random(dir, id, ""), random(id, "", "")) != "" {
			found++
		}
	}
	assert.Greater(t, found, 500)
}

// TestForeignIndex: an index of feeds (§9) that lists itself, one feed twice, feeds that
// only look approved, documents, and nothing.
func TestForeignIndex(t *testing.T) {
	feed := func(id, src string) string {
		return "<entry><id>" + id + "</id><updated>2020-01-01T00:00:00Z</updated><title>T</title><content type='application/atom+xml;type=feed' src='" + src + "'/></entry>"
	}
	const site = "http://a.example/sub/"
	d := naive.NewDepot(t, foreign)
	client := fetch.New(nil)
	client.Rate, client.IgnoreRobots, client.AllowPrivate = -1, true, true
	for name, test := range map[string]struct {
		items             []string
		approved, refused string
		err               string
	}{
		"two feeds": {[]string{feed("urn:a", site+"1"), feed("urn:b", "http://b.example/1")}, "urn:a=" + site + "1", "http://b.example/1", ""},
		"not below the URL": {[]string{feed("urn:a", site+"../1"), feed("urn:b", site+"%2e%2e/1"), feed("urn:c", "http://a.example@evil.example/sub/1"), feed("urn:d", "http://a.example.evil.example/sub/"),
			feed("urn:e", site[:len(site)-1]), feed("urn:f", "https"+site[4:])}, "", site + "../1 " + site + "%2e%2e/1 http://a.example@evil.example/sub/1 http://a.example.evil.example/sub/ " + site[:len(site)-1] + " https" + site[4:], ""},
		"an address in other words": {[]string{feed("urn:a", "HTTP://A.EXAMPLE:80/sub/1")}, "urn:a=HTTP://A.EXAMPLE:80/sub/1", "", ""},
		"itself":                    {[]string{feed("urn:a", "/index.atom"), feed("urn:b", site+"1")}, "urn:b=" + site + "1", d.URL + "/index.atom", ""},
		"one feed twice":            {[]string{feed("urn:a", site+"1"), feed("urn:a", site+"2")}, "urn:a=" + site + "1", "", ""},
		"a deleted feed":            {[]string{"<at:deleted-entry ref='urn:a' when='2021-01-01T00:00:00Z'/>", feed("urn:a", site+"1"), feed("urn:b", site+"2")}, "urn:b=" + site + "2", "", ""},
		"another type":              {[]string{strings.Replace(feed("urn:a", site+"1"), "+xml;type=feed", "+XML ; Type=\"Feed\"", 1)}, "urn:a=" + site + "1", "", ""},
		"a feed and a document":     {[]string{d.Now("x", 1), feed("urn:a", site+"1")}, "urn:a=" + site + "1", "", ""},
		"a feed without an id":      {[]string{feed("", site+"1"), feed("urn:b", site+"2")}, "urn:b=" + site + "2", "", "1 entries can't be read"},
		"documents":                 {[]string{d.Now("x", 1)}, "", "", "lists no feeds"},
		"nothing":                   {nil, "", "", "lists no feeds"},
	} {
		d.Feed("/index.atom", 1, naive.Prev("/nowhere.atom"), test.items...)
		sources, others, err := rinfo.Sources(t.Context(), client, d.URL+"/index.atom", []string{site})
		var approved []string
		for _, s := range sources {
			approved = append(approved, s.Name+"="+s.URL)
		}
		assert.Equal(t, test.approved, strings.Join(approved, " "), name)
		assert.Equal(t, test.refused, strings.Join(others, " "), name)
		if test.err == "" {
			assert.NoError(t, err, name)
		} else {
			assert.ErrorContains(t, err, test.err, name)
		}
	}
}

// foreignChain is a valid feed of three documents.
func foreignChain() map[string]string {
	doc := func(path, updated, rest string) string {
		return `<feed xmlns="http://www.w3.org/2005/Atom" xmlns:at="http://purl.org/atompub/tombstones/1.0" xmlns:fh="http://purl.org/syndication/history/1.0" xmlns:dct="http://purl.org/dc/terms/">
<id>tag:agency.example,2009:feed</id><title>Acts</title><updated>` + updated + `</updated><author><name>Agency</name><email>a@agency.example</email></author>
<link rel="self" href="http://agency.example` + path + `"/>` + rest + "</feed>"
	}
	entry := func(name, at string) string {
		link := func(file string) string { return "http://agency.example/f/" + file + `" hash="` + md5Of(file) + `"` }
		return "<entry><id>" + official + name + "</id><updated>" + at + "</updated><published>" + at + "</published><title>T</title><summary>S</summary>\n" +
			`<content type="application/pdf" src="` + link(name+".pdf") + "/>" +
			`<link rel="alternate" type="application/rdf+xml" length="5" href="` + link(name+".rdf") + "/>" +
			`<link rel="enclosure" type="image/png" length="5" dct:isFormatOf="` + official + name + `#map" href="` + link(name+".png") + "/></entry>"
	}
	const archive = `<fh:archive/><link rel="current" href="http://agency.example/feed"/>`
	return map[string]string{
		"/feed": doc("/feed", "2010-03-05T00:00:00Z", naive.Prev("/2")+entry("c", "2010-03-02T00:00:00Z")),
		"/2": doc("/2", "2010-02-05T00:00:00Z", archive+naive.Prev("/1")+
			`<at:deleted-entry ref="`+official+`x" when="2010-02-03T00:00:00Z"/>`+entry("b", "2010-02-02T00:00:00Z")),
		"/1": doc("/1", "2010-01-05T00:00:00Z", archive+entry("a", "2010-01-02T00:00:00Z")+entry("x", "2010-01-03T00:00:00Z")),
	}
}

// TestForeignRules: of a valid feed, one thing after the other is made wrong, and each is
// found in the right document, as what the specification says of it: an error for what
// must be, a warning for what should be.
func TestForeignRules(t *testing.T) {
	validate := func(docs map[string]string) (findings []string) {
		open := func(url string) (io.ReadCloser, error) {
			name := strings.TrimPrefix(url, "http://agency.example")
			text, ok := docs[name]
			if text == "404" || !ok && !strings.HasPrefix(name, "/f/") {
				return nil, errors.New("404")
			}
			if !ok {
				text = path.Base(name)
			}
			return io.NopCloser(strings.NewReader(text)), nil
		}
		c := rinfo.NewChainValidator()
		c.Report = func(f websync.Finding) {
			findings = append(findings, fmt.Sprintf("%s %s %v", strings.TrimPrefix(f.Document, "http://agency.example"), f.Rule, f.Severity))
		}
		(&rinfo.Verifier{Open: open}).Follow(c)
		c.Walk("http://agency.example/feed", open)
		return findings
	}
	require.Empty(t, validate(foreignChain()))
	const entryC = "<id>" + official + "c</id>"
	for name, test := range map[string]struct{ path, old, new, want string }{
		"§3.1.1 no feed id":                   {"/feed", "<id>tag:agency.example,2009:feed</id>", "", "atom-feed-child error"},
		"§3.1.1 a relative feed id":           {"/feed", "tag:agency.example,2009:feed", "feed", "atom-id error"},
		"§3.1.2 no title":                     {"/feed", "<title>Acts</title>", "", "atom-feed-child error"},
		"§3.1.3 no updated":                   {"/feed", "<updated>2010-03-05T00:00:00Z</updated>", "", "atom-feed-child error"},
		"§3.1.3 a date":                       {"/feed", "2010-03-05T00:00:00Z", "2010-03-05", "atom-date error"},
		"§3.1.3 older than an entry":          {"/feed", "2010-03-05", "2010-03-01", "rinfo-feed-updated error"},
		"§3.1.3 older than a deletion":        {"/2", "2010-02-05", "2010-02-02", "rinfo-feed-updated error"},
		"§3.1.4 no author":                    {"/feed", "<author><name>Agency</name><email>a@agency.example</email></author>", "", "rinfo-feed-author error"},
		"§3.1.4 no address":                   {"/feed", "<email>a@agency.example</email>", "", "rinfo-author-email warning"},
		"§3.1.4 no mail address":              {"/feed", "a@agency.example", "agency", "atom-email error"},
		"§3.1.5 no self":                      {"/feed", `<link rel="self" href="http://agency.example/feed"/>`, "", "atom-feed-self warning"},
		"§3.1.6 a document is missing":        {"/1", "", "404", "atom-chain-missing error"},
		"§3.1.6 it is something else":         {"/1", "", "<html/>", "atom-chain-missing error"},
		"§3.1.6 a loop":                       {"/1", "<fh:archive/>", "<fh:archive/>" + naive.Prev("/2"), "atom-chain-loop error"},
		"§3.1.6 two chains":                   {"/2", naive.Prev("/1"), naive.Prev("/1") + naive.Prev("/0"), "atom-paging-twice error"},
		"§3.3.1 no id":                        {"/feed", entryC, "", "atom-entry-child error"},
		"§3.3.1 no official URI":              {"/feed", entryC, "<id>tag:agency.example,2010:c</id>", "rinfo-id warning"},
		"§3.3.1 a relative id":                {"/feed", entryC, "<id>c</id>", "atom-id error"},
		"§3.3.2 no updated":                   {"/feed", "<updated>2010-03-02T00:00:00Z</updated>", "", "atom-entry-child error"},
		"§3.3.2 no published":                 {"/feed", "<published>2010-03-02T00:00:00Z</published>", "", "rinfo-published error"},
		"§3.3.2 no zone":                      {"/feed", "<updated>2010-03-02T00:00:00Z", "<updated>2010-03-02T00:00:00", "atom-date error"},
		"§3.3.3 no title":                     {"/feed", "<title>T</title>", "", "atom-entry-child error"},
		"§3.3.3 no summary":                   {"/feed", "<summary>S</summary>", "", "atom-entry-summary error"},
		"§3.3.4 no content":                   {"/feed", "<content", "<x:content xmlns:x='urn:x'", "rinfo-content warning"},
		"§3.3.4 inline content":               {"/feed", `src="http://agency.example/f/c.pdf" `, "", "rinfo-inline error"},
		"§3.3.4 content is the feed":          {"/feed", `src="http://agency.example/f/c.pdf"`, `src=""`, "atom-link-itself warning"},
		"§3.3.4 content is not on the web":    {"/feed", `src="http:`, `src="ftp:`, "rinfo-link error"},
		"§3.3.5 no RDF":                       {"/feed", "application/rdf+xml", "text/html", "rinfo-rdf error"},
		"§3.3.5 an alternate without href":    {"/feed", ` href="http://agency.example/f/c.rdf"`, "", "atom-link-href error"},
		"§3.3.6 content without a type":       {"/feed", `type="application/pdf" `, "", "rinfo-type error"},
		"§3.3.6 content without a sum":        {"/feed", ` hash="` + md5Of("c.pdf") + `"`, "", "rinfo-digest error"},
		"§3.3.6 a sum cut short":              {"/feed", md5Of("c.pdf"), md5Of("c.pdf")[:30], "rinfo-digest error"},
		"§3.3.6 no MD5":                       {"/feed", md5Of("c.pdf"), "sha-1:" + strings.Repeat("0", 40), "rinfo-md5 warning"},
		"§3.3.6 an alternate without length":  {"/feed", `rdf+xml" length="5"`, `rdf+xml"`, "rinfo-length error"},
		"§3.3.6 an enclosure without length":  {"/feed", `png" length="5"`, `png"`, "rinfo-length error"},
		"§3.3.6 an enclosure without a sum":   {"/feed", ` hash="` + md5Of("c.png") + `"`, "", "rinfo-digest error"},
		"§3.3.7 of another document":          {"/feed", "c#map", "d#map", "rinfo-attachment error"},
		"§3.3.7 nowhere":                      {"/feed", `dct:isFormatOf="` + official + `c#map" href="http://agency.example/f/`, `href="http://agency.example/`, "rinfo-attachment error"},
		"§4.1 updated before published":       {"/feed", "<published>2010-03-02", "<published>2010-03-03", "rinfo-updated error"},
		"§4.1 a new document of an old id":    {"/feed", entryC, "<id>" + official + "b</id>", "rinfo-reused-id error"},
		"§4.2 no when":                        {"/2", ` when="2010-02-03T00:00:00Z"`, "", "atom-tombstone-when error"},
		"§4.2 a zone without a colon":         {"/2", `03T00:00:00Z"`, `03T00:00:00+0100"`, "atom-tombstone-when error"},
		"§4.2 no ref":                         {"/2", `ref="` + official + `x" `, "", "atom-tombstone-ref error"},
		"§4.2 after the entries":              {"/2", "</feed>", `<at:deleted-entry ref="` + official + `y" when="2010-02-03T00:00:00Z"/></feed>`, "atom-feed-order warning"},
		"§5 complete, with an archive":        {"/feed", "<title>Acts", "<fh:complete/><title>Acts", "rinfo-complete error"},
		"§6 an archive that is complete":      {"/1", "<fh:archive/>", "<fh:archive/><fh:complete/>", "rinfo-complete error"},
		"§6 pages":                            {"/feed", naive.Prev("/2"), `<link rel="next" href="/2"/>`, "rinfo-pages warning"},
		"§7.1 another feed id":                {"/1", "2009:feed", "2008:feed", "rinfo-other-feed error"},
		"§7.1 no feed id in the archive":      {"/1", "<id>tag:agency.example,2009:feed</id>", "", "rinfo-other-feed error"},
		"§7.1 a later entry in the archive":   {"/1", "<updated>2010-01-02", "<updated>2010-02-20", "rinfo-order error"},
		"§7.1 a later deletion":               {"/2", `when="2010-02-03`, `when="2010-03-03`, "rinfo-order error"},
		"§7.1 another text":                   {"/f/a.pdf", "", "other", "rinfo-mismatch error"},
		"§7.1 another length":                 {"/f/a.rdf", "", "a.rdf ", "rinfo-mismatch error"},
		"§7.1 a linked document is not there": {"/f/b.png", "", "404", "rinfo-mismatch error"},
		"RFC 5005 §4 no fh:archive":           {"/1", "<fh:archive/>", "", "atom-chain-mark warning"},
	} {
		t.Run(name, func(t *testing.T) {
			docs := foreignChain()
			require.Contains(t, docs[test.path], test.old)
			if test.old == "" {
				docs[test.path] = test.new
			} else {
				docs[test.path] = strings.Replace(docs[test.path], test.old, test.new, 1)
			}
			where := test.path
			switch {
			case name == "§4.1 a new document of an old id":
				where = "/2" // where the older entry is
			case strings.HasPrefix(where, "/f/a"):
				where = "/1"
			case strings.HasPrefix(where, "/f/b"):
				where = "/2"
			}
			assert.Contains(t, validate(docs), where+" "+test.want)
		})
	}
	t.Run("what is superseded or deleted is not verified (§8.3)", func(t *testing.T) {
		docs := foreignChain()
		docs["/f/x.rdf"] = "404"
		assert.Empty(t, validate(docs))
	})
}

// A collection is what a reader of the feed holds, which collects as §8.2 and §8.3 say.
type collected map[string]collectedEntry

type collectedEntry struct {
	updated time.Time
	texts   string
	deleted bool
}

// collect brings it in step with a feed, and returns the documents that it read.
func (c collected) collect(t *testing.T, at string) {
	active := map[string]naive.State{}
	for stop := false; at != "" && !stop; {
		data, err := naive.Get(at)
		require.NoError(t, err)
		f, err := naive.Read(at, data)
		require.NoError(t, err)
		if f.Complete != nil {
			maps.DeleteFunc(c, func(id string, _ collectedEntry) bool {
				return !slices.ContainsFunc(f.Entries, func(e naive.Entry) bool { return e.ID[0] == id })
			})
		}
		for id, s := range naive.Latest([]*naive.Feed{f}) {
			stop = stop || c[id].updated.Equal(s.Time)
			if before, ok := active[id]; !ok || s.Time.After(before.Time) {
				active[id] = s
			}
		}
		at = f.Link("prev-archive")
	}
	for id, s := range active {
		if s.Time.After(c[id].updated) {
			c[id] = collectedEntry{s.Time, textsOf(t, s.Entry), s.Entry == nil}
		}
	}
}

// textsOf returns the documents of an entry, after their sums were checked.
func textsOf(t *testing.T, e *naive.Entry) string {
	if e == nil {
		return ""
	}
	texts := map[string]string{}
	for _, l := range slices.Concat(e.Content, e.Links) {
		if l.Src == "" && l.Rel != "alternate" && l.Rel != "enclosure" {
			continue
		}
		data, err := naive.Get(l.Href + l.Src)
		require.NoError(t, err)
		assert.Contains(t, strings.Fields(l.Hash), md5Of(string(data)), "§3.3.6")
		assert.Contains(t, l.Type, "/", "§3.3.6")
		if l.Src == "" {
			assert.Equal(t, fmt.Sprint(len(data)), l.Length, "§3.3.6")
		}
		texts[l.Href+l.Src] = string(data)
	}
	return strings.Join(slices.Sorted(maps.Values(texts)), "; ")
}

// TestForeignReader: a reader that keeps to the text of the specification stays in step
// with a Publisher, and each document has what §3 to §7 demand.
func TestForeignReader(t *testing.T) {
	for seed := range *foreignSeeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			collection := naive.NewCollection(t, seed)
			collection.Attachments, collection.Lengths, collection.Sums = true, seed%2 == 0, seed%4 > 1
			p := &atom.Publisher{Profile: rinfo.Profile(), Place: websync.Place{Catalog: collection.Store, Base: collection.URL}, Author: websync.Person{Name: "A", Email: "a@example.org"},
				ArchiveSize: 1 + seed%5, LatestOnly: seed%3 == 0, Complete: seed%7 == 6}
			p.Locator = websync.PathLocator{Base: collection.URL, Reserved: p.Reserved}
			collection.Serve(p, p.Locator)
			held := collected{}
			for range 6 {
				collection.Change()
				held.collect(t, p.URL())
				got := map[string]string{}
				for id, e := range held {
					if !e.deleted {
						got[id] = e.texts
					}
				}
				require.Equal(t, collection.Truth(), got)
				feeds, err := naive.Walk(p.URL(), naive.Get)
				require.NoError(t, err)
				conforms(t, feeds)
			}
		})
	}
}

// conforms checks the documents of a feed, the newest first.
func conforms(t *testing.T, feeds []*naive.Feed) {
	at := func(s string) time.Time {
		d, err := time.Parse(time.RFC3339Nano, s)
		require.NoError(t, err)
		return d
	}
	var after time.Time // the earliest time of the newer documents
	for i, f := range feeds {
		assert.Equal(t, feeds[0].ID, f.ID, "§7.1")
		assert.NotEmpty(t, f.ID, "§3.1.1")
		assert.NotNil(t, f.Title, "§3.1.2")
		require.Len(t, f.Authors, 1, "§3.1.4")
		assert.NotEmpty(t, f.Authors[0].Email, "§3.1.4")
		assert.Equal(t, f.URL, f.Link("self"), "§3.1.5")
		assert.False(t, f.Complete != nil && len(feeds) > 1, "§5")
		assert.Equal(t, i > 0, f.Archive != nil, "RFC 5005 §4")
		var times []time.Time
		for _, d := range f.Deleted {
			assert.NotEmpty(t, d.Ref, "§4.2")
			times = append(times, at(d.When))
		}
		for _, e := range f.Entries {
			for _, one := range [][]string{e.ID, e.Title, e.Updated, e.Published} {
				require.Len(t, one, 1, "§3.3")
			}
			times = append(times, at(e.Updated[0]))
			assert.False(t, at(e.Published[0]).After(at(e.Updated[0])), "§4.1")
			if len(e.Content) > 0 {
				require.Len(t, e.Content, 1, "§3.3.4")
				assert.NotEmpty(t, e.Content[0].Src, "§7.1")
				assert.Len(t, e.Summary, 1, "§3.3.3")
			}
		}
		if len(times) == 0 {
			continue
		}
		slices.SortFunc(times, time.Time.Compare)
		assert.Len(t, slices.CompactFunc(slices.Clone(times), time.Time.Equal), len(times), "§3.2: each change has its own time")
		last := times[len(times)-1]
		assert.False(t, last.After(at(f.Updated)), "§3.1.3")
		assert.True(t, after.IsZero() || last.Before(after), "§7.1")
		after = times[0]
	}
}
