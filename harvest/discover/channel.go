package discover

import (
	"cmp"
	"context"
	"fmt"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/resourcesync"
)

// Channel returns where the changes of the document at url are announced (WebSub §4): the
// topic, and the hubs that announce its changes, those of https first; none if it names
// no hub. It fits the field Discover of notify.Subscriber.
//
// It finds the links self and hub in the HTTP header of the document or else, each
// relation for itself, in the document: in a feed of any format, the head of a web page,
// a sitemap, or a document of ResourceSync, of which also the Change List counts. If the
// document is a part of a feed, those of its newest document count, and for a sitemap of
// legislation those of its update feed. Without a link self, the topic is the URL of the
// document, after redirects.
//
// A document that can't be read, or is none of these and has no links, is an error:
// nobody knows whether its changes are announced.
func (f *Finder) Channel(ctx context.Context, url string) (topic string, hubs []string, err error) {
	s, err := newSearch(f, url)
	if err != nil {
		return "", nil, err
	}
	topic, hubs, err = s.channel(ctx)
	switch {
	case ctx.Err() != nil:
		return "", nil, ctx.Err()
	case err != nil:
		return "", nil, fmt.Errorf("discover: %w", err)
	}
	return topic, hubs, nil
}

func (s *search) channel(ctx context.Context) (topic string, hubs []string, err error) {
	found := s.look(ctx, lead{url: s.root, place: itself})
	a := s.get(ctx, s.root)
	switch {
	case a.err != nil:
		return "", nil, a.err
	case len(found) == 1 && found[0].Protocol == ResourceSync:
		return (&resourcesync.Source{URL: found[0].URL}).Channel(ctx, s)
	case len(found) == 1:
		topic, hubs = found[0].Topic, found[0].Hubs
	default:
		topic, hubs = a.channel(a.head)
	}
	switch {
	case len(hubs) > 0:
	case a.fault != nil:
		return "", nil, a.fault
	case len(found) == 0:
		return "", nil, fmt.Errorf("%s: %s, and names no hub", websync.RedactURL(s.root), cmp.Or(a.what, "it is unknown"))
	}
	return topic, hubs, nil
}
