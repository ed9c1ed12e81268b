package resourcesync_test

import (
	"context"
	"crypto/md5"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/resourcesync"
)

var linkSeeds = flag.Uint64("link-seeds", racing.Some[uint64](200), "how many seeds TestLinkHistories has")

// A related is a resource with others around it.
type related struct {
	text, page, meta string // content, an alternate of text/html, metadata; empty: none
	member           bool
	version          int // from 1; the texts of all of them are in relations.versions
	at               int
}

// relations is a simulated publisher of resources with links.
type relations struct {
	random    *rand.Rand
	now       int // a minute
	resources map[string]related
	versions  map[string][]string
	changes   []string
	dropped   int // changes that are no longer listed
	from      int // of the Change List
	listed    map[string]related
	at        int // of the list

	digests bool // entries and links state them
	mirrors bool
	maps    bool // TimeMaps, else links memento
	patches bool
	dump    bool
	noList  bool // besides the dump
}

// put creates, updates or deletes a resource, and returns the entry of the change.
func (p *relations) put(name string) string {
	p.now++
	old, known := p.resources[name]
	if known && p.random.IntN(4) == 0 {
		delete(p.resources, name)
		return p.log(since(p.now, name, "deleted", ""))
	}
	r := old
	r.at = p.now
	text := func(kind string, often int) string {
		if p.random.IntN(often) == 0 {
			return ""
		}
		return fmt.Sprintf("%s/%s/%d%s", kind, name, p.now, []string{"y", ""}[p.random.IntN(2)])
	}
	if !known || p.random.IntN(3) > 0 {
		p.versions[name] = append(p.versions[name], text("text", 10))
		r.version = len(p.versions[name])
		r.text = p.versions[name][r.version-1]
	}
	if !known || p.random.IntN(2) == 0 {
		r.page = text("page", 2)
	}
	if !known || p.random.IntN(2) == 0 {
		r.meta = text("meta", 3)
	}
	r.member = p.random.IntN(3) > 0 || name == "r1"
	p.resources[name] = r
	patch := ""
	if p.patches && known {
		patch = linkTo(resourcesync.RelationPatch, www+name+".patch", `type="application/json-patch"`)
	}
	return p.log(p.entry(name, r, "updated", patch))
}

func (p *relations) log(entry string) string {
	p.changes = append(p.changes, entry)
	return entry
}

func (p *relations) md(text string) string {
	if p.digests {
		return hashOf(text)
	}
	return ""
}

func (p *relations) entry(name string, r related, change string, more ...string) string {
	links := more
	modified := fmt.Sprintf(`modified=%q `, minute(r.at))
	if p.mirrors {
		links = append(links, linkTo("duplicate", otherHost+name, `pri="1"`), linkTo("duplicate", www+"none", `pri="2"`))
	}
	if r.page != "" {
		links = append(links, linkTo("alternate", www+name+".html", `type="text/html" `+modified+p.md(r.page)))
	}
	if r.meta != "" {
		links = append(links, linkTo("describedby", www+name+".xml", modified+p.md(r.meta)))
	}
	if r.member {
		links = append(links, linkTo("collection", otherHost, ""))
	}
	if p.maps {
		links = append(links, linkTo("timemap", www+"t/"+name, `type="application/link-format"`))
	} else {
		links = append(links, linkTo("memento", p.versionOf(name, r.version), p.md(r.text)))
	}
	return since(r.at, name, change, p.md(r.text), links...)
}

func (p *relations) versionOf(name string, n int) string {
	return fmt.Sprintf("%sv%d/%s", www, n, name)
}

func (p *relations) list() {
	p.now++
	p.listed, p.at = maps.Clone(p.resources), p.now
	if p.random.IntN(2) == 0 {
		p.dropped, p.from = len(p.changes), p.now
	}
}

