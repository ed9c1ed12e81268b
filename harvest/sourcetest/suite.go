package sourcetest

import (
	"testing"
	"time"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/suite"
)

// Options say which Source to check, and over which documents. Source, Sites and Store
// are required.
type Options struct {
	// Source returns a new Source, with the same configuration each time.
	Source func() harvest.Source

	// Sites are states of the publisher, oldest first. With two or more, that which is
	// harvested from one state to the next is checked too. They hold the documents that
	// the Source reads and the bodies that its events point to. Undisturbed, every state
	// is read without an error and without a Problem.
	Sites []Site

	// Store returns a new, empty Store, for instance that of package memstore. What it
	// holds is released by t.Cleanup.
	Store func(t testing.TB) harvest.Store

	// Enter, if set, brings the publisher into a state, counted from 0, before it is
	// read; also back into an earlier one. It is for a Source that reads from elsewhere
	// than its Fetcher, a directory for instance. The length of Sites is then the number
	// of states.
	Enter func(t testing.TB, state int)

	// Bodies is what the engine does with the bodies. SkipBodies is for Sites that hold
	// lists only.
	Bodies harvest.BodyMode

	// Skipped, if set, is how many entries of each state can't be read: a pass from the
	// beginning must count as many.
	Skipped []int

	// Tolerates, if set, reports whether a failure of a document need not show: the
	// Source can do without the document, or its format has neither an end nor the name
	// of the document (Mistaken).
	Tolerates func(url string, f Failure) bool

	// Positions is how many events, and how many documents, of one pass are chosen to
	// interrupt it, or to fail, in one case; they are spread evenly. If zero, it is 60;
	// if negative, there is no limit.
	Positions int

	// Patience is how long a pass, or what has to come to its end after one, may take. If
	// zero, it is 20 seconds.
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

func cases() []suite.Case[Options] {
	return suite.Cases(newTester,
		topic{Name: "identity", Rules: identityCases()},
		topic{Name: "events", Rules: eventCases()},
		topic{Name: "bytes", Rules: byteCases()},
		topic{Name: "get", Rules: getCases()},
		topic{Name: "checkpoint", Rules: checkpointCases()},
		topic{Name: "release", Rules: releaseCases()},
		topic{Name: "stop", Rules: stopCases()},
		topic{Name: "interrupt", Rules: interruptCases()},
		topic{Name: "failure", Rules: failureCases()},
	)
}

func newTester(t testing.TB, o Options) *tester {
	t.Helper()
	if o.Source == nil || o.Store == nil || len(o.Sites) == 0 {
		t.Fatal("Options need Source, Store and at least one of Sites")
	}
	if o.Positions == 0 {
		o.Positions = 60
	}
	return &tester{suite.NewTester(t, o.Patience), o, -1}
}
