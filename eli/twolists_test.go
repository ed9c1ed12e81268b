package eli_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
)

// TestRecheckAll: Recheck asks for every act, also for those with the newest date in the
// sitemap, once.
func TestRecheckAll(t *testing.T) {
	for name, test := range map[string]struct {
		at   func(i int) string
		feed []string
	}{
		"all of one date":      {func(int) string { return "2026-01-20" }, []string{"act/0 2026-01-20T12:00:00Z"}},
		"all of one instant":   {func(int) string { return timeOf(20) }, []string{"act/0 " + timeOf(20), "act/1 " + timeOf(20)}},
		"some of the newest":   {func(i int) string { return dayOf(19 + i%2) }, []string{"act/0 2026-01-25T12:00:00Z", "act/1 2026-01-20"}},
		"a feed that is empty": {func(int) string { return "2026-01-20" }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCollection(t)
			c.h.Sample = -1
			site := func(title string) *lawSite {
				s := newSite(40)
				var pairs []string
				for i := range 8 {
					id := fmt.Sprint("act/", i)
					s.act(id, title)
					pairs = append(pairs, id+" "+test.at(i))
				}
				return s.lists(urlset(pairs...), feed(test.feed...))
			}
			require.True(t, c.run(site("As published")).InStep())
			c.h.Full = true
			require.True(t, c.run(site("As changed")).InStep())
			assert.Empty(t, c.asked, "Full believes the dates")
			c.h.Full, c.h.Recheck = false, true
			require.True(t, c.run(site("As changed")).InStep())
			slices.Sort(c.asked)
			assert.Equal(t, []string{"act/0", "act/1", "act/2", "act/3", "act/4", "act/5", "act/6", "act/7"}, c.asked)
			for i := range 8 {
				assert.Equal(t, "As changed", c.resource(fmt.Sprint("act/", i)).Title)
			}
		})
	}
}

// A reading is what the two lists say of the act "a" on a day, and whether its page has
// changed.
type reading struct {
	day           int
	sitemap, feed string // the date; "" if the list does not have the act, "-" if it is as before
	changed       bool
}

// TestTwoLists: the date of an act in one list is compared with the last one in the same
// list, whatever the other list says. After each reading the page is the present one, and
// when nothing changes, nothing is asked for.
func TestTwoLists(t *testing.T) {
	for name, readings := range map[string][]reading{
		"the sitemap is ahead of the feed": {
			{40, "2026-02-05T20:00:00Z", "2026-02-05T12:00:00Z", true}, {41, "-", "2026-02-05T18:00:00Z", true}, {42, "-", "2026-02-05T19:00:00Z", true}},
		"a local date and UTC": {
			{40, "2026-02-06", "2026-02-05T22:30:00Z", true}, {41, "-", "2026-02-05T23:30:00Z", true}, {42, "2026-02-07", "-", true}},
		"a local date that is behind": {
			{40, "2026-02-05", "2026-02-06T04:00:00Z", true}, {41, "2026-02-06", "-", true}, {42, "-", "2026-02-06T04:30:00Z", true}},
		"the feed is ahead of the sitemap": {
			{40, "2026-02-01", "2026-02-05T12:00:00Z", true}, {41, "2026-02-03", "-", true}, {42, "2026-02-04T08:00:00Z", "-", true}},
		"the sitemap first": {
			{40, "2026-02-06", "", true}, {41, "-", "2026-02-05T12:00:00Z", true}, {42, "-", "2026-02-05T13:00:00Z", true}},
		"the feed first": {
			{40, "", "2026-02-05T12:00:00Z", true}, {41, "2026-02-03", "-", true}, {42, "2026-02-04", "-", true}, {43, "-", "2026-02-05T12:30:00Z", true}},
		"the feed only": {
			{40, "", "2026-02-05T12:00:00Z", true}, {41, "", "2026-02-06T12:00:00Z", true}, {42, "", "2026-02-06T11:00:00Z", true}},
		"the sitemap only": {
			{40, "2026-02-05", "", true}, {41, "2026-02-06", "", true}, {42, "2026-02-05", "", true}},
		"both move back": {
			{40, "2026-02-08", "2026-02-08T12:00:00Z", true}, {41, "-", "2026-02-07T12:00:00Z", true}, {42, "2026-02-06", "-", true}, {43, "2026-02-07", "2026-02-08T12:00:00Z", true}},
		"dates in both": {
			{40, "2026-02-08", "2026-02-06", true}, {42, "-", "2026-02-07", true}, {44, "2026-02-07", "-", true}},
		"the feed loses the act": {
			{40, "2026-02-06", "2026-02-05T12:00:00Z", true}, {41, "-", "2026-02-05T13:00:00Z", true}, {42, "-", "", false}, {43, "2026-02-04", "", true}, {44, "-", "2026-02-05T14:00:00Z", true}},
		"one change in both": {
			{40, "2026-02-05T12:00:00Z", "2026-02-05T12:00:00Z", true}, {41, "2026-02-06T12:00:00Z", "2026-02-06T12:00:00Z", true}, {42, "2026-02-06T12:00:00Z", "2026-02-06T13:00:00Z", true}},
	} {
		for _, full := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, full %t", name, full), func(t *testing.T) {
				c := newCollection(t)
				c.source.SitemapEvery, c.h.Full, c.h.Sample = time.Hour, full, -1
				version, last := 0, reading{}
				for _, r := range readings {
					if r.changed {
						version++
					}
					if r.sitemap == "-" {
						r.sitemap = last.sitemap
					}
					if r.feed == "-" {
						r.feed = last.feed
					}
					last = r
					listed, fed := []string{"old 2026-01-02", "newest 2026-02-09"}, []string{"newest 2026-02-09T12:00:00Z"}
					if r.sitemap != "" {
						listed = append(listed, "a "+r.sitemap)
					}
					if r.feed != "" {
						fed = append(fed, "a "+r.feed)
					}
					title := fmt.Sprint("Version ", version)
					site := newSite(r.day).act("a", title).act("old", "Old").act("newest", "Newest").lists(urlset(listed...), feed(fed...))
					require.True(t, c.run(site).InStep(), "day %d: %v", r.day, c.tasks())
					require.Equal(t, title, c.resource("a").Title, "day %d", r.day)
					require.True(t, c.run(site).InStep())
					entries := len(c.entries())
					require.True(t, c.run(site).InStep())
					assert.Empty(t, c.asked, "day %d", r.day)
					assert.Len(t, c.entries(), entries, "day %d", r.day)
				}
			})
		}
	}
}

