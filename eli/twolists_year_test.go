package eli_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/racing"
)

// local returns a time as clocks in Copenhagen show it.
func local(t time.Time) time.Time {
	name, hours := "CET", 1
	if m := t.Month(); m >= time.April && m <= time.October {
		name, hours = "CEST", 2
	}
	return t.In(time.FixedZone(name, hours*60*60))
}

// A dialect is how a list writes the time of a change.
type dialect struct {
	name  string
	write func(t time.Time) string
	days  bool // two changes of one day may have one date
}

// dialects are those of the lists of a year.
var dialects = []dialect{
	{"UTC", func(t time.Time) string { return t.Format(time.RFC3339) }, false},
	{"local, with its zone", func(t time.Time) string { return local(t).Format(time.RFC3339) }, false},
	{"local, without a zone", func(t time.Time) string { return local(t).Format("2006-01-02T15:04:05") }, false},
	{"as in Denmark", func(t time.Time) string { return local(t).Format("02-01-2006 15:04:05") }, false},
	{"the minute", func(t time.Time) string { return t.Format("2006-01-02T15:04Z07:00") }, false},
	{"the day", func(t time.Time) string { return t.Format(time.DateOnly) }, true},
	{"the local day", func(t time.Time) string { return local(t).Format(time.DateOnly) }, true},
	{"the day, far west", func(t time.Time) string { return t.Add(-7 * time.Hour).Format(time.DateOnly) }, true},
	{"days behind", func(t time.Time) string { return t.Add(-75 * time.Hour).Format(time.RFC3339) }, false},
	{"hours ahead", func(t time.Time) string { return t.Add(9 * time.Hour).Format(time.RFC3339) }, false},
	{"of publication, which moves back", func(t time.Time) string {
		return t.Add(-time.Duration(t.Unix()%7) * 24 * time.Hour).Format(time.RFC3339)
	}, false},
}

// A yearlyAct is an act of a year.
type yearlyAct struct {
	name    string
	version int
	changed time.Time
	day     int  // of the last change
	gone    bool // its page and its entries
	listed  int  // the version that the sitemap has
	// what the feed states, which may not have the last change; zero: never anything
	fed time.Time
}

// unfed reports whether only the sitemap states the last change.
func (a *yearlyAct) unfed() bool { return a.fed != a.changed }

func (a *yearlyAct) title() string { return fmt.Sprintf("%s, version %d", a.name, a.version) }

// A year is a publisher, day by day.
type year struct {
	*collection
	rand          *rand.Rand
	sitemap, feed dialect
	daily         bool // the sitemap is read each day
	acts          []*yearlyAct
	list          string // the sitemap, of some day
}

// newAct returns an act. The feed never has each fifth.
func newAct(n int, at time.Time, day int) *yearlyAct {
	a := &yearlyAct{name: fmt.Sprint("act/", n), version: 1, changed: at, day: day}
	if n%5 != 4 {
		a.fed = at
	}
	return a
}

// change changes, enacts or removes an act at some hour of a day before the run.
func (y *year) change(day int) {
	at := firstDay.AddDate(0, 0, day).Add(time.Duration(y.rand.IntN(19*60)) * time.Minute)
	i := y.rand.IntN(len(y.acts) + 1)
	switch {
	case i == len(y.acts) && i < 30:
		y.acts = append(y.acts, newAct(i, at, day))
	case i == len(y.acts), y.acts[i].gone:
	case y.rand.IntN(20) == 0 && i > 8:
		y.acts[i].gone, y.acts[i].day = true, day
	default:
		if a := y.acts[i]; a.changed.Before(at) {
			if a.version, a.changed, a.day = a.version+1, at, day; !a.fed.IsZero() && y.rand.IntN(4) > 0 {
				a.fed = at
			}
		}
	}
}

