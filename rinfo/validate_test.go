package rinfo_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/rinfo"
)

// ofProfile returns the findings of the profile as "severity rule element", without
// prefix.
func ofProfile(findings []websync.Finding) []string {
	var all []string
	for _, f := range findings {
		if rule, ok := strings.CutPrefix(f.Rule, "rinfo-"); ok {
			all = append(all, fmt.Sprintf("%v %s %s", f.Severity, rule, f.Element))
		}
	}
	return all
}

// good is a valid entry, for a document of which nothing is to be reported.
func good(id string, at int) string {
	return entryOf(id, at, pdf("files/"+id), rdf("files/"+id+".rdf"))
}

// without returns a text without a part that it has.
func without(text, part string) string {
	if !strings.Contains(text, part) {
		panic(part)
	}
	return strings.Replace(text, part, "", 1)
}

func ruleCases() map[string]struct {
	doc  string
	want []string
} {
	page := `<link rel="alternate" type="text/html" href="` + www + `files/a.html"` + stated("x") + `/>`
	many := func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(good(fmt.Sprint("a/", i), 1))
		}
		return b.String()
	}
	parts := func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(enclosure(fmt.Sprint("files/", i), ""))
		}
		return b.String()
	}
	next := `<link rel="next" href="` + www + `2"/>`
	a := good("a/1", 2)
	return map[string]struct {
		doc  string
		want []string
	}{
		"nothing":                   {feedOf(a, entryAt("b/1", 1, 1, pdf("files/b"), rdf("files/b.rdf"), enclosure("files/b-1", ""))), nil},
		"a feed id that is a URL":   {strings.Replace(feedOf(a), "urn:feed", feedURL, 1), []string{"info feed-id id"}},
		"a feed without an author":  {without(feedOf(a), "<author><name>Agency</name><email>rinfo@example.se</email></author>"), []string{"error feed-author author"}},
		"an author without e-mail":  {without(feedOf(a), "<email>rinfo@example.se</email>"), []string{"warning author-email author"}},
		"complete":                  {feedOf(isComplete, a), nil},
		"complete, with archives":   {feedOf(isComplete, prev("1"), a), []string{"error complete complete"}},
		"complete, with pages":      {feedOf(isComplete, next, a), []string{"error complete complete"}},
		"complete and an archive":   {feedOf(isComplete, isArchive, a), []string{"error complete complete"}},
		"complete, with a deletion": {feedOf(isComplete, tombstoneOf("b/1", 1), a), []string{"info complete-deletion deleted-entry"}},
		"a deletion":                {feedOf(tombstoneOf("b/1", 1), a), nil},
		"pages":                     {feedOf(next, a), []string{"warning pages link"}},
		"pages and archives":        {feedOf(next, prev("1"), a), nil},
		"a thousand entries":        {feedOf(many(1000)), nil},
		"more":                      {feedOf(many(1000), tombstoneOf("b", 1)), []string{"info long feed"}},
		"an index":                  {feedOf(entryOf("a/1", 1, `<content type="application/atom+xml;type=feed" src="`+www+`x"/>`)), []string{"info index content"}},

		"an id that is no URL":           {strings.Replace(feedOf(a), publ+"a/1", "tag:example.se,2026:1", 1), []string{"warning id id"}},
		"without published":              {without(feedOf(a), "<published>"+moment(1)+"</published>"), []string{"error published published"}},
		"an unreadable published":        {strings.Replace(feedOf(a), "<published>"+moment(1), "<published>soon", 1), []string{"error published published"}},
		"a published without a colon":    {strings.Replace(feedOf(a), "<published>"+moment(1), "<published>2010-03-08T15:55:34+0100", 1), nil},
		"without updated":                {without(feedOf(a), "<updated>"+moment(2)+"</updated>"), nil},
		"updated when published":         {feedOf(good("a/1", 1)), nil},
		"updated before published":       {feedOf(good("a/1", 0)), []string{"error updated updated"}},
		"updated again":                  {feedOf(good("a/1", 3), good("a/1", 2)), nil},
		"new, though there":              {feedOf(entryAt("a/1", 3, 3, pdf("files/a"), rdf("files/b")), a), []string{"error reused-id updated"}},
		"there, then new":                {feedOf(a, entryAt("a/1", 3, 3, pdf("files/a"), rdf("files/b"))), []string{"error reused-id updated"}},
		"the older one new":              {feedOf(a, good("a/1", 1)), nil},
		"three states":                   {feedOf(good("a/1", 3), good("a/1", 1), entryAt("a/1", 2, 2, pdf("files/a"), rdf("files/b"))), []string{"error reused-id updated"}},
		"deleted and there again":        {feedOf(tombstoneOf("a/1", 2), entryAt("a/1", 3, 3, pdf("files/a"), rdf("files/b")), good("a/1", 1)), nil},
		"deleted before":                 {feedOf(tombstoneOf("a/1", 1), entryAt("a/1", 3, 3, pdf("files/a"), rdf("files/b")), a), []string{"error reused-id updated"}},
		"deleted later":                  {feedOf(tombstoneOf("a/1", 4), entryAt("a/1", 3, 3, pdf("files/a"), rdf("files/b")), a), []string{"error reused-id updated"}},
		"without content":                {feedOf(entryOf("a/1", 1, rdf("files/a.rdf"))), []string{"warning content content"}},
		"without content and RDF":        {feedOf(entryOf("a/1", 1, page)), []string{"warning content content", "error rdf link"}},
		"inline content":                 {feedOf(entryOf("a/1", 1, "<content>text</content>", rdf("files/a.rdf"))), []string{"error inline content"}},
		"without RDF":                    {feedOf(entryOf("a/1", 1, pdf("files/a"), page)), []string{"error rdf link"}},
		"RDF as an enclosure":            {feedOf(entryOf("a/1", 1, pdf("files/a"), strings.Replace(rdf("files/x"), "alternate", "enclosure", 1))), []string{"error rdf link"}},
		"RDF in the content":             {feedOf(entryOf("a/1", 1, strings.Replace(pdf("files/a"), "application/pdf", "application/xhtml+xml", 1))), nil},
		"RDF that is the content":        {feedOf(entryOf("a/1", 1, strings.Replace(pdf("files/a"), "application/pdf", "text/turtle; charset=utf-8", 1))), nil},
		"a link that is no HTTP URL":     {feedOf(entryOf("a/1", 1, pdf("files/a"), rdf("files/a.rdf"), `<link rel="alternate" type="text/html" href="ftp://example.se/x"/>`)), []string{"error link link"}},
		"content that is no HTTP URL":    {feedOf(entryOf("a/1", 1, `<content type="application/pdf" src="urn:x"/>`, rdf("files/a.rdf"))), []string{"error link content"}},
		"older than a deletion":          {strings.Replace(feedOf(tombstoneOf("x/1", 2), good("a/1", 1)), moment(1000), moment(1), 1), []string{"error feed-updated updated"}},
		"a thousand parts":               {feedOf(entryOf("a/1", 1, pdf("files/a"), parts(999), rdf("files/a.rdf"))), nil},
		"too many parts":                 {feedOf(entryOf("a/1", 1, pdf("files/a"), parts(1000), rdf("files/a.rdf"), `<link rel="alternate" href="`+www+`x"/>`)), []string{"error link link"}},
		"the content again":              {feedOf(entryOf("a/1", 1, pdf("files/a"), rdf("files/a.rdf"), `<link rel="alternate" href="`+www+`files/a"/>`)), nil},
		"without a type":                 {feedOf(entryOf("a/1", 1, without(pdf("files/a"), ` type="application/pdf"`), rdf("files/a.rdf"))), []string{"error type content"}},
		"an enclosure without a type":    {feedOf(entryOf("a/1", 1, pdf("files/a"), rdf("files/a.rdf"), without(enclosure("files/b", ""), ` type="application/pdf"`))), []string{"error type link"}},
		"without a length":               {feedOf(entryOf("a/1", 1, pdf("files/a"), without(rdf("files/a.rdf"), ` length="11"`))), []string{"error length link"}},
		"a length of zero":               {feedOf(entryOf("a/1", 1, pdf("files/a"), strings.Replace(rdf("files/a.rdf"), `length="11"`, `length="0"`, 1))), nil},
		"without a digest":               {feedOf(entryOf("a/1", 1, without(pdf("files/a"), hash("files/a")), rdf("files/a.rdf"))), []string{"error digest content"}},
		"le:md5":                         {feedOf(entryOf("a/1", 1, strings.Replace(pdf("files/a"), `hash="md5:`, `le:md5="`, 1), rdf("files/a.rdf"))), nil},
		"a stronger digest only":         {feedOf(entryOf("a/1", 1, `<content type="application/pdf" src="`+www+`files/a" hash="sha-1:da39a3ee5e6b4b0d3255bfef95601890afd80709"/>`, rdf("files/a.rdf"))), []string{"warning md5 content"}},
		"an enclosure elsewhere":         {feedOf(entryOf("a/1", 1, pdf("files/a"), rdf("files/a.rdf"), enclosure("elsewhere/b", ""))), []string{"error attachment link"}},
		"an enclosure that is the other": {feedOf(entryOf("a/1", 1, pdf("files/a"), rdf("files/a.rdf"), enclosure("files/b.pdf", ""), enclosure("files/c", ` dct:isFormatOf="#b"`))), []string{"error attachment link", "error attachment link"}},
	}
}

