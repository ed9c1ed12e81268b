package sourcetest_test

import (
	"flag"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/sourcetest"
)

var matrix = flag.Bool("matrix", false, "run every case on every broken source and log which ones catch it")

// A broken is a Source with one fault, and the cases that are there to catch it.
type broken struct {
	name   string
	caught string         // by these cases
	log    bool           // it tells a log
	with   func() breaker // once for all Sources of a case
}

// A breaker breaks one Source.
type breaker = func(m *model)

// each is for faults that share nothing between Sources.
func each(b breaker) func() breaker { return func() breaker { return b } }

func allBroken() []broken {
	return slices.Concat(brokenIdentities(), brokenEvents(), brokenBytes(), brokenCheckpoints(), brokenReleases(), brokenStops(),
		brokenInterrupts(), brokenFailures())
}

func (b broken) options() sourcetest.Options {
	breaks := func(*model) {}
	if b.with != nil {
		breaks = b.with()
	}
	sites := snapshotSites()
	if b.log {
		sites = logSites()
	}
	o := modelOptions(func() harvest.Source {
		m := &model{url: base + "root", log: b.log}
		breaks(m)
		return m
	}, sites)
	o.Patience = 300 * time.Millisecond
	return o
}

// Each broken Source is caught by the cases that are there for it, and says so without a panic.
func TestBrokenSources(t *testing.T) {
	cases := map[string]sourcetest.Case{}
	for _, c := range sourcetest.Cases() {
		cases[c.String()] = c
	}
	for _, b := range allBroken() {
		t.Run(b.name, func(t *testing.T) {
			for name := range strings.FieldsSeq(b.caught) {
				c, ok := cases[name]
				if !ok {
					t.Fatalf("there is no case %s", name)
				}
				r := record(t.Context(), c, b.options())
				if !r.failed {
					t.Errorf("%s does not catch it:\n%s", name, r)
				}
				if r.panicked() {
					t.Errorf("%s panics:\n%s", name, r)
				}
				t.Log(r)
			}
			if *matrix {
				logMatrix(t, b)
			}
		})
	}
}

func logMatrix(t *testing.T, b broken) {
	var caught []string
	for _, c := range sourcetest.Cases() {
		r := record(t.Context(), c, b.options())
		if r.panicked() {
			t.Logf("%s panics:\n%s", c, r)
		}
		if r.failed {
			caught = append(caught, c.String())
		}
	}
	t.Logf("%d: %s", len(caught), strings.Join(caught, " "))
}

// There is no case that can't fail: each catches a broken Source.
func TestEveryCaseFails(t *testing.T) {
	catches := map[string]bool{}
	for _, b := range allBroken() {
		for name := range strings.FieldsSeq(b.caught) {
			catches[name] = true
		}
	}
	for _, c := range sourcetest.Cases() {
		if !catches[c.String()] {
			t.Errorf("%s catches no broken source", c)
		}
	}
}

// What breaks nothing is caught by nothing: the recorder and the model are not what fails.
func TestSoundSource(t *testing.T) {
	for _, c := range sourcetest.Cases() {
		for _, log := range []bool{false, true} {
			o := broken{log: log}.options()
			o.Patience = 0
			if r := record(t.Context(), c, o); r.failed || r.skipped {
				t.Errorf("%s, log %t:\n%s", c, log, r)
			}
		}
	}
}
