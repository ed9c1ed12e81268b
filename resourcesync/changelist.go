package resourcesync

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"strconv"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/docfetch"
)

// A changeList is one document of the log, or an index of such.
type changeList struct {
	docfetch.Document
	err error // of getting it ahead

	// What the first reading finds.
	head    Head
	from    websync.Datetime // as the document says, or else its index
	entries int
	skipped int
	base    int              // how many entries of the backlog are before it
	ordered bool             // no entry has a time before that of an earlier one, or before from
	begins  websync.Datetime // the earliest time of an entry
	clock   websync.Datetime // the latest one, unless the server's clock says that it is wrong
	sum     uint64           // of the entries
	last    uint64           // of the last one
	prefix  bool             // it begins with the entries that were yielded before
	holds   bool             // it has the last entry that was yielded before

	// What is to be yielded.
	start  int              // the first entry
	since  time.Time        // if set, entries before it are not
	floor  websync.Datetime // no entry is before it
	end    cursor           // the position after the list
	passed int              // skipped entries of the list before it
}

func newChangeList(url string) *changeList {
	return &changeList{Document: docfetch.Document{URL: url}}
}

// readList is read, for a document that must not be an index.
func (w *walk) readList(ctx context.Context, b *backlog, l *changeList, known docfetch.Validators) error {
	if err := w.get(ctx, &l.Document, known); err != nil || l.NotModified {
		return err
	}
	return w.checkList(b, l)
}

func (w *walk) checkList(b *backlog, l *changeList) error {
	err := w.check(b, l)
	if err == nil && l.head.Index {
		l.Close()
		err = &docfetch.Error{Err: w.Named(l.URL, errors.New("an index of change lists, where a Change List must be"))}
	}
	return err
}

// read gets a list, or an index, and reads it to its end.
func (w *walk) read(ctx context.Context, b *backlog, l *changeList, known docfetch.Validators) error {
	if err := w.get(ctx, &l.Document, known); err != nil || l.NotModified {
		return err
	}
	return w.check(b, l)
}

// check reads a document to its end.
func (w *walk) check(b *backlog, l *changeList) (err error) {
	defer func() {
		if err != nil {
			l.Close()
			err = &docfetch.Error{Err: w.Named(l.URL, err)}
		}
	}()
	b.set.Ask(docfetch.KeyOf(l.URL))
	if err := b.set.CheckRedirect(&l.Document); err != nil {
		return err
	}
	b.set.Read(&l.Document)
	r := w.reader(&l.Document, w.Report)
	if l.head, err = r.Head(); err != nil {
		return err
	}
	if c := l.head.Metadata.Capability; c != ChangeList {
		return fmt.Errorf("the capability %.100q, not that of a Change List: %w", c, websync.ErrNotDocument)
	}
	l.ordered, l.base = true, b.entries
	h := fnv.New64a()
	for {
		v, err := r.NextView()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if len(v.Loc) > maxID {
			l.skipped += w.tooLong(l.Final, string(v.Loc), v.Line, v.Column)
		}
		t := changeTime(v)
		if !t.IsZero() && (l.begins.IsZero() || t.Before(l.begins)) {
			l.begins = t
		}
		if at := l.tick(v); at != t {
			l.ordered = false
		}
		l.last = sumOf(v)
		l.holds = l.holds || b.end.N > 0 && l.last == b.end.Last
		h.Write(binary.LittleEndian.AppendUint64(nil, l.last))
		b.latest[idSum(v.Loc)] = b.entries
		b.entries++
		if l.entries++; l.entries == b.end.N {
			l.prefix = h.Sum64() == b.end.Sum
		}
	}
	l.sum = h.Sum64()
	l.skipped += r.Skipped()
	if from := l.head.Metadata.From; !from.IsZero() {
		l.from = from
	}
	if l.begins.Before(l.from) {
		l.ordered = false
	}
	return nil
}

// tick returns the time of a change that comes next: that of an earlier one, if the
// change says that it was before it. What lies in the future does not move the clock.
func (l *changeList) tick(v *View) websync.Datetime {
	t := changeTime(v)
	switch {
	case t.IsZero(), !l.Date.IsZero() && t.Time().After(l.Date.Add(24*time.Hour)):
		return t
	case l.clock.IsZero() || t.After(l.clock):
		l.clock = t
	}
	return l.clock
}

// tooLong reports an entry whose URI no Store takes, and returns 1.
func (w *walk) tooLong(document, uri string, line, column int) int {
	w.Report(ruleLoc.Finding(document, line, column, "loc", []byte(uri), "longer than any Store takes: skipped"))
	return 1
}

// again returns a Reader from the beginning of a document that was read before.
func (w *walk) again(d *docfetch.Document) (*Reader, error) {
	if err := w.Rewind(d); err != nil {
		return nil, err
	}
	return w.reader(d, nil), nil
}

// changeTime returns when a change was, as its entry says; zero if it does not.
func changeTime(v *View) websync.Datetime {
	if d := v.Metadata.Datetime; !d.IsZero() {
		return d
	}
	return v.LastMod
}

// sumOf returns a digest of a change, and of what it says of the resource.
func sumOf(v *View) uint64 {
	h := fnv.New64a()
	m := &v.Metadata
	h.Write(v.Loc)
	b := append(make([]byte, 0, 128), 0)
	b, _ = m.Datetime.AppendText(b) // never an error
	b, _ = v.LastMod.AppendText(append(b, 0))
	b = append(append(b, 0), m.Change...)
	b = strconv.AppendInt(append(b, 0), m.Length, 10)
	for _, d := range m.Digests {
		b = append(append(append(b, 0), d.Algorithm...), d.Sum...)
	}
	h.Write(b)
	return h.Sum64()
}

func idSum(uri []byte) uint64 {
	h := fnv.New64a()
	h.Write(uri)
	return h.Sum64()
}

// yieldList yields the changes of a list that are to be yielded: those that are the last
// of their URI in the whole backlog.
func (w *walk) yieldList(b *backlog, l *changeList) error {
	r, err := w.again(&l.Document)
	if err != nil {
		return err
	}
	l.clock = websync.Datetime{}
	for i := 0; ; i++ {
		v, err := r.NextView()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return w.Problem(err)
		}
		if i == l.start && !l.floor.IsZero() && (l.clock.IsZero() || l.floor.After(l.clock)) {
			l.clock = l.floor
		}
		at := l.tick(v)
		if i < l.start || b.latest[idSum(v.Loc)] != l.base+i || isBefore(at, l.since) || !w.includes(v.Loc) {
			continue
		}
		if v.Metadata.Change == Deleted && at.IsZero() && w.Incomplete() {
			continue // what could not be read may say that it is there again
		}
		if err := w.change(v, at); err != nil {
			return err
		}
	}
}

// isBefore reports whether all that t stands for is before since, if both are known.
func isBefore(t websync.Datetime, since time.Time) bool {
	return !t.IsZero() && !since.IsZero() && !t.End().After(since)
}
