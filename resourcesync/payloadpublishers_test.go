package resourcesync_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/resourcesync"
)

// A payloadStep is what comes next at a destination: a payload or, without one, a run of
// the lists.
type payloadStep struct {
	payload string
	pages   pages
	truth   string // what the publisher has
	held    string // after the payload; empty: truth
	refused bool
	want    verdict
}

// playPayloads applies payloads between runs. A run in step holds the truth, and no
// payload deletes what the publisher has.
func playPayloads(t *testing.T, source *resourcesync.Source, steps []payloadStep) {
	store := harvest.NewCatalog(memstore.New())
	source.Name = testkit.Src
	for i := range steps {
		s := &steps[i]
		truth, before := held(s.truth), allBodies(t, store)
		site := linkedSite(&linkStage{pages: s.pages, truth: s.truth}, i+1)
		if s.payload != "" {
			src, err := source.Payload([]byte(s.payload))
			said := ""
			if err == nil {
				var report *harvest.Report
				report, said = harvestLinks(t, store, site, src, 60, false)
				if s.refused {
					assert.Zero(t, report.Events, "step %d\n%s", i, said)
				}
				assert.Equal(t, report.From, report.To, "step %d: the position", i)
			}
			if s.refused {
				assert.Equal(t, before, allBodies(t, store), "step %d\n%s", i, said)
			} else {
				require.NoError(t, err, "step %d", i)
				want := truth
				if s.held != "" {
					want = held(s.held)
				}
				assert.Equal(t, want, allBodies(t, store), "step %d\n%s", i, said)
			}
		} else {
			report, said := harvestLinks(t, store, site, source, 60, false)
			if s.want != either {
				assert.Equal(t, s.want == inStep, report.InStep(), "step %d\n%s", i, said)
			}
			if report.InStep() {
				assert.Equal(t, truth, allBodies(t, store), "step %d\n%s", i, said)
			}
		}
		live := allBodies(t, store)
		for name := range before {
			if _, ok := truth[name]; ok {
				assert.Contains(t, live, name, "step %d: deleted", i)
			}
		}
		for name, text := range live {
			assert.NotContains(t, text, "evil", "step %d: %s", i, name)
		}
		if t.Failed() {
			return
		}
	}
}

