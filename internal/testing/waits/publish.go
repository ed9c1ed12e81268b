package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

var publishRows = []row{
	{"export", "a million records with changefreq and priority as static files", (*comparison).exports},
	{"first-list", "a server of a million records starts, answers with the index of its sitemap, and ends", (*comparison).firstList},
	{"publish-dir", "20,000 files of 2 to 20 KB: a server starts, answers with the Resource List, and ends", (*comparison).directory},
	{"publish-out", "20,000 files of 2 to 20 KB as static files", (*comparison).copied},
}

// million fills a store for each program, and returns a side for each that works with it.
func (b *comparison) million(command func(of binaries, dir string) *exec.Cmd) []side {
	s := newSite()
	defer s.Close()
	s.addParts(20)
	return b.programs(func(of binaries, dir string) side {
		b.once(&side{command: func() *exec.Cmd { return exec.Command(of.lists, dir+"/store.db", s.URL+"/sitemap.xml") }})
		return side{command: func() *exec.Cmd { return command(of, dir) }}
	})
}

// exports compares exports. Each has a directory of its own.
func (b *comparison) exports() {
	protocol := ""
	sides := b.million(func(of binaries, dir string) *exec.Cmd {
		return exec.Command(of.websync, "publish", "-store", "sqlite:"+dir+"/store.db", "-base", "https://www.example.org/",
			"-protocol", protocol, "-out", b.folder("out"))
	})
	for _, protocol = range []string{"sitemap", "resourcesync", "atom"} {
		fmt.Println("  " + protocol + ":")
		b.compare(sides...)
	}
}

// firstList compares servers that have just started.
func (b *comparison) firstList() {
	b.compare(b.million(func(of binaries, dir string) *exec.Cmd {
		return peer("list", "sitemap.xml", of.websync, "publish", "-addr", "localhost:0", "-store", "sqlite:"+dir+"/store.db")
	})...)
}

// files makes a directory of files.
func (b *comparison) files() string {
	if b.documents != "" {
		return b.documents
	}
	dir, r := b.folder("files"), rand.New(rand.NewPCG(1, 2))
	for i := range 20_000 {
		name := filepath.Join(dir, fmt.Sprintf("%02d/%05d.html", i%100, i))
		check(os.MkdirAll(filepath.Dir(name), 0o700))
		text := fmt.Sprintf("<!doctype html><title>%d</title>", i) + strings.Repeat(fmt.Sprintf(" %d", r.Uint32()), 200+r.IntN(1800))
		check(os.WriteFile(name, []byte(text), 0o600))
	}
	return dir
}

// directory compares servers of a directory, and resync-build, if there is one: it reads
// all files, too, for their digests, but keeps nothing.
func (b *comparison) directory() {
	dir := b.files()
	sides := b.programs(func(of binaries, _ string) side {
		return side{command: func() *exec.Cmd {
			return peer("list", "resourcelist.xml", of.websync, "publish", "-addr", "localhost:0", "-protocol", "resourcesync", "-dir", dir)
		}}
	})
	if resync := os.Getenv("WEBSYNC_RESYNC"); resync != "" {
		list := filepath.Join(b.folder("resync"), "resourcelist.xml")
		sides = append(sides, side{name: "resync-build", command: func() *exec.Cmd {
			return exec.Command("python3", filepath.Join(resync, "resync-build"), "--write-resourcelist", "--hash=sha-256",
				"--outfile", list, "https://www.example.org/="+dir)
		}})
	}
	b.compare(sides...)
}

// copied compares exports of a directory.
func (b *comparison) copied() {
	dir := b.files()
	b.compare(b.programs(func(of binaries, _ string) side {
		return side{command: func() *exec.Cmd {
			return exec.Command(of.websync, "publish", "-dir", dir, "-base", "https://www.example.org/", "-out", b.folder("out"))
		}}
	})...)
}

// list starts a server, gets a list of its site, and interrupts it.
func list(args []string) error {
	c := exec.Command(args[1], args[2:]...)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	defer c.Wait()
	defer c.Process.Signal(os.Interrupt)
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return err
	}
	resp, err := http.Get(url[:strings.LastIndexByte(url, '/')+1] + args[0])
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err = io.Copy(io.Discard, resp.Body); err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", url, resp.Status)
	}
	return err
}
