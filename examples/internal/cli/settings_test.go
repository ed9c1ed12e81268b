package cli_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"github.com/websync-go/websync/internal/testing/racing"
	"hash"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atompmh"
	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/resourcesync"
	"github.com/websync-go/websync/rinfo"
	"github.com/websync-go/websync/sitemap"
	"github.com/websync-go/websync/sitemap/google"
)

const pinned = "https://site.example/x/"

// A history commits changes of three sources to a Store. Own has acts with alternates and
// images. Feed was harvested: with several bodies, links to other resources, and URLs
// that resources exchange. The bytes of most of urn:b are not kept.
type history struct {
	*testkit.Store
	texts map[string]bool // that are in the Store
}

// body returns the item with a kept body at a link.
func (h *history) body(item websync.Item, text string, link websync.Link, texts *[]string) websync.Item {
	if !h.texts[text] {
		h.texts[text] = true
		*texts = append(*texts, text)
	}
	link.Length = int64(len(text))
	item.Bodies = append(item.Bodies, websync.Body{Name: item.Resource.BodyName(&link), Link: link, Key: websync.SHA256([]byte(text))})
	return item
}

func (h *history) round(n int) {
	h.Clock = h.Clock.Add(7 * time.Hour)
	for _, source := range []string{"own", "https://a.example/feed", "urn:b"} {
		var texts []string
		var items []websync.Item
		for k := range 20 {
			i := (n*20*(1+k%3) + k) % 500
			item := h.item(source, i, n, &texts)
			if (n+k)%11 == 10 {
				item = websync.Item{Kind: websync.Deleted, Resource: websync.Resource{ID: item.Resource.ID}}
			}
			items = append(items, item)
		}
		h.Fill(source, texts, items...)
	}
}

func (h *history) item(source string, i, n int, texts *[]string) websync.Item {
	modified := websync.NewDatetime(h.Clock.Add(-time.Duration(i) * time.Minute))
	text := fmt.Sprintf("<p>%s %d %d</p>%s", source, i, n, strings.Repeat("–", i%50))
	switch source {
	case "own":
		id := fmt.Sprintf("%seli/act/%d", pinned, i)
		r := websync.Resource{ID: id, Title: fmt.Sprintf("Act <%d> & more", i), Summary: "Of " + text, Modified: modified,
			Content: websync.Link{Href: id, Type: "text/html"}}
		if i%4 == 0 {
			r.Modified = websync.Datetime{}
		}
		for lang, target := range map[string]int{"en": i, "fr": i ^ 1} {
			x, err := sitemap.Alternate{Lang: lang, Href: fmt.Sprintf("%seli/act/%d", pinned, target)}.Element()
			must(err)
			if lang == "en" {
				r.Elements = append([]websync.Element{x}, r.Elements...)
			} else {
				r.Elements = append(r.Elements, x)
			}
		}
		if i%5 == 0 {
			x, err := google.Image{Loc: id + "/image.png"}.Element()
			must(err)
			r.Elements = append(r.Elements, x)
		}
		r.Elements = append(r.Elements, websync.Element{Space: "urn:x", Local: "mark", XML: `<mark xmlns="urn:x"/>`},
			websync.Element{Space: sitemap.Namespace, Local: "changefreq", XML: `<changefreq xmlns="` + sitemap.Namespace + `">daily</changefreq>`})
		r.Links = []websync.Link{{Rel: "canonical", Href: id}, {Rel: "next", Href: fmt.Sprintf("%seli/act/%d", pinned, i+1)}}
		return h.body(websync.Item{Resource: r}, text, r.Content, texts)
	case "urn:b":
		r := websync.Resource{ID: fmt.Sprintf("urn:b:%d", i), Modified: modified, Content: websync.Link{Href: fmt.Sprintf("https://b.example/%d", (i+n)%500)}}
		switch {
		case i%50 == 49:
			r.ID = fmt.Sprintf("%seli/act/%d", pinned, i) // that of an own act
		case i%50 == 48:
			r.ID = fmt.Sprintf("not absolute %d", i)
		case i%10 == 0:
			return h.body(websync.Item{Resource: r}, text, r.Content, texts)
		}
		return websync.Item{Resource: r}
	}
	r := websync.Resource{ID: fmt.Sprintf("https://a.example/é/%d?x=%d&y", i, i%7), Title: "T", Published: modified, Modified: modified, Lang: "sv",
		Content: websync.Link{Href: fmt.Sprintf("https://a.example/%d.html", i), Type: "text/html", Digests: websync.Digests{websync.SHA256([]byte(text))}}}
	pdf := websync.Link{Rel: "alternate", Href: fmt.Sprintf("https://a.example/%d.pdf", i), Type: "application/pdf", Title: "PDF"}
	r.Links = []websync.Link{pdf, {Rel: "related", Href: fmt.Sprintf("https://a.example/é/%d?x=%d&y", i+1, (i+1)%7)}, {Rel: "duplicate", Href: "https://c.example/"}}
	if i%3 == 0 {
		r.Links = append(r.Links, websync.Link{Rel: "via", Href: "https://first.example/"})
		r.Origin = &websync.Origin{ID: "urn:feed", Title: "Feed", Self: "https://first.example/feed"}
	}
	item := websync.Item{Resource: r}
	if i%6 != 5 {
		item = h.body(item, text, r.Content, texts)
	}
	if i%2 == 0 {
		item = h.body(item, "%PDF "+text, pdf, texts)
	}
	return item
}

