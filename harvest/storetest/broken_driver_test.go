package storetest_test

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/kvstore"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/storetest"
	"github.com/websync-go/websync/internal/suite"
)

// A driver is a sound DB with some of its methods replaced.
type driver struct {
	*memstore.DB
	update func(d *driver, ctx context.Context, fn func(kvstore.Tx) error) error
	view   func(d *driver, ctx context.Context, fn func(kvstore.Reader) error) error
}

func (d *driver) Update(ctx context.Context, fn func(kvstore.Tx) error) error {
	if d.update == nil {
		return d.DB.Update(ctx, fn)
	}
	return d.update(d, ctx, fn)
}

func (d *driver) View(ctx context.Context, fn func(kvstore.Reader) error) error {
	if d.view == nil {
		return d.DB.View(ctx, fn)
	}
	return d.view(d, ctx, fn)
}

// A driverTx is a Tx with some of its methods replaced.
type driverTx struct {
	kvstore.Tx
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
func inTx(change func(d *driver, tx kvstore.Tx) kvstore.Tx) func(*driver, context.Context, func(kvstore.Tx) error) error {
	return func(d *driver, ctx context.Context, fn func(kvstore.Tx) error) error {
		return d.DB.Update(ctx, func(tx kvstore.Tx) error { return fn(change(d, tx)) })
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
	err = v.d.DB.View(v.ctx, func(db kvstore.Reader) error {
		value, err = db.Get(key)
		return err
	})
	return value, err
}

func (v *tornView) Scan(from, to []byte, fn func(key, value []byte) bool) error {
	return v.d.DB.View(v.ctx, func(db kvstore.Reader) error { return db.Scan(from, to, fn) })
}

// tornDriver returns a driver whose Views are not one state.
func tornDriver() driver {
	var mu sync.Mutex
	next := make(chan struct{})
	return driver{
		view: func(d *driver, ctx context.Context, fn func(kvstore.Reader) error) error {
			mu.Lock()
			v := &tornView{d: d, ctx: ctx, next: next}
			mu.Unlock()
			return fn(v)
		},
		update: func(d *driver, ctx context.Context, fn func(kvstore.Tx) error) error {
			err := d.DB.Update(ctx, fn)
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

// brokenDrivers are drivers of package kvstore with one fault each.
func brokenDrivers() (all []suite.Broken[storetest.Options]) {
	var lost atomic.Int64
	for _, b := range []struct {
		name, caught string
		driver       driver
	}{
		{name: "a View is not one state", caught: "race/lookup", driver: tornDriver()},
		{name: "a Get in a Tx does not see its writes", caught: "tasks/done-before-tasks", driver: driver{
			update: inTx(func(d *driver, tx kvstore.Tx) kvstore.Tx {
				return driverTx{Tx: tx, get: func(key []byte) (value []byte, err error) {
					d.DB.View(context.Background(), func(r kvstore.Reader) error {
						value, err = r.Get(key)
						return err
					})
					return value, err
				}}
			})}},
		{name: "Sets of keys that end with their kind are lost", caught: "state/keys", driver: driver{
			update: inTx(func(_ *driver, tx kvstore.Tx) kvstore.Tx {
				return driverTx{Tx: tx, set: func(key, value []byte) error {
					if string(key) == "S" {
						return nil
					}
					return tx.Set(key, value)
				}}
			})}},
		{name: "every fiftieth Set is lost", caught: "commit/large", driver: driver{
			update: inTx(func(_ *driver, tx kvstore.Tx) kvstore.Tx {
				return driverTx{Tx: tx, set: func(key, value []byte) error {
					if lost.Add(1)%50 == 0 {
						return nil
					}
					return tx.Set(key, value)
				}}
			})}},
		{name: "keys lose zeros at their end", caught: "state/keys", driver: driver{
			update: inTx(func(_ *driver, tx kvstore.Tx) kvstore.Tx {
				return driverTx{Tx: tx, set: func(key, value []byte) error { return tx.Set(bytes.TrimRight(key, "\x00"), value) }}
			})}},
		{name: "an Update that failed is applied", caught: "commit/half-way-body", driver: driver{
			update: func(d *driver, ctx context.Context, fn func(kvstore.Tx) error) (err error) {
				d.DB.Update(ctx, func(tx kvstore.Tx) error {
					err = fn(tx)
					return nil
				})
				return err
			}}},
	} {
		all = append(all, suite.Broken[storetest.Options]{Name: "driver: " + b.name, Caught: b.caught, Options: func() storetest.Options {
			return storetest.Options{
				Open: func(testing.TB) harvest.Store {
					d := b.driver
					d.DB = memstore.NewDB()
					return kvstore.New(&d)
				},
				Patience: 5 * time.Second,
			}
		}})
	}
	return all
}
