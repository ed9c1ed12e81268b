package harvest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/racing"
)

// A history is a Catalog with a clock of its own, and what was committed to it.
type history struct {
	*harvest.Catalog
	t       *testing.T
	db      harvest.Store
	now     time.Time
	entries []websync.Item // of the log, as it should be
}

func newHistory(t *testing.T) *history {
	h := &history{t: t, db: memstore.New(), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	h.Catalog = harvest.OnePage(h.at(h.db))
	return h
}

// at returns a Catalog on a Store, with the clock of h.
func (h *history) at(db harvest.Store) *harvest.Catalog {
	c := harvest.NewCatalog(db)
	c.Now = func() time.Time { return h.now }
	return c
}

// change commits a change of an id, or a touch of it.
func (h *history) change(id string, kind websync.ChangeKind, touch bool) {
	h.now = h.now.Add(time.Millisecond)
	rec, err := h.Lookup(ctx, "a", []string{id})
	require.NoError(h.t, err)
	if touch && !rec[0].Live() {
		return
	}
	b := harvest.NewBatch("a")
	next := changeTo(id, rec[0].Seq, kind)
	r := &next.Record.Resource
	r.Title = fmt.Sprint("title ", h.now.UnixMilli())
	r.Content = websync.Link{Href: "https://x.example/" + id, Title: "content"}
	r.Links = []websync.Link{{Rel: "via", Href: "https://first.example/" + id, Title: "via"}, {Rel: "alternate", Href: "https://x.example/alt"}}
	if touch {
		b.Touches = []harvest.Change{next}
	} else {
		b.Puts = []harvest.Change{next}
	}
	c := claim(h.t, h.Catalog)
	commit(h.t, h.Catalog, c, b)
	require.NoError(h.t, h.Release(ctx, c))
	if held, err := h.Lookup(ctx, "a", []string{id}); !touch && assert.NoError(h.t, err) {
		h.entries = append(h.entries, held[0].Item)
	}
}

// keep drops what the log does not keep: what was superseded before a time. Of ids that
// changed meanwhile it may keep more.
func (h *history) keep(since time.Time, changed map[string]bool) {
	there, next := map[time.Time]bool{}, map[string]time.Time{}
	for item, err := range h.Changes(ctx, websync.Range{}) {
		require.NoError(h.t, err)
		there[item.Time] = true
	}
	for i, item := range slices.Backward(h.entries) {
		id := item.Resource.ID
		superseded, is := next[id]
		if keep := !is || !superseded.Before(since); keep || !changed[id] {
			require.Equal(h.t, keep, there[item.Time], "the entry of %s at %v, superseded at %v", id, item.Time, superseded)
		}
		next[id] = item.Time
		if !there[item.Time] {
			h.entries = slices.Delete(h.entries, i, i+1)
		}
	}
}

// compare compares the log with what it should be. Descriptions in tombstones are there
// since a time.
func (h *history) compare(since time.Time) {
	var want, got []string
	latest := map[string]websync.Seq{}
	for i, item := range h.entries {
		id := item.Resource.ID
		want = append(want, fmt.Sprint(i+1, latest[id], item.Time, id, item.Kind))
		latest[id] = websync.Seq(i + 1)
	}
	records := map[string]websync.Item{}
	for rec, err := range h.Records(ctx, "a", "") {
		require.NoError(h.t, err)
		id := rec.Resource.ID
		records[id] = rec.Item
		assert.Equal(h.t, latest[id], rec.Seq, "the record of %s", id)
	}
	for item, err := range h.Changes(ctx, websync.Range{}) {
		require.NoError(h.t, err)
		r := item.Resource
		got = append(got, fmt.Sprint(item.Seq, item.Prior, item.Time, r.ID, item.Kind))
		if rec := records[r.ID]; rec.Seq != item.Seq {
			continue
		} else if assert.Equal(h.t, item.Prior, rec.Prior, "Prior of entry %d and of its record", item.Seq); item.Kind == websync.Deleted {
			assert.Equal(h.t, item.Resource, rec.Resource)
		}
		bare := websync.Resource{ID: r.ID, Content: websync.Link{Href: "https://x.example/" + r.ID},
			Links: []websync.Link{{Rel: "via", Href: "https://first.example/" + r.ID}}}
		if item.Kind == websync.Deleted && item.Time.Before(since) {
			assert.Equal(h.t, bare, r)
		} else {
			assert.NotEmpty(h.t, r.Title)
		}
	}
	require.Equal(h.t, want, got)
}

// The log keeps exactly what a Retention says, whatever is committed between its steps,
// and wherever it ends.
func TestRetainLog(t *testing.T) {
	const keep = 20 * 24 * time.Hour
	stop := errors.New("stop")
	for seed := range uint64(racing.Some(20)) {
		r := rand.New(rand.NewPCG(seed, 1))
		h := newHistory(t)
		something := func() (id string) {
			kind := websync.Updated
			if r.IntN(4) == 0 {
				kind = websync.Deleted
			}
			id = fmt.Sprint(r.IntN(400))
			h.change(id, kind, r.IntN(5) == 0)
			return id
		}
		generations, beside, stopped := 0, 0, 0
		for range 30 {
			for range r.IntN(200) {
				something()
			}
			h.now = h.now.Add(time.Duration(r.IntN(int(8 * 24 * time.Hour))))
			changed := map[string]bool{}
			since, end := h.now.Add(-keep), r.IntN(30)
			hook := &hookDB{Store: h.db, before: func(n int) error {
				if r.IntN(3) == 0 {
					beside++
					changed[something()] = true
				}
				if n == end {
					stopped++
					return stop
				}
				return nil
			}}
			before, err := h.Head(ctx)
			require.NoError(t, err)
			_, err = harvest.OnePage(h.at(hook)).Retain(ctx, harvest.Retention{Log: keep})
			if !errors.Is(err, stop) {
				require.NoError(t, err)
				inspect(t, h.db)
			}
			if after, err := h.Head(ctx); assert.NoError(t, err) && after.Generation > before.Generation {
				generations++
				h.keep(since, changed)
				h.compare(since)
			}
		}
		require.Greater(t, generations, 2)
		require.Greater(t, beside, 20)
		require.Greater(t, stopped, 2)
	}
}

// atOnce keeps nothing that is not current.
var atOnce = harvest.Retention{Log: 1, Bodies: 1, Readers: 1}

// A new generation of the log waits for runs, but not for ever, and ends no other claims.
func TestRetainWaits(t *testing.T) {
	for _, c := range []struct {
		claim       string
		ends, waits time.Duration
	}{
		{"source/a", 5 * time.Minute, 5 * time.Minute},
		{"source/a", time.Hour, quietTime},
		{"work/1/a", time.Hour, quietTime},
		{"host/a", time.Hour, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := harvest.NewCatalog(memstore.New())
			worn(t, s, 300)
			run, err := s.Claim(ctx, c.claim, time.Hour)
			require.NoError(t, err)
			ending := time.AfterFunc(c.ends, func() { assert.NoError(t, s.Release(ctx, run)) })
			defer ending.Stop()
			time.Sleep(time.Second)
			began := time.Now()
			done, err := s.Retain(ctx, atOnce)
			require.NoError(t, err)
			assert.Equal(t, harvest.Retained{Entries: 100}, done)
			assert.InDelta(t, c.waits.Seconds(), time.Since(began).Seconds(), 3)
			if err := s.Renew(ctx, run); c.waits < c.ends && c.waits > 0 {
				assert.ErrorIs(t, err, harvest.ErrFenced)
			} else if c.waits == 0 {
				assert.NoError(t, err)
			}
			head, err := s.Head(ctx)
			require.NoError(t, err)
			assert.Equal(t, websync.Seq(300), head.Last)
			assert.Equal(t, 300, harvest.Keys(ctx, harvest.StoreOf(s), 'l'), "the older generation is gone")
		})
	}
}

