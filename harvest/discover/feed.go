package discover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"slices"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atompmh"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/internal/webpage"
	"github.com/websync-go/websync/rinfo"
)

// feed returns what a feed in Atom offers. known is false if the document is none.
func (s *search) feed(ctx context.Context, l lead, a *answer) (found []*Offer, known bool) {
	f := a.readFeed()
	switch {
	case errors.Is(f.err, websync.ErrNotDocument), f.kind != atom.FeedDocument:
		return nil, false
	case len(f.items) == 0 && f.err != io.EOF: // what it says of itself may be missing
		a.is("the beginning of an Atom feed")
		a.fault = f.err
		return nil, true
	}
	a.is("an Atom feed of %s", entries(len(f.items), f.err))
	a.noteFault(f.err)
	if f.isIndex() {
		return s.index(ctx, l, a, f), true
	}
	if newer, rel := f.newer(l.url, a.final); newer != "" {
		to := l.to(newer, l.url, "it is %s, but not the newest document of its feed: that is its link %q", a.what, rel)
		if found = s.look(ctx, to); len(found) > 0 {
			return found, true
		}
	}
	var text string
	if f.isUpdates() {
		if found = s.pair(ctx, l, a); len(found) > 0 {
			return found, true
		}
		text = "; its entries, or its id, are those of an update feed of ELI Pillar IV, " +
			"but its sitemap was not found: it lists recent changes only"
	}
	o := Offer{Protocol: Atom, URL: l.url, Title: title(f.Feed), grade: window, entries: names(f.items)}
	o.Topic, o.Hubs = a.channel(webpage.Links(f.Links))
	text += s.profile(ctx, &o, f, a)
	return s.offer(l, o, "it is %s%s%s", a.what, text, a.damage()), true
}

// A readItems is a feed, or the beginning of one.
type readItems struct {
	*atom.Feed
	kind  atom.Kind // of the document
	items []atom.Item
	err   error // io.EOF: all of it was read; nil: it has more
}

func (a *answer) readFeed() *readItems {
	r := atom.NewReader(a.reader())
	r.Document, r.ContentType = a.final, a.contentType
	f := &readItems{}
	for f.err == nil && len(f.items) < maxEntries {
		var item atom.Item
		if item, f.err = r.Next(); f.err == nil {
			f.items = append(f.items, item)
		}
	}
	f.Feed, f.kind = r.Feed(), r.Kind()
	return f
}

// isIndex reports whether the feed lists feeds: whether the content of each entry is one.
func (f *readItems) isIndex() bool {
	isNoFeed := func(i atom.Item) bool { return i.Entry != nil && !isFeed(&i.Entry.Content) }
	return len(f.items) > 0 && !slices.ContainsFunc(f.items, isNoFeed)
}

// isFeed reports whether the content of an entry is a feed.
func isFeed(c *atom.Content) bool {
	kind, params, err := mime.ParseMediaType(c.Type)
	return err == nil && c.Href != "" && kind == "application/atom+xml" && params["type"] == "feed"
}

// newer returns the document with which a feed begins, and the relation of the link to
// it, if the document at hand is an archive document or a later page. Otherwise it is "".
func (f *readItems) newer(urls ...string) (url, rel string) {
	self, _ := f.Link("self")
	for _, rel := range []string{"current", "first"} {
		link, ok := f.Link(rel)
		here := func(u string) bool { return keyOf(u) == keyOf(link.Href) }
		if ok && syntax.HTTPHost(link.Href) > 0 && !here(self.Href) && !slices.ContainsFunc(urls, here) {
			return link.Href, rel
		}
	}
	return "", ""
}

// index returns what the feeds offer that an index of feeds lists.
func (s *search) index(ctx context.Context, l lead, a *answer, f *readItems) (found []*Offer) {
	a.is("an index of %d feeds", len(f.items))
	for i, item := range f.items {
		if i == maxLinks {
			break
		}
		if item.Entry != nil {
			found = append(found, s.look(ctx, l.to(item.Entry.Content.Href, l.url, "it is %s, and lists the feed", a.what))...)
		}
	}
	return found
}

// title returns the title of a feed on one line.
func title(f *atom.Feed) string { return strings.Join(strings.Fields(f.Title.Value), " ") }

// names returns what tells the entries of a feed from others: ids, and the links to their
// pages.
func names(items []atom.Item) (all []string) {
	for _, item := range items {
		if item.Entry == nil {
			continue
		}
		all = append(all, item.Entry.ID)
		if page, ok := item.Entry.Link("alternate"); ok {
			all = append(all, page.Href)
		}
	}
	return all
}

// channel returns where changes of a document with these links are announced. The topic
// of a document without a link self is its URL.
func (a *answer) channel(links []webpage.Link) (topic string, hubs []string) {
	topic, hubs = webpage.Channel(a.links(), links)
	return cmp.Or(topic, a.final), hubs
}

// links returns the links of the header.
func (a *answer) links() []webpage.Link { return webpage.HeaderLinks(a.header["Link"], a.final) }

