package rinfo

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/docfetch"
	"github.com/websync-go/websync/internal/syntax"
)

// A Source harvests one feed of the legal information system, starting at its
// subscription document (§8). The documents are read as an [atom.Source] reads them:
// backwards to what an earlier run has processed, then yielded from the oldest to the
// latest, and the latest state of each id only. A complete feed deletes what its feed id
// had before and no longer lists (§8.2), unless it has archive documents (§6). A document
// that can't be read is a hole: nothing later becomes the new starting point.
//
// Archive documents may change (§6.1.1). So a walk does not end where it reaches those
// that the last run has read, but only at one whose items are all older than the latest
// one of that run. If the documents are not in the order of their times, a walk reads all
// of them. If some items were skipped, or the server does not state its Date, so does
// each run. If items move between archive documents during a walk, it starts again.
//
// A resource has the time, the time of publication and the links that its entry states.
// Its Origin is the atom:source of the entry, or otherwise the id, the title and the self
// link of the feed, without a time; the original time of the entry is Modified (§3.2).
// Its bodies are the content, and all alternates and enclosures that are HTTP URLs, each
// verified by its length and its strongest digest. They become visible together: if one
// can't be obtained, or differs from what the entry states, the resource stays as it is,
// and a task is stored. Other entries are not affected. An entry without content has the
// other bodies only (§3.3.4). A body that no longer exists does not delete the resource:
// only the feed does (§4.2).
//
// The bodies have the names that [websync.Resource.BodyName] returns, such as "alternate
// application/rdf+xml", except that the name of an enclosure is "enclosure" and the part
// of its [AttachmentURL] below the ID. An enclosure without an AttachmentURL keeps the
// other name.
//
// Departures from the specification go to [harvest.Run.Report]. They cost no entry, with
// two exceptions, which count as skipped: an entry whose content or links are damaged, so
// that its documents are not known; and an entry whose content is a feed, which belongs
// to an index of feeds, for which there is [Sources].
type Source struct {
	// URL is that of the subscription document. It is required.
	URL string

	// Name is the Source's key in a Catalog. If empty, it is URL.
	Name string

	// FeedID, if set, is the atom:id that the feed must have. If it is empty, the feed
	// must keep the first one that it had.
	FeedID string

	// RefuseReusedIDs makes an update fail that does not state a later time than that of
	// its publication, and a task is stored: a new document may have an id that another
	// one has already (§4.1). By default such an update is accepted, and is a finding.
	// An entry that was deleted and published again is such an update, too, if its
	// publisher has dropped the deletion (§4.2.1), or if one run reads both.
	RefuseReusedIDs bool

	// AcceptGaps treats the documents that could be read as the whole feed. Each gap is a
	// finding.
	AcceptGaps bool

	// Dir is a directory that keeps the documents of an archive until all are yielded, as
	// in [atom.Source]. They are requested again, conditionally. If empty, documents are
	// kept for one run.
	Dir string

	// MaxDocuments limits the documents of one walk. If zero, it is 50,000; if negative,
	// there is no limit.
	MaxDocuments int

	// MaxBytes limits each document, decompressed. If zero, it is 1 GiB; if negative,
	// there is no limit.
	MaxBytes int64
}

var (
	_ harvest.Source = (*Source)(nil)
	_ harvest.Getter = (*Source)(nil)
)

// Key returns Name, or URL if there is none.
func (s *Source) Key() string { return cmp.Or(s.Name, s.URL) }

// Check returns an error if the settings are not valid.
func (s *Source) Check() error { return docfetch.CheckURL("rinfo", s.URL) }

// Root returns URL.
func (s *Source) Root() string { return s.URL }

// feed returns the Source of the feed's entries. It passes the origin that the
// subscription document describes to set, before any entry.
func (s *Source) feed(set func(*websync.Origin)) *atom.Source {
	first := true
	profile := atom.SourceProfile{
		Name: "rinfo/1", Item: readItem, Archives: atom.ArchivesChange, InOrder: true,
		Feed: func(feed *atom.Feed, report atom.ReportFunc) error {
			if first {
				set((&atom.Entry{Source: feed}).Resource(nil).Origin)
			}
			first = false
			return readFeed(feed, report)
		},
	}
	return &atom.Source{
		URL: s.URL, Name: s.Name, FeedID: s.FeedID, AcceptGaps: s.AcceptGaps, Dir: s.Dir,
		MaxDocuments: s.MaxDocuments, MaxBytes: s.MaxBytes,
		Content: []string{"content"}, Profile: profile,
	}
}

// readFeed is atom.SourceProfile.Feed. A complete feed can't be combined with archive
// documents (§6): one that has them is archived, and deletes nothing that it does not
// list.
func readFeed(feed *atom.Feed, report atom.ReportFunc) error {
	checkFeed(feed, report)
	if _, archived := feed.Link("prev-archive"); archived {
		feed.Complete = false
	}
	return nil
}

// readItem is atom.SourceProfile.Item.
func readItem(item *atom.Item, report atom.ReportFunc) error {
	if item.Entry == nil {
		return nil
	}
	checkEntry(item.Entry, report)
	if leadsToFeed(&item.Entry.Content) {
		return fmt.Errorf("the content is the feed %.200q: this is an index of feeds", websync.RedactURL(item.Entry.Content.Href))
	}
	if item.Entry.Damaged {
		return errors.New("the content or a link is damaged: not all documents of the entry are known")
	}
	return nil
}

