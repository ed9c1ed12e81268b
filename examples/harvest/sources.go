package main

import (
	"errors"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/examples/internal/protocols"
	"github.com/websync-go/websync/harvest"
)

// opener returns what makes the Sources of targets by the flags.
func (p *program) opener() *protocols.Opener {
	return &protocols.Opener{Fetcher: p.client, State: p.state(), Anew: p.full, Rate: p.rate, PagesDir: p.pagesDir, Announce: p.complain}
}

// advice returns what a user can do about an error, or "".
func advice(err error) string {
	switch {
	case errors.Is(err, harvest.ErrHeld):
		return "Another process is harvesting this source into this store, or has died while it was. -wait waits for the end of its claim."
	case errors.Is(err, websync.ErrNotDocument), errors.Is(err, websync.ErrNotFound):
		return "Give the URL of a sitemap, of an index of them, of the robots.txt of the site, of a feed, of a Capability List, or of a page or a host that leads to one. If the site has changed, run it again."
	}
	return ""
}
