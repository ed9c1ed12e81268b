package endtoend

import (
	"archive/zip"
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/resourcesync"
)

// The moments of a set of resources that ResourceSync describes. All that an edition has
// besides its base happens after baseAt.
const (
	baseAt    = "2026-08-01T00:00:00Z"
	createdAt = "2026-08-20T00:00:00Z"
	closedAt  = "2026-09-05T00:00:00Z" // after resources were changed, before others went
	goneAt    = "2026-09-15T00:00:00Z"
	newAt     = "2026-10-01T00:00:00Z"
)

func openResourceSync(url string) harvest.Source { return &resourcesync.Source{URL: url} }

// A synced builds the documents of ResourceSync for one edition.
type synced struct {
	*site
	edition
	listed   edition // what the baselines list
	at       string  // the moment of the baselines
	offered  []string
	contents bool // a dump links to its manifests
}

// newSynced returns what all shapes have in common. The Change Lists have what has
// happened since baseAt. The baselines list what was there then unless e is relisted.
func newSynced(name string, e edition) *synced {
	s := &synced{site: newSite(name, e, openResourceSync), edition: e, listed: edition{end: e.base, part: e.part}, at: baseAt}
	s.verified, s.site.relisted = true, e.relisted
	if e.relisted {
		s.name += ", relisted"
		s.listed, s.at = e, newAt
	}
	s.add("/capabilitylist.xml", "") // it comes first
	return s
}

func (s *synced) offer(capability, path string) {
	s.offered = append(s.offered, fmt.Sprintf("<url><loc>%s%s</loc><rs:md capability=%q/></url>", origin, path, capability))
}

// done adds the Capability List.
func (s *synced) done() *site {
	s.files[s.lists[0]] = synchronised("urlset", `capability="capabilitylist"`, "/description.xml", s.offered...)
	return s.site
}

func synchronised(root, md, up string, entries ...string) string {
	return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- a document - of ResourceSync -->\n<" + root +
		` xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:rs="http://www.openarchives.org/rs/terms/" xmlns:dct="http://purl.org/dc/terms/">` + "\n" +
		`<rs:ln rel="up" href="` + origin + up + "\"/>\n<rs:md " + md + "/>\n" + strings.Join(entries, "\n") + "\n</" + root + ">\n<!-- the end -->\n"
}

// entry writes a resource of an edition in the forms that documents have.
func entry(e edition, n int, md string) string {
	loc := origin + path(n)
	text := escape(loc)
	if n%3 == 1 {
		text = "<![CDATA[" + loc + "]]>"
	}
	more := ""
	if n%5 == 0 {
		more = fmt.Sprintf("  <!-- number %d, <loc> and all -->\n", n)
	}
	if n%7 == 2 {
		more += fmt.Sprintf("  <dct:title>Number %d</dct:title>\n", n)
	}
	if n%4 == 0 {
		more += fmt.Sprintf("  <rs:ln rel=\"describedby\" href=\"%s/about/%d\"/>\n", origin, n)
	}
	return fmt.Sprintf("<url>\n  <loc>%s</loc>\n  <lastmod>%s</lastmod>\n%s  <rs:md %s/>\n</url>", text, e.day(n), more, md)
}

// described writes what md says of the bytes of a resource.
func described(e edition, n int) string {
	body := []byte(e.body(n))
	if n%2 == 0 {
		return fmt.Sprintf(`hash="md5:%x" length="%d" type="text/plain"`, md5.Sum(body), len(body))
	}
	return fmt.Sprintf(`hash="md5:%x sha-256:%x" length="%d"`, md5.Sum(body), sha256.Sum256(body), len(body))
}

func (s *synced) resources(numbers []int) (entries []string) {
	for _, n := range numbers {
		entries = append(entries, entry(s.listed, n, described(s.listed, n)))
	}
	return entries
}

func (s *synced) parts() [][]int {
	return slices.Collect(slices.Chunk(s.listed.numbers(), s.part))
}

func (s *synced) resourceList() {
	s.offer("resourcelist", "/resourcelist.xml")
	s.add("/resourcelist.xml", synchronised("urlset", fmt.Sprintf(`capability="resourcelist" at=%q`, s.at), "/capabilitylist.xml", s.resources(s.listed.numbers())...))
}

func (s *synced) resourceListIndex() {
	md := fmt.Sprintf(`capability="resourcelist" at=%q`, s.at)
	s.offer("resourcelist", "/resourcelist.xml")
	s.add("/resourcelist.xml", "")
	var parts []string
	for k, numbers := range s.parts() {
		path := fmt.Sprintf("/resourcelist/%d.xml", k)
		parts = append(parts, fmt.Sprintf("<sitemap><loc>%s%s</loc><!-- part %d --><rs:md at=%q/></sitemap>", origin, path, k, s.at))
		s.add(path, synchronised("urlset", md, "/capabilitylist.xml", s.resources(numbers)...))
	}
	s.files["/resourcelist.xml"] = synchronised("sitemapindex", md, "/capabilitylist.xml", parts...)
}

