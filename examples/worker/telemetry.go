package main

import (
	"io"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"

	"github.com/websync-go/websync/harvest/otelhooks"
)

// newTelemetry returns what counts the work of this process, and a function that writes
// the counts in the text format of Prometheus.
func newTelemetry() (*otelhooks.Telemetry, func(io.Writer) error, error) {
	registry := prometheus.NewRegistry()
	reader, err := exporter.New(exporter.WithRegisterer(registry), exporter.WithoutScopeInfo(), exporter.WithoutTargetInfo())
	if err != nil {
		return nil, nil, err
	}
	write := func(w io.Writer) error {
		families, err := registry.Gather()
		for _, family := range families {
			if err == nil {
				_, err = expfmt.MetricFamilyToText(w, family)
			}
		}
		return err
	}
	return &otelhooks.Telemetry{MeterProvider: metric.NewMeterProvider(metric.WithReader(reader)), Wire: true}, write, nil
}
