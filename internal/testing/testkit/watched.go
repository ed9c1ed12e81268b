package testkit

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/websync-go/websync/harvest"
)

// An Act is what an Update does for a Catalog.
type Act string

// The acts that tests look for. All others are "".
const (
	Commit Act = "commit"
	Claim  Act = "claim" // also of renewing and releasing
	Swap   Act = "swap"
)

// A Watched is a Store that calls functions of a test. It has none of the optional
// interfaces of the Store below.
type Watched struct {
	harvest.Store
	// Before, if set, is called before an Update, when its function has succeeded once
	// without an effect. It may use the Store. Its error is that of the Update.
	Before func(context.Context, Act) error
	// After, if set, is called after an Update that was applied. Its error is that of the
	// Update.
	After func(context.Context, Act) error
	// Viewing, if set, is called before a View. Its error is that of the View.
	Viewing func(context.Context) error
}

var errOnce = errors.New("the function has run once")

// Update implements [harvest.Store].
func (w *Watched) Update(ctx context.Context, fn func(harvest.Tx) error) error {
	var tx noting
	run := func(below harvest.Tx) error {
		tx = noting{Tx: below}
		return fn(&tx)
	}
	if w.Before != nil {
		err := w.Store.Update(ctx, func(below harvest.Tx) error {
			if err := run(below); err != nil {
				return err
			}
			return errOnce
		})
		if err == errOnce {
			err = w.Before(ctx, tx.act())
		}
		if err != nil {
			return err
		}
	}
	err := w.Store.Update(ctx, run)
	if err == nil && w.After != nil {
		err = w.After(ctx, tx.act())
	}
	return err
}

// View implements [harvest.Store].
func (w *Watched) View(ctx context.Context, fn func(harvest.Reader) error) error {
	if w.Viewing != nil {
		if err := w.Viewing(ctx); err != nil {
			return err
		}
	}
	return w.Store.View(ctx, fn)
}

// A noting is a Tx that notes what it writes.
type noting struct {
	harvest.Tx
	claim, state, others bool
}

func (t *noting) note(key []byte) {
	switch key[0] {
	case 'c':
		t.claim = true
	case 'S':
		t.state = true
	default:
		t.others = true
	}
}

func (t *noting) Set(key, value []byte) error {
	t.note(key)
	return t.Tx.Set(key, value)
}

func (t *noting) Delete(key []byte) error {
	t.note(key)
	return t.Tx.Delete(key)
}

func (t *noting) act() Act {
	switch {
	case t.claim && (t.state || t.others):
		return Commit
	case t.claim:
		return Claim
	case t.state && !t.others:
		return Swap
	}
	return ""
}

// ErrCut is the error of [CutAfter].
var ErrCut = errors.New("power cut")

// CutAfter returns a Store on another one whose Commits fail after so many, as one whose
// claim another process has taken. If applied is set, the first that fails was applied.
func CutAfter(store harvest.Store, commits int, applied bool) *Watched {
	var left atomic.Int64
	left.Store(int64(commits))
	w := &Watched{Store: store}
	cut := func(_ context.Context, act Act) error {
		if act == Commit && left.Add(-1) < 0 {
			return errors.Join(ErrCut, harvest.ErrFenced)
		}
		return nil
	}
	w.Before = cut
	if applied {
		w.Before, w.After = func(_ context.Context, act Act) error {
			if act == Commit && left.Load() < 0 {
				return errors.Join(ErrCut, harvest.ErrFenced)
			}
			return nil
		}, cut
	}
	return w
}
