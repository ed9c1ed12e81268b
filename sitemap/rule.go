package sitemap

import "github.com/websync-go/websync"

// A Rule is one thing that is demanded of a sitemap. Findings carry its name, section and severity.
type Rule struct {
	Number   int    // from 1; it never changes, and no number is used again
	Name     string // what [websync.Finding.Rule] holds
	Section  string // where it is demanded
	Severity websync.Severity
	Summary  string // what is wrong, in one line
}

// The headings of https://www.sitemaps.org/protocol.html and https://www.sitemaps.org/faq.html, and those who have
// defined the extensions.
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
	ruleXML       = Rule{1, "sitemap-xml", "XML 1.0", websync.Error, "a fault of the XML"}
	ruleTruncated = Rule{2, "sitemap-truncated", "XML 1.0", websync.Error, "the document ends too early"}
	ruleDocument  = Rule{3, "sitemap-document", sectionTags, websync.Error, "something that is not a sitemap, or that can't be read"}
	rulePrologue  = Rule{4, "sitemap-prologue", "XML 1.0 §2.8", websync.Error, "a line before the XML declaration"}
	ruleEncoding  = Rule{5, "sitemap-encoding", sectionFormats, websync.Error, "another encoding than UTF-8"}
	ruleDoctype   = Rule{6, "sitemap-doctype", sectionTags, websync.Error, "a DOCTYPE"}
	ruleGzip      = Rule{7, "sitemap-gzip", "RFC 1952 §2.2", websync.Warning, "bytes after the compressed data, or compressed twice"}
	ruleSize      = Rule{8, "sitemap-size", sectionIndex, websync.Error, "more than 50 MiB (52,428,800 bytes) uncompressed"}
)

// Of the elements.
var (
	ruleNamespace   = Rule{10, "sitemap-namespace", sectionTags, websync.Error, "another namespace than http://www.sitemaps.org/schemas/sitemap/0.9"}
	ruleRoot        = Rule{11, "sitemap-root", sectionTags, websync.Error, "a urlset that holds sitemap elements"}
	ruleEntry       = Rule{12, "sitemap-entry", sectionTags, websync.Error, "a url in an index, a sitemap among urls"}
	ruleEmpty       = Rule{13, "sitemap-empty", sectionTags, websync.Warning, "no entries"}
	ruleEntries     = Rule{14, "sitemap-entries", sectionIndex, websync.Error, "more than 50,000 entries"}
	ruleUnknown     = Rule{15, "sitemap-unknown-element", sectionExtend, websync.Error, "an element that the protocol does not have"}
	ruleElementName = Rule{16, "sitemap-element-name", sectionTags, websync.Error, "a name in the wrong case"}
	ruleDuplicate   = Rule{17, "sitemap-duplicate-element", sectionTags, websync.Error, "loc, lastmod, changefreq or priority twice"}
	ruleOrder       = Rule{18, "sitemap-element-order", sectionSchema, websync.Error, "elements in another order than loc, lastmod, changefreq, priority, extensions"}
	ruleElementSize = Rule{19, "sitemap-element-size", sectionExtend, websync.Error, "more extension elements than are kept"}
	ruleText        = Rule{20, "sitemap-text", sectionSchema, websync.Error, "text between the elements"}
	ruleAttribute   = Rule{21, "sitemap-attribute", sectionSchema, websync.Error, "an attribute that the protocol does not have"}
	ruleForeignAttr = Rule{22, "sitemap-foreign-attribute", sectionExtend, websync.Info, "an attribute of another namespace"}
	ruleNotInIndex  = Rule{23, "sitemap-index-element", sectionIndex, websync.Error, "changefreq, priority or an extension for pages in an index"}
)

// Of loc.
var (
	ruleLocMissing  = Rule{30, "sitemap-loc-missing", sectionTags, websync.Error, "no loc, or an empty one: the entry is skipped"}
	ruleLocSpace    = Rule{31, "sitemap-loc-space", sectionTags, websync.Info, "white space around loc"}
	ruleLocRelative = Rule{32, "sitemap-loc-relative", sectionTags, websync.Error, "a relative URL"}
	ruleLocLength   = Rule{33, "sitemap-loc-length", sectionTags, websync.Error, "2,048 characters or more"}
	ruleLocShort    = Rule{34, "sitemap-loc-short", sectionSchema, websync.Warning, "fewer than 12 characters, which the schema refuses"}
	ruleLocSyntax   = Rule{35, "sitemap-loc-syntax", sectionTags, websync.Error, "not an HTTP URL as RFC 3986 defines it"}
	ruleLocEscape   = Rule{36, "sitemap-loc-escape", sectionEscaping, websync.Error, "characters outside ASCII that are not percent-encoded"}
	ruleLocFragment = Rule{37, "sitemap-loc-fragment", "RFC 3986 §3.5", websync.Warning, "a fragment, which names no page of its own"}
	ruleLocUser     = Rule{38, "sitemap-loc-user", "RFC 3986 §3.2.1", websync.Warning, "a user name or password in the URL"}
	ruleLocTwice    = Rule{39, "sitemap-loc-duplicate", sectionTags, websync.Warning, "a loc that the document lists twice"}
)

// Of the other values.
var (
	ruleLastMod       = Rule{40, "sitemap-lastmod", sectionTags, websync.Error, "not a W3C datetime"}
	ruleLastModFuture = Rule{41, "sitemap-lastmod-future", sectionTags, websync.Warning, "more than a day ahead"}
	ruleLastModSchema = Rule{42, "sitemap-lastmod-schema", sectionSchema, websync.Info, "a W3C datetime that the schema refuses: neither a full date nor a full time"}
	ruleChangeFreq    = Rule{43, "sitemap-changefreq", sectionTags, websync.Error, "not one of the seven values"}
	rulePriority      = Rule{44, "sitemap-priority", sectionTags, websync.Error, "not a number from 0.0 to 1.0"}
	ruleTextLine      = Rule{45, "sitemap-text-line", sectionFormats, websync.Error, "a line of a text sitemap that is not one URL"}
)