// site returns what the publisher serves.
func (p *relations) site() sourcetest.Site {
	docs := pages{"changelist.xml": changeList(p.from, never, p.changes[p.dropped:]...)}
	offered := []string{"changelist", "changelist.xml"}
	entries := func(more func(name string, r related) string) (all []string) {
		for _, name := range slices.Sorted(maps.Keys(p.listed)) {
			r := p.listed[name]
			entry := p.entry(name, r, "")
			all = append(all, strings.Replace(entry, "<rs:md ", "<rs:md "+more(name, r), 1))
		}
		return all
	}
	if !p.noList {
		offered = append(offered, "resourcelist", "resourcelist.xml")
		docs["resourcelist.xml"] = resourceList(p.at, entries(func(string, related) string { return "" })...)
	}
	if p.dump {
		offered = append(offered, "resourcedump", "resourcedump.xml")
		files := make(map[string]string)
		in := entries(func(name string, r related) string {
			files["res/"+name] = r.text
			return fmt.Sprintf("path=%q ", "/res/"+name)
		})
		files["manifest.xml"] = document("urlset", `capability="resourcedump-manifest"`+timed("at", p.at), "capabilitylist.xml", in...)
		pack := new(publisher).pack(docs, "dump", "", files)
		docs["resourcedump.xml"] = document("urlset", `capability="resourcedump"`+timed("at", p.at), "capabilitylist.xml", pack)
	}
	docs = docs.with(offers(offered...))
	for name, all := range p.versions {
		var links []string
		for i, text := range all {
			docs[p.versionOf(name, i+1)] = text
			links = append(links, p.versionOf(name, i+1))
		}
		if _, ok := p.resources["r1"]; ok { // a TimeMap also names what is not a memento
			links = append(links, www+"r1")
		}
		docs["t/"+name] = mapOf(name, append(links, www+name)...)
	}
	for name, r := range p.resources {
		docs[name] = r.text
		if r.page != "" {
			docs[name+".html"] = r.page
		}
		if r.meta != "" {
			docs[name+".xml"] = r.meta
		}
		if p.mirrors && p.digests && r.text != "" {
			docs[otherHost+name] = []string{r.text, "evil", ""}[len(r.text)%3]
		}
		docs[name+".patch"] = `[{"op":"replace","path":"","value":"evil"}]`
	}
	site := serve(docs, pages{}, 1)
	for url, doc := range site {
		doc.Header["Date"] = []string{time.Date(2025, 6, 1, 12, p.now, 0, 0, time.UTC).Format("Mon, 02 Jan 2006 15:04:05 GMT")}
		site[url] = doc
	}
	return site
}

// truth returns what a Source must hold in step, and what it may hold besides: versions
// of resources that it no longer yields.
func (p *relations) truth(s *resourcesync.Source) (must, may map[string]string) {
	must, may = make(map[string]string), make(map[string]string)
	for name, all := range p.versions {
		r, live := p.resources[name]
		live = live && (s.Include == nil || s.Include(www+name)) && (len(s.Collections) == 0 || r.member)
		if s.Versions == resourcesync.EveryVersion {
			for i, text := range all {
				id := strings.TrimPrefix(p.versionOf(name, i+1), www)
				if live && (p.maps || i+1 == r.version) {
					must[id] = text
				}
				may[id] = text
			}
		}
		if !live {
			continue
		}
		must[name] = r.text
		if len(s.Types) > 0 && r.page != "" {
			must[name] = r.page
		}
		if r.meta != "" && (s.DescribedBy || s.Select != nil) {
			must[name+"|"] = r.meta
			if s.Select != nil && !strings.HasSuffix(r.meta, "y") {
				must[name] = "-"
			}
		}
	}
	return must, may
}

// sourceOf returns a Source with random settings.
func (p *relations) sourceOf() *resourcesync.Source {
	s := &resourcesync.Source{URL: sourceURL, Name: testkit.Src}
	if p.random.IntN(3) == 0 {
		s.Types = []string{"text/html"}
	}
	switch p.random.IntN(4) {
	case 0:
		s.DescribedBy = true
	case 1:
		s.Select = func(_ *websync.Resource, _ websync.Link, metadata io.Reader) (bool, error) {
			text, err := io.ReadAll(metadata)
			return strings.HasSuffix(string(text), "y"), err
		}
	}
	if p.random.IntN(3) == 0 {
		s.Collections = []string{otherHost}
	}
	if p.random.IntN(4) == 0 {
		s.Include = func(uri string) bool { return !strings.HasSuffix(uri, "3") }
	}
	s.Versions = resourcesync.Versions(p.random.IntN(3))
	s.NoDumps = p.random.IntN(3) == 0
	return s
}

// TestLinkHistories harvests random publishers with links by random settings, while
// requests fail and payloads come.
func TestLinkHistories(t *testing.T) {
	for seed := range *linkSeeds {
		random := rand.New(rand.NewPCG(seed, 11))
		flip := func() bool { return random.IntN(2) == 0 }
		p := &relations{random: random, resources: make(map[string]related), versions: make(map[string][]string),
			digests: flip(), mirrors: flip(), maps: flip(), patches: flip(), dump: flip()}
		p.noList = p.dump && flip()
		s := p.sourceOf()
		t.Run(fmt.Sprint(seed), func(t *testing.T) { p.harvest(t, s) })
		if t.Failed() {
			return
		}
	}
}

