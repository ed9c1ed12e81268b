package conformance

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/eli/rdf"
	"github.com/websync-go/websync/internal/docfetch"
	"github.com/websync-go/websync/sitemap"
)

// Each rule of the packages below has a meaning here, or is dropped on purpose.
func TestMappings(t *testing.T) {
	for _, r := range sitemap.Rules() {
		name := strings.TrimPrefix(r.Name, "sitemap-")
		as, ok := ofSitemap[name]
		assert.True(t, ok, r.Name)
		if as.rule != nil && as.rule.Severity == websync.SeverityInfo {
			assert.Equal(t, asWarn, as.most, "%s: what is for information never fails", r.Name)
		}
	}
	known := sitemap.Rules()
	for name := range ofSitemap {
		assert.True(t, slices.ContainsFunc(known, func(r sitemap.Rule) bool { return r.Name == "sitemap-"+name }), name)
	}
	for _, name := range atomDropped {
		assert.True(t, slices.ContainsFunc(atom.Rules(), func(r atom.Rule) bool { return r.Name == "atom-"+name }), name)
	}
	for name := range ofELI {
		assert.True(t, slices.ContainsFunc(eli.Rules(), func(r eli.Rule) bool { return r.Name == "eli-"+name }), name)
	}
}

// The kinds are as many as the specification has.
func TestKinds(t *testing.T) {
	kinds := make(map[Kind]int)
	for i, r := range Rules() {
		kinds[r.Kind]++
		assert.Equal(t, i, r.number)
		assert.Equal(t, r.Kind.severity(), r.Severity)
		assert.NotEmpty(t, r.Summary)
		assert.NotEmpty(t, r.Advice)
		assert.NotEqual(t, string(r.Kind), r.Kind.String())
	}
	assert.Equal(t, map[Kind]int{Must: 40, AnnexMust: 2, LowerMust: 3, Should: 6, Annex: 2, May: 10}, kinds)
	assert.Equal(t, "X", Kind("X").String())
	all := Rules()
	all[0].Name = "changed"
	assert.Equal(t, "P4-001", Rules()[0].Name, "Rules returns a copy")
}

func TestExamplesAreTheWorst(t *testing.T) {
	var s state
	for i, severity := range []websync.Severity{-1, 0, 0, 1, -1, 0, 1, 0, 1, 1, 1} {
		s.add(websync.Finding{Severity: severity, Line: i})
	}
	var lines []int
	for _, f := range s.examples {
		lines = append(lines, f.Line)
	}
	assert.Equal(t, []int{3, 6, 8, 9, 10}, lines)
	assert.Equal(t, []int{5, 4, 2}, []int{s.errors, s.warnings, s.notes})
	s = state{}
	for i, severity := range []websync.Severity{0, -1, 1} {
		s.add(websync.Finding{Severity: severity, Line: i})
	}
	assert.Equal(t, []int{2, 0, 1}, []int{s.examples[0].Line, s.examples[1].Line, s.examples[2].Line})
}

func TestAddDay(t *testing.T) {
	var table docfetch.Table[day]
	assert.True(t, addDay(&table, "http://law.example/eli/1", noDay))
	assert.Equal(t, noDay, *table.Find("http://law.example/eli/1"))
	for _, step := range []struct{ add, want day }{{-5, -5}, {3, 3}, {2, 3}, {noDay, 3}} {
		assert.False(t, addDay(&table, "http://law.example/eli/1", step.add))
		assert.Equal(t, step.want, *table.Find("http://law.example/eli/1"))
	}
}

func TestDay(t *testing.T) {
	for text, want := range map[string]string{
		"2026-03-08": "2026-03-08", "2026-03-08T00:10:00+02:00": "2026-03-08", "2026-03-08T23:50:00-05:00": "2026-03-08",
		"2026": "2026-01-01", "1850-07-01": "1850-07-01", "1969-12-31T23:59:59Z": "1969-12-31",
	} {
		d, err := websync.ParseDatetime(text)
		require.NoError(t, err)
		assert.Equal(t, want, dayOf(d).String(), text)
	}
	assert.Equal(t, noDay, dayOf(websync.Datetime{}))
}

