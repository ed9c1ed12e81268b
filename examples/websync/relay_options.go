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

//go:embed help/relay.txt
var relayHelp string

// relayOptions are the command line: what it says in the place of the file, and of each
// URL.
type relayOptions struct {
	config
	file string // empty: none
	as   []string
	each configSource
}

// line returns the command line. The flags that are not given leave o as it is.
func (o *relayOptions) line() *cli.Line {
	l := cli.NewLine("relay", relayHelp)
	l.StringVar(&o.file, "config", o.file, "")
	l.StringVar(&o.Store, "store", o.Store, "")
	l.StringVar(&o.Addr, "addr", o.Addr, "")
	l.StringVar(&o.Base, "base", o.Base, "")
	l.List(&o.as, "as")
	l.StringVar(&o.each.Protocol, "protocol", o.each.Protocol, "")
	l.BoolVar(&o.each.Complete, "complete", o.each.Complete, "")
	o.each.Acts.Declare(l)
	l.List(&o.each.Include, "include")
	l.List(&o.each.Exclude, "exclude")
	l.Words(&o.each.Also, "also")
	l.StringVar(&o.each.Every, "every", o.each.Every, "")
	l.Float64Var(&o.Rate, "rate", o.Rate, "")
	l.BoolVar(&o.AllowPrivate, "allow-private", o.AllowPrivate, "")
	l.StringVar(&o.Netrc, "netrc", o.Netrc, "")
	l.StringVar(&o.Contact, "contact", o.Contact, "")
	l.StringVar(&o.UserAgent, "user-agent", o.UserAgent, "")
	l.StringVar(&o.Status, "status", o.Status, "")
	l.StringVar(&o.Report, "report", o.Report, "")
	return l
}

// A configuration is a command line, in which the fields of its file have their values,
// with what is to be called the fields in messages.
type configuration struct {
	relayOptions
	lines map[string]int    // of the fields in the file
	flags map[string]string // by field
}

// parseRelay returns the settings that the command line and its file make.
func parseRelay(args []string) (s *settings, err error) {
	var first relayOptions
	given := first.line()
	err = given.Parse(args, func(urls []string) (err error) {
		c := &configuration{flags: map[string]string{}}
		if err := c.read(first.file); err != nil {
			return err
		}
		// Flags replace what the file says.
		if err := c.line().Parse(args, func([]string) error { return nil }); err != nil {
			return err
		}
		if err := c.override(given.FlagSet, urls); err != nil {
			return err
		}
		s, err = c.check()
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
	c.lines, err = decode(file, data, &c.config)
	return err
}

// override puts what the command line says of publications and URLs in the place of the
// file's.
func (c *configuration) override(given *flag.FlagSet, urls []string) (err error) {
	given.Visit(func(f *flag.Flag) {
		field := f.Name
		switch f.Name {
		case "as":
			field = "publish.protocol"
			c.Publish = nil
			for _, as := range c.as {
				c.Publish = append(c.Publish, configPublish{Protocol: as})
			}
		case "languages", "formats", "all-languages", "linked", "resync-every":
			field = "acts." + strings.ReplaceAll(f.Name, "-", "_")
			fallthrough
		case "protocol", "complete", "every", "include", "exclude", "also":
			field = "sources." + field
			if c.file != "" {
				err = fmt.Errorf("-%s is for URLs on the command line: with -config the file has it for each source", f.Name)
			}
		}
		c.flags[field] = "-" + f.Name
	})
	if err == nil && c.file != "" && len(urls) > 0 {
		err = fmt.Errorf("%q: with -config the sources are in the file", websync.RedactURL(urls[0]))
	}
	for _, url := range urls {
		source := c.each
		source.URL = url
		c.Sources = append(c.Sources, source)
	}
	return err
}

var indexPattern = regexp.MustCompile(`\[\d+\]`)

// name returns what a field is called in messages: a flag, or its file, line and path.
func (c *configuration) name(path string) string {
	plain := indexPattern.ReplaceAllString(path, "")
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
