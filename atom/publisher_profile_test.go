package atom_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
)

const pubRecords = "https://records.example.org/ns"

// asRecord makes the entries of a small profile: every entry has representations as
// alternate links and no content, drafts are not listed, a record without a title is an
// error, and a deletion is an entry with empty content.
func asRecord(_ *atom.Publisher, item *websync.Item, as *atom.Item) error {
	if t := as.Tombstone; t != nil {
		*as = atom.Item{Entry: &atom.Entry{
			ID: t.Ref, Updated: t.When, Title: atom.Text{Type: atom.PlainText, Value: "deleted"}, Content: atom.Content{Link: websync.Link{Type: atom.PlainText}},
		}}
		return nil
	}
	switch e := as.Entry; {
	case item.Resource.Title == "":
		return errors.New("a record has a title")
	case item.Resource.Title == "Draft":
		as.Entry = nil
	case item.Resource.Title == "Gone":
		*as = atom.Item{Tombstone: &atom.Tombstone{Ref: e.ID, When: e.Updated}}
	case e.Content.Href != "":
		link := e.Content.Link
		link.Rel = "alternate"
		e.Links = []websync.Link{link}
		e.Content, e.Summary = atom.Content{}, atom.Text{}
	}
	return nil
}

func recordPublisher(c websync.Catalog) *atom.Publisher {
	p := newPublisher(c, 4)
	p.Profile = &atom.Profile{Name: "records 1", Item: asRecord, Feed: func(f *atom.Feed) {
		f.Elements = append(f.Elements, websync.Element{Space: pubRecords, Local: "set", XML: `<set xmlns="` + pubRecords + `"/>`})
	}}
	return p
}

func TestPublisherProfile(t *testing.T) {
	s := newPubStore(t)
	id := func(name string) string { return pubSite + "/" + name }
	record := websync.Resource{ID: id("a"), Title: "A", Content: websync.Link{Href: id("a"), Type: "text/html"}}
	s.commit("x", websync.Item{Resource: record, Bodies: []websync.Body{pubKept("content", record.Content)}})
	s.Put("x", websync.Resource{ID: id("b"), Title: "Draft"}, websync.Resource{ID: id("c")}, websync.Resource{ID: id("d"), Title: "Gone"})
	s.Put("x", websync.Resource{ID: id("e"), Title: "E"})
	s.Delete("x", id("b"))

	var reported []string
	p := recordPublisher(s)
	p.Report = func(f websync.Finding) { reported = append(reported, f.Value+" "+f.Message) }
	paths := pubPaths(t, p)
	require.Len(t, paths, 2)
	for i, want := range [][]string{{"A"}, {"deleted", "E", "A"}} {
		_, doc := pubRender(t, p, paths[i])
		r := atom.NewReader(bytes.NewReader(doc))
		var titles []string
		var last *atom.Entry
		for item, err := range r.All() {
			require.NoError(t, err)
			last = item.Entry
			require.NotNil(t, last)
			titles = append(titles, last.Title.Value)
		}
		assert.Equal(t, want, titles)
		assert.Equal(t, "set", r.Feed().Elements[0].Local)
		assert.Empty(t, last.Content.Href)
		assert.Equal(t, []string{pubSite + "/r/https=3A/=2Fwww.example.com/a~content"}, hrefs(last.Links))
	}
	assert.Equal(t, []string{
		id("d") + " not listed: Profile.Item must not replace an Entry by a Tombstone", id("c") + " not listed: a record has a title",
	}, reported)

	assert.NotEqual(t, pubPaths(t, newPublisher(s, 4))[0], paths[0], "a profile gives archive documents URLs of their own")
	other := recordPublisher(s)
	other.Profile.Name = "records 2"
	assert.NotEqual(t, pubPaths(t, other)[0], paths[0])
}

