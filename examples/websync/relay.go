package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/examples/internal/cli"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/harvest/notify"
	"github.com/websync-go/websync/harvest/schedule"
	"github.com/websync-go/websync/harvest/status"
	"github.com/websync-go/websync/publish"
)

// memoryLimit is the memory from which on the runtime of Go collects garbage more often
// than usual. It is soft, and costs a relay of 100,000 ordinary records no time.
const memoryLimit = 64 << 20

// A relayCommand is one run of websync relay.
type relayCommand struct {
	*cli.Console
	alone bool // in its process: it may limit the memory of that

	*settings
	store      *harvest.Catalog
	log        *slog.Logger
	page       *cli.Page // nil: none
	client     *fetch.Client
	opener     *cli.Opener
	scheduler  *schedule.Scheduler
	recorder   *status.Recorder
	subscriber *notify.Subscriber
	pingers    []*publish.Pinger
	merger     *merger
	members    members
	claiming   sync.Mutex // held while a follower gets its Sources
	working    sync.WaitGroup

	args    []string
	started config // the configuration at the start

	mu          sync.Mutex
	followers   []*follower
	quarantined []string // URLs of sources quarantined by command

	// wrap, if set, replaces each Source. Tests set it.
	wrap func(harvest.Source) harvest.Source
}

func (p *relayCommand) line() *cli.Line { return new(relayOptions).line() }

// run carries out arguments, and returns the exit code.
func (p *relayCommand) run(ctx context.Context, args []string) int {
	return p.Run(func() (code int, err error) {
		if p.settings, err = parseRelay(args); err != nil {
			return exitDone, err
		}
		if p.alone && os.Getenv("GOMEMLIMIT") == "" {
			debug.SetMemoryLimit(memoryLimit)
		}
		p.args, p.started, p.log = args, *p.config, p.logger(slog.LevelWarn)
		if p.page, err = cli.OpenPage(p.Report, "websync harvest "); err != nil {
			return exitDone, err
		}
		err = p.withStore(ctx)
		if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
			err = nil // the user stopped it
		}
		if err != nil {
			p.page.Fail(err)
		}
		return exitDone, errors.Join(err, p.page.Write())
	})
}

// withStore opens the store and relays.
func (p *relayCommand) withStore(ctx context.Context) (err error) {
	spec, _ := cli.ParseStore(p.Store) // check has done so
	store, closeStore, err := spec.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeStore()) }()
	return p.relay(ctx, spec, store)
}

// relay harvests into the store and publishes it until the context ends.
func (p *relayCommand) relay(ctx context.Context, spec cli.Store, store *harvest.Catalog) error {
	p.store = store
	flags := cli.SourceFlags{
		Rate: p.Rate, AllowPrivate: p.AllowPrivate, Netrc: p.Netrc, Contact: p.Contact, UserAgent: p.UserAgent,
	}
	client, err := flags.Client(store, nil)
	if err != nil {
		return err
	}
	p.client, client.Entrust = client, p.entrusts
	p.recorder = &status.Recorder{State: store, Log: p.log}
	client.Concurrency = -1 // the scheduler limits it: transfers that drip must not keep others waiting
	client.OnAttempt = func(ctx context.Context, a harvest.AttemptInfo) {
		p.recorder.Request(ctx, a)
		p.page.Request(ctx, a)
	}
	defer client.CloseIdleConnections()
	p.opener = &cli.Opener{Fetcher: client, State: store, Rate: p.Rate, Announce: p.Complain}
	if spec.Kind == "sqlite" {
		p.opener.PagesDir = spec.Name + ".pages"
	}
	p.scheduler = &schedule.Scheduler{
		Harvester: &harvest.Harvester{
			Catalog: store, Fetcher: client, Log: p.logger(slog.LevelError),
			Hooks: harvest.JoinHooks(p.recorder.Hooks(), p.page.Hooks()),
		},
		Concurrency: p.Concurrency,
		Retention:   cli.Retention(p.Retain.Log, p.Retain.Bodies),
		Retained:    func(done harvest.Retained, err error) { p.Complain(cli.DescribeRetained(done, err)) },
		Log:         p.logger(slog.LevelError), // Ended reports the runs
		Ended: func(source harvest.Source, report *harvest.Report, err error) {
			p.ended(source, &status.Result{
				Report: report, Err: err, Lasts: spec.Kind != "mem",
				Interrupted: cli.Interrupted(ctx, err) || errors.Is(err, context.Canceled), // or it is followed no longer
			})
		},
	}
	return p.serve(ctx)
}

