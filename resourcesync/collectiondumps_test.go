package resourcesync_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/websync-go/websync/resourcesync"
)

// pathOf matches the attribute that only entries of manifests have.
var pathOf = regexp.MustCompile(` ?path="[^"]*"`)

// TestCollectionDumps harvests the members of a collection from Resource Dumps and Change
// Dumps. What is no member is never held, and its bytes are nowhere else.
func TestCollectionDumps(t *testing.T) {
	const in, out = "in", "out"
	collection := map[string]string{in: linkTo("collection", otherHost, ""), out: linkTo("collection", otherHost+"2", "")}
	// at returns an entry with the path of its text, of a Resource List if change is
	// empty.
	at := func(n int, name, change, text, side string) string {
		return since(n, name, change, fmt.Sprintf("path=%q %s", "/res/"+name+"-"+text, hashOf(text)), collection[side])
	}
	bitstream := func(name, text string) member { return member{name: "res/" + name + "-" + text, text: text} }
	texts := []member{bitstream("a", "1"), bitstream("a", "2"), bitstream("a", "3"), bitstream("b", "evil")}
	bare := func(entry string) string { return pathOf.ReplaceAllString(entry, "") }
	nowhere := pages{"a": "!404", "b": "!404"}

	resourceDumps := func(d dumper) map[string][]linkStage {
		dump := func(n int, truth string, entries ...string) linkStage {
			manifest := document("urlset", `capability="resourcedump-manifest"`+timed("at", n), "capabilitylist.xml", entries...)
			docs := offers("resourcedump", "resourcedump.xml").with(pages{
				"dump.zip": zipped(append(texts, member{name: "manifest.xml", text: manifest})...)})
			links := ""
			if d.beside {
				docs["dump.xml"], links = manifest, linkTo("contents", www+"dump.xml", "")
			}
			docs["resourcedump.xml"] = document("urlset", `capability="resourcedump"`+timed("at", n), "capabilitylist.xml", packageAt("dump.zip", "", links))
			return linkStage{pages: docs.with(nowhere), truth: truth}
		}
		other := at(0, "b", "", "evil", out)
		return map[string][]linkStage{
			"a member":                     {dump(0, "a=1", at(0, "a", "", "1", in), other)},
			"no member at all":             {dump(0, "", other)},
			"it leaves and comes back":     {dump(0, "a=1", at(0, "a", "", "1", in), other), dump(5, "", at(0, "a", "", "1", out), other), dump(6, "a=3", at(0, "a", "", "3", in), other)},
			"it changes":                   {dump(0, "a=1", at(0, "a", "", "1", in), other), dump(5, "a=2", at(3, "a", "", "2", in), other)},
			"it leaves and is not listed":  {dump(0, "a=1", at(0, "a", "", "1", in), other), dump(5, "", other)},
			"a resource becomes a member":  {dump(0, "", at(0, "a", "", "1", out), other), dump(5, "a=1", at(0, "a", "", "1", in), other)},
			"the link is that of no entry": {dump(0, "", strings.Replace(at(0, "a", "", "1", in), "collection", "up", 1), other)},
		}
	}

	base := list(at(0, "a", "", "1", in), at(0, "b", "", "evil", out))
	listed := make([]string, len(base))
	for i := range base {
		listed[i] = bare(base[i])
	}
	changeDumps := func(d dumper) map[string][]linkStage {
		log := func(truth string, changes ...string) linkStage {
			docs := d.dump("changedump.xml", 0, never, parcel{path: "p1", from: 0, until: never, entries: changes, files: texts})
			return linkStage{truth: truth, pages: offers("resourcelist", "resourcelist.xml", "changedump", "changedump.xml").with(docs).with(nowhere).with(pages{
				"resourcelist.xml": resourceList(0, listed...)})}
		}
		begin := log("a=1")
		delete(begin.pages, "a")
		return map[string][]linkStage{
			"a member changes":               {begin, log("a=2", at(1, "a", "updated", "2", in))},
			"what is no member changes":      {begin, log("a=1", at(1, "b", "updated", "evil", out), at(2, "b", "updated", "evil", ""))},
			"it leaves and comes back":       {begin, log("", at(1, "a", "updated", "2", out)), log("a=3", at(1, "a", "updated", "2", out), at(2, "a", "updated", "3", in))},
			"it leaves and comes back now":   {begin, log("a=3", at(1, "a", "updated", "2", out), at(2, "a", "updated", "3", in))},
			"it comes back and leaves again": {begin, log("", at(1, "a", "updated", "2", in), at(2, "a", "updated", "3", out))},
			"at one instant":                 {begin, log("a=2", at(1, "a", "updated", "3", out), at(1, "a", "updated", "2", in)), log("", at(1, "a", "updated", "3", out), at(1, "a", "updated", "2", in), at(1, "a", "updated", "2", out))},
			"without times":                  {begin, log("a=2", at(never, "a", "updated", "3", out), at(never, "a", "updated", "2", in)), log("", at(never, "a", "updated", "3", out), at(never, "a", "updated", "2", in), at(never, "a", "updated", "2", out))},
			"it leaves, and is deleted":      {begin, log("", at(1, "a", "updated", "2", out), since(2, "a", "deleted", ""))},
		}
	}

	// Enough changes for the packages of the Change Dump to be cheaper than requests.
	both := func(d dumper) map[string][]linkStage {
		changes := func(members int) (entries []string, files []member, truth string) {
			for i := range 20 {
				name, text, side := fmt.Sprint("r", i), "evil", out
				if i < members {
					text, side = "2", in
					truth += name + "=2 "
				}
				entries = append(entries, at(i+1, name, "updated", text, side))
				files = append(files, bitstream(name, text))
			}
			return entries, files, truth
		}
		log := func(members int) linkStage {
			entries, files, truth := changes(members)
			docs := d.dump("changedump.xml", 0, never, parcel{path: "p1", from: 0, until: never, entries: entries, files: files})
			changed := make([]string, len(entries))
			for i := range entries {
				changed[i] = bare(entries[i])
			}
			s := linkStage{truth: strings.TrimSpace("a=1 " + truth), most: 12, pages: listsOf(listed, changed...).with(docs).with(
				offers("resourcelist", "resourcelist.xml", "changelist", "changelist.xml", "changedump", "changedump.xml"))}
			for i := range members {
				if members > 5 {
					s.pages[fmt.Sprint("r", i)] = "!404" // the package is what is cheaper
				}
			}
			if members == 1 {
				s.most = 6 // four documents and two bodies: no package for the sake of one
			}
			return s
		}
		return map[string][]linkStage{
			"many members":   {log(20)},
			"half of them":   {log(10)},
			"one":            {log(1)},
			"none":           {log(0)},
			"more and more":  {log(1), log(10), log(20)},
			"less and less":  {log(20), log(10), log(0)},
			"they come back": {log(10), log(0), log(10)},
		}
	}

	for kind, d := range map[string]dumper{"inside": {}, "with both": {beside: true, length: true}} {
		for shape, cases := range map[string]map[string][]linkStage{"Resource Dump": resourceDumps(d), "Change Dump": changeDumps(d), "besides": both(d)} {
			for name, stages := range cases {
				t.Run(kind+"/"+shape+"/"+name, func(t *testing.T) {
					playLinks(t, &resourcesync.Source{URL: sourceURL, Collections: []string{otherHost}}, stages)
				})
			}
		}
	}
}
