package status

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/union"
	"github.com/websync-go/websync/internal/display"
)

// How much a Status has.
const (
	maxTasksOfSource = 100  // that are read
	maxTasks         = 2000 // likewise, of all sources
	maxShown         = 500  // sources
	maxGroups        = 20   // of tasks
	maxTaskExamples  = 3
	maxHostsShown    = 30
)

// A Status is what the page shows and status.json has. Names and texts are those that the
// page shows: in one line, without secrets. Names may be added.
type Status struct {
	Title string    `json:"title"`
	Time  time.Time `json:"time"`

	// State is "pass" (all sources are in step), "warn", "fail", or "none" (there are no
	// sources); Verdict a sentence about it.
	State   string `json:"state"`
	Verdict string `json:"verdict"`

	Live       int64            `json:"live"`      // records of all sources
	Published  int64            `json:"published"` // records of Handler.Merged
	Generation uint64           `json:"generation"`
	Last       websync.Seq      `json:"last"`               // of the log
	LastTime   time.Time        `json:"last_time,omitzero"` // likewise
	Retained   time.Time        `json:"retained,omitzero"`  // when Retain was last done; zero: never
	Removed    harvest.Retained `json:"removed,omitzero"`   // by it
	Sources    []Source         `json:"sources"`            // those that need attention first
	More       int64            `json:"more_sources"`       // that are not in Sources
	Tasks      Tasks            `json:"tasks"`              // of all sources
	AtLeast    bool             `json:"at_least"`           // there may be more tasks
	Conflicts  []union.Conflict `json:"conflicts"`          // ids that several sources state
	Reasons    []Reason         `json:"reasons"`            // why there are tasks
	Days       []Day            `json:"days"`               // of all sources
	Statuses   []StatusCount    `json:"statuses"`           // of all Days
	Hosts      []Host           `json:"hosts"`              // the busiest first
}

// A Source is the status of one source.
type Source struct {
	Name string `json:"name"`
	Live int64  `json:"live"` // records

	// State is that of the last run, "running", or "never run"; Class is that of the
	// page: "pass", "warn", "fail" or "none".
	State State  `json:"state"`
	Class string `json:"class"`

	// Latest is the latest time that the publisher has stated, Lag the seconds since. If
	// Latest is zero, neither is known.
	Latest time.Time `json:"latest,omitzero"`
	Lag    int64     `json:"lag"`

	Next    time.Time `json:"next,omitzero"` // run
	Tasks   Tasks     `json:"tasks"`
	AtLeast bool      `json:"at_least"` // there may be more tasks
	Runs    []Run     `json:"runs"`     // the latest first
	Going   []Going   `json:"going"`

	origin string
	nth    int // of its origin and class
}

// A Reason is why tasks wait, are parked or are withheld.
type Reason struct {
	Kind     string   `json:"kind"` // "waiting", "parked", "gone", "withheld" or "lagging"
	Text     string   `json:"text"`
	Tasks    int64    `json:"tasks"` // of those that were read
	Examples []string `json:"examples"`
}

// A StatusCount counts the requests with a status.
type StatusCount struct {
	Status   int   `json:"status"` // 0: no answer
	Requests int64 `json:"requests"`
}

// Status returns what the page shows now.
func (h *Handler) Status(ctx context.Context) (*Status, error) {
	now := time.Now().UTC()
	head, err := h.Catalog.Head(ctx)
	if err != nil {
		return nil, err
	}
	s := &Status{
		Sources: []Source{}, Conflicts: []union.Conflict{}, Days: []Day{}, Hosts: []Host{},
		Title: cmp.Or(display.Shown(h.Title), "Harvest status"), Time: now,
		Live: head.Total() - head.Live[h.Merged], Published: head.Live[h.Merged],
		Generation: head.Generation, Last: head.Last, LastTime: head.LastTime,
	}
	if s.Retained, s.Removed, err = h.Catalog.LastRetain(ctx); err != nil {
		return nil, err
	}
	if h.Conflicts != nil {
		for _, c := range h.Conflicts() {
			s.Conflicts = append(s.Conflicts, union.Conflict{
				Owner: display.Shown(c.Owner), Other: display.Shown(c.Other), IDs: c.IDs, Example: display.Shown(c.Example),
			})
		}
	}
	due := map[string]time.Time{}
	if h.Due != nil {
		due = h.Due()
	}
	keys, err := h.keys(ctx, head, due)
	if err != nil {
		return nil, err
	}
	b := &builder{Status: s, handler: h, byReason: map[string]*Reason{}, left: maxTasks}
	for _, key := range keys {
		if err := b.add(ctx, key, head.Live[key], due[key]); err != nil {
			return nil, err
		}
	}
	b.finish()
	if err := h.Recorder.failure(); err != nil {
		s.State, s.Verdict = "fail", "The store can't be written, and what it has of runs is old: "+display.Shown(err.Error())+"."
	}
	return s, nil
}

