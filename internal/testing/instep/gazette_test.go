package instep

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/internal/testing/racing"
)

// A gazette is a national site of legislation as deployed ones are: its sitemap is an
// index with a part for each year, rewritten on some days, with local times without a
// zone; its feed has the last 60 days in the form 31-12-2026 23:59:59, local too; the
// sitemap writes ELIs with www and https, the feed without, and pages with http.
type gazette struct {
	*world
	rand    *rand.Rand
	laws    map[string]*law // that are there, by the path of their ELIs
	made    int
	history []string // the last steps, for messages
}

// A law is an act of a gazette.
type law struct {
	version   int
	languages []string // Danish first
	changed   time.Time
}

const (
	gazetteHost = "https://www.example.org/"
	feedHost    = "http://example.org/"
)

// copenhagen returns a time as clocks there show it.
func copenhagen(t time.Time) time.Time {
	hours := 1
	if m := t.Month(); m >= time.April && m <= time.October {
		hours = 2
	}
	return t.In(time.FixedZone("", hours*60*60))
}

// text returns the full text of a law in a language.
func (l *law) text(path, language string) string {
	return fmt.Sprintf("%s in %s, version %d", path, language, l.version)
}

// page returns the page of a law, whose metadata have the form of the feed.
func (l *law) page(path string) string {
	var b strings.Builder
	uri := feedHost + path
	fmt.Fprintf(&b, `<!DOCTYPE html><html prefix="eli: http://data.europa.eu/eli/ontology#"><body about="%s" typeof="eli:LegalResource">
<h1 property="eli:title">%s, version %d</h1><meta property="eli:date_document" content="%s">`, uri, path, l.version, copenhagen(l.changed).Format("02-01-2006 00:00:00"))
	for _, code := range l.languages {
		fmt.Fprintf(&b, `<div rel="eli:is_realized_by"><div resource="%s/%s" typeof="eli:LegalExpression">
<link property="eli:language" href="http://publications.europa.eu/resource/authority/language/%s">
<div rel="eli:is_embodied_by"><p resource="%[1]s/%[2]s/xml" typeof="eli:Format"><link property="eli:media_type" href="https://www.iana.org/assignments/media-types/text/xml">
<a property="eli:is_exemplified_by" href="%[4]s%[5]s/%[2]s/xml">XML</a></p></div></div></div>`, uri, code, strings.ToUpper(code), gazetteHost, path)
	}
	return b.String() + "</body></html>"
}

// put serves a law, or removes it.
func (g *gazette) put(path string) {
	l := g.laws[path]
	for _, code := range []string{"dan", "eng"} {
		answer := refused(404)
		if l != nil && slices.Contains(l.languages, code) {
			answer = tagged(l.text(path, code))
		}
		g.serve(gazetteHost+path+"/"+code+"/xml", answer)
	}
	if l == nil {
		g.serve(gazetteHost+path, refused(410))
		return
	}
	g.serve(gazetteHost+path, tagged(l.page(path)))
}

// lists writes the feed and, on some days, the sitemap.
func (g *gazette) lists(renew bool) {
	var fed strings.Builder
	fed.WriteString(`<?xml version="1.0" encoding="UTF-8"?><feed xmlns="http://www.w3.org/2005/Atom"><id>urn:example-org:eli:eli-update-feed</id><title>Lovtidende</title>
<updated>` + copenhagen(time.Now()).Format(time.RFC3339) + `</updated><author><name>Lovtidende</name></author>`)
	parts := map[string]*strings.Builder{}
	for _, path := range slices.Sorted(maps.Keys(g.laws)) {
		l := g.laws[path]
		if time.Since(l.changed) < 60*24*time.Hour {
			fmt.Fprintf(&fed, "<entry><id>%[1]s%[2]s</id><title>%[2]s</title><link href=\"%[1]s%[2]s\"/><updated>%[3]s</updated></entry>\n",
				feedHost, path, copenhagen(l.changed).Format("02-01-2006 15:04:05"))
		}
		year := strings.Split(path, "/")[2]
		if parts[year] == nil {
			parts[year] = new(strings.Builder)
		}
		fmt.Fprintf(parts[year], "<url><loc>%s%s</loc><lastmod>%s</lastmod></url>\n", gazetteHost, path, copenhagen(l.changed).Format("2006-01-02T15:04:05"))
	}
	g.serve(feedHost+"eli/eli-update-feed.atom", tagged(fed.String()+"</feed>"))
	if !renew {
		return
	}
	const space = `xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"`
	var index strings.Builder
	index.WriteString(`<?xml version="1.0" encoding="UTF-8"?><sitemapindex ` + space + ">\n")
	for _, year := range slices.Sorted(maps.Keys(parts)) {
		url := gazetteHost + "eli/sitemap-" + year + ".xml"
		fmt.Fprintf(&index, "<sitemap><loc>%s</loc></sitemap>\n", url)
		g.serve(url, tagged(`<?xml version="1.0" encoding="UTF-8"?><urlset `+space+">\n"+parts[year].String()+"</urlset>"))
	}
	g.serve(gazetteHost+"eli/sitemap.xml", tagged(index.String()+"</sitemapindex>"))
}

