package histories

import (
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
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

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

	works    map[string]work // those that are deleted, too
	log      []work
	requests int
}

type work struct {
	name, text string // no text: deleted
	time       time.Time
	created    bool
}

// change creates, changes or deletes a work.
func (r *repository) change(name, text string) {
	was := r.works[name]
	w := work{name, text, time.Now().UTC(), was.text == ""}
	if r.perWork {
		w.time = w.time.Truncate(time.Second)
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
	if r.stored && w.text != "" {
		bytes := zipped(w.text)
		md += fmt.Sprintf(` hash="sha-256:%x" length="%d"`, sha256.Sum256([]byte(bytes)), len(bytes))
	}
	return fmt.Sprintf("<url><loc>%s%s</loc><lastmod>%s</lastmod><rs:md %s/></url>\n", base, w.name, at, md)
}

// document returns what is at a path now.
func (r *repository) document(path string) (text string, ok bool) {
	list := func(md string, entries ...string) (string, bool) {
		return `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:rs="http://www.openarchives.org/rs/terms/">` +
			`<rs:ln rel="up" href="` + base + `capabilities"/><rs:md ` + md + "/>\n" + strings.Join(entries, "") + "</urlset>", true
	}
	capability := func(name string) string {
		return fmt.Sprintf("<url><loc>%s%s</loc><rs:md capability=%q/></url>\n", base, name, name)
	}
	var entries []string
	switch path {
	case "capabilities":
		entries = append(entries, capability("resourcelist"), capability("changelist"))
		if r.stored {
			entries = append(entries, capability("iiif-collection"), capability("oai-pmh"))
		}
		return list(`capability="capabilitylist"`, entries...)
	case "resourcelist":
		for _, name := range slices.Sorted(maps.Keys(r.works)) {
			if w := r.works[name]; w.text != "" {
				entries = append(entries, r.entry(&w, ""))
			}
		}
		return list(fmt.Sprintf(`capability="resourcelist" at=%q`, time.Now().UTC().Format(time.RFC3339)), entries...)
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
		return list(`capability="changelist" from="1999-12-31T00:00:00Z"`, entries...)
	}
	w := r.works[path]
	return w.text, w.text != ""
}

// RoundTrip implements http.RoundTripper.
func (r *repository) RoundTrip(req *http.Request) (*http.Response, error) {
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
	for name, r := range map[string]repository{
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
				store, changes := harvest.NewCatalog(memstore.New()), 0
				for step := range steps {
					for range random.IntN(4) {
						text := fmt.Sprintf("%d in step %d", random.IntN(1000), step)
						if random.IntN(4) == 0 {
							text = ""
						}
						name := fmt.Sprint("work-", random.IntN(size+10))
						if random.IntN(4) == 0 {
							name = r.log[len(r.log)-1].name // perhaps in the same second
						}
						if text != "" || r.works[name].text != "" {
							r.change(name, text)
							changes++
						}
						time.Sleep([]time.Duration{0, 100 * time.Millisecond, 2 * time.Second, time.Hour}[random.IntN(4)])
					}
					client := fetch.New(nil)
					client.Transport, client.IgnoreRobots, client.Rate = &r, true, 50
					var said strings.Builder
					h := &harvest.Harvester{Catalog: store, Fetcher: client, Sample: -1, MaxDelete: -1,
						Hooks: testkit.OnFinding(func(f websync.Finding) { fmt.Fprintln(&said, f) })}
					report, err := h.Run(t.Context(), &resourcesync.Source{URL: base + "capabilities"})
					require.NoError(t, err)
					require.True(t, report.InStep(), "step %d: %s%v %v", step, &said, report.Problems, report.Failures)
					require.Equal(t, r.truth(), testkit.Live(t, store), "step %d", step)
				}
				require.LessOrEqual(t, r.requests, size+4*steps+3*changes, "requests of %d runs after %d changes", steps, changes)
			})
		})
	}
}