// pinnedPublishers returns Publishers with each setting, by name.
func pinnedPublishers(t *testing.T, place func() websync.Place) (names []string, all map[string]websync.Publisher) {
	author := websync.Person{Name: "A", Email: "a@site.example"}
	hubs := []string{"https://hub.example/1", "https://hub.example/2"}
	all = map[string]websync.Publisher{}
	add := func(name string, p websync.Publisher) {
		names = append(names, name)
		all[name] = p
	}
	of := func(sources ...string) websync.Place {
		p := place()
		p.Sources = sources
		return p
	}
	add("sitemap", &sitemap.Publisher{Place: place()})
	add("sitemap path", &sitemap.Publisher{Place: place(), Path: "a/all.xml", NoRobots: true})
	add("sitemap parts", &sitemap.Publisher{Place: place(), PartSize: 100})
	add("sitemap gzip", &sitemap.Publisher{Place: place(), PartSize: 300, Gzip: true})
	add("sitemap sources", &sitemap.Publisher{Place: of("own", "urn:b"), PartSize: 100})
	add("sitemap extensions", &sitemap.Publisher{Place: place(), PartSize: 400, Extensions: google.Extensions()})
	add("sitemap profile", &sitemap.Publisher{Place: place(), PartSize: 400, Profile: "p 1",
		Head: func(h *sitemap.Head) {
			h.Attrs = append(h.Attrs, websync.Attr{Space: "urn:x", Local: "a", Value: "b"})
			h.Namespaces = map[string]string{"x": "urn:x"}
		},
		Item: func(item *websync.Item, e *sitemap.Entry) error {
			if item.Seq%7 == 0 {
				return fmt.Errorf("entry %d", item.Seq)
			}
			e.Priority = 0.3
			return nil
		}})

	add("sitemap prepare", &sitemap.Publisher{Place: place(), PartSize: 400, Profile: "p 2",
		Prepare: func(_ context.Context, _ uint64, items []*websync.Item) error {
			for i := range items {
				items[i].Resource.Elements = nil
			}
			return nil
		}})

	add("atom", &atom.Publisher{Place: place(), Author: author})
	add("atom named", &atom.Publisher{Place: place(), Author: author, Path: "a/f.atom", ID: "urn:f", Title: "F", Hubs: hubs})
	add("atom sources", &atom.Publisher{Place: of("urn:b", "own"), Author: author, ArchiveSize: 200})
	add("atom size", &atom.Publisher{Place: place(), Author: author, ArchiveSize: 100, LegacyMD5: true})
	add("atom period", &atom.Publisher{Place: place(), Author: author, ArchivePeriod: 24 * time.Hour, ArchiveSize: 150})
	add("atom bytes", &atom.Publisher{Place: place(), Author: author, ArchiveBytes: 4 << 10})
	add("atom inline", &atom.Publisher{Place: place(), Author: author, InlineBytes: 1000})
	add("atom latest", &atom.Publisher{Place: place(), Author: author, ArchiveSize: 300, LatestOnly: true})
	add("atom history", &atom.Publisher{Place: place(), Author: author, ArchiveSize: 100, History: 72 * time.Hour})
	add("atom complete", &atom.Publisher{Place: place(), Author: author, Complete: true})
	add("atom complete limit", &atom.Publisher{Place: place(), Author: author, Complete: true, MaxEntries: 100})
	add("atom profile", &atom.Publisher{Place: place(), Author: author, ArchiveSize: 400, Profile: &atom.Profile{Name: "p 1",
		Feed: func(f *atom.Feed) { f.Subtitle = atom.Text{Type: atom.PlainText, Value: "S"} },
		Item: func(_ *atom.Publisher, item *websync.Item, as *atom.Item) error {
			if item.Seq%7 == 0 {
				return fmt.Errorf("entry %d", item.Seq)
			}
			if as.Entry != nil {
				as.Entry.Rights = atom.Text{Type: atom.PlainText, Value: "R"}
			}
			return nil
		}}})

	add("rinfo", &atom.Publisher{Profile: rinfo.Profile(), Place: place(), Author: author})
	add("rinfo named", &atom.Publisher{Profile: rinfo.Profile(), Place: of("own"), Author: author, Path: "a/f.atom", ID: "urn:f", Title: "F", Hubs: hubs, LegacyMD5: true})
	add("rinfo size", &atom.Publisher{Profile: rinfo.Profile(), Place: place(), Author: author, ArchiveSize: 700, LatestOnly: true})
	add("rinfo period", &atom.Publisher{Profile: rinfo.Profile(), Place: place(), Author: author, ArchivePeriod: 48 * time.Hour, History: 96 * time.Hour})
	add("rinfo complete", &atom.Publisher{Profile: rinfo.Profile(), Place: place(), Author: author, Complete: true, MaxEntries: -1})
	add("rinfo complete limit", &atom.Publisher{Profile: rinfo.Profile(), Place: place(), Author: author, Complete: true})

	add("atompmh", &atom.Publisher{Profile: atompmh.Profile(), Place: place(), Author: author})
	add("atompmh named", &atom.Publisher{Profile: atompmh.Profile(), Place: of("own"), Author: author, Path: "a/f.atom", ID: "urn:f", Title: "F", Hubs: hubs})
	add("atompmh size", &atom.Publisher{Profile: atompmh.Profile(), Place: place(), Author: author, ArchiveSize: 300, LatestOnly: true})
	add("atompmh period", &atom.Publisher{Profile: atompmh.Profile(), Place: place(), Author: author, ArchivePeriod: 48 * time.Hour, History: 96 * time.Hour})
	add("atompmh complete", &atom.Publisher{Profile: atompmh.Profile(), Place: place(), Author: author, Complete: true, MaxEntries: 5000})
	add("atompmh complete limit", &atom.Publisher{Profile: atompmh.Profile(), Place: place(), Author: author, Complete: true, MaxEntries: 100})

	elsewhere := of("own")
	elsewhere.Own = nil
	add("eli", &eli.Publisher{Place: place(), Author: author})
	add("eli named", &eli.Publisher{Place: place(), Author: author, ID: "urn:f", Title: "F", NoRobots: true})
	add("eli path", &eli.Publisher{Place: place(), Author: author, Path: "law/eli/"})
	add("eli elsewhere", &eli.Publisher{Place: elsewhere, Author: author, PartSize: 100, Gzip: true})
	add("eli pattern", &eli.Publisher{Place: place(), Author: author, Pattern: regexp.MustCompile(`/\d*[05]$`), History: 70 * 24 * time.Hour})

	add("resourcesync", &resourcesync.Publisher{Place: place(), Robots: true})
	add("resourcesync path", &resourcesync.Publisher{Place: of("own", "urn:b"), Path: "a/all.xml", NoDescription: true, ListSize: 700})
	add("resourcesync sizes", &resourcesync.Publisher{Place: place(), PartSize: 100, ListSize: 250, MaxLists: 3, MD5: true})
	add("resourcesync described", &resourcesync.Publisher{Place: place(), PartSize: 400, DescribedBy: pinned + "about", DescribedByHost: pinned + "host",
		Others: []string{pinned + "b/capabilitylist.xml"}, Hubs: hubs})
	add("resourcesync profile", &resourcesync.Publisher{Place: place(), PartSize: 700, ListSize: 1000, Profile: "p 1",
		Item: func(item *websync.Item, e *resourcesync.Entry) error {
			if item.Resource.ID[len(item.Resource.ID)-1] == '3' {
				return fmt.Errorf("entry %d", item.Seq)
			}
			e.Links = append(e.Links, resourcesync.Link{Link: websync.Link{Rel: "describedby", Href: pinned + "d"}})
			return nil
		}})
	add("resourcesync dumps", &resourcesync.Publisher{Place: of("own"), ListSize: 1000,
		Dumps: &resourcesync.Dumps{Dir: t.TempDir(), MaxEntries: 100, MaxPackages: 4}})
	return names, all
}

