package rinfo

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"math"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/internal/syntax"
)

// checkEntry checks one entry by itself.
func checkEntry(e *atom.Entry, report atom.ReportFunc) {
	if leadsToFeed(&e.Content) {
		report(ruleIndex, "content", e.Content.Href, "the content is a feed, so the entry is one of an index of feeds")
		return
	}
	if syntax.HTTPHost(e.ID) == 0 {
		report(ruleID, "id", e.ID, "the id should be the official URI of the document, an HTTP URL")
	}
	switch {
	case e.Published.IsZero():
		report(rulePublished, "published", e.PublishedText, "an entry must state when it was published")
	case e.Updated.Time().Before(e.Published.Time()) && !e.Updated.IsZero():
		report(ruleUpdated, "updated", e.Updated.String(),
			"an entry must not be updated before it is published, at "+e.Published.String())
	}
	checkDocuments(e, report)
}

// checkDocuments checks what an entry links to.
func checkDocuments(e *atom.Entry, report atom.ReportFunc) {
	r := e.Resource(nil)
	hasRDF := mayHoldRDF(e.Content.Type)
	switch {
	case e.Content.IsZero():
		report(ruleContent, "content", "", "an entry should link to the primary representation in its content")
	case e.Content.Href == "":
		report(ruleInline, "content", e.Content.Type, "content must be linked to, not be part of the entry")
	default:
		checkLink(relContent, &r.Content, report)
	}
	seen := 0
	for i := range e.Links {
		link := &e.Links[i]
		rel := syntax.RelationName(link.Rel)
		if rel != relAlternate && rel != relEnclosure || link.Href == "" {
			continue
		}
		hasRDF = hasRDF || rel == relAlternate && isRDF(link.Type)
		if link.Href == r.Content.Href {
			continue
		}
		if seen++; seen == maxParts+1 {
			report(ruleLink, "link", "",
				fmt.Sprintf("more than %d alternates and enclosures: the entry is not collected", maxParts))
		}
		if seen > maxParts {
			continue
		}
		checkLink(rel, link, report)
		if rel != relEnclosure {
			continue
		}
		if _, err := attachmentPlace(&r, link); err != nil {
			report(ruleAttachment, "link", link.Href, "an enclosure must have a URL of its own below the id: "+err.Error())
		}
	}
	if !hasRDF {
		report(ruleRDF, "link", "",
			"an entry must link to RDF data that describes its document, as its content or as an alternate")
	}
}

const relContent = "content"

// checkLink checks a link to a document that is collected.
func checkLink(rel string, l *websync.Link, report atom.ReportFunc) {
	element := "link"
	if rel == relContent {
		element = rel
	}
	if syntax.HTTPHost(l.Href) == 0 {
		report(ruleLink, element, l.Href, "the "+rel+" must have an HTTP URL, or it is not collected")
		return
	}
	if l.Type == "" {
		report(ruleType, element, l.Href, "the "+rel+" must state its media type")
	}
	if _, stated := l.StatedLength(); !stated && rel != relContent {
		report(ruleLength, element, l.Href, "the "+rel+" must state its length")
	}
	if _, stated := l.Digests.Strongest(); !stated {
		report(ruleDigest, element, l.Href, "the "+rel+" must state an MD5 digest")
	} else if _, stated := l.Digests.Get("md5"); !stated {
		report(ruleMD5, element, l.Href, "the "+rel+" must state an MD5 digest beside the stronger ones")
	}
}

// isRDF reports whether a media type is one of RDF.
func isRDF(text string) bool {
	switch kind, _ := mediaType(text); kind {
	case "application/rdf+xml", "text/turtle", "application/n-triples", "application/n-quads",
		"application/trig", "application/ld+json", "text/n3":
		return true
	}
	return false
}

// mayHoldRDF reports whether content of a media type may hold RDF data: it is RDF, or a
// page that may have RDFa.
func mayHoldRDF(text string) bool {
	kind, _ := mediaType(text)
	return isRDF(text) || syntax.IsPage(kind)
}

// A checker makes the checks that need more than one entry, of one document or of a chain
// of documents from the newest to the oldest.
type checker struct {
	items    int              // of the document
	deletes  string           // the id of a tombstone of the document
	earliest websync.Datetime // of the entries of the document
	latest   websync.Datetime // of its entries and tombstones
	after    websync.Datetime // the earliest of the newer documents
	feedID   string           // of the first document

	seed maphash.Seed
	ids  map[uint64]history
}

// A history is what a checker knows of an id.
type history struct {
	oldest  int64 // updated of the oldest entry so far; in nanoseconds
	isNew   bool  // which states no later time than that of its publication
	deleted int64 // the time of a tombstone
}

const (
	maxIDs     = 1 << 20
	softLimit  = 1000 // entries and tombstones of a document (§5, §6)
	notDeleted = math.MinInt64
)

