package conformance

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli/rdf"
	"github.com/websync-go/websync/internal/syntax"
)

// A Profile is what a check remembers of a publisher for the next one. Its JSON is small:
// less than 100 KiB with the usual sample.
type Profile struct {
	Version int       `json:"version"` // of this form: 1
	Visited time.Time `json:"visited"`

	Sitemap ProfileSitemap `json:"sitemap"`
	Feed    ProfileFeed    `json:"feed"`
	Pages   []ProfilePage  `json:"pages,omitempty"` // that were visited
}

// A ProfileSitemap describes the sitemap at a visit.
type ProfileSitemap struct {
	URL       string           `json:"url"` // or the file name
	Root      string           `json:"root"`
	Namespace string           `json:"namespace"`
	Entries   int              `json:"entries"`
	Newest    websync.Datetime `json:"newest,omitzero"`
	Modified  time.Time        `json:"modified,omitzero"` // Last-Modified
}

// A ProfileFeed describes the feed at a visit.
type ProfileFeed struct {
	URL        string           `json:"url"` // or the file name
	Root       string           `json:"root"`
	Namespace  string           `json:"namespace"`
	ID         string           `json:"id"`
	Updated    websync.Datetime `json:"updated,omitzero"`
	Entries    int              `json:"entries"`
	Days       float64          `json:"days,omitempty"`       // median of the days between two days with entries
	Extensions []string         `json:"extensions,omitempty"` // the namespaces of elements that are not Atom's
	Latest     []FeedEntry      `json:"latest,omitempty"`     // the newest 100, newest first
}

// A FeedEntry is an entry of the feed.
type FeedEntry struct {
	ID      string           `json:"id"`
	Updated websync.Datetime `json:"updated"`
}

// A ProfilePage is a page at a visit.
type ProfilePage struct {
	URL     string           `json:"url"`
	LastMod websync.Datetime `json:"lastmod,omitzero"`
	Graph   string           `json:"graph"` // digest of its metadata
}

const (
	profileVersion = 1
	maxLatest      = 100
	maxProfile     = 4 << 20 // bytes
	maxProfileURL  = 2048    // bytes of a URL in a profile
	maxHeld        = 200     // pages in a profile
)

// ReadProfile reads a Profile that Write has written. The error wraps
// websync.ErrNotDocument if it is something else, or of a later version.
func ReadProfile(r io.Reader) (*Profile, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxProfile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("conformance: profile: %w", err)
	case len(data) > maxProfile:
		return nil, fmt.Errorf("conformance: profile: %w: more than %d bytes", websync.ErrLimit, maxProfile)
	}
	p := new(Profile)
	if err := json.Unmarshal(data, p); err != nil {
		return nil, fmt.Errorf("conformance: profile: %w: %w", websync.ErrNotDocument, err)
	}
	if p.Version != profileVersion {
		return nil, fmt.Errorf("conformance: profile: %w: the version must be %d, not %d", websync.ErrNotDocument,
			profileVersion, p.Version)
	}
	return p, nil
}

// Write writes the Profile as JSON.
func (p *Profile) Write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(p); err != nil {
		return fmt.Errorf("conformance: profile: %w", err)
	}
	return nil
}

// hold keeps the metadata of a page for the profile, and compares them with those of the
// last visit.
func (k *check) hold(p *page) {
	digest := graphDigest(p.graph.Triples())
	if len(k.pages.held) < maxHeld && len(p.candidate.url) <= maxProfileURL {
		k.pages.held = append(k.pages.held, ProfilePage{URL: p.candidate.url, LastMod: p.lastMod, Graph: digest})
	}
	if k.Last == nil {
		return
	}
	i := slices.IndexFunc(k.Last.Pages, func(held ProfilePage) bool { return held.URL == p.candidate.url })
	if i < 0 {
		return
	}
	k.checked(ruleChanged)
	last := &k.Last.Pages[i]
	// A change on the day of the last visit need not move a lastmod that is a date.
	if last.Graph != digest && last.LastMod == p.lastMod && !last.LastMod.IsZero() && last.LastMod.IsOver(k.Last.Visited) {
		k.findPage(ruleChanged.Severity, ruleChanged, p.candidate.url, "lastmod", p.lastMod.String(),
			"the metadata have changed since the last visit, and lastmod has not")
	}
}

