package cli

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest/fetch"
)

// SourceFlags are the flags about what is harvested, and how.
type SourceFlags struct {
	Protocol     string // Auto or one of Harvested
	Complete     bool   // a sitemap lists everything: what it no longer lists is deleted
	Rate         float64
	AllowPrivate bool
}

// Declare declares the flags.
func (f *SourceFlags) Declare(l *Line) {
	l.StringVar(&f.Protocol, "protocol", Auto, "")
	l.BoolVar(&f.Complete, "complete", false, "")
	l.Float64Var(&f.Rate, "rate", 0, "")
	l.BoolVar(&f.AllowPrivate, "allow-private", false, "")
}

// Check returns an error if the rate is none.
func (f *SourceFlags) Check() error {
	return Refuse(!IsRate(f.Rate), "-rate %v: not a number of requests a second", f.Rate)
}

// IsRate reports whether a number can be that of requests a second.
func IsRate(rate float64) bool { return rate >= 0 && rate <= math.MaxFloat64 }

// Targets returns the targets that arguments name, each once.
func (f *SourceFlags) Targets(names []string) (targets []Target, err error) {
	for _, name := range names {
		t, err := ParseTarget(f.Protocol, name)
		if err != nil {
			return nil, err
		}
		t.Complete = f.Complete
		if !slices.ContainsFunc(targets, func(u Target) bool { return u.URL == t.URL }) {
			targets = append(targets, t)
		}
	}
	return targets, nil
}

// Client returns a client that keeps the gates and robots.txt files of hosts in state,
// and sends the credentials of targets to their origins.
func (f *SourceFlags) Client(state websync.State, targets []Target) *fetch.Client {
	c := fetch.New(state)
	c.Rate, c.AllowPrivate = f.Rate, f.AllowPrivate
	for _, t := range targets {
		if t.Sign != nil {
			c.Authorize(t.Origin, t.Sign) // no error: ParseTarget made the origin
		}
	}
	return c
}

// A Target is a URL, or a directory, that a user names.
type Target struct {
	Protocol string // one of Harvested
	URL      string // without user name and password
	Feed     string // the update feed of a sitemap of ELI; empty: none is named
	Complete bool   // a sitemap lists everything: what it no longer lists is deleted

	Dir string // empty: none
	// Exclude has the patterns of files in Dir that are not harvested.
	Exclude []string

	Origin string                    // that Sign is for
	Sign   func(*http.Request) error // nil: no credentials
}

// ParseTarget returns the Target that raw names.
func ParseTarget(protocol, raw string) (Target, error) {
	if protocol == "dir" {
		return parseDir(raw)
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
