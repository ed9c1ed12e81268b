package harvest_test

import (
	"bufio"
	"context"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
)

// A journal is the URL of a growing text of lines: "id title", or "id" of what is gone.
type journal string

func (j journal) Key() string { return string(j) }

func (j journal) Events(ctx context.Context, run *harvest.Run) iter.Seq2[harvest.Event, error] {
	return func(yield func(harvest.Event, error) bool) {
		resp, err := run.Fetcher.Fetch(ctx, &harvest.Request{URL: string(j), Spool: true})
		if err != nil {
			yield(harvest.Event{}, err)
			return
		}
		defer resp.Body.Close()
		lines := bufio.NewScanner(resp.Body)
		known, _ := strconv.Atoi(string(run.From.Data)) // lines that were yielded
		for n := 1; lines.Scan(); n++ {
			id, text, found := strings.Cut(lines.Text(), " ")
			ev := harvest.Event{Resource: websync.Resource{ID: id, Title: text}}
			ev.Resume.Version, ev.Resume.Data = 1, []byte(strconv.Itoa(n))
			if !found {
				ev.Kind = harvest.Delete
			}
			if n > known && !yield(ev, nil) {
				return
			}
		}
		if lines.Err() != nil {
			yield(harvest.Event{}, lines.Err())
		}
	}
}

// A Source of your own yields events, and the engine does the rest. Each event of a log
// has the checkpoint with which the next run begins.
func Example_source() {
	store, url := harvest.NewCatalog(memstore.New()), "https://law.example/log"
	for _, text := range []string{"a:1 one\na:2 two\n", "a:1 one\na:2 two\na:1 new\na:2\n"} {
		h := &harvest.Harvester{Catalog: store, Fetcher: &sourcetest.Fetcher{Site: sourcetest.Site{url: {Body: text}}}}
		r, err := h.Run(context.Background(), journal(url))
		fmt.Println("created", r.Created, "updated", r.Updated, "deleted", r.Deleted, err)
	}
	// Output:
	// created 2 updated 0 deleted 0 <nil>
	// created 0 updated 1 deleted 1 <nil>
}