// profile finds out which profile of Atom a feed follows, and how it is to be read. It
// returns that in words.
func (s *search) profile(ctx context.Context, o *Offer, f *readItems, a *answer) string {
	var texts []string
	add := func(format string, args ...any) { texts = append(texts, fmt.Sprintf(format, args...)) }
	_, archived := f.Link("prev-archive")
	_, paged := f.Link("next")
	switch {
	case f.Complete && !archived && !paged:
		o.grade = everything
		add("it says that it is complete (fh:complete)")
	case f.Archive:
		add("it is an archive document (fh:archive), and the newest document of its feed is not known")
	case archived:
		o.grade = everything
		add("it has archive documents (prev-archive)")
	case paged:
		add("it has further pages (next)")
	}
	signs := f
	if older, ok := f.Link("prev-archive"); ok && len(f.items) == 0 {
		if b := s.get(ctx, older.Href); b.err == nil { // the newest document may be empty
			b.is("an archive document of %s", websync.RedactURL(o.URL))
			signs, a = b.readFeed(), b
		}
	}
	if protocol, text := signs.sign(a); protocol != "" {
		o.Protocol, o.grade = protocol, everything
		add("%s", text)
	} else if text != "" {
		add("%s", text)
	}
	for _, hub := range o.Hubs {
		add("its hub is %s", websync.RedactURL(hub))
	}
	if len(texts) == 0 {
		return ""
	}
	return "; " + strings.Join(texts, "; ")
}

// sign returns the profile that a feed follows by the signs of its entries; "" if they
// are missing or weak. text says what the signs are.
func (f *readItems) sign(a *answer) (protocol, text string) {
	entries, broken := violations(a, rinfo.Validate)
	if entries == 0 {
		return "", ""
	}
	withData := entries - broken["rinfo-rdf"]
	hasDocuments := broken["rinfo-content"] == 0 || withData == entries // a document may be missing (§3.3.4)
	hasMD5s := broken["rinfo-inline"]+broken["rinfo-digest"]+broken["rinfo-md5"] == 0
	isOfficial := func(i atom.Item) bool {
		return i.Entry != nil && strings.HasPrefix(i.Entry.ID[syntax.HTTPHost(i.Entry.ID):], officialHost)
	}
	switch {
	case hasDocuments && hasMD5s && broken["rinfo-published"] == 0:
		text = "each entry has a time of publication and a document, " +
			"and all that it links to has an MD5 digest (Atom-insamling §3.3)"
		if withData < entries {
			text += fmt.Sprintf("; but only %d of %d entries have the RDF data that §7.1 demands", withData, entries)
		}
		return Rinfo, text
	case withData > 0 && (strings.Contains(f.ID, ":rinfo:") || slices.ContainsFunc(f.items, isOfficial)):
		return Rinfo, "its ids are those of the Swedish legal information system, " +
			"and entries link to RDF data (Atom-insamling §3.3)"
	case withData > 0 && slices.ContainsFunc(f.items, hasMD5):
		return "", "entries have RDF data and MD5 digests, as in Atom-insamling, but not all that it demands: that is a weak sign"
	}
	return f.isPMH(a)
}

// hasMD5 reports whether the content of an item has an MD5 digest.
func hasMD5(i atom.Item) bool {
	if i.Entry == nil {
		return false
	}
	_, stated := i.Entry.Content.Digests.Get("md5")
	return stated
}

// officialHost is that of the official URIs of legal documents in Sweden.
const officialHost = "rinfo.lagrummet.se/"

// isPMH is sign for Atom-PMH.
func (f *readItems) isPMH(a *answer) (protocol, text string) {
	entries, broken := violations(a, atompmh.Validate)
	if broken["atompmh-entry-type"]+broken["atompmh-content"]+broken["atompmh-tombstone"] > 0 {
		return "", ""
	}
	deletions := 0
	for _, item := range f.items {
		if item.Entry != nil && !item.Entry.Content.IsZero() {
			deletions++
		}
	}
	metadata := slices.ContainsFunc(f.items, hasMetadata) && broken["atompmh-alternate-type"] == 0
	_, current := f.Link("current")
	_, archived := f.Link("prev-archive")
	switch {
	case deletions == entries: // descriptions without content look the same
	case deletions > 0:
		return AtomPMH, fmt.Sprintf("%d of its entries are deletions, with an empty content and without an alternate link, "+
			"and the others have no content (Atom-PMH, Detecting entry type)", deletions)
	case metadata && (current || archived || f.Complete):
		return AtomPMH, "no entry has content, and each has an alternate link with a media type, " +
			"in a feed with archive documents or a link current, or a complete feed (Atom-PMH, Active entries)"
	case metadata:
		return "", "no entry has content, and each has an alternate link with a media type, " +
			"as in Atom-PMH: that alone is a weak sign"
	}
	return "", ""
}

// hasMetadata reports whether an item has several alternate links, or one that is no web
// page: blogs have one link to a page.
func hasMetadata(i atom.Item) bool {
	if i.Entry == nil {
		return false
	}
	pages := 0
	for _, link := range i.Entry.Links {
		switch t := syntax.Essence(link.Type); {
		case link.Rel != "alternate":
		case t != "" && t != "text/html" && t != "application/xhtml+xml", pages > 0:
			return true
		default:
			pages++
		}
	}
	return false
}

// violations validates a document, and returns how many entries it has, and how often it
// breaks each rule.
func violations(
	a *answer, validate func(io.Reader, atom.ValidateOptions) (atom.Summary, error),
) (entries int, broken map[string]int) {
	broken = make(map[string]int)
	// an error is no news: the document was read before
	sum, _ := validate(a.reader(), atom.ValidateOptions{Document: a.final, Report: func(f websync.Finding) { broken[f.Rule]++ }})
	return sum.Entries, broken
}
