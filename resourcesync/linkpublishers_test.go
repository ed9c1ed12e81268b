package resourcesync_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/resourcesync"
)

const otherHost = "https://other.example.net/"

// A linkStage is what a publisher with links serves at one moment. A page that begins
// with "!" and a status has that status; with "!broken ", the connection breaks off.
type linkStage struct {
	pages   pages
	truth   string // what is held in step: "name=text", of a body beside the content "name|body=text"
	want    verdict
	said    string
	payload string // applied before the run of the lists, if not empty
	set     func(*resourcesync.Source)
	most    int  // requests; 0: 60
	full    bool // a new baseline
}

var mediaType = regexp.MustCompile("^[a-z]+/[a-z]+$")

// linkedSite returns the site of a stage.
func linkedSite(s *linkStage, n int) sourcetest.Site {
	truth := make(map[string]string)
	for name, text := range held(s.truth) {
		if !strings.Contains(name, "|") {
			truth[name] = text
		}
	}
	site := serve(s.pages, truth, n)
	for url, doc := range site {
		if rest, ok := strings.CutPrefix(doc.Body, "!broken "); ok {
			doc.Body, doc.Broken = rest, true
		} else if code, ok := strings.CutPrefix(doc.Body, "!"); ok && len(code) == 3 {
			_, _ = fmt.Sscan(code, &doc.Status)
			doc.Body = ""
		} else if kind, rest, ok := strings.Cut(doc.Body, " "); ok && mediaType.MatchString(kind) {
			doc.Header["Content-Type"], doc.Body = []string{kind}, rest
		}
		site[url] = doc
	}
	return site
}

// allBodies returns what a Catalog holds, in the form of linkStage.truth.
func allBodies(t *testing.T, store *harvest.Catalog) map[string]string {
	all := make(map[string]string)
	for rec, err := range store.Records(t.Context(), testkit.Src, "") {
		require.NoError(t, err)
		if !rec.Live() {
			continue
		}
		name := strings.TrimPrefix(rec.Resource.ID, www)
		content := false
		for _, b := range rec.Bodies {
			if b.Name == websync.ContentName {
				all[name], content = testkit.Read(t, store, b), true
			} else {
				all[name+"|"+strings.TrimPrefix(b.Name, "describedby")] = testkit.Read(t, store, b)
			}
		}
		if !content {
			all[name] = "-"
		}
	}
	return all
}

// playLinks harvests a publisher stage by stage. A run in step holds the truth, nothing
// that the publisher still has is deleted, and no bytes with the word evil are ever held.
func playLinks(t *testing.T, source *resourcesync.Source, stages []linkStage) {
	store, dir := harvest.NewCatalog(memstore.New()), t.TempDir()
	source.Name = testkit.Src
	t.Setenv("TMPDIR", dir)
	for i := range stages {
		s := &stages[i]
		if s.set != nil {
			s.set(source)
		}
		truth, before := held(s.truth), allBodies(t, store)
		site := linkedSite(s, i+1)
		if s.payload != "" {
			src, err := source.Payload([]byte(s.payload))
			if err == nil {
				harvestLinks(t, store, site, src, 60, false)
			}
		}
		most := s.most
		if most == 0 {
			most = 60
		}
		report, said := harvestLinks(t, store, site, source, most, s.full)
		live := allBodies(t, store)
		if s.want != either {
			assert.Equal(t, s.want == inStep, report.InStep(), "stage %d: in step\n%s", i, said)
		}
		if report.InStep() {
			assert.Equal(t, truth, live, "stage %d\n%s", i, said)
		}
		assert.Contains(t, said, s.said, "stage %d", i)
		for name := range before {
			if _, ok := truth[name]; ok && !strings.Contains(name, "|") {
				assert.Contains(t, live, name, "stage %d: deleted\n%s", i, said)
			}
		}
		for name, text := range live {
			assert.NotContains(t, text, "evil", "stage %d: %s", i, name)
		}
		if t.Failed() {
			return
		}
	}
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, files, "temporary files")
}

// harvestLinks runs a Source and returns what was reported as text.
func harvestLinks(t *testing.T, store *harvest.Catalog, site sourcetest.Site, source harvest.Source, most int, full bool) (*harvest.Report, string) {
	t.Helper()
	testkit.MakeDue(t, store)
	var b strings.Builder
	fetcher := &sourcetest.Fetcher{Site: site}
	h := &harvest.Harvester{Sample: -1, Catalog: store, Fetcher: fetcher, MaxDelete: -1, Full: full,
		Hooks: testkit.OnFinding(func(f websync.Finding) { fmt.Fprintln(&b, f) })}
	report, err := h.Run(t.Context(), source)
	fmt.Fprintln(&b, err)
	for _, p := range append(report.Problems, report.Failures...) {
		fmt.Fprintln(&b, p)
	}
	for _, x := range fetcher.Exchanges() {
		fmt.Fprintln(&b, x.Status, x.URL)
	}
	assert.LessOrEqual(t, len(fetcher.Exchanges()), most, "requests")
	streams, spools := fetcher.Open()
	assert.Zero(t, streams+spools, "bodies that are not closed")
	return report, b.String()
}

// since returns an entry with a time, of a Resource List if change is empty.
func since(n int, name, change, md string, links ...string) string {
	lastMod := ""
	if n != never {
		lastMod = "<lastmod>" + minute(n) + "</lastmod>"
	}
	if change != "" {
		md = fmt.Sprintf("change=%q %s", change, md) + timed("datetime", n)
	}
	return "<url><loc>" + www + name + "</loc>" + lastMod + "<rs:md " + md + "/>" + strings.Join(links, "") + "</url>"
}

func listsOf(list []string, changes ...string) pages {
	return offers("resourcelist", "resourcelist.xml", "changelist", "changelist.xml").with(pages{
		"resourcelist.xml": resourceList(0, list...), "changelist.xml": changeList(0, never, changes...)})
}

func list(entries ...string) []string { return entries }

// distinct returns n links to different URIs.
func distinct(n int, rel, href, more string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(linkTo(rel, fmt.Sprint(href, i), more))
	}
	return b.String()
}

func gzipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, text)
	_ = w.Close()
	return b.String()
}

