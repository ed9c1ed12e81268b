package resourcesync_test

import (
	"context"
	"fmt"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/resourcesync"
	"github.com/websync-go/websync/sitemap"
)

// A program finds what a host offers, and harvests each set of resources. This one has a
// Resource List of two resources, and a Change List that says that one of them is gone.
func ExampleSource() {
	const start = `<urlset xmlns="` + sitemap.Namespace + `" xmlns:rs="` + resourcesync.Namespace + `">`
	entry := func(path, md string) string {
		return "<url><loc>https://example.org/" + path + "</loc><rs:md " + md + "/></url>"
	}
	// package harvest/fetch has the Fetcher for HTTP
	web := &sourcetest.Fetcher{Site: sourcetest.Site{
		"https://example.org" + resourcesync.WellKnown: {Body: start + `<rs:md capability="description"/>` +
			entry("laws.xml", `capability="capabilitylist"`) + "</urlset>"},
		"https://example.org/laws.xml": {Body: start + `<rs:md capability="capabilitylist"/>` +
			entry("list.xml", `capability="resourcelist"`) + entry("changes.xml", `capability="changelist"`) + "</urlset>"},
		"https://example.org/list.xml": {Body: start + `<rs:md capability="resourcelist" at="2025-01-02T00:00:00Z"/>` +
			entry("law/1", "") + entry("law/2", "") + "</urlset>"},
		"https://example.org/changes.xml": {Body: start + `<rs:md capability="changelist" from="2025-01-01T00:00:00Z"/>` +
			entry("law/2", `change="deleted" datetime="2025-01-03T00:00:00Z"`) + "</urlset>"},
		"https://example.org/law/1": {Body: "The first law."},
		"https://example.org/law/2": {Body: "The second law."},
	}}
	ctx := context.Background()
	sets, err := resourcesync.Discover(ctx, web, "https://example.org/")
	if err != nil {
		fmt.Println(err)
		return
	}
	store := harvest.NewCatalog(memstore.New())
	h := &harvest.Harvester{Catalog: store, Fetcher: web}
	for _, set := range sets {
		report, err := h.Run(ctx, set.Source())
		fmt.Println(set.CapabilityList, "in step:", report.InStep(), err)
	}
	for item, err := range store.Resources(ctx, websync.Range{}) {
		fmt.Println(item.Resource.ID, err)
	}
	// Output:
	// https://example.org/laws.xml in step: true <nil>
	// https://example.org/law/1 <nil>
}

// A program wants PDF where there is one, and the metadata with each resource.
func ExampleSource_types() {
	const start = `<urlset xmlns="` + sitemap.Namespace + `" xmlns:rs="` + resourcesync.Namespace + `">`
	web := &sourcetest.Fetcher{Site: sourcetest.Site{
		"https://example.org/laws.xml": {Body: start + `<rs:md capability="capabilitylist"/>
			<url><loc>https://example.org/list.xml</loc><rs:md capability="resourcelist"/></url></urlset>`},
		"https://example.org/list.xml": {Body: start + `<rs:md capability="resourcelist" at="2025-01-02T00:00:00Z"/>
			<url><loc>https://example.org/law/1</loc><lastmod>2025-01-01T00:00:00Z</lastmod>
			<rs:ln rel="alternate" href="https://example.org/law/1.html" type="text/html"/>
			<rs:ln rel="alternate" href="https://example.org/law/1.pdf" type="application/pdf"/>
			<rs:ln rel="describedby" href="https://example.org/law/1.ttl" type="text/turtle"/></url></urlset>`},
		"https://example.org/law/1.pdf": {Body: "%PDF"},
		"https://example.org/law/1.ttl": {Body: "<1> a <Law>."},
	}}
	source := &resourcesync.Source{
		URL:         "https://example.org/laws.xml",
		Types:       []string{"application/pdf", "text/html"},
		DescribedBy: true,
	}
	ctx, store := context.Background(), harvest.NewCatalog(memstore.New())
	report, err := (&harvest.Harvester{Catalog: store, Fetcher: web}).Run(ctx, source)
	fmt.Println("in step:", report.InStep(), err)
	for item := range store.Resources(ctx, websync.Range{}) {
		for _, body := range item.Bodies {
			fmt.Println(item.Resource.ID, body.Name, body.Link.Href)
		}
	}
	// Output:
	// in step: true <nil>
	// https://example.org/law/1 describedby text/turtle https://example.org/law/1.ttl
	// https://example.org/law/1 content https://example.org/law/1.pdf
}

// Follow is for a URL that a user has named: unlike Discover, it does not ask the host for
// more.
func ExampleFollow() {
	web := &sourcetest.Fetcher{Site: sourcetest.Site{
		"https://example.org/about": {
			Header: map[string][]string{"Content-Type": {"text/html"}},
			Body:   `<!DOCTYPE html><title>About</title><link rel="resourcesync" href="/laws.xml">`,
		},
		"https://example.org/laws.xml": {Body: `<urlset xmlns="` + sitemap.Namespace + `" xmlns:rs="` + resourcesync.Namespace + `">
			<rs:md capability="capabilitylist"/>
			<url><loc>https://example.org/list.xml</loc><rs:md capability="resourcelist"/></url></urlset>`},
	}}
	sets, err := resourcesync.Follow(context.Background(), web, "https://example.org/about")
	for _, set := range sets {
		fmt.Println(set.CapabilityList)
	}
	fmt.Println(err, len(web.Exchanges()), "requests")
	// Output:
	// https://example.org/laws.xml
	// <nil> 1 requests
}
