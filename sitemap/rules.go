package sitemap

import (
	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/document"
)

// A Rule is one requirement on a sitemap.
type Rule = websync.Rule

var rules = document.NewRules("sitemap")

// The headings of https://www.sitemaps.org/protocol.html and
// https://www.sitemaps.org/faq.html, and the extension for alternates.
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

	sectionHreflang = "Google, Localized versions of your page"
)

// The bytes and the XML.
var (
	ruleXML       = rules.Error("xml", "XML 1.0", "XML that is not well-formed")
	ruleTruncated = rules.Error("truncated", "XML 1.0", "the document ends too early")
	ruleDocument  = rules.Error("document", sectionTags, "a document that is not a sitemap, or that can't be read")
	rulePrologue  = rules.Error("prologue", "XML 1.0 §2.8", "a line before the XML declaration")
	ruleEncoding  = rules.Error("encoding", sectionFormats, "an encoding other than UTF-8")
	ruleDoctype   = rules.Error("doctype", sectionTags, "a DOCTYPE")
	ruleGzip      = rules.Warning("gzip", "RFC 1952 §2.2", "bytes after the compressed data, or compressed twice")
	ruleSize      = rules.Error("size", sectionIndex, "more than 50 MiB (52,428,800 bytes) uncompressed")
)

// The elements.
var (
	ruleNamespace   = rules.Error("namespace", sectionTags, "a namespace other than http://www.sitemaps.org/schemas/sitemap/0.9")
	ruleRoot        = rules.Error("root", sectionTags, "a urlset that holds sitemap elements")
	ruleEntry       = rules.Error("entry", sectionTags, "a url in an index, a sitemap among urls")
	ruleEmpty       = rules.Warning("empty", sectionTags, "no entries")
	ruleEntries     = rules.Error("entries", sectionIndex, "more than 50,000 entries")
	ruleUnknown     = rules.Error("unknown-element", sectionExtend, "an element that the protocol does not have")
	ruleElementName = rules.Error("element-name", sectionTags, "a name in the wrong case")
	ruleDuplicate   = rules.Error("duplicate-element", sectionTags, "loc, lastmod, changefreq or priority twice")
	ruleOrder       = rules.Error("element-order", sectionSchema,
		"elements in an order other than loc, lastmod, changefreq, priority, extensions")
	ruleElementSize = rules.Error("element-size", sectionExtend, "more extension elements than are kept")
	ruleText        = rules.Error("text", sectionSchema, "text between the elements")
	ruleAttribute   = rules.Error("attribute", sectionSchema, "an attribute that the protocol does not have")
	ruleForeignAttr = rules.Info("foreign-attribute", sectionExtend, "an attribute of another namespace below the root")
	ruleNotInIndex  = rules.Error("index-element", sectionIndex, "changefreq, priority or an extension for pages in an index")
	ruleNesting     = rules.Error("nesting", sectionSchema, "an entry that is not directly below the root")
)

// Loc.
var (
	ruleLocMissing  = rules.Error("loc-missing", sectionTags, "no loc, or an empty one: the entry is skipped")
	ruleLocSpace    = rules.Info("loc-space", sectionTags, "white space around loc")
	ruleLocRelative = rules.Error("loc-relative", sectionTags, "a relative URL")
	ruleLocLength   = rules.Error("loc-length", sectionTags, "2,048 characters or more")
	ruleLocShort    = rules.Warning("loc-short", sectionSchema, "fewer than 12 characters, which the schema refuses")
	ruleLocSyntax   = rules.Error("loc-syntax", sectionTags, "not an HTTP URL as RFC 3986 defines it")
	ruleLocEscape   = rules.Error("loc-escape", sectionEscaping, "a space, or characters outside ASCII, not percent-encoded")
	ruleLocFragment = rules.Warning("loc-fragment", "RFC 3986 §3.5", "a fragment, which names no page of its own")
	ruleLocUser     = rules.Warning("loc-user", "RFC 3986 §3.2.1", "a user name or password in the URL")
	ruleProfile     = rules.Error("profile", sectionExtend, "an entry that the profile of the sitemap does not allow")
	ruleLocTwice    = rules.Warning("loc-duplicate", sectionTags, "a loc that is listed twice")
)

// The other values.
var (
	ruleLastMod       = rules.Error("lastmod", sectionTags, "not a W3C datetime")
	ruleLastModFuture = rules.Warning("lastmod-future", sectionTags, "more than a day ahead")
	ruleLastModSchema = rules.Info("lastmod-schema", sectionSchema,
		"a W3C datetime that the schema refuses: neither a full date nor a full time")
	ruleChangeFreq = rules.Error("changefreq", sectionTags, "not one of the seven values")
	rulePriority   = rules.Error("priority", sectionTags, "not a number from 0.0 to 1.0")
	ruleTextLine   = rules.Error("text-line", sectionFormats, "a line of a text sitemap that is not one URL")
)

// The location of a document, and sets of documents.
var (
	ruleHost     = rules.Error("host", sectionLocation, "an entry on another host, port or scheme than the sitemap")
	ruleLocation = rules.Error("location", sectionLocation, "an entry that is not below the directory of the sitemap")
	ruleCross    = rules.Error("cross-submit", sectionCross,
		"an entry on another host whose robots.txt does not name the sitemap")
	ruleSite = rules.Error("index-site", sectionIndex,
		"an index that lists a sitemap of another site, whose robots.txt does not name the index")
	ruleNested   = rules.Error("index-nested", sectionIndex, "an index inside an index")
	ruleRepeated = rules.Error("repeated", sectionIndex, "a document that is listed twice, or that lists itself")
	ruleIndexMod = rules.Warning("index-lastmod", sectionIndex,
		"a document that changed, or has a later entry, while its lastmod in the index stands still")
	ruleRobots = rules.Error("robots", sectionRobots, "a Sitemap line with a relative URL, or with two")
	ruleCut    = rules.Warning("cut", "RFC 9112 §8", "a text that may have been cut off: only the closed connection ended it")
	ruleDoubt  = rules.Warning("doubt", "RFC 9111 §4.2.4",
		"a document that may be another one, or an earlier version, from a cache")
)

// The extensions.
var (
	ruleExtNamespace = rules.Error("extension-namespace", sectionExtend, "a namespace that is almost the one of an extension")
	ruleExtPlace     = rules.Error("extension-place", sectionExtend, "an extension element outside the element it belongs in")
	ruleExtUnknown   = rules.Warning("extension-element", sectionExtend, "an element that the extension does not have")
	ruleLangValue    = rules.Error("hreflang-value", sectionHreflang,
		"an alternate without a language code, with one that search engines do not know, or without an absolute URL")
	ruleLangRegion = rules.Warning("hreflang-region", sectionHreflang, "a country that is probably not the one that is meant")
	ruleLangTwice  = rules.Error("hreflang-repeated", sectionHreflang, "two alternates of one page for one language")
	ruleLangSelf   = rules.Error("hreflang-self", sectionHreflang, "alternates that do not list the page itself")
	ruleLangReturn = rules.Error("hreflang-return", sectionHreflang,
		"an alternate in the same document that does not have the page as an alternate")
)

// Rules returns every rule, in the order of the package's sources.
func Rules() []Rule { return rules.All() }