// graphDigest returns a digest of triples that does not depend on their order and on
// blank nodes.
func graphDigest(triples []rdf.Triple) string {
	var lines []string
	for _, t := range triples {
		if t.Subject.Kind != rdf.KindBlank && t.Object.Kind != rdf.KindBlank {
			lines = append(lines, t.String())
		}
	}
	slices.Sort(lines)
	h := sha256.New()
	for _, line := range slices.Compact(lines) {
		io.WriteString(h, line+"\n")
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// profile describes this visit.
func (k *check) profile() *Profile {
	f, s := &k.feedFacts, k.sitemap
	if !f.read || k.list.total == 0 {
		return nil
	}
	return &Profile{
		Version: profileVersion, Visited: k.now.UTC().Truncate(time.Second),
		Sitemap: ProfileSitemap{
			URL: cmp.Or(s.URL, s.Name), Root: s.local, Namespace: s.space, Entries: k.list.table.Len, Newest: k.list.newest,
			Modified: s.Modified.UTC(),
		},
		Feed: ProfileFeed{
			URL: cmp.Or(k.feed.URL, k.feed.Name), Root: k.feed.local, Namespace: k.feed.space, ID: f.feed.ID,
			Updated: f.feed.Updated, Entries: k.entries.Len,
			Days: f.medianGap(), Extensions: slices.Sorted(slices.Values(f.spaces)), Latest: f.latest,
		},
		Pages: k.pages.held,
	}
}

// medianGap returns the median of the days between two days with entries; 0 if there are
// too few.
func (f *feedFacts) medianGap() float64 {
	const few = 10
	if len(f.days) < few {
		return 0
	}
	days := make([]day, 0, len(f.days))
	for d := range f.days {
		days = append(days, d)
	}
	slices.Sort(days)
	gaps := make([]float64, 0, len(days)-1)
	for i := 1; i < len(days); i++ {
		gaps = append(gaps, float64(days[i]-days[i-1]))
	}
	slices.Sort(gaps)
	return gaps[len(gaps)/2]
}

// compareVisits makes the checks for which the profile of an earlier visit is needed.
func (k *check) compareVisits() error {
	k.result.Profile = k.profile()
	now, last := k.result.Profile, k.Last
	if last == nil {
		k.skip(NeedsVisit, "There is no profile of an earlier visit, with which the documents could be compared.", ruleNotify)
		k.note("A second visit shows whether the id stays the same.", ruleFeedID)
		return nil
	}
	if now == nil {
		k.skip(NeedsDocument, "The sitemap or the feed can't be read.", ruleNotify)
		return nil
	}
	k.checked(ruleNotify)
	k.note("The documents were compared with those of "+last.Visited.UTC().Format("2 January 2006")+
		"; whether the registry was notified can't be seen.", ruleNotify)
	k.compareShape(now, last)
	at := position{source: k.feed}
	if now.Feed.ID != last.Feed.ID && last.Feed.ID != "" {
		k.find(ruleFeedID, at, now.Feed.ID, "the id of the feed must never change; at the last visit it was "+
			websync.RedactURL(last.Feed.ID))
	}
	k.compareCount(now, last)
	k.compareLatest(now, last)
	k.compareDates(now, last)
	return nil
}

// compareShape reports what the registry has to be told of.
func (k *check) compareShape(now, last *Profile) {
	for _, c := range []struct {
		s         *source
		what      string
		now, last string
	}{
		{k.sitemap, "the URL of the sitemap", urlOnly(now.Sitemap.URL), urlOnly(last.Sitemap.URL)},
		{k.sitemap, "the root element of the sitemap", now.Sitemap.Root, last.Sitemap.Root},
		{k.sitemap, "the namespace of the sitemap", now.Sitemap.Namespace, last.Sitemap.Namespace},
		{k.feed, "the URL of the feed", urlOnly(now.Feed.URL), urlOnly(last.Feed.URL)},
		{k.feed, "the root element of the feed", now.Feed.Root, last.Feed.Root},
		{k.feed, "the namespace of the feed", now.Feed.Namespace, last.Feed.Namespace},
	} {
		// One that grew over 50,000 entries has an index: §3.1 excepts that.
		grown := c.now == "sitemapindex" && c.last == "urlset"
		if c.now != c.last && c.now != "" && c.last != "" && !grown {
			k.findAs(asWarn, ruleNotify, position{source: c.s}, c.now,
				fmt.Sprintf("%s has changed; it was %q", c.what, websync.RedactURL(c.last)))
		}
	}
	for _, space := range last.Feed.Extensions {
		if len(now.Feed.Extensions) < maxSpaces && !slices.Contains(now.Feed.Extensions, space) {
			k.findAs(asWarn, ruleNotify, position{source: k.feed}, space,
				"the feed no longer has elements of this namespace, as at the last visit")
		}
	}
	const often = 3
	if a, b := now.Feed.Days, last.Feed.Days; a > 0 && b > 0 && (a >= often*b || b >= often*a) {
		k.findAs(asWarn, ruleNotify, position{source: k.feed}, "",
			fmt.Sprintf("the feed has entries every %g days; at the last visit every %g days", a, b))
	}
}

// urlOnly returns a URL, or "" for the name of a file.
func urlOnly(name string) string {
	if syntax.HTTPHost(name) == 0 {
		return ""
	}
	return name
}

// compareCount reports a list that became shorter.
func (k *check) compareCount(now, last *Profile) {
	if n, before := now.Sitemap.Entries, last.Sitemap.Entries; 100*(before-n) > before {
		k.find(ruleComplete, position{source: k.sitemap}, "",
			fmt.Sprintf("the sitemap lists %d legal resources; at the last visit it was %d", n, before))
	}
}

// compareLatest looks for entries that left the feed too early.
func (k *check) compareLatest(now, last *Profile) {
	edge := websync.NewDatetime(now.Visited.Add(-history))
	for _, e := range last.Feed.Latest {
		if k.entries.Find(e.ID) == nil && e.Updated.After(edge) {
			k.find(ruleHistory, position{source: k.feed}, e.ID,
				fmt.Sprintf("the entry of %s has left the feed within 60 days", e.Updated))
		}
	}
}

// compareDates looks for documents that did not change for too long.
func (k *check) compareDates(now, last *Profile) {
	const weekend, month = 4 * 24 * time.Hour, 31 * 24 * time.Hour
	passed := now.Visited.Sub(last.Visited)
	if passed >= weekend {
		k.checked(ruleDaily)
		same := now.Feed.Updated == last.Feed.Updated && now.Feed.Entries == last.Feed.Entries
		newer := now.Sitemap.Newest.After(last.Sitemap.Newest) || now.Sitemap.Entries != last.Sitemap.Entries
		if same && newer {
			k.find(ruleDaily, position{source: k.feed}, now.Feed.Updated.String(),
				fmt.Sprintf("the feed has not changed for %d days, and the sitemap has", int(passed.Hours()/24)))
		}
	}
	if passed >= month {
		k.checked(ruleMonthly)
		same := now.Sitemap.Newest == last.Sitemap.Newest && now.Sitemap.Entries == last.Sitemap.Entries &&
			now.Sitemap.Modified.Equal(last.Sitemap.Modified)
		if same && now.Feed.Updated.After(last.Feed.Updated) {
			k.find(ruleMonthly, position{source: k.sitemap}, now.Sitemap.Newest.String(),
				fmt.Sprintf("the sitemap has not changed for %d days, and the feed has", int(passed.Hours()/24)))
		}
	}
}

// derive makes the checks that follow from others.
func (k *check) derive() error {
	switch p := &k.pages; {
	case p.visited > 0 && p.bad > 0:
		k.find(rulePillarIII, position{source: k.sitemap}, "",
			fmt.Sprintf("the metadata of %d of %d pages are not as demanded", p.bad, p.visited))
	case p.read > 0:
		k.checked(rulePillarIII)
	}
	if s := k.states[rulePage.number]; s.reason != "" {
		k.skip(s.reason, s.why, rulePillarIII)
	}
	complete, synonyms := k.status(ruleComplete), k.status(ruleSynonym)
	switch {
	case complete == Fail || synonyms == Fail:
		k.find(ruleVisit, position{source: k.sitemap}, "",
			"the list is not the set of pages that a client has to visit: see "+ruleComplete.Name+" and "+ruleSynonym.Name)
	case complete != NotChecked && synonyms != NotChecked:
		k.checked(ruleVisit)
		k.note("This follows from what was found of the rules on completeness and synonyms.", ruleVisit)
	default:
		k.skip(NeedsHuman, "Only the publisher knows what the list should have; what can be seen is in the rules "+
			"on completeness and synonyms.", ruleVisit)
	}
	k.skip(NeedsHuman,
		"Only the publisher knows what the list should have. A feed, pages and a second visit give hints.", ruleComplete)
	k.describeClient()
	return nil
}

// describeClient states how this program behaves.
func (k *check) describeClient() {
	why := "A rule for clients. This check requested no pages."
	if k.pages.visited > 0 {
		k.result.Interval = k.interval().Seconds()
		why = fmt.Sprintf("A rule for clients. This check waited %s between two requests for pages of one host, "+
			"and followed redirects.", k.interval())
	}
	k.skip(CannotFail, why, ruleClient)
}

func (k *check) interval() time.Duration {
	switch {
	case k.Interval == 0:
		return 5 * time.Second
	case k.Interval < 0:
		return 0
	}
	return k.Interval
}
