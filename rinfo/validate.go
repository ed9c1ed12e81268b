package rinfo

import (
	"errors"
	"io"
	"slices"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/internal/syntax"
)

// Validate reads one document as [atom.Validate] does, and reports every departure from
// the specification and from those of Atom: see [Rules] and [atom.Rules]. The hooks Item
// and Feed of o are called after the checks of this package.
//
// Besides what atom.Validate needs, it needs about 50 bytes for each of the first million
// ids.
func Validate(src io.Reader, o atom.ValidateOptions) (atom.Summary, error) {
	c := new(checker)
	o.Item, o.Feed = both(c.item, o.Item), both(c.feed, o.Feed)
	return atom.Validate(src, o)
}

// NewChainValidator returns a validator of archived feeds whose Item and Feed make the
// checks of Validate, and compare the times of the documents (§7.1). If it is used with
// other hooks, these must call those.
func NewChainValidator() *atom.ChainValidator {
	c := new(checker)
	return &atom.ChainValidator{Item: c.item, Feed: c.feed}
}

// both returns a function that calls both; second may be nil.
func both[T any](first, second func(*T, atom.ReportFunc)) func(*T, atom.ReportFunc) {
	if second == nil {
		return first
	}
	return func(t *T, report atom.ReportFunc) {
		first(t, report)
		second(t, report)
	}
}

// A Verifier reads the documents that the entries of a feed link to, and reports those
// that are not as their links state (§7.1). Its methods are hooks of
// [atom.ValidateOptions]:
//
//	v := &rinfo.Verifier{Open: open}
//	o := atom.ValidateOptions{Item: v.Item, Feed: v.Feed, Report: report}
//	sum, err := rinfo.Validate(src, o)
//
// and of an [atom.ChainValidator], by [Verifier.Follow]. Only the latest state of an id
// is verified: older ones may state what was right in their time (§8.3). Documents are
// opened at the end of each Feed Document, one after the other. Until then the links of
// its entries are in memory.
type Verifier struct {
	// Open returns the bytes of a document. It is required.
	Open func(url string) (io.ReadCloser, error)

	order  []string // ids, as they come
	latest map[string]verified
	done   map[string]bool // ids of documents before this one
}

// A verified is an item that is to be verified.
type verified struct {
	at     websync.Datetime
	links  []websync.Link
	report atom.ReportFunc
}

// Item notes the links of an item.
func (v *Verifier) Item(item *atom.Item, report atom.ReportFunc) {
	id, now := item.ID(), verified{at: item.Time(), report: report}
	if v.latest == nil {
		v.latest, v.done = make(map[string]verified), make(map[string]bool)
	}
	before, noted := v.latest[id]
	if v.done[id] || noted && !before.at.Before(now.at) {
		return
	}
	if e := item.Entry; e != nil && !leadsToFeed(&e.Content) {
		r := e.Resource(nil)
		if syntax.HTTPHost(r.Content.Href) > 0 {
			now.links = append(now.links, r.Content)
		}
		for _, part := range parts(&r) {
			now.links = append(now.links, part.link)
		}
	}
	if !noted {
		v.order = append(v.order, id)
	}
	v.latest[id] = now
}

// Feed verifies the documents of the items since the last Feed.
func (v *Verifier) Feed(*atom.Feed, atom.ReportFunc) {
	for _, id := range v.order {
		one := v.latest[id]
		for i := range one.links {
			if err := v.verify(&one.links[i]); err != nil {
				one.report(ruleMismatch, "link", one.links[i].Href, "a linked document must be as its link states: "+err.Error())
			}
		}
		v.done[id] = true
	}
	v.order = slices.Delete(v.order, 0, len(v.order))
	clear(v.latest)
}

// Follow adds v to the hooks of a chain.
func (v *Verifier) Follow(c *atom.ChainValidator) {
	c.Item, c.Feed = both(v.Item, c.Item), both(v.Feed, c.Feed)
}

func (v *Verifier) verify(link *websync.Link) error {
	body, err := v.Open(link.Href)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, link.Verify(body))
	return errors.Join(err, body.Close())
}