// TestTaskOfTheFeed: a change of the feed whose page could not be obtained is not taken
// back by a sitemap that still has its date of before.
func TestTaskOfTheFeed(t *testing.T) {
	for name, sitemap := range map[string]string{"a date": "2026-02-05", "an earlier date": "2026-01-05", "an instant": "2026-02-05T12:00:00Z", "a later date": "2026-02-08"} {
		t.Run(name, func(t *testing.T) {
			c := newCollection(t)
			c.source.SitemapEvery, c.h.Sample = time.Hour, -1
			site := func(day int, title, sitemap, fed string) *lawSite {
				return newSite(day).act("a", title).act("b", "B").lists(urlset("a "+sitemap, "b 2026-02-09")+fmt.Sprintf("<!-- %d -->", day), feed("a "+fed, "b 2026-02-09T12:00:00Z"))
			}
			require.True(t, c.run(site(40, "One", sitemap, "2026-02-05T12:00:00Z")).InStep())
			assert.False(t, c.run(site(41, "Two", sitemap, "2026-02-06T12:00:00Z").gone("eli/a", 503)).InStep())
			assert.False(t, c.run(site(42, "Two", sitemap, "2026-02-06T12:00:00Z").gone("eli/a", 503)).InStep())
			require.True(t, c.run(site(43, "Two", sitemap, "2026-02-06T12:00:00Z")).InStep())
			assert.Equal(t, "Two", c.resource("a").Title)
		})
	}
}

// TestVanishedByLocalDate: an act that the feed had before the day of the latest date in
// the sitemap began in UTC, but perhaps not where the publisher is, is not deleted.
func TestVanishedByLocalDate(t *testing.T) {
	for name, test := range map[string]struct {
		fed  string
		gone bool
	}{
		"13 hours before": {"2026-02-05T11:00:00Z", false},
		"an hour before":  {"2026-02-05T23:00:00Z", false},
		"15 hours before": {"2026-02-05T09:00:00Z", true},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCollection(t)
			c.source.SitemapEvery, c.store = time.Hour, harvest.NewCatalog(memstore.New())
			acts := func(day int) *lawSite {
				return newSite(day).act("a", "A").act("b", "B").act("c", "C").act("d", "D")
			}
			b := "b 2026-01-20T12:00:00Z"
			require.True(t, c.run(acts(40).lists(urlset(b, "c 2026-01-20", "d 2026-01-20"), feed("a "+test.fed, b))).InStep())
			require.True(t, c.run(acts(41).lists(urlset(b, "c 2026-02-06", "d 2026-01-20"), feed(b))).InStep())
			_, live := c.bodies()["a"]
			assert.Equal(t, test.gone, !live)
		})
	}
}