const quietTime = 10 * time.Minute

// Retain does what is due, and no more.
func TestRetainIsWorthIt(t *testing.T) {
	const days = 24 * time.Hour
	for _, c := range []struct {
		name       string
		superseded int // of 100 entries
		after      time.Duration
		retention  harvest.Retention
		want       int64
	}{
		{"too young", 40, 45*days - time.Minute, harvest.Retention{}, 0},
		{"a quarter of the log", 25, 45*days + time.Minute, harvest.Retention{}, 25},
		{"less than a quarter", 24, 90*days - time.Minute, harvest.Retention{}, 0},
		{"at last", 1, 90*days + time.Minute, harvest.Retention{}, 1},
		{"for ever", 40, 900 * days, harvest.Retention{Log: -1}, 0},
		{"a week", 40, 7*days + time.Minute, harvest.Retention{Log: 7 * days}, 40},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHistory(t)
			for i := range 100 {
				h.change(fmt.Sprint(i%(100-c.superseded)), websync.Updated, false)
			}
			h.now = h.now.Add(c.after)
			done, err := h.Retain(ctx, c.retention)
			require.NoError(t, err)
			assert.Equal(t, c.want, done.Entries)
			left := func() int { return harvest.Keys(ctx, h.db, 'l') }
			if c.want == 0 {
				assert.Equal(t, 100, left())
				return
			}
			h.now = h.now.Add(24*time.Hour - time.Second)
			_, err = h.Retain(ctx, harvest.Retention{})
			require.NoError(t, err)
			assert.Equal(t, 200-c.superseded, left(), "readers have a day")
			h.now = h.now.Add(time.Second)
			_, err = h.Retain(ctx, harvest.Retention{Readers: -1})
			require.NoError(t, err)
			assert.Equal(t, 200-c.superseded, left(), "readers have for ever")
			_, err = h.Retain(ctx, harvest.Retention{})
			require.NoError(t, err)
			assert.Equal(t, 100-c.superseded, left())
			inspect(t, h.db)
		})
	}
}

