package otelhooks

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/websync-go/websync/harvest"
)

// An activity is what the runs of one source are doing now.
type activity struct {
	runs     int64
	progress harvest.Progress
	options  map[harvest.Outcome]metric.MeasurementOption // of events without an error
}

func (t *Telemetry) enter(source string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.active[source]
	if a == nil {
		a = &activity{options: map[harvest.Outcome]metric.MeasurementOption{}}
		t.active[source] = a
	}
	a.runs++
}

func (t *Telemetry) leave(source string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.active[source]
	if a == nil {
		return
	}
	if a.runs--; a.runs == 0 {
		delete(t.active, source)
	}
}

func (t *Telemetry) progress(p harvest.Progress) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if a := t.active[p.Source]; a != nil {
		a.progress = p
	}
}

// optionOf returns the attributes of an event without an error. Runs of millions of
// events have few different ones.
func (t *Telemetry) optionOf(source string, o harvest.Outcome) metric.MeasurementOption {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.active[source]
	if a != nil && a.options[o] != nil {
		return a.options[o]
	}
	option := metric.WithAttributeSet(attribute.NewSet(t.of(source, outcomeAttribute(o))...))
	if a != nil {
		a.options[o] = option
	}
	return option
}

type gauges struct{ runs, listed, done, getting, waiting metric.Int64ObservableGauge }

// observe reports the runs that are going on. Without sources in the metrics it reports
// their sum.
func (t *Telemetry) observe(g gauges, o metric.Observer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	sums, hosts := map[string]*activity{}, map[string]bool{}
	for source, a := range t.active {
		if t.WithoutSource {
			source = ""
		}
		sum := sums[source]
		if sum == nil {
			sum = &activity{}
			sums[source] = sum
		}
		sum.runs += a.runs
		sum.progress.Listed += a.progress.Listed
		sum.progress.Done += a.progress.Done
		sum.progress.Getting += a.progress.Getting
		for host := range a.progress.Waiting {
			hosts[host] = true
		}
	}
	for source, sum := range sums {
		of := metric.WithAttributes(t.of(source)...)
		o.ObserveInt64(g.runs, sum.runs, of)
		o.ObserveInt64(g.listed, sum.progress.Listed, of)
		o.ObserveInt64(g.done, sum.progress.Done, of)
		o.ObserveInt64(g.getting, sum.progress.Getting, of)
	}
	if len(sums) > 0 {
		o.ObserveInt64(g.waiting, int64(len(hosts)))
	}
}
