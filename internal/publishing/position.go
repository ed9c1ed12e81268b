package publishing

import (
	"context"
	"fmt"
	"sort"
	"time"

	"github.com/websync-go/websync"
)

// A Position is a moment of the log: after the entry Seq of a generation, committed at
// Time. It stays usable when the generation is replaced, because commits keep their
// times. The zero Position is before the first entry.
type Position struct {
	Generation uint64
	Seq        websync.Seq
	Time       time.Time
}

// String returns the position as text.
func (p Position) String() string {
	return fmt.Sprintf("%d %d %d", p.Generation, p.Seq, p.Time.UnixMicro())
}

// ParsePosition is the inverse of String.
func ParsePosition(text string) (p Position, err error) {
	var micro int64
	if _, err = fmt.Sscanf(text, "%d %d %d", &p.Generation, &p.Seq, &micro); err == nil {
		p.Time = time.UnixMicro(micro).UTC()
		if p.String() != text {
			err = fmt.Errorf("not the text of a position: %.100q", text)
		}
	}
	return p, err
}

// End returns the position after the last entry of the log.
func (c *Chain) End(ctx context.Context) (Position, error) {
	head, err := c.head(ctx)
	return end(head), err
}

// end returns the position after the last entry of a log.
func end(head websync.Head) Position {
	return Position{head.Generation, head.Last, head.LastTime}
}

// Since returns the document of the first entries after a position, at most as many as
// most, and the position at its end. The document is closed: it never changes. It is
// empty if nothing has been committed since.
func (c *Chain) Since(ctx context.Context, p Position, most websync.Seq) (Segment, Position, error) {
	head, err := c.head(ctx)
	if err != nil {
		return Segment{}, p, err
	}
	after, err := c.find(ctx, head, p)
	if err != nil {
		return Segment{}, p, c.Site.CatalogError(err)
	}
	last := min(head.Last, after+most)
	d := Segment{Generation: head.Generation, After: after, Last: last, Time: head.LastTime, Closed: true, chain: c}
	if d.Last < head.Last {
		if d.Time, err = c.commitTime(ctx, d.Generation, d.Last); err != nil {
			return Segment{}, p, c.Site.CatalogError(err)
		}
	}
	return d, Position{d.Generation, d.Last, d.Time}, nil
}

// find returns the number of the last entry up to a position.
func (c *Chain) find(ctx context.Context, head websync.Head, p Position) (websync.Seq, error) {
	switch {
	case p.Seq == 0, head.Last == 0:
		return 0, nil
	case p.Generation == head.Generation && p.Seq <= head.Last:
		if t, err := c.commitTime(ctx, p.Generation, p.Seq); err != nil || t.Equal(p.Time) {
			return p.Seq, err
		}
	}
	// another log, or a new generation of it
	return c.search(ctx, head.Generation, head.Last, func(t time.Time) bool { return t.After(p.Time) })
}

// search returns how many of the first n entries of a generation come before the first
// whose time is past. Times never go back.
func (c *Chain) search(ctx context.Context, generation uint64, n websync.Seq, past func(time.Time) bool) (websync.Seq, error) {
	var failed error
	before := sort.Search(int(n), func(i int) bool {
		if failed != nil {
			return true
		}
		var t time.Time
		t, failed = c.commitTime(ctx, generation, websync.Seq(i+1))
		return failed != nil || past(t)
	})
	return websync.Seq(before), failed
}
