package harvest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync/atomic"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
)

// advice returns what the operator of a program should do about the error of a run.
func advice(err error) string {
	if held, ok := errors.AsType[*harvest.HeldError](err); ok {
		return "another process has " + held.Name + ", try again later"
	}
	if bug, ok := errors.AsType[*websync.PanicError](err); ok {
		return fmt.Sprintf("report a bug of the Source: %v", bug.Value) // and bug.Stack
	}
	if failed, ok := errors.AsType[*harvest.StoreError](err); ok {
		return "look after the Store: " + failed.Err.Error()
	}
	switch {
	case errors.Is(err, harvest.ErrFenced):
		return "another process took over while this one was suspended"
	case errors.Is(err, harvest.ErrNewer):
		return "use the newer version that wrote the Store"
	case errors.Is(err, harvest.ErrUnfinished):
		return "complete the import into the Store"
	case errors.Is(err, harvest.ErrCorrupt):
		return "restore the Store from a backup"
	case err != nil:
		return "look at the source: " + err.Error()
	}
	return "none"
}

// A program finds out who has to act on the error of a run: a Store that is in use, or
// newer or damaged, and a Source that panics differ from a source that can't be read.
func Example_errors() {
	ctx := context.Background()
	h := &harvest.Harvester{Catalog: harvest.NewCatalog(memstore.New())}
	held, release, err := h.Catalog.Hold(ctx, "example/backup", time.Minute)
	fmt.Println("backup:", held.Err(), err)
	_, _, err = h.Catalog.Hold(ctx, "example/backup", time.Minute)
	fmt.Println("second backup:", advice(err))
	release()

	_, err = h.Run(ctx, acts)
	fmt.Println("acts:", advice(err))
	_, err = h.Run(ctx, buggy("https://law.example/broken"))
	fmt.Println("broken:", advice(err))

	disk := &smallDisk{Store: memstore.New()}
	h.Catalog = harvest.NewCatalog(disk)
	_, err = h.Run(ctx, harvest.Of("https://law.example/maps", harvest.Event{
		Resource: websync.Resource{ID: "https://law.example/map/1"},
		Open: func() (io.ReadCloser, error) {
			disk.full.Store(true)
			return harvest.OpenBytes([]byte("a map"))()
		},
	}))
	fmt.Println("maps:", advice(err))
	// Output:
	// backup: <nil> <nil>
	// second backup: another process has example/backup, try again later
	// acts: none
	// broken: report a bug of the Source: no titles
	// maps: look after the Store: disk full
}

// buggy is a Source with a bug.
type buggy string

func (b buggy) Key() string { return string(b) }

func (b buggy) Events(context.Context, *harvest.Run) iter.Seq2[harvest.Event, error] {
	panic("no titles")
}

// smallDisk is a Store whose disk may be full.
type smallDisk struct {
	harvest.Store
	full atomic.Bool
}

func (d *smallDisk) Update(ctx context.Context, fn func(harvest.Tx) error) error {
	if d.full.Load() {
		return errors.New("disk full")
	}
	return d.Store.Update(ctx, fn)
}