// item checks an item and notes it.
func (c *checker) item(item *atom.Item, report atom.ReportFunc) {
	c.items++
	at := item.Time()
	if !at.IsZero() && (c.latest.IsZero() || at.Time().After(c.latest.Time())) {
		c.latest = at
	}
	if t := item.Tombstone; t != nil {
		c.deletes = t.Ref
		c.noteDeletion(t)
		return
	}
	if !at.IsZero() && (c.earliest.IsZero() || at.Time().Before(c.earliest.Time())) {
		c.earliest = at
	}
	checkEntry(item.Entry, report)
	c.noteEntry(item.Entry, report)
}

// known returns the history of an id. ok is false if there is none, and no room for it.
func (c *checker) known(id string) (key uint64, h history, ok bool) {
	if c.ids == nil {
		c.seed, c.ids = maphash.MakeSeed(), make(map[uint64]history)
	}
	key = maphash.String(c.seed, id)
	h, ok = c.ids[key]
	return key, h, ok || len(c.ids) < maxIDs
}

func (c *checker) noteDeletion(t *atom.Tombstone) {
	if key, h, ok := c.known(t.Ref); ok && !t.When.IsZero() {
		if _, noted := c.ids[key]; !noted {
			h.oldest = notDeleted
		}
		h.deleted = t.When.Time().UnixNano()
		c.ids[key] = h
	}
}

// noteEntry compares an entry with an earlier one of its id.
func (c *checker) noteEntry(e *atom.Entry, report atom.ReportFunc) {
	key, h, ok := c.known(e.ID)
	if !ok || e.Updated.IsZero() || e.Published.IsZero() {
		return
	}
	_, noted := c.ids[key]
	if !noted {
		h.deleted = notDeleted
	}
	updated := e.Updated.Time().UnixNano()
	isNew := !e.Updated.Time().After(e.Published.Time())
	if noted && h.oldest != notDeleted && h.oldest != updated {
		from, to, laterIsNew := h.oldest, updated, isNew
		if updated < h.oldest {
			from, to, laterIsNew = updated, h.oldest, h.isNew
		}
		if laterIsNew && (h.deleted < from || h.deleted > to) {
			report(ruleReused, "updated", e.ID, "the feed has another state of this id, "+
				"and the later of the two does not state a later time than that of its publication")
		}
	}
	if !noted || h.oldest == notDeleted || updated < h.oldest {
		h.oldest, h.isNew = updated, isNew
	}
	c.ids[key] = h
}

// feed checks the metadata of a document, after all of its items.
func (c *checker) feed(f *atom.Feed, report atom.ReportFunc) {
	checkFeed(f, report)
	if c.feedID = cmp.Or(c.feedID, f.ID); f.ID != c.feedID {
		report(ruleOtherFeed, "id", f.ID, "all documents of a feed must have its id, which is "+c.feedID)
	}
	if !f.Updated.IsZero() && f.Updated.Time().Before(c.latest.Time()) {
		report(ruleFeedUpdated, "updated", f.Updated.String(), "an entry or a deletion is of "+c.latest.String())
	}
	if f.Complete && c.deletes != "" {
		report(ruleDeletion, "deleted-entry", c.deletes, "a complete feed needs no deletions: what it does not list is deleted")
	}
	if c.items > softLimit {
		report(ruleLong, "feed", "",
			fmt.Sprintf("%d entries and deletions, more than %d: archive documents keep documents short", c.items, softLimit))
	}
	if !c.after.IsZero() && !c.latest.IsZero() && c.latest.Time().After(c.after.Time()) {
		report(ruleOrder, "feed", c.latest.String(), "the document after it has an entry of "+c.after.String())
	}
	if !c.earliest.IsZero() && (c.after.IsZero() || c.earliest.Time().Before(c.after.Time())) {
		c.after = c.earliest
	}
	c.items, c.deletes, c.earliest, c.latest = 0, "", websync.Datetime{}, websync.Datetime{}
}

// checkFeed checks the metadata by themselves.
func checkFeed(f *atom.Feed, report atom.ReportFunc) {
	if syntax.IsHTTP(f.ID) {
		report(ruleFeedID, "id", f.ID, "a tag URI is a better id of a feed than an HTTP URL, which may lead nowhere one day")
	}
	if len(f.Authors) == 0 {
		report(ruleFeedAuthor, "author", "", "a feed must have an author")
	}
	for _, author := range f.Authors {
		if strings.TrimSpace(author.Email) == "" {
			report(ruleEmail, "author", author.Name, "the author of a feed should have an e-mail address")
		}
	}
	next, isPaged := f.Link("next")
	previous, isArchived := f.Link("prev-archive")
	switch {
	case f.Complete && (isPaged || isArchived || f.Archive):
		report(ruleComplete, "complete", previous.Href+next.Href,
			"a complete feed must be one document, without archive documents and pages")
	case isPaged && !isArchived:
		report(rulePages, "link", next.Href,
			"a feed of several documents should have archive documents, linked with prev-archive")
	}
}
