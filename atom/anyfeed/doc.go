// Package anyfeed reads what is not sound Atom as if it were: RSS 0.9x, 1.0 and 2.0, JSON
// Feed 1.0 and 1.1, Atom 0.3, and Atom that is broken. It stands on the parsers of
// github.com/mmcdole/gofeed.
//
// # Reading
//
// [Parse] gives a document as a feed and items of package atom. It finds out by the
// content what the document is and whether it is compressed. Each entry says what its
// item says:
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
// Of several the first that is stated counts, except that all links, categories and
// dc:creators do. An ID is taken as it is and need not be an IRI; an item without any is
// left out. Without Updated, Published counts for both. Times are those of the document,
// in whatever form; one that can't be read is kept as text. A feed in RSS has no ID; in
// JSON Feed it is the feed_url. A length of 0 is taken for one that is not known, and a
// category's scheme is left out unless it is absolute.
//
// Relative references are resolved against xml:base of the feed or the item, else against
// the document's URL. HTML is kept as it is; references in it are relative to the Base of
// the entry.
//
// Reading is liberal: elements that are not closed, entities of HTML, characters that XML
// does not have and encodings that are not stated are survived, and reported where it
// matters. What is not closed takes in what follows, up to the end of the entry; links
// are closed. Kept apart are a feed, even one without entries; what is no feed, such as a
// login page ([websync.ErrNotDocument]); and one that is cut short
// ([websync.ErrTruncated]) or too large ([websync.ErrLimit]). A document is read as a
// whole and takes a multiple of its size in memory; [MaxBytes] and [MaxEntries] limit it.
//
// # Harvesting
//
// Parse is an [atom.Parser], for the field of this name of [atom.Source]:
//
//	src := &atom.Source{URL: "https://example.org/feed.rss", Parser: anyfeed.Parse}
//
// The Source asks it for documents that are not Atom. One that begins as Atom and is
// damaged further on is not given to it, and stays an error. All that Parse reads is a
// window of recent entries: what leaves it is not deleted, and what passes it between two
// runs is lost.
//
// # What is lost
//
// These are in such documents and not in the result. Those marked with * are reported.
//
//   - links to other documents of a feed: archives, pages, next_url; fh:complete and
//     fh:archive. Since tombstones are lost, to walk over them would be unsafe
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
// Not supported: CDF, RSS in namespaces of its own making on inner elements, feeds inside
// of HTML pages, validation and writing.
package anyfeed