// serve publishes and harvests until the context ends.
func (p *relayCommand) serve(ctx context.Context) error {
	listener, base, err := cli.Listen(ctx, p.Addr)
	if err != nil {
		return err
	}
	defer listener.Close()
	p.Base = cmp.Or(p.Base, base)
	if err := p.loadQuarantined(ctx); err != nil {
		return err
	}
	followers, _ := p.choose(p.sources)
	if err := p.makeMerger(ctx); err != nil {
		return err
	}
	site := &publish.Site{
		Catalog: p.store, Base: p.Base, Sources: []string{mergedKey},
		Report: func(f websync.Finding) { p.Complain(f.String()) },
	}
	handler := site.Handler(p.lists(p.Base)...)
	handler.Log, handler.Concurrency = p.log, 1 // a list that strangers fill takes memory while it is rendered
	defer handler.Close()
	if err := handler.Check(); err != nil {
		return err
	}
	statusPage, err := p.listenForStatus(ctx)
	if err != nil {
		return err
	}
	p.makePingers()
	p.makeSubscriber()

	defer p.working.Wait()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	work := func(run func(context.Context) error) {
		p.working.Go(func() {
			if err := run(ctx); err != nil && ctx.Err() == nil {
				cancel(err) // and waiting does not help
			}
		})
	}
	fail := func(err error) { p.Complain(err.Error()) } // without packages the lists are served all the same
	for _, pub := range p.publications {
		if err := pub.Pack(ctx); err != nil && ctx.Err() == nil {
			fail(err)
		}
		p.working.Go(func() { pub.PackAgain(ctx, pub.repack, fail) })
	}
	if statusPage != nil {
		work(statusPage)
	}
	work(p.scheduler.Run)
	for _, pinger := range p.pingers {
		work(pinger.Run)
	}
	work(p.unsubscribe)
	work(p.subscriber.Run)
	work(func(ctx context.Context) error { return p.follow(ctx, followers) })
	work(p.merger.run)
	work(p.reloading())

	p.Complain("listening at " + listener.Addr().String())
	for _, pub := range p.publications {
		if _, err := fmt.Fprintln(p.Out, pub.Entry()); err != nil {
			return nil // cli.Run reports it
		}
	}
	err = p.answer(ctx, listener, handler)
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return err
}

// listenForStatus returns what serves the status page, or nil if there is none.
func (p *relayCommand) listenForStatus(ctx context.Context) (serve func(context.Context) error, err error) {
	if p.Status == "" {
		return nil, nil
	}
	listener, url, err := cli.Listen(ctx, p.Status)
	if err != nil {
		return nil, err
	}
	p.Complain("status page at " + url)
	page := &status.Handler{
		Catalog: p.store, Due: p.scheduler.Due, Merged: mergedKey, Conflicts: p.merger.Conflicts, Recorder: p.recorder,
		Origin: p.members.url,
		Hosts:  append(cli.StatusHosts(p.Status), p.StatusHosts...), Title: "Relay", Log: p.log,
	}
	return func(ctx context.Context) error { return cli.Serve(ctx, listener, page) }, nil
}

// answer answers readers, and notices of publishers.
func (p *relayCommand) answer(ctx context.Context, listener net.Listener, readers http.Handler) error {
	base, _ := url.Parse(p.Base) // check has done so
	pings := &notify.Receiver{Notify: p.notice, Log: p.log}
	return cli.Serve(ctx, listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch at, ok := strings.CutPrefix(r.URL.EscapedPath(), base.EscapedPath()+notifyPath); {
		case ok && at == "ping":
			pings.ServeHTTP(w, r)
		case ok && strings.HasPrefix(at, websubPath):
			p.subscriber.ServeHTTP(w, r)
		default:
			readers.ServeHTTP(w, r)
		}
	}))
}

// makePingers makes what notifies readers.
func (p *relayCommand) makePingers() {
	if len(p.Subscribers)+len(p.Hubs) == 0 {
		return
	}
	for _, pub := range p.publications {
		p.pingers = append(p.pingers, &publish.Pinger{
			Topics: []string{pub.Entry()}, Subscribers: p.Subscribers, Hubs: p.Hubs,
			Notifier: pub.Notifier(), State: p.store, Log: p.log,
		})
	}
}

// notify notifies readers of changes.
func (p *relayCommand) notify() {
	for _, pinger := range p.pingers {
		pinger.Notify()
	}
}

// ended reports a run.
func (p *relayCommand) ended(source harvest.Source, run *status.Result) {
	p.page.Add(*run)
	p.page.Refresh()
	if changesOf(run.Report) > 0 || run.State() != status.InStep {
		p.Complain(cli.DescribeRun(source.Key(), run))
	}
	if errors.Is(run.Err, websync.ErrNotDocument) {
		p.doubt(source.Key())
	}
}

// logger returns what writes records of a level and above to standard error.
func (p *relayCommand) logger(level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(p.Err, &slog.HandlerOptions{Level: level}))
}
