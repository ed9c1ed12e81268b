package otelhooks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/harvest/memstore"
)

const source = "https://example.org/list"

// A world has a Telemetry whose reports can be read, and a Harvester that has its hooks.
type world struct {
	*testing.T
	telemetry *Telemetry
	spans     *tracetest.SpanRecorder
	metrics   *sdkmetric.ManualReader
	h         *harvest.Harvester
}

func newWorld(t *testing.T, telemetry *Telemetry) *world {
	w := &world{T: t, telemetry: telemetry, spans: tracetest.NewSpanRecorder(), metrics: sdkmetric.NewManualReader()}
	telemetry.TracerProvider = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(w.spans))
	telemetry.MeterProvider = sdkmetric.NewMeterProvider(sdkmetric.WithReader(w.metrics))
	w.h = &harvest.Harvester{Sample: -1, Catalog: harvest.NewCatalog(memstore.New()), Fetcher: site{}, Concurrency: 1, Hooks: telemetry.Hooks()}
	return w
}

// A site answers after a while: with 503 below /busy, with nothing below /broken.
type site struct{}

func (site) Fetch(ctx context.Context, req *harvest.Request) (*harvest.Response, error) {
	time.Sleep(60 * time.Millisecond)
	switch {
	case strings.Contains(req.URL, "/busy"):
		return nil, &fetch.StatusError{URL: req.URL, Code: 503}
	case strings.Contains(req.URL, "/broken"):
		return nil, &fetch.RequestError{URL: req.URL, Kind: harvest.ErrTemporary, Err: errors.New("a text that nobody may see")}
	}
	return &harvest.Response{URL: req.URL, Status: 200, Length: 5, Body: io.NopCloser(strings.NewReader("hello"))}, nil
}

func put(id string) harvest.Event {
	return harvest.Event{Kind: harvest.Put, Resource: websync.Resource{ID: id, Content: websync.Link{Href: id}}}
}

// A listed Source requests its list before it is listed.
type listed struct{ harvest.Source }

func (l listed) Events(ctx context.Context, run *harvest.Run) iter.Seq2[harvest.Event, error] {
	return func(yield func(harvest.Event, error) bool) {
		resp, err := run.Fetcher.Fetch(ctx, &harvest.Request{URL: source + "?token=hunter2", Spool: true})
		if err != nil {
			yield(harvest.Event{}, err)
			return
		}
		resp.Body.Close()
		run.Report(websync.Finding{Rule: "order", Severity: websync.SeverityWarning})
		l.Source.Events(ctx, run)(yield)
	}
}

var events = []harvest.Event{
	put("https://example.org/a"), put("https://example.org/b"), put("http://example.com:8080/busy"), put("https://example.net/broken"),
	{Kind: harvest.Problem, Err: fmt.Errorf("part 7: %w", websync.ErrTruncated)},
}

func (w *world) run(events ...harvest.Event) (*harvest.Report, error) {
	return w.h.Run(w.Context(), listed{harvest.Of(source, events...)})
}

// values returns the points of a metric by their attributes: counts of histograms, sums
// of others.
func (w *world) values(name string) map[string]int64 {
	found := map[string]int64{}
	for _, m := range w.collect() {
		if m.Name != name {
			continue
		}
		switch data := m.Data.(type) {
		case metricdata.Sum[int64]:
			for _, p := range data.DataPoints {
				found[text(p.Attributes)] = p.Value
			}
		case metricdata.Gauge[int64]:
			for _, p := range data.DataPoints {
				found[text(p.Attributes)] = p.Value
			}
		case metricdata.Histogram[float64]:
			for _, p := range data.DataPoints {
				found[text(p.Attributes)] = int64(p.Count)
			}
		}
	}
	return found
}

func (w *world) collect() (all []metricdata.Metrics) {
	var r metricdata.ResourceMetrics
	require.NoError(w, w.metrics.Collect(context.Background(), &r))
	for _, s := range r.ScopeMetrics {
		all = append(all, s.Metrics...)
	}
	return all
}

