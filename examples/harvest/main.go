// Harvest brings a store in step with sitemaps, feeds and directories, and reports what
// it did. Without a URL it harvests a demonstration site. Run it with -h for its flags.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/examples/internal/cli"
	"github.com/websync-go/websync/examples/internal/protocols"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/internal/page"
)

// Exit codes, of which the worst of all sources counts.
const (
	exitInStep = 0
	// tasks are left, the listing was incomplete, or the run was interrupted
	exitLeft   = 1
	exitFailed = cli.Failed // usage, or a source or the store could not be read
)

func main() {
	p := &program{stdout: os.Stdout, stderr: os.Stderr, live: isTerminal(os.Stderr)}
	cli.Main(p.run)
}

// A program is one run of the command.
type program struct {
	stdout, stderr io.Writer
	live           bool // stderr is a terminal
	attempts       int  // of fetch.Client; for tests

	options
	out, errOut *cli.Output // stdout and stderr
	store       *harvest.Catalog
	client      *fetch.Client
	progress    *progress
	page        *cli.Page // nil: none
	summary     summary
}

// run is main without the process around it. It returns the exit code.
func (p *program) run(ctx context.Context, args []string) int {
	return cli.Run("harvest", p.stdout, p.stderr, func(out, errOut *cli.Output) (int, error) {
		p.out, p.errOut = out, errOut
		return p.command(ctx, args)
	})
}

// command carries out the arguments. With -report it writes the page and with -json the
// summary, whatever happened.
func (p *program) command(ctx context.Context, args []string) (code int, err error) {
	p.options, err = parseOptions(args)
	_, help := errors.AsType[*cli.HelpRequest](err)
	switch {
	case help:
		return exitInStep, err
	case err != nil:
		p.json = cli.Asked(args, "json")
		p.openPage(cli.Given(args, "report"))
		code = p.fail(err)
	case !p.openPage(p.report):
		code = exitFailed
	case len(p.urls) == 0:
		code = p.withStore(ctx, p.demonstrate)
	default:
		code = p.withStore(ctx, p.harvestAll)
	}
	if err := p.page.Write(); err != nil {
		code = max(code, p.fail(err))
	}
	if p.json {
		p.summary.InStep = code == exitInStep && !slices.ContainsFunc(p.summary.Reports, (*result).differs)
		writeJSON(p.out, &p.summary) // cli.Run reports an error
	}
	return code, nil
}

// withStore opens the store and calls work.
func (p *program) withStore(ctx context.Context, work func(context.Context) int) (code int) {
	spec, remove, err := cli.ChooseStore(p.storeFlag)
	if err != nil {
		return p.fail(err)
	}
	defer remove()
	for i := range p.urls {
		t := &p.urls[i]
		if t.Dir == "" {
			continue
		}
		if t.Exclude, err = cli.OwnFiles(t.Dir, spec, p.exportDir, p.report); err != nil {
			return p.fail(err)
		}
	}
	p.summary.Store = websync.RedactURL(spec.String())
	if spec.Kind == "sqlite" && !p.dry() {
		p.pagesDir = spec.Name + ".pages"
	}
	open := spec.Open
	if p.dry() {
		open = spec.OpenDry
	}
	store, closeStore, err := open(ctx)
	if err != nil {
		return p.fail(err)
	}
	defer func() {
		if err := closeStore(); err != nil {
			code = max(code, p.fail(err))
		}
	}()
	p.store = store
	p.progress = newProgress(p.errOut, p.live)
	p.client = p.newClient()
	defer p.client.CloseIdleConnections()
	return work(ctx)
}

// readOnly is a State that drops what is written to it.
type readOnly struct{ from websync.State }

func (r readOnly) State(ctx context.Context, key string) ([]byte, error) {
	return r.from.State(ctx, key)
}

func (readOnly) Swap(context.Context, string, []byte, []byte) error { return nil }

// state returns the store, or one that drops what is written to it.
func (p *program) state() websync.State {
	if p.dry() {
		return readOnly{p.store}
	}
	return p.store
}

// newClient returns the one client that all sources share: it keeps the hosts' gates and
// robots.txt files in the store.
func (p *program) newClient() *fetch.Client {
	c := fetch.New(p.state())
	c.Rate = p.rate
	c.AllowPrivate = p.allowPrivate
	c.Attempts = p.attempts
	c.OnAttempt = p.page.Request
	if p.concurrency > 0 {
		c.PerHost = p.concurrency
		c.Concurrency = max(p.concurrency, 32)
	}
	for _, u := range p.named {
		u.Authorize(c)
	}
	return c
}

func (p *program) newHarvester() *harvest.Harvester {
	return &harvest.Harvester{
		Catalog:     p.store,
		Fetcher:     p.client,
		Concurrency: p.concurrency,
		Full:        p.full,
		Recheck:     p.recheck,
		Sample:      p.sample,
		Wait:        p.wait,
		MaxDelete:   p.deleteLimit(),

		AcceptSkipped: p.acceptSkipped,
		Hooks:         harvest.JoinHooks(p.progress.hooks(), p.page.Hooks(), &harvest.Hooks{Held: p.held}),
		Log:           slog.New(slog.NewTextHandler(p.errOut, &slog.HandlerOptions{Level: slog.LevelError})),
	}
}