// keys returns the sources that the Store, the State or the schedule knows.
func (h *Handler) keys(ctx context.Context, head websync.Head, due map[string]time.Time) ([]string, error) {
	index, err := h.Catalog.State(ctx, indexKey)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, key := range parse[sourceIndex](index) {
		known[string(key)] = true
	}
	for key := range head.Live {
		known[key] = true
	}
	for key := range due {
		known[key] = true
	}
	delete(known, h.Merged)
	return slices.Sorted(maps.Keys(known)), nil
}

// A builder makes a Status.
type builder struct {
	*Status
	handler  *Handler
	byReason map[string]*Reason // by kind and text
	left     int                // tasks that may still be read
}

// add adds a source.
func (b *builder) add(ctx context.Context, key string, live int64, next time.Time) error {
	data, err := b.handler.Catalog.State(ctx, historyKey(key))
	if err != nil {
		return err
	}
	h := parse[history](data)
	h.forget(b.Time)
	src := Source{
		Name: display.Shown(key), Live: live, Latest: h.Latest, Next: next.UTC(),
		Runs: append([]Run{}, h.Runs...), Going: []Going{}, origin: b.handler.origin(key),
	}
	slices.Reverse(src.Runs)
	for _, g := range h.Going {
		src.Going = append(src.Going, g)
	}
	slices.SortFunc(src.Going, func(x, y Going) int { return cmp.Or(x.Started.Compare(y.Started), x.Seen.Compare(y.Seen)) })
	if !h.Latest.IsZero() {
		src.Lag = max(0, int64(b.Time.Sub(h.Latest)/time.Second))
	}
	if err := b.countTasks(ctx, key, &src); err != nil {
		return err
	}
	src.judge(b.Time)
	b.Sources = append(b.Sources, src)
	for _, d := range h.Days {
		b.Days = addDay(b.Days, d)
	}
	for _, host := range h.Hosts {
		for _, hour := range host.Hours {
			b.Hosts = addHour(b.Hosts, host.Name, hour)
		}
	}
	return nil
}

// countTasks counts tasks of a source. If it does not count to the end, the numbers are
// at least those after the last run.
func (b *builder) countTasks(ctx context.Context, key string, src *Source) error {
	n := 0
	for t, err := range b.handler.Catalog.Tasks(ctx, key, "") {
		if err != nil {
			return err
		}
		if n == maxTasksOfSource || b.left == 0 {
			src.AtLeast, b.AtLeast = true, true
			break
		}
		n++
		b.left--
		b.explain(&t, src.Tasks.count(&t))
	}
	if src.AtLeast && len(src.Runs) > 0 {
		src.Tasks.atLeast(src.Runs[0].Left)
	}
	b.Tasks.Waiting += src.Tasks.Waiting
	b.Tasks.Parked += src.Tasks.Parked
	b.Tasks.Gone += src.Tasks.Gone
	b.Tasks.Withheld += src.Tasks.Withheld
	b.Tasks.Lagging += src.Tasks.Lagging
	return nil
}

// count counts a task and returns its kind.
func (c *Tasks) count(t *harvest.Task) string {
	switch {
	case t.Kind == harvest.TaskWithheld:
		c.Withheld++
		return "withheld"
	case !t.Since.IsZero():
		c.Lagging++
		return "lagging"
	case t.Parked && t.Gone:
		c.Gone++
		return "gone"
	case t.Parked:
		c.Parked++
		return "parked"
	}
	c.Waiting++
	return "waiting"
}

func (c *Tasks) atLeast(o Tasks) {
	c.Waiting, c.Parked, c.Gone = max(c.Waiting, o.Waiting), max(c.Parked, o.Parked), max(c.Gone, o.Gone)
	c.Withheld, c.Lagging = max(c.Withheld, o.Withheld), max(c.Lagging, o.Lagging)
}

