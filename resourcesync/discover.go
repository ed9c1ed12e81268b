package resourcesync

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/url"
	"strings"

	"golang.org/x/net/html"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/docfetch"
	"github.com/websync-go/websync/internal/linkformat"
	"github.com/websync-go/websync/internal/syntax"
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

	root string // that led to it
}

// Source returns a Source of the set.
func (s *Set) Source() *Source { return &Source{URL: s.CapabilityList, root: s.root} }

// Limits of Discover.
const (
	maxSteps    = 200     // documents that are read
	maxRobots   = 1 << 20 // bytes of a robots.txt file
	maxHTMLHead = 1 << 20 // bytes of a page that are searched for links
	maxDocument = 1 << 30 // bytes of a document
)

// A discovery is one call of Discover.
type discovery struct {
	docfetch.Pass
	read  map[docfetch.Key]bool
	sets  map[docfetch.Key]int // index in found
	found []Set
}

func newDiscovery(pass docfetch.Pass) *discovery {
	return &discovery{Pass: pass, read: make(map[docfetch.Key]bool), sets: make(map[docfetch.Key]int)}
}

// add adds a set, or what is known of it besides. A URL that is not on the web is passed
// over.
func (d *discovery) add(list string, describedBy []string) {
	if syntax.HTTPHost(list) == 0 {
		return
	}
	key := docfetch.KeyOf(list)
	i, ok := d.sets[key]
	if !ok {
		i = len(d.found)
		d.sets[key] = i
		d.found = append(d.found, Set{CapabilityList: list})
	}
	if len(d.found[i].DescribedBy) == 0 {
		d.found[i].DescribedBy = describedBy
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
	for _, l := range linkformat.Header(doc.Header["Link"]) {
		if l.HasRel("resourcesync") && l.Get("anchor") == "" {
			d.list(doc.Final, l.Target)
		}
	}
	for _, value := range doc.Header["Content-Type"] {
		if t, _, _ := mime.ParseMediaType(value); t == "text/html" || t == "application/xhtml+xml" {
			return d.page(doc.Final, doc.Body)
		}
	}
	return d.document(ctx, at, doc.Final, doc.Body, depth)
}

// list adds the Capability List that a page links to.
func (d *discovery) list(page, href string) { d.add(resolved(page, href), nil) }

// resolved returns the URL of a link of a document; empty if it has none.
func resolved(document, href string) string {
	base, err := url.Parse(document)
	if err != nil {
		return ""
	}
	u, err := base.Parse(strings.TrimSpace(href))
	if err != nil || u.Host == "" {
		return ""
	}
	return u.String()
}

// page looks for links in the head of a page.
func (d *discovery) page(final string, body io.Reader) error {
	z := html.NewTokenizer(bufio.NewReader(io.LimitReader(body, maxHTMLHead)))
	base, based := final, false // the first base counts
	for {
		switch z.Next() {
		case html.ErrorToken:
			if err := z.Err(); err != io.EOF {
				return d.Named(final, err)
			}
			return nil
		case html.EndTagToken:
			if name, _ := z.TagName(); string(name) == "head" {
				return nil
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			tag := string(name)
			if tag == "body" {
				return nil
			}
			var rel, href string
			for more {
				var key, value []byte
				key, value, more = z.TagAttr()
				switch string(key) {
				case "rel":
					rel = string(value)
				case "href":
					href = string(value)
				}
			}
			l := linkformat.Link{Params: []linkformat.Param{{Name: "rel", Value: rel}}}
			switch {
			case tag == "base" && href != "" && !based:
				based = true
				if u, err := url.Parse(final); err == nil {
					if u, err = u.Parse(href); err == nil {
						base = u.String()
					}
				}
			case tag == "link" && href != "" && l.HasRel("resourcesync"):
				d.list(base, href)
			}
		}
	}
}

// document takes what a document of ResourceSync says, and goes on to those above it, or
// below a Source Description.
func (d *discovery) document(ctx context.Context, at, final string, body io.Reader, depth int) error {
	r := NewReader(body)
	r.Document = final
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
				d.add(e.Loc, hrefs(e.Links, "describedby"))
			}
		}
	case CapabilityList:
		d.add(at, hrefs(head.Links, "describedby"))
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