// texts has the hash of the bytes that a document of a Publisher had with an ETag, or
// with any if it is final: settings that change the bytes change the ETag, or the path.
type texts map[string][32]byte

func (all texts) check(t *testing.T, p websync.Publisher, path string, doc *websync.Document, text [32]byte) {
	key := fmt.Sprintf("%T %s", p, path)
	switch {
	case doc.Final:
	case doc.ETag == "":
		return
	default:
		key += " " + doc.ETag
	}
	if was, ok := all[key]; ok {
		assert.Equal(t, was, text, "%s has other bytes than with other settings", key)
	}
	all[key] = text
}

// published adds all documents of a Publisher, and some of earlier states, to a hash, and
// returns their number and the paths of the present ones.
func published(t *testing.T, p websync.Publisher, sum hash.Hash, earlier []string, all texts) (n int, paths []string) {
	const made = "-00000000-1."
	for path, err := range p.Documents(t.Context()) {
		require.NoError(t, err)
		paths = append(paths, path)
	}
	unknown := []string{"/x/feed-1" + made + "atom", "/x/sitemap" + made + "xml", "/x/resourcelist" + made + "xml", "/x/no"}
	for _, path := range slices.Concat(unknown, earlier[max(0, len(earlier)-15):], paths) {
		doc, err := p.Document(t.Context(), path)
		if err != nil {
			fmt.Fprintln(sum, path, err)
			continue
		}
		n++
		if strings.HasSuffix(path, "dump.xml") {
			doc.ETag = "" // of the name of a file
		}
		fmt.Fprintf(sum, "%s %q %q %q %v %t %v %v\n", path, doc.Type, doc.Encoding, doc.ETag, doc.Modified, doc.Final, doc.Digests, doc.Links)
		var b bytes.Buffer
		if doc.Open != nil {
			r, err := doc.Open(t.Context())
			require.NoError(t, err)
			_, err = b.ReadFrom(r)
			require.NoError(t, err)
			require.NoError(t, r.Close())
		} else if err := doc.Write(t.Context(), &b); err != nil {
			fmt.Fprintln(sum, err)
		}
		text := sha256.Sum256(b.Bytes())
		fmt.Fprintf(sum, "%d %x\n", b.Len(), text)
		all.check(t, p, path, doc, text)
	}
	return n, paths
}

