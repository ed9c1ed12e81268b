package harvest_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
)

// acts is a Source of two resources whose bytes come with the events. Sources for the web
// are in the packages of their protocols.
var acts = harvest.Of("https://law.example/acts",
	start,
	harvest.Event{Resource: websync.Resource{ID: "https://law.example/act/1"}, Open: harvest.OpenBytes([]byte("Be it enacted"))},
	harvest.Event{Resource: websync.Resource{ID: "https://law.example/act/2"}, Open: harvest.OpenBytes([]byte("Be it repealed"))},
	complete,
)

// Run may be called again at any time: the second run finds nothing to do.
func ExampleHarvester_Run() {
	ctx := context.Background()
	h := &harvest.Harvester{Catalog: harvest.NewCatalog(memstore.New())}
	for range 2 {
		report, err := h.Run(ctx, acts)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("created", report.Created, "unchanged", report.Unchanged, "in step:", report.InStep())
	}
	for item, err := range h.Catalog.Resources(ctx, websync.Range{}) {
		if err != nil {
			log.Fatal(err)
		}
		r, err := h.Catalog.Open(ctx, item.Bodies[0])
		if err != nil {
			log.Fatal(err)
		}
		text, _ := io.ReadAll(r)
		r.Close()
		fmt.Printf("%s: %s\n", item.Resource.ID, text)
	}
	// Unordered output:
	// created 2 unchanged 0 in step: true
	// created 0 unchanged 2 in step: true
	// https://law.example/act/1: Be it enacted
	// https://law.example/act/2: Be it repealed
}

// RunAll harvests several sources at once.
func ExampleHarvester_RunAll() {
	h := &harvest.Harvester{Catalog: harvest.NewCatalog(memstore.New())}
	treaties := harvest.Of("https://law.example/treaties", harvest.Event{Resource: websync.Resource{ID: "https://law.example/treaty/1"}})
	reports, err := h.RunAll(context.Background(), acts, treaties)
	for _, report := range reports {
		fmt.Println(report.Source, "created", report.Created, "in step:", report.InStep())
	}
	fmt.Println(err)
	// Output:
	// https://law.example/acts created 2 in step: true
	// https://law.example/treaties created 1 in step: true
	// <nil>
}

// A plan reports what the next run would do, and writes nothing.
func ExampleHarvester_Plan() {
	h := &harvest.Harvester{Catalog: harvest.NewCatalog(memstore.New())}
	report, err := h.Plan(context.Background(), acts, func(d harvest.Decision) {
		fmt.Println(d.Outcome, d.ID)
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Differences(), "differences")
	// Output:
	// created https://law.example/act/1
	// created https://law.example/act/2
	// 2 differences
}

// A listing that would delete all records, or too many, deletes none until somebody who
// has looked into it approves.
func ExampleHarvester_Approve() {
	ctx := context.Background()
	h := &harvest.Harvester{Catalog: harvest.NewCatalog(memstore.New())}
	if _, err := h.Run(ctx, acts); err != nil {
		log.Fatal(err)
	}
	empty := harvest.Of(acts.Key(), start, complete) // it lists nothing any more
	report, err := h.Run(ctx, empty)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("deleted", report.Deleted, "withheld", report.Left.Withheld, "in step:", report.InStep())
	fmt.Println("guard:", report.Guard.Rule)

	if report, err = h.Approve(ctx, empty); err != nil {
		log.Fatal(err)
	}
	fmt.Println("deleted", report.Deleted, "withheld", report.Left.Withheld)
	// Output:
	// deleted 0 withheld 2 in step: false
	// guard: share
	// deleted 2 withheld 0
}

// Hooks observe a run, of whatever Source. Progress is called a few times a second, and
// at the end; Outcome for every entry.
func ExampleHooks() {
	var last harvest.Progress
	h := &harvest.Harvester{
		Catalog:     harvest.NewCatalog(memstore.New()),
		Concurrency: 1,
		Hooks: &harvest.Hooks{
			Progress: func(p harvest.Progress) { last = p }, // a program draws p.Done, p.Total, p.ETA
			Outcome:  func(source, id string, o harvest.Outcome, err error) { fmt.Println(o, id, err) },
			Problem:  func(source string, err error) { fmt.Println(source, err) },
		},
	}
	report, err := h.Run(context.Background(), acts)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(last.Done, "of", last.Listed, "done, in step:", report.InStep())
	// Output:
	// created https://law.example/act/1 <nil>
	// created https://law.example/act/2 <nil>
	// 2 of 2 done, in step: true
}

// Changes with Since yields what was committed since a time, such as yesterday.
func ExampleCatalog_Changes() {
	ctx := context.Background()
	h := &harvest.Harvester{Catalog: harvest.NewCatalog(memstore.New()), Concurrency: 1}
	if _, err := h.Run(ctx, acts); err != nil {
		log.Fatal(err)
	}
	yesterday := time.Now().AddDate(0, 0, -1)
	for item, err := range h.Catalog.Changes(ctx, websync.Range{Since: yesterday}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(item.Kind, item.Resource.ID)
	}
	// Output:
	// created https://law.example/act/1
	// created https://law.example/act/2
}

// Each passes every change to a function, to a search index for instance, and stores its
// position.
func ExampleEach() {
	ctx := context.Background()
	h := &harvest.Harvester{Catalog: harvest.NewCatalog(memstore.New()), Concurrency: 1}
	index := map[string]string{}
	update := func(d *harvest.Delivery) error {
		if d.Deleted {
			delete(index, d.ID)
			return nil
		}
		text, err := d.Content()
		if err != nil {
			return err
		}
		index[d.ID] = string(text)
		return nil
	}
	gone := harvest.Of(acts.Key(), harvest.Event{Kind: harvest.Delete, Resource: websync.Resource{ID: "https://law.example/act/2"}})
	for _, source := range []harvest.Source{acts, gone} {
		if _, err := h.Run(ctx, source); err != nil {
			log.Fatal(err)
		}
		if err := harvest.Each(ctx, h.Catalog, "search index", update); err != nil {
			log.Fatal(err)
		}
		fmt.Println(index)
	}
	// Output:
	// map[https://law.example/act/1:Be it enacted https://law.example/act/2:Be it repealed]
	// map[https://law.example/act/1:Be it enacted]
}
