package websync

import (
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"sort"
	"sync"
	"time"
)

// A Log is a [Catalog] in memory, for a program that holds what it publishes elsewhere:
// in a table of a database, in files, in code. The program appends an entry for each
// change, in the same order after each start.
//
// A Log holds no bytes: Open returns [ErrNotFound]. A type that has the bytes can embed a
// Log and implement Open.
//
// The zero Log is empty and ready to use. It is safe for concurrent use; it must not be
// copied.
type Log struct {
	mu      sync.RWMutex
	entries []Item        // by Seq
	latest  []Seq         // by Born: the latest entry of the id
	born    map[logID]Seq // of each id
	live    map[string]int64

	baseline Seq
}

type logID struct{ source, id string }

var _ Catalog = (*Log)(nil)

// Append adds entries to the end of the log. It sets their Seq, Born and Prior, and makes
// their Time later than that of the previous entry; a zero Time is now. An entry whose
// Kind is Deleted needs only a Source and the ID of its Resource; if its Content has no
// Href, Append copies that of the previous entry of the id.
func (l *Log) Append(entries ...Item) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.born == nil {
		l.born, l.live = make(map[logID]Seq), make(map[string]int64)
	}
	for _, e := range entries {
		l.append(e.clone())
	}
}

// EndBaseline makes the entries so far the first state, which is no change: see
// [Head].Baseline. A program calls it once, after it has appended what there was at its
// beginning. Later calls do nothing.
func (l *Log) EndBaseline() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.baseline == 0 {
		l.baseline = Seq(len(l.entries))
	}
}

func (l *Log) append(e Item) {
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	e.Time = e.Time.UTC().Truncate(time.Microsecond)
	if n := len(l.entries); n > 0 && !e.Time.After(l.entries[n-1].Time) {
		e.Time = l.entries[n-1].Time.Add(time.Microsecond)
	}
	e.Seq, e.Prior = Seq(len(l.entries)+1), 0
	id := logID{e.Source, e.Resource.ID}
	if e.Born = l.born[id]; e.Born == 0 {
		l.latest = append(l.latest, e.Seq)
		e.Born = Seq(len(l.latest))
		l.born[id] = e.Born
	} else {
		e.Prior = l.latest[e.Born-1]
		last := l.at(e.Prior)
		if last.Kind != Deleted {
			l.live[e.Source]--
		}
		if e.Kind == Deleted && e.Resource.Content.Href == "" {
			e.Resource.Content = last.clone().Resource.Content
		}
	}
	if e.Kind != Deleted {
		l.live[e.Source]++
	}
	l.latest[e.Born-1] = e.Seq
	l.entries = append(l.entries, e)
}

func (l *Log) at(n Seq) *Item { return &l.entries[n-1] }

// Head implements [Catalog].
func (l *Log) Head(context.Context) (Head, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	h := Head{
		Generation: 1, Last: Seq(len(l.entries)), Baseline: l.baseline, Born: Seq(len(l.latest)), Live: make(map[string]int64),
	}
	if h.Last > 0 {
		h.First, h.FirstTime, h.LastTime = 1, l.entries[0].Time, l.at(h.Last).Time
	}
	for source, n := range l.live {
		if n > 0 {
			h.Live[source] = n
		}
	}
	return h, nil
}

// Get implements [Catalog].
func (l *Log) Get(_ context.Context, source string, ids []string) ([]Item, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	found := make([]Item, len(ids))
	for i, id := range ids {
		if born := l.born[logID{source, id}]; born > 0 {
			found[i] = l.at(l.latest[born-1]).clone()
		}
	}
	return found, nil
}

// Resources implements [Catalog].
func (l *Log) Resources(ctx context.Context, r Range) iter.Seq2[Item, error] {
	r.Generation, r.Since = 0, time.Time{}
	return l.walk(ctx, r, func() Seq { return Seq(len(l.latest)) }, func(born Seq) *Item {
		if e := l.at(l.latest[born-1]); e.Kind != Deleted {
			return e
		}
		return nil
	})
}

// Changes implements [Catalog].
func (l *Log) Changes(ctx context.Context, r Range) iter.Seq2[Item, error] {
	return l.walk(ctx, r, func() Seq { return Seq(len(l.entries)) }, l.at)
}

// walk yields the items of a Range. last returns the greatest number, and at the item
// with a number, or nil if there is none. Both are called with the lock held.
func (l *Log) walk(ctx context.Context, r Range, last func() Seq, at func(n Seq) *Item) iter.Seq2[Item, error] {
	r.Sources = slices.Clone(r.Sources)
	next := func(n Seq) (e Item, ok bool) {
		l.mu.RLock()
		defer l.mu.RUnlock()
		if found := at(n); found != nil && (len(r.Sources) == 0 || slices.Contains(r.Sources, found.Source)) {
			return found.clone(), true
		}
		return e, false
	}
	return func(yield func(Item, error) bool) {
		if r.Generation > 1 {
			err := fmt.Errorf("websync: generation %d of a Log, which has only generation 1: %w", r.Generation, ErrNotFound)
			yield(Item{}, err)
			return
		}
		l.mu.RLock()
		end := last()
		n := sort.Search(len(l.entries), func(i int) bool { return !l.entries[i].Time.Before(r.Since) })
		l.mu.RUnlock()
		if r.Until > 0 {
			end = min(end, r.Until)
		}
		for n := max(r.After, Seq(n)); n < end; {
			if err := ctx.Err(); err != nil {
				yield(Item{}, err)
				return
			}
			n++
			if e, ok := next(n); ok && !yield(e, nil) {
				return
			}
		}
	}
}

// Open implements [Catalog]: it returns ErrNotFound.
func (l *Log) Open(_ context.Context, b Body) (io.ReadSeekCloser, error) {
	return nil, fmt.Errorf("websync: body %q of a Log, which holds no bytes: %w", b.Name, ErrNotFound)
}

// clone returns a copy that shares no memory with i.
func (i *Item) clone() Item {
	c := *i
	r := &c.Resource
	r.Authors, r.Elements, r.Content = slices.Clone(r.Authors), slices.Clone(r.Elements), r.Content.clone()
	r.Links = slices.Clone(r.Links)
	for n := range r.Links {
		r.Links[n] = r.Links[n].clone()
	}
	if r.Origin != nil {
		o := *r.Origin
		o.Authors = slices.Clone(o.Authors)
		r.Origin = &o
	}
	c.Bodies = slices.Clone(c.Bodies)
	for n := range c.Bodies {
		c.Bodies[n].Link = c.Bodies[n].Link.clone()
	}
	return c
}

func (l Link) clone() Link {
	l.Digests, l.Attrs = slices.Clone(l.Digests), slices.Clone(l.Attrs)
	return l
}
