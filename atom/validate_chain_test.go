package atom_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
)

// chainDocument is a document of an archived feed, of one line: its own URL is part of
// the site, and its entries have an id and a day of May.
type chainDocument struct {
	prev, current, next string
	self                string
	archive             bool
	id                  string
	items               []string // "id day", with a minus before the id of a tombstone
}

func (d chainDocument) String() string {
	var b strings.Builder
	b.WriteString(strings.TrimSuffix(validateRoot, "\n"))
	if d.id == "" {
		d.id = "urn:ex:feed"
	}
	b.WriteString("<id>" + d.id + "</id><title>T</title><updated>2025-06-01T00:00:00Z</updated>" + validateBy)
	for rel, href := range map[string]string{"prev-archive": d.prev, "current": d.current, "next-archive": d.next} {
		if href != "" {
			fmt.Fprintf(&b, "<link rel='%s' href='%s'/>", rel, href)
		}
	}
	if d.archive {
		b.WriteString("<fh:archive/>")
	}
	fmt.Fprintf(&b, "<link rel='self' href='%s'/>", d.self)
	for _, item := range d.items {
		id, day, _ := strings.Cut(item, " ")
		at := "2025-05-" + day + "T00:00:00Z"
		if dead, ok := strings.CutPrefix(id, "-"); ok {
			b.WriteString(vTomb("urn:ex:"+dead, at))
		} else {
			b.WriteString(vItem("urn:ex:"+id, at))
		}
	}
	return b.String() + "</feed>"
}

// chainSite is a valid chain of three documents.
func chainSite() map[string]*chainDocument {
	return map[string]*chainDocument{
		"/feed": {prev: "/2", current: "/feed", items: []string{"5 05", "1 06"}},
		"/2":    {prev: "/1", current: "/feed", next: "/feed", archive: true, items: []string{"-2 03", "3 03", "4 04"}},
		"/1":    {current: "/feed", next: "/2", archive: true, items: []string{"1 01", "2 02"}},
	}
}

type chainCase struct {
	change func(site map[string]*chainDocument)
	seen   map[string]websync.Digest
	max    int
	want   []string // "severity rule URL"
	whole  bool
	docs   int
}

const chainHost = "https://example.org"

var chainCases = map[string]chainCase{
	"valid": {whole: true, docs: 3},
	"valid under another URL": {change: func(s map[string]*chainDocument) {
		s["/feed"].self, s["/feed"].current, s["/2"].current, s["/2"].next, s["/1"].current = "/main", "/main", "/main#x", "/main", "/main"
	}, whole: true, docs: 3},
	"missing": {change: func(s map[string]*chainDocument) { delete(s, "/2") },
		want: []string{"error chain-missing /2"}, docs: 1},
	"the subscription document is missing": {change: func(s map[string]*chainDocument) { delete(s, "/feed") },
		want: []string{"error chain-missing /feed"}},
	"broken": {change: func(s map[string]*chainDocument) { s["/1"].id = "<" },
		want: []string{"error xml /1", "error chain-missing /1"}, docs: 2},
	"a loop": {change: func(s map[string]*chainDocument) { s["/1"].prev = "/2" },
		want: []string{"error chain-loop /1"}, docs: 3},
	"before itself": {change: func(s map[string]*chainDocument) { s["/1"].prev = "/1" },
		want: []string{"error paging-self /1", "error chain-loop /1"}, docs: 3},
	"two before": {change: func(s map[string]*chainDocument) { s["/2"].prev = "/1'/><link rel='prev-archive' href='/0" },
		want: []string{"error paging-twice /2"}, docs: 3, whole: true},
	"a marked subscription document": {change: func(s map[string]*chainDocument) { s["/feed"].archive = true },
		want: []string{"error archive-self /feed", "error chain-subscription /feed"}, docs: 3, whole: true},
	"no mark": {change: func(s map[string]*chainDocument) { s["/2"].archive, s["/2"].next = false, "" },
		want: []string{"warning archive-mark /2", "warning chain-mark /2"}, docs: 3, whole: true},
	"another current": {change: func(s map[string]*chainDocument) { s["/1"].current = "/other" },
		want: []string{"warning chain-current /1"}, docs: 3, whole: true},
	"another next": {change: func(s map[string]*chainDocument) { s["/1"].next = "/feed" },
		want: []string{"warning chain-next /1"}, docs: 3, whole: true},
	"another id": {change: func(s map[string]*chainDocument) { s["/1"].id = "urn:ex:other" },
		want: []string{"warning chain-id /1"}, docs: 3, whole: true},
	"another order": {change: func(s map[string]*chainDocument) { s["/1"].items = []string{"1 01", "2 05"} },
		want: []string{"warning chain-order /1"}, docs: 3, whole: true},
	"another order, beyond a document without entries": {change: func(s map[string]*chainDocument) { s["/2"].items, s["/1"].items = nil, []string{"9 07"} },
		want: []string{"warning chain-order /1"}, docs: 3, whole: true},
	"an entry in two documents": {change: func(s map[string]*chainDocument) { s["/2"].items = append(s["/2"].items, "1 01") },
		want: []string{"warning chain-twice /1"}, docs: 3, whole: true},
	"an entry twice in one document": {change: func(s map[string]*chainDocument) { s["/1"].items = []string{"1 01", "1 01"} },
		want: []string{"warning entry-twice /1"}, docs: 3, whole: true},
	"a tombstone in two documents": {change: func(s map[string]*chainDocument) { s["/1"].items = append([]string{"-2 03"}, "1 01") },
		want: []string{"warning chain-twice /1"}, docs: 3, whole: true},
	"an archive that has changed": {seen: map[string]websync.Digest{chainHost + "/1": websync.SHA256(nil), chainHost + "/feed": websync.SHA256(nil)},
		want: []string{"warning chain-changed /1"}, docs: 3, whole: true},
	"too long":    {max: 2, want: []string{"error chain-long /2"}, docs: 2},
	"just enough": {max: 3, whole: true, docs: 3},
	"an entry document": {change: func(s map[string]*chainDocument) { s["/feed"].prev = "/entry" },
		want: []string{"error chain-kind /entry"}, docs: 1},
}

