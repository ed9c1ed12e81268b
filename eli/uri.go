package eli

import (
	"strings"

	"github.com/websync-go/websync/internal/syntax"
)

const sectionFeed = "ELI Pillar IV §3.3.2"

// The sitemap and the feed.
var (
	ruleMalformed = rules.Error("malformed-uri", sectionPages, "a URI whose scheme is not followed by two slashes and a host")
	ruleVariant   = rules.Error("variant", sectionPages,
		"a URI of an act that differs from its URI in the sitemap by scheme, www or a slash at the end")
	ruleOther    = rules.Error("other-uri", sectionPages, "a URI that is not an ELI")
	ruleFeedURI  = rules.Error("feed-uri", sectionFeed, "an entry of the feed whose id and link are not both the ELI")
	ruleFeedPart = rules.Warning("feed-part", sectionFeed, "a feed that says to be complete, or an archive document")
	ruleGap      = rules.Warning("gap", sectionFeed, "a feed that has nothing of what it had at the last reading")
)

// repairURI returns a URI of a list with the two slashes that must follow its scheme. A
// URI that has them, or has no scheme of HTTP, is returned as it is.
func repairURI(uri string) string {
	n := syntax.Scheme(uri)
	if n == 0 || syntax.HTTPHost(uri) > 0 {
		return uri
	}
	if scheme := strings.ToLower(uri[:n]); scheme != "http" && scheme != "https" {
		return uri
	}
	rest := strings.TrimLeft(uri[n+1:], "/")
	if repaired := uri[:n] + "://" + rest; len(rest) < len(uri)-n-1 && syntax.URLFault(syntax.EscapeURL(repaired)) == "" {
		return repaired
	}
	return uri
}

// IsELI reports whether the path of an HTTP URL has the step "eli".
func IsELI(uri string) bool {
	_, end := syntax.SplitHTTP(uri)
	if end == 0 {
		return false
	}
	path := uri[end:]
	path = path[:syntax.IndexAny(path, "?#")]
	for step := range strings.SplitSeq(path, "/") {
		if strings.EqualFold(step, "eli") {
			return true
		}
	}
	return false
}

// A form is what the URIs of one act may differ in.
type form struct {
	Prefix string `json:"prefix"`          // "https://" or "http://www.", for example
	Slash  bool   `json:"slash,omitempty"` // the path ends in a slash
}

// cutForm returns the form of an HTTP URI, and the rest, which all variants of the URI
// have: the host without www, the path without slashes at its end, and what follows it.
func cutForm(uri string) (f form, rest string) {
	origin, end := syntax.OriginOf(uri)
	if origin == "" {
		return form{}, uri
	}
	scheme, host := origin.Split()
	f.Prefix = scheme + "://"
	if bare, ok := strings.CutPrefix(host, "www."); ok {
		f.Prefix, host = f.Prefix+"www.", bare
	}
	at := end + syntax.IndexAny(uri[end:], "?#")
	path := strings.TrimRight(uri[end:at], "/")
	f.Slash = end+len(path) < at
	return f, host + path + uri[at:]
}

// uri returns the URI of this form with the rest that cutForm has returned.
func (f form) uri(rest string) string {
	if !f.Slash {
		return f.Prefix + rest
	}
	at := syntax.IndexAny(rest, "?#")
	return f.Prefix + rest[:at] + "/" + rest[at:]
}

// variantKey returns the same string for all URIs that are taken for variants of each
// other in the metadata of a page, where escapes may differ, too.
func variantKey(uri string) string {
	uri, fragment, hasFragment := strings.Cut(uri, "#")
	_, rest := cutForm(syntax.Canonical(syntax.EscapeURL(uri)))
	if hasFragment {
		rest += "#" + fragment
	}
	return rest
}

// samePage reports whether two URLs are those of one page.
func samePage(a, b string) bool { return syntax.Canonical(a) == syntax.Canonical(b) }
