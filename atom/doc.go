// Package atom reads, writes, checks, harvests and publishes Atom: the Atom Syndication
// Format (RFC 4287) with paged, archived and complete feeds (RFC 5005), tombstones (RFC
// 6721) and the attributes of the Atom Link Extensions
// (draft-snell-atompub-link-extensions).
//
// # Reading
//
// A [Reader] streams a feed, an entry or a tombstone document, compressed or not: its
// metadata, then entries and tombstones one at a time, in their order. It is liberal:
// each departure from the specifications is a [websync.Finding] for Reader.Report, and an
// entry without an id costs none of its neighbours. Something that is not Atom, a
// document that is cut short or damaged, and a feed without entries are three outcomes.
// [Reader.NextView] reads without allocating.
//
// Relative references are resolved, against xml:base and the document's URL, but never an
// id. Digests are those of the attribute hash, or else of the older le:md5. Elements of
// other namespaces are kept, and attributes of other namespaces that links and content
// have. A deletion that is written as gd:deleted or sx:sync is a [Tombstone], too.
//
// [Entry.Resource] makes an entry the resource that package harvest stores, and [EntryOf]
// goes back.
//
// # Writing
//
// A [Writer] is never liberal: what the specifications demand and an entry lacks is an
// error, before anything of it is written. Tombstones come before entries.
//
// # Validating
//
// [Validate] reads one document and reports each departure from the specifications, a
// [ChainValidator] all documents of an archived feed, and whether they fit together. A
// profile of Atom adds its own questions to both.
//
// # Harvesting
//
// A [Source] harvests a feed from its subscription document on, whatever its kind:
// complete, archived, paged, or a window:
//
//	report, err := h.Run(ctx, &atom.Source{URL: "https://example.org/feed.atom"})
//
// [All] iterates over the entries of a feed, archived and paged ones to their end, each
// in its newest state, without a Store:
//
//	for entry, err := range atom.All(ctx, fetch.New(nil), "https://example.org/feed.atom") {
//		if err != nil {
//			log.Fatal(err)
//		}
//		fmt.Println(entry.ID, entry.Title.Value)
//	}
//
// Package atom/anyfeed has a [Parser], anyfeed.Parse, for feeds that are not Atom.
//
// # Publishing
//
// A [Publisher] makes a Catalog an archived feed: a subscription document and archive
// documents that never change again, with tombstones, digests and lengths; or a complete
// feed. Package publish serves it.
//
// # Profiles
//
// A profile is a protocol that demands more of Atom. The fields Feed and Item of a Source
// and of a Publisher change what is read and what is written; Profile names them, so that
// documents and positions of another profile are not taken for its own.
//
// # Not supported
//
// Signatures are kept and not verified. The W3C's and others' extensions (threading,
// paging by feeds of feeds, GeoRSS) are foreign elements. The Atom Publishing Protocol
// (RFC 5023) is not here. Attributes of other namespaces that other elements than links
// and content have, the extensions of a person, xml:lang of persons, links and
// generators, and the link extensions' etag and accessed are not kept.
//
// # Rules
//
// Every finding names one of the rules that [Rules] returns, with the section that
// demands it.
package atom
