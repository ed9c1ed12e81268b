package atom_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/internal/testing/racing"
)

// A records is the Source of an invented profile of Atom, as another package would define
// it. An entry is a record with one alternate link to each of its formats. An entry with
// an empty content and no such link deletes its record. Pages that are linked with next
// are not part of the feed, which must have a title. Draft entries are left out.
type records struct{ atom.Source }

var _ harvest.Getter = (*records)(nil)

var (
	rulePages = atom.Rule{Name: "records-pages", Severity: websync.SeverityWarning}
	ruleDraft = atom.Rule{Name: "records-draft", Severity: websync.SeverityInfo}
)

func newRecords() *records {
	s := &records{atom.Source{URL: feedURL, Content: []string{}, Profile: atom.SourceProfile{Name: "records/1"}}}
	s.Profile.Feed = func(feed *atom.Feed, report atom.ReportFunc) error {
		if feed.Title.Value == "" {
			return errors.New("a feed of records must have a title")
		}
		if _, ok := feed.Link("next"); ok {
			report(rulePages, "link", "next", "records have no pages")
		}
		feed.Links = slices.DeleteFunc(feed.Links, func(l websync.Link) bool { return l.Rel == "next" })
		return nil
	}
	s.Profile.Item = func(item *atom.Item, report atom.ReportFunc) error {
		e := item.Entry
		if e == nil {
			return errors.New("a tombstone, which records do not have")
		}
		if strings.HasPrefix(e.ID, "urn:draft") {
			report(ruleDraft, "", e.ID, "a draft")
			*item = atom.Item{}
			return nil
		}
		if _, ok := e.Link("alternate"); !ok {
			*item = atom.Item{Tombstone: &atom.Tombstone{Ref: e.ID, When: e.Updated}}
		}
		return nil
	}
	return s
}

// Events adds the profile's name for a resource to the events.
func (s *records) Events(ctx context.Context, run *harvest.Run) iter.Seq2[harvest.Event, error] {
	return func(yield func(harvest.Event, error) bool) {
		for ev, err := range s.Source.Events(ctx, run) {
			if ev.Kind == harvest.Put {
				ev.Resource.Title = "record " + ev.Resource.Title
			}
			if !yield(ev, err) {
				return
			}
		}
	}
}

// Get obtains every format.
func (s *records) Get(ctx context.Context, job *harvest.Job) error {
	for _, l := range job.Resource.Links {
		if l.Rel != "alternate" {
			continue
		}
		if err := job.Obtain(ctx, job.Resource.BodyName(&l), l); err != nil {
			return err
		}
	}
	return nil
}

// recordOf returns an entry of the profile.
func recordOf(id string, at int, formats ...string) string {
	var links []string
	for _, f := range formats {
		links = append(links, `<link href="`+www+"page/"+f+`" type="text/`+f+`"/>`)
	}
	if formats == nil {
		links = []string{"<content/>"}
	}
	return entryOf(id, at, links...)
}

func TestProfileConformance(t *testing.T) {
	next := linkTo("next", "nowhere")
	sourcetest.Run(t, sourcetest.Options{
		Source: func() harvest.Source { return newRecords() },
		Sites: withPages(
			map[string]string{
				"feed": feedOf(prev("1"), next, recordOf("c", 4, "c"), recordOf("b", 3, "a", "b")),
				"1":    feedOf(isArchive, recordOf("a", 2, "a"), recordOf("b", 1, "b")),
			},
			map[string]string{
				"feed": feedOf(prev("2"), next, recordOf("b", 6, "d")),
				"2":    feedOf(isArchive, prev("1"), recordOf("c", 5), recordOf("c", 4, "c"), recordOf("b", 3, "a", "b")),
				"1":    feedOf(isArchive, recordOf("a", 2, "a"), recordOf("b", 1, "b")),
			},
		),
		Store:     func(testing.TB) harvest.Store { return memstore.New() },
		Positions: racing.Some(20),
	})
}

