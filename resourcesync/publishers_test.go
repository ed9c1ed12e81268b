package resourcesync_test

import (
	"crypto/md5"
	"fmt"
	"maps"
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
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/resourcesync"
)

// minute returns a time in minutes after noon.
func minute(n int) string {
	return stamp(time.Date(2025, 6, 1, 12, n, 0, 0, time.UTC))
}

const never = -1 << 30 // a minute that is not stated

func timed(attr string, n int) string {
	if n == never {
		return ""
	}
	return fmt.Sprintf(" %s=%q", attr, minute(n))
}

// pages are the documents of a publisher by path. One that begins with "-> " redirects.
type pages map[string]string

func (p pages) with(more pages) pages {
	all := maps.Clone(p)
	maps.Copy(all, more)
	return all
}

// has returns the entry of a resource in a Resource List.
func has(name, text string) string {
	return "<url><loc>" + www + name + "</loc><rs:md " + hashOf(text) + "/></url>"
}

// got, touched and lost are entries of Change Lists.
func got(n int, name, text string) string {
	return entryWith(name, `change="updated"`+timed("datetime", n)+" "+hashOf(text), "")
}

func touched(n int, name string) string {
	return entryWith(name, `change="updated"`+timed("datetime", n), "")
}

func lost(n int, name string) string {
	return entryWith(name, `change="deleted"`+timed("datetime", n), "")
}

func resourceList(at int, entries ...string) string {
	return document("urlset", `capability="resourcelist"`+timed("at", at), "capabilitylist.xml", entries...)
}

func changeList(from, until int, entries ...string) string {
	return document("urlset", `capability="changelist"`+timed("from", from)+timed("until", until), "capabilitylist.xml", entries...)
}

func listed(path string, from, until int) string {
	return named("sitemap", path, strings.TrimSpace(timed("from", from)+timed("until", until)))
}

func changeIndex(from int, lists ...string) string {
	return document("sitemapindex", `capability="changelist"`+timed("from", from), "capabilitylist.xml", lists...)
}

// offers returns a Capability List: capabilities and paths in turn.
func offers(what ...string) pages {
	var entries []string
	for pair := range slices.Chunk(what, 2) {
		entries = append(entries, named("url", pair[1], fmt.Sprintf("capability=%q", pair[0])))
	}
	return pages{"capabilitylist.xml": document("urlset", `capability="capabilitylist"`, "description.xml", entries...)}
}

// held parses "a=1 b=2".
func held(text string) map[string]string {
	m := make(map[string]string)
	for f := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(f, "=")
		m[name] = value
	}
	return m
}

// serve returns the site that has pages, and resources as in truth.
func serve(p pages, truth map[string]string, day int) sourcetest.Site {
	site := make(sourcetest.Site)
	for name, text := range pages(truth).with(p) {
		if !strings.Contains(name, "://") {
			name = www + name
		}
		doc := sourcetest.Document{Header: map[string][]string{"Date": {fmt.Sprintf("Mon, 0%d Jun 2025 15:04:05 GMT", day)}}}
		if to, ok := strings.CutPrefix(text, "-> "); ok {
			doc.Location = to
		} else {
			doc.Body, doc.ETag = text, fmt.Sprintf(`"%x"`, md5.Sum([]byte(text)))
		}
		site[name] = doc
	}
	return site
}

// harvestOnce runs the Source, and returns what was reported as text.
func harvestOnce(t *testing.T, store *harvest.Catalog, site sourcetest.Site) (*harvest.Report, string) {
	t.Helper()
	var b strings.Builder
	fetcher := &sourcetest.Fetcher{Site: site}
	h := &harvest.Harvester{Sample: -1, Catalog: store, Fetcher: fetcher, MaxDelete: -1,
		Hooks: testkit.OnFinding(func(f websync.Finding) { fmt.Fprintln(&b, f) })}
	report, err := h.Run(t.Context(), &resourcesync.Source{URL: sourceURL, Name: testkit.Src, MaxPackage: 1 << 20})
	fmt.Fprintln(&b, err)
	for _, p := range append(report.Problems, report.Failures...) {
		fmt.Fprintln(&b, p)
	}
	assert.Less(t, len(fetcher.Exchanges()), 100, "requests")
	streams, spools := fetcher.Open()
	assert.Zero(t, streams+spools, "bodies that are not closed")
	return report, b.String()
}

type verdict int

const (
	inStep  verdict = iota // the run must be in step
	inDoubt                // it must not be
	either                 // it may be
)

type stage struct {
	pages pages
	truth string // what the publisher has
	want  verdict
	said  string // an error or finding
}

