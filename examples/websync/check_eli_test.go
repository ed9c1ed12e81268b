package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/eli/conformance"
)

const (
	eliList = `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>SELF/eli/act/2025/1</loc><lastmod>2025-12-30</lastmod></url>
<url><loc>SELF/eli/act/2025/2</loc><lastmod>2025-12-29</lastmod></url>
</urlset>`
	eliFeed = `<feed xmlns="http://www.w3.org/2005/Atom"><title>Acts</title><link rel="self" href="SELF/eli/eli-update-feed.atom"/>
<updated>2025-12-30T10:00:00Z</updated><author><name>Ministry</name></author><id>urn:HOST:eli:eli-update-feed</id>
<entry><title>First</title><link href="SELF/eli/act/2025/1"/><id>SELF/eli/act/2025/1</id><updated>2025-12-30T10:00:00Z</updated></entry>
<entry><title>Second</title><link href="SELF/eli/act/2025/2"/><id>SELF/eli/act/2025/2</id><updated>2025-12-29T10:00:00Z</updated></entry>
</feed>`
	eliPage = `<!DOCTYPE html><html prefix="eli: http://data.europa.eu/eli/ontology#"><body about="%[1]s" typeof="eli:LegalResource">
<div rel="eli:is_realized_by"><div about="%[1]s/eng" typeof="eli:LegalExpression"><p property="eli:title">Act</p>
<a rel="eli:language" href="http://publications.europa.eu/resource/authority/language/ENG">English</a>
<div rel="eli:is_embodied_by"><div about="%[1]s/eng/pdf" typeof="eli:Format">
<a rel="eli:media_type" href="https://www.iana.org/assignments/media-types/application/pdf">PDF</a></div></div></div></div></body></html>`
	eliJSON = `<!DOCTYPE html><script type="application/ld+json">{"@context":{"@vocab":"http://data.europa.eu/eli/ontology#"},"@id":"%[1]s",
"@type":"LegalResource","is_realized_by":{"@id":"%[1]s/eng","@type":"LegalExpression","title":"Act",
"language":{"@id":"http://publications.europa.eu/resource/authority/language/ENG"},
"is_embodied_by":{"@id":"%[1]s/eng/pdf","@type":"Format","media_type":{"@id":"https://www.iana.org/assignments/media-types/application/pdf"}}}}</script>`
)

// an eliSite is the server of a publisher.
type eliSite struct {
	*httptest.Server
	mu    sync.Mutex
	pages map[string]string
	asked []string // path and User-Agent
}

func newELISite(t *testing.T) *eliSite {
	s := &eliSite{pages: map[string]string{"/eli/sitemap.xml": eliList, "/eli/eli-update-feed.atom": eliFeed}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	for n, page := range map[string]string{"1": eliPage, "2": eliJSON} {
		path := "/eli/act/2025/" + n
		s.pages[path] = fmt.Sprintf(page, s.URL+path)
		s.pages[path+"/eng/pdf"] = "%PDF-1.7"
	}
	return s
}

func (s *eliSite) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r.URL.Path+" "+r.UserAgent())
	page, ok := s.pages[r.URL.Path]
	switch {
	case !ok:
		http.NotFound(w, r)
		return
	case strings.HasPrefix(page, "%PDF"):
		w.Header().Set("Content-Type", "application/pdf")
	case strings.HasPrefix(page, "<!DOCTYPE html"):
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
	default:
		w.Header().Set("Content-Type", "application/xml")
	}
	fmt.Fprint(w, s.filled(page))
}

func (s *eliSite) filled(page string) string {
	hyphens := strings.ReplaceAll(strings.TrimPrefix(s.URL, "http://"), ".", "-")
	return strings.NewReplacer("SELF", s.URL, "HOST", hyphens).Replace(page)
}

// check checks the publisher, without waiting between pages.
func (s *eliSite) check(t *testing.T, args ...string) checked {
	return check(t, "", append([]string{"-spec", "eli", "-interval", "0", s.URL + "/eli/eli-update-feed.atom", s.URL + "/eli/sitemap.xml"}, args...)...)
}

// rules returns the last object of the output.
func (r checked) rules63(t *testing.T) conformance.Result {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
	var got conformance.Result
	require.NoError(t, json.Unmarshal([]byte(lines[len(lines)-1]), &got), r.stdout)
	require.Len(t, got.Rules, 63)
	return got
}

