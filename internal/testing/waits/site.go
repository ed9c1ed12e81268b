package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/websync-go/websync/internal/testing/bench"
)

// A site serves documents by their paths, with ETag and Last-Modified, and answers "not
// modified".
type site struct {
	*httptest.Server
	documents map[string][]byte
	latency   time.Duration
}

// changed is when everything was last changed.
var changed = time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)

func newSite() *site {
	s := &site{documents: map[string][]byte{}}
	s.Server = httptest.NewServer(s)
	return s
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	time.Sleep(s.latency)
	body, ok := s.documents[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	sum := sha256.Sum256(body)
	w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sum[:8]))
	http.ServeContent(w, r, r.URL.Path, changed, bytes.NewReader(body))
}

// addPages adds n pages of least to most bytes, or the files of a directory, and a
// sitemap of them at /sitemap.xml. It returns their number.
func (s *site) addPages(documents string, n, least, most int) int {
	if documents != "" {
		n = s.addFiles(documents)
	} else {
		r := rand.New(rand.NewPCG(1, uint64(most)))
		text := bench.Atom(1, 4000, bench.Mixed)
		for i := range n {
			from := r.IntN(len(text) - most)
			page := fmt.Appendf(nil, "<!doctype html><title>Page %d</title><p>", i)
			page = append(page, bytes.ToValidUTF8(text[from:from+least+r.IntN(most-least)], nil)...)
			s.documents[fmt.Sprintf("/pages/%d.html", i)] = page
		}
	}
	var list strings.Builder
	list.WriteString(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
	for path := range s.documents {
		fmt.Fprintf(&list, "\n<url><loc>%s%s</loc><lastmod>%s</lastmod></url>", s.URL, path, changed.Format(time.RFC3339))
	}
	list.WriteString("\n</urlset>\n")
	s.documents["/sitemap.xml"] = []byte(list.String())
	return n
}

// addFiles adds the files of a directory.
func (s *site) addFiles(dir string) (n int) {
	check(filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		n++
		body, err := os.ReadFile(path)
		s.documents[fmt.Sprintf("/pages/%d%s", n, filepath.Ext(path))] = body
		return err
	}))
	return n
}

// partEntries is how many entries a part of a large sitemap has.
const partEntries = 50_000

// addParts adds a sitemap of so many compressed parts, with an index at /sitemap.xml.
func (s *site) addParts(parts int) {
	var index strings.Builder
	index.WriteString(`<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
	for i := range parts {
		s.setPart(i, "")
		fmt.Fprintf(&index, "\n<sitemap><loc>%s/part%d.xml.gz</loc></sitemap>", s.URL, i)
	}
	index.WriteString("\n</sitemapindex>\n")
	s.documents["/sitemap.xml"] = []byte(index.String())
}

// setPart adds or replaces one part: its entries, and one of the given name if that is
// not empty.
func (s *site) setPart(i int, more string) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	fmt.Fprint(z, `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
	entry := func(name string, k int) {
		day := changed.AddDate(0, 0, -k%300)
		fmt.Fprintf(z, "\n<url><loc>%s/records/%d/%s</loc><lastmod>%s</lastmod>", s.URL, i, name, day.Format(time.RFC3339))
		fmt.Fprintf(z, "<changefreq>monthly</changefreq><priority>0.%d</priority></url>", 1+k%9)
	}
	for k := range partEntries {
		entry(fmt.Sprintf("%06d-record.html", k), k)
	}
	if more != "" {
		entry(more, 0)
	}
	fmt.Fprint(z, "\n</urlset>\n")
	check(z.Close())
	s.documents[fmt.Sprintf("/part%d.xml.gz", i)] = b.Bytes()
}
