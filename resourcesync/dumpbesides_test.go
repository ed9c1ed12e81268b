package resourcesync_test

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/resourcesync"
)

// TestChangeDumpBesidesPublishers harvests publishers of a Change List and a Change Dump:
// whatever is in the dump, what the list says is held.
func TestChangeDumpBesidesPublishers(t *testing.T) {
	racing.Skip(t)
	const from, until = 0, never
	all := func(version, shift int, more string) string {
		var b strings.Builder
		for i := range 14 {
			fmt.Fprintf(&b, "r%d=%d@%d%s ", i, version, i+shift, more)
		}
		return strings.TrimSpace(b.String())
	}
	texts := func(version int) string {
		var b strings.Builder
		for i := range 14 {
			fmt.Fprintf(&b, "r%d=%d ", i, version)
		}
		return strings.TrimSpace(b.String())
	}
	untimed := func(changes string) string {
		fields := strings.Fields(changes)
		for i, f := range fields {
			before, at, _ := strings.Cut(f, "@")
			if fields[i] = before; strings.HasSuffix(at, "?") {
				fields[i] += "?"
			}
		}
		return strings.Join(fields, " ")
	}
	bare := func(changes string) string { return strings.ReplaceAll(changes, "?", "") }
	// Entries whose texts are others than their digests say.
	liars := func(changes, text string, also string) (p parcel) {
		for i, e := range edits(changes) {
			path := fmt.Sprintf("x/%d", i)
			p.entries = append(p.entries, entryWith(e.name, `change="updated" path="/`+path+`"`+timed("datetime", e.n)+" "+also, ""))
			if also == "digest" {
				p.entries[i] = e.entry("/" + path)
			}
			p.files = append(p.files, member{name: path, text: text})
		}
		return p
	}
	both := offers("resourcelist", "resourcelist.xml", "changelist", "changelist.xml", "changedump", "changedump.xml")
	started := func(extra ...string) string {
		entries := slices.Clone(extra)
		for i := range 14 {
			entries = append(entries, has(fmt.Sprint("r", i), "1"))
		}
		return resourceList(0, entries...)
	}
	base := both.with(pages{"resourcelist.xml": started(), "changelist.xml": changeList(0, never)})
	for kind, d := range map[string]dumper{"bare": {}, "with both": {beside: true, length: true}} {
		begin := stage{pages: base.with(d.dump("changedump.xml", 0, never)), truth: texts(1)}
		for mark, digest := range map[string]string{"digests": "", "no digests": "?"} {
			list := all(2, 1, digest)
			twice := strings.Replace(list, " r6=", " r5=8@6"+digest+" r6=", 1)
			dump := func(parcels ...parcel) pages {
				return base.with(pages{"changelist.xml": changeList(from, until, entriesOf(list)...)}).with(d.dump("changedump.xml", from, until, parcels...))
			}
			one := func(p parcel) []stage {
				p.path, p.from, p.until = "p1", from, until
				return []stage{begin, {pages: dump(p), truth: texts(2)}}
			}
			changed := func(list string, truth string, parcels ...parcel) []stage {
				return []stage{begin, {pages: dump(parcels...).with(pages{"changelist.xml": changeList(from, until, entriesOf(list)...)}), truth: truth}}
			}
			p1 := func(changes string) parcel { return parcel{path: "p1", from: from, until: until, changes: changes} }
			replaced := func(text string) []stage {
				return []stage{begin, {pages: dump().with(pages{"changedump.xml": text}), truth: texts(2)}}
			}
			good := zipped(append(func() []member { _, f := packedIn(bare(list)); return f }(), member{name: "manifest.xml", text: changeManifest(0, never, func() []string { e, _ := packedIn(bare(list)); return e }()...)})...)
			cases := map[string][]stage{
				"they agree":                     one(parcel{changes: bare(list)}),
				"the dump has no digests":        one(parcel{changes: list}),
				"the dump is behind":             one(parcel{changes: bare(all(9, -20, ""))}),
				"the dump is behind, no digests": one(parcel{changes: all(9, -20, "?")}),
				"the dump is ahead":              one(parcel{changes: bare(list) + " " + all(9, 30, "") + " " + all(2, 50, "")}),
				"fewer entries":                  one(parcel{changes: "r1=2@2 r2=2@3"}),
				"no entries":                     one(parcel{}),
				"more entries":                   one(parcel{changes: bare(list) + " -r3@30 x=9@31"}),
				"it deletes":                     one(parcel{changes: strings.ReplaceAll(strings.ReplaceAll(bare(list), "=2", ""), "r", "-r")}),
				"other times":                    one(parcel{changes: bare(all(2, 3, ""))}),
				"no times":                       one(parcel{changes: bare(untimed(list))}),
				"two texts at one time, of which the dump has the first": changed(twice, strings.Replace(texts(2), "r5=2", "r5=8", 1), p1(bare(list))),
				"two texts at one time, no digests in the dump":          changed(twice, strings.Replace(texts(2), "r5=2", "r5=8", 1), p1(all(2, 1, "?"))),
				"two texts at one time":                                  changed(twice, strings.Replace(texts(2), "r5=2", "r5=8", 1), p1(twice)),
				"two texts at one time, turned":                          changed(twice, strings.Replace(texts(2), "r5=2", "r5=8", 1), p1(strings.Replace(bare(list), "r5=2@6", "r5=8@6 r5=2@6", 1))),
				"two texts, the dump has the first":                      changed(list+" r5=8@20"+digest, strings.Replace(texts(2), "r5=2", "r5=8", 1), p1(bare(list))),
				"deleted and created":                                    changed(list+" -r5@20 r5=8@20"+digest, strings.Replace(texts(2), "r5=2", "r5=8", 1), p1(bare(list)+" -r5@20")),
				"deleted after the dump":                                 changed(list+" -r5@20", strings.Replace(texts(2), "r5=2 ", "", 1), p1(bare(list))),
				"the list has no times":                                  changed(untimed(list), texts(2), p1(bare(list))),
				"the list has no times, the dump is behind":              changed(untimed(list), texts(2), p1(bare(all(9, 1, "")))),
				"neither has times, the dump is behind":                  changed(untimed(list), texts(2), p1(untimed(bare(all(9, 1, ""))))),
				"neither has anything, the dump is behind":               changed(untimed(list), texts(2), p1(untimed(all(9, 1, "?")))),
				"the dump is gone":                                       {begin, {pages: both.with(pages{"resourcelist.xml": started(), "changelist.xml": changeList(from, until, entriesOf(list)...)}), truth: texts(2)}},
				"the dump is a page":                                     replaced("<!doctype html><title>Log in</title>"),
				"the dump is empty":                                      replaced(""),
				"the dump is a Change List":                              replaced(changeList(0, never, entriesOf(all(9, 1, ""))...)),
				"the dump is a Resource Dump":                            replaced(document("urlset", `capability="resourcedump"`+timed("at", 5), "capabilitylist.xml", packageAt("p1", "", ""))),
				"the dump lists itself":                                  replaced(dumpIndex(0, listed("changedump.xml", 0, never))),
				"the dump redirects to itself":                           replaced("-> changedump.xml"),
				"the dump is an index of one that is gone":               replaced(dumpIndex(0, listed("d1", 0, never))),
				"the dump is the Change List":                            {begin, {pages: dump().with(offers("resourcelist", "resourcelist.xml", "changelist", "changelist.xml", "changedump", "changelist.xml")), truth: texts(2)}},
				"the dump is on another scheme":                          {begin, {pages: dump().with(pages{"capabilitylist.xml": strings.Replace(both["capabilitylist.xml"], www+"changedump.xml", "file:///etc/passwd", 1)}), truth: texts(2)}},
				"an index":                                               {begin, {pages: dump().with(pages{"changedump.xml": dumpIndex(0, listed("d1", 0, never))}).with(d.dump("d1", 0, never, p1(bare(list)))), truth: texts(2)}},
				"two dumps":                                              {begin, {pages: dump(p1(bare(list))).with(offers("resourcelist", "resourcelist.xml", "changelist", "changelist.xml", "changedump", "changedump.xml", "changedump", "d2")), truth: texts(2)}},
				"a package is gone":                                      one(parcel{zip: gone}),
				"a package is a page":                                    one(parcel{zip: "<!doctype html>"}),
				"a package is cut":                                       one(parcel{zip: good[:len(good)-30]}),
				"a package is empty":                                     one(parcel{zip: zipped()}),
				"a package redirects":                                    one(parcel{zip: "-> p1"}),
				"a package is too long":                                  one(parcel{zip: zipped(member{name: "x", text: strings.Repeat("x", 2<<20)})}),
				"no manifest":                                            one(parcel{zip: zipped(func() []member { _, f := packedIn(bare(list)); return f }()...)}),
				"a wrong length":                                         one(parcel{changes: bare(list), md: `length="7"`}),
				"a wrong hash":                                           one(parcel{changes: bare(list), md: hashOf("x")}),
				"a manifest of a Resource Dump":                          one(parcel{manifest: manifest(packedAt("r1", "9", "/x")), files: []member{{name: "x", text: "9"}}}),
				"a manifest without entries of the manifest beside":      one(parcel{manifest: changeManifest(0, never), beside: changeManifest(0, never, entriesOf(bare(list))...)}),
				"the manifest beside is a page":                          one(parcel{changes: bare(list), beside: "<!doctype html>"}),
				"paths lead out":                                         one(parcel{entries: []string{edits("r1=2@2?")[0].entry("/../x")}, files: []member{{name: "../x", text: "9"}}}),
				"paths are not there": one(parcel{entries: func() (all []string) {
					for _, e := range edits(bare(list)) {
						all = append(all, e.entry("/no"))
					}
					return all
				}()}),
				"two files of one name":      one(parcel{changes: bare(list), files: []member{{name: "c/1-r1", text: "9"}}}),
				"bombs":                      one(parcel{entries: []string{edits("r1=2@2")[0].entry("/x")}, files: []member{{name: "x", text: strings.Repeat("\x00", 8<<20), method: zip.Deflate}}}),
				"a dump of another interval": {begin, {pages: dump().with(d.dump("changedump.xml", 50, never, parcel{path: "p1", from: 50, until: never, changes: all(9, 51, "")})), truth: texts(2)}},
			}
			if digest == "" {
				cases["other digests"] = one(parcel{changes: all(9, 1, "")})
				cases["other bytes of the same digests"] = one(liars(list, "9", "digest"))
				cases["other bytes, no digests"] = one(liars(list, "9", ""))
				cases["other bytes, lengths"] = one(liars(list, "9", `length="1"`))
				cases["one path for all"] = one(parcel{entries: func() (all []string) {
					for _, e := range edits(list) {
						all = append(all, e.entry("/x"))
					}
					return all
				}(), files: []member{{name: "x", text: "9"}}})
			}
			var many []parcel
			for i := range 300 {
				many = append(many, parcel{path: fmt.Sprint("q", i), from: never, until: never, changes: "other=1@3"})
			}
			cases["many packages"] = []stage{begin, {pages: dump(many...), truth: texts(2)}}
			for i := range many {
				many[i].from, many[i].until = 0, 20
			}
			cases["many packages with intervals"] = []stage{begin, {pages: dump(many...), truth: texts(2)}}
			lists := make([]string, 300)
			for i := range lists {
				lists[i] = listed(fmt.Sprint("d", i), 0, never)
			}
			cases["many dumps"] = replaced(dumpIndex(0, lists...))
			for name, stages := range cases {
				t.Run(kind+"/"+mark+"/"+name, func(t *testing.T) { play(t, stages) })
			}
		}
	}
}

