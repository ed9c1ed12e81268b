package main

import (
	"errors"
	"slices"

	"github.com/websync-go/websync/examples/internal/cli"
)

const usage = "usage: check [flags] FILE|URL..."

const aboutText = `Check reports what is wrong with each FILE or URL; "-" is standard input. It checks sitemaps, indexes of sitemaps,
plain-text sitemaps, documents of ResourceSync, and Atom feeds, entries and tombstones, with or without gzip. It checks the
named documents only, not those that they list, with two exceptions: for the URL of an archived feed it checks all
documents of the archive, and for the URL of a Source Description or a Capability List all documents below it.
`

const afterText = `On standard output each finding is a line, or with -json an object: file, rule, section, severity, line, column, element,
value, message. After the findings of a file comes a line or an object for the file: file, kind, entries, errors, warnings,
and, in the object, error if the file could not be read to its end. With -json, wrong flags also produce an object with an
error. User names, passwords and the values of parameters that look like secrets are removed from URLs in the output.

A URL is fetched politely and within its robots.txt; only the hosts of named URLs may have private addresses. A sitemap
with a URL may list only URLs below its own directory, or on a host whose robots.txt names it. For a FILE, Check only
reports whether everything that it lists is on one host. An index that lists an index is a finding if both are named: as
URLs, or as files in one directory.

With -lenient a finding is an error only if readers lose an entry by it, and otherwise at most a warning.

Exit status: 0 no finding is an error; 1 a finding is an error; 2 wrong usage, or a file could not be read to its end as
the kind that -spec names, or standard output could not be written. With several files it is the highest of theirs.
`

// options are the command line.
type options struct {
	spec    string
	lenient bool
	json    bool
	names   []string
}

var specs = append([]string{"auto", "sitemap", "atom", "resourcesync"}, cli.Planned...)

func parseOptions(args []string) (options, error) {
	var o options
	fs := cli.New("check", usage, aboutText, afterText)
	fs.StringVar(&o.spec, "spec", "auto", "`kind` of the files: auto, by the root element and its rs:md, sitemap, resourcesync or atom; later versions will have eli, atompmh and rinfo")
	fs.BoolVar(&o.lenient, "lenient", false, "a finding that costs readers no entry is at most a warning")
	fs.BoolVar(&o.json, "json", false, "write one JSON object a line")
	if err := fs.Parse(args, o.check); err != nil {
		return o, err
	}
	return o, cli.Available("spec", o.spec)
}

// check returns an error for the first invalid value, and keeps the names.
func (o *options) check(names []string) error {
	o.names = names
	if err := cli.OneOf("spec", o.spec, specs); err != nil {
		return err
	}
	if len(names) == 0 {
		return errors.New("no file to check")
	}
	for i, name := range names {
		if name == "-" && slices.Contains(names[:i], name) {
			return errors.New("standard input can be checked only once")
		}
	}
	return nil
}
