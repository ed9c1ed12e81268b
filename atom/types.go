package atom

import "github.com/websync-go/websync"

// The namespaces of the specifications that this package implements.
const (
	Namespace          = "http://www.w3.org/2005/Atom"             // RFC 4287
	HistoryNamespace   = "http://purl.org/syndication/history/1.0" // RFC 5005
	TombstoneNamespace = "http://purl.org/atompub/tombstones/1.0"  // RFC 6721
	// link extensions: le:md5
	LinkExtNamespace = "http://purl.org/atompub/link-extensions/1.0"
	// gd:deleted, as some feeds have it
	GDataNamespace = "http://schemas.google.com/g/2005"
	// sx:sync deleted, as some feeds have it
	FeedSyncNamespace = "http://feedsync.org/2007/feedsync"
	// of the div of an xhtml text
	xhtmlNamespace = "http://www.w3.org/1999/xhtml"
	// xml:base, xml:lang
	xmlNamespace = "http://www.w3.org/XML/1998/namespace"
)

const feedType = "application/atom+xml"

// A Kind is what a document is.
type Kind uint8

const (
	FeedDocument      Kind = iota + 1 // its root is atom:feed (RFC 4287 §4.1.1)
	EntryDocument                     // its root is atom:entry (RFC 4287 §4.1.2)
	TombstoneDocument                 // its root is at:deleted-entry (RFC 6721 §3)
)

var kinds = [...]string{"unknown", "feed", "entry", "deleted-entry"}

// String returns "feed", "entry", "deleted-entry", or "unknown" for the zero Kind.
func (k Kind) String() string {
	if int(k) < len(kinds) {
		return kinds[k]
	}
	return kinds[0]
}

// A Feed is the metadata of a feed document (RFC 4287 §4.1.1), or of the feed that an
// entry was copied from (atom:source, §4.2.11). Its entries are not part of it: they are
// read and written one by one.
type Feed struct {
	// ID is an IRI that names the feed. It is trimmed, otherwise byte for byte, and never
	// resolved against anything.
	ID string

	Title    Text
	Subtitle Text
	Rights   Text

	Updated     websync.Datetime
	UpdatedText string // the text of updated if it is not RFC 3339, otherwise empty

	Authors      []websync.Person
	Contributors []websync.Person
	Categories   []Category
	Generator    Generator
	Icon, Logo   string // absolute

	// Links are the feed's links in their order: self, alternate, hub, and those of RFC
	// 5005: first, last, next, previous, prev-archive, next-archive, current. Href is
	// absolute, and Rel is "alternate" where none is stated.
	Links []websync.Link

	// Complete reports whether the feed lists all entries that exist (fh:complete, RFC
	// 5005 §2).
	Complete bool

	// Archive reports whether the document is an archive document, which never changes
	// again (fh:archive, RFC 5005 §4).
	Archive bool

	// Elements are the elements of other namespaces, in their order.
	Elements []websync.Element

	// Skipped is how many items a [Parser] left out. Readers do not set it, and Writers
	// ignore it.
	Skipped int `json:"-"`

	Lang string // BCP 47, as xml:lang of the feed states it
	// xml:base of the feed, resolved: what its relative references were resolved against;
	// empty: the document's URL
	Base string
}

// Link returns the first link with the relation rel.
func (f *Feed) Link(rel string) (websync.Link, bool) { return findLink(f.Links, rel) }

// An Entry is one atom:entry (RFC 4287 §4.1.2).
type Entry struct {
	// ID is an IRI that names the entry. It is trimmed, otherwise byte for byte, and
	// never resolved against anything.
	ID string

	Title   Text
	Summary Text
	Rights  Text

	Updated     websync.Datetime
	UpdatedText string // the text of updated if it is not RFC 3339, otherwise empty
	Published   websync.Datetime

	PublishedText string // likewise, of published

	// Authors are those of the entry itself. If there are none, those of Source count, or
	// else those of the feed (§4.2.1).
	Authors      []websync.Person
	Contributors []websync.Person
	Categories   []Category

	// Content is the content, or the link to it.
	Content Content

	// Links are the entry's links in their order. Href is absolute, and Rel is
	// "alternate" where none is stated.
	Links []websync.Link

	// Source is the feed that the entry was copied from; nil if that is not stated.
	Source *Feed

	// Elements are the elements of other namespaces, in their order.
	Elements []websync.Element

	// BCP 47: xml:lang of the entry, or of the feed around it; "und" if an empty xml:lang
	// of the entry revokes that of the feed
	Lang string
	// the URL that relative references were resolved against; those in texts still are
	// relative to it
	Base string

	// Damaged reports whether the entry may have had another content, or other links to
	// representations: an alternate link or an enclosure was left out, because it has no
	// IRI or leads to the feed itself, or there are too many; the content leads to the
	// feed itself; a second content was left out, or the elements in one that must be
	// text; or another item begins in the entry. Writers ignore it.
	Damaged bool `json:"-"`

	// Line and Column are where the entry starts, from 1; the column counts bytes of
	// UTF-8. Writers ignore them.
	Line, Column int
}

