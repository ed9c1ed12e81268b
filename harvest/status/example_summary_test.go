package status_test

import (
	"bytes"
	"context"
	"fmt"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/status"
)

// A run is recorded and becomes a page. With a fetch.Client, its OnAttempt calls
// [status.Summary.Request].
func ExampleSummary() {
	rec := &status.Summary{Title: "Harvest of example.org"}
	h := &harvest.Harvester{Catalog: harvest.NewCatalog(memstore.New()), Bodies: harvest.SkipBodies, Hooks: rec.Hooks()}
	source := harvest.Of("https://example.org/list",
		harvest.Event{Kind: harvest.Put, Resource: websync.Resource{ID: "https://example.org/a"}},
	)
	report, err := h.Run(context.Background(), source)
	run := status.Result{Report: report, Err: err}
	rec.Add(run)

	var page bytes.Buffer
	if err := rec.WriteHTML(&page); err != nil {
		fmt.Println(err)
	}
	fmt.Println(run.Verdict())
	fmt.Println(bytes.Contains(page.Bytes(), []byte("<h1>Harvest of example.org</h1>")))
	// Output:
	// In step: 1 held. The store has what the source lists.
	// true
}
