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

// harvest brings a Store in step.
func (c *reader) harvest(ctx context.Context, store *harvest.Catalog) (*harvest.Report, error) {
	src := wayOf(c.Way).source(c.Place)
	h, client := harvester(store)
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

func harvester(store *harvest.Catalog) (*harvest.Harvester, *fetch.Client) {
	client := fetch.New(store)
	client.Rate, client.IgnoreRobots, client.AllowPrivate = -1, true, true
	client.Transport = &http.Transport{MaxIdleConnsPerHost: 8}
	return &harvest.Harvester{Sample: -1, Catalog: store, Fetcher: client, Window: 16, MaxDelete: -1, TTL: ttl}, client
}

// patiently runs until the claim of a process that was killed is over.
func patiently(ctx context.Context, src harvest.Source, run func(context.Context, harvest.Source) (*harvest.Report, error)) (report *harvest.Report, err error) {
	for {
		if report, err = run(ctx, src); !errors.Is(err, harvest.ErrHeld) || ctx.Err() != nil {
			return report, err
		}
	}
}

// childEnv makes the test binary a reader. Its value is the reader in JSON.
const childEnv = "WEBSYNC_CHAOS_READER"

// main is the process: it prints a line at each mark, and ends when it is in step.
func (c *reader) main(args string) error {
	if err := json.Unmarshal([]byte(args), c); err != nil {
		return err
	}
	ctx := context.Background()
	mark := func() { fmt.Println("here") }
	mark()
	store, err := c.Store.open(ctx, mark)
	if err != nil {
		return err
	}
	if len(c.Clocks) > 0 {
		store.setClock(c.Clocks)
	}
	mark()
	report, err := c.harvest(ctx, store.Catalog)
	if err != nil {
		return err
	}
	if !report.InStep() {
		return fmt.Errorf("not in step: %+v", report)
	}
	return store.Close()
}
