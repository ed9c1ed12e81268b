package conformance

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/internal/syntax"
)

// feedRules returns all rules about the feed that need the document itself.
func feedRules() []*Rule {
	return ruleSet.between("P4-050", "P4-071")
}

// atomDropped are the rules of package atom, without their prefix, whose subject the
// rules of this package cover.
var atomDropped = []string{"feed-self", "feed-updated", "date-future", "entry-versions", "entry-twice"}

// A feedFacts is what is known of the feed.
type feedFacts struct {
	read    bool // to its end, as a feed
	feed    atom.Feed
	self    string
	entries int

	newest, oldest websync.Datetime // updated
	// The 60 days before the newest date of the feed, or before the check: those after
	// since, up to until.
	since, until day

	stamps  map[int64]int // entries by time
	days    map[day]bool  // on which entries were updated
	spaces  []string      // foreign namespaces
	latest  []FeedEntry   // the newest ones, newest first
	visited bool          // the feed comes from the web, so the time of the visit is known
}

// limits on what is kept of a feed.
const (
	maxStamps = 1 << 16
	maxDays   = 4096
	maxSpaces = 20
)

// readFeed reads the feed.
func (k *check) readFeed() error {
	s, facts := k.feed, &k.feedFacts
	facts.stamps, facts.days = make(map[int64]int), make(map[day]bool)
	facts.since, facts.until = noDay, noDay
	if s.Name == "" && k.Alone {
		s.document.Kind = "unknown"
		k.skip(NeedsDocument, "No feed was given.", append(feedRules(), ruleOffered)...)
		return nil
	}
	err := k.open(s)
	var sum atom.Summary
	if err == nil {
		sum, err = k.validateFeed()
	}
	s.document.Kind, s.document.Entries, s.document.Newest = sum.Kind.String(), sum.Entries, facts.newest
	if err != nil {
		s.document.Error = err.Error()
	}
	if sum.Kind != atom.FeedDocument {
		message := "the publisher must offer an update feed: the document is no feed"
		if err != nil && !errors.Is(err, websync.ErrNotDocument) {
			message = "the publisher must offer an update feed: " + unreadable(err)
		}
		k.find(ruleOffered, position{source: s}, s.Name, message)
		k.skip(NeedsDocument, "There is no feed that can be read.", feedRules()...)
		return nil
	}
	facts.read, facts.entries = true, sum.Entries
	if err != nil {
		k.note("The feed could not be read to its end.", feedRules()...)
	}
	if sum.Skipped > 0 {
		k.find(ruleEntryID, position{source: s}, "", fmt.Sprintf("%d entries have no usable id, or are damaged", sum.Skipped))
	}
	k.offered()
	k.checked(ruleAtom, ruleTitle, ruleSelf, ruleUpdated, ruleAuthor, ruleFeedID, ruleURN, ruleEntryLink,
		ruleEntryID, ruleEntryTitle, ruleEntryUpdated)
	k.checkFeedHead()
	k.checkFeedLocation()
	k.setWindow()
	return nil
}

// offered marks P4-001 as checked, if the other document was given, too, or must be.
func (k *check) offered() {
	if !k.Alone || k.Sitemap.Name != "" && k.Feed.Name != "" {
		k.checked(ruleOffered)
	}
}

func (k *check) validateFeed() (sum atom.Summary, err error) {
	s := k.feed
	err = s.read(func(src io.Reader) (err error) {
		sum, err = atom.Validate(src, atom.ValidateOptions{
			Document: s.Name, URL: s.URL, ContentType: s.ContentType, Now: k.now, MaxBytes: k.MaxBytes,
			Report: func(f websync.Finding) {
				if name := strings.TrimPrefix(f.Rule, "atom-"); !slices.Contains(atomDropped, name) {
					k.findAs(f.Severity, ruleAtom, position{k.feed, f.Line, f.Column, f.Element}, f.Value, f.Message)
				}
			},
			Item: func(item *atom.Item, _ atom.ReportFunc) { k.feedEntry(item) },
			Feed: func(f *atom.Feed, _ atom.ReportFunc) { k.feedFacts.feed = *f },
		})
		return err
	})
	return sum, err
}

// feedEntry takes an entry of the feed.
func (k *check) feedEntry(item *atom.Item) {
	e := item.Entry
	if e == nil {
		return // a tombstone, which ELI does not have, but Atom allows
	}
	at := position{k.feed, e.Line, e.Column, "entry"}
	if !k.isELI(e.ID) {
		k.find(ruleEntryID, at, e.ID, "the id of an entry must be the ELI of a legal resource")
	}
	if !addDay(&k.entries, e.ID, dayOf(e.Updated)) {
		k.findAs(asWarn, ruleEntryID, at, e.ID,
			"the feed lists the id twice: it should list a legal resource once, with its newest date")
	}
	k.entryLink(e, at)
	k.entryTitle(e, at)
	k.entryUpdated(e, at)
	for _, x := range e.Elements {
		k.feedSpace(x.Space)
	}
}

