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
//	Published   pubDate, dcterms:created, dc:date    date_published               published, issued
//	Authors     dc:creator, author                   authors, author              author
//	Categories  category, dc:subject                 tags                         category
//	alternate   link, atom:link, guid as permalink   url                          link
//	enclosure   enclosure                            attachments                  link
//	replies     comments                                                          link
//
// If several are stated, the first one is used; of links, categories and dc:creators, all
// are. An ID is kept as it is and need not be an IRI; an item without an ID is left out.
// An item without Updated gets the time of Published. Times may have any form; one that
// can't be read is kept as text. A feed in RSS has no ID; in JSON Feed it is the
// feed_url. A length of 0 means an unknown length, and the scheme of a category is left
// out unless it is absolute.
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
// # Harvesting
//
// Parse is an [atom.Parser], for the field of this name of [atom.Source]:
//
//	src := &atom.Source{URL: "https://example.org/feed.rss", Parser: anyfeed.Parse}
//
// The Source calls it for documents that are not Atom. A document that begins as Atom and
// is damaged later stays an error. Every feed that Parse reads is a window of recent
// entries: an entry that leaves it is not deleted, and an entry that enters and leaves it
// between two runs is lost.
//
// # What is lost
//
// The result lacks these parts of such documents. Those marked with * are reported.
//
//   - links to other documents of a feed: archives, pages, next_url; fh:complete and
//     fh:archive. Without tombstones a walk over them would be unsafe
//   - tombstones*, and entries that are marked as deleted*
//   - attributes of links beyond rel, href, type, hreflang, title and length: hash,
//     le:md5, those of other namespaces
//   - elements of other namespaces: all but those in the table, dc:title, dc:language,
//     dc:rights and atom:link
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
