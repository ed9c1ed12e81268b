package naive

import (
	"fmt"
	"maps"
	"strings"
	"testing"
)

// RunScenarios harvests publishers in stages.
func RunScenarios(t *testing.T, p Profile) {
	for name, run := range scenarios {
		t.Run(name, func(t *testing.T) { run(NewDepot(t, p)) })
	}
	for name, encode := range encodings {
		t.Run(name, func(t *testing.T) {
			d := NewDepot(t, p)
			for _, n := range []int{1, 3} {
				d.Chain(n)
				truth := d.Truth()
				for _, path := range append(d.archives(n), "/index.atom") {
					d.Set(path, encode(d.Page(path).Body))
				}
				d.InStep(fmt.Sprint(n), truth)
			}
		})
	}
}

func (d *Depot) archives(n int) (paths []string) {
	for i := range n {
		paths = append(paths, fmt.Sprintf("/a%d.atom", i))
	}
	return paths
}

// close makes the subscription document an archive document at path.
func (d *Depot) close(path string) {
	d.Put(path, strings.Replace(d.Page("/index.atom").Body, "</author>", "</author>"+Archive, 1))
}

var scenarios = map[string]func(d *Depot){
	"it grows": func(d *Depot) {
		for _, n := range []int{0, 1, 2, 3, 9} {
			d.Chain(n)
			d.Sound(fmt.Sprint(n))
		}
	},
	"a run ends after each request": func(d *Depot) {
		d.Chain(2)
		truth := d.Truth()
		for n := range 15 {
			d.Interrupted(n)
			for id, s := range d.Held() {
				if truth[id] != s {
					d.t.Errorf("after %d requests %s is %q", n, id, s)
				}
			}
		}
		d.Sound("undisturbed")
	},
	"empty, filled, deleted, published again": func(d *Depot) {
		d.Feed("/index.atom", 0, "")
		d.Sound("empty")
		d.Feed("/index.atom", 5, "", d.Now("a", 1), d.Now("b", 2), d.Now("c", 2))
		d.Sound("filled")
		d.Feed("/index.atom", 9, "", d.Del("a", 6), d.Del("b", 6), d.Del("c", 7), d.Del("unknown", 7), d.Past("a", 1))
		d.Sound("deleted")
		d.Feed("/index.atom", 12, "", d.Now("a", 11), d.Del("b", 6))
		d.Sound("published again")
	},
	"a subscription document without entries": func(d *Depot) {
		d.Chain(2)
		d.Sound("filled")
		d.close("/a2.atom")
		d.Feed("/index.atom", 40, Prev("/a2.atom"))
		d.Sound("moved")
		d.Feed("/index.atom", 41, Prev("/a2.atom"), d.Now("new", 41))
		d.Sound("new")
	},
	"new archive documents": func(d *Depot) {
		d.Chain(3)
		d.Sound("first")
		d.Feed("/n/1.atom", 21, Archive, d.Past("doc0", 1), d.Past("also0", 2), d.Past("doc1", 11), d.Past("also1", 12), d.Past("doc2", 21))
		d.Feed("/n/2.atom", 32, Archive+Prev("/n/1.atom"), d.Past("also2", 22), d.Past("doc3", 31), d.Past("also3", 32))
		d.Feed("/index.atom", 50, Prev("/n/2.atom"), d.Now("doc4", 41))
		for _, path := range d.archives(3) {
			d.Remove(path)
		}
		d.Sound("re-indexed")
		d.Feed("/m/1.atom", 60, Archive, d.Past("also0", 2), d.Past("also1", 12), d.Past("doc2", 21), d.Past("also2", 22), d.Past("doc3", 31), d.Past("also3", 32), d.Past("doc4", 41), d.Now("doc1", 52), d.Del("doc0", 55))
		d.Feed("/index.atom", 70, Prev("/m/1.atom"), d.Now("doc5", 61))
		d.Sound("re-indexed, with changes in the archive")
	},
	"archive documents lose what is superseded": func(d *Depot) {
		d.Chain(3)
		d.Sound("first")
		d.Feed("/a0.atom", 5, Archive, d.Past("also0", 2))
		d.Feed("/a1.atom", 15, Archive+Prev("/a0.atom"), d.Past("also1", 12))
		d.Feed("/a3.atom", 45, Archive+Prev("/a2.atom"), d.Past("also3", 32), d.Del("doc1", 42))
		d.Feed("/index.atom", 60, Prev("/a3.atom"), d.Now("doc0", 51), d.Now("doc3", 52))
		d.Sound("compacted")
	},
	"an archive document that grows": func(d *Depot) {
		d.Feed("/2019.atom", 9, Archive, d.Now("y", 5))
		year := []string{d.Now("a", 10), d.Now("b", 20)}
		d.Feed("/2020.atom", 20, Archive+Prev("/2019.atom"), year...)
		d.Feed("/index.atom", 30, Prev("/2020.atom"), d.Now("c", 30))
		d.Sound("first")
		year = append(year, d.Past("c", 30), d.Now("d", 40), d.Del("y", 45))
		d.Feed("/2020.atom", 45, Archive+Prev("/2019.atom"), year...)
		d.Feed("/index.atom", 60, Prev("/2020.atom"), d.Now("e", 50), d.Now("f", 60))
		d.Sound("no overlap")
		year = append(year, d.Past("e", 50), d.Past("f", 60), d.Now("g", 65))
		d.Feed("/2020.atom", 65, Archive+Prev("/2019.atom"), year...)
		d.Feed("/index.atom", 70, Prev("/2020.atom"), d.Past("f", 60), d.Now("h", 70))
		d.Sound("overlap")
		d.Feed("/2020.atom", 80, Archive+Prev("/2019.atom"), append(year, d.Past("h", 70), d.Now("i", 80))...)
		d.Feed("/index.atom", 81, Prev("/2020.atom"))
		d.Sound("an empty subscription document")
	},
	"the oldest archive documents are dropped": func(d *Depot) {
		d.Chain(4)
		d.Sound("first")
		truth := d.Truth()
		d.Put("/a2.atom", strings.Replace(d.Page("/a2.atom").Body, Prev("/a1.atom"), "", 1))
		d.Remove("/a0.atom")
		d.Remove("/a1.atom")
		d.InStep("dropped", truth)
		d.close("/a4.atom")
		d.Feed("/index.atom", 70, Prev("/a4.atom"), d.Now("doc9", 61))
		maps.Copy(truth, d.Truth())
		d.InStep("and grown", truth)
	},
	"archive, complete, archive": func(d *Depot) {
		d.Chain(2)
		d.Sound("archive")
		d.Feed("/index.atom", 40, Complete, d.Past("doc0", 1), d.Past("also1", 12), d.Past("doc2", 21), d.Now("also2", 31))
		d.Sound("complete")
		d.Feed("/index.atom", 50, Complete, d.Past("doc0", 1), d.Past("also1", 12), d.Now("x", 41))
		d.Sound("fewer")
		d.Feed("/b0.atom", 51, Archive, d.Past("doc0", 1), d.Past("also1", 12), d.Past("x", 41), d.Del("doc1", 35), d.Del("also0", 35), d.Del("also2", 49), d.Del("doc2", 49))
		d.Feed("/index.atom", 60, Prev("/b0.atom"), d.Now("y", 55), d.Del("doc0", 55))
		d.Sound("archive again")
		d.Feed("/index.atom", 80, Complete, d.Past("also1", 12), d.Past("y", 55))
		d.Sound("complete again")
	},
	"complete, with an archive": func(d *Depot) {
		d.Feed("/index.atom", 10, Complete, d.Now("a", 1), d.Now("b", 2), d.Now("c", 3))
		d.Sound("complete")
		d.Feed("/a0.atom", 10, Archive, d.Past("a", 1), d.Past("b", 2))
		d.Feed("/index.atom", 20, Complete+Prev("/a0.atom"), d.Past("c", 3), d.Now("d", 11))
		d.Sound("and an archive")
	},
	"a complete feed in doubt": func(d *Depot) {
		d.Feed("/index.atom", 10, Complete, d.Now("a", 1), d.Now("b", 2), d.Now("c", 3), d.Now("d", 3))
		d.Sound("first")
		good := d.Doc("/index.atom", 20, Complete, d.Past("a", 1), d.Past("b", 2), d.Now("e", 12))
		for name, fault := range faults {
			if !strings.Contains(name, "prev-archive") {
				d.Set("/index.atom", fault(d, "/index.atom", good))
				d.Doubt(name)
			}
		}
		d.Put("/index.atom", good)
		d.Sound("mended")
	},
	"a complete feed loses nearly everything": func(d *Depot) {
		d.Harvester.MaxDelete = 0
		var items []string
		for i := range 30 {
			items = append(items, d.Now(fmt.Sprint(i), i))
		}
		d.Feed("/index.atom", 50, Complete, items...)
		d.Sound("first")
		d.Feed("/index.atom", 51, Complete, items[0])
		d.Doubt("one is left")
		d.Feed("/index.atom", 52, Complete, items...)
		d.Sound("all are back")
		d.Feed("/index.atom", 53, Complete)
		d.Doubt("none is left")
	},
	"equal times": func(d *Depot) {
		d.Feed("/index.atom", 5, "", d.Now("a", 5), d.Now("b", 5))
		d.Sound("two")
		d.Feed("/index.atom", 5, "", d.Past("a", 5), d.Now("c", 5), d.Past("b", 5))
		d.Sound("three")
		d.Feed("/a0.atom", 5, Archive, d.Past("a", 5), d.Past("b", 5), d.Past("c", 5), d.Now("d", 5))
		d.Feed("/index.atom", 5, Prev("/a0.atom"), d.Now("e", 5))
		d.Sound("in the archive, too")
		d.Feed("/a1.atom", 5, Archive+Prev("/a0.atom"), d.Past("e", 5), d.Now("f", 5))
		d.Feed("/index.atom", 5, Prev("/a1.atom"), d.Now("g", 5), d.Del("a", 5))
		d.Sound("a deletion")
		d.Feed("/index.atom", 6, Prev("/a1.atom"), d.Past("g", 5), d.Del("a", 5), d.Now("a", 6), d.Now("b", 6))
		d.Sound("published again")
	},
	"an entry that is listed late": func(d *Depot) {
		d.Feed("/index.atom", 50, "", d.Now("a", 10), d.Now("b", 40))
		d.Sound("first")
		d.Feed("/index.atom", 51, "", d.Past("a", 10), d.Now("late", 20), d.Past("b", 40))
		d.Sound("in the subscription document")
		d.Feed("/a0.atom", 52, Archive, d.Past("a", 10), d.Past("late", 20), d.Past("b", 40), d.Now("later", 30))
		d.Feed("/index.atom", 60, Prev("/a0.atom"), d.Now("c", 55))
		d.Sound("in a new archive document")
	},
	"times in the future": func(d *Depot) {
		const future = 50_000_000
		d.Feed("/index.atom", 50, "", d.Now("a", 10), d.Now("b", 10), d.Now("c", 10))
		d.Sound("first")
		d.Feed("/index.atom", 60, "", d.Now("a", future), d.Past("b", 10), d.Del("c", future))
		d.Harvest()
		d.Feed("/index.atom", 70, "", d.Now("a", 30), d.Past("b", 10), d.Now("c", 40))
		d.Sound("corrected")
		d.Feed("/a0.atom", 80, Archive, d.Now("a", future), d.Past("b", 10), d.Past("c", 40), d.Now("d", 50))
		d.Feed("/index.atom", 90, Prev("/a0.atom"), d.Now("e", 85))
		d.Harvest()
		d.Feed("/a0.atom", 80, Archive, d.Past("b", 10), d.Past("c", 40), d.Past("d", 50))
		d.Feed("/a1.atom", 90, Archive+Prev("/a0.atom"), d.Past("e", 85), d.Now("f", 86))
		d.Feed("/index.atom", 100, Prev("/a1.atom"), d.Now("g", 95), d.Now("a", 96))
		d.Sound("corrected in the archive, too")
	},
	"an older state is served again": func(d *Depot) {
		d.Chain(2)
		d.Sound("first")
		old := d.Page("/index.atom")
		d.Chain(4)
		d.Sound("grown")
		truth, now := d.Truth(), d.Page("/index.atom")
		d.Set("/index.atom", old)
		d.Harvest()
		d.equal("stale", truth)
		d.Set("/index.atom", now)
		d.Sound("now")
	},
	"another feed id": func(d *Depot) {
		d.Chain(2)
		d.Sound("first")
		truth := d.Truth()
		for _, path := range append(d.archives(2), "/index.atom") {
			d.Put(path, strings.ReplaceAll(d.Page(path).Body, FeedID, "tag:new.example,2024:feed"))
		}
		d.Doubt("renamed")
		d.equal("renamed", truth)
	},
	"states of one id in one document": func(d *Depot) {
		d.Feed("/index.atom", 50, "", d.Past("a", 10), d.Now("a", 30), d.Past("a", 20), d.Now("b", 12), d.Past("b", 11), d.Del("b", 9),
			d.Del("c", 40), d.Past("c", 39), d.Past("d", 3), d.Del("d", 4), d.Now("d", 5), d.Del("e", 5), d.Past("e", 5))
		d.Sound("all at once")
		d.Feed("/index.atom", 51, "", d.Past("a", 30), d.Del("a", 29), d.Past("b", 12), d.Past("d", 5), d.Del("c", 41))
		d.Sound("an earlier and a repeated deletion")
	},
	"documents of superseded entries": func(d *Depot) {
		past := func(name string, v int) string { return strings.ReplaceAll(d.Past(name, v), "/doc/", "/old/") }
		d.Feed("/a0.atom", 30, Archive, past("a", 10), past("b", 20), past("a", 15))
		d.Feed("/index.atom", 60, Prev("/a0.atom"), past("a", 40), d.Now("a", 50), d.Del("b", 50), past("c", 50), d.Now("c", 51))
		d.Hook(func(path string) {
			if strings.HasPrefix(path, "/old/") {
				d.t.Errorf("%s was requested", path)
			}
		})
		d.Sound("first")
	},
	"a damaged link": func(d *Depot) {
		for name, href := range map[string]string{"no href": "", "an empty href": `href=""`} {
			d := NewDepot(d.t, d.Profile)
			d.Feed("/index.atom", 50, "", d.Now("a", 10), d.Now("b", 10))
			d.Sound("first")
			truth := d.Truth()
			whole := d.Now("a", 20)
			i := strings.LastIndex(whole, "href=")
			j := i + 1 + strings.Index(whole[i:], "/>")
			d.Feed("/index.atom", 50, "", whole[:i]+href+whole[j-1:], d.Past("b", 10))
			d.Doubt(name)
			d.equal(name, truth)
			d.Feed("/index.atom", 50, "", whole, d.Past("b", 10))
			d.Sound("mended")
		}
	},
	"documents that can't be obtained": func(d *Depot) {
		for _, status := range []int{404, 410, 401, 403, 500, 503} {
			d := NewDepot(d.t, d.Profile)
			d.Feed("/index.atom", 50, "", d.Now("a", 30), d.Now("oldest", 1), d.Now("b", 40))
			truth, path := d.Truth(), "/doc/oldest."+d.Profile.Docs[1]
			page := d.Page(path)
			d.Set(path, Page{Status: status})
			delete(truth, d.id("oldest"))
			d.Doubt("fails")
			d.equal("fails", truth)
			d.close("/a0.atom")
			d.Feed("/index.atom", 60, Prev("/a0.atom"), d.Now("c", 51))
			truth[d.id("c")] = d.Truth()[d.id("c")]
			d.Doubt("in the archive")
			d.equal("in the archive", truth)
			d.Set(path, page)
			d.Sound("mended")
		}
	},
}
