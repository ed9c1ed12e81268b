// Package rinfo implements the profile of Atom by which the Swedish legal information
// system collects the feeds of authorities: Atom-insamling, Rättsinformationssystemets
// användning av Atom-flöden. It stands on package atom, and holds only what the profile
// adds. Section numbers are those of the specification.
//
// An entry packages the documents of one legal resource: its id is the official URI, its
// content the primary representation, its alternates the RDF data and other formats, and
// its enclosures the attachments. All are verified by MD5 or stronger digests. A feed is
// complete, or a chain of archive documents with tombstones.
//
// # Harvesting
//
// A [Source] harvests a feed (§8). It obtains all documents of an entry, or none:
//
//	report, err := h.Run(ctx, &rinfo.Source{URL: "https://www.example.se/index.atom"})
//
// [Sources] reads an index of feeds, and returns Sources for those that are on a list.
//
// # Publishing
//
// A [Publisher] publishes a Catalog as such a feed (§3, §6, §7): the depot of an
// authority, or the aggregate of many. With a [Locator] the documents of the approved
// sources have URLs at and below the official URIs:
//
//	const base = "http://rinfo.example.se/"
//	place := websync.Place{Catalog: catalog, Base: base}
//	feed := &atom.Publisher{Profile: rinfo.Profile(), Place: place, Author: author}
//	paths := websync.PathLocator{Base: base, Own: approved, Reserved: feed.Reserved}
//	feed.Locator = rinfo.Locator{PathLocator: paths}
//	bodies := publish.Bodies(catalog, feed.Locator)
//	handler := &publish.Handler{Publishers: []websync.Publisher{feed, bodies}}
//
// # Notifications
//
// A publisher may ping a collector when its feed has changed (§9). A collector has a
// notify.Receiver, whose list is that of the approved sources. It answers 202 to a POST
// request with the URL of a subscription document on the list, and a harvest is queued;
// 403 if it is not on the list; 400 without a URL; and 405 to other methods. A
// schedule.Scheduler runs one harvest of a source at a time, and no more than one in its
// Interval. A publish.Pinger sends the pings:
//
//	refusal := http.StatusForbidden
//	http.Handle("/ping", &notify.Receiver{Notify: scheduler.Notify, Refusal: refusal})
//	pinger := &publish.Pinger{Topics: []string{feed.URL()}, Subscribers: collectors}
//
// # Attachments
//
// [AttachmentURL] is the new URL of an enclosure, below the official URI of its resource
// (§3.3.7). A [Locator] serves all bodies of own resources at such URLs.
//
// # Validating
//
// [Validate] reads one document, and reports each departure from the profile (§7) and
// from Atom. [NewChainValidator] does so for an archived feed. With a [Verifier] both
// also compare the linked documents with their digests and lengths. Every finding names
// one of the rules that [Rules] returns, or one of package atom.
//
// # Not supported
//
// How official URIs are made is the subject of another specification, and so is what the
// RDF data of a document must state: neither is checked.
package rinfo
