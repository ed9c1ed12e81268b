package harvest

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/websync-go/websync"
)

// amounts are what a source holds of what Quota limits as sums.
type amounts [ofDescription]int64

const (
	ofRecords = iota
	ofBodies
	ofDescriptions
	ofEntries
	ofDescription // of one record
)

// amountsOf returns what a live record takes.
func amountsOf(item *websync.Item) amounts {
	a := amounts{ofRecords: 1, ofDescriptions: int64(item.Resource.Size())}
	for i := range item.Bodies {
		if b := &item.Bodies[i]; !b.Key.IsZero() {
			n, _ := b.Link.StatedLength()
			a[ofBodies] += n
		}
	}
	return a
}

// add adds b, or with the sign -1 subtracts it.
func (a *amounts) add(sign int64, b *amounts) {
	for i := range a {
		a[i] += sign * b[i]
	}
}

// A usage is what a source holds, without the number of its records. Commits keep it
// once a run with a Quota has begun to count.
type usage struct {
	bodies, descriptions int64 // of live records, as far as these are counted
	day, entries         int64 // of the log, on a day UTC since 1970
	all                  bool  // all records are counted
	counted              string
}

// counts reports whether the record of an id is counted: those up to counted are, if not
// all.
func (u *usage) counts(id string) bool { return u.all || id <= u.counted }

// add counts a record, or with the sign -1 no longer.
func (u *usage) add(sign int64, item *websync.Item) {
	a := amountsOf(item)
	u.bodies += sign * a[ofBodies]
	u.descriptions += sign * a[ofDescriptions]
}

// enter counts new entries of the log.
func (u *usage) enter(now int64, n int) {
	u.entries = u.entriesOn(now) + int64(n)
	u.day = dayOf(now)
}

func (u *usage) entriesOn(now int64) int64 {
	if u.day != dayOf(now) {
		return 0
	}
	return u.entries
}

func dayOf(micro int64) int64 { return micro / (24 * time.Hour).Microseconds() }

func (u *usage) append(b []byte) []byte {
	b = binary.AppendVarint(append(b, layoutVersion), u.bodies)
	b = binary.AppendVarint(b, u.descriptions)
	b = binary.AppendVarint(b, u.day)
	b = binary.AppendVarint(b, u.entries)
	return append(appendBool(b, u.all), u.counted...)
}

func (u *usage) parse(b []byte) error {
	p := parse(b)
	p.version()
	*u = usage{bodies: p.int(), descriptions: p.int(), day: p.int(), entries: p.int(), all: p.bool(), counted: string(p.rest())}
	return p.end()
}

func usageKeyOf(source string) key { return newKey(usageKey).text(source) }

// countUsage counts all that a source holds, a page in each Update. Commits in between
// count what is new of the records that are counted already. An interrupted call is
// continued by the next.
func (s *Catalog) countUsage(ctx context.Context, source string) error {
	k := usageKeyOf(source)
	l := &listing[Record]{
		prefetch: addEntry,
		decode:   func(r *reader, id string, v *stored) (Record, error) { return r.record(v, source, id) },
		began:    func(*Record, *head) bool { return true },
	}
	for done := false; !done; {
		err := s.update(ctx, func(w *writer) error {
			var u usage
			_, err := w.get(k, &u)
			if done = u.all; done || err != nil {
				return err
			}
			src, ok, err := w.source(source)
			if err != nil {
				return err
			}
			var found []pair
			var next key
			if ok {
				from, to := src.key(recordKey, u.counted).after(), newKey(recordKey).source(src.n).end()
				if found, next, err = w.scan(nil, from, to, pageItems, nil); err != nil {
					return err
				}
			}
			page, read, err := l.page(&w.reader, nil, src.idsOf(found), found, &w.head)
			if err != nil {
				return err
			}
			for i := range page {
				if page[i].Live() {
					u.add(1, &page[i].Item)
				}
				u.counted = page[i].Resource.ID
			}
			u.all = next == nil && read == len(found)
			return w.put(k, &u)
		}, newKey(sourceKey).text(source), k)
		if err != nil {
			return err
		}
	}
	return nil
}

// amounts returns what sources hold together, and those of which not all is counted:
// their bodies, descriptions and entries are missing.
func (s *Catalog) amounts(ctx context.Context, sources ...string) (all amounts, uncounted []string, err error) {
	var keys []key
	for _, source := range sources {
		keys = append(keys, newKey(sourceKey).text(source), usageKeyOf(source))
	}
	err = s.view(ctx, func(r *reader) error {
		all, uncounted = amounts{}, nil
		for _, source := range sources {
			src, _, err := r.source(source)
			if err != nil {
				return err
			}
			var u usage
			if _, err := r.get(usageKeyOf(source), &u); err != nil {
				return err
			}
			all.add(1, &amounts{src.live, u.bodies, u.descriptions, u.entriesOn(s.now())})
			if !u.all {
				uncounted = append(uncounted, source)
			}
		}
		return nil
	}, keys...)
	return all, uncounted, err
}
