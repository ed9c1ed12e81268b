// Check reports what is wrong with sitemaps, documents of ResourceSync and Atom, and
// publishers of ELI: one finding a line, then one line a file. Run it with -h for its
// flags.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/examples/internal/cli"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/sitemap"
	"github.com/websync-go/websync/sitemap/google"
)

// Exit codes, of which the worst of all files counts.
const (
	exitGood     = 0
	exitFindings = 1          // a finding is an error
	exitUnread   = cli.Failed // usage, or a file could not be read as the kind that -spec names
)

func main() {
	state := harvest.NewCatalog(memstore.New())
	p := &program{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, client: fetch.New(state), crawler: fetch.New(state), now: time.Now(),
	}
	cli.Main(p.run)
}

// A program is one run of the command.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	client         *fetch.Client
	crawler        *fetch.Client // that shares the gates of hosts with client
	now            time.Time

	options
	out, errOut *cli.Output // stdout and stderr
	inputs      []*input
	robots      map[string]robots // by origin
}

// A robots is the robots.txt of one origin.
type robots struct {
	sitemaps []string
	err      error
}

// A report is the last line of a file.
type report struct {
	File     string `json:"file"`
	Kind     string `json:"kind"`
	Entries  int    `json:"entries"`
	Errors   int    `json:"errors"`
	Warnings int    `json:"warnings"`
	Error    string `json:"error,omitempty"` // set if the file could not be read
}

// run is main without the process around it. It returns the exit code.
func (p *program) run(ctx context.Context, args []string) int {
	return cli.Run("check", p.stdout, p.stderr, func(out, errOut *cli.Output) (int, error) {
		p.out, p.errOut = out, errOut
		return p.command(ctx, args)
	})
}

// command carries out the arguments. With -json it prints an object for wrong ones, too.
func (p *program) command(ctx context.Context, args []string) (code int, err error) {
	if p.options, err = parseOptions(args); err != nil {
		_, help := errors.AsType[*cli.HelpRequest](err)
		if p.json = cli.Asked(args, "json"); !help {
			p.printError(err)
		}
		return exitUnread, err
	}
	if p.list {
		p.listRules()
		return exitGood, nil
	}
	defer func() {
		for _, in := range p.inputs {
			in.close()
		}
	}()
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
func (p *program) printError(err error) {
	if p.json {
		p.print(report{Kind: "unknown", Error: err.Error()}, "")
	}
}

// check checks one file and prints what is wrong with it.
func (p *program) check(ctx context.Context, in *input) int {
	r, err := report{Kind: "unknown"}, in.err
	switch {
	case err != nil:
	case in.feed:
		r, err = p.validateFeed(ctx, in)
	case in.resourceSync:
		r, err = p.validateResourceSync(ctx, in)
	default:
		r, err = p.validate(ctx, in)
	}
	r.File = websync.RedactURL(in.name)
	code := exitGood
	switch {
	case err != nil:
		var parse *websync.ParseError
		if errors.As(err, &parse) {
			at := *parse
			at.Document = "" // the line names it already
			err = &at
		}
		r.Error = err.Error()
		fmt.Fprintf(p.errOut, "check: %s\n", cli.OneLine(r.File+": "+r.Error))
		code = exitUnread
	case r.Errors > 0:
		code = exitFindings
	}
	p.print(r, fmt.Sprintf("%s: %s, entries %d, errors %d, warnings %d", r.File, r.Kind, r.Entries, r.Errors, r.Warnings))
	return code
}

// finding prints a finding, without secrets.
func (p *program) finding(f websync.Finding) {
	f.Document, f.Value = websync.RedactURL(f.Document), websync.RedactURL(f.Value)
	p.print(f, f.String())
}

// validate checks a sitemap.
func (p *program) validate(ctx context.Context, in *input) (report, error) {
	src, err := in.start()
	if err != nil {
		return report{}, err
	}
	o := sitemap.ValidateOptions{
		Document:   in.name,
		URL:        in.url,
		Aliases:    in.aliases,
		Report:     p.finding,
		Now:        p.now,
		Child:      func(loc string) sitemap.Kind { return p.kindOf(in, loc) },
		Extensions: google.Extensions(),
		Lenient:    p.lenient,
	}
	if in.url != "" {
		o.Robots = func(origin string) ([]string, error) { return p.sitemapsOf(ctx, in, origin) }
	}
	sum, err := sitemap.Validate(src, o)
	return report{Kind: sum.Kind.String(), Entries: sum.Entries, Errors: sum.Errors, Warnings: sum.Warnings}, err
}

// sitemapsOf returns the Sitemap lines of an origin's robots.txt.
func (p *program) sitemapsOf(ctx context.Context, in *input, origin string) ([]string, error) {
	r, ok := p.robots[origin]
	if !ok {
		r.sitemaps, r.err = p.fetchRobots(ctx, in, origin)
		if p.robots == nil {
			p.robots = make(map[string]robots)
		}
		p.robots[origin] = r
	}
	return r.sitemaps, r.err
}

const maxRobots = 1 << 20

func (p *program) fetchRobots(ctx context.Context, in *input, origin string) ([]string, error) {
	// The URLs of a sitemap may be hostile: the client requests an address that is not
	// public only if the user has named it.
	req := &harvest.Request{URL: origin + "/robots.txt", Root: in.name, MaxBytes: maxRobots, Spool: true}
	for _, other := range p.inputs {
		if other.named(origin) {
			req.Root = other.name
		}
	}
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

// print writes a line, or an object, to standard output. p.out keeps its first error.
func (p *program) print(object any, line string) {
	if p.json {
		enc := json.NewEncoder(p.out)
		enc.SetEscapeHTML(false)
		enc.Encode(object)
	} else {
		fmt.Fprintln(p.out, cli.OneLine(line))
	}
}