func TestPayloadPublishers(t *testing.T) {
	in := linkTo("collection", otherHost, "")
	base := list(since(0, "a", "", hashOf("1"), in), since(0, "b", "", hashOf("1"), in))
	lists := func(changes ...string) pages { return listsOf(base, changes...) }
	sent := func(entries ...string) string { return changeList(0, never, entries...) }
	upd := func(n int, name, text string, links ...string) string {
		return since(n, name, "updated", hashOf(text), links...)
	}
	del := func(n int, name string) string { return since(n, name, "deleted", "") }
	begin := payloadStep{pages: lists(), truth: "a=1 b=1"}
	run := func(truth string, changes ...string) payloadStep {
		return payloadStep{pages: lists(changes...), truth: truth}
	}
	gets := func(truth string, entries ...string) payloadStep {
		return payloadStep{payload: sent(entries...), pages: lists(), truth: truth}
	}
	refuses := func(truth, payload string) payloadStep {
		return payloadStep{payload: payload, pages: lists(), truth: truth, refused: true}
	}
	fresh := func(n int, list []string, changes ...string) pages {
		return lists().with(pages{"resourcelist.xml": resourceList(n, list...), "changelist.xml": changeList(n, never, changes...)})
	}
	meta := linkTo("describedby", www+"a.xml", hashOf("m"))
	patch := linkTo(resourcesync.RelationPatch, www+"p", `type="application/json-patch"`)
	toMap := linkTo("timemap", www+"t/a", "")
	for name, test := range map[string]struct {
		source resourcesync.Source
		steps  []payloadStep
	}{
		"before the baseline":   {steps: []payloadStep{refuses("a=1 b=1", sent(upd(1, "a", "2"))), begin}},
		"an index":              {steps: []payloadStep{begin, refuses("a=1 b=1", changeIndex(0, listed("changelist.xml", 0, never))), begin}},
		"cut":                   {steps: []payloadStep{begin, refuses("a=1", strings.TrimSuffix(sent(del(1, "b")), "</urlset>\n")), run("a=1", del(1, "b"))}},
		"of another set":        {steps: []payloadStep{begin, refuses("a=1 b=1", strings.Replace(sent(del(1, "b")), "capabilitylist.xml", "other.xml", 1)), begin}},
		"compressed":            {steps: []payloadStep{begin, {payload: gzipped(sent(upd(1, "a", "2"))), pages: lists(), truth: "a=2 b=1"}, run("a=2 b=1", upd(1, "a", "2"))}},
		"at the checkpoint":     {steps: []payloadStep{begin, run("a=2 b=1", upd(1, "a", "2")), refuses("a=2 b=1", sent(del(1, "a"))), run("a=2 b=1", upd(1, "a", "2"))}},
		"a deletion comes late": {steps: []payloadStep{begin, gets("a=3 b=1", upd(2, "a", "3")), gets("a=3 b=1", del(1, "a")), run("a=3 b=1", del(1, "a"), upd(2, "a", "3"))}},
		"one is lost":           {steps: []payloadStep{begin, gets("a=1", del(2, "b")), run("a=2", upd(1, "a", "2"), del(2, "b"))}},
		"twice":                 {steps: []payloadStep{begin, gets("a=1", del(1, "b")), gets("a=1", del(1, "b")), run("a=1", del(1, "b")), refuses("a=1 b=2", sent(del(1, "b"))), run("a=1 b=2", del(1, "b"), upd(2, "b", "2"))}},
		"entries in another order": {steps: []payloadStep{begin,
			gets("a=3 b=1", upd(3, "a", "3"), del(2, "a")), run("a=3 b=1", del(2, "a"), upd(3, "a", "3"))}},
		"one bad entry": {steps: []payloadStep{begin, refuses("a=1", sent(del(1, "b"), strings.Replace(upd(2, "a", "2"), www, "/", 1))), run("a=1", del(1, "b"))}},
		"other bytes":   {steps: []payloadStep{begin, {payload: sent(upd(1, "a", "2")), pages: lists().with(pages{"a": "evil"}), truth: "a=2 b=1", held: "a=1 b=1"}, run("a=2 b=1", upd(1, "a", "2"))}},
		"of another host": {steps: []payloadStep{begin,
			gets("a=1 b=1 "+otherHost+"x=1", strings.Replace(upd(1, "x", "1"), www, otherHost, 2)), run("a=1 b=1 "+otherHost+"x=1", strings.Replace(upd(1, "x", "1"), www, otherHost, 2))}},
		"the Change List is behind":            {steps: []payloadStep{begin, gets("a=1 b=1 n=1", upd(9, "n", "1")), run("a=1 b=1 n=1"), run("a=2 b=1 n=1", upd(8, "a", "2")), run("a=2 b=1 n=1", upd(8, "a", "2"), upd(9, "n", "1"))}},
		"the Change List is behind a deletion": {steps: []payloadStep{begin, gets("a=1", del(9, "b")), run("a=1"), run("a=2", upd(8, "a", "2")), run("a=2", upd(8, "a", "2"), del(9, "b"))}},
		"a baseline that is older": {steps: []payloadStep{begin, gets("a=3 n=1", upd(9, "n", "1"), upd(9, "a", "3"), del(9, "b")),
			{pages: fresh(5, list(has("a", "1"), has("b", "1")), upd(9, "n", "1"), upd(9, "a", "3"), del(9, "b")), truth: "a=3 n=1"}}},
		"a baseline that is older, and no changes yet": {steps: []payloadStep{begin, gets("a=3 n=1", upd(9, "n", "1"), upd(9, "a", "3"), del(9, "b")),
			{pages: fresh(5, list(has("a", "1"), has("b", "1"))), truth: "a=3 n=1"}}},
		"a baseline that is newer": {steps: []payloadStep{begin, gets("a=1 b=1 n=1", upd(9, "n", "1")), {pages: fresh(20, list(has("a", "1"), has("b", "1"))), truth: "a=1 b=1"}}},
		"after a gap": {steps: []payloadStep{begin, gets("a=1 b=1 n=1", upd(9, "n", "1")),
			{pages: lists().with(pages{"changelist.xml": changeList(8, never, upd(9, "n", "1"))}), truth: "a=5 n=1", want: inDoubt},
			{payload: sent(upd(10, "n", "2")), pages: lists(), truth: "a=5 n=2", refused: true},
			{pages: fresh(12, list(has("a", "5"), has("n", "2"))), truth: "a=5 n=2"}}},
		"it leaves the collection": {resourcesync.Source{Collections: []string{otherHost}}, []payloadStep{begin, gets("b=1", upd(1, "a", "2"), upd(2, "x", "2")), gets("a=3 b=1", upd(3, "a", "3", in)), gets("a=3 b=1", del(4, "x")),
			run("a=3 b=1", upd(1, "a", "2"), upd(2, "x", "2"), upd(3, "a", "3", in), del(4, "x"))}},
		"with metadata": {resourcesync.Source{DescribedBy: true}, []payloadStep{begin,
			{payload: sent(upd(1, "a", "2", meta)), pages: lists().with(pages{"a.xml": "m"}), truth: "a=2 a|=m b=1"},
			{pages: lists(upd(1, "a", "2", meta)).with(pages{"a.xml": "m"}), truth: "a=2 a|=m b=1"}}},
		"with metadata that is gone": {resourcesync.Source{DescribedBy: true}, []payloadStep{begin,
			{payload: sent(upd(1, "a", "2", meta)), pages: lists(), truth: "a=2 a|=m b=1", held: "a=1 b=1"},
			{pages: lists(upd(1, "a", "2", meta)).with(pages{"a.xml": "m"}), truth: "a=2 a|=m b=1"}}},
		"with a patch": {steps: []payloadStep{
			{pages: listsOf(list(has("a", `{"a":1}`))), truth: `a={"a":1}`},
			{payload: sent(upd(1, "a", `{"a":2}`, patch)), pages: pages{"p": `[{"op":"replace","path":"/a","value":2}]`, "a": "evil"}, truth: `a={"a":2}`},
			{pages: listsOf(list(has("a", `{"a":1}`)), upd(1, "a", `{"a":2}`)), truth: `a={"a":2}`}}},
		"with versions": {resourcesync.Source{Versions: resourcesync.EveryVersion}, []payloadStep{begin,
			{payload: sent(upd(1, "a", "2", toMap)), pages: lists().with(pages{"t/a": mapOf("a", "v1/a", "b"), "v1/a": "x", "b": "evil"}), truth: "a=2 b=1 v1/a=x", held: "a=2 b=1"},
			{pages: lists(upd(1, "a", "2", toMap)).with(pages{"t/a": mapOf("a", "v1/a", "b"), "v1/a": "x"}), truth: "a=2 b=1 v1/a=x"}}},
		"with versions that take no place": {resourcesync.Source{Versions: resourcesync.EveryVersion}, []payloadStep{begin,
			{payload: sent(upd(2, "a", "2", toMap)), pages: lists().with(pages{"t/a": mapOf("a", "n"), "n": "x"}), truth: "a=2 b=1 n=x", held: "a=2 b=1"},
			{pages: lists(upd(1, "n", "real"), upd(2, "a", "2", toMap)).with(pages{"t/a": mapOf("a", "n")}), truth: "a=2 b=1 n=real"}}},
		"with a TimeMap that fails": {resourcesync.Source{Versions: resourcesync.EveryVersion}, []payloadStep{begin,
			{payload: sent(upd(1, "a", "2", toMap)), pages: lists().with(pages{"t/a": "!500"}), truth: "a=2 b=1"},
			{pages: lists(upd(1, "a", "2", toMap)).with(pages{"t/a": mapOf("a", "v1/a"), "v1/a": "x"}), truth: "a=2 b=1 v1/a=x"}}},
	} {
		t.Run(name, func(t *testing.T) {
			test.source.URL = sourceURL
			playPayloads(t, &test.source, test.steps)
		})
	}
}

