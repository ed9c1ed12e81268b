package atom

import (
	"slices"

	"github.com/websync-go/websync"
)

// A Rule is one thing that is demanded of an Atom document.
type Rule = websync.Rule

const (
	sectionHash = "Atom Link Extensions 09 §3"
	sectionMD5  = "Atom Link Extensions 03 §3"
)

// Of feeds.
var (
	ruleFeedChild    = websync.NewRule(50, "atom-feed-child", "RFC 4287 §4.1.1", websync.Error, "a feed without id, title or updated, or with one too many of an element")
	ruleFeedAuthor   = websync.NewRule(51, "atom-feed-author", "RFC 4287 §4.1.1", websync.Error, "a feed without an author, and entries without one")
	ruleFeedSelf     = websync.NewRule(52, "atom-feed-self", "RFC 4287 §4.1.1", websync.Warning, "a feed without a link to itself")
	ruleFeedOrder    = websync.NewRule(53, "atom-feed-order", "RFC 4287 §4.1.1", websync.Warning, "metadata or a tombstone after an entry")
	ruleFeedUpdated  = websync.NewRule(54, "atom-feed-updated", "RFC 4287 §4.2.15", websync.Warning, "a feed that is older than one of its entries")
	ruleSourceChild  = websync.NewRule(55, "atom-source-child", "RFC 4287 §4.2.11", websync.Error, "a source with one too many of an element")
	ruleSourceLacks  = websync.NewRule(56, "atom-source-lacks", "RFC 4287 §4.2.11", websync.Warning, "a source without id, title or updated")
	ruleAlternate    = websync.NewRule(57, "atom-alternate", "RFC 4287 §4.1.1, §4.1.2", websync.Error, "two alternate links of one type and hreflang")
	ruleTextBetween  = websync.NewRule(58, "atom-text-between", "RFC 4287 §4.1", websync.Error, "text between the elements")
	ruleSignature    = websync.NewRule(59, "atom-signature", "RFC 4287 §5.1", websync.Warning, "a signature of something that is neither the document nor an entry")
	ruleUnknown      = websync.NewRule(60, "atom-unknown-element", "RFC 4287 §6.2", websync.Error, "an element that Atom does not have, or not in this place")
	ruleUnknownAttr  = websync.NewRule(61, "atom-unknown-attribute", "RFC 4287 §6.2", websync.Error, "an attribute that Atom does not have, or not of this element")
	ruleNoNamespace  = websync.NewRule(62, "atom-no-namespace", "RFC 4287 §6.1", websync.Warning, "an element without a namespace")
	ruleValueElement = websync.NewRule(63, "atom-value-element", "RFC 4287 §6.4", websync.Error, "an element inside of a value, or one of Atom inside of a link or category")
)

// Of entries.
var (
	ruleEntryChild     = websync.NewRule(70, "atom-entry-child", "RFC 4287 §4.1.2", websync.Error, "an entry without id, title or updated, or with one too many of an element")
	ruleEntryAuthor    = websync.NewRule(71, "atom-entry-author", "RFC 4287 §4.1.2", websync.Error, "an entry without an author, of its own, of its source or of its feed")
	ruleEntryAlternate = websync.NewRule(72, "atom-entry-alternate", "RFC 4287 §4.1.2", websync.Error, "an entry with neither content nor an alternate link")
	ruleEntrySummary   = websync.NewRule(73, "atom-entry-summary", "RFC 4287 §4.1.2", websync.Error, "an entry without a summary whose content is elsewhere or in Base64")
	ruleEntryText      = websync.NewRule(74, "atom-entry-text", "RFC 4287 §4.1.1.1", websync.Info, "an entry with an empty title, or without any text")
	ruleEntryTwice     = websync.NewRule(75, "atom-entry-twice", "RFC 4287 §4.1.1", websync.Warning, "two entries of one id and time")
	ruleEntryVersions  = websync.NewRule(76, "atom-entry-versions", "RFC 4287 §4.1.1", websync.Info, "two entries of one id")
	rulePublished      = websync.NewRule(77, "atom-published", "RFC 4287 §4.2.9", websync.Info, "an entry that is updated before it is published")
)

