package harvest_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
)

// A program follows the log for as long as it runs. It reads the Head before each round,
// so that it misses no change between Each and WaitLog.
func ExampleWaitLog() {
	ctx, cancel := context.WithCancel(context.Background())
	h := &harvest.Harvester{Catalog: harvest.NewCatalog(memstore.New())}
	go h.Run(ctx, acts) // usually another process

	seen := 0
	follow := func() error {
		for {
			head, err := h.Catalog.Head(ctx)
			if err != nil {
				return err
			}
			err = harvest.Each(ctx, h.Catalog, "mail", func(d *harvest.Delivery) error {
				text, err := d.Content()
				if errors.Is(err, harvest.ErrSuperseded) {
					return nil // the later change follows
				}
				if err != nil {
					return err
				}
				fmt.Println(d.ID, len(text), "bytes")
				if seen++; seen == 2 {
					cancel() // usually a signal does that
				}
				return nil
			})
			if err != nil {
				return err
			}
			if _, err := harvest.WaitLog(ctx, h.Catalog, head); err != nil {
				return err
			}
		}
	}
	fmt.Println("ended by cancel:", errors.Is(follow(), context.Canceled))
	// Unordered output:
	// https://law.example/act/1 13 bytes
	// https://law.example/act/2 14 bytes
	// ended by cancel: true
}