func (s *synced) resourceDump() {
	s.offer("resourcedump", "/resourcedump.xml")
	s.add("/resourcedump.xml", "")
	var packages []string
	for k, numbers := range s.parts() {
		var bitstreams []string
		for _, n := range numbers {
			bitstreams = append(bitstreams, entry(s.listed, n, fmt.Sprintf(`path="/doc/%d.txt" `, n)+described(s.listed, n)))
		}
		manifest := synchronised("urlset", fmt.Sprintf(`capability="resourcedump-manifest" at=%q`, s.at), "/capabilitylist.xml", bitstreams...)
		packed := s.pack(manifest, numbers)
		at, link := fmt.Sprintf("/dump/%d", k), ""
		if s.contents {
			link = fmt.Sprintf("<rs:ln rel=\"contents\" href=\"%s%s.xml\" type=\"application/xml\"/>", origin, at)
			s.add(at+".xml", manifest)
		}
		s.add(at+".zip", packed)
		packages = append(packages, fmt.Sprintf("<url><loc>%s%s.zip</loc><rs:md type=\"application/zip\" length=\"%d\"/>%s</url>", origin, at, len(packed), link))
	}
	s.files["/resourcedump.xml"] = synchronised("urlset", fmt.Sprintf(`capability="resourcedump" at=%q`, s.at), "/capabilitylist.xml", packages...)
}

// pack returns a ZIP package.
func (s *synced) pack(manifest string, numbers []int) string {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	write := func(name, text string, method uint16) {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		if err != nil {
			panic(err) // it does not happen in memory
		}
		io.WriteString(w, text)
	}
	write("manifest.xml", manifest, zip.Deflate)
	for _, n := range numbers {
		write(fmt.Sprintf("doc/%d.txt", n), s.listed.body(n), uint16(n%2)*zip.Deflate)
	}
	z.Close()
	return b.String()
}

// changes writes what has happened since baseAt, in two parts: up to closedAt, and then.
func (s *synced) changes() (earlier, later []string) {
	for n := s.base; n < s.end; n++ {
		earlier = append(earlier, entry(s.edition, n, fmt.Sprintf(`change="created" datetime=%q `, createdAt)+described(s.edition, n)))
	}
	for _, n := range s.changed {
		earlier = append(earlier, entry(s.edition, n, fmt.Sprintf(`change="updated" datetime=%q `, s.day(n))+described(s.edition, n)))
	}
	for _, n := range s.gone {
		later = append(later, fmt.Sprintf("<url><loc>%s</loc><rs:md change=\"deleted\" datetime=%q/></url>", escape(origin+path(n)), goneAt))
	}
	return earlier, later
}

const changesMD = `capability="changelist" from="` + baseAt + `"`

func (s *synced) changeList() {
	earlier, later := s.changes()
	s.offer("changelist", "/changelist.xml")
	s.add("/changelist.xml", synchronised("urlset", changesMD, "/capabilitylist.xml", append(earlier, later...)...))
}

// changeListIndex adds an index of two lists, of which the first is closed. Where nothing
// has happened, the first is the only one, and open.
func (s *synced) changeListIndex() {
	const closed, next = ` from="` + baseAt + `" until="` + closedAt + `"`, ` from="` + closedAt + `"`
	earlier, later := s.changes()
	s.offer("changelist", "/changelist.xml")
	named := func(k int, md string) string {
		return fmt.Sprintf("<sitemap><loc>%s/changelist/%d.xml</loc><rs:md%s/></sitemap>", origin, k, md)
	}
	list := func(k int, md string, entries []string) {
		s.add(fmt.Sprintf("/changelist/%d.xml", k), synchronised("urlset", `capability="changelist"`+md, "/capabilitylist.xml", entries...))
	}
	if len(earlier)+len(later) == 0 {
		open := ` from="` + baseAt + `"`
		s.add("/changelist.xml", synchronised("sitemapindex", changesMD, "/capabilitylist.xml", named(0, open)))
		list(0, open, nil)
		return
	}
	s.add("/changelist.xml", synchronised("sitemapindex", changesMD, "/capabilitylist.xml", named(0, closed), named(1, next)))
	list(0, closed, earlier)
	list(1, next, later)
}

func listAndChanges(e edition) *site {
	s := newSynced("Resource List", e)
	s.resourceList()
	s.changeList()
	return s.done()
}

func indexesOfLists(e edition) *site {
	s := newSynced("Resource List Index", e)
	s.resourceListIndex()
	s.changeListIndex()
	return s.done()
}

func dumpAndChanges(e edition) *site {
	s := newSynced("Resource Dump", e)
	s.resourceDump()
	s.changeList()
	return s.done()
}

func dumpWithManifests(e edition) *site {
	s := newSynced("Resource Dump with manifests", e)
	s.contents = true
	s.resourceDump()
	s.changeListIndex()
	return s.done()
}

func dumpBesideList(e edition) *site {
	s := newSynced("Resource Dump beside a Resource List", e)
	s.contents = true
	s.resourceList()
	s.resourceDump()
	s.changeList()
	return s.done()
}

var syncedShapes = []func(edition) *site{listAndChanges, indexesOfLists, dumpAndChanges, dumpWithManifests, dumpBesideList}
