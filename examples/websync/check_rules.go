package main

import (
	"fmt"
	"strings"

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
	"github.com/websync-go/websync/internal/publishing"
	"github.com/websync-go/websync/resourcesync"
	"github.com/websync-go/websync/rinfo"
	"github.com/websync-go/websync/sitemap"
	"github.com/websync-go/websync/sitemap/google"
)

// packageRules are the rules of one package.
type packageRules struct {
	spec  string // a value of -spec, or harvest
	path  string // of the package in the module
	rules []websync.Rule
}

// allRules returns every rule that a finding can name, those of one spec side by side.
// Those of harvest hold for Sources or Publishers of all specs: check reports none.
func allRules() []packageRules {
	var pillarIV []websync.Rule
	for _, r := range conformance.Rules() {
		pillarIV = append(pillarIV, r.Rule)
	}
	var ofELI, ofLists []websync.Rule
	for _, r := range eli.Rules() {
		if strings.HasPrefix(r.Name, "eli-csv-") {
			ofLists = append(ofLists, r)
		} else {
			ofELI = append(ofELI, r)
		}
	}
	return []packageRules{
		{"sitemap", "sitemap", sitemap.Rules()},
		{"sitemap", "sitemap/google", google.Rules()},
		{"atom", "atom", atom.Rules()},
		{"atom", "atom/anyfeed", anyfeed.Rules()},
		{"atompmh", "atompmh", atompmh.Rules()},
		{"eli", "eli/conformance", pillarIV},
		{"eli", "eli", ofELI},
		{"eli", "eli/rdfa", rdfa.Rules()},
		{"eli", "eli/jsonld", jsonld.Rules()},
		{"resourcesync", "resourcesync", resourcesync.Rules()},
		{"csv", "eli", ofLists},
		{"rinfo", "rinfo", rinfo.Rules()},
		{"jsonfeed", "atom/anyfeed", anyfeed.JSONRules()},
		{"rss", "atom/anyfeed", anyfeed.RSSRules()},
		{"harvest", "harvest", harvest.Rules()},
		{"harvest", "harvest/dirsource", dirsource.Rules()},
		{"harvest", "internal/publishing", publishing.Rules()},
	}
}

// A listedRule is a rule as -json lists it, in the fields of a finding.
type listedRule struct {
	Spec     string           `json:"spec"`
	Rule     string           `json:"rule"`
	Section  string           `json:"section"`
	Severity websync.Severity `json:"severity"`
	Message  string           `json:"message"`
}

// listRules prints the rules of one spec, or with auto those of all.
func (p *checkCommand) listRules() {
	for _, of := range allRules() {
		if p.spec != "auto" && p.spec != of.spec {
			continue
		}
		for _, r := range of.rules {
			line := fmt.Sprintf("%s: %s: %s", r.Name, r.Severity, r.Summary)
			if r.Section != "" {
				line += " (" + r.Section + ")"
			}
			p.print(listedRule{of.spec, r.Name, r.Section, r.Severity, r.Summary}, line)
		}
	}
}
