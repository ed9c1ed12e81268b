package histories

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/ulikunitz/xz"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/resourcesync"
)

// A repository is a deployed system with ResourceSync, and the transport that leads to it.
type repository struct {
	// perWork: the Change List has the last change of each work, the newest first, in
	// whole seconds and without digests, as Hyrax has. Otherwise it is a log.
	perWork bool
	// stored: all answers are gzip, whatever is asked for, and the digests are those of
	// the bytes as they are stored, as object stores have them. There are capabilities
	// of others.
	stored bool

	dump     string          // the package of the Resource Dump, in tar.xz
	manifest string          // of the package
	dumped   time.Time       // the moment of the dump
	works    map[string]work // those that are deleted, too
	log      []work
	mu       sync.Mutex
	requests int
}

type work struct {
	name, text string // no text: deleted
	md         string // what is stated of the bytes
	time       time.Time
	created    bool
}

// change creates, changes or deletes a work.
func (r *repository) change(name, text string) {
	was := r.works[name]
	w := work{name: name, text: text, time: time.Now().UTC(), created: was.text == ""}
	if r.perWork {
		w.time = w.time.Truncate(time.Second)
	}
	if r.stored && text != "" {
		w.md = " " + stored(zipped(text))
	}
	r.works[name] = w
	r.log = append(r.log, w)
}

// truth returns what a Store must have.
func (r *repository) truth() map[string]string {
	live := map[string]string{}
	for name, w := range r.works {
		if w.text != "" {
			live[name] = w.text
		}
	}
	return live
}

// zipped returns text in gzip without compression, which is quick.
func zipped(text string) string {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.NoCompression)
	if err != nil {
		panic(err)
	}
	io.WriteString(z, text)
	z.Close()
	return b.String()
}

func (r *repository) entry(w *work, change string) string {
	at := w.time.Format(time.RFC3339Nano)
	md := ""
	if change != "" {
		md = fmt.Sprintf("change=%q datetime=%q", change, at)
	}
	return fmt.Sprintf("<url><loc>%s%s</loc><lastmod>%s</lastmod><rs:md %s/></url>\n", base, w.name, at, md+w.md)
}

// stored returns what md states of stored bytes.
func stored(bytes string) string {
	return fmt.Sprintf(`hash="sha-256:%x" length="%d"`, sha256.Sum256([]byte(bytes)), len(bytes))
}

// pack makes the Resource Dump.
func (r *repository) pack() {
	r.dumped = time.Now().UTC()
	var b bytes.Buffer
	z, err := xz.NewWriter(&b)
	if err != nil {
		panic(err)
	}
	t := tar.NewWriter(z)
	add := func(name, text string) {
		t.WriteHeader(&tar.Header{Name: name, Size: int64(len(text)), Mode: 0o644})
		io.WriteString(t, text)
	}
	var entries []string
	for _, name := range slices.Sorted(maps.Keys(r.works)) {
		w := r.works[name]
		add("resources/"+name, w.text)
		entries = append(entries, fmt.Sprintf(`<url><loc>%s%s</loc><lastmod>%s</lastmod><rs:md path="/resources/%s" length="%d"/></url>`,
			base, name, w.time.Format(time.RFC3339Nano), name, len(w.text)))
	}
	r.manifest = list(fmt.Sprintf(`capability="resourcedump-manifest" at=%q`, r.dumped.Format(time.RFC3339Nano)), entries...)
	add("manifest.xml", r.manifest)
	t.Close()
	z.Close()
	r.dump = b.String()
}

func list(md string, entries ...string) string {
	return `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:rs="http://www.openarchives.org/rs/terms/">` +
		`<rs:ln rel="up" href="` + base + `capabilities"/><rs:md ` + md + "/>\n" + strings.Join(entries, "") + "</urlset>"
}

