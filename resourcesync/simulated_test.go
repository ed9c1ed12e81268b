package resourcesync_test

import (
	"context"
	"crypto/md5"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/resourcesync"
)

var (
	simulated = flag.Int("simulated", racing.Some(400), "how many resources TestSimulated has; it changes half as many")
	simSeeds  = flag.Uint64("simulated-seeds", 1, "how many seeds TestSimulated has")
)

// A history is what happens to a publisher besides changes.
type history struct {
	jumps     bool // its clock jumps, and goes back by less than an hour
	truncates bool // its lists lose their old entries
}

// TestSimulated lets a Source change at random, and ends harvests at random. After each
// run an Audit finds nothing if the run was in step, and otherwise exactly what the Store
// lacks.
func TestSimulated(t *testing.T) {
	size, seeds := *simulated, *simSeeds
	for name, shape := range map[string]func(*publisher){
		"one list":              func(*publisher) {},
		"an index":              func(p *publisher) { p.perList, p.perPart = size/20, size/4 },
		"rotation":              func(p *publisher) { p.perList, p.rotates = size/20, true },
		"a dump and a list":     func(p *publisher) { p.dump = size / 4 },
		"a dump without a list": func(p *publisher) { p.dump, p.contents, p.noList = size/4, true, true },
	} {
		if racing.Few() && name != "an index" && name != "a dump and a list" {
			continue // they have no more goroutines
		}
		for what, h := range map[string]history{"": {}, ", truncated": {truncates: true}, ", its clock jumps": {jumps: true}} {
			t.Run(name+what, func(t *testing.T) {
				for seed := range seeds {
					synctest.Test(t, func(t *testing.T) {
						p := newPublisher()
						shape(p)
						simulate(t, p, h, size, rand.New(rand.NewPCG(seed, 3)))
					})
				}
			})
		}
	}
}

// simulate lets a publisher change size/2 times, and harvests it in between.
func simulate(t *testing.T, p *publisher, h history, size int, random *rand.Rand) {
	time.Sleep(time.Until(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))
	for i := range size {
		p.put(fmt.Sprint("r", i), fmt.Sprint("first ", i))
	}
	p.log, p.dropped = nil, 0
	p.begin, p.silent = p.now, p.perList == 0 && random.IntN(2) == 0
	p.list()
	store, inStep := harvest.NewCatalog(memstore.New()), 0
	for round := 0; len(p.log) < size/2; round++ {
		for range 1 + random.IntN(size/25) {
			p.mutate(random, size)
		}
		switch {
		case h.jumps && random.IntN(3) == 0:
			p.jump(random)
		case h.truncates && random.IntN(3) == 0:
			p.truncate(random)
		}
		if p.noChange || random.IntN(6) == 0 {
			p.list()
		}
		site := p.site()
		report := interrupted(t, store, site, random)
		held := contents(t, store)
		if report.InStep() {
			inStep++
			require.Empty(t, differing(p.digests(), held), "round %d: in step", round)
		}
		audit(t, p, store, site, held, report.InStep(), fmt.Sprint("round ", round))
		if t.Failed() {
			return
		}
		time.Sleep(time.Duration(random.IntN(120)) * time.Minute) // what has failed is due again
	}
	assert.Positive(t, inStep)
}

var errBroken = errors.New("the connection broke")

// interrupted harvests a site: to the end, up to a request or an event, or while some
// requests fail.
func interrupted(t *testing.T, store *harvest.Catalog, site sourcetest.Site, random *rand.Rand) *harvest.Report {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	request, event, failing := -1, int64(-1), uint32(0)
	switch random.IntN(5) {
	case 0:
		request = 1 + random.IntN(40)
	case 1:
		event = int64(1 + random.IntN(100))
	case 2:
		failing = random.Uint32() | 1
	}
	fetcher := &sourcetest.Fetcher{Site: site, Hook: func(_ context.Context, n int, req *harvest.Request, doc sourcetest.Document) (sourcetest.Document, error) {
		if n == request {
			cancel()
		}
		if sum := md5.Sum(fmt.Append(nil, req.URL, failing)); failing != 0 && sum[0] < 10 {
			return doc, errBroken
		}
		return doc, nil
	}}
	var n atomic.Int64 // the hook is called from several goroutines
	h := &harvest.Harvester{Sample: -1, Catalog: store, Fetcher: fetcher, MaxDelete: -1, Attempts: -1, Concurrency: 1, Hooks: &harvest.Hooks{
		Outcome: func(string, string, harvest.Outcome, error) {
			if n.Add(1) == event {
				cancel()
			}
		},
	}}
	report, err := h.Run(ctx, &resourcesync.Source{URL: sourceURL, Parallel: 1})
	if err != nil {
		require.False(t, report.InStep())
	}
	return report
}

