package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/examples/internal/cli"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/sitemap"
	"github.com/websync-go/websync/sitemap/google"
)

// A checkCommand is one run of websync check.
type checkCommand struct {
	*cli.Console
	stdin   io.Reader
	client  *fetch.Client
	crawler *fetch.Client // that shares the gates of hosts with client
	now     time.Time

	checkOptions
	inputs []*input
	robots map[string]robots // by origin
	named  map[string]*input // what a robots.txt names, by URL
}

func newCheck(console *cli.Console, stdin io.Reader) *checkCommand {
	state := harvest.NewCatalog(memstore.New())
	return &checkCommand{
		Console: console, stdin: stdin, client: fetch.New(state), crawler: fetch.New(state), now: time.Now(),
		robots: map[string]robots{}, named: map[string]*input{},
	}
}

// A robots is the robots.txt of one origin.
type robots struct {
	sitemaps []string
	err      error
}

// A fileReport is the last line of a file.
type fileReport struct {
	File     string `json:"file"`
	Kind     string `json:"kind"`
	Entries  int    `json:"entries"`
	Errors   int    `json:"errors"`
	Warnings int    `json:"warnings"`
	Error    string `json:"error,omitempty"` // set if the file could not be read
}

// run carries out arguments, and returns the exit code. With -json it prints an object
// for wrong ones, too.
func (p *checkCommand) run(ctx context.Context, args []string) int {
	return p.Run(func() (int, error) {
		err := p.parse(args)
		if _, help := errors.AsType[*cli.HelpRequest](err); help {
			return exitDone, err
		}
		if err != nil {
			p.json = cli.Asked(args, "json")
			p.printError(err)
			return exitFailed, err
		}
		return p.command(ctx)
	})
}

func (p *checkCommand) command(ctx context.Context) (code int, err error) {
	if p.list {
		p.listRules()
		return exitDone, nil
	}
	defer func() {
		for _, in := range slices.AppendSeq(p.inputs, maps.Values(p.named)) {
			in.close()
		}
	}()
	if err := cli.Authorize(p.netrc, p.client, p.crawler); err != nil {
		p.printError(err)
		return exitFailed, err
	}
	for _, name := range p.names {
		p.inputs = append(p.inputs, p.open(ctx, name))
	}
	if p.spec == "eli" {
		if code, err = p.checkPublisher(ctx); err != nil {
			p.printError(err)
		}
		return code, err
	}
	p.relate()
	for _, in := range p.inputs {
		code = max(code, p.check(ctx, in))
	}
	return code, nil
}

// printError prints, with -json, an object for a command that can't be carried out.
func (p *checkCommand) printError(err error) {
	if p.json {
		p.print(fileReport{Kind: "unknown", Error: err.Error()}, "")
	}
}

// check checks one file and prints what is wrong with it.
func (p *checkCommand) check(ctx context.Context, in *input) int {
	r, err := fileReport{Kind: "unknown"}, in.err
	switch {
	case err != nil:
	case p.spec == "csv":
		r, err = p.validateList(ctx, in)
	case in.feed:
		r, err = p.validateFeed(ctx, in)
	case in.resourceSync:
		r, err = p.validateResourceSync(ctx, in)
	default:
		r, err = p.validate(ctx, in)
	}
	r.File = websync.RedactURL(in.name)
	code := exitDone
	switch {
	case err != nil:
		var parse *websync.ParseError
		if errors.As(err, &parse) {
			at := *parse
			at.Document = "" // the line names it already
			err = &at
		}
		r.Error = err.Error()
		p.Complain(cli.OneLine(r.File + ": " + r.Error))
		code = exitFailed
	case r.Errors > 0:
		code = exitLeft
	}
	p.print(r, fmt.Sprintf("%s: %s, entries %d, errors %d, warnings %d", r.File, r.Kind, r.Entries, r.Errors, r.Warnings))
	return code
}

