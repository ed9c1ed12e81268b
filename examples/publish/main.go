// Publish serves a directory or a store by a synchronisation protocol, or writes it as
// static files. Run it with -h for its flags.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/examples/internal/cli"
	"github.com/websync-go/websync/examples/internal/protocols"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/dirsource"
	"github.com/websync-go/websync/harvest/union"
	"github.com/websync-go/websync/publish"
)

const (
	exitDone = 0
	// files that could not be read or written are missing from an export
	exitMissing = 1
	exitFailed  = cli.Failed // usage, or the directory, the store or the address could not be used
)

func main() {
	p := &program{stdout: os.Stdout, stderr: os.Stderr}
	cli.Main(p.run)
}

// A program is one run of the command.
type program struct {
	stdout, stderr io.Writer

	options
	store *harvest.Catalog
	// patterns of the files in the directory that are not to be published
	exclude []string
	sources []string // to publish
	lists   *protocols.Publication
	scanner *scanner // if nil, no directory
}

// run is main without the process around it. It returns the exit code.
func (p *program) run(ctx context.Context, args []string) int {
	return cli.Run("publish", p.stdout, p.stderr, func(out, errOut *cli.Output) (code int, err error) {
		p.stdout, p.stderr = out, errOut
		if p.options, err = parseOptions(args); err != nil {
			return exitDone, err
		}
		if code, err = p.withStore(ctx); ctx.Err() != nil {
			err = nil // the user stopped it
		}
		return code, err
	})
}

// withStore opens the store and publishes it.
func (p *program) withStore(ctx context.Context) (code int, err error) {
	spec, remove, err := cli.ChooseStore(p.options.store)
	if err != nil {
		return 0, err
	}
	defer remove()
	if p.dir != "" {
		if p.exclude, err = cli.OwnFiles(p.dir, spec, p.out, p.dumps); err != nil {
			return 0, err
		}
	}
	open := spec.Open
	if p.dir == "" {
		open = spec.OpenExisting
	}
	store, closeStore, err := open(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, closeStore()) }()
	p.store = store
	if p.out != "" {
		return p.export(ctx)
	}
	return exitDone, p.serve(ctx)
}

// export writes static files.
func (p *program) export(ctx context.Context) (code int, err error) {
	if p.base == "" {
		p.base = cli.BaseOf(cli.DefaultAddr)
		fmt.Fprintf(p.stderr, "publish: without -base the files are for a server at %s\n", p.base)
	}
	if err := p.prepare(ctx); err != nil {
		return 0, err
	}
	complete := p.scanner == nil || p.scanner.inStep
	if !complete && p.options.store == "" && holdsAny(p.out) {
		fmt.Fprintf(p.stderr, "publish: %s stays as it is: without a -store nobody knows what the files were that could not be read\n", p.out)
		return exitMissing, nil
	}
	catalog, err := publish.Freeze(ctx, p.store)
	if err != nil {
		return 0, err
	}
	head, err := catalog.Head(ctx)
	if err != nil {
		return 0, err
	}
	if p.dir == "" && head.Last == 0 && holdsAny(p.out) {
		fmt.Fprintf(p.stderr, "publish: %s stays as it is: nothing was ever harvested into the store\n", p.out)
		return exitMissing, nil
	}
	publishers := p.publishers(catalog)
	if err := p.lists.Pack(ctx); err != nil {
		return 0, err
	}
	done, err := publish.WriteDir(ctx, p.out, publishers...)
	var refused *publish.RefusedError
	if errors.As(err, &refused) {
		complete = false
		for _, r := range refused.Refused {
			fmt.Fprintf(p.stderr, "publish: not written: %q: %s\n", r.Path, r.Reason)
		}
		if more := refused.Total - int64(len(refused.Refused)); more > 0 {
			fmt.Fprintf(p.stderr, "publish: not written: %d more\n", more)
		}
	} else if err != nil {
		return 0, err
	}
	fmt.Fprintf(p.stderr, "publish: %s: %d written, %d unchanged, %d removed\n", p.out, done.Written, done.Unchanged, done.Removed)
	fmt.Fprintln(p.stdout, p.lists.Entry())
	if !complete {
		return exitMissing, nil
	}
	return exitDone, nil
}

// holdsAny reports whether a directory has an earlier export. Files that cannot be read
// now must not be removed from it as if they were deleted.
func holdsAny(dir string) bool {
	entries, _ := os.ReadDir(dir)
	return len(entries) > 0
}