// TestPublishers harvests publishers stage by stage. Whatever they publish: a run that is
// in step holds what the publisher has, nothing is deleted that it still has, and when
// the publisher recovers, so does the harvest.
func TestPublishers(t *testing.T) {
	both := offers("resourcelist", "resourcelist.xml", "changelist", "changelist.xml")
	base := both.with(pages{
		"resourcelist.xml": resourceList(0, has("a", "1"), has("b", "1"), has("c", "1")),
		"changelist.xml":   changeList(0, never),
	})
	begin := stage{pages: base, truth: "a=1 b=1 c=1"}
	changes := func(entries ...string) pages {
		return base.with(pages{"changelist.xml": changeList(0, never, entries...)})
	}
	index := func(lists []string, docs pages) pages {
		return base.with(docs).with(pages{"changelist.xml": changeIndex(0, lists...)})
	}
	parted := func(at int, parts ...string) string {
		return document("sitemapindex", `capability="resourcelist"`+timed("at", at), "capabilitylist.xml", parts...)
	}
	part := func(path string, at int) string { return named("sitemap", path, strings.TrimSpace(timed("at", at))) }
	onlyList := offers("resourcelist", "resourcelist.xml")
	const unreadable = "<sitemap><rs:md/></sitemap>"
	late := index([]string{listed("c1", 0, 2), listed("open", 2, never)}, pages{
		"c1": changeList(0, 2, got(1, "a", "2")), "open": changeList(4, never, got(5, "c", "2"))})
	unclear := pages{"c1": changeList(0, 2, got(1, "a", "2")), "c2": changeList(2, 4, lost(3, "b"), got(3, "c", "2")), "c3": changeList(2, never, got(5, "c", "5"))}

	for name, stages := range map[string][]stage{
		"a list grows": {begin,
			{pages: changes(got(1, "a", "2"), lost(2, "b")), truth: "a=2 c=1"},
			{pages: changes(got(1, "a", "2"), lost(2, "b"), got(3, "b", "3")), truth: "a=2 b=3 c=1"}},
		"again at one instant, without digests": {begin,
			{pages: changes(touched(1, "a")), truth: "a=2 b=1 c=1"},
			{pages: changes(touched(1, "a"), touched(1, "a")), truth: "a=3 b=1 c=1"},
			{pages: changes(touched(1, "a"), touched(1, "a"), touched(1, "b"), touched(1, "a")), truth: "a=4 b=4 c=1"}},
		"again before the last change, without digests": {begin,
			{pages: changes(touched(1, "a"), touched(4, "b")), truth: "a=2 b=2 c=1"},
			{pages: changes(touched(1, "a"), touched(4, "b"), touched(1, "a")), truth: "a=3 b=2 c=1"},
			{pages: changes(touched(1, "a"), touched(4, "b"), touched(1, "a"), touched(1, "a")), truth: "a=4 b=2 c=1"}},
		"at the lastmod of the Resource List, without digests": {
			{pages: base.with(pages{"resourcelist.xml": resourceList(1, since(1, "a", "", ""))}), truth: "a=1"},
			{pages: changes(touched(1, "a")).with(pages{"resourcelist.xml": resourceList(1, since(1, "a", "", ""))}), truth: "a=2"}},
		"again with another type, without digests": {begin,
			{pages: changes(entryWith("a", `change="updated" type="text/plain"`+timed("datetime", 1), "")), truth: "a=2 b=1 c=1"},
			{pages: changes(entryWith("a", `change="updated" type="text/plain"`+timed("datetime", 1), ""), entryWith("a", `change="updated" type="text/html"`+timed("datetime", 1), "")), truth: "a=3 b=1 c=1"}},
		"again at one instant, in the next list": {begin,
			{pages: index([]string{listed("c1", 0, never)}, pages{"c1": changeList(0, never, touched(1, "a"))}), truth: "a=2 b=1 c=1"},
			{pages: index([]string{listed("c1", 0, 1), listed("c2", 1, never)}, pages{"c1": changeList(0, 1, touched(1, "a")), "c2": changeList(1, never, touched(1, "a"))}), truth: "a=3 b=1 c=1"}},
		"again at one instant, and the list moves": {begin,
			{pages: changes(touched(1, "a")), truth: "a=2 b=1 c=1"},
			{pages: base.with(offers("resourcelist", "resourcelist.xml", "changelist", "moved.xml")).with(pages{"moved.xml": changeList(0, never, touched(1, "a"), touched(1, "a"))}), truth: "a=3 b=1 c=1"}},
		"a list moves": {begin,
			{pages: changes(got(1, "a", "2")), truth: "a=2 b=1 c=1"},
			{pages: base.with(offers("resourcelist", "resourcelist.xml", "changelist", "moved.xml")).with(pages{
				"changelist.xml": "-> moved.xml", "moved.xml": changeList(0, never, got(1, "a", "2"), lost(2, "b"))}), truth: "a=2 c=1"}},
		"an open list is replaced by one that begins later": {begin,
			{pages: changes(got(1, "a", "2")), truth: "a=2 b=1 c=1"},
			{pages: base.with(offers("resourcelist", "resourcelist.xml", "changelist", "next.xml")).with(pages{
				"next.xml": changeList(5, never, got(6, "c", "2"))}), truth: "a=2 c=2", want: inDoubt, said: "next.xml"}},
		"a list becomes an index": {begin,
			{pages: changes(got(1, "a", "2")), truth: "a=2 b=1 c=1"},
			{pages: index([]string{listed("c1", 0, 2), listed("c2", 2, never)}, pages{
				"c1": changeList(0, 2, got(1, "a", "2"), lost(2, "b")), "c2": changeList(2, never, got(2, "c", "2"))}), truth: "a=2 c=2"}},
		"a list is split within an instant": {begin,
			{pages: changes(got(1, "a", "2"), got(1, "b", "2")), truth: "a=2 b=2 c=1"},
			{pages: index([]string{listed("c1", 0, 1), listed("c2", 1, never)}, pages{
				"c1": changeList(0, 1, got(1, "a", "2")), "c2": changeList(1, never, got(1, "b", "2"), lost(1, "c"))}), truth: "a=2 b=2"}},
		"an index becomes a list": {begin,
			{pages: index([]string{listed("c1", 0, 2), listed("c2", 2, never)}, pages{
				"c1": changeList(0, 2, got(1, "a", "2")), "c2": changeList(2, never, got(3, "b", "2"))}), truth: "a=2 b=2 c=1"},
			{pages: changes(got(1, "a", "2"), got(3, "b", "2"), lost(4, "c")), truth: "a=2 b=2"}},
		"the lists of an index are renamed": {begin,
			{pages: index([]string{listed("c1", 0, 2), listed("c2", 2, never)}, pages{
				"c1": changeList(0, 2, got(1, "a", "2")), "c2": changeList(2, never, got(3, "b", "2"))}), truth: "a=2 b=2 c=1"},
			{pages: index([]string{listed("c2", 0, 2), listed("c1", 2, never)}, pages{
				"c2": changeList(0, 2, got(1, "a", "2")), "c1": changeList(2, never, got(3, "b", "2"), lost(4, "c"))}), truth: "a=2 b=2"}},
		"an index in the wrong order": {begin,
			{pages: index([]string{listed("c2", 2, never), listed("c1", 0, 2)}, pages{
				"c1": changeList(0, 2, got(1, "a", "2"), got(1, "b", "2")), "c2": changeList(2, never, lost(3, "b"))}), truth: "a=2 c=1", want: either}},
		"old changes are dropped and from says so": {begin,
			{pages: changes(got(1, "a", "2")), truth: "a=2 b=1 c=1"},
			{pages: base.with(pages{"changelist.xml": changeList(5, never, got(6, "c", "2")), "resourcelist.xml": resourceList(5, has("a", "2"), has("c", "1"))}), truth: "a=2 c=2", said: "changelist.xml"}},
		"old changes are dropped and the Resource List is old": {begin,
			{pages: changes(got(1, "a", "2")), truth: "a=2 b=1 c=1"},
			{pages: base.with(pages{"changelist.xml": changeList(5, never, got(6, "c", "2"))}), truth: "a=2 c=2", want: inDoubt, said: "changelist.xml"}},
		"several changes at one instant": {begin,
			{pages: changes(got(1, "a", "2"), lost(1, "a"), got(1, "a", "3")), truth: "a=3 b=1 c=1"},
			{pages: changes(got(1, "a", "2"), lost(1, "a"), got(1, "a", "3"), lost(1, "a"), got(1, "b", "2")), truth: "b=2 c=1"},
			{pages: changes(got(1, "a", "2"), lost(1, "a"), got(1, "a", "3"), lost(1, "a"), got(1, "b", "2"), got(1, "a", "4")), truth: "a=4 b=2 c=1"}},
		"entries repeat at one instant": {begin,
			{pages: changes(got(1, "a", "2"), got(1, "a", "2")), truth: "a=2 b=1 c=1"},
			{pages: changes(got(1, "a", "2"), got(1, "a", "2"), got(1, "a", "2"), lost(1, "b")), truth: "a=2 c=1"}},
		"created, deleted and created again across lists": {begin,
			{pages: index([]string{listed("c1", 0, 2), listed("c2", 2, 4), listed("c3", 4, never)}, pages{
				"c1": changeList(0, 2, got(1, "n", "1")), "c2": changeList(2, 4, lost(3, "n")), "c3": changeList(4, never, got(5, "n", "2"))}), truth: "a=1 b=1 c=1 n=2"},
			{pages: index([]string{listed("c1", 0, 2), listed("c2", 2, 4), listed("c3", 4, 6), listed("c4", 6, never)}, pages{
				"c1": changeList(0, 2, got(1, "n", "1")), "c2": changeList(2, 4, lost(3, "n")), "c3": changeList(4, 6, got(5, "n", "2")), "c4": changeList(6, never, lost(6, "n"))}), truth: "a=1 b=1 c=1"}},
		"created, deleted and created again without times": {begin,
			{pages: index([]string{listed("c1", 0, 2), listed("c2", 2, 4), listed("c3", 4, never)}, pages{
				"c1": changeList(0, 2, got(never, "n", "1")), "c2": changeList(2, 4, lost(never, "n")), "c3": changeList(4, never, got(never, "n", "2"))}), truth: "a=1 b=1 c=1 n=2"},
			{pages: index([]string{listed("c1", 0, 2), listed("c2", 2, 4), listed("c3", 4, never)}, pages{
				"c1": changeList(0, 2, got(never, "n", "1")), "c2": changeList(2, 4, lost(never, "n")), "c3": changeList(4, never, got(never, "n", "2"), lost(never, "n"), got(never, "n", "3"), lost(never, "n"))}), truth: "a=1 b=1 c=1"}},
		"the same changes again without times": {begin,
			{pages: changes(got(never, "n", "1"), lost(never, "n")), truth: "a=1 b=1 c=1"},
			{pages: changes(got(never, "n", "1"), lost(never, "n"), got(never, "n", "1"), lost(never, "n"), got(never, "n", "1")), truth: "a=1 b=1 c=1 n=1"}},
		"until before from": {begin,
			{pages: base.with(pages{"changelist.xml": changeList(5, 1, got(6, "a", "2"))}), truth: "a=2 b=1 c=1", want: either, said: "changelist.xml"},
			{pages: base.with(pages{"changelist.xml": changeList(5, 1, got(6, "a", "2"), lost(7, "b"))}), truth: "a=2 c=1", want: either, said: "changelist.xml"}},
		"until before from in an index": {begin,
			{pages: index([]string{listed("c1", 2, 0), listed("c2", 2, never)}, pages{
				"c1": changeList(2, 0, got(1, "a", "2")), "c2": changeList(2, never, lost(3, "b"))}), truth: "a=2 c=1", want: either}},
		"until before its entries": {begin,
			{pages: base.with(pages{"changelist.xml": changeList(0, 1, got(6, "a", "2"))}), truth: "a=2 b=1 c=1", want: either},
			{pages: base.with(pages{"changelist.xml": changeList(0, 1, got(6, "a", "2"), lost(7, "b"))}), truth: "a=2 c=1", want: either}},
		"from in the future": {begin,
			{pages: base.with(pages{"changelist.xml": changeList(1<<24, never, got(1, "a", "2"))}), truth: "a=2 b=1 c=1", want: either, said: "changelist.xml"},
			{pages: base.with(pages{"changelist.xml": changeList(1<<24, never, got(1, "a", "2"), lost(2, "b"))}), truth: "a=2 c=1", want: either, said: "changelist.xml"}},
		"a change in the future": {begin,
			{pages: changes(got(1<<24, "a", "2")), truth: "a=2 b=1 c=1", want: either},
			{pages: changes(got(1<<24, "a", "2"), lost(2, "a"), got(3, "b", "2")), truth: "b=2 c=1", want: either}},
		"an index that lists itself": {begin,
			{pages: index([]string{listed("c1", 0, 2), listed("changelist.xml", 2, never)}, pages{"c1": changeList(0, 2, got(1, "a", "2"))}), truth: "a=2 b=1 c=1", want: inDoubt, said: "changelist.xml"}},
		"two indexes that list each other": {begin,
			{pages: index([]string{listed("c1", 0, never)}, pages{"c1": changeIndex(0, listed("changelist.xml", 0, never))}), truth: "a=1 b=1 c=1", want: inDoubt, said: "c1"}},
		"an index that names a list twice": {begin,
			{pages: index([]string{listed("c1", 0, never), listed("c1", 0, never)}, pages{"c1": changeList(0, never, got(1, "a", "2"), lost(2, "a"))}), truth: "b=1 c=1", want: either},
			{pages: index([]string{listed("c1", 0, never), listed("c1", 0, never)}, pages{"c1": changeList(0, never, got(1, "a", "2"), lost(2, "a"), got(3, "a", "3"))}), truth: "a=3 b=1 c=1", want: either}},
		"a list is named twice, another between": {begin,
			{pages: index([]string{listed("c1", 0, 2), listed("c2", 2, 4), listed("c1", 0, 2)}, pages{
				"c1": changeList(0, 2, got(never, "a", "2")), "c2": changeList(2, 4, lost(never, "a"))}), truth: "b=1 c=1", want: either}},
		"an index without lists": {begin, {pages: index(nil, nil), truth: "a=1 b=1 c=1", want: either}},
		"a closed list grows": {begin,
			{pages: base.with(pages{"changelist.xml": changeList(0, 2, got(1, "a", "2"))}), truth: "a=2 b=1 c=1"},
			{pages: base.with(pages{"changelist.xml": changeList(0, 4, got(1, "a", "2"), lost(3, "b"))}), truth: "a=2 c=1"}},
		"a closed list grows and until stays": {begin,
			{pages: base.with(pages{"changelist.xml": changeList(0, 2, got(1, "a", "2"))}), truth: "a=2 b=1 c=1"},
			{pages: base.with(pages{"changelist.xml": changeList(0, 2, got(1, "a", "2"), lost(2, "b"))}), truth: "a=2 c=1"}},
		"a closed list of an index grows": {begin,
			{pages: index([]string{listed("c1", 0, 2)}, pages{"c1": changeList(0, 2, got(1, "a", "2"))}), truth: "a=2 b=1 c=1"},
			{pages: index([]string{listed("c1", 0, 4)}, pages{"c1": changeList(0, 4, got(1, "a", "2"), lost(3, "b"))}), truth: "a=2 c=1"}},
		"the index closes a list that is open": {begin,
			{pages: index([]string{listed("c1", 0, 2)}, pages{"c1": changeList(0, never, got(1, "a", "2"))}), truth: "a=2 b=1 c=1"},
			{pages: index([]string{listed("c1", 0, 2)}, pages{"c1": changeList(0, never, got(1, "a", "2"), lost(3, "b"))}), truth: "a=2 c=1"}},
		"a closed list is replaced by the next": {begin,
			{pages: base.with(pages{"changelist.xml": changeList(0, 2, got(1, "a", "2"))}), truth: "a=2 b=1 c=1"},
			{pages: base.with(offers("resourcelist", "resourcelist.xml", "changelist", "next.xml")).with(pages{
				"changelist.xml": changeList(0, 2, got(1, "a", "2")), "next.xml": changeList(2, never, lost(3, "b"))}), truth: "a=2 c=1"}},
		"a closed list is replaced by one that leaves a hole": {begin,
			{pages: base.with(pages{"changelist.xml": changeList(0, 2, got(1, "a", "2"))}), truth: "a=2 b=1 c=1"},
			{pages: base.with(offers("resourcelist", "resourcelist.xml", "changelist", "next.xml")).with(pages{
				"changelist.xml": changeList(0, 2, got(1, "a", "2")), "next.xml": changeList(4, never, got(5, "c", "2"))}), truth: "a=2 c=2", want: inDoubt, said: "next.xml"}},
		"an index with a hole": {begin,
			{pages: index([]string{listed("c1", 0, 2), listed("c3", 4, never)}, pages{
				"c1": changeList(0, 2, got(1, "a", "2")), "c3": changeList(4, never, got(5, "c", "2"))}), truth: "a=2 c=2", want: inDoubt, said: "c3"},
			{pages: index([]string{listed("c1", 0, 2), listed("c3", 4, never)}, pages{"resourcelist.xml": resourceList(6, has("a", "2"), has("c", "2")),
				"c1": changeList(0, 2, got(1, "a", "2")), "c3": changeList(4, never, got(5, "c", "2"))}), truth: "a=2 c=2"}},
		"an open list is later than its index": {begin,
			{pages: late, truth: "a=2 b=2 c=2", want: inDoubt, said: "open: it begins later"},
			{pages: late, truth: "a=2 b=2 c=2", want: inDoubt, said: "open: it begins later"},
			{pages: late.with(pages{"changelist.xml": changeIndex(0, listed("c1", 0, 2), listed("c2", 2, 4), listed("open", 4, never)),
				"c2": changeList(2, 4, got(3, "b", "2"))}), truth: "a=2 b=2 c=2", want: inStep}},
		"an open list stays later than its index": {begin,
			{pages: late, truth: "a=2 b=2 c=2", want: inDoubt, said: "open: it begins later"},
			{pages: late, truth: "a=2 b=2 c=2", want: inDoubt, said: "open: it begins later"},
			{pages: late.with(pages{"resourcelist.xml": resourceList(6, has("a", "2"), has("b", "2"), has("c", "2"))}), truth: "a=2 b=2 c=2", said: "interval-gap"}},
		"an open list is later than an index without times": {begin,
			{pages: late.with(pages{"changelist.xml": changeIndex(0, listed("c1", 0, 2), listed("open", never, never))}), truth: "a=2 b=2 c=2", want: inDoubt, said: "interval-gap"}},
		"an open list that redirects is later than its index": {begin,
			{pages: index([]string{listed("open", 0, never)}, pages{"open": "-> x/1", "x/1": changeList(0, never, got(1, "a", "2"))}), truth: "a=2 b=1 c=1"},
			{pages: index([]string{listed("open", 0, never)}, pages{"open": "-> x/2", "x/2": changeList(4, never, got(5, "c", "2"))}), truth: "a=2 b=1 c=2", want: inDoubt, said: "open: it begins later"}},
		"an open list leaves the position behind": {begin,
			{pages: index([]string{listed("open", 0, never)}, pages{"open": changeList(0, never, got(1, "a", "2"))}), truth: "a=2 b=1 c=1"},
			{pages: index([]string{listed("c1", 0, 2), listed("c2", 2, 4), listed("open", 4, never)}, pages{"c1": changeList(0, 2, got(1, "a", "2"), lost(2, "b")),
				"c2": changeList(2, 4, got(3, "b", "2")), "open": changeList(4, never, got(5, "c", "2"))}), truth: "a=2 b=2 c=2", said: "<nil>\n"}},
		"an open list leaves the position behind, and its list is split": {begin,
			{pages: index([]string{listed("open", 0, never)}, pages{"open": changeList(0, never, got(1, "a", "2"), lost(2, "b"), got(3, "b", "3"))}), truth: "a=2 b=3 c=1"},
			{pages: index([]string{listed("c1", 0, 1), listed("c2", 1, 4), listed("open", 4, never)}, pages{"c1": changeList(0, 1, got(1, "a", "2")),
				"c2": changeList(1, 4, lost(2, "b"), got(3, "b", "3"), lost(4, "b")), "open": changeList(4, never, got(5, "c", "2"))}), truth: "a=2 c=2"}},
		"an open list leaves the position behind, and the lists between are dropped": {begin,
			{pages: index([]string{listed("open", 0, never)}, pages{"open": changeList(0, never, got(1, "a", "2"))}), truth: "a=2 b=1 c=1"},
			{pages: index([]string{listed("c2", 2, 4), listed("open", 4, never)}, pages{"resourcelist.xml": resourceList(6, has("a", "2"), has("c", "2")),
				"c2": changeList(2, 4, got(3, "c", "2")), "open": changeList(4, never)}), truth: "a=2 c=2", said: "interval-gap"}},
		"a list is missing in the middle": {begin,
			{pages: index([]string{listed("c1", 0, 2), listed("c2", 2, 4), listed("c3", 4, never)}, pages{
				"c1": changeList(0, 2, got(1, "a", "2")), "c3": changeList(4, never, got(5, "c", "2"))}), truth: "a=2 c=2", want: inDoubt, said: "c2"},
			{pages: index([]string{listed("c1", 0, 2), listed("c2", 2, 4), listed("c3", 4, never)}, pages{
				"c1": changeList(0, 2, got(1, "a", "2")), "c2": changeList(2, 4, lost(3, "b"), got(3, "c", "1")), "c3": changeList(4, never, got(5, "c", "2"))}), truth: "a=2 c=2"}},
		"changes after the end of their list": {begin,
			{pages: index([]string{listed("c1", 0, 2)}, pages{"c1": changeList(0, 2, got(1, "a", "2"), got(6, "b", "2"), got(6, "c", "2"))}), truth: "a=2 b=2 c=2"},
			{pages: index([]string{listed("c2", 2, never)}, pages{"c2": changeList(2, never, got(3, "b", "3"), lost(4, "c"))}), truth: "a=2 b=3"}},
		"changes after the end of their list, which the next replaces": {begin,
			{pages: base.with(pages{"changelist.xml": changeList(0, 2, got(1, "a", "2"), got(6, "b", "2"), got(6, "c", "2"))}), truth: "a=2 b=2 c=2"},
			{pages: base.with(offers("resourcelist", "resourcelist.xml", "changelist", "next.xml")).with(pages{
				"changelist.xml": changeList(0, 2, got(1, "a", "2"), got(6, "b", "2"), got(6, "c", "2")), "next.xml": changeList(2, never, got(3, "b", "3"), lost(4, "c"))}), truth: "a=2 b=3"}},
		"the newest first": {begin,
			{pages: changes(lost(9, "b"), got(7, "a", "2"), got(5, "c", "2"), got(3, "a", "0")), truth: "a=2 c=2", said: "order"},
			{pages: changes(got(11, "b", "3"), lost(9, "b"), got(7, "a", "2"), got(5, "c", "2"), got(3, "a", "0")), truth: "a=2 b=3 c=2", said: "order"},
			{pages: changes(lost(12, "a"), got(11, "b", "3"), lost(9, "b"), got(7, "a", "2")), truth: "b=3 c=2", said: "order"}},
		"the newest first, several of one time": {begin,
			{pages: changes(lost(9, "b"), got(9, "b", "2"), got(7, "c", "2"), got(7, "c", "0"), got(5, "a", "1")), truth: "a=1 c=2"}},
		"the newest first, in an index": {begin,
			{pages: index([]string{listed("c1", 0, 5), listed("c2", 5, never)}, pages{
				"c1": changeList(0, 5, lost(4, "b"), got(3, "b", "0"), got(2, "a", "2")), "c2": changeList(5, never, got(9, "a", "4"), got(8, "b", "3"), lost(7, "a"))}), truth: "a=4 b=3 c=1"},
			{pages: index([]string{listed("c1", 0, 5), listed("c2", 5, never)}, pages{
				"c1": changeList(0, 5, lost(4, "b"), got(3, "b", "0"), got(2, "a", "2")), "c2": changeList(5, never, lost(10, "c"), got(9, "a", "4"), got(8, "b", "3"), lost(7, "a"))}), truth: "a=4 b=3"}},
		"in no order": {begin,
			{pages: changes(got(7, "a", "2"), got(9, "b", "2"), lost(3, "b"), got(4, "c", "2"), got(1, "c", "0")), truth: "a=2 b=2 c=2", said: "order"}},
		"in no order, a deletion first": {begin,
			{pages: changes(got(7, "a", "2"), lost(9, "b"), got(9, "b", "2"), got(4, "c", "2"), got(5, "d", "1"), lost(1, "d")), truth: "a=2 b=2 c=2 d=1"}},
		"in no order, a deletion last": {begin,
			{pages: changes(got(7, "a", "2"), got(9, "b", "2"), lost(9, "b"), got(4, "c", "2"), got(5, "d", "1"), lost(1, "d")), truth: "a=2 b=2 c=2 d=1"}},
		"two in an order that is not clear, then more at the end": {begin,
			{pages: changes(got(9, "b", "2"), lost(7, "b")), truth: "a=1 b=2 c=1", want: inDoubt, said: "not carried out"},
			{pages: changes(got(9, "b", "2"), lost(7, "b"), got(10, "c", "2")), truth: "a=1 c=2"}},
		"two in an order that is not clear, then more at the top": {begin,
			{pages: changes(got(9, "b", "2"), lost(7, "b")), truth: "a=1 b=2 c=1", want: inDoubt},
			{pages: changes(got(10, "c", "2"), got(9, "b", "2"), lost(7, "b")), truth: "a=1 b=2 c=2"}},
		"the newest first, as it seems, then more at the end": {begin,
			{pages: changes(got(9, "b", "2"), lost(7, "b"), got(5, "a", "2")), truth: "a=2 b=2 c=1"},
			{pages: changes(got(9, "b", "2"), lost(7, "b"), got(5, "a", "2"), got(12, "c", "2")), truth: "a=2 c=2"}},
		"one at the end, of an earlier time": {begin,
			{pages: changes(got(9, "b", "2")), truth: "a=1 b=2 c=1"},
			{pages: changes(got(9, "b", "2"), lost(7, "b")), truth: "a=1 c=1"}},
		"the newest first, after two that were taken in their order": {begin,
			{pages: changes(got(9, "a", "2"), got(3, "b", "2")), truth: "a=2 b=2 c=1"},
			{pages: changes(got(10, "c", "2"), got(9, "a", "2"), got(5, "b", "3")).with(pages{
				"resourcelist.xml": resourceList(10, has("a", "2"), has("b", "3"), has("c", "2"))}), truth: "a=2 b=3 c=2", said: "interval-gap"}},
		"the newest first, with a deletion of before the baseline": {
			{pages: changes(got(509, "a", "2"), got(505, "c", "2"), lost(100, "b")).with(pages{
				"resourcelist.xml": resourceList(500, has("a", "1"), has("b", "1"), has("c", "1"))}), truth: "a=2 b=1 c=2"},
			{pages: changes(got(510, "a", "3"), got(505, "c", "2"), lost(100, "b")).with(pages{
				"resourcelist.xml": resourceList(500, has("a", "1"), has("b", "1"), has("c", "1"))}), truth: "a=3 b=1 c=2"}},
		"a deletion shortly before at, and the list has the resource": {
			{pages: changes(lost(20, "b"), lost(25, "d"), got(40, "a", "2")).with(pages{
				"resourcelist.xml": resourceList(30, has("a", "1"), has("b", "1"), has("c", "1"))}), truth: "a=2 b=1 c=1"},
			{pages: changes(lost(20, "b"), lost(25, "d"), got(40, "a", "2"), lost(41, "b")).with(pages{
				"resourcelist.xml": resourceList(30, has("a", "1"), has("b", "1"), has("c", "1"))}), truth: "a=2 c=1"}},
		"the clock goes back in a list": {begin,
			{pages: index([]string{listed("c1", 5, 3), listed("c2", 3, never)}, pages{
				"c1": changeList(5, 3, got(6, "b", "2"), got(3, "a", "2")), "c2": changeList(3, never, got(4, "b", "3"))}).with(pages{"resourcelist.xml": resourceList(5, has("a", "1"), has("b", "1"), has("c", "1"))}), truth: "a=2 b=3 c=1"}},
		"the clock goes back between two lists": {begin,
			{pages: index([]string{listed("c1", 0, never)}, pages{"c1": changeList(0, never, got(50, "a", "2"))}), truth: "a=2 b=1 c=1"},
			{pages: index([]string{listed("c1", 0, 50), listed("c2", 40, never)}, pages{
				"c1": changeList(0, 50, got(50, "a", "2")), "c2": changeList(40, never, lost(41, "a"))}), truth: "b=1 c=1"},
			{pages: index([]string{listed("c2", 40, never)}, pages{"c2": changeList(40, never, lost(41, "a"), got(42, "a", "3"))}), truth: "a=3 b=1 c=1"}},
		"the clock goes back, and the old list is gone": {begin,
			{pages: index([]string{listed("c1", 0, never)}, pages{"c1": changeList(0, never, got(50, "a", "2"))}), truth: "a=2 b=1 c=1"},
			{pages: index([]string{listed("c2", 40, never)}, pages{"c2": changeList(40, never, lost(41, "a"))}), truth: "b=1 c=1", want: inDoubt, said: "old copy"},
			{pages: index([]string{listed("c2", 40, never)}, pages{"c2": changeList(40, never, lost(41, "a"), got(55, "b", "2"))}), truth: "b=2 c=1", want: inDoubt, said: "gap"},
			{pages: index([]string{listed("c2", 40, never)}, pages{"c2": changeList(40, never, lost(41, "a"), got(55, "b", "2")),
				"resourcelist.xml": resourceList(56, has("b", "2"), has("c", "1"))}), truth: "b=2 c=1"}},
		"the clock goes back between two lists of unknown ends": {begin,
			{pages: index([]string{listed("c1", 30, never), listed("c2", 20, never)}, pages{
				"c1": changeList(30, never, lost(31, "b")), "c2": changeList(20, never, got(21, "b", "2"))}), truth: "a=1 b=2 c=1", want: inDoubt, said: "gap"}},
		"an index in no order": {begin,
			{pages: index([]string{listed("c1", 0, 2), listed("c3", 4, never), listed("c2", 2, 4)}, pages{
				"c1": changeList(0, 2, lost(1, "b")), "c3": changeList(4, never, got(5, "b", "3"), lost(6, "c")), "c2": changeList(2, 4, got(3, "b", "2"), got(3, "c", "2"))}), truth: "a=1 b=3"}},
		"intervals overlap": {begin,
			{pages: index([]string{listed("c1", 0, 3), listed("c2", 2, never)}, pages{
				"c1": changeList(0, 3, got(1, "a", "2"), got(3, "b", "2")), "c2": changeList(2, never, got(3, "b", "2"), got(4, "c", "2"))}), truth: "a=2 b=2 c=2"},
			{pages: index([]string{listed("c2", 2, 5), listed("c3", 4, never)}, pages{
				"c2": changeList(2, 5, got(3, "b", "2"), got(4, "c", "2"), lost(5, "b")), "c3": changeList(4, never, got(4, "c", "2"), lost(5, "b"), got(6, "b", "4"))}), truth: "a=2 b=4 c=2"},
			{pages: index([]string{listed("c4", 6, never)}, pages{"c4": changeList(6, never, got(6, "b", "4"), lost(7, "c"))}), truth: "a=2 b=4"}},
		"the clock stands still over two lists": {begin,
			{pages: index([]string{listed("c1", 0, 2), listed("c2", 2, never)}, pages{
				"c1": changeList(0, 2, got(2, "a", "2"), got(2, "b", "2")), "c2": changeList(2, never, lost(2, "a"))}), truth: "b=2 c=1"},
			{pages: index([]string{listed("c3", 2, never)}, pages{"c3": changeList(2, never, got(2, "a", "3"), lost(2, "b"))}), truth: "a=3 c=1"},
			{pages: index([]string{listed("c4", 2, never)}, pages{"c4": changeList(2, never, lost(2, "a"))}), truth: "c=1", want: either}},
		"the clock is a day ahead for a while": {begin,
			{pages: changes(got(1, "a", "2"), got(1440, "b", "2")), truth: "a=2 b=2 c=1"},
			{pages: changes(got(1, "a", "2"), got(1440, "b", "2"), lost(3, "b"), got(4, "c", "2")), truth: "a=2 c=2"},
			{pages: index([]string{listed("c2", 4, never)}, pages{"c2": changeList(4, never, got(5, "b", "3"), lost(6, "c"))}), truth: "a=2 b=3", want: either},
			{pages: index([]string{listed("c2", 4, never)}, pages{"c2": changeList(4, never, got(5, "b", "3"), lost(6, "c"), got(2000, "a", "3"))}), truth: "a=3 b=3", want: either}},
		"a list is rewritten, and lacks the last change": {begin,
			{pages: changes(got(1, "a", "2"), got(3, "b", "2")), truth: "a=2 b=2 c=1"},
			{pages: changes(got(1, "a", "2"), got(5, "b", "3")), truth: "a=2 b=3 c=1"}},
		"an old copy of a list": {begin,
			{pages: changes(got(1, "a", "2"), lost(2, "b"), got(3, "b", "2")), truth: "a=2 b=2 c=1"},
			{pages: changes(got(1, "a", "2"), lost(2, "b")), truth: "a=2 b=2 c=1", want: inDoubt, said: "old copy"},
			{pages: changes(got(1, "a", "2"), lost(2, "b"), got(3, "b", "2"), got(4, "c", "2")), truth: "a=2 b=2 c=2"}},
		"lists that redirect": {begin,
			{pages: changes().with(pages{"changelist.xml": "-> x/c1", "x/c1": changeList(0, never, got(1, "a", "2"))}), truth: "a=2 b=1 c=1"},
			{pages: changes().with(pages{"changelist.xml": "-> x/c2", "x/c2": changeList(0, never, got(1, "a", "2"), lost(2, "b"))}), truth: "a=2 c=1"}},
		"a list redirects to the next after it was closed": {begin,
			{pages: changes().with(pages{"changelist.xml": "-> x/c1", "x/c1": changeList(0, never, got(1, "a", "2"))}), truth: "a=2 b=1 c=1"},
			{pages: changes().with(pages{"changelist.xml": "-> x/c2", "x/c1": changeList(0, 3, got(1, "a", "2"), lost(2, "b")), "x/c2": changeList(3, never, got(4, "c", "2"))}), truth: "a=2 c=2", want: inDoubt, said: "changelist.xml"}},
		"a list of an index redirects to another": {begin,
			{pages: index([]string{listed("c1", 0, 2), listed("c2", 2, never)}, pages{
				"c1": "-> c2", "c2": changeList(2, never, got(5, "c", "2"))}), truth: "a=2 c=2", want: inDoubt, said: "c1"}},
		"the Resource List is older than all lists": {
			{pages: base.with(pages{"changelist.xml": changeList(5, never, got(6, "a", "2"))}), truth: "a=2 c=1", want: inDoubt, said: "changelist.xml"}},
		"the Resource List is newer than all lists": {
			{pages: both.with(pages{"resourcelist.xml": resourceList(9, has("a", "3"), has("c", "1")),
				"changelist.xml": changeList(0, 5, got(1, "a", "2"), got(2, "b", "1"), lost(3, "a"), got(4, "a", "3"), lost(4, "b"))}), truth: "a=3 c=1"}},
		"the newer Resource List lacks what an older list had": {
			{pages: both.with(pages{"resourcelist.xml": resourceList(9, has("a", "3")),
				"changelist.xml": changeList(0, 5, got(1, "a", "2"), got(2, "b", "1"), lost(3, "a"))}), truth: "a=3", want: either}},
		"a Resource List without at": {
			{pages: both.with(pages{"resourcelist.xml": resourceList(never, has("a", "1"), has("b", "1")), "changelist.xml": changeList(0, never, got(1, "a", "2"))}), truth: "a=2 b=1", want: either, said: "resourcelist.xml"},
			{pages: both.with(pages{"resourcelist.xml": resourceList(never, has("a", "1"), has("b", "1")), "changelist.xml": changeList(0, never, got(1, "a", "2"), lost(2, "b"), got(3, "c", "1"))}), truth: "a=2 c=1", want: either, said: ""}},
		"a gap, and a Resource List without at": {begin,
			{pages: changes(got(3, "d", "1")), truth: "a=1 b=1 c=1 d=1"},
			{pages: base.with(pages{"resourcelist.xml": resourceList(never, has("a", "1"), has("b", "1"), has("c", "1")),
				"changelist.xml": changeList(5, never, got(6, "a", "2"))}), truth: "a=2 b=1 c=1 d=1", want: inDoubt, said: "resourcelist.xml"}},
		"a new Resource List without at": {
			{pages: both.with(pages{"resourcelist.xml": resourceList(never, has("a", "3")), "changelist.xml": changeList(0, never, got(1, "a", "2"), got(1, "b", "1"), lost(2, "b"), got(3, "a", "3"))}), truth: "a=3", want: either, said: "resourcelist.xml"}},
		"at in the future": {
			{pages: both.with(pages{"resourcelist.xml": resourceList(1<<24, has("a", "1"), has("b", "1")), "changelist.xml": changeList(0, never)}), truth: "a=1 b=1", want: either},
			{pages: both.with(pages{"resourcelist.xml": resourceList(1<<24, has("a", "1"), has("b", "1")), "changelist.xml": changeList(0, never, got(5, "a", "2"), lost(6, "b"), got(7, "c", "1"))}), truth: "a=2 c=1", want: either}},
		"at in the future and old": {
			{pages: both.with(pages{"resourcelist.xml": resourceList(1<<24, has("a", "1"), has("b", "1")), "changelist.xml": changeList(0, never, got(5, "a", "2"), lost(6, "b"))}), truth: "a=2", want: either}},
		"at in the future without lists": {
			{pages: onlyList.with(pages{"resourcelist.xml": resourceList(1<<24, has("a", "1"), has("b", "1"))}), truth: "a=1 b=1", want: either},
			{pages: onlyList.with(pages{"resourcelist.xml": resourceList(3, has("a", "2"), has("c", "1"))}), truth: "a=2 c=1", want: either}},
		"at that never moves": {
			{pages: onlyList.with(pages{"resourcelist.xml": resourceList(0, has("a", "1"), has("b", "1"))}), truth: "a=1 b=1", want: either},
			{pages: onlyList.with(pages{"resourcelist.xml": resourceList(0, has("a", "2"), has("c", "1"))}), truth: "a=2 c=1", want: either}},
		"parts of different at": {
			{pages: both.with(pages{"resourcelist.xml": parted(5000, part("r1", 0), part("r2", 5000)),
				"r1": resourceList(0, has("a", "1"), has("b", "1")), "r2": resourceList(5000, has("c", "1")),
				"changelist.xml": changeList(0, never, got(3, "a", "2"), lost(4, "b"))}), truth: "a=2 c=1"}},
		"parts of different at that the index does not state": {
			{pages: both.with(pages{"resourcelist.xml": parted(5000, part("r1", never), part("r2", never)),
				"r1": resourceList(0, has("a", "1"), has("b", "1")), "r2": resourceList(5000, has("c", "1")),
				"changelist.xml": changeList(0, never, got(3, "a", "2"), lost(4, "b"))}), truth: "a=2 c=1"}},
		"a part older than the index says": {begin,
			{pages: onlyList.with(pages{"resourcelist.xml": parted(6, part("r1", 5)), "r1": resourceList(0, has("a", "2"))}), truth: "a=2 b=1 c=1", want: inDoubt, said: "r1"}},
		"a Resource List that changes and states the same moment": {
			{pages: changes(got(3, "d", "1")), truth: "a=1 b=1 c=1 d=1"},
			{pages: pages{"capabilitylist.xml": both["capabilitylist.xml"], "resourcelist.xml": resourceList(0, has("a", "1"), has("b", "1")),
				"changelist.xml": changeList(never, never)}, truth: "a=1 b=1 d=1", want: either}},
		"a Change List that is offered later": {
			{pages: base.with(onlyList), truth: "a=1 b=1 c=1"},
			{pages: changes(got(1, "a", "2"), lost(2, "b")), truth: "a=2 c=1"}},
		"a capability that is not known, in the place of the list": {
			{pages: changes(got(1, "a", "2")).with(offers("resourcelisd", "resourcelist.xml", "changelist", "changelist.xml")), truth: "a=2 b=1 c=1", want: inDoubt},
			{pages: changes(got(1, "a", "2")), truth: "a=2 b=1 c=1"}},
		"a capability that is not known, besides both": {
			{pages: changes(got(1, "a", "2")).with(offers("resourcelist", "resourcelist.xml", "changelist", "changelist.xml", "other", "o")), truth: "a=2 b=1 c=1"}},
		"an entry of the Resource List that can't be read": {
			{pages: base.with(pages{"resourcelist.xml": resourceList(0, has("a", "1"), "<url><rs:md/></url>", has("c", "1"))}), truth: "a=1 b=1 c=1", want: inDoubt},
			{pages: base.with(pages{"resourcelist.xml": resourceList(0, has("a", "1"), "<url><rs:md/></url>", has("c", "1"))}), truth: "a=1 b=1 c=1", want: inDoubt},
			{pages: base, truth: "a=1 b=1 c=1"}},
		"two md in one entry of the Resource List": {
			{pages: base.with(pages{"resourcelist.xml": resourceList(0, has("a", "1"), strings.Replace(has("b", "1"), "</url>", "<rs:md "+hashOf("2")+"/></url>", 1), has("c", "1"))}), truth: "a=1 b=1 c=1", want: inDoubt, said: "md"},
			{pages: base.with(pages{"resourcelist.xml": resourceList(0, has("a", "1"), strings.Replace(has("b", "1"), "</url>", "<rs:md "+hashOf("2")+"/></url>", 1), has("c", "1"))}), truth: "a=1 b=1 c=1", want: inDoubt, said: "md"},
			{pages: base, truth: "a=1 b=1 c=1"}},
		"two md in one change": {begin,
			{pages: changes(strings.Replace(got(1, "a", "2"), "</url>", `<rs:md change="deleted"/></url>`, 1), got(2, "b", "2")), truth: "a=2 b=2 c=1", want: inDoubt, said: "md"},
			{pages: changes(got(1, "a", "2"), got(2, "b", "2")), truth: "a=2 b=2 c=1"}},
		"a change with a lastmod before the interval": {begin,
			{pages: changes("<url><loc>" + www + "d</loc><lastmod>2020-01-01T00:00:00Z</lastmod><rs:md change=\"created\" " + hashOf("1") + "/></url>"), truth: "a=1 b=1 c=1 d=1"},
			{pages: changes("<url><loc>" + www + "d</loc><lastmod>2020-01-01T00:00:00Z</lastmod><rs:md change=\"created\" " + hashOf("1") + "/></url>").with(pages{
				"changelist.xml": changeList(5, never)}), truth: "a=1 b=1 c=1 d=1", want: inDoubt, said: "changelist.xml"}},
		"parts newer than the index": {
			{pages: both.with(pages{"resourcelist.xml": parted(0, part("r1", 0), part("r2", 5)),
				"r1": resourceList(0, has("a", "1"), has("b", "1")), "r2": resourceList(5, has("c", "2")),
				"changelist.xml": changeList(0, never, got(1, "c", "1"), got(2, "c", "2"), lost(4, "b"), got(4, "d", "1"))}), truth: "a=1 c=2 d=1"}},
		"a resource moves to an earlier part": {
			{pages: onlyList.with(pages{"resourcelist.xml": parted(0, part("r1", 0), part("r2", 0)), "r1": resourceList(0, has("a", "1")), "r2": resourceList(0, has("b", "1"), has("c", "1"))}), truth: "a=1 b=1 c=1", want: either},
			{pages: onlyList.with(pages{"resourcelist.xml": parted(5, part("r1", 5), part("r2", 5)), "r1": resourceList(5, has("a", "1"), has("b", "1")), "r2": resourceList(5, has("c", "1"))}), truth: "a=1 b=1 c=1", want: either},
			{pages: onlyList.with(pages{"resourcelist.xml": parted(6, part("r1", 5), part("r2", 6)), "r1": resourceList(5, has("a", "1"), has("b", "1")), "r2": resourceList(6, has("d", "1"))}), truth: "a=1 b=1 d=1", want: either}},
		"a part is listed twice": {
			{pages: onlyList.with(pages{"resourcelist.xml": parted(0, part("r1", 0), part("r1", 0), part("r2", 0)), "r1": resourceList(0, has("a", "1")), "r2": resourceList(0, has("b", "1"))}), truth: "a=1 b=1", want: either}},
		"a Resource List Index that lists itself": {begin,
			{pages: onlyList.with(pages{"resourcelist.xml": parted(5, part("r1", 5), part("resourcelist.xml", 5)), "r1": resourceList(5, has("a", "1"))}), truth: "a=1", said: "resourcelist.xml"}},
		"a part is an index": {begin,
			{pages: onlyList.with(pages{"resourcelist.xml": parted(5, part("r1", 5)), "r1": parted(5, part("r2", 5)), "r2": resourceList(5, has("a", "1"), has("b", "1"), has("c", "1"))}), truth: "a=1 b=1 c=1", want: either}},
		"a part is a Change List": {begin,
			{pages: onlyList.with(pages{"resourcelist.xml": parted(5, part("r1", 5)), "r1": changeList(5, never, got(6, "a", "2"))}), truth: "a=2 b=1 c=1", want: inDoubt, said: "r1"}},
		"the Change List is a Resource List": {begin,
			{pages: base.with(pages{"changelist.xml": resourceList(5, has("a", "2"))}), truth: "a=2 b=1 c=1", want: inDoubt, said: "changelist.xml"}},
		"the Capability List names itself as the Change List": {
			{pages: base.with(offers("resourcelist", "resourcelist.xml", "changelist", "capabilitylist.xml")), truth: "a=1 b=1 c=1", want: inDoubt, said: "capabilitylist.xml"}},
		"two Change Lists in the Capability List": {
			{pages: base.with(offers("resourcelist", "resourcelist.xml", "changelist", "c1", "changelist", "c2")).with(pages{
				"c1": changeList(0, 2, got(1, "a", "2")), "c2": changeList(2, never, lost(3, "b"))}), truth: "a=2 c=1", want: inDoubt, said: "capabilitylist.xml"}},
		"two Resource Lists in the Capability List": {begin,
			{pages: offers("resourcelist", "r1", "resourcelist", "r2").with(pages{
				"r1": resourceList(5, has("a", "1")), "r2": resourceList(5, has("b", "1"), has("c", "1"))}), truth: "a=1 b=1 c=1", want: inDoubt, said: "capabilitylist.xml"}},
		"Change Lists are no longer offered and the Resource List is old": {begin,
			{pages: changes(got(3, "d", "1"), got(3, "a", "2")), truth: "a=2 b=1 c=1 d=1"},
			{pages: onlyList.with(pages{"resourcelist.xml": base["resourcelist.xml"]}), truth: "a=2 b=1 c=1 d=1", want: either, said: "changelist.xml"}},
		"old changes are dropped and the Resource List lacks a resource": {begin,
			{pages: changes(got(3, "d", "1"), got(3, "a", "2")), truth: "a=2 b=1 c=1 d=1"},
			{pages: base.with(pages{"changelist.xml": changeList(5, never, got(6, "c", "2"))}), truth: "a=2 b=1 c=2 d=1", want: inDoubt, said: "changelist.xml"}},
		"a list that is closed ahead of time grows": {begin,
			{pages: index([]string{listed("c1", 0, 9000)}, pages{"c1": changeList(0, 9000, got(1, "a", "2"))}), truth: "a=2 b=1 c=1"},
			{pages: index([]string{listed("c1", 0, 9000)}, pages{"c1": changeList(0, 9000, got(1, "a", "2"), lost(2, "b"))}), truth: "a=2 c=1"}},
		"lists that are closed ahead of time": {begin,
			{pages: index([]string{listed("c1", 0, 9000), listed("c2", 9000, 18000)}, pages{
				"c1": changeList(0, 9000, got(1, "a", "2")), "c2": changeList(9000, 18000)}), truth: "a=2 b=1 c=1"},
			{pages: index([]string{listed("c1", 0, 9000), listed("c2", 9000, 18000)}, pages{
				"c1": changeList(0, 9000, got(1, "a", "2"), lost(2, "b")), "c2": changeList(9000, 18000)}), truth: "a=2 c=1"},
			{pages: index([]string{listed("c1", 0, 9000), listed("c2", 9000, 18000)}, pages{
				"c1": changeList(0, 9000, got(1, "a", "2"), lost(2, "b"), got(3, "b", "3")), "c2": changeList(9000, 18000, lost(9001, "a"))}), truth: "b=3 c=1"},
			{pages: index([]string{listed("c1", 0, 9000), listed("c2", 9000, 18000)}, pages{
				"c1": changeList(0, 9000, got(1, "a", "2"), lost(2, "b"), got(3, "b", "3"), lost(4, "c")), "c2": changeList(9000, 18000, lost(9001, "a"))}), truth: "b=3"}},
		"the open list is left behind": {begin,
			{pages: changes(got(1, "a", "2")), truth: "a=2 b=1 c=1"},
			{pages: changes(got(1, "a", "2")).with(offers("resourcelist", "resourcelist.xml", "changelist", "c2")).with(pages{
				"c2": changeList(1, never, lost(2, "b"))}), truth: "a=2 c=1"},
			{pages: changes(got(1, "a", "2")).with(offers("resourcelist", "resourcelist.xml", "changelist", "c2")).with(pages{
				"c2": changeList(1, never, lost(2, "b"), got(3, "b", "3"))}), truth: "a=2 b=3 c=1"}},
		"the Capability List is gone, and nothing is new": {begin,
			{pages: base, truth: "a=1 b=1 c=1"},
			{pages: base.with(pages{"capabilitylist.xml": "a page"}), truth: "a=1 b=1 c=1", want: inDoubt, said: "capabilitylist.xml"}},
		"an entry of an index that can't be read": {begin,
			{pages: index([]string{listed("c1", 0, 2), unreadable, listed("c3", 2, never)}, unclear), truth: "a=2 c=5", want: inDoubt},
			{pages: index([]string{listed("c1", 0, 2), unreadable, listed("c3", 2, never)}, unclear), truth: "a=2 c=5", want: inDoubt},
			{pages: index([]string{listed("c1", 0, 2), listed("c2", 2, 4), listed("c3", 2, never)}, unclear), truth: "a=2 c=5"},
			{pages: index([]string{listed("c1", 0, 2), listed("c2", 2, 4), listed("c3", 2, never)}, unclear.with(pages{"c3": changeList(2, never, got(5, "c", "5"), lost(6, "a"))})), truth: "c=5"}},
		"an entry of an index that can't be read, and new changes": {begin,
			{pages: index([]string{listed("c1", 0, never)}, pages{"c1": changeList(0, never, got(1, "a", "2"))}), truth: "a=2 b=1 c=1"},
			{pages: index([]string{listed("c1", 0, 2), unreadable, listed("c3", 2, never)}, unclear), truth: "a=2 c=5", want: inDoubt},
			{pages: index([]string{listed("c1", 0, 2), unreadable, listed("c3", 2, never)}, unclear.with(pages{"c3": changeList(2, never, got(5, "c", "5"), got(6, "a", "6"))})), truth: "a=6 c=5", want: inDoubt},
			{pages: index([]string{listed("c1", 0, 2), listed("c2", 2, 4), listed("c3", 2, never)}, unclear.with(pages{"c3": changeList(2, never, got(5, "c", "5"), got(6, "a", "6"), got(7, "b", "7"))})), truth: "a=6 b=7 c=5"}},
		"the last entry of an index can't be read": {begin,
			{pages: index([]string{listed("c1", 0, 2), unreadable}, unclear), truth: "a=2 c=2", want: inDoubt},
			{pages: index([]string{listed("c1", 0, 2), listed("c2", 2, 4)}, unclear), truth: "a=2 c=2"}},
		"the only entry of an index can't be read": {begin,
			{pages: index([]string{unreadable}, nil), truth: "a=2 b=1 c=1", want: inDoubt},
			{pages: index([]string{listed("c1", 0, 2)}, unclear), truth: "a=2 b=1 c=1"}},
		"an entry of an index that can't be read goes away": {begin,
			{pages: index([]string{unreadable, listed("c1", 0, 2)}, unclear), truth: "a=2 b=1 c=1", want: inDoubt},
			{pages: index([]string{listed("c1", 0, 2)}, unclear), truth: "a=2 b=1 c=1"}},
		"the first baseline, and an entry of an index that can't be read": {
			{pages: index([]string{listed("c1", 0, 2), unreadable, listed("c3", 2, never)}, unclear), truth: "a=2 c=5", want: inDoubt},
			{pages: index([]string{listed("c1", 0, 2), listed("c2", 2, 4), listed("c3", 2, never)}, unclear), truth: "a=2 c=5"}},
		"an index is left behind, and loses entries": {begin,
			{pages: index([]string{listed("c1", 0, 2), listed("c2", 2, 4)}, unclear), truth: "a=2 c=2"},
			{pages: index([]string{listed("c1", 0, 2)}, unclear).with(offers("resourcelist", "resourcelist.xml", "changelist", "moved.xml")).with(pages{
				"moved.xml": changeIndex(0, listed("c1", 0, 2), listed("c2", 2, 4), listed("c3", 2, never))}), truth: "a=2 c=5"}},
		"a list is left behind, and loses entries": {begin,
			{pages: changes(got(1, "a", "2"), lost(2, "b")), truth: "a=2 c=1"},
			{pages: changes(got(1, "a", "2")).with(offers("resourcelist", "resourcelist.xml", "changelist", "moved.xml")).with(pages{
				"moved.xml": changeList(0, never, got(1, "a", "2"), lost(2, "b"), got(3, "c", "3"))}), truth: "a=2 c=3"}},
		"Change Lists are no longer offered": {begin,
			{pages: onlyList.with(pages{"resourcelist.xml": resourceList(5, has("a", "2"), has("c", "1"))}), truth: "a=2 c=1", said: "changelist.xml"},
			{pages: onlyList.with(pages{"resourcelist.xml": resourceList(6, has("a", "3"), has("c", "1"))}), truth: "a=3 c=1"}},
		"the Capability List no longer names a Resource List": {begin,
			{pages: changes(lost(1, "b")).with(offers("changelist", "changelist.xml")), truth: "a=1 c=1", want: either}},
	} {
		t.Run(name, func(t *testing.T) { play(t, stages) })
	}
}

