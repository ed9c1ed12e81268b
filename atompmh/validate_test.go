package atompmh_test

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atompmh"
)

// ours returns the findings of this package as "rule line".
func ours(findings []websync.Finding) (all []string) {
	for _, f := range findings {
		if rule, ok := strings.CutPrefix(f.Rule, "atompmh-"); ok {
			all = append(all, rule+" "+string(rune('0'+f.Line)))
		}
	}
	return all
}

// TestValidate: what is wrong with one document. Its entries begin in line 2.
func TestValidate(t *testing.T) {
	tests := map[string]struct {
		doc  string
		want []string
	}{
		"good":               {docOf(2, isComplete, active("b", 2, "a", "b"), active("a", 1, "a")), nil},
		"history":            {docOf(5, isComplete, active("b", 5, "a"), active("b", 1, "a")), nil},
		"deletions":          {docOf(5, deletionOf("b", 5), active("b", 1, "a"), active("a", 1, "a")), nil},
		"an archive":         {docOf(5, isArchive, active("a", 1, "a")), nil},
		"may be complete":    {docOf(5, active("a", 1, "a")), []string{"complete-missing 1"}},
		"other archive":      {docOf(5, prev("1"), active("a", 1, "a")), nil},
		"empty":              {docOf(5), nil},
		"old":                {docOf(1, isComplete, active("a", 2, "a")), []string{"updated 1"}},
		"no kind":            {docOf(2, isComplete, entryOf("a", 2)), []string{"entry-type 3"}},
		"both kinds":         {docOf(2, isComplete, entryOf("a", 2, link("a", "a"), "<content/>")), []string{"entry-type 3"}},
		"content":            {docOf(2, isComplete, entryOf("a", 2, link("a", "a"), "<content>x</content>")), []string{"content 3"}},
		"full deletion":      {docOf(2, entryOf("a", 2, "<content>x</content>")), []string{"entry-type 2"}},
		"white space":        {docOf(2, entryOf("a", 2, "<content> </content>")), []string{"deletion-content 2"}},
		"no type":            {docOf(2, isComplete, entryOf("a", 2, `<link href="`+www+`"/>`)), []string{"alternate-type 3"}},
		"one type":           {docOf(2, isComplete, entryOf("a", 2, `<link href="`+www+`"/>`, link("a", "a"))), nil},
		"no type in history": {docOf(3, isComplete, entryOf("a", 2, `<link href="`+www+`"/>`), active("a", 3, "a")), nil},
		"history, no type":   {docOf(3, isComplete, active("a", 3, "a"), entryOf("a", 2, `<link href="`+www+`"/>`)), nil},
		"two active":         {docOf(2, isComplete, active("a", 2, "a"), active("a", 2, "b")), []string{"active-twice 4"}},
		"two historical":     {docOf(3, isComplete, active("a", 2, "a"), active("a", 2, "b"), active("a", 3, "b")), nil},
		"two deletions":      {docOf(2, deletionOf("a", 2), deletionOf("a", 2)), []string{"deletion-twice 3"}},
		"both at one time":   {docOf(2, active("a", 2, "a"), deletionOf("a", 2)), []string{"same-time 3"}},
		"tombstone":          {docOf(2, isComplete, `<at:deleted-entry xmlns:at="`+atom.TombstoneNamespace+`" ref="urn:a" when="`+moment(1)+`"/>`), []string{"tombstone 3"}},
		"complete":           {docOf(2, isComplete, deletionOf("a", 2)), []string{"complete-deletion 1"}},
		"pages":              {docOf(2, isArchive, rel("next", "2"), active("a", 2, "a")), []string{"paged 1"}},
		"no time":            {docOf(2, isComplete, "<entry><id>urn:a</id><title>a</title>"+link("a", "a")+"</entry>"), nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for _, lenient := range []bool{false, true} {
				var found []websync.Finding
				items := 0
				sum, err := atompmh.Validate(strings.NewReader(test.doc), atom.ValidateOptions{
					Document: feedURL, Lenient: lenient, Report: func(f websync.Finding) { found = append(found, f) },
					Item: func(*atom.Item, atom.ReportFunc) { items++ },
					Feed: func(*atom.Feed, atom.ReportFunc) { items += 100 },
				})
				require.NoError(t, err)
				assert.Equal(t, test.want, ours(found))
				assert.Equal(t, len(found), sum.Errors+sum.Warnings+sum.Infos)
				assert.Equal(t, sum.Entries+sum.Tombstones+100, items, "the caller's own checks are made, too")
				if lenient {
					assert.Zero(t, sum.Errors)
				}
			}
		})
	}
}

