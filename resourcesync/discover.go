package resourcesync

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/docfetch"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/internal/webpage"
	"github.com/websync-go/websync/sitemap"
)

// WellKnown is the path of the Source Description on its host (Z39.99 §6.3.2).
const WellKnown = "/.well-known/resourcesync"

// A Set is one set of resources that a publisher offers.
type Set struct {
	// CapabilityList is the URL of what the set offers.
	CapabilityList string

	// DescribedBy leads to documents that describe the set, as the Source Description or
	// the Capability List names them.
	DescribedBy []string

	// Description is the URL of the Source Description that lists the set, or to which
	// the Capability List links. It is empty if it is not known. Sets with the same
	// Description are those of one publisher.
	Description string

	root string // that led to it
}

// Source returns a Source of the set.
func (s *Set) Source() *Source { return &Source{URL: s.CapabilityList, root: s.root} }

// Limits of Discover.
const (
	maxSteps    = 200      // documents that are read
	maxSets     = 10_000   // that are found
	maxURLs     = 16 << 20 // bytes of their URLs
	maxRobots   = 1 << 20  // bytes of a robots.txt file
	maxDocument = 1 << 30  // bytes of a document
)

// A discovery is one call of Discover.
type discovery struct {
	docfetch.Pass
	read  map[docfetch.Key]bool
	index map[docfetch.Key]int // in found
	found []Set
	urls  int // bytes of the URLs in found
}

// isTooMuch reports whether more was found than anybody has.
func (d *discovery) isTooMuch() bool { return len(d.found) > maxSets || d.urls > maxURLs }

// sets returns what was found. err is the error of the document at url.
func (d *discovery) sets(ctx context.Context, url string, err error) ([]Set, error) {
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case d.isTooMuch():
		const format = "resourcesync: %s leads to more than %d sets, or %d bytes of URLs: %w"
		return nil, fmt.Errorf(format, websync.RedactURL(url), maxSets, maxURLs, websync.ErrLimit)
	case len(d.found) > 0:
		for i := range d.found {
			d.found[i].root = url
		}
		return d.found, nil
	case err != nil:
		return nil, err
	}
	return nil, fmt.Errorf("resourcesync: %s leads to no Capability List: %w", websync.RedactURL(url), websync.ErrNotFound)
}

// add adds a set, or what is known of it besides. A URL that is not on the web is passed
// over.
func (d *discovery) add(list, description string, describedBy []string) {
	if syntax.HTTPHost(list) == 0 || d.isTooMuch() {
		return
	}
	key := docfetch.KeyOf(list)
	i, ok := d.index[key]
	if !ok {
		i = len(d.found)
		d.index[key] = i
		d.found = append(d.found, Set{CapabilityList: list})
		d.urls += len(list)
	}
	set := &d.found[i]
	set.Description = cmp.Or(set.Description, description)
	if len(set.DescribedBy) == 0 {
		set.DescribedBy = describedBy
		for _, url := range describedBy {
			d.urls += len(url)
		}
	}
}

// host looks where a host says what it offers.
func (d *discovery) host(ctx context.Context, at string) {
	base, err := url.Parse(at)
	if err != nil || base.Host == "" {
		return
	}
	root := &url.URL{Scheme: base.Scheme, Host: base.Host, Path: WellKnown}
	_ = d.visit(ctx, root.String(), 0) // what is not there offers nothing
	if len(d.found) > 0 {
		return
	}
	root.Path = "/robots.txt"
	robots := &docfetch.Document{URL: root.String()}
	if d.Get(ctx, robots, docfetch.Validators{}, maxRobots) != nil {
		return
	}
	defer robots.Close()
	lists, err := sitemap.Sitemaps(robots.Body)
	if err != nil {
		return
	}
	for _, list := range lists {
		if u, err := root.Parse(list); err == nil {
			_ = d.visit(ctx, u.String(), 0)
		}
	}
}

var errSteps = fmt.Errorf("more than %d documents: %w", maxSteps, websync.ErrLimit)

// visit reads one document and those that it leads to.
func (d *discovery) visit(ctx context.Context, at string, depth int) error {
	const deepest = 6 // a part, its index, a Capability List, a Source Description and its index
	key := docfetch.KeyOf(at)
	switch {
	case d.read[key]:
		return nil
	case depth > deepest || len(d.read) >= maxSteps:
		return d.Named(at, errSteps)
	}
	d.read[key] = true
	doc := &docfetch.Document{URL: at}
	if err := d.Get(ctx, doc, docfetch.Validators{}, maxDocument); err != nil {
		return err
	}
	defer doc.Close()
	for _, l := range webpage.HeaderLinks(doc.Header["Link"], doc.Final) {
		if l.HasRel("resourcesync") {
			d.add(l.Target, "", nil)
		}
	}
	if docfetch.IsHTML(doc.Header) {
		return d.page(doc)
	}
	return d.document(ctx, doc, depth)
}

// page looks for links in the head of a page.
func (d *discovery) page(doc *docfetch.Document) error {
	head, err := webpage.ReadHead(doc.Body, doc.Final, doc.ContentType)
	for _, l := range head.Links {
		if l.HasRel("resourcesync") {
			d.add(l.Target, "", nil)
		}
	}
	if err != nil {
		return d.Named(doc.Final, err)
	}
	return nil
}

// document takes what a document of ResourceSync says, and goes on to those above it, or
// below a Source Description.
func (d *discovery) document(ctx context.Context, doc *docfetch.Document, depth int) error {
	at := doc.URL
	r := NewReader(doc.Body)
	r.Document, r.ContentType = doc.Final, doc.ContentType
	head, err := r.Head()
	if err != nil {
		return err
	}
	switch head.Metadata.Capability {
	case "":
		return d.Named(at, errors.New("a sitemap that is no document of ResourceSync"))
	case Description:
		for e, err := range r.All() {
			switch {
			case err != nil:
				return err
			case head.Index:
				_ = d.visit(ctx, e.Loc, depth+1) // the others can be read
			default:
				d.add(e.Loc, cmp.Or(head.Href("index"), at), hrefs(e.Links, "describedby"))
			}
		}
	case CapabilityList:
		d.add(at, head.Href("up"), hrefs(head.Links, "describedby"))
	default:
		up := head.Href("up")
		if up == "" {
			return d.Named(at, errors.New("a document without a link up to its Capability List"))
		}
		return d.visit(ctx, up, depth+1)
	}
	return nil
}

func hrefs(links []Link, rel string) (all []string) {
	for i := range links {
		if links[i].Rel == rel && links[i].Href != "" {
			all = append(all, links[i].Href)
		}
	}
	return all
}
