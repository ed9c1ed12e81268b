package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

const rinfoEntry = `<entry><id>http://rinfo.example.se/publ/exfs/2026:%s</id><title>E</title><summary>S</summary><updated>2025-01-01T00:00:00Z</updated>
<published>2025-01-01T00:00:00Z</published><content type="application/pdf" src="SELF/a.pdf" hash="md5:0cc175b9c0f1b6a831c399e269772661"/>
<link rel="alternate" type="application/rdf+xml" href="SELF/a.rdf" length="1" hash="md5:92eb5ffee6ae2fec3ad71c777531578f"/></entry>`

// TestCheckRinfo checks a feed by the rules of the profile, the chain of its documents
// and, on request, what its entries link to.
func TestCheckRinfo(t *testing.T) {
	const start = `<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:example:f</id><title>F</title><updated>2025-01-01T00:00:00Z</updated>
<author><name>A</name><email>a@example.se</email></author>`
	entry := func(n string) string { return strings.Replace(rinfoEntry, "%s", n, 1) }
	url, asked := checkedSite(t, map[string]string{
		"/feed":   start + `<link rel="self" href="SELF/feed"/>` + entry("1") + "</feed>",
		"/no-rdf": start + `<link rel="self" href="SELF/no-rdf"/>` + strings.Replace(entry("1"), "application/rdf+xml", "text/csv", 1) + "</feed>",
		"/chain":  start + `<link rel="self" href="SELF/chain"/><link rel="prev-archive" href="SELF/old"/>` + entry("1") + "</feed>",
		"/old": start + `<link rel="self" href="SELF/old"/><link rel="current" href="SELF/chain"/><fh:archive xmlns:fh="http://purl.org/syndication/history/1.0"/>` +
			strings.Replace(entry("2"), "a.rdf", "b.rdf", 1) + "</feed>",
		"/a.pdf": "a", "/a.rdf": "b", "/b.rdf": "other",
	})
	for name, test := range map[string]struct {
		args  string
		code  int
		want  string
		asked string // "" if nothing else is
	}{
		"good":                {"-spec rinfo /feed", exitDone, "/feed: feed, entries 1, errors 0, warnings 0", ""},
		"without RDF":         {"-spec rinfo /no-rdf", exitLeft, "(rinfo-rdf, Atom-insamling §3.3.5, §7.1)", ""},
		"by Atom only":        {"-spec atom /no-rdf", exitDone, "errors 0", ""},
		"good, verified":      {"-spec rinfo -verify /feed", exitDone, "errors 0", "/a.rdf"},
		"a chain":             {"-spec rinfo /chain", exitDone, "entries 2, errors 0", ""},
		"a chain, verified":   {"-spec rinfo -verify /chain", exitLeft, "/b.rdf: length: want 1, got more", "/b.rdf"},
		"-verify needs rinfo": {"-verify /feed", exitFailed, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			*asked = nil
			got := check(t, "", strings.Fields(strings.ReplaceAll(test.args, " /", " "+url+"/"))...)
			assert.Equal(t, test.code, got.code, got.stdout+got.stderr)
			assert.Contains(t, got.stdout, test.want)
			if test.asked != "" {
				assert.Contains(t, *asked, test.asked)
			} else {
				assert.NotContains(t, *asked, "/a.rdf")
			}
		})
	}
	writeFiles(t, map[string]string{"feed.xml": start + strings.ReplaceAll(entry("1"), "SELF", url) + "</feed>"})
	got := check(t, "", "-spec", "rinfo", "feed.xml")
	assert.Equal(t, exitDone, got.code, got.stdout)
}