func urls(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("https://law.example/eli/%s/%d/%d", []string{"act", "decree", "order"}[i%3], 1990+i%20, i))
	}
	return all
}

func sampled(n int, seed uint64, all []string) (chosen []string) {
	s := newSampler(n, seed)
	for _, url := range all {
		s.add([]byte(url), websync.Datetime{})
	}
	for _, c := range s.chosen() {
		chosen = append(chosen, c.url)
	}
	return chosen
}

func TestSampler(t *testing.T) {
	all := urls(3000)
	first := sampled(30, 1, all)
	assert.Len(t, first, 30)
	mixed := slices.Clone(all)
	rand.New(rand.NewPCG(3, 4)).Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
	assert.Equal(t, first, sampled(30, 1, mixed), "the order of the list makes no difference")
	assert.Equal(t, first, sampled(30, 1, append(mixed, mixed...)), "nor do repetitions")
	assert.NotEqual(t, first, sampled(30, 2, all), "the seed does")

	strata := make(map[string]int)
	for _, url := range first {
		strata[stratumOf(url)]++
	}
	assert.Len(t, strata, 30, "60 groups: 30 of them, one URL each")

	strata = make(map[string]int)
	for _, url := range sampled(180, 1, all) {
		strata[stratumOf(url)]++
	}
	assert.Len(t, strata, 60)
	for _, n := range strata {
		assert.Equal(t, 3, n, "each group as often")
	}
	assert.Len(t, sampled(30, 1, all[:7]), 7)
	assert.Empty(t, sampled(0, 1, all))
	assert.Empty(t, sampled(30, 1, nil))

	one := make([]string, 500)
	for i := range one {
		one[i] = fmt.Sprintf("https://law.example/eli/act/2020/%d", i)
	}
	assert.Len(t, sampled(30, 1, one), 30, "one group can fill the sample")
}

// A sampler holds at most n*n URLs, and n if there are more than n groups.
func TestSamplerSize(t *testing.T) {
	s := newSampler(10, 1)
	for _, url := range urls(10_000) {
		s.add([]byte(url), websync.Datetime{})
	}
	held := 0
	for _, group := range s.order {
		held += len(group.urls)
	}
	assert.Equal(t, 10, held)
	assert.Len(t, s.strata, 10)
}

func TestStratum(t *testing.T) {
	for url, want := range map[string]string{
		"https://law.example/eli/act/2016/501":                      "act/2016",
		"https://law.example/eli/2016/act/1":                        "/2016",
		"https://law.example/eli/act":                               "act/",
		"https://law.example/x/eli/lov/a/2016/2017":                 "lov/2016",
		"https://law.example":                                       "/",
		"https://law.example/news/1":                                "news/",
		"https://law.example/eli/" + strings.Repeat("a", 99) + "/1": strings.Repeat("a", 40) + "/",
	} {
		assert.Equal(t, want, stratumOf(url), url)
	}
}

// The digest of a page depends neither on the order of its triples nor on the labels of
// blank nodes.
func TestGraphDigest(t *testing.T) {
	triple := func(subject, object rdf.Term) rdf.Triple {
		return rdf.Triple{Subject: subject, Predicate: rdf.IRI(eli.Ontology + "cites"), Object: object}
	}
	a, b := triple(rdf.IRI("urn:a"), rdf.IRI("urn:b")), triple(rdf.IRI("urn:b"), rdf.IRI("urn:a"))
	want := graphDigest([]rdf.Triple{a, b, triple(rdf.IRI("urn:a"), rdf.Blank("b1")), triple(rdf.Blank("b1"), rdf.IRI("urn:a"))})
	assert.Equal(t, want, graphDigest([]rdf.Triple{b, triple(rdf.Blank("b2"), rdf.IRI("urn:a")), a, triple(rdf.IRI("urn:a"), rdf.Blank("b2")), a}))
	assert.NotEqual(t, want, graphDigest([]rdf.Triple{a}))
}

func TestEndings(t *testing.T) {
	for path, want := range map[string]ending{
		"/eli/act/2016/501/jo": noEnding, "/eli/act/2016/501/fr": languageEnding, "/eli/act/2016/501/fra/": languageEnding,
		"/eli/act/2016/501/pdf": formatEnding, "/eli/act/2016/501": noEnding, "/eli/es/l/2015/10/01/40/con": noEnding, "/": noEnding, "": noEnding,
	} {
		assert.Equal(t, want, endingOf(path), path)
	}
}