// finding prints a finding, without secrets.
func (p *checkCommand) finding(f websync.Finding) {
	f.Document, f.Value = websync.RedactURL(f.Document), websync.RedactURL(f.Value)
	p.print(f, f.String())
}

// validate checks a sitemap.
func (p *checkCommand) validate(ctx context.Context, in *input) (fileReport, error) {
	src, err := in.start()
	if err != nil {
		return fileReport{}, err
	}
	o := sitemap.ValidateOptions{
		Document:    in.name,
		URL:         in.url,
		ContentType: in.contentType,
		Aliases:     in.aliases,
		Report:      p.finding,
		Now:         p.now,
		Child:       func(loc string) sitemap.Kind { return p.kindOf(in, loc) },
		Extensions:  google.Extensions(),
		Lenient:     p.lenient,
	}
	if in.url != "" {
		o.Robots = func(origin string) ([]string, error) { return p.sitemapsOf(ctx, in, origin) }
	}
	sum, err := sitemap.Validate(src, o)
	return fileReport{Kind: sum.Kind.String(), Entries: sum.Entries, Errors: sum.Errors, Warnings: sum.Warnings}, err
}

// sitemapsOf returns the Sitemap lines of an origin's robots.txt, and the URL of an input
// to which one of them leads: by a redirect, or as an index that lists it. An origin that
// redirects to the input is taken for one that names it.
func (p *checkCommand) sitemapsOf(ctx context.Context, in *input, origin string) ([]string, error) {
	if in.named(origin) {
		return []string{in.url}, nil
	}
	r, ok := p.robots[origin]
	if !ok {
		r.sitemaps, r.err = p.fetchRobots(ctx, p.rootOf(in, origin), origin)
		p.robots[origin] = r
	}
	if !slices.ContainsFunc(r.sitemaps, func(url string) bool { return in.is(in, url) }) &&
		slices.ContainsFunc(r.sitemaps, func(url string) bool { return p.leadsTo(ctx, url, in) }) {
		return []string{in.url}, nil
	}
	return r.sitemaps, r.err
}

// rootOf returns the Root of a request for a URL to which an input leads. That may be
// hostile: the client requests an address that is not public only if the user has named
// it.
func (p *checkCommand) rootOf(in *input, url string) string {
	origin, _ := syntax.OriginOf(url)
	for _, other := range p.inputs {
		if other.named(string(origin)) {
			return other.root
		}
	}
	return in.root
}

const maxNamed = 50 // documents that robots.txt files name

// leadsTo reports whether what a robots.txt names is an input, or an index that lists it.
func (p *checkCommand) leadsTo(ctx context.Context, url string, in *input) bool {
	named := p.named[url]
	if named == nil {
		if len(p.named) >= maxNamed || !isURL(url) {
			return false
		}
		named = &input{name: url, root: p.rootOf(in, url)}
		if named.err = named.fetch(ctx, p.client); named.err == nil {
			named.err = named.look("sitemap")
		}
		p.named[url] = named
	}
	if named.err != nil || named.kind != sitemap.Index {
		return named.err == nil && in.is(named, named.url)
	}
	src, err := named.start()
	if err != nil {
		return false
	}
	for e, err := range sitemap.NewReader(src).All() {
		if err == nil && in.is(named, e.Loc) {
			return true
		}
	}
	return false
}

const maxRobots = 1 << 20

func (p *checkCommand) fetchRobots(ctx context.Context, root, origin string) ([]string, error) {
	req := &harvest.Request{URL: origin + "/robots.txt", Root: root, MaxBytes: maxRobots, Spool: true}
	resp, err := p.client.Fetch(ctx, req)
	if errors.Is(err, websync.ErrGone) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return sitemap.Sitemaps(resp.Body)
}

// print writes a line, or an object, to standard output. p.Out keeps its first error.
func (p *checkCommand) print(object any, line string) {
	if p.json {
		enc := json.NewEncoder(p.Out)
		enc.SetEscapeHTML(false)
		enc.Encode(object)
	} else {
		fmt.Fprintln(p.Out, cli.OneLine(line))
	}
}