// TestProfile: the effect of the hooks on a feed, from its first document to its last
// event.
func TestProfile(t *testing.T) {
	untitled := func(doc string) string {
		return strings.Replace(doc, "<title>f</title>", "<title/>", 1)
	}
	tests := map[string]struct {
		docs map[string]string
		want []string
	}{
		"a deletion, and a draft": {
			docs: map[string]string{"feed": feedOf(recordOf("b", 3), recordOf("draft:1", 2, "a"), recordOf("a", 1, "a"))},
			want: []string{"a@1", "-b@3", "mark+"},
		},
		"gone in a later document": {
			docs: map[string]string{"feed": feedOf(prev("1"), recordOf("a", 2)), "1": feedOf(isArchive, recordOf("b", 1, "b"), recordOf("a", 1, "a"))},
			want: []string{"b@1", "mark+", "-a@2", "mark+"},
		},
		"gone and there at one time": {
			docs: map[string]string{"feed": feedOf(recordOf("a", 1, "a"), recordOf("a", 1))},
			want: []string{"-a@1", "mark+"},
		},
		"a link that is not followed": {
			docs: map[string]string{"feed": feedOf(linkTo("next", "nowhere"), recordOf("a", 1, "a"))},
			want: []string{"a@1", "mark+"},
		},
		"an item that is refused": {
			docs: map[string]string{"feed": feedOf(tombstoneOf("b", 2), recordOf("a", 1, "a"))},
			want: []string{"a@1", "mark, 1 skipped+"},
		},
		"a feed that is refused": {
			docs: map[string]string{"feed": untitled(feedOf(isComplete, recordOf("a", 1, "a")))},
			want: []string{"problem: atom: feed: a feed of records must have a title"},
		},
		"a document that is refused": {
			docs: map[string]string{"feed": feedOf(prev("1"), recordOf("a", 2, "a")), "1": untitled(feedOf(isArchive, recordOf("a", 3), recordOf("b", 1, "b")))},
			want: []string{"problem: atom: 1: a feed of records must have a title", "a@2", "mark"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := newRecords()
			got := runAll(t, &s.Source, harvest.Checkpoint{}, siteOf(test.docs))
			require.NoError(t, got.err)
			assert.Equal(t, test.want, got.events)
			assert.Equal(t, name == "an item that is refused", slices.Contains(got.rules(), "atom-profile"))
		})
	}
	t.Run("what they report", func(t *testing.T) {
		docs := map[string]string{
			"feed": feedOf(prev("1"), linkTo("next", "nowhere"), recordOf("a", 2, "a")),
			"1":    feedOf(isArchive, recordOf("draft:1", 1, "a"), tombstoneOf("b", 1)),
		}
		var reported []string
		for _, f := range runAll(t, &newRecords().Source, harvest.Checkpoint{}, siteOf(docs)).findings {
			if f.Rule == "atom-profile" || strings.HasPrefix(f.Rule, "records-") {
				reported = append(reported, fmt.Sprint(f.Document, " ", f.Rule, " ", f.Element, " ", f.Value, " ", f.Line > 0))
			}
		}
		assert.Equal(t, []string{
			www + "feed records-pages link next false", www + "1 records-draft entry urn:draft:1 true", www + "1 atom-profile  urn:b true",
		}, reported, "each once, with its position")
	})
	t.Run("another profile", func(t *testing.T) {
		site := siteOf(map[string]string{"feed": feedOf(recordOf("a", 1, "a"))})
		s := newRecords()
		first := runAll(t, &s.Source, harvest.Checkpoint{}, site)
		assert.Equal(t, []string{"feed 304"}, runAll(t, &s.Source, first.resume, site).asked)
		s.Profile.Name = "records/2"
		assert.Equal(t, []string{"a@1", "mark+"}, runAll(t, &s.Source, first.resume, site).events)
	})
	t.Run("all entries", func(t *testing.T) {
		f := &sourcetest.Fetcher{Site: siteOf(map[string]string{"feed": feedOf(recordOf("b", 2), recordOf("a", 1, "a"))})}
		var ids []string
		for e, err := range newRecords().All(t.Context(), &harvest.Run{Fetcher: f}) {
			require.NoError(t, err)
			ids = append(ids, e.ID)
		}
		assert.Equal(t, []string{"urn:a"}, ids)
	})
}