// site returns the site of a day.
func (y *year) site(day int, renew bool) *lawSite {
	s := newSite(day)
	var listed, fed []string
	for _, a := range y.acts {
		if a.gone {
			continue
		}
		s.act(a.name, a.title())
		listed = append(listed, a.name+" "+y.sitemap.write(a.changed))
		if firstDay.AddDate(0, 0, day).Sub(a.fed) < feedDays {
			fed = append(fed, a.name+" "+y.feed.write(a.fed))
		}
	}
	if renew {
		y.list = urlset(listed...)
		for _, a := range y.acts {
			a.listed = a.version
		}
	}
	return s.lists(y.list, feed(fed...))
}

// check compares the Store with the publisher. If the feed has dates only, a change after
// another one on the same day shows when the day is over.
func (y *year) check(day int, what string) {
	y.Helper()
	held := y.titles()
	for _, a := range y.acts {
		got := held[law+"eli/"+a.name]
		switch {
		case a.gone, a.unfed() && (!y.daily || a.listed != a.version || y.sitemap.days && day-a.day < 3):
		case !a.unfed() && y.feed.days && day-a.day < 3:
			assert.NotEmpty(y, got, "%s, day %d: %s", what, day, a.title())
		default:
			assert.Equal(y, a.title(), got, "%s, day %d: changed on day %d, %v", what, day, a.day, a.changed)
		}
	}
}

// TestTwoListsForAYear: for a year, or a quarter of one, sitemap and feed write the times
// of changes in different zones and precisions, ahead of each other or behind, the
// sitemap is up to a week old, and the feed does not have each change. After each daily
// run, some of which are Full or Recheck, the Store has what the publisher has; in the
// end also without what is deleted.
func TestTwoListsForAYear(t *testing.T) {
	for i, sitemap := range dialects {
		for j, fed := range dialects {
			if racing.Few() && (i*len(dialects)+j)%31 != 5 {
				continue
			}
			t.Run(sitemap.name+"; "+fed.name, func(t *testing.T) {
				c := newCollection(t)
				c.store, c.h.Sample, c.source.SitemapEvery = harvest.NewCatalog(memstore.New()), -1, 7*24*time.Hour
				y := &year{collection: c, rand: rand.New(rand.NewPCG(uint64(i), uint64(j))), sitemap: sitemap, feed: fed, daily: (i+j)%2 == 0}
				if y.daily {
					c.source.SitemapEvery = time.Hour
				}
				for n := range 12 {
					y.acts = append(y.acts, newAct(n, firstDay.AddDate(0, 0, n).Add(5*time.Hour), n))
				}
				const begin = 20
				end := begin + 365/4
				if i == j {
					end = begin + 365
				}
				for day := begin; day < end && !t.Failed(); day++ {
					for range y.rand.IntN(3) {
						y.change(day)
					}
					what := "daily"
					c.h.Full, c.h.Recheck = false, false
					switch y.rand.IntN(14) {
					case 0:
						what, c.h.Full = "Full", true
					case 1:
						what, c.h.Recheck = "Recheck", true
					}
					site := y.site(day, day == begin || day%8 == 0 || y.rand.IntN(7) == 0)
					report := c.run(site)
					require.True(t, report.Complete, "day %d: %v", day, report.Problems)
					y.check(day, what)
				}
				c.h.Full, c.h.Recheck = false, false
				y.settle(end)
			})
		}
	}
}

// settle lets three quiet weeks pass, on the first day of which one act changes and the
// sitemap is renewed. Then the Store has what the publisher has, and asks for nothing.
func (y *year) settle(day int) {
	a := y.acts[0]
	a.version, a.changed, a.day = a.version+1, firstDay.AddDate(0, 0, day+4).Add(10*time.Hour), day+4
	a.fed = a.changed
	for n := range 21 {
		y.run(y.site(day+4+n, n == 0))
	}
	want := map[string]string{}
	for _, a := range y.acts {
		if !a.gone {
			want[law+"eli/"+a.name] = a.title()
		}
	}
	assert.Equal(y, want, y.titles())
	assert.Empty(y, strings.Join(y.asked, " "))
}
