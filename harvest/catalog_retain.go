package harvest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math/bits"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
)

// A Retention says how long a Catalog keeps what is no longer current. The zero value is
// the recommended setting: who reads once a month misses nothing.
//
// Current records, their bodies and all tombstones stay for ever: a reader that comes
// after years has to learn of each deletion. A tombstone takes about 100 bytes and the
// lengths of its id and its URL.
type Retention struct {
	// Log is how long the log keeps an entry after a later one of the same id has
	// superseded it, and a tombstone, which stays itself, the description of what was
	// deleted. They are removed when they are a quarter of the log, and at the latest
	// after twice this time. If zero, it is 45 days; if negative, they stay.
	Log time.Duration

	// Bodies is how long a body stays after the last current record has ceased to name
	// it: the bodies of older versions, and of what was withdrawn. If zero, it is 7 days;
	// if negative, they stay.
	Bodies time.Duration

	// Readers is how long the log of before stays beside a new one, for those that are
	// reading its documents. If zero, it is one day; if negative, it stays.
	Readers time.Duration
}

// Retained is what a [Catalog.Retain] has done.
type Retained struct {
	Entries int64 `json:"entries"` // that a new generation of the log left out
	Bodies  int   `json:"bodies"`  // that were removed
}

const (
	retainClaim  = "retention"
	retentionKey = "harvest/retention" // in the State

	retainEvery = 24 * time.Hour
	retainAgain = time.Hour        // after an error
	retainStart = 10 * time.Minute // after the start of a process

	// quietTime is how long a new generation waits until no run is disturbed by it.
	quietTime = 10 * time.Minute
	quietPoll = time.Second
)

// A retention is what the State has of it.
type retention struct {
	Ran        time.Time `json:"ran"`        // for the last time
	Generation uint64    `json:"generation"` // the newest at that time
	Since      time.Time `json:"since"`      // when that was seen for the first time
	Last       Retained  `json:"last"`
}

// Retain removes what r no longer keeps, as far as it is worth it:
//
//   - It writes a new generation of the log, without superseded entries and without the
//     descriptions in tombstones, and removes the one before when its readers have had
//     their time. Entries keep their times. Publishers give documents of the log new URLs,
//     and readers go on by the times or read the new documents.
//   - It removes bodies that no current record names.
//   - A Store that is a [Shrinker] gives the space back.
//
// It works in many short Updates beside runs and readers. The new generation begins when
// no run goes on, or after ten minutes; then runs end with [ErrFenced], and the next ones
// go on where they were. A call that was interrupted, also by the end of its process, is
// continued by the next. If another process is at it, the error is [ErrHeld].
func (s *Catalog) Retain(ctx context.Context, r Retention) (done Retained, err error) {
	ctx, release, err := s.Hold(ctx, retainClaim, 0)
	if err != nil {
		return done, err
	}
	defer release()
	r = Retention{cmp.Or(r.Log, 45*retainEvery), cmp.Or(r.Bodies, 7*retainEvery), cmp.Or(r.Readers, retainEvery)}
	if err := s.retainLog(ctx, r, &done); err != nil {
		return done, err
	}
	if r.Bodies >= 0 {
		if done.Bodies, err = s.Vacuum(ctx, r.Bodies); err != nil {
			return done, err
		}
	}
	if store, ok := s.store.(Shrinker); ok {
		if err := store.Shrink(ctx); err != nil {
			return done, err
		}
	}
	return done, s.noteRetention(ctx, func(v *retention) { v.Ran, v.Last = micro(s.now()), done })
}

// retainLog writes a new generation of the log, or removes older ones, when it is time.
func (s *Catalog) retainLog(ctx context.Context, r Retention, done *Retained) error {
	var at retention
	note := func(generation uint64) error {
		return s.noteRetention(ctx, func(v *retention) {
			if v.Generation != generation {
				v.Generation, v.Since = generation, micro(s.now())
			}
			at = *v
		})
	}
	generation, _, err := s.End(ctx)
	if err == nil {
		err = note(generation)
	}
	if err != nil {
		return err
	}
	older, err := s.hasOlder(ctx)
	if err != nil {
		return err
	}
	if !older && r.Log >= 0 {
		k, err := s.choose(ctx, r.Log)
		if err != nil || k == nil {
			return err
		}
		if generation, err = s.compact(ctx, k); err != nil {
			return err
		}
		if err := note(generation); err != nil {
			return err
		}
		done.Entries, older = int64(k.last-k.copied.count(k.last)), true
	}
	if !older || r.Readers < 0 || at.Since.Add(r.Readers.Truncate(time.Microsecond)).After(micro(s.now())) {
		return nil
	}
	return s.Drop(ctx, generation)
}