func ruleStatus(t *testing.T, r conformance.Result, id string) conformance.Status {
	t.Helper()
	row, ok := r.Row(id)
	require.True(t, ok)
	return row.Status
}

func TestELI(t *testing.T) {
	t.Chdir(t.TempDir())
	s := newELISite(t)
	got := s.check(t)
	assert.Equal(t, exitDone, got.code, got.stdout+got.stderr)
	assert.Contains(t, got.stdout, s.URL+"/eli/sitemap.xml: urlset, entries 2, errors 0, warnings 0\n"+
		s.URL+"/eli/eli-update-feed.atom: feed, entries 2, errors 0, warnings")
	assert.Contains(t, got.stdout, "63 rules: pass ")
	assert.Contains(t, got.stderr, "check: visiting 2 pages")
	assert.Contains(t, strings.Join(s.asked, "\n"), "/eli/act/2025/2/eng/pdf")
	assert.NotContains(t, strings.Join(s.asked, "\n"), "Googlebot")

	s.asked = nil
	r := s.check(t, "-json", "-sample", "0").rules63(t)
	assert.Zero(t, r.Pages)
	assert.NotContains(t, strings.Join(s.asked, "\n"), "/eli/act/2025/2")

	r = s.check(t, "-json", "-human", "-sample", "1", "-seed", "7").rules63(t)
	assert.Equal(t, 1, r.Pages)
	assert.Len(t, r.Sample, 1)
	assert.Equal(t, conformance.Warn, ruleStatus(t, r, "P4-071"), "there is no content")
}

// TestELICloaked checks a page whose metadata only search engines get.
func TestELICloaked(t *testing.T) {
	s := newELISite(t)
	s.pages["/eli/act/2025/1"] = "<!DOCTYPE html><p>Act"
	got := s.check(t)
	assert.Equal(t, exitLeft, got.code)
	assert.Contains(t, got.stdout, "P4-041: fail, errors 1")
	assert.Contains(t, strings.Join(s.asked, "\n"), "/eli/act/2025/1 Mozilla/5.0 (compatible; websync-check/")
}

// TestELIVisits checks a publisher twice: the profile tells what has changed.
func TestELIVisits(t *testing.T) {
	t.Chdir(t.TempDir())
	s := newELISite(t)
	require.NoError(t, os.WriteFile("pairs.txt", []byte("# pairs\n"+s.URL+"/eli/sitemap.xml "+s.URL+"/eli/eli-update-feed.atom\n"), 0o644))
	args := []string{"-json", "-profile", "profile.json", "-report", "report.html", "-registry", "pairs.txt"}
	r := s.check(t, args...).rules63(t)
	assert.Equal(t, conformance.NotChecked, ruleStatus(t, r, "P4-003"))
	assert.Equal(t, conformance.Pass, ruleStatus(t, r, "P4-068"))
	report, err := os.ReadFile("report.html")
	require.NoError(t, err)
	assert.Contains(t, string(report), `id="P4-083"`)

	s.pages["/eli/eli-update-feed.atom"] = strings.Replace(eliFeed, "<id>urn:HOST", "<id>urn:other", 1)
	second := s.check(t, args...)
	r = second.rules63(t)
	assert.Equal(t, conformance.Pass, ruleStatus(t, r, "P4-003"))
	assert.Equal(t, conformance.Fail, ruleStatus(t, r, "P4-055"))
	assert.Equal(t, exitLeft, second.code)

	require.NoError(t, os.WriteFile("profile.json", []byte("{}"), 0o644))
	third := s.check(t, args...)
	assert.Equal(t, exitFailed, third.code, "a file that is no profile is not replaced")
	kept, err := os.ReadFile("profile.json")
	require.NoError(t, err)
	assert.Equal(t, "{}", string(kept))
	left, err := filepath.Glob("*")
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{"pairs.txt", "profile.json", "report.html"}, left)
}

