package sitemap

import "github.com/websync-go/websync"

// A rule is what a finding names.
type rule struct {
	name     string
	section  string
	severity websync.Severity
}

// The headings of https://www.sitemaps.org/protocol.html.
const (
	sectionTags     = "sitemaps.org, XML tag definitions"
	sectionEscaping = "sitemaps.org, Entity escaping"
	sectionIndex    = "sitemaps.org, Using Sitemap index files"
	sectionFormats  = "sitemaps.org, Other Sitemap formats"
	sectionLocation = "sitemaps.org, Sitemap file location"
	sectionExtend   = "sitemaps.org, Extending the Sitemaps protocol"
	sectionRobots   = "sitemaps.org, Specifying the Sitemap location in your robots.txt file"
)

var (
	ruleXML       = rule{"sitemap-xml", "XML 1.0", websync.Error}
	rulePrologue  = rule{"sitemap-prologue", "XML 1.0 §2.8", websync.Error}
	ruleGzip      = rule{"sitemap-gzip", "RFC 1952 §2.2", websync.Warning}
	ruleNamespace = rule{"sitemap-namespace", sectionTags, websync.Error}
	ruleRoot      = rule{"sitemap-root", sectionTags, websync.Error}
	ruleEntry     = rule{"sitemap-entry", sectionTags, websync.Error}
	ruleEntries   = rule{"sitemap-entries", sectionIndex, websync.Error}
	ruleSize      = rule{"sitemap-size", sectionIndex, websync.Error}
	ruleEmpty     = rule{"sitemap-empty", sectionTags, websync.Warning}

	ruleUnknown     = rule{"sitemap-unknown-element", sectionExtend, websync.Error}
	ruleDuplicate   = rule{"sitemap-duplicate-element", sectionTags, websync.Error}
	ruleElementName = rule{"sitemap-element-name", sectionTags, websync.Error}
	ruleElementSize = rule{"sitemap-element-size", sectionExtend, websync.Error}

	ruleLocMissing  = rule{"sitemap-loc-missing", sectionTags, websync.Error}
	ruleLocSpace    = rule{"sitemap-loc-space", sectionTags, websync.Info}
	ruleLocRelative = rule{"sitemap-loc-relative", sectionTags, websync.Error}
	ruleLocLength   = rule{"sitemap-loc-length", sectionTags, websync.Error}
	ruleLocSyntax   = rule{"sitemap-loc-syntax", sectionTags, websync.Error}
	ruleLocEscape   = rule{"sitemap-loc-escape", sectionEscaping, websync.Error}

	ruleLastMod       = rule{"sitemap-lastmod", sectionTags, websync.Error}
	ruleLastModFuture = rule{"sitemap-lastmod-future", sectionTags, websync.Warning}
	ruleChangeFreq    = rule{"sitemap-changefreq", sectionTags, websync.Error}
	rulePriority      = rule{"sitemap-priority", sectionTags, websync.Error}
	ruleNotInIndex    = rule{"sitemap-index-element", sectionIndex, websync.Error}

	ruleTextLine = rule{"sitemap-text-line", sectionFormats, websync.Error}

	// Those of a set of documents.
	ruleNested   = rule{"sitemap-index-nested", sectionIndex, websync.Error}
	ruleRepeated = rule{"sitemap-repeated", sectionIndex, websync.Error}
	ruleHost     = rule{"sitemap-host", sectionLocation, websync.Error}
	ruleRobots   = rule{"sitemap-robots", sectionRobots, websync.Error}
)

// maxValue limits Finding.Value.
const maxValue = 1024

func (r rule) finding(document string, line, column int, element string, value []byte, message string) websync.Finding {
	return websync.Finding{
		Document: document, Rule: r.name, Section: r.section, Severity: r.severity,
		Line: line, Column: column, Element: element, Value: string(value[:min(len(value), maxValue)]), Message: message,
	}
}
