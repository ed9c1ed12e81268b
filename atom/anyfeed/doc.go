// Package anyfeed reads other feeds as Atom: RSS 0.9x, 1.0 and 2.0, JSON Feed 1.0 and
// 1.1, Atom 0.3, and Atom that is broken. It reads Atom that is not well-formed with
// github.com/mmcdole/gofeed.
//
// # Reading
//
// [Parse] returns a document as a feed and items of package atom. The content decides
// its format and whether it is compressed; the encoding is that of [atom.Reader], or
// Windows-1252 if none is stated and it is not UTF-8. Each field of an entry comes from
// the first of these elements of its item that is stated, in RSS:
//
//	ID            guid, rdf:about, link
//	Title         title, dc:title, itunes:title (text)
//	Summary       description, atom:summary, dc:description, itunes:summary (HTML)
//	Content       content:encoded (HTML), xhtml:body, xhtml:div, atom:content
//	Updated       atom:updated, dcterms:modified
//	Published     pubDate, atom:published, dcterms:created, dcterms:issued, dc:date
//	Rights        atom:rights, dc:rights
//	Source        source, atom:source
//	Authors       dc:creator, author, atom:author; without them, itunes:author
//	Contributors  dc:contributor, atom:contributor
//	Categories    category, dc:subject, atom:category
//	alternate     link, atom:link, guid
//	enclosure     enclosure, media:content
//	icon          itunes:image, media:thumbnail
//	replies       comments
//
// And in the other formats:
//
//	              JSON Feed                    Atom
//	ID            id, url                      id, alternate link
//	Title         title (text)                 title
//	Summary       summary (text)               summary
//	Content       content_html, content_text   content
//	Updated       date_modified                updated, modified
//	Published     date_published               published, issued, created
//	Rights                                     rights, copyright
//	Source                                     source
//	Authors       authors, author              author
//	Contributors                               contributor
//	Categories    tags                         category
//	alternate     url                          link
//	enclosure     attachments                  link
//	related       external_url                 link
//	icon          image                        link
//
// Of lists, all elements count: links, categories, people, enclosures, also those in
// media:group. Two people with one name or address are one, and so are two files with one
// URL. A guid is a link if it is a URL, does not state isPermaLink="false", and there is
// no other alternate link. Updated is a time of change only: a time of publication does
// not show whether an item has changed. Times may have any form; one that can't be read
// is kept as text. The people of RSS are written as "name", "address", "address (name)"
// or "name <address>", or with elements name and email. A length of 0 means an unknown
// length.
//
// A channel of RSS has the same elements. Its managingEditor is an author, its webMaster a
// contributor, its image the Logo, or else itunes:image or media:thumbnail; and Updated
// comes from lastBuildDate, dcterms:modified, pubDate or dc:date. A feed in RSS has no ID;
// in JSON Feed it is the feed_url.
//
// What has no place in these fields is kept in Elements as it is: elements of other
// namespaces, those of RSS that Atom does not have, such as ttl, and those after the
// first. The elements of media RSS, of itunes:image and of image are there, too, because
// they state more than a link. Elements have room as long as all parts of the feed fit
// into [Parser.MaxBytes], 10,000 of them in an entry; if some are left out, that is
// reported.
//
// The names of members of JSON count exactly as they are. An id may be a number, and is
// kept as it is written. The duration of an attachment is an attribute of its link, in
// [JSONNamespace]. A member that has no place in Atom, such as an extension, or that is
// more than fits, such as an author with an avatar, becomes an element with the name
// member of that namespace, with its JSON as text, in the order of the names. A member of
// another type than its own is left out with a finding; and with the item, which counts as
// skipped, if it is an id, a url, a content or an attachment.
//
// An attribute counts if it is in no namespace, and an element if it is in one of those of
// its format. RSS has many: none, those of 0.90 and 1.0, that of RDF, and any other that
// the root declares. A prefix that is not declared stands for its usual namespace.
//
// A description, content:encoded and a text of Atom with the type html or the mode
// escaped are HTML; HTML is kept as it is, and references in it are relative to the Base
// of the entry or the text. In xhtml:body, in texts with the type xhtml or the mode xml,
// and beside elements that stand in a text, what is escaped is text and stays so: it never
// becomes an element. Such texts become a div of XHTML, or HTML if they have no namespace.
// Texts in Base64 are decoded.
//
// The feed has the links of RFC 5005 between its documents: atom:link of RSS, next_url of
// JSON Feed, link of Atom; and fh:complete and fh:archive set Complete and Archive.
//
// Relative references are resolved against xml:base of the element, or of those around
// it, or without that against the document's URL (RFC 3986 §5.1). An xml:lang counts
// likewise; of RSS, so do dc:language and language.
//
// Entities that a DOCTYPE declares are read if they are text: 1000 of up to 64 KiB, whose
// references stand for up to 1 MiB. References to others stay as they are, external ones
// above all.
//
// Reading is liberal: elements that are not closed, entities of HTML, characters that XML
// does not allow and encodings that are not stated do not stop it, and are reported where
// it matters. An element that is not closed contains what follows, up to the end of the
// element around it; an element of HTML that has no end, and a link of Atom, are closed at
// once. Columns are then those of the repaired line. A document that is no feed, such as a
// login page, is [websync.ErrNotDocument]; one that is cut is [websync.ErrTruncated], and
// one that is too large is [websync.ErrLimit]: none looks like a feed without entries. A
// document is read as a whole and takes up to four times its size in memory: 64 MiB with
// the default of [Parser.MaxBytes], which a program can raise for a larger feed.
//
// # Identity
//
// An ID is kept as it is and need not be an IRI. An item without one has its link as ID,
// and is left out if it has no link. Three cases are different:
//
//   - The link is that of the feed, or other items of the document have it, too. Then a
//     hash of the item's title, time of publication and enclosures is added to the link
//     as a fragment; without any of these, one of its description and content. Nothing
//     beside the item counts, so that the ID stays while other items come and go. It
//     changes when one of these is edited, and when the item becomes the only one with
//     its link or ceases to be so: a Store may then hold it under both IDs.
//   - Several items have one ID and differ. If all state different times in Updated, they
//     are versions of one item. Otherwise the first is read, and the others are left out.
//   - Some items have the ID that their format demands (JSON Feed, RSS 1.0, Atom) and
//     others do not. Those have their links as IDs, and count as skipped, because their
//     own may be lost.
//
// Each is reported, with both items if there are two.
//
// # Damage
//
// What may have hidden an item counts in Skipped, and is reported: text or an unknown
// element between the items, text in one, or anything after the end; an item inside of
// another element; an element that is not closed, or an end tag without a start tag,
// outside of texts; a CDATA section or processing instruction that contains the start of
// another; a declaration; a second channel; a second title, guid or id of one item; an
// element in a guid, id or link; a member of JSON that is there twice. A complete feed
// with such damage deletes nothing.
//
// # Harvesting
//
// Parse is an [atom.Parser], for the field of this name of [atom.Source]:
//
//	src := &atom.Source{URL: "https://example.org/feed.rss", Parser: anyfeed.Parse}
//
// The Source calls it for documents that a Reader of Atom refuses: what is not Atom, a
// DOCTYPE that declares entities, an attribute that is there twice. Atom that is damaged
// otherwise stays an error. What the feed states about itself decides how it is
// read, as for Atom; most are windows of recent entries: an entry that leaves it is not
// deleted, and an entry that enters and leaves it between two runs is lost.
//
// # What is lost
//
// The result lacks these parts of such documents. Those marked with * are reported.
//
//   - tombstones*, and entries that are marked as deleted*
//   - of RSS, elements of Atom, RFC 5005 and RFC 6721 that are not in the table, and the
//     list of the items in RSS 1.0
//   - attributes that no format defines for their element; other elements in a person
//   - content of a media type that is neither a text, XML of one element nor Base64*
//   - of Atom that is not well-formed, elements of other namespaces, attributes of links
//     beyond rel, href, type, hreflang, title and length, content in Base64*, xml:base and
//     xml:lang inside of an entry, and whether a text was HTML or XHTML: both are HTML
//   - of JSON Feed, content_text beside content_html, and members of the wrong type*
//
// # Rules
//
// Every finding of Parse names one of the rules that [Rules] returns. [ValidateJSON]
// reports how a document departs from JSON Feed, by [JSONRules], and [ValidateRSS] from RSS
// and its extensions, by [RSSRules].
//
// Not supported: CDF, feeds inside HTML pages, and writing.
package anyfeed