// requireAllFields checks that each field of the Publishers is set in one of them, so
// that a new one gets a case.
func requireAllFields(t *testing.T, publishers map[string]websync.Publisher) {
	set := map[string]bool{}
	for _, p := range publishers {
		v := reflect.ValueOf(p).Elem()
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() {
				name := fmt.Sprintf("%T.%s", p, field.Name)
				set[name] = set[name] || !v.Field(i).IsZero()
			}
		}
	}
	for name, isSet := range set {
		assert.True(t, isSet, "no case sets %s", name)
	}
}

// twins returns Publishers that differ from p in one setting: it has its default, or the
// author another name. What a profile names goes with it.
func twins(p websync.Publisher) (all []websync.Publisher) {
	v := reflect.ValueOf(p).Elem()
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if !field.IsExported() || field.Type.Kind() == reflect.Func || v.Field(i).IsZero() {
			continue
		}
		twin := reflect.New(v.Type()).Elem()
		for j := range v.NumField() {
			if other := v.Type().Field(j); other.IsExported() && (field.Name != "Profile" || other.Type.Kind() != reflect.Func) {
				twin.Field(j).Set(v.Field(j))
			}
		}
		switch value := v.Field(i).Interface().(type) {
		case websync.Place:
			value.Sources = nil
			twin.Field(i).Set(reflect.ValueOf(value))
		case websync.Person:
			value.Name += "2"
			twin.Field(i).Set(reflect.ValueOf(value))
		default:
			twin.Field(i).SetZero()
		}
		all = append(all, twin.Addr().Interface().(websync.Publisher))
	}
	return all
}

