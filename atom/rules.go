package atom

import (
	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/document"
)

// A Rule is one requirement on an Atom document.
type Rule = websync.Rule

var rules = document.NewRules("atom")

// Rules returns every rule, in the order of the package's sources.
func Rules() []Rule { return rules.All() }

const (
	sectionHash = "Atom Link Extensions 09 §3"
	sectionMD5  = "Atom Link Extensions 03 §3"
)

// The bytes and the XML.
var (
	ruleXML       = rules.Error("xml", "XML 1.0", "XML that is not well-formed")
	ruleTruncated = rules.Error("truncated", "XML 1.0", "the document ends too early")
	ruleDocument  = rules.Error("document", "RFC 4287 §2", "a document that is not Atom, or that can't be read")
	rulePrologue  = rules.Error("prologue", "XML 1.0 §2.8", "a line before the XML declaration")
	ruleEncoding  = rules.Info("encoding", "RFC 4287 §2", "another encoding than UTF-8")
	ruleDoctype   = rules.Info("doctype", "RFC 4287 §2", "a DOCTYPE, which some readers refuse")
	ruleGzip      = rules.Warning("gzip", "RFC 1952 §2.2", "bytes after the compressed data, or compressed twice")
)

// What a Reader does with a document.
var (
	ruleNamespace   = rules.Error("namespace", "RFC 4287 §1.2", "a namespace that is almost Atom's, or none")
	ruleElementSize = rules.Error("element-size", "RFC 4287 §6.4",
		"more data in one entry, or in the feed itself, than a Reader keeps")
	ruleRelative  = rules.Info("relative", "RFC 4287 §2", "a relative reference, and no absolute URL to resolve it against")
	rulePersonExt = rules.Info("person-extension", "RFC 4287 §3.2", "an extension of a person, which is left out")
	ruleForm      = rules.Info("deleted-form", "RFC 6721 §3", "a deletion that is written as gd:deleted or sx:sync")
	ruleNesting   = rules.Error("nesting", "RFC 4287 §4.1", "an entry or a tombstone that is not a child of the feed")
)

// Feeds.
var (
	ruleFeedChild = rules.Error("feed-child", "RFC 4287 §4.1.1",
		"a feed without id, title or updated, or with one too many of an element")
	ruleFeedAuthor  = rules.Error("feed-author", "RFC 4287 §4.1.1", "a feed without an author, and entries without one")
	ruleFeedSelf    = rules.Warning("feed-self", "RFC 4287 §4.1.1", "a feed without a link to itself")
	ruleFeedOrder   = rules.Warning("feed-order", "RFC 4287 §4.1.1", "metadata or a tombstone after an entry")
	ruleFeedUpdated = rules.Warning("feed-updated", "RFC 4287 §4.2.15", "a feed that is older than one of its entries")
	ruleSourceChild = rules.Error("source-child", "RFC 4287 §4.2.11", "a source with one too many of an element")
	ruleSourceLacks = rules.Warning("source-lacks", "RFC 4287 §4.2.11", "a source without id, title or updated")
	ruleAlternate   = rules.Error("alternate", "RFC 4287 §4.1.1, §4.1.2", "two alternate links of one type and hreflang")
	ruleTextBetween = rules.Error("text-between", "RFC 4287 §4.1", "text between the elements")
	ruleSignature   = rules.Warning("signature", "RFC 4287 §5.1",
		"a signature of something that is neither the document nor an entry")
	ruleUnknown      = rules.Error("unknown-element", "RFC 4287 §6.2", "an element of Atom that its parent does not have")
	ruleUnknownAttr  = rules.Error("unknown-attribute", "RFC 4287 §6.2", "an attribute that its element does not have")
	ruleNoNamespace  = rules.Warning("no-namespace", "RFC 4287 §6.1", "an element without a namespace")
	ruleValueElement = rules.Error("value-element", "RFC 4287 §6.4",
		"an element inside a value, or an element of Atom inside a link or category")
)

