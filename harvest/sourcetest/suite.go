package sourcetest

import (
	"cmp"
	"fmt"
	"testing"
	"time"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/suite"
)

// Options say which Source to check, and over which documents. Source, Sites and Store
// are required.
type Options struct {
	// Source returns a new Source, with the same configuration each time.
	Source func() harvest.Source

	// Sites are states of the publisher, oldest first. With two or more, runs from one
	// state to the next are checked too. They hold the documents that the Source reads
	// and the bodies that its events point to. Undisturbed, the Source reads every state
	// without an error and without a Problem.
	Sites []Site

	// Store returns a new, empty Store, for instance that of package memstore. What it
	// holds is released by t.Cleanup.
	Store func(t testing.TB) harvest.Store

	// Enter, if set, brings the publisher into a state, counted from 0, before it is
	// read; also back into an earlier one. It is for a Source that does not read through
	// its Fetcher. The length of Sites is then the number of states.
	Enter func(t testing.TB, state int)

	// Bodies is what the engine does with the bodies. SkipBodies is for Sites that hold
	// lists only.
	Bodies harvest.BodyMode

	// Skipped, if set, is how many entries of each state can't be read. A pass from the
	// beginning must count as many.
	Skipped []int

	// Tolerates, if set, reports whether a failure of a document need not show: the
	// Source can do without the document, or its format has neither an end nor the name
	// of the document (Mistaken).
	Tolerates func(url string, f Failure) bool

	// Positions limits at how many events, or documents, of one pass a case interrupts
	// it; they are spread evenly. If zero, it is 60; if negative, there is no limit. With
	// -short there are at most 4.
	Positions int

	// Patience is how long a pass, and releasing what it used, may take. If zero, it is
	// a minute.
	Patience time.Duration
}

// Run checks the Source that o makes against every rule. Each is a subtest, topic/name,
// and logs the rule in one sentence.
func Run(t *testing.T, o Options) {
	t.Helper()
	suite.Run(t, cases(), o)
}

type (
	rule  = suite.Rule[Options, *tester]
	topic = suite.Topic[Options, *tester]
)

// cases returns a case for every rule.
func cases() []suite.Case[Options] {
	return suite.Cases(newTester,
		topic{Name: "identity", Rules: identityRules},
		topic{Name: "events", Rules: eventRules},
		topic{Name: "bytes", Rules: byteRules},
		topic{Name: "get", Rules: getRules},
		topic{Name: "checkpoint", Rules: checkpointRules},
		topic{Name: "release", Rules: releaseRules},
		topic{Name: "stop", Rules: stopRules},
		topic{Name: "interrupt", Rules: interruptRules},
		topic{Name: "failure", Rules: failureRules},
	)
}

func newRule(name, sentence string, check func(*tester)) rule {
	return rule{Name: name, Rule: sentence, Check: check}
}

func newTester(t testing.TB, o Options) *tester {
	if o.Source == nil || o.Source() == nil || o.Store == nil || len(o.Sites) == 0 {
		t.Fatal("Options need Source, which must not return nil, Store, and at least one of Sites")
	}
	o.Positions = cmp.Or(o.Positions, 60)
	if racing.Short() && (o.Positions < 0 || o.Positions > 4) {
		o.Positions = 4
	}
	if o.Tolerates == nil {
		o.Tolerates = func(string, Failure) bool { return false }
	}
	return &tester{suite.NewTester(t, o.Patience), o, -1}
}

// noDocument is the message of cases that are skipped.
const noDocument = "not checked: the Source reads no document through its Fetcher that may fail"

// A tester runs one case.
type tester struct {
	suite.Tester
	options Options
	state   int // of the publisher; -1: none yet
}

// enter brings the publisher into a state.
func (t *tester) enter(state int) {
	if t.state == state {
		return // several goroutines may be here
	}
	t.state = state
	if t.options.Enter != nil {
		t.options.Enter(t.TB, state)
	}
}

// stateName returns the name of a state in messages.
func stateName(state int) string { return fmt.Sprintf("state %d", state+1) }

// soon reports whether cond becomes true within the tester's patience.
func (t *tester) soon(cond func() bool) bool {
	end := time.Now().Add(t.Patience)
	for wait := 50 * time.Microsecond; !cond(); wait = min(2*wait, 20*time.Millisecond) {
		if time.Now().After(end) || t.Ctx.Err() != nil {
			return false
		}
		time.Sleep(wait)
	}
	return true
}

// positions chooses numbers from 1 to n, among them the first and the last.
func (t *tester) positions(n int) (chosen []int) {
	most := t.options.Positions
	if most < 0 || most > n {
		most = n
	}
	for i := range most {
		chosen = append(chosen, 1+i*(n-1)/max(1, most-1))
	}
	return chosen
}
