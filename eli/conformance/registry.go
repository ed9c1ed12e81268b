package conformance

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
)

// A Pair is a sitemap and its feed, as a publisher has registered them.
type Pair struct{ Sitemap, Feed string }

// ReadRegistry reads the pairs of the ELI registry from a text: a sitemap and a feed in
// each line, separated by white space, a comma or a semicolon. Empty lines and those that
// begin with "#" are left out, and so is a first line without URLs.
func ReadRegistry(r io.Reader) ([]Pair, error) {
	pairs := []Pair{}
	lines := bufio.NewScanner(io.LimitReader(r, 16<<20))
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(bytes.TrimPrefix(lines.Bytes(), []byte("\ufeff")))
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		fields := strings.FieldsFunc(string(line), func(r rune) bool { return strings.ContainsRune(" \t,;\"", r) })
		if len(fields) == 2 && syntax.HTTPHost(fields[0]) > 0 && syntax.HTTPHost(fields[1]) > 0 {
			pairs = append(pairs, Pair{fields[0], fields[1]})
		} else if n > 1 {
			return nil, &websync.ParseError{Format: "conformance", Line: n,
				Err: fmt.Errorf("%.80q must be the URLs of a sitemap and of its feed", line)}
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("conformance: registry: %w", err)
	}
	return pairs, nil
}

func isOneOf(url string, s *source) bool {
	return url != "" && s.Name != "" && (sameURL(url, s.URL) || sameURL(url, s.Name))
}

// registered reports whether the pair is in the registry.
func (k *check) registered() bool {
	return slices.ContainsFunc(k.Registry, func(p Pair) bool { return isOneOf(p.Sitemap, k.sitemap) && isOneOf(p.Feed, k.feed) })
}

// register compares the pair with the registry.
func (k *check) register() error {
	sitemapKnown, feedKnown := syntax.HTTPHost(k.sitemap.URL) > 0, syntax.HTTPHost(k.feed.URL) > 0
	switch {
	case k.Registry == nil:
		k.skip(NeedsRegistry, "The pairs of the registry were not given.", ruleRegistered, ruleFeedRegistered)
		return nil
	case !sitemapKnown:
		k.skip(NeedsHTTP, "The URL of the sitemap is not known.", ruleRegistered, ruleFeedRegistered)
		return nil
	}
	k.checked(ruleRegistered)
	at := position{source: k.sitemap}
	if !slices.ContainsFunc(k.Registry, func(p Pair) bool { return isOneOf(p.Sitemap, k.sitemap) }) {
		k.find(ruleRegistered, at, k.sitemap.URL, "the registry does not have the sitemap")
	}
	if !feedKnown {
		k.skip(NeedsHTTP, "The URL of the feed is not known.", ruleFeedRegistered)
		return nil
	}
	k.checked(ruleFeedRegistered)
	at.source = k.feed
	if !k.registered() {
		k.find(ruleFeedRegistered, at, k.feed.URL, "the registry does not have the feed together with the sitemap")
	}
	for _, p := range k.Registry {
		if isOneOf(p.Feed, k.feed) && !isOneOf(p.Sitemap, k.sitemap) {
			k.find(ruleOneFeed, at, p.Sitemap, "the feed is registered for another sitemap, too")
		}
	}
	return nil
}