func (k *check) feedSpace(space string) {
	if s := &k.feedFacts.spaces; space != atom.Namespace && space != "" && len(space) <= maxProfileURL &&
		len(*s) < maxSpaces && !slices.Contains(*s, space) {
		*s = append(*s, space)
	}
}

func (k *check) entryLink(e *atom.Entry, at position) {
	href := ""
	for i := range e.Links {
		if l := &e.Links[i]; l.Rel == "alternate" {
			if l.Href == e.ID {
				return
			}
			if href == "" {
				href = l.Href
			}
		}
	}
	if href == "" {
		k.find(ruleEntryLink, at, e.ID, "the entry must have a link to the ELI")
		return
	}
	k.find(ruleEntryLink, at, href, "the link must be the ELI, as the id is: "+websync.RedactURL(e.ID))
}

func (k *check) entryTitle(e *atom.Entry, at position) {
	title := strings.TrimSpace(e.Title.Value)
	switch {
	case title == "":
		k.find(ruleEntryTitle, at, e.ID, "the entry should have the title of the act")
	case title == e.ID:
		k.findAs(websync.SeverityInfo, ruleEntryTitle, at, title,
			"the title is the ELI, which is allowed if the title of the act is not at hand")
	}
	if !k.Human {
		return
	}
	k.checked(ruleHuman)
	if title == "" || title == e.ID {
		k.find(ruleHuman, at, e.ID, "people need the title of the act")
	}
	if e.Content.IsZero() || e.Content.Href == "" && strings.TrimSpace(e.Content.Value) == "" {
		k.find(ruleHuman, at, e.ID, "people need a content with an abstract")
	}
}

func (k *check) entryUpdated(e *atom.Entry, at position) {
	at.element = "updated"
	switch {
	case e.UpdatedText != "":
		k.find(ruleEntryUpdated, at, e.UpdatedText, "updated must be a date with a time and a zone (RFC 3339)")
	case e.Updated.IsZero():
		k.find(ruleEntryUpdated, at, e.ID, "the entry must have updated")
	case e.Updated.Time().After(k.now.Add(24 * time.Hour)):
		k.find(ruleEntryUpdated, at, e.Updated.String(), "updated is in the future")
	}
	if e.Updated.IsZero() {
		return
	}
	f := &k.feedFacts
	if f.newest.Compare(e.Updated) < 0 {
		f.newest = e.Updated
	}
	if f.oldest.IsZero() || f.oldest.Compare(e.Updated) > 0 {
		f.oldest = e.Updated
	}
	if t := e.Updated.Time().Unix(); len(f.stamps) < maxStamps || f.stamps[t] > 0 {
		f.stamps[t]++
	}
	if len(f.days) < maxDays {
		f.days[dayOf(e.Updated)] = true
	}
	f.remember(FeedEntry{ID: e.ID, Updated: e.Updated})
}

// remember keeps an entry if it is one of the newest.
func (f *feedFacts) remember(e FeedEntry) {
	i, _ := slices.BinarySearchFunc(f.latest, e, func(held, e FeedEntry) int { return e.Updated.Compare(held.Updated) })
	if i == maxLatest || len(e.ID) > maxProfileURL {
		return
	}
	f.latest = slices.Insert(f.latest, i, e)
	f.latest = f.latest[:min(len(f.latest), maxLatest)]
}

// setWindow sets the 60 days of which the feed must have all entries.
func (k *check) setWindow() {
	f := &k.feedFacts
	f.visited = !k.feed.Modified.IsZero() || syntax.HTTPHost(k.feed.Name) > 0
	until := f.feed.Updated
	if until.Compare(f.newest) < 0 {
		until = f.newest
	}
	if until.IsZero() || until.Time().After(k.now) {
		until = websync.NewDatetime(k.now.UTC().Truncate(time.Second))
	}
	f.until = dayOf(until)
	end := until.Time()
	if f.visited {
		end = k.now
	}
	f.since = dayOf(websync.NewDatetime(end.UTC().Add(-history).Truncate(time.Second)))
}

// urn matches the ids that the specification recommends, with more steps for one of
// several feeds of a host. Its prose lacks the colon after the host, its example has it.
var urn = regexp.MustCompile(`^urn:([A-Za-z0-9-]+?)((?::[A-Za-z0-9-]+)*:)?eli:eli-update-feed$`)

