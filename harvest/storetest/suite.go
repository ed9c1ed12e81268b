package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/suite"
)

// Options say how to open the Store under test. Only Open is required; without one of the
// others the cases that need it are skipped.
type Options struct {
	// Open returns a new, empty Store. What it holds is released by t.Cleanup.
	Open func(t testing.TB) harvest.Store

	// Reopen closes s, which Open returned, and opens the same Store again, as another
	// process would. It is for a Store that outlives its process.
	Reopen func(t testing.TB, s harvest.Store) harvest.Store

	// OpenClock is Open for a Store that asks now for the time.
	OpenClock func(t testing.TB, now func() time.Time) harvest.Store

	// Patience is how long a call may take before it counts as blocked. Zero means 20
	// seconds.
	Patience time.Duration
}

// A Case checks one rule that a Store keeps: Rule, in a sentence. Its Topic is "claim",
// "commit", "log" and so on; its Name is unique within the topic. String returns
// topic/name. Run checks the rule on a new Store, and skips its test when the case needs
// more than the Options give.
type Case = suite.Case[Options]

// Run checks the Store that o opens against every case. Each is a subtest, topic/name,
// and logs the rule it checks.
func Run(t *testing.T, o Options) {
	t.Helper()
	suite.Run(t, Cases(), o)
}

// Cases returns all cases in the order in which Run runs them. The last topic, "catalog",
// holds those of package catalogtest.
func Cases() []Case {
	var all []Case
	for _, topic := range topics() {
		for _, r := range topic.rules {
			all = append(all, Case{Topic: topic.name, Name: r.Name, Rule: r.Rule, Lack: r.lack, Check: r.run})
		}
	}
	return append(all, catalogCases()...)
}

type topic struct {
	name  string
	rules []rule
}

func topics() []topic {
	return []topic{
		{"claim", claimCases()},
		{"commit", commitCases()},
		{"race", raceCases()},
		{"log", logCases()},
		{"records", recordCases()},
		{"tasks", taskCases()},
		{"bodies", bodyCases()},
		{"iterators", iteratorCases()},
		{"state", stateCases()},
		{"ids", idCases()},
		{"generations", generationCases()},
		{"durability", durabilityCases()},
	}
}

// A rule is a Case on a tester.
type rule struct {
	Name, Rule string
	needs      need
	check      func(t *tester)
}

// A need is what a case asks of the Options.
type need uint8

const (
	aReopen need = 1 << iota
	aClock
)

func (r rule) run(t testing.TB, o Options) {
	t.Helper()
	if o.Patience == 0 {
		o.Patience = 20 * time.Second
	}
	r.check(&tester{suite.Tester{TB: t, Ctx: t.Context(), Patience: o.Patience}, o})
}

// lack returns what is missing to check the rule, "" if nothing is.
func (r rule) lack(o Options) string {
	if r.needs&aReopen != 0 && o.Reopen == nil {
		return "Options.Reopen is not set"
	}
	if r.needs&aClock != 0 && o.OpenClock == nil {
		return "Options.OpenClock is not set"
	}
	return ""
}

// sorted returns a sorted copy.
func sorted(s []string) []string { return slices.Sorted(slices.Values(s)) }
