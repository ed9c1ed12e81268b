package main

import (
	_ "embed"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/examples/internal/cli"
)

const usage = "usage: relay [flags] (-config FILE | URL...)"

const aboutText = `Relay harvests from several sources, each by its own protocol and when it is due, into one store, and publishes what the
store holds by other protocols, until a signal stops it. It prints the URLs at which readers begin, one a line. What it
offers, a URL tells: see -protocol of the program harvest. In the simple case the sources are URLs on the command line:

    relay -store sqlite:relay.db -as resourcesync -as atom https://example.org/ https://example.com/sitemap.xml

With -config they are in a file, each with its own protocol and schedule. Flags replace what the file says of the same.
`

const afterText = `Everything in the store is published as one set. What it holds of a source stays published when the source is no longer
named. No id should be in two sources: readers are given that of the first, and a message says so. Resources have URLs
below r/ under the base, and their first ids in links with the relation via.

Pings and hubs are answered below notify/ under the base. A POST of a URL to notify/ping, in the field url of a form or as
text, makes the source with that URL run. At notify/websub/ are the callbacks for WebSub hubs.

A signal ends the runs where they are, lets answers that are being sent end, and stops the program. It may also be killed
at any time: the next start goes on from there. When sources are due is kept in the store. A source that cannot be found
yet is looked for again after 1, 2, 4 and more minutes, at most an hour. While the database is away, readers are answered
with 500 or 503 and no run begins; when it is back, the program goes on by itself, within about a minute. The program
harvest may work on the same store, for example with -approve to carry out deletions that were withheld.

Exit status: 0 stopped by a signal; 2 wrong usage or configuration, or the store could not be opened or the address used, or
standard output could not be written.
`

// options are the command line.
type options struct {
	config   string
	store    string
	addr     string
	base     string
	as       []string
	protocol string
	complete bool
	every    string
	rate     float64
	private  bool
	status   string
	report   string
}

// A configuration is a Config with what is to be called the fields in messages.
type configuration struct {
	Config
	file  string         // empty: none
	lines map[string]int // of the fields in the file
	flags map[string]string
}

// parseOptions returns the settings that the command line and its file make.
func parseOptions(args []string) (*settings, error) {
	var o options
	l := cli.New("relay", usage, aboutText, configText()+afterText)
	l.StringVar(&o.config, "config", "", "read sources and settings from a JSON `FILE`")
	l.StringVar(&o.store, "store", "", "`where` everything is kept: mem, sqlite:FILE, postgres:DSN (default "+defaultStore+")")
	l.StringVar(&o.addr, "addr", "", "`address` to serve at (default "+cli.DefaultAddr+"; port 0: any that is free)")
	l.StringVar(&o.base, "base", "", "`URL` that readers find the documents under (default http:// and the address)")
	l.Func("as", "a `protocol` to publish by: "+strings.Join(published, ", ")+"; may be given several times (default "+defaultAs+")", func(as string) error {
		o.as = append(o.as, as)
		return nil
	})
	l.StringVar(&o.protocol, "protocol", "", "`protocol` of the URLs: "+strings.Join(harvested, ", ")+" (default auto, which finds it out)")
	l.BoolVar(&o.complete, "complete", false, "the sitemaps list everything: what they no longer list is deleted")
	l.StringVar(&o.every, "every", "", "`how long` from the end of a run of a source to the next, or never: at the start and after notices only (default 1h)")
	l.Float64Var(&o.rate, "rate", 0, "`requests` a second and host; 0: the client's default, 5, and one in five seconds for legislation")
	l.BoolVar(&o.private, "allow-private", false, "allow private and loopback addresses for all hosts, not only for those of the URLs")
	l.StringVar(&o.status, "status", "", "serve a status page at another `address`, for operators: lags, runs, what waits and why, pictures")
	l.StringVar(&o.report, "report", "", "write a page of HTML about the runs to `FILE`: in step or not, what to do, pictures, numbers")
	var s *settings
	err := l.Parse(args, func(urls []string) (err error) {
		c := &configuration{flags: map[string]string{}}
		if err = c.read(o.config); err == nil {
			err = c.override(&o, l.FlagSet, urls)
		}
		if err == nil {
			s, err = c.check()
		}
		return err
	})
	return s, err
}

// read reads the file, if there is one.
func (c *configuration) read(file string) error {
	if file == "" {
		return nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("-config: %w", err)
	}
	c.file = file
	c.lines, err = decode(file, data, &c.Config)
	return err
}

// override puts the flags that were given in the place of the file's fields.
func (c *configuration) override(o *options, given *flag.FlagSet, urls []string) (err error) {
	given.Visit(func(f *flag.Flag) {
		set := func(path string) { c.flags[path] = "-" + f.Name }
		switch f.Name {
		case "store":
			c.Store = o.store
			set("store")
		case "addr":
			c.Addr = o.addr
			set("addr")
		case "base":
			c.Base = o.base
			set("base")
		case "rate":
			c.Rate = o.rate
			set("rate")
		case "status":
			c.Status = o.status
			set("status")
		case "report":
			c.Report = o.report
			set("report")
		case "allow-private":
			c.AllowPrivate = o.private
		case "as":
			c.Publish = nil
			for _, as := range o.as {
				c.Publish = append(c.Publish, Publish{Protocol: as})
			}
			set("publish")
			set("publish.protocol")
		case "protocol", "complete", "every":
			if c.file != "" {
				err = fmt.Errorf("-%s is for URLs on the command line: with -config the file has it for each source", f.Name)
			}
			set("sources." + f.Name)
		}
	})
	if err == nil && c.file != "" && len(urls) > 0 {
		err = fmt.Errorf("%q: with -config the sources are in the file", websync.RedactURL(urls[0]))
	}
	for _, url := range urls {
		c.Sources = append(c.Sources, Source{URL: url, Protocol: o.protocol, Complete: o.complete, Every: o.every})
	}
	return err
}

var index = regexp.MustCompile(`\[\d+\]`)

// name returns what a field is called in messages: a flag, or its file, line and path.
func (c *configuration) name(path string) string {
	plain := index.ReplaceAllString(path, "")
	if flag := c.flags[plain]; flag != "" {
		return flag
	}
	if c.file == "" {
		if plain == "sources.url" {
			return "URL"
		}
		return path
	}
	at := path
	for c.lines[at] == 0 && at != "" { // what is not there is missing in what holds it
		at = at[:max(0, strings.LastIndexAny(at, ".["))]
	}
	return fmt.Sprintf("%s:%d: %s", c.file, c.lines[at], path)
}

// wrong returns the error for the value of a field.
func (c *configuration) wrong(path string, value any, format string, args ...any) error {
	if text, ok := value.(string); ok {
		value = fmt.Sprintf("%q", websync.RedactURL(text))
	}
	return fmt.Errorf("%s %v: %s", c.name(path), value, fmt.Sprintf(format, args...))
}
