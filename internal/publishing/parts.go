package publishing

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/websync-go/websync"
)

// A PartList is the live resources of one Catalog in parts, each of a fixed range of
// Born, and an index of them. It decides what each part lists, which path the part has
// and when it changes; a Publisher writes it.
//
// A PartList keeps about 56 bytes for each part. The first use reads the outlines of the
// Catalog, or the log of the newest generation if there are none or they don't suffice;
// later ones read only what is new in the log. This assumes that every change of what the
// Catalog lists has a log entry.
//
// A PartList is safe for concurrent use; it must not be copied.
type PartList struct {
	// Site has the Catalog and the Sources.
	Site *Site

	// Size is how many numbers of Born a part covers, unless a part becomes too long.
	Size websync.Seq

	// Settings returns a text that identifies everything besides the Catalog and the
	// Locator that changes parts of a size. Other settings give them other paths.
	Settings func(size websync.Seq) string

	// MaxBytes limits a part: when one would be longer, all parts become smaller.
	MaxBytes int64

	// Bound returns how many bytes an item takes in a part at most, and whether its links
	// depend on which other ids exist.
	Bound func(item *websync.Item) (bytes int64, links bool)

	// Outlined returns of an Outline what Bound does of its item, or more bytes; 0 if that
	// is not known. If Outlined is nil, the log is read.
	Outlined func(o websync.Outline) (bytes int64, links bool)

	// Measure returns the length of a part, or at least MaxBytes if it is longer. It must
	// not call methods of the PartList.
	Measure func(ctx context.Context, p *Part) (int64, error)

	mu    sync.Mutex
	known partition
}

// A partition describes the parts of one generation of the log.
type partition struct {
	id         string // identifies the generation and the settings, in paths and ETags
	generation uint64
	first      time.Time   // of the generation: another log can have the same number
	size       websync.Seq // of a part: below PartList.Size if a part would be too long
	crowded    bool        // a part may be too long
	last       websync.Seq // up to which the log is read
	time       time.Time   // of the commit last
	born       websync.Seq
	touched    websync.Seq // the greatest number in stamps
	stamps     []stamp     // by part; later parts were never touched
}

// A stamp is what a PartList knows of a part without reading its resources.
type stamp struct {
	seq      websync.Seq // the greatest number that touches it
	time     int64       // of that commit, in microseconds; 0 if not known
	reported websync.Seq // refused items up to this number were reported
	rows     rows

	bytes int64       // how many its items take at most
	links bool        // it has, or had, links that depend on other ids
	born  websync.Seq // if so, of the partition
}

// rows states whether a part lists anything.
type rows uint8

const (
	none rows = iota
	some
	unknown // the last entry of the log that touches it is a deletion
)

// A Part is one document of a PartList, in the state that its ETag names: a part, all
// resources if there is one part only, or the index.
type Part struct {
	Path       string
	Index      bool   // the document is the index
	Generation uint64 // of the log

	// At is the time of the document: that of the last commit before it was requested;
	// zero if the log is empty. The ETag does not depend on it unless the caller passes
	// it to ETag, as it must if the document states the time.
	At time.Time

	list  *PartList
	id    string
	size  websync.Seq
	n     int // from 0
	stamp stamp
}

func (t *partition) isSplit() bool { return t.born > t.size }

func (t *partition) parts() int { return int((t.born + t.size - 1) / t.size) }

// at returns the state of a part.
func (t *partition) at(n int) stamp {
	if n >= len(t.stamps) {
		return stamp{}
	}
	s := t.stamps[n]
	if s.links {
		s.born = t.born
	}
	return s
}

// stampOf returns the state of a document. The state of an index has no time, because a
// new generation changes the index without a commit.
func (t *partition) stampOf(p *Part) stamp {
	if p.Index {
		return stamp{seq: t.touched}
	}
	return t.at(p.n)
}

