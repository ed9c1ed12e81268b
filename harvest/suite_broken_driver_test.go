package harvest_test

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/suite"
)

// A driver is a sound Store with some of its methods replaced.
type driver struct {
	*memstore.Store
	update func(d *driver, ctx context.Context, fn func(harvest.Tx) error) error
	view   func(d *driver, ctx context.Context, fn func(harvest.Reader) error) error
}

func (d *driver) Update(ctx context.Context, fn func(harvest.Tx) error) error {
	if d.update == nil {
		return d.Store.Update(ctx, fn)
	}
	return d.update(d, ctx, fn)
}

func (d *driver) View(ctx context.Context, fn func(harvest.Reader) error) error {
	if d.view == nil {
		return d.Store.View(ctx, fn)
	}
	return d.view(d, ctx, fn)
}

// A driverTx is a Tx with some of its methods replaced.
type driverTx struct {
	harvest.Tx
	get func(key []byte) ([]byte, error)
	set func(key, value []byte) error
}

func (tx driverTx) Get(key []byte) ([]byte, error) {
	if tx.get == nil {
		return tx.Tx.Get(key)
	}
	return tx.get(key)
}

func (tx driverTx) Set(key, value []byte) error {
	if tx.set == nil {
		return tx.Tx.Set(key, value)
	}
	return tx.set(key, value)
}

// inTx returns an Update whose Tx is changed.
func inTx(change func(d *driver, tx harvest.Tx) harvest.Tx) func(*driver, context.Context, func(harvest.Tx) error) error {
	return func(d *driver, ctx context.Context, fn func(harvest.Tx) error) error {
		return d.Store.Update(ctx, func(tx harvest.Tx) error { return fn(change(d, tx)) })
	}
}

// A tornView reads the latest state in each Get. Its fourth Get waits for an Update that
// is running, so that the first records come from before it and the others from after it.
type tornView struct {
	d    *driver
	ctx  context.Context
	next <-chan struct{} // closed by the next Update
	gets int
}

func (v *tornView) Get(key []byte) (value []byte, err error) {
	if v.gets++; v.gets == 4 {
		select {
		case <-v.next:
		case <-time.After(100 * time.Millisecond): // no Update is under way
		}
	}
	err = v.d.Store.View(v.ctx, func(db harvest.Reader) error {
		value, err = db.Get(key)
		return err
	})
	return value, err
}

func (v *tornView) Scan(from, to []byte, n int, fn func(key, value []byte) bool) error {
	return v.d.Store.View(v.ctx, func(db harvest.Reader) error { return db.Scan(from, to, n, fn) })
}

// tornDriver returns a driver whose Views are not one state.
func tornDriver() driver {
	var mu sync.Mutex
	next := make(chan struct{})
	return driver{
		view: func(d *driver, ctx context.Context, fn func(harvest.Reader) error) error {
			mu.Lock()
			v := &tornView{d: d, ctx: ctx, next: next}
			mu.Unlock()
			return fn(v)
		},
		update: func(d *driver, ctx context.Context, fn func(harvest.Tx) error) error {
			err := d.Store.Update(ctx, fn)
			if err == nil {
				mu.Lock()
				close(next)
				next = make(chan struct{})
				mu.Unlock()
			}
			return err
		},
	}
}

// brokenDrivers are drivers with one fault each.
func brokenDrivers() (all []suite.Broken[suiteOptions]) {
	var lost atomic.Int64
	for _, b := range []struct {
		name, caught string
		driver       driver
	}{
		{name: "a View is not one state", caught: "race/lookup", driver: tornDriver()},
		{name: "a Get in a Tx does not see its writes", caught: "tasks/done-before-tasks", driver: driver{
			update: inTx(func(d *driver, tx harvest.Tx) harvest.Tx {
				return driverTx{Tx: tx, get: func(key []byte) (value []byte, err error) {
					d.Store.View(context.Background(), func(r harvest.Reader) error {
						value, err = r.Get(key)
						return err
					})
					return value, err
				}}
			})}},
		{name: "Sets of keys that end with their kind are lost", caught: "state/keys", driver: driver{
			update: inTx(func(_ *driver, tx harvest.Tx) harvest.Tx {
				return driverTx{Tx: tx, set: func(key, value []byte) error {
					if string(key) == "S" {
						return nil
					}
					return tx.Set(key, value)
				}}
			})}},
		{name: "every fiftieth Set is lost", caught: "commit/large", driver: driver{
			update: inTx(func(_ *driver, tx harvest.Tx) harvest.Tx {
				return driverTx{Tx: tx, set: func(key, value []byte) error {
					if lost.Add(1)%50 == 0 {
						return nil
					}
					return tx.Set(key, value)
				}}
			})}},
		{name: "keys lose zeros at their end", caught: "state/keys", driver: driver{
			update: inTx(func(_ *driver, tx harvest.Tx) harvest.Tx {
				return driverTx{Tx: tx, set: func(key, value []byte) error { return tx.Set(bytes.TrimRight(key, "\x00"), value) }}
			})}},
		{name: "an Update that failed is applied", caught: "commit/half-way-body", driver: driver{
			update: func(d *driver, ctx context.Context, fn func(harvest.Tx) error) (err error) {
				d.Store.Update(ctx, func(tx harvest.Tx) error {
					err = fn(tx)
					return nil
				})
				return err
			}}},
	} {
		all = append(all, suite.Broken[suiteOptions]{Name: "driver: " + b.name, Caught: b.caught, Options: func() suiteOptions {
			return suiteOptions{
				Open: func(testing.TB) checkedCatalog {
					d := b.driver
					d.Store = memstore.New()
					return harvest.NewCatalog(&d)
				},
				Patience: 5 * time.Second,
			}
		}})
	}
	return all
}