// TestPublishedWithSettings: what every Publisher publishes with each of its settings, at
// four states of a Catalog, is what it was: paths, ETags, times, links, bytes, findings.
func TestPublishedWithSettings(t *testing.T) {
	racing.Skip(t)
	h := &history{Store: testkit.NewStore(t), texts: map[string]bool{}}
	earlier := map[string][]string{}
	var current hash.Hash
	reported := 0
	place := func() websync.Place {
		return websync.Place{Catalog: h.Plain(), Base: pinned, Own: []string{"own"}, Report: func(f websync.Finding) {
			reported++
			fmt.Fprintf(current, "%v %s\n", f, f.Value)
		}}
	}
	names, publishers := pinnedPublishers(t, place)
	requireAllFields(t, publishers)
	all := texts{}
	var out strings.Builder
	state := func(label string) {
		for _, name := range names {
			p := publishers[name]
			current = sha256.New()
			reported = 0
			if d, ok := p.(*resourcesync.Publisher); ok && d.Dumps != nil {
				require.NoError(t, d.Pack(t.Context()))
			}
			documents := sha256.New()
			var n int
			n, earlier[name] = published(t, p, documents, earlier[name], all)
			fmt.Fprintf(&out, "%s, %s: %d documents %x, %d findings %x\n", label, name, n, documents.Sum(nil)[:8], reported, current.Sum(nil)[:8])
		}
	}
	state("empty")
	for n := range 30 {
		h.round(n)
		if n == 12 {
			state("13 rounds")
		}
	}
	state("30 rounds")
	h.Clock = h.Clock.Add(time.Hour)
	_, err := h.Compact(t.Context())
	require.NoError(t, err)
	for n := range 3 {
		h.round(30 + n)
	}
	state("compacted")
	testkit.Golden(t, filepath.Join("testdata", "settings"), []byte(out.String()))
	if racing.Few() {
		return
	}
	for _, name := range names {
		for _, p := range twins(publishers[name]) {
			current = sha256.New()
			valid := true
			for _, err := range p.Documents(t.Context()) {
				valid = valid && err == nil
			}
			if valid {
				published(t, p, sha256.New(), nil, all)
			}
		}
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