func (l *PartList) part(t *partition, n int) Part {
	return Part{
		Path: l.Site.Numbered(t.id, uint64(n+1)), Generation: t.generation, At: t.time,
		list: l, id: t.id, size: t.size, n: n, stamp: t.at(n),
	}
}

// current updates the partition and calls see with it, under the lock.
func (l *PartList) current(ctx context.Context, see func(*partition) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.catchUp(ctx); err != nil {
		return err
	}
	return see(&l.known)
}

// catchUp reads what is new in the log.
func (l *PartList) catchUp(ctx context.Context) error {
	for dropped := uint64(0); ; {
		head, err := l.Site.Head(ctx)
		if err != nil {
			return err
		}
		if err = l.read(ctx, head); err == nil {
			return nil
		}
		if !errors.Is(err, websync.ErrNotFound) || head.Generation == dropped {
			return l.Site.CatalogError(err)
		}
		dropped = head.Generation // since Head was called: a newer one exists
	}
}

// read updates l.known to head. Entries that were read before an error are not read
// again.
func (l *PartList) read(ctx context.Context, head websync.Head) error {
	t := &l.known
	if t.id == "" || t.generation != head.Generation || !t.first.Equal(head.FirstTime) || t.last > head.Last {
		if err := l.begin(ctx, head); err != nil {
			return err
		}
	}
	for {
		if err := l.readLog(ctx, t, head); err != nil {
			return err
		}
		full, err := l.isFull(ctx, t)
		if err != nil || !full {
			return err
		}
		size := t.size / 2
		for size > 1 && size >= head.Born { // a single part, as long as before
			size /= 2
		}
		*t = l.partition(head, size)
	}
}

// begin makes l.known the partition of head, from the outlines, or with nothing read if
// these don't suffice.
func (l *PartList) begin(ctx context.Context, head websync.Head) error {
	l.known = l.partition(head, l.Size)
	all, ok := l.Site.Catalog.(websync.Outliner)
	if !ok || l.Outlined == nil || len(l.Site.settings.Base) > websync.OutlineBase || head.Last == 0 {
		return nil
	}
	t := l.partition(head, l.Size)
	for o, err := range all.Outlines(ctx, websync.Range{Sources: l.Site.Sources, Generation: head.Generation, Until: head.Born}) {
		switch {
		case errors.Is(err, errors.ErrUnsupported):
			return nil
		case err != nil:
			l.known = partition{}
			return err
		}
		s := t.stampAt(o.Born)
		s.seq, t.touched = max(s.seq, o.Seq), max(t.touched, o.Seq)
		if o.Deleted {
			continue
		}
		bytes, links := l.Outlined(o)
		s.rows, s.links = some, s.links || links
		if s.bytes += bytes; bytes == 0 || s.bytes > l.MaxBytes/10*9 {
			return nil // a part may be too long
		}
	}
	t.last, t.time, t.born = head.Last, head.LastTime, head.Born
	l.known = t
	return nil
}

// stampAt returns the stamp of the part of a Born.
func (t *partition) stampAt(born websync.Seq) *stamp {
	n := int((born - 1) / t.size)
	if missing := n + 1 - len(t.stamps); missing > 0 {
		t.stamps = append(t.stamps, make([]stamp, missing)...)
	}
	return &t.stamps[n]
}

func (l *PartList) partition(head websync.Head, size websync.Seq) partition {
	id := Hash(fmt.Appendf(nil, "%s %d %d %q",
		l.Settings(size), head.Generation, head.FirstTime.UnixMicro(), l.Site.Key()))
	return partition{id: id, generation: head.Generation, first: head.FirstTime, size: size}
}

// readLog reads the new entries of the log into t.
func (l *PartList) readLog(ctx context.Context, t *partition, head websync.Head) error {
	if t.last < head.Last {
		r := websync.Range{Sources: l.Site.Sources, Generation: head.Generation, After: t.last, Until: head.Last}
		var item websync.Item // reused for all items: Bound gets its address
		for next, err := range l.Site.Catalog.Changes(ctx, r) {
			if err != nil {
				return err
			}
			item = next
			l.note(t, &item)
		}
	}
	t.last, t.time, t.born = head.Last, head.LastTime, head.Born
	return nil
}

