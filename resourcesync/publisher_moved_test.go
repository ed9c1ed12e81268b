package resourcesync_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/resourcesync"
)

// movesOf returns a log with an entry for each change: "id url" for a resource whose
// content is at a URL, or "-id" for a deletion.
func movesOf(source string, changes ...string) *websync.Log {
	log := new(websync.Log)
	for _, c := range changes {
		id, url, _ := strings.Cut(c, " ")
		item := websync.Item{Source: source, Kind: websync.Updated, Time: firstCommit, Resource: websync.Resource{ID: "urn:x:" + id}}
		if gone, deleted := strings.CutPrefix(id, "-"); deleted {
			item.Kind, item.Resource.ID = websync.Deleted, "urn:x:"+gone
		} else if item.Resource.Content.Href = www + url; strings.Contains(url, "://") {
			item.Resource.Content.Href = url
		}
		item.Resource.Title = id
		log.Append(item)
	}
	return log
}

// moves returns the changes of all Change Lists of a Publisher, with the number of their
// entry in the log: "2 deleted a".
func moves(t *testing.T, p *resourcesync.Publisher) (all []string) {
	_, texts := documents(t, p)
	seen := make(map[string]bool)
	numbers := make(map[string]websync.Seq)
	for item, err := range p.Catalog.Changes(t.Context(), websync.Range{}) {
		require.NoError(t, err)
		numbers[websync.NewDatetime(item.Time).String()] = item.Seq
	}
	for path, err := range p.Documents(t.Context()) {
		require.NoError(t, err)
		if !strings.Contains(path, "changelist") || strings.Contains(texts[path], "<sitemapindex") {
			continue
		}
		for e, err := range resourcesync.NewReader(strings.NewReader(texts[path])).All() {
			require.NoError(t, err)
			line := fmt.Sprint(numbers[e.Metadata.Datetime.String()], " ", e.Metadata.Change, " ", strings.TrimPrefix(e.Loc, www))
			if !seen[line] {
				all = append(all, line)
			}
			seen[line] = true
		}
	}
	return all
}

// An unknowing is a Catalog that does not know the Prior of entries.
type unknowing struct{ *websync.Log }

func (c unknowing) Changes(ctx context.Context, r websync.Range) iter.Seq2[websync.Item, error] {
	return func(yield func(websync.Item, error) bool) {
		for item, err := range c.Log.Changes(ctx, r) {
			item.Prior = 0
			if !yield(item, err) {
				return
			}
		}
	}
}