// checkFeedHead checks the metadata of the feed.
func (k *check) checkFeedHead() {
	f, at := &k.feedFacts.feed, position{k.feed, 0, 0, "feed"}
	if strings.TrimSpace(f.Title.Value) == "" {
		k.find(ruleTitle, at, "", "the feed must have a title")
	}
	if !slices.ContainsFunc(f.Authors, func(p websync.Person) bool { return strings.TrimSpace(p.Name) != "" }) {
		k.find(ruleAuthor, at, "", "the feed must have an author with a name")
	}
	k.checkSelf(f, at)
	k.checkFeedUpdated(f, at)
	k.checkFeedID(f, at)
	for _, x := range f.Elements {
		k.feedSpace(x.Space)
	}
	if !k.Human {
		k.skip(NeedsHuman, "Only the publisher knows whether people are to read the feed. If so, ask for this check.", ruleHuman)
	}
}

func (k *check) checkSelf(f *atom.Feed, at position) {
	self, ok := f.Link("self")
	k.feedFacts.self = self.Href
	at.element = "link"
	switch {
	case !ok || self.Href == "":
		k.find(ruleSelf, at, "", "the feed must have a link with rel=\"self\"")
	case syntax.HTTPHost(self.Href) == 0:
		k.find(ruleSelf, at, self.Href, "the link self must be the URL of the feed")
	case k.feed.URL == "":
		k.note("The URL of the feed is not known, so the link was not compared with it.", ruleSelf)
	case !sameURL(self.Href, k.feed.URL) && !sameURL(self.Href, k.feed.Name):
		k.find(ruleSelf, at, self.Href, "the link self is not the URL of the feed, "+websync.RedactURL(k.feed.URL))
	}
}

func (k *check) checkFeedUpdated(f *atom.Feed, at position) {
	at.element = "updated"
	newest := k.feedFacts.newest
	switch {
	case f.UpdatedText != "" && f.Updated.IsZero():
		k.find(ruleUpdated, at, f.UpdatedText, "the updated of the feed can't be read")
	case f.Updated.IsZero():
		k.find(ruleUpdated, at, "", "the feed must have updated")
	case newest.IsZero():
	case f.Updated.Before(newest):
		k.find(ruleUpdated, at, f.Updated.String(), "the feed is older than its newest entry, "+newest.String())
	case f.Updated.After(newest):
		k.findAs(asWarn, ruleUpdated, at, f.Updated.String(), "the feed is newer than its newest entry, "+newest.String())
	}
}

func (k *check) checkFeedID(f *atom.Feed, at position) {
	at.element = "id"
	switch {
	case f.ID == "":
		k.find(ruleFeedID, at, "", "the feed must have an id")
		k.skip(NeedsDocument, "The feed has no id.", ruleURN)
		k.states[ruleURN.number].checked = false
		return
	case syntax.IRIFault(f.ID) != "":
		k.find(ruleFeedID, at, f.ID, "the id must be an absolute IRI")
	case sameURL(f.ID, k.feedFacts.self) || sameURL(f.ID, k.feed.URL) || sameURL(f.ID, k.feed.Name):
		k.find(ruleFeedID, at, f.ID, "the id must not be the URL of the feed, which may change")
	}
	found := urn.FindStringSubmatch(f.ID)
	if found == nil {
		k.find(ruleURN, at, f.ID, "the id should be urn:, the host with hyphens for dots, and :eli:eli-update-feed")
		return
	}
	if found[2] == "" {
		k.findAs(websync.SeverityInfo, ruleURN, at, f.ID, "the specification's example has a colon before eli")
	}
	here := k.feed.URL
	if here == "" {
		here = k.feedFacts.self
	}
	_, host := hostOf(here)
	host, _, _ = strings.Cut(host, ":")
	if want := strings.ReplaceAll(host, ".", "-"); want != "" && !strings.EqualFold(found[1], want) {
		k.find(ruleURN, at, f.ID, fmt.Sprintf("the id should name the host of the feed: %q", want))
	}
}

// checkFeedLocation checks the URL of the feed.
func (k *check) checkFeedLocation() {
	s := k.feed
	if syntax.HTTPHost(s.URL) == 0 {
		k.skip(NeedsHTTP, "The URL of the feed is not known.", ruleFeedLocation)
		return
	}
	k.checked(ruleFeedLocation)
	if !k.isAt(s, "/eli/eli-update-feed.atom") {
		k.find(ruleFeedLocation, position{source: s}, s.URL, "the path of the feed should end in /eli/eli-update-feed.atom")
	}
}