// Entries.
var (
	ruleEntryChild = rules.Error("entry-child", "RFC 4287 §4.1.2",
		"an entry without id, title or updated, or with one too many of an element")
	ruleEntryAuthor = rules.Error("entry-author", "RFC 4287 §4.1.2",
		"an entry without an author, of its own, of its source or of its feed")
	ruleEntryAlternate = rules.Error("entry-alternate", "RFC 4287 §4.1.2",
		"an entry without content and without an alternate link")
	ruleEntrySummary = rules.Error("entry-summary", "RFC 4287 §4.1.2",
		"an entry without a summary whose content has src or is in Base64")
	ruleEntryText     = rules.Info("entry-text", "RFC 4287 §4.1.1.1", "an entry with an empty title, or without any text")
	ruleEntryTwice    = rules.Warning("entry-twice", "RFC 4287 §4.1.1", "two entries of one id and time")
	ruleEntryVersions = rules.Info("entry-versions", "RFC 4287 §4.1.1", "two entries of one id")
	rulePublished     = rules.Info("published", "RFC 4287 §4.2.9", "an entry that is updated before it is published")
)

// What elements have in common.
var (
	ruleIDScheme = rules.Warning("id-scheme", "RFC 4287 §4.2.6",
		"a tag URI or a URN that breaks the rules of its scheme (RFC 4151 §2.1, RFC 8141 §2, RFC 9562 §4)")
	ruleDate       = rules.Error("date", "RFC 4287 §3.3", "not an RFC 3339 date and time")
	ruleDateFuture = rules.Warning("date-future", "RFC 4287 §3.3", "a time more than a day ahead")
	ruleSpace      = rules.Error("space", "RFC 4287 §2", "white space in a date or an IRI")
	ruleLang       = rules.Error("lang", "RFC 4287 §2", "an xml:lang that is not a language tag")
	ruleBase       = rules.Error("base", "RFC 4287 §2", "an xml:base that is not an IRI reference")
	ruleIRI        = rules.Error("iri", "RFC 4287 §2", "not an IRI")
	ruleID         = rules.Error("id", "RFC 4287 §4.2.6", "an id that is not an absolute IRI")
	ruleIDNormal   = rules.Warning("id-normal", "RFC 4287 §4.2.6", "an id that is not normalised")
	ruleCategory   = rules.Error("category", "RFC 4287 §4.2.2", "a category without a term, or whose scheme is not an IRI")
	ruleGenerator  = rules.Info("generator", "RFC 4287 §4.2.4", "a generator without a name")
)

// Persons, texts and categories.
var (
	rulePersonChild = rules.Error("person-child", "RFC 4287 §3.2", "a person without a name, or with one too many of an element")
	rulePersonName  = rules.Warning("person-name", "RFC 4287 §3.2.1", "an empty name")
	ruleEmail       = rules.Error("email", "RFC 4287 §3.2.3", "not an e-mail address")
	ruleTextType    = rules.Error("text-type", "RFC 4287 §3.1.1", "a text whose type is not text, html or xhtml")
	ruleTextElement = rules.Error("text-element", "RFC 4287 §3.1.1", "an element in a text of type text or html")
	ruleHTML        = rules.Warning("html", "RFC 4287 §3.1.1.2", "HTML that is not valid inside a div")
	ruleXHTML       = rules.Error("xhtml", "RFC 4287 §3.1.1.3", "XHTML that is not one div")
	ruleXHTMLMarkup = rules.Warning("xhtml-markup", "RFC 4287 §3.1.1.3", "XHTML that is not valid inside a div")
	ruleTerm        = rules.Info("category-term", "RFC 4287 §4.2.2.1", "a category with an empty term")
)

