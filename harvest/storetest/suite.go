package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/suite"
	"github.com/websync-go/websync/publish/catalogtest"
)

// Options configure how to open the Store under test. Only Open is required; the cases
// that need a missing option are skipped.
type Options struct {
	// Open returns a new, empty Store. What it holds is released by t.Cleanup.
	Open func(t testing.TB) harvest.Store

	// Reopen closes s, which Open returned, and opens the same Store again, as another
	// process would. It is for a Store that outlives its process.
	Reopen func(t testing.TB, s harvest.Store) harvest.Store

	// OpenClock is Open for a Store whose clock is now.
	OpenClock func(t testing.TB, now func() time.Time) harvest.Store

	// Patience is how long a call may take before it counts as blocked. If zero, it is 20
	// seconds.
	Patience time.Duration
}

// Run checks the Store that o opens against every rule. Each is a subtest, topic/name,
// and logs the rule in one sentence. The last topic, "catalog", is that of package
// catalogtest.
func Run(t *testing.T, o Options) {
	t.Helper()
	suite.Run(t, cases(), o)
	t.Run("catalog", func(t *testing.T) { catalogtest.Run(t, o.catalog()) })
}

type (
	rule  = suite.Rule[Options, *tester]
	topic = suite.Topic[Options, *tester]
)

func cases() []suite.Case[Options] {
	return suite.Cases(newTester,
		topic{Name: "claim", Rules: claimCases()},
		topic{Name: "commit", Rules: commitCases()},
		topic{Name: "race", Rules: raceCases()},
		topic{Name: "log", Rules: logCases()},
		topic{Name: "records", Rules: recordCases()},
		topic{Name: "tasks", Rules: taskCases()},
		topic{Name: "bodies", Rules: bodyCases()},
		topic{Name: "iterators", Rules: iteratorCases()},
		topic{Name: "state", Rules: stateCases()},
		topic{Name: "ids", Rules: idCases()},
		topic{Name: "generations", Rules: generationCases()},
		topic{Name: "durability", Rules: durabilityCases()},
	)
}

func aReopen(o Options) string {
	if o.Reopen == nil {
		return "Options.Reopen is not set"
	}
	return ""
}

func aClock(o Options) string {
	if o.OpenClock == nil {
		return "Options.OpenClock is not set"
	}
	return ""
}

// sorted returns a sorted copy.
func sorted(s []string) []string { return slices.Sorted(slices.Values(s)) }