// note updates t with an entry of the log.
func (l *PartList) note(t *partition, item *websync.Item) {
	t.last = item.Seq
	if item.Born == 0 {
		return // a tombstone that never had a live resource
	}
	t.touched = max(t.touched, item.Seq)
	s := t.stampAt(item.Born)
	s.seq, s.time, s.rows = item.Seq, item.Time.UnixMicro(), some
	if item.Kind == websync.Deleted {
		s.rows = unknown
		return
	}
	bytes, links := l.Bound(item)
	s.bytes += bytes
	s.links = s.links || links
	t.crowded = t.crowded || s.bytes > l.MaxBytes
}

// isFull reports whether a part is too long. It measures only parts that may be. A part
// is full at 90 % of MaxBytes, so that a part of almost MaxBytes is not measured after
// each change.
func (l *PartList) isFull(ctx context.Context, t *partition) (bool, error) {
	for n := 0; t.crowded && n < len(t.stamps); n++ {
		s := &t.stamps[n]
		if s.bytes <= l.MaxBytes {
			continue
		}
		p := l.part(t, n)
		bytes, err := l.Measure(ctx, &p)
		if err != nil {
			return false, err
		}
		if s.bytes = bytes; t.size > 1 && bytes > l.MaxBytes/10*9 {
			return true, nil
		}
	}
	t.crowded = false
	return false, nil
}

// IsPart reports whether a path can be that of a part.
func (l *PartList) IsPart(path string) bool {
	id, _, ok := l.Site.ParseNumbered(path)
	return ok && IsHash(id)
}

// Root returns the root document: the index, or the only part.
func (l *PartList) Root(ctx context.Context) (p Part, err error) {
	err = l.current(ctx, func(t *partition) error {
		p = l.part(t, 0)
		p.Path, p.Index = l.Site.Root, t.isSplit()
		p.stamp = t.stampOf(&p)
		return nil
	})
	if err == nil {
		err = p.findTime(ctx)
	}
	return p, err
}

// Part returns the part at a path. The error is ErrNotFound if there is none, and ErrGone
// if the log or the settings are no longer those of the path.
func (l *PartList) Part(ctx context.Context, path string) (p Part, err error) {
	id, n, _ := l.Site.ParseNumbered(path)
	err = l.current(ctx, func(t *partition) error {
		switch {
		case id != t.id:
			return l.Site.DocumentError(path, websync.ErrGone)
		case !t.isSplit() || n > uint64(t.parts()):
			return l.Site.DocumentError(path, websync.ErrNotFound)
		}
		p = l.part(t, int(n-1))
		return nil
	})
	if err == nil {
		err = p.findTime(ctx)
	}
	return p, err
}