// leadsToFeed reports whether the content of an entry is a feed, as in an index of feeds.
func leadsToFeed(c *atom.Content) bool {
	kind, params := mediaType(c.Type)
	return c.Href != "" && kind == "application/atom+xml" && strings.EqualFold(params["type"], "feed") // RFC 5023 §12.1
}

// Events implements [harvest.Source].
func (s *Source) Events(ctx context.Context, run *harvest.Run) iter.Seq2[harvest.Event, error] {
	return func(yield func(harvest.Event, error) bool) {
		if err := s.Check(); err != nil {
			yield(harvest.Event{}, err)
			return
		}
		var hint []byte
		feed := s.feed(func(origin *websync.Origin) { hint = hintOf(origin) })
		for ev, err := range feed.Events(ctx, run) {
			if ev.Kind == harvest.Put && ev.Resource.Origin == nil {
				ev.Hint = hint
			}
			if !yield(ev, err) {
				return
			}
		}
	}
}

// Get implements [harvest.Getter]: it obtains the content, the alternates and the
// enclosures of a resource.
func (s *Source) Get(ctx context.Context, job *harvest.Job) error {
	if err := s.checkUpdate(job); err != nil {
		return err
	}
	r := &job.Resource
	if r.Origin == nil {
		r.Origin = originOf(job.Hint)
	}
	if err := job.Content(ctx); err != nil {
		return docfetch.NewPartError("rinfo: content", r.Content.Href, err)
	}
	all := parts(r)
	if len(all) > maxParts {
		return fmt.Errorf("rinfo: %.200q has %d alternates and enclosures: %w of %d",
			websync.RedactURL(r.ID), len(all), websync.ErrLimit, maxParts)
	}
	for _, part := range all {
		if err := job.Obtain(ctx, bodyName(r, &part.link), part.link); err != nil {
			return docfetch.NewPartError("rinfo: "+part.rel, part.link.Href, err)
		}
	}
	return nil
}

// hintOf returns the Hint of the events of a feed. The origin is no part of their
// descriptions: otherwise everything would be different when a feed gets another title.
func hintOf(o *websync.Origin) []byte {
	hint, err := json.Marshal([]string{o.ID, o.Title, o.Self})
	if err != nil || len(hint) > maxHint {
		return nil
	}
	return hint
}

// maxHint keeps tasks small.
const maxHint = 4096

// originOf is the inverse of hintOf. Its result has no Updated: a feed changes with each
// of its entries.
func originOf(hint []byte) *websync.Origin {
	var texts []string
	if json.Unmarshal(hint, &texts) != nil || len(texts) != 3 {
		return nil
	}
	return &websync.Origin{ID: texts[0], Title: texts[1], Self: texts[2]}
}

// checkUpdate reports an update that looks like another, new document, or returns an
// error if such an update is refused.
func (s *Source) checkUpdate(job *harvest.Job) error {
	r := &job.Resource
	if job.Held == nil || r.Published.IsZero() || !r.Modified.After(job.Held.Resource.Modified) || r.Modified.After(r.Published) {
		return nil
	}
	message := fmt.Sprintf("updated at %v and published at %v, but known since %v: an update must be later than the publication",
		r.Modified, r.Published, job.Held.Resource.Modified)
	if s.RefuseReusedIDs {
		return fmt.Errorf("rinfo: %.200q: %s (§4.1); refused because RefuseReusedIDs is set", websync.RedactURL(r.ID), message)
	}
	job.Report(ruleReused.Finding(s.URL, 0, 0, "updated", []byte(r.ID), message))
	return nil
}

// Sources returns the Sources of the approved feeds that the index at url lists, and the
// URLs of the other feeds, in the order of their updates. An index of feeds is a feed
// whose entries have feeds as their content, of the type application/atom+xml;type=feed.
// The id of an entry is that of its feed, and the Name of its Source.
//
// approved are URLs of subscription documents (§9). One that ends in a slash approves all
// URLs below it. Only the index itself is requested, and no document that it links to.
//
// If some entries can't be read, the error says so, and the others are returned. The
// error is [websync.ErrNotDocument] if the document lists no feed.
func Sources(
	ctx context.Context, fetcher harvest.Fetcher, url string, approved []string,
) (sources []*Source, others []string, err error) {
	if err := docfetch.CheckURL("rinfo", url); err != nil {
		return nil, nil, err
	}
	index := &atom.Source{URL: url, Profile: atom.SourceProfile{
		Name: "rinfo-index/1",
		Feed: func(feed *atom.Feed, _ atom.ReportFunc) error {
			feed.Links = nil
			return nil
		},
	}}
	for e, err := range index.All(ctx, &harvest.Run{Fetcher: fetcher}) {
		switch {
		case err != nil:
			return sources, others, err
		case !leadsToFeed(&e.Content):
		case isApproved(e.Content.Href, approved):
			sources = append(sources, &Source{URL: e.Content.Href, Name: e.ID, FeedID: e.ID})
		default:
			others = append(others, e.Content.Href)
		}
	}
	if len(sources) == 0 && len(others) == 0 {
		return nil, nil, docfetch.Named("rinfo", url, fmt.Errorf("the feed lists no feeds: %w", websync.ErrNotDocument))
	}
	return sources, others, nil
}

// isApproved reports whether a URL is on the list.
func isApproved(url string, approved []string) bool {
	url = syntax.Canonical(url)
	return syntax.HTTPHost(url) > 0 && slices.ContainsFunc(approved, func(one string) bool {
		one = syntax.Canonical(one)
		return url == one || strings.HasSuffix(one, "/") && strings.HasPrefix(url, one)
	})
}
