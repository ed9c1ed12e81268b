package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/discover"
	"github.com/websync-go/websync/internal/survive"
	"github.com/websync-go/websync/resourcesync"
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
	// MaxValue is that of the Sources of Atom feeds.
	MaxValue int
	// Announce receives a line about what is harvested, if that is not simply the
	// document at the URL, and the stack of a panic.
	Announce func(line string)
}

// A Left is a Source of an earlier run to which its target no longer leads, for example a
// set that a Source Description no longer names. It can be harvested as before. Only the
// user decides that its records go.
type Left struct {
	harvest.Source
	Said bool // an earlier run has found out, too
}

// Err returns an error that says so.
func (l *Left) Err(t Target) error {
	url, key := websync.RedactURL(t.URL), websync.RedactURL(l.Key())
	return fmt.Errorf("%s no longer leads to %s: its records stay, and it is harvested as before", url, key)
}

// Sources returns the Sources of what a target leads to, several sets of ResourceSync or
// one, and those of earlier runs to which it no longer leads. If that can't be found out,
// the Sources of earlier runs are returned beside the error. A panic is an error, whose
// stack is announced.
func (o *Opener) Sources(ctx context.Context, t Target) (sources []harvest.Source, left []Left, err error) {
	err = o.survive(t.URL, func() (err error) {
		sources, left, err = o.sources(ctx, t)
		return err
	})
	return sources, left, err
}

// survive calls f. A panic is an error, whose stack is announced.
func (o *Opener) survive(url string, f func() error) error {
	err := survive.Panic(websync.RedactURL(url), f)
	if caught, ok := errors.AsType[*websync.PanicError](err); ok {
		o.Announce(fmt.Sprintf("%v\n%s", err, caught.Stack))
	}
	return err
}

// Channel finds where the changes of a Source of a target are announced by WebSub: as its
// documents say, or else the feed that the target names.
func (o *Opener) Channel(ctx context.Context, t Target, key string) (topic string, hubs []string, err error) {
	finder := &discover.Finder{Fetcher: o.Fetcher}
	err = o.survive(key, func() (err error) {
		if topic, hubs, err = finder.Channel(ctx, key); err == nil && len(hubs) == 0 && t.Feed != "" {
			topic, hubs, err = finder.Channel(ctx, t.Feed)
		}
		return err
	})
	return topic, hubs, err
}

func (o *Opener) sources(ctx context.Context, t Target) ([]harvest.Source, []Left, error) {
	switch t.Protocol {
	case Auto:
		return o.found(ctx, t, o.best)
	case "resourcesync":
		sources, left, err := o.found(ctx, t, o.sets)
		if len(sources) == 0 && ctx.Err() == nil {
			return []harvest.Source{protocols[t.Protocol].source(o, t)}, nil, nil // the run says what is wrong with it
		}
		return sources, left, err
	case "eli":
		if t.Feed == "" {
			return o.found(ctx, t, o.legislative)
		}
	}
	return []harvest.Source{protocols[t.Protocol].source(o, t)}, nil, nil
}

// List returns the Source of a list of acts.
func (o *Opener) List(t Target) harvest.Source { return protocols["csv"].source(o, t) }

// interval returns the time between two requests for legislation; 0: the default.
func (o *Opener) interval() time.Duration {
	if o.Rate <= 0 {
		return 0
	}
	return time.Duration(max(1, min(float64(time.Second)/o.Rate, float64(24*time.Hour))))
}

// found returns the Sources of what a target leads to, and those to which it no longer
// does. That is found out once, and remembered, but for ResourceSync, and for what an
// earlier run could not find again.
func (o *Opener) found(
	ctx context.Context, t Target, find func(context.Context, Target) ([]discover.Offer, error),
) (sources []harvest.Source, left []Left, err error) {
	known := o.remembered(ctx, t)
	now := known
	doubtful := slices.ContainsFunc(known, func(c choice) bool { return c.Left || c.Doubtful })
	if len(known) == 0 || o.Anew || t.Protocol == "resourcesync" || doubtful {
		var offers []discover.Offer
		if offers, err = find(ctx, t); err == nil {
			now = merge(known, offers)
			o.remember(ctx, t, now)
		}
	}
	for _, c := range now {
		src := o.offered(t, c)
		if !c.Left || err != nil {
			sources = append(sources, src)
			continue
		}
		said := slices.ContainsFunc(known, func(old choice) bool { return old.URL == c.URL && old.Left })
		left = append(left, Left{src, said})
	}
	return sources, left, err
}