func (p *relations) harvest(t *testing.T, s *resourcesync.Source) {
	const rounds = 8
	store, held := harvest.NewCatalog(memstore.New()), make(map[string]bool) // what was the truth once
	var sent []string
	for round := range rounds {
		for range p.random.IntN(6) {
			entry := p.put(fmt.Sprint("r", p.random.IntN(6)))
			if round > 0 && p.random.IntN(3) == 0 {
				sent = append(sent, changeList(0, never, entry))
			}
		}
		if round == 0 || p.random.IntN(3) == 0 {
			p.list()
		}
		site := p.site()
		must, may := p.truth(s)
		for id, text := range may {
			held[id+"="+text] = true
		}
		for id, text := range must {
			held[id+"="+text] = true
		}
		for name, all := range p.versions { // what a payload announced
			for _, text := range all {
				held[name+"="+text] = true
			}
		}
		when := fmt.Sprintf("round %d: %+v %v, %v, listed at %d: %v, from %d", round, *s, p.resources, p.versions, p.at, p.listed, p.from)
		for n := p.random.IntN(3); n > 0 && len(sent) > 0; n-- {
			if src, err := s.Payload([]byte(sent[p.random.IntN(len(sent))])); err == nil {
				_, _ = p.run(t, store, site, src, 0, false)
			}
		}
		failing := uint64(0)
		if round < rounds-2 && p.random.IntN(3) == 0 {
			failing = p.random.Uint64() | 1
		}
		before := allBodies(t, store)
		report, err := p.run(t, store, site, s, failing, round >= rounds-2)
		if failing == 0 {
			require.NoError(t, err, when)
		}
		live := allBodies(t, store)
		for id, text := range live {
			if p.digests || !strings.Contains(id, "|") && failing == 0 {
				assert.True(t, held[id+"="+text], "%s=%s\n%s", id, text, when)
			}
			assert.NotContains(t, text, "evil", "%s: %s", id, when)
		}
		for id := range must {
			if _, ok := before[id]; ok && !strings.Contains(id, "|") {
				assert.Contains(t, live, id, "deleted: %s", when)
			}
		}
		if failing == 0 && round >= rounds-2 {
			assert.True(t, report.InStep(), "%v %v\n%s", report.Problems, report.Failures, when)
		}
		if err == nil && report.InStep() {
			for id := range live {
				if _, ok := must[id]; !ok && may[id] == live[id] {
					delete(live, id)
				}
			}
			assert.Equal(t, must, live, when)
		}
		if t.Failed() {
			t.Log(strings.Join(p.changes, "\n"))
			return
		}
	}
}

// run harvests a site. If failing is not zero, some requests fail.
func (p *relations) run(t *testing.T, store *harvest.Catalog, site sourcetest.Site, src harvest.Source, failing uint64, recheck bool) (*harvest.Report, error) {
	testkit.MakeDue(t, store)
	fetcher := &sourcetest.Fetcher{Site: site}
	if failing != 0 {
		fetcher.Hook = func(_ context.Context, _ int, req *harvest.Request, doc sourcetest.Document) (sourcetest.Document, error) {
			sum := md5.Sum(fmt.Append(nil, failing, req.URL)) // whatever the order of the requests
			switch sum[0] % 25 {
			case 0:
				return doc, fmt.Errorf("the connection broke: %w", harvest.ErrTemporary)
			case 1:
				return sourcetest.Document{Status: 503}, nil
			case 2:
				doc.Broken, doc.Body = true, doc.Body[:len(doc.Body)/2]
			case 3:
				if !strings.HasSuffix(req.URL, ".html") { // what is gone is replaced by the next best
					return sourcetest.Document{Status: 404}, nil
				}
			}
			return doc, nil
		}
	}
	h := &harvest.Harvester{Sample: -1, Catalog: store, Fetcher: fetcher, MaxDelete: -1, Recheck: recheck, Concurrency: 1}
	report, err := h.Run(t.Context(), src)
	streams, spools := fetcher.Open()
	assert.Zero(t, streams+spools, "bodies that are not closed")
	assert.Less(t, len(fetcher.Exchanges()), 300, "requests")
	return report, err
}
