// Package sitemap reads, writes and checks sitemaps as
// https://www.sitemaps.org/protocol.html version 0.9 defines them: urlset, sitemapindex
// and text files, compressed with gzip or not, with the extensions that others have
// added; and the Sitemap lines of robots.txt files.
//
// # Reading a site
//
// [All] iterates over all entries of a site, whatever there is: one document, an index
// with all that it lists, or a robots.txt file. It gets the documents with a Fetcher,
// e.g. that of package harvest/fetch, and needs no Store.
//
// # Reading
//
// A [Reader] streams the entries of one document. What the document is, and whether it is
// compressed, its content tells, not its name. It is liberal: each departure from the
// protocol that reading meets is a [websync.Finding] for Reader.Report, and a bad entry
// costs none of its neighbours. Three outcomes are kept apart: entries or none of them;
// something that is not a sitemap, a login page for instance ([websync.ErrNotDocument]);
// a sitemap that is cut short or damaged ([websync.ErrTruncated], or another error with
// its place). [Reader.NextView] reads without allocating.
//
// Extension elements are kept as text in [Entry] Elements. Methods of Entry give those
// for images, videos, news and other languages as [Image], [Video], [News] and
// [Alternate].
//
// # Writing
//
// A [Writer] writes one document, a [SetWriter] as many as the entries need, and the
// index that lists them. Both are never liberal: an entry that the protocol, its schema
// or an extension refuses is an error, and nothing of it is written. The limits, 50,000
// entries and 52,428,800 bytes before compression, are kept to the byte. Two things only
// the caller can know: that no loc is written twice, and that all lie where the document
// may list them. [Validate] tells.
//
// The Element methods of Image, Video, News and Alternate turn them into what
// Entry.Elements holds.
//
// # Validating
//
// [Validate] reads a document as a Reader does and reports all that it demands, what
// Readers forgive and what they never look at: places, duplicates, the schema, what is
// inside of the extensions. The severity is [websync.Error] for what the protocol or an
// extension demands, [websync.Warning] for advice, [websync.Info] for what is allowed and
// worth knowing.
//
// # Rules
//
// Every finding names one of these rules, which [Rules] returns with the sections that
// demand them.
//
//	1   error   sitemap-xml                  a fault of the XML
//	2   error   sitemap-truncated            the document ends too early
//	3   error   sitemap-document             something that is not a sitemap, or that can't be read
//	4   error   sitemap-prologue             a line before the XML declaration
//	5   error   sitemap-encoding             another encoding than UTF-8
//	6   error   sitemap-doctype              a DOCTYPE
//	7   warning sitemap-gzip                 bytes after the compressed data, or compressed twice
//	8   error   sitemap-size                 more than 50 MiB (52,428,800 bytes) uncompressed
//	10  error   sitemap-namespace            another namespace than http://www.sitemaps.org/schemas/sitemap/0.9
//	11  error   sitemap-root                 a urlset that holds sitemap elements
//	12  error   sitemap-entry                a url in an index, a sitemap among urls
//	13  warning sitemap-empty                no entries
//	14  error   sitemap-entries              more than 50,000 entries
//	15  error   sitemap-unknown-element      an element that the protocol does not have
//	16  error   sitemap-element-name         a name in the wrong case
//	17  error   sitemap-duplicate-element    loc, lastmod, changefreq or priority twice
//	18  error   sitemap-element-order        elements in another order than loc, lastmod, changefreq, priority, extensions
//	19  error   sitemap-element-size         more extension elements than are kept
//	20  error   sitemap-text                 text between the elements
//	21  error   sitemap-attribute            an attribute that the protocol does not have
//	22  info    sitemap-foreign-attribute    an attribute of another namespace
//	23  error   sitemap-index-element        changefreq, priority or an extension for pages in an index
//	24  error   sitemap-nesting              an entry in another place than directly below the root
//	30  error   sitemap-loc-missing          no loc, or an empty one: the entry is skipped
//	31  info    sitemap-loc-space            white space around loc
//	32  error   sitemap-loc-relative         a relative URL
//	33  error   sitemap-loc-length           2,048 characters or more
//	34  warning sitemap-loc-short            fewer than 12 characters, which the schema refuses
//	35  error   sitemap-loc-syntax           not an HTTP URL as RFC 3986 defines it
//	36  error   sitemap-loc-escape           characters outside ASCII that are not percent-encoded
//	37  warning sitemap-loc-fragment         a fragment, which names no page of its own
//	38  warning sitemap-loc-user             a user name or password in the URL
//	39  warning sitemap-loc-duplicate        a loc that is listed twice
//	40  error   sitemap-lastmod              not a W3C datetime
//	41  warning sitemap-lastmod-future       more than a day ahead
//	42  info    sitemap-lastmod-schema       a W3C datetime that the schema refuses: neither a full date nor a full time
//	43  error   sitemap-changefreq           not one of the seven values
//	44  error   sitemap-priority             not a number from 0.0 to 1.0
//	45  error   sitemap-text-line            a line of a text sitemap that is not one URL
//	50  error   sitemap-host                 an entry on another host, port or scheme than the sitemap
//	51  error   sitemap-location             an entry that is not below the directory of the sitemap
//	52  error   sitemap-cross-submit         an entry on another host whose robots.txt does not name the sitemap
//	53  error   sitemap-index-site           an index that lists a sitemap of another site
//	54  error   sitemap-index-nested         an index inside an index
//	55  error   sitemap-repeated             a document that is listed twice, or that lists itself
//	56  error   sitemap-robots               a Sitemap line with a relative URL
//	57  warning sitemap-cut                  a text that may have been cut: only the end of the connection ended it
//	60  error   sitemap-extension-namespace  a namespace that is almost the one of an extension
//	61  error   sitemap-extension-place      an extension element outside of its parent
//	62  warning sitemap-extension-element    an element that the extension does not have
//	63  info    sitemap-extension-deprecated an element that is no longer used
//	70  error   sitemap-image-child          an image without its loc, or with one too many of an element
//	71  error   sitemap-image-value          a value that an image can't have
//	72  error   sitemap-image-count          more than 1,000 images of one page
//	80  error   sitemap-video-child          a video that lacks a required element, or with one too many
//	81  error   sitemap-video-value          a value that a video can't have
//	82  error   sitemap-video-length         a text of a video that is too long
//	90  error   sitemap-news-child           a news article that lacks a required element, or with one too many
//	91  error   sitemap-news-value           a value that a news article can't have
//	92  error   sitemap-news-repeated        two news elements of one page
//	93  error   sitemap-news-count           more than 1,000 news articles in one document
//	94  warning sitemap-news-age             a news article of more than two days ago
//	100 error   sitemap-hreflang-value       an alternate without a language code, or without an absolute URL
//	101 error   sitemap-hreflang-repeated    two alternates of one page for one language
//	102 error   sitemap-hreflang-self        alternates of which none is the page itself
//
// A Reader reports those up to 45 but for 2, 3, 34, 37 to 39 and 42; a [Source] also 39,
// 50 and 54 to 57; Validate all but 56 and 57. A [Publisher] reports 33, 34 and 35 of
// what it can't list.
//
// # Harvesting
//
// A [Source] turns a sitemap, with all that it lists, into events for package harvest.
//
// # Publishing
//
// A [Publisher] turns what a Store holds into a sitemap for package publish: one
// document, or an index of parts, each a fixed range of the records, so that a reader who
// walks the set while it changes misses nothing that stays. It is plain: what search
// engines don't know is not in it, and so it can stand beside the richer documents of
// other protocols.
//
// # Not supported
//
// RSS and Atom feeds in place of a sitemap, which other packages read; the elements of
// Google's extensions for which [Video] has no field, and its extensions for mobile and
// code search, which stay text; text sitemaps in Writer.
package sitemap
