package harvest_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

func TestFilterPatterns(t *testing.T) {
	for _, c := range []struct {
		include, exclude string // separated by spaces
		taken, left      string
	}{
		{"", "", "https://h/ https://h/a urn:x", ""},
		{"*.pdf", "", "https://h/a.pdf https://h/x/y/a.pdf?v=1", "https://h/a.html https://h/a.pdf/x urn:x"},
		{"/news/**", "", "https://h/news/ https://h/news/a/b https://other/news/a", "https://h/newsletter https://h/x/news/a"},
		{"/news/*", "", "https://h/news/a", "https://h/news/a/b"},
		{"/år/**", "", "https://h/%C3%A5r/1", "https://h/ar/1"},
		{"/a/** /b/**", "*.pdf /a/x", "https://h/a/1 https://h/b/1", "https://h/c https://h/a/1.pdf https://h/a/x"},
		{"", "re:/draft-\\d+$", "https://h/draft-x", "https://h/draft-12"},
		{"", "re:[?&]print=", "https://h/a?x=1 https://h/print=", "https://h/a?x=1&print=1"},
		{"re:^urn:", "", "urn:x", "https://h/urn:"},
	} {
		f := harvest.Filter{Include: strings.Fields(c.include), Exclude: strings.Fields(c.exclude)}
		require.NoError(t, f.Check())
		for _, id := range strings.Fields(c.taken) {
			assert.False(t, f.Excludes(&websync.Resource{ID: id}), "%v %s", f, id)
		}
		for _, id := range strings.Fields(c.left) {
			assert.True(t, f.Excludes(&websync.Resource{ID: id}), "%v %s", f, id)
		}
	}
	f := harvest.Filter{Exclude: []string{"/a/**"}}
	assert.True(t, f.Excludes(&websync.Resource{ID: "urn:1", Content: websync.Link{Href: "https://h/a/1"}}), "the URL of the content")
	assert.False(t, f.Excludes(&websync.Resource{ID: "https://h/1", Content: websync.Link{Href: "https://h/a/1"}}), "the id is a URL")

	assert.EqualError(t, (&harvest.Filter{Include: []string{"a/"}}).Check(), `harvest: Filter.Include "a/": an element that is empty, one dot or two`)
	assert.ErrorContains(t, (&harvest.Filter{Exclude: []string{"x", "re:("}}).Check(), `harvest: Filter.Exclude "re:(": error parsing regexp`)
	w := newWorld(t)
	w.h.Filter.Exclude = []string{"re:("}
	_, err := w.h.Run(t.Context(), snapshot())
	assert.ErrorContains(t, err, "Filter.Exclude")
}

// TestFilterLeavesOut: a run takes what the Filter lets pass, and is in step without the
// rest.
func TestFilterLeavesOut(t *testing.T) {
	w := newWorld(t)
	w.pages("a", "b", "c")
	list := snapshot(put("a", day(1)), put("b", day(1)), put("c", day(1)))
	w.h.Filter.Exclude = []string{"/b"}
	for n := range 2 {
		r := w.run(list)
		assert.True(t, r.InStep())
		assert.EqualValues(t, 1, r.Excluded)
		assert.EqualValues(t, 2*(1-n), r.Created)
		assert.EqualValues(t, 2, r.Held)
		assert.Zero(t, r.ExcludedHeld)
		assert.Equal(t, map[string]string{"a": "a", "c": "c"}, w.live())
	}
	assert.NotContains(t, w.site.requests, base+"b")

	w.h.Filter = harvest.Filter{}
	assert.EqualValues(t, 1, w.plan(list).Created, "a plan decides as a run")
	assert.EqualValues(t, 1, w.run(list).Created)
}