// TestChain: what is wrong with the documents of a feed together.
func TestChain(t *testing.T) {
	archived := func(at int, entries ...string) string { return docOf(at, append([]string{isArchive}, entries...)...) }
	tests := map[string]struct {
		feed, second, first string
		want                []string // "path rule"
	}{
		"good": {feed: docOf(9, active("a", 9, "a"), deletionOf("b", 8)), second: archived(8, active("b", 7, "a")), first: archived(7, active("a", 1, "a"))},
		"a new archive document": {feed: docOf(9, active("a", 9, "a")), second: archived(10, active("b", 7, "a")), first: archived(8, active("c", 1, "a")),
			want: []string{"second archive-updated", "first archive-updated"}},
		"an empty one between": {feed: docOf(9, active("a", 5, "a")), second: archived(5), first: archived(6, active("c", 1, "a")),
			want: []string{"first archive-updated"}},
		"active in two": {feed: docOf(9, active("a", 9, "a")), second: archived(9, active("a", 9, "b")), first: archived(1),
			want: []string{"second active-twice"}},
		"deleted in two": {feed: docOf(9, deletionOf("a", 9)), second: archived(9, deletionOf("a", 9)), first: archived(1),
			want: []string{"second deletion-twice"}},
		"at one time": {feed: docOf(9, deletionOf("a", 9)), second: archived(9, active("a", 9, "a")), first: archived(1),
			want: []string{"second same-time"}},
		"history without a type": {feed: docOf(9, active("a", 9, "a")), second: archived(8, entryOf("a", 2, `<link href="/x"/>`)), first: archived(1)},
		"active without a type": {feed: docOf(9, active("a", 9, "a")), second: archived(8, entryOf("b", 2, `<link href="/x"/>`)), first: archived(1),
			want: []string{"second alternate-type"}},
		"a complete archive document": {feed: docOf(9), second: archived(8, isComplete, active("a", 2, "a"), active("b", 2, "a")), first: archived(1, active("a", 1, "a"))},
		"not complete": {feed: docOf(9, isComplete, active("a", 9, "a")), second: archived(8, active("a", 2, "a")), first: archived(2, active("b", 2, "a")),
			want: []string{"first complete"}},
		"not complete any more": {feed: docOf(9, active("c", 9, "a")), second: archived(8, isComplete, active("b", 2, "a")), first: archived(1),
			want: []string{"second complete"}},
		"deleted since": {feed: docOf(9, deletionOf("b", 9)), second: archived(8, isComplete, active("b", 2, "a")), first: archived(1),
			want: []string{"second complete"}},
		"deleted before": {feed: docOf(9, deletionOf("b", 9)), second: archived(8, active("b", 5, "a")), first: archived(5, isComplete, active("b", 2, "a")),
			want: []string{"first complete"}},
		"deleted and active at one time": {feed: docOf(9, deletionOf("b", 9), active("b", 9, "a")), second: archived(8, isComplete, active("b", 2, "a")), first: archived(1),
			want: []string{"feed same-time", "second complete"}},
		"an empty pool": {feed: docOf(9, isComplete), second: archived(8, isComplete), first: archived(1, isComplete)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			link := func(doc, to string) string { return strings.Replace(doc, "<title>", prev(to)+"<title>", 1) }
			docs := map[string]string{"feed": link(test.feed, "second"), "second": link(test.second, "first"), "first": test.first}
			v := atompmh.NewChainValidator()
			var found []string
			v.Report = func(f websync.Finding) {
				if rule, ok := strings.CutPrefix(f.Rule, "atompmh-"); ok {
					found = append(found, strings.TrimPrefix(f.Document, www)+" "+rule)
				}
			}
			sum := v.Walk(feedURL, func(url string) (io.ReadCloser, error) {
				return io.NopCloser(strings.NewReader(docs[strings.TrimPrefix(url, www)])), nil
			})
			assert.True(t, sum.Whole)
			assert.Equal(t, test.want, found)
		})
	}
}

// TestRules: every rule has a name, a section and a text of its own.
func TestRules(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range atompmh.Rules() {
		assert.False(t, seen[r.Name])
		seen[r.Name] = true
		assert.NotEmpty(t, r.Summary)
		assert.Contains(t, r.Section, "Atom-PMH 1.0, ")
	}
	assert.Len(t, seen, 15)
}
