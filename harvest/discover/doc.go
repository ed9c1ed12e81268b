// Package discover finds out what can be harvested at a URL, and by which protocol: a
// sitemap, a feed in Atom, RSS or JSON Feed, ResourceSync, Atom-PMH, a feed of the
// Swedish legal information system (rinfo), or ELI Pillar IV.
//
//	finder := &discover.Finder{Fetcher: fetch.New(catalog)}
//	result, err := finder.Find(ctx, "https://example.org/")
//	…
//	offers, err := result.Choose()
//	…
//	for _, offer := range offers {
//		report, err := harvester.Run(ctx, offer.Source())
//		…
//	}
//
// A later Find may miss an offer of this one: remember what was chosen, and go on with
// it. Nothing but [harvest.Harvester.Remove] deletes the records of a source that is no
// longer found.
//
// # Where Find looks
//
// Find requests documents with its Fetcher, one after the other, each once, and no more
// than MaxRequests. Nothing else happens: no State is written, and no page is rendered.
//
//  1. The document at the URL. If it can be harvested, that is all. Related documents
//     are then requested: the Capability List of a Resource List, the subscription
//     document of an archive document, the feeds of an index of feeds, the update feed of
//     an ELI sitemap, and the sitemap of such a feed.
//  2. What the document links to, in its HTTP header or in the head of a web page, with
//     the relations resourcesync, sitemap and feed; alternate with the media type of a
//     feed; and self, if there is a WebSub hub. If the URL has a path and something is
//     found, that is all. If it has none, the host comes first: a page may link to more
//     than may be requested.
//  3. The host: the Source Description at /.well-known/resourcesync, and what the
//     Sitemap lines of robots.txt name, which are one set. If none of that states
//     changes and deletions, /eli/sitemap.xml follows, and the usual places of sitemaps:
//     /sitemap.xml, /sitemap_index.xml, /wp-sitemap.xml, /sitemap-index.xml,
//     /sitemap.xml.gz and /sitemap.txt; if the URL has a path, only as long as nothing is
//     found. Then, as long as nothing is found, /feed.atom, /atom.xml and /feed.
//
// A host that answers that it is overloaded is left alone.
//
// # What an offer is
//
// An Offer is a set of resources: its protocol, the URL of the document with which a
// harvest begins, and the evidence for it. Names and media types decide nothing; what a
// document is, its content says: the root element and its namespace, the capability of a
// document of ResourceSync, fh:complete, the links of a feed. It is taken for a profile
// of Atom, or for ELI, only if its signs are strong:
//
//   - ELI: at least half of the URLs of a sitemap have the step eli, and there is an
//     update feed: one that the sitemap names (dct:relation), that leads to the sitemap,
//     or that is beside it or at /eli/eli-update-feed.atom. The place /eli/sitemap.xml is
//     a strong sign, too.
//   - rinfo: each entry has a time of publication, a linked content, and MD5 digests of
//     all that it links to; or ids are official URIs, and entries link to RDF data.
//   - Atom-PMH: some entries are deletions by its rules, and all others have alternate
//     links and no content; or all have alternate links to metadata and no content, in a
//     feed that is archived, complete, or has a link current.
//
// With weaker signs it is offered as a sitemap or as Atom, and the evidence says which
// signs there were.
//
// # Outcomes
//
// A page that leads to nothing, such as a login page, a page that is not there, and a
// document that is cut short are different outcomes: Result.Tried has the first, and the
// others are errors of Find if nothing else was found. A document that is damaged further
// on is offered nevertheless: the harvest then reports the damage and deletes nothing.
// Result.Choose returns what to harvest; it never guesses between offers that are equally
// good.
//
// # Private addresses
//
// All requests have the URL as Root. So a Fetcher such as that of package fetch reaches a
// private address only if that URL names its host, whatever a page links to. That holds
// for the Sources of offers, too: see Offer.Bind.
//
// # Not supported
//
// Links in the body of a page, pages that need a script, and sitemaps that hosts have at
// other places without saying so.
package discover
