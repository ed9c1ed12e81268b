package websync

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strings"
)

// TagURI returns the id under which a resource is published whose own id is no IRI, such
// as the number of an item in a feed: a tag URI (RFC 4151) of the host of its source,
// with a digest of the source's key and the escaped id. For example, the id "news-1" of
// the source "https://example.org/rss" becomes
// "tag:example.org,2026:36f840d5d3aa0cf3/news-1". It depends on the source and the id
// only, and no two pairs of them share one.
func TagURI(source, id string) string {
	host := "localhost"
	if u, err := url.Parse(source); err == nil && isDNSName(u.Hostname()) {
		host = strings.ToLower(u.Hostname())
	}
	sum := sha256.Sum256([]byte(source))
	return "tag:" + host + ",2026:" + hex.EncodeToString(sum[:8]) + "/" + url.PathEscape(id)
}

// isDNSName reports whether a host can be the authority of a tag URI.
func isDNSName(host string) bool {
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || strings.Trim(label, "-") != label || strings.ContainsFunc(label, isNoLabelRune) {
			return false
		}
	}
	return true
}

func isNoLabelRune(r rune) bool {
	return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '-'
}
