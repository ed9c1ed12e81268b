package resourcesync

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/docfetch"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/internal/webpage"
)

// notificationName is what findings and errors have in place of a URL. It is none, so
// relative references are not resolved.
const notificationName = "change notification"

func (p *payload) reader(report func(websync.Finding)) *Reader {
	r := NewReader(bytes.NewReader(p.body))
	r.Document, r.Report = notificationName, report
	return r
}

// check reads the notification to its end, and returns why it cannot be used.
func (p *payload) check(now time.Time) error {
	r := p.reader(nil)
	head, err := r.Head()
	if err != nil {
		return err
	}
	if err := p.checkHead(&head); err != nil {
		return docfetch.Named("resourcesync", notificationName, err)
	}
	err = eachView(r, func(_ int, v *View) error {
		if err := checkChange(v, now); err != nil {
			return &websync.ParseError{
				Format: "resourcesync", Document: notificationName, Line: v.Line, Column: v.Column, Err: err,
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if r.Skipped() > 0 {
		return docfetch.Skipped("resourcesync", notificationName, r.Skipped())
	}
	return nil
}

func (p *payload) checkHead(h *Head) error {
	up := h.Href("up")
	switch {
	case h.Metadata.Capability != ChangeList:
		return h.Metadata.notOf(ChangeList)
	case h.Index:
		return errors.New("an index of Change Lists, where a Change List must be")
	case up != "" && docfetch.KeyOf(up) != docfetch.KeyOf(p.URL):
		return fmt.Errorf("the link up leads to %s, which must be the Capability List %s",
			websync.RedactURL(up), websync.RedactURL(p.URL))
	}
	return nil
}

// checkChange returns why an entry of a notification cannot be used.
func checkChange(v *View, now time.Time) error {
	// No answer of the publisher's server states its time, so the local clock counts. If
	// that is wrong, the Change Lists are read, which have the change, too.
	const ahead = time.Hour
	switch t := changeTime(v); {
	case t.IsZero():
		return errors.New("a change without datetime and lastmod")
	case t.Time().After(now.Add(ahead)):
		return fmt.Errorf("a change at %v, which is more than an hour after %v, by the local clock",
			t, websync.NewDatetime(now))
	case v.Metadata.Capability != "":
		return fmt.Errorf("an entry of the capability %q: a document, not a resource", v.Metadata.Capability)
	case syntax.Scheme(v.Loc) == 0:
		return fmt.Errorf("the loc %.100q, which must not be relative", v.Loc)
	case len(v.Loc) > maxID:
		return errors.New("a URI that is longer than any Store takes")
	}
	return nil
}

// notification yields the changes of a notification that was checked: the last one of
// each URI. The position stays where it is.
func (w *walk) notification(p *payload) error {
	position := latest(w.from.Log.Time, w.from.Log.Clock)
	if !w.from.Listed || w.from.Stale || w.from.Root == "" || w.from.Log.Untimed || position.IsZero() {
		return w.Named(notificationName, errNoPosition)
	}
	latest, known := make(map[string]int), make(map[uint64]state)
	err := eachView(p.reader(w.Report), func(i int, v *View) error {
		t := changeTime(v)
		if !t.After(position) {
			return w.Named(notificationName,
				fmt.Errorf("a change at %v, which is not after %v, up to when the Change Lists were read", t, position))
		}
		w.checkKind(notificationName, v)
		if byTime.replaces(known, idSum(v.Loc), state{at: t}) {
			latest[string(v.Loc)] = i
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = eachView(p.reader(nil), func(i int, v *View) error {
		if latest[string(v.Loc)] != i || !w.includes(v.Loc) {
			return nil
		}
		return w.putAnnounced(v, changeTime(v))
	})
	if err != nil {
		return err
	}
	return w.Mark(w.resume(), w.next.Skipped+w.next.Log.Skipped)
}

var errNoPosition = errors.New("no earlier run has followed the Change Lists up to a known time")

// channel returns the topic and the hubs that the Capability List names, or its Change
// List.
func (w *walk) channel(ctx context.Context) (topic string, hubs []string, err error) {
	d := &docfetch.Document{URL: w.source.URL}
	head, entries, err := w.small(ctx, d, docfetch.Validators{}, "")
	if err == nil && head.Metadata.Capability == Description && !head.Index && len(entries) == 1 {
		d = &docfetch.Document{URL: entries[0].Loc}
		head, entries, err = w.small(ctx, d, docfetch.Validators{}, CapabilityList)
	}
	if err != nil {
		return "", nil, err
	}
	if topic, hubs = channelOf(d, &head); topic != "" && len(hubs) > 0 {
		return topic, hubs, nil
	}
	offers, err := w.offered(d.URL, entries)
	if err != nil || offers[ChangeList] == "" {
		return "", nil, err
	}
	d = &docfetch.Document{URL: offers[ChangeList]}
	if head, _, err = w.small(ctx, d, docfetch.Validators{}, ChangeList); err != nil {
		return "", nil, err
	}
	if topic, hubs = channelOf(d, &head); topic == "" || len(hubs) == 0 {
		return "", nil, nil
	}
	return topic, hubs, nil
}

// channelOf returns the topic and the hubs that a document names; empty if it names none.
func channelOf(d *docfetch.Document, head *Head) (topic string, hubs []string) {
	var links []websync.Link
	for i := range head.Links {
		links = append(links, head.Links[i].Link)
	}
	return webpage.Channel(webpage.HeaderLinks(d.Header["Link"], d.Final), webpage.Links(links))
}
