package main

import (
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/examples/internal/cli"
)

//go:embed help.txt
var help string

// options are the command line.
type options struct {
	cli.SourceFlags
	dsn         string
	targets     []cli.Target
	every       time.Duration
	slice       time.Duration
	perHost     int
	concurrency int
	status      string
	retainLog   int
	retainBody  int
}

// harvested are the protocols of URLs.
var harvested = cli.Harvested[:len(cli.Harvested)-1] // a directory is on one machine

func parseOptions(args []string) (*options, error) {
	var o options
	var store string
	l := cli.NewLine("worker", help)
	o.SourceFlags.Declare(l)
	l.StringVar(&store, "store", "", "")
	l.DurationVar(&o.every, "every", time.Hour, "")
	l.DurationVar(&o.slice, "slice", 10*time.Minute, "")
	l.IntVar(&o.perHost, "per-host", 1, "")
	l.IntVar(&o.concurrency, "concurrency", 8, "")
	l.StringVar(&o.status, "status", "", "")
	l.IntVar(&o.retainLog, "retain-log", 45, "")
	l.IntVar(&o.retainBody, "retain-bodies", 7, "")
	return &o, l.Parse(args, func(urls []string) error { return o.check(store, urls) })
}

func (o *options) check(store string, urls []string) (err error) {
	if err := cli.OneOf("protocol", o.Protocol, harvested); err != nil {
		return err
	}
	if store == "" {
		return errors.New("-store: must be postgres:DSN, the database that all machines share")
	}
	s, err := cli.ParseStore(store)
	if err != nil {
		return err
	}
	if s.Kind != "postgres" {
		return fmt.Errorf("-store %s: must be postgres:DSN: machines can't share another store", s.Kind)
	}
	o.dsn = s.Name
	if o.status != "" {
		if err := cli.CheckAddr(o.status); err != nil {
			return fmt.Errorf("-status %q: %w", o.status, err)
		}
	}
	for _, least := range []struct {
		name       string
		value      any
		isTooSmall bool
		right      string
	}{
		{"every", o.every, o.every < time.Second, "1s"},
		{"slice", o.slice, o.slice < time.Second, "1s"},
		{"per-host", o.perHost, o.perHost < 1, "1"},
		{"concurrency", o.concurrency, o.concurrency < 1, "1"},
	} {
		if least.isTooSmall {
			return fmt.Errorf("-%s %v: must be at least %s", least.name, least.value, least.right)
		}
	}
	if max(o.retainLog, o.retainBody) > cli.MaxDays {
		return fmt.Errorf("-retain-log %d, -retain-bodies %d: must be at most %d days", o.retainLog, o.retainBody, cli.MaxDays)
	}
	if err := o.SourceFlags.Check(); err != nil {
		return err
	}
	o.targets, err = o.Targets(urls)
	for _, t := range o.targets {
		if t.File != "" {
			return fmt.Errorf("%q is not a URL that begins with http:// or https://: a file is on one machine", t.File)
		}
		if t.Sign != nil {
			return fmt.Errorf("%s: a URL with a password can't be put into the queue, which keeps URLs", websync.RedactURL(t.URL))
		}
	}
	if o.Protocol == "eli" {
		o.targets = cli.Paired(o.targets)
	}
	return err
}
