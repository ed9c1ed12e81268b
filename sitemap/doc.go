// Package sitemap reads sitemaps as https://www.sitemaps.org/protocol.html version 0.9 defines them: urlset, sitemapindex
// and text files, compressed with gzip or not, with the extensions that others have added; and the Sitemap lines of
// robots.txt files.
//
// Reading. A [Reader] streams the entries of one document. What the document is, and whether it is compressed, its content
// tells, not its name. It is liberal: each departure from the protocol is a [websync.Finding] for Reader.Report, and a bad
// entry costs none of its neighbours. Three outcomes are kept apart: entries or none of them; something that is not a
// sitemap, a login page for instance ([websync.ErrNotDocument]); a sitemap that is cut short or damaged
// ([websync.ErrTruncated], or another error with its place). [Reader.NextView] reads without allocating.
//
// Rules. The findings of a document name one of these rules:
//
//	sitemap-xml                 a fault of the XML that does not touch its structure, e.g. a raw "&"
//	sitemap-prologue            a line before the XML declaration
//	sitemap-gzip                bytes after the compressed data
//	sitemap-namespace           another namespace than [Namespace]
//	sitemap-root                a urlset that holds sitemap elements
//	sitemap-entry               a url in an index, a sitemap among urls
//	sitemap-empty               no entries
//	sitemap-entries             more than 50,000 entries
//	sitemap-size                more than 50 MiB
//	sitemap-unknown-element     an element that the protocol does not have
//	sitemap-duplicate-element   loc, lastmod, changefreq or priority twice
//	sitemap-element-name        a name in the wrong case
//	sitemap-element-size        more extension elements than are kept
//	sitemap-loc-missing         no loc, or an empty one: the entry is skipped
//	sitemap-loc-space           white space around loc
//	sitemap-loc-relative        a relative URL
//	sitemap-loc-length          2,048 characters or more
//	sitemap-loc-syntax          not an HTTP URL
//	sitemap-loc-escape          characters outside ASCII
//	sitemap-lastmod             not a W3C datetime
//	sitemap-lastmod-future      more than a day ahead
//	sitemap-changefreq          not one of the seven values
//	sitemap-priority            not a number from 0.0 to 1.0
//	sitemap-index-element       changefreq or priority in an index
//	sitemap-text-line           a line of a text sitemap that is not one URL
//
// and those of a set of documents:
//
//	sitemap-host                entries on another host than their sitemap
//	sitemap-index-nested        an index inside an index
//	sitemap-repeated            a document that is listed twice, or that lists itself
//	sitemap-robots              a Sitemap line with a relative URL
//
// Harvesting. A [Source] turns a sitemap, with all that it lists, into events for package harvest.
//
// Not supported: writing, and RSS and Atom feeds in place of a sitemap, which other packages read. Extension elements are
// kept as text; they are not interpreted.
package sitemap
