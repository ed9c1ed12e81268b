package main

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/examples/internal/cli"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/display"
)

//go:embed help/store.txt
var storeHelp string

// A storeCommand is one run of websync store.
type storeCommand struct {
	*cli.Console
	stdin  io.Reader
	stdout io.Writer // for exports, which are no text

	store     string
	plan      bool
	json      bool
	retention harvest.Retention

	spec  cli.Store
	names []string // after that of the command
}

func (p *storeCommand) line() *cli.Line {
	l := cli.NewLine("store", storeHelp)
	l.StringVar(&p.store, "store", defaultStore, "")
	l.BoolVar(&p.plan, "plan", false, "")
	l.BoolVar(&p.json, "json", false, "")
	l.DurationVar(&p.retention.Log, "log", 0, "")
	l.DurationVar(&p.retention.Bodies, "bodies", 0, "")
	l.DurationVar(&p.retention.Readers, "readers", 0, "")
	return l
}

// A storeTask is a command of websync store. arguments is how many it has; negative: one
// or more.
type storeTask struct {
	arguments int
	run       func(ctx context.Context, store *harvest.Catalog) (code int, err error)
}

// tasks are the commands that need the Store that -store names; move names its own.
func (p *storeCommand) tasks() map[string]storeTask {
	return map[string]storeTask{
		"stat":        {0, p.stat},
		"check":       {0, p.check},
		"prune":       {0, p.prune},
		"compact":     {0, p.compact},
		"drop-source": {-1, p.drop},
		"move":        {2, nil},
		"export":      {1, p.export},
		"import":      {1, nil},
		"restored":    {0, p.restored},
	}
}

// run carries out arguments, and returns the exit code.
func (p *storeCommand) run(ctx context.Context, args []string) int {
	return p.Run(func() (code int, err error) {
		var command string
		var task storeTask
		err = p.line().Parse(args, func(names []string) (err error) {
			if len(names) == 0 {
				return errors.New("name a command")
			}
			command, p.names = names[0], names[1:]
			var ok bool
			if task, ok = p.tasks()[command]; !ok {
				return fmt.Errorf("there is no command %q", command)
			}
			if n := len(p.names); task.arguments >= 0 && n != task.arguments || task.arguments < 0 && n == 0 {
				return fmt.Errorf("%s with %s: see -h", command, display.Plural(int64(n), "argument", "arguments"))
			}
			if command == "move" {
				p.store = p.names[0]
			}
			p.spec, err = cli.ParseStore(p.store)
			return err
		})
		if err != nil {
			return exitDone, err
		}
		if command == "import" {
			return p.importFile(ctx)
		}
		store, closeStore, err := p.spec.OpenExisting(ctx)
		if err != nil {
			return exitDone, err
		}
		if command == "move" {
			code, err = p.move(ctx, store)
		} else {
			code, err = task.run(ctx, store)
		}
		return code, errors.Join(err, closeStore())
	})
}

func (p *storeCommand) say(format string, args ...any) { fmt.Fprintf(p.Out, format+"\n", args...) }

func (p *storeCommand) stat(ctx context.Context, store *harvest.Catalog) (int, error) {
	st, err := store.Stat(ctx)
	if err != nil {
		return exitDone, err
	}
	if p.json {
		e := json.NewEncoder(p.Out)
		e.SetIndent("", "  ")
		return exitDone, e.Encode(st)
	}
	n := display.Number
	p.say("log: %s entries of generation %d, %s of them superseded; %s of older generations",
		n(st.Entries), st.Head.Generation, n(st.Superseded), n(st.Older))
	p.say("bodies: %s, %s; unused: %s, %s", n(st.Bodies.Number), display.Bytes(st.Bodies.Bytes),
		n(st.Unused.Number), display.Bytes(st.Unused.Bytes))
	table := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "records\ttombstones\tbodies\tbytes\ttasks\t source")
	for _, src := range st.Sources {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t %s\n", n(src.Live), n(src.Tombstones), n(src.Bodies.Number),
			display.Bytes(src.Bodies.Bytes+src.Descriptions), n(src.Tasks), websync.RedactURL(src.Source))
	}
	return exitDone, table.Flush()
}

func (p *storeCommand) check(ctx context.Context, store *harvest.Catalog) (int, error) {
	faults, err := store.Inspect(ctx)
	for _, fault := range faults {
		p.say("%s", cli.OneLine(fault))
	}
	if len(faults) > 0 || err != nil {
		return exitLeft, err
	}
	p.say("%s is sound", p.spec)
	return exitDone, nil
}

func (p *storeCommand) compact(ctx context.Context, store *harvest.Catalog) (int, error) {
	p.retention = harvest.Retention{Log: 1, Bodies: -1, Readers: 1}
	return p.prune(ctx, store)
}

func (p *storeCommand) prune(ctx context.Context, store *harvest.Catalog) (int, error) {
	if p.plan {
		st, err := store.Stat(ctx)
		if err == nil {
			p.say("would remove at most %s superseded entries of the log, and %s of older generations",
				display.Number(st.Superseded), display.Number(st.Older))
		}
		if err == nil && p.retention.Bodies >= 0 {
			p.say("would remove at most %s unused bodies, %s", display.Number(st.Unused.Number), display.Bytes(st.Unused.Bytes))
		}
		return exitDone, err
	}
	done, err := store.Retain(ctx, p.retention)
	if err == nil {
		p.say("removed %s entries of the log, %s bodies", display.Number(done.Entries), display.Number(int64(done.Bodies)))
	}
	return exitDone, err
}

