package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/xml"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// A demoSite is the demonstration site on loopback: pages and files, a robots.txt, and an
// index of four sitemaps, one of them compressed and one plain text without dates.
// It answers conditional requests.
type demoSite struct {
	url    string
	server *http.Server

	mu     sync.RWMutex
	files  map[string]demoFile // by path
	broken string              // the path that the site answers with an error
}

type demoFile struct {
	mediaType string
	modified  time.Time
	body      []byte
}

// demoSections are the parts of the site, by the first step of their paths.
var demoSections = []struct {
	dir, sitemap string
	n            int
	ending       string
	mediaType    string
}{
	{"pages", "pages.xml", 150, ".html", "text/html; charset=utf-8"},
	{"articles", "articles.xml.gz", 100, "/", "text/html; charset=utf-8"},
	{"data", "data.xml", 50, ".json", "application/json"},
	{"notices", "notices.txt", 12, ".txt", "text/plain; charset=utf-8"},
}

// newDemoSite starts a site on a free port.
func newDemoSite() (*demoSite, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &demoSite{url: "http://" + l.Addr().String(), files: map[string]demoFile{}}
	lastYear := time.Now().UTC().Truncate(time.Second).AddDate(-1, 0, 0)
	for _, sec := range demoSections {
		for i := range sec.n {
			path := fmt.Sprintf("/%s/%03d%s", sec.dir, i+1, sec.ending)
			s.put(path, sec.mediaType, "first", lastYear.Add(time.Duration(i)*time.Hour))
		}
	}
	s.server = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	go s.server.Serve(l)
	return s, nil
}

func (s *demoSite) close() { s.server.Close() }

func (s *demoSite) size() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.files)
}

// put writes a file. Its content depends only on its path and edition.
func (s *demoSite) put(path, mediaType, edition string, modified time.Time) {
	var b bytes.Buffer
	seed := sha256.Sum256([]byte(path + edition))
	random := rand.New(rand.NewChaCha8(seed))
	title := fmt.Sprintf("%s, %s edition", path, edition)
	switch {
	case strings.HasPrefix(mediaType, "text/html"):
		fmt.Fprintf(&b, "<!DOCTYPE html>\n<title>%s</title>\n<h1>%s</h1>\n<p>", title, title)
	case mediaType == "application/json":
		fmt.Fprintf(&b, "{\"title\": %q, \"text\": \"", title)
	default:
		fmt.Fprintf(&b, "%s\n\n", title)
	}
	words := []string{"harvest", "sitemap", "archive", "change", "record", "feed", "resource", "digest"}
	for range 50 + random.IntN(400) {
		b.WriteString(words[random.IntN(len(words))] + " ")
	}
	if mediaType == "application/json" {
		b.WriteString("\"}")
	}
	b.WriteByte('\n')
	s.files[path] = demoFile{mediaType, modified, b.Bytes()}
}

// An demoAct is one step of the demonstration: a change of the site before a run.
type demoAct struct {
	title  string
	change func()
}

func (s *demoSite) acts() []demoAct {
	const mended = "/pages/011.html"
	return []demoAct{
		{"The first run: everything is new.", func() {}},
		{"The same again: nothing has changed at the site.", func() {}},
		{"The site changes: 10 are edited, 5 are new, 6 are gone. One of the edited ones can't be read just now.", func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			now := time.Now().UTC().Truncate(time.Second)
			for i := range 8 {
				s.put(fmt.Sprintf("/pages/%03d.html", 10+i), demoSections[0].mediaType, "second", now)
			}
			for i := range 2 {
				s.put(fmt.Sprintf("/notices/%03d.txt", 3+i), demoSections[3].mediaType, "second", now)
			}
			for i := range 5 {
				s.put(fmt.Sprintf("/articles/%03d/", demoSections[1].n+1+i), demoSections[1].mediaType, "first", now)
			}
			for i := range 6 {
				delete(s.files, fmt.Sprintf("/data/%03d.json", 20+i))
			}
			s.broken = mended
		}},
		{"The page can be read again.", func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.broken = ""
		}},
	}
}

// ServeHTTP serves the files, and the documents that list them.
func (s *demoSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	f, ok := s.files[r.URL.Path]
	switch {
	case r.URL.Path == s.broken:
		http.Error(w, "out of order", http.StatusInternalServerError)
		return
	case !ok:
		f, ok = s.document(r.URL.Path)
	}
	if !ok {
		http.NotFound(w, r)
		return
	}
	sum := sha256.Sum256(f.body)
	w.Header().Set("ETag", fmt.Sprintf("%q", fmt.Sprintf("%x", sum[:8])))
	w.Header().Set("Content-Type", f.mediaType)
	http.ServeContent(w, r, "", f.modified, bytes.NewReader(f.body))
}

// document returns robots.txt, the index, or one of its sitemaps.
func (s *demoSite) document(path string) (demoFile, bool) {
	switch path {
	case "/robots.txt":
		rules := fmt.Appendf(nil, "User-agent: *\nDisallow: /private/\nSitemap: %s/sitemap.xml\n", s.url)
		return demoFile{mediaType: "text/plain", body: rules}, true
	case "/sitemap.xml":
		return demoFile{mediaType: "application/xml", body: s.index()}, true
	}
	for _, sec := range demoSections {
		if path == "/sitemaps/"+sec.sitemap {
			return s.sitemap(sec.dir, sec.sitemap), true
		}
	}
	return demoFile{}, false
}

func (s *demoSite) index() []byte {
	var b bytes.Buffer
	b.WriteString(xml.Header + `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + "\n")
	for _, sec := range demoSections {
		fmt.Fprintf(&b, "<sitemap><loc>%s/sitemaps/%s</loc></sitemap>\n", s.url, sec.sitemap)
	}
	b.WriteString("</sitemapindex>\n")
	return b.Bytes()
}

func (s *demoSite) sitemap(dir, name string) demoFile {
	elsewhere := func(path string) bool { return !strings.HasPrefix(path, "/"+dir+"/") }
	paths := slices.DeleteFunc(slices.Sorted(maps.Keys(s.files)), elsewhere)
	var b bytes.Buffer
	if strings.HasSuffix(name, ".txt") {
		for _, path := range paths {
			fmt.Fprintf(&b, "%s%s\n", s.url, path)
		}
		return demoFile{mediaType: "text/plain; charset=utf-8", body: b.Bytes()}
	}
	b.WriteString(xml.Header + `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + "\n")
	for _, path := range paths {
		modified := s.files[path].modified.Format(time.RFC3339)
		fmt.Fprintf(&b, "<url><loc>%s%s</loc><lastmod>%s</lastmod></url>\n", s.url, path, modified)
	}
	b.WriteString("</urlset>\n")
	if strings.HasSuffix(name, ".gz") {
		return demoFile{mediaType: "application/gzip", body: compressed(b.Bytes())}
	}
	return demoFile{mediaType: "application/xml", body: b.Bytes()}
}

func compressed(data []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(data)
	z.Close()
	return b.Bytes()
}
