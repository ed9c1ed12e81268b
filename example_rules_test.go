package websync_test

import (
	"fmt"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atom/anyfeed"
	"github.com/websync-go/websync/atompmh"
	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/eli/conformance"
	"github.com/websync-go/websync/eli/jsonld"
	"github.com/websync-go/websync/eli/rdfa"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/dirsource"
	"github.com/websync-go/websync/resourcesync"
	"github.com/websync-go/websync/rinfo"
	"github.com/websync-go/websync/sitemap"
	"github.com/websync-go/websync/sitemap/google"
)

// Each package lists the rules that its findings name, so that a program can explain a
// finding or choose which ones it shows.
func ExampleRule() {
	for _, rules := range [][]websync.Rule{
		sitemap.Rules(), google.Rules(), resourcesync.Rules(),
		atom.Rules(), atompmh.Rules(), rinfo.Rules(), anyfeed.Rules(), anyfeed.RSSRules(), anyfeed.JSONRules(),
		eli.Rules(), rdfa.Rules(), jsonld.Rules(),
		{conformance.Rules()[0].Rule}, // each with advice for publishers
		harvest.Rules(), dirsource.Rules(),
	} {
		r := rules[0]
		fmt.Printf("%v %s (%s): %s\n", r.Severity, r.Name, r.Section, r.Summary)
	}
	// Output:
	// error sitemap-xml (XML 1.0): XML that is not well-formed
	// info sitemap-extension-deprecated (sitemaps.org, Extending the Sitemaps protocol): an element that is no longer used
	// warning resourcesync-package-read (Z39.99 §11.1, §13.1): a package that can't be read: its resources are fetched one by one
	// error atom-xml (XML 1.0): XML that is not well-formed
	// error atompmh-entry-type (Atom-PMH 1.0, Detecting entry type): an entry that is neither an active, a historical nor a deletion entry
	// info rinfo-feed-id (Atom-insamling §3.1.1): a feed id that is an HTTP URL, which may lead nowhere one day
	// info anyfeed-tolerant (RFC 4287 §2): a document that is not Atom, or not sound, and was read tolerantly
	// error rss-xml (XML 1.0): XML that is not well-formed
	// error jsonfeed-json (RFC 8259): what is not JSON
	// error eli-csv-line (RFC 4180 §2): a line that is not an ELI, a date and perhaps a title
	// error rdfa-xml (XML 1.0): XML that is not well-formed
	// error jsonld-xml (XML 1.0): XHTML that is not well-formed
	// error P4-001 (ELI Pillar IV §3): The publisher offers both a sitemap and an update feed.
	// warning also (): a link of Harvester.Also to what its server does not have, or does not give: the resource is kept without it
	// error id-length (): a file whose id is longer than any Store takes: it is skipped
}
