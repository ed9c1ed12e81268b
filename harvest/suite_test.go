package harvest_test

import (
	"testing"
	"time"

	"github.com/websync-go/websync/internal/testing/suite"
	"github.com/websync-go/websync/publish/catalogtest"
)

// Options configure how to open the Store under test. Only Open is required; the cases
// that need a missing option are skipped.
type suiteOptions struct {
	// Open returns a new, empty Store. What it holds is released by t.Cleanup.
	Open func(t testing.TB) checkedCatalog

	// Reopen closes s, which Open returned, and opens the same Store again, as another
	// process would. It is for a Store that outlives its process.
	Reopen func(t testing.TB, s checkedCatalog) checkedCatalog

	// OpenClock is Open for a Store whose clock is now.
	OpenClock func(t testing.TB, now func() time.Time) checkedCatalog

	// Patience is how long a call may take before it counts as blocked. If zero, it is 20
	// seconds.
	Patience time.Duration
}

// Run checks the Store that o opens against every rule. Each is a subtest, topic/name,
// and logs the rule in one sentence. The last topic, "catalog", is that of package
// catalogtest.
func runSuite(t *testing.T, o suiteOptions) {
	t.Helper()
	suite.Run(t, suiteCases(), o)
	t.Run("catalog", func(t *testing.T) { catalogtest.Run(t, o.catalog()) })
}

type (
	rule  = suite.Rule[suiteOptions, *tester]
	topic = suite.Topic[suiteOptions, *tester]
)

func suiteCases() []suite.Case[suiteOptions] {
	return suite.Cases(newTester,
		topic{Name: "claim", Rules: claimRules()},
		topic{Name: "commit", Rules: commitRules()},
		topic{Name: "race", Rules: raceRules()},
		topic{Name: "log", Rules: logRules()},
		topic{Name: "records", Rules: recordRules()},
		topic{Name: "tasks", Rules: taskRules()},
		topic{Name: "bodies", Rules: bodyRules()},
		topic{Name: "iterators", Rules: iteratorRules()},
		topic{Name: "state", Rules: stateRules()},
		topic{Name: "ids", Rules: idRules()},
		topic{Name: "generations", Rules: generationRules()},
		topic{Name: "durability", Rules: durabilityRules()},
	)
}

// The functions below return the rule of that name. Each opens a new Store for its check.

func withStore(name, sentence string, check func(s *store)) rule {
	return rule{Name: name, Rule: sentence, Check: func(t *tester) { check(t.open()) }}
}

// withWriter gives the check a writer to the source "a".
func withWriter(name, sentence string, check func(w *writer)) rule {
	return withStore(name, sentence, func(s *store) { check(s.writer("a")) })
}

// withReopen is withWriter for a Store that can be opened again.
func withReopen(name, sentence string, check func(w *writer)) rule {
	r := withWriter(name, sentence, check)
	r.Lack = func(o suiteOptions) string { return missing(o.Reopen == nil, "Reopen") }
	return r
}

// withClock gives the check a Store that reads a clock.
func withClock(name, sentence string, check func(s *store, now *clock)) rule {
	return rule{
		Name: name, Rule: sentence,
		Lack: func(o suiteOptions) string { return missing(o.OpenClock == nil, "OpenClock") },
		Check: func(t *tester) {
			now := newClock()
			check(t.openClock(now), now)
		},
	}
}

func missing(is bool, option string) string {
	if is {
		return "Options." + option + " is not set"
	}
	return ""
}
