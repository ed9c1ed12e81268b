// Package anyfeed reads other feeds as Atom: RSS 0.9x, 1.0 and 2.0, JSON Feed 1.0 and
// 1.1, Atom 0.3, and Atom that is broken. It uses the parsers of
// github.com/mmcdole/gofeed.
//
// # Reading
//
// [Parse] returns a document as a feed and items of package atom. The content decides its
// format and whether it is compressed. Each field of an entry comes from these elements
// of its item:
//
//	            RSS                                  JSON Feed                    Atom
//	ID          guid, rdf:about, link                id, url                      id, alternate link
//	Title       title (text)                         title (text)                 title
//	Summary     description (HTML)                   summary (text)               summary
//	Content     content:encoded (HTML)               content_html, content_text   content
//	Updated     dcterms:modified, atom:updated       date_modified                updated, modified
//	Published   pubDate, dcterms:created, dc:date    date_published               published, issued, created
//	Authors     dc:creator, author                   authors, author              author
//	Categories  category, dc:subject                 tags                         category
//	alternate   link, atom:link, guid as permalink   url                          link
//	enclosure   enclosure                            attachments                  link
//	replies     comments                                                          link
//
// If several are stated, the first one is used; of links, categories and dc:creators, all
// are. Updated is a time of change only: a time of publication does not show whether an
// item has changed. Times may have any form; one that can't be read is kept as text. A
// feed in RSS has no ID; in JSON Feed it is the feed_url. A length of 0 means an unknown
// length, and the scheme of a category is left out unless it is absolute.
//
// The feed has the links of RFC 5005 between its documents: atom:link of RSS, next_url of
// JSON Feed, link of Atom; and fh:complete and fh:archive set Complete and Archive.
//
// Relative references are resolved against xml:base of the feed or the item, or without
// that against the document's URL. HTML is kept as it is; references in it are relative
// to the Base of the entry.
//
// Reading is liberal: elements that are not closed, entities of HTML, characters that XML
// does not allow and encodings that are not stated do not stop it, and are reported where
// it matters. An element that is not closed contains what follows, up to the end of the
// entry; a link is closed at once. A document that is no feed, such as a login page, is
// [websync.ErrNotDocument]; one that is cut is [websync.ErrTruncated], and one that is
// too large is [websync.ErrLimit]: none looks like a feed without entries. A document is
// read as a whole and takes up to four times its size in memory: 64 MiB with the default
// of [Parser.MaxBytes], which a program can raise for a larger feed.
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
// another; a declaration; a second title, guid or id of one item; an element in a guid,
// id or link; a member of JSON that is there twice. A complete feed with such damage
// deletes nothing.
//
// # Harvesting
//
// Parse is an [atom.Parser], for the field of this name of [atom.Source]:
//
//	src := &atom.Source{URL: "https://example.org/feed.rss", Parser: anyfeed.Parse}
//
// The Source calls it for documents that are not Atom. A document that begins as Atom and
// is damaged later stays an error. What the feed states about itself decides how it is
// read, as for Atom; most are windows of recent entries: an entry that leaves it is not
// deleted, and an entry that enters and leaves it between two runs is lost.
//
// # What is lost
//
// The result lacks these parts of such documents. Those marked with * are reported.
//
//   - tombstones*, and entries that are marked as deleted*
//   - attributes of links beyond rel, href, type, hreflang, title and length: hash,
//     le:md5, those of other namespaces
//   - elements of other namespaces: all but those in the table, dc:title, dc:language,
//     dc:rights, atom:link, fh:complete and fh:archive
//   - content of Atom in Base64*, and XML that does not declare its prefixes itself*
//   - xml:base and xml:lang inside of an entry, and whether a text was HTML or XHTML:
//     both are HTML
//   - of RSS, ttl, cloud, textInput, skipHours, skipDays, rating, all but the URL of an
//     image, and channels but the last*
//   - of JSON Feed, images of items, avatars, durations, extensions, and items of which a
//     member has the wrong type*
//
// # Rules
//
// Every finding names one of the rules that [Rules] returns.
//
// Not supported: CDF, RSS whose inner elements have namespaces of their own, feeds inside
// HTML pages, validation and writing.
package anyfeed
