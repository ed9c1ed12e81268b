package resourcesync_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/schedule"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/resourcesync"
)

var _ schedule.PayloadSource = (*resourcesync.Source)(nil)

// notification returns the payload that announces changes.
func (p *publisher) notification(changes ...event) string {
	var entries []string
	for _, e := range changes {
		entries = append(entries, p.change(e))
	}
	return document("urlset", `capability="changelist" from="2025-06-01T00:00:00Z"`, "capabilitylist.xml", entries...)
}

// last returns the last changes, oldest first.
func (p *publisher) last(n int) []event { return p.log[len(p.log)-n:] }

// A destination harvests a publisher into a Store.
type destination struct {
	t       *testing.T
	store   *harvest.Catalog
	source  *resourcesync.Source
	fetcher *sourcetest.Fetcher
}

func newDestination(t *testing.T) *destination {
	return &destination{t: t, store: harvest.NewCatalog(memstore.New()), source: &resourcesync.Source{URL: sourceURL}}
}

func (d *destination) harvest(p *publisher, src harvest.Source) (*harvest.Report, error) {
	d.fetcher = &sourcetest.Fetcher{Site: p.site()}
	h := &harvest.Harvester{Sample: -1, Catalog: d.store, Fetcher: d.fetcher, MaxDelete: 1}
	return h.Run(d.t.Context(), src)
}

// run harvests the lists.
func (d *destination) run(p *publisher) *harvest.Report {
	d.t.Helper()
	report, err := d.harvest(p, d.source)
	require.NoError(d.t, err)
	require.True(d.t, report.InStep(), "%v", report)
	require.Equal(d.t, p.texts(), testkit.Live(d.t, d.store))
	return report
}

// apply harvests a payload.
func (d *destination) apply(p *publisher, payload string) (*harvest.Report, error) {
	d.t.Helper()
	src, err := d.source.Payload([]byte(payload))
	require.NoError(d.t, err)
	require.Equal(d.t, d.source.Key(), src.Key())
	return d.harvest(p, src)
}

func (d *destination) applied(p *publisher, payload string) *harvest.Report {
	d.t.Helper()
	report, err := d.apply(p, payload)
	require.NoError(d.t, err)
	require.True(d.t, report.InStep(), "%v", report)
	return report
}

// harvestedOnce returns a publisher with some resources and a destination in step.
func harvestedOnce(t *testing.T) (*publisher, *destination) {
	p, d := newPublisher(), newDestination(t)
	p.put("a", "first")
	p.put("b", "first")
	p.list()
	p.put("c", "first")
	d.run(p)
	return p, d
}

// TestPayload: a payload is applied without a request for a list, and the next run finds
// its changes known.
func TestPayload(t *testing.T) {
	p, d := harvestedOnce(t)
	p.put("a", "second")
	p.put("b", "")
	p.put("new", "new")
	p.put("new", "newer")
	report := d.applied(p, p.notification(p.last(4)...))
	assert.Equal(t, p.texts(), testkit.Live(t, d.store))
	assert.Equal(t, []int64{1, 1, 1}, []int64{report.Created, report.Updated, report.Deleted})
	assert.Equal(t, report.From, report.To, "the position")
	assert.ElementsMatch(t, []sourcetest.Exchange{{URL: www + "a", Status: 200}, {URL: www + "new", Status: 200}}, d.fetcher.Exchanges())

	log := testkit.Log(t, d.store)
	report = d.run(p)
	assert.Equal(t, int64(3), report.Unchanged, "%v", report)
	assert.Equal(t, log, testkit.Log(t, d.store))
	assert.Zero(t, report.Fetched)
	report = d.run(p)
	assert.Zero(t, report.Events, "the position has moved")
}

// TestPayloadKeepsInclude: a payload yields what the Change Lists would.
func TestPayloadKeepsInclude(t *testing.T) {
	p, d := newPublisher(), newDestination(t)
	d.source.Include = func(uri string) bool { return !strings.HasSuffix(uri, "x") }
	p.put("a", "first")
	p.put("x", "first")
	p.list()
	p.put("a", "second")
	_, err := d.harvest(p, d.source)
	require.NoError(t, err)
	p.put("x", "second")
	p.put("a", "third")
	report := d.applied(p, p.notification(p.last(2)...))
	assert.Equal(t, int64(1), report.Events)
	assert.Equal(t, map[string]string{"a": "third"}, testkit.Live(t, d.store))
}