// Bodies stay for a week, and a call has the Store to itself.
func TestRetainBodies(t *testing.T) {
	h := newHistory(t)
	c := claim(t, h.Catalog)
	b := harvest.NewBatch("a")
	for _, text := range []string{"old", "new"} {
		w, key := write(t, h.Catalog, []byte(text))
		b.Bodies = []harvest.BodyWriter{w}
		b.Puts = []harvest.Change{withBodies(changeTo("1", websync.Seq(len(b.Puts)), websync.Created), key)}
		commit(t, h.Catalog, c, b)
		b.ID[0]++
	}
	for _, step := range []struct {
		after     time.Duration
		retention harvest.Retention
		removed   int
	}{
		{7*24*time.Hour - time.Second, harvest.Retention{}, 0}, {2 * time.Second, harvest.Retention{Bodies: -1}, 0},
		{0, harvest.Retention{}, 1}, {time.Hour, harvest.Retention{}, 0},
	} {
		h.now = h.now.Add(step.after)
		done, err := h.Retain(ctx, step.retention)
		require.NoError(t, err)
		assert.Equal(t, harvest.Retained{Bodies: step.removed}, done)
	}
	_, release, err := h.Hold(ctx, "retention", time.Hour)
	require.NoError(t, err)
	_, err = h.Retain(ctx, harvest.Retention{})
	require.ErrorIs(t, err, harvest.ErrHeld)
	release()
	shrunk := &shrinker{Store: h.db}
	_, err = h.at(shrunk).Retain(ctx, harvest.Retention{})
	require.ErrorIs(t, err, errShrink)
}

type shrinker struct{ harvest.Store }

var errShrink = errors.New("shrink")

func (shrinker) Shrink(context.Context) error { return errShrink }

// RetainDaily works once a day, whoever does it, and after a failure in the next hour.
func TestRetainDaily(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var mu sync.Mutex // guards began, broken, fails and removed
		var began []time.Duration
		start, broken := time.Now(), 3
		db := &hookDB{Store: memstore.New()}
		s := harvest.NewCatalog(db)
		db.inside = func(key []byte) {
			if mu.Lock(); string(key) == "cretention" {
				began = append(began, time.Since(start).Round(time.Minute))
			}
			mu.Unlock()
		}
		db.before = func(int) error {
			mu.Lock()
			defer mu.Unlock()
			if d := time.Since(start); broken > 0 && d > 30*time.Hour {
				broken--
				return io.ErrUnexpectedEOF
			}
			return nil
		}
		worn(t, s, 300)
		fails, removed := 0, int64(0)
		ran := func(done harvest.Retained, err error) {
			mu.Lock()
			defer mu.Unlock()
			removed += done.Entries
			if err != nil {
				assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
				fails++
			}
		}
		ended := make(chan bool)
		for range 2 {
			go func() {
				s.RetainDaily(ctx, harvest.Retention{Log: time.Hour}, ran)
				ended <- true
			}()
			time.Sleep(time.Second)
		}
		time.Sleep(99 * time.Hour)
		cancel()
		<-ended
		<-ended
		assert.Equal(t, 3, fails)
		assert.Equal(t, int64(100), removed)
		hours := []time.Duration{0, 24, 49, 73, 97}
		for i := range hours {
			hours[i] = hours[i]*time.Hour + 10*time.Minute
		}
		assert.Equal(t, hours, slices.Compact(began))
	})
}

// A repeating Store runs each Update twice, and something else is committed in between.
type repeating struct {
	harvest.Store
	between func()
}

func (s *repeating) Update(ctx context.Context, fn func(harvest.Tx) error) error {
	repeat := errors.New("repeat")
	err := s.Store.Update(ctx, func(tx harvest.Tx) error { return errors.Join(fn(tx), repeat) })
	if !errors.Is(err, repeat) {
		return err
	}
	s.between()
	return s.Store.Update(ctx, fn)
}

// An Update that a Store runs again leaves nothing of its first run in the new numbers.
func TestCompactRepeated(t *testing.T) {
	h := newHistory(t)
	for i := range 600 {
		h.change(fmt.Sprint(i%300), websync.Updated, false)
	}
	n := 0
	between := func() {
		for range 20 {
			n++
			h.change(fmt.Sprint(n*7%300), websync.Updated, false)
		}
	}
	_, err := harvest.OnePage(h.at(&repeating{h.db, between})).Compact(ctx)
	require.NoError(t, err)
	inspect(t, h.db)
}
