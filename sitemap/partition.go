package sitemap

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/site"
)

// A partition is what a Publisher knows of the parts of one generation of the log.
type partition struct {
	id         string // stands for the generation and the settings, in URLs and ETags
	generation uint64
	first      time.Time   // of the generation: another log can have the same number
	size       websync.Seq // of a part
	last       websync.Seq // up to which the log is read
	born       websync.Seq
	touched    websync.Seq // the greatest number in stamps
	stamps     []stamp     // by part; those after the last were never touched
}

// A stamp is what is known of a part without reading its rows.
type stamp struct {
	seq  websync.Seq // the greatest number that touches it
	time int64       // of that commit, in microseconds
	told websync.Seq // up to which it was reported what can't be listed
	rows rows
}

// rows tells whether a part lists anything.
type rows uint8

const (
	none rows = iota
	some
	unknown // its last entry is a deletion
)

// idLength is the length of an id.
const idLength = 8

// isSplit tells whether there are several parts, and an index.
func (t *partition) isSplit() bool { return t.born > t.size }

func (t *partition) parts() int { return int((t.born + t.size - 1) / t.size) }

func (t *partition) at(part int) stamp {
	if part < len(t.stamps) {
		return t.stamps[part]
	}
	return stamp{}
}

// stampOf returns the state of a document. An index has none of its time: a new generation makes it another document
// without a commit.
func (t *partition) stampOf(d *listing) stamp {
	if d.index {
		return stamp{seq: t.touched}
	}
	return t.at(d.part)
}

// current hands the partition, brought up to date, to see, which has it for itself.
func (p *Publisher) current(ctx context.Context, see func(*partition) error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.catchUp(ctx); err != nil {
		return err
	}
	return see(&p.known)
}

// catchUp reads what is new in the log.
func (p *Publisher) catchUp(ctx context.Context) error {
	for dropped := uint64(0); ; {
		head, err := p.Catalog.Head(ctx)
		if err == nil {
			err = head.Check()
		}
		if err == nil {
			err = p.read(ctx, head)
		}
		if err == nil {
			return nil
		}
		if !errors.Is(err, websync.ErrNotFound) || head.Generation == dropped {
			return catalogError(err)
		}
		dropped = head.Generation // after Head: there is a newer one
	}
}

// catalogError keeps what a Catalog doesn't find from being taken for a document that isn't there.
func catalogError(err error) error {
	if errors.Is(err, websync.ErrNotFound) || errors.Is(err, websync.ErrGone) || errors.Is(err, websync.ErrConflict) {
		return fmt.Errorf("sitemap: the catalog: %v", err)
	}
	return fmt.Errorf("sitemap: the catalog: %w", err)
}

// read brings p.known to head. What was read before an error is not read again.
func (p *Publisher) read(ctx context.Context, head websync.Head) error {
	t := &p.known
	if t.id == "" || t.generation != head.Generation || !t.first.Equal(head.FirstTime) || t.last > head.Last {
		*t = partition{id: p.id(head), generation: head.Generation, first: head.FirstTime, size: p.site.size}
	}
	if t.last < head.Last {
		r := websync.Range{Sources: p.site.sources, Generation: head.Generation, After: t.last, Until: head.Last}
		for item, err := range p.Catalog.Changes(ctx, r) {
			if err != nil {
				return err
			}
			t.note(&item)
		}
	}
	t.last, t.born = head.Last, head.Born
	return nil
}

// id is a hash of all that decides, besides the numbers of the log, what documents hold.
func (p *Publisher) id(head websync.Head) string {
	l := &p.site
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %q %q %d %t %d %d %q", rendering, p.URL(), l.sources, l.size, p.Gzip,
		head.Generation, head.FirstTime.UnixMicro(), site.LocatorKey(l.locator)))
	return hex.EncodeToString(sum[:idLength/2])
}

// note takes an entry of the log.
func (t *partition) note(item *websync.Item) {
	t.last = item.Seq
	if item.Born == 0 {
		return // a tombstone that was never anything else
	}
	t.touched = item.Seq
	part := int((item.Born - 1) / t.size)
	if missing := part + 1 - len(t.stamps); missing > 0 {
		t.stamps = append(t.stamps, make([]stamp, missing)...)
	}
	s := &t.stamps[part]
	s.seq, s.time, s.rows = item.Seq, item.Time.UnixMicro(), some
	if item.Kind == websync.Deleted {
		s.rows = unknown
	}
}

// rangeOf returns what a part lists.
func (p *Publisher) rangeOf(part int) websync.Range {
	after := websync.Seq(part) * p.site.size
	return websync.Range{Sources: p.site.sources, After: after, Until: after + p.site.size}
}

// isFilled tells whether a part lists anything, for which it reads one row if the stamp doesn't tell. If a newer entry of the log
// touches the part, what it tells may be so since then only.
func (p *Publisher) isFilled(ctx context.Context, id string, part int, s stamp) (bool, error) {
	if s.rows != unknown {
		return s.rows == some, nil
	}
	found := none
	for _, err := range p.Catalog.Resources(ctx, p.rangeOf(part)) {
		if err != nil {
			return false, catalogError(err)
		}
		found = some
		break
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := &p.known; t.id == id && t.at(part).seq == s.seq {
		t.stamps[part].rows = found
	}
	return found == some, nil
}

// settle is asked after the last byte of a document. It tells whether nothing has touched the document since it was asked for.
// If so, what it lacks has been reported.
func (p *Publisher) settle(ctx context.Context, d *listing) error {
	return p.current(ctx, func(t *partition) error {
		if t.id != d.id || t.stampOf(d).seq != d.stamp.seq {
			return fmt.Errorf("sitemap: %s: %w", d.url, websync.ErrConflict)
		}
		if !d.index && d.part < len(t.stamps) {
			t.stamps[d.part].told = d.stamp.seq
		}
		return nil
	})
}

// snapshot returns the id and the stamps of all parts.
func (p *Publisher) snapshot(ctx context.Context) (id string, stamps []stamp, err error) {
	err = p.current(ctx, func(t *partition) error {
		id, stamps = t.id, slices.Clone(t.stamps)
		return nil
	})
	return id, stamps, err
}
