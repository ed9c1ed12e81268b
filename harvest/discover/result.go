package discover

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/websync-go/websync"
)

// The values of Offer.Protocol.
const (
	ResourceSync = "resourcesync"
	ELI          = "eli"
	Rinfo        = "rinfo"
	AtomPMH      = "atompmh"
	Atom         = "atom" // also RSS and JSON Feed
	Sitemap      = "sitemap"
)

// protocols are the protocols, the best first.
var protocols = []string{ResourceSync, ELI, Rinfo, AtomPMH, Atom, Sitemap}

// A Result is what Find has found.
type Result struct {
	URL    string  // that Find was given
	Offers []Offer // the best first
	Tried  []Try   // in the order of the requests
}

// An Offer is one set of resources that can be harvested.
type Offer struct {
	// Protocol is one of the constants of this package. They are the values of the flag
	// -protocol of websync harvest.
	Protocol string

	// URL is that of the document with which a harvest begins: a Capability List, the
	// subscription document of a feed, a sitemap, an index, or a robots.txt file.
	URL string

	// Feed is the URL of the update feed that belongs to the sitemap at URL, if Protocol
	// is ELI. It is empty if none was found.
	Feed string

	// Title is the title of the feed, if it has one.
	Title string

	// Topic is the topic of the feed or sitemap in WebSub, and Hubs are the hubs that it
	// names. Those of ResourceSync may be in other documents: Finder.Channel finds them.
	Topic string
	Hubs  []string

	// Root is the URL that Find was given.
	Root string

	// Evidence is what led to the offer, beginning with the document at Root.
	Evidence []Evidence

	place     place
	grade     grade
	guessed   bool     // nothing names it: it is at a usual place
	publisher string   // of a set of ResourceSync: its Source Description
	lossy     bool     // a feed that is not Atom
	entries   []string // ids and links of the entries of a feed
}

// Evidence is what one document says.
type Evidence struct {
	URL  string // of the document
	Text string // for people
}

// A Try is a document that Find asked for, or would have asked for.
type Try struct {
	URL  string
	What string // the document is, for people; empty if there is none
	// Err is why the document can't be read, or not to its end. It matches
	// [websync.ErrLimit] if it was not asked for because of MaxRequests.
	Err error
}

// String returns, for example, "https://example.org/: a web page".
func (t Try) String() string {
	url := websync.RedactURL(t.URL)
	switch {
	case t.Err == nil:
		return url + ": " + t.What
	case t.What == "" && strings.Contains(t.Err.Error(), url):
		return t.Err.Error()
	case t.What == "":
		return url + ": " + t.Err.Error()
	}
	return url + ": " + t.What + ", but " + t.Err.Error()
}

// A place is how a URL leads to an offer.
type place uint8

const (
	nowhere place = iota
	itself        // the document is the offer
	linked        // the document links to it
	ofHost        // the host offers it
)

// A grade is what a reader learns by a protocol.
type grade uint8

const (
	everything grade = iota // all resources, all changes and deletions
	listing                 // all resources
	window                  // recent entries, or no deletions
	reduced                 // what another offer has in a format that states more
)

// compare orders offers, the best first.
func compare(a, b *Offer) int {
	guesses := func(o *Offer) int {
		if o.guessed {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.grade, b.grade), cmp.Compare(guesses(a), guesses(b)),
		cmp.Compare(slices.Index(protocols, a.Protocol), slices.Index(protocols, b.Protocol)))
}

// String returns the protocol, the URL, and the title if there is one.
func (o Offer) String() string {
	text := o.Protocol + " " + websync.RedactURL(o.URL)
	if o.Title != "" {
		text += fmt.Sprintf(" %.100q", o.Title)
	}
	return text
}