// TestFilterKeepsWhatIsHeld: a narrower Filter deletes nothing, and does not trip the
// guard, as long as the source lists it; then it is deleted as any other record.
func TestFilterKeepsWhatIsHeld(t *testing.T) {
	w := newWorld(t)
	events := w.numbered(20)
	w.run(snapshot(events...))
	w.h.Filter.Include = []string{"p000*"}
	w.page("p0015", "later")
	changed := slices.Clone(events)
	changed[15] = put("p0015", day(2))
	assert.EqualValues(t, 10, w.plan(snapshot(changed...)).ExcludedHeld)
	for _, told := range []int64{10, 0} {
		r := w.run(snapshot(changed...))
		assert.True(t, r.InStep())
		assert.EqualValues(t, 10, r.Excluded)
		assert.Equal(t, told, r.ExcludedHeld, "once")
		assert.EqualValues(t, 20, r.Held)
		assert.Nil(t, r.Guard)
	}
	assert.Equal(t, "p0015", w.live()["p0015"])

	r := w.run(snapshot(changed[:18]...))
	assert.EqualValues(t, 2, r.Deleted)
	w.run(harvest.Of(src, del("p0017", day(3))))
	assert.NotContains(t, w.live(), "p0017", "what the source states to be deleted")

	r = w.run(snapshot(changed[15]))
	assert.EqualValues(t, 16, r.Withheld, "the guard counts what is listed")
	assert.False(t, r.InStep())
}

// TestFilterEndsTasks: what is left out is not fetched, and keeps no run out of step.
func TestFilterEndsTasks(t *testing.T) {
	w := newWorld(t)
	w.h.MaxDelete = -1
	w.pages("a", "b", "c", "d")
	w.site.failing = map[string]error{base + "b": errors.New("no"), base + "c": errors.New("no")}
	list := snapshot(put("a", day(1)), put("b", day(1)), put("c", day(1)))
	assert.EqualValues(t, 2, w.run(list).Left.Waiting)
	w.h.Filter.Exclude = []string{"b"}
	r := w.run(harvest.Of(src)) // also of what is not listed again
	assert.EqualValues(t, 1, r.Left.Waiting)
	assert.Equal(t, base+"c", w.tasks()[0].Resource.ID)

	// a withheld deletion ends when its id is listed again, left out or not
	w.site.failing = nil
	w.h.Recheck, w.h.MaxDelete = true, 0.1
	w.run(list)
	w.h.Recheck = false
	assert.EqualValues(t, 1, w.run(snapshot(put("c", day(1)))).Left.Withheld)
	w.h.Filter.Exclude = []string{"a"}
	assert.EqualValues(t, 1, w.run(harvest.Of(src)).Left.Withheld, "another Filter does not end it")
	r = w.run(snapshot(put("a", day(1)), put("c", day(1))))
	assert.Zero(t, r.Left.Withheld)
	w.approve()
	assert.Contains(t, w.live(), "a")
}

// A resumed source is a log whose events cover what came before them.
type resumed struct {
	events []harvest.Event
	from   []string // of all runs
}

func (*resumed) Key() string { return src }

func (p *resumed) Events(_ context.Context, run *harvest.Run) iter.Seq2[harvest.Event, error] {
	return func(yield func(harvest.Event, error) bool) {
		p.from = append(p.from, string(run.From.Data))
		n, _ := strconv.Atoi(string(run.From.Data))
		for i, e := range p.events[n:] {
			e.Resume = checkpoint(strconv.Itoa(n + i + 1))
			if !yield(e, nil) {
				return
			}
		}
	}
}

// TestFilterWidens: another Filter lists the source from the beginning, also after a
// crash at any commit.
func TestFilterWidens(t *testing.T) {
	for commits := range 4 {
		w := newWorld(t)
		w.pages("a", "b", "c")
		log := &resumed{events: []harvest.Event{put("a", day(1)), put("b", day(2)), put("c", day(3))}}
		w.h.Filter.Exclude = []string{"a"}
		for range 2 {
			w.run(log)
		}
		assert.Equal(t, []string{"", "3"}, log.from)
		w.h.Filter = harvest.Filter{}
		w.h.Catalog = w.cut(commits, true)
		w.h.Run(t.Context(), log)
		w.h.Catalog = w.store
		w.run(log)
		assert.Equal(t, map[string]string{"a": "a", "b": "b", "c": "c"}, w.live(), commits)
		w.run(log)
		assert.Equal(t, "3", log.from[len(log.from)-1])
	}
}