func TestMirrorPublishers(t *testing.T) {
	to := func(url, more string) string { return linkTo("duplicate", url, more) }
	const mirror = otherHost + "a"
	one := func(md, links string, docs pages) []linkStage {
		return []linkStage{{pages: listsOf(list(since(0, "a", "", md, links), has("b", "2"))).with(docs), truth: "a=1 b=2"}}
	}
	for name, stages := range map[string][]linkStage{
		"other bytes":                            one(hashOf("1"), to(mirror, ""), pages{mirror: "evil"}),
		"other bytes that the link describes":    one(hashOf("1"), to(mirror, hashOf("evil")), pages{mirror: "evil"}),
		"the link states the only digest":        one("", to(mirror, hashOf("1")), pages{mirror: "evil"}),
		"another length, no digest":              one(`length="1"`, to(mirror, ""), pages{mirror: "evil"}),
		"another length in the link":             one("", to(mirror, `length="1"`), pages{mirror: "evil"}),
		"an empty body":                          one(hashOf("1"), to(mirror, ""), pages{mirror: ""}),
		"an empty body, length only":             one(`length="1"`, to(mirror, ""), pages{mirror: ""}),
		"it redirects to another resource":       one(hashOf("1"), to(mirror, ""), pages{mirror: "-> " + www + "b"}),
		"it redirects to a list":                 one(hashOf("1"), to(mirror, ""), pages{mirror: "-> " + sourceURL}),
		"it redirects to itself":                 one(hashOf("1"), to(mirror, ""), pages{mirror: "-> " + mirror}),
		"another resource is the mirror":         one(hashOf("1"), to(www+"b", ""), nil),
		"the resource is its own mirror":         one(hashOf("1"), to(www+"a", ""), nil),
		"gzip bytes":                             one(hashOf("1"), to(mirror, ""), pages{mirror: gzipped("1")}),
		"it breaks off":                          one(hashOf("1"), to(mirror, ""), pages{mirror: "!broken 1"}),
		"it breaks off, without a digest":        one("", to(mirror, ""), pages{mirror: "!broken evil"}),
		"it is gone, and so is the next":         one(hashOf("1"), to(mirror, "")+to(mirror+"2", ""), pages{mirror: "!404", mirror + "2": "!410"}),
		"it is busy":                             one(hashOf("1"), to(mirror, ""), pages{mirror: "!503"}),
		"it is forbidden":                        one(hashOf("1"), to(mirror, ""), pages{mirror: "!403"}),
		"one mirror hundreds of times":           one(hashOf("1"), strings.Repeat(to(mirror, ""), 500), pages{mirror: "evil"}),
		"hundreds of mirrors":                    one(hashOf("1"), distinct(500, "duplicate", mirror, ""), nil),
		"hundreds of mirrors with the bytes":     one(hashOf("1"), to(mirror, `pri="1"`)+distinct(500, "duplicate", mirror, ""), pages{mirror: "1"}),
		"no URLs":                                one(hashOf("1"), to("", "")+to(":", "")+to("//", "")+to("https:///x", "")+to("javascript:1", "")+to("file:///etc/passwd", ""), nil),
		"a zero-length resource, and mirror not": {{pages: listsOf(list(since(0, "a", "", hashOf(""), to(mirror, "")))).with(pages{mirror: "evil"}), truth: "a="}},
		"length zero, no digest":                 {{pages: listsOf(list(since(0, "a", "", `length="0"`, to(mirror, "")))).with(pages{mirror: "evil"}), truth: "a="}},
		"all serve other bytes": {
			{pages: listsOf(list(since(0, "a", "", hashOf("1")))), truth: "a=1"},
			{pages: listsOf(list(since(0, "a", "", hashOf("1"))), since(1, "a", "updated", hashOf("2"), to(mirror, ""))).with(pages{mirror: "evil", "a": "evil"}), truth: "a=2", want: inDoubt},
			{pages: listsOf(list(since(0, "a", "", hashOf("1"))), since(1, "a", "updated", hashOf("2"), to(mirror, ""))).with(pages{mirror: "2", "a": "evil"}), truth: "a=2"}},
		"a mirror of what is deleted": {
			{pages: listsOf(list(since(0, "a", "", hashOf("1")), has("b", "2"))), truth: "a=1 b=2"},
			{pages: listsOf(list(since(0, "a", "", hashOf("1")), has("b", "2")), since(1, "a", "deleted", "", to(www+"b", ""))), truth: "b=2"}},
		"mirrors of a resource that are resources": {
			{pages: listsOf(list(since(0, "a", "", hashOf("1"), to(www+"b", "")), since(0, "b", "", hashOf("1"), to(www+"a", "")))), truth: "a=1 b=1"},
			{pages: listsOf(list(since(0, "a", "", hashOf("1"), to(www+"b", "")), since(0, "b", "", hashOf("1"), to(www+"a", ""))), since(1, "b", "deleted", "")), truth: "a=1"},
			{pages: listsOf(list(since(0, "a", "", hashOf("1"), to(www+"b", "")), since(0, "b", "", hashOf("1"), to(www+"a", ""))), since(1, "b", "deleted", ""), since(2, "b", "created", hashOf("2"), to(www+"a", ""))), truth: "a=1 b=2"}},
	} {
		t.Run(name, func(t *testing.T) { playLinks(t, &resourcesync.Source{URL: sourceURL}, stages) })
	}
}

func TestAlternatePublishers(t *testing.T) {
	to := func(url, more string) string { return linkTo("alternate", url, `type="text/html" `+more) }
	const alt = www + "a.html"
	one := func(truth, md, links string, docs pages) []linkStage {
		return []linkStage{{pages: listsOf(list(since(0, "a", "", md, links), has("b", "2"))).with(pages{"a": "1"}).with(docs), truth: truth}}
	}
	for name, stages := range map[string][]linkStage{
		"an alternate":                            one("a=x b=2", hashOf("1"), to(alt, ""), pages{alt: "x"}),
		"an alternate with a digest":              one("a=x b=2", hashOf("1"), to(alt, hashOf("x")), pages{alt: "x"}),
		"other bytes":                             one("a=1 b=2", hashOf("1"), to(alt, hashOf("x")), pages{alt: "evil"}),
		"another length":                          one("a=1 b=2", hashOf("1"), to(alt, `length="1"`), pages{alt: "evil"}),
		"an empty body":                           one("a=1 b=2", hashOf("1"), to(alt, `length="1"`), pages{alt: ""}),
		"another host with other bytes":           one("a=1 b=2", hashOf("1"), to(alt, hashOf("x")), pages{alt: "-> " + otherHost + "x", otherHost + "x": "evil"}),
		"another resource":                        one("a=2 b=2", hashOf("1"), to(www+"b", ""), nil),
		"another resource with another digest":    one("a=1 b=2", hashOf("1"), to(www+"b", hashOf("x")), nil),
		"the resource itself":                     one("a=1 b=2", hashOf("1"), to(www+"a", ""), nil),
		"the resource itself with another digest": one("a=1 b=2", hashOf("1"), to(www+"a", hashOf("x")), nil),
		"one hundreds of times":                   one("a=1 b=2", hashOf("1"), strings.Repeat(to(alt, hashOf("x")), 500), pages{alt: "evil"}),
		"hundreds":                                one("a=1 b=2", hashOf("1"), distinct(500, "alternate", alt, `type="text/html"`), nil),
		"no URLs":                                 one("a=1 b=2", hashOf("1"), to("", "")+to(":", "")+to("//", "")+to("javascript:1", ""), nil),
		"a canonical that is another resource":    one("a=1 b=2", `type="text/plain" `+hashOf("1"), linkTo("canonical", www+"b", ""), pages{"b": "text/plain 2"}),
		"a canonical of another host":             one("a=1 b=2", `type="text/plain" `+hashOf("1"), linkTo("canonical", otherHost+"a", ""), pages{otherHost + "a": "text/plain evil"}),
		"hundreds of canonicals":                  one("a=1 b=2", `type="text/plain" `+hashOf("1"), distinct(500, "canonical", otherHost+"a", ""), nil),
		"it breaks off, then not": {
			{pages: listsOf(list(since(0, "a", "", hashOf("1"), to(alt, "")))).with(pages{alt: "!broken evil", "a": "1"}), truth: "a=x", want: inDoubt},
			{pages: listsOf(list(since(0, "a", "", hashOf("1"), to(alt, "")))).with(pages{alt: "x", "a": "1"}), truth: "a=x"}},
		"the alternate changes": {
			{pages: listsOf(list(since(0, "a", "", hashOf("1"), to(alt, hashOf("x"))))).with(pages{alt: "x", "a": "1"}), truth: "a=x"},
			{pages: listsOf(list(since(0, "a", "", hashOf("1"), to(alt, hashOf("x")))), since(1, "a", "updated", hashOf("1"), to(alt, hashOf("y")))).with(pages{alt: "y", "a": "1"}), truth: "a=y"},
			{pages: listsOf(list(since(0, "a", "", hashOf("1"), to(alt, hashOf("x")))), since(1, "a", "updated", hashOf("1"), to(alt, hashOf("y"))), since(2, "a", "updated", hashOf("1"))).with(pages{"a": "1"}), truth: "a=1"}},
		"the alternate goes, and another resource takes its URI": {
			{pages: listsOf(list(since(0, "a", "", hashOf("1"), to(alt, hashOf("x"))))).with(pages{alt: "x", "a": "1"}), truth: "a=x"},
			{pages: listsOf(list(since(0, "a", "", hashOf("1"), to(alt, hashOf("x")))), since(1, "a.html", "created", hashOf("n")), since(2, "a", "updated", hashOf("3"))).with(pages{alt: "n", "a": "3"}), truth: "a=3 a.html=n"},
			{pages: listsOf(list(since(0, "a", "", hashOf("1"), to(alt, hashOf("x")))), since(1, "a.html", "created", hashOf("n")), since(2, "a", "updated", hashOf("3")), since(3, "a", "deleted", "")).with(pages{alt: "n"}), truth: "a.html=n"}},
		"the alternate is a resource that is deleted": {
			{pages: listsOf(list(since(0, "a", "", hashOf("1"), to(alt, hashOf("x"))), has("a.html", "x"))).with(pages{alt: "x", "a": "1"}), truth: "a=x a.html=x"},
			{pages: listsOf(list(since(0, "a", "", hashOf("1"), to(alt, hashOf("x"))), has("a.html", "x")), since(1, "a.html", "deleted", "")).with(pages{"a": "1"}), truth: "a=x"}},
		"a patch of loc": {
			{pages: listsOf(list(since(0, "a", "", hashOf(`{"a":1}`), to(alt, hashOf("x"))))).with(pages{alt: "x", "a": `{"a":1}`}), truth: "a=x"},
			{pages: listsOf(list(since(0, "a", "", hashOf(`{"a":1}`), to(alt, hashOf("x")))), since(1, "a", "updated", hashOf(`{"a":2}`), to(alt, hashOf("y")),
				linkTo(resourcesync.RelationPatch, www+"p", `type="application/json-patch"`))).with(pages{alt: "y", "a": `{"a":2}`, "p": `[{"op":"replace","path":"/a","value":2}]`}), truth: "a=y"}},
		"the announced version": {
			{pages: listsOf(list(since(0, "a", "", hashOf("1"), to(alt, hashOf("x")), linkTo("memento", www+"v/a", hashOf("1"))))).with(pages{alt: "x", "a": "1", "v/a": "1"}), truth: "a=x",
				set: func(s *resourcesync.Source) { s.Versions = resourcesync.AnnouncedVersion }}},
	} {
		t.Run(name, func(t *testing.T) {
			playLinks(t, &resourcesync.Source{URL: sourceURL, Types: []string{"text/html"}}, stages)
		})
	}
}

