package suite

import (
	"runtime/debug"
	"testing"
)

// A Case checks one rule. O are the options of its suite.
type Case[O any] struct {
	Topic string
	Name  string // unique within its topic
	Rule  string // in a sentence

	// Lack returns what o lacks to check the rule; "" if nothing. If nil, o lacks
	// nothing.
	Lack func(o O) string
	// Check checks the rule. It reports a violation as an error of t.
	Check func(t testing.TB, o O)
}

// A Rule is a Case without its topic whose check works with a T.
type Rule[O, T any] struct {
	Name, Rule string
	Lack       func(o O) string // as in Case
	Check      func(t T)
}

// A Topic holds the rules about one thing.
type Topic[O, T any] struct {
	Name  string
	Rules []Rule[O, T]
}

// Cases returns the cases of topics. Begin returns what the check of a case works with.
func Cases[O, T any](begin func(t testing.TB, o O) T, topics ...Topic[O, T]) (all []Case[O]) {
	for _, topic := range topics {
		for _, r := range topic.Rules {
			check := func(t testing.TB, o O) {
				t.Helper()
				r.Check(begin(t, o))
			}
			all = append(all, Case[O]{Topic: topic.Name, Name: r.Name, Rule: r.Rule, Lack: r.Lack, Check: check})
		}
	}
	return all
}

// String returns topic/name.
func (c Case[O]) String() string { return c.Topic + "/" + c.Name }

// Run checks the rule. It skips t if the case needs more than o has.
func (c Case[O]) Run(t testing.TB, o O) {
	t.Helper()
	t.Log(c.Rule)
	if c.Lack != nil {
		if lack := c.Lack(o); lack != "" {
			t.Skip("not checked: " + lack)
		}
	}
	defer func() {
		if p := recover(); p != nil {
			t.Fatalf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	c.Check(t, o)
}

// Run runs cases, which are in the order of their topics, as subtests topic/name.
func Run[O any](t *testing.T, cases []Case[O], o O) {
	t.Helper()
	for len(cases) > 0 {
		n := 1
		for n < len(cases) && cases[n].Topic == cases[0].Topic {
			n++
		}
		topic := cases[:n]
		cases = cases[n:]
		t.Run(topic[0].Topic, func(t *testing.T) {
			for _, c := range topic {
				t.Run(c.Name, func(t *testing.T) { c.Run(t, o) })
			}
		})
	}
}