// Prepare gets the items that become entries, of archives and of a complete feed, before
// their links are made.
func TestPublisherPrepare(t *testing.T) {
	s := newPubStore(t)
	link := websync.Link{Href: pubSite + "/1", Type: "text/html"}
	s.commit("x", websync.Item{Resource: websync.Resource{ID: pubSite + "/1", Content: link}, Bodies: []websync.Body{pubKept("content", link)}})
	s.Put("x", pubNumbered(2, 6)...)
	s.Delete("x", pubSite+"/5")
	for _, complete := range []bool{false, true} {
		p := newPublisher(s, 4)
		p.Profile, p.Complete = &atom.Profile{Name: "prepared 1"}, complete
		calls := 0
		p.Profile.Prepare = func(ctx context.Context, _ *atom.Publisher, entry atom.EntryFunc, items []*websync.Item) error {
			calls++
			none, err := entry(ctx, 1000)
			require.NoError(t, err)
			assert.Nil(t, none)
			for _, item := range items {
				logged, err := entry(ctx, item.Seq)
				require.NoError(t, err)
				assert.Equal(t, item.Resource.ID, logged.Resource.ID)
				assert.NotEqual(t, websync.Deleted, item.Kind)
				item.Resource.Title = "prepared"
				for i := range item.Bodies {
					item.Bodies[i].Link.Digests = websync.Digests{{Algorithm: "md5", Sum: "0123456789abcdef"}}
				}
			}
			return nil
		}
		paths := pubPaths(t, p)
		for _, path := range paths {
			_, doc := pubRender(t, p, path)
			_, items := pubRead(t, pubSite+path, doc)
			for _, item := range items {
				if e := item.Entry; e != nil {
					assert.Equal(t, "prepared", e.Title.Value)
					md5, ok := e.Content.Digests.Get("md5")
					assert.Equal(t, e.ID == pubSite+"/1", ok)
					assert.Equal(t, ok, md5.Sum == "0123456789abcdef")
				}
			}
		}
		assert.Equal(t, len(paths), calls)
		broken := errors.New("broken")
		p = newPublisher(s, 4)
		p.Profile, p.Complete = &atom.Profile{Name: "prepared 1"}, complete
		p.Profile.Prepare = func(context.Context, *atom.Publisher, atom.EntryFunc, []*websync.Item) error { return broken }
		doc, err := p.Document(t.Context(), "/feed.atom")
		require.NoError(t, err)
		assert.ErrorIs(t, doc.Write(t.Context(), io.Discard), broken)
	}
}

func hrefs(links []websync.Link) (all []string) {
	for _, l := range links {
		all = append(all, l.Href)
	}
	return slices.Compact(all)
}

func TestPublisherProfileCheck(t *testing.T) {
	p := recordPublisher(newPubStore(t))
	assert.NoError(t, p.Check())
	for name, break_ := range map[string]func(p *atom.Publisher){
		"no name":       func(p *atom.Publisher) { p.Profile.Name = "" },
		"no valid feed": func(p *atom.Publisher) { p.Profile.Feed = func(f *atom.Feed) { f.ID = "x y" } },
	} {
		p := recordPublisher(newPubStore(t))
		break_(p)
		assert.Error(t, p.Check(), name)
		_, err := p.Document(t.Context(), "/feed.atom")
		assert.Error(t, err, name)
	}
}

func TestPublisherReportsACommonID(t *testing.T) {
	s := newPubStore(t)
	s.Put("b", websync.Resource{ID: "urn:x:1"}, websync.Resource{ID: "urn:x:2"})
	s.Delete("b", "urn:x:2")
	p := newPublisher(s, 100)
	var reported []string
	p.Report = func(f websync.Finding) { reported = append(reported, f.Value+" "+f.Message) }
	pubRender(t, p, "/feed.atom")
	s.Put("a", websync.Resource{ID: "urn:x:1"}, websync.Resource{ID: "urn:x:2"})
	assert.Empty(t, reported)
	want := []string{`urn:x:1 the source "a" lists it, and "b" had it first: Publisher.Sources must have no common id`}
	for range 2 {
		pubRender(t, p, "/feed.atom")
		assert.Equal(t, want, reported)
	}
}

func TestPublisherHistory(t *testing.T) {
	s := newPubStore(t) // a commit is a second after the one before
	s.Put("x", pubNumbered(1, 11)...)
	p := newPublisher(s, 2)
	short, _ := pubRender(t, p, "/feed.atom")
	archives := pubPaths(t, p)
	p = newPublisher(s, 2)
	p.History = 5 * time.Second
	doc, body := pubRender(t, p, "/feed.atom")
	feed, items := pubRead(t, p.URL(), body)
	assert.Equal(t, []string{"/11", "/10", "/9", "/8", "/7", "/6", "/5"}, pubList(items))
	previous, _ := feed.Link("prev-archive")
	assert.Equal(t, pubSite+archives[1], previous.Href)
	assert.Equal(t, archives, pubPaths(t, p), "archive documents stay the same")
	assert.NotEqual(t, short.ETag, doc.ETag)
	requireChain(t, p)
}
