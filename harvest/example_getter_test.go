package harvest_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
)

// A bills is a Source of bills, each of which has a text and, after the vote, a protocol.
type bills []string

var _ harvest.Getter = bills{}

func (b bills) Key() string { return "https://law.example/bills" }

func (b bills) Events(context.Context, *harvest.Run) iter.Seq2[harvest.Event, error] {
	return func(yield func(harvest.Event, error) bool) {
		for _, id := range b {
			if len(id) > harvest.MaxID {
				continue // no Store takes it
			}
			if !yield(harvest.Event{Resource: websync.Resource{ID: id}}, nil) {
				return
			}
		}
	}
}

func (b bills) Get(ctx context.Context, job *harvest.Job) error {
	if err := job.Obtain(ctx, websync.ContentName, websync.Link{Href: job.Resource.ID}); err != nil {
		return err
	}
	err := job.Obtain(ctx, "protocol", websync.Link{Href: job.Resource.ID + "/protocol"})
	if errors.Is(err, websync.ErrGone) {
		return job.NotYet(time.Now().Add(time.Hour), "there was no vote yet")
	}
	return err
}

// A Getter obtains several bodies of a resource, which become visible together, or
// decides that it is too early.
func Example_getter() {
	ctx := context.Background()
	h := &harvest.Harvester{
		Catalog: harvest.NewCatalog(memstore.New()),
		Fetcher: &sourcetest.Fetcher{Site: sourcetest.Site{
			"https://law.example/bill/1":          {Body: "A bill"},
			"https://law.example/bill/1/protocol": {Body: "Yes"},
			"https://law.example/bill/2":          {Body: "Another bill"},
		}},
		Concurrency: 1,
		Hooks: &harvest.Hooks{Outcome: func(_, id string, o harvest.Outcome, err error) {
			fmt.Println(o, id, err, errors.Is(err, harvest.ErrNotYet))
		}},
	}
	_, err := h.Run(ctx, bills{"https://law.example/bill/1", "https://law.example/bill/2"})
	if err != nil {
		fmt.Println(err)
	}
	for item, err := range h.Catalog.Resources(ctx, websync.Range{}) {
		for _, body := range item.Bodies {
			fmt.Println(body.Name, body.Link.Href, err)
		}
	}
	// Output:
	// created https://law.example/bill/1 <nil> false
	// deferred https://law.example/bill/2 there was no vote yet true
	// content https://law.example/bill/1 <nil>
	// protocol https://law.example/bill/1/protocol <nil>
}