func TestMetaRefresh(t *testing.T) {
	const base = "http://law.example/eli/1"
	for page, want := range map[string]string{
		`<meta http-equiv="refresh" content="0; url=/page">`:            "http://law.example/page",
		`<META HTTP-EQUIV=Refresh CONTENT="5;URL='http://a.example/'">`: "http://a.example/",
		`<meta http-equiv="refresh" content="30">`:                      "",
		`<meta http-equiv="refresh" content="0;url=">`:                  "",
		`<meta http-equiv="refresh" content="0;url=javascript:x">`:      "",
		`<meta name="refresh" content="0;url=/a">`:                      "",
		`<p>no redirect`: "", "": "",
	} {
		assert.Equal(t, want, metaRefresh([]byte(page), base), page)
	}
}

func TestVisibleText(t *testing.T) {
	assert.Equal(t, "Title a b c d", visibleText([]byte("<title>Title</title><style>p{}</style><p>a<b>b</b></p>\n<script>if (a<b) x()</script><template>t</template>c</script>d")))
}

func TestTypeFault(t *testing.T) {
	for _, test := range []struct{ want, sent, body, fault string }{
		{"application/pdf", "application/pdf", "%PDF-1.4", ""},
		{"application/pdf", "application/octet-stream", "%PDF-1.4", ""},
		{"application/pdf", "application/pdf", "<!doctype html><p>", "the metadata state application/pdf, and the answer is text/html"},
		{"application/pdf", "text/html", "Sorry", "the metadata state application/pdf, and the answer is text/html"},
		{"text/html", "text/html; charset=utf-8", "<p>Act", ""},
		{"text/html", "", "\ufeff <HTML>", ""},
		{"text/html", "application/pdf", "%PDF-1", "the metadata state text/html, and the answer is application/pdf"},
		{"application/xhtml+xml", "text/html", `<?xml version="1.0"?><html>`, ""},
		{"application/xhtml+xml", "text/html", `<!DOCTYPE html><html>`, ""},
		{"application/xml", "text/xml", "<act/>", ""},
		{"application/xml", "application/akn+xml", "<?xml version='1.0'?><act/>", ""},
		{"application/xml", "text/html", "<html>", "the metadata state application/xml, and the answer is text/html"},
		{"", "image/png", "x", ""},
		{"application/html", "text/html", "<html>", ""},
		{"application/x-pdf", "application/pdf", "%PDF-1.4", ""},
		{"application/html", "application/pdf", "%PDF-1.4", "the metadata state application/html, and the answer is application/pdf"},
	} {
		assert.Equal(t, test.fault, typeFault(test.want, &download{contentType: test.sent, body: []byte(test.body)}), "%+v", test)
	}
}

func TestLinkOf(t *testing.T) {
	assert.Empty(t, linkOf("http://h/?token=secret"))
	assert.Empty(t, linkOf("javascript:alert(1)"))
	assert.Equal(t, "http://h/a?b=c", linkOf("http://h/a?b=c"))
}

func TestMedianGap(t *testing.T) {
	f := feedFacts{days: make(map[day]bool)}
	assert.Zero(t, f.medianGap())
	for i := range 12 {
		f.days[day(7*i)] = true
	}
	f.days[1] = true
	assert.EqualValues(t, 7, f.medianGap())
}

func TestRemember(t *testing.T) {
	var f feedFacts
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 250 {
		f.remember(FeedEntry{ID: fmt.Sprint(i), Updated: websync.NewDatetime(start.Add(time.Duration(i*37%250) * time.Hour))})
	}
	f.remember(FeedEntry{ID: strings.Repeat("x", maxProfileURL+1), Updated: websync.NewDatetime(start.AddDate(1, 0, 0))})
	require.Len(t, f.latest, maxLatest)
	assert.Equal(t, start.Add(249*time.Hour), f.latest[0].Updated.Time())
	assert.Equal(t, start.Add(150*time.Hour), f.latest[maxLatest-1].Updated.Time())
}