// TestPayloadWithoutChange: an entry of a payload without change is an update, and a
// finding.
func TestPayloadWithoutChange(t *testing.T) {
	p, d := harvestedOnce(t)
	p.put("a", "second")
	src, err := d.source.Payload([]byte(strings.Replace(p.notification(p.last(1)...), ` change="updated"`, "", 1)))
	require.NoError(t, err)
	var rules []string
	h := &harvest.Harvester{Sample: -1, Catalog: d.store, Fetcher: &sourcetest.Fetcher{Site: p.site()}, Hooks: testkit.OnFinding(func(f websync.Finding) { rules = append(rules, f.Rule) })}
	report, err := h.Run(t.Context(), src)
	require.NoError(t, err)
	assert.EqualValues(t, 1, report.Updated)
	assert.Equal(t, []string{"resourcesync-change-missing"}, rules)
}

func TestRefusedPayloads(t *testing.T) {
	p := newPublisher()
	p.put("a", "text")
	good := p.notification(p.log...)
	replace := func(old, new string) string {
		text := strings.Replace(good, old, new, 1)
		require.NotEqual(t, good, text, old)
		return text
	}
	ahead := func(d time.Duration) string {
		return replace(stamp(p.now), stamp(time.Now().UTC().Add(d)))
	}
	for name, test := range map[string]struct{ payload, want string }{
		"empty":                   {"", "an empty document"},
		"malformed":               {replace("</loc>", "</lock>"), "end tag"},
		"cut short":               {good[:len(good)-20], "ends too early"},
		"a page":                  {"<!DOCTYPE html><html><body>Log in</body></html>", "an HTML page"},
		"another XML document":    {`<feed xmlns="http://www.w3.org/2005/Atom"/>`, "an Atom feed"},
		"a sitemap":               {replace(`<rs:md capability="changelist" from="2025-06-01T00:00:00Z"/>`, ""), `the capability ""`},
		"another capability":      {replace(`"changelist"`, `"resourcelist"`), `the capability "resourcelist"`},
		"an index":                {document("sitemapindex", `capability="changelist"`, "", named("sitemap", "changelist-1.xml", `from="2025-06-01T00:00:00Z"`)), "an index"},
		"of another set":          {replace("capabilitylist.xml", "other.xml"), "other.xml"},
		"an entry without loc":    {replace("<loc>"+www+"a</loc>", ""), "1 entries"},
		"a document":              {replace(`change="created"`, `change="updated" capability="resourcelist"`), `the capability "resourcelist"`},
		"a relative loc":          {replace("<loc>"+www, "<loc>"), "must not be relative"},
		"an entry without a time": {replace(` datetime="`+stamp(p.now)+`"`, ""), "without datetime and lastmod"},
		"a URI that is too long":  {replace("<loc>"+www, "<loc>"+www+strings.Repeat("x", 5000)), "longer than any Store takes"},
		"ahead of the clock":      {ahead(2 * time.Hour), "by the local clock"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := (&resourcesync.Source{URL: sourceURL}).Payload([]byte(test.payload))
			require.ErrorContains(t, err, "resourcesync: change notification: ")
			assert.ErrorContains(t, err, test.want)
		})
	}
	for name, payload := range map[string]string{
		"good": good, "no link up": replace(`<rs:ln rel="up" href="`+sourceURL+`"/>`, ""), "a clock that is a bit wrong": ahead(50 * time.Minute),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := (&resourcesync.Source{URL: sourceURL}).Payload([]byte(payload))
			assert.NoError(t, err)
		})
	}
}

// TestPayloadWithoutPosition: without a baseline or a known time, a payload changes
// nothing.
func TestPayloadWithoutPosition(t *testing.T) {
	for name, test := range map[string]struct {
		shape   func(*publisher)
		harvest func(*destination, *publisher)
	}{
		"no run before":          {func(*publisher) {}, func(*destination, *publisher) {}},
		"no Change List":         {func(p *publisher) { p.noChange = true }, func(d *destination, p *publisher) { d.run(p) }},
		"a list without times":   {func(p *publisher) { p.noTimes = true }, func(d *destination, p *publisher) { p.put("a", "changed"); d.run(p) }},
		"a log without any time": {func(p *publisher) { p.noTimes, p.noFrom, p.noList = true, true, true }, func(d *destination, p *publisher) { d.run(p) }},
		"a baseline that was not completed": {func(*publisher) {}, func(d *destination, p *publisher) {
			site := p.site()
			delete(site, www+"changelist.xml")
			report, _ := run(d.t, d.store, site)
			require.NotEmpty(d.t, report.Problems)
			require.False(d.t, report.To.IsZero())
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p, d := newPublisher(), newDestination(t)
			test.shape(p)
			p.put("a", "first")
			p.list()
			test.harvest(d, p)
			before := testkit.Live(t, d.store)
			p.put("a", "second")
			p.noTimes = false
			report, err := d.apply(p, p.notification(p.last(1)...))
			assert.ErrorContains(t, err, "no earlier run has followed the Change Lists")
			assert.Zero(t, report.Events)
			assert.Equal(t, before, testkit.Live(t, d.store))
		})
	}
}