func TestMetadataPublishers(t *testing.T) {
	to := func(url, more string) string { return linkTo("describedby", url, more) }
	const meta = www + "a.xml"
	one := func(truth string, want verdict, links string, docs pages) []linkStage {
		return []linkStage{{pages: listsOf(list(since(0, "a", "", hashOf("1"), links), has("b", "2"))).with(docs), truth: truth, want: want}}
	}
	sound := linkStage{pages: listsOf(list(since(0, "a", "", hashOf("1"), to(meta, hashOf("m"))))).with(pages{meta: "m"}), truth: "a=1 a|=m"}
	then := func(docs pages, stages ...linkStage) []linkStage {
		broken := linkStage{pages: listsOf(list(since(0, "a", "", hashOf("1"), to(meta, hashOf("m")))), since(1, "a", "updated", hashOf("2"), to(meta, hashOf("n")))).with(docs), truth: "a=2 a|=n", want: inDoubt}
		mended := broken
		mended.pages, mended.want = broken.pages.with(pages{meta: "n"}), inStep
		return append([]linkStage{sound, broken, mended}, stages...)
	}
	for name, stages := range map[string][]linkStage{
		"other bytes":                  then(pages{meta: "evil"}),
		"gone":                         then(nil),
		"status 500":                   then(pages{meta: "!500"}),
		"cut":                          then(pages{meta: "!broken n"}),
		"an empty body":                then(pages{meta: ""}),
		"of another host, other bytes": then(pages{meta: "-> " + otherHost + "m", otherHost + "m": "evil"}),
		"gzip bytes":                   then(pages{meta: gzipped("n")}),
		"redirects to itself":          then(pages{meta: "-> " + meta}),
		"another length":               one("a=1 b=2", inDoubt, to(meta, `length="1"`), pages{meta: "evil"}),
		"a zero-length document":       one("a=1 a|= b=2", inStep, to(meta, `length="0"`), pages{meta: ""}),
		"another resource":             one("a=1 a|=2 b=2", inStep, to(www+"b", ""), nil),
		"the resource itself":          one("a=1 b=2", inStep, to(www+"a", ""), nil),
		"one hundreds of times":        one("a=1 a|=m b=2", inStep, strings.Repeat(to(meta, ""), 500), pages{meta: "m"}),
		"no URLs":                      one("a=1 b=2", inStep, to("", "")+to("https:///x", "")+to("urn:x:y", ""), nil),
		"hundreds that are gone":       one("a=1 b=2", either, distinct(500, "describedby", meta, ""), nil),
		"the link goes": {sound,
			{pages: listsOf(list(since(0, "a", "", hashOf("1"), to(meta, hashOf("m")))), since(1, "a", "updated", hashOf("1"))), truth: "a=1"}},
		"the resource goes and comes back": {sound,
			{pages: listsOf(list(since(0, "a", "", hashOf("1"), to(meta, hashOf("m")))), since(1, "a", "deleted", "", to(meta, ""))), truth: ""},
			{pages: listsOf(list(since(0, "a", "", hashOf("1"), to(meta, hashOf("m")))), since(1, "a", "deleted", ""), since(2, "a", "created", hashOf("1"), to(meta, hashOf("n")))).with(pages{meta: "n"}), truth: "a=1 a|=n"}},
		"it is a resource that is deleted": {
			{pages: listsOf(list(since(0, "a", "", hashOf("1"), to(meta, hashOf("m"))), has("a.xml", "m"))).with(pages{meta: "m"}), truth: "a=1 a|=m a.xml=m"},
			{pages: listsOf(list(since(0, "a", "", hashOf("1"), to(meta, hashOf("m"))), has("a.xml", "m")), since(1, "a.xml", "deleted", "")), truth: "a=1 a|=m"}},
		"turned off and on": {sound,
			{pages: sound.pages, truth: "a=1 a|=m", set: func(s *resourcesync.Source) { s.DescribedBy = false }, want: either},
			{pages: listsOf(list(since(0, "a", "", hashOf("1"), to(meta, hashOf("m")))), since(1, "a", "updated", hashOf("2"), to(meta, hashOf("n")))).with(pages{meta: "n"}), truth: "a=2 a|=n", set: func(s *resourcesync.Source) { s.DescribedBy = true }}},
		"with alternates": {
			{pages: listsOf(list(since(0, "a", "", hashOf("1"), to(meta, hashOf("m")), linkTo("alternate", www+"a.html", `type="text/html" `+hashOf("x"))))).with(pages{meta: "m", "a": "1", "a.html": "x"}),
				truth: "a=x a|=m", set: func(s *resourcesync.Source) { s.Types = []string{"text/html"} }}},
		"with mirrors of the document": {
			{pages: listsOf(list(since(0, "a", "", hashOf("1"), to(meta, hashOf("m")), linkTo("duplicate", otherHost+"a", "")))).with(pages{meta: "m", otherHost + "a": "evil"}), truth: "a=1 a|=m"}},
		"with collections": {
			{pages: listsOf(list(since(0, "a", "", hashOf("1"), to(meta, hashOf("m")), linkTo("collection", otherHost, "")), has("b", "2"))).with(pages{meta: "m", "b": "2"}),
				truth: "a=1 a|=m", set: func(s *resourcesync.Source) { s.Collections = []string{otherHost} }},
			{pages: listsOf(list(since(0, "a", "", hashOf("1"), to(meta, hashOf("m")), linkTo("collection", otherHost, "")), has("b", "2")), since(1, "a", "updated", hashOf("1"), to(meta, hashOf("m")))).with(pages{"a": "1", meta: "m", "b": "2"}), truth: ""},
			{pages: listsOf(list(since(0, "a", "", hashOf("1"), to(meta, hashOf("m")), linkTo("collection", otherHost, "")), has("b", "2")), since(1, "a", "updated", hashOf("1"), to(meta, hashOf("m"))),
				since(2, "a", "updated", hashOf("1"), to(meta, hashOf("m")), linkTo("collection", otherHost, ""))).with(pages{meta: "m", "b": "2"}), truth: "a=1 a|=m"}},
	} {
		t.Run(name, func(t *testing.T) { playLinks(t, &resourcesync.Source{URL: sourceURL, DescribedBy: true}, stages) })
	}
}