// findTime reads the time of the last commit that touches a part, unless it is known. If
// the generation has been dropped, Finish fails, and any later time will do.
func (p *Part) findTime(ctx context.Context) error {
	l, seq := p.list, p.stamp.seq
	if p.Index || seq == 0 || p.stamp.time != 0 {
		return nil
	}
	for item, err := range l.Site.Catalog.Changes(ctx, websync.Range{Generation: p.Generation, After: seq - 1, Until: seq}) {
		switch {
		case errors.Is(err, websync.ErrNotFound):
			p.stamp.time = p.At.UnixMicro()
			return nil
		case err != nil:
			return l.Site.CatalogError(err)
		}
		p.stamp.time = item.Time.UnixMicro()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := &l.known; t.id == p.id && t.at(p.n).seq == seq {
		t.stamps[p.n].time = p.stamp.time
	}
	return nil
}

// Listed returns the parts that the index lists: those that are not empty.
func (l *PartList) Listed(ctx context.Context) (listed []Part, err error) {
	var all []Part
	err = l.current(ctx, func(t *partition) error {
		for n := range t.stamps {
			all = append(all, l.part(t, n))
		}
		return nil
	})
	for i := range all {
		filled, err := all[i].isFilled(ctx)
		if err != nil {
			return nil, err
		}
		if !filled {
			continue
		}
		if err := all[i].findTime(ctx); err != nil {
			return nil, err
		}
		listed = append(listed, all[i])
	}
	return listed, err
}

// Numbered returns the paths of the parts, if there are several, without empty ones.
func (l *PartList) Numbered(ctx context.Context) Numbered {
	first := "" // the id of the partition to which part 1 belonged
	return func(n uint64) (string, bool, error) {
		var p Part
		more := false
		err := l.current(ctx, func(t *partition) error {
			if n == 1 {
				first = t.id
			}
			if t.id != first {
				return l.Site.NewGeneration()
			}
			p, more = l.part(t, int(n-1)), t.isSplit() && n <= uint64(t.parts())
			return nil
		})
		if err != nil || !more {
			return "", false, err
		}
		filled, err := p.isFilled(ctx)
		if err != nil || !filled {
			return "", true, err
		}
		return p.Path, true, nil
	}
}

// ETag returns the ETag of the document. It consists of the greatest number that touches
// the document, of more, and of the greatest Born if links depend on other ids.
func (p *Part) ETag(more string) string {
	tag := fmt.Sprintf("%s-%d", p.id, p.stamp.seq)
	if p.Index {
		tag += "-index"
	}
	tag += more
	if p.stamp.born != 0 {
		tag += fmt.Sprintf("-born-%d", p.stamp.born)
	}
	return tag
}

// Modified returns the time of the last commit that touches a part; zero if there is
// none.
func (p *Part) Modified() time.Time {
	if p.stamp.time == 0 {
		return time.Time{}
	}
	return time.UnixMicro(p.stamp.time).UTC()
}

// DependsOnIDs reports whether new ids can change the document without a commit that
// touches it.
func (p *Part) DependsOnIDs() bool { return p.stamp.born != 0 }

// Resources yields what a part lists, as Site.Resources does.
func (p *Part) Resources(ctx context.Context, refuse Refuse) Items {
	after := websync.Seq(p.n) * p.size
	return p.list.Site.Resources(ctx, websync.Range{After: after, Until: after + p.size}, refuse)
}

// isFilled reports whether a part lists anything. If its stamp does not state that, it
// reads one item and records the answer. It does not record the answer if a newer entry
// of the log touches the part, because the answer may be that of the newer state.
func (p *Part) isFilled(ctx context.Context) (bool, error) {
	l, s := p.list, p.stamp
	if s.rows != unknown {
		return s.rows == some, nil
	}
	found := none
	for _, err := range p.Resources(ctx, nil) {
		if err != nil {
			return false, err
		}
		found = some
		break
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := &l.known; t.id == p.id && t.at(p.n).seq == s.seq {
		t.stamps[p.n].rows = found
	}
	return found == some, nil
}

// IsReported reports whether the part was written since the entry seq of the log, so that
// its refusal was reported.
func (p *Part) IsReported(seq websync.Seq) bool { return seq <= p.stamp.reported }

// Finish must be called after the last byte of a document. It returns ErrConflict if a
// commit has touched the document since it was requested. Otherwise it records that the
// refused items were reported.
func (p *Part) Finish(ctx context.Context) error {
	l := p.list
	return l.current(ctx, func(t *partition) error {
		if now := t.stampOf(p); t.id != p.id || now.seq != p.stamp.seq || now.born != p.stamp.born {
			return l.Site.DocumentError(p.Path, websync.ErrConflict)
		}
		if !p.Index && p.n < len(t.stamps) {
			t.stamps[p.n].reported = p.stamp.seq
		}
		return nil
	})
}
