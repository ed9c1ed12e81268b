package otelhooks

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// A runTrace is the trace of one run.
type runTrace struct {
	ctx  context.Context // of the span
	span trace.Span

	mu             sync.Mutex
	stages         map[string]*stage // by name
	spans, dropped int
}

// A stage has a span from the first thing that it does to the last.
type stage struct {
	ctx    context.Context
	span   trace.Span
	last   time.Time
	events int // that plan compared with the Store
}

// runKey is the key of a runTrace in a context. Several Telemetries may be joined.
type runKey struct{ *Telemetry }

func (t *Telemetry) traceRun(ctx context.Context, source string) context.Context {
	r := &runTrace{stages: map[string]*stage{}}
	r.ctx, r.span = t.tracer.Start(ctx, "websync.harvest", trace.WithAttributes(sourceAttribute(source)))
	return context.WithValue(r.ctx, runKey{t}, r)
}

func (t *Telemetry) traceOf(ctx context.Context) *runTrace {
	r, _ := ctx.Value(runKey{t}).(*runTrace)
	return r
}

// in returns the stage of what has just ended and lasted d. It starts the span of the
// stage if that has none.
func (r *runTrace) in(t *Telemetry, name string, began, now time.Time) *stage {
	s := r.stages[name]
	if s == nil {
		s = &stage{}
		s.ctx, s.span = t.tracer.Start(r.ctx, "websync."+name, trace.WithTimestamp(began))
		r.stages[name] = s
	}
	s.last = now
	return s
}

func (t *Telemetry) traceStep(ctx context.Context, info harvest.StepInfo) {
	r := t.traceOf(ctx)
	if r == nil || !r.span.IsRecording() {
		return
	}
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.in(t, info.Stage, now.Add(-info.Duration), now)
	s.events += info.Events
}

// below starts and ends the span of what has just ended and lasted d. It returns nil if
// that has no span: it belongs to no run, or the run has too many.
func (t *Telemetry) below(
	ctx context.Context, stage, name string, d time.Duration, span ...trace.SpanStartOption,
) (trace.Span, time.Time) {
	r := t.traceOf(ctx)
	if r == nil || !r.span.IsRecording() {
		return nil, time.Time{}
	}
	now := time.Now()
	began := now.Add(-d)
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.in(t, stage, began, now)
	if limit := cmp.Or(t.MaxSpans, 1000); limit >= 0 && r.spans >= limit {
		r.dropped++
		return nil, time.Time{}
	}
	r.spans++
	_, child := t.tracer.Start(s.ctx, name, append(span, trace.WithTimestamp(began))...)
	return child, now
}

func (t *Telemetry) traceRequest(ctx context.Context, a *harvest.AttemptInfo) {
	stage := "get"
	if a.List {
		stage = "list"
	}
	span, now := t.below(ctx, stage, a.Method, a.Duration, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(requestAttributes(a)...), trace.WithAttributes(hostAttributes(a)...))
	if span == nil {
		return
	}
	span.SetAttributes(semconv.URLFull(websync.RedactURL(a.URL)), semconv.HTTPResponseBodySize(int(a.Bytes)))
	if a.Attempt > 1 {
		span.SetAttributes(semconv.HTTPRequestResendCount(a.Attempt - 1))
	}
	if requestError(a) != "" {
		span.SetStatus(codes.Error, "")
	}
	span.End(trace.WithTimestamp(now))
}

func (t *Telemetry) traceCommit(ctx context.Context, c *harvest.CommitInfo) {
	span, now := t.below(ctx, "commit", "websync.store.commit", c.Duration)
	if span == nil {
		return
	}
	span.SetAttributes(
		attribute.Int("websync.puts", c.Puts), attribute.Int("websync.touches", c.Touches),
		attribute.Int("websync.tasks", c.Tasks),
		attribute.Int("websync.done", c.Done), attribute.Bool("websync.checkpoint", c.Checkpoint),
	)
	span.End(trace.WithTimestamp(now))
}

// endTrace ends the spans of a run and its stages. A run that another process makes is no
// failure.
func (t *Telemetry) endTrace(ctx context.Context, r *harvest.Report, err error) {
	run := t.traceOf(ctx)
	if run == nil {
		return
	}
	run.mu.Lock()
	defer run.mu.Unlock()
	for name, s := range run.stages {
		if name == "plan" {
			s.span.SetAttributes(attribute.Int("websync.events", s.events))
		}
		s.span.End(trace.WithTimestamp(s.last))
	}
	run.span.SetAttributes(
		attribute.Bool("websync.dry", r.Dry), attribute.Bool("websync.complete", r.Complete),
		attribute.Bool("websync.in_step", err == nil && r.InStep()),
		attribute.Int64("websync.events", r.Events), attribute.Int64("websync.created", r.Created),
		attribute.Int64("websync.updated", r.Updated), attribute.Int64("websync.deleted", r.Deleted),
		attribute.Int64("websync.failed", r.Failed), attribute.Int64("websync.withheld", r.Withheld),
		attribute.Int64("websync.left", r.Left.Waiting+r.Left.Parked+r.Left.Withheld), attribute.Int64("websync.bytes", r.Bytes),
	)
	if run.dropped > 0 {
		run.span.SetAttributes(attribute.Int("websync.spans.dropped", run.dropped))
	}
	run.span.SetAttributes(withError(nil, err)...)
	if err != nil && !errors.Is(err, harvest.ErrHeld) {
		run.span.SetStatus(codes.Error, "")
	}
	run.span.End()
}