// TestELIFiles checks saved files.
func TestELIFiles(t *testing.T) {
	fill := func(s string) string {
		return strings.NewReplacer("SELF", "https://law.example", "HOST", "law-example").Replace(s)
	}
	index := `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><sitemap><loc>https://law.example/eli/%s</loc></sitemap></sitemapindex>`
	all := map[string]string{
		"sitemap.xml": fill(eliList), "feed.atom": fill(eliFeed), "login.html": "<!DOCTYPE html><p>Log in",
		"index.xml": fmt.Sprintf(index, "sitemap.xml"), "lost.xml": fmt.Sprintf(index, "lost-1.xml"), "up.xml": fmt.Sprintf(index, ".."),
		"bad.xml": fill(strings.Replace(eliList, "2025-12-29", "29.12.2025", 1)), "dir.xml": fmt.Sprintf(index, "dir"), "dir/x": "",
		"pairs.txt": "one\ntwo\n", "act.html": actPage, "empty.html": strings.Replace(actPage, "is_realized_by", "cites", 1),
	}
	for name, test := range map[string]struct {
		args   string
		stdin  string
		code   int
		stdout string
		stderr string
	}{
		"a pair":                  {args: "sitemap.xml feed.atom", stdout: "fail 0"},
		"in the other order":      {args: "feed.atom sitemap.xml", stdout: "fail 0"},
		"an index":                {args: "index.xml feed.atom", stdout: "\nsitemap.xml: urlset, entries 2"},
		"from standard input":     {args: "- feed.atom", stdin: fill(eliList), stdout: "\n-: urlset, entries 2"},
		"an index without file":   {args: "lost.xml feed.atom", stdout: "lost.xml: sitemapindex, entries 1"},
		"an index of ..":          {args: "up.xml feed.atom", stdout: "up.xml: sitemapindex, entries 1"},
		"an index of a directory": {args: "dir.xml feed.atom", code: exitLeft, stdout: "not a regular file"},
		"a bad date":              {args: "bad.xml feed.atom", code: exitLeft, stdout: "P4-031: fail, errors 1, warnings 0: "},
		"a sitemap alone":         {args: "sitemap.xml", stdout: "fail 0"},
		"a feed alone":            {args: "feed.atom", stdout: "fail 0"},
		"a page alone":            {args: "act.html", stdout: "\nact.html: page, entries 0, errors 0, warnings 0\n"},
		"a bad page alone":        {args: "empty.html", code: exitLeft, stdout: "P4-043: fail, errors 1"},
		"a login page alone":      {args: "login.html", code: exitLeft, stdout: "P4-041: fail, errors 1"},
		"a page for a feed":       {args: "sitemap.xml login.html", code: exitFailed, stdout: "login.html: unknown", stderr: "check: login.html: "},
		"a page for a sitemap":    {args: "login.html feed.atom", code: exitFailed, stdout: "login.html: unknown", stderr: "check: login.html: "},
		"two pages":               {args: "login.html login.html", code: exitFailed, stdout: "login.html: unknown"},
		"a missing file":          {args: "missing.xml feed.atom", code: exitFailed, stdout: "missing.xml: unknown", stderr: "check: missing.xml: no such file"},
		"two sitemaps":            {args: "sitemap.xml bad.xml", code: exitFailed, stderr: "two sitemaps"},
		"two feeds":               {args: "feed.atom feed.atom", code: exitFailed, stderr: "two feeds"},
		"three files":             {args: "feed.atom sitemap.xml bad.xml", code: exitFailed, stderr: "one sitemap and one feed"},
		"-lenient":                {args: "-lenient feed.atom sitemap.xml", code: exitFailed, stderr: "-lenient has no meaning"},
		"-sample":                 {args: "-sample -1 feed.atom sitemap.xml", code: exitFailed, stderr: "must not be negative"},
		"-interval":               {args: "-interval -1s feed.atom sitemap.xml", code: exitFailed, stderr: "must not be negative"},
		"-registry":               {args: "-registry pairs.txt feed.atom sitemap.xml", code: exitFailed, stderr: "-registry pairs.txt: conformance: line 2"},
		"-registry, missing":      {args: "-registry missing feed.atom sitemap.xml", code: exitFailed, stderr: "-registry missing: no such file"},
		"-profile of no profile":  {args: "-profile sitemap.xml feed.atom sitemap.xml", code: exitFailed, stderr: "-profile sitemap.xml: conformance: profile: not a document"},
		"-report into nowhere":    {args: "-report none/r.html feed.atom sitemap.xml", code: exitFailed, stderr: "-report none/r.html: no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			writeFiles(t, all)
			got := check(t, test.stdin, append([]string{"-spec", "eli"}, strings.Fields(test.args)...)...)
			assert.Equal(t, test.code, got.code, got.stdout+got.stderr)
			assert.Contains(t, "\n"+got.stdout, test.stdout)
			assert.Contains(t, got.stderr, test.stderr)
		})
	}
	t.Run("what was not given is not checked", func(t *testing.T) {
		writeFiles(t, all)
		for file, ids := range map[string][]string{"sitemap.xml": {"P4-001", "P4-050", "P4-069"}, "feed.atom": {"P4-001", "P4-010", "P4-030"}, "act.html": {"P4-001", "P4-010", "P4-020", "P4-029", "P4-050", "P4-080"}} {
			got := check(t, "", "-spec=eli", "-json", file)
			for _, id := range ids {
				assert.Regexp(t, `"id":"`+id+`"[^}]*"status":"not checked"`, got.stdout, file)
			}
		}
		got := check(t, "", "-spec=eli", "-json", "act.html")
		for _, id := range []string{"P4-041", "P4-042", "P4-043", "P4-046"} {
			assert.Regexp(t, `"id":"`+id+`"[^}]*"status":"pass"`, got.stdout)
		}
	})
	t.Run("what to do has counts and examples", func(t *testing.T) {
		writeFiles(t, all)
		check(t, "", "-spec=eli", "-report=r.html", "bad.xml", "feed.atom")
		report, err := os.ReadFile("r.html")
		require.NoError(t, err)
		_, todo, _ := strings.Cut(string(report), `aria-label="What to do"`)
		todo, _, _ = strings.Cut(todo, "</section>")
		assert.Regexp(t, `href="#P4-031"[^\n]*\n<br><span class="soft">1 error; <bdi>bad.xml</bdi>, line \d+: <bdi>[^<]+</bdi> <bdi class="value">29.12.2025</bdi>`, todo)
		assert.Equal(t, strings.Count(todo, "<li>"), strings.Count(todo, `<br><span class="soft">`), "each line has its count")
	})
	t.Run("a flag without -spec eli", func(t *testing.T) {
		writeFiles(t, all)
		for _, flag := range []string{"-sample=1", "-seed=1", "-interval=1s", "-report=r", "-profile=p", "-registry=r", "-human"} {
			got := check(t, "", flag, "sitemap.xml")
			assert.Equal(t, exitFailed, got.code, flag)
			assert.Contains(t, got.stderr, "needs -spec eli", flag)
		}
	})
}