func text(set attribute.Set) string { return set.Encoded(attribute.DefaultEncoder()) }

func TestMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, &Telemetry{})
		_, err := w.run(events...)
		require.NoError(t, err)
		const of = ",websync.source=https://example.org/list"
		assert.Equal(t, map[string]int64{
			"http.request.method=GET,http.response.status_code=200,server.address=example.org,server.port=443":                 3,
			"error.type=503,http.request.method=GET,http.response.status_code=503,server.address=example.com,server.port=8080": 1,
			"error.type=temporary,http.request.method=GET,server.address=example.net,server.port=443":                          1,
		}, w.values("http.client.request.duration"))
		assert.Equal(t, map[string]int64{
			"websync.outcome=created" + of: 2, "error.type=503,websync.outcome=failed" + of: 1, "error.type=temporary,websync.outcome=failed" + of: 1,
		}, w.values("websync.harvest.events"))
		assert.Equal(t, map[string]int64{"websync.rule=order,websync.severity=warning" + of: 1}, w.values("websync.harvest.findings"))
		assert.Equal(t, map[string]int64{"error.type=truncated" + of: 1}, w.values("websync.harvest.problems"))
		assert.Equal(t, map[string]int64{"websync.in_step=false" + of: 1}, w.values("websync.harvest.run.duration"))
		assert.NotEmpty(t, w.values("websync.store.commit.duration"))
		assert.Empty(t, w.values("websync.harvest.runs"), "the gauges have ended")
	})
}

// The conventions recommend the unit and the boundaries.
func TestRequestDuration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, &Telemetry{})
		w.run(put("https://example.org/a"))
		for _, m := range w.collect() {
			if m.Name != "http.client.request.duration" {
				continue
			}
			assert.Equal(t, "s", m.Unit)
			point := m.Data.(metricdata.Histogram[float64]).DataPoints[0]
			assert.Equal(t, []float64{0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10}, point.Bounds)
			assert.EqualValues(t, 2, point.BucketCounts[4], "two of 60 ms")
			return
		}
		t.Fatal("no http.client.request.duration")
	})
}

func TestWithoutSourceAndHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, &Telemetry{WithoutSource: true, WithoutHost: true})
		_, err := w.run(events...)
		require.NoError(t, err)
		for _, m := range w.collect() {
			for attrs := range w.values(m.Name) {
				assert.NotContains(t, attrs, "source", m.Name)
				assert.NotContains(t, attrs, "server", m.Name)
			}
		}
		assert.EqualValues(t, 3, w.values("http.client.request.duration")["http.request.method=GET,http.response.status_code=200"])
	})
}

func TestTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, &Telemetry{})
		snapshot := slices.Concat([]harvest.Event{{Kind: harvest.SnapshotStart}}, events[:4], []harvest.Event{{Kind: harvest.SnapshotEnd, Complete: true}})
		_, err := w.run(snapshot...)
		require.NoError(t, err)
		byID, names := map[trace.SpanID]sdktrace.ReadOnlySpan{}, map[string]int{}
		for _, s := range w.spans.Ended() {
			byID[s.SpanContext().SpanID()] = s
		}
		var path func(sdktrace.ReadOnlySpan) string
		path = func(s sdktrace.ReadOnlySpan) string {
			if parent := byID[s.Parent().SpanID()]; parent != nil {
				assert.False(t, s.StartTime().Before(parent.StartTime()), s.Name())
				assert.False(t, s.EndTime().After(parent.EndTime()), s.Name())
				return path(parent) + " > " + s.Name()
			}
			return s.Name()
		}
		commits := 0
		for _, s := range byID {
			if s.Name() == "websync.store.commit" {
				commits++
			}
			names[path(s)]++
			for _, a := range s.Attributes() {
				assert.NotContains(t, a.Value.String(), "hunter2")
				assert.NotContains(t, a.Value.String(), "nobody may see")
			}
			if s.Name() == "websync.plan" {
				assert.Contains(t, s.Attributes(), attribute.Int("websync.events", 4))
			}
			if s.Name() == "GET" {
				assert.Equal(t, trace.SpanKindClient, s.SpanKind())
				assert.Equal(t, 60*time.Millisecond, s.EndTime().Sub(s.StartTime()))
			}
		}
		assert.Equal(t, map[string]int{
			"websync.harvest": 1, "websync.harvest > websync.plan": 1, "websync.harvest > websync.sweep": 1, "websync.harvest > websync.list": 1, "websync.harvest > websync.list > GET": 1,
			"websync.harvest > websync.get": 1, "websync.harvest > websync.get > GET": 4,
			"websync.harvest > websync.commit": 1, "websync.harvest > websync.commit > websync.store.commit": commits,
		}, names)
		assert.Positive(t, commits)
	})
}