// TestChangesAreFetchedOnce counts the requests for a resource whose changes have times
// and no digests, of a server that always answers with the whole.
func TestChangesAreFetchedOnce(t *testing.T) {
	store := harvest.NewCatalog(memstore.New())
	requests := func(changes ...string) (n int) {
		p := offers("resourcelist", "resourcelist.xml", "changelist", "changelist.xml").with(pages{
			"resourcelist.xml": resourceList(2, since(1, "a", "", ""), since(1, "b", "", "")), "changelist.xml": changeList(0, never, changes...)})
		site := serve(p, held("a=1 b=1"), 1)
		for _, name := range []string{www + "a", www + "b"} {
			doc := site[name]
			doc.ETag = ""
			site[name] = doc
		}
		fetcher := &sourcetest.Fetcher{Site: site}
		report, err := (&harvest.Harvester{Sample: -1, Catalog: store, Fetcher: fetcher}).Run(t.Context(), &resourcesync.Source{URL: sourceURL})
		require.NoError(t, err)
		require.True(t, report.InStep())
		for _, x := range fetcher.Exchanges() {
			if x.URL == www+"a" || x.URL == www+"b" {
				n++
			}
		}
		return n
	}
	assert.Equal(t, 2, requests(touched(1, "a")), "the overlap has what the Resource List has")
	assert.Equal(t, 0, requests(touched(1, "a")), "nothing is new")
	assert.Equal(t, 1, requests(touched(1, "a"), touched(3, "b")), "a later change")
	assert.Equal(t, 0, requests(touched(1, "a"), touched(3, "b")), "nothing is new")
	assert.Equal(t, 1, requests(touched(1, "a"), touched(3, "b"), touched(3, "b")), "another of the same time")
	assert.Equal(t, 0, requests(touched(1, "a"), touched(3, "b"), touched(3, "b")), "nothing is new")
	assert.Equal(t, 2, requests(touched(3, "b"), touched(4, "a")), "another list: b may have changed again at the minute 3")
}

