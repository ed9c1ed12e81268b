package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/sitemap"
)

// A target is a URL of the command line.
type target struct {
	url    string                    // without user name and password
	origin string                    // that sign is for
	sign   func(*http.Request) error // nil: no credentials
}

func parseTarget(raw string) (target, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return target{}, fmt.Errorf("not a URL: %w", errors.Unwrap(err))
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return target{}, fmt.Errorf("%q is not a URL that begins with http:// or https://", u.Redacted())
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

// source returns what a URL speaks. In this version, that is a sitemap.
func (p *program) source(t target) harvest.Source {
	return &sitemap.Source{URL: t.url, Complete: p.complete}
}

// advice returns what a user can do about an error, if there is more to say than the error does.
func advice(err error) string {
	switch {
	case errors.Is(err, harvest.ErrHeld):
		return "Another process is harvesting this source into this store: wait until it has ended."
	case errors.Is(err, websync.ErrNotDocument):
		return "This version reads sitemaps: give the URL of a sitemap, of an index of them, or of the robots.txt of the site."
	}
	return ""
}