// A run that fails has an error of a word in its span, one that another makes has not.
func TestStatusOfARun(t *testing.T) {
	for name, test := range map[string]struct {
		arrange func(*world)
		source  string
		word    string
		status  codes.Code
	}{
		"well":      {word: "", status: codes.Unset},
		"not found": {arrange: func(w *world) { w.h.Fetcher = nowhere{} }, word: "404", status: codes.Error},
		"held": {arrange: func(w *world) {
			_, release, err := w.h.Catalog.Hold(w.Context(), "source/"+source, time.Hour)
			require.NoError(w, err)
			w.Cleanup(release)
		}, word: "held", status: codes.Unset},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, &Telemetry{})
				if test.arrange != nil {
					test.arrange(w)
				}
				w.run()
				ended := w.spans.Ended()
				run := ended[len(ended)-1]
				require.Equal(t, "websync.harvest", run.Name())
				assert.Equal(t, test.status, run.Status().Code)
				set := attribute.NewSet(run.Attributes()...)
				word, _ := set.Value("error.type")
				assert.Equal(t, test.word, word.AsString())
				assert.Empty(t, w.values("websync.harvest.runs"))
			})
		})
	}
}

type nowhere struct{}

func (nowhere) Fetch(_ context.Context, req *harvest.Request) (*harvest.Response, error) {
	return nil, &fetch.StatusError{URL: req.URL, Code: 404}
}

func TestMaxSpans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, &Telemetry{MaxSpans: 2})
		w.h.Bodies = harvest.VerifyBodies
		_, err := w.run(events...)
		require.NoError(t, err)
		below := 0
		for _, s := range w.spans.Ended() {
			if s.Name() == "GET" || s.Name() == "websync.store.commit" {
				below++
			}
			if s.Name() == "websync.harvest" {
				set := attribute.NewSet(s.Attributes()...)
				dropped, ok := set.Value("websync.spans.dropped")
				assert.True(t, ok)
				assert.Positive(t, dropped.AsInt64())
			}
		}
		assert.Equal(t, 2, below)
		var all int64
		for _, n := range w.values("http.client.request.duration") {
			all += n
		}
		assert.EqualValues(t, 5, all, "the metrics have all")
	})
}

// While a run goes on its gauges have what its Progress has.
func TestGauges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, &Telemetry{})
		during := map[string]map[string]int64{}
		w.h.Hooks = harvest.JoinHooks(w.h.Hooks, &harvest.Hooks{Progress: func(p harvest.Progress) {
			if p.Done == 2 && p.Getting == 0 {
				for _, name := range []string{"runs", "listed", "done", "getting", "waiting_hosts"} {
					during[name] = w.values("websync.harvest." + name)
				}
			}
		}})
		_, err := w.run(put("https://example.org/a"), put("https://example.org/b"))
		require.NoError(t, err)
		const of = "websync.source=https://example.org/list"
		assert.Equal(t, map[string]map[string]int64{
			"runs": {of: 1}, "listed": {of: 2}, "done": {of: 2}, "getting": {of: 0}, "waiting_hosts": {"": 0},
		}, during)
		assert.Empty(t, w.values("websync.harvest.done"))
	})
}

