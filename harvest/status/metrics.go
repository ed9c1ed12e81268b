package status

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"
)

// metricsType is the media type of the text format of Prometheus.
const metricsType = "text/plain; version=0.0.4; charset=utf-8"

// metrics returns a Status as metrics, in the text format of Prometheus. Sources that are
// not in Status.Sources have none of their own.
func (s *Status) metrics(writable bool) []byte {
	w := new(metricsWriter)
	w.gauge("websync_store_writable", "Whether runs can be noted in the store.")
	w.add(truth(writable))
	w.gauge("websync_records_published", "Records of the union under which sources are published.")
	w.add(s.Published)
	w.gauge("websync_log_position", "The last position of the store's log.")
	w.add(int64(s.Last))
	w.gauge("websync_conflicting_ids", "Ids that a source states and another owns.")
	for _, c := range s.Conflicts {
		w.add(c.IDs, "owner", c.Owner, "other", c.Other)
	}
	w.gauge("websync_sources_more", "Sources without metrics of their own: those that are in step first.")
	w.add(s.More)

	w.each(s, "websync_source_in_step", "Whether the source was in step after its last run.", func(src *Source) (int64, bool) {
		return truth(src.Class == pass), true
	})
	w.each(s, "websync_source_failing", "Whether an error ended the last run.", func(src *Source) (int64, bool) {
		return truth(src.Class == fail), true
	})
	w.each(s, "websync_source_running", "Whether a run is going on.", func(src *Source) (int64, bool) {
		return truth(src.State == running), true
	})
	w.each(s, "websync_source_records", "Live records.", func(src *Source) (int64, bool) { return src.Live, true })
	w.each(s, "websync_source_last_run_timestamp_seconds", "The end of the last run.", func(src *Source) (int64, bool) {
		return lastRun(src, func(*Run) bool { return true })
	})
	w.each(s, "websync_source_last_in_step_timestamp_seconds", "The end of the last run after which the source was in step.",
		func(src *Source) (int64, bool) { return lastRun(src, func(r *Run) bool { return r.State == InStep }) })
	w.each(s, "websync_source_next_run_timestamp_seconds", "When the source runs next.", func(src *Source) (int64, bool) {
		return unix(src.Next)
	})
	w.each(s, "websync_source_latest_change_timestamp_seconds", "The latest time that the publisher has stated.",
		func(src *Source) (int64, bool) { return unix(src.Latest) })
	w.gauge("websync_source_tasks", "What waits, is parked, is gone, is withheld, or is asked for again later.")
	for i := range s.Sources {
		src := &s.Sources[i]
		w.add(src.Tasks.Waiting, "source", src.Name, "kind", "waiting")
		w.add(src.Tasks.Parked, "source", src.Name, "kind", "parked")
		w.add(src.Tasks.Gone, "source", src.Name, "kind", "gone")
		w.add(src.Tasks.Withheld, "source", src.Name, "kind", "withheld")
		w.add(src.Tasks.Lagging, "source", src.Name, "kind", "lagging")
	}
	return w.Bytes()
}

// lastRun returns when the last run of a kind ended.
func lastRun(src *Source, is func(*Run) bool) (int64, bool) {
	for i := range src.Runs { // the latest first
		if is(&src.Runs[i]) {
			return unix(src.Runs[i].Ended)
		}
	}
	return 0, false
}

func unix(t time.Time) (int64, bool) { return t.Unix(), !t.IsZero() }

func truth(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

// A metricsWriter writes metrics.
type metricsWriter struct {
	bytes.Buffer
	name string
	seen map[string]bool // labels of the metric
}

// gauge begins a metric.
func (w *metricsWriter) gauge(name, help string) {
	w.name, w.seen = name, map[string]bool{}
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name)
}

var labelEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// add writes a value of the metric. Its labels are names and values by turns. Of sources
// whose names differ only in what is not shown, the first counts: a value must be there
// once.
func (w *metricsWriter) add(value int64, labels ...string) {
	var pairs []string
	for pair := range slices.Chunk(labels, 2) {
		pairs = append(pairs, pair[0]+`="`+labelEscapes.Replace(pair[1])+`"`)
	}
	of := ""
	if len(pairs) > 0 {
		of = "{" + strings.Join(pairs, ",") + "}"
	}
	if !w.seen[of] {
		w.seen[of] = true
		fmt.Fprintf(w, "%s%s %d\n", w.name, of, value)
	}
}

// each writes a metric of all sources that have it.
func (w *metricsWriter) each(s *Status, name, help string, of func(*Source) (value int64, has bool)) {
	w.gauge(name, help)
	for i := range s.Sources {
		if value, has := of(&s.Sources[i]); has {
			w.add(value, "source", s.Sources[i].Name)
		}
	}
}