// chainOpen returns a function that opens the documents of a site.
func chainOpen(site map[string]*chainDocument) func(string) (io.ReadCloser, error) {
	return func(url string) (io.ReadCloser, error) {
		path := strings.TrimPrefix(url, chainHost)
		if path == "/entry" {
			return io.NopCloser(strings.NewReader("<entry xmlns='http://www.w3.org/2005/Atom'>" + validateItem + validateLink + validateBy + "</entry>")), nil
		}
		d := site[path]
		if d == nil {
			return nil, errors.New("not found")
		}
		return io.NopCloser(strings.NewReader(d.String())), nil
	}
}

func TestChain(t *testing.T) {
	for name, test := range chainCases {
		t.Run(name, func(t *testing.T) {
			site := chainSite()
			if test.change != nil {
				test.change(site)
			}
			var found []string
			c := &atom.ChainValidator{Now: validateNow, Archived: test.seen, MaxDocuments: test.max, Report: func(f websync.Finding) {
				found = append(found, fmt.Sprintf("%v %s %s", f.Severity, strings.TrimPrefix(f.Rule, "atom-"), strings.TrimPrefix(f.Document, chainHost)))
				assert.NotEmpty(t, f.Message)
			}}
			sum := c.Walk(chainHost+"/feed", chainOpen(site))
			assert.Equal(t, test.want, found)
			assert.Equal(t, test.whole, sum.Whole)
			assert.Equal(t, test.docs, sum.Documents)
			assert.Equal(t, len(test.want), sum.Errors+sum.Warnings+sum.Infos)
			assert.Equal(t, sum, c.Summary())
		})
	}
}

func TestChainSummary(t *testing.T) {
	var c atom.ChainValidator
	sum := c.Walk(chainHost+"/feed", chainOpen(chainSite()))
	assert.Positive(t, sum.Bytes)
	sum.Bytes = 0
	assert.Equal(t, atom.ChainSummary{Documents: 3, Counts: websync.Counts{Entries: 6}, Tombstones: 1, Whole: true}, sum)
}

// TestChainDigests: digests depend on the entries, not on the metadata around them.
func TestChainDigests(t *testing.T) {
	digests := func(change func(map[string]*chainDocument)) map[string]websync.Digest {
		site := chainSite()
		change(site)
		var c atom.ChainValidator
		c.Walk(chainHost+"/feed", chainOpen(site))
		return c.ArchiveDigests()
	}
	base := digests(func(map[string]*chainDocument) {})
	assert.Len(t, base, 2, "the subscription document has none")
	assert.Equal(t, base, digests(func(s map[string]*chainDocument) { s["/1"].next, s["/2"].id = "", "urn:ex:y" }))
	for name, change := range map[string]func(*chainDocument){
		"another entry": func(d *chainDocument) { d.items = append(d.items, "8 02") },
		"one less":      func(d *chainDocument) { d.items = d.items[1:] },
		"another time":  func(d *chainDocument) { d.items[0] = "1 02" },
		"a tombstone":   func(d *chainDocument) { d.items[0] = "-1 01" },
	} {
		other := digests(func(s map[string]*chainDocument) { change(s["/1"]) })
		assert.NotEqual(t, base[chainHost+"/1"], other[chainHost+"/1"], name)
		assert.Equal(t, base[chainHost+"/2"], other[chainHost+"/2"], name)
	}
}

func ExampleChainValidator_Walk() {
	documents := map[string]string{
		"https://example.org/feed": `<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:ex:feed</id><title>Laws</title>
			<updated>2025-06-01T00:00:00Z</updated><author><name>Office</name></author>
			<link rel="self" href="/feed"/><link rel="prev-archive" href="/1"/></feed>`,
		"https://example.org/1": `<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:ex:feed</id><title>Laws</title>
			<updated>2025-05-01T00:00:00Z</updated><author><name>Office</name></author>
			<link rel="self" href="/1"/><link rel="current" href="/feed"/></feed>`,
	}
	c := &atom.ChainValidator{Report: func(f websync.Finding) { fmt.Println(f) }}
	sum := c.Walk("https://example.org/feed", func(url string) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(documents[url])), nil
	})
	fmt.Println(sum.Documents, sum.Whole)
	// Output:
	// https://example.org/1: warning: no fh:archive (atom-chain-mark, RFC 5005 §4)
	// 2 true
}
