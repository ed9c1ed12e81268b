// Package atom reads, writes, checks, harvests and publishes Atom: the Atom Syndication
// Format (RFC 4287) with paged, archived and complete feeds (RFC 5005), tombstones (RFC
// 6721) and the attributes of the Atom Link Extensions
// (draft-snell-atompub-link-extensions).
//
// # Reading
//
// A [Reader] streams a feed, an entry or a tombstone document, compressed or not: what
// the feed says of itself, then entries and tombstones one at a time, in their order. It
// is liberal: each departure that reading meets is a [websync.Finding] for Reader.Report,
// and an entry without an id costs none of its neighbours. Something that is not Atom, a
// document that is cut short or damaged, and a feed without entries are three outcomes.
// [Reader.NextView] reads without allocating.
//
// Relative references are resolved, against xml:base and the document's URL, but never an
// id. Digests are those of the attribute hash, or else of the older le:md5. Elements of
// other namespaces are kept, and attributes of other namespaces that links and content
// have. Deletions that are written as gd:deleted or sx:sync, as met in the wild, are
// tombstones of another [TombstoneForm].
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
// [ChainValidator] all documents of an archived feed and what they say together.
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
// Every finding names one of these rules, which [Rules] returns with the sections that
// demand them.
//
//	1   error   atom-xml                 a fault of the XML
//	2   error   atom-truncated           the document ends too early
//	3   error   atom-document            something that is not an Atom document, or that can't be read
//	4   error   atom-prologue            a line before the XML declaration
//	5   info    atom-encoding            another encoding than UTF-8
//	6   info    atom-doctype             a DOCTYPE, which some readers refuse
//	7   warning atom-gzip                bytes after the compressed data, or compressed twice
//	10  error   atom-namespace           a namespace that is almost the one of Atom, or none
//	11  error   atom-element-size        more than is kept of one entry, or of the feed itself
//	12  info    atom-relative            a relative reference, and no absolute URL to resolve it against
//	13  info    atom-person-extension    an extension of a person, which is left out
//	14  info    atom-deleted-form        a deletion that is written as gd:deleted or sx:sync
//	15  error   atom-nesting             an entry or a tombstone inside of another, or of an element that has none
//	50  error   atom-feed-child          a feed without id, title or updated, or with one too many of an element
//	51  error   atom-feed-author         a feed without an author, and entries without one
//	52  warning atom-feed-self           a feed without a link to itself
//	53  warning atom-feed-order          metadata or a tombstone after an entry
//	54  warning atom-feed-updated        a feed that is older than one of its entries
//	55  error   atom-source-child        a source with one too many of an element
//	56  warning atom-source-lacks        a source without id, title or updated
//	57  error   atom-alternate           two alternate links of one type and hreflang
//	58  error   atom-text-between        text between the elements
//	59  warning atom-signature           a signature of something that is neither the document nor an entry
//	60  error   atom-unknown-element     an element that Atom does not have, or not in this place
//	61  error   atom-unknown-attribute   an attribute that Atom does not have, or not of this element
//	62  warning atom-no-namespace        an element without a namespace
//	63  error   atom-value-element       an element inside of a value, or one of Atom inside of a link or category
//	70  error   atom-entry-child         an entry without id, title or updated, or with one too many of an element
//	71  error   atom-entry-author        an entry without an author, of its own, of its source or of its feed
//	72  error   atom-entry-alternate     an entry with neither content nor an alternate link
//	73  error   atom-entry-summary       an entry without a summary whose content is elsewhere or in Base64
//	74  info    atom-entry-text          an entry with an empty title, or without any text
//	75  warning atom-entry-twice         two entries of one id and time
//	76  info    atom-entry-versions      two entries of one id
//	77  info    atom-published           an entry that is updated before it is published
//	79  warning atom-id-scheme           an id that is not as its scheme, tag or urn, demands: RFC 4151 §2.1, RFC 8141 §2, RFC 9562 §4
//	80  error   atom-date                not an RFC 3339 date and time
//	81  warning atom-date-future         a time more than a day ahead
//	82  error   atom-space               white space in a date or an IRI
//	83  error   atom-lang                an xml:lang that is not a language tag
//	84  error   atom-base                an xml:base that is not an IRI reference
//	85  error   atom-iri                 not an IRI
//	86  error   atom-id                  an id that is not an absolute IRI
//	87  warning atom-id-normal           an id that is not normalised
//	88  error   atom-category            a category without a term, or whose scheme is not an IRI
//	89  info    atom-generator           a generator without a name
//	90  error   atom-person-child        a person without a name, or with one too many of an element
//	91  warning atom-person-name         an empty name
//	92  error   atom-email               not an e-mail address
//	93  error   atom-text-type           a text whose type is not text, html or xhtml
//	94  error   atom-text-element        an element in a text of type text or html
//	95  warning atom-html                HTML that could not stand in a div
//	96  error   atom-xhtml               XHTML that is not one div
//	97  warning atom-xhtml-markup        XHTML that could not stand in a div
//	98  info    atom-category-term       a category with an empty term
//	100 error   atom-content-type        content whose type is not text, html, xhtml or a media type, or a composite one
//	101 error   atom-content-src         content elsewhere that is not at an IRI, has a type that is no media type, or is not empty
//	102 warning atom-content-src-type    content elsewhere without a type
//	103 error   atom-content-element     an element in content that has none
//	104 warning atom-content-xml         content of an XML type that is not one element
//	105 error   atom-content-base64      content that is not in Base64
//	110 error   atom-link-href           a link without href, or to what is not an IRI
//	111 error   atom-link-rel            a relation that is neither a name nor an IRI
//	112 warning atom-link-relation       the name of a relation that is not registered
//	113 warning atom-link-enclosure      an enclosure without its length
//	114 error   atom-link-type           a type that is not a media type
//	115 error   atom-link-hreflang       a hreflang that is not a language tag
//	116 error   atom-link-length         a length that is not a number of bytes
//	117 error   atom-hash                a hash that is not a list of algorithm:digest, in hex and of its algorithm's length
//	118 info    atom-hash-form           a hash of an algorithm that the link extensions do not name
//	119 warning atom-hash-conflict       two digests of one algorithm that differ
//	120 error   atom-md5                 an le:md5 that is not an MD5 digest
//	121 error   atom-link-modified       a modified or accessed that is not an RFC 3339 date and time
//	122 warning atom-link-extension      an attribute that the link extensions do not have, or not of this element
//	123 error   atom-link-etag           an etag that is not an entity tag in its quotation marks
//	130 warning atom-complete-paged      a complete feed that is one of several documents
//	131 error   atom-paging-twice        two documents that are next, or previous, or current
//	132 error   atom-paging-self         a document that is next to itself
//	133 error   atom-history-element     fh:complete or fh:archive outside of a feed's metadata, twice, or not empty
//	134 warning atom-history-unknown     an element that RFC 5005 does not have
//	135 warning atom-archive-current     an archive document that does not tell its subscription document
//	136 warning atom-archive-mark        an archive document without fh:archive
//	137 error   atom-archive-self        a subscription document that is marked as an archive document
//	140 error   atom-tombstone-ref       a tombstone without ref, or whose ref is not an absolute IRI
//	141 error   atom-tombstone-when      a tombstone without when, or whose when is not an RFC 3339 date and time
//	142 error   atom-tombstone-child     a tombstone with two of by, comment or source
//	143 info    atom-tombstone-element   an element of Atom or of tombstones that means nothing in a tombstone
//	144 warning atom-tombstone-place     a tombstone that is neither in a feed nor a document
//	145 error   atom-tombstone-twice     two tombstones of one ref and when
//	146 info    atom-tombstone-versions  two tombstones of one ref
//	147 info    atom-tombstone-live      an entry beside its tombstone, and not younger
//	148 info    atom-tombstone-revived   an entry beside its tombstone, and younger
//	160 error   atom-chain-missing       a document of the feed that can't be read
//	161 error   atom-chain-loop          a document before itself
//	162 error   atom-chain-kind          a document that is not a feed
//	163 error   atom-chain-subscription  a subscription document that is marked as an archive document
//	164 warning atom-chain-mark          a document of the archive without fh:archive
//	165 warning atom-chain-current       a document whose current is not the subscription document
//	166 warning atom-chain-next          a document whose next-archive is not the one after it
//	167 warning atom-chain-id            documents with different ids of the feed
//	168 warning atom-chain-order         an archive document that is younger than the document after it
//	169 warning atom-chain-twice         an entry or a tombstone with one id and time in two documents
//	170 warning atom-chain-changed       an archive document whose entries have changed
//	171 error   atom-chain-long          more documents than are read
//	201 warning atom-window-gap          a window of entries that begins after those of the last run
//	202 warning atom-archive-gap         a document that can't be read, and a gap that the user accepts
//	203 warning atom-pages-changed       a paged feed that changes while it is read, and a gap that the user accepts
//	204 warning atom-tombstone-via       a tombstone without via, where the targets of via links are the ids
package atom
