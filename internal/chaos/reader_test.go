package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/fetch"
)

// A reader harvests a site. It can be a process of its own.
type reader struct {
	Way    string
	Place  place
	Store  storage
	Halves bool            // lists first, and then works
	Clocks []time.Duration // how far that of the Store is off, in turns; nil: not at all
}

// ttl is how long a killed process keeps others waiting.
const ttl = 150 * time.Millisecond

// harvest brings a Store in step. It calls mark before and after it changes the Store.
func (c *reader) harvest(ctx context.Context, store harvest.Store, mark func(string)) (*harvest.Report, error) {
	src := wayOf(c.Way).source(c.Place)
	h, client := harvester(&marked{store, mark})
	defer client.CloseIdleConnections()
	if c.Halves {
		if report, err := patiently(ctx, src, h.List); err != nil {
			return report, err
		}
		if report, err := patiently(ctx, src, h.Work); err != nil {
			return report, err
		}
	}
	for {
		report, err := patiently(ctx, src, h.Run)
		if err == nil && !report.InStep() && report.Listed() && report.Failed == 0 {
			continue // a worker that was killed still has tasks in hand
		}
		return report, err
	}
}

func harvester(store harvest.Store) (*harvest.Harvester, *fetch.Client) {
	client := fetch.New(store)
	client.Rate, client.IgnoreRobots, client.AllowPrivate = -1, true, true
	client.Transport = &http.Transport{MaxIdleConnsPerHost: 8}
	return &harvest.Harvester{Store: store, Fetcher: client, Window: 16, MaxDelete: -1, TTL: ttl}, client
}

// patiently runs until the claim of a process that was killed is over.
func patiently(ctx context.Context, src harvest.Source, run func(context.Context, harvest.Source) (*harvest.Report, error)) (report *harvest.Report, err error) {
	for {
		if report, err = run(ctx, src); !errors.Is(err, harvest.ErrHeld) || ctx.Err() != nil {
			return report, err
		}
	}
}

// A marked is a Store that calls mark before and after each change.
type marked struct {
	harvest.Store
	mark func(string)
}

func (m *marked) Claim(ctx context.Context, name string, ttl time.Duration) (*harvest.Claim, error) {
	m.mark("claim")
	return m.Store.Claim(ctx, name, ttl)
}

func (m *marked) Commit(ctx context.Context, c *harvest.Claim, b *harvest.Batch) ([]string, error) {
	m.mark("commit")
	defer m.mark("committed")
	return m.Store.Commit(ctx, c, b)
}

func (m *marked) Release(ctx context.Context, c *harvest.Claim) error {
	m.mark("release")
	return m.Store.Release(ctx, c)
}

// childEnv makes the test binary a reader. Its value is the reader in JSON.
const childEnv = "WEBSYNC_CHAOS_READER"

// main is the process: it prints a line at each mark, and ends when it is in step.
func (c *reader) main(args string) error {
	if err := json.Unmarshal([]byte(args), c); err != nil {
		return err
	}
	ctx := context.Background()
	mark := func(what string) { fmt.Println(what) }
	mark("open")
	store, err := c.Store.open(ctx)
	if err != nil {
		return err
	}
	if len(c.Clocks) > 0 {
		store.setClock(c.Clocks)
	}
	mark("opened")
	report, err := c.harvest(ctx, store, mark)
	if err != nil {
		return err
	}
	if !report.InStep() {
		return fmt.Errorf("not in step: %+v", report)
	}
	return store.Close()
}
