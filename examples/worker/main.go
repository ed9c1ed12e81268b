// Worker harvests on as many machines as it is started on: they share a store and a queue
// of jobs in PostgreSQL. Run it with -h for its flags.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"reflect"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/examples/internal/cli"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/pgstore"
	"github.com/websync-go/websync/harvest/riverjobs"
	"github.com/websync-go/websync/harvest/status"
)

func main() {
	p := &program{Console: cli.NewConsole("worker", os.Stdout, os.Stderr)}
	cli.Main(p.run)
}

// A program is one run of the command.
type program struct {
	*cli.Console

	*options
	store    *harvest.Catalog
	opener   *cli.Opener
	recorder *status.Recorder
	metrics  func(io.Writer) error
	log      *slog.Logger
}

// run is main without the process around it. It returns the exit code.
func (p *program) run(ctx context.Context, args []string) int {
	return p.Run(func() (code int, err error) {
		if p.options, err = parseOptions(args); err != nil {
			return 0, err
		}
		p.log = slog.New(slog.NewTextHandler(p.Err, &slog.HandlerOptions{Level: slog.LevelWarn}))
		db, err := pgstore.Open(ctx, p.dsn, nil)
		if err != nil {
			return 0, err
		}
		defer db.Close()
		p.store = harvest.NewCatalog(db)
		err = p.work(ctx)
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			err = nil // the user stopped it
		}
		return 0, err
	})
}

// work works on jobs until the context ends.
func (p *program) work(ctx context.Context) error {
	client, err := p.Client(p.store, p.targets)
	if err != nil {
		return err
	}
	p.recorder = &status.Recorder{State: p.store, Log: p.log}
	telemetry, metrics, err := newTelemetry()
	if err != nil {
		return err
	}
	p.metrics = metrics
	client.OnAttempt = func(ctx context.Context, a harvest.AttemptInfo) {
		p.recorder.Request(ctx, a)
		telemetry.Request(ctx, a)
	}
	defer client.CloseIdleConnections()
	p.opener = &cli.Opener{Fetcher: client, State: p.store, Rate: p.Rate, Announce: p.Complain}
	worker := &riverjobs.Worker{
		Harvester: &harvest.Harvester{
			Catalog: p.store, Fetcher: client, Filter: p.Selection.Filter, Also: p.Selection.Relations(),
			Hooks: harvest.JoinHooks(p.recorder.Hooks(), telemetry.Hooks()),
			Log:   slog.New(slog.NewTextHandler(p.Err, &slog.HandlerOptions{Level: slog.LevelError})), // Ended reports the runs
		},
		Registry:    p.registry(),
		Slice:       p.slice,
		PerHost:     p.perHost,
		Concurrency: p.concurrency,
		Ended:       p.ended,
	}
	config := &river.Config{
		Logger: p.log, Schema: queueSchema, JobTimeout: p.slice,
		PollOnly: true, // a pool between it and the server may lose notifications
	}
	if err := worker.Configure(config); err != nil {
		return err
	}
	pool, err := openQueue(ctx, p.dsn)
	if err != nil {
		return err
	}
	defer pool.Close()
	return p.serve(ctx, pool, config)
}

// serve runs a client of the queue until the context ends.
func (p *program) serve(ctx context.Context, pool *pgxpool.Pool, config *river.Config) error {
	queue, err := river.NewClient(riverpgxv5.New(pool), config)
	if err != nil {
		return err
	}
	if err := queue.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	p.Complain("working")
	var finding sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	finding.Go(func() {
		follow := func(ctx context.Context, t cli.Target) error { return p.follow(ctx, queue, t) }
		cli.AwaitAll(ctx, p.targets, follow, func(err error) {
			p.Complain(cmp.Or(cli.Ambiguity("worker", err), err.Error()))
		})
	})
	finding.Go(func() {
		p.store.RetainDaily(ctx, cli.Retention(p.retainLog, p.retainBody), func(done harvest.Retained, err error) {
			p.Complain(cli.DescribeRetained(done, err))
		})
	})
	err = p.serveStatus(ctx)
	cancel()
	finding.Wait()
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	return errors.Join(err, queue.StopAndCancel(stopping)) // the jobs go back to the queue
}

