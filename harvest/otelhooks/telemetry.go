package otelhooks

import (
	"context"
	"sync"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// A Telemetry reports runs to OpenTelemetry. The zero value is ready to use. Its methods
// may be called from several goroutines; its fields must not change while it is in use.
type Telemetry struct {
	// TracerProvider makes the tracer. If nil, it is the global one.
	TracerProvider trace.TracerProvider
	// MeterProvider makes the meter. If nil, it is the global one. What it refuses goes
	// to the global error handler.
	MeterProvider metric.MeterProvider

	// Wire is set if Request reports the requests. If false, the engine does: it counts
	// all attempts of a request as one, and their duration has the waits for the host.
	Wire bool
	// WithoutSource leaves websync.source out of the metrics.
	WithoutSource bool
	// WithoutHost leaves server.address and server.port out of the metrics.
	WithoutHost bool
	// MaxSpans limits the spans of requests and Commits in the trace of a run; the span
	// of the run counts those above it. If zero, it is 1,000; if negative, there is no
	// limit.
	MaxSpans int

	once   sync.Once
	tracer trace.Tracer
	instruments

	mu     sync.Mutex
	active map[string]*activity // by source
}

const scope = "github.com/websync-go/websync/harvest/otelhooks"

func (t *Telemetry) start() {
	t.once.Do(func() {
		tracers, meters := t.TracerProvider, t.MeterProvider
		if tracers == nil {
			tracers = otel.GetTracerProvider()
		}
		if meters == nil {
			meters = otel.GetMeterProvider()
		}
		t.tracer = tracers.Tracer(scope,
			trace.WithInstrumentationVersion(websync.Version), trace.WithSchemaURL(semconv.SchemaURL))
		meter := meters.Meter(scope,
			metric.WithInstrumentationVersion(websync.Version), metric.WithSchemaURL(semconv.SchemaURL))
		t.instruments = newInstruments(meter, t.observe)
		t.active = map[string]*activity{}
	})
}

// Hooks returns what a [harvest.Harvester] calls during runs.
func (t *Telemetry) Hooks() *harvest.Hooks {
	t.start()
	hooks := &harvest.Hooks{
		Begin: t.begin, End: t.end, Progress: t.progress, Outcome: t.outcome,
		Step: t.traceStep, Commit: t.commit, Finding: t.finding, Problem: t.problem,
	}
	if !t.Wire {
		hooks.Attempt = t.request
	}
	return hooks
}

// Request reports a request that a Fetcher has made, also one for a redirect or
// robots.txt. It fits [fetch.Client].OnAttempt, and does nothing unless Wire is set.
//
// [fetch.Client]: https://pkg.go.dev/github.com/websync-go/websync/harvest/fetch#Client
func (t *Telemetry) Request(ctx context.Context, a harvest.AttemptInfo) {
	if t.Wire {
		t.start()
		t.request(ctx, a)
	}
}

func (t *Telemetry) request(ctx context.Context, a harvest.AttemptInfo) {
	t.traceRequest(ctx, &a)
	t.measureRequest(ctx, &a)
}

func (t *Telemetry) begin(ctx context.Context, source string) context.Context {
	t.enter(source)
	return t.traceRun(ctx, source)
}

func (t *Telemetry) end(ctx context.Context, r *harvest.Report, err error) {
	t.leave(r.Source)
	t.measureRun(ctx, r, err)
	t.endTrace(ctx, r, err)
}

func (t *Telemetry) commit(ctx context.Context, c harvest.CommitInfo) {
	t.traceCommit(ctx, &c)
	t.commits.Record(ctx, c.Duration.Seconds(), metric.WithAttributes(t.of(c.Source)...))
}

// of returns the attributes of a source in metrics.
func (t *Telemetry) of(source string, more ...attribute.KeyValue) []attribute.KeyValue {
	if t.WithoutSource {
		return more
	}
	return append(more, sourceAttribute(source))
}

func sourceAttribute(source string) attribute.KeyValue {
	return attribute.String("websync.source", websync.RedactURL(source))
}
