package protocols

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atom/anyfeed"
	"github.com/websync-go/websync/atompmh"
	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/eli/jsonld"
	"github.com/websync-go/websync/eli/rdfa"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/dirsource"
	"github.com/websync-go/websync/harvest/discover"
	"github.com/websync-go/websync/resourcesync"
	"github.com/websync-go/websync/rinfo"
	"github.com/websync-go/websync/sitemap"
)

// An Opener makes the Sources of targets.
type Opener struct {
	Fetcher harvest.Fetcher
	// State remembers what URLs offer: a later run costs no request more than one with
	// the protocol named.
	State websync.State
	// Anew finds out again what is remembered.
	Anew bool
	// Rate is the number of requests a second and host; 0: the default of the client and,
	// for legislation, one in five seconds.
	Rate float64
	// PagesDir is for documents of archives, until they are dealt with; empty: none.
	PagesDir string
	// Announce receives a line about what is harvested, if that is not simply the
	// document at the URL.
	Announce func(line string)
}

// Sources returns the Sources of what a target leads to: several sets of ResourceSync, or
// one.
func (o *Opener) Sources(ctx context.Context, t Target) ([]harvest.Source, error) {
	switch t.Protocol {
	case Auto:
		return o.found(ctx, t, o.best)
	case "resourcesync":
		return o.sets(ctx, t), nil
	case "eli":
		if t.Feed == "" {
			return o.found(ctx, t, o.legislative)
		}
	}
	return []harvest.Source{o.source(t.Protocol, t)}, nil
}

// sets returns the sets of ResourceSync that a target leads to.
func (o *Opener) sets(ctx context.Context, t Target) (all []harvest.Source) {
	sets, err := resourcesync.Discover(ctx, o.Fetcher, t.URL)
	if err != nil { // the run says what is wrong with it
		return []harvest.Source{&resourcesync.Source{URL: t.URL}}
	}
	for i := range sets {
		all = append(all, sets[i].Source())
	}
	return all
}

// source returns the Source that reads a target by a protocol with the settings; nil if
// there is none to set.
func (o *Opener) source(protocol string, t Target) harvest.Source {
	switch protocol {
	case "dir":
		return &dirsource.Source{Dir: t.Dir, Base: t.URL, Exclude: t.Exclude}
	case "sitemap":
		return &sitemap.Source{URL: t.URL, Complete: t.Complete}
	case "atom":
		return &atom.Source{URL: t.URL, Dir: o.PagesDir, Parser: anyfeed.Parse}
	case "atompmh":
		return &atompmh.Source{URL: t.URL, AllFormats: true, Dir: o.PagesDir}
	case "rinfo":
		return &rinfo.Source{URL: t.URL, Dir: o.PagesDir}
	case "eli":
		return &eli.Source{Sitemap: t.URL, Feed: t.Feed, Interval: o.interval(), Extractors: []eli.Extractor{&rdfa.Extractor{}, &jsonld.Extractor{}}}
	}
	return nil
}

// interval returns the time between two requests for legislation; 0: the default.
func (o *Opener) interval() time.Duration {
	if o.Rate <= 0 {
		return 0
	}
	return time.Duration(max(1, min(float64(time.Second)/o.Rate, float64(24*time.Hour))))
}

// found returns the Sources of what a target leads to. That is found out once, and
// remembered; choose makes the choice among what was found.
func (o *Opener) found(ctx context.Context, t Target, choose func(Target, *discover.Result) ([]discover.Offer, error)) (sources []harvest.Source, err error) {
	offers := o.remembered(ctx, t)
	if len(offers) == 0 {
		result, err := (&discover.Finder{Fetcher: o.Fetcher}).Find(ctx, t.URL)
		if err != nil {
			return nil, err
		}
		if offers, err = choose(t, result); err != nil {
			return nil, err
		}
		o.remember(ctx, t, offers)
	}
	for i := range offers {
		offer := &offers[i]
		if src := o.source(offer.Protocol, Target{URL: offer.URL, Feed: offer.Feed, Complete: t.Complete}); src != nil {
			sources = append(sources, offer.Bind(src))
		} else {
			sources = append(sources, offer.Source())
		}
	}
	return sources, nil
}

