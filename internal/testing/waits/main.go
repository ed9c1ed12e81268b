// Waits compares whole programs on what users wait for: websync as it is here, as it was
// at another revision, and peers that do the same work. It builds both sides, makes and
// serves the sites, runs the sides in turns and prints a table of medians:
//
//	go run ./internal/testing/waits -base v0.1.0 [-rows pages] [-rounds 5] [-dir DIR] [-documents DIR]
//
// Times are processor time, user and system, of a side's process and of those that it has
// waited for; the server is this process and does not count. Every row is a function in
// [rows]. A peer that is not installed is left out.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"time"
)

// A row compares sides on one kind of work.
type row struct {
	name string
	what string // a line of the table
	run  func(b *comparison)
}

var rows = slices.Concat(harvestRows, archiveRows, publishRows, baselineRows)

func main() {
	if work := os.Getenv(peerVariable); work != "" {
		if err := peers[work](os.Args[1:]); err != nil {
			log.Fatal(err)
		}
		return
	}
	base := flag.String("base", "", "the revision to compare with; if empty, none is")
	only := flag.String("rows", "", "a regular expression for the names of the rows to run")
	b := &comparison{launcher: newLauncher()}
	flag.IntVar(&b.rounds, "rounds", 3, "how often each side works")
	flag.StringVar(&b.documents, "documents", "", "a directory of files to use as pages, instead of made ones")
	dir := flag.String("dir", "", "where sides write, on a file system that syncs; the directory for temporary files if empty")
	flag.Parse()
	pattern, err := regexp.Compile(*only)
	check(err)
	b.dir, err = os.MkdirTemp(*dir, "waits-")
	check(err)
	defer os.RemoveAll(b.dir)
	b.build(*base)
	for _, r := range rows {
		if pattern.MatchString(r.name) {
			fmt.Printf("\n%s: %s\n", r.name, r.what)
			r.run(b)
		}
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// A comparison has what rows need.
type comparison struct {
	launcher  *launcher
	rounds    int
	documents string
	dir       string
	ours      binaries
	base      binaries // of the other revision; empty if there is none
}

// binaries are the programs of one revision.
type binaries struct {
	websync string
	lists   string // see package lists
}

// build builds the programs here and at another revision, which gets the package lists
// from here.
func (b *comparison) build(revision string) {
	b.ours = b.buildIn(".", "ours")
	if revision == "" {
		return
	}
	tree := filepath.Join(b.dir, "tree")
	command("git", "worktree", "add", "--detach", tree, revision)
	defer command("git", "worktree", "remove", "--force", tree)
	check(os.MkdirAll(filepath.Join(tree, listsPackage), 0o700))
	command("cp", filepath.Join(listsPackage, "main.go"), filepath.Join(tree, listsPackage))
	b.base = b.buildIn(tree, "base")
}

const listsPackage = "internal/testing/waits/lists"

func (b *comparison) buildIn(tree, name string) binaries {
	to := filepath.Join(b.dir, name) + string(filepath.Separator)
	command("go", "build", "-C", tree, "-o", to, "./examples/websync", "./"+listsPackage)
	return binaries{to + "websync", to + "lists"}
}

func command(name string, args ...string) {
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		log.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
}

// A side is one side of a comparison.
type side struct {
	name string
	// prepare, if set, comes before each run, and is not counted.
	prepare func()
	command func() *exec.Cmd
	// after, if set, comes after each run and checks what the side did.
	after func()
}

// programs returns a side for what is here and, if there is one, for the other revision.
// Each works in a directory of its own.
func (b *comparison) programs(make func(of binaries, dir string) side) []side {
	sides := []side{make(b.ours, b.folder("ours"))}
	sides[0].name = "ours"
	if b.base.websync != "" {
		s := make(b.base, b.folder("base"))
		s.name = "base"
		sides = append(sides, s)
	}
	return sides
}

// folder returns a directory that does not exist yet.
func (b *comparison) folder(name string) string {
	dir, err := os.MkdirTemp(b.dir, name+"-")
	check(err)
	return dir
}

// empty makes a directory empty.
func empty(dir string) {
	check(os.RemoveAll(dir))
	check(os.Mkdir(dir, 0o700))
}

// compare lets the sides work in turns and prints the median of each, beside that of the
// first.
func (b *comparison) compare(sides ...side) {
	costs := make([][]cost, len(sides))
	for range b.rounds {
		for i, s := range sides {
			costs[i] = append(costs[i], b.once(&s))
		}
	}
	own := median(costs[0])
	for i, s := range sides {
		c := median(costs[i])
		fmt.Printf("  %-24s %8.3f s of processor time, %8.3f s, %4d MiB; ours is %.2f of its processor time, %.2f of its time\n",
			s.name, c.CPU.Seconds(), c.Wall.Seconds(), c.Memory>>10, float64(own.CPU)/float64(c.CPU), float64(own.Wall)/float64(c.Wall))
	}
}

// once lets a side work once.
func (b *comparison) once(s *side) cost {
	if s.prepare != nil {
		s.prepare()
	}
	took := b.launcher.run(s.command())
	if took.Failure != "" {
		log.Fatal(s.name, " ", took.Failure)
	}
	if s.after != nil {
		s.after()
	}
	return took
}

// median returns the median of each figure.
func median(costs []cost) cost {
	middle := func(figure func(c cost) int64) int64 {
		all := make([]int64, len(costs))
		for i, c := range costs {
			all[i] = figure(c)
		}
		slices.Sort(all)
		return all[len(all)/2]
	}
	return cost{
		CPU:    time.Duration(middle(func(c cost) int64 { return int64(c.CPU) })),
		Wall:   time.Duration(middle(func(c cost) int64 { return int64(c.Wall) })),
		Memory: middle(func(c cost) int64 { return c.Memory }),
	}
}

// peerVariable is the environment variable that makes this program a peer, by its name.
const peerVariable = "WAITS_PEER"

// peers are peers that are written here: each does its work as a process of its own.
var peers = map[string]func(args []string) error{"feedtable": feedTable, "launch": launch, "list": list, "loop": loop}

// peer returns the command of one of them.
func peer(name string, args ...string) *exec.Cmd {
	program, err := os.Executable()
	check(err)
	c := exec.Command(program, args...)
	c.Env = append(os.Environ(), peerVariable+"="+name)
	return c
}
