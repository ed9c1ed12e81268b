package harvest_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/websync-go/websync/harvest"
)

// A server is a sortedMap that several programs open. Its fields are of all openings.
type server struct {
	*sortedMap
	open    map[string]bool
	changed map[string]func()
}

// An opening is one of them. It has all that a Store may have besides Blobs.
type opening struct {
	server
	name string
}

var _ interface {
	harvest.Store
	harvest.Watcher
	harvest.Owners
	harvest.Rester
	harvest.Shrinker
} = opening{}

// Update notifies the other openings of a change of the log.
func (o opening) Update(ctx context.Context, fn func(harvest.Tx) error) error {
	var logged bool
	err := o.sortedMap.Update(ctx, func(t harvest.Tx) error { return fn(&noticingTx{t, &logged}) })
	for name, changed := range o.changed {
		if err == nil && logged && name != o.name {
			changed()
		}
	}
	return err
}

func (o opening) Watch(changed func())         { o.changed[o.name] = changed }
func (o opening) Owner() string                { return o.name }
func (o opening) Dead(owner string) bool       { return !o.open[owner] }
func (o opening) Rest(context.Context) error   { return nil } // a time to move a write-ahead log
func (o opening) Shrink(context.Context) error { return nil } // a time to give back free pages

// A noticingTx notices changes of the log.
type noticingTx struct {
	harvest.Tx
	logged *bool
}

var _ harvest.Prefetcher = (*noticingTx)(nil)

func (t *noticingTx) Set(key, value []byte) error {
	*t.logged = *t.logged || key[0] == harvest.LogKey
	return t.Tx.Set(key, value)
}

func (t *noticingTx) Prefetch([][]byte) error { return nil } // one round trip for all keys
func (t *noticingTx) Absent([]byte)           {}

// A Store has further interfaces for what only it can know: that another process has
// changed the log, or has died with a claim.
func Example_driver() {
	ctx := context.Background()
	all := server{newSortedMap(), map[string]bool{"a": true, "b": true}, map[string]func(){}}
	a, b := harvest.NewCatalog(opening{all, "a"}), harvest.NewCatalog(opening{all, "b"})

	changed := b.LogChanged()
	if _, err := (&harvest.Harvester{Catalog: a}).Run(ctx, acts); err != nil {
		fmt.Println(err)
	}
	<-changed
	fmt.Println("b knows of the run of a")

	_, _, err := a.Hold(ctx, "example/backup", time.Hour)
	fmt.Println("a holds it:", err)
	_, _, err = b.Hold(ctx, "example/backup", time.Hour)
	fmt.Println("b has to wait:", errors.Is(err, harvest.ErrHeld))
	delete(all.open, "a") // the process dies
	_, _, err = b.Hold(ctx, "example/backup", time.Hour)
	fmt.Println("b holds it:", err)
	// Output:
	// b knows of the run of a
	// a holds it: <nil>
	// b has to wait: true
	// b holds it: <nil>
}
