package harvest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/survive"
)

// Each calls fn with every change of the log that consumer has not processed, oldest
// first, and returns at the end of the log; [WaitLog] waits for more. The Catalog holds
// the consumer's position. If fn fails, Each stops before that change and returns the
// error. If it matches [ErrSuperseded], Each goes on: fn receives the later change, too.
//
// fn receives each change at least once: after a crash it may receive up to 100 again. Of
// what was compacted before, it receives only the latest state of each id. One process at
// a time may use a consumer name; a second one gets [websync.ErrConflict].
func Each(ctx context.Context, c *Catalog, consumer string, fn func(*Delivery) error) error {
	ending, ended := survive.Cancel(ctx, endTime)
	defer ended()
	e := &follower{catalog: c, key: "harvest/each/" + consumer, ending: ending}
	if err := e.load(ctx); err != nil {
		return fmt.Errorf("harvest: consumer %s: %w", consumer, err)
	}
	if err := e.follow(ctx, fn); err != nil {
		return fmt.Errorf("harvest: consumer %s: %w", consumer, err)
	}
	return nil
}

// follower reads the log for one consumer.
type follower struct {
	catalog *Catalog
	key     string
	saved   []byte // the cursor as it stands in the Catalog
	at      cursor
	since   int // changes since then

	ending context.Context // for saving when that of the caller has ended
}

// A cursor is the position of a consumer: after this number of this generation. Its time
// finds the position in a newer generation.
type cursor struct {
	Generation uint64      `json:"generation"`
	Seq        websync.Seq `json:"seq"`
	Time       time.Time   `json:"time"`
}

// saveEvery is the number of changes after which the cursor is saved.
const saveEvery = 100

func (f *follower) load(ctx context.Context) error {
	saved, err := f.catalog.State(ctx, f.key)
	if err != nil || len(saved) == 0 {
		return err
	}
	f.saved = saved
	return json.Unmarshal(saved, &f.at)
}

func (f *follower) save(ctx context.Context) error {
	if f.since == 0 {
		return nil
	}
	now, err := json.Marshal(f.at)
	if err != nil {
		return err
	}
	if err := f.catalog.Swap(ctx, f.key, f.saved, now); err != nil {
		return err
	}
	f.saved, f.since = now, 0
	return nil
}

func (f *follower) follow(ctx context.Context, fn func(*Delivery) error) error {
	for {
		var err error
		if f.at.Generation > 0 {
			err = f.read(ctx, fn)
		}
		if err != nil && err != errDropped {
			return errors.Join(err, f.save(f.ending))
		}
		head, headErr := f.catalog.Head(ctx)
		if headErr != nil || f.at.Generation == head.Generation {
			return errors.Join(err, headErr, f.save(f.ending))
		}
		f.at.Generation, f.at.Seq = head.Generation, 0
		f.since++
	}
}

// errDropped: the cursor's generation is no longer there.
var errDropped = fmt.Errorf("its generation of the log was dropped: %w", websync.ErrNotFound)

// read calls fn with the rest of the cursor's generation. By its time it skips what a
// newer generation repeats.
func (f *follower) read(ctx context.Context, fn func(*Delivery) error) error {
	for item, err := range f.catalog.Changes(ctx, websync.Range{Generation: f.at.Generation, After: f.at.Seq}) {
		if errors.Is(err, websync.ErrNotFound) {
			return errDropped
		}
		if err != nil {
			return err
		}
		if item.Time.After(f.at.Time) {
			r := &item.Resource
			d := &Delivery{ID: r.ID, Title: r.Title, Modified: r.Modified, Deleted: item.Kind == websync.Deleted, Item: item,
				ctx: ctx, catalog: f.catalog}
			if err := fn(d); err != nil && !errors.Is(err, ErrSuperseded) {
				return err
			}
			f.at.Time = item.Time
		}
		f.at.Seq = item.Seq
		if f.since++; f.since >= saveEvery {
			if err := f.save(ctx); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}