func (p *storeCommand) drop(ctx context.Context, store *harvest.Catalog) (int, error) {
	st, err := store.Stat(ctx)
	if err != nil {
		return exitDone, err
	}
	var sources []harvest.SourceStat
	for _, name := range p.names {
		found := false
		for _, src := range st.Sources {
			if name == src.Source || name == websync.RedactURL(src.Source) {
				sources, found = append(sources, src), true
			}
		}
		if !found {
			return exitDone, fmt.Errorf("%s: the store has no such source; store stat lists them", websync.RedactURL(name))
		}
	}
	for _, src := range sources {
		verb := "would delete"
		if !p.plan {
			verb = "deleted"
			if _, err := (&harvest.Harvester{Catalog: store}).Remove(ctx, harvest.Of(src.Source)); err != nil {
				return exitDone, err
			}
		}
		name := websync.RedactURL(src.Source)
		p.say("%s: %s %s records and %s tasks", name, verb, display.Number(src.Live), display.Number(src.Tasks))
	}
	return exitDone, nil
}

func (p *storeCommand) restored(ctx context.Context, store *harvest.Catalog) (int, error) {
	if p.plan {
		generation, last, err := store.End(ctx)
		p.say("would write the log of generation %d anew, with at most %s entries", generation, display.Number(int64(last)))
		return exitDone, err
	}
	generation, err := store.Restored(ctx)
	if err == nil {
		p.say("the log has generation %d now: start the programs", generation)
	}
	return exitDone, err
}

// target opens the Store in which a copy is to be, and returns what an earlier copy has
// left of it: with -plan none is created.
func (p *storeCommand) target(ctx context.Context, spec cli.Store) (to *harvest.Catalog, closeTo func() error, err error) {
	if p.plan {
		return spec.OpenDry(ctx)
	}
	return spec.Open(ctx)
}

// tell prints that a Store is written to target, or would be. A target must be empty, or
// a part of the copy.
func (p *storeCommand) tell(ctx context.Context, what string, target cli.Store, to *harvest.Catalog) error {
	head, err := to.Head(ctx)
	how := "is empty"
	switch {
	case errors.Is(err, harvest.ErrUnfinished):
		how = "has a part of it already"
	case err != nil:
		return err
	case head.Born > 0 || head.Last > 0:
		return fmt.Errorf("%s holds something: an empty store is right", target)
	}
	if p.plan {
		p.say("would write %s to %s, which %s", what, target, how)
	}
	return nil
}

func (p *storeCommand) move(ctx context.Context, from *harvest.Catalog) (code int, err error) {
	spec, err := cli.ParseStore(p.names[1])
	if err != nil {
		return exitDone, err
	}
	to, closeTo, err := p.target(ctx, spec)
	if err != nil {
		return exitDone, err
	}
	defer func() { err = errors.Join(err, closeTo()) }()
	before, err := from.Head(ctx)
	if err != nil {
		return exitDone, err
	}
	if err := p.tell(ctx, p.holds(before), spec, to); err != nil || p.plan {
		return exitDone, err
	}
	r, w := io.Pipe()
	go func() { w.CloseWithError(from.Export(ctx, w)) }()
	err = to.Import(ctx, r)
	r.CloseWithError(cmp.Or(err, io.EOF)) // ends the Export
	if err != nil {
		return exitDone, err
	}
	after, err := from.Head(ctx)
	if err != nil {
		return exitDone, err
	}
	p.say("%s has %s", spec, p.holds(before))
	if before.Generation != after.Generation || before.Last != after.Last {
		p.Complainf("%s has changed meanwhile: stop what writes to it, and move it into another empty store", p.spec)
		return exitLeft, nil
	}
	return exitDone, nil
}

// holds says what a Store holds.
func (p *storeCommand) holds(head websync.Head) string {
	live := int64(0)
	for _, n := range head.Live {
		live += n
	}
	return fmt.Sprintf("%s records of %s, and a log of %s entries", display.Number(live),
		display.Plural(int64(len(head.Live)), "source", "sources"), display.Number(int64(head.Last)))
}

func (p *storeCommand) export(ctx context.Context, from *harvest.Catalog) (code int, err error) {
	name := p.names[0]
	if p.plan {
		head, err := from.Head(ctx)
		p.say("would write %s to %s", p.holds(head), name)
		return exitDone, err
	}
	if name == "-" {
		return exitDone, from.Export(ctx, p.stdout)
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return exitDone, err
	}
	err = errors.Join(from.Export(ctx, f), f.Sync(), f.Close())
	if err != nil {
		os.Remove(name)
	}
	return exitDone, err
}

func (p *storeCommand) importFile(ctx context.Context) (code int, err error) {
	name, in := p.names[0], p.stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return exitDone, err
		}
		defer f.Close()
		in = f
	}
	to, closeTo, err := p.target(ctx, p.spec)
	if err != nil {
		return exitDone, err
	}
	defer func() { err = errors.Join(err, closeTo()) }()
	if err := p.tell(ctx, name, p.spec, to); err != nil || p.plan {
		return exitDone, err
	}
	if err := to.Import(ctx, in); err != nil {
		return exitDone, err
	}
	head, err := to.Head(ctx)
	p.say("%s has %s", p.spec, p.holds(head))
	return exitDone, err
}