// offered returns the Source of a choice.
func (o *Opener) offered(t Target, c choice) harvest.Source {
	offer := discover.Offer{Protocol: c.Protocol, URL: c.URL, Feed: c.Feed, Root: t.URL}
	if source := protocols[c.Protocol].source; source != nil {
		t.URL, t.Feed = c.URL, c.Feed
		return offer.Bind(source(o, t))
	}
	return offer.Source()
}

// best finds what is best of all that a target offers, and announces it, if it is not
// simply the document at the URL, and what else there is.
func (o *Opener) best(ctx context.Context, t Target) ([]discover.Offer, error) {
	r, err := o.find(ctx, t)
	if err != nil {
		return nil, err
	}
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
	var others []string
	for i := range r.Offers {
		if name := r.Offers[i].String(); !slices.Contains(names, name) {
			others = append(others, name)
		}
	}
	if len(others) > 0 {
		line += "; there is also " + strings.Join(others, ", ")
	}
	o.Announce(line)
	return chosen, nil
}

func (o *Opener) find(ctx context.Context, t Target) (*discover.Result, error) {
	return (&discover.Finder{Fetcher: o.Fetcher}).Find(ctx, t.URL)
}

// legislative finds the sitemaps of legislation, each with its update feed, and announces
// them. A sitemap that was named itself is one, also if there are only weak signs.
func (o *Opener) legislative(ctx context.Context, t Target) (pairs []discover.Offer, err error) {
	r, err := o.find(ctx, t)
	if err != nil {
		return nil, err
	}
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
		const text = "%s leads to no sitemap of legislation: %w; tried: %s"
		return nil, fmt.Errorf(text, websync.RedactURL(r.URL), websync.ErrNotFound, strings.Join(tried, "; "))
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

// sets finds the sets of ResourceSync that a target leads to.
func (o *Opener) sets(ctx context.Context, t Target) (offers []discover.Offer, err error) {
	sets, err := resourcesync.Discover(ctx, o.Fetcher, t.URL)
	for i := range sets {
		offers = append(offers, discover.Offer{Protocol: discover.ResourceSync, URL: sets[i].CapabilityList})
	}
	return offers, err
}

// A choice is an offer as the State remembers it.
type choice struct {
	Protocol string `json:"protocol"`
	URL      string `json:"url"`
	Feed     string `json:"feed,omitempty"`
	Left     bool   `json:"left,omitempty"` // the target no longer leads to it
	Doubtful bool   `json:"doubtful,omitempty"`
}

// merge returns the choices that offers are, and those of before that are not among them.
func merge(before []choice, offers []discover.Offer) (all []choice) {
	for _, offer := range offers {
		all = append(all, choice{Protocol: offer.Protocol, URL: offer.URL, Feed: offer.Feed})
	}
	for _, c := range before {
		if !slices.ContainsFunc(all, func(now choice) bool { return now.URL == c.URL }) {
			c.Left, c.Doubtful = true, false
			all = append(all, c)
		}
	}
	return all
}

// choiceKey is the key of the State that remembers the offers of a target.
func choiceKey(t Target) string { return "harvest/" + t.Protocol + "/" + t.URL }

// remembered returns what was chosen of a target before.
func (o *Opener) remembered(ctx context.Context, t Target) (choices []choice) {
	value, err := o.State.State(ctx, choiceKey(t))
	if err != nil || json.Unmarshal(value, &choices) != nil {
		return nil // it can be found out again
	}
	return choices
}

// remember stores what was chosen.
func (o *Opener) remember(ctx context.Context, t Target, choices []choice) {
	value, _ := json.Marshal(choices) // strings can be encoded
	old, err := o.State.State(ctx, choiceKey(t))
	if err == nil && !bytes.Equal(old, value) {
		_ = o.State.Swap(ctx, choiceKey(t), old, value) // if it fails, it is found out again
	}
}

// Doubt lets what a target offers be found out anew, for example after a run of one of
// its Sources whose document is of another kind than the Source reads.
func (o *Opener) Doubt(ctx context.Context, t Target) {
	choices := o.remembered(ctx, t)
	for i := range choices {
		choices[i].Doubtful = true
	}
	o.remember(ctx, t, choices)
}

// Forget forgets a Source to which a target no longer leads.
func (o *Opener) Forget(ctx context.Context, t Target, key string) {
	o.remember(ctx, t, slices.DeleteFunc(o.remembered(ctx, t), func(c choice) bool { return c.URL == key && c.Left }))
}

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