// harvestAll harvests one source after the other.
func (p *program) harvestAll(ctx context.Context) int {
	h := p.newHarvester()
	var results []*result
	begun := 0
	for _, u := range p.urls {
		if ctx.Err() != nil {
			break
		}
		begun++
		for _, r := range p.harvestTarget(ctx, h, u) {
			results = append(results, r)
			if !p.json {
				r.write(p.out)
			}
		}
	}
	if n := len(p.urls) - begun; n > 0 {
		p.note(fmt.Errorf("%s not begun", page.Plural(int64(n), "further source was", "further sources were")))
	}
	code := exitInStep
	for _, r := range results {
		code = max(code, r.code())
	}
	return p.finish(ctx, results, code)
}

// harvestTarget harvests what a URL leads to, and what it has led to. With -approve, what
// an earlier run has said that it no longer leads to is removed instead.
func (p *program) harvestTarget(ctx context.Context, h *harvest.Harvester, t protocols.Target) (results []*result) {
	opener := p.opener()
	sources, left, err := opener.Sources(ctx, t)
	if err != nil {
		results = append(results, p.finished(p.newResult(ctx, unread(t.URL), err), ""))
	}
	for _, src := range sources {
		r := p.harvest(ctx, h, "", src)
		if results = append(results, r); r.foreign {
			opener.Doubt(ctx, t) // the next run finds out what it is now
		}
	}
	for _, l := range left {
		if p.approve && l.Said {
			report, err := h.Remove(ctx, l)
			if err == nil {
				opener.Forget(ctx, t, l.Key())
			}
			results = append(results, p.finished(p.newResult(ctx, report, err), ""))
			continue
		}
		p.note(fmt.Errorf("%w; -approve removes them", l.Err(t)))
		r := p.harvest(ctx, h, "", l.Source)
		r.LeftBehind = true
		results = append(results, r)
	}
	return results
}

// unread returns the report of a URL that leads to no source.
func unread(url string) *harvest.Report {
	now := time.Now().UTC()
	return &harvest.Report{Source: url, Started: now, Ended: now, Requests: map[int]int64{}, Problems: []harvest.Failure{}, Failures: []harvest.Failure{}}
}

// harvest harvests one source. On the page the run has a title; if empty, the source.
func (p *program) harvest(ctx context.Context, h *harvest.Harvester, title string, src harvest.Source) *result {
	return p.finished(p.carryOut(ctx, h, src), title)
}

// finished writes the error that ended a run early at once, and adds the run to the page.
func (p *program) finished(r *result, title string) *result {
	if r.Error != "" {
		p.complain(r.Error)
	}
	run := r.run()
	run.Title = title
	p.page.Add(run)
	return r
}

// carryOut carries out the flags for one source.
func (p *program) carryOut(ctx context.Context, h *harvest.Harvester, src harvest.Source) *result {
	defer p.progress.end()
	made := &decisions{w: p.out, json: p.json}
	switch {
	case p.plan:
		report, err := h.Plan(ctx, src, made.add)
		return p.newResult(ctx, report, err).planned(made, report.Withheld+report.Left.Withheld)
	case p.audit:
		report, err := h.Audit(ctx, src, made.add)
		return p.newResult(ctx, report, err).planned(made, report.Differences()+report.Left.Waiting+report.Left.Parked+report.Left.Withheld)
	}
	var deleted int64
	if p.approve {
		approved, err := h.Approve(ctx, src)
		if err != nil {
			return p.newResult(ctx, approved, err)
		}
		deleted = approved.Deleted
	}
	report, err := h.Run(ctx, src)
	report.Deleted += deleted
	return p.newResult(ctx, report, err)
}

// held reports that a run waits for the claim of another process.
func (p *program) held(source string, err error) {
	p.complain(fmt.Sprintf("%s: waiting: %v", websync.RedactURL(source), err))
}

// finish adds the results to the summary and exports. code is the exit code of the runs;
// finish returns that of the program.
func (p *program) finish(ctx context.Context, results []*result, code int) int {
	p.summary.Reports = results
	if ctx.Err() != nil {
		return max(code, exitLeft)
	}
	if p.exportDir == "" {
		return code
	}
	exported, err := export(ctx, p.store, p.exportDir, sourcesOf(results))
	if err != nil {
		return max(code, p.fail(fmt.Errorf("export: %w", err)))
	}
	p.summary.Export = exported
	if !p.json {
		exported.write(p.out)
	}
	return code
}

// openPage begins the page, if there is to be one, and reports whether it can be written.
func (p *program) openPage(file string) bool {
	if cli.CheckPage(file) != nil {
		return true
	}
	var err error
	if p.page, err = cli.OpenPage(file, ""); err != nil {
		p.fail(err)
	}
	return err == nil
}

// fail reports an error, also in the summary, and returns its exit code.
func (p *program) fail(err error) int {
	p.summary.Error = strings.TrimPrefix(p.summary.Error+"\n"+err.Error(), "\n")
	p.note(err)
	return exitFailed
}

// note reports that something outside of a run went wrong, also on the page.
func (p *program) note(err error) {
	p.complain(err.Error())
	p.page.Fail(err)
}

// complain writes an error to standard error.
func (p *program) complain(text string) { fmt.Fprintf(p.errOut, "harvest: %s\n", text) }
