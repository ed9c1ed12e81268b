package resourcesync_test

import (
	"crypto/md5"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/bench"
	"github.com/websync-go/websync/resourcesync"
)

const harvestConcurrency = 8

// A benchSite is a set of resources of 2 to 4 KiB on a server that takes its time for
// each answer.
type benchSite struct {
	*httptest.Server
	docs map[string]string
	n    int
}

func benchBody(i int) string {
	return strings.Repeat(fmt.Sprintf("%-63d\n", i), 32+i%32)
}

func newBenchSite(b *testing.B, n int, latency time.Duration) *benchSite {
	s := &benchSite{docs: make(map[string]string), n: n}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(latency)
		text, ok := s.docs[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("ETag", fmt.Sprintf(`"%s-%d"`, r.URL.Path, len(text)))
		io.WriteString(w, text)
	}))
	b.Cleanup(s.Close)
	for i := range n {
		s.docs[fmt.Sprintf("/r/%d", i)] = benchBody(i)
	}
	return s
}

// entries returns what lists state of the resources from first up to end.
func (s *benchSite) entries(first, end int, hash func(string) string, path bool) (all []string) {
	for i := first; i < end; i++ {
		body, at := benchBody(i), ""
		if path {
			at = fmt.Sprintf(`path="/r/%d" `, i)
		}
		all = append(all, fmt.Sprintf(`<url><loc>%s/r/%d</loc><lastmod>2026-01-02T03:04:05Z</lastmod><rs:md %s%s length="%d" type="text/plain"/></url>`,
			s.URL, i, at, hash(body), len(body)))
	}
	return all
}

const benchAt = ` at="2026-01-03T00:00:00Z"`

func (s *benchSite) offer(capability string, entries []string) {
	path := "/" + capability + ".xml"
	s.docs[path] = document("urlset", `capability="`+capability+`"`+benchAt, "capabilitylist.xml", entries...)
	s.docs["/capabilitylist.xml"] = document("urlset", `capability="capabilitylist"`, "description.xml",
		fmt.Sprintf(`<url><loc>%s%s</loc><rs:md capability=%q/></url>`, s.URL, path, capability))
}

func (s *benchSite) offerDump(packages int) {
	var entries []string
	for k := range packages {
		first, end := s.n*k/packages, s.n*(k+1)/packages
		members := []member{{name: "manifest.xml", text: manifest(s.entries(first, end, hashOf, true)...)}}
		for i := first; i < end; i++ {
			members = append(members, member{name: fmt.Sprintf("r/%d", i), text: benchBody(i)})
		}
		path, packed := fmt.Sprintf("/dump-%d.zip", k), zipped(members...)
		s.docs[path] = packed
		entries = append(entries, fmt.Sprintf(`<url><loc>%s%s</loc><rs:md type="application/zip" length="%d"/></url>`, s.URL, path, len(packed)))
	}
	s.offer("resourcedump", entries)
}

func md5HashOf(text string) string { return fmt.Sprintf(`hash="md5:%x"`, md5.Sum([]byte(text))) }

// harvest makes a baseline.
func (s *benchSite) harvest(b *testing.B, bodies harvest.BodyMode) {
	store := harvest.NewCatalog(memstore.New())
	client := fetch.New(store)
	client.Rate, client.PerHost = -1, harvestConcurrency
	defer client.CloseIdleConnections()
	h := &harvest.Harvester{Sample: -1, Catalog: store, Fetcher: client, Bodies: bodies, Concurrency: harvestConcurrency}
	report, err := h.Run(b.Context(), &resourcesync.Source{URL: s.URL + "/capabilitylist.xml"})
	require.NoError(b, err)
	require.True(b, report.InStep())
	require.EqualValues(b, s.n, report.Created)
}

// get gets the Resource List and then the resources, as many at a time as harvest.
func (s *benchSite) get(b *testing.B) {
	loop := bench.NewLoop(harvestConcurrency)
	defer loop.Close()
	require.NoError(b, loop.Get(b.Context(), s.URL+"/resourcelist.xml"))
	require.NoError(b, loop.All(b.Context(), func(yield func(string) bool) {
		for i := range s.n {
			if !yield(fmt.Sprintf("%s/r/%d", s.URL, i)) {
				return
			}
		}
	}))
}

// beside calls peer and own in turn, and reports the median time of peer as a multiple of
// that of own: how fast own is beside peer.
func beside(b *testing.B, unit string, peer, own func()) {
	var times [2][]time.Duration
	for b.Loop() {
		for k, f := range []func(){peer, own} {
			began := time.Now()
			f()
			times[k] = append(times[k], time.Since(began))
		}
	}
	median := func(d []time.Duration) float64 {
		slices.Sort(d)
		return (d[(len(d)-1)/2] + d[len(d)/2]).Seconds() / 2
	}
	b.ReportMetric(median(times[0])/median(times[1]), unit)
}

// BenchmarkBaseline compares the baseline of a Resource List with a plain loop of GETs of
// the list and the resources, as many at a time. of-bare is the share of the throughput
// of that loop. Each iteration does both, one after the other.
func BenchmarkBaseline(b *testing.B) {
	n := 2000
	if testing.Short() {
		n = 200
	}
	for _, latency := range []time.Duration{0, 10 * time.Millisecond} {
		for _, of := range []struct {
			name   string
			hash   func(string) string
			bodies harvest.BodyMode
		}{
			{"sha-256/kept", hashOf, harvest.KeepBodies},
			{"md5/kept", md5HashOf, harvest.KeepBodies},
			{"sha-256/verified", hashOf, harvest.VerifyBodies},
			{"md5/verified", md5HashOf, harvest.VerifyBodies},
		} {
			b.Run(fmt.Sprintf("%s/%s", latency, of.name), func(b *testing.B) {
				s := newBenchSite(b, n, latency)
				s.offer("resourcelist", s.entries(0, n, of.hash, false))
				beside(b, "of-bare", func() { s.get(b) }, func() { s.harvest(b, of.bodies) })
			})
		}
	}
}

// BenchmarkDump compares the baseline of a Resource Dump with that of a Resource List,
// whose resources are fetched one by one, from a server that takes 10 ms for each answer.
func BenchmarkDump(b *testing.B) {
	n := 10_000
	if testing.Short() {
		n = 1000
	}
	const latency = 10 * time.Millisecond
	listed, packed := newBenchSite(b, n, latency), newBenchSite(b, n, latency)
	listed.offer("resourcelist", listed.entries(0, n, hashOf, false))
	packed.offerDump(4)
	beside(b, "times-as-fast", func() { listed.harvest(b, harvest.KeepBodies) }, func() { packed.harvest(b, harvest.KeepBodies) })
}
