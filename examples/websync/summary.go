package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/examples/internal/cli"
	"github.com/websync-go/websync/harvest"
	runstatus "github.com/websync-go/websync/harvest/status"
	"github.com/websync-go/websync/internal/display"
)

// A summary is the JSON object of -json.
type summary struct {
	Store   string        `json:"store"`
	InStep  bool          `json:"in_step"`
	Reports []*result     `json:"reports"`
	Export  *exportResult `json:"export,omitempty"`
	Error   string        `json:"error,omitempty"` // what went wrong outside of a run
}

func writeJSON(w io.Writer, s *summary) error {
	if s.Reports == nil {
		s.Reports = []*result{}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(s)
}

// A result is the report of one run, and the error that ended it.
type result struct {
	*harvest.Report
	Error string `json:"error,omitempty"`
	// LeftBehind is set if the URL that led to the source leads to it no longer.
	LeftBehind bool `json:"left_behind,omitempty"`

	Decisions []plannedJSON `json:"decisions,omitempty"`

	source      string // the Report's is without secrets
	foreign     bool   // the document is of another kind than the source reads
	interrupted bool
	lasts       bool  // the store remains after the program ends
	differ      int64 // number of differences that change the exit code of a plan or an audit
}

// A plannedJSON is one decision of a plan or an audit.
type plannedJSON struct {
	Outcome string `json:"outcome"`
	ID      string `json:"id"`
	Get     bool   `json:"get"`
}

// decisions writes the decisions of a plan that change something as lines, or keeps them
// for the JSON object.
type decisions struct {
	w    io.Writer
	json bool
	kept []plannedJSON
}

func (d *decisions) add(decision harvest.Decision) {
	name := decision.Outcome.String()
	if decision.Outcome == harvest.OutcomeUnchanged && decision.Get {
		name = "ask"
	}
	switch {
	case name == harvest.OutcomeUnchanged.String() || name == harvest.OutcomeHistory.String():
	case d.json:
		d.kept = append(d.kept, plannedJSON{name, decision.ID, decision.Get})
	default:
		fmt.Fprintf(d.w, "%-9s %s\n", name, escapeURI(decision.ID))
	}
}

// planned makes r the result of a run that wrote nothing.
func (r *result) planned(made *decisions, differ int64) *result {
	r.Decisions, r.differ = made.kept, differ
	return r
}

func (p *harvestCommand) newResult(ctx context.Context, report *harvest.Report, err error) *result {
	lasts := p.storeFlag != "mem" && p.storeFlag != ""
	r := &result{
		Report: report, source: report.Source,
		foreign: errors.Is(err, websync.ErrNotDocument), interrupted: cli.Interrupted(ctx, err), lasts: lasts,
	}
	report.Source = websync.RedactURL(report.Source)
	for _, f := range [][]harvest.Failure{report.Problems, report.Failures} {
		for i := range f {
			redact(&f[i])
		}
	}
	failed, ok := errors.AsType[*harvest.StoreError](err)
	switch {
	case ok && ctx.Err() != nil:
		r.Error = report.Source + ": interrupted, and what was got last may not be stored; the next run gets it again\n" +
			failed.Error()
	case r.interrupted && lasts:
		r.Error = report.Source + ": interrupted; what was got is kept, and the next run goes on from there"
	case r.interrupted:
		r.Error = report.Source + ": interrupted"
	case cli.Ambiguity("websync harvest", err) != "":
		r.Error = cli.Ambiguity("websync harvest", err)
	case err != nil:
		r.Error = strings.TrimPrefix(err.Error(), "harvest: ")
		if a := advice(err); a != "" {
			r.Error += "\n" + a
		}
	}
	return r
}

// redact removes secrets from the URLs of a failure.
func redact(f *harvest.Failure) {
	id := websync.RedactURL(f.ID)
	f.Error = strings.ReplaceAll(f.Error, f.ID, id)
	f.Source, f.ID, f.URL = websync.RedactURL(f.Source), id, websync.RedactURL(f.URL)
}

func (r *result) code() int {
	switch {
	case r.Error != "" && !r.interrupted:
		return exitFailed
	case r.Error != "":
		return exitLeft
	case r.LeftBehind:
		return exitLeft
	case r.Dry && r.Listed() && r.differ == 0:
		return exitDone
	case r.Dry || !r.InStep():
		return exitLeft
	}
	return exitDone
}

// differs reports whether a plan or an audit found a difference, or tasks that earlier
// runs have left. A plan may find some and still have the exit code 0.
func (r *result) differs() bool { return r.Dry && (r.Differences() > 0 || !r.InStep()) }

// sourcesOf returns the sources of results, each once.
func sourcesOf(results []*result) (sources []string) {
	for _, r := range results {
		if !slices.Contains(sources, r.source) {
			sources = append(sources, r.source)
		}
	}
	return sources
}

// row writes a line of a report, unless text is empty.
func row(w io.Writer, name, text string) {
	if text != "" {
		fmt.Fprintf(w, "  %-10s %s\n", name, cli.OneLine(text))
	}
}

// write writes the report as text, without the numbers that are zero.
func (r *result) write(w io.Writer) {
	fmt.Fprintln(w, cli.OneLine(r.Source))
	run := r.run()
	switch listed := display.Plural(r.Events, "entry", "entries"); {
	case !r.Listed():
		row(w, "listed", listed+", incomplete")
	case r.Events > 0:
		row(w, "listed", listed+", in full")
	}
	for _, o := range r.outcomes() {
		if o.n > 0 {
			row(w, o.name, display.Number(o.n))
		}
	}
	if r.Held > 0 && run.State() != runstatus.InStep {
		row(w, "held", display.Number(r.Held))
	}
	row(w, "left", leftText(r.Left))
	row(w, "rechecked", recheckedText(&r.Rechecked))
	row(w, "requests", requestsText(r.Requests))
	if r.Fetched > 0 {
		row(w, "fetched", display.Plural(r.Fetched, "body", "bodies")+", "+display.Bytes(r.Bytes))
	}
	row(w, "took", r.took().String())
	r.writeDoubts(w)
	for _, f := range r.Problems {
		row(w, "problem", about(f))
	}
	for _, f := range r.Failures {
		row(w, "failure", about(f))
	}
	if more := r.Failed - int64(len(r.Failures)); more > 0 {
		row(w, "failure", fmt.Sprintf("and %d more", more))
	}
	fmt.Fprintf(w, "  %s\n", run.Verdict())
	if r.Error != "" {
		return // which says what to do
	}
	for _, step := range cli.Next(&run) {
		fmt.Fprintf(w, "  %s\n", cli.OneLine(step))
	}
}

// writeDoubts writes what a user may have to look at.
func (r *result) writeDoubts(w io.Writer) {
	switch skipped := display.Plural(int64(r.Skipped), "entry", "entries"); {
	case r.Skipped > 0 && r.AcceptSkipped:
		row(w, "skipped", skipped+" could not be read, which is accepted")
	case r.Skipped > 0:
		row(w, "skipped", skipped+" could not be read, or may be hidden in what could not")
	}
	if r.Findings > 0 {
		text := display.Plural(r.Findings, "departure", "departures") + " from the specification"
		for i, rule := range slices.Sorted(maps.Keys(r.Rules)) {
			text += fmt.Sprintf("%s%s %d", [...]string{": ", ", "}[min(i, 1)], rule, r.Rules[rule])
		}
		row(w, "findings", text)
	}
	if r.OverQuota != nil {
		row(w, "quota", r.OverQuota.Error())
	}
	for _, e := range r.LeftAlone {
		row(w, "left alone", e.Error())
	}
	if r.Guard != nil {
		row(w, "guard", r.Guard.Sentence())
	}
}

// named puts a name before a text that does not contain it.
func named(text, name string) string {
	name = websync.RedactURL(name)
	if name == "" || strings.Contains(text, name+":") {
		return text
	}
	return name + ": " + text
}

// about describes a failure: what failed, the number of attempts, and the next one.
func about(f harvest.Failure) string {
	var b strings.Builder
	b.WriteString(cli.OneLine(named(named(f.Error, f.URL), f.ID)))
	if f.Attempt > 0 {
		fmt.Fprintf(&b, "; attempt %d", f.Attempt)
	}
	if wait := time.Until(f.Next); wait > time.Second {
		fmt.Fprintf(&b, ", the next after %s", f.Next.Format(time.DateTime+" MST"))
	}
	return b.String()
}

// run returns r for the page.
func (r *result) run() runstatus.Result {
	run := runstatus.Result{Report: r.Report, Interrupted: r.interrupted, Lasts: r.lasts}
	if r.Error != "" {
		run.Err = errors.New(r.Error)
	}
	return run
}

func (r *result) took() time.Duration {
	d := r.Ended.Sub(r.Started)
	switch {
	case r.Ended.IsZero():
		return 0
	case d < 10*time.Second:
		return d.Round(10 * time.Millisecond)
	}
	return d.Round(time.Second)
}

// A counted is a number of things of one kind.
type counted struct {
	name string
	n    int64
}

// outcomes returns the numbers of entries by what became of them.
func (r *result) outcomes() []counted {
	return []counted{
		{"created", r.Created}, {"updated", r.Updated}, {"deleted", r.Deleted}, {"touched", r.Touched},
		{"unchanged", r.Unchanged}, {"history", r.History}, {"deferred", r.Deferred}, {"excluded", r.Excluded},
		{"failed", r.Failed}, {"gone", r.Gone}, {"withheld", r.Withheld},
	}
}

// notZero returns the texts of the numbers that are not zero.
func notZero(all []counted) (texts []string) {
	for _, c := range all {
		if c.n > 0 {
			texts = append(texts, fmt.Sprintf("%d %s", c.n, c.name))
		}
	}
	return texts
}

// leftText describes the tasks that are left; "" if there are none. Those with which a
// run is in step, although they ask again, come last.
func leftText(l harvest.TaskCounts) string {
	parts := notZero([]counted{
		{"to get", l.Waiting}, {"parked", l.Parked}, {"gone by their server", l.Gone}, {"deletions withheld", l.Withheld},
	})
	if time.Until(l.Next) > time.Second {
		parts = append(parts, "the next after "+l.Next.Format(time.DateTime+" MST"))
	}
	if l.Lagging > 0 {
		parts = append(parts, fmt.Sprintf("%d asked for again later, because their server may lag", l.Lagging))
	}
	return strings.Join(parts, ", ")
}

// recheckedText describes the requests for what seemed unchanged; "" if there were none.
func recheckedText(r *harvest.Rechecks) string {
	total := r.Total()
	if total.Asked == 0 && r.Unasked == 0 {
		return ""
	}
	text := fmt.Sprintf("%d of what seemed unchanged asked for again: %d had changed", total.Asked, total.Wrong)
	if r.Validators.Wrong > 0 {
		text += fmt.Sprintf("; the server's validators were wrong for %d", r.Validators.Wrong)
	}
	if r.Unasked > 0 {
		text += fmt.Sprintf("; the next run asks for the other %d", r.Unasked)
	}
	return text
}

// requestsText describes requests; "" if there were none.
func requestsText(byStatus map[int]int64) string {
	var (
		total int64
		parts []string
	)
	for _, status := range slices.Sorted(maps.Keys(byStatus)) {
		n := byStatus[status]
		total += n
		name := fmt.Sprintf("with status %d", status)
		switch status {
		case 0:
			name = "without an answer"
		case 304:
			name = "with status 304 (not modified)"
		}
		parts = append(parts, fmt.Sprintf("%d %s", n, name))
	}
	if total == 0 {
		return ""
	}
	return fmt.Sprintf("%d: %s", total, strings.Join(parts, ", "))
}

// advice returns what a user can do about an error, or "".
func advice(err error) string {
	switch {
	case errors.Is(err, harvest.ErrHeld):
		return "Another process is harvesting this source into this store, or has died while it was. " +
			"-wait waits for the end of its claim."
	case errors.Is(err, websync.ErrNotDocument), errors.Is(err, websync.ErrNotFound):
		return "Give the URL of a sitemap, of an index of them, of the robots.txt of the site, of a feed, " +
			"of a Capability List, or of a page or a host that leads to one. If the site has changed, run it again."
	}
	return ""
}
