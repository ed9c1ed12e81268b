package main

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/examples/internal/cli"
	"github.com/websync-go/websync/examples/internal/protocols"
)

const usage = "usage: worker [flags] -store postgres:DSN [URL...]"

const aboutText = `Worker harvests on as many machines as you start it on. All of them share a PostgreSQL database, which holds the store and a
queue of jobs, one for each source. Start the same command on each machine:

    worker -store 'postgres://laws@db.example/laws' https://law.example/sitemap.xml https://court.example/

A source runs on one machine at a time, for a slice of time; if it needs longer, or if its machine dies, another machine may
go on with it. What is in the store can be published by the programs publish and relay, on any machine.
`

const afterText = `The URLs are put into the queue at the start, and again at intervals by the machine that leads the queue: name the same ones on
all machines. What a URL offers is found out at the start: see -protocol of the program harvest. One that can't be read
yet is looked at again after 1, 2, 4 and more minutes, at most an hour.

The queue's tables are in the schema "websync_river" of the database, and the store's in "websync". Both are made at the
first start.

Exit status: 0 stopped by a signal; 2 wrong usage, or the database could not be used.
`

// options are the command line.
type options struct {
	dsn         string
	targets     []protocols.Target
	complete    bool
	every       time.Duration
	slice       time.Duration
	perHost     int
	concurrency int
	rate        float64
	private     bool
	status      string
}

// harvested are the protocols of URLs.
var harvested = protocols.Harvested[:len(protocols.Harvested)-1] // a directory is on one machine

func parseOptions(args []string) (*options, error) {
	var o options
	var store, protocol string
	l := cli.New("worker", usage, aboutText, afterText)
	l.StringVar(&store, "store", "", "the `database` that all machines share: postgres:DSN, or a URL that begins with postgres:")
	l.StringVar(&protocol, "protocol", protocols.Auto, "`protocol` of the URLs: "+strings.Join(harvested, ", "))
	l.BoolVar(&o.complete, "complete", false, "the sitemaps list everything: what they no longer list is deleted")
	l.DurationVar(&o.every, "every", time.Hour, "`how long` from one job of a source to the next")
	l.DurationVar(&o.slice, "slice", 10*time.Minute, "`how long` a job runs until it goes back to the queue; so long a dead machine's jobs wait")
	l.IntVar(&o.perHost, "per-host", 1, "`how many` jobs of one host run at the same time, over all machines")
	l.IntVar(&o.concurrency, "concurrency", 8, "`how many` jobs run at the same time on this machine")
	l.Float64Var(&o.rate, "rate", 0, "`requests` a second and host, over all machines; 0: the client's default, 5, and one in five seconds for legislation")
	l.BoolVar(&o.private, "allow-private", false, "allow private and loopback addresses for all hosts, not only for those of the URLs")
	l.StringVar(&o.status, "status", "", "serve a status page of all machines at an `address`, for operators: lags, runs, what waits and why, pictures")
	return &o, l.Parse(args, func(urls []string) error { return o.check(store, protocol, urls) })
}

func (o *options) check(store, protocol string, urls []string) error {
	if err := cli.OneOf("protocol", protocol, harvested); err != nil {
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
		{"rate", o.rate, !(o.rate >= 0 && o.rate <= math.MaxFloat64), "0, and a number"},
	} {
		if least.isTooSmall {
			return fmt.Errorf("-%s %v: must be at least %s", least.name, least.value, least.right)
		}
	}
	for _, url := range urls {
		t, err := protocols.ParseTarget(protocol, url)
		if err != nil {
			return err
		}
		if t.Sign != nil {
			return fmt.Errorf("%s: a URL with a password can't be put into the queue, which keeps URLs", websync.RedactURL(url))
		}
		t.Complete = o.complete
		o.targets = append(o.targets, t)
	}
	if protocol == "eli" {
		o.targets = protocols.Paired(o.targets)
	}
	return nil
}