// contents returns the md5 digests of the bodies that a Store holds.
func contents(t *testing.T, store *harvest.Catalog) map[string]string {
	all := make(map[string]string)
	for rec, err := range store.Records(t.Context(), sourceURL, "") {
		require.NoError(t, err)
		if b, ok := rec.Body(websync.ContentName); ok && rec.Live() {
			all[strings.TrimPrefix(rec.Resource.ID, www)] = md5Of(b.Link.Digests)
		}
	}
	return all
}

func md5Of(digests websync.Digests) string {
	d, _ := digests.Get("md5")
	return fmt.Sprintf("%x", d.Sum)
}

// digests returns what a Store that is in step holds.
func (p *publisher) digests() map[string]string {
	all := make(map[string]string)
	for name, r := range p.resources {
		all[name] = fmt.Sprintf("%x", md5.Sum([]byte(r.text)))
	}
	return all
}

// audit checks what an Audit of a Store names. If changes are missing that the publisher
// no longer lists, the Audit says that it is in doubt.
func audit(t *testing.T, p *publisher, store *harvest.Catalog, site sourcetest.Site, held map[string]string, inStep bool, when string) {
	then := maps.Clone(held) // after what is pending
	decisions := make(map[string][]harvest.Outcome)
	h := &harvest.Harvester{Sample: -1, Catalog: store, Fetcher: &sourcetest.Fetcher{Site: site}, MaxDelete: -1, Attempts: -1}
	report, err := h.Audit(t.Context(), &resourcesync.Source{URL: sourceURL}, func(d harvest.Decision) {
		name := strings.TrimPrefix(d.ID, www)
		decisions[name] = append(decisions[name], d.Outcome)
		switch d.Outcome {
		case harvest.OutcomeCreated, harvest.OutcomeUpdated, harvest.OutcomeDeferred: // a task
			then[name] = md5Of(d.Resource.Content.Digests)
		case harvest.OutcomeDeleted:
			delete(then, name)
		case harvest.OutcomeHistory: // before the state that a task stands for
			task := testkit.TaskOf(t, store, sourceURL, d.ID)
			if task.Source != "" && task.Kind == harvest.TaskGet {
				then[name] = md5Of(task.Resource.Content.Digests)
			}
		case harvest.OutcomeUnchanged:
			if d.Resource == nil { // a deletion, of a task
				delete(then, name)
			}
		}
	})
	require.NoError(t, err)
	if inStep {
		assert.Zero(t, report.Differences(), "%s: differences although the run was in step: %v", when, report)
		assert.Empty(t, differing(held, then), "%s: differences although the run was in step", when)
	}
	truth := p.digests()
	// A full pass knows no times but those of the documents that are left.
	unknown := p.rotates && p.latest.After(p.at)
	if report.Listed() && !unknown {
		for name := range differing(truth, then) {
			t.Errorf("%s: %s: the Store has %q, the publisher %q, and the Audit says %v", when, name, held[name], truth[name], decisions[name])
		}
		return
	}
	for name := range held {
		if _, ok := truth[name]; ok {
			assert.Contains(t, then, name, "%s: a deletion that is none", when)
		}
	}
}

// differing returns the names whose digests are not the same.
func differing(a, b map[string]string) map[string]bool {
	names := make(map[string]bool)
	for name := range a {
		if a[name] != b[name] {
			names[name] = true
		}
	}
	for name := range b {
		if a[name] != b[name] {
			names[name] = true
		}
	}
	return names
}