// TestReplayedPayloads: a payload that comes again, or late, brings no older state back.
func TestReplayedPayloads(t *testing.T) {
	create := func(p *publisher) string { p.put("r", "old"); return p.notification(p.last(1)...) }
	for name, then := range map[string]func(*publisher){
		"an update":     func(p *publisher) { p.put("r", "new") },
		"a deletion":    func(p *publisher) { p.put("r", "") },
		"a re-creation": func(p *publisher) { p.put("r", ""); p.put("r", "new") },
		"a deletion in the same second": func(p *publisher) {
			p.now = p.now.Add(-time.Second)
			p.put("r", "")
		},
	} {
		t.Run(name+", before the lists are read", func(t *testing.T) {
			p, d := harvestedOnce(t)
			old := create(p)
			d.applied(p, old)
			from := len(p.log)
			then(p)
			later := p.log[from:]
			d.applied(p, p.notification(later...))
			require.Equal(t, p.texts(), testkit.Live(t, d.store))
			if strings.Contains(name, "same second") {
				return // TestPayloadsInAnotherOrder
			}
			report := d.applied(p, old)
			assert.Equal(t, int64(1), report.History)
			assert.Equal(t, p.texts(), testkit.Live(t, d.store))
			for _, e := range later { // also one by one
				d.applied(p, p.notification(e))
				assert.Equal(t, p.texts(), testkit.Live(t, d.store))
			}
			d.run(p)
		})
		t.Run(name+", after the lists were read", func(t *testing.T) {
			p, d := harvestedOnce(t)
			old := create(p)
			then(p)
			d.run(p) // the first time that anything of r is known
			report, err := d.apply(p, old)
			assert.ErrorContains(t, err, "is not after")
			assert.Zero(t, report.Events)
			assert.Equal(t, p.texts(), testkit.Live(t, d.store))
			d.run(p)
		})
	}
}

// TestPayloadsInAnotherOrder: the next run corrects what a payload that came too late has
// done.
func TestPayloadsInAnotherOrder(t *testing.T) {
	p, d := harvestedOnce(t)
	p.put("r", "text")
	create := p.notification(p.last(1)...)
	p.now = p.now.Add(-time.Second)
	p.put("r", "")
	require.Equal(t, p.log[len(p.log)-2].time, p.now)
	d.applied(p, p.notification(p.last(1)...))
	p.resources["r"] = resource{"text", p.now} // the server still has it
	d.applied(p, create)
	delete(p.resources, "r")
	assert.Contains(t, testkit.Live(t, d.store), "r", "of one second, only the lists know the order")
	d.run(p)
}

// TestPayloadOfAVersionThatIsGone: the server has a newer version than the payload says.
func TestPayloadOfAVersionThatIsGone(t *testing.T) {
	p, d := harvestedOnce(t)
	p.put("a", "second")
	payload := p.notification(p.last(1)...)
	p.put("a", "third")
	report, err := d.apply(p, payload)
	require.NoError(t, err)
	assert.Equal(t, int64(1), report.Failed)
	assert.False(t, report.InStep())
	assert.Equal(t, "first", testkit.Live(t, d.store)["a"])
	d.run(p)
}