// Content.
var (
	ruleContentType = rules.Error("content-type", "RFC 4287 §4.1.3.1",
		"content whose type is not text, html, xhtml or a media type, or a composite one")
	ruleContentSrc = rules.Error("content-src", "RFC 4287 §4.1.3.2",
		"content with src whose src is not an IRI, whose type is not a media type, or that is not empty")
	ruleContentSrcType = rules.Warning("content-src-type", "RFC 4287 §4.1.3.2", "content with src, but without a type")
	ruleContentElement = rules.Error("content-element", "RFC 4287 §4.1.3.3", "an element in content that must be text")
	ruleContentXML     = rules.Warning("content-xml", "RFC 4287 §4.1.3.3", "content of an XML type that is not one element")
	ruleContentBase64  = rules.Error("content-base64", "RFC 4287 §4.1.3.3", "content that is not in Base64")
)

// Links.
var (
	ruleHref   = rules.Error("link-href", "RFC 4287 §4.2.7.1", "a link without href, or whose href is not an IRI")
	ruleItself = rules.Warning("link-itself", "RFC 4287 §4.1.3.2, §4.2.7",
		"an entry whose content, alternate or enclosure is the feed itself")
	ruleRel        = rules.Error("link-rel", "RFC 4287 §4.2.7.2", "a relation that is neither a name nor an IRI")
	ruleRelUnknown = rules.Warning("link-relation", "RFC 4287 §7.1", "the name of a relation that is not registered")
	ruleEnclosure  = rules.Warning("link-enclosure", "RFC 4287 §4.2.7.2", "an enclosure without its length")
	ruleLinkType   = rules.Error("link-type", "RFC 4287 §4.2.7.3", "a type that is not a media type")
	ruleHreflang   = rules.Error("link-hreflang", "RFC 4287 §4.2.7.4", "a hreflang that is not a language tag")
	ruleLength     = rules.Error("link-length", "RFC 4287 §4.2.7.6", "a length that is not a number of bytes")
	ruleHash       = rules.Error("hash", sectionHash,
		"a hash that is not a list of algorithm:digest, in hex and of its algorithm's length")
	ruleHashForm     = rules.Info("hash-form", sectionHash, "a hash of an algorithm that the link extensions do not name")
	ruleHashConflict = rules.Warning("hash-conflict", sectionHash, "two digests of one algorithm that differ")
	ruleMD5          = rules.Error("md5", sectionMD5, "an le:md5 that is not an MD5 digest")
	ruleLinkModified = rules.Error("link-modified", "Atom Link Extensions 09 §5, §6",
		"a modified or accessed that is not an RFC 3339 date and time")
	ruleLinkExtension = rules.Warning("link-extension", sectionMD5,
		"an attribute of the link extensions that its element does not have")
	ruleETag = rules.Error("link-etag", "Atom Link Extensions 09 §4",
		"an etag that is not an entity tag in its quotation marks")
)

// Complete, paged and archived feeds.
var (
	ruleCompletePaged = rules.Warning("complete-paged", "RFC 5005 §2", "a complete feed that is one of several documents")
	rulePagingTwice   = rules.Error("paging-twice", "RFC 5005 §3, §4",
		"two links of one relation to different documents of the feed")
	rulePagingSelf     = rules.Error("paging-self", "RFC 5005 §3, §4", "a link next or previous to the document itself")
	ruleHistoryElement = rules.Error("history-element", "RFC 5005 §2, §4",
		"fh:complete or fh:archive that is not a child of the feed, is there twice, or is not empty")
	ruleHistoryUnknown = rules.Warning("history-unknown", "RFC 5005 §2, §4", "an element that RFC 5005 does not have")
	ruleArchiveCurrent = rules.Warning("archive-current", "RFC 5005 §4",
		"an archive document without a link current to its subscription document")
	ruleArchiveMark = rules.Warning("archive-mark", "RFC 5005 §4", "an archive document without fh:archive")
	ruleArchiveSelf = rules.Error("archive-self", "RFC 5005 §4",
		"a subscription document that is marked as an archive document")
)

