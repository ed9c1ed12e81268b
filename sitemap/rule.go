package sitemap

import "github.com/websync-go/websync"

// A Rule is one thing that is demanded of a sitemap.
type Rule = websync.Rule

// The headings of https://www.sitemaps.org/protocol.html and
// https://www.sitemaps.org/faq.html, and those who have defined the extensions.
const (
	sectionTags     = "sitemaps.org, XML tag definitions"
	sectionEscaping = "sitemaps.org, Entity escaping"
	sectionIndex    = "sitemaps.org, Using Sitemap index files"
	sectionFormats  = "sitemaps.org, Other Sitemap formats"
	sectionLocation = "sitemaps.org, Sitemap file location"
	sectionCross    = "sitemaps.org, Sitemaps & Cross Submits"
	sectionSchema   = "sitemaps.org, Validating your Sitemap"
	sectionExtend   = "sitemaps.org, Extending the Sitemaps protocol"
	sectionRobots   = "sitemaps.org, Specifying the Sitemap location in your robots.txt file"

	sectionImage    = "Google, Image sitemaps"
	sectionVideo    = "Google, Video sitemaps"
	sectionNews     = "Google, News sitemaps"
	sectionHreflang = "Google, Localized versions of your page"
)

// Of the bytes and the XML.
var (
	ruleXML       = websync.NewRule(1, "sitemap-xml", "XML 1.0", websync.Error, "a fault of the XML")
	ruleTruncated = websync.NewRule(2, "sitemap-truncated", "XML 1.0", websync.Error, "the document ends too early")
	ruleDocument  = websync.NewRule(3, "sitemap-document", sectionTags, websync.Error, "something that is not a sitemap, or that can't be read")
	rulePrologue  = websync.NewRule(4, "sitemap-prologue", "XML 1.0 §2.8", websync.Error, "a line before the XML declaration")
	ruleEncoding  = websync.NewRule(5, "sitemap-encoding", sectionFormats, websync.Error, "another encoding than UTF-8")
	ruleDoctype   = websync.NewRule(6, "sitemap-doctype", sectionTags, websync.Error, "a DOCTYPE")
	ruleGzip      = websync.NewRule(7, "sitemap-gzip", "RFC 1952 §2.2", websync.Warning, "bytes after the compressed data, or compressed twice")
	ruleSize      = websync.NewRule(8, "sitemap-size", sectionIndex, websync.Error, "more than 50 MiB (52,428,800 bytes) uncompressed")
)

// Of the elements.
var (
	ruleNamespace   = websync.NewRule(10, "sitemap-namespace", sectionTags, websync.Error, "another namespace than http://www.sitemaps.org/schemas/sitemap/0.9")
	ruleRoot        = websync.NewRule(11, "sitemap-root", sectionTags, websync.Error, "a urlset that holds sitemap elements")
	ruleEntry       = websync.NewRule(12, "sitemap-entry", sectionTags, websync.Error, "a url in an index, a sitemap among urls")
	ruleEmpty       = websync.NewRule(13, "sitemap-empty", sectionTags, websync.Warning, "no entries")
	ruleEntries     = websync.NewRule(14, "sitemap-entries", sectionIndex, websync.Error, "more than 50,000 entries")
	ruleUnknown     = websync.NewRule(15, "sitemap-unknown-element", sectionExtend, websync.Error, "an element that the protocol does not have")
	ruleElementName = websync.NewRule(16, "sitemap-element-name", sectionTags, websync.Error, "a name in the wrong case")
	ruleDuplicate   = websync.NewRule(17, "sitemap-duplicate-element", sectionTags, websync.Error, "loc, lastmod, changefreq or priority twice")
	ruleOrder       = websync.NewRule(18, "sitemap-element-order", sectionSchema, websync.Error, "elements in another order than loc, lastmod, changefreq, priority, extensions")
	ruleElementSize = websync.NewRule(19, "sitemap-element-size", sectionExtend, websync.Error, "more extension elements than are kept")
	ruleText        = websync.NewRule(20, "sitemap-text", sectionSchema, websync.Error, "text between the elements")
	ruleAttribute   = websync.NewRule(21, "sitemap-attribute", sectionSchema, websync.Error, "an attribute that the protocol does not have")
	ruleForeignAttr = websync.NewRule(22, "sitemap-foreign-attribute", sectionExtend, websync.Info, "an attribute of another namespace")
	ruleNotInIndex  = websync.NewRule(23, "sitemap-index-element", sectionIndex, websync.Error, "changefreq, priority or an extension for pages in an index")
	ruleNesting     = websync.NewRule(24, "sitemap-nesting", sectionSchema, websync.Error, "an entry in another place than directly below the root")
)

