// Package sitemap reads, writes and checks sitemaps as
// https://www.sitemaps.org/protocol.html defines them, version 0.9: urlset, sitemapindex
// and text files, plain or compressed with gzip, with alternates and other extensions;
// and the Sitemap lines of robots.txt files.
//
// # Reading a site
//
// [All] iterates over all entries of a site: those of one document, of an index with all
// that it lists, or of the sitemaps that a robots.txt file names. It gets the documents
// with a Fetcher, for example that of package harvest/fetch, and needs no Store.
//
// # Reading
//
// A [Reader] streams the entries of one document. It recognises the format, and
// compression, by the content, not by the name. It is liberal: it passes each departure
// from the protocol as a [websync.Finding] to Reader.Report, and a bad entry costs none
// of its neighbours. It distinguishes three outcomes: a sitemap, which may have no
// entries; something else, for instance a login page ([websync.ErrNotDocument]); and a
// sitemap that is cut short or damaged ([websync.ErrTruncated], or another error with its
// position). [Reader.NextView] reads without allocating.
//
// Extension elements are kept as text in [Entry] Elements. [Entry.Alternates] returns a
// page's versions in other languages. Package sitemap/google reads images, videos and
// news.
//
// # Writing
//
// A [Writer] writes one document, its [Head] first; a [SetWriter] writes as many as the
// entries need, and the index that lists them. Neither is liberal: they refuse entries
// that the protocol, its schema or a known extension forbids, and write nothing of them.
// They keep to the limits of 50,000 entries and 52,428,800 bytes before compression
// exactly. Only the caller can know that no loc is written twice, and that the document
// may list every loc; [Validate] checks both.
//
// [Alternate.Element], and the Element methods of package sitemap/google, make what
// Entry.Elements holds.
//
// # Validating
//
// [Validate] reads a document as a Reader does and also reports what Readers never check:
// locations, duplicates, the schema, the content of extensions. The severity is
// [websync.SeverityError] for what the protocol or an extension demands,
// [websync.SeverityWarning] for advice, and [websync.SeverityInfo] for what is allowed
// but worth knowing.
//
// # Rules
//
// Every finding names one of the rules that [Rules] returns, with the section that
// demands it, or a rule of an [Extension].
//
// A Reader reports the rules about bytes, elements and values, except for those about
// locs and dates that only Validate checks; a [Source] also those about a set of
// documents. A [Publisher] reports sitemap-loc-length, sitemap-loc-short,
// sitemap-loc-syntax and sitemap-profile for what it can't list.
//
// # Harvesting
//
// A [Source] turns a sitemap, with all that it lists, into events for package harvest.
//
// # Publishing
//
// A [Publisher] turns the content of a Catalog into a sitemap for package publish: one
// document, or an index of parts. Each part is a fixed range of the records, so a reader
// that walks the set while it changes misses nothing that stays. The sitemap holds only
// what search engines know, and can be published beside the richer documents of other
// protocols.
//
// # Not supported
//
// RSS and Atom feeds used as sitemaps, which other packages read; Google's extensions for
// mobile and code search, which stay text; text sitemaps in Writer.
package sitemap
