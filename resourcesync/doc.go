// Package resourcesync reads, writes and checks the documents of ResourceSync, ANSI/NISO
// Z39.99-2014 (version 1.0) and Z39.99-2017 (version 1.1): Source Description, Capability
// List, Resource List, Resource Dump, Change List, Change Dump, their indexes, the
// manifests of packages, and the four archives.
//
// All of them are sitemaps with two more elements: md, which is [Metadata], and ln, which
// is a [Link]. The [Capability] of a document states what it is. Its root element states
// whether it is an index. This package reads and writes them with package sitemap.
//
// # Reading
//
// A [Reader] streams the entries of one document, of version 1.0 or 1.1, compressed or
// not. [Reader.Head] returns the metadata of the document, before the first entry. It is
// liberal: it passes each departure from the standard as a [websync.Finding] to
// Reader.Report, and a bad value costs no entry. Where a value is in doubt, the text of
// the attribute is in the field Faulty. [Reader.NextView] reads without allocating.
//
// A Change List of version 1.1 states the time of a change in Metadata.Datetime; in one
// of version 1.0 it is Entry.LastMod. In both the order of the entries must be that of
// the changes; some publishers have the newest first.
//
// # Writing
//
// A [Writer] writes one document of version 1.1. It is never liberal: it refuses a head
// and entries that the standard forbids for the document's Capability.
//
// # Validating
//
// [Validate] reads one document and reports each departure from the standard and from the
// protocol of sitemaps. [ValidateTree] walks all documents of a source, from its Source
// Description down, and reports also what does not fit together. It opens the packages of
// dumps, too, if it is given the means.
//
// # Harvesting
//
// A [Source] harvests what one Capability List offers: a baseline of the Resource List,
// or of a Resource Dump, and then what the Change Lists, or Change Dumps, say. The
// packages of dumps are ZIP files, or tar archives, which may be compressed with gzip or
// xz. It also gets the bodies: it tries the mirrors of a resource first, and applies
// patches to what the Store holds. [Discover] finds the sets of resources that a site
// offers.
//
// All other links of a resource are kept in its description. Fields of a Source act upon
// them: Types chooses among alternates and by content negotiation, DescribedBy and Select
// obtain the metadata with the resource, Collections chooses by membership, and
// [Versions] obtains mementos by links, from TimeGates and from TimeMaps (RFC 7089). A
// link via stays with the resource when it is published again.
//
// Change Notification 1.0.1 announces changes through a hub of WebSub: [Source.Channel]
// finds topic and hub, and [Source.Payload] reads what the hub sends, for package
// harvest/notify.
//
// # Rules
//
// Every finding names one of the rules that [Rules] returns, or one of package sitemap,
// with the section that demands it. The severity is [websync.SeverityError] for what the
// standard demands, [websync.SeverityWarning] for what it recommends, and
// [websync.SeverityInfo] for what is allowed but worth knowing. Where the versions
// differ, version 1.1 counts.
//
// # Publishing
//
// A [Publisher] publishes a [websync.Catalog]: Source Description, Capability List,
// Resource List and Change Lists, with indexes as soon as one document is not enough;
// and, with [Dumps], the packages of a Resource Dump and a Change Dump.
//
// A reader finds them (§6.3) at the well-known URI; by the HTTP header or the page of a
// resource, to which publish.Linked and publish.HTMLLink add [Publisher.Link]; or by
// robots.txt, if Robots is set. A plain sitemap for search engines can be beside them:
//
//	site := &publish.Site{Catalog: catalog, Base: base, Own: own}
//	handler := site.Handler(&resourcesync.Publisher{}, &sitemap.Publisher{})
//
// Then robots.txt names the sitemap, and with Robots also the Resource List. A host with
// several sets of resources has a Publisher for each, with Sources, a Path in a directory
// of its own, and a Linked of its own; one of them has the Source Description, which
// names the sets of the rest in Others.
//
// [Publisher.Notification] makes the Change Notifications that a publish.Pinger posts to
// hubs of WebSub after commits. A hub that takes none, but reads the topic itself, gets a
// form from a Pinger without a Notifier; its subscribers then read the Change List.
//
// # Not supported
//
// Publishing several dumps of one kind with an index: a dump lists up to 50,000 packages.
package resourcesync