// Of loc.
var (
	ruleLocMissing  = websync.NewRule(30, "sitemap-loc-missing", sectionTags, websync.Error, "no loc, or an empty one: the entry is skipped")
	ruleLocSpace    = websync.NewRule(31, "sitemap-loc-space", sectionTags, websync.Info, "white space around loc")
	ruleLocRelative = websync.NewRule(32, "sitemap-loc-relative", sectionTags, websync.Error, "a relative URL")
	ruleLocLength   = websync.NewRule(33, "sitemap-loc-length", sectionTags, websync.Error, "2,048 characters or more")
	ruleLocShort    = websync.NewRule(34, "sitemap-loc-short", sectionSchema, websync.Warning, "fewer than 12 characters, which the schema refuses")
	ruleLocSyntax   = websync.NewRule(35, "sitemap-loc-syntax", sectionTags, websync.Error, "not an HTTP URL as RFC 3986 defines it")
	ruleLocEscape   = websync.NewRule(36, "sitemap-loc-escape", sectionEscaping, websync.Error, "characters outside ASCII that are not percent-encoded")
	ruleLocFragment = websync.NewRule(37, "sitemap-loc-fragment", "RFC 3986 §3.5", websync.Warning, "a fragment, which names no page of its own")
	ruleLocUser     = websync.NewRule(38, "sitemap-loc-user", "RFC 3986 §3.2.1", websync.Warning, "a user name or password in the URL")
	ruleLocTwice    = websync.NewRule(39, "sitemap-loc-duplicate", sectionTags, websync.Warning, "a loc that is listed twice")
)

// Of the other values.
var (
	ruleLastMod       = websync.NewRule(40, "sitemap-lastmod", sectionTags, websync.Error, "not a W3C datetime")
	ruleLastModFuture = websync.NewRule(41, "sitemap-lastmod-future", sectionTags, websync.Warning, "more than a day ahead")
	ruleLastModSchema = websync.NewRule(42, "sitemap-lastmod-schema", sectionSchema, websync.Info, "a W3C datetime that the schema refuses: neither a full date nor a full time")
	ruleChangeFreq    = websync.NewRule(43, "sitemap-changefreq", sectionTags, websync.Error, "not one of the seven values")
	rulePriority      = websync.NewRule(44, "sitemap-priority", sectionTags, websync.Error, "not a number from 0.0 to 1.0")
	ruleTextLine      = websync.NewRule(45, "sitemap-text-line", sectionFormats, websync.Error, "a line of a text sitemap that is not one URL")
)

// Of the place of a document, and of a set of documents.
var (
	ruleHost     = websync.NewRule(50, "sitemap-host", sectionLocation, websync.Error, "an entry on another host, port or scheme than the sitemap")
	ruleLocation = websync.NewRule(51, "sitemap-location", sectionLocation, websync.Error, "an entry that is not below the directory of the sitemap")
	ruleCross    = websync.NewRule(52, "sitemap-cross-submit", sectionCross, websync.Error, "an entry on another host whose robots.txt does not name the sitemap")
	ruleSite     = websync.NewRule(53, "sitemap-index-site", sectionIndex, websync.Error, "an index that lists a sitemap of another site")
	ruleNested   = websync.NewRule(54, "sitemap-index-nested", sectionIndex, websync.Error, "an index inside an index")
	ruleRepeated = websync.NewRule(55, "sitemap-repeated", sectionIndex, websync.Error, "a document that is listed twice, or that lists itself")
	ruleRobots   = websync.NewRule(56, "sitemap-robots", sectionRobots, websync.Error, "a Sitemap line with a relative URL")
	ruleCut      = websync.NewRule(57, "sitemap-cut", "RFC 9112 §8", websync.Warning, "a text that may have been cut: only the end of the connection ended it")
)

