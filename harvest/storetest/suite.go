package storetest

import (
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/websync-go/websync/harvest"
)

// Options say how to open the Store under test. Only Open is required; without one of the others the cases that need it
// are skipped.
type Options struct {
	// Open returns a new, empty Store. What it holds is released by t.Cleanup.
	Open func(t testing.TB) harvest.Store

	// Reopen closes s, which Open returned, and opens the same Store again, as another process would. It is for a Store
	// that outlives its process.
	Reopen func(t testing.TB, s harvest.Store) harvest.Store

	// OpenClock is Open for a Store that asks now for the time.
	OpenClock func(t testing.TB, now func() time.Time) harvest.Store

	// Patience is how long a call may take before it counts as blocked. Zero means 20 seconds.
	Patience time.Duration
}

// Run checks the Store that o opens against every case. Each is a subtest, topic/name, and logs the rule it checks.
func Run(t *testing.T, o Options) {
	t.Helper()
	for _, topic := range topics() {
		t.Run(topic.name, func(t *testing.T) {
			for _, c := range topic.cases {
				t.Run(c.Name, func(t *testing.T) { c.Run(t, o) })
			}
		})
	}
}

// Cases returns all cases in the order in which Run runs them.
func Cases() []Case {
	var all []Case
	for _, topic := range topics() {
		all = append(all, topic.cases...)
	}
	return all
}

type topic struct {
	name  string
	cases []Case
}

func topics() []topic {
	all := []topic{
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
	for _, topic := range all {
		for i := range topic.cases {
			topic.cases[i].Topic = topic.name
		}
	}
	return all
}

// A Case checks one rule that a Store keeps.
type Case struct {
	Topic string // "claim", "commit", "log" and so on
	Name  string // unique within its topic
	Rule  string // in a sentence

	needs need
	check func(t *tester)
}

// A need is what a case asks of the Options.
type need uint8

const (
	aReopen need = 1 << iota
	aClock
)

// String returns topic/name.
func (c Case) String() string { return c.Topic + "/" + c.Name }

// Run checks the rule on a new Store. It skips t when the case needs more than o gives.
func (c Case) Run(t testing.TB, o Options) {
	t.Helper()
	t.Log(c.Rule)
	if o.Patience == 0 {
		o.Patience = 20 * time.Second
	}
	if lack := c.lack(o); lack != "" {
		t.Skip("not checked: " + lack)
	}
	defer func() {
		if p := recover(); p != nil {
			t.Fatalf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	c.check(&tester{TB: t, ctx: t.Context(), options: o})
}

// lack returns what is missing to run the case, "" if nothing is.
func (c Case) lack(o Options) string {
	if c.needs&aReopen != 0 && o.Reopen == nil {
		return "Options.Reopen is not set"
	}
	if c.needs&aClock != 0 && o.OpenClock == nil {
		return "Options.OpenClock is not set"
	}
	return ""
}

// sorted returns a sorted copy.
func sorted(s []string) []string { return slices.Sorted(slices.Values(s)) }
