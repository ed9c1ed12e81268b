package harvest_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// JoinHooks calls every function of every Hooks, in their order, with the same arguments.
func TestJoinHooks(t *testing.T) {
	var calls []string
	note := func(name string) *harvest.Hooks {
		add := func(args ...any) { calls = append(calls, name+": "+fmt.Sprint(args...)) }
		return &harvest.Hooks{
			Progress: func(p harvest.Progress) { add("progress ", p.Done) },
			Outcome:  func(source, id string, o harvest.Outcome, err error) { add(source, id, o, err) },
			Attempt:  func(a harvest.AttemptInfo) { add("attempt ", a.Status) },
			Commit:   func(c harvest.CommitInfo) { add("commit ", c.Puts) },
			Finding:  func(source string, f websync.Finding) { add(source, f.Rule) },
			Problem:  func(source string, err error) { add(source, err) },
		}
	}
	joined := harvest.JoinHooks(note("a"), nil, &harvest.Hooks{}, note("b"), note("c"))
	joined.Progress(harvest.Progress{Done: 1})
	joined.Outcome("s", "id", harvest.OutcomeFailed, errors.New("no"))
	joined.Attempt(harvest.AttemptInfo{Status: 200})
	joined.Commit(harvest.CommitInfo{Puts: 2})
	joined.Finding("s", websync.Finding{Rule: "rule"})
	joined.Problem("s", errors.New("bad"))
	var want []string
	for _, call := range []string{"progress 1", "sidfailed no", "attempt 200", "commit 2", "srule", "sbad"} {
		want = append(want, "a: "+call, "b: "+call, "c: "+call)
	}
	assert.Equal(t, want, calls)

	for _, none := range []*harvest.Hooks{harvest.JoinHooks(), harvest.JoinHooks(nil, &harvest.Hooks{})} {
		for i := range reflect.TypeFor[harvest.Hooks]().NumField() {
			assert.True(t, reflect.ValueOf(*none).Field(i).IsNil(), "nothing is called for no one")
		}
	}
	for i := range reflect.TypeFor[harvest.Hooks]().NumField() {
		assert.False(t, reflect.ValueOf(*joined).Field(i).IsNil(), reflect.TypeFor[harvest.Hooks]().Field(i).Name)
	}
}