// TestPayloadHistories: publishers send payloads for some of their changes, and these get
// lost, come twice, late or in another order. The next run of the lists is in step.
func TestPayloadHistories(t *testing.T) {
	all := maps.Clone(publishers)
	delete(all, "only a dump")
	for name, shape := range all {
		t.Run(name, func(t *testing.T) {
			used := 0
			for seed := range histories() {
				random := rand.New(rand.NewPCG(seed, 3))
				p, d := newPublisher(), newDestination(t)
				shape(p)
				p.put("kept", "a snapshot without any known resource deletes nothing")
				var sent []string
				for round := range 12 {
					before := len(p.log)
					p.live(random, round == 0)
					for rest := p.log[before:]; len(rest) > 0 && random.IntN(5) > 0; {
						n := 1 + random.IntN(len(rest))
						if random.IntN(4) > 0 { // else it is lost
							sent = append(sent, p.notification(rest[:n]...))
						}
						rest = rest[n:]
					}
					for range random.IntN(6) {
						if len(sent) == 0 {
							break
						}
						payload := sent[max(0, len(sent)-1-random.IntN(5))]
						src, err := d.source.Payload([]byte(payload))
						if err == nil {
							_, err = d.harvest(p, src)
						}
						if err == nil {
							used++
						}
					}
					if random.IntN(3) == 0 || round == 11 {
						report, err := d.harvest(p, d.source)
						require.NoError(t, err)
						require.True(t, report.Listed(), "seed %d round %d: %v", seed, round, report)
						h := &harvest.Harvester{Sample: -1, Catalog: d.store, Fetcher: d.fetcher, MaxDelete: 1, Recheck: report.Left.Waiting > 0}
						report, err = h.Run(t.Context(), d.source)
						require.NoError(t, err)
						require.True(t, report.InStep(), "seed %d round %d: %v", seed, round, report)
						require.Equal(t, p.texts(), testkit.Live(t, d.store), "seed %d round %d", seed, round)
					}
				}
			}
			assert.Equal(t, strings.HasPrefix(name, "no times") || name == "no change list", used == 0)
		})
	}
}

func TestChannel(t *testing.T) {
	const (
		hub, self  = `<rs:ln rel="hub" href="https://hub.example.net/"/>`, `<rs:ln rel="self" href="` + www + `topic"/>`
		otherHub   = `<rs:ln rel="hub" href="http://other.example.net/"/>`
		topic      = www + "topic"
		hubURL     = "https://hub.example.net/"
		capability = "capabilitylist.xml"
	)
	header := func(values ...string) map[string][]string { return map[string][]string{"Link": values} }
	type link struct {
		path, elements string
		header         map[string][]string
	}
	for name, test := range map[string]struct {
		links []link
		want  string
	}{
		"the Capability List":     {[]link{{capability, hub + self, nil}}, topic + " " + hubURL},
		"its header":              {[]link{{capability, "", header(`</topic>; rel="self", <https://hub.example.net/>; rel=hub`)}}, topic + " " + hubURL},
		"both":                    {[]link{{capability, otherHub + self, header(`<https://hub.example.net/>; rel=hub`)}}, topic + " " + hubURL},
		"the header first":        {[]link{{capability, self, header(`<other>; rel=self`, `<https://hub.example.net/>; rel=hub`)}}, www + "other " + hubURL},
		"the Change List":         {[]link{{"changelist.xml", hub + self, nil}}, topic + " " + hubURL},
		"half of it":              {[]link{{capability, self, nil}, {"changelist.xml", hub + self, nil}}, topic + " " + hubURL},
		"https first":             {[]link{{capability, otherHub + hub + self, nil}}, topic + " " + hubURL + " http://other.example.net/"},
		"a hub of http":           {[]link{{capability, otherHub + self, nil}}, topic + " http://other.example.net/"},
		"none":                    {nil, ""},
		"no hub":                  {[]link{{capability, self, nil}}, ""},
		"not on the web":          {[]link{{capability, `<rs:ln rel="hub" href="ftp://hub.example.net/"/>` + self, nil}}, ""},
		"of another document":     {[]link{{capability, self, header(`<https://hub.example.net/>; rel=hub; anchor="/x"`)}}, ""},
		"a document that is gone": {[]link{{"changelist.xml", "", map[string][]string{"Gone": nil}}}, "404"},
	} {
		for _, url := range []string{sourceURL, www + "description.xml"} {
			t.Run(name+" by "+url, func(t *testing.T) {
				p := newPublisher()
				p.put("a", "text")
				p.list()
				site := p.site()
				site[www+"description.xml"] = sourcetest.Document{Body: document("urlset", `capability="description"`, "", named("url", capability, `capability="capabilitylist"`))}
				for _, l := range test.links {
					doc := site[www+l.path]
					if doc.Header = l.header; l.header["Gone"] != nil || l.elements+fmt.Sprint(l.header["Link"]) == "[]" {
						doc = sourcetest.Document{Status: 404}
					}
					doc.Body = strings.Replace(doc.Body, "<rs:md ", l.elements+"<rs:md ", 1)
					site[www+l.path] = doc
				}
				topic, hubs, err := (&resourcesync.Source{URL: url}).Channel(t.Context(), &sourcetest.Fetcher{Site: site})
				if err != nil {
					assert.Equal(t, "404", test.want)
					assert.ErrorContains(t, err, test.want)
					return
				}
				assert.Equal(t, test.want, strings.Join(append([]string{topic}, hubs...), " "))
			})
		}
	}
}
