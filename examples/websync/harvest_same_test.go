package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/examples/internal/cli"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/dirsource"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/publish"
)

// A publishedDir is a directory of acts, and a site that publishes it by a protocol.
type publishedDir struct {
	t        *testing.T
	protocol string
	dir      string
	h        *harvest.Harvester
	from     harvest.Source
	name     string      // on the command line
	missing  string      // likewise, of what is not there
	changed  []string    // arguments of a run that finds all changes
	fail     atomic.Bool // a body is not available
}

func publishDir(t *testing.T, protocol string) *publishedDir {
	p := &publishedDir{t: t, protocol: protocol, dir: t.TempDir(), h: &harvest.Harvester{Catalog: harvest.NewCatalog(memstore.New())}}
	if protocol == "dir" {
		p.name, p.missing, p.changed = p.dir, filepath.Join(p.dir, "missing"), []string{p.dir}
		return p
	}
	var handler *publish.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.fail.Load() && r.URL.Path == "/eli/act/5" {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	base := server.URL + "/"
	p.from = &dirsource.Source{Dir: p.dir, Base: base, MD5: protocol == "rinfo"}
	own := []string{p.from.Key()}
	site := &publish.Site{Catalog: p.h.Catalog, Base: base, Own: own, Sources: own, Report: func(f websync.Finding) { t.Error(f) }}
	list := &cli.Publication{Protocol: protocol}
	handler = site.Handler(list.Publisher(base))
	t.Cleanup(func() { handler.Close() })
	empty := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(empty.Close)
	p.name, p.missing, p.changed = list.Entry(), empty.URL+"/list", []string{list.Entry()}
	if protocol == "eli" {
		p.changed = append(p.changed, "-full") // deletions are found when the sitemap is read, once in 30 days
	}
	return p
}

// write writes an act, as of a day long ago.
func (p *publishedDir) write(n, day int) {
	name := filepath.Join(p.dir, "eli/act", fmt.Sprint(n))
	require.NoError(p.t, os.MkdirAll(filepath.Dir(name), 0o755))
	require.NoError(p.t, os.WriteFile(name, fmt.Appendf(nil, `<!DOCTYPE html><html prefix="eli: http://data.europa.eu/eli/ontology#">
<body about="" typeof="eli:LegalResource"><h1 property="eli:title">Act %d</h1>as of day %d</body></html>`, n, day), 0o644))
	require.NoError(p.t, os.Chtimes(name, time.Time{}, time.Date(2026, 1, day, 12, 0, 0, 0, time.UTC)))
}

func (p *publishedDir) remove(n int) {
	require.NoError(p.t, os.Remove(filepath.Join(p.dir, "eli/act", fmt.Sprint(n))))
}

func (p *publishedDir) publish() {
	if p.from != nil {
		report, err := p.h.Run(context.Background(), p.from)
		require.NoError(p.t, err)
		require.True(p.t, report.InStep())
	}
}

// liveLine is the live line. Its first numbers are done and total, if that is known.
var liveLine = regexp.MustCompile(`^(?:(\d+) of (\d+) \(\d+%\)|\d+ done, \d+ listed), [\d.e+]+/s(, [\dhms.]+ left)?(, \d+ to get)?(, waiting for \S+( [\dhms.]+)?)*$`)

// checkLive checks the live lines of a run that came to its end: all was done. If there
// was something to do, its total was known.
func checkLive(t *testing.T, stderr string, something bool) {
	var last []string
	for _, drawn := range regexp.MustCompile(`\r\x1b\[K([^\r\n]+)(\n?)`).FindAllStringSubmatch(stderr, -1) {
		if drawn[2] != "" {
			continue // a message, which took the place of the live line
		}
		last = liveLine.FindStringSubmatch(drawn[1])
		require.NotNil(t, last, "%q", drawn[1])
	}
	require.NotNil(t, last, "no live line: %q", stderr)
	assert.Equal(t, last[2], last[1], "%q", last[0])
	assert.False(t, something && last[1] == "", "%q", last[0])
}

// form returns a report without numbers, times and names. Findings are left out: not
// every publisher breaks the same rules. So are the numbers that are zero for some, and
// what follows "In step": files that have just been written are looked at twice, and
// pages are not.
func form(report string) string {
	for _, r := range [][2]string{
		{`(?m)^  (findings|unchanged|touched|history|requests|fetched|listed .* in full).*\n`, ""}, {`(?m)^(  took  ) .*`, "$1 TIME"},
		{`(?m)^(  failure  ) .*(; attempt)`, "$1 WHAT$2"}, {`(?m)^(  In step): .*`, "$1"}, {`\d+ (entry|entries)`, "ENTRIES"}, {`\d+`, "N"},
	} {
		report = regexp.MustCompile(r[0]).ReplaceAllString(report, r[1])
	}
	return report
}

// names returns the names and types of a JSON value and of what it holds, but for the
// latest time that was stated: a run in which nothing is listed has none.
func names(name string, value any) string {
	switch v := value.(type) {
	case map[string]any:
		if name == "requests" || name == "rules" {
			return "numbers"
		}
		var members []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if name == "latest" {
				continue
			}
			members = append(members, name+" "+names(name, v[name]))
		}
		return "{" + strings.Join(members, ", ") + "}"
	case []any:
		var elements []string
		for _, e := range v {
			elements = append(elements, names(name, e))
		}
		slices.Sort(elements)
		return "[" + strings.Join(slices.Compact(elements), ", ") + "]"
	}
	return fmt.Sprintf("%T", value)
}

