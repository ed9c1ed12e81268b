package resourcesync_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/resourcesync"
)

// TestDiscoverTooMany: a description of more sets than anybody has is refused.
func TestDiscoverTooMany(t *testing.T) {
	for n, fits := range map[int]bool{10_000: true, 10_001: false} {
		var all []string
		for i := range n {
			all = append(all, named("url", fmt.Sprint("set", i, ".xml"), `capability="capabilitylist"`))
		}
		site := sourcetest.Site{www + "description.xml": {Body: document("urlset", `capability="description"`, "", all...)}}
		sets, err := resourcesync.Discover(t.Context(), &sourcetest.Fetcher{Site: site}, www+"description.xml")
		if fits {
			require.NoError(t, err)
			assert.Len(t, sets, n)
		} else {
			assert.ErrorIs(t, err, websync.ErrLimit)
			assert.Empty(t, sets)
		}
	}
	links := strings.Repeat(`<rs:ln rel="describedby" href="`+www+strings.Repeat("x", 1000)+`"/>`, 1000)
	for n, fits := range map[int]bool{16: true, 17: false} {
		var all []string
		for i := range n {
			all = append(all, "<url><loc>"+www+fmt.Sprint(i)+`.xml</loc><rs:md capability="capabilitylist"/>`+links+"</url>")
		}
		site := sourcetest.Site{www + "description.xml": {Body: document("urlset", `capability="description"`, "", all...)}}
		_, err := resourcesync.Discover(t.Context(), &sourcetest.Fetcher{Site: site}, www+"description.xml")
		assert.Equal(t, fits, err == nil, "%v", err)
	}
}

