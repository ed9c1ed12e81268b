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
// inside of the extensions. The severity is [websync.SeverityError] for what the protocol or an
// extension demands, [websync.SeverityWarning] for advice, [websync.SeverityInfo] for what is allowed and
// worth knowing.
//
// # Rules
//
// Every finding names one of the rules that [Rules] returns, with the section that demands
// it.
//
// A Reader reports the rules about bytes, elements and values, except for those about
// locs and dates that only Validate looks at; a [Source] also those about a set of
// documents. A [Publisher] reports sitemap-loc-length, sitemap-loc-short and
// sitemap-loc-syntax of what it can't list.
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
