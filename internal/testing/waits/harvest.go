package main

import (
	"fmt"
	"os/exec"
	"time"
)

var harvestRows = []row{
	{"pages-small", "the first harvest of 20,000 pages of 2 to 20 KB into SQLite", func(b *comparison) { b.pages(2_000, 20_000) }},
	{"pages-large", "the first harvest of 20,000 pages of 17 to 60 KB into SQLite", func(b *comparison) { b.pages(17_000, 60_000) }},
	{"pages-waiting", "the first harvest of 20,000 pages of 2 to 20 KB, of which each takes 10 ms: 4 at once, and 32", (*comparison).waiting},
	{"complete", "a million entries in 20 compressed parts, -complete, nothing new; then one of them changed", (*comparison).complete},
}

// pages compares first harvests.
func (b *comparison) pages(least, most int) {
	s := newSite()
	defer s.Close()
	s.addPages(b.documents, 20_000, least, most)
	sides := b.programs(func(of binaries, dir string) side {
		return side{prepare: func() { empty(dir) }, command: func() *exec.Cmd { return harvest(of, dir, s) }}
	})
	files := b.folder("loop")
	b.compare(append(sides, side{name: "a loop, no sync", prepare: func() { empty(files) },
		command: func() *exec.Cmd { return peer("loop", s.URL+"/sitemap.xml", files) }})...)
}

// waiting compares first harvests of a slow server.
func (b *comparison) waiting() {
	s := newSite()
	defer s.Close()
	s.addPages(b.documents, 20_000, 2_000, 20_000)
	s.latency = 10 * time.Millisecond
	at := func(once string) []side {
		sides := b.programs(func(of binaries, dir string) side {
			return side{prepare: func() { empty(dir) }, command: func() *exec.Cmd { return harvest(of, dir, s, "-concurrency", once) }}
		})
		for i := range sides {
			sides[i].name += ", " + once + " at once"
		}
		return sides
	}
	b.compare(append(at("4"), at("32")...)...)
}

// harvest returns the command that harvests the sitemap of a site without delay.
func harvest(of binaries, dir string, s *site, flags ...string) *exec.Cmd {
	args := append([]string{"harvest", "-protocol", "sitemap", "-rate", "1000000", "-store", "sqlite:" + dir + "/store.db"}, flags...)
	return exec.Command(of.websync, append(args, s.URL+"/sitemap.xml")...)
}

// complete compares complete harvests of descriptions that have not changed, and of which
// one part has.
func (b *comparison) complete() {
	s := newSite()
	defer s.Close()
	s.addParts(20)
	again := func(of binaries, dir string) side {
		return side{command: func() *exec.Cmd { return exec.Command(of.lists, dir+"/store.db", s.URL+"/sitemap.xml") }}
	}
	sides := b.programs(again)
	for i := range sides {
		b.once(&sides[i])
	}
	b.compare(sides...)
	fmt.Println("  with an entry more in one part:")
	n := 0
	for i := range sides {
		sides[i].prepare = func() {
			n++
			s.setPart(7, fmt.Sprintf("new%d.html", n))
		}
	}
	b.compare(sides...)
}
