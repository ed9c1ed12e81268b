package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/discover"
)

// A choice is an offer as the store remembers it.
type choice struct {
	Protocol string `json:"protocol"`
	URL      string `json:"url"`
	Feed     string `json:"feed,omitempty"`
}

// discovered returns the Sources of what a URL offers. They are found out once, and
// remembered in the store: a later run costs no request more than one with the protocol
// named. With -full they are found out anew.
func (p *program) discovered(ctx context.Context, t target) ([]harvest.Source, error) {
	offers := p.remembered(ctx, t)
	if len(offers) == 0 {
		result, err := (&discover.Finder{Fetcher: p.client}).Find(ctx, t.url)
		if err != nil {
			return nil, err
		}
		if offers, err = result.Choose(); err != nil {
			return nil, err
		}
		p.announce(t, result, offers)
		p.remember(ctx, t, offers)
	}
	return p.sourcesOf(offers), nil
}

func (p *program) sourcesOf(offers []discover.Offer) (sources []harvest.Source) {
	for i := range offers {
		sources = append(sources, p.sourceOf(&offers[i]))
	}
	return sources
}

// sourceOf returns the Source of an offer, with the settings of the flags if there are
// any for its protocol.
func (p *program) sourceOf(o *discover.Offer) harvest.Source {
	if src := p.reader(o.Protocol, target{url: o.URL, feed: o.Feed}); src != nil {
		return o.Bind(src)
	}
	return o.Source()
}

// announce says what is harvested, if it is not simply the document at the URL, and what
// else there is.
func (p *program) announce(t target, r *discover.Result, chosen []discover.Offer) {
	first := &chosen[0]
	plain := first.Protocol == discover.Sitemap || first.Protocol == discover.Atom
	if first.URL == t.url && plain && len(r.Offers) == 1 {
		return
	}
	var names []string
	for i := range chosen {
		names = append(names, chosen[i].String())
	}
	text := fmt.Sprintf("%s: harvesting %s", websync.RedactURL(t.url), strings.Join(names, ", "))
	if others := len(r.Offers) - len(chosen); others > 0 {
		text += fmt.Sprintf("; there is also %s", r.Offers[len(chosen)])
		if others > 1 {
			text += fmt.Sprintf(", and %d more", others-1)
		}
	}
	fmt.Fprintf(p.errOut, "harvest: %s\n", text)
}

// choiceKey is the key of the State that remembers the offers of a URL.
func (p *program) choiceKey(t target) string { return "harvest/" + p.protocol + "/" + t.url }

// remembered returns the offers of a URL that an earlier run has chosen.
func (p *program) remembered(ctx context.Context, t target) (offers []discover.Offer) {
	value, err := p.store.State(ctx, p.choiceKey(t))
	var choices []choice
	if p.full || err != nil || json.Unmarshal(value, &choices) != nil {
		return nil // it can be found out again
	}
	for _, c := range choices {
		offers = append(offers, discover.Offer{Protocol: c.Protocol, URL: c.URL, Feed: c.Feed, Root: t.url})
	}
	return offers
}

// remember stores what was chosen; no offers: nothing.
func (p *program) remember(ctx context.Context, t target, offers []discover.Offer) {
	if p.dry() {
		return
	}
	var choices []choice
	for _, o := range offers {
		choices = append(choices, choice{o.Protocol, o.URL, o.Feed})
	}
	var value []byte
	if len(choices) > 0 {
		value, _ = json.Marshal(choices) // strings can be encoded
	}
	old, err := p.store.State(ctx, p.choiceKey(t))
	if err == nil && !bytes.Equal(old, value) {
		_ = p.store.Swap(ctx, p.choiceKey(t), old, value) // if it fails, the next run finds out again
	}
}

// ambiguity returns the choices of an error of discover as commands; "" for others.
func ambiguity(err error) string {
	var many *discover.AmbiguousError
	if !errors.As(err, &many) {
		return ""
	}
	var b strings.Builder
	b.WriteString(strings.TrimPrefix(many.Reason(), "discover: ") + ". Name what you want:")
	for _, o := range many.Choices {
		fmt.Fprintf(&b, "\n  harvest -protocol %s %s", o.Protocol, websync.RedactURL(o.URL))
		if o.Title != "" {
			fmt.Fprintf(&b, "  # %.100q", o.Title)
		}
	}
	return b.String()
}
