package storetest_test

import "context"

// inViews returns a fault of the Readers of Views.
func inViews(alter func(t *tx)) func(d *driver) { return func(d *driver) { d.viewing = alter } }

// inUpdates returns a fault of Txs.
func inUpdates(alter func(t *tx)) func(d *driver) { return func(d *driver) { d.updating = alter } }

func inBoth(alter func(t *tx)) func(d *driver) {
	return func(d *driver) { d.viewing, d.updating = alter, alter }
}

// A put is Set.
type put = func(key, value []byte) error

// puts alters Set.
func (t *tx) puts(alter func(next put) put) { t.set = alter(t.set) }

// visits alters what Scan calls.
func (t *tx) visits(alter func(fn visit) visit) {
	scan := t.scan
	t.scan = func(from, to []byte, n int, fn visit) error { return scan(from, to, n, alter(fn)) }
}

// copies makes Get return what keep makes of a value.
func (t *tx) copies(keep func(key, value []byte) []byte) {
	get := t.get
	t.get = func(key []byte) ([]byte, error) {
		value, err := get(key)
		if value == nil {
			return nil, err
		}
		return keep(key, value), err
	}
}

// each calls before when a Reader or Tx is to do anything but scan. The error of before
// is that of the call.
func (t *tx) each(before func() error) {
	get, prefetch, remove := t.get, t.prefetch, t.delete
	t.get = func(key []byte) ([]byte, error) {
		if err := before(); err != nil {
			return nil, err
		}
		return get(key)
	}
	t.prefetch = func(keys [][]byte) error {
		if err := before(); err != nil {
			return err
		}
		return prefetch(keys)
	}
	t.delete = func(key []byte) error {
		if err := before(); err != nil {
			return err
		}
		return remove(key)
	}
	t.puts(func(next put) put {
		return func(key, value []byte) error {
			if err := before(); err != nil {
				return err
			}
			return next(key, value)
		}
	})
}

// eachAndScans is each for what scans, too.
func (t *tx) eachAndScans(before func() error) {
	t.each(before)
	scan := t.scan
	t.scan = func(from, to []byte, n int, fn visit) error {
		if err := before(); err != nil {
			return err
		}
		return scan(from, to, n, fn)
	}
}

// around alters View and Update.
func around(alter func(run runner) runner) func(d *driver) {
	return func(d *driver) { d.view, d.update = alter(d.soundView), alter(d.soundUpdate) }
}

// afterwards makes Update return what alter makes of its error.
func afterwards(alter func(err error) error) func(d *driver) {
	return func(d *driver) {
		d.update = func(ctx context.Context, fn func(t *tx) error) error {
			return alter(d.soundUpdate(ctx, fn))
		}
	}
}

// remembering calls failed with a Tx whose fn has failed.
func remembering(failed func(d *driver, t *tx)) func(d *driver) {
	return func(d *driver) {
		d.update = func(ctx context.Context, fn func(t *tx) error) error {
			return d.soundUpdate(ctx, func(t *tx) error {
				err := fn(t)
				if err != nil {
					failed(d, t)
				}
				return err
			})
		}
	}
}

// applying alters which writes are applied, and in which order.
func applying(alter func(writes []write) []write) func(d *driver) {
	return func(d *driver) {
		d.apply = func(s state, writes []write) state { return s.with(alter(writes)) }
	}
}

// lagging keeps the state before the last Update of the opening.
func lagging(alter func(t *tx, before state)) func(d *driver) {
	return func(d *driver) {
		var before state
		d.commit = func(t *tx) error {
			before = t.base
			return d.soundCommit(t)
		}
		d.updating = func(t *tx) { alter(t, before) }
	}
}

// finding makes Scan yield what alter makes of what is found.
func finding(alter func(found []entry) []entry) func(t *tx) {
	return func(t *tx) {
		t.scans(func(from, to []byte) []entry { return alter(t.base.between(from, to)) })
	}
}

// within makes Scan yield what is between other bounds.
func within(alter func(from, to []byte) ([]byte, []byte)) func(t *tx) {
	return func(t *tx) {
		t.scans(func(from, to []byte) []entry { return t.base.between(alter(from, to)) })
	}
}