// TestPublisherMoved: a change of a URL deletes the URL before, unless another resource
// has it.
func TestPublisherMoved(t *testing.T) {
	content := func(id string) string { return "r/urn=3Ax=3A" + id + "~content" }
	for name, test := range map[string]struct {
		source  string
		log     []string
		item    func(item *websync.Item, e *resourcesync.Entry) error
		unknown bool
		want    []string
	}{
		"another URL":       {log: []string{"1 a", "1 b", "1 b"}, want: []string{"1 updated a", "2 deleted a", "2 created b", "3 updated b"}},
		"a URL comes again": {log: []string{"1 a", "1 b", "1 a"}, want: []string{"1 updated a", "2 deleted a", "2 created b", "3 deleted b", "3 created a"}},
		"deleted and created again": {log: []string{"1 a", "-1", "1 b", "-1", "-1"},
			want: []string{"1 updated a", "2 deleted a", "3 created b", "4 deleted b"}},
		"an exchange": {log: []string{"1 a", "2 b", "1 b", "2 a"},
			want: []string{"1 updated a", "2 updated b", "3 deleted a", "3 created b", "4 created a"}},
		"a cycle": {log: []string{"1 a", "2 b", "3 c", "1 b", "2 c", "3 a"},
			want: []string{"1 updated a", "2 updated b", "3 updated c", "4 deleted a", "4 created b", "5 created c", "6 created a"}},
		"another id, then the deletion": {log: []string{"1 a", "2 a", "-1", "-2"},
			want: []string{"1 updated a", "2 updated a", "4 deleted a"}},
		"the deletion, then another id": {log: []string{"1 a", "-1", "2 a"}, want: []string{"1 updated a", "2 deleted a", "3 updated a"}},
		"a URL of another for a while": {log: []string{"1 a", "2 b", "2 a", "2 c"},
			want: []string{"1 updated a", "2 updated b", "3 deleted b", "3 created a", "4 updated a", "4 created c"}},
		"a URL of another, deleted": {log: []string{"1 a", "2 a", "-2"}, want: []string{"1 updated a", "2 updated a", "3 updated a"}},
		"the other has left it":     {log: []string{"1 a", "2 a", "1 b", "2 c"}, want: []string{"1 updated a", "2 updated a", "3 created b", "4 deleted a", "4 created c"}},
		"an IRI and its escaped form": {log: []string{"1 \u00f6", "1 %C3%B6", "1 a"},
			want: []string{"1 updated %C3%B6", "2 updated %C3%B6", "3 deleted %C3%B6", "3 created a"}},
		"not known": {log: []string{"1 a", "1 b", "-1"}, unknown: true,
			want: []string{"1 updated a", "2 updated b", "3 deleted " + content("1"), "3 deleted b"}},
		"not known, and another id has it": {log: []string{"1 a", "2 a", "-1"}, unknown: true,
			want: []string{"1 updated a", "2 updated a", "3 deleted " + content("1")}},
		"not known, and the other has left it": {log: []string{"1 a", "2 a", "2 b", "-1"}, unknown: true,
			want: []string{"1 updated a", "2 updated a", "3 updated b", "4 deleted " + content("1"), "4 deleted a"}},
		"refused, then listed": {source: "theirs", log: []string{"1 a", "1 https://theirs.example.net/a", "1 b", "-1"},
			want: []string{"2 created https://theirs.example.net/a", "3 deleted https://theirs.example.net/a"}},
		"Item changes the URL": {log: []string{"1 a", "1 b", "-1"},
			item: func(_ *websync.Item, e *resourcesync.Entry) error { e.Loc += "?x"; return nil },
			want: []string{"1 updated a?x", "2 deleted a?x", "2 created b?x", "3 deleted b?x"}},
		"Item leaves out some": {log: []string{"1 a", "1 b", "1 c", "1 d", "-1"},
			item: func(_ *websync.Item, e *resourcesync.Entry) error {
				if strings.HasSuffix(e.Loc, "b") {
					e.Loc = ""
				}
				if strings.HasSuffix(e.Loc, "d") {
					return errors.New("not d")
				}
				return nil
			},
			want: []string{"1 updated a", "2 deleted a", "3 created c", "4 deleted c"}},
		"Item gives all one URL": {log: []string{"1 a", "1 b", "-1"},
			item: func(_ *websync.Item, e *resourcesync.Entry) error { e.Loc = www + "one"; return nil },
			want: []string{"1 updated one", "2 created one", "3 deleted one"}},
	} {
		t.Run(name, func(t *testing.T) {
			for size := range 4 {
				if test.source == "" {
					test.source = "own"
				}
				log := movesOf(test.source, test.log...)
				p := publisherOf(log, &resourcesync.Publisher{ListSize: size, Item: test.item, Profile: "p"})
				if test.unknown {
					p.Catalog = unknowing{log}
				}
				want, got := slices.Clone(test.want), moves(t, p)
				if size != 1 { // a deletion hides what comes before it in its list
					want = slices.DeleteFunc(want, func(line string) bool { return !strings.Contains(line, "deleted") && !slices.Contains(got, line) })
				}
				assert.Equal(t, want, got, "ListSize %d", size)
				checkDocuments(t, p)
			}
		})
	}
}

// A Prior that is no entry of the resource is an error.
func TestPublisherMovedWrongly(t *testing.T) {
	p := publisherOf(wrong{movesOf("own", "1 a", "2 b", "2 c")}, new(resourcesync.Publisher))
	doc, err := p.Document(t.Context(), "/changelist.xml")
	require.NoError(t, err)
	assert.ErrorIs(t, doc.Write(t.Context(), io.Discard), websync.ErrCatalog)
}

type wrong struct{ *websync.Log }

func (c wrong) Changes(ctx context.Context, r websync.Range) iter.Seq2[websync.Item, error] {
	return func(yield func(websync.Item, error) bool) {
		for item, err := range c.Log.Changes(ctx, r) {
			item.Prior = min(item.Prior, 1)
			if !yield(item, err) {
				return
			}
		}
	}
}

