package resourcesync_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/resourcesync"
)

// TestOlderPackages: a package, or a part of an index, describes an earlier moment than
// the whole. What has changed since that moment is read in the Change List, and the run
// reports it.
func TestOlderPackages(t *testing.T) {
	head := func(root, capability string, at int, entries ...string) string {
		return document(root, `capability="`+capability+`"`+timed("at", at), "capabilitylist.xml", entries...)
	}
	packed := func(at int) string {
		return zipped(member{name: "manifest.xml", text: head("urlset", "resourcedump-manifest", at, packedAt("a", "1", "/a"), packedAt("b", "1", "/b"))},
			member{name: "a", text: "1"}, member{name: "b", text: "1"})
	}
	dump := func(docs pages) pages {
		return offers("resourcedump", "dump.xml", "changelist", "changelist.xml").with(docs).with(pages{
			"changelist.xml": changeList(0, never, since(5, "a", "updated", hashOf("2")), since(6, "c", "created", hashOf("1"))),
		})
	}
	list := func(docs pages) pages {
		return dump(docs).with(offers("resourcelist", "resourcelist.xml", "changelist", "changelist.xml"))
	}
	old := []string{since(0, "a", "", hashOf("1")), since(0, "b", "", hashOf("1"))}
	for name, docs := range map[string]pages{
		"a manifest that is older": dump(pages{"dump.xml": head("urlset", "resourcedump", 10, packageAt("p.zip", "", "")), "p.zip": packed(0)}),
		"a package that is older":  dump(pages{"dump.xml": head("urlset", "resourcedump", 10, packageAt("p.zip", timed("at", 0), "")), "p.zip": packed(never)}),
		"the later one of two, by its manifest": dump(pages{"dump.xml": head("urlset", "resourcedump", 10, packageAt("new.zip", timed("at", 10), ""), packageAt("p.zip", "", "")),
			"p.zip": packed(0), "new.zip": zipped(member{name: "manifest.xml", text: head("urlset", "resourcedump-manifest", 10)})}),
		"a part of an index of dumps": dump(pages{"dump.xml": head("sitemapindex", "resourcedump", 10, named("sitemap", "part.xml", "")),
			"part.xml": head("urlset", "resourcedump", 0, packageAt("p.zip", "", "")), "p.zip": packed(never)}),
		"a manifest beside": dump(pages{"dump.xml": head("urlset", "resourcedump", 10, packageAt("p.zip", timed("at", 0), linkTo("contents", www+"manifest", ""))),
			"p.zip": packed(0), "manifest": head("urlset", "resourcedump-manifest", 0, packedAt("a", "1", "/a"), packedAt("b", "1", "/b"))}),
		"a manifest without at": dump(pages{"dump.xml": head("urlset", "resourcedump", 10, packageAt("p.zip", timed("at", 0), "")), "p.zip": packed(never)}),
		"a part of an index of lists": list(pages{"resourcelist.xml": head("sitemapindex", "resourcelist", 10, named("sitemap", "part.xml", "")),
			"part.xml": resourceList(0, old...)}),
	} {
		t.Run(name, func(t *testing.T) {
			play(t, []stage{{pages: docs, truth: "a=2 b=1 c=1", said: "before the at of the whole"}})
		})
	}
}

// TestOlderPackageDeletesNothing: what the Change List has put since the moment of an old
// package is not deleted because the package lacks it.
func TestOlderPackageDeletesNothing(t *testing.T) {
	for name, md := range map[string]string{"stated by the dump": timed("at", 8), "stated by the manifest": ""} {
		t.Run(name, func(t *testing.T) {
			docs := func(dump, manifest, from int, changes ...string) pages {
				return offers("resourcedump", "dump.xml", "changelist", "changelist.xml").with(pages{
					"dump.xml": document("urlset", `capability="resourcedump"`+timed("at", dump), "capabilitylist.xml", packageAt("p.zip", md, "")),
					"p.zip": zipped(member{name: "manifest.xml", text: document("urlset", `capability="resourcedump-manifest"`+timed("at", manifest), "capabilitylist.xml",
						packedAt("a", "1", "/a"), packedAt("b", "1", "/b"))}, member{name: "a", text: "1"}, member{name: "b", text: "1"}),
					"changelist.xml": changeList(from, never, changes...),
				})
			}
			// the Change List of the third stage begins after what the second has read
			play(t, []stage{
				{pages: docs(8, 8, 0), truth: "a=1 b=1"},
				{pages: docs(8, 8, 0, since(9, "c", "created", hashOf("1"))), truth: "a=1 b=1 c=1"},
				{pages: docs(20, 8, 15, since(16, "d", "created", hashOf("1"))), truth: "a=1 b=1 c=1 d=1", want: either},
			})
		})
	}
}

// TestListedDocuments: each manifest, and each part of a Resource List, is a document of
// the listing, with the moment that it states.
func TestListedDocuments(t *testing.T) {
	text := func(capability, at string, entries ...string) string {
		return document("urlset", fmt.Sprintf("capability=%q", capability)+at, "capabilitylist.xml", entries...)
	}
	type listed struct {
		url     string
		entries int64
		made    string
	}
	manifest := func(at string, entries ...string) member {
		return member{name: "manifest.xml", text: text("resourcedump-manifest", at, entries...)}
	}
	for name, test := range map[string]struct {
		docs pages
		want []listed
	}{
		"a dump": {offers("resourcedump", "dump.xml").with(pages{
			"dump.xml": dumpOf(packageAt("p.zip", "", ""), packageAt("q.zip", timed("at", 3), ""), packageAt("r.zip", "", "")),
			"p.zip":    zipped(manifest(timed("at", 2), packedAt("a", "1", "/a"), packedAt("b", "1", "/b"))),
			"q.zip":    zipped(manifest("", packedAt("c", "1", "/c"))),
			"r.zip":    zipped(manifest("")),
		}), []listed{{"p.zip", 2, minute(2)}, {"q.zip", 1, minute(3)}, {"r.zip", 0, ""}}},
		"a list": {offers("resourcelist", "list.xml").with(pages{
			"list.xml": text("resourcelist", timed("at", 3), named("url", "a", "")),
		}), []listed{{"list.xml", 1, minute(3)}}},
		"an index": {offers("resourcelist", "list.xml").with(pages{
			"list.xml": document("sitemapindex", `capability="resourcelist"`+timed("at", 2), "capabilitylist.xml", named("sitemap", "p.xml", ""), named("sitemap", "q.xml", "")),
			"p.xml":    text("resourcelist", timed("at", 2), named("url", "a", ""), named("url", "b", "")),
			"q.xml":    text("resourcelist", "", named("url", "c", "")),
		}), []listed{{"p.xml", 2, minute(2)}, {"q.xml", 1, ""}}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []listed
			run := &harvest.Run{Fetcher: &sourcetest.Fetcher{Site: serve(test.docs, held(""), 1)}, Document: func(d harvest.ListedDocument) {
				l := listed{strings.TrimPrefix(d.URL, www), d.Entries, ""}
				if !d.Made.IsZero() {
					l.made = d.Made.UTC().Format("2006-01-02T15:04:05Z")
				}
				got = append(got, l)
			}}
			for _, err := range (&resourcesync.Source{URL: sourceURL}).Events(t.Context(), run) {
				require.NoError(t, err)
			}
			assert.ElementsMatch(t, test.want, got)
		})
	}
}