// document returns what is at a path now.
func (r *repository) document(path string) (text string, ok bool) {
	capability := func(name string) string {
		return fmt.Sprintf("<url><loc>%s%s</loc><rs:md capability=%q/></url>\n", base, name, name)
	}
	var entries []string
	switch path {
	case "capabilities":
		entries = append(entries, capability("resourcelist"), capability("changelist"))
		if r.stored {
			entries = append(entries, capability("iiif-collection"), capability("resourcedump"), capability("oai-pmh"))
		}
		return list(`capability="capabilitylist"`, entries...), true
	case "resourcedump":
		return list(fmt.Sprintf(`capability="resourcedump" at=%q`, r.dumped.Format(time.RFC3339Nano)),
			fmt.Sprintf(`<url><loc>%sdump.tar.xz</loc><rs:md type="application/x-xz" %s/><rs:ln rel="contents" href="%[1]smanifest" %[3]s/></url>`,
				base, stored(r.dump), stored(zipped(r.manifest)))), true
	case "manifest":
		return r.manifest, true
	case "dump.tar.xz":
		return r.dump, true
	case "resourcelist":
		for _, name := range slices.Sorted(maps.Keys(r.works)) {
			if w := r.works[name]; w.text != "" {
				entries = append(entries, r.entry(&w, ""))
			}
		}
		return list(fmt.Sprintf(`capability="resourcelist" at=%q`, time.Now().UTC().Format(time.RFC3339)), entries...), true
	case "changelist":
		for i := range r.log {
			w := &r.log[len(r.log)-1-i]
			if !r.perWork {
				w = &r.log[i]
			} else if r.works[w.name] != *w {
				continue
			}
			change := "updated"
			if w.created {
				change = "created"
			} else if w.text == "" {
				change = "deleted"
			}
			entries = append(entries, r.entry(w, change))
		}
		return list(`capability="changelist" from="1999-12-31T00:00:00Z"`, entries...), true
	}
	w := r.works[path]
	return w.text, w.text != ""
}

// RoundTrip implements http.RoundTripper.
func (r *repository) RoundTrip(req *http.Request) (*http.Response, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests++
	text, ok := r.document(strings.TrimPrefix(req.URL.Path, "/"))
	resp := &http.Response{Request: req, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, StatusCode: http.StatusOK, Header: http.Header{}}
	resp.Header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	resp.Header.Set("ETag", fmt.Sprintf(`"%x"`, sha256.Sum256([]byte(text))))
	switch {
	case !ok:
		resp.StatusCode, text = http.StatusNotFound, ""
	case req.Header.Get("If-None-Match") == resp.Header.Get("ETag"):
		resp.StatusCode, text = http.StatusNotModified, ""
	case r.stored:
		resp.Header.Set("Content-Encoding", "gzip")
		text = zipped(text)
	}
	resp.ContentLength, resp.Body = int64(len(text)), io.NopCloser(strings.NewReader(text))
	return resp, nil
}

var repositories = flag.Int("repositories", 1, "the seed of TestRepositories")

// TestRepositories lets repositories change at random, harvests them after each step, and
// counts the requests.
func TestRepositories(t *testing.T) {
	const steps, size = 200, 60
	for name, r := range map[string]*repository{
		"Hyrax":        {perWork: true},
		"object store": {stored: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				random := rand.New(rand.NewPCG(uint64(*repositories), 2))
				r.works = map[string]work{}
				for i := range size {
					r.change(fmt.Sprint("work-", i), fmt.Sprint("work ", i))
					time.Sleep(time.Duration(random.IntN(100)) * time.Minute)
				}
				r.pack()
				store, changes := harvest.NewCatalog(memstore.New()), 0
				for step := range steps {
					for range random.IntN(4) {
						name := fmt.Sprint("work-", random.IntN(size+10))
						if random.IntN(4) == 0 {
							name = r.log[len(r.log)-1].name // perhaps in the same second
						}
						text := fmt.Sprintf("%d in step %d", random.IntN(1000), step)
						switch random.IntN(8) {
						case 0, 1:
							text = ""
						case 2:
							text = r.works[name].text // a later time only
						}
						if text != "" || r.works[name].text != "" {
							r.change(name, text)
							changes++
						}
						time.Sleep([]time.Duration{0, 100 * time.Millisecond, 2 * time.Second, time.Hour}[random.IntN(4)])
					}
					client := fetch.New(nil)
					client.Transport, client.IgnoreRobots, client.Rate = r, true, 50
					var said strings.Builder
					h := &harvest.Harvester{Catalog: store, Fetcher: client, Sample: -1, MaxDelete: -1,
						Hooks: testkit.OnFinding(func(f websync.Finding) { fmt.Fprintln(&said, f) })}
					report, err := h.Run(t.Context(), &resourcesync.Source{URL: base + "capabilities"})
					require.NoError(t, err)
					require.True(t, report.InStep(), "step %d: %s%v %v", step, &said, report.Problems, report.Failures)
					require.NotContains(t, said.String(), "package-contents")
					require.Equal(t, r.truth(), testkit.Live(t, store), "step %d", step)
				}
				t.Log(r.requests, changes)
				most := size + 3*steps + 2*changes // some are asked again: they may change within the second
				if r.stored {
					most = steps + changes // the dump has the first works
				}
				require.LessOrEqual(t, r.requests, most, "requests of %d runs after %d changes", steps, changes)
			})
		})
	}
}
