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
	"github.com/websync-go/websync/atompmh"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/dirsource"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/resourcesync"
	"github.com/websync-go/websync/rinfo"
	"github.com/websync-go/websync/sitemap"
)

// A target is a URL, or a directory, of the command line.
type target struct {
	url  string // without user name and password
	feed string // the update feed of a sitemap of ELI; empty: none is named
	dir  string // empty: none
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

// sources returns the Sources of what a URL leads to: several sets of ResourceSync, or
// one.
func (p *program) sources(ctx context.Context, t target) ([]harvest.Source, error) {
	switch p.protocol {
	case "auto":
		return p.discovered(ctx, t)
	case "resourcesync":
		return p.sets(ctx, t), nil
	case "eli":
		return p.pairs(ctx, t)
	}
	return []harvest.Source{p.reader(p.protocol, t)}, nil
}

// sets returns the sets of ResourceSync that a URL leads to.
func (p *program) sets(ctx context.Context, t target) (all []harvest.Source) {
	sets, err := resourcesync.Discover(ctx, p.client, t.url)
	if err != nil { // the run says what is wrong with it
		return []harvest.Source{&resourcesync.Source{URL: t.url}}
	}
	for i := range sets {
		all = append(all, sets[i].Source())
	}
	return all
}

// reader returns the Source that reads a target by a protocol with the settings of the
// flags; nil if there is none to set.
func (p *program) reader(protocol string, t target) harvest.Source {
	switch protocol {
	case "dir":
		return &dirsource.Source{Dir: t.dir, Base: t.url, Exclude: t.own}
	case "sitemap":
		return &sitemap.Source{URL: t.url, Complete: p.complete}
	case "atom":
		return &atom.Source{URL: t.url, Dir: p.pagesDir, Parser: anyfeed.Parse}
	case "atompmh":
		return &atompmh.Source{URL: t.url, AllFormats: true, Dir: p.pagesDir}
	case "rinfo":
		return &rinfo.Source{URL: t.url, Dir: p.pagesDir}
	case "eli":
		return p.legislation(t)
	}
	return nil
}

// advice returns what a user can do about an error, or "".
func advice(err error) string {
	switch {
	case errors.Is(err, harvest.ErrHeld):
		return "Another process is harvesting this source into this store: wait until it has ended."
	case errors.Is(err, websync.ErrNotDocument), errors.Is(err, websync.ErrNotFound):
		return "Give the URL of a sitemap, of an index of them, of the robots.txt of the site, of a feed, of a Capability List, or of a page or a host that leads to one. If the site has changed, run it again."
	}
	return ""
}