// outcomes are numbers of a report.
type outcomes struct{ created, updated, deleted, failed int }

// A look is what the program shows of a run, in its forms.
type look struct{ report, object string }

// looks runs the program twice, each time with a store of its own: as a user sees it, and
// with -json. It checks the outcomes and that the page has the verdict.
func looks(t *testing.T, p *publishedDir, stores [2]string, code int, want outcomes, args ...string) look {
	var texts [2]string
	page := filepath.Join(t.TempDir(), "report.html")
	for i, form := range []string{"-report=" + page, "-json"} {
		var stdout, stderr bytes.Buffer
		c := &harvestCommand{Console: cli.NewConsole("harvest", &stdout, &stderr), attempts: -1, live: true}
		got := c.run(t.Context(), append(args, "-protocol="+p.protocol, "-rate=1e6", "-complete", "-sample=-1", stores[i], form))
		require.Equal(t, code, got, "%s\n%s", &stdout, &stderr)
		if code != exitFailed { // otherwise nothing was listed
			checkLive(t, stderr.String(), want != outcomes{})
		}
		texts[i] = stdout.String()
	}
	s := answer{stdout: texts[1]}.parsed(t)
	require.Len(t, s.Reports, 1)
	r := s.Reports[0]
	number := func(name string) int { return int(r[name].(float64)) }
	assert.Equal(t, want, outcomes{number("created"), number("updated"), number("deleted"), number("failed")})

	_, report, ok := strings.Cut("\n"+texts[0], "\n"+r["source"].(string)+"\n")
	require.True(t, ok, texts[0])
	verdict := regexp.MustCompile(`(?m)^  ([A-Z].*)$`).FindStringSubmatch(report)
	require.NotNil(t, verdict, report)
	assert.Contains(t, pageOf(t, page), verdict[1])
	var object any
	require.NoError(t, json.Unmarshal([]byte(texts[1]), &object))
	return look{form(report), names("", object)}
}

// TestSameForAllProtocols: the live line, the report, the object of -json and the page
// have the same form whatever the protocol, and the outcomes are the same.
func TestSameForAllProtocols(t *testing.T) {
	first := map[string]look{}
	for _, protocol := range cli.Harvested {
		if protocol == cli.Auto || protocol == "csv" { // whose acts have no bodies
			continue
		}
		t.Run(protocol, func(t *testing.T) {
			p := publishDir(t, protocol)
			stores := [2]string{storeFlag(t), storeFlag(t)}
			step := func(name string, code int, want outcomes, args ...string) {
				t.Run(name, func(t *testing.T) {
					got := looks(t, p, stores, code, want, args...)
					if _, known := first[name]; !known {
						first[name] = got
					}
					assert.Equal(t, first[name], got)
				})
			}
			for n := range 6 {
				p.write(n, 1+n)
			}
			p.publish()
			step("plan", exitDone, outcomes{created: 6}, "-plan", p.name)
			step("all new", exitDone, outcomes{created: 6}, p.name)
			step("nothing new", exitDone, outcomes{}, p.name)
			p.write(1, 11)
			p.write(6, 12)
			p.remove(2)
			p.publish()
			step("changes", exitDone, outcomes{created: 1, updated: 1, deleted: 1}, p.changed...)
			p.write(5, 13)
			p.publish()
			if p.fail.Store(true); protocol != "dir" { // which has no server that could fail
				step("failure", exitLeft, outcomes{failed: 1}, p.name)
			}
			step("nothing there", exitFailed, outcomes{}, p.missing)
		})
	}
}
