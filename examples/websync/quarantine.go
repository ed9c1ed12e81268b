package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/examples/internal/cli"
	"github.com/websync-go/websync/harvest"
)

//go:embed help/quarantine.txt
var quarantineHelp string

// quarantinedState holds, as JSON, the URLs of sources that are quarantined by command.
const quarantinedState = "relay/quarantined"

// A quarantineCommand is one run of websync quarantine.
type quarantineCommand struct {
	*cli.Console

	store string
	lift  bool
}

func (p *quarantineCommand) line() *cli.Line {
	l := cli.NewLine("quarantine", quarantineHelp)
	l.StringVar(&p.store, "store", defaultStore, "")
	l.BoolVar(&p.lift, "lift", false, "")
	return l
}

// run carries out arguments, and returns the exit code.
func (p *quarantineCommand) run(ctx context.Context, args []string) int {
	return p.Run(func() (code int, err error) {
		var spec cli.Store
		var names []string
		err = p.line().Parse(args, func(given []string) (err error) {
			names = given
			if spec, err = cli.ParseStore(p.store); err != nil {
				return err
			}
			return cli.Refuse(p.lift && len(names) == 0, "-lift: name the sources")
		})
		if err != nil {
			return exitDone, err
		}
		store, closeStore, err := spec.OpenExisting(ctx)
		if err != nil {
			return exitDone, err
		}
		urls, err := p.change(ctx, store, names)
		for _, url := range urls {
			fmt.Fprintln(p.Out, websync.RedactURL(url))
		}
		return exitDone, errors.Join(err, closeStore())
	})
}

// change quarantines the sources with these names, or lifts that, and returns the URLs of
// all that are quarantined then.
func (p *quarantineCommand) change(ctx context.Context, store *harvest.Catalog, names []string) ([]string, error) {
	if len(names) == 0 {
		urls, _, err := readState[[]string](ctx, store, quarantinedState)
		return urls, err
	}
	all := members{store: store}
	if err := all.load(ctx); err != nil {
		return nil, err
	}
	return updateState(ctx, store, quarantinedState, func(urls *[]string) error {
		for _, name := range names {
			url, err := all.named(name)
			if err != nil {
				return err
			}
			*urls = slices.DeleteFunc(*urls, func(u string) bool { return u == url })
			if !p.lift {
				*urls = append(*urls, url)
			}
		}
		return nil
	})
}

// named returns the URL of the source that has a name, its URL or its key. An operator
// may have copied it from a message, in which it is without secrets.
func (m *members) named(name string) (string, error) {
	for key, url := range m.urls {
		if slices.Contains([]string{url, key, websync.RedactURL(url), websync.RedactURL(key)}, name) {
			return url, nil
		}
	}
	return "", fmt.Errorf("%s: the relay of this store has no such source", websync.RedactURL(name))
}
