package cli

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest/fetch"
)

// A Target is a URL, or a directory, that a user names.
type Target struct {
	Protocol string // one of Harvested
	URL      string // without user name and password
	Feed     string // the update feed of a sitemap of ELI; empty: none is named
	Complete bool   // a sitemap lists everything: what it no longer lists is deleted

	Acts      Acts // what is got of legislation
	Selection Selection
	Types     []string // media types of ResourceSync, the best first

	File string // a list of acts on this machine; empty: none
	Dir  string // empty: none
	// Exclude has the patterns of files in Dir that are not harvested.
	Exclude []string

	Origin string                    // that Sign is for
	Sign   func(*http.Request) error // nil: no credentials
}

// ParseTarget returns the Target that raw names. The name of a host in the public DNS gets
// the scheme https, also with a path.
func ParseTarget(protocol, raw string) (Target, error) {
	if protocol == "dir" {
		return parseDir(raw)
	}
	lower := strings.ToLower(raw)
	if protocol == "csv" && !strings.HasPrefix(lower, "http:") && !strings.HasPrefix(lower, "https:") {
		t, err := parseDir(raw)
		t.Protocol, t.URL, t.File, t.Dir = protocol, strings.TrimSuffix(t.URL, "/"), t.Dir, ""
		return t, err
	}
	host := raw
	if i := strings.IndexAny(raw, ":/?#@"); i >= 0 {
		host = raw[:i]
	}
	if _, managed := publicsuffix.PublicSuffix(strings.ToLower(host)); managed && strings.Index(host, ".") > 0 {
		raw = "https://" + raw
	}
	u, err := url.Parse(raw)
	if err != nil {
		return Target{}, fmt.Errorf("not a URL: %w", errors.Unwrap(err))
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return Target{}, fmt.Errorf("%q is not a URL that begins with http:// or https://", websync.RedactURL(raw))
	}
	t := Target{Protocol: protocol, URL: raw, Origin: u.Scheme + "://" + u.Host}
	if u.User != nil {
		password, _ := u.User.Password()
		t.Sign = fetch.Basic(u.User.Username(), password)
		u.User = nil
		t.URL = u.String() // the store names sources, and keeps no passwords
	}
	return t, nil
}

// parseDir returns the Target of a directory. Its files have file URLs.
func parseDir(name string) (Target, error) {
	dir, err := filepath.Abs(name)
	if err != nil {
		return Target{}, err
	}
	path := strings.TrimSuffix(filepath.ToSlash(dir), "/") + "/"
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive
	}
	u := url.URL{Scheme: "file", Path: path}
	return Target{Protocol: "dir", URL: u.String(), Dir: dir}, nil
}

// Paired returns targets of the protocol eli: of two of which one names a feed, the other
// is the sitemap to which the feed belongs.
func Paired(targets []Target) []Target {
	if len(targets) != 2 || namesFeed(targets[0].URL) == namesFeed(targets[1].URL) {
		return targets
	}
	sitemap, feed := targets[0], targets[1]
	if namesFeed(sitemap.URL) {
		sitemap, feed = feed, sitemap
	}
	sitemap.Feed = feed.URL
	return []Target{sitemap}
}

// namesFeed reports whether a URL looks like that of a feed.
func namesFeed(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil {
		return false
	}
	name := strings.ToLower(path.Base(u.Path))
	return strings.HasSuffix(name, ".atom") || strings.Contains(name, "feed")
}
