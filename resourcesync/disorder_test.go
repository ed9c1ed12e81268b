package resourcesync_test

import (
	"slices"
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

const longAgo = -12_000_000 // minutes: in 2002

// TestDisorder lists changes whose datetime contradicts the list. A full pass makes the
// same state as the runs before it, and nothing is deleted and created again.
func TestDisorder(t *testing.T) {
	for name, test := range map[string]struct {
		at      int // of the Resource List, which has a, b and c
		entries []string
		from    int    // of the Change List
		lost    string // what is deleted
		got     string // what is created
		rules   string // of the findings
		doubt   bool
	}{
		"after the baseline, by the order":       {at: 0, entries: []string{touched(5, "a"), lost(longAgo, "b")}, rules: "order", doubt: true},
		"after the baseline, then one in order":  {at: 0, entries: []string{lost(longAgo, "b"), touched(5, "a"), lost(6, "c")}, lost: "c", rules: "datetime-outside", doubt: true},
		"before the baseline, by the order":      {at: 5000, entries: []string{touched(5, "a"), lost(longAgo, "b")}, rules: "order", doubt: true},
		"an hour before the baseline, by order":  {at: 60, entries: []string{got(5, "a", "1"), lost(longAgo, "b")}, rules: "order", doubt: true},
		"the interval of the list is later":      {at: 0, entries: []string{lost(longAgo, "b")}, rules: "datetime-outside", doubt: true},
		"deleted before, in order":               {at: 0, entries: []string{lost(5, "b"), touched(6, "a"), lost(longAgo, "b")}, lost: "b", rules: "order", doubt: true},
		"deleted after it":                       {at: 0, entries: []string{touched(6, "a"), lost(longAgo, "b"), lost(7, "b")}, lost: "b", rules: "order", doubt: true},
		"the clock goes back, a young baseline":  {at: 0, entries: []string{touched(1440, "a"), lost(3, "b")}, lost: "b", rules: "order"},
		"the newest first":                       {at: 0, entries: []string{lost(9, "b"), lost(7, "c"), touched(5, "a")}, lost: "b c", rules: "order"},
		"an update in 2002":                      {at: 0, entries: []string{touched(5, "a"), touched(longAgo, "b")}, rules: "order"},
		"a lastmod, which is that of the bytes":  {at: 0, entries: []string{touched(5, "a"), strings.Replace(lost(never, "b"), "<rs:md", "<lastmod>"+minute(longAgo)+"</lastmod><rs:md", 1)}, lost: "b"},
		"an update in 2002, in a later list":     {at: 5000, from: 5000, entries: []string{got(longAgo, "d", "1")}, got: "d", rules: "datetime-outside"},
		"no change: an update, with its finding": {at: 0, entries: []string{entryWith("a", timed("datetime", 5), ""), entryWith("b", `change="lost"`+timed("datetime", 6), "")}, rules: "change-missing change"},
	} {
		t.Run(name, func(t *testing.T) {
			truth := held("a=1 b=1 c=1")
			if test.got != "" {
				truth[test.got] = "1"
			}
			for _, name := range strings.Fields(test.lost) {
				delete(truth, name)
			}
			for _, appended := range []bool{false, true} {
				list := resourceList(test.at, has("a", "1"), has("b", "1"), has("c", "1"))
				site := func(entries ...string) sourcetest.Site {
					p := offers("resourcelist", "resourcelist.xml", "changelist", "changelist.xml").with(pages{"resourcelist.xml": list, "changelist.xml": changeList(test.from, never, entries...)})
					return serve(p, held("a=1 b=1 c=1 d=1"), 5)
				}
				store := harvest.NewCatalog(memstore.New())
				if appended { // to a list that was read before
					harvestOnce(t, store, site(test.entries[:len(test.entries)-1]...))
				}
				for i := range 4 {
					before := testkit.Log(t, store)
					var rules []string
					h := &harvest.Harvester{Sample: -1, Catalog: store, Fetcher: &sourcetest.Fetcher{Site: site(test.entries...)}, MaxDelete: -1, Full: i > 1,
						Hooks: testkit.OnFinding(func(f websync.Finding) { rules = append(rules, strings.TrimPrefix(f.Rule, "resourcesync-")) })}
					report, err := h.Run(t.Context(), &resourcesync.Source{URL: sourceURL, Name: testkit.Src})
					require.NoError(t, err)
					assert.Equal(t, !test.doubt, report.InStep(), "run %d", i)
					assert.Equal(t, truth, testkit.Live(t, store), "run %d", i)
					if i == 0 {
						assert.Equal(t, test.rules, strings.Join(slices.Compact(rules), " "))
					} else {
						assert.Equal(t, before, testkit.Log(t, store), "run %d", i)
					}
				}
			}
		})
	}
}

// TestDeletionInDoubt: a deletion that is not carried out names its resource. It does not
// count if the resource is not wanted.
func TestDeletionInDoubt(t *testing.T) {
	p := offers("resourcelist", "resourcelist.xml", "changelist", "changelist.xml").with(pages{
		"resourcelist.xml": resourceList(0, has("a", "1"), has("b", "1")), "changelist.xml": changeList(0, never, touched(5, "a"), lost(longAgo, "b"))})
	site := serve(p, held("a=1 b=1"), 5)
	report, said := harvestOnce(t, harvest.NewCatalog(memstore.New()), site)
	assert.Contains(t, said, "the deletion of "+www+"b is not carried out")
	assert.EqualValues(t, 1, report.Skipped)

	h := &harvest.Harvester{Sample: -1, Catalog: harvest.NewCatalog(memstore.New()), Fetcher: &sourcetest.Fetcher{Site: site}}
	report, err := h.Run(t.Context(), &resourcesync.Source{URL: sourceURL, Include: func(uri string) bool { return uri != www+"b" }})
	require.NoError(t, err)
	assert.True(t, report.InStep())
}

// TestDumpListsAgain: what a Resource Dump lacks and has again, always with the same at,
// is back after the first full pass.
func TestDumpListsAgain(t *testing.T) {
	p := newPublisher()
	p.dump, p.noList, p.noChange = 3, true, true
	p.put("a", "1")
	p.put("b", "1")
	p.list()
	store, both := harvest.NewCatalog(memstore.New()), p.listed
	for i, listed := range []map[string]resource{both, {"a": both["a"]}, both, {"a": both["a"]}, both} {
		p.listed, p.resources = listed, listed
		for range 2 {
			h := &harvest.Harvester{Sample: -1, Catalog: store, Fetcher: &sourcetest.Fetcher{Site: p.site()}, Full: true}
			report, err := h.Run(t.Context(), &resourcesync.Source{URL: sourceURL, Name: testkit.Src})
			require.NoError(t, err)
			require.True(t, report.InStep())
			require.Equal(t, p.texts(), testkit.Live(t, store), "dump %d", i)
		}
	}
}
