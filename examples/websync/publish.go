package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/examples/internal/cli"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/dirsource"
	"github.com/websync-go/websync/harvest/union"
	"github.com/websync-go/websync/publish"
)

// A publishCommand is one run of websync publish.
type publishCommand struct {
	*cli.Console

	publishOptions
	store *harvest.Catalog
	// patterns of the files in the directory that are not to be published
	exclude []string
	sources []string // to publish
	merger  *merger  // of sources that state the same ids; nil: there are none
	lists   *cli.Publication
	scanner *scanner // if nil, no directory
}

// run carries out arguments, and returns the exit code.
func (p *publishCommand) run(ctx context.Context, args []string) int {
	return p.Run(func() (code int, err error) {
		if err := p.line().Parse(args, p.check); err != nil {
			return 0, err
		}
		if code, err = p.withStore(ctx); ctx.Err() != nil {
			err = nil // the user stopped it
		}
		return code, err
	})
}

// withStore opens the store and publishes it.
func (p *publishCommand) withStore(ctx context.Context) (code int, err error) {
	spec, remove, err := cli.ChooseStore(p.storeFlag)
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
	if p.stored() {
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
func (p *publishCommand) export(ctx context.Context) (code int, err error) {
	if p.Base == "" {
		p.Base = cli.BaseOf(cli.DefaultAddr)
		p.Complainf("without -base the files are for a server at %s", p.Base)
	}
	if err := p.prepare(ctx); err != nil {
		return 0, err
	}
	catalog, err := publish.Freeze(ctx, p.store)
	if err != nil {
		return 0, err
	}
	head, err := catalog.Head(ctx)
	if err != nil {
		return 0, err
	}
	complete := p.scanner == nil || p.scanner.inStep
	switch earlier := holdsAny(p.out); {
	case earlier && !complete && p.storeFlag == "":
		p.Complainf("%s stays as it is: without a -store nobody knows what the files were that could not be read", p.out)
		return exitLeft, nil
	case earlier && p.stored() && head.Last == 0:
		p.Complainf("%s stays as it is: nothing was ever harvested into the store", p.out)
		return exitLeft, nil
	}
	return p.write(ctx, catalog, complete)
}

// write writes the files of a catalog, which is complete unless files of the directory
// could not be read.
func (p *publishCommand) write(ctx context.Context, catalog websync.Catalog, complete bool) (code int, err error) {
	if os.Getenv("GOGC") == "" { // an export holds little and makes much: collecting less often saves a sixth of its time
		defer debug.SetGCPercent(debug.SetGCPercent(400))
	}
	publishers := p.publishers(catalog)
	if err := p.lists.Pack(ctx); err != nil {
		return 0, err
	}
	done, err := publish.WriteDir(ctx, p.out, publishers...)
	refused, partial := errors.AsType[*publish.RefusedError](err)
	if err != nil && !partial {
		return 0, err
	}
	if partial {
		p.reportRefused(refused)
	}
	p.Complainf("%s: %d written, %d unchanged, %d removed", p.out, done.Written, done.Unchanged, done.Removed)
	fmt.Fprintln(p.Out, p.lists.Entry())
	if partial || !complete {
		return exitLeft, nil
	}
	return exitDone, nil
}

// reportRefused reports the documents that have no file.
func (p *publishCommand) reportRefused(refused *publish.RefusedError) {
	for _, r := range refused.Refused {
		p.Complainf("not written: %q: %s", r.Path, r.Reason)
	}
	if more := refused.Total - int64(len(refused.Refused)); more > 0 {
		p.Complainf("not written: %d more", more)
	}
}

// holdsAny reports whether a directory has an earlier export. Files that cannot be read
// now must not be removed from it as if they were deleted.
func holdsAny(dir string) bool {
	entries, _ := os.ReadDir(dir)
	return len(entries) > 0
}

// servePublish serves until the context ends.
func (p *publishCommand) serve(ctx context.Context) error {
	listener, base, err := cli.Listen(ctx, cmp.Or(p.Addr, cli.DefaultAddr))
	if err != nil {
		return err
	}
	defer listener.Close()
	p.Base = cmp.Or(p.Base, base)
	if err := p.prepare(ctx); err != nil {
		return err
	}
	publishers := p.publishers(p.store)
	handler := &publish.Handler{Publishers: publishers, Log: slog.New(slog.NewTextHandler(p.Err, nil))}
	defer handler.Close()
	if err := handler.Check(); err != nil {
		return err
	}

	var working sync.WaitGroup
	defer working.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := p.lists.Pack(ctx); err != nil && ctx.Err() == nil {
		p.fail(err) // without packages the lists are served all the same
	}
	working.Go(func() { p.lists.PackAgain(ctx, p.repack, p.fail) })
	if p.scanner != nil {
		go p.scanner.watch(ctx)
	}
	if p.merger != nil {
		working.Go(func() { p.merger.run(ctx) })
	}
	if notifier := p.lists.Notifier(); notifier != nil && len(p.hubs) > 0 {
		pinger := &publish.Pinger{
			Topics: []string{p.lists.Entry()}, Hubs: p.hubs, Notifier: notifier, State: p.store, Log: handler.Log,
		}
		working.Go(func() { pinger.Run(ctx) })
		working.Go(func() { p.notify(ctx, pinger) })
	}
	if _, err := fmt.Fprintln(p.Out, p.lists.Entry()); err != nil {
		return nil // cli.Run reports it
	}
	return cli.Serve(ctx, listener, p.refreshing(handler))
}

func (p *publishCommand) fail(err error) { p.Complain(cli.OneLine(err.Error())) }

// notify lets a Pinger look for changes at intervals, until ctx ends.
func (p *publishCommand) notify(ctx context.Context, pinger *publish.Pinger) {
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
func (p *publishCommand) refreshing(next http.Handler) http.Handler {
	if p.scanner == nil || p.scanner.remote {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.lists.IsList(r.URL.EscapedPath()) {
			p.scanner.refresh(r.Context())
		}
		next.ServeHTTP(w, r)
	})
}

// prepareList reads the list of acts.
func (p *publishCommand) prepareList(ctx context.Context) error {
	t, err := cli.ParseTarget("csv", p.csv)
	if err != nil {
		return fmt.Errorf("-csv %w", err)
	}
	src := new(cli.Opener).List(t)
	p.sources, p.own = []string{src.Key()}, []string{src.Key()}
	client, err := (&cli.SourceFlags{Netrc: p.netrc}).Client(p.store, []cli.Target{t})
	if err != nil {
		return err
	}
	h := &harvest.Harvester{Catalog: p.store, Fetcher: client}
	p.scanner = &scanner{source: src, what: "acts", harvester: h, every: p.rescan, console: p.Console}
	if p.scanner.remote = t.File == ""; p.scanner.remote {
		p.scanner.every = max(p.rescan, time.Minute)
	}
	return p.scanner.scan(ctx)
}

// prepare determines the sources to publish.
func (p *publishCommand) prepare(ctx context.Context) error {
	if p.csv != "" {
		return p.prepareList(ctx)
	}
	if p.dir != "" {
		dir, err := filepath.Abs(p.dir)
		if err != nil {
			return err
		}
		src := &dirsource.Source{Dir: dir, Base: p.Base, Exclude: p.exclude, MD5: p.protocol == "rinfo"}
		p.sources, p.own = []string{src.Key()}, []string{src.Key()}
		var reported sync.Map // what is wrong with a file, which each scan finds again
		h := &harvest.Harvester{Catalog: p.store, MaxDelete: -1}
		h.Hooks = &harvest.Hooks{Finding: func(_ string, f websync.Finding) {
			if _, again := reported.LoadOrStore(f.Rule+" "+f.Value, true); !again {
				p.Complain(f.String())
			}
		}}
		if p.out != "" {
			h.Concurrency = 1 // the same order, and so the same lists, each time
		}
		p.scanner = &scanner{source: src, what: "files", harvester: h, every: p.rescan, console: p.Console}
		return p.scanner.scan(ctx)
	}
	head, err := p.store.Head(ctx)
	if err != nil {
		return err
	}
	relayed, err := p.store.State(ctx, membersState)
	if err != nil {
		return err
	}
	if relayed != nil && len(p.own) == 0 {
		p.sources = []string{mergedKey} // which the relay keeps in step
		return nil
	}
	isMerged := head.Live[mergedKey] > 0
	delete(head.Live, mergedKey)
	p.sources = slices.Sorted(maps.Keys(head.Live))
	for _, own := range p.own {
		if !slices.Contains(p.sources, own) {
			return fmt.Errorf("-own %q: the store holds no such source, but %q", websync.RedactURL(own), redacted(p.sources))
		}
	}
	return p.merge(ctx, isMerged)
}

// merge makes one set of several sources that state the same ids. Those that are published
// beside own ones must state different ids.
func (p *publishCommand) merge(ctx context.Context, isMerged bool) error {
	m := &merger{
		catalog: p.store, fail: p.fail, member: func(string) (union.Member, bool) { return union.Member{}, true },
	}
	shared, err := sharedID(ctx, p.store, p.sources)
	switch {
	case err != nil || shared == "" && !isMerged:
		return err
	case len(p.own) > 0 && shared != "":
		const format = "several sources state %q: those that are published beside own ones must state different ids"
		return fmt.Errorf(format, websync.RedactURL(shared))
	case len(p.own) > 0:
		return nil
	}
	p.merger, p.sources = m, []string{mergedKey}
	if err := m.step(ctx); err != nil {
		return err
	}
	return m.recount(ctx)
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
func (p *publishCommand) publishers(catalog websync.Catalog) []websync.Publisher {
	report := func(f websync.Finding) { p.Complain(f.String()) }
	site := &publish.Site{Catalog: catalog, Base: p.Base, Own: p.own, Sources: p.sources, Report: report}
	p.lists = &cli.Publication{
		Protocol: p.protocol, Hubs: p.hubs, Dumps: p.dumps, State: p.store, ListSize: p.listSize, MaxLists: p.maxLists,
		Inline: p.inline,
	}
	return site.Publishers(p.lists.Publisher(p.Base))
}