// best chooses what is best of all that a target offers, and announces it, if it is not
// simply the document at the URL, and what else there is.
func (o *Opener) best(t Target, r *discover.Result) ([]discover.Offer, error) {
	chosen, err := r.Choose()
	if err != nil {
		return nil, err
	}
	first := &chosen[0]
	plain := first.Protocol == discover.Sitemap || first.Protocol == discover.Atom
	if first.URL == t.URL && plain && len(r.Offers) == 1 {
		return chosen, nil
	}
	var names []string
	for i := range chosen {
		names = append(names, chosen[i].String())
	}
	line := fmt.Sprintf("%s: harvesting %s", websync.RedactURL(t.URL), strings.Join(names, ", "))
	if others := len(r.Offers) - len(chosen); others > 0 {
		line += fmt.Sprintf("; there is also %s", r.Offers[len(chosen)])
		if others > 1 {
			line += fmt.Sprintf(", and %d more", others-1)
		}
	}
	o.Announce(line)
	return chosen, nil
}

// legislative chooses the sitemaps of legislation, each with its update feed, and
// announces them. A sitemap that was named itself is one, also if there are only weak
// signs.
func (o *Opener) legislative(t Target, r *discover.Result) (pairs []discover.Offer, err error) {
	for _, offer := range r.Offers {
		if offer.Protocol == discover.Sitemap && offer.URL == r.URL {
			offer.Protocol = discover.ELI
		}
		if offer.Protocol == discover.ELI {
			pairs = append(pairs, offer)
		}
	}
	if len(pairs) == 0 {
		var tried []string
		for _, try := range r.Tried {
			tried = append(tried, try.String())
		}
		return nil, fmt.Errorf("%s leads to no sitemap of legislation: %w; tried: %s", websync.RedactURL(r.URL), websync.ErrNotFound, strings.Join(tried, "; "))
	}
	for _, pair := range pairs {
		feed := "without an update feed: none was found"
		if pair.Feed != "" {
			feed = "with the update feed " + websync.RedactURL(pair.Feed)
		}
		o.Announce(fmt.Sprintf("%s: harvesting the sitemap %s, %s", websync.RedactURL(t.URL), websync.RedactURL(pair.URL), feed))
	}
	return pairs, nil
}

// A choice is an offer as the State remembers it.
type choice struct {
	Protocol string `json:"protocol"`
	URL      string `json:"url"`
	Feed     string `json:"feed,omitempty"`
}

// choiceKey is the key of the State that remembers the offers of a target.
func choiceKey(t Target) string { return "harvest/" + t.Protocol + "/" + t.URL }

// remembered returns the offers of a target that were chosen before.
func (o *Opener) remembered(ctx context.Context, t Target) (offers []discover.Offer) {
	value, err := o.State.State(ctx, choiceKey(t))
	var choices []choice
	if o.Anew || err != nil || json.Unmarshal(value, &choices) != nil {
		return nil // it can be found out again
	}
	for _, c := range choices {
		offers = append(offers, discover.Offer{Protocol: c.Protocol, URL: c.URL, Feed: c.Feed, Root: t.URL})
	}
	return offers
}

// remember stores what was chosen; no offers: nothing.
func (o *Opener) remember(ctx context.Context, t Target, offers []discover.Offer) {
	var choices []choice
	for _, offer := range offers {
		choices = append(choices, choice{offer.Protocol, offer.URL, offer.Feed})
	}
	var value []byte
	if len(choices) > 0 {
		value, _ = json.Marshal(choices) // strings can be encoded
	}
	old, err := o.State.State(ctx, choiceKey(t))
	if err == nil && !bytes.Equal(old, value) {
		_ = o.State.Swap(ctx, choiceKey(t), old, value) // if it fails, it is found out again
	}
}

// Forget lets what a target offers be found out anew, for example after a run of one of
// its Sources whose document is of another kind than the Source reads.
func (o *Opener) Forget(ctx context.Context, t Target) { o.remember(ctx, t, nil) }

// Ambiguity returns the choices of an error of Sources as commands of a program; "" for
// other errors.
func Ambiguity(program string, err error) string {
	var many *discover.AmbiguousError
	if !errors.As(err, &many) {
		return ""
	}
	var b strings.Builder
	b.WriteString(strings.TrimPrefix(many.Reason(), "discover: ") + ". Name what you want:")
	for _, o := range many.Choices {
		fmt.Fprintf(&b, "\n  %s -protocol %s %s", program, o.Protocol, websync.RedactURL(o.URL))
		if o.Title != "" {
			fmt.Fprintf(&b, "  # %.100q", o.Title)
		}
	}
	return b.String()
}