// Of what is common to elements.
var (
	ruleIDScheme   = websync.NewRule(79, "atom-id-scheme", "RFC 4287 §4.2.6", websync.Warning, "an id that is not as its scheme, tag or urn, demands: RFC 4151 §2.1, RFC 8141 §2, RFC 9562 §4")
	ruleDate       = websync.NewRule(80, "atom-date", "RFC 4287 §3.3", websync.Error, "not an RFC 3339 date and time")
	ruleDateFuture = websync.NewRule(81, "atom-date-future", "RFC 4287 §3.3", websync.Warning, "a time more than a day ahead")
	ruleSpace      = websync.NewRule(82, "atom-space", "RFC 4287 §2", websync.Error, "white space in a date or an IRI")
	ruleLang       = websync.NewRule(83, "atom-lang", "RFC 4287 §2", websync.Error, "an xml:lang that is not a language tag")
	ruleBase       = websync.NewRule(84, "atom-base", "RFC 4287 §2", websync.Error, "an xml:base that is not an IRI reference")
	ruleIRI        = websync.NewRule(85, "atom-iri", "RFC 4287 §2", websync.Error, "not an IRI")
	ruleID         = websync.NewRule(86, "atom-id", "RFC 4287 §4.2.6", websync.Error, "an id that is not an absolute IRI")
	ruleIDNormal   = websync.NewRule(87, "atom-id-normal", "RFC 4287 §4.2.6", websync.Warning, "an id that is not normalised")
	ruleCategory   = websync.NewRule(88, "atom-category", "RFC 4287 §4.2.2", websync.Error, "a category without a term, or whose scheme is not an IRI")
	ruleGenerator  = websync.NewRule(89, "atom-generator", "RFC 4287 §4.2.4", websync.Info, "a generator without a name")
)

// Of persons, texts and categories.
var (
	rulePersonChild = websync.NewRule(90, "atom-person-child", "RFC 4287 §3.2", websync.Error, "a person without a name, or with one too many of an element")
	rulePersonName  = websync.NewRule(91, "atom-person-name", "RFC 4287 §3.2.1", websync.Warning, "an empty name")
	ruleEmail       = websync.NewRule(92, "atom-email", "RFC 4287 §3.2.3", websync.Error, "not an e-mail address")
	ruleTextType    = websync.NewRule(93, "atom-text-type", "RFC 4287 §3.1.1", websync.Error, "a text whose type is not text, html or xhtml")
	ruleTextElement = websync.NewRule(94, "atom-text-element", "RFC 4287 §3.1.1", websync.Error, "an element in a text of type text or html")
	ruleHTML        = websync.NewRule(95, "atom-html", "RFC 4287 §3.1.1.2", websync.Warning, "HTML that could not stand in a div")
	ruleXHTML       = websync.NewRule(96, "atom-xhtml", "RFC 4287 §3.1.1.3", websync.Error, "XHTML that is not one div")
	ruleXHTMLMarkup = websync.NewRule(97, "atom-xhtml-markup", "RFC 4287 §3.1.1.3", websync.Warning, "XHTML that could not stand in a div")
	ruleTerm        = websync.NewRule(98, "atom-category-term", "RFC 4287 §4.2.2.1", websync.Info, "a category with an empty term")
)

// Of content.
var (
	ruleContentType    = websync.NewRule(100, "atom-content-type", "RFC 4287 §4.1.3.1", websync.Error, "content whose type is not text, html, xhtml or a media type, or a composite one")
	ruleContentSrc     = websync.NewRule(101, "atom-content-src", "RFC 4287 §4.1.3.2", websync.Error, "content elsewhere that is not at an IRI, has a type that is no media type, or is not empty")
	ruleContentSrcType = websync.NewRule(102, "atom-content-src-type", "RFC 4287 §4.1.3.2", websync.Warning, "content elsewhere without a type")
	ruleContentElement = websync.NewRule(103, "atom-content-element", "RFC 4287 §4.1.3.3", websync.Error, "an element in content that has none")
	ruleContentXML     = websync.NewRule(104, "atom-content-xml", "RFC 4287 §4.1.3.3", websync.Warning, "content of an XML type that is not one element")
	ruleContentBase64  = websync.NewRule(105, "atom-content-base64", "RFC 4287 §4.1.3.3", websync.Error, "content that is not in Base64")
)