// TestFilterAndUnchangedDocuments: a record that is left out has moved to another
// document when that one is not read again.
func TestFilterAndUnchangedDocuments(t *testing.T) {
	w := newWorld(t)
	w.pages("a", "b", "c")
	of := func(document, name string) harvest.Event {
		e := put(name, day(1))
		e.Document = document
		return e
	}
	unchanged := harvest.Event{Kind: harvest.Unchanged, Document: "2"}
	w.run(snapshot(of("1", "a"), of("1", "b"), of("2", "c")))
	w.h.Filter.Exclude = []string{"b"}
	w.run(snapshot(of("1", "a"), of("2", "b"), of("2", "c")))
	_, err := w.h.Run(t.Context(), snapshot(of("1", "a"), unchanged))
	assert.NoError(t, err)
	assert.Contains(t, w.live(), "b")
}

// linked returns a put of a page with links, each to base and its relation.
func linked(name string, at websync.Datetime, rels ...string) harvest.Event {
	e := put(name, at)
	for _, rel := range rels {
		e.Resource.Links = append(e.Resource.Links, websync.Link{Rel: rel, Href: base + name + "/" + rel, Length: 99})
	}
	return e
}

func bodiesOf(w *world, name string) (names []string) {
	for _, b := range w.record(name).Bodies {
		names = append(names, b.Name)
	}
	return names
}

// TestAlso: what links lead to is a body beside the content.
func TestAlso(t *testing.T) {
	w := newWorld(t)
	w.pages("a", "a/enclosure", "a/alternate", "a/related", "b", "b/alternate")
	list := snapshot(linked("a", day(1), "enclosure", "alternate", "related"), linked("b", day(1), "enclosure", "alternate"))
	w.run(list)
	assert.Equal(t, []string{"content"}, bodiesOf(w, "a"))

	w.h.Also = []string{"alternate", "enclosure"}
	w.site.reset()
	r := w.run(list)
	assert.EqualValues(t, 2, r.Updated)
	assert.Equal(t, map[string]int64{"also": 1}, r.Rules, "b/enclosure is not there")
	assert.True(t, r.InStep())
	assert.Equal(t, []string{"content", "enclosure", "alternate"}, bodiesOf(w, "a"))
	assert.Equal(t, []string{"content", "alternate"}, bodiesOf(w, "b"))
	assert.Equal(t, 3, w.site.bodies, "the contents are not modified")

	w.site.reset()
	w.run(list)
	assert.Empty(t, w.site.requests)

	w.site.failing = map[string]error{base + "a/alternate": errors.New("no")}
	r = w.run(snapshot(linked("a", day(2), "alternate"), linked("b", day(1), "enclosure", "alternate")))
	assert.EqualValues(t, 1, r.Failed)
	assert.Equal(t, []string{"content", "enclosure", "alternate"}, bodiesOf(w, "a"), "until all of it is there")
}

// TestAlsoAfterACrash: a run that was interrupted is followed by one that asks for what
// that one has not.
func TestAlsoAfterACrash(t *testing.T) {
	for commits := range 6 {
		w := newWorld(t)
		w.h.Window, w.h.Concurrency = 1, 1
		log := &resumed{}
		for i := range 4 {
			name := "p" + strconv.Itoa(i)
			w.pages(name, name+"/enclosure")
			log.events = append(log.events, linked(name, day(i+1), "enclosure"))
		}
		w.run(log)
		w.h.Also = []string{"enclosure"}
		w.h.Catalog = w.cut(commits, true)
		w.h.Run(t.Context(), log)
		w.h.Catalog = w.store
		assert.True(t, w.run(log).InStep())
		for i := range 4 {
			assert.Equal(t, []string{"content", "enclosure"}, bodiesOf(w, "p"+strconv.Itoa(i)), commits)
		}
		w.site.reset()
		w.run(log)
		assert.Empty(t, w.site.requests)
	}
}

