package otelhooks_test

import (
	"context"
	"fmt"
	"log"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/otelhooks"
)

// A run reports its events. A program has an exporter in place of the reader, and sets
// the providers once, as the global ones. With a fetch.Client, set Wire, and the client's
// OnAttempt to telemetry.Request.
func Example() {
	ctx := context.Background()
	reader := sdkmetric.NewManualReader()
	telemetry := &otelhooks.Telemetry{MeterProvider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))}

	h := &harvest.Harvester{Catalog: harvest.NewCatalog(memstore.New()), Bodies: harvest.SkipBodies, Hooks: telemetry.Hooks()}
	source := harvest.Of("https://example.org/list",
		harvest.Event{Kind: harvest.Put, Resource: websync.Resource{ID: "https://example.org/a"}},
		harvest.Event{Kind: harvest.Put, Resource: websync.Resource{ID: "https://example.org/b"}},
	)
	if _, err := h.Run(ctx, source); err != nil {
		log.Fatal(err)
	}

	var collected metricdata.ResourceMetrics
	if err := reader.Collect(ctx, &collected); err != nil {
		log.Fatal(err)
	}
	for _, m := range collected.ScopeMetrics[0].Metrics {
		sum, ok := m.Data.(metricdata.Sum[int64])
		if !ok {
			continue
		}
		for _, point := range sum.DataPoints {
			for _, attr := range point.Attributes.ToSlice() {
				fmt.Println(m.Name, attr.Key, attr.Value.AsString(), point.Value)
			}
		}
	}
	// Output:
	// websync.harvest.events websync.outcome created 2
	// websync.harvest.events websync.source https://example.org/list 2
}
