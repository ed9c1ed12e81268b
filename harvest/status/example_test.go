package status_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/status"
)

// A Recorder notes a run in the Store, and the page shows it. A program with a
// fetch.Client also sets the client's OnAttempt to recorder.Request.
func Example() {
	store := harvest.NewCatalog(memstore.New())
	recorder := &status.Recorder{State: store}
	h := &harvest.Harvester{Catalog: store, Bodies: harvest.SkipBodies, Hooks: recorder.Hooks()}
	source := harvest.Of("https://example.org/list",
		harvest.Event{Kind: harvest.Put, Resource: websync.Resource{ID: "https://example.org/a"}},
	)
	if _, err := h.Run(context.Background(), source); err != nil {
		log.Fatal(err)
	}

	page := &status.Handler{Catalog: store}
	server := httptest.NewServer(http.StripPrefix("/status", page)) // not open to everybody
	defer server.Close()
	resp, err := http.Get(server.URL + "/status/")
	if err != nil {
		log.Fatal(err)
	}
	resp.Body.Close()
	fmt.Println(resp.Status, resp.Header.Get("Content-Type"))

	now, err := page.Status(context.Background()) // as in status.json
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(now.Verdict)
	for _, s := range now.Sources {
		fmt.Println(s.Name, s.State, s.Live, s.Runs[0].Created)
	}
	// Output:
	// 200 OK text/html; charset=utf-8
	// The source is in step.
	// https://example.org/list in step 1 1
}

// The sources that a schedule has are on the page before they have run.
func ExampleHandler() {
	page := &status.Handler{
		Catalog: harvest.NewCatalog(memstore.New()),
		Due:     func() map[string]time.Time { return map[string]time.Time{"https://example.org/list": {}} }, // scheduler.Due
	}
	now, err := page.Status(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(now.Verdict, now.Sources[0].State)
	// Output:
	// 1 source: 1 never run. never run
}
