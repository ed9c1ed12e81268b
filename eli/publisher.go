package eli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/internal/publishing"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/sitemap"
)

// A Publisher publishes a [websync.Catalog] by ELI Pillar IV, with these documents:
//
//	Base + "eli/sitemap.xml"            all acts: one sitemap, or an index of its parts
//	Base + "eli/eli-update-feed.atom"   the acts that have changed lately
//
// The sitemap is that of a [sitemap.Publisher]; each of its documents names the feed in
// dct:relation. The feed lists the latest state of each act that has changed, the latest
// first. Deletions are not listed: the protocol has none, and readers find them by
// comparing the sitemap.
//
// # What is listed
//
// The resources of the Catalog are the acts, and their ids the ELIs. Formats of an act,
// which are its bodies and links, are not listed. Only the publisher of the ELIs can list
// them (§3.2.2): a resource is listed if
//
//   - its source is own;
//   - its id begins with Base and Path, byte for byte;
//   - its id is a clean URL, without a fragment, and not that of one of the documents;
//   - it matches Pattern, if that is set;
//   - its page is at its id.
//
// All others are left out, with a finding that states the reason.
//
// # Where the pages are
//
// An ELI must lead to the page that describes the act (§3.2.2). There are two ways to
// serve it:
//
//   - The Catalog keeps the pages. A Locator that owns the sources gives the content of
//     an act its id as URL, and publish.Bodies serves it there. A [websync.PathLocator]
//     does so if the ELI needs no unusual escapes. A content of another media type than
//     HTML or XHTML is no page: such a resource is left out.
//   - Another program, such as a content-management system, serves the pages on the same
//     host. Then Locator is nil, and Sources names the sources. That program, or a proxy
//     in front of it, passes the paths that Reserved reports to a publish.Handler; or it
//     serves the files that publish.WriteDir writes.
//
// # Times
//
// Both documents state the same time for an act: Modified as its source states it, or
// else the time of the commit. A Modified after the commit is not used, because an act
// can't change later than this is known. Neither is a Modified that is not later than the
// time that was listed for the previous state, because readers would not notice the
// change: then the time of the commit is listed. So the time of an act increases with
// each change of the act.
//
// A Catalog that compacts its log drops the previous states. Then the time of the commit
// is listed for each act that is not of the kind Created, since it may have been listed
// before: the time of such an act increases once more without a change. An act that was
// published again after a deletion counts as a new one. A Catalog that does not know
// [websync.Item.Prior] must state a later Modified with each change, or none at all.
//
// # Memory
//
// While the feed is written, a Publisher holds 32 to 64 bytes for each act that has
// changed in its period, and up to a thousand entries. An ETag is known without reading
// what a document lists.
//
// Set the fields before first use. A Publisher is safe for concurrent use; it must not be
// copied.
type Publisher struct {
	// Own are the sources whose resources are listed unless Sources names some of them.
	// If Locator and Own are not set, another program serves the pages, and Sources is
	// required. Base is above the directory of the ELIs.
	websync.Place

	// Path is the directory of the ELIs, relative to Base. It ends in "eli/", for example
	// "oj/eli/". If empty, it is "eli/". Each set of ELIs with a directory of its own has
	// a sitemap and a feed of its own, and so a Publisher of its own.
	Path string

	// Pattern, if set, must match the ELIs to list. It keeps out what else a source has
	// below the directory, such as pages of expressions.
	Pattern *regexp.Regexp

	// ID is the feed's atom:id. If empty, it is made as the specification says (§3.3.2):
	// "urn:country-xy:eli:eli-update-feed" for https://country.xy/eli/, and
	// "urn:country-xy:oj:eli:eli-update-feed" for https://country.xy/oj/eli/.
	ID string

	// Title is the feed's title. If empty, it is "ELI update feed of" and the host.
	Title string

	// Author is the service that publishes the feed. Its Name is required.
	Author websync.Person

	// History is the time before the last commit that the feed covers. If zero, it is 60
	// days, the least that the specification allows (§3.3.2).
	History time.Duration

	// PartSize is how many acts a document of the sitemap holds; if there have been more,
	// there is an index. If zero or negative, it is 50,000, the protocol's limit.
	PartSize int

	// Gzip and NoRobots are those of the [sitemap.Publisher].
	Gzip, NoRobots bool

	once    sync.Once
	site    *publishing.Site // of the feed
	sitemap *sitemap.Publisher
	log     publishing.Chain
	prefix  string // of the ELIs
}