// explain counts a task by its reason.
func (b *builder) explain(t *harvest.Task, kind string) {
	text := taskReason(t)
	key := kind + "\x00" + text
	r := b.byReason[key]
	if r == nil {
		r = &Reason{Kind: kind, Text: text}
		b.byReason[key] = r
	}
	r.Tasks++
	if len(r.Examples) < maxTaskExamples {
		r.Examples = append(r.Examples, display.Shown(t.Resource.ID))
	}
}

// taskReason returns the reason of a task, without what differs from one task to the
// next.
func taskReason(t *harvest.Task) string {
	text := display.Shown(t.Error)
	switch {
	case t.Kind == harvest.TaskWithheld: // whose text has the numbers that matter
		return text
	case !t.Since.IsZero():
		return "asked for again later: the server still sent the bytes from before a change"
	case text == "":
		return "listed, and not fetched yet"
	}
	words := strings.Fields(text)
	for i, word := range words {
		status, err := strconv.Atoi(word)
		if name := http.StatusText(status); err == nil && name != "" && strings.HasPrefix(strings.Join(words[i+1:], " "), name) {
			return answeredWith(status)
		}
	}
	return display.Shape(text)
}

// judge sets the state and the class.
func (s *Source) judge(now time.Time) {
	s.State = neverRun
	if len(s.Runs) > 0 {
		s.State = s.Runs[0].State
	}
	if s.State == InStep && s.Tasks.open() > 0 {
		s.State = NotInStep
	}
	s.Class = s.State.class()
	if slices.ContainsFunc(s.Going, func(g Going) bool { return !g.isSilent(now) }) {
		s.State = running
	}
}

// urgency is greater for a class of sources that need attention more.
var urgency = map[string]int{fail: 3, warn: 2, none: 1}

// origin returns what has led to a source.
func (h *Handler) origin(source string) string {
	if h.Origin != nil {
		return h.Origin(source)
	}
	return harvest.Host(harvest.Of(source))
}

// ofEach returns n of the sources at most, in their order: of those of one class as many
// of each origin, so that one which leads to many hides no others.
func ofEach(all []Source, n int) []Source {
	byClass := func(x, y Source) int { return cmp.Compare(urgency[y.Class], urgency[x.Class]) }
	byName := func(x, y Source) int { return cmp.Or(byClass(x, y), cmp.Compare(x.Name, y.Name)) }
	slices.SortStableFunc(all, byName)
	if len(all) <= n {
		return all
	}
	before := map[[2]string]int{}
	for i := range all {
		of := [2]string{all[i].Class, all[i].origin}
		all[i].nth = before[of]
		before[of]++
	}
	slices.SortStableFunc(all, func(x, y Source) int { return cmp.Or(byClass(x, y), cmp.Compare(x.nth, y.nth)) })
	all = all[:n]
	slices.SortStableFunc(all, byName)
	return all
}

// finish sums up and orders what was added.
func (b *builder) finish() {
	by := map[string]int64{}
	for i := range b.Sources {
		by[b.Sources[i].Class]++
	}
	b.Verdict, b.State = sumUp(by)
	b.More = int64(max(0, len(b.Sources)-maxShown))
	b.Sources = ofEach(b.Sources, maxShown)

	b.Reasons = []Reason{}
	for _, r := range b.byReason {
		b.Reasons = append(b.Reasons, *r)
	}
	slices.SortFunc(b.Reasons, func(x, y Reason) int {
		return cmp.Or(cmp.Compare(y.Tasks, x.Tasks), cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Text, y.Text))
	})
	b.Reasons = b.Reasons[:min(len(b.Reasons), maxGroups)]

	slices.SortFunc(b.Hosts, func(x, y Host) int {
		return cmp.Or(cmp.Compare(y.total(), x.total()), cmp.Compare(x.Name, y.Name))
	})
	b.Hosts = b.Hosts[:min(len(b.Hosts), maxHostsShown)]

	counts := map[int]int64{}
	for _, d := range b.Days {
		for status, n := range d.Requests {
			counts[status] += n
		}
	}
	b.Statuses = []StatusCount{}
	for _, status := range slices.Sorted(maps.Keys(counts)) {
		b.Statuses = append(b.Statuses, StatusCount{status, counts[status]})
	}
}
