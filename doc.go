// Package websync defines the types that all packages of the SDK share. Its documentation
// is the map of the SDK. The SDK keeps programs in step with publishers on the web, and
// lets others keep in step with them, by the web's synchronisation protocols.
//
//	publishers on the web                              readers on the web
//	sitemap      ─┐                                    ┌─ sitemap
//	atom         ─┤                                    ├─ atom
//	resourcesync ─┤          harvest                   ├─ resourcesync
//	eli          ─┼Source ─▶ engine ─▶ Store ─▶ Catalog┼─ eli     Publisher ─▶ publish
//	atompmh      ─┤events    memory, SQLite,   records ├─ atompmh documents    HTTP, files
//	rinfo        ─┤          PostgreSQL        and a log└─ rinfo
//	a directory  ─┘
//
// # The types
//
// A URI names a [Resource]. Each [Link] of a resource leads to one representation and
// states its length and [Digests], which [Link.Verify] checks while the bytes stream. A
// [Datetime] keeps the precision in which it was stated. An [Item] is a record of a
// [Catalog], or an entry of its log of changes; a [Log] is a Catalog in memory. A
// [Publisher] turns a Catalog into documents, each a [Document]. A [Locator], by default
// a [PathLocator], gives bodies their URLs. A [Finding] is one departure of a document
// from a [Rule] of its specification; a [ParseError] is an error that ends the reading of
// a document.
//
// # The packages
//
//   - sitemap: Sitemaps, reading, writing, validating, a Source and a Publisher;
//     sitemap/google: images, videos and news
//   - atom: Atom with archives and tombstones, likewise; atom/anyfeed: RSS and JSON Feed
//   - atompmh: feeds of the Atom Feed Protocol for Metadata Harvesting, likewise
//   - resourcesync: the documents of ResourceSync, reading, writing, validating, a Source
//     and a Publisher
//   - rinfo: the Atom profile of the Swedish legal information system, a Source,
//     a Publisher and checks
//   - eli: ELI Pillar IV, the metadata of legislation in pages and its full text, Sources
//     and a Publisher
//   - eli/rdfa, eli/jsonld: triples from pages with RDFa and JSON-LD; eli/rdf: terms,
//     triples, N-Quads
//   - eli/conformance: checks publishers by all rules of ELI Pillar IV
//   - harvest: events, the engine, what Sources, Stores and Fetchers are
//   - harvest/fetch: the Fetcher for HTTP
//   - harvest/memstore, harvest/sqlitestore, harvest/pgstore: Stores
//   - harvest/union: one Source of several
//   - harvest/dirsource: a directory as a Source
//   - harvest/discover: what a URL offers, and by which protocol
//   - harvest/schedule: many sources, each when it is due
//   - harvest/status: what runs did, as a page of a program and one that is served
//   - harvest/otelhooks: runs as traces and metrics of OpenTelemetry, a module of its own
//   - harvest/notify: WebSub subscriptions and pings that trigger a run
//   - harvest/riverjobs: sources spread over machines by a queue, a module of its own
//   - harvest/s3blobs: long bodies in an object store, a module of its own
//   - publish: what Publishers make, over HTTP or as files
//   - harvest/storetest, harvest/sourcetest, publish/catalogtest: suites that check
//     anybody's Store, Source or Catalog
//   - examples/websync: a program that harvests, publishes, checks documents, and relays
//     several sources by other protocols
//   - examples/mirror, examples/service, examples/table, examples/source,
//     examples/titles, examples/store: small programs to copy
//   - examples/worker: a program that harvests on many machines, a module of its own
//
// README.md has an example for each job, and a first service.
//
// This package uses the standard library only and does no I/O of its own.
package websync