// noteRetention changes what the State has of the retention.
func (s *Catalog) noteRetention(ctx context.Context, change func(*retention)) error {
	k := newKey(stateKey).text(retentionKey)
	return s.update(ctx, func(w *writer) error {
		var v retention
		b, err := w.Get(k)
		if err != nil {
			return err
		}
		_ = json.Unmarshal(b, &v) // what can't be read is as if it had never been
		change(&v)
		if b, err = json.Marshal(v); err != nil {
			return err
		}
		return w.set(k, b)
	}, k)
}

// hasOlder reports whether there are entries of the log of before, also those that an
// interrupted Drop has left.
func (s *Catalog) hasOlder(ctx context.Context) (has bool, err error) {
	err = s.view(ctx, func(r *reader) (err error) {
		has, err = r.any(newKey(logKey), newKey(logKey).number(r.head.generation))
		return err
	})
	return has, err
}

// choose returns what a new generation keeps of superseded entries; nil if it is not
// worth it. An entry names the one that it has superseded, and each id has one entry that
// is not.
func (s *Catalog) choose(ctx context.Context, log time.Duration) (*selection, error) {
	head, err := s.Head(ctx)
	if err != nil || head.Last == head.Born {
		return nil, err
	}
	now := s.now()
	k := &selection{last: head.Last, since: now - log.Microseconds(), catalog: s, until: time.Now().Add(quietTime)}
	k.wanted = make([]uint64, head.Last/64+1)
	// superseded for longer than the log keeps it, and for longer than twice as much
	due := int64(head.Last) - int64(head.Born)
	overdue := due
	rng := websync.Range{Generation: head.Generation, Until: head.Last, Since: micro(now - 2*log.Microseconds())}
	for item, err := range s.Changes(ctx, rng) {
		switch {
		case err != nil:
			return nil, err
		case item.Prior == 0:
			continue
		case item.Time.UnixMicro() >= k.since:
			k.wanted[item.Prior/64] |= 1 << (item.Prior % 64)
			due--
		}
		overdue--
	}
	if due <= 0 || overdue <= 0 && due < int64(head.Last)/4 {
		return nil, nil
	}
	return k, nil
}

// A selection says which superseded entries a new generation keeps, and notes which
// entries it has: two bits for each.
type selection struct {
	since  int64       // those superseded since then
	wanted []uint64    // they are, a bit for each number
	last   websync.Seq // up to here; of later ones all
	copied numbers

	// restored is when the Store was restored: the new generation is one that no other
	// copy of the Store has, and all its entries are from then on. If 0, it was not.
	restored int64

	catalog *Catalog  // if nil, runs are not waited for
	until   time.Time // when waiting ends
}

// keeps reports whether an entry is kept that the latest one of its id has superseded.
func (k *selection) keeps(seq, latest websync.Seq) bool {
	return latest > k.last || seq/64 < websync.Seq(len(k.wanted)) && k.wanted[seq/64]>>(seq%64)&1 == 1
}

// waitsFor reports whether the new generation waits for the holders of claims.
func (k *selection) waitsFor(runs []pair) (bool, error) {
	if k.catalog == nil || time.Now().After(k.until) {
		return false, nil
	}
	for _, p := range runs {
		var c heldClaim
		if err := c.parse(p.value); err != nil {
			return false, err
		}
		if c.stands(k.catalog.now()) && !k.catalog.dead(c.owner) {
			return true, nil
		}
	}
	return false, nil
}

// numbers are those of the entries of one generation that the next one has, with their
// numbers there.
type numbers struct {
	set    []uint64
	before []websync.Seq // entries before each element of set
}