// Of the extensions.
var (
	ruleExtNamespace  = websync.NewRule(60, "sitemap-extension-namespace", sectionExtend, websync.Error, "a namespace that is almost the one of an extension")
	ruleExtPlace      = websync.NewRule(61, "sitemap-extension-place", sectionExtend, websync.Error, "an extension element outside of its parent")
	ruleExtUnknown    = websync.NewRule(62, "sitemap-extension-element", sectionExtend, websync.Warning, "an element that the extension does not have")
	ruleExtDeprecated = websync.NewRule(63, "sitemap-extension-deprecated", sectionExtend, websync.Info, "an element that is no longer used")

	ruleImageChild = websync.NewRule(70, "sitemap-image-child", sectionImage, websync.Error, "an image without its loc, or with one too many of an element")
	ruleImageValue = websync.NewRule(71, "sitemap-image-value", sectionImage, websync.Error, "a value that an image can't have")
	ruleImageCount = websync.NewRule(72, "sitemap-image-count", sectionImage, websync.Error, "more than 1,000 images of one page")

	ruleVideoChild  = websync.NewRule(80, "sitemap-video-child", sectionVideo, websync.Error, "a video that lacks a required element, or with one too many")
	ruleVideoValue  = websync.NewRule(81, "sitemap-video-value", sectionVideo, websync.Error, "a value that a video can't have")
	ruleVideoLength = websync.NewRule(82, "sitemap-video-length", sectionVideo, websync.Error, "a text of a video that is too long")

	ruleNewsChild = websync.NewRule(90, "sitemap-news-child", sectionNews, websync.Error, "a news article that lacks a required element, or with one too many")
	ruleNewsValue = websync.NewRule(91, "sitemap-news-value", sectionNews, websync.Error, "a value that a news article can't have")
	ruleNewsTwice = websync.NewRule(92, "sitemap-news-repeated", sectionNews, websync.Error, "two news elements of one page")
	ruleNewsCount = websync.NewRule(93, "sitemap-news-count", sectionNews, websync.Error, "more than 1,000 news articles in one document")
	ruleNewsAge   = websync.NewRule(94, "sitemap-news-age", sectionNews, websync.Warning, "a news article of more than two days ago")

	ruleLangValue = websync.NewRule(100, "sitemap-hreflang-value", sectionHreflang, websync.Error, "an alternate without a language code, or without an absolute URL")
	ruleLangTwice = websync.NewRule(101, "sitemap-hreflang-repeated", sectionHreflang, websync.Error, "two alternates of one page for one language")
	ruleLangSelf  = websync.NewRule(102, "sitemap-hreflang-self", sectionHreflang, websync.Error, "alternates of which none is the page itself")
)

var ruleTable = []Rule{
	ruleXML, ruleTruncated, ruleDocument, rulePrologue, ruleEncoding, ruleDoctype, ruleGzip, ruleSize,
	ruleNamespace, ruleRoot, ruleEntry, ruleEmpty, ruleEntries, ruleUnknown, ruleElementName, ruleDuplicate, ruleOrder,
	ruleElementSize, ruleText, ruleAttribute, ruleForeignAttr, ruleNotInIndex, ruleNesting,
	ruleLocMissing, ruleLocSpace, ruleLocRelative, ruleLocLength, ruleLocShort, ruleLocSyntax, ruleLocEscape, ruleLocFragment,
	ruleLocUser, ruleLocTwice,
	ruleLastMod, ruleLastModFuture, ruleLastModSchema, ruleChangeFreq, rulePriority, ruleTextLine,
	ruleHost, ruleLocation, ruleCross, ruleSite, ruleNested, ruleRepeated, ruleRobots, ruleCut,
	ruleExtNamespace, ruleExtPlace, ruleExtUnknown, ruleExtDeprecated,
	ruleImageChild, ruleImageValue, ruleImageCount,
	ruleVideoChild, ruleVideoValue, ruleVideoLength,
	ruleNewsChild, ruleNewsValue, ruleNewsTwice, ruleNewsCount, ruleNewsAge,
	ruleLangValue, ruleLangTwice, ruleLangSelf,
}

// Rules returns all rules, in the order of their numbers.
func Rules() []Rule { return append([]Rule(nil), ruleTable...) }
