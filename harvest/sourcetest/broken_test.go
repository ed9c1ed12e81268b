package sourcetest_test

import (
	"context"
	"flag"
	"slices"
	"testing"
	"time"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/internal/testing/suite"
)

var matrix = flag.Bool("matrix", false, "run every case on every broken source and log which ones catch it")

// A broken is a Source with one fault, and the cases that are there to catch it.
type broken struct {
	name   string
	caught string // by these cases
	log    bool   // it yields a log
	sites  []sourcetest.Site
	get    func(ctx context.Context, job *harvest.Job) error // if set, the Source is a Getter
	skips  []int
	with   func() breaker // called once for all Sources of a case
}

// A breaker breaks one Source.
type breaker = func(m *model)

// each is for faults that share nothing between Sources.
func each(b breaker) func() breaker { return func() breaker { return b } }

func allBroken() []broken {
	return slices.Concat(brokenIdentities(), brokenEvents(), brokenGetters(), brokenBytes(), brokenCheckpoints(), brokenReleases(), brokenStops(),
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
	if b.sites != nil {
		sites = b.sites
	}
	o := modelOptions(func() harvest.Source {
		m := &model{url: base + "root", log: b.log}
		breaks(m)
		if b.get != nil {
			return getterOf{m, b.get}
		}
		return m
	}, sites)
	o.Skipped = b.skips
	o.Patience = 300 * time.Millisecond
	return o
}

// Each broken Source is caught by the cases named for it, and each case is named for one.
func TestBrokenSources(t *testing.T) {
	var all []suite.Broken[sourcetest.Options]
	for _, b := range allBroken() {
		all = append(all, suite.Broken[sourcetest.Options]{Name: b.name, Caught: b.caught, Options: b.options})
	}
	suite.CatchAll(t, sourcetest.Cases(), all, *matrix)
}

// A Source without a fault is caught by no case: neither the recorder nor the model
// fails.
func TestSoundSource(t *testing.T) {
	for _, log := range []bool{false, true} {
		o := broken{log: log, get: soundGet}.options()
		o.Patience = 0
		o.Skipped = make([]int, len(o.Sites))
		suite.Passes(t, sourcetest.Cases(), o)
	}
	o := broken{sites: skippingSites(), skips: []int{3}}.options()
	for _, c := range sourcetest.Cases() {
		if c.String() == "events/skipped" {
			suite.Passes(t, []suite.Case[sourcetest.Options]{c}, o)
		}
	}
}
