package storetest

import (
	"testing"
	"time"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/testing/suite"
	"github.com/websync-go/websync/publish/catalogtest"
)

// Options configure how to open the Store under test. Only Open is required; what needs a
// missing option is not checked.
type Options struct {
	// Open returns a new, empty Store. What it uses is released by t.Cleanup.
	Open func(t testing.TB) harvest.Store

	// Reopen closes db, which Open or Reopen returned, and opens the same again, as
	// another process would. It is for a Store that outlives its process.
	Reopen func(t testing.TB, db harvest.Store) harvest.Store

	// Beside opens the data of db, which stays open, once more, as another process would.
	// It is for a Store that several processes may use at the same time.
	Beside func(t testing.TB, db harvest.Store) harvest.Store

	// Patience is how long a call may take before it counts as blocked. If zero, it is a
	// minute.
	Patience time.Duration
}

// Run checks the Store that o opens against every rule. Each is a subtest, topic/name,
// and logs the rule in one sentence. The last topic, "catalog", is that of package
// catalogtest, for a Catalog on the Store.
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
		topic{Name: "pairs", Rules: pairRules},
		topic{Name: "update", Rules: updateRules},
		topic{Name: "optional", Rules: optionalRules},
		topic{Name: "blobs", Rules: blobRules},
		topic{Name: "harvest", Rules: harvestRules},
	)
}

// withDB gives the check of a rule a new Store.
func withDB(name, sentence string, check func(d *db)) rule {
	return rule{Name: name, Rule: sentence, Check: func(t *tester) { check(t.open()) }}
}

// withTwo gives the check two openings of a new Store, or the same one twice.
func withTwo(name, sentence string, check func(d, other *db)) rule {
	return withDB(name, sentence, func(d *db) {
		other := d
		if d.options.Beside != nil {
			other = d.beside()
		}
		check(d, other)
	})
}