// step makes one random change, and says what it was.
func (g *gazette) step() string {
	time.Sleep(time.Duration(1+g.rand.IntN(120)) * time.Minute)
	paths := slices.Sorted(maps.Keys(g.laws))
	path := paths[g.rand.IntN(len(paths))]
	l := g.laws[path]
	what := g.rand.IntN(20)
	switch {
	case what < 5:
		g.made++
		path = fmt.Sprintf("eli/lta/%d/%d", 2024+g.rand.IntN(3), g.made)
		g.laws[path] = &law{1, []string{"dan"}, time.Now().UTC().Truncate(time.Second)}
		g.put(path)
		return "enacts " + path
	case what < 8 && len(paths) > 12:
		delete(g.laws, path)
		g.put(path)
		return "removes " + path
	case what < 11:
		if l.languages = []string{"dan", "eng"}; l.version%3 == 0 {
			l.languages = l.languages[:1]
		}
	}
	l.version++
	l.changed = time.Now().UTC().Truncate(time.Second)
	if what == 19 { // the date of publication, which is in the past
		l.changed = l.changed.Add(-time.Duration(g.rand.IntN(30*24)) * time.Hour)
	}
	g.put(path)
	return fmt.Sprintf("amends %s: version %d of %v", path, l.version, l.changed)
}

// want returns what a Store must have of the laws.
func (g *gazette) want() map[string]string {
	all := map[string]string{}
	for path, l := range g.laws {
		all[gazetteHost+path] = l.text(path, "dan")
	}
	return all
}

// fresh checks the laws that the feed has.
func (g *gazette) fresh(step int) {
	g.Helper()
	held := g.live(false)
	for path, l := range g.laws {
		if time.Since(l.changed) < 60*24*time.Hour {
			assert.Equal(g, l.text(path, "dan"), held[gazetteHost+path], "step %d: %s; the last steps: %v", step, path, g.history)
		}
	}
}

// TestGazette harvests a national site through 200 random changes. After each run the
// Store has what the feed states, and in the end just what the site has: deletions
// included, and one resource for each act.
func TestGazette(t *testing.T) {
	seeds := 2
	if !racing.Few() {
		seeds = 20
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := &gazette{world: newWorld(t), rand: rand.New(rand.NewPCG(uint64(seed), 7)), laws: map[string]*law{}}
				for g.made < 30 {
					path := fmt.Sprintf("eli/lta/%d/%d", 2024+g.made%3, g.made+1)
					g.laws[path] = &law{1, []string{"dan"}, time.Now().UTC().AddDate(0, 0, 3*g.made-100)}
					g.made++
					g.put(path)
				}
				g.serve("https://www.example.org/robots.txt", refused(404))
				g.serve("http://example.org/robots.txt", refused(404))
				src := &eli.Source{Sitemap: gazetteHost + "eli/sitemap.xml", Feed: feedHost + "eli/eli-update-feed.atom", Interval: -1,
					SitemapEvery: 7 * 24 * time.Hour, Preferences: eli.Preferences{Languages: []string{"da"}}}
				g.lists(true)
				g.inStep(g.run(src), "the first run")
				for step := 0; step < 200 && !t.Failed(); {
					for range 1 + g.rand.IntN(3) {
						g.history = append(g.history[max(0, len(g.history)-8):], g.step())
						step++
					}
					g.lists(g.rand.IntN(10) == 0)
					g.harvester.Full, g.harvester.Recheck = g.rand.IntN(20) == 0, g.rand.IntN(20) == 0
					time.Sleep(time.Duration(6+g.rand.IntN(30)) * time.Hour)
					g.run(src)
					g.fresh(step)
				}
				g.harvester.Full, g.harvester.Recheck = false, false
				for range 3 { // weeks, in each of which one law changes and the sitemap is new
					path := slices.Min(slices.Collect(maps.Keys(g.laws)))
					g.laws[path].version++
					g.laws[path].changed = time.Now().UTC().Truncate(time.Second)
					g.put(path)
					g.lists(true)
					for range 7 {
						g.nextDay()
						g.run(src)
					}
				}
				g.holdsMap("in the end", false, g.want())
				g.inStep(g.run(src), "in the end")
			})
		})
	}
}