// TestChangeDumpSwitched: a publisher goes from a Change Dump to a Change List, and back.
func TestChangeDumpSwitched(t *testing.T) {
	rl := pages{"resourcelist.xml": resourceList(0, has("a", "1"), has("b", "1"), has("c", "1"))}
	d := dumper{length: true}
	offer := func(what ...string) pages {
		return rl.with(offers(append([]string{"resourcelist", "resourcelist.xml"}, what...)...))
	}
	list := func(changes string) pages {
		return offer("changelist", "changelist.xml").with(pages{"changelist.xml": changeList(0, never, entriesOf(changes)...)})
	}
	dump := func(changes string) pages {
		return offer("changedump", "changedump.xml").with(d.dump("changedump.xml", 0, never, parcel{path: "p1", from: 0, until: never, changes: changes}))
	}
	both := func(inList, inDump string) pages {
		return list(inList).with(dump(inDump)).with(offer("changelist", "changelist.xml", "changedump", "changedump.xml"))
	}
	neither := func(at int, entries ...string) pages {
		return offer().with(pages{"resourcelist.xml": resourceList(at, entries...)})
	}
	for name, stages := range map[string][]stage{
		"from a dump to a list and back": {
			{pages: dump("a=2@1"), truth: "a=2 b=1 c=1"}, {pages: list("a=2@1 -b@2"), truth: "a=2 c=1"}, {pages: dump("a=2@1 -b@2 b=3@3"), truth: "a=2 b=3 c=1"}},
		"from a list to a dump and back": {
			{pages: list("a=2@1"), truth: "a=2 b=1 c=1"}, {pages: dump("a=2@1 -b@2"), truth: "a=2 c=1"}, {pages: list("a=2@1 -b@2 b=3@3"), truth: "a=2 b=3 c=1"}},
		"without times": {
			{pages: list("a=2"), truth: "a=2 b=1 c=1"}, {pages: dump("a=2 -b"), truth: "a=2 c=1"}, {pages: list("a=2 -b b=3 a=2"), truth: "a=2 b=3 c=1"}, {pages: dump("a=2 -b b=3 a=2 -a"), truth: "b=3 c=1"}},
		"without digests": {
			{pages: list("a=2@1?"), truth: "a=2 b=1 c=1"}, {pages: dump("a=2@1? -b@2 a=3@2?"), truth: "a=3 c=1"}, {pages: list("a=2@1? -b@2 a=3@2? a=4@3?"), truth: "a=4 c=1"}},
		"the dump is behind": {
			{pages: list("a=2@1 a=3@5"), truth: "a=3 b=1 c=1"}, {pages: dump("a=2@1"), truth: "a=3 b=1 c=1", want: either}, {pages: dump("a=2@1 a=3@5 -a@6"), truth: "b=1 c=1"}},
		"the list is behind": {
			{pages: dump("a=2@1 -a@5"), truth: "b=1 c=1"}, {pages: list("a=2@1"), truth: "b=1 c=1", want: either}, {pages: list("a=2@1 -a@5 c=2@6"), truth: "b=1 c=2"}},
		"the dump begins later": {
			{pages: list("a=2@1"), truth: "a=2 b=1 c=1"},
			{pages: offer("changedump", "changedump.xml").with(d.dump("changedump.xml", 4, never, parcel{path: "p1", from: 4, until: never, changes: "c=2@5"})), truth: "a=2 c=2", want: inDoubt, said: "p1"}},
		"the list begins later": {
			{pages: dump("a=2@1"), truth: "a=2 b=1 c=1"},
			{pages: list("").with(pages{"changelist.xml": changeList(4, never, got(5, "c", "2"))}), truth: "a=2 c=2", want: inDoubt, said: "changelist.xml"}},
		"the next list repeats a closed one": {
			{pages: list("a=2@1"), truth: "a=2 b=1 c=1"},
			{pages: offer("changelist", "next.xml").with(pages{
				"changelist.xml": changeList(0, 2, entriesOf("a=2@1 -b@2")...), "next.xml": changeList(0, never, entriesOf("a=2@1 -b@2 c=2@3")...)}), truth: "a=2 c=2"}},
		"one of both is dropped": {
			{pages: both("a=2@1", "a=2@1"), truth: "a=2 b=1 c=1"}, {pages: list("a=2@1 -b@2"), truth: "a=2 c=1"}, {pages: both("a=2@1 -b@2 c=2@3", ""), truth: "a=2 c=2"},
			{pages: dump("a=2@1 -b@2 c=2@3 b=7@4"), truth: "a=2 b=7 c=2"}, {pages: both("a=2@1 -b@2 c=2@3 b=7@4 -a@5", "a=2@1 -b@2 c=2@3 b=7@4"), truth: "b=7 c=2"}},
		"both are dropped": {
			{pages: both("a=2@1", "a=2@1"), truth: "a=2 b=1 c=1"}, {pages: neither(5, has("a", "3"), has("c", "1")), truth: "a=3 c=1"}, {pages: neither(6, has("a", "4"), has("c", "1")), truth: "a=4 c=1"}},
		"the dump is dropped": {
			{pages: dump("a=2@1"), truth: "a=2 b=1 c=1"}, {pages: neither(5, has("a", "3"), has("c", "1")), truth: "a=3 c=1"}, {pages: neither(6, has("a", "4"), has("c", "1")), truth: "a=4 c=1"}},
		"the dump is dropped and the Resource List is old": {
			{pages: dump("a=2@1 d=1@3"), truth: "a=2 b=1 c=1 d=1"}, {pages: neither(0, has("a", "1"), has("b", "1"), has("c", "1")), truth: "a=2 b=1 c=1 d=1", want: either}},
		"the Change List is a Change Dump": {
			{pages: list("a=2@1"), truth: "a=2 b=1 c=1"}, {pages: dump("a=2@1 -b@2").with(offer("changelist", "changedump.xml")), truth: "a=2 c=1", want: either}},
		"the Change List is gone and the dump is not": {
			{pages: both("a=2@1", "a=2@1"), truth: "a=2 b=1 c=1"}, {pages: both("", "a=2@1 -b@2").with(pages{"changelist.xml": "<!doctype html>"}), truth: "a=2 c=1", want: either},
			{pages: both("a=2@1 -b@2", "a=2@1 -b@2"), truth: "a=2 c=1"}},
	} {
		t.Run(name, func(t *testing.T) { play(t, stages) })
	}
}