// Tombstones.
var (
	ruleTombstoneRef = rules.Error("tombstone-ref", "RFC 6721 §3",
		"a tombstone without ref, or whose ref is not an absolute IRI")
	ruleTombstoneWhen = rules.Error("tombstone-when", "RFC 6721 §3",
		"a tombstone without when, or whose when is not an RFC 3339 date and time")
	ruleTombstoneChild   = rules.Error("tombstone-child", "RFC 6721 §3", "a tombstone with two of by, comment or source")
	ruleTombstoneElement = rules.Info("tombstone-element", "RFC 6721 §3",
		"an element of Atom or of RFC 6721 that a tombstone does not have")
	ruleTombstonePlace = rules.Warning("tombstone-place", "RFC 6721 §3",
		"a tombstone that is neither a child of a feed nor a document")
	ruleTombstoneTwice    = rules.Error("tombstone-twice", "RFC 6721 §3", "two tombstones of one ref and when")
	ruleTombstoneVersions = rules.Info("tombstone-versions", "RFC 6721 §3", "two tombstones of one ref")
	ruleTombstoneLive     = rules.Info("tombstone-live", "RFC 6721 §3", "an entry that is not newer than its tombstone")
	ruleTombstoneRevived  = rules.Info("tombstone-revived", "RFC 6721 §3", "an entry that is newer than its tombstone")
)

// The documents of an archived feed as a whole.
var (
	ruleChainMissing      = rules.Error("chain-missing", "RFC 5005 §4", "a document of the feed that can't be read")
	ruleChainLoop         = rules.Error("chain-loop", "RFC 5005 §4", "a document whose prev-archive leads back to the chain")
	ruleChainKind         = rules.Error("chain-kind", "RFC 5005 §4", "a document of the chain that is not a feed")
	ruleChainSubscription = rules.Error("chain-subscription", "RFC 5005 §4",
		"a subscription document that is marked as an archive document")
	ruleChainMark    = rules.Warning("chain-mark", "RFC 5005 §4", "a document of the archive without fh:archive")
	ruleChainCurrent = rules.Warning("chain-current", "RFC 5005 §4",
		"a document whose current is not the subscription document")
	ruleChainNext  = rules.Warning("chain-next", "RFC 5005 §4", "a document whose next-archive is not the one after it")
	ruleChainID    = rules.Warning("chain-id", "RFC 5005 §4", "documents with different ids of the feed")
	ruleChainOrder = rules.Warning("chain-order", "RFC 5005 §4",
		"an archive document with a newer item than the document after it")
	ruleChainTwice = rules.Warning("chain-twice", "RFC 5005 §4.1",
		"an entry or a tombstone with one id and time in two documents")
	ruleChainChanged = rules.Warning("chain-changed", "RFC 5005 §4", "an archive document whose entries have changed")
	ruleChainLong    = rules.Error("chain-long", "RFC 5005 §4", "more documents than MaxDocuments")
)

// What only a Source can find.
var (
	ruleGap  = rules.Warning("window-gap", "RFC 5005 §1", "a window of entries that begins after those of the last run")
	ruleHole = rules.Warning("archive-gap", "RFC 5005 §4",
		"a document that can't be read, and a gap that the user accepts")
	rulePages = rules.Warning("pages-changed", "RFC 5005 §3",
		"a paged feed that changes while it is read, and a gap that the user accepts")
	ruleUnread = rules.Warning("pages-unread", "RFC 5005 §3, §4",
		"a feed with a link to a newer document of it, which is not read")
	ruleProfile = rules.Error("profile", "RFC 4287 §6", "an item that the profile of the feed does not allow")
	ruleTwin    = rules.Error("entry-other", "RFC 4287 §4.1.1",
		"two different entries of one id and time, or of one id and without a time that orders them: the first counts")
	ruleTombstoneVia = rules.Warning("tombstone-via", "RFC 6721 §3",
		"a tombstone without via, where the targets of via links are the ids")
)