// TestSelectsThatFail checks choices that fail, read nothing, or change their mind.
func TestSelectsThatFail(t *testing.T) {
	const meta = www + "a.xml"
	entry := since(0, "a", "", hashOf("1"), linkTo("describedby", meta, hashOf("m")))
	docs := pages{meta: "m", "a": "1"}
	type choice = func(*websync.Resource, websync.Link, io.Reader) (bool, error)
	always := func(yes bool, err error) choice {
		return func(*websync.Resource, websync.Link, io.Reader) (bool, error) { return yes, err }
	}
	use := func(c choice) func(*resourcesync.Source) { return func(s *resourcesync.Source) { s.Select = c } }
	updated := since(1, "a", "updated", hashOf("2"), linkTo("describedby", meta, hashOf("n")))
	later := pages{meta: "n", "a": "2"}
	for name, stages := range map[string][]linkStage{
		"it reads nothing":   {{pages: listsOf(list(entry)).with(docs), truth: "a=1 a|=m", set: use(always(true, nil))}},
		"it refuses":         {{pages: listsOf(list(entry)).with(docs), truth: "a=- a|=m", set: use(always(false, nil))}},
		"yes and an error":   {{pages: listsOf(list(entry)).with(docs), truth: "a=1 a|=m", set: use(always(true, errors.New("unsure"))), want: inDoubt, said: "unsure"}},
		"a temporary error":  {{pages: listsOf(list(entry)).with(docs), truth: "", set: use(always(false, harvest.ErrTemporary)), want: inDoubt}, {pages: listsOf(list(entry)).with(docs), truth: "a=1 a|=m", set: use(always(true, nil))}},
		"as if it were gone": {{pages: listsOf(list(entry)).with(docs), truth: "a=1 a|=m", set: use(always(false, websync.ErrGone)), want: inDoubt}, {pages: listsOf(list(entry)).with(docs), truth: "a=1 a|=m", set: use(always(true, nil))}},
		"as if not modified": {{pages: listsOf(list(entry)).with(docs), truth: "a=1 a|=m", set: use(always(false, websync.ErrNotFound)), want: inDoubt}, {pages: listsOf(list(entry)).with(docs), truth: "a=1 a|=m", set: use(always(true, nil))}},
		"the mind changes": {{pages: listsOf(list(entry)).with(docs), truth: "a=1 a|=m", set: use(always(true, nil))},
			{pages: listsOf(list(entry), updated).with(later), truth: "a=- a|=n", set: use(always(false, nil))},
			{pages: listsOf(list(entry), updated, since(2, "a", "updated", hashOf("2"), linkTo("describedby", meta, hashOf("m")))).with(later).with(pages{meta: "m"}), truth: "a=2 a|=m", set: use(always(true, nil))}},
		"it refuses, and the content is other bytes": {{pages: listsOf(list(entry)).with(pages{meta: "m", "a": "evil"}), truth: "a=- a|=m", set: use(always(false, nil))}},
		"in a dump": {{pages: dumped("a", "1", hashOf("1"), linkTo("describedby", meta, hashOf("m"))).with(docs), truth: "a=- a|=m", set: use(always(false, nil))}},
	} {
		t.Run(name, func(t *testing.T) { playLinks(t, &resourcesync.Source{URL: sourceURL}, stages) })
	}
}

// dumped returns a Resource Dump of one resource, and no Resource List.
func dumped(name, text, md string, links ...string) pages {
	return packed(map[string]string{name: text}, since(0, name, "", fmt.Sprintf("path=%q %s", "/res/"+name, md), links...))
}

// packed returns a Resource Dump of one package.
func packed(texts map[string]string, entries ...string) pages {
	docs, files := make(map[string]string), make(map[string]string)
	for name, text := range texts {
		files["res/"+name] = text
	}
	files["manifest.xml"] = document("urlset", `capability="resourcedump-manifest"`+timed("at", 0), "capabilitylist.xml", entries...)
	pack := new(publisher).pack(docs, "dump", "", files)
	docs["resourcedump.xml"] = document("urlset", `capability="resourcedump"`+timed("at", 0), "capabilitylist.xml", pack)
	docs["changelist.xml"] = changeList(0, never)
	return offers("resourcedump", "resourcedump.xml", "changelist", "changelist.xml").with(docs)
}

func TestDumpsWithLinks(t *testing.T) {
	const meta = www + "a.xml"
	described, member := linkTo("describedby", meta, hashOf("m")), linkTo("collection", otherHost, "")
	alternate := linkTo("alternate", www+"a.html", `type="text/html" `+hashOf("x"))
	for name, test := range map[string]struct {
		source resourcesync.Source
		stages []linkStage
	}{
		"metadata": {resourcesync.Source{DescribedBy: true}, []linkStage{
			{pages: dumped("a", "1", hashOf("1"), described).with(pages{meta: "m", "a": "1"}), truth: "a=1 a|=m"}}},
		"metadata that is gone": {resourcesync.Source{DescribedBy: true}, []linkStage{
			{pages: dumped("a", "1", hashOf("1"), described).with(pages{"a": "1"}), truth: "a=1 a|=m", want: inDoubt},
			{pages: dumped("a", "1", hashOf("1"), described).with(pages{"a": "1", meta: "m"}), truth: "a=1 a|=m"}}},
		"metadata that is other bytes": {resourcesync.Source{DescribedBy: true}, []linkStage{
			{pages: dumped("a", "1", hashOf("1"), described).with(pages{"a": "1", meta: "evil"}), truth: "a=1 a|=m", want: inDoubt},
			{pages: dumped("a", "1", hashOf("1"), described).with(pages{"a": "1", meta: "m"}), truth: "a=1 a|=m"}}},
		"an alternate": {resourcesync.Source{Types: []string{"text/html"}}, []linkStage{
			{pages: dumped("a", "1", hashOf("1"), alternate).with(pages{"a": "1", "a.html": "x"}), truth: "a=x", want: either}}},
		"no member": {resourcesync.Source{Collections: []string{otherHost}}, []linkStage{{pages: dumped("a", "1", hashOf("1")).with(pages{"a": "1"}), truth: ""}}},
		"a member":  {resourcesync.Source{Collections: []string{otherHost}}, []linkStage{{pages: dumped("a", "1", hashOf("1"), member), truth: "a=1"}}},
		"wrong bytes": {resourcesync.Source{DescribedBy: true}, []linkStage{
			{pages: dumped("a", "evil", hashOf("1"), described).with(pages{"a": "1", meta: "m"}), truth: "a=1 a|=m", want: either}}},
	} {
		t.Run(name, func(t *testing.T) {
			test.source.URL = sourceURL
			playLinks(t, &test.source, test.stages)
		})
	}
}

func TestCollectionPublishers(t *testing.T) {
	in, out := linkTo("collection", otherHost, ""), linkTo("collection", otherHost+"2", "")
	base := list(since(0, "a", "", hashOf("1"), in), since(0, "b", "", hashOf("1"), out), since(0, "c", "", hashOf("1")))
	begin := linkStage{pages: listsOf(base).with(pages{"b": "1", "c": "1"}), truth: "a=1"}
	stage := func(truth string, changes ...string) linkStage {
		return linkStage{pages: listsOf(base, changes...).with(pages{"b": "!404", "c": "!404"}), truth: truth}
	}
	update := func(n int, name, text string, links ...string) string {
		return since(n, name, "updated", hashOf(text), links...)
	}
	for name, stages := range map[string][]linkStage{
		"it leaves and comes back":              {begin, stage("", update(1, "a", "2", out)), stage("a=3", update(1, "a", "2", out), update(2, "a", "3", in))},
		"it leaves and comes back at once":      {begin, stage("a=3", update(1, "a", "2", out), update(2, "a", "3", out, in))},
		"at one instant":                        {begin, stage("a=3", update(1, "a", "2"), update(1, "a", "3", in)), stage("", update(1, "a", "2"), update(1, "a", "3", in), update(1, "a", "3"))},
		"without times":                         {begin, stage("a=3", update(never, "a", "2"), update(never, "a", "3", in)), stage("", update(never, "a", "2"), update(never, "a", "3", in), update(never, "a", "3"))},
		"it leaves with the same bytes":         {begin, stage("", update(1, "a", "1", out)), stage("a=1", update(1, "a", "1", out), update(2, "a", "1", in))},
		"it leaves, and is deleted":             {begin, stage("", update(1, "a", "1", out)), stage("", update(1, "a", "1", out), since(2, "a", "deleted", "")), stage("a=4", update(1, "a", "1", out), since(2, "a", "deleted", ""), since(3, "a", "created", hashOf("4"), in))},
		"a deletion with the link":              {begin, stage("", since(1, "a", "deleted", "", in))},
		"deletions of what is no member":        {begin, stage("a=1", since(1, "b", "deleted", ""), since(2, "c", "deleted", "", out))},
		"the link is repeated":                  {begin, stage("a=2", update(1, "a", "2", strings.Repeat(in, 500)))},
		"hundreds of collections":               {begin, stage("a=2", update(1, "a", "2", distinct(500, "collection", otherHost+"x", ""), in))},
		"the list and the Change List disagree": {begin, stage("a=1 c=2", update(1, "c", "2", in))},
	} {
		t.Run(name, func(t *testing.T) {
			// What is a member must be there.
			for i := range stages {
				for name := range held(stages[i].truth) {
					delete(stages[i].pages, name)
				}
			}
			playLinks(t, &resourcesync.Source{URL: sourceURL, Collections: []string{otherHost}}, stages)
		})
	}
}