// Of links.
var (
	ruleHref          = websync.NewRule(110, "atom-link-href", "RFC 4287 §4.2.7.1", websync.Error, "a link without href, or to what is not an IRI")
	ruleRel           = websync.NewRule(111, "atom-link-rel", "RFC 4287 §4.2.7.2", websync.Error, "a relation that is neither a name nor an IRI")
	ruleRelUnknown    = websync.NewRule(112, "atom-link-relation", "RFC 4287 §7.1", websync.Warning, "the name of a relation that is not registered")
	ruleEnclosure     = websync.NewRule(113, "atom-link-enclosure", "RFC 4287 §4.2.7.2", websync.Warning, "an enclosure without its length")
	ruleLinkType      = websync.NewRule(114, "atom-link-type", "RFC 4287 §4.2.7.3", websync.Error, "a type that is not a media type")
	ruleHreflang      = websync.NewRule(115, "atom-link-hreflang", "RFC 4287 §4.2.7.4", websync.Error, "a hreflang that is not a language tag")
	ruleLength        = websync.NewRule(116, "atom-link-length", "RFC 4287 §4.2.7.6", websync.Error, "a length that is not a number of bytes")
	ruleHash          = websync.NewRule(117, "atom-hash", sectionHash, websync.Error, "a hash that is not a list of algorithm:digest, in hex and of its algorithm's length")
	ruleHashForm      = websync.NewRule(118, "atom-hash-form", sectionHash, websync.Info, "a hash of an algorithm that the link extensions do not name")
	ruleHashConflict  = websync.NewRule(119, "atom-hash-conflict", sectionHash, websync.Warning, "two digests of one algorithm that differ")
	ruleMD5           = websync.NewRule(120, "atom-md5", sectionMD5, websync.Error, "an le:md5 that is not an MD5 digest")
	ruleLinkModified  = websync.NewRule(121, "atom-link-modified", "Atom Link Extensions 09 §5, §6", websync.Error, "a modified or accessed that is not an RFC 3339 date and time")
	ruleLinkExtension = websync.NewRule(122, "atom-link-extension", sectionMD5, websync.Warning, "an attribute that the link extensions do not have, or not of this element")
	ruleETag          = websync.NewRule(123, "atom-link-etag", "Atom Link Extensions 09 §4", websync.Error, "an etag that is not an entity tag in its quotation marks")
)

// Of complete, paged and archived feeds.
var (
	ruleCompletePaged  = websync.NewRule(130, "atom-complete-paged", "RFC 5005 §2", websync.Warning, "a complete feed that is one of several documents")
	rulePagingTwice    = websync.NewRule(131, "atom-paging-twice", "RFC 5005 §3, §4", websync.Error, "two documents that are next, or previous, or current")
	rulePagingSelf     = websync.NewRule(132, "atom-paging-self", "RFC 5005 §3, §4", websync.Error, "a document that is next to itself")
	ruleHistoryElement = websync.NewRule(133, "atom-history-element", "RFC 5005 §2, §4", websync.Error, "fh:complete or fh:archive outside of a feed's metadata, twice, or not empty")
	ruleHistoryUnknown = websync.NewRule(134, "atom-history-unknown", "RFC 5005 §2, §4", websync.Warning, "an element that RFC 5005 does not have")
	ruleArchiveCurrent = websync.NewRule(135, "atom-archive-current", "RFC 5005 §4", websync.Warning, "an archive document that does not tell its subscription document")
	ruleArchiveMark    = websync.NewRule(136, "atom-archive-mark", "RFC 5005 §4", websync.Warning, "an archive document without fh:archive")
	ruleArchiveSelf    = websync.NewRule(137, "atom-archive-self", "RFC 5005 §4", websync.Error, "a subscription document that is marked as an archive document")
)

// Of tombstones.
var (
	ruleTombstoneRef      = websync.NewRule(140, "atom-tombstone-ref", "RFC 6721 §3", websync.Error, "a tombstone without ref, or whose ref is not an absolute IRI")
	ruleTombstoneWhen     = websync.NewRule(141, "atom-tombstone-when", "RFC 6721 §3", websync.Error, "a tombstone without when, or whose when is not an RFC 3339 date and time")
	ruleTombstoneChild    = websync.NewRule(142, "atom-tombstone-child", "RFC 6721 §3", websync.Error, "a tombstone with two of by, comment or source")
	ruleTombstoneElement  = websync.NewRule(143, "atom-tombstone-element", "RFC 6721 §3", websync.Info, "an element of Atom or of tombstones that means nothing in a tombstone")
	ruleTombstonePlace    = websync.NewRule(144, "atom-tombstone-place", "RFC 6721 §3", websync.Warning, "a tombstone that is neither in a feed nor a document")
	ruleTombstoneTwice    = websync.NewRule(145, "atom-tombstone-twice", "RFC 6721 §3", websync.Error, "two tombstones of one ref and when")
	ruleTombstoneVersions = websync.NewRule(146, "atom-tombstone-versions", "RFC 6721 §3", websync.Info, "two tombstones of one ref")
	ruleTombstoneLive     = websync.NewRule(147, "atom-tombstone-live", "RFC 6721 §3", websync.Info, "an entry beside its tombstone, and not younger")
	ruleTombstoneRevived  = websync.NewRule(148, "atom-tombstone-revived", "RFC 6721 §3", websync.Info, "an entry beside its tombstone, and younger")
)

