// Publish serves a directory or a store by a synchronisation protocol, or writes it as
// static files. Run it with -h for its flags.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atompmh"
	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/examples/internal/cli"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/dirsource"
	"github.com/websync-go/websync/harvest/union"
	"github.com/websync-go/websync/publish"
	"github.com/websync-go/websync/resourcesync"
	"github.com/websync-go/websync/rinfo"
	"github.com/websync-go/websync/sitemap"
	"github.com/websync-go/websync/sitemap/google"
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
	store harvest.Store
	// patterns of the files in the directory that are not to be published
	exclude []string
	sources []string                    // to publish
	scanner *scanner                    // if nil, no directory
	pack    func(context.Context) error // makes packages; nil without -dumps
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
	if p.dir == "" && !spec.Exists() {
		return 0, fmt.Errorf("store %s: there is none", spec)
	}
	store, closeStore, err := spec.Open(ctx, false)
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
		p.base = baseOf(defaultAddr)
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
	publishers, entry, _ := p.publishers()
	if p.pack != nil {
		if err := p.pack(ctx); err != nil {
			return 0, err
		}
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
	fmt.Fprintln(p.stdout, entry)
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
	addr := p.addr
	if addr == "" {
		addr = defaultAddr
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	defer listener.Close()
	if p.base == "" {
		p.base = p.ownBase(addr, listener)
	}
	if err := p.prepare(ctx); err != nil {
		return err
	}
	publishers, entry, isList := p.publishers()
	handler := &publish.Handler{Publishers: publishers, Log: slog.New(slog.NewTextHandler(p.stderr, nil))}
	defer handler.Close()
	if err := handler.Check(); err != nil {
		return err
	}
	server := &http.Server{Handler: p.refreshing(handler, isList), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}

	var working sync.WaitGroup
	defer working.Wait()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if p.pack != nil {
		p.packOnce(ctx)
		working.Go(func() { p.packAgain(ctx) })
	}
	if p.scanner != nil {
		go p.scanner.watch(ctx)
	}
	if notifier, ok := publishers[0].(publish.Notifier); ok && len(p.hubs) > 0 {
		pinger := &publish.Pinger{Topics: []string{entry}, Hubs: p.hubs, Notifier: notifier, State: p.store, Log: handler.Log}
		working.Go(func() { pinger.Run(ctx) })
		working.Go(func() { p.notify(ctx, pinger) })
	}
	go func() { cancel(server.Serve(listener)) }()
	if _, err := fmt.Fprintln(p.stdout, entry); err != nil {
		return nil // cli.Run reports it
	}
	<-ctx.Done()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	const patience = 5 * time.Second
	closing, stop := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer stop()
	if err := server.Shutdown(closing); err != nil {
		return server.Close() // somebody reads slowly
	}
	return nil
}

// packAgain makes packages of what has changed, at intervals until the context ends.
func (p *program) packAgain(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(p.repack):
			p.packOnce(ctx)
		}
	}
}

// packOnce makes packages. Without them the lists are served all the same.
func (p *program) packOnce(ctx context.Context) {
	if err := p.pack(ctx); err != nil && ctx.Err() == nil {
		fmt.Fprintf(p.stderr, "publish: %s\n", cli.OneLine(err.Error()))
	}
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

// ownBase returns the URL of this server.
func (p *program) ownBase(addr string, listener net.Listener) string {
	host, _, _ := net.SplitHostPort(addr)
	// the chosen port, if addr has 0
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return baseOf(net.JoinHostPort(host, port))
}

// refreshing scans the directory before next serves a list.
func (p *program) refreshing(next http.Handler, isList func(path string) bool) http.Handler {
	if p.scanner == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isList(r.URL.EscapedPath()) {
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
		h := &harvest.Harvester{Store: p.store, MaxDelete: -1}
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

// publishers returns the Publishers of the protocol's documents and of the bodies, the
// URL that a reader begins with, and a function that reports whether a path is the
// protocol's.
func (p *program) publishers() (_ []websync.Publisher, entry string, isList func(path string) bool) {
	var list protocol
	var links []websync.Link // of the resources
	locator := websync.PathLocator{Base: p.base, Own: p.own, Reserved: func(path string) bool { return list.Reserved(path) }}
	switch p.protocol {
	case "sitemap":
		list = &sitemap.Publisher{
			Catalog: p.store, Base: p.base, Sources: p.sources, Locator: locator, Extensions: google.Extensions(), Report: p.report,
		}
	case "atom":
		list = &atom.Publisher{Catalog: p.store, Base: p.base, Sources: p.sources, Locator: locator, Report: p.report,
			Title: p.base, Author: websync.Person{Name: p.author()}}
	case "atompmh":
		list = &atompmh.Publisher{Catalog: p.store, Base: p.base, Sources: p.sources, Locator: locator, Report: p.report,
			Title: p.base, Author: websync.Person{Name: p.author()}}
	case "rinfo":
		list = &rinfo.Publisher{Catalog: p.store, Base: p.base, Sources: p.sources, Locator: locator, Report: p.report,
			Title: p.base, Author: websync.Person{Name: p.author()}}
	case "eli":
		list = &eli.Publisher{Catalog: p.store, Base: p.base, Sources: p.own, Locator: locator, Report: p.report,
			Author: websync.Person{Name: p.author()}}
	case "resourcesync":
		set := &resourcesync.Publisher{Catalog: p.store, Base: p.base, Sources: p.sources, Locator: locator, Report: p.report, Robots: true,
			Hubs: p.hubs, ListSize: p.listSize, MaxLists: p.maxLists}
		if p.dumps != "" {
			set.Dumps = &resourcesync.Dumps{Dir: p.dumps, State: p.store, MaxPackages: p.maxLists}
			p.pack = func(ctx context.Context) error { return set.Pack(ctx) }
		}
		list, links = set, append(links, set.Link())
	}
	bodies := publish.Linked(publish.Bodies(p.store, locator, p.sources...), links...)
	return []websync.Publisher{list, bodies}, list.URL(), list.Reserved
}

// A protocol is a Publisher whose documents begin at a URL and take up paths of the site.
type protocol interface {
	websync.Publisher
	URL() string
	Reserved(path string) bool
}

// author returns the author of a feed whose entries have none: the host.
func (p *program) author() string {
	if u, err := url.Parse(p.base); err == nil {
		return u.Hostname()
	}
	return p.base
}

func (p *program) report(f websync.Finding) { fmt.Fprintf(p.stderr, "publish: %v\n", f) }