// add adds the number of an entry. Numbers are added in ascending order.
func (n *numbers) add(seq websync.Seq) {
	for last := len(n.set) - 1; last < int(seq/64); last++ {
		before := websync.Seq(0)
		if last >= 0 {
			before = n.before[last] + websync.Seq(bits.OnesCount64(n.set[last]))
		}
		n.set, n.before = append(n.set, 0), append(n.before, before)
	}
	n.set[seq/64] |= 1 << (seq % 64)
}

// truncate removes the numbers after last.
func (n *numbers) truncate(last websync.Seq) {
	if i := int(last / 64); i < len(n.set) {
		n.set, n.before = n.set[:i+1], n.before[:i+1]
		n.set[i] &= 1<<(last%64+1) - 1
	}
}

// count returns how many numbers there are up to one.
func (n *numbers) count(seq websync.Seq) websync.Seq {
	i := min(int(seq/64), len(n.set)-1)
	if i < 0 {
		return 0
	}
	up := n.set[i]
	if i == int(seq/64) {
		up &= 1<<(seq%64+1) - 1
	}
	return n.before[i] + websync.Seq(bits.OnesCount64(up))
}

// numberOf returns the number of an entry in the next generation; 0 if that has it not.
func (n *numbers) numberOf(seq websync.Seq) websync.Seq {
	if i := int(seq / 64); i >= len(n.set) || n.set[i]>>(seq%64)&1 == 0 {
		return 0
	}
	return n.count(seq)
}

// tombstoneItem returns the item of the entry of a deletion with no more of the
// description than a Publisher needs to delete the resource elsewhere, in the form of
// entry.item.
func (w *writer) tombstoneItem(e *entry) ([]byte, error) {
	var item websync.Item
	if _, err := w.decodeEntry(e.append(nil), &item); err != nil {
		return nil, err
	}
	r := &item.Resource
	kept := websync.Resource{ID: r.ID, Modified: r.Modified, Content: websync.Link{Rel: r.Content.Rel, Href: r.Content.Href}}
	for _, l := range r.Links {
		if syntax.RelationName(l.Rel) == "via" {
			kept.Links = append(kept.Links, websync.Link{Rel: l.Rel, Href: l.Href})
		}
	}
	item.Resource = kept
	clearEntry(&item)
	v, err := w.named(e.n)
	return appendItem(nil, &item, v.like), err
}

// RetainDaily calls Retain once a day until ctx ends, in one of the processes that share
// the Store. It calls ran, if that is not nil, after each call that has done something or
// failed; what failed is tried again after an hour. The first call comes ten minutes
// after the start at the earliest: a start is no quiet time.
func (s *Catalog) RetainDaily(ctx context.Context, r Retention, ran func(Retained, error)) {
	for wait := retainStart; sleep(ctx, wait) == nil; {
		var done Retained
		var err error
		done, wait, err = s.retainToday(ctx, r)
		if ran != nil && ctx.Err() == nil && (err != nil || done != Retained{}) {
			ran(done, err)
		}
	}
}

// LastRetain returns when Retain was last done, by any process, and what it removed then.
// The time is zero if it never was.
func (s *Catalog) LastRetain(ctx context.Context) (ran time.Time, done Retained, err error) {
	b, err := s.State(ctx, retentionKey)
	var v retention
	_ = json.Unmarshal(b, &v) // as in noteRetention
	return v.Ran, v.Last, err
}

// retainToday calls Retain unless that was done today, and returns when to look again.
func (s *Catalog) retainToday(ctx context.Context, r Retention) (done Retained, wait time.Duration, err error) {
	ran, _, err := s.LastRetain(ctx)
	if wait = ran.Add(retainEvery).Sub(micro(s.now())); err == nil && wait > 0 && wait <= retainEvery {
		return done, wait, nil
	}
	if err == nil {
		done, err = s.Retain(ctx, r)
	}
	switch {
	case errors.Is(err, ErrHeld):
		return done, retainAgain, nil
	case err != nil:
		return done, retainAgain, err
	}
	return done, retainEvery, nil
}