// TestAlsoWithoutContent: a description that only links is enough, and one that changes
// keeps its bodies.
func TestAlsoWithoutContent(t *testing.T) {
	w := newWorld(t)
	w.h.Also = []string{"enclosure"}
	w.pages("a", "a/enclosure", "b/enclosure")
	e := linked("b", day(1), "enclosure")
	e.Resource.Content = websync.Link{}
	w.run(snapshot(linked("a", day(1), "enclosure"), e))
	assert.Equal(t, []string{"content", "enclosure"}, bodiesOf(w, "a"))
	assert.Equal(t, []string{"enclosure"}, bodiesOf(w, "b"))
	w.site.reset()
	titled := linked("a", day(1), "enclosure")
	titled.Resource.Title = "A"
	r := w.run(snapshot(titled, e))
	assert.EqualValues(t, 1, r.Updated)
	assert.Equal(t, []string{"content", "enclosure"}, bodiesOf(w, "a"))
	assert.Zero(t, w.site.bodies)
}

// TestAlsoOfStranger: a resource with many links costs no more requests than are
// followed, and one whose bodies exceed the Quota no more than show that.
func TestAlsoOfStranger(t *testing.T) {
	w := newWorld(t)
	w.h.Also = []string{"enclosure"}
	e := put("a", day(1))
	w.pages("a")
	for i := range 1100 {
		name := fmt.Sprint("a/", i)
		w.pages(name)
		e.Resource.Links = append(e.Resource.Links, websync.Link{Rel: "enclosure", Href: base + name})
	}
	w.h.Quota.Bodies = 100
	r := w.run(snapshot(e))
	assert.EqualValues(t, 1, r.OverQuota.LeftOut)
	assert.Empty(t, w.live())
	assert.Less(t, len(w.site.requests), 101)

	// a Getter that asks for any number
	w.site.reset()
	greedy := getting{snapshot(e), func(ctx context.Context, j *harvest.Job) error {
		for i := range j.Resource.Links {
			if err := j.Obtain(ctx, strconv.Itoa(i), j.Resource.Links[i]); err != nil {
				return fmt.Errorf("part %d: %w", i, err)
			}
		}
		return nil
	}}
	w.h.Also = nil
	r = w.run(greedy)
	assert.EqualValues(t, 1, r.OverQuota.LeftOut)
	assert.EqualValues(t, 100, r.OverQuota.Max)
	assert.False(t, r.InStep())
	assert.Empty(t, w.live())
	assert.Less(t, len(w.site.requests), 101)

	w.h.Quota.Bodies = 0
	w.h.Also = []string{"enclosure"}
	w.site.reset()
	r = w.run(snapshot(e))
	assert.Equal(t, map[string]int64{"also": 1}, r.Rules)
	assert.Len(t, bodiesOf(w, "a"), 1001)
	assert.Len(t, w.site.requests, 1001)
}

// TestAlsoUnderALowerQuota: an update that takes less than what is held is whole, also if
// it takes more than the Quota.
func TestAlsoUnderALowerQuota(t *testing.T) {
	w := newWorld(t)
	w.h.Also = []string{"enclosure"}
	e := put("a", day(1))
	w.pages("a")
	for i := range 5 {
		name := fmt.Sprint("a/", i)
		w.page(name, strings.Repeat("x", 20))
		e.Resource.Links = append(e.Resource.Links, websync.Link{Rel: "enclosure", Href: base + name})
	}
	assert.True(t, w.run(snapshot(e)).InStep())
	w.h.Quota.Bodies = 50
	w.page("a/0", "short")
	e.Resource.Modified = day(2)
	assert.True(t, w.run(snapshot(e)).InStep())
	assert.Len(t, bodiesOf(w, "a"), 6)
}

// TestFilterAndGuard: what is left out does not make up for what is deleted.
func TestFilterAndGuard(t *testing.T) {
	w := newWorld(t)
	events := w.numbered(20)
	w.run(snapshot(events...))
	w.h.Filter.Exclude = []string{"p1*"}
	others := numbered(1000, 1030)
	assert.EqualValues(t, 8, w.run(snapshot(slices.Concat(events[:12], others)...)).Deleted)
	r := w.run(snapshot(slices.Concat(events[:7], others)...))
	assert.EqualValues(t, 5, r.Withheld)
	assert.Equal(t, "share", r.Guard.Rule)
}