// TestRules: each rule is broken by a document, and not by one that is nearly the same.
func TestRules(t *testing.T) {
	broken := map[string]bool{"rinfo-order": true, "rinfo-other-feed": true, "rinfo-mismatch": true} // TestChain, TestVerifier
	for name, test := range ruleCases() {
		t.Run(name, func(t *testing.T) {
			var findings []websync.Finding
			sum, err := rinfo.Validate(strings.NewReader(test.doc), atom.ValidateOptions{Document: feedURL, Report: func(f websync.Finding) { findings = append(findings, f) }})
			require.NoError(t, err)
			assert.ElementsMatch(t, test.want, ofProfile(findings))
			errs := 0
			for _, f := range findings {
				broken[f.Rule] = true
				assert.NotEmpty(t, f.Section)
				assert.Equal(t, feedURL, f.Document)
				if f.Severity == websync.SeverityError {
					errs++
				}
			}
			assert.Equal(t, errs, sum.Errors)
		})
	}
	for _, r := range rinfo.Rules() {
		assert.True(t, broken[r.Name], r.Name)
	}
}

// TestSourceReports: a Source reports what Validate does, as far as it does not need
// other entries, with the position of the entry.
func TestSourceReports(t *testing.T) {
	notAlone := []string{"error feed-updated updated", "info complete-deletion deleted-entry", "info long feed", "error reused-id updated"}
	for name, test := range ruleCases() {
		if strings.Contains(name, "thousand") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			c := newCollection(t)
			c.run(siteOf(map[string]string{"feed": test.doc}))
			want := slices.DeleteFunc(slices.Clone(test.want), func(f string) bool { return slices.Contains(notAlone, f) })
			assert.ElementsMatch(t, want, ofProfile(c.findings))
		})
	}
}