func TestPatchPublishers(t *testing.T) {
	const one, two, three = `{"a":1}`, `{"a":2}`, `{"a":3}`
	set := func(n int) string { return fmt.Sprintf(`[{"op":"replace","path":"/a","value":%d}]`, n) }
	to := func(path, more string) string {
		return linkTo(resourcesync.RelationPatch, absolute(path), `type="application/json-patch" `+more)
	}
	base := list(since(0, "a", "", hashOf(one)))
	begin := linkStage{pages: listsOf(base), truth: "a=" + one}
	stage := func(text string, docs pages, changes ...string) linkStage {
		return linkStage{pages: listsOf(base, changes...).with(docs), truth: "a=" + text}
	}
	bomb := `[{"op":"add","path":"/b","value":[]}` + strings.Repeat(`,{"op":"copy","from":"","path":"/b/-"}`, 60) + `]`
	for name, stages := range map[string][]linkStage{
		"a chain": {begin, stage(two, pages{"p": set(2), "a": "evil"}, since(1, "a", "updated", hashOf(two), to("p", ""))),
			stage(three, pages{"p": set(2), "q": set(3), "a": "evil"}, since(1, "a", "updated", hashOf(two), to("p", "")), since(2, "a", "updated", hashOf(three), to("q", "")))},
		"two at once":                      {begin, stage(three, pages{"p": `[{"op":"add","path":"/b","value":2}]`, "q": `[{"op":"remove","path":"/b"},{"op":"replace","path":"/a","value":3}]`}, since(1, "a", "updated", hashOf(`{"a":1,"b":2}`), to("p", "")), since(2, "a", "updated", hashOf(three), to("q", "")))},
		"of another base":                  {begin, stage(three, pages{"p": `[{"op":"test","path":"/a","value":2},{"op":"replace","path":"/a","value":3}]`}, since(1, "a", "updated", hashOf(three), to("p", "")))},
		"length only":                      {begin, stage(two, pages{"p": set(9)}, since(1, "a", "updated", `length="7"`, to("p", "")))},
		"the patch states the only digest": {begin, stage(two, pages{"p": set(9)}, since(1, "a", "updated", ``, to("p", hashOf(set(9)))))},
		"of another host":                  {begin, stage(two, pages{"p": "-> " + otherHost + "p", otherHost + "p": set(9)}, since(1, "a", "updated", hashOf(two), to("p", "")))},
		"the first of two fails":           {begin, stage(two, pages{"p": set(9), "q": set(2)}, since(1, "a", "updated", hashOf(two), to("p", ""), to("q", "")))},
		"one hundreds of times":            {begin, stage(two, pages{"p": set(9)}, since(1, "a", "updated", hashOf(two), strings.Repeat(to("p", ""), 500)))},
		"hundreds":                         {begin, stage(two, nil, since(1, "a", "updated", hashOf(two), distinct(500, resourcesync.RelationPatch, www+"p", `type="application/json-patch"`)))},
		"an empty patch":                   {begin, stage(two, pages{"p": ""}, since(1, "a", "updated", hashOf(two), to("p", "")))},
		"a patch of gzip":                  {begin, stage(two, pages{"p": gzipped(set(9))}, since(1, "a", "updated", hashOf(two), to("p", "")))},
		"a patch that breaks off":          {begin, stage(two, pages{"p": "!broken " + set(9)}, since(1, "a", "updated", hashOf(two), to("p", "")))},
		"the resource is its patch":        {begin, stage(two, nil, since(1, "a", "updated", hashOf(two), to("a", "")))},
		"a patch that grows without end":   {begin, stage(two, pages{"p": bomb}, since(1, "a", "updated", hashOf(two), to("p", "")))},
		"deep nesting":                     {begin, stage(two, pages{"p": strings.Repeat("[", 1<<16)}, since(1, "a", "updated", hashOf(two), to("p", "")))},
		"of a resource that is not held":   {begin, {pages: listsOf(base, since(1, "n", "updated", hashOf(two), to("p", ""))).with(pages{"p": set(2)}), truth: "a=" + one + " n=" + two}},
		"of a resource that was deleted": {begin, {pages: listsOf(base, since(1, "a", "deleted", "")), truth: ""},
			stage(two, pages{"p": set(2)}, since(1, "a", "deleted", ""), since(2, "a", "updated", hashOf(two), to("p", "")))},
		"a patch of a patch": {{pages: listsOf(list(since(0, "a", "", hashOf(one)), since(0, "p", "", hashOf(set(2))))), truth: "a=" + one + " p=" + set(2)},
			{pages: listsOf(list(since(0, "a", "", hashOf(one)), since(0, "p", "", hashOf(set(2)))), since(1, "p", "updated", hashOf(set(3)), to("q", "")), since(2, "a", "updated", hashOf(three), to("p", ""))).with(
				pages{"q": `[{"op":"replace","path":"/0/value","value":3}]`}), truth: "a=" + three + " p=" + set(3), want: either}},
	} {
		t.Run(name, func(t *testing.T) { playLinks(t, &resourcesync.Source{URL: sourceURL}, stages) })
	}
}

// mapOf returns a TimeMap of a resource, with mementos by path or URL.
func mapOf(name string, links ...string) string {
	text := "<" + www + name + ">;rel=\"original\",\n<" + www + "t/" + name + ">;rel=\"self\""
	for i, link := range links {
		if !strings.Contains(link, ";") {
			link = fmt.Sprintf("<%s>; rel=\"memento\"; datetime=\"Thu, 0%d Jan 2013 18:00:00 GMT\"", absolute(link), i%9+1)
		}
		text += ",\n" + link
	}
	return text
}