var _ websync.Publisher = (*Publisher)(nil)

const (
	directory   = "eli/"
	sitemapName = "sitemap.xml"
	feedName    = "eli-update-feed.atom"

	leastHistory = 60 * 24 * time.Hour

	// rendering must be raised when the same entries of the log are written differently:
	// the documents then need other ETags.
	rendering = 1
)

// open prepares the fields at first use.
func (p *Publisher) open() *publishing.Site {
	p.once.Do(func() {
		place := p.Place
		switch {
		case p.Locator != nil:
		case len(p.Own) > 0:
			place.Locator = websync.PathLocator{Base: p.Base, Own: p.Own, Reserved: p.Reserved}
		default:
			place.Locator = elsewhere(p.Sources)
		}
		dir := cmp.Or(strings.TrimPrefix(p.Path, "/"), directory)
		p.prefix = p.Base + dir
		p.site = publishing.New(publishing.Settings{
			Package: "eli", Place: place, Path: dir + feedName, Reserved: p.Reserved,
		})
		p.sitemap = &sitemap.Publisher{
			Place: place, Path: dir + sitemapName,
			PartSize: p.PartSize, Gzip: p.Gzip, NoRobots: p.NoRobots,
			Profile: "eli " + publishing.SettingsText(struct {
				Rendering int
				Pattern   string
			}{rendering, p.pattern()}),
			Head: p.writeHead, Prepare: p.prepare, Item: p.writeItem,
		}
		if p.PartSize <= 0 {
			p.sitemap.PartSize = sitemap.MaxEntries
		}
		f := p.newFeed()
		p.log.Site, p.log.Size = p.site, 1000
		p.log.Settings = publishing.SettingsText(struct {
			Rendering      int
			URL, ID, Title string
			Author         websync.Person
			Sources        []string
			History        time.Duration
			Pattern        string
		}{rendering, p.site.URL(), f.ID, f.Title.Value, p.Author, p.site.Sources, p.history(), p.pattern()})
		if p.site.Err == nil {
			p.site.Err = p.checkSettings(dir)
		}
	})
	return p.site
}

// checkSettings returns an error for settings that the protocol can't carry.
func (p *Publisher) checkSettings(dir string) error {
	if !strings.HasSuffix("/"+dir, "/"+directory) {
		return fmt.Errorf("eli: Publisher.Path %.200q must end in %q (§3.2.2)", p.Path, directory)
	}
	if p.Locator == nil && len(p.Own) == 0 && len(p.Sources) == 0 {
		return errors.New("eli: Publisher.Own or Publisher.Sources must name the publisher's own sources " +
			"if Publisher.Locator is nil")
	}
	for _, source := range p.Sources {
		if !p.site.Locator.Owns(source) {
			return fmt.Errorf("eli: Publisher.Locator does not own the source %q of Publisher.Sources: "+
				"only the publisher of ELIs can list them, on their own host (§3.2.2)", websync.RedactURL(source))
		}
	}
	if p.History != 0 && p.History < leastHistory {
		return fmt.Errorf("eli: Publisher.History %v must be at least 60 days, %v (§3.3.2)", p.History, leastHistory)
	}
	if err := atom.NewWriter(io.Discard).WriteFeed(p.newFeed()); err != nil {
		return fmt.Errorf("eli: the settings of Publisher make no valid feed: %w", err)
	}
	return nil
}

// pattern returns the text of Pattern.
func (p *Publisher) pattern() string {
	if p.Pattern == nil {
		return ""
	}
	return p.Pattern.String()
}

func (p *Publisher) history() time.Duration { return cmp.Or(p.History, leastHistory) }

