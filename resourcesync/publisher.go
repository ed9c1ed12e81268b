package resourcesync

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/publishing"
	"github.com/websync-go/websync/sitemap"
)

// A Publisher publishes a [websync.Catalog] as a set of resources, with these documents:
//
//	/.well-known/resourcesync              the Source Description
//	Base + "capabilitylist.xml"            the Capability List
//	Base + "resourcelist.xml"              one Resource List, or an index of the parts
//	Base + "resourcelist-1f3a9c02-7.xml"   the parts, from 1, once there is more than one
//	Base + "changelist.xml"                the open Change List
//	Base + "changelist-1-1f3a9c02-7.xml"   the closed Change Lists, from 1, the oldest
//	Base + "changelist-index.xml"          the index of these lists, once one is closed
//	Base + "resourcedump.xml"              the Resource Dump, if there is one
//	Base + "changedump.xml"                the Change Dump, if there is one
//	/robots.txt                            the Sitemap line, if Robots is set
//
// A part lists a fixed range of Born, and a closed Change List a fixed range of the
// numbers of the log: it never changes, and its URL names the generation of the log, the
// settings and the commit at its end. Document returns [websync.ErrGone] for a path that
// names others. The open Change List begins at the same number as the latest closed one,
// which the index does not name yet. So it always lists recent changes, and no number is
// in two of the lists that the index names. It is never an index, because there are
// readers that can't read one. The Capability List names the index, once there is one.
//
// The times at, from, until and datetime are those of commits, which order the log: at is
// that of the last commit before the Resource List was requested, datetime that of the
// change. Lastmod is the time that a resource of an own source states, unless that is
// later than its commit, and otherwise that of its commit. Of a resource that is deleted,
// a Change List has no change before the deletion. The first Change List begins
// after the Baseline of [websync.Head]: what there was before is in the Resource List
// and was no change. Without a Baseline it begins with 1970; so does the Resource List of
// an empty log. A reader of that follows the changes from the first on.
//
// Each resource has an entry. Its loc is the URL that Locator gives to its body named
// "content", if that is kept, or else the URL of its Content, or else its ID; an IRI
// is percent-encoded. Such a URL of a resource that was harvested is neither listed
// nor deleted if it is reserved here: for own resources, bodies of others or the
// documents above. Md has the digests, length, type and encoding of that body. Other
// bodies that are kept are links, by default alternate. The links of a resource keep
// their targets, except that an alternate or describedby, which Destinations fetch, leads
// to the body that is kept of it. A resource that was harvested has no links duplicate,
// memento, timegate, timemap and patch, which lead to other bytes of the original; it has
// one link via, to its id at its first publisher with the type, length, digests and
// time stated there (Z39.99 §14.8). Elements of other namespaces are kept. What no
// valid entry can hold is left out with a finding.
//
// If a resource gets another loc while it is live, because its bytes are no longer
// kept or its Content has another URL, the Change List deletes the loc that it had and
// creates the other one, at the same datetime. A loc that another resource has at that
// time is not deleted: two resources can exchange their URLs, and a URL can stay when
// an id changes. For that the Publisher reads the log from its beginning, for a list
// that deletes a URL of content that is not kept here. Where the Catalog does not know
// the Prior of an entry, as after Compact, the loc of before stays with readers until
// they read the Resource List again, and a deletion names all locs that the resource
// may have had.
//
// An ETag depends on numbers of the log only, so it is known without reading what the
// document lists. For that a Publisher keeps about 56 bytes for each part and 8 for each
// closed Change List.
//
// Set the fields before first use. A Publisher is safe for concurrent use; it must not be
// copied.
type Publisher struct {
	websync.Place

	// Path is that of the Capability List, relative to Base. If empty, it is
	// "capabilitylist.xml". The lists are beside it. With different directories in Path
	// several Publishers can share a Base; all but one of them have NoDescription.
	Path string

	// DescribedBy is the URL of a document that describes the set of resources, which
	// the standard recommends; DescribedByHost that of one that describes the whole
	// Source. If empty, there is no such link.
	DescribedBy, DescribedByHost string

	// NoDescription leaves out the Source Description, for a host on which another
	// Publisher has it. That one names this set in Others.
	NoDescription bool

	// Robots adds /robots.txt with one line that names the Resource List as a sitemap
	// (Z39.99 §6.3.4). Search engines read it, too, and some of them refuse elements that
	// they don't know: for these a sitemap.Publisher beside this one is better.
	Robots bool

	// Others are the URLs of further Capability Lists that the Source Description names.
	Others []string

	// PartSize is how many numbers of Born a part of the Resource List covers. If zero or
	// negative, it is 10,000; above 50,000, the limit of a document, it is 50,000. While
	// a part is longer than 50 MiB, the size is halved.
	PartSize int

	// ListSize is how many numbers of the log a closed Change List covers. If zero or
	// negative, or above 10,000, it is 10,000. What makes the entries of a list longer
	// than 2.5 KiB on average, is left out of them with a finding: links, and elements of
	// other namespaces.
	ListSize int

	// MaxLists limits how many closed Change Lists the index names: the latest. To a
	// reader that comes later the index says, by its from, that older changes are
	// missing, and the reader begins again with the Resource List. If zero or negative,
	// there is no limit.
	MaxLists int

	// MD5 also lists the MD5 digests that are known, for readers that know no other.
	MD5 bool

	// Hubs are the URLs of the WebSub hubs that are notified of changes. They are in the
	// Source Description, the Capability List and the Change List, and in the HTTP
	// headers of these.
	Hubs []string

	// Profile names what Item does, with its version. It is required with Item, whose
	// result must depend only on Profile and on its arguments: another Profile gives the
	// lists other URLs.
	Profile string

	// Item, if set, changes an entry before it is listed. It may add links, for example
	// to mirrors, collections or descriptions (Z39.99 §14). If it removes Loc or returns
	// an error, the entry is not listed; the error is reported.
	//
	// The Publisher also calls Item for the state of a resource before a change, to learn
	// the URL that it had. So what Item does with Loc must depend neither on Links nor on
	// Metadata, and a deletion that it does not refuse has that URL.
	//
	// Item is called for entries of Resource Lists, whose Metadata.Change is empty, and
	// of Change Lists, those of deletions too. A patch belongs to one change, and its
	// reader has the representation before it: add the link only where Change is Updated
	// and the digest of the item's body is that of what the patch makes. Keep a patch,
	// under that digest, before the change is committed, and as long as a Change List has
	// the change.
	Item func(item *websync.Item, e *Entry) error

	// Dumps, if set, makes the Publisher publish the packages that Pack makes. They have
	// the content of resources; other bodies are linked.
	Dumps *Dumps

	once      sync.Once
	site      *publishing.Site // of the Capability List
	resources publishing.PartList
	changes   publishing.Chain
	dumps     []*publishedDump // none without Dumps
	packing   string           // the settings that change what is in packages
}