// burst lets a publisher make so many changes that packages are worth getting.
func (p *publisher) burst(random *rand.Rand) {
	for range random.IntN(25) {
		text := fmt.Sprint("text ", random.IntN(50))
		if random.IntN(5) == 0 {
			text = ""
		}
		p.put(fmt.Sprint("r", random.IntN(16)), text)
	}
}

// shaped returns a publisher with a Change Dump, whose documents have a random shape.
func shaped(random *rand.Rand) *publisher {
	p := newPublisher()
	coin := func(n int) bool { return random.IntN(n) == 0 }
	p.perPack, p.contents, p.noLog = 1+random.IntN(9), coin(2), coin(2)
	p.perList = []int{0, 0, 3, 7}[random.IntN(4)]
	p.dump = []int{0, 0, 3}[random.IntN(3)]
	p.noTimes = coin(5)
	p.noFrom = coin(6) && !p.noTimes // with neither, every baseline is in doubt
	if coin(8) {
		p.perPack = 1000
	}
	p.put("kept", "a snapshot without any known resource deletes nothing")
	return p
}

// TestChangeDumpInterrupted: runs break off or get wrong answers at any request, while
// the publisher goes from a Change Dump to a Change List and back. A run that is in step
// holds what the publisher has, and nothing is deleted that it has.
func TestChangeDumpInterrupted(t *testing.T) {
	seeds := racing.Some[uint64](25)
	broken := errors.New("the connection broke")
	for seed := range seeds {
		random := rand.New(rand.NewPCG(seed, 3))
		p := shaped(random)
		switches, drops := random.IntN(3) == 0, random.IntN(3) == 0 && !p.noTimes && !p.noFrom
		store := harvest.NewCatalog(memstore.New())
		for round := range 9 {
			p.burst(random)
			if round == 0 || random.IntN(4) == 0 || round == 7 {
				p.list()
			}
			if switches && random.IntN(2) == 0 {
				p.noLog, p.contents = random.IntN(2) == 0, random.IntN(2) == 0
			}
			if drops && round < 8 && random.IntN(4) == 0 {
				p.dropped += random.IntN(len(p.log) - p.dropped)
			}
			site, before := p.site(), testkit.Live(t, store)
			n, how := -1, random.IntN(6)
			if round < 7 {
				n = random.IntN(len(site))
			}
			ctx, cancel := context.WithCancel(t.Context())
			fetcher := &sourcetest.Fetcher{Site: site, Hook: func(_ context.Context, i int, _ *harvest.Request, doc sourcetest.Document) (sourcetest.Document, error) {
				if i != n {
					return doc, nil
				}
				switch how {
				case 0:
					cancel()
				case 1:
					return doc, broken
				case 2:
					doc.Status = 500
				case 3:
					doc.Status = 404
				case 4:
					doc.Body, doc.Broken = doc.Body[:len(doc.Body)/2], true
				case 5:
					doc.Body, doc.ETag = "<!doctype html><title>Log in</title>", ""
				}
				return doc, nil
			}}
			var lines strings.Builder
			h := &harvest.Harvester{Sample: -1, Catalog: store, Fetcher: fetcher, MaxDelete: -1, Recheck: round >= 7,
				Hooks: testkit.OnFinding(func(f websync.Finding) { fmt.Fprintln(&lines, f) })}
			report, err := h.Run(ctx, &resourcesync.Source{URL: sourceURL})
			cancel()
			q := *p
			q.resources, q.log, q.listed = nil, nil, nil
			where := fmt.Sprintf("seed %d round %d: %+v %v %v %v %s", seed, round, q, fetcher.Exchanges(), said(report), err, lines.String())
			live, texts := testkit.Live(t, store), p.texts()
			if err == nil && report.InStep() {
				require.Equal(t, texts, live, where)
			}
			for name := range before {
				if _, ok := texts[name]; ok && n < 0 {
					require.Contains(t, live, name, where)
				}
			}
			streams, spools := fetcher.Open()
			require.Zero(t, streams+spools, where)
			require.Less(t, len(fetcher.Exchanges()), 400, where)
			if round == 8 {
				require.NoError(t, err, where)
				require.True(t, report.InStep(), where)
			}
		}
	}
}