// serve serves until the context ends.
func (p *program) serve(ctx context.Context) error {
	listener, base, err := cli.Listen(ctx, cmp.Or(p.addr, cli.DefaultAddr))
	if err != nil {
		return err
	}
	defer listener.Close()
	p.base = cmp.Or(p.base, base)
	if err := p.prepare(ctx); err != nil {
		return err
	}
	publishers := p.publishers(p.store)
	handler := &publish.Handler{Publishers: publishers, Log: slog.New(slog.NewTextHandler(p.stderr, nil))}
	defer handler.Close()
	if err := handler.Check(); err != nil {
		return err
	}

	var working sync.WaitGroup
	defer working.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := p.lists.Pack(ctx); err != nil && ctx.Err() == nil {
		p.complain(err) // without packages the lists are served all the same
	}
	working.Go(func() { p.lists.PackAgain(ctx, p.repack, p.complain) })
	if p.scanner != nil {
		go p.scanner.watch(ctx)
	}
	if notifier := p.lists.Notifier(); notifier != nil && len(p.hubs) > 0 {
		pinger := &publish.Pinger{Topics: []string{p.lists.Entry()}, Hubs: p.hubs, Notifier: notifier, State: p.store, Log: handler.Log}
		working.Go(func() { pinger.Run(ctx) })
		working.Go(func() { p.notify(ctx, pinger) })
	}
	if _, err := fmt.Fprintln(p.stdout, p.lists.Entry()); err != nil {
		return nil // cli.Run reports it
	}
	return cli.Serve(ctx, listener, p.refreshing(handler))
}

func (p *program) complain(err error) {
	fmt.Fprintf(p.stderr, "publish: %s\n", cli.OneLine(err.Error()))
}

// notify lets a Pinger look for changes at intervals, until ctx ends.
func (p *program) notify(ctx context.Context, pinger *publish.Pinger) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(p.rescan):
			pinger.Notify()
		}
	}
}

// refreshing scans the directory before next serves a list.
func (p *program) refreshing(next http.Handler) http.Handler {
	if p.scanner == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.lists.IsList(r.URL.EscapedPath()) {
			p.scanner.refresh(r.Context())
		}
		next.ServeHTTP(w, r)
	})
}

// prepare determines the sources to publish.
func (p *program) prepare(ctx context.Context) error {
	if p.dir != "" {
		dir, err := filepath.Abs(p.dir)
		if err != nil {
			return err
		}
		src := &dirsource.Source{Dir: dir, Base: p.base, Exclude: p.exclude, MD5: p.protocol == "rinfo"}
		p.sources, p.own = []string{src.Key()}, []string{src.Key()}
		h := &harvest.Harvester{Catalog: p.store, MaxDelete: -1}
		if p.out != "" {
			h.Concurrency = 1 // the same order, and so the same lists, each time
		}
		p.scanner = &scanner{source: src, harvester: h, every: p.rescan, out: p.stderr}
		return p.scanner.scan(ctx)
	}
	head, err := p.store.Head(ctx)
	if err != nil {
		return err
	}
	p.sources = slices.Sorted(maps.Keys(head.Live))
	for _, own := range p.own {
		if !slices.Contains(p.sources, own) {
			return fmt.Errorf("-own %q: the store holds no such source, but %q", websync.RedactURL(own), redacted(p.sources))
		}
	}
	return union.Disjoint(ctx, p.store, p.sources...)
}

// redacted returns the names of sources without secrets.
func redacted(sources []string) []string {
	names := make([]string, len(sources))
	for i, source := range sources {
		names[i] = websync.RedactURL(source)
	}
	return names
}

// publishers returns the Publishers of the protocol's documents and of the bodies.
func (p *program) publishers(catalog websync.Catalog) []websync.Publisher {
	site := &publish.Site{Catalog: catalog, Base: p.base, Own: p.own, Sources: p.sources, Report: p.report}
	p.lists = &protocols.Publication{Protocol: p.protocol, Hubs: p.hubs, Dumps: p.dumps, State: p.store, ListSize: p.listSize, MaxLists: p.maxLists}
	return site.Publishers(p.lists.Publisher(p.base))
}

func (p *program) report(f websync.Finding) { fmt.Fprintf(p.stderr, "publish: %v\n", f) }