var _ websync.Publisher = (*Publisher)(nil)

const (
	defaultSize  = 10_000
	documentType = "application/xml"

	// rendering must be raised when the same items are written differently: their
	// documents then need other ETags and URLs.
	rendering = 6
)

// epoch is the time of a log that is empty.
var epoch = websync.NewDatetime(time.Unix(0, 0).UTC())

// open prepares the fields at first use.
func (p *Publisher) open() *publishing.Site {
	p.once.Do(func() {
		at := cmp.Or(strings.TrimPrefix(p.Path, "/"), "capabilitylist.xml")
		p.site = publishing.New(publishing.Settings{
			Package: "resourcesync", Place: p.Place, Path: at, Reserved: p.Reserved,
		})
		p.packing = p.settings(0)
		dir, _ := path.Split(at)
		p.resources = publishing.PartList{
			Site:     p.site.At(dir+"resourcelist.xml", p.Sources...),
			Size:     websync.Seq(limitOf(p.PartSize, defaultSize, sitemap.MaxEntries)),
			Settings: p.settings,
			MaxBytes: sitemap.MaxBytes, Bound: p.bound, Measure: p.measure,
		}
		if p.Item == nil {
			p.resources.Outlined = func(o websync.Outline) (int64, bool) { return o.Bytes, false }
		}
		length := websync.Seq(limitOf(p.ListSize, defaultSize, defaultSize))
		p.changes = publishing.Chain{
			Site: p.site.At(dir+"changelist.xml", p.Sources...), Size: length, Settings: p.settings(length), AfterBaseline: true,
		}
		if p.Dumps != nil {
			if p.Dumps.State == nil {
				p.Dumps.State, _ = p.Catalog.(websync.State)
			}
			p.dumps = []*publishedDump{p.newDump(ResourceDump, dir), p.newDump(ChangeDump, dir)}
		}
		if p.site.Err == nil {
			p.site.Err = p.check()
		}
	})
	return p.site
}