// Link returns the first link with the relation rel.
func (e *Entry) Link(rel string) (websync.Link, bool) { return findLink(e.Links, rel) }

func findLink(links []websync.Link, rel string) (websync.Link, bool) {
	for _, l := range links {
		if l.Rel == rel {
			return l, true
		}
	}
	return websync.Link{}, false
}

// A Category is one atom:category (RFC 4287 §4.2.2).
type Category struct {
	Term   string
	Scheme string // IRI
	Label  string
	Lang   string // of the label, if it is stated there
}

// A Generator is the software that made a feed (RFC 4287 §4.2.4).
type Generator struct {
	Name    string
	URI     string
	Version string
}

// The types of a [Text], and of a [Content] beside media types.
const (
	PlainText = "text"
	HTML      = "html"
	XHTML     = "xhtml"
)

// A Text is a text construct (RFC 4287 §3.1). The zero Text is "not stated".
type Text struct {
	// Type is PlainText, HTML or XHTML. If it is empty and Value is not, Writers write
	// PlainText.
	Type string

	// Value is the text. Plain text and HTML are without the escapes of XML. XHTML is the
	// div element, as XML that declares every prefix it uses. Readers leave out the white
	// space around it.
	Value string

	// BCP 47, if the element itself states it; "und" if an empty xml:lang revokes the one
	// around it
	Lang string
	Base string // xml:base, resolved, if the element itself states it
}

// IsZero reports whether the text is not stated. An empty text that is stated has a Type.
func (t Text) IsZero() bool { return t.Type == "" && t.Value == "" }

// A Content is atom:content (RFC 4287 §4.1.3), in one of five forms:
//
//	Type PlainText, HTML, XHTML    Value is as in a Text
//	Type is an XML media type      Value is one element, with the prefixes it uses
//	Type is text/…                 Value is the text
//	Type is another media type     Value is Base64; Readers leave out white space
//	Href is not empty (src)        no Value; Type is a media type or empty
//
// Of the Link, Href, Type, Lang, Digests, Modified and Attrs are used; Length is read but
// not written, because only links have one. The zero Content is "not stated".
type Content struct {
	websync.Link

	// Value is the content if it is inline.
	Value string

	// Base is xml:base, resolved, if the element itself states it.
	Base string
}

// IsZero reports whether there is no content. Empty content that is stated has a Type.
func (c *Content) IsZero() bool { return c.Type == "" && c.Href == "" && c.Value == "" }

// A Tombstone is the deletion of an entry (RFC 6721).
type Tombstone struct {
	// Ref is the id of the entry: trimmed, otherwise byte for byte.
	Ref string

	When     websync.Datetime
	WhenText string // the text of when if it is not RFC 3339, otherwise empty

	By      websync.Person // zero: not stated
	Comment Text
	Links   []websync.Link
	Source  *Feed

	// Elements are the elements of other namespaces, signatures among them, in their
	// order.
	Elements []websync.Element

	// BCP 47: xml:lang of the tombstone, or of the feed around it; "und" if an empty
	// xml:lang of the tombstone revokes that of the feed
	Lang string
	Base string

	// Line and Column are where the tombstone starts, from 1; the column counts bytes of
	// UTF-8. Writers ignore them.
	Line, Column int
}

// An Item is what a feed lists: an entry or a tombstone. One of the two is set.
type Item struct {
	Entry     *Entry
	Tombstone *Tombstone
}

// ID returns the ID of the entry, or the Ref of the tombstone.
func (i Item) ID() string {
	if i.Tombstone != nil {
		return i.Tombstone.Ref
	}
	return i.Entry.ID
}

// Time returns Updated of the entry, or When of the tombstone.
func (i Item) Time() websync.Datetime {
	if i.Tombstone != nil {
		return i.Tombstone.When
	}
	return i.Entry.Updated
}