// actPage is the page of an act with an expression and a format.
const actPage = `<!doctype html><html prefix="eli: http://data.europa.eu/eli/ontology#"><body about="https://law.example/eli/act/1" typeof="eli:LegalResource"><h1 property="eli:title">On cats</h1>
<div rel="eli:is_realized_by"><div about="https://law.example/eli/act/1/en" typeof="eli:LegalExpression">
<a rel="eli:language" href="http://publications.europa.eu/resource/authority/language/ENG"></a><div rel="eli:is_embodied_by"><div about="https://law.example/eli/act/1/en/pdf" typeof="eli:Format">
<a rel="eli:media_type" href="https://www.iana.org/assignments/media-types/application/pdf"></a></div></div></div></div></body></html>`

// TestCheckOnePage: a page that is named by its URL is requested as HTML, with its full
// text.
func TestCheckOnePage(t *testing.T) {
	w := newWeb(t)
	page := strings.ReplaceAll(actPage, "https://law.example", w.URL)
	w.set("/eli/act/1", func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		fmt.Fprint(rw, page)
	})
	got := check(t, "", "-spec=eli", "-interval=0", w.URL+"/eli/act/1")
	assert.Equal(t, exitLeft, got.code, "the full text is missing")
	assert.Contains(t, got.stdout, "P4-081: fail")
	w.set("/eli/act/1/en/pdf", text("%PDF-1.4 on cats"))
	got = check(t, "", "-spec=eli", "-interval=0", w.URL+"/eli/act/1")
	assert.Equal(t, exitDone, got.code, got.stdout)
	assert.Contains(t, got.stdout, w.URL+"/eli/act/1: page, entries 0, errors 0, warnings 0\n")
	got = check(t, "", "-spec=eli", "-interval=0", w.URL+"/eli/act/2")
	assert.Equal(t, exitFailed, got.code)
}