// settings returns a text that identifies everything besides the Catalog and the Locator
// that changes lists with a size.
func (p *Publisher) settings(size websync.Seq) string {
	return publishing.SettingsText(struct {
		Rendering int
		URL       string
		Sources   []string
		Size      websync.Seq
		MD5       bool
		Profile   string
	}{rendering, p.site.URL(), p.site.Sources, size, p.MD5, p.Profile})
}

// limitOf returns a setting, but at most most, or std if the setting is zero or negative.
func limitOf(setting, std, most int) int {
	if setting <= 0 {
		return std
	}
	return min(setting, most)
}

// check returns an error if no valid documents can be made with the settings.
func (p *Publisher) check() error {
	roots := []string{p.resources.Site.Root, p.changes.Site.Root, WellKnown, publishing.RobotsPath}
	for _, d := range p.dumps {
		roots = append(roots, d.list.Root)
	}
	if slices.Contains(roots, p.site.Root) {
		return fmt.Errorf("resourcesync: Publisher.Base and Path make %.200q, the URL of another document", p.site.URL())
	}
	if p.Profile == "" && p.Item != nil {
		return errors.New("resourcesync: Publisher.Profile must name what Publisher.Item makes")
	}
	_, err := p.description()
	if err == nil {
		_, err = p.capabilities(p.changes.IndexPath(), p.dumps)
	}
	if err != nil {
		return fmt.Errorf("resourcesync: the settings of Publisher make no valid document: %w", err)
	}
	return p.Dumps.check()
}

// Check returns what is wrong with the settings. Document and Documents return the same
// error, unless it concerns the Locator.
func (p *Publisher) Check() error { return p.open().Check() }

// URL returns the URL of the Capability List.
func (p *Publisher) URL() string { return p.open().URL() }

// Link returns the link to the Capability List for the HTTP header of the resources, as
// publish.Linked adds it, and for the heads of pages, as publish.HTMLLink writes it
// (Z39.99 §6.3.3).
func (p *Publisher) Link() websync.Link { return websync.Link{Rel: "resourcesync", Href: p.URL()} }

// Reserved reports whether a path, from the root of the host and escaped, can be that of
// one of the documents. It is meant for PathLocator.Reserved. /robots.txt is not
// reserved: it belongs to the host, and package publish adds the line to those of an
// existing file.
func (p *Publisher) Reserved(path string) bool {
	s := p.open()
	switch path {
	case s.Root, p.resources.Site.Root, p.changes.Site.Root, p.changes.IndexPath(), WellKnown:
		return true
	}
	return p.resources.IsPart(path) || p.changes.IsClosed(path) || p.dumpAt(path) != nil
}

// Document implements [websync.Publisher].
func (p *Publisher) Document(ctx context.Context, path string) (*websync.Document, error) {
	s := p.open()
	switch {
	case s.Err != nil:
		return nil, s.Err
	case path == WellKnown && !p.NoDescription:
		return p.fixed(p.description())
	case path == publishing.RobotsPath && p.Robots:
		return p.resources.Site.Robots(ctx)
	case path == s.Root:
		return p.capabilityList(ctx)
	case path == p.resources.Site.Root, p.resources.IsPart(path):
		return p.resourceList(ctx, path)
	case path == p.changes.Site.Root, path == p.changes.IndexPath(), p.changes.IsClosed(path):
		return p.changeList(ctx, path)
	}
	if d := p.dumpAt(path); d != nil {
		return d.document(ctx, path)
	}
	return nil, s.DocumentError(path, websync.ErrNotFound)
}

// Documents implements [websync.Publisher]: it yields the parts of the Resource List,
// the closed Change Lists, the dumps, each after its packages, the root of the Resource
// List, the open Change List, the index of the Change Lists, the Capability List, the
// Source Description and /robots.txt. If the generation of the log changes meanwhile, it
// ends with [websync.ErrConflict].
func (p *Publisher) Documents(ctx context.Context) iter.Seq2[string, error] {
	s := p.open()
	rest := []string{s.Root}
	if !p.NoDescription {
		rest = append(rest, WellKnown)
	}
	if p.Robots {
		rest = append(rest, publishing.RobotsPath)
	}
	if s.Err != nil {
		return s.Documents(nil)
	}
	roots := func(n uint64) (string, bool, error) {
		if n <= 2 {
			return []string{p.resources.Site.Root, p.changes.Site.Root}[n-1], true, nil
		}
		d, err := p.changes.Open(ctx, 0)
		return p.changes.IndexPath(), d.HasPrevious() && n == 3, err
	}
	lists := []publishing.Numbered{p.resources.Numbered(ctx), p.changes.Numbered(ctx)}
	for _, d := range p.dumps {
		lists = append(lists, d.numbered(ctx))
	}
	return s.Documents(append(lists, roots), rest...)
}

