// Package publish serves any [websync.Publisher] over HTTP, or writes it to files.
//
// # Serving
//
// A [Site] is a Catalog, a base URL and the sources that are the publisher's own. It
// gives Publishers what they share, and a [Handler] answers GET and HEAD (RFC 9110) with
// their documents and with the bodies:
//
//	site := &publish.Site{Catalog: catalog, Base: base, Own: []string{files.Key()}}
//	http.Handle("/", site.Handler(
//		&sitemap.Publisher{}, &atom.Publisher{Author: author},
//		publish.Text("/robots.txt", "User-agent: *\nDisallow: /private/\n"),
//	))
//
// Its Publishers and [Bodies] share a Locator, which gives bodies their URLs. It reserves
// the paths of all lists, so that no body gets one of them. A site that needs another
// Locator sets the [websync.Place] of each Publisher, and makes the Handler itself.
//
// # Links
//
// [Linked] adds links to the HTTP headers of a Publisher's documents, for example the one
// that leads from each resource to the Capability List of ResourceSync; [HTMLLink] writes
// such a link into a page.
//
// # Strangers
//
// Harvested resources can be hostile: their publisher chooses their ids, media types and
// bytes. Only resources of the sources that the Locator owns keep their own URLs. All
// others have URLs made by the Locator, below "r/" by default. Declare a source as own
// only if nobody else writes it, such as a directory. /robots.txt and the documents below
// /.well-known/ apply to the whole host, so only an own source can have documents there.
//
// No list holds markup of others on which a browser may act: elements and attributes in
// the namespaces of XHTML, SVG, MathML, XSLT, XLink and others of the W3C, of Mozilla and
// of Microsoft, at any depth, and processing instructions. The rest of an entry is
// listed, the Catalog keeps all, and the Publisher's Report receives a finding
// "publish-active". What stays are the xhtml:link rel="alternate" of sitemaps, RDF
// vocabularies, and XHTML in the texts of Atom that does nothing but format, link and
// show images: any other text is published without markup. HTML in feeds is escaped text,
// which browsers do not act on and readers sanitize.
//
// A [Handler] sends bodies with a Content-Security-Policy that separates a page from its
// host: it cannot run scripts or read the host's cookies. The server of the files of
// [WriteDir] has to add that header: see there.
//
// # Lists
//
// A Handler renders a list once for each state of the Catalog, into memory or a temporary
// file, and serves it from there. So a list has a strong ETag, a length and ranges, and a
// slow client does not block the Catalog.
//
// # Files
//
// [WriteDir] writes the same bytes as files below a directory. It can be stopped anywhere
// without leaving a link to a missing file. With [Site.WriteDir], or a Catalog of
// [Freeze], all files are of one state, also while a harvest goes on.
//
// # Publishers
//
// [Bodies] publishes the bytes that a Catalog holds, [Text] one fixed text; [Join] makes
// one Publisher of several.
//
// # Notices
//
// A [Pinger] notifies subscribers and hubs of new content. With a [Notifier], for example
// a resourcesync.Publisher, it posts hubs what has changed.
//
// # Not supported
//
// Requests for several ranges at once are answered with the whole document (RFC 9110
// §14.2). gzip is the only coding that is made on demand.
package publish
