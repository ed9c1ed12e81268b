package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/examples/internal/cli"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/internal/display"
)

// A harvestCommand is one run of websync harvest.
type harvestCommand struct {
	*cli.Console
	live     bool // standard error is a terminal
	attempts int  // of fetch.Client; for tests

	harvestOptions
	store    *harvest.Catalog
	client   *fetch.Client
	pagesDir string // for documents of archives, until they are dealt with
	progress *progress
	page     *cli.Page // nil: none
	summary  summary
}

// run carries out arguments, and returns the exit code. With -report it writes the page
// and with -json the summary, whatever happened.
func (p *harvestCommand) run(ctx context.Context, args []string) int {
	return p.Run(func() (int, error) { return p.command(ctx, args) })
}

func (p *harvestCommand) command(ctx context.Context, args []string) (code int, err error) {
	err = p.line().Parse(args, p.check)
	_, help := errors.AsType[*cli.HelpRequest](err)
	switch {
	case help:
		return exitDone, err
	case err != nil:
		p.json = cli.Asked(args, "json")
		p.openPage(cli.Given(args, "report"))
		code = p.fail(err)
	case !p.openPage(p.report):
		code = exitFailed
	case len(p.targets) == 0:
		code = p.withStore(ctx, p.demonstrate)
	default:
		code = p.withStore(ctx, p.harvestAll)
	}
	if err := p.page.Write(); err != nil {
		code = max(code, p.fail(err))
	}
	if p.json {
		p.summary.InStep = code == exitDone && !slices.ContainsFunc(p.summary.Reports, (*result).differs)
		writeJSON(p.Out, &p.summary) // cli.Run reports an error
	}
	return code, nil
}

// withStore opens the store and calls work.
func (p *harvestCommand) withStore(ctx context.Context, work func(context.Context) int) (code int) {
	spec, remove, err := cli.ChooseStore(p.storeFlag)
	if err != nil {
		return p.fail(err)
	}
	defer remove()
	for i := range p.targets {
		t := &p.targets[i]
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
	p.progress = newProgress(p.Err, p.live)
	if p.client, err = p.newClient(); err != nil {
		return p.fail(err)
	}
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
func (p *harvestCommand) state() websync.State {
	if p.dry() {
		return readOnly{p.store}
	}
	return p.store
}

// newClient returns the one client that all sources share: it keeps the hosts' gates and
// robots.txt files in the store.
func (p *harvestCommand) newClient() (*fetch.Client, error) {
	c, err := p.Client(p.state(), p.named)
	if err != nil {
		return nil, err
	}
	c.Attempts = p.attempts
	c.OnAttempt = p.page.Request
	if p.concurrency > 0 {
		c.PerHost = p.concurrency
		c.Concurrency = max(p.concurrency, 32)
	}
	return c, nil
}

func (p *harvestCommand) newHarvester() *harvest.Harvester {
	return &harvest.Harvester{
		Catalog:     p.store,
		Fetcher:     p.client,
		Concurrency: p.concurrency,
		Full:        p.full,
		Recheck:     p.recheck,
		Sample:      p.sample,
		Wait:        p.wait,
		MaxDelete:   p.deleteLimit(),
		Budget:      p.budget,
		Filter:      p.Selection.Filter,
		Also:        p.Selection.Relations(),

		AcceptSkipped: p.acceptSkipped,
		Hooks:         harvest.JoinHooks(p.progress.hooks(), p.page.Hooks(), &harvest.Hooks{Held: p.held}),
		Log:           slog.New(slog.NewTextHandler(p.Err, &slog.HandlerOptions{Level: slog.LevelError})),
	}
}

// harvestAll harvests one source after the other.
func (p *harvestCommand) harvestAll(ctx context.Context) int {
	h := p.newHarvester()
	var results []*result
	begun := 0
	for _, u := range p.targets {
		if ctx.Err() != nil {
			break
		}
		begun++
		for _, r := range p.harvestTarget(ctx, h, u) {
			results = append(results, r)
			if !p.json {
				r.write(p.Out)
			}
		}
	}
	if n := len(p.targets) - begun; n > 0 {
		p.note(fmt.Errorf("%s not begun", display.Plural(int64(n), "further source was", "further sources were")))
	}
	code := exitDone
	for _, r := range results {
		code = max(code, r.code())
	}
	return p.finish(ctx, results, code)
}

// harvestTarget harvests what a URL leads to, and what it has led to. With -approve, what
// an earlier run has said that it no longer leads to is removed instead.
func (p *harvestCommand) harvestTarget(ctx context.Context, h *harvest.Harvester, t cli.Target) (results []*result) {
	opener := &cli.Opener{
		Fetcher: p.client, State: p.state(), Anew: p.full, Rate: p.Rate, PagesDir: p.pagesDir, Announce: p.Complain,
	}
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
	return &harvest.Report{
		Source: url, Started: now, Ended: now,
		Requests: map[int]int64{}, Rules: map[string]int64{}, Problems: []harvest.Failure{}, Failures: []harvest.Failure{},
	}
}

// harvest harvests one source. On the page the run has a title; if empty, the source.
func (p *harvestCommand) harvest(ctx context.Context, h *harvest.Harvester, title string, src harvest.Source) *result {
	return p.finished(p.carryOut(ctx, h, src), title)
}

// finished writes the error that ended a run early at once, and adds the run to the page.
func (p *harvestCommand) finished(r *result, title string) *result {
	if r.Error != "" {
		p.Complain(r.Error)
	}
	run := r.run()
	run.Title = title
	p.page.Add(run)
	return r
}

// carryOut carries out the flags for one source.
func (p *harvestCommand) carryOut(ctx context.Context, h *harvest.Harvester, src harvest.Source) *result {
	defer p.progress.end()
	made := &decisions{w: p.Out, json: p.json}
	switch {
	case p.plan:
		report, err := h.Plan(ctx, src, made.add)
		return p.newResult(ctx, report, err).planned(made, report.Withheld+report.Left.Withheld)
	case p.audit:
		report, err := h.Audit(ctx, src, made.add)
		left := report.Left.Waiting + report.Left.Parked + report.Left.Withheld
		return p.newResult(ctx, report, err).planned(made, report.Differences()+left)
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
func (p *harvestCommand) held(source string, err error) {
	p.Complain(fmt.Sprintf("%s: waiting: %v", websync.RedactURL(source), err))
}

// finish adds the results to the summary and exports. code is the exit code of the runs;
// finish returns that of the program.
func (p *harvestCommand) finish(ctx context.Context, results []*result, code int) int {
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
		exported.write(p.Out)
	}
	return code
}

// openPage begins the page, if there is to be one, and reports whether it can be written.
func (p *harvestCommand) openPage(file string) bool {
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
func (p *harvestCommand) fail(err error) int {
	p.summary.Error = strings.TrimPrefix(p.summary.Error+"\n"+err.Error(), "\n")
	p.note(err)
	return exitFailed
}

// note reports that something outside of a run went wrong, also on the page.
func (p *harvestCommand) note(err error) {
	p.Complain(err.Error())
	p.page.Fail(err)
}