func TestLenient(t *testing.T) {
	doc := feedOf(entryOf("a/1", 1, pdf("files/a")))
	sum, err := rinfo.Validate(strings.NewReader(doc), atom.ValidateOptions{Lenient: true})
	require.NoError(t, err)
	assert.Zero(t, sum.Errors)
	assert.Positive(t, sum.Warnings)
}

// walkChain validates the chain of a site.
func walkChain(t *testing.T, c *atom.ChainValidator, docs map[string]string) []websync.Finding {
	t.Helper()
	var findings []websync.Finding
	c.Report = func(f websync.Finding) { findings = append(findings, f) }
	sum := c.Walk(feedURL, opener(docs))
	assert.True(t, sum.Whole)
	return findings
}

func opener(docs map[string]string) func(url string) (io.ReadCloser, error) {
	return func(url string) (io.ReadCloser, error) {
		text, ok := docs[strings.TrimPrefix(url, www)]
		if !ok {
			return nil, errors.New("status 404")
		}
		return io.NopCloser(strings.NewReader(text)), nil
	}
}

// TestChain: the times of the documents of a chain, and states in several of them.
func TestChain(t *testing.T) {
	for name, test := range map[string]struct {
		docs map[string]string
		want []string
	}{
		"in order": {map[string]string{"feed": feedOf(prev("2"), good("c/1", 3)), "2": feedOf(isArchive, prev("1"), good("b/1", 3), good("a/1", 2)),
			"1": feedOf(isArchive, good("d/1", 2))}, nil},
		"an older deletion repeated": {map[string]string{"feed": feedOf(prev("1"), tombstoneOf("x/1", 1), good("c/1", 3)), "1": feedOf(isArchive, good("b/1", 2))}, nil},
		"not in order":               {map[string]string{"feed": feedOf(prev("1"), good("c/1", 5), good("b/1", 3)), "1": feedOf(isArchive, good("a/1", 4))}, []string{"1 order"}},
		"not in order, twice": {map[string]string{"feed": feedOf(prev("2"), good("c/1", 5)), "2": feedOf(isArchive, prev("1"), good("b/1", 9)), "1": feedOf(isArchive, good("a/1", 7))},
			[]string{"2 order", "1 order"}},
		"a late deletion": {map[string]string{"feed": feedOf(prev("1"), good("b/1", 3)), "1": feedOf(isArchive, tombstoneOf("x/1", 4))}, []string{"1 order"}},
		"across a document": {map[string]string{"feed": feedOf(prev("2"), good("c/1", 3)), "2": feedOf(isArchive, prev("1")), "1": feedOf(isArchive, good("b/1", 4))},
			[]string{"1 order"}},
		"another id": {map[string]string{"feed": feedOf(prev("1"), good("b/1", 3)), "1": strings.Replace(feedOf(isArchive, good("a/1", 2)), "urn:feed", "urn:other", 1)},
			[]string{"1 other-feed"}},
		"a reused id": {map[string]string{"feed": feedOf(prev("1"), entryAt("a/1", 3, 3, pdf("files/a"), rdf("files/b"))), "1": feedOf(isArchive, good("a/1", 2))},
			[]string{"1 reused-id"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range walkChain(t, rinfo.NewChainValidator(), test.docs) {
				if rule, ok := strings.CutPrefix(f.Rule, "rinfo-"); ok {
					got = append(got, strings.TrimPrefix(f.Document, www)+" "+rule)
				}
			}
			assert.Equal(t, test.want, got)
		})
	}
}

