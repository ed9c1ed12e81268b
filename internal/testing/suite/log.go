package suite

import (
	"time"

	"github.com/websync-go/websync"
)

// CheckLog checks that log, the whole of the newest generation, has dense numbers and
// strictly increasing times in whole microseconds UTC, and that the Head matches it.
func (t *Tester) CheckLog(h websync.Head, log []websync.Item) {
	t.Helper()
	for i, it := range log {
		if want := websync.Seq(i + 1); it.Seq != want {
			t.Fatalf("entry %d of the log has the number %d", want, it.Seq)
		}
		if at := it.Time; at.IsZero() || at.Location() != time.UTC || !at.Equal(at.Truncate(time.Microsecond)) {
			t.Errorf("entry %d has the commit time %v: want whole microseconds in UTC", it.Seq, at)
		}
		if i > 0 && !it.Time.After(log[i-1].Time) {
			t.Fatalf("the time of entry %d, %v, is not after that of the one before, %v", it.Seq, it.Time, log[i-1].Time)
		}
	}
	if h.Generation == 0 {
		t.Fatal("Head.Generation is 0, which means the newest")
	}
	want := websync.Head{Generation: h.Generation, Baseline: min(h.Baseline, websync.Seq(len(log))), Born: h.Born, Live: h.Live}
	if n := len(log); n > 0 {
		want.First, want.FirstTime = 1, log[0].Time
		want.Last, want.LastTime = websync.Seq(n), log[n-1].Time
	}
	t.Same(want, h, "Head")
}

// NoGeneration checks that the Changes of a generation yield nothing but ErrNotFound.
func (t *Tester) NoGeneration(c websync.Catalog, g uint64, what string) {
	t.Helper()
	var err error
	for it, e := range c.Changes(t.Ctx, websync.Range{Generation: g}) {
		if e == nil {
			t.Fatalf("Changes of %s yields entry %d", what, it.Seq)
		}
		err = e
	}
	t.Is(err, websync.ErrNotFound, "Changes of %s", what)
}

// UnknownBodies checks that Open returns ErrNotFound for bodies that are not there. known
// is the sum of one that is.
func (t *Tester) UnknownBodies(c websync.Catalog, known string) {
	t.Helper()
	for _, key := range []websync.Digest{
		{},
		websync.SHA256([]byte("a body that is not there")),
		{Algorithm: "sha-512", Sum: known},
		{Algorithm: "sha-256", Sum: "short"},
		{Algorithm: "sha-256", Sum: "../../../../../../../etc/passwd"},
		{Algorithm: "../../x", Sum: "\x00/"},
	} {
		_, err := c.Open(t.Ctx, websync.Body{Name: "content", Key: key})
		t.Is(err, websync.ErrNotFound, "Open %q", key)
	}
}
