package main

import (
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

var baselineRows = []row{
	{"baseline", "a ResourceSync baseline of resources of 2 to 4 KB beside the reference client, if WEBSYNC_RESYNC names its folder",
		func(b *comparison) {
			for _, n := range []int{2_000, 20_000, 100_000} {
				b.baseline(n)
			}
		}},
}

// baseline compares the first harvests of n resources with the reference client, resync.
func (b *comparison) baseline(n int) {
	s := newSite()
	defer s.Close()
	b.addResources(s, n)
	fmt.Printf("  %d resources:\n", n)
	sides := b.programs(func(of binaries, dir string) side {
		return side{prepare: func() { empty(dir) }, command: func() *exec.Cmd {
			return exec.Command(of.websync, "harvest", "-protocol", "resourcesync", "-rate", "1000000",
				"-store", "sqlite:"+dir+"/store.db", s.URL+"/.well-known/resourcesync")
		}}
	})
	if resync := os.Getenv("WEBSYNC_RESYNC"); resync != "" {
		dir := b.folder("resync")
		sides = append(sides, side{name: "resync", prepare: func() { empty(dir) }, command: func() *exec.Cmd {
			const line = `cd "$0" && TZ=UTC no_proxy=127.0.0.1 exec /usr/bin/python3 "$1/resync-sync" --baseline "$2" copy`
			return exec.Command("sh", "-c", line, dir, resync, s.URL)
		}, after: func() {
			if got := len(files(filepath.Join(dir, "copy"))); got != n {
				log.Fatalf("resync has got %d files of %d", got, n)
			}
		}})
	}
	b.compare(sides...)
}

// addResources adds n resources and the documents of ResourceSync that list them.
func (b *comparison) addResources(s *site, n int) {
	from, to := b.folder("resources"), b.folder("published")
	for i := range n {
		dir := filepath.Join(from, fmt.Sprint(i%100))
		check(os.MkdirAll(dir, 0o700))
		text := strings.Repeat(fmt.Sprintln("line", i), 1+(2000+i*7919%2000)/12)
		check(os.WriteFile(filepath.Join(dir, fmt.Sprintf("%06d.txt", i)), []byte(text), 0o600))
	}
	command(b.ours.websync, "publish", "-protocol", "resourcesync", "-dir", from, "-out", to, "-base", s.URL+"/")
	for _, path := range files(to) {
		text, err := os.ReadFile(filepath.Join(to, path))
		check(err)
		s.documents["/"+filepath.ToSlash(path)] = text
	}
}

// files returns the paths of all files below a directory.
func files(dir string) (paths []string) {
	check(fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			paths = append(paths, path)
		}
		return err
	}))
	return paths
}