func TestVersionPublishers(t *testing.T) {
	toMap := func(name string) string { return linkTo("timemap", www+"t/"+name, `type="application/link-format"`) }
	listed := list(since(0, "a", "", hashOf("1"), toMap("a")), has("b", "2"))
	v := pages{"v1/a": "x1", "v2/a": "x2"}
	one := func(truth string, want verdict, timeMap string, docs pages) []linkStage {
		return []linkStage{{pages: listsOf(listed).with(v).with(pages{"t/a": timeMap}).with(docs), truth: truth, want: want}}
	}
	const all = "a=1 b=2 v1/a=x1 v2/a=x2"
	sound := linkStage{pages: listsOf(listed).with(v).with(pages{"t/a": mapOf("a", "v1/a", "v2/a")}), truth: all}
	change := func(truth string, docs pages, changes ...string) linkStage {
		return linkStage{pages: sound.pages.with(listsOf(listed, changes...)).with(docs), truth: truth}
	}
	upd := func(n int, text string) string { return since(n, "a", "updated", hashOf(text), toMap("a")) }
	both := list(since(0, "a", "", hashOf("1"), toMap("a")), since(0, "b", "", hashOf("2"), toMap("b")))
	memento := func(path, rest string) string { return fmt.Sprintf("<%s>;rel=memento;%s", path, rest) }
	for name, stages := range map[string][]linkStage{
		"two of one datetime":                     one(all, inStep, mapOf("a", memento("/v1/a", `datetime="Tue, 01 Jan 2013 18:00:00 GMT"`), memento("/v2/a", `datetime="Tue, 01 Jan 2013 18:00:00 GMT"`)), nil),
		"no readable datetime":                    one(all, either, mapOf("a", memento("/v1/a", `datetime="2013"`), memento("/v2/a", `datetime=""`)), nil),
		"relative URIs":                           one(all, inStep, strings.ReplaceAll(mapOf("a", "v1/a", memento("../v2/a", `datetime="Tue, 01 Jan 2013 18:00:00 GMT"`)), www, "../"), nil),
		"named twice":                             one(all, inStep, mapOf("a", "v1/a", "v2/a", "v1/a"), nil),
		"compressed as the text":                  one(all, either, gzipped(mapOf("a", "v1/a", "v2/a")), nil),
		"empty of mementos":                       one("a=1 b=2", either, mapOf("a"), nil),
		"the resources themselves":                one("a=1 b=2", inStep, mapOf("a", "a", "b"), nil),
		"other bytes are not held for a resource": one("a=1 b=2", inDoubt, mapOf("a", "b"), pages{"b": "evil"}),
		"pages that are one":                      one(all, either, mapOf("a", "v1/a", "v2/a", "<"+www+"t/a>;rel=timemap"), nil),
		"a page that is a resource":               one("a=1 b=2", inDoubt, mapOf("a", "v1/a", "v2/a", "<"+www+"b>;rel=timemap"), nil),
		"a TimeMap of another host": {{pages: listsOf(list(since(0, "a", "", hashOf("1"), linkTo("timemap", otherHost+"t", "")), has("b", "2"))).with(pages{otherHost + "t": mapOf("a", otherHost+"v", "b", "c")}).with(
			pages{otherHost + "v": "v", "c": "evil"}), truth: "a=1 b=2 " + otherHost + "v=v", want: inDoubt}},
		"a TimeMap that redirects to another host": {{pages: listsOf(listed).with(pages{"t/a": "-> " + otherHost + "t", otherHost + "t": mapOf("a", "b", "c", otherHost+"v"), "c": "evil", otherHost + "v": "v"}), truth: "a=1 b=2 " + otherHost + "v=v", want: either}},
		"hundreds of TimeMaps":                     {{pages: listsOf(list(since(0, "a", "", hashOf("1"), distinct(500, "timemap", www+"t/a", "")))), truth: "a=1", want: inDoubt}},
		"one TimeMap hundreds of times":            {{pages: listsOf(list(since(0, "a", "", hashOf("1"), strings.Repeat(toMap("a"), 500)))).with(pages{"t/a": mapOf("a", "v1/a"), "v1/a": "x"}), truth: "a=1 v1/a=x"}},
		"a memento shared by two resources": {
			{pages: listsOf(both).with(v).with(pages{"t/a": mapOf("a", "v1/a", "v2/a"), "t/b": mapOf("b", "v1/a")}), truth: all},
			{pages: listsOf(both, upd(1, "3")).with(v).with(pages{"t/a": mapOf("a", "v2/a"), "t/b": mapOf("b", "v1/a")}), truth: "a=3 b=2 v1/a=x1 v2/a=x2"},
			{pages: listsOf(both, upd(1, "3"), since(2, "a", "deleted", "")).with(v).with(pages{"t/b": mapOf("b", "v1/a")}), truth: "b=2 v1/a=x1 v2/a=x2"},
			{pages: offers("resourcelist", "resourcelist.xml", "changelist", "changelist.xml").with(pages{"resourcelist.xml": resourceList(5, both[1]), "changelist.xml": changeList(5, never)}).with(v).with(
				pages{"t/b": mapOf("b", "v1/a")}), truth: "b=2 v1/a=x1", want: either}},
		"the resource is deleted and created again": {sound,
			change("b=2 v1/a=x1 v2/a=x2", nil, since(1, "a", "deleted", "")),
			change("a=3 b=2 v1/a=x1 v2/a=x2 v3/a=x3", pages{"t/a": mapOf("a", "v1/a", "v2/a", "v3/a")}, since(1, "a", "deleted", ""), since(2, "a", "created", hashOf("3"), toMap("a"))),
			change("b=2 v1/a=x1 v2/a=x2 v3/a=x3", pages{"t/a": mapOf("a", "v1/a", "v2/a", "v3/a")}, since(1, "a", "deleted", ""), since(2, "a", "created", hashOf("3"), toMap("a")), since(3, "a", "deleted", "", toMap("a")))},
		"deleted and created again at once": {sound,
			change("a=3 b=2 v1/a=x1 v2/a=x2 v3/a=x3", pages{"t/a": mapOf("a", "v1/a", "v2/a", "v3/a")}, since(1, "a", "deleted", ""), since(2, "a", "created", hashOf("3"), toMap("a")))},
		"a memento becomes a resource, and is deleted": {sound,
			change("a=1 b=2 v1/a=new v2/a=x2", pages{"v1/a": "new"}, since(1, "v1/a", "created", hashOf("new"))),
			change("a=3 b=2 v1/a=new v2/a=x2", pages{"v1/a": "new"}, since(1, "v1/a", "created", hashOf("new")), upd(2, "3")),
			change("a=3 b=2 v2/a=x2", pages{"v1/a": "evil"}, since(1, "v1/a", "created", hashOf("new")), upd(2, "3"), since(3, "v1/a", "deleted", "")),
			change("a=4 b=2 v2/a=x2", pages{"v1/a": "evil"}, since(1, "v1/a", "created", hashOf("new")), upd(2, "3"), since(3, "v1/a", "deleted", ""), upd(4, "4"))},
		"a resource that is deleted becomes a memento": {sound,
			change("a=1 v1/a=x1 v2/a=x2", nil, since(1, "b", "deleted", "")),
			change("a=3 v1/a=x1 v2/a=x2", pages{"t/a": mapOf("a", "v1/a", "v2/a", "b"), "b": "evil"}, since(1, "b", "deleted", ""), upd(2, "3"))},
		"its TimeMap fails for a while": {sound,
			{pages: sound.pages.with(listsOf(listed, upd(1, "3"))).with(pages{"t/a": "!500"}), truth: "a=3 b=2 v1/a=x1 v2/a=x2 v3/a=x3", want: inDoubt, said: "t/a"},
			change("a=3 b=2 v1/a=x1 v2/a=x2 v3/a=x3", pages{"t/a": mapOf("a", "v1/a", "v2/a", "v3/a")}, upd(1, "3"))},
		"its TimeMap breaks off for a while": {sound,
			{pages: sound.pages.with(listsOf(listed, upd(1, "3"))).with(pages{"t/a": "!broken " + mapOf("a", "v1/a")}), truth: "a=3 b=2 v1/a=x1 v2/a=x2 v3/a=x3", want: inDoubt, said: "t/a"},
			change("a=3 b=2 v1/a=x1 v2/a=x2 v3/a=x3", pages{"t/a": mapOf("a", "v1/a", "v2/a", "v3/a")}, upd(1, "3"))},
		"a memento is gone for a while": {
			{pages: sound.pages.with(pages{"v1/a": "!404"}), truth: all, want: inDoubt}, sound},
		"the link goes": {sound, change(strings.Replace(all, "a=1", "a=3", 1), nil, since(1, "a", "updated", hashOf("3")))},
		"without changes, baselines": {
			{pages: sound.pages.with(offers("resourcelist", "resourcelist.xml")), truth: all, want: either},
			{pages: sound.pages.with(offers("resourcelist", "resourcelist.xml")).with(pages{"resourcelist.xml": resourceList(3, listed...), "t/a": "!500"}), truth: all, want: inDoubt},
			{pages: sound.pages.with(offers("resourcelist", "resourcelist.xml")).with(pages{"resourcelist.xml": resourceList(4, listed...), "t/a": mapOf("a", "v2/a")}), truth: "a=1 b=2 v2/a=x2", want: either},
			{pages: sound.pages.with(offers("resourcelist", "resourcelist.xml")).with(pages{"resourcelist.xml": resourceList(5, listed[1])}), truth: "b=2", want: either}},
		"the link memento is another resource": {{pages: listsOf(list(since(0, "a", "", hashOf("1"), linkTo("memento", www+"b", "")), has("b", "2"))), truth: "a=1 b=2"}},
		"the link memento is a later resource": {
			{pages: listsOf(list(since(0, "a", "", hashOf("1"), linkTo("memento", www+"n", hashOf("1"))))).with(pages{"n": "1"}), truth: "a=1 n=1"},
			{pages: listsOf(list(since(0, "a", "", hashOf("1"), linkTo("memento", www+"n", hashOf("1")))), since(1, "n", "created", hashOf("3"))), truth: "a=1 n=3"},
			{pages: listsOf(list(since(0, "a", "", hashOf("1"), linkTo("memento", www+"n", hashOf("1")))), since(1, "n", "created", hashOf("3")), since(2, "a", "updated", hashOf("4"), linkTo("memento", www+"n", hashOf("4")))), truth: "a=4 n=3"}},
		"the link memento has other bytes": {{pages: listsOf(list(since(0, "a", "", hashOf("1"), linkTo("memento", www+"v1/a", hashOf("x"))))).with(pages{"v1/a": "evil"}), truth: "a=1", want: inDoubt}},
		"hundreds of links memento":        {{pages: listsOf(list(since(0, "a", "", hashOf("1"), distinct(500, "memento", www+"v/", "")))), truth: "a=1", want: either, most: 600}},
	} {
		t.Run(name, func(t *testing.T) {
			for i := range stages {
				if strings.Contains(stages[i].truth, "v3/a") {
					stages[i].pages["v3/a"] = "x3"
				}
			}
			playLinks(t, &resourcesync.Source{URL: sourceURL, Versions: resourcesync.EveryVersion}, stages)
		})
	}
}