// TestVerifier: the documents of the latest state of each entry are compared with what
// their links state.
func TestVerifier(t *testing.T) {
	docs := map[string]string{
		"feed": feedOf(prev("1"), good("b/1", 6), tombstoneOf("c/1", 5), good("a/1", 2),
			strings.Replace(entryOf("a/1", 4, pdf("files/a2"), rdf("files/a2.rdf"), enclosure("files/a2-1", "")), "files/a2-1\"", "files/a2-2\"", 1), good("a/1", 3)),
		"1": feedOf(isArchive, good("c/1", 1), good("d/1", 1), good("a/1", 1), entryOf("e/1", 1, `<content type="application/atom+xml;type=feed" src="`+www+`files/e"/>`)),
	}
	files := map[string]string{"files/a2": "files/a2", "files/a2.rdf": "files/A2.rdf", "files/a2-2": "files/a2-1", "files/b/1": "files/b/1", "files/b/1.rdf": "files", "files/d/1": "files/d/1"}
	v := &rinfo.Verifier{Open: opener(files)}
	c := rinfo.NewChainValidator()
	v.Follow(c)
	var got []string
	for _, f := range walkChain(t, c, docs) {
		if f.Rule == "rinfo-mismatch" {
			got = append(got, fmt.Sprintf("%s %v %s %s", strings.TrimPrefix(f.Document, www), f.Line > 1, strings.TrimPrefix(f.Value, www), f.Message))
		}
	}
	assert.Equal(t, []string{
		"feed true files/b/1.rdf a linked document must be as its link states: " + www + "files/b/1.rdf: length: want 13, got 5",
		"feed true files/a2.rdf a linked document must be as its link states: " + www + "files/a2.rdf: md5: want " +
			sumOf("files/a2.rdf") + ", got " + sumOf("files/A2.rdf"),
		"1 true files/d/1.rdf a linked document must be as its link states: status 404",
	}, got)

	var findings []websync.Finding
	v = &rinfo.Verifier{Open: opener(nil)}
	sum, err := rinfo.Validate(strings.NewReader(feedOf(good("a/1", 1))), atom.ValidateOptions{
		Item: v.Item, Feed: v.Feed, Report: func(f websync.Finding) { findings = append(findings, f) },
	})
	require.NoError(t, err)
	assert.Equal(t, []string{"error mismatch link", "error mismatch link"}, ofProfile(findings))
	assert.Equal(t, 2, sum.Errors)
}

// FuzzValidate: no document makes the checks panic, and what is reported counts.
func FuzzValidate(f *testing.F) {
	for name, test := range ruleCases() {
		if !strings.Contains(name, "thousand") && !strings.Contains(name, "more") && !strings.Contains(name, "too many") {
			f.Add(test.doc)
		}
	}
	testkit.Files(f, "testdata", nil, func(_ string, data []byte) { f.Add(string(data)) })
	f.Fuzz(func(t *testing.T, doc string) {
		n := 0
		v := &rinfo.Verifier{Open: opener(nil)}
		sum, _ := rinfo.Validate(strings.NewReader(doc), atom.ValidateOptions{Item: v.Item, Feed: v.Feed, Report: func(found websync.Finding) {
			if n++; found.Rule == "" || found.Message == "" {
				t.Fatalf("%+v", found)
			}
		}})
		if n != sum.Errors+sum.Warnings+sum.Infos {
			t.Fatalf("%d findings, counted %d, %d, %d", n, sum.Errors, sum.Warnings, sum.Infos)
		}
	})
}
