package resourcesync_test

import (
	"crypto/md5"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/resourcesync"
)

func entryWith(name, md, links string) string {
	return "<url><loc>" + www + name + "</loc><rs:md " + md + "/>" + links + "</url>"
}

func hashOf(text string) string { return fmt.Sprintf(`hash="sha-256:%x"`, sha256.Sum256([]byte(text))) }

func linkTo(rel, href, more string) string {
	return `<rs:ln rel="` + rel + `" href="` + href + `" ` + more + `/>`
}

// harvested runs the Source once over what is at some paths, and returns the paths that
// were asked for, and what is held.
func harvested(t *testing.T, store *harvest.Catalog, docs map[string]string) (asked []string, live map[string]string) {
	t.Helper()
	fetcher := &sourcetest.Fetcher{Site: make(sourcetest.Site)}
	for path, text := range docs {
		if len(path) < 4 || path[:4] != "http" {
			path = www + path
		}
		fetcher.Site[path] = sourcetest.Document{Body: text, Header: map[string][]string{"Date": {"Sun, 01 Jun 2025 12:00:00 GMT"}}}
	}
	_, err := (&harvest.Harvester{Sample: -1, Catalog: store, Fetcher: fetcher}).Run(t.Context(), &resourcesync.Source{URL: sourceURL})
	require.NoError(t, err)
	for _, x := range fetcher.Exchanges() {
		asked = append(asked, fmt.Sprint(x.Status, " ", x.URL))
	}
	return asked, testkit.Live(t, store)
}

const listMD = `capability="resourcelist" at="2025-01-01T00:00:00Z"`

func listOf(entries ...string) map[string]string {
	return map[string]string{
		"capabilitylist.xml": document("urlset", `capability="capabilitylist"`, "", named("url", "resourcelist.xml", `capability="resourcelist"`), named("url", "changelist.xml", `capability="changelist"`)),
		"resourcelist.xml":   document("urlset", listMD, "capabilitylist.xml", entries...),
		"changelist.xml":     document("urlset", `capability="changelist" from="2025-01-01T00:00:00Z"`, "capabilitylist.xml"),
	}
}

// TestHeldDigest states a later time of bytes that are held, or may be: they are asked
// for only if their digest is not known to be held.
func TestHeldDigest(t *testing.T) {
	mirror := linkTo("duplicate", "https://mirror.example.com/res1", "")
	md5 := fmt.Sprintf(`hash="md5:%x"`, md5.Sum([]byte("text")))
	for name, test := range map[string]struct {
		md, links string
		asked     bool
	}{
		"the same digest":            {hashOf("text"), "", false},
		"the same, and a mirror":     {hashOf("text"), mirror, false},
		"the same, and a patch":      {hashOf("text"), linkTo("http://www.openarchives.org/rs/terms/patch", www+"patch", `type="application/json-patch"`), false},
		"no digest":                  {"", "", true},
		"of an algorithm not held":   {md5, "", true},
		"with a length that differs": {hashOf("text") + ` length="5"`, "", true},
		"another":                    {hashOf("other"), "", true},
	} {
		t.Run(name, func(t *testing.T) {
			store := harvest.NewCatalog(memstore.New())
			docs := listOf(entryWith("res1", hashOf("text"), ""))
			docs["res1"] = "text"
			_, live := harvested(t, store, docs)
			require.Equal(t, map[string]string{"res1": "text"}, live)
			docs["changelist.xml"] = document("urlset", `capability="changelist" from="2025-01-01T00:00:00Z"`, "capabilitylist.xml",
				"<url><loc>"+www+"res1</loc><lastmod>2025-05-01T00:00:00Z</lastmod><rs:md change=\"updated\" "+test.md+"/>"+test.links+"</url>")
			asked, live := harvested(t, store, docs)
			assert.Equal(t, map[string]string{"res1": "text"}, live)
			got := slices.ContainsFunc(asked, func(a string) bool { return !strings.HasSuffix(a, ".xml") })
			assert.Equal(t, test.asked, got, asked)
		})
	}
}

