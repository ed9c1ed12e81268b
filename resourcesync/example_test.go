package resourcesync_test

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/resourcesync"
	"github.com/websync-go/websync/sitemap"
)

const example = `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:rs="http://www.openarchives.org/rs/terms/">
  <rs:md capability="changelist" from="2026-01-02T00:00:00Z"/>
  <rs:ln rel="up" href="https://example.com/capabilitylist.xml"/>
  <url>
    <loc>https://example.com/a.pdf</loc>
    <rs:md change="updated" datetime="2026-01-02T09:00:00Z" hash="md5:1584abdf8ebdc9802ac0c6a7402c03b6" length="8876" type="application/pdf"/>
    <rs:ln rel="duplicate" href="https://mirror.example.com/a.pdf" pri="1"/>
  </url>
  <url>
    <loc>https://example.com/b.html</loc>
    <rs:md change="removed" datetime="2026-01-02T10:00:00"/>
  </url>
</urlset>`

// The changes of a Change List.
func Example() {
	// of a file, a response body, compressed or not
	r := resourcesync.NewReader(strings.NewReader(example))
	head, err := r.Head()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(head.Metadata.Capability, "from", head.Metadata.From, "up to", head.Href("up"))
	for e, err := range r.All() {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(e.Metadata.Datetime, e.Metadata.Change, e.Loc, len(e.Links))
	}
	// Output:
	// changelist from 2026-01-02T00:00:00Z up to https://example.com/capabilitylist.xml
	// 2026-01-02T09:00:00Z updated https://example.com/a.pdf 1
	// 2026-01-02T10:00:00Z  https://example.com/b.html 0
}

// What departs from the standard is reported, and its text kept.
func ExampleReader_report() {
	r := resourcesync.NewReader(strings.NewReader(example))
	r.Report = func(f websync.Finding) { fmt.Println(f) }
	for e := range r.All() {
		for _, a := range e.Metadata.Faulty {
			fmt.Println(e.Loc, a.Local, a.Value)
		}
	}
	// Output:
	// 12:5: error: change: not created, updated or deleted: "removed" (resourcesync-change, Z39.99 §7)
	// 12:5: error: datetime: not a W3C datetime: no time zone, read as UTC: "2026-01-02T10:00:00" (resourcesync-time, Z39.99 §7)
	// https://example.com/b.html change removed
	// https://example.com/b.html datetime 2026-01-02T10:00:00
}

func ExampleReader_NextView() {
	r := resourcesync.NewReader(strings.NewReader(example))
	for {
		v, err := r.NextView()
		if err == io.EOF {
			break
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		if len(v.Metadata.Digests) > 0 { // until the next call, v costs no memory
			fmt.Printf("%s %s %x\n", v.Loc, v.Metadata.Digests[0].Algorithm, v.Metadata.Digests[0].Sum)
		}
	}
	// Output:
	// https://example.com/a.pdf md5 1584abdf8ebdc9802ac0c6a7402c03b6
}

func ExampleWriter() {
	at := websync.NewDatetime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	w := resourcesync.NewWriter(os.Stdout)
	err := w.WriteHead(&resourcesync.Head{
		Metadata: resourcesync.Metadata{Capability: resourcesync.ResourceList, At: at},
		Links:    []resourcesync.Link{{Link: websync.Link{Rel: "up", Href: "https://example.com/capabilitylist.xml"}}},
	})
	if err != nil {
		fmt.Println(err)
	}
	err = w.Write(&resourcesync.Entry{
		Entry:    sitemap.Entry{Loc: "https://example.com/a.pdf", LastMod: at},
		Metadata: resourcesync.Metadata{Digests: websync.Digests{websync.SHA256([]byte("a"))}, Length: 1, Type: "application/pdf"},
	})
	if err != nil {
		fmt.Println(err)
	}
	err = w.Write(&resourcesync.Entry{
		Entry:    sitemap.Entry{Loc: "https://example.com/b.html"},
		Metadata: resourcesync.Metadata{Change: resourcesync.Deleted},
	})
	fmt.Println("<!--", err, "-->")
	if err := w.Close(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// <!-- resourcesync: https://example.com/b.html: md: an entry of a Resource List has no change (Z39.99 §7) -->
	// <?xml version="1.0" encoding="UTF-8"?>
	// <urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:rs="http://www.openarchives.org/rs/terms/">
	// <rs:md capability="resourcelist" at="2026-01-02T03:04:05Z"/>
	// <rs:ln rel="up" href="https://example.com/capabilitylist.xml"/>
	// <url><loc>https://example.com/a.pdf</loc><lastmod>2026-01-02T03:04:05Z</lastmod><rs:md hash="sha-256:ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb" length="1" type="application/pdf"/></url>
	// </urlset>
}

func ExampleValidate() {
	sum, err := resourcesync.Validate(strings.NewReader(strings.Replace(example, "from=", "at=", 1)), resourcesync.ValidateOptions{
		Document: "changelist.xml",
		Report:   func(f websync.Finding) { fmt.Println(f) },
	})
	fmt.Println(sum.Name(), sum.Entries, sum.Errors, err)
	// Output:
	// changelist.xml:3:3: error: at is not used for a Change List: "2026-01-02T00:00:00Z" (resourcesync-time-forbidden, Z39.99 appendix A, table 4)
	// changelist.xml:3:3: error: a Change List must have from (resourcesync-time-missing, Z39.99 appendix A, table 4)
	// changelist.xml:12:5: error: change: not created, updated or deleted: "removed" (resourcesync-change, Z39.99 §7)
	// changelist.xml:12:5: error: datetime: not a W3C datetime: no time zone, read as UTC: "2026-01-02T10:00:00" (resourcesync-time, Z39.99 §7)
	// a Change List 2 4 <nil>
}

// A source is checked from its Source Description down.
func ExampleValidateTree() {
	documents := map[string]string{
		"https://example.com/.well-known/resourcesync": `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:rs="http://www.openarchives.org/rs/terms/">
			<rs:md capability="description"/><rs:ln rel="describedby" href="https://example.com/about"/>
			<url><loc>https://example.com/cap.xml</loc><rs:md capability="capabilitylist"/><rs:ln rel="describedby" href="https://example.com/about"/></url>
		</urlset>`,
		"https://example.com/cap.xml": `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:rs="http://www.openarchives.org/rs/terms/">
			<rs:md capability="capabilitylist"/><rs:ln rel="describedby" href="https://example.com/about"/><rs:ln rel="up" href="https://example.com/"/>
			<url><loc>https://example.com/list.xml</loc><rs:md capability="resourcelist"/></url>
		</urlset>`,
	}
	// In a program, open sends a request.
	open := func(url string) (io.ReadCloser, error) {
		if doc, ok := documents[url]; ok {
			return io.NopCloser(strings.NewReader(doc)), nil
		}
		return nil, websync.ErrNotFound
	}
	sum := resourcesync.ValidateTree("https://example.com/.well-known/resourcesync", open, resourcesync.TreeOptions{
		Report: func(f websync.Finding) { fmt.Println(f.Document, f.Message) },
	})
	fmt.Println(sum.Documents, sum.Entries, sum.Errors)
	// Output:
	// https://example.com/cap.xml up should be https://example.com/.well-known/resourcesync
	// https://example.com/list.xml not found
	// 2 2 2
}
