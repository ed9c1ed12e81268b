package main

import (
	"cmp"
	_ "embed"
	"flag"
	"fmt"
	"slices"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/examples/internal/cli"
)

//go:embed help/check.txt
var checkHelp string

// checkOptions are the command line.
type checkOptions struct {
	spec    string
	url     string
	netrc   string
	verify  bool
	lenient bool
	json    bool
	list    bool
	names   []string
	eli     eliOptions
}

// eliOptions are the flags that need -spec eli.
type eliOptions struct {
	sample   int
	seed     uint64
	interval time.Duration
	report   string
	profile  string
	registry string
	human    bool
}

var specs = []string{"auto", "sitemap", "atom", "atompmh", "eli", "resourcesync", "rinfo", "csv", "jsonfeed", "rss"}

func (o *checkOptions) line() *cli.Line {
	l := cli.NewLine("check", checkHelp)
	l.StringVar(&o.spec, "spec", "auto", "")
	l.StringVar(&o.url, "url", "", "")
	l.StringVar(&o.netrc, "netrc", "", "")
	l.BoolVar(&o.verify, "verify", false, "")
	l.BoolVar(&o.lenient, "lenient", false, "")
	l.BoolVar(&o.json, "json", false, "")
	l.BoolVar(&o.list, "list-rules", false, "")
	o.eli.declare(l.FlagSet)
	return l
}

func (o *eliOptions) declare(fs *flag.FlagSet) {
	fs.IntVar(&o.sample, "sample", 30, "")
	fs.Uint64Var(&o.seed, "seed", 0, "")
	fs.DurationVar(&o.interval, "interval", 5*time.Second, "")
	fs.StringVar(&o.report, "report", "", "")
	fs.StringVar(&o.profile, "profile", "", "")
	fs.StringVar(&o.registry, "registry", "", "")
	fs.BoolVar(&o.human, "human", false, "")
}

// parse reads arguments.
func (o *checkOptions) parse(args []string) error {
	l := o.line()
	return l.Parse(args, func(names []string) error { return o.check(l.FlagSet, names) })
}

// check returns an error for the first invalid value, and keeps the names.
func (o *checkOptions) check(given *flag.FlagSet, names []string) error {
	o.names = names
	if err := cli.OneOf("spec", o.spec, specs); err != nil {
		return err
	}
	return cmp.Or(o.checkNames(), o.checkELI(given))
}

func (o *checkOptions) checkNames() error {
	if o.list {
		return cli.Refuse(len(o.names) > 0, "-list-rules takes no file")
	}
	first, files := slices.Index(o.names, "-"), 0
	for _, name := range o.names {
		if !isURL(name) {
			files++
		}
	}
	return cmp.Or(
		cli.Refuse(len(o.names) == 0, "no file to check"),
		cli.Refuse(o.url != "" && !isURL(o.url), "-url %s: not a URL that begins with http:// or https://",
			websync.RedactURL(o.url)),
		cli.Refuse(o.url != "" && files != 1, "-url states where one FILE or standard input is published"),
		cli.Refuse(o.url != "" && (o.spec == "eli" || o.spec == "csv"), "-url has no meaning with -spec %s", o.spec),
		cli.Refuse(o.verify && o.spec != "rinfo", "-verify needs -spec rinfo"),
		cli.Refuse(first >= 0 && slices.Contains(o.names[first+1:], "-"), "standard input can be checked only once"),
	)
}

// checkELI returns an error for a wrong flag of -spec eli, or for one without it.
func (o *checkOptions) checkELI(given *flag.FlagSet) (err error) {
	if o.spec != "eli" {
		own := flag.NewFlagSet("", flag.ContinueOnError)
		new(eliOptions).declare(own)
		given.Visit(func(f *flag.Flag) {
			if own.Lookup(f.Name) != nil {
				err = fmt.Errorf("-%s needs -spec eli", f.Name)
			}
		})
		return err
	}
	return cmp.Or(
		cli.Refuse(len(o.names) > 2, "-spec eli checks one sitemap and one feed"),
		cli.Refuse(o.lenient, "-lenient has no meaning with -spec eli"),
		cli.Refuse(o.eli.sample < 0, "-sample %d: must not be negative", o.eli.sample),
		cli.Refuse(o.eli.interval < 0, "-interval %v: must not be negative", o.eli.interval),
	)
}