// damage returns text with some of its bytes changed, removed or repeated.
func damage(random *rand.Rand, text string) string {
	b := []byte(text)
	for range 1 + random.IntN(3) {
		if len(b) < 2 {
			break
		}
		i := random.IntN(len(b))
		switch random.IntN(6) {
		case 0:
			b = slices.Delete(b, i, min(i+1+random.IntN(20), len(b)))
		case 1:
			b = slices.Insert(b, i, b[i:min(i+1+random.IntN(20), len(b))]...)
		case 2:
			b = b[:i]
		default:
			b[i] ^= byte(1 << random.IntN(8))
		}
	}
	return string(b)
}

// TestChangeDumpDamaged damages dumps, manifests and packages. With a Change List nothing
// depends on them; without, damage of a package is noticed. In any case the harvest
// recovers.
func TestChangeDumpDamaged(t *testing.T) {
	racing.Skip(t)
	seeds := racing.Some[uint64](150)
	for seed := range seeds {
		random := rand.New(rand.NewPCG(seed, 4))
		p := shaped(random)
		p.dump = 0
		for range 12 {
			p.put(fmt.Sprint("r", random.IntN(16)), fmt.Sprint("text ", random.IntN(50)))
		}
		p.list()
		store := harvest.NewCatalog(memstore.New())
		harvestOf := func(site sourcetest.Site, recheck bool) (*harvest.Report, string) {
			fetcher := &sourcetest.Fetcher{Site: site}
			h := &harvest.Harvester{Sample: -1, Catalog: store, Fetcher: fetcher, MaxDelete: -1, Recheck: recheck}
			report, err := h.Run(t.Context(), &resourcesync.Source{URL: sourceURL, MaxPackage: 1 << 20})
			streams, spools := fetcher.Open()
			where := fmt.Sprintf("seed %d: %v %v", seed, report, err)
			require.Zero(t, streams+spools, where)
			require.Less(t, len(fetcher.Exchanges()), 400, where)
			if !report.InStep() {
				require.NotEqual(t, "<nil>", fmt.Sprint(errors.Join(err, said(report))), where)
			}
			return report, where
		}
		report, where := harvestOf(p.site(), false)
		require.True(t, report.InStep(), where)
		for range 12 + random.IntN(20) {
			p.put(fmt.Sprint("r", random.IntN(16)), fmt.Sprint("text ", random.IntN(50)))
		}
		site := p.site()
		packages := true
		for url, doc := range site {
			dump := strings.HasSuffix(url, "changedump.xml") || strings.Contains(url, "changes-") && strings.HasSuffix(url, ".xml")
			if isZip := strings.HasSuffix(url, ".zip"); isZip && seed%2 == 0 || dump && seed%2 == 1 {
				packages = packages && isZip
				doc.Body, doc.ETag = damage(random, doc.Body), fmt.Sprint(`"`, seed, `"`)
				site[url] = doc
			}
		}
		for range 2 {
			report, where = harvestOf(site, false)
			if report.InStep() && (!p.noLog || packages) {
				require.Equal(t, p.texts(), testkit.Live(t, store), where)
			}
		}
		p.now = p.now.Add(time.Hour)
		p.list()
		p.dropped = len(p.log) - 1
		for range 2 {
			report, where = harvestOf(p.site(), true)
		}
		require.True(t, report.InStep(), where)
		assert.Equal(t, p.texts(), testkit.Live(t, store), where)
	}
}

// said returns what a report blames.
func said(report *harvest.Report) error {
	var b strings.Builder
	for _, p := range append(report.Problems, report.Failures...) {
		fmt.Fprintln(&b, p)
	}
	if report.Skipped > 0 {
		fmt.Fprintln(&b, "skipped", report.Skipped)
	}
	if b.Len() == 0 {
		return nil
	}
	return errors.New(b.String())
}