// TestVersionsInDumps checks EveryVersion where the resource comes in a package.
func TestVersionsInDumps(t *testing.T) {
	toMap := linkTo("timemap", www+"t/a", `type="application/link-format"`)
	docs := pages{"t/a": mapOf("a", "v1/a"), "v1/a": "x1"}
	dump := dumped("a", "1", hashOf("1"), toMap).with(docs)
	playLinks(t, &resourcesync.Source{URL: sourceURL, Versions: resourcesync.EveryVersion}, []linkStage{
		{pages: dump.with(pages{"t/a": "!500"}), truth: "a=1 v1/a=x1", want: inDoubt},
		{pages: dump, truth: "a=1 v1/a=x1"},
		{pages: dump.with(pages{"changelist.xml": changeList(0, never, since(1, "a", "updated", hashOf("2"), toMap)), "t/a": mapOf("a", "v1/a", "v2/a"), "v2/a": "x2"}), truth: "a=2 v1/a=x1 v2/a=x2"},
		{pages: dump.with(pages{"changelist.xml": changeList(0, never, since(1, "a", "updated", hashOf("2"), toMap), since(2, "a", "deleted", ""))}), truth: "v1/a=x1 v2/a=x2", want: either},
	})
}

// TestVersionsOfCollections checks that a resource that leaves a collection yields no
// versions, and those of a member stay.
func TestVersionsOfCollections(t *testing.T) {
	toMap := func(name string) string { return linkTo("timemap", www+"t/"+name, "") }
	in := linkTo("collection", otherHost, "")
	base := list(since(0, "a", "", hashOf("1"), toMap("a"), in), since(0, "b", "", hashOf("2"), toMap("b")))
	docs := pages{"t/a": mapOf("a", "v1/a"), "v1/a": "x1", "t/b": mapOf("b", "v1/b", "v1/a"), "v1/b": "y1", "a": "1", "b": "2"}
	left, back := since(1, "a", "updated", hashOf("1"), toMap("a")), since(2, "a", "updated", hashOf("1"), toMap("a"), in)
	fresh := func(n int, entries ...string) pages {
		return offers("resourcelist", "resourcelist.xml", "changelist", "changelist.xml").with(pages{"resourcelist.xml": resourceList(n, entries...), "changelist.xml": changeList(n, never)}).with(docs)
	}
	playLinks(t, &resourcesync.Source{URL: sourceURL, Versions: resourcesync.EveryVersion, Collections: []string{otherHost}}, []linkStage{
		{pages: listsOf(base).with(docs), truth: "a=1 v1/a=x1"},
		{pages: listsOf(base, left).with(docs), truth: "v1/a=x1", want: either},
		{pages: listsOf(base, left, back).with(docs), truth: "a=1 v1/a=x1"},
		{pages: fresh(5, since(0, "a", "", hashOf("1"), toMap("a")), since(0, "b", "", hashOf("2"), toMap("b"), in)), truth: "b=2 v1/a=x1 v1/b=y1", want: either},
	})
}

// TestTimeGatePublishers checks where TimeGates lead.
func TestTimeGatePublishers(t *testing.T) {
	gate := www + "g/a"
	const right, wrong = "Sun, 01 Jun 2025 12:01:00 GMT", "Sun, 01 Jun 2025 12:00:00 GMT"
	for name, test := range map[string]struct {
		stated string
		docs   sourcetest.Site
		text   string
	}{
		"a chain to the right time":              {"", sourcetest.Site{gate: {Location: www + "g2"}, www + "g2": {Location: www + "g3"}, www + "g3": {Location: www + "v"}, www + "v": dated("old", right)}, "old"},
		"another time":                           {"", sourcetest.Site{gate: {Location: www + "v"}, www + "v": dated("evil", wrong)}, "now"},
		"another time with the stated bytes":     {hashOf("old"), sourcetest.Site{gate: {Location: www + "v"}, www + "v": dated("old", wrong)}, "old"},
		"the right time with other bytes":        {hashOf("now"), sourcetest.Site{gate: {Location: www + "v"}, www + "v": dated("evil", right)}, "now"},
		"another host with other bytes":          {hashOf("now"), sourcetest.Site{gate: {Location: otherHost}, otherHost: dated("evil", right)}, "now"},
		"two that lead to each other":            {"", sourcetest.Site{gate: {Location: www + "g2"}, www + "g2": {Location: gate}}, "now"},
		"the resource itself":                    {hashOf("now"), sourcetest.Site{gate: {Location: www + "a"}}, "now"},
		"a list":                                 {"", sourcetest.Site{gate: {Location: sourceURL}}, "now"},
		"two headers":                            {"", sourcetest.Site{gate: {Body: "evil", Header: map[string][]string{"Memento-Datetime": {wrong, right}}}}, "now"},
		"gone":                                   {"", sourcetest.Site{gate: {Status: 410}}, "now"},
		"the version breaks off":                 {"", sourcetest.Site{gate: {Location: www + "v"}, www + "v": {Body: "no", Broken: true, Header: map[string][]string{"Memento-Datetime": {right}}}}, ""},
		"an empty version that states no length": {hashOf("now"), sourcetest.Site{gate: dated("", right)}, "now"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLinked(t)
			l.source.Versions = resourcesync.AnnouncedVersion
			l.set(listsOf(list(since(1, "a", "", test.stated, linkTo("timegate", gate, "")))))
			l.set(pages{"a": "now"})
			for url, doc := range test.docs {
				l.site[url] = doc
			}
			report := l.run()
			if test.text == "" {
				assert.False(t, report.InStep())
				assert.Empty(t, l.live())
				return
			}
			assert.True(t, report.InStep(), "%v", report.Failures)
			assert.Equal(t, map[string]string{"a": test.text}, l.live())
		})
	}
}

