package websync_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log"
	"time"

	"github.com/websync-go/websync"
)

// A register is a Catalog of one source that keeps an Outline of each resource, in a
// program beside its row.
type register struct {
	websync.Log
	outlines map[websync.Seq]websync.Outline // by Born
}

func (r *register) put(ctx context.Context, item websync.Item) error {
	r.Append(item)
	stored, err := r.Get(ctx, item.Source, []string{item.Resource.ID})
	if err == nil {
		r.outlines[stored[0].Born] = websync.OutlineOf(&stored[0])
	}
	return err
}

func (r *register) Outlines(_ context.Context, limits websync.Range) iter.Seq2[websync.Outline, error] {
	return func(yield func(websync.Outline, error) bool) {
		for born := limits.After + 1; born <= websync.Seq(len(r.outlines)) && (limits.Until == 0 || born <= limits.Until); born++ {
			if !yield(r.outlines[born], nil) {
				return
			}
		}
	}
}

// A Catalog of a program's own that is an Outliner lets Publishers divide its resources
// into lists without reading them.
func ExampleOutliner() {
	ctx := context.Background()
	acts := &register{outlines: map[websync.Seq]websync.Outline{}}
	for day := range 3 {
		err := acts.put(ctx, websync.Item{
			Source: "acts", Time: time.Date(2026, 1, 1+day, 12, 0, 0, 0, time.UTC),
			Resource: websync.Resource{ID: fmt.Sprintf("https://law.example/act/%d", 1+day%2)},
		})
		if err != nil {
			log.Fatal(err)
		}
	}
	var catalog websync.Catalog = acts
	if outliner, ok := catalog.(websync.Outliner); ok && len("https://law.example/") <= websync.OutlineBase {
		for o, err := range outliner.Outlines(ctx, websync.Range{}) {
			fmt.Println("resource", o.Born, "is entry", o.Seq, "and takes at most 4 KB:", o.Bytes <= 4<<10, err)
		}
	}
	// Output:
	// resource 1 is entry 3 and takes at most 4 KB: true <nil>
	// resource 2 is entry 2 and takes at most 4 KB: true <nil>
}

// A Catalog whose log can be read by number only finds a time by a few reads. Head.Check
// names what breaks the contract of a Catalog.
func ExampleFirstSince() {
	ctx := context.Background()
	var acts websync.Log
	for day := range 100 {
		acts.Append(websync.Item{
			Source: "acts", Time: time.Date(2026, 1, 1+day, 12, 0, 0, 0, time.UTC),
			Resource: websync.Resource{ID: fmt.Sprintf("https://law.example/act/%d", day)},
		})
	}
	head, err := acts.Head(ctx)
	if err != nil {
		log.Fatal(err)
	}
	first, err := websync.FirstSince(ctx, &acts, head, time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC))
	fmt.Println(first, "of", head.Last, err)

	head.First = 200
	fmt.Println(errors.Is(head.Check(), websync.ErrCatalog))
	// Output:
	// 32 of 100 <nil>
	// true
}
