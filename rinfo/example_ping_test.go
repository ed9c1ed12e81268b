package rinfo_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/notify"
	"github.com/websync-go/websync/harvest/schedule"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/publish"
	"github.com/websync-go/websync/rinfo"
)

// A publisher pings a collector, which harvests the feed at once if it is approved.
func Example_ping() {
	const feed = "https://www.example.se/index.atom"
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()

	// the collector
	h := &harvest.Harvester{Catalog: harvest.NewCatalog(memstore.New()), Fetcher: &sourcetest.Fetcher{Site: exampleSite}}
	harvested := make(chan *harvest.Report)
	scheduler := &schedule.Scheduler{
		Harvester: h,
		Entries:   []schedule.Entry{{Source: &rinfo.Source{URL: feed}, URLs: []string{feed}, Every: -1}}, // the approved ones
		Ended:     func(_ harvest.Source, report *harvest.Report, _ error) { harvested <- report },
	}
	go scheduler.Run(ctx)
	server := httptest.NewServer(&notify.Receiver{Notify: scheduler.Notify, Refusal: http.StatusForbidden})
	defer server.Close()

	// the publisher
	pinger := &publish.Pinger{Topics: []string{feed}, Subscribers: []string{server.URL}, Client: server.Client()}
	go pinger.Run(ctx)
	pinger.Notify() // after each change
	fmt.Println("created:", (<-harvested).Created)

	// or by hand
	for _, form := range []url.Values{{"url": {feed}}, {"url": {"https://example.com/other.atom"}}, {}} {
		resp, err := http.PostForm(server.URL, form)
		if err != nil {
			fmt.Println(err)
			return
		}
		resp.Body.Close()
		fmt.Println("POST", form["url"], resp.Status)
	}
	resp, err := http.Get(server.URL + "?url=" + feed)
	if err != nil {
		fmt.Println(err)
		return
	}
	resp.Body.Close()
	fmt.Println("GET", resp.Status)
	// Output:
	// created: 1
	// POST [https://www.example.se/index.atom] 202 Accepted
	// POST [https://example.com/other.atom] 403 Forbidden
	// POST [] 400 Bad Request
	// GET 405 Method Not Allowed
}