// Of the place of a document, and of a set of documents.
var (
	ruleHost     = Rule{50, "sitemap-host", sectionLocation, websync.Error, "an entry on another host, port or scheme than the sitemap"}
	ruleLocation = Rule{51, "sitemap-location", sectionLocation, websync.Error, "an entry that is not below the directory of the sitemap"}
	ruleCross    = Rule{52, "sitemap-cross-submit", sectionCross, websync.Error, "an entry on another host whose robots.txt does not name the sitemap"}
	ruleSite     = Rule{53, "sitemap-index-site", sectionIndex, websync.Error, "an index that lists a sitemap of another site"}
	ruleNested   = Rule{54, "sitemap-index-nested", sectionIndex, websync.Error, "an index inside an index"}
	ruleRepeated = Rule{55, "sitemap-repeated", sectionIndex, websync.Error, "a document that is listed twice, or that lists itself"}
	ruleRobots   = Rule{56, "sitemap-robots", sectionRobots, websync.Error, "a Sitemap line with a relative URL"}
)

// Of the extensions.
var (
	ruleExtNamespace  = Rule{60, "sitemap-extension-namespace", sectionExtend, websync.Error, "a namespace that is almost the one of an extension"}
	ruleExtPlace      = Rule{61, "sitemap-extension-place", sectionExtend, websync.Error, "an extension element outside of its parent"}
	ruleExtUnknown    = Rule{62, "sitemap-extension-element", sectionExtend, websync.Warning, "an element that the extension does not have"}
	ruleExtDeprecated = Rule{63, "sitemap-extension-deprecated", sectionExtend, websync.Info, "an element that is no longer used"}

	ruleImageChild = Rule{70, "sitemap-image-child", sectionImage, websync.Error, "an image without its loc, or with one too many of an element"}
	ruleImageValue = Rule{71, "sitemap-image-value", sectionImage, websync.Error, "a value that an image can't have"}
	ruleImageCount = Rule{72, "sitemap-image-count", sectionImage, websync.Error, "more than 1,000 images of one page"}

	ruleVideoChild  = Rule{80, "sitemap-video-child", sectionVideo, websync.Error, "a video that lacks a required element, or with one too many"}
	ruleVideoValue  = Rule{81, "sitemap-video-value", sectionVideo, websync.Error, "a value that a video can't have"}
	ruleVideoLength = Rule{82, "sitemap-video-length", sectionVideo, websync.Error, "a text of a video that is too long"}

	ruleNewsChild = Rule{90, "sitemap-news-child", sectionNews, websync.Error, "a news article that lacks a required element, or with one too many"}
	ruleNewsValue = Rule{91, "sitemap-news-value", sectionNews, websync.Error, "a value that a news article can't have"}
	ruleNewsTwice = Rule{92, "sitemap-news-repeated", sectionNews, websync.Error, "two news elements of one page"}
	ruleNewsCount = Rule{93, "sitemap-news-count", sectionNews, websync.Error, "more than 1,000 news articles in one document"}
	ruleNewsAge   = Rule{94, "sitemap-news-age", sectionNews, websync.Warning, "a news article of more than two days ago"}

	ruleLangValue = Rule{100, "sitemap-hreflang-value", sectionHreflang, websync.Error, "an alternate without a language code, or without an absolute URL"}
	ruleLangTwice = Rule{101, "sitemap-hreflang-repeated", sectionHreflang, websync.Error, "two alternates of one page for one language"}
	ruleLangSelf  = Rule{102, "sitemap-hreflang-self", sectionHreflang, websync.Error, "alternates of which none is the page itself"}
)

var ruleTable = []Rule{
	ruleXML, ruleTruncated, ruleDocument, rulePrologue, ruleEncoding, ruleDoctype, ruleGzip, ruleSize,
	ruleNamespace, ruleRoot, ruleEntry, ruleEmpty, ruleEntries, ruleUnknown, ruleElementName, ruleDuplicate, ruleOrder,
	ruleElementSize, ruleText, ruleAttribute, ruleForeignAttr, ruleNotInIndex,
	ruleLocMissing, ruleLocSpace, ruleLocRelative, ruleLocLength, ruleLocShort, ruleLocSyntax, ruleLocEscape, ruleLocFragment,
	ruleLocUser, ruleLocTwice,
	ruleLastMod, ruleLastModFuture, ruleLastModSchema, ruleChangeFreq, rulePriority, ruleTextLine,
	ruleHost, ruleLocation, ruleCross, ruleSite, ruleNested, ruleRepeated, ruleRobots,
	ruleExtNamespace, ruleExtPlace, ruleExtUnknown, ruleExtDeprecated,
	ruleImageChild, ruleImageValue, ruleImageCount,
	ruleVideoChild, ruleVideoValue, ruleVideoLength,
	ruleNewsChild, ruleNewsValue, ruleNewsTwice, ruleNewsCount, ruleNewsAge,
	ruleLangValue, ruleLangTwice, ruleLangSelf,
}

// Rules returns all rules, in the order of their numbers.
func Rules() []Rule { return append([]Rule(nil), ruleTable...) }

// maxValue limits Finding.Value.
const maxValue = 1024

func (r Rule) finding(document string, line, column int, element string, value []byte, message string) websync.Finding {
	return websync.Finding{
		Document: document, Rule: r.Name, Section: r.Section, Severity: r.Severity,
		Line: line, Column: column, Element: element, Value: string(value[:min(len(value), maxValue)]), Message: message,
	}
}
