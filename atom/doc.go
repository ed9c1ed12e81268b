// Package atom reads, writes, checks, harvests and publishes Atom: the Atom Syndication
// Format (RFC 4287) with paged, archived and complete feeds (RFC 5005), tombstones (RFC
// 6721) and the attributes of the Atom Link Extensions
// (draft-snell-atompub-link-extensions).
//
// # Reading
//
// A [Reader] streams a feed, an entry or a tombstone document, compressed or not: its
// metadata, then entries and tombstones one at a time, in their order. It is liberal: it
// passes each departure from the specifications as a [websync.Finding] to Reader.Report,
// and a bad entry costs none of its neighbours. It distinguishes three outcomes: a
// document, which may have no entries; something that is not Atom
// ([websync.ErrNotDocument]); and a document that is cut short or damaged
// ([websync.ErrTruncated], or another error with its position). [Reader.NextView] reads
// without allocating.
//
// Relative references are resolved against xml:base and the document's URL; an id never
// is. What a Source stores of inline content keeps that base ([Content.Bytes]). Digests
// come from the attribute hash, or else from the older le:md5. Elements of other
// namespaces are kept, and so are such attributes of links and content. A deletion that
// is written as gd:deleted or sx:sync is a [Tombstone], too.
//
// [Entry.Resource] turns an entry into the resource that package harvest stores;
// [EntryOf] does the reverse.
//
// # Writing
//
// A [Writer] is never liberal: it refuses an entry that breaks the specifications, and
// writes nothing of it. Tombstones come before entries.
//
// # Validating
//
// [Validate] reads one document and reports each departure from the specifications. A
// [ChainValidator] does so for all documents of an archived feed, and checks whether they
// fit together. A profile of Atom can add its own checks to both.
//
// # Harvesting
//
// A [Source] harvests a feed, starting at its subscription document. The feed may be
// complete, archived, paged, or a window on the latest entries:
//
//	report, err := h.Run(ctx, &atom.Source{URL: "https://example.org/feed.atom"})
//
// [All] iterates over the entries of a feed, each in its newest state, without a Store.
// It reads archived and paged feeds to their end:
//
//	const url = "https://example.org/feed.atom"
//	for entry, err := range atom.All(ctx, fetch.New(nil), url) {
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
// A [Publisher] turns a Catalog into an archived feed: a subscription document, and
// archive documents that never change again, with tombstones, digests and lengths. It can
// also make a complete feed. Package publish serves both.
//
// # Profiles
//
// A profile is a protocol that demands more of Atom. The fields Feed and Item of a Source
// and of a Publisher change what is read and what is written. The field Profile names the
// profile: documents and checkpoints of another one are not used.
//
// # Not supported
//
// Signatures are kept and not verified. Other extensions (threading, paging by feeds of
// feeds, GeoRSS) are kept as foreign elements. The Atom Publishing Protocol (RFC 5023) is
// not implemented. These are not kept: attributes of other namespaces on elements other
// than links and content; the extensions of a person; xml:lang of persons, links and
// generators; etag and accessed of the link extensions.
//
// # Rules
//
// Every finding names one of the rules that [Rules] returns, with the section that
// demands it.
package atom