func TestDiscover(t *testing.T) {
	linked := func(rel, path string) string { return `<rs:ln rel="` + rel + `" href="` + www + path + `"/>` }
	described := func(path, by string) string {
		return "<url><loc>" + www + path + `</loc><rs:md capability="capabilitylist"/>` + linked("describedby", by) + "</url>"
	}
	html := map[string][]string{"Content-Type": {"text/html; charset=utf-8"}}
	site := sourcetest.Site{
		www + "description.xml": {Body: document("urlset", `capability="description"`, "", described("set1.xml", "about1"), described("set2.xml", "about2"), described("set1.xml", "again"))},
		www + "descriptions.xml": {Body: document("sitemapindex", `capability="description"`, "",
			named("sitemap", "missing.xml", ""), named("sitemap", "description.xml", ""), named("sitemap", "descriptions.xml", ""))},
		www + "set1.xml":     {Body: document("urlset", `capability="capabilitylist"`, "description.xml")},
		www + "list.xml":     {Body: document("urlset", `capability="resourcelist" at="2025-06-01T00:00:00Z"`, "set1.xml")},
		www + "sitemap.xml":  {Body: `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>` + www + `a</loc></url></urlset>`},
		www + "loop.xml":     {Body: document("urlset", `capability="resourcelist" at="2025-06-01T00:00:00Z"`, "loop.xml")},
		www + "page":         {Header: html, Body: `<!doctype html><head><base href="/x/"><link rel="alternate ResourceSync" href="../set2.xml"></head><body><link rel=resourcesync href=no.xml>`},
		www + "plain":        {Header: html, Body: `<!doctype html><title>Nothing</title>`},
		www + "xhtml":        {Header: map[string][]string{"Content-Type": {"application/xhtml+xml"}}, Body: `<html xmlns="http://www.w3.org/1999/xhtml"><head><script src="x"/><title/><link rel="resourcesync" href="/set2.xml"/></head></html>`},
		www + "photo":        {Header: map[string][]string{"Link": {`</set2.xml>; rel="resourcesync"; title="all, of them"`}}, Body: "JPEG"},
		www + "moved":        {Location: "/list.xml"},
		www + "robots.txt":   {Body: "User-agent: *\nDisallow:\nSitemap: /sitemap.xml\nSitemap: " + www + "list.xml\n"},
		"https://other.org/": {Body: "nothing"}, "https://other.org" + resourcesync.WellKnown: {Location: www + "description.xml"},
		"https://empty.org/": {Body: "<p>nothing", Header: html},
	}
	one, two := resourcesync.Set{CapabilityList: www + "set1.xml"}, resourcesync.Set{CapabilityList: www + "set2.xml"}
	both := []resourcesync.Set{{CapabilityList: www + "set1.xml", DescribedBy: []string{www + "about1"}}, {CapabilityList: www + "set2.xml", DescribedBy: []string{www + "about2"}}}
	for name, test := range map[string]struct {
		url  string
		want []resourcesync.Set
		err  string
	}{
		"a Source Description":          {www + "description.xml", both, ""},
		"an index of them":              {www + "descriptions.xml", both, ""},
		"a Capability List":             {www + "set1.xml", []resourcesync.Set{one}, ""},
		"a Resource List":               {www + "list.xml", []resourcesync.Set{one}, ""},
		"a redirect":                    {www + "moved", []resourcesync.Set{one}, ""},
		"a link in a page":              {www + "page", []resourcesync.Set{two}, ""},
		"a link in a page in XML":       {www + "xhtml", []resourcesync.Set{two}, ""},
		"a link in the header":          {www + "photo", []resourcesync.Set{two}, ""},
		"robots.txt":                    {www + "plain", []resourcesync.Set{one}, ""},
		"a sitemap, and then robots":    {www + "sitemap.xml", []resourcesync.Set{one}, ""},
		"what is not there, and robots": {www + "nothing", []resourcesync.Set{one}, ""},
		"the well-known URI":            {"https://other.org/", both, ""},
		"nothing":                       {"https://empty.org/", nil, "https://empty.org/ leads to no Capability List"},
		"nothing there":                 {"https://empty.org/x", nil, "404"},
	} {
		t.Run(name, func(t *testing.T) {
			fetcher := &sourcetest.Fetcher{Site: site, Hook: func(_ context.Context, _ int, req *harvest.Request, doc sourcetest.Document) (sourcetest.Document, error) {
				assert.Equal(t, test.url, req.Root)
				return doc, nil
			}}
			got, err := resourcesync.Discover(t.Context(), fetcher, test.url)
			if test.err != "" {
				require.ErrorContains(t, err, test.err)
				return
			}
			require.NoError(t, err)
			require.Len(t, got, len(test.want))
			for i := range got {
				assert.Equal(t, test.want[i].CapabilityList, got[i].CapabilityList)
				assert.Equal(t, test.want[i].DescribedBy, got[i].DescribedBy)
				assert.Equal(t, test.url, got[i].Source().Root(), "what the publisher links to must not be trusted")
			}
			streams, spools := fetcher.Open()
			assert.Zero(t, streams+spools)
			assert.Equal(t, test.want[0].CapabilityList, got[0].Source().Key())
		})
	}
	sets, err := resourcesync.Follow(t.Context(), &sourcetest.Fetcher{Site: site}, www+"list.xml")
	require.NoError(t, err)
	require.Len(t, sets, 1)
	assert.Equal(t, www+"description.xml", sets[0].Description, "by the link up of the Capability List")
	sets, err = resourcesync.Follow(t.Context(), &sourcetest.Fetcher{Site: site}, www+"description.xml")
	require.NoError(t, err)
	require.Len(t, sets, 2)
	assert.Equal(t, www+"description.xml", sets[1].Description)
	host := &sourcetest.Fetcher{Site: site}
	_, err = resourcesync.Follow(t.Context(), host, www+"plain")
	assert.ErrorIs(t, err, websync.ErrNotFound)
	assert.Len(t, host.Exchanges(), 1, "the host is not asked")
	delete(site, www+"robots.txt")
	_, err = resourcesync.Discover(t.Context(), &sourcetest.Fetcher{Site: site}, www+"plain")
	assert.ErrorIs(t, err, websync.ErrNotFound)
	_, err = resourcesync.Discover(t.Context(), &sourcetest.Fetcher{Site: site}, www+"loop.xml")
	assert.ErrorIs(t, err, websync.ErrNotFound)
	_, err = resourcesync.Discover(t.Context(), &sourcetest.Fetcher{Site: site}, www+"sitemap.xml")
	assert.ErrorContains(t, err, "no document of ResourceSync")
}
