package schedule_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/schedule"
)

// Two sources are kept in step. Those for the web are in the packages of their protocols.
func Example() {
	ctx, cancel := context.WithCancel(context.Background())
	left := 2
	scheduler := &schedule.Scheduler{
		Harvester: &harvest.Harvester{Catalog: harvest.NewCatalog(memstore.New())},
		Entries: []schedule.Entry{
			{Source: set("https://law.example/", 3), Every: 6 * time.Hour},
			{Source: set("https://court.example/", 2), Daily: []time.Duration{3*time.Hour + 30*time.Minute}},
		},
		Concurrency: 1,
		Ended: func(source harvest.Source, report *harvest.Report, err error) {
			if errors.Is(err, schedule.ErrStalled) {
				log.Println(harvest.Host(source), "sends nothing any more")
			}
			fmt.Println(source.Key(), report.Created, err)
			if left--; left == 0 {
				cancel() // usually a signal does that
			}
		},
	}
	fmt.Println(scheduler.Run(ctx))
	// Unordered output:
	// https://law.example/ 3 <nil>
	// https://court.example/ 2 <nil>
	// context canceled
}

func set(base string, n int) harvest.Source {
	var events []harvest.Event
	for i := range n {
		events = append(events, harvest.Event{Resource: websync.Resource{ID: fmt.Sprint(base, i)}})
	}
	return harvest.Of(base, events...)
}