// With Wire, what the engine reports of requests does not count.
func TestWire(t *testing.T) {
	w := newWorld(t, &Telemetry{Wire: true})
	client := fetch.New(nil)
	client.OnAttempt, client.Rate = w.telemetry.Request, -1
	client.Transport = answering{}
	w.h.Fetcher = client
	_, err := w.run(put("https://example.org/a"))
	require.NoError(t, err)
	assert.Equal(t, map[string]int64{
		"http.request.method=GET,http.response.status_code=200,server.address=example.org,server.port=443":                2,
		"error.type=404,http.request.method=GET,http.response.status_code=404,server.address=example.org,server.port=443": 1,
	}, w.values("http.client.request.duration"))
	names := map[string]int{}
	for _, s := range w.spans.Ended() {
		names[s.Name()]++
	}
	assert.Equal(t, 3, names["GET"])
	assert.Equal(t, 1, names["websync.list"])
	assert.Equal(t, 1, names["websync.get"])
}

// answering is a Transport of a site without robots.txt.
type answering struct{}

func (answering) RoundTrip(r *http.Request) (*http.Response, error) {
	resp := &http.Response{StatusCode: 200, Header: http.Header{}, ContentLength: 5, Body: io.NopCloser(strings.NewReader("hello")), Request: r, ProtoMajor: 2}
	if strings.HasSuffix(r.URL.Path, "/robots.txt") {
		resp.StatusCode = 404
	}
	return resp, nil
}

func TestErrorType(t *testing.T) {
	for _, test := range []struct {
		err  error
		want string
	}{
		{&fetch.StatusError{Code: 503}, "503"},
		{fmt.Errorf("x: %w", websync.ErrGone), "gone"},
		{&fetch.RequestError{Kind: harvest.ErrForbidden, Err: errors.New("timeout")}, "forbidden"},
		{&fetch.RequestError{Kind: harvest.ErrTemporary, Err: context.DeadlineExceeded}, "timeout"},
		{&fetch.RequestError{Kind: harvest.ErrTemporary, Err: lateError{}}, "timeout"},
		{&fetch.RequestError{Kind: harvest.ErrTemporary, Err: errors.New("canceled")}, "temporary"},
		{&websync.MismatchError{}, "mismatch"},
		{errors.New("mismatch"), "_OTHER"},
	} {
		assert.Equal(t, test.want, errorType(test.err), "%v", test.err)
	}
}

type lateError struct{}

func (lateError) Error() string { return "late" }
func (lateError) Timeout() bool { return true }

// The global providers are the default, and without an SDK nothing is reported.
func TestZeroValue(t *testing.T) {
	var telemetry Telemetry
	h := &harvest.Harvester{Sample: -1, Catalog: harvest.NewCatalog(memstore.New()), Bodies: harvest.SkipBodies, Hooks: telemetry.Hooks()}
	report, err := h.Run(t.Context(), harvest.Of(source, put("https://example.org/a")))
	require.NoError(t, err)
	assert.True(t, report.InStep())
}

func TestHostOf(t *testing.T) {
	for host, want := range map[string]string{
		"https://a.example": "a.example 443", "http://a.example": "a.example 80", "http://[2001:db8::1]:8080": "2001:db8::1 8080", "": " 0", "%": " 0",
	} {
		address, port := hostOf(host)
		assert.Equal(t, want, fmt.Sprint(address, " ", port))
	}
}

// BenchmarkEvents is what the hooks cost a run of events that are unchanged.
func BenchmarkEvents(b *testing.B) {
	reader := sdkmetric.NewManualReader()
	telemetry := &Telemetry{MeterProvider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))}
	hooks := telemetry.Hooks()
	ctx := hooks.Begin(b.Context(), source)
	b.ReportAllocs()
	for b.Loop() {
		hooks.Outcome(source, "https://example.org/a", harvest.OutcomeUnchanged, nil)
	}
	hooks.End(ctx, &harvest.Report{Source: source}, nil)
}