// TestPayloadDuringARun applies a payload at each request of a run: one of both is
// refused, and the next run is in step.
func TestPayloadDuringARun(t *testing.T) {
	source := &resourcesync.Source{URL: sourceURL, Name: testkit.Src, Versions: resourcesync.EveryVersion}
	base := list(since(0, "a", "", hashOf("1"), linkTo("timemap", www+"t/a", "")), has("b", "1"))
	docs := pages{"t/a": mapOf("a", "v1/a"), "v1/a": "x"}
	changes := []string{since(1, "b", "updated", hashOf("2")), since(2, "n", "created", hashOf("1")), since(3, "b", "deleted", ""), since(4, "b", "created", hashOf("3"))}
	first := linkedSite(&linkStage{pages: listsOf(base).with(docs), truth: "a=1 b=1"}, 1)
	last := linkedSite(&linkStage{pages: listsOf(base, changes...).with(docs), truth: "a=1 b=3 n=1"}, 2)
	for n := 1; n < 10; n++ {
		for from := range changes {
			store := harvest.NewCatalog(memstore.New())
			report, said := harvestLinks(t, store, first, source, 60, false)
			require.True(t, report.InStep(), said)
			payload, err := source.Payload([]byte(changeList(0, never, changes[from])))
			require.NoError(t, err)
			fetcher := &sourcetest.Fetcher{Site: last, Hook: func(ctx context.Context, i int, _ *harvest.Request, doc sourcetest.Document) (sourcetest.Document, error) {
				if i == n {
					h := &harvest.Harvester{Sample: -1, Catalog: store, Fetcher: &sourcetest.Fetcher{Site: last}}
					_, err := h.Run(ctx, payload)
					assert.Error(t, err)
				}
				return doc, nil
			}}
			_, err = (&harvest.Harvester{Sample: -1, Catalog: store, Fetcher: fetcher}).Run(t.Context(), source)
			require.NoError(t, err)
			report, said = harvestLinks(t, store, last, source, 60, false)
			require.True(t, report.InStep(), said)
			require.Equal(t, held("a=1 b=3 n=1 v1/a=x"), allBodies(t, store))
		}
	}
}
