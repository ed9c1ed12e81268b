package discover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/syntax"
)

// A Finder finds what can be harvested at a URL. Its methods may be called from several
// goroutines.
type Finder struct {
	// Fetcher gets the documents. It is required. The Root of its requests is the URL
	// that Find is given.
	Fetcher harvest.Fetcher

	// MaxRequests limits the requests of one Find; redirects don't count. If zero, it is
	// 30; if negative, there is no limit.
	MaxRequests int

	// MaxBytes limits how much of each document is read, and kept in memory until Find
	// returns. If zero, it is 1 MiB; if negative, there is no limit. What a longer
	// document is, is decided by its beginning.
	MaxBytes int64
}

// Find reads the document at url, and what that leads to, and returns what can be
// harvested there. The package documentation says where it looks, and in which order.
//
// A Result without Offers is no error: the document was read, and leads to nothing. If it
// can't be read and nothing was found, the error is that of the document: it matches
// [websync.ErrGone], [websync.ErrTruncated], [harvest.ErrTemporary] and so on, and says
// what else was tried.
func (f *Finder) Find(ctx context.Context, url string) (*Result, error) {
	s, err := newSearch(f, url)
	if err != nil {
		return nil, err
	}
	err = s.run(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	r := s.result()
	if err != nil && len(r.Offers) == 0 {
		return nil, fmt.Errorf("discover: %w%s", err, r.tried(1))
	}
	return r, nil
}

// A search is one call of a Finder's method.
type search struct {
	*web
	offers []*Offer
	byURL  map[look]*Offer
	looked map[look][]*Offer // nil while the document is looked at

	busy map[string]bool // hosts that have asked for patience
}

func newSearch(f *Finder, url string) (*search, error) {
	switch {
	case f.Fetcher == nil:
		return nil, errors.New("discover: Finder.Fetcher is nil")
	case syntax.HTTPHost(url) == 0:
		return nil, fmt.Errorf("discover: %q must be an absolute URL with http or https", websync.RedactURL(url))
	}
	return &search{
		web: &web{
			fetcher: f.Fetcher, root: url, left: cmp.Or(f.MaxRequests, 30), maxBytes: cmp.Or(f.MaxBytes, 1<<20),
			answers: make(map[key]*answer),
		},
		byURL: make(map[look]*Offer), looked: make(map[look][]*Offer), busy: make(map[string]bool),
	}, nil
}

// run looks for everything. The error is that of the document at the URL, if it can't be
// read.
func (s *search) run(ctx context.Context) error {
	start := lead{url: s.root, place: itself}
	if s.look(ctx, start); s.found(itself) {
		return nil
	}
	a := s.get(ctx, s.root)
	hosts := s.hosts(a)
	switch {
	case errors.Is(a.fault, websync.ErrTruncated): // nobody knows what it is
		s.follow(ctx, start, a)
	case isHost(s.root) && s.canAsk(a):
		s.stated(ctx, hosts) // first: a page may link to more than can be asked for
		s.guessed(ctx, hosts)
		s.follow(ctx, start, a)
		s.guessedFeeds(ctx, hosts)
	default:
		if s.follow(ctx, start, a); !s.found(linked) && s.canAsk(a) {
			s.stated(ctx, hosts)
			s.guessed(ctx, hosts)
			s.guessedFeeds(ctx, hosts)
		}
	}
	return cmp.Or(a.err, a.fault)
}

// canAsk reports whether the host of the document may be asked for more.
func (s *search) canAsk(a *answer) bool {
	return a.err == nil || isAnswer(a.err) && !errors.Is(a.err, harvest.ErrTemporary)
}

// isHost reports whether a URL is that of a host, without a path.
func isHost(url string) bool {
	_, end := syntax.OriginOf(url)
	return url[end:] == "" || url[end:] == "/"
}

// isAnswer reports whether an error is an answer of the server.
func isAnswer(err error) bool {
	var e interface{ StatusCode() int }
	return errors.As(err, &e) && e.StatusCode() > 0
}

// found reports whether there is an offer of a place.
func (s *search) found(p place) bool {
	return slices.ContainsFunc(s.offers, func(o *Offer) bool { return o.place == p })
}

// A lead is a document to look at, and why.
type lead struct {
	url      string
	place    place      // of the offers of the document
	evidence []Evidence // that led to it
	only     string     // the protocol that is meant; if empty, any
	feed     string     // the update feed that led to it, by ELI Pillar IV
	guess    bool       // nothing names it
}

// A look is a document that was looked at, for one protocol or for all.
type look struct {
	key
	only string
}

// to returns the lead to another document, to which the document of l leads.
func (l *lead) to(url, from, format string, args ...any) lead {
	evidence := append(slices.Clip(l.evidence), Evidence{from, fmt.Sprintf(format, args...)})
	return lead{url: url, place: l.place, evidence: evidence}
}

// look looks at a document, unless that was done before, and returns what it offers.
func (s *search) look(ctx context.Context, l lead) []*Offer {
	at := look{keyOf(l.url), l.only}
	found, known := s.looked[at]
	if !known {
		a := s.get(ctx, l.url)
		final := look{keyOf(a.final), l.only}
		if found, known = s.looked[final]; !known {
			s.looked[at], s.looked[final] = nil, nil
			found = s.read(ctx, l, a)
			s.looked[final] = found
		}
		s.looked[at] = found
		return found
	}
	for _, o := range found {
		if !l.guess {
			o.guessed = false
			o.support(l.evidence...)
		}
	}
	return found
}

// offer adds what a document offers, with the evidence that it has of itself.
func (s *search) offer(l lead, o Offer, text string, args ...any) []*Offer {
	if l.only != "" && l.only != o.Protocol {
		return nil
	}
	o.Root, o.place, o.guessed = s.root, l.place, l.guess
	o.Evidence = append(slices.Clip(l.evidence), Evidence{o.URL, fmt.Sprintf(text, args...)})
	at := look{keyOf(o.URL), o.Protocol}
	if known := s.byURL[at]; known != nil {
		known.support(o.Evidence...)
		known.publisher, known.Feed = cmp.Or(known.publisher, o.publisher), cmp.Or(known.Feed, o.Feed)
		return []*Offer{known}
	}
	s.byURL[at] = &o
	s.offers = append(s.offers, &o)
	return []*Offer{&o}
}

// support adds evidence that it does not have yet.
func (o *Offer) support(evidence ...Evidence) {
	for _, e := range evidence {
		if !slices.Contains(o.Evidence, e) {
			o.Evidence = append(o.Evidence, e)
		}
	}
}

// result returns what was found, the best first.
func (s *search) result() *Result {
	r := &Result{URL: s.root}
	for _, o := range s.offers {
		o.demote(s.offers)
	}
	slices.SortStableFunc(s.offers, compare)
	for _, o := range s.offers {
		r.Offers = append(r.Offers, *o)
	}
	for _, a := range s.order {
		r.Tried = append(r.Tried, Try{URL: a.url, What: a.what, Err: cmp.Or(a.err, a.fault)})
	}
	return r
}

// demote lowers the grade of a feed that is not Atom if there is the same feed in Atom:
// one with its title, and one of its entries.
func (o *Offer) demote(offers []*Offer) {
	for _, other := range offers {
		same := func(id string) bool { return slices.Contains(other.entries, id) }
		if o.lossy && !other.lossy && other.Protocol == Atom && other.Title == o.Title && slices.ContainsFunc(o.entries, same) {
			o.grade = reduced
			o.support(Evidence{other.URL, "it is the same feed in Atom"})
		}
	}
}
