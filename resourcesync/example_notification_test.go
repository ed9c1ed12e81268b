package resourcesync_test

import (
	"context"
	"fmt"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/schedule"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/resourcesync"
)

// A notify.Subscriber gives what a hub sends to a Source that is one of payloads.
var _ schedule.PayloadSource = (*resourcesync.Source)(nil)

// A publisher announces changes at a hub of WebSub. What the hub sends is a Change List,
// and is applied without a request for the publisher's own. The example of
// notify.Subscriber subscribes to a topic.
func ExampleSource_Channel() {
	ctx := context.Background()
	const start = `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:rs="http://www.openarchives.org/rs/terms/">`
	entry := func(path, md string) string {
		return "<url><loc>https://example.org/" + path + "</loc><rs:md " + md + "/></url>"
	}
	// package harvest/fetch has the Fetcher for HTTP
	web := &sourcetest.Fetcher{Site: sourcetest.Site{
		"https://example.org/laws.xml": {Body: start +
			`<rs:ln rel="self" href="https://example.org/laws.xml"/><rs:ln rel="hub" href="https://hub.example/"/>` +
			`<rs:md capability="capabilitylist"/>` +
			entry("list.xml", `capability="resourcelist"`) + entry("changes.xml", `capability="changelist"`) + "</urlset>"},
		"https://example.org/list.xml": {Body: start + `<rs:md capability="resourcelist" at="2025-01-02T00:00:00Z"/>` +
			entry("law/1", "") + "</urlset>"},
		"https://example.org/changes.xml": {Body: start + `<rs:md capability="changelist" from="2025-01-01T00:00:00Z"/></urlset>`},
		"https://example.org/law/1":       {Body: "The first law."},
		"https://example.org/law/2":       {Body: "The second law."},
	}}
	source := &resourcesync.Source{URL: "https://example.org/laws.xml"}
	topic, hubs, err := source.Channel(ctx, web)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("topic:", topic, "hubs:", hubs)

	harvester := &harvest.Harvester{Catalog: harvest.NewCatalog(memstore.New()), Fetcher: web}
	report, err := harvester.Run(ctx, source)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("created:", report.Created, "requests:", report.Requests[200])

	// The hub sends a change.
	changes, err := source.Payload([]byte(start + `<rs:md capability="changelist" from="2025-01-01T00:00:00Z"/>` +
		entry("law/2", `change="created" datetime="2025-01-03T00:00:00Z"`) + "</urlset>"))
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err = harvester.Run(ctx, changes)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("created:", report.Created, "requests:", report.Requests[200])
	// Output:
	// topic: https://example.org/laws.xml hubs: [https://hub.example/]
	// created: 1 requests: 4
	// created: 1 requests: 1
}