// fixed returns a document of the set as a whole.
func (p *Publisher) fixed(text []byte, err error) (*websync.Document, error) {
	if err != nil {
		return nil, err
	}
	doc := publishing.Fixed(documentType, text)
	doc.Links = p.hubLinks(p.site.URL())
	return doc, nil
}

// hubLinks returns the links by which a reader subscribes to changes (WebSub §4).
func (p *Publisher) hubLinks(self string) (links []websync.Link) {
	for _, hub := range p.Hubs {
		links = append(links, websync.Link{Rel: "hub", Href: hub})
	}
	if len(links) > 0 {
		links = append(links, websync.Link{Rel: "self", Href: self})
	}
	return links
}

// linksOf returns the links of a document: up, if it is not empty, and more.
func linksOf(up string, more ...websync.Link) (links []Link) {
	if up != "" {
		links = append(links, linkOf("up", up))
	}
	for _, l := range more {
		links = append(links, Link{Link: l})
	}
	return links
}

func linkOf(rel, href string) Link { return Link{Link: websync.Link{Rel: rel, Href: href}} }

// description returns the Source Description (Z39.99 §8).
func (p *Publisher) description() ([]byte, error) {
	head := Head{Metadata: Metadata{Capability: Description}, Links: linksOf("", p.hubLinks(p.site.URL())...)}
	if p.DescribedByHost != "" {
		head.Links = append(head.Links, linkOf("describedby", p.DescribedByHost))
	}
	own := entryOf(CapabilityList, p.site.URL())
	if p.DescribedBy != "" {
		own.Links = append(own.Links, linkOf("describedby", p.DescribedBy))
	}
	entries := []Entry{own}
	for _, url := range p.Others {
		entries = append(entries, entryOf(CapabilityList, url))
	}
	return small(head, entries...)
}

// capabilityList returns the Capability List with the lists and dumps that there are.
func (p *Publisher) capabilityList(ctx context.Context) (*websync.Document, error) {
	var offered []*publishedDump
	for _, d := range p.dumps {
		state, err := d.load(ctx)
		if err != nil {
			return nil, err
		}
		if len(state.Packages) > 0 {
			offered = append(offered, d)
		}
	}
	changes, err := p.changes.Open(ctx, 0)
	if err != nil {
		return nil, err
	}
	path := p.changes.Site.Root
	if changes.HasPrevious() {
		path = p.changes.IndexPath()
	}
	return p.fixed(p.capabilities(path, offered))
}

// capabilities returns the Capability List (Z39.99 §9) with the path of the changes.
func (p *Publisher) capabilities(changes string, dumps []*publishedDump) ([]byte, error) {
	head := Head{
		Metadata: Metadata{Capability: CapabilityList},
		Links:    linksOf(p.site.Origin+WellKnown, p.hubLinks(p.site.URL())...),
	}
	if p.DescribedBy != "" {
		head.Links = append(head.Links, linkOf("describedby", p.DescribedBy))
	}
	entries := []Entry{entryOf(ResourceList, p.resources.Site.URL()), entryOf(ChangeList, p.site.Origin+changes)}
	for _, d := range dumps {
		entries = append(entries, entryOf(d.kind, d.list.URL()))
	}
	return small(head, entries...)
}

// entryOf returns the entry of a document with a capability.
func entryOf(c Capability, url string) Entry {
	return Entry{Entry: sitemap.Entry{Loc: url}, Metadata: Metadata{Capability: c}}
}

// small returns a document of few entries.
func small(head Head, entries ...Entry) ([]byte, error) {
	var b bytes.Buffer
	err := writeAll(&b, head, entries)
	return b.Bytes(), err
}

// writeAll writes a document.
func writeAll(dst io.Writer, head Head, entries []Entry) error {
	w := NewWriter(dst)
	if err := w.WriteHead(&head); err != nil {
		return err
	}
	for i := range entries {
		if err := w.Write(&entries[i]); err != nil {
			return err
		}
	}
	return w.Close()
}
