package resourcesync_test

import (
	"archive/zip"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/websync-go/websync/internal/testing/racing"
)

// changeDumpLogs returns publishers whose only log is a Change Dump.
func changeDumpLogs(d dumper) map[string][]stage {
	base := offers("resourcelist", "resourcelist.xml", "changedump", "changedump.xml").with(pages{
		"resourcelist.xml": resourceList(0, has("a", "1"), has("b", "1"), has("c", "1"))})
	pack := func(path string, from, until int, changes string) parcel {
		return parcel{path: path, from: from, until: until, changes: changes}
	}
	log := func(from, until int, parcels ...parcel) pages {
		return base.with(d.dump("changedump.xml", from, until, parcels...))
	}
	one := func(p parcel) pages { p.path, p.from, p.until = "p1", 0, 2; return log(0, never, p) }
	newer := func(at int, entries ...string) pages { return pages{"resourcelist.xml": resourceList(at, entries...)} }
	begin := stage{pages: log(0, never), truth: "a=1 b=1 c=1"}
	// A package that can't be read is a hole, unless its manifest is beside it.
	alone, blame := inDoubt, "p1"
	if d.beside {
		alone, blame = inStep, ""
	}
	good := one(pack("", 0, 0, "a=2@1 -b@2"))
	healed := stage{pages: good, truth: "a=2 c=1"}
	entries, files := packedIn("a=2@1 -b@2")
	whole := zipped(append(files, member{name: "manifest.xml", text: changeManifest(0, 2, entries...)})...)
	index := func(lists []string, docs ...pages) pages {
		all := base.with(pages{"changedump.xml": dumpIndex(0, lists...)})
		for _, p := range docs {
			all = all.with(p)
		}
		return all
	}
	hiding := func(p pages) pages { // the entry of p2 can't be read
		return p.with(pages{"changedump.xml": strings.Replace(p["changedump.xml"], "<loc>"+www+"p2</loc>", "", 1)})
	}
	late := pack("open", 2, never, "c=2@5")
	late.manifest = changeManifest(4, never, edits("c=2@5")[0].entry("/c/0-c"))
	patch := func(md, links string, files ...member) pages {
		return one(parcel{entries: []string{entryWith("j", `change="updated"`+timed("datetime", 1)+" "+md, links)}, files: files})
	}
	const before, after, diff = `{"a":1}`, `{"a":1,"b":2}`, `[{"op":"add","path":"/b","value":2}]`
	document1 := stage{pages: base.with(log(0, never)).with(newer(0, has("j", before))), truth: "j=" + before}
	patchLink := func(href, more string) string {
		return linkTo("http://www.openarchives.org/rs/terms/patch", href, `type="application/json-patch" `+more)
	}

	all := map[string][]stage{
		// Dumps.
		"again at one instant, without digests": {begin,
			{pages: log(0, never, pack("p1", 0, never, "a=2@1?")), truth: "a=2 b=1 c=1"},
			{pages: log(0, never, pack("p1", 0, never, "a=2@1? a=3@1?")), truth: "a=3 b=1 c=1"},
			{pages: log(0, never, pack("p1", 0, 1, "a=2@1? a=3@1?"), pack("p2", 1, never, "a=4@1?")), truth: "a=4 b=1 c=1"}},
		"packages are added": {begin, healed,
			{pages: log(0, never, pack("p1", 0, 2, "a=2@1 -b@2"), pack("p2", 2, 4, "b=3@3")), truth: "a=2 b=3 c=1"},
			{pages: log(0, never, pack("p1", 0, 2, "a=2@1 -b@2"), pack("p2", 2, 4, "b=3@3"), pack("p3", 4, 6, "-a@5 b=4@6")), truth: "b=4 c=1"}},
		"a package grows": {begin,
			{pages: log(0, never, pack("p1", 0, never, "a=2@1")), truth: "a=2 b=1 c=1"},
			{pages: log(0, never, pack("p1", 0, never, "a=2@1 -b@2")), truth: "a=2 c=1"},
			{pages: log(0, never, pack("p1", 0, never, "a=2@1 -b@2 b=3@2 a=3@2")), truth: "a=3 b=3 c=1"},
			{pages: log(0, never, pack("p1", 0, 3, "a=2@1 -b@2 b=3@2 a=3@2 -c@3"), pack("p2", 3, never, "c=9@4")), truth: "a=3 b=3 c=9"}},
		"a package grows from nothing": {begin,
			{pages: log(0, never, pack("p1", 0, never, "")), truth: "a=1 b=1 c=1"},
			{pages: log(0, never, pack("p1", 0, never, "-a@0")), truth: "b=1 c=1"}},
		"a package grows and until moves": {begin,
			{pages: log(0, never, pack("p1", 0, 2, "a=2@1")), truth: "a=2 b=1 c=1"},
			{pages: log(0, never, pack("p1", 0, 4, "a=2@1 -b@3")), truth: "a=2 c=1"}},
		"a package closes and another begins": {begin,
			{pages: log(0, never, pack("p1", 0, never, "a=2@1")), truth: "a=2 b=1 c=1"},
			{pages: log(0, never, pack("p1", 0, 2, "a=2@1 -b@2"), pack("p2", 2, never, "")), truth: "a=2 c=1"},
			{pages: log(0, never, pack("p1", 0, 2, "a=2@1 -b@2"), pack("p2", 2, never, "b=1@3")), truth: "a=2 b=1 c=1"}},
		"an open package is left behind": {begin,
			{pages: log(0, never, pack("p1", 0, never, "a=2@1")), truth: "a=2 b=1 c=1"},
			{pages: log(0, never, pack("p1", 0, never, "a=2@1"), pack("p2", 1, never, "-b@2")), truth: "a=2 c=1"},
			{pages: log(0, never, pack("p1", 0, never, "a=2@1"), pack("p2", 1, never, "-b@2 b=3@3")), truth: "a=2 b=3 c=1"}},
		"an open package is replaced by one that begins later": {begin,
			{pages: log(0, never, pack("p1", 0, never, "a=2@1")), truth: "a=2 b=1 c=1"},
			{pages: log(5, never, pack("p2", 5, never, "c=2@6")), truth: "a=2 c=2", want: inDoubt, said: "p2"},
			{pages: log(5, never, pack("p2", 5, never, "c=2@6")).with(newer(7, has("a", "2"), has("c", "2"))), truth: "a=2 c=2"}},
		"the only package is rewritten": {begin,
			{pages: log(0, never, pack("p1", 0, never, "a=2@1")), truth: "a=2 b=1 c=1"},
			{pages: log(1, never, pack("p1", 1, never, "-b@2")), truth: "a=2 c=1"},
			{pages: log(2, never, pack("p1", 2, never, "-c@3 a=3@3")), truth: "a=3"}},
		"the only package is rewritten and leaves a hole": {begin,
			{pages: log(0, never, pack("p1", 0, never, "a=2@1")), truth: "a=2 b=1 c=1"},
			{pages: log(4, never, pack("p1", 4, never, "c=2@5")), truth: "a=2 c=2", want: inDoubt, said: "p1"}},
		"packages are split": {begin,
			{pages: log(0, never, pack("p1", 0, never, "a=2@1 b=2@2 b=3@3")), truth: "a=2 b=3 c=1"},
			{pages: log(0, never, pack("q1", 0, 1, "a=2@1"), pack("q2", 1, 2, "b=2@2"), pack("q3", 2, never, "b=3@3 -a@4")), truth: "b=3 c=1"}},
		"packages are merged": {begin,
			{pages: log(0, never, pack("q1", 0, 1, "a=2@1"), pack("q2", 1, 2, "b=2@2"), pack("q3", 2, never, "b=3@3")), truth: "a=2 b=3 c=1"},
			{pages: log(0, never, pack("p1", 0, never, "a=2@1 b=2@2 b=3@3 -a@4")), truth: "b=3 c=1"}},
		"all packages are renamed, and one is gone": {begin,
			{pages: log(0, never, pack("q1", 0, 2, "a=2@1"), pack("q2", 2, 4, "-b@3"), pack("q3", 4, 6, "b=3@5"), pack("q4", 6, never, "c=2@7")), truth: "a=2 b=3 c=2"},
			{pages: log(0, never, pack("p1", 0, 2, "a=2@1"), pack("p2", 2, 4, "-b@3"), parcel{path: "p3", from: 4, until: 6, zip: gone, beside: "<!doctype html>"}, pack("p4", 6, never, "c=2@7 c=3@8")), truth: "a=2 b=3 c=3", want: inDoubt, said: "p3"},
			{pages: log(0, never, pack("q1", 0, 2, "a=2@1"), pack("q2", 2, 4, "-b@3"), pack("q3", 4, 6, "b=3@5"), pack("q4", 6, never, "c=2@7 c=3@8")), truth: "a=2 b=3 c=3"}},
		"all packages without times are renamed, and one is gone": {begin,
			{pages: log(0, never, pack("q1", 0, 2, "a=2 b=2"), pack("q2", 2, 4, "b=3"), pack("q3", 4, never, "c=2")), truth: "a=2 b=3 c=2"},
			{pages: log(0, never, pack("p1", 0, 2, "a=2 b=2"), parcel{path: "p2", from: 2, until: 4, zip: gone, beside: "<!doctype html>"}, pack("p3", 4, never, "c=2")), truth: "a=2 b=3 c=2", want: inDoubt, said: "p2"},
			{pages: log(0, never, pack("q1", 0, 2, "a=2 b=2"), pack("q2", 2, 4, "b=3"), pack("q3", 4, never, "c=2")), truth: "a=2 b=3 c=2"}},
		"packages are split within an instant": {begin,
			{pages: log(0, never, pack("p1", 0, never, "a=2@1 b=2@1")), truth: "a=2 b=2 c=1"},
			{pages: log(0, never, pack("q1", 0, 1, "a=2@1"), pack("q2", 1, never, "b=2@1 -c@1")), truth: "a=2 b=2"}},
		"the packages swap their names": {begin,
			{pages: log(0, never, pack("p1", 0, 2, "a=2@1"), pack("p2", 2, never, "b=2@3")), truth: "a=2 b=2 c=1"},
			{pages: log(0, never, pack("p2", 0, 2, "a=2@1"), pack("p1", 2, never, "b=2@3 -c@4")), truth: "a=2 b=2"}},
		"the open package is later than the dump": {begin,
			{pages: log(0, never, pack("p1", 0, 2, "a=2@1"), late), truth: "a=2 b=2 c=2", want: inDoubt, said: "it begins later"},
			{pages: log(0, never, pack("p1", 0, 2, "a=2@1"), pack("p2", 2, 4, "b=2@3"), pack("open", 4, never, "c=2@5")), truth: "a=2 b=2 c=2"}},
		"the open package stays later than the dump": {begin,
			{pages: log(0, never, pack("p1", 0, 2, "a=2@1"), late), truth: "a=2 b=2 c=2", want: inDoubt, said: "it begins later"},
			{pages: log(0, never, pack("p1", 0, 2, "a=2@1"), late), truth: "a=2 b=2 c=2", want: inDoubt, said: "it begins later"},
			{pages: log(0, never, pack("p1", 0, 2, "a=2@1"), late).with(newer(6, has("a", "2"), has("b", "2"), has("c", "2"))), truth: "a=2 b=2 c=2", said: "interval-gap"}},
		"the open package leaves the position behind": {begin,
			{pages: log(0, never, pack("open", 0, never, "a=2@1")), truth: "a=2 b=1 c=1"},
			{pages: log(0, never, pack("p1", 0, 2, "a=2@1 -b@2"), pack("p2", 2, 4, "b=2@3"), pack("open", 4, never, "c=2@5")), truth: "a=2 b=2 c=2", said: "<nil>\n"}},
		"old packages are dropped": {begin,
			{pages: log(0, never, pack("p1", 0, 2, "a=2@1"), pack("p2", 2, 4, "-b@3")), truth: "a=2 c=1"},
			{pages: log(2, never, pack("p2", 2, 4, "-b@3"), pack("p3", 4, 6, "b=3@5")), truth: "a=2 b=3 c=1"}},
		"old packages are dropped and from stays": {begin,
			{pages: log(0, never, pack("p1", 0, 2, "a=2@1"), pack("p2", 2, 4, "-b@3")), truth: "a=2 c=1"},
			{pages: log(0, never, pack("p2", 2, 4, "-b@3"), pack("p3", 4, 6, "b=3@5")), truth: "a=2 b=3 c=1", want: either},
			{pages: log(0, never, pack("p4", 6, 8, "-c@7")), truth: "a=2 b=3", want: either},
			{pages: log(0, never, pack("p6", 10, 12, "c=7@11")), truth: "a=5 c=7", want: inDoubt, said: "p6"}},
		"unread packages are dropped": {begin,
			{pages: log(4, never, pack("p3", 4, 6, "c=2@5")), truth: "a=2 c=2", want: inDoubt, said: "p3"},
			{pages: log(4, never, pack("p3", 4, 6, "c=2@5")).with(newer(4, has("a", "2"), has("c", "1"))), truth: "a=2 c=2"}},
		"unread packages are dropped and from stays": {begin,
			{pages: log(0, never, pack("p3", 4, 6, "c=2@5")), truth: "a=2 c=2", want: inDoubt, said: "p3"},
			{pages: log(0, never, pack("p3", 4, 6, "c=2@5")).with(newer(5, has("a", "2"), has("c", "2"))), truth: "a=2 c=2", want: either}},
		"packages are in the wrong order": {begin,
			{pages: log(0, never, pack("p2", 2, 4, "-a@3"), pack("p1", 0, 2, "a=2@1")), truth: "b=1 c=1", want: either},
			{pages: log(0, never, pack("p3", 4, 6, "a=5@5"), pack("p2", 2, 4, "-a@3"), pack("p1", 0, 2, "a=2@1")), truth: "a=5 b=1 c=1", want: either}},
		"packages change places": {begin,
			{pages: log(0, never, pack("p1", 0, 2, "a=2@1"), pack("p2", 2, 4, "a=3@3")), truth: "a=3 b=1 c=1"},
			{pages: log(0, never, pack("p2", 2, 4, "a=3@3"), pack("p1", 0, 2, "a=2@1")), truth: "a=3 b=1 c=1", want: either},
			{pages: log(0, never, pack("p1", 0, 2, "a=2@1"), pack("p2", 2, 4, "a=3@3"), pack("p3", 4, 6, "-a@5")), truth: "b=1 c=1", want: either}},
		"packages without intervals": {begin,
			{pages: log(0, never, parcel{path: "p1", from: never, until: never, manifest: changeManifest(0, 2, entries...), files: files}), truth: "a=2 c=1"},
			{pages: log(0, never,
				parcel{path: "p1", from: never, until: never, manifest: changeManifest(0, 2, entries...), files: files},
				parcel{path: "p2", from: never, until: never, changes: "b=3@3"}), truth: "a=2 b=3 c=1"},
			{pages: log(0, never,
				parcel{path: "p1", from: never, until: never, manifest: changeManifest(0, 2, entries...), files: files},
				parcel{path: "p2", from: never, until: never, changes: "b=3@3 -a@4"}), truth: "b=3 c=1"}},
		"packages without intervals that leave a hole": {begin,
			{pages: log(0, never, parcel{path: "p2", from: never, until: never, entries: []string{lost(5, "c")}, manifest: changeManifest(4, never, lost(5, "c"))}), truth: "a=2 b=1", want: inDoubt, said: "p2"}},
		"no from at all": {begin,
			{pages: log(never, never, pack("p1", never, never, "a=2@1")), truth: "a=2 b=1 c=1", want: either, said: "p1"},
			{pages: log(never, never, pack("p1", never, never, "a=2@1"), pack("p2", never, never, "-b@2")), truth: "a=2 c=1", want: either}},
		"neither from nor any time": {begin,
			{pages: log(never, never, pack("p1", never, never, "a=2")), truth: "a=2 b=1 c=1", want: either},
			{pages: log(never, never, pack("p1", never, never, "a=2"), pack("p2", never, never, "-b a=3")), truth: "a=3 c=1", want: either},
			{pages: log(never, never, pack("p1", never, never, "a=2"), pack("p2", never, never, "-b a=3 b=1 a=2")), truth: "a=2 b=1 c=1", want: either}},
		"overlapping packages": {begin,
			{pages: log(0, never, pack("p1", 0, 3, "a=2@1 -b@2"), pack("p2", 1, 5, "-b@2 b=3@4")), truth: "a=2 b=3 c=1"},
			{pages: log(0, never, pack("p1", 0, 3, "a=2@1 -b@2"), pack("p2", 1, 5, "-b@2 b=3@4"), pack("p3", 2, 7, "b=3@4 a=5@6 -c@7")), truth: "a=5 b=3"}},
		"a package of all and one of the last": {begin,
			{pages: log(0, never, pack("p1", 0, 4, "a=2@1 -b@2 b=3@3 -a@4"), pack("p2", 3, 4, "-a@4")), truth: "b=3 c=1"},
			{pages: log(0, never, pack("p1", 0, 6, "a=2@1 -b@2 b=3@3 -a@4 a=5@5"), pack("p2", 4, 6, "a=5@5")), truth: "a=5 b=3 c=1"}},
		"each package repeats all before it": {begin,
			{pages: log(0, never, pack("p1", 0, 1, "a=2@1"), pack("p2", 0, 2, "a=2@1 a=3@2"), pack("p3", 0, 3, "a=2@1 a=3@2 -b@3")), truth: "a=3 c=1", want: either},
			{pages: log(0, never, pack("p1", 0, 1, "a=2@1"), pack("p2", 0, 2, "a=2@1 a=3@2"), pack("p3", 0, 3, "a=2@1 a=3@2 -b@3"), pack("p4", 0, 4, "a=2@1 a=3@2 -b@3 a=4@4")), truth: "a=4 c=1", want: either}},
		"a hole": {begin,
			{pages: log(0, never, pack("p1", 0, 2, "a=2@1"), pack("p3", 4, 6, "c=2@5")), truth: "a=2 c=2", want: inDoubt, said: "p3"},
			{pages: log(0, never, pack("p1", 0, 2, "a=2@1"), pack("p3", 4, 6, "c=2@5")).with(newer(5, has("a", "2"), has("c", "2"))), truth: "a=2 c=2", want: either},
			{pages: log(0, never, pack("p1", 0, 2, "a=2@1"), pack("p2", 2, 4, "-b@3"), pack("p3", 4, 6, "c=2@5")), truth: "a=2 c=2", want: either}},
		"a hole that only the manifests state": {begin,
			{pages: log(0, never, pack("p1", 0, 2, "a=2@1"), parcel{path: "p3", from: 2, until: 6, manifest: changeManifest(4, 6, lost(5, "c"))}), truth: "a=2", want: inDoubt, said: "p3"}},
		"until is always now": {begin,
			{pages: log(0, 5, pack("p1", 0, 5, "a=2@1")), truth: "a=2 b=1 c=1"},
			{pages: log(0, 10, pack("p1", 0, 10, "a=2@1 -b@7")), truth: "a=2 c=1"},
			{pages: log(0, 15, pack("p1", 0, 15, "a=2@1 -b@7 b=3@8 b=4@12")), truth: "a=2 b=4 c=1"}},
		"until is always now, and changes come late": {begin,
			{pages: log(0, 5, pack("p1", 0, 5, "a=2@1")), truth: "a=2 b=1 c=1"},
			{pages: log(0, 10, pack("p1", 0, 10, "a=2@1 -b@4")), truth: "a=2 c=1"}},
		"until of the dump is always now": {begin,
			{pages: log(0, 5, pack("p1", 0, 2, "a=2@1")), truth: "a=2 b=1 c=1"},
			{pages: log(0, 10, pack("p1", 0, 2, "a=2@1"), pack("p2", 2, 8, "-b@4")), truth: "a=2 c=1"}},
		"until of the dump stays": {begin,
			{pages: log(0, 5, pack("p1", 0, 2, "a=2@1")), truth: "a=2 b=1 c=1"},
			{pages: log(0, 5, pack("p1", 0, 2, "a=2@1"), pack("p2", 2, 5, "-b@4")), truth: "a=2 c=1"}},
		"a package is closed ahead of time": {begin,
			{pages: log(0, never, pack("p1", 0, 9000, "a=2@1")), truth: "a=2 b=1 c=1", want: either},
			{pages: log(0, never, pack("p1", 0, 9000, "a=2@1 -b@2")), truth: "a=2 c=1", want: either},
			{pages: log(0, never, pack("p1", 0, 9000, "a=2@1 -b@2 b=7@3"), pack("p2", 9000, 18000, "-c@9001")), truth: "a=2 b=7", want: either}},
		"a dump is closed ahead of time": {begin,
			{pages: log(0, 9000, pack("p1", 0, 2, "a=2@1")), truth: "a=2 b=1 c=1", want: either},
			{pages: log(0, 9000, pack("p1", 0, 2, "a=2@1"), pack("p2", 2, 4, "-b@4")), truth: "a=2 c=1", want: either}},
		"until before from": {begin,
			{pages: log(2, 0, pack("p1", 2, 0, "a=2@1")), truth: "a=2 b=1 c=1", want: either},
			{pages: log(2, 0, pack("p1", 2, 0, "a=2@1"), pack("p2", 2, 4, "-b@3")), truth: "a=2 c=1", want: either}},
		"from in the future": {begin,
			{pages: log(1<<24, never, pack("p1", 1<<24, never, "a=2@1")), truth: "a=2 b=1 c=1", want: either},
			{pages: log(1<<24, never, pack("p1", 1<<24, never, "a=2@1 -b@2")), truth: "a=2 c=1", want: either}},
		"the dump moves": {begin, healed,
			{pages: offers("resourcelist", "resourcelist.xml", "changedump", "moved.xml").with(newer(0, has("a", "1"), has("b", "1"), has("c", "1"))).with(
				d.dump("moved.xml", 0, never, pack("p1", 0, 2, "a=2@1 -b@2"), pack("p2", 2, 4, "b=3@3"))).with(pages{"changedump.xml": "-> moved.xml"}), truth: "a=2 b=3 c=1"}},
		"a dump is replaced by the next": {begin,
			{pages: log(0, 2, pack("p1", 0, 2, "a=2@1 -b@2")), truth: "a=2 c=1"},
			{pages: log(0, 2, pack("p1", 0, 2, "a=2@1 -b@2")).with(offers("resourcelist", "resourcelist.xml", "changedump", "next.xml")).with(
				d.dump("next.xml", 2, never, pack("p2", 2, 4, "b=3@3"))), truth: "a=2 b=3 c=1"}},
		"an open dump is left behind": {begin, healed,
			{pages: good.with(offers("resourcelist", "resourcelist.xml", "changedump", "next.xml")).with(
				d.dump("next.xml", 2, never, pack("p2", 2, 4, "b=3@3"))), truth: "a=2 b=3 c=1"}},
		"a dump is replaced by one that leaves a hole": {begin, healed,
			{pages: good.with(offers("resourcelist", "resourcelist.xml", "changedump", "next.xml")).with(
				d.dump("next.xml", 4, never, pack("p3", 4, 6, "c=3@5"))), truth: "c=3", want: inDoubt, said: "p3"}},
		"two dumps in the Capability List": {begin,
			{pages: offers("resourcelist", "resourcelist.xml", "changedump", "d1", "changedump", "d2").with(newer(0, has("a", "1"), has("b", "1"), has("c", "1"))).with(
				d.dump("d1", 0, 2, pack("p1", 0, 2, "a=2@1 -b@2"))).with(d.dump("d2", 2, never, pack("p2", 2, 4, "-c@3"))), truth: "a=2", want: inDoubt, said: "capabilitylist.xml"}},
		"the dump is gone":        {begin, {pages: base, truth: "a=2 c=1", want: inDoubt, said: "changedump.xml"}, healed},
		"the dump is a page":      {begin, {pages: base.with(pages{"changedump.xml": "<!doctype html><title>Log in</title>"}), truth: "a=2 c=1", want: inDoubt, said: "changedump.xml"}, healed},
		"the dump is empty bytes": {begin, {pages: base.with(pages{"changedump.xml": ""}), truth: "a=2 c=1", want: inDoubt, said: "changedump.xml"}, healed},
		"the dump is cut":         {begin, {pages: good.with(pages{"changedump.xml": good["changedump.xml"][:len(good["changedump.xml"])-20]}), truth: "a=2 c=1", want: inDoubt, said: "changedump.xml"}, healed},
		"the dump is a Resource Dump": {begin, {pages: good.with(pages{"changedump.xml": strings.Replace(good["changedump.xml"], `"changedump"`, `"resourcedump"`, 1)}),
			truth: "a=2 c=1", want: inDoubt, said: "changedump.xml"}, healed},
		"the dump is a Change List": {begin, {pages: base.with(pages{"changedump.xml": changeList(0, never, got(1, "a", "2"), lost(2, "b"))}), truth: "a=2 c=1", want: either}, healed},
		"the dump is a package":     {begin, {pages: base.with(pages{"changedump.xml": whole}), truth: "a=2 c=1", want: inDoubt, said: "changedump.xml"}, healed},
		"the dump is the Capability List": {begin, {pages: base.with(offers("resourcelist", "resourcelist.xml", "changedump", "capabilitylist.xml")),
			truth: "a=2 c=1", want: inDoubt, said: "capabilitylist.xml"}, healed},

		// Indexes.
		"an index grows": {begin,
			{pages: index([]string{listed("d1", 0, never)}, d.dump("d1", 0, never, pack("p1", 0, 2, "a=2@1 -b@2"))), truth: "a=2 c=1"},
			{pages: index([]string{listed("d1", 0, 4), listed("d2", 4, never)},
				d.dump("d1", 0, 4, pack("p1", 0, 2, "a=2@1 -b@2"), pack("p2", 2, 4, "b=3@3")), d.dump("d2", 4, never)), truth: "a=2 b=3 c=1"},
			{pages: index([]string{listed("d1", 0, 4), listed("d2", 4, never)},
				d.dump("d1", 0, 4, pack("p1", 0, 2, "a=2@1 -b@2"), pack("p2", 2, 4, "b=3@3")), d.dump("d2", 4, never, pack("p3", 4, 6, "-a@5"))), truth: "b=3 c=1"}},
		"an index without intervals": {begin,
			{pages: index([]string{listed("d1", never, never), listed("d2", never, never)},
				d.dump("d1", 0, 2, pack("p1", 0, 2, "a=2@1 -b@2")), d.dump("d2", 2, never, pack("p2", 2, 4, "b=3@3"))), truth: "a=2 b=3 c=1"}},
		"a dump becomes an index": {begin, healed,
			{pages: index([]string{listed("d1", 0, 2), listed("d2", 2, never)},
				d.dump("d1", 0, 2, pack("p1", 0, 2, "a=2@1 -b@2")), d.dump("d2", 2, never, pack("p2", 2, 4, "b=3@3"))), truth: "a=2 b=3 c=1"}},
		"an index becomes a dump": {begin,
			{pages: index([]string{listed("d1", 0, 2), listed("d2", 2, never)},
				d.dump("d1", 0, 2, pack("p1", 0, 2, "a=2@1 -b@2")), d.dump("d2", 2, never, pack("p2", 2, 4, "b=3@3"))), truth: "a=2 b=3 c=1"},
			{pages: log(0, never, pack("p1", 0, 2, "a=2@1 -b@2"), pack("p2", 2, 4, "b=3@3"), pack("p3", 4, 6, "-c@5")), truth: "a=2 b=3"}},
		"an index that lists itself": {begin,
			{pages: index([]string{listed("d1", 0, 2), listed("changedump.xml", 2, never)}, d.dump("d1", 0, 2, pack("p1", 0, 2, "a=2@1 -b@2"))), truth: "a=2 c=1", want: inDoubt, said: "changedump.xml"}},
		"two indexes that list each other": {begin,
			{pages: index([]string{listed("d1", 0, never)}, pages{"d1": dumpIndex(0, listed("changedump.xml", 0, never))}), truth: "a=1 b=1 c=1", want: inDoubt, said: "d1"}},
		"a dump is left behind, and loses entries": {begin,
			{pages: log(0, never, pack("p1", 0, 2, "a=2@1"), pack("p2", 2, 4, "-b@3")), truth: "a=2 c=1"},
			{pages: log(0, never, pack("p1", 0, 2, "a=2@1")).with(offers("resourcelist", "resourcelist.xml", "changedump", "moved.xml")).with(
				d.dump("moved.xml", 0, never, pack("p1", 0, 2, "a=2@1"), pack("p2", 2, 4, "-b@3"), pack("p3", 4, 6, "c=5@5"))), truth: "a=2 c=5"}},
		"a dump is left behind, and loses all entries": {begin,
			{pages: log(0, never, pack("p1", 0, 2, "a=2@1"), pack("p2", 2, 4, "-b@3")), truth: "a=2 c=1"},
			{pages: log(0, never).with(offers("resourcelist", "resourcelist.xml", "changedump", "moved.xml")).with(
				d.dump("moved.xml", 0, never, pack("p1", 0, 2, "a=2@1"), pack("p2", 2, 4, "-b@3"), pack("p3", 4, 6, "c=5@5"))), truth: "a=2 c=5"}},
		"an index of dumps is left behind, and loses entries": {begin,
			{pages: index([]string{listed("d1", 0, 2), listed("d2", 2, never)}, d.dump("d1", 0, 2, pack("p1", 0, 2, "a=2@1")), d.dump("d2", 2, never, pack("p2", 2, 4, "-b@3"))), truth: "a=2 c=1"},
			{pages: index([]string{listed("d1", 0, 2)}, d.dump("d1", 0, 2, pack("p1", 0, 2, "a=2@1"))).with(offers("resourcelist", "resourcelist.xml", "changedump", "moved.xml")).with(
				d.dump("moved.xml", 0, never, pack("p1", 0, 2, "a=2@1"), pack("p2", 2, 4, "-b@3"), pack("p3", 4, 6, "c=5@5"))), truth: "a=2 c=5"}},
		"an entry of a dump that can't be read": {begin,
			{pages: hiding(log(0, never, pack("p1", 0, 2, "a=2@1"), pack("p2", 2, 4, "-b@3"), pack("p3", 2, never, "c=5@5"))), truth: "a=2 c=5", want: inDoubt},
			{pages: hiding(log(0, never, pack("p1", 0, 2, "a=2@1"), pack("p2", 2, 4, "-b@3"), pack("p3", 2, never, "c=5@5"))), truth: "a=2 c=5", want: inDoubt},
			{pages: log(0, never, pack("p1", 0, 2, "a=2@1"), pack("p2", 2, 4, "-b@3"), pack("p3", 2, never, "c=5@5")), truth: "a=2 c=5"}},
		"an entry of an index of dumps that can't be read": {begin,
			{pages: index([]string{listed("d1", 0, 2), "<sitemap><rs:md/></sitemap>"}, d.dump("d1", 0, 2, pack("p1", 0, 2, "a=2@1"))), truth: "a=2 c=1", want: inDoubt},
			{pages: index([]string{listed("d1", 0, 2), listed("d2", 2, never)}, d.dump("d1", 0, 2, pack("p1", 0, 2, "a=2@1")), d.dump("d2", 2, never, pack("p2", 2, 4, "-b@3"))), truth: "a=2 c=1"}},
		"an index of which a dump is gone": {begin,
			{pages: index([]string{listed("d1", 0, 2), listed("d2", 2, never)}, d.dump("d2", 2, never, pack("p2", 2, 4, "c=3@3"))), truth: "a=2 c=3", want: inDoubt, said: "d1"},
			{pages: index([]string{listed("d1", 0, 2), listed("d2", 2, never)}, d.dump("d1", 0, 2, pack("p1", 0, 2, "a=2@1 -b@2")), d.dump("d2", 2, never, pack("p2", 2, 4, "c=3@3"))), truth: "a=2 c=3"}},
		"an index of which the last dump is gone": {begin,
			{pages: index([]string{listed("d1", 0, 2), listed("d2", 2, never)}, d.dump("d1", 0, 2, pack("p1", 0, 2, "a=2@1 -b@2"))), truth: "a=2 c=3", want: inDoubt, said: "d2"},
			{pages: index([]string{listed("d1", 0, 2), listed("d2", 2, never)}, d.dump("d1", 0, 2, pack("p1", 0, 2, "a=2@1 -b@2")), d.dump("d2", 2, never, pack("p2", 2, 4, "c=3@3"))), truth: "a=2 c=3"}},
		"an index with a hole": {begin,
			{pages: index([]string{listed("d1", 0, 2), listed("d3", 4, never)}, d.dump("d1", 0, 2, pack("p1", 0, 2, "a=2@1")), d.dump("d3", 4, never, pack("p3", 4, 6, "c=3@5"))), truth: "a=2 c=3", want: inDoubt, said: "p3"}},
		"an index of a Change List": {begin,
			{pages: index([]string{listed("c1", 0, never)}, pages{"c1": changeList(0, never, got(1, "a", "2"), lost(2, "b"))}), truth: "a=2 c=1", want: inDoubt, said: "c1"}},
		"a dump of an index redirects to another": {begin,
			{pages: index([]string{listed("d1", 0, 2), listed("d2", 2, never)}, pages{"d1": "-> d2"}, d.dump("d2", 2, never, pack("p2", 2, 4, "c=3@3"))), truth: "a=2 c=3", want: inDoubt, said: "d1"}},
		"an index that names a dump twice": {begin,
			{pages: index([]string{listed("d1", 0, never), listed("d1", 0, never)}, d.dump("d1", 0, never, pack("p1", 0, 2, "a=2@1 -a@2"))), truth: "b=1 c=1", want: either},
			{pages: index([]string{listed("d1", 0, never), listed("d1", 0, never)}, d.dump("d1", 0, never, pack("p1", 0, 2, "a=2@1 -a@2"), pack("p2", 2, 4, "a=3@3"))), truth: "a=3 b=1 c=1", want: either}},
		"dumps in the wrong order": {begin,
			{pages: index([]string{listed("d2", 2, never), listed("d1", 0, 2)}, d.dump("d1", 0, 2, pack("p1", 0, 2, "a=2@1")), d.dump("d2", 2, never, pack("p2", 2, 4, "-a@3"))), truth: "b=1 c=1", want: either}},
		"a package in two dumps": {begin,
			{pages: index([]string{listed("d1", 0, 2), listed("d2", 0, never)}, d.dump("d1", 0, 2, pack("p1", 0, 2, "a=2@1 -b@2")), d.dump("d2", 0, never, pack("p1", 0, 2, "a=2@1 -b@2"), pack("p2", 2, 4, "b=3@3"))), truth: "a=2 b=3 c=1", want: either}},
		"an index without dumps": {begin, {pages: index(nil), truth: "a=1 b=1 c=1", want: either}},

		// Manifests.
		"no manifest": {begin, {pages: one(parcel{zip: zipped(files...), beside: changeManifest(0, 2, entries...)}), truth: "a=2 c=1", want: alone, said: blame}, healed},
		"a manifest in a directory": {begin, {pages: one(parcel{zip: zipped(append(files, member{name: "x/manifest.xml", text: changeManifest(0, 2, entries...)})...), beside: changeManifest(0, 2, entries...)}),
			truth: "a=2 c=1", want: alone, said: blame}, healed},
		"two manifests": {begin, {pages: one(parcel{changes: "a=2@1 -b@2", files: []member{{name: "manifest.xml", text: changeManifest(0, 2)}}}), truth: "a=2 c=1", want: alone, said: blame}, healed},
		"a manifest of a Resource Dump": {begin, {pages: one(parcel{manifest: document("urlset", `capability="resourcedump-manifest"`+timed("at", 2), "capabilitylist.xml", packedAt("a", "2", "/c/0-a"), packedAt("c", "1", "/c/c")),
			files: append(files, member{name: "c/c", text: "1"})}), truth: "a=2 c=1", want: inDoubt, said: "p1"}, healed},
		"a Change List as the manifest": {begin, {pages: one(parcel{manifest: changeList(0, 2, entries...), files: files}), truth: "a=2 c=1", want: either, said: "p1"}, healed},
		"a manifest without md": {begin, {pages: one(parcel{manifest: strings.Replace(changeManifest(0, 2, entries...), `<rs:md capability="changedump-manifest"`, `<rs:no `, 1), files: files}),
			truth: "a=2 c=1", want: either, said: "p1"}, healed},
		"a manifest that is an index": {begin, {pages: one(parcel{manifest: dumpIndex(0, listed("p1", 0, 2)), files: files}), truth: "a=2 c=1", want: inDoubt, said: "p1"}, healed},
		"a manifest that is cut": {begin, {pages: one(parcel{manifest: changeManifest(0, 2, entries...)[:300], files: files}),
			truth: "a=2 c=1", want: inDoubt, said: "p1"}, healed},
		"a manifest that begins with a newline": {begin, {pages: one(parcel{manifest: "\n" + changeManifest(0, 2, entries...), files: files}), truth: "a=2 c=1", want: either}, healed},
		"an empty manifest":                     {begin, {pages: one(parcel{manifest: "<!-- -->"}), truth: "a=2 c=1", want: inDoubt, said: "p1"}, healed},
		"a manifest without from":               {begin, {pages: one(parcel{manifest: changeManifest(never, never, entries...), files: files}), truth: "a=2 c=1"}, healed},
		"a manifest of another interval": {begin, {pages: log(0, never, parcel{path: "p1", from: 0, until: 2, manifest: changeManifest(2, 4, got(3, "c", "2")), beside: changeManifest(2, 4, got(3, "c", "2"))}, pack("p2", 2, 4, "c=2@3")),
			truth: "a=2 c=2", want: inDoubt, said: "p1"}},
		"less in the manifest beside it": {begin, {pages: one(parcel{changes: "a=2@1 -b@2", beside: changeManifest(0, 2, entries[0])}), truth: "a=2 c=1", want: either}},
		"another manifest beside it":     {begin, {pages: one(parcel{changes: "a=2@1 -b@2", beside: changeManifest(0, 2, got(1, "a", "2"), lost(1, "b"))}), truth: "a=2 c=1", want: either}, healed},
		"paths are swapped in the manifest beside it": {begin, {pages: one(parcel{changes: "a=2@1 b=3@2", beside: changeManifest(0, 2, edits("a=2@1")[0].entry("/c/1-b"), edits("b=3@2")[0].entry("/c/0-a"))}),
			truth: "a=2 b=3 c=1"}},
		"the manifest beside it is a page":      {begin, {pages: one(parcel{changes: "a=2@1 -b@2", beside: "<!doctype html><title>Log in</title>"}), truth: "a=2 c=1", want: either}, healed},
		"the manifest beside it is the package": {begin, {pages: one(parcel{changes: "a=2@1 -b@2", beside: whole}), truth: "a=2 c=1", want: either}, healed},
		"the manifest beside it is gone":        {begin, {pages: one(parcel{changes: "a=2@1 -b@2", beside: "-> nowhere"}), truth: "a=2 c=1", want: either}, healed},
		"the manifest beside it is that of another": {begin, {pages: log(0, never, parcel{path: "p1", from: 0, until: 2, changes: "a=2@1 -b@2", beside: changeManifest(2, 4, lost(3, "c"))}, parcel{path: "p2", from: 2, until: 4, changes: "-c@3"}),
			truth: "a=2", want: either}},
		"an entry without change": {begin, {pages: one(parcel{changes: "a=2@1", entries: []string{entryWith("b", hashOf("1")+timed("datetime", 2), ""), entryWith("c", `path="/x/c" `+hashOf("5")+timed("datetime", 2), "")}, files: []member{{name: "x/c", text: "5"}}}),
			truth: "a=2 b=1 c=5", want: either}},
		"an entry of an unknown change":            {begin, {pages: one(parcel{changes: "a=2@1", entries: []string{entryWith("b", `change="removed"`, "")}}), truth: "a=2 c=1", want: inDoubt, said: "p1"}},
		"an entry without loc":                     {begin, {pages: one(parcel{changes: "a=2@1", entries: []string{`<url><rs:md change="deleted"/></url>`}}), truth: "a=2 c=1", want: inDoubt, said: "p1"}},
		"entries without path":                     {begin, {pages: one(parcel{entries: []string{got(1, "a", "2"), got(1, "b", "3"), lost(2, "c")}}), truth: "a=2 b=3"}},
		"a path that is not there":                 {begin, {pages: one(parcel{entries: []string{edits("a=2@1")[0].entry("/no"), lost(2, "b")}}), truth: "a=2 c=1", said: "/no"}},
		"a path of a directory":                    {begin, {pages: one(parcel{entries: []string{edits("a=2@1")[0].entry("/x/"), lost(2, "b")}, files: []member{{name: "x/"}}}), truth: "a=2 c=1"}},
		"the manifest as a bitstream":              {begin, {pages: one(parcel{entries: []string{edits("a=2@1")[0].entry("/manifest.xml"), lost(2, "b")}}), truth: "a=2 c=1"}},
		"a path that climbs":                       {begin, {pages: one(parcel{entries: []string{edits("a=2@1?")[0].entry("/x/../../a"), lost(2, "b")}, files: []member{{name: "../a", text: "9"}}}), truth: "a=2 c=1", said: "../a"}},
		"a path of a drive":                        {begin, {pages: one(parcel{entries: []string{edits("a=2@1?")[0].entry(`C:\a`), lost(2, "b")}, files: []member{{name: `C:\a`, text: "9"}}}), truth: "a=2 c=1", said: "C:"}},
		"a path that is a URL":                     {begin, {pages: one(parcel{entries: []string{edits("a=2@1")[0].entry("https://elsewhere.example.com/a"), lost(2, "b")}}), truth: "a=2 c=1"}},
		"a deletion with a path":                   {begin, {pages: one(parcel{changes: "a=2@1", entries: []string{entryWith("b", `change="deleted" path="/x/b" `+hashOf("1")+timed("datetime", 2), "")}, files: []member{{name: "x/b", text: "1"}}}), truth: "a=2 c=1"}},
		"a deletion with a path that is not there": {begin, {pages: one(parcel{changes: "a=2@1", entries: []string{entryWith("b", `change="deleted" path="/x/b"`+timed("datetime", 2), "")}}), truth: "a=2 c=1"}},
		"one URI several times": {begin,
			{pages: one(parcel{changes: "a=2@1 -a@1 a=3@1 b=2@1 a=4@2 b=3@2 -c@2"}), truth: "a=4 b=3"},
			{pages: log(0, never, pack("p1", 0, 2, "a=2@1 -a@1 a=3@1 b=2@1 a=4@2 b=3@2 -c@2"), pack("p2", 2, 4, "a=2@3 -a@3 c=7@3 c=1@4")), truth: "b=3 c=1"}},
		"one URI across packages": {begin,
			{pages: log(0, never, pack("p1", 0, 2, "a=2@1"), pack("p2", 2, 4, "-a@3"), pack("p3", 4, 6, "a=5@5"), pack("p4", 6, 8, "a=7@7")), truth: "a=7 b=1 c=1"},
			{pages: log(0, never, pack("p1", 0, 2, "a=2@1"), pack("p2", 2, 4, "-a@3"), pack("p3", 4, 6, "a=5@5"), pack("p4", 6, 8, "a=7@7"), pack("p5", 8, 10, "-a@9")), truth: "b=1 c=1"}},
		"one URI without digests": {begin,
			{pages: log(0, never, pack("p1", 0, 2, "a=2@1? a=3@2?"), pack("p2", 2, 4, "-a@3"), pack("p3", 4, 6, "a=5@5? a=6@5?")), truth: "a=6 b=1 c=1"},
			{pages: log(0, never, pack("p1", 0, 2, "a=2@1? a=3@2?"), pack("p2", 2, 4, "-a@3"), pack("p3", 4, 6, "a=5@5? a=6@5?"), pack("p4", 6, never, "a=7@7? a=8@8?")), truth: "a=8 b=1 c=1"}},
		"one URI without digests and times": {begin,
			{pages: log(0, never, pack("p1", 0, 2, "a=2? a=3?"), pack("p2", 2, never, "-a a=5? a=6?")), truth: "a=6 b=1 c=1"},
			{pages: log(0, never, pack("p1", 0, 2, "a=2? a=3?"), pack("p2", 2, never, "-a a=5? a=6? a=7? a=8?")), truth: "a=8 b=1 c=1"}},
		"one path for two changes": {begin,
			{pages: one(parcel{entries: []string{edits("a=2@1")[0].entry("/x"), edits("a=3@2")[0].entry("/x")}, files: []member{{name: "x", text: "3"}}}), truth: "a=3 b=1 c=1"}},
		"an old text is missing": {begin,
			{pages: log(0, never, parcel{path: "p1", from: 0, until: 2, entries: []string{edits("a=2@1")[0].entry("/no")}}, pack("p2", 2, 4, "a=3@3")), truth: "a=3 b=1 c=1"}},
		"a new text is missing": {begin,
			{pages: log(0, never, pack("p1", 0, 2, "a=2@1"), parcel{path: "p2", from: 2, until: 4, entries: []string{edits("a=3@3")[0].entry("/no")}}), truth: "a=3 b=1 c=1"}},
		"a text is missing and the resource is newer": {begin,
			{pages: log(0, never, parcel{path: "p1", from: 0, until: 2, entries: []string{edits("a=2@1")[0].entry("/no")}}), truth: "a=3 b=1 c=1", want: inDoubt},
			{pages: log(0, never, parcel{path: "p1", from: 0, until: 2, entries: []string{edits("a=2@1")[0].entry("/no")}}, pack("p2", 2, 4, "a=3@3")), truth: "a=3 b=1 c=1"}},
		"entries in the wrong order": {begin,
			{pages: one(parcel{changes: "b=2@2 -c@1 a=2@0"}), truth: "a=2 b=2"},
			{pages: log(0, never, pack("p1", 0, 2, "b=2@2 -c@1 a=2@0"), pack("p2", 2, 4, "b=3@4 a=3@3")), truth: "a=3 b=3"}},
		"times that jump back": {begin,
			{pages: log(0, never, pack("p1", 0, never, "a=2@5 b=3@3 a=3@2")), truth: "a=2 b=3 c=1"}, // the newest first, as it seems
			{pages: log(0, never, pack("p1", 0, never, "a=2@5 b=3@3 a=3@2 a=4@1 -b@1")), truth: "a=4 c=1"},
			{pages: log(0, never, pack("p1", 0, 5, "a=2@5 b=3@3 a=3@2 a=4@1 -b@1"), pack("p2", 5, never, "a=5@4 b=5@2")), truth: "a=5 b=5 c=1"}},
		"no times at all": {begin,
			{pages: log(0, never, pack("p1", 0, never, "a=2")), truth: "a=2 b=1 c=1"},
			{pages: log(0, never, pack("p1", 0, never, "a=2 -b a=3")), truth: "a=3 c=1"},
			{pages: log(0, never, pack("p1", 0, 2, "a=2 -b a=3 a=4"), pack("p2", 2, never, "b=5")), truth: "a=4 b=5 c=1"},
			{pages: log(0, never, pack("p1", 0, 2, "a=2 -b a=3 a=4"), pack("p2", 2, never, "b=5 -b b=5 -b -a")), truth: "c=1"}},
		"times without zone": {begin,
			{pages: one(parcel{manifest: strings.ReplaceAll(changeManifest(0, 2, entries...), `Z"`, `"`), files: files}), truth: "a=2 c=1", want: either, said: "p1"}, healed},
		"times that are none": {begin,
			{pages: one(parcel{manifest: strings.ReplaceAll(changeManifest(0, 2, entries...), `datetime="2025-06-01T`, `datetime="Sunday, `), files: files}), truth: "a=2 c=1", want: either, said: "p1"}, healed},
		"lastmod as in version 1.0": {begin,
			{pages: one(parcel{entries: []string{"<url><loc>" + www + "a</loc><lastmod>" + minute(1) + `</lastmod><rs:md change="updated" path="/c/0-a"/></url>`, "<url><loc>" + www + "b</loc><lastmod>" + minute(2) + `</lastmod><rs:md change="deleted"/></url>`}, files: files}),
				truth: "a=2 c=1"}, healed},
		"lastmod of long ago": {begin,
			{pages: one(parcel{entries: []string{"<url><loc>" + www + "a</loc><lastmod>1999-01-01</lastmod>" + `<rs:md change="updated" path="/c/0-a"/></url>`, lost(2, "b")}, files: files}), truth: "a=2 c=1"}, healed},
		"changes outside of their interval": {begin,
			{pages: one(parcel{changes: "a=2@7 -b@-5"}), truth: "a=2 c=1", want: either}},
		"a change in the future": {begin,
			{pages: log(0, never, pack("p1", 0, never, "a=2@16777216")), truth: "a=2 b=1 c=1", want: either},
			{pages: log(0, never, pack("p1", 0, never, "a=2@16777216 -a@2 b=2@3")), truth: "b=2 c=1", want: either}},
		"changes at from": {begin,
			{pages: log(0, never, pack("p1", 0, 2, "a=2@0 b=2@2"), pack("p2", 2, never, "b=3@2 b=4@2")), truth: "a=2 b=4 c=1"},
			{pages: log(0, never, pack("p1", 0, 2, "a=2@0 b=2@2"), pack("p2", 2, never, "b=3@2 b=4@2 -b@2")), truth: "a=2 c=1"}},

		// Packages.
		"a package is gone":       {begin, {pages: one(parcel{zip: gone, beside: changeManifest(0, 2, entries...)}), truth: "a=2 c=1", want: alone, said: "p1"}, healed},
		"a package is a page":     {begin, {pages: one(parcel{zip: "<!doctype html>", beside: changeManifest(0, 2, entries...)}), truth: "a=2 c=1", want: alone, said: "p1"}, healed},
		"a package is a manifest": {begin, {pages: one(parcel{zip: changeManifest(0, 2, entries...), beside: changeManifest(0, 2, entries...)}), truth: "a=2 c=1", want: alone, said: "p1"}, healed},
		"a package is of xz":      {begin, {pages: one(parcel{zip: "\xfd7zXZ\x00" + strings.Repeat(".", 100), beside: changeManifest(0, 2, entries...)}), truth: "a=2 c=1", want: alone, said: "p1"}, healed},
		"a package is empty":      {begin, {pages: one(parcel{zip: zipped(), beside: changeManifest(0, 2, entries...)}), truth: "a=2 c=1", want: alone, said: "p1"}, healed},
		"a package is cut":        {begin, {pages: one(parcel{zip: whole[:len(whole)/2], beside: changeManifest(0, 2, entries...)}), truth: "a=2 c=1", want: alone, said: "p1"}, healed},
		"a package is too long":   {begin, {pages: one(parcel{zip: zipped(append(files, member{name: "big", text: strings.Repeat("x", 1<<20)}, member{name: "manifest.xml", text: changeManifest(0, 2, entries...)})...), beside: changeManifest(0, 2, entries...)}), truth: "a=2 c=1", want: alone, said: "p1"}, healed},
		"a wrong length":          {begin, {pages: one(parcel{md: `length="7"`, changes: "a=2@1 -b@2"}), truth: "a=2 c=1", want: alone, said: "p1"}, healed},
		"a wrong hash":            {begin, {pages: one(parcel{md: hashOf("other"), changes: "a=2@1 -b@2"}), truth: "a=2 c=1", want: alone, said: "p1"}, healed},
		"a hash that is none":     {begin, {pages: one(parcel{md: `hash="crc:1234"`, changes: "a=2@1 -b@2"}), truth: "a=2 c=1", want: either}, healed},
		"a package is the dump":   {begin, {pages: base.with(pages{"changedump.xml": document("urlset", `capability="changedump"`+timed("from", 0), "capabilitylist.xml", packageAt("changedump.xml", "", ""))}), truth: "a=2 c=1", want: inDoubt, said: "changedump.xml"}, healed},
		"a package is on another scheme": {begin, {pages: base.with(pages{"changedump.xml": document("urlset", `capability="changedump"`+timed("from", 0), "capabilitylist.xml", strings.Replace(packageAt("p", "", ""), www+"p", "file:///etc/passwd", 1))}),
			truth: "a=2 c=1", want: inDoubt, said: "changedump.xml"}, healed},
		"a package redirects":           {begin, {pages: one(parcel{zip: "-> q1", md: `length="` + fmt.Sprint(len(whole)) + `"`, beside: changeManifest(0, 2, entries...)}).with(pages{"q1": whole}), truth: "a=2 c=1"}, healed},
		"a package redirects to itself": {begin, {pages: one(parcel{zip: "-> p1", beside: changeManifest(0, 2, entries...)}), truth: "a=2 c=1", want: alone, said: "p1"}, healed},
		"a package redirects to another": {begin,
			{pages: log(0, never, parcel{path: "p1", from: 0, until: 2, zip: "-> p2", md: `length="1"`, beside: changeManifest(2, 4, got(3, "c", "2"))}, pack("p2", 2, 4, "c=2@3")), truth: "a=2 c=2", want: inDoubt, said: "p1"}},
		"a package redirects to another without intervals": {begin,
			{pages: log(0, never, parcel{path: "p1", from: never, until: never, zip: "-> p2", beside: changeManifest(0, 2, entries...)}, pack("p2", never, never, "c=2@3")), truth: "a=2 c=2", want: alone, said: "p1"}},
		"another package in its place": {begin,
			{pages: log(0, never, parcel{path: "p1", from: 0, until: 2, changes: "c=2@3", manifest: changeManifest(2, 4, edits("c=2@3")[0].entry("/c/0-c"))}, pack("p2", 2, 4, "c=2@3")), truth: "a=2 c=2", want: inDoubt, said: "p1"}},
		"a package is listed twice": {begin,
			{pages: log(0, never, pack("p1", 0, 2, "a=2@1 -a@2"), pack("p1", 0, 2, "a=2@1 -a@2")), truth: "b=1 c=1", want: either},
			{pages: log(0, never, pack("p1", 0, 2, "a=2@1 -a@2"), pack("p1", 0, 2, "a=2@1 -a@2"), pack("p2", 2, 4, "a=3@3")), truth: "a=3 b=1 c=1", want: either}},
		"a package is listed twice, another between": {begin,
			{pages: log(0, never, pack("p1", 0, 2, "a=2"), pack("p2", 2, 4, "-a"), pack("p1", 0, 2, "a=2")), truth: "b=1 c=1", want: either}},
		"a bomb as a bitstream": {begin, {pages: one(parcel{entries: entries, files: []member{{name: "c/0-a", text: strings.Repeat("\x00", 5<<20), method: zip.Deflate}}}), truth: "a=2 c=1"}},
		"a bomb": {begin, {pages: one(parcel{zip: zipped(member{name: "manifest.xml", text: changeManifest(0, 2, entries...)}, member{name: "c/0-a", text: "2", raw: true, claims: 70 << 20}), beside: changeManifest(0, 2, entries...)}),
			truth: "a=2 c=1", want: alone, said: "p1"}, healed},
		"a bomb as the manifest": {begin, {pages: one(parcel{zip: zipped(member{name: "manifest.xml", text: changeManifest(0, 2, entries...) + strings.Repeat(" ", 66<<20), method: zip.Deflate}), beside: changeManifest(0, 2, entries...)}),
			truth: "a=2 c=1", want: alone, said: "p1"}, healed},
		"two files of one name":              {begin, {pages: one(parcel{changes: "a=2@1? -b@2", files: []member{{name: "c/0-a", text: "9"}}}), truth: "a=2 c=1", said: "c/0-a"}, healed},
		"a file that is not listed":          {begin, {pages: one(parcel{changes: "a=2@1 -b@2", files: []member{{name: "x", text: "9"}}}), truth: "a=2 c=1", said: "/x"}, healed},
		"an encrypted file":                  {begin, {pages: one(parcel{entries: entries, files: []member{{name: "c/0-a", text: "9", flags: 1}}}), truth: "a=2 c=1", said: "c/0-a"}, healed},
		"wrong bytes":                        {begin, {pages: one(parcel{entries: entries, files: []member{{name: "c/0-a", text: "9"}}}), truth: "a=2 c=1"}, healed},
		"wrong bytes of a stated length":     {begin, {pages: one(parcel{entries: []string{entryWith("a", `change="updated" length="1" path="/c/0-a"`, ""), entries[1]}, files: []member{{name: "c/0-a", text: "99"}}}), truth: "a=2 c=1"}, healed},
		"wrong bytes and the resource fails": {begin, {pages: one(parcel{entries: entries, files: []member{{name: "c/0-a", text: "9"}}}), truth: "a=7 c=1", want: inDoubt}, healed},

		// Patches.
		"a patch and no path":                            {document1, {pages: patch(hashOf(after), patchLink(www+"no", `path="/d" `+hashOf(diff)), member{name: "d", text: diff}), truth: "j=" + after}},
		"a patch and a path":                             {document1, {pages: patch(hashOf(after)+` path="/j"`, patchLink(www+"no", `path="/d"`), member{name: "d", text: diff}, member{name: "j", text: after}), truth: "j=" + after}},
		"a patch without a digest":                       {document1, {pages: patch("", patchLink(www+"no", `path="/d"`), member{name: "d", text: diff}), truth: "j=" + after}},
		"a patch with another result":                    {document1, {pages: patch(hashOf(after), patchLink(www+"no", `path="/d"`), member{name: "d", text: strings.Replace(diff, "2", "3", 1)}), truth: "j=" + after}},
		"another patch than stated":                      {document1, {pages: patch(hashOf(after), patchLink(www+"no", `path="/d" `+hashOf("x")), member{name: "d", text: diff}), truth: "j=" + after}},
		"a patch that is not there":                      {document1, {pages: patch(hashOf(after), patchLink(www+"no", `path="/d"`)), truth: "j=" + after}},
		"a patch outside":                                {document1, {pages: patch(hashOf(after), patchLink(www+"no", `path="/../d"`), member{name: "../d", text: diff}), truth: "j=" + after}},
		"a patch as the whole":                           {document1, {pages: patch(hashOf(after)+` path="/d"`, patchLink(www+"no", `path="/d"`), member{name: "d", text: diff}), truth: "j=" + after}},
		"a patch beside the package":                     {document1, {pages: patch(hashOf(after), patchLink(www+"diff", "")).with(pages{"diff": diff}), truth: "j=" + after}},
		"a patch in the place of bytes without a digest": {document1, {pages: patch(`path="/j"`, patchLink(www+"no", `path="/d"`), member{name: "d", text: diff}, member{name: "j", text: after}), truth: "j=" + after}},
		"a patch for what was not held":                  {begin, {pages: patch(hashOf(after), patchLink(www+"no", `path="/d"`), member{name: "d", text: diff}), truth: "a=1 b=1 c=1 j=" + after}},
		"two patches": {document1, {pages: one(parcel{entries: []string{
			entryWith("j", `change="updated"`+timed("datetime", 1)+" "+hashOf(after), patchLink(www+"no", `path="/d"`)),
			entryWith("j", `change="updated"`+timed("datetime", 2)+" "+hashOf(before), patchLink(www+"no", `path="/e"`))},
			files: []member{{name: "d", text: diff}, {name: "e", text: `[{"op":"remove","path":"/b"}]`}}}), truth: "j=" + before}},
		"two patches again": {document1, {pages: one(parcel{entries: []string{
			entryWith("j", `change="updated"`+timed("datetime", 1)+" "+hashOf(after), patchLink(www+"no", `path="/d"`)),
			entryWith("j", `change="updated"`+timed("datetime", 2)+" "+hashOf(`{"b":2}`), patchLink(www+"no", `path="/e"`))},
			files: []member{{name: "d", text: diff}, {name: "e", text: `[{"op":"remove","path":"/a"}]`}}}), truth: `j={"b":2}`}},
	}
	if d.beside {
		stale := func(p parcel, until int, changes string) parcel {
			entries, _ := packedIn(changes)
			p.beside = changeManifest(p.from, until, entries...)
			return p
		}
		all["an old manifest of another interval beside it"] = []stage{begin,
			{pages: log(0, never, stale(pack("p1", 0, 2, "a=2@1 -b@2"), 1, "")), truth: "a=2 c=1", said: "p1.xml"}, healed}
		all["an old manifest of an open package beside it"] = []stage{begin,
			{pages: log(0, never, stale(pack("p1", 0, 2, "a=2@1 -b@2"), never, "")), truth: "a=2 c=1", said: "p1.xml"}, healed}
		all["an old manifest beside a package that grows"] = []stage{begin,
			{pages: log(0, never, pack("p1", 0, never, "a=2@1")), truth: "a=2 b=1 c=1"},
			{pages: log(0, never, stale(pack("p1", 0, never, "a=2@1 -b@2"), never, "a=2@1")), truth: "a=2 c=1"},
			{pages: log(0, never, stale(pack("p1", 0, never, "a=2@1 -b@2 c=3@3"), never, "a=2@1")), truth: "a=2 c=3"},
			{pages: log(0, never, pack("p1", 0, never, "a=2@1 -b@2 c=3@3 c=4@4")), truth: "a=2 c=4"},
			{pages: log(0, never, stale(pack("p1", 0, 5, "a=2@1 -b@2 c=3@3 c=4@4 a=5@5"), never, "a=2@1"), pack("p2", 5, never, "c=6@6")), truth: "a=5 c=6"}}
		all["an old manifest beside a closed package that grows"] = []stage{begin, healed,
			{pages: log(0, never, stale(pack("p1", 0, 2, "a=2@1 -b@2 a=3@2"), 2, "a=2@1 -b@2")), truth: "a=3 c=1"}}
		all["more in the manifest beside it"] = []stage{begin, {pages: one(parcel{changes: "a=2@1", beside: changeManifest(0, 2, entries...)}), truth: "a=2 c=1", want: either}, healed}
	}
	for name, attrs := range map[string]string{"many packages": "", "many packages with intervals": "i"} {
		var many []parcel
		for i := range 40 {
			from, until := never, never
			if attrs != "" {
				from, until = i, i+1
			}
			many = append(many, pack(fmt.Sprint("q", i), from, until, fmt.Sprintf("a=%d@%d", i+1, i+1)))
		}
		all[name] = []stage{begin, {pages: log(0, never, many[:20]...), truth: "a=20 b=1 c=1"}, {pages: log(0, never, many...), truth: "a=40 b=1 c=1"},
			{pages: log(0, never, append(slices.Clone(many), pack("last", 40, never, "-a@41"))...), truth: "b=1 c=1"}}
	}
	return all
}

// TestChangeDumpLogs harvests publishers of which a Change Dump is the only log.
func TestChangeDumpLogs(t *testing.T) {
	for kind, d := range map[string]dumper{"bare": {}, "with lengths": {length: true}, "with both": {beside: true, length: true}} {
		if racing.Few() && !d.beside {
			continue // they have no more goroutines
		}
		for name, stages := range changeDumpLogs(d) {
			t.Run(kind+"/"+name, func(t *testing.T) { play(t, stages) })
		}
	}
}
