package harvest

import (
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/testing/racing"
)

// TestDecisions decides about all combinations of what an event states and what is held
// of its id. The golden file has a row for each list, record and task, and a letter for
// each statement: see decisionLetter. The columns are in the order of the digests, the
// descriptions and the times. Its last part has a sum of the decisions, with all that
// they store, for each setting and each other property of an event.
func TestDecisions(t *testing.T) {
	racing.Skip(t)
	var b strings.Builder
	fmt.Fprintf(&b, "times:        %s\ndescriptions: %s\ndigests:      %s\n", strings.Join(judgedTimes, ", "),
		strings.Join(judgedDescriptions, ", "), strings.Join(judgedDigests, ", "))
	for row := range judgedRows {
		fmt.Fprintf(&b, "\n%-15s %-9s %-12s", row.list, row.record, row.task)
		for statement := range judgedStatements {
			if statement.time == 0 && statement.description == 0 {
				b.WriteByte(' ')
			}
			if statement.time == 0 {
				b.WriteByte(' ')
			}
			j := newJudged(t, row, statement, "keep", "")
			b.WriteByte(decisionLetter(j.decide()))
		}
		b.WriteString("  deletion ")
		for time := range judgedTimes {
			j := newJudged(t, row, judgedStatement{time: time}, "keep", "delete")
			b.WriteByte(decisionLetter(j.decide()))
		}
	}
	b.WriteString("\n")
	for _, setting := range judgedSettings {
		for _, property := range judgedProperties {
			sum, n := fnv.New64a(), 0
			for row := range judgedRows {
				for statement := range judgedStatements {
					if n++; n%judgedEvery == 0 {
						io.WriteString(sum, newJudged(t, row, statement, setting, property).all())
					}
				}
			}
			fmt.Fprintf(&b, "\n%-9s %-8s %016x", setting, property, sum.Sum64())
		}
	}
	const golden = "testdata/decisions.txt"
	if flag.Lookup("update").Value.String() == "true" {
		require.NoError(t, os.WriteFile(golden, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	gotLines, wantLines := strings.Split(b.String(), "\n"), strings.Split(string(want), "\n")
	require.Len(t, gotLines, len(wantLines))
	for i, line := range gotLines {
		assert.Equal(t, wantLines[i], line)
	}
}

// judgedEvery is of how many combinations one is part of the sums.
var judgedEvery = 11

var (
	judgedTimes        = []string{"none", "earlier", "same", "coarser", "later", "restated", "future"}
	judgedDescriptions = []string{"same", "less", "other"}
	judgedDigests      = []string{"none", "same", "other", "new", "no longer"}
	judgedLists        = []string{"log", "snapshot", "snapshot since", "again", "apart"}
	judgedRecords      = []string{"none", "live", "logged", "early", "new", "light", "deleted", "untimed", "unlisted"}
	judgedTasks        = []string{"", "get", "parked", "later", "this run", "lagging", "withheld", "own", "own, moved", "own, ended", "own, lagging"}
	judgedSettings     = []string{"keep", "skip", "verify", "getter", "recheck", "two lists"}
	judgedProperties   = []string{"", "current", "recheck", "open", "tag", "sample", "delete"}
)

type judgedRow struct{ list, record, task string }

func judgedRows(yield func(judgedRow) bool) {
	for _, list := range judgedLists {
		for _, record := range judgedRecords {
			for _, task := range judgedTasks {
				if strings.HasPrefix(task, "own") && list != "log" {
					continue
				}
				if !yield(judgedRow{list, record, task}) {
					return
				}
			}
		}
	}
}

// A judgedStatement has indexes of judgedTimes, judgedDescriptions and judgedDigests.
type judgedStatement struct{ time, description, digest int }

func judgedStatements(yield func(judgedStatement) bool) {
	for digest := range judgedDigests {
		for description := range judgedDescriptions {
			for time := range judgedTimes {
				if !yield(judgedStatement{time, description, digest}) {
					return
				}
			}
		}
	}
}

// A judged is a slot with the pipe that decides about it.
type judged struct {
	t *testing.T
	p *pipe
	s *slot
}

var (
	judgedDay   = websync.NewDatetime(time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC))
	judgedClock = time.Date(2026, 1, 10, 0, 0, 0, 0, time.UTC)
)

func judgedHour(hour int) websync.Datetime {
	return websync.NewDatetime(judgedDay.Time().Add(time.Duration(hour) * time.Hour))
}

func newJudged(t *testing.T, row judgedRow, statement judgedStatement, setting, property string) judged {
	h := &Harvester{}
	r := &run{h: h, key: "source", began: 20, id: [16]byte{1}, report: &Report{Started: judgedClock}}
	r.date.Store(judgedClock.Unix())
	switch setting {
	case "skip":
		h.Bodies = SkipBodies
	case "verify":
		h.Bodies = VerifyBodies
	case "getter":
		r.getter = judgedGetter{}
	case "recheck":
		h.Recheck = true
	case "two lists":
		r.twoLists = true
	}
	j := judged{t: t, p: &pipe{run: r}, s: &slot{n: 1}}
	j.p.planner.flying = map[string]*slot{}

	ours, others := websync.SHA256([]byte("ours")), websync.SHA256([]byte("others"))
	described := websync.Resource{ID: "urn:id", Title: "title", Summary: "summary",
		Content: websync.Link{Href: "http://host.example/a"}, Modified: judgedHour(10)}
	stated := described
	switch judgedDigests[statement.digest] {
	case "same":
		described.Content.Digests, stated.Content.Digests = websync.Digests{ours}, websync.Digests{ours}
	case "other":
		described.Content.Digests, stated.Content.Digests = websync.Digests{ours}, websync.Digests{others}
	case "new":
		stated.Content.Digests = websync.Digests{ours}
	case "no longer":
		described.Content.Digests = websync.Digests{ours}
	}
	switch judgedDescriptions[statement.description] {
	case "less":
		stated.Summary = ""
	case "other":
		stated.Title = "another title"
	}
	if row.record == "light" {
		stated.Content, described.Content = websync.Link{}, websync.Link{}
	}
	tag := ""
	if property == "tag" {
		tag = "v1"
	}

	ev := Event{Resource: stated, Tag: tag, Hint: []byte("hint")}
	switch judgedTimes[statement.time] {
	case "none":
		ev.Resource.Modified = websync.Datetime{}
	case "earlier":
		ev.Resource.Modified = judgedHour(7)
	case "coarser":
		day, err := websync.ParseDatetime("2026-01-05")
		require.NoError(t, err)
		ev.Resource.Modified = day
	case "later":
		ev.Resource.Modified = judgedHour(11)
	case "restated":
		ev.At = judgedHour(11)
	case "future":
		ev.Resource.Modified = judgedHour(24 * 90)
	}
	switch property {
	case "current":
		ev.Current = true
	case "recheck":
		ev.Recheck = true
	case "open":
		ev.Open = func() (io.ReadCloser, error) { return nil, nil }
	case "sample":
		j.s.sample = &sample{}
	case "delete":
		ev.Kind = Delete
	}

	if row.list != "log" {
		j.p.snap = &snapshot{last: 20, tasks: map[string]bool{}}
		if row.list != "snapshot" && row.list != "again" {
			j.p.snap.note.At = judgedHour(9)
		}
		j.s.listed = row.list != "again" && ev.Kind == Put
		ev.Apart = row.list == "apart"
		if r.twoLists && ev.Kind == Put {
			ev.Listed = ev.Resource.Modified
			if ev.Listed == judgedHour(11) {
				ev.Listed = judgedHour(10)
			}
		}
	} else if ev.Kind == Put {
		ev.At = ev.time()
	}
	if ev.Kind == Put {
		j.s.ev = ev
		j.p.describe(&j.s.statement)
	}
	j.s.ev = ev

	state := described // of the record
	hasOlder := row.task != "" && row.task != "lagging" && row.task != "withheld" && row.task != "own, lagging"
	if hasOlder {
		state.Title, state.Modified = "older title", judgedHour(8)
	}
	j.s.held = r.heldOf(judgedRecord(state, tag, row.record, ours))
	if row.task == "" {
		return j
	}
	task := Task{Source: "source", Resource: described, Tag: tag, At: judgedHour(10), Base: j.s.rec.Seq, N: 7}
	switch row.task {
	case "parked":
		task.Parked, task.Gone, task.Hint = true, true, []byte("hint")
	case "later":
		task.Due = judgedClock.Add(time.Hour)
	case "this run":
		task.Run = r.id
	case "lagging", "own, lagging":
		task.Since = judgedClock.Add(-time.Hour)
	case "withheld":
		task.Kind = TaskWithheld
	case "own, moved":
		task.Base++
	}
	if strings.HasPrefix(row.task, "own") {
		j.s.task, j.s.ended = &task, row.task == "own, ended"
	} else {
		j.s.waiting = &task
	}
	return j
}

type judgedGetter struct{ Getter }

// judgedRecord returns the record of a state.
func judgedRecord(state websync.Resource, tag, name string, sum websync.Digest) *Record {
	if name == "none" {
		return &Record{}
	}
	rec := &Record{Item: websync.Item{Seq: 10, Resource: state, At: state.Modified},
		Stated: Stated{Hash: fingerprint(&state, tag), Modified: state.Modified}}
	if name != "light" {
		link := state.Content
		link.Digests, link.Length = websync.Digests{sum}, 4
		rec.Bodies = []websync.Body{{Name: websync.ContentName, Link: link, Key: sum}}
	}
	switch name {
	case "logged":
		rec.Stated.At = state.Modified
	case "early":
		rec.Early = true
	case "new":
		rec.Seq = 30
	case "deleted":
		*rec = tombstone(rec, judgedHour(10))
	case "untimed":
		*rec = tombstone(rec, websync.Datetime{})
	case "unlisted":
		*rec = unlisted(rec, judgedHour(9))
	}
	rec.Seq = max(rec.Seq, 10)
	return rec
}

// decide decides about the slot, and checks that it leaves the statement as it was.
func (j judged) decide() decision {
	before := j.s.statement
	d := j.p.decide(j.s)
	after := &j.s.statement
	require.True(j.t, before.hash == after.hash && before.listed == after.listed && before.ev.At == after.ev.At && before.ev.Tag == after.ev.Tag &&
		before.ev.Resource.Title == after.ev.Resource.Title && before.ev.Resource.Modified == after.ev.Resource.Modified)
	return d
}

// all returns the decision with everything that it stores.
func (j judged) all() string {
	d := j.decide()
	st := j.s.aim
	text := fmt.Sprint(d.outcome, d.get, d.ask, st.listed, st.hash, st.ev.Kind, st.ev.At, st.ev.Tag, st.ev.Listed, describe(&st.ev.Resource))
	if d.change != nil {
		c := d.change
		text += fmt.Sprint(" change ", c.Base, c.Task, c.Record.Kind, c.Record.Seq, c.Record.At, describe(&c.Record.Resource), c.Record.Bodies,
			c.Record.Stated, c.Record.Validators, c.Record.Early)
	}
	if d.todo != nil {
		t := d.todo
		text += fmt.Sprint(" task ", t.Kind, describe(&t.Resource), t.At, t.Tag, string(t.Hint), t.Base, t.Run, t.Attempts, t.Due, t.Parked, t.Gone, t.N)
	}
	return text
}

func describe(r *websync.Resource) string {
	return fmt.Sprint(r.ID, r.Title, r.Summary, r.Content, r.Modified)
}

// decisionLetter returns h for history, A for a get that asks whatever is held, G for
// another get, = for nothing, C, U, T and D for a record that is created, updated,
// touched and deleted without a get, d for a deletion of what is not live, and r and o
// for a task that stays as it is, o if its resource is gone.
func decisionLetter(d decision) byte {
	switch {
	case d.outcome == OutcomeHistory:
		return 'h'
	case d.get && d.ask:
		return 'A'
	case d.get:
		return 'G'
	case d.outcome == OutcomeDeferred:
		return 'r'
	case d.outcome == OutcomeGone:
		return 'o'
	case d.change == nil:
		return '='
	case d.outcome == OutcomeUnchanged:
		return 'd'
	}
	return map[Outcome]byte{OutcomeCreated: 'C', OutcomeUpdated: 'U', OutcomeTouched: 'T', OutcomeDeleted: 'D'}[d.outcome]
}
