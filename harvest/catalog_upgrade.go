package harvest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
)

// An upgrade is the step that brings a Store of one layout to the next: it rewrites some
// keys, a page in each Update, and each page once.
type upgrade struct {
	from, to key
	page     func(tx Tx, page []pair) error
}

// upgrades has a step for each layout from the first one that is upgraded. It is empty:
// that is layoutVersion. A change of the layout adds one, and a file of the layout before
// it to the testdata of sqlitestore.
var upgrades [0]upgrade

// An olderError is that of a head of an older layout.
type olderError struct{ layout byte }

func (e *olderError) Error() string {
	const text = "harvest: the Store has layout %d of an older version, this one reads layout %d: " +
		"harvest again into an empty Store"
	return fmt.Sprintf(text, e.layout, layoutVersion)
}

// unfinishedMark is the first byte of the head of a Store that can't be used yet. Older
// versions take it for a newer layout.
const unfinishedMark = 0xff

// Why a Store is unfinished.
const (
	forImport byte = iota + 1
	forUpgrade
)

// An unfinished is in the place of the head until a task is done that makes the Store
// what it is to be. So nobody takes it for whole, whatever happens to who does the task.
type unfinished struct {
	why byte

	// of an upgrade
	layout byte   // that is reached
	next   key    // from which the step goes on; empty at its beginning
	head   []byte // what the head was

	imported progress
}

func (u *unfinished) append(b []byte) []byte {
	b = append(b, unfinishedMark, layoutVersion, u.why, u.layout)
	b = append(b, u.imported.token[:]...)
	b = binary.AppendUvarint(b, u.imported.frames)
	b = append(b, u.imported.sum[:]...)
	b = append(binary.AppendUvarint(b, uint64(len(u.next))), u.next...)
	return append(b, u.head...)
}

func (u *unfinished) parse(b []byte) error {
	p := parse(b)
	p.take(1)
	if by := p.take(1)[0]; by > layoutVersion {
		return newerLayout(by)
	}
	*u = unfinished{why: p.take(1)[0], layout: p.take(1)[0]}
	copy(u.imported.token[:], p.take(len(token{})))
	u.imported.frames = p.uint()
	copy(u.imported.sum[:], p.take(len(sum{})))
	u.next = bytes.Clone(p.take(int(min(p.uint(), uint64(len(p.b))))))
	u.head = bytes.Clone(p.rest())
	return p.end()
}

// err returns the error of what needs the whole Store.
func (u *unfinished) err() error {
	if u.why == forUpgrade {
		return &olderError{u.layout}
	}
	const text = "%w: an import has written a part of it: import again, from the same Store or file, to go on"
	return fmt.Errorf(text, ErrUnfinished)
}

// upToDate calls fn, and once more if it had to upgrade the Store first.
func (s *Catalog) upToDate(ctx context.Context, fn func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	err := fn()
	older, ok := errors.AsType[*olderError](err)
	if !ok || int(older.layout) < layoutVersion-len(s.upgrades) {
		return err
	}
	if s.planned { // its Store is in memory
		return fmt.Errorf("%w: it is of an older version: run a program that writes to it first", ErrUnfinished)
	}
	for done := false; !done; {
		err := s.store.Update(ctx, func(tx Tx) (err error) {
			done, err = s.upgrade(tx)
			return err
		})
		if err != nil {
			return fmt.Errorf("%w: its upgrade from layout %d: %w", ErrUnfinished, older.layout, err)
		}
	}
	return fn()
}

// upgrade upgrades the next page, and reports whether that was the last one. Whoever
// finds an upgrade that is not done goes on with it, also beside another process.
func (s *Catalog) upgrade(tx Tx) (done bool, err error) {
	hk := newKey(headKey)
	b, err := tx.Get(hk)
	if err != nil || len(b) == 0 {
		return false, cmp.Or(err, ErrCorrupt)
	}
	u := unfinished{why: forUpgrade, layout: b[0], head: b}
	if b[0] == unfinishedMark {
		if err := u.parse(b); err != nil || u.why != forUpgrade {
			return false, cmp.Or(err, u.err())
		}
	}
	at := int(u.layout) - (layoutVersion - len(s.upgrades))
	switch {
	case u.layout == layoutVersion:
		return true, nil // another process has done the rest
	case at < 0 || at >= len(s.upgrades):
		return false, ErrCorrupt
	}
	step := &s.upgrades[at]
	from := step.from
	if len(u.next) > 0 {
		from = u.next
	}
	page, next, err := (&reader{Reader: tx}).scan(nil, from, step.to, pageItems, nil)
	if err == nil {
		err = step.page(tx, page)
	}
	if err != nil {
		return false, err
	}
	if u.next = next; next == nil {
		u.layout++
	}
	if u.layout < layoutVersion {
		return false, tx.Set(hk, u.append(nil))
	}
	return true, tx.Set(hk, append([]byte{layoutVersion}, u.head[1:]...))
}
