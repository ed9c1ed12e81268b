// Package publish serves any [websync.Publisher] over HTTP, or writes it to files.
//
// # Serving
//
// A [Handler] answers GET and HEAD (RFC 9110) with the documents of one or several
// Publishers:
//
//	http.Handle("/", &publish.Handler{Publishers: []websync.Publisher{
//		list, feed, // e.g. a sitemap and an Atom feed
//		publish.Bodies(store, locator),
//		publish.Text("/robots.txt", "User-agent: *\nDisallow: /private/\n"),
//	}})
//
// The Publishers of a site and Bodies share a Locator, which gives bodies their URLs. It
// reserves the paths of all lists, so that no body gets one of them:
//
//	list := &sitemap.Publisher{Catalog: store, Base: base}
//	feed := &atom.Publisher{Catalog: store, Base: base, Author: author}
//	locator := websync.PathLocator{Base: base, Own: []string{files.Key()}, Reserved: func(path string) bool {
//		return list.Reserved(path) || feed.Reserved(path)
//	}}
//	list.Locator, feed.Locator = locator, locator
//
// # Strangers
//
// Harvested resources are as hostile as their publisher, who chooses their ids, media
// types and bytes. Only resources of the sources that the Locator owns have URLs that
// they choose; all others are at URLs made by the Locator, below "r/" by default. A
// source is own only if nobody else writes it: a directory, say. /robots.txt and what is
// below /.well-known/ speak for the whole host, so that only an own source can have
// documents there.
//
// A [Handler] sends bodies with a Content-Security-Policy that makes a page a stranger to
// its host: it runs no script and reads none of the host's cookies. Files of [WriteDir]
// have no such header; the server of the files has to add it.
//
// # Lists
//
// A list is rendered once for each state of the Catalog, into memory or a temporary file,
// and served from there: it has a strong ETag, a length and ranges, and a slow reader
// holds nothing of the Catalog.
//
// # Files
//
// [WriteDir] writes the same bytes as files below a directory. It can be stopped anywhere
// without leaving a link to a missing file, and an index is never newer than its parts.
//
// # Publishers
//
// [Bodies] publishes the bytes that a Catalog holds, [Text] one fixed text; [Join] makes
// one Publisher of several.
//
// # Notices
//
// A [Pinger] notifies subscribers and hubs that there is something new.
//
// # Not supported
//
// Requests for several ranges at once are answered with the whole document (RFC 9110
// §14.2). gzip is the only coding that is made on demand.
package publish
