package main

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"time"

	"github.com/websync-go/websync/examples/internal/cli"
)

const usage = "usage: check [flags] FILE|URL..."

const aboutText = `Check reports what is wrong with each FILE or URL; "-" is standard input. It checks sitemaps, indexes of sitemaps,
plain-text sitemaps, documents of ResourceSync, and Atom feeds, entries and tombstones, with or without gzip. With -spec
atompmh or rinfo it checks Atom feeds by the rules of that profile, too; nothing in a feed states its profile. It checks the
named documents only, not those that they list, with these exceptions: for the URL of an archived feed it checks all
documents of the archive, for the URL of a Source Description or a Capability List all documents below it, and with -spec
eli what an index lists.

With -spec eli the names are a sitemap and its update feed, in any order. Check checks the publisher by the 63 rules of ELI
Pillar IV. The files of an index are those with the same names beside it. If a name is a URL, Check visits a sample of pages
too, 5 seconds apart, and reads the robots.txt of their hosts.
`

const afterText = `On standard output each finding is a line, or with -json an object: file, rule, section, severity, line, column, element,
value, message. After the findings of a file comes a line or an object for the file: file, kind, entries, errors, warnings,
and, in the object, error if the file could not be read to its end. With -json, wrong flags also produce an object with an
error. User names, passwords and the values of parameters that look like secrets are removed from URLs in the output.

A URL is fetched politely and within its robots.txt; only the hosts of named URLs may have private addresses. A sitemap
with a URL may list only URLs below its own directory, or on a host whose robots.txt names it. For a FILE, Check only
reports whether everything that it lists is on one host. An index that lists an index is a finding if both are named: as
URLs, or as files in one directory.

With -spec eli the files are followed by a line for each rule that failed or has warnings, and a line with the counts; with
-json by one object with the outcome of all rules. Of one rule, 100 findings are printed at most. -report writes the outcome
for people. Keep the file of -profile for the next check, some days later: some rules need two visits.

With -list-rules each rule is a line, or with -json an object: spec, rule, section, severity, message. The documents of
resourcesync are sitemaps, too, and those of atompmh and rinfo Atom feeds: the rules of sitemap or atom apply to them as well.
The rules of the spec harvest are those of the harvest program for all protocols; -spec does not choose them.

With -lenient a finding is an error only if readers lose an entry by it, and otherwise at most a warning.

Exit status: 0 no finding is an error; 1 a finding is an error; 2 wrong usage, or a file could not be read to its end as
the kind that -spec names, or standard output could not be written. With several files it is the highest of theirs.
`

// options are the command line.
type options struct {
	spec    string
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

var specs = []string{"auto", "sitemap", "atom", "atompmh", "eli", "resourcesync", "rinfo"}

func parseOptions(args []string) (options, error) {
	var o options
	fs := cli.New("check", usage, aboutText, afterText)
	fs.StringVar(&o.spec, "spec", "auto", "`kind` of the files: auto, by the root element and its rs:md, sitemap, resourcesync or atom; or atompmh, eli or rinfo")
	fs.BoolVar(&o.verify, "verify", false, "with -spec rinfo, get the documents that the entries link to, and compare them with their digests and lengths")
	fs.BoolVar(&o.lenient, "lenient", false, "a finding that costs readers no entry is at most a warning")
	fs.BoolVar(&o.json, "json", false, "write one JSON object a line")
	fs.BoolVar(&o.list, "list-rules", false, "list the rules that findings name, of all specs or of the one of -spec, and check nothing")
	fs.IntVar(&o.eli.sample, "sample", 30, "with -spec eli, the `number` of pages to visit; 0 for none")
	fs.Uint64Var(&o.eli.seed, "seed", 0, "with -spec eli, choose other pages: the same `number` gives the same pages")
	fs.DurationVar(&o.eli.interval, "interval", 5*time.Second, "with -spec eli, the least `time` between two requests for pages of a host")
	fs.StringVar(&o.eli.report, "report", "", "with -spec eli, write a report for people to this HTML `file`")
	fs.StringVar(&o.eli.profile, "profile", "", "with -spec eli, compare with the last visit as this `file` describes it, and write this visit to it")
	fs.StringVar(&o.eli.registry, "registry", "", "with -spec eli, a `file` with the pairs of the ELI registry: in each line the URLs of a sitemap and of its feed")
	fs.BoolVar(&o.eli.human, "human", false, "with -spec eli, check the feed as one that people are to read")
	err := fs.Parse(args, func(names []string) error {
		if err := o.check(names); err != nil {
			return err
		}
		return o.checkELI(fs.FlagSet)
	})
	return o, err
}

// checkELI returns an error for a wrong flag of -spec eli, or for one without it.
func (o *options) checkELI(fs *flag.FlagSet) error {
	var err error
	if o.spec != "eli" {
		fs.Visit(func(f *flag.Flag) {
			if slices.Contains([]string{"sample", "seed", "interval", "report", "profile", "registry", "human"}, f.Name) {
				err = fmt.Errorf("-%s needs -spec eli", f.Name)
			}
		})
		return err
	}
	switch {
	case len(o.names) > 2:
		err = errors.New("-spec eli checks one sitemap and one feed")
	case o.lenient:
		err = errors.New("-lenient has no meaning with -spec eli")
	case o.eli.sample < 0:
		err = fmt.Errorf("-sample %d: must not be negative", o.eli.sample)
	case o.eli.interval < 0:
		err = fmt.Errorf("-interval %v: must not be negative", o.eli.interval)
	}
	return err
}

// check returns an error for the first invalid value, and keeps the names.
func (o *options) check(names []string) error {
	o.names = names
	if err := cli.OneOf("spec", o.spec, specs); err != nil {
		return err
	}
	if o.list {
		if len(names) > 0 {
			return errors.New("-list-rules takes no file")
		}
		return nil
	}
	if len(names) == 0 {
		return errors.New("no file to check")
	}
	if o.verify && o.spec != "rinfo" {
		return errors.New("-verify needs -spec rinfo")
	}
	for i, name := range names {
		if name == "-" && slices.Contains(names[:i], name) {
			return errors.New("standard input can be checked only once")
		}
	}
	return nil
}