// newFeed returns the metadata of the feed, without the time of its latest entry.
func (p *Publisher) newFeed() *atom.Feed {
	return &atom.Feed{
		ID:    cmp.Or(p.ID, p.feedID()),
		Title: atom.Text{Type: atom.PlainText, Value: cmp.Or(p.Title, "ELI update feed of "+p.host())},
		Links: []websync.Link{p.selfLink()}, Authors: []websync.Person{p.Author}, Updated: epoch,
	}
}

// host returns the name of the host, without a port.
func (p *Publisher) host() string {
	from, end := syntax.SplitHTTP(p.Base)
	host := strings.ToLower(p.Base[from:end])
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		host = host[:i]
	}
	return strings.Trim(host, "[]")
}

// feedID returns the id of the feed as the specification makes it. Two directories of one
// host need two ids, so the steps of the path are in it.
func (p *Publisher) feedID() string {
	name := strings.NewReplacer(".", "-", ":", "-").Replace(p.host())
	dir := strings.TrimSuffix(strings.TrimPrefix(p.site.Root, "/"), "/"+feedName)
	return "urn:" + name + ":" + strings.ReplaceAll(dir, "/", ":") + ":eli-update-feed"
}

func (p *Publisher) selfLink() websync.Link {
	return websync.Link{Rel: "self", Href: p.site.URL(), Type: feedType}
}

// Check returns what is wrong with the settings. Document and Documents return the same
// error, unless it concerns the Locator.
func (p *Publisher) Check() error {
	if err := p.open().Check(); err != nil {
		return err
	}
	return p.sitemap.Check()
}

// URL returns the URL of the sitemap.
func (p *Publisher) URL() string {
	p.open()
	return p.sitemap.URL()
}

// FeedURL returns the URL of the update feed.
func (p *Publisher) FeedURL() string { return p.open().URL() }

// Settle implements the method of [websync.Place]: of a site, the own sources are listed.
func (p *Publisher) Settle(common websync.Place) error {
	common.Sources = common.Own
	return p.Place.Settle(common)
}

// Reserved reports whether a path, from the root of the host and escaped, can be that of
// one of the documents. It is meant for PathLocator.Reserved. /robots.txt is not
// reserved, as in [sitemap.Publisher].
func (p *Publisher) Reserved(path string) bool {
	return path == p.open().Root || p.sitemap.Reserved(path)
}

// Document implements [websync.Publisher].
func (p *Publisher) Document(ctx context.Context, path string) (*websync.Document, error) {
	switch s := p.open(); {
	case s.Err != nil:
		return nil, s.Err
	case path == s.Root:
		return p.feed(ctx)
	}
	return p.sitemap.Document(ctx, path)
}

// Documents implements [websync.Publisher]: it yields the feed, to which the sitemap
// leads, and then what a [sitemap.Publisher] yields.
func (p *Publisher) Documents(ctx context.Context) iter.Seq2[string, error] {
	s := p.open()
	return func(yield func(string, error) bool) {
		if s.Err != nil {
			yield("", s.Err)
			return
		}
		if !yield(s.Root, nil) {
			return
		}
		for path, err := range p.sitemap.Documents(ctx) {
			if !yield(path, err) {
				return
			}
		}
	}
}

// dcTerms is the namespace of dct:relation.
const dcTerms = "http://purl.org/dc/terms/"

// writeHead is sitemap.Publisher.Head: it names the feed.
func (p *Publisher) writeHead(h *sitemap.Head) {
	h.Attrs = append(h.Attrs, websync.Attr{Space: dcTerms, Local: "relation", Value: p.site.URL()})
	h.Namespaces = map[string]string{"dct": dcTerms}
}

// prepare is sitemap.Publisher.Prepare: it sets the times of the acts.
func (p *Publisher) prepare(ctx context.Context, generation uint64, items []*websync.Item) error {
	times, err := p.times(ctx, generation, items)
	if err != nil {
		return err
	}
	for i, item := range items {
		item.Resource.Modified = times[i]
	}
	return nil
}

// writeItem is sitemap.Publisher.Item.
func (p *Publisher) writeItem(item *websync.Item, e *sitemap.Entry) error {
	e.Loc, e.LastMod = item.Resource.ID, item.Resource.Modified // with the fraction that the feed has
	return p.refusal(item)
}