// TestBaselinesWithVersions checks that a baseline by a Resource List that is older than
// the changes deletes nothing on the word of TimeMaps, which are newer.
func TestBaselinesWithVersions(t *testing.T) {
	toMap := func(name string) string { return linkTo("timemap", www+"t/"+name, "") }
	base := list(since(0, "a", "", hashOf("1"), toMap("a")), since(0, "b", "", hashOf("2"), toMap("b")))
	docs := pages{"t/a": mapOf("a", "v1/a"), "t/b": mapOf("b", "v1/b"), "v1/a": "x1", "v1/b": "y1", "v2/a": "x2", "v1/n": "z1"}
	changes := list(since(1, "b", "deleted", ""), since(2, "n", "created", hashOf("3"), toMap("n")), since(5, "a", "updated", hashOf("4"), toMap("a")))
	second := fmt.Sprintf("<%sv2/a>;rel=memento;datetime=\"Sun, 01 Jun 2025 12:05:00 GMT\"", www)
	later := listsOf(base, changes...).with(docs).with(pages{"t/a": mapOf("a", "v1/a", second), "t/n": mapOf("n", "v1/n"), "t/b": "!404"})
	const first, last = "a=1 b=2 v1/a=x1 v1/b=y1", "a=4 n=3 v1/a=x1 v2/a=x2 v1/n=z1"
	for name, stages := range map[string][]linkStage{
		"the TimeMap has grown": {{pages: listsOf(base).with(docs), truth: first},
			{pages: later, truth: last + " v1/b=y1"}, {pages: later, truth: last, full: true}, {pages: later, truth: last, full: true}, {pages: later, truth: last}},
		"the TimeMap of a resource that is deleted": {{pages: later, truth: last}, {pages: later, truth: last, full: true}},
		"a resource goes and comes back": {{pages: listsOf(base).with(docs), truth: first},
			{pages: listsOf(base, changes[0]).with(docs).with(pages{"t/b": "!404"}), truth: "a=1 v1/a=x1 v1/b=y1"},
			{pages: listsOf(base, changes[0]).with(docs).with(pages{"t/b": "!404"}), truth: "a=1 v1/a=x1", full: true},
			{pages: listsOf(base, changes[0], since(2, "b", "created", hashOf("5"), toMap("b"))).with(docs), truth: "a=1 b=5 v1/a=x1 v1/b=y1", full: true}},
		"a version has the URI of a resource that is deleted": {{pages: listsOf(base[:1], changes[1]).with(docs).with(pages{"t/n": mapOf("n", "v1/n")}), truth: "a=1 n=3 v1/a=x1 v1/n=z1"},
			{pages: listsOf(base[:1], changes[1], since(6, "n", "deleted", "")).with(docs).with(pages{"t/a": mapOf("a", "v1/a", "n"), "n": "evil"}), truth: "a=1 v1/a=x1 v1/n=z1"},
			{pages: listsOf(base[:1], changes[1], since(6, "n", "deleted", ""), since(7, "a", "updated", hashOf("6"), toMap("a"))).with(docs).with(pages{"t/a": mapOf("a", "v1/a", "n"), "n": "evil"}), truth: "a=6 v1/a=x1 v1/n=z1"},
			{pages: listsOf(base[:1], changes[1], since(6, "n", "deleted", ""), since(7, "a", "updated", hashOf("6"), toMap("a"))).with(docs).with(pages{"t/a": mapOf("a", "v1/a", "n"), "n": "evil"}), truth: "a=6 v1/a=x1", full: true},
			{pages: listsOf(nil).with(docs).with(pages{"resourcelist.xml": resourceList(8, base[0]), "changelist.xml": changeList(8, never), "a": "1", "t/a": mapOf("a", "v1/a", "n"), "n": "old"}), truth: "a=1 n=old v1/a=x1", full: true, want: either}},
		"no resource has changed": {{pages: listsOf(base, changes[1]).with(docs).with(pages{"t/n": mapOf("n", "v1/n")}), truth: first + " n=3 v1/n=z1"},
			{pages: listsOf(base, changes[1]).with(docs).with(pages{"t/n": mapOf("n", "v1/n"), "t/a": mapOf("a", "v1/a", second)}), truth: first + " n=3 v1/n=z1 v2/a=x2", full: true}},
	} {
		t.Run(name, func(t *testing.T) {
			playLinks(t, &resourcesync.Source{URL: sourceURL, Versions: resourcesync.EveryVersion}, stages)
		})
	}
}

// TestSameBaselineWithVersions checks that a baseline that is the same again changes
// nothing, and reads each TimeMap once.
func TestSameBaselineWithVersions(t *testing.T) {
	l := newLinked(t)
	l.source.Versions = resourcesync.EveryVersion
	toMap := func(name string) string { return linkTo("timemap", www+"t/"+name, "") }
	l.set(listsOf(list(since(0, "a", "", hashOf("1"), toMap("a"))), since(1, "a", "updated", hashOf("2"), toMap("a")), since(2, "n", "created", hashOf("3"), toMap("n"))))
	l.set(pages{"a": "2", "n": "3", "t/a": mapOf("a", "v1/a"), "t/n": mapOf("n", "v1/n"), "v1/a": "x", "v1/n": "y"})
	require.True(t, l.run().InStep())
	log := testkit.Log(t, l.store)
	l.h.Full = true
	require.True(t, l.run().InStep())
	assert.Equal(t, log, testkit.Log(t, l.store))
	assert.ElementsMatch(t, []string{"200 t/a", "200 t/n"}, l.asked)
}

// TestVersionsInChangeDumps checks EveryVersion where the log is a Change Dump.
func TestVersionsInChangeDumps(t *testing.T) {
	toMap := func(name string) string { return linkTo("timemap", www+"t/"+name, "") }
	base := list(since(0, "a", "", hashOf("1"), toMap("a")), since(0, "b", "", hashOf("2"), toMap("b")))
	docs := pages{"t/a": mapOf("a", "v1/a"), "t/b": mapOf("b", "v1/b"), "v1/a": "x1", "v1/b": "y1", "v1/n": "z1", "t/n": mapOf("n", "v1/n")}
	pack := func(path string, from, until int, texts map[string]string, entries ...string) string {
		files := map[string]string{"manifest.xml": document("urlset", `capability="changedump-manifest"`+timed("from", from)+timed("until", until), "capabilitylist.xml", entries...)}
		for name, text := range texts {
			files["res/"+name] = text
		}
		served := make(map[string]string)
		entry := new(publisher).pack(served, path, timed("from", from)+timed("until", until), files)
		for name, text := range served {
			docs[name] = text
		}
		return entry
	}
	in := func(n int, name, text string) string {
		return since(n, name, "updated", fmt.Sprintf("path=%q %s", "/res/"+name, hashOf(text)), toMap(name))
	}
	first := pack("p1", 0, 3, map[string]string{"a": "3", "n": "4"}, in(1, "a", "3"), in(2, "n", "4"))
	second := pack("p2", 3, never, nil, since(4, "b", "deleted", ""))
	dump := func(packages ...string) pages {
		return offers("resourcelist", "resourcelist.xml", "changedump", "changedump.xml").with(docs).with(pages{
			"resourcelist.xml": resourceList(0, base...),
			"changedump.xml":   document("urlset", `capability="changedump"`+timed("from", 0), "capabilitylist.xml", packages...)})
	}
	playLinks(t, &resourcesync.Source{URL: sourceURL, Versions: resourcesync.EveryVersion}, []linkStage{
		{pages: dump(), truth: "a=1 b=2 v1/a=x1 v1/b=y1", want: either},
		{pages: dump(first), truth: "a=3 b=2 n=4 v1/a=x1 v1/b=y1 v1/n=z1"},
		{pages: dump(first), truth: "a=3 b=2 n=4 v1/a=x1 v1/b=y1 v1/n=z1", full: true},
		{pages: dump(first, second), truth: "a=3 n=4 v1/a=x1 v1/b=y1 v1/n=z1"},
		{pages: dump(first, second).with(pages{"t/b": "!404"}), truth: "a=3 n=4 v1/a=x1 v1/n=z1", full: true},
	})
	playLinks(t, &resourcesync.Source{URL: sourceURL, Versions: resourcesync.EveryVersion}, []linkStage{
		{pages: dump(first, second).with(pages{"t/b": "!404"}), truth: "a=3 n=4 v1/a=x1 v1/n=z1"}})
}