// TestMirrors follows Example 24 of the specification.
func TestMirrors(t *testing.T) {
	const one, two = "https://mirror1.example.com/res1", "https://mirror2.example.com/res1"
	duplicates := linkTo("duplicate", two, `pri="2"`) + linkTo("duplicate", "gsiftp://gridftp.example.com/res1", `pri="1"`) +
		linkTo("duplicate", "https://last.example.com/res1", "") + linkTo("duplicate", one, `pri="1"`)
	for name, test := range map[string]struct {
		more  map[string]string
		asked []string
	}{
		"the first":         {map[string]string{one: "text", two: "text", "res1": "text"}, []string{"200 " + one}},
		"the second":        {map[string]string{two: "text", "res1": "text"}, []string{"404 " + one, "200 " + two}},
		"other bytes there": {map[string]string{one: "another text", two: "text", "res1": "text"}, []string{"200 " + one, "200 " + two}},
		"none of them":      {map[string]string{"res1": "text"}, []string{"404 " + one, "404 " + two, "404 https://last.example.com/res1", "200 " + www + "res1"}},
	} {
		t.Run(name, func(t *testing.T) {
			docs := listOf(entryWith("res1", hashOf("text"), duplicates))
			for path, text := range test.more {
				docs[path] = text
			}
			store := harvest.NewCatalog(memstore.New())
			asked, live := harvested(t, store, docs)
			assert.Equal(t, map[string]string{"res1": "text"}, live)
			var bodies []string
			for _, a := range asked {
				if a[len(a)-4:] == "res1" {
					bodies = append(bodies, a)
				}
			}
			assert.Equal(t, test.asked, bodies)
		})
	}
}

func TestPatch(t *testing.T) {
	const before, after = `{"a":1}`, `{"a":1,"b":2}`
	const patch = `[{"op":"add","path":"/b","value":2}]`
	for name, test := range map[string]struct {
		md, more, patch string
		full            bool
	}{
		"applied":                    {hashOf(after), `type="application/json-patch" ` + hashOf(patch), patch, false},
		"no digest to verify it by":  {``, `type="application/json-patch"`, patch, true},
		"another result":             {hashOf(after), `type="application/json-patch"`, `[{"op":"add","path":"/b","value":3}]`, true},
		"it does not fit":            {hashOf(after), `type="application/json-patch"`, `[{"op":"remove","path":"/b"}]`, true},
		"not the patch as described": {hashOf(after), `type="application/json-patch" ` + hashOf("other"), patch, true},
		"of an unknown type":         {hashOf(after), `type="application/x-tiff-diff"`, patch, true},
		"not there":                  {hashOf(after), `type="application/json-patch"`, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			store := harvest.NewCatalog(memstore.New())
			docs := listOf(entryWith("res4", hashOf(before), ""))
			docs["res4"] = before
			_, live := harvested(t, store, docs)
			require.Equal(t, map[string]string{"res4": before}, live)
			docs["changelist.xml"] = document("urlset", `capability="changelist" from="2025-01-01T00:00:00Z"`, "capabilitylist.xml",
				entryWith("res4", `change="updated" datetime="2025-05-01T00:00:00Z" `+test.md, linkTo("http://www.openarchives.org/rs/terms/patch", www+"patch", test.more)))
			if docs["res4"] = after; test.patch != "" {
				docs["patch"] = test.patch
			}
			asked, live := harvested(t, store, docs)
			assert.Equal(t, map[string]string{"res4": after}, live)
			assert.Equal(t, test.full, asked[len(asked)-1] == "200 "+www+"res4", asked)
			// The patch is no part of the description: without it nothing is new.
			docs["changelist.xml"] = document("urlset", `capability="changelist" from="2025-01-01T00:00:00Z" until="2025-05-02T00:00:00Z"`, "capabilitylist.xml",
				entryWith("res4", `change="updated" datetime="2025-05-01T00:00:00Z" `+test.md, ""))
			asked, _ = harvested(t, store, docs)
			assert.NotContains(t, asked, "200 "+www+"patch")
			if test.md != "" {
				assert.NotContains(t, asked, "200 "+www+"res4")
			}
		})
	}
}
