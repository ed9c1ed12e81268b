package harvest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/websync-go/websync"
)

// Each hands every change of the log that consumer has not seen to fn, oldest first, and
// returns when it has come to the end. The consumer's cursor is kept in the Store, so the
// next Each goes on there. When fn fails, Each stops before that change and returns the
// error.
//
// A change is handed over at least once: after a crash the last few, up to 100, may come
// again. Of changes that were compacted away before the consumer came to them it sees the
// latest state of each id. Of a change that a later one has replaced the bodies may be
// gone: store.Open is then websync.ErrNotFound, and the later change is still to come.
// One process at a time may serve a consumer; a second one gets websync.ErrConflict.
//
// WaitLog waits for more changes.
func Each(ctx context.Context, store Store, consumer string, fn func(websync.Item) error) error {
	e := &follower{store: store, key: "harvest/each/" + consumer}
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
	store Store
	key   string
	saved []byte // the cursor as it stands in the Store
	at    cursor
	since int // changes since then
}

// A cursor is where a consumer is: behind this number of this generation. The time leads
// into a newer generation.
type cursor struct {
	Generation uint64      `json:"generation"`
	Seq        websync.Seq `json:"seq"`
	Time       time.Time   `json:"time"`
}

// saveEvery is how many changes may pass until the cursor is saved.
const saveEvery = 100

func (f *follower) load(ctx context.Context) error {
	saved, err := f.store.State(ctx, f.key)
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
	if err := f.store.Swap(ctx, f.key, f.saved, now); err != nil {
		return err
	}
	f.saved, f.since = now, 0
	return nil
}

func (f *follower) follow(ctx context.Context, fn func(websync.Item) error) error {
	for {
		var err error
		if f.at.Generation > 0 {
			err = f.read(ctx, fn)
		}
		if err != nil && err != errDropped {
			return errors.Join(err, f.save(context.WithoutCancel(ctx)))
		}
		head, headErr := f.store.Head(ctx)
		if headErr != nil || f.at.Generation == head.Generation {
			return errors.Join(err, headErr, f.save(context.WithoutCancel(ctx)))
		}
		f.at.Generation, f.at.Seq = head.Generation, 0
		f.since++
	}
}

// errDropped: the cursor's generation is no longer there.
var errDropped = fmt.Errorf("its generation of the log was dropped: %w", websync.ErrNotFound)

// read hands over the rest of the cursor's generation. What a newer generation repeats is
// passed over by its time.
func (f *follower) read(ctx context.Context, fn func(websync.Item) error) error {
	for item, err := range f.store.Changes(ctx, websync.Range{Generation: f.at.Generation, After: f.at.Seq}) {
		if errors.Is(err, websync.ErrNotFound) {
			return errDropped
		}
		if err != nil {
			return err
		}
		if item.Time.After(f.at.Time) {
			if err := fn(item); err != nil {
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