// TestPublisherMovedFollowed: our own Destination follows resources that change their
// URLs.
func TestPublisherMovedFollowed(t *testing.T) {
	for seed := range histories() {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 6))
			source := testkit.NewStore(t)
			p := publisherOf(source, &resourcesync.Publisher{ListSize: 1 + random.IntN(6), PartSize: 1 + random.IntN(6)})
			h := &mutations{Rand: random, t: t, store: source, locator: p.Locator, live: make(map[string]websync.Item), past: true}
			fetch := testkit.FetchFunc(func(ctx context.Context, req *harvest.Request) (*harvest.Response, error) {
				resp := &harvest.Response{URL: req.URL, Status: 200, Length: -1, Header: map[string][]string{}}
				if doc, err := p.Document(ctx, strings.TrimPrefix(req.URL, strings.TrimSuffix(www, "/"))); err == nil {
					resp.Body = io.NopCloser(bytes.NewReader(render(t, doc)))
					return resp, nil
				}
				return nil, fmt.Errorf("%s: %w", req.URL, websync.ErrGone)
			})
			store := harvest.NewCatalog(memstore.New())
			for range 8 {
				for range random.IntN(6) {
					h.change()
				}
				report, err := (&harvest.Harvester{Sample: -1, Catalog: store, Fetcher: fetch, MaxDelete: 1, Bodies: harvest.SkipBodies}).Run(t.Context(), &resourcesync.Source{URL: p.URL()})
				require.NoError(t, err)
				require.True(t, report.InStep(), report)
				var got, want []string
				for item, err := range store.Resources(t.Context(), websync.Range{}) {
					require.NoError(t, err)
					got = append(got, item.Resource.ID)
				}
				for url := range h.truth() {
					want = append(want, url)
				}
				require.ElementsMatch(t, want, got)
			}
		})
	}
}

// TestDumpMoved: a change that is not packed, because a later one has replaced it,
// deletes the URL that it took from its resource.
func TestDumpMoved(t *testing.T) {
	for most := range 4 {
		k := newPacker(t, new(resourcesync.Publisher))
		k.Dumps.MaxEntries = most
		k.change("a=1")
		item := textItem("https://theirs.example.net/x", "text/plain", "x")
		k.Fill("theirs", []string{"x"}, item)
		k.pack()
		bare := websync.Item{Resource: item.Resource}
		bare.Resource.Content.Href += "/1"
		k.Fill("theirs", nil, bare)
		bare.Resource.Content.Href += "/2"
		k.Fill("theirs", nil, bare)
		k.Fill("theirs", nil, item)
		k.pack(resourcesync.ChangeDump)
		var got []string
		for _, path := range listedPackages(t, k.Publisher, resourcesync.ChangeDump) {
			_, files := unzip(t, get(t, k.Publisher, path))
			for e, err := range resourcesync.NewReader(strings.NewReader(files["manifest.xml"])).All() {
				require.NoError(t, err)
				got = append(got, fmt.Sprint(e.Metadata.Change, " ", e.Loc))
			}
		}
		kept := k.Locator.URL(&item, websync.ContentName)
		assert.Equal(t, []string{
			"deleted " + kept, "deleted https://theirs.example.net/x/1", "deleted https://theirs.example.net/x/1/2", "created " + kept,
		}, got, "MaxEntries %d", most)
		validateAll(t, k.Publisher, websync.SeverityError)
	}
}

// What is not listed fills no package, and hides none of what comes after it.
func TestDumpUnlisted(t *testing.T) {
	p := &resourcesync.Publisher{Profile: "p", Item: func(_ *websync.Item, e *resourcesync.Entry) error {
		if e.Loc == www+"b" {
			e.Loc = ""
		}
		return nil
	}}
	k := newPacker(t, p)
	k.Dumps.MaxEntries = 1
	k.change("a=1")
	k.pack()
	k.change("b=2 c=3 b=4")
	k.pack(resourcesync.ChangeDump)
	assert.Equal(t, []string{"3"}, texts(t, k.Publisher, resourcesync.ChangeDump))
	k.change("b=5 d=6")
	k.pack(resourcesync.ChangeDump)
	assert.Equal(t, []string{"3", "6"}, texts(t, k.Publisher, resourcesync.ChangeDump))
	validateAll(t, k.Publisher, websync.SeverityError)
}
