package catalogtest

import (
	"testing"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/testing/suite"
)

// Options describe the Catalog under test. Only Open is required.
type Options struct {
	// Open returns a filled Catalog. What it uses is released by t.Cleanup.
	Open func(t testing.TB) websync.Catalog

	// Change adds an entry to the log: a new resource, another one for each n. It may be
	// called from any goroutine, one call at a time, and inside loops. If nil, the cases
	// about a Catalog that grows are skipped.
	Change func(c websync.Catalog, n int) error

	// Replace adds an entry to the log like Change: a later state of a resource that is
	// there, with other bytes, another state for each n. If nil, the case about entries
	// that are replaced is skipped.
	Replace func(c websync.Catalog, n int) error

	// Patience is how long a call may take before it counts as blocked. If zero, it is a
	// minute.
	Patience time.Duration
}

// Run checks the Catalog that o opens against every rule. Each is a subtest, topic/name,
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
		topic{Name: "head", Rules: headRules()},
		topic{Name: "log", Rules: logRules()},
		topic{Name: "resources", Rules: resourceRules()},
		topic{Name: "get", Rules: getRules()},
		topic{Name: "bodies", Rules: bodyRules()},
		topic{Name: "iterators", Rules: iteratorRules()},
		topic{Name: "growth", Rules: growthRules()},
	)
}

func aChange(o Options) string {
	if o.Change == nil {
		return "Options.Change is nil"
	}
	return ""
}

func aReplacement(o Options) string {
	if o.Replace == nil {
		return "Options.Replace is nil"
	}
	return ""
}

func newTester(t testing.TB, o Options) *tester {
	t.Helper()
	if o.Open == nil {
		t.Fatal("Options.Open is nil, want a function that returns a filled Catalog")
	}
	c := o.Open(t)
	if c == nil {
		t.Fatal("Options.Open returned nil, want a Catalog")
	}
	return &tester{Tester: suite.NewTester(t, o.Patience), Catalog: c, options: o}
}

// A tester runs one case. Calls of its Catalog end the case if they fail.
type tester struct {
	suite.Tester
	websync.Catalog
	options Options
	changed int
}

func (t *tester) head() websync.Head {
	t.Helper()
	h, err := t.Head(t.Ctx)
	t.OK(err, "Head")
	return h
}

func (t *tester) log(r websync.Range) []websync.Item {
	t.Helper()
	return suite.Collect(&t.Tester, "Changes", t.Changes(t.Ctx, r))
}

func (t *tester) live(r websync.Range) []websync.Item {
	t.Helper()
	return suite.Collect(&t.Tester, "Resources", t.Resources(t.Ctx, r))
}

func (t *tester) get(source string, ids ...string) []websync.Item {
	t.Helper()
	items, err := t.Get(t.Ctx, source, ids)
	t.OK(err, "Get in %q", source)
	return suite.Exactly(t, len(ids), items, "items of Get")
}

// change adds an entry to the log.
func (t *tester) change() error {
	t.changed++
	return t.options.Change(t.Catalog, t.changed)
}

// some returns items. It skips the case if there are none.
func (t *tester) some(items []websync.Item, what string) []websync.Item {
	t.Helper()
	if len(items) == 0 {
		t.Skipf("not checked: the Catalog has no %s", what)
	}
	return items
}

// use calls every method once, and Change if there is one.
func (t *tester) use(string) error {
	if t.options.Change != nil {
		if err := t.change(); err != nil {
			return err
		}
	}
	if _, err := t.Head(t.Ctx); err != nil {
		return err
	}
	if _, err := t.Get(t.Ctx, "a", []string{"https://example.com/unknown"}); err != nil {
		return err
	}
	for _, err := range t.Changes(t.Ctx, websync.Range{}) {
		if err != nil {
			return err
		}
		break
	}
	for it, err := range t.Resources(t.Ctx, websync.Range{}) {
		if err != nil {
			return err
		}
		if b, ok := kept(it); ok {
			_, err := t.read(b)
			return err
		}
	}
	return nil
}
