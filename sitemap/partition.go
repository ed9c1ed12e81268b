package sitemap

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
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
	size       websync.Seq // of a part: smaller than asked for if a document would be too long
	crowded    bool        // a part may be too long
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

	bytes int64       // that the entries have at most
	links bool        // there are, or were, alternates
	born  websync.Seq // if so, of the partition: where they lead depends on the ids that there are
}

// rows says whether a part lists anything.
type rows uint8

const (
	none rows = iota
	some
	unknown // its last entry is a deletion
)

// idLength is the length of an id.
const idLength = 8

// isSplit reports whether there are several parts, and an index.
func (t *partition) isSplit() bool { return t.born > t.size }

func (t *partition) parts() int { return int((t.born + t.size - 1) / t.size) }

func (t *partition) at(part int) stamp {
	if part >= len(t.stamps) {
		return stamp{}
	}
	s := t.stamps[part]
	if s.links {
		s.born = t.born
	}
	return s
}

// stampOf returns the state of a document. An index has none of its time: a new
// generation makes it another document without a commit.
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

// catalogError keeps what a Catalog doesn't find from being taken for a document that
// isn't there.
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
		*t = p.partition(head, p.site.size)
	}
	for {
		if err := p.readLog(ctx, t, head); err != nil {
			return err
		}
		full, err := p.isFull(ctx, t)
		if err != nil || !full {
			return err
		}
		size := t.size / 2
		for size > 1 && size >= head.Born { // one part of the same entries
			size /= 2
		}
		*t = p.partition(head, size)
	}
}

func (p *Publisher) partition(head websync.Head, size websync.Seq) partition {
	return partition{id: p.id(head, size), generation: head.Generation, first: head.FirstTime, size: size}
}

// readLog notes what is new in the log.
func (p *Publisher) readLog(ctx context.Context, t *partition, head websync.Head) error {
	if t.last < head.Last {
		r := websync.Range{Sources: p.site.sources, Generation: head.Generation, After: t.last, Until: head.Last}
		for item, err := range p.Catalog.Changes(ctx, r) {
			if err != nil {
				return err
			}
			t.note(&item, p.bound(&item))
		}
	}
	t.last, t.born = head.Last, head.Born
	return nil
}

// fullPart is how long a part can get before all parts are made smaller. It leaves room,
// so that a part that is almost as long is not measured after each change.
const fullPart = MaxBytes / 10 * 9

// bound returns how many bytes the entry of an item takes at most.
func (p *Publisher) bound(item *websync.Item) int64 {
	const around, link = 300, 200 // bytes of the elements themselves
	r := &item.Resource
	n := around + len("&amp;")*min(max(len(r.ID), len(r.Content.Href))+len(p.Base), maxLoc)
	elements := 0
	for i := range r.Elements {
		switch x := &r.Elements[i]; {
		case x.Space == XHTMLNamespace:
			elements += 3*len(x.XML) + len(p.Base) + link
		case isExtension(x):
			elements += len(x.XML)
		}
	}
	return int64(n + min(elements, maxElements))
}

// isFull reports whether a part is too long. It measures those of which that can't be
// ruled out.
func (p *Publisher) isFull(ctx context.Context, t *partition) (bool, error) {
	for k := 0; t.crowded && k < len(t.stamps); k++ {
		s := &t.stamps[k]
		if s.bytes <= MaxBytes {
			continue
		}
		d := listing{publisher: p, part: k, size: t.size}
		l := lister{listing: &d, out: NewWriter(io.Discard), texts: make(map[string]string), silent: true}
		err := l.writeAll(ctx)
		if err != nil && !errors.Is(err, errFull) {
			return false, err
		}
		if s.bytes = l.out.Bytes(); t.size > 1 && (err != nil || s.bytes > fullPart) {
			return true, nil
		}
	}
	t.crowded = false
	return false, nil
}

// id is a hash of all that decides, besides the numbers of the log, what documents hold.
func (p *Publisher) id(head websync.Head, size websync.Seq) string {
	l := &p.site
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %q %q %d %t %d %d %q", rendering, p.URL(), l.sources, size, p.Gzip,
		head.Generation, head.FirstTime.UnixMicro(), site.LocatorKey(l.locator)))
	return hex.EncodeToString(sum[:idLength/2])
}

// note takes an entry of the log.
func (t *partition) note(item *websync.Item, bytes int64) {
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
		return
	}
	s.bytes += bytes
	s.links = s.links || hasLinks(item)
	t.crowded = t.crowded || s.bytes > MaxBytes
}

// rangeOf returns what a part lists.
func (p *Publisher) rangeOf(size websync.Seq, part int) websync.Range {
	after := websync.Seq(part) * size
	return websync.Range{Sources: p.site.sources, After: after, Until: after + size}
}

// isFilled reports whether a part lists anything, for which it reads one row if the stamp
// doesn't tell. If a newer entry of the log touches the part, what it tells may be so
// since then only.
func (d *listing) isFilled(ctx context.Context) (bool, error) {
	p, s := d.publisher, d.stamp
	if s.rows != unknown {
		return s.rows == some, nil
	}
	found := none
	for _, err := range p.Catalog.Resources(ctx, p.rangeOf(d.size, d.part)) {
		if err != nil {
			return false, catalogError(err)
		}
		found = some
		break
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := &p.known; t.id == d.id && t.at(d.part).seq == s.seq {
		t.stamps[d.part].rows = found
	}
	return found == some, nil
}

// settle is asked after the last byte of a document. It tells whether nothing has touched
// the document since it was asked for. If so, what it lacks has been reported.
func (p *Publisher) settle(ctx context.Context, d *listing) error {
	return p.current(ctx, func(t *partition) error {
		if now := t.stampOf(d); t.id != d.id || now.seq != d.stamp.seq || now.born != d.stamp.born {
			return fmt.Errorf("sitemap: %s: %w", d.url, websync.ErrConflict)
		}
		if !d.index && d.part < len(t.stamps) {
			t.stamps[d.part].told = d.stamp.seq
		}
		return nil
	})
}

// snapshot returns a copy of the partition.
func (p *Publisher) snapshot(ctx context.Context) (seen partition, err error) {
	err = p.current(ctx, func(t *partition) error {
		seen = *t
		seen.stamps = slices.Clone(t.stamps)
		return nil
	})
	return seen, err
}