// Choose returns what to harvest: the best offer, or all sets of one ResourceSync
// publisher. If other offers are as good, the error is an [*AmbiguousError]; also if the
// URL has a path, and only its host has offers. If there is no offer, the error matches
// [websync.ErrNotFound], or [websync.ErrLimit] if MaxRequests was too low, and says what
// was tried.
//
// An offer is better than another if the URL leads to it in a shorter way: it is the
// document at the URL, that links to it, the host has it. Of those alike, one by which a
// reader learns of all changes and deletions is better than a list of everything, which
// is better than a window of recent entries; and a feed in Atom is better than the same
// feed in another format.
//
// If the best offer of a host is a sitemap or a feed, several belong together: all
// sitemaps that it names, or else the first at one of the usual places, for the set of
// its pages, and its first feed, which has new ones early.
func (r *Result) Choose() ([]Offer, error) {
	if len(r.Offers) == 0 {
		cause := websync.ErrNotFound
		if slices.ContainsFunc(r.Tried, func(t Try) bool { return errors.Is(t.Err, errRequests) }) {
			cause = errRequests
		}
		return nil, fmt.Errorf("discover: %s leads to nothing that can be harvested%s: %w",
			websync.RedactURL(r.URL), r.tried(0), cause)
	}
	if !isHost(r.URL) && r.Offers[0].place == ofHost {
		return nil, &AmbiguousError{URL: r.URL, Choices: slices.Clone(r.Offers), Itself: &r.Tried[0]}
	}
	best := &r.Offers[0]
	if best.place == ofHost && (best.Protocol == Sitemap || best.Protocol == Atom) {
		if joined := r.joined(); len(joined) > 0 {
			return joined, nil
		}
	}
	others := slices.IndexFunc(r.Offers, func(o Offer) bool { return o.place != best.place || o.grade != best.grade })
	if others < 0 {
		others = len(r.Offers)
	}
	equals := slices.Clone(r.Offers[:others])
	apart := func(o Offer) bool { return o.publisher == "" || o.publisher != best.publisher }
	if len(equals) > 1 && slices.ContainsFunc(equals, apart) {
		return nil, &AmbiguousError{URL: r.URL, Choices: equals}
	}
	return equals, nil
}

// joined returns the sitemaps and the feed of a host; nothing if it has no sitemap.
func (r *Result) joined() (all []Offer) {
	for i := range r.Offers {
		if o := &r.Offers[i]; o.Protocol == Sitemap && (!o.guessed || len(all) == 0) {
			all = append(all, *o)
		}
	}
	isFeed := func(o Offer) bool { return o.Protocol == Atom }
	if i := slices.IndexFunc(r.Offers, isFeed); i >= 0 && len(all) > 0 {
		all = append(all, r.Offers[i])
	}
	return all
}

// tried returns what was tried, without the first n documents.
func (r *Result) tried(n int) string {
	const most = 8
	var b strings.Builder
	var missing []string
	written := 0
	for _, t := range r.Tried[min(n, len(r.Tried)):] {
		switch {
		case errors.Is(t.Err, websync.ErrGone):
			missing = append(missing, websync.RedactURL(t.URL))
			continue
		case written < most:
			b.WriteString("; " + t.String())
		}
		written++
	}
	if written > most {
		fmt.Fprintf(&b, "; and %d more", written-most)
	}
	if len(missing) > most {
		missing = append(missing[:most], fmt.Sprintf("%d more", len(missing)-most))
	}
	if len(missing) > 0 {
		b.WriteString("; nothing is at " + strings.Join(missing, ", "))
	}
	return b.String()
}

// An AmbiguousError means that a URL leads to several offers of which none is better than
// the others, or that the URL itself leads to nothing, and its host to something. Each of
// Choices can be harvested by its own URL and protocol.
type AmbiguousError struct {
	URL     string
	Choices []Offer
	Itself  *Try // the document at URL, if that leads to nothing; otherwise nil
}

// Error returns a line that names the choices.
func (e *AmbiguousError) Error() string {
	const most = 8
	var names []string
	for i := range e.Choices {
		if i == most {
			names = append(names, fmt.Sprintf("and %d more", len(e.Choices)-most))
			break
		}
		names = append(names, e.Choices[i].String())
	}
	return e.Reason() + ", so name one by its URL and protocol: " + strings.Join(names, ", ")
}

// Reason returns the error without the choices.
func (e *AmbiguousError) Reason() string {
	if e.Itself != nil {
		return fmt.Sprintf("discover: %v: this leads to nothing that can be harvested, but the host has %s",
			e.Itself, count(len(e.Choices), "offer", "offers"))
	}
	return fmt.Sprintf("discover: %s leads to %d offers that are equally good", websync.RedactURL(e.URL), len(e.Choices))
}