// serveStatus serves the status page, if there is to be one, until the context ends.
func (p *program) serveStatus(ctx context.Context) error {
	if p.status == "" {
		<-ctx.Done()
		return nil
	}
	listener, url, err := cli.Listen(ctx, p.status)
	if err != nil {
		return err
	}
	p.Complain("status page at " + url)
	page := &status.Handler{
		Catalog: p.store, Recorder: p.recorder, Metrics: p.metrics,
		Hosts: cli.StatusHosts(p.status), Title: "Workers", Log: p.log,
	}
	return cli.Serve(ctx, listener, page)
}

// follow puts the jobs of what a target leads to into the queue, now and at intervals.
func (p *program) follow(ctx context.Context, queue *river.Client[pgx.Tx], t cli.Target) error {
	sources, left, err := p.opener.Sources(ctx, t)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for i := range left {
		p.Complain(left[i].Err(t).Error())
		sources = append(sources, left[i].Source)
	}
	var keys []string
	var jobs []riverjobs.Args
	for _, src := range sources {
		keys, jobs = append(keys, src.Key()), append(jobs, jobOf(t, src.Key()))
	}
	p.recorder.Opened(ctx, t.URL, keys, err)
	if len(sources) == 0 {
		return err
	}
	if err != nil {
		p.Complain(err.Error())
	}
	periodic, err := riverjobs.Periodic(p.every, jobs...)
	if err != nil {
		return err
	}
	for _, args := range jobs {
		if _, err := queue.Insert(ctx, args, nil); err != nil {
			return err
		}
	}
	_, err = queue.PeriodicJobs().AddManySafely(periodic)
	return err
}

// The options of a job.
const (
	optionFeed     = "feed"
	optionComplete = "complete"
	optionActs     = "acts"
)

func jobOf(t cli.Target, key string) riverjobs.Args {
	args := riverjobs.Args{Protocol: t.Protocol, URL: t.URL, Key: key, Options: map[string]string{}}
	if t.Feed != "" {
		args.Options[optionFeed] = t.Feed
	}
	if t.Complete {
		args.Options[optionComplete] = "true"
	}
	if acts, err := json.Marshal(t.Acts); err == nil && !reflect.ValueOf(t.Acts).IsZero() {
		args.Options[optionActs] = string(acts)
	}
	return args
}

func targetOf(a riverjobs.Args) cli.Target {
	complete := a.Options[optionComplete] == "true"
	t := cli.Target{Protocol: a.Protocol, URL: a.URL, Feed: a.Options[optionFeed], Complete: complete}
	_ = json.Unmarshal([]byte(a.Options[optionActs]), &t.Acts) // that of an earlier version has none
	return t
}

// registry returns what makes the Sources of jobs.
func (p *program) registry() riverjobs.Registry {
	r := riverjobs.Registry{}
	for _, protocol := range harvested {
		r[protocol] = p.source
	}
	return r
}

// source returns the Source of a job. What its URL offers is remembered in the store.
func (p *program) source(ctx context.Context, a riverjobs.Args) (harvest.Source, error) {
	sources, left, err := p.opener.Sources(ctx, targetOf(a))
	for i := range left {
		sources = append(sources, left[i].Source)
	}
	for _, src := range sources {
		if src.Key() == a.Key {
			return src, nil
		}
	}
	if err != nil {
		return nil, err
	}
	url, key := websync.RedactURL(a.URL), websync.RedactURL(a.Key)
	return nil, fmt.Errorf("%s no longer leads to %s: %w", url, key, websync.ErrNotFound)
}

// ended reports a slice.
func (p *program) ended(args riverjobs.Args, report *harvest.Report, err error) {
	interrupted := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
	run := &status.Result{Report: report, Err: err, Interrupted: interrupted, Lasts: true}
	p.Complain(cli.DescribeRun(args.Key, run))
	if errors.Is(err, websync.ErrNotDocument) {
		p.opener.Doubt(context.Background(), targetOf(args))
	}
}
