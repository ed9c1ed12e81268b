package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

const usage = "usage: check [flags] FILE|URL..."

const help = usage + `

Check tells what is wrong with each FILE or URL, and "-" is standard input: a sitemap, an index of sitemaps, or a sitemap
in plain text, compressed with gzip or not. It checks what is named, and nothing that is listed there.

`

const helpEnd = `
On standard output each finding is a line, or with -json an object: file, rule, section, severity, line, column, element,
value, message. After the findings of a file comes a line, or an object, for the file: file, kind, entries, errors,
warnings, and in the object error, if it could not be read to its end.

A URL is fetched politely, within its robots.txt; only named URLs may have private addresses. Of a URL it is known
where it lies: what it lists has to lie below that, or on a host whose robots.txt names it. Of a FILE it is only known whether
all that it lists is on one host. An index that lists an index is a finding if both are named: as URLs, or as
files in one directory.

With -lenient what readers survive is at most a warning: errors are left only where an entry is lost.

Exit status: 0 no finding is an error; 1 a finding is an error; 2 usage, or a file could not be read, to its end, as the
kind it was said to be. Several files: the worst.
`

// options are the command line.
type options struct {
	spec    string
	lenient bool
	json    bool
	names   []string
}

// A helpRequest asks for the text rather than for a run.
type helpRequest struct{ text string }

func (*helpRequest) Error() string { return "help" }

var specs = []string{"auto", "sitemap", "atom", "resourcesync", "eli", "atompmh", "rinfo"}

func parseOptions(args []string) (options, error) {
	var o options
	fs := flag.NewFlagSet("check", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.StringVar(&o.spec, "spec", "auto", "what the files are said to be: auto, by the root element, or sitemap; atom, resourcesync, eli, atompmh and rinfo are yet to come")
	fs.BoolVar(&o.lenient, "lenient", false, "what readers survive without losing an entry is at most a warning")
	fs.BoolVar(&o.json, "json", false, "write one JSON object a line")
	err := parseAll(fs, args, &o.names)
	if errors.Is(err, flag.ErrHelp) {
		return o, &helpRequest{helpText(fs)}
	}
	switch {
	case err != nil:
	case !slices.Contains(specs, o.spec):
		err = fmt.Errorf("-spec %q is none of %s", o.spec, strings.Join(specs, ", "))
	case len(o.names) == 0:
		err = errors.New("no file to check")
	default:
		for i, name := range o.names {
			if name == "-" && slices.Contains(o.names[:i], name) {
				err = errors.New("standard input can be checked once only")
			}
		}
	}
	if err != nil {
		return o, fmt.Errorf("%w\n%s; -h explains", err, usage)
	}
	if o.spec != "auto" && o.spec != "sitemap" {
		return o, fmt.Errorf("this version can't check -spec %s yet", o.spec)
	}
	return o, nil
}

// parseAll takes flags before, between and after the names.
func parseAll(fs *flag.FlagSet, args []string, names *[]string) error {
	for {
		if err := fs.Parse(args); err != nil {
			return err
		}
		if fs.NArg() == 0 {
			return nil
		}
		*names, args = append(*names, fs.Arg(0)), fs.Args()[1:]
	}
}

func helpText(fs *flag.FlagSet) string {
	var b strings.Builder
	b.WriteString(help)
	fs.SetOutput(&b)
	fs.PrintDefaults()
	return b.String() + helpEnd
}
