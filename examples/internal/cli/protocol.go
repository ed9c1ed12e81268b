package cli

import (
	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atom/anyfeed"
	"github.com/websync-go/websync/atompmh"
	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/eli/jsonld"
	"github.com/websync-go/websync/eli/rdfa"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/dirsource"
	"github.com/websync-go/websync/resourcesync"
	"github.com/websync-go/websync/rinfo"
	"github.com/websync-go/websync/sitemap"
	"github.com/websync-go/websync/sitemap/google"
)

// Auto is the protocol of a target of which is found out what it offers.
const Auto = "auto"

var (
	// Harvested are the protocols of targets.
	Harvested = []string{Auto, "sitemap", "atom", "atompmh", "resourcesync", "rinfo", "eli", "csv", "dir"}
	// Published are the protocols of publications.
	Published = []string{"sitemap", "atom", "atompmh", "resourcesync", "eli", "rinfo"}
)

// A protocol is how the documents of a protocol are read and written.
type protocol struct {
	// source makes the Source of a target with its settings. If nil, there is none to
	// set.
	source func(o *Opener, t Target) harvest.Source
	// lists makes the Publisher of a site, whose host is the author of what has none. If
	// nil, the protocol is not published.
	lists func(p *Publication, base string, host websync.Person) lists
}

// protocols is the table of protocols.
var protocols = map[string]protocol{
	"sitemap": {
		func(_ *Opener, t Target) harvest.Source {
			return &sitemap.Source{URL: t.URL, Complete: t.Complete, Extend: t.Selection.extend()}
		},
		func(p *Publication, _ string, _ websync.Person) lists {
			return &sitemap.Publisher{Path: p.Path, Extensions: google.Extensions()}
		},
	},
	"atom": {
		func(o *Opener, t Target) harvest.Source {
			return &atom.Source{URL: t.URL, Dir: o.PagesDir, Parser: anyfeed.Parse, MaxValue: o.MaxValue}
		},
		func(p *Publication, base string, host websync.Person) lists {
			return &atom.Publisher{Path: p.Path, Title: base, Author: host, Hubs: p.Hubs, InlineBytes: p.Inline}
		},
	},
	"atompmh": {
		func(o *Opener, t Target) harvest.Source {
			return &atompmh.Source{URL: t.URL, AllFormats: true, Dir: o.PagesDir}
		},
		func(p *Publication, base string, host websync.Person) lists {
			return &atom.Publisher{Profile: atompmh.Profile(), Path: p.Path, Title: base, Author: host, Hubs: p.Hubs}
		},
	},
	"rinfo": {
		func(o *Opener, t Target) harvest.Source { return &rinfo.Source{URL: t.URL, Dir: o.PagesDir} },
		func(p *Publication, base string, host websync.Person) lists {
			return &atom.Publisher{Profile: rinfo.Profile(), Path: p.Path, Title: base, Author: host, Hubs: p.Hubs}
		},
	},
	"resourcesync": {
		func(_ *Opener, t Target) harvest.Source { return &resourcesync.Source{URL: t.URL, Types: t.Types} },
		func(p *Publication, _ string, _ websync.Person) lists {
			set := &resourcesync.Publisher{Path: p.Path, Robots: true, Hubs: p.Hubs, ListSize: p.ListSize, MaxLists: p.MaxLists}
			if p.Dumps != "" {
				set.Dumps = &resourcesync.Dumps{Dir: p.Dumps, State: p.State, MaxPackages: p.MaxLists}
			}
			return set
		},
	},
	"eli": {
		func(o *Opener, t Target) harvest.Source {
			a := &t.Acts
			every, _ := a.every() // Wrong has checked it
			return &eli.Source{
				Sitemap: t.URL, Feed: t.Feed, Interval: o.interval(),
				Preferences: eli.Preferences{Languages: a.Languages, AllLanguages: a.AllLanguages, Formats: a.Formats},
				Linked:      a.Linked, ResyncEvery: every, Extractors: []eli.Extractor{&rdfa.Extractor{}, &jsonld.Extractor{}},
			}
		},
		func(p *Publication, _ string, host websync.Person) lists {
			return &eli.Publisher{Path: p.Path, Author: host}
		},
	},
	"csv": {source: func(_ *Opener, t Target) harvest.Source {
		if t.File != "" {
			return &eli.CSV{File: t.File, Name: t.URL}
		}
		return &eli.CSV{URL: t.URL}
	}},
	"dir": {source: func(_ *Opener, t Target) harvest.Source {
		return &dirsource.Source{Dir: t.Dir, Base: t.URL, Exclude: t.Exclude}
	}},
}
