package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atom/anyfeed"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/dirsource"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/resourcesync"
	"github.com/websync-go/websync/sitemap"
)

// A target is a URL, or a directory, of the command line.
type target struct {
	url string // without user name and password
	dir string // empty: none
	// patterns of the program's own files in dir, which are not harvested
	own    []string
	origin string                    // that sign is for
	sign   func(*http.Request) error // nil: no credentials
}

func (o *options) parseTarget(raw string) (target, error) {
	if o.protocol == "dir" {
		return parseDir(raw)
	}
	u, err := url.Parse(raw)
	if err != nil {
		return target{}, fmt.Errorf("not a URL: %w", errors.Unwrap(err))
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return target{}, fmt.Errorf("%q is not a URL that begins with http:// or https://", websync.RedactURL(raw))
	}
	t := target{url: raw, origin: u.Scheme + "://" + u.Host}
	if u.User != nil {
		password, _ := u.User.Password()
		t.sign = fetch.Basic(u.User.Username(), password)
		u.User = nil
		t.url = u.String() // the store names sources, and keeps no passwords
	}
	return t, nil
}

// parseDir returns the target of a directory. Its files have file URLs.
func parseDir(name string) (target, error) {
	dir, err := filepath.Abs(name)
	if err != nil {
		return target{}, err
	}
	path := strings.TrimSuffix(filepath.ToSlash(dir), "/") + "/"
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive
	}
	u := url.URL{Scheme: "file", Path: path}
	return target{url: u.String(), dir: dir}, nil
}

// sources returns what a URL leads to: several sets of ResourceSync, or one source. Of
// each it returns the Sources that may be able to read it, the likeliest first.
func (p *program) sources(ctx context.Context, t target) [][]harvest.Source {
	named := p.protocol == "resourcesync"
	if !named && (p.protocol != "auto" || !looksLikeResourceSync(t.url)) {
		return [][]harvest.Source{p.readers(t)}
	}
	sets, err := resourcesync.Discover(ctx, p.client, t.url)
	switch {
	case err != nil && named: // the run says what is wrong with it
		return [][]harvest.Source{{&resourcesync.Source{URL: t.url}}}
	case err != nil:
		return [][]harvest.Source{p.readers(t)}
	}
	var all [][]harvest.Source
	for i := range sets {
		all = append(all, []harvest.Source{sets[i].Source()})
	}
	return all
}

// looksLikeResourceSync reports whether a URL is likely that of a Source Description or a
// Capability List.
func looksLikeResourceSync(raw string) bool {
	lower := strings.ToLower(raw)
	return strings.Contains(lower, "resourcesync") || strings.Contains(lower, "capabilitylist")
}

// readers returns the Sources that may be able to read a URL, the likeliest first.
func (p *program) readers(t target) []harvest.Source {
	list := &sitemap.Source{URL: t.url, Complete: p.complete}
	feed := &atom.Source{URL: t.url, Dir: p.pagesDir, Parser: anyfeed.Parse}
	switch {
	case t.dir != "":
		return []harvest.Source{&dirsource.Source{Dir: t.dir, Base: t.url, Exclude: t.own}}
	case p.protocol == "sitemap":
		return []harvest.Source{list}
	case p.protocol == "atom":
		return []harvest.Source{feed}
	case looksLikeFeed(t.url):
		return []harvest.Source{feed, list}
	}
	return []harvest.Source{list, feed}
}

// looksLikeFeed reports whether a URL contains "atom" or "feed".
func looksLikeFeed(raw string) bool {
	lower := strings.ToLower(raw)
	return strings.Contains(lower, "atom") || strings.Contains(lower, "feed")
}

// advice returns what a user can do about an error, or "".
func advice(err error) string {
	switch {
	case errors.Is(err, harvest.ErrHeld):
		return "Another process is harvesting this source into this store: wait until it has ended."
	case errors.Is(err, websync.ErrNotDocument):
		return "This version reads sitemaps, feeds and ResourceSync: give the URL of a sitemap, of an index of them, of the robots.txt of the site, of a feed, or of a Capability List."
	}
	return ""
}