// Of the documents of an archived feed, taken together.
var (
	ruleChainMissing      = websync.NewRule(160, "atom-chain-missing", "RFC 5005 §4", websync.Error, "a document of the feed that can't be read")
	ruleChainLoop         = websync.NewRule(161, "atom-chain-loop", "RFC 5005 §4", websync.Error, "a document before itself")
	ruleChainKind         = websync.NewRule(162, "atom-chain-kind", "RFC 5005 §4", websync.Error, "a document that is not a feed")
	ruleChainSubscription = websync.NewRule(163, "atom-chain-subscription", "RFC 5005 §4", websync.Error, "a subscription document that is marked as an archive document")
	ruleChainMark         = websync.NewRule(164, "atom-chain-mark", "RFC 5005 §4", websync.Warning, "a document of the archive without fh:archive")
	ruleChainCurrent      = websync.NewRule(165, "atom-chain-current", "RFC 5005 §4", websync.Warning, "a document whose current is not the subscription document")
	ruleChainNext         = websync.NewRule(166, "atom-chain-next", "RFC 5005 §4", websync.Warning, "a document whose next-archive is not the one after it")
	ruleChainID           = websync.NewRule(167, "atom-chain-id", "RFC 5005 §4", websync.Warning, "documents with different ids of the feed")
	ruleChainOrder        = websync.NewRule(168, "atom-chain-order", "RFC 5005 §4", websync.Warning, "an archive document that is younger than the document after it")
	ruleChainTwice        = websync.NewRule(169, "atom-chain-twice", "RFC 5005 §4.1", websync.Warning, "an entry or a tombstone with one id and time in two documents")
	ruleChainChanged      = websync.NewRule(170, "atom-chain-changed", "RFC 5005 §4", websync.Warning, "an archive document whose entries have changed")
	ruleChainLong         = websync.NewRule(171, "atom-chain-long", "RFC 5005 §4", websync.Error, "more documents than are read")
)

// validateRules are what the Reader does not find by itself.
var validateRules = []Rule{
	ruleFeedChild, ruleFeedAuthor, ruleFeedSelf, ruleFeedOrder, ruleFeedUpdated, ruleSourceChild, ruleSourceLacks, ruleAlternate,
	ruleTextBetween, ruleSignature, ruleUnknown, ruleUnknownAttr, ruleNoNamespace, ruleValueElement,
	ruleEntryChild, ruleEntryAuthor, ruleEntryAlternate, ruleEntrySummary, ruleEntryText, ruleEntryTwice, ruleEntryVersions,
	rulePublished,
	ruleIDScheme, ruleDate, ruleDateFuture, ruleSpace, ruleLang, ruleBase, ruleIRI, ruleID, ruleIDNormal, ruleCategory, ruleGenerator,
	rulePersonChild, rulePersonName, ruleEmail, ruleTextType, ruleTextElement, ruleHTML, ruleXHTML, ruleXHTMLMarkup, ruleTerm,
	ruleContentType, ruleContentSrc, ruleContentSrcType, ruleContentElement, ruleContentXML, ruleContentBase64,
	ruleHref, ruleRel, ruleRelUnknown, ruleEnclosure, ruleLinkType, ruleHreflang, ruleLength, ruleHash, ruleHashForm,
	ruleHashConflict, ruleMD5, ruleLinkModified, ruleLinkExtension, ruleETag,
	ruleCompletePaged, rulePagingTwice, rulePagingSelf, ruleHistoryElement, ruleHistoryUnknown, ruleArchiveCurrent,
	ruleArchiveMark, ruleArchiveSelf,
	ruleTombstoneRef, ruleTombstoneWhen, ruleTombstoneChild, ruleTombstoneElement, ruleTombstonePlace, ruleTombstoneTwice,
	ruleTombstoneVersions, ruleTombstoneLive, ruleTombstoneRevived,
	ruleChainMissing, ruleChainLoop, ruleChainKind, ruleChainSubscription, ruleChainMark, ruleChainCurrent, ruleChainNext,
	ruleChainID, ruleChainOrder, ruleChainTwice, ruleChainChanged, ruleChainLong,
}

// Rules returns all rules, in the order of their numbers.
func Rules() []Rule {
	return slices.Concat(readerRules, validateRules, []Rule{ruleGap, ruleHole, rulePages, ruleTombstoneVia})
}
