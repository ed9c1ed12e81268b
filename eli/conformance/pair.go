package conformance

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/internal/syntax"
)

// comparePair makes the checks for which both documents are needed.
func (k *check) comparePair() error {
	if !k.feedFacts.read {
		return nil
	}
	k.checkDaily()
	if k.list.table.Len == 0 {
		k.skip(NeedsDocument, "The sitemap lists no ELI.", ruleSame, ruleMassive, ruleHistory, ruleOneFeed)
		return nil
	}
	k.checked(ruleOneFeed, ruleSame, ruleMassive, ruleComplete)
	k.note("That a list is complete can't be proven: the feed, the pages and earlier visits only show what is missing.",
		ruleComplete)
	k.checkHistory()
	k.checkMassive()
	k.checkFeedHost()
	k.compareEntries()
	return nil
}

// compareEntries reads the feed again, to compare each entry with the sitemap.
func (k *check) compareEntries() {
	newest := dayOf(k.list.newest)
	k.feed.read(func(src io.Reader) error {
		r := atom.NewReader(src)
		r.Document, r.ContentType, r.MaxBytes = k.feed.URL, k.feed.ContentType, k.MaxBytes
		for {
			v, err := r.NextView()
			if err != nil {
				return err
			}
			if !v.Deleted && k.isELI(string(v.ID)) {
				k.compareEntry(v, newest)
			}
		}
	}) // an error was reported by the first reading
}

func (k *check) compareEntry(v *atom.View, newest day) {
	at, id := position{k.feed, v.Line, v.Column, "entry"}, string(v.ID)
	updated := dayOf(v.Updated)
	lastMod := k.list.table.Find(id)
	if lastMod == nil {
		k.entryPrefix(id, at)
	}
	switch {
	case updated == noDay || newest == noDay || updated >= newest:
		// The sitemap may be older than the entry.
	case lastMod == nil:
		k.find(ruleComplete, at, id, "the sitemap lacks an ELI of the feed that is older than the sitemap")
		k.find(ruleSame, at, id, "the feed has an ELI that the sitemap lacks")
	case *lastMod != noDay && *lastMod != updated && *lastMod != dayOf(v.Updated.UTC()):
		if latest := k.entries.Find(id); latest != nil && *latest == updated { // not an earlier entry of the ELI
			k.findAs(asWarn, ruleSame, at, id, fmt.Sprintf("the feed states %s, and the sitemap %s", updated, *lastMod))
		}
	}
}

// entryPrefix checks that an entry that the sitemap lacks is where its ELIs are.
func (k *check) entryPrefix(id string, at position) {
	there, end := syntax.OriginOf(id)
	if there == "" {
		return
	}
	for _, o := range k.list.origins {
		if o.name == there {
			if p := &k.list.prefix; there != p.origin || strings.HasPrefix(syntax.PathOf(id, end), p.dir) {
				return
			}
		}
	}
	k.find(ruleEntryLink, at, id, fmt.Sprintf("the ELI is not where those of the sitemap are, below %s%s",
		k.list.prefix.origin, k.list.prefix.dir))
}

// checkHistory checks whether the feed reaches back for 60 days.
func (k *check) checkHistory() {
	f, m := &k.feedFacts, &k.list.missing
	k.checked(ruleHistory)
	if !f.oldest.IsZero() && dayOf(f.oldest) <= f.since || m.count == 0 {
		return
	}
	for _, e := range m.examples {
		k.find(ruleHistory, e.at, e.url, fmt.Sprintf("the feed must hold 60 days: it lacks a change of %s", dayOf(e.lastMod)))
	}
	k.find(ruleHistory, position{source: k.feed}, f.oldest.String(),
		fmt.Sprintf("the oldest entry is younger than 60 days, and %d ELIs of the sitemap that changed in that "+
			"time are not in the feed", m.count))
}

// checkMassive looks for signs that everything was processed anew.
func (k *check) checkMassive() {
	const (
		few  = 100  // entries that any feed may have
		many = 1000 // entries of one time
	)
	f, at := &k.feedFacts, position{source: k.feed}
	if n := k.entries.Len; n > few && 5*n > k.list.table.Len {
		k.findAs(asWarn, ruleMassive, at, "", fmt.Sprintf("the feed has %d of the %d legal resources", n, k.list.table.Len))
	}
	for _, t := range slices.Sorted(maps.Keys(f.stamps)) {
		if n := f.stamps[t]; n > many {
			k.findAs(asWarn, ruleMassive, at, time.Unix(t, 0).UTC().Format(time.RFC3339),
				fmt.Sprintf("%d entries have the same time", n))
		}
	}
}

// checkFeedHost checks that the feed is on the host of the sitemap.
func (k *check) checkFeedHost() {
	_, here := hostOf(k.sitemap.URL)
	_, there := hostOf(k.feed.URL)
	if here == "" || there == "" || here == there || k.registered() {
		return
	}
	k.find(ruleFeedLocation, position{source: k.feed}, k.feed.URL,
		fmt.Sprintf("the feed is on %s, and the sitemap on %s: that is allowed if the pair is registered", there, here))
}

func hostOf(url string) (scheme, host string) {
	origin, _ := syntax.OriginOf(url)
	return origin.Split()
}

// checkDaily checks whether the feed is updated daily.
func (k *check) checkDaily() {
	const weekend = 4 * 24 * time.Hour
	f, s := &k.feedFacts, k.feed
	if !f.visited {
		k.skip(NeedsHTTP, "A saved file does not state when it was saved.", ruleDaily)
		return
	}
	k.checked(ruleDaily)
	newest := k.latest(s.Modified, f.newest, f.feed.Updated)
	if age := k.now.Sub(newest); newest.IsZero() || age >= weekend {
		k.findAs(asWarn, ruleDaily, position{source: s}, f.newest.String(),
			"nothing in the feed is younger than 4 days; a second visit shows more")
	}
}

// latest returns the latest of some times that is not in the future by a day or more.
func (k *check) latest(modified time.Time, dates ...websync.Datetime) time.Time {
	for _, d := range dates {
		if !d.IsZero() && d.Time().After(modified) && d.Time().Before(k.now.Add(24*time.Hour)) {
			modified = d.Time()
		}
	}
	return modified
}
