package otelhooks

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/semconv/v1.43.0/httpconv"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// The boundaries of histograms, in seconds. Those of Commits are the ones that the
// semantic conventions recommend for operations of databases.
var (
	commitBounds = []float64{0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10}
	runBounds    = []float64{1, 5, 10, 30, 60, 300, 600, 1800, 3600, 3 * 3600, 12 * 3600, 24 * 3600}
)

type instruments struct {
	requests                   httpconv.ClientRequestDuration
	runs, commits              metric.Float64Histogram
	events, findings, problems metric.Int64Counter
}

// newInstruments makes the instruments. What can't be made is reported to the global
// error handler and does nothing.
func newInstruments(m metric.Meter, observe func(gauges, metric.Observer)) (i instruments) {
	var err error
	if i.requests, err = httpconv.NewClientRequestDuration(m); err != nil {
		otel.Handle(err)
	}
	i.runs = histogram(m, "websync.harvest.run.duration", "Duration of runs.", runBounds)
	i.commits = histogram(m, "websync.store.commit.duration", "Duration of Commits of the Store.", commitBounds)
	i.events = counter(m, "websync.harvest.events", "{event}", "Events of sources by their outcome.")
	i.findings = counter(m, "websync.harvest.findings", "{finding}", "Departures of documents from their specifications.")
	i.problems = counter(m, "websync.harvest.problems", "{document}", "Documents that could not be read or may have been missed.")
	g := gauges{
		runs:    gauge(m, "websync.harvest.runs", "{run}", "Runs that are going on."),
		listed:  gauge(m, "websync.harvest.listed", "{event}", "Events that the runs going on have listed."),
		done:    gauge(m, "websync.harvest.done", "{event}", "Events that the runs going on have finished."),
		getting: gauge(m, "websync.harvest.getting", "{resource}", "Resources whose bodies are being obtained or wait for it."),
		waiting: gauge(m, "websync.harvest.waiting_hosts", "{host}", "Hosts that the Fetcher waits for."),
	}
	_, err = m.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		observe(g, o)
		return nil
	}, g.runs, g.listed, g.done, g.getting, g.waiting)
	if err != nil {
		otel.Handle(err)
	}
	return i
}

func histogram(m metric.Meter, name, about string, bounds []float64) metric.Float64Histogram {
	h, err := m.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(about),
		metric.WithExplicitBucketBoundaries(bounds...))
	if err != nil {
		otel.Handle(err)
		return noop.Float64Histogram{}
	}
	return h
}

func counter(m metric.Meter, name, unit, about string) metric.Int64Counter {
	c, err := m.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(about))
	if err != nil {
		otel.Handle(err)
		return noop.Int64Counter{}
	}
	return c
}

func gauge(m metric.Meter, name, unit, about string) metric.Int64ObservableGauge {
	g, err := m.Int64ObservableGauge(name, metric.WithUnit(unit), metric.WithDescription(about))
	if err != nil {
		otel.Handle(err)
		return noop.Int64ObservableGauge{}
	}
	return g
}

// hostAttributes returns those of the host of a request.
func hostAttributes(a *harvest.AttemptInfo) []attribute.KeyValue {
	address, port := hostOf(a.Host)
	if address == "" {
		return nil
	}
	return []attribute.KeyValue{semconv.ServerAddress(address), semconv.ServerPort(port)}
}

// requestAttributes returns the others that the span and the metric of a request have in
// common.
func requestAttributes(a *harvest.AttemptInfo) []attribute.KeyValue {
	attrs := []attribute.KeyValue{semconv.HTTPRequestMethodKey.String(a.Method)}
	if a.Status != 0 {
		attrs = append(attrs, semconv.HTTPResponseStatusCode(a.Status))
	}
	if word := requestError(a); word != "" {
		attrs = append(attrs, semconv.ErrorTypeKey.String(word))
	}
	return attrs
}

func (t *Telemetry) measureRequest(ctx context.Context, a *harvest.AttemptInfo) {
	attrs := requestAttributes(a)
	if !t.WithoutHost {
		attrs = append(attrs, hostAttributes(a)...)
	}
	t.requests.RecordSet(ctx, a.Duration.Seconds(), attribute.NewSet(attrs...))
}

func (t *Telemetry) measureRun(ctx context.Context, r *harvest.Report, err error) {
	attrs := t.of(r.Source, attribute.Bool("websync.in_step", err == nil && r.InStep()))
	t.runs.Record(ctx, r.Ended.Sub(r.Started).Seconds(), metric.WithAttributes(withError(attrs, err)...))
}

func (t *Telemetry) outcome(source, _ string, o harvest.Outcome, err error) {
	ctx := context.Background()
	if err == nil {
		t.events.Add(ctx, 1, t.optionOf(source, o))
		return
	}
	attrs := t.of(source, outcomeAttribute(o))
	t.events.Add(ctx, 1, metric.WithAttributes(withError(attrs, err)...))
}

func outcomeAttribute(o harvest.Outcome) attribute.KeyValue {
	return attribute.String("websync.outcome", o.String())
}

func (t *Telemetry) finding(source string, f websync.Finding) {
	t.findings.Add(context.Background(), 1, metric.WithAttributes(t.of(source,
		attribute.String("websync.rule", f.Rule), attribute.String("websync.severity", f.Severity.String()))...))
}

func (t *Telemetry) problem(source string, err error) {
	t.problems.Add(context.Background(), 1, metric.WithAttributes(withError(t.of(source), err)...))
}