// play harvests a publisher stage by stage, and after it has recovered.
func play(t *testing.T, stages []stage) {
	store := harvest.NewCatalog(memstore.New())
	for i, s := range stages {
		truth, before := held(s.truth), testkit.Live(t, store)
		report, said := harvestOnce(t, store, serve(s.pages, truth, i+1))
		live := testkit.Live(t, store)
		if s.want != either {
			assert.Equal(t, s.want == inStep, report.InStep(), "stage %d: in step\n%s", i, said)
		}
		if report.InStep() {
			assert.Equal(t, truth, live, "stage %d\n%s", i, said)
		}
		assert.Contains(t, said, s.said, "stage %d", i)
		for name := range before {
			if _, ok := truth[name]; ok {
				assert.Contains(t, live, name, "stage %d: deleted\n%s", i, said)
			}
		}
		if t.Failed() {
			return
		}
	}
	truth := held(stages[len(stages)-1].truth)
	truth["new"] = "1"
	var entries []string
	for name, text := range truth {
		entries = append(entries, has(name, text))
	}
	sane := offers("resourcelist", "resourcelist.xml", "changelist", "changelist.xml").with(pages{
		"resourcelist.xml": resourceList(8*24*60, entries...), "changelist.xml": changeList(8*24*60, never)})
	for range 2 {
		testkit.MakeDue(t, store)
		report, said := harvestOnce(t, store, serve(sane, truth, 9))
		if report.InStep() {
			require.Equal(t, truth, testkit.Live(t, store), said)
			return
		}
		t.Log(said)
	}
	t.Error("it does not recover")
}
