package naive

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// An event is a change of one record.
type event struct {
	name    string
	v       int
	deleted bool
}

// A history is a publisher that changes at random.
type history struct {
	*Depot
	r        *rand.Rand
	clock    int
	docs     [][]event // the oldest first; the last one is the subscription document
	last     map[string]event
	edition  int // of the URLs of the archive documents
	complete bool
	stage    int
}

// RunHistories harvests publishers that change at random, and whose documents fail.
func RunHistories(t *testing.T, p Profile, seeds int) {
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			h := &history{Depot: NewDepot(t, p), r: rand.New(rand.NewPCG(uint64(seed), 1)), docs: make([][]event, 1), last: map[string]event{}}
			for n := 0; n < 8 && !t.Failed(); n++ {
				h.change()
				h.layout()
				h.publish()
				step := fmt.Sprintf("stage %d", n)
				h.disturb(step)
				h.Sound(step)
			}
		})
	}
}

// change makes some changes, often several at one time.
func (h *history) change() {
	for range 1 + h.r.IntN(6) {
		h.clock += []int{0, 0, 0, 1, 1, 7}[h.r.IntN(6)]
		name := string(rune('a' + h.r.IntN(7)))
		was, known := h.last[name]
		if known {
			h.clock = max(h.clock, was.v+1)
		}
		e := event{name, h.clock, known && !was.deleted && h.r.IntN(3) == 0}
		h.last[name] = e
		h.docs[len(h.docs)-1] = append(h.docs[len(h.docs)-1], e)
	}
}

// layout changes which documents list the events.
func (h *history) layout() {
	for range h.r.IntN(3) {
		n := len(h.docs)
		open := h.docs[n-1]
		if len(open) == 0 || h.complete {
			continue
		}
		k := 1 + h.r.IntN(len(open))
		if h.r.IntN(4) == 0 && n > 1 { // the last archive document grows
			h.docs[n-2], h.docs[n-1] = slices.Concat(h.docs[n-2], open[:k]), open[k:]
		} else {
			h.docs = append(h.docs[:n-1:n-1], open[:k], open[k:])
		}
	}
	switch h.r.IntN(8) {
	case 0: // what is superseded is dropped
		for i, doc := range h.docs {
			h.docs[i] = slices.DeleteFunc(slices.Clone(doc), func(e event) bool { return h.last[e.name] != e })
		}
	case 1: // new archive documents, with some of it
		all := slices.DeleteFunc(slices.Concat(h.docs...), func(e event) bool { return h.last[e.name] != e && h.r.IntN(4) > 0 })
		h.docs = nil
		for len(all) > 0 {
			k := 1 + h.r.IntN(len(all))
			h.docs, all = append(h.docs, all[:k]), all[k:]
		}
		h.docs = append(h.docs, nil)
		h.edition++
	case 2:
		h.complete = !h.complete
		h.edition++
	}
}

// items returns the markup of events, in any order.
func (h *history) items(events []event) (items []string) {
	for _, e := range events {
		switch {
		case e.deleted:
			items = append(items, h.Del(e.name, e.v))
		case h.last[e.name] == e:
			items = append(items, h.Now(e.name, e.v))
		default:
			items = append(items, h.Past(e.name, e.v))
		}
	}
	h.r.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	return items
}

// publish replaces all documents.
func (h *history) publish() {
	for _, path := range h.paths() {
		if strings.HasSuffix(path, ".atom") {
			h.Remove(path)
		}
	}
	if h.complete {
		live := slices.SortedFunc(maps.Values(h.last), func(a, b event) int { return strings.Compare(a.name, b.name) })
		h.Feed("/index.atom", h.clock, Complete, h.items(slices.DeleteFunc(live, func(e event) bool { return e.deleted }))...)
		return
	}
	prev, updated := "", 0
	last := len(h.docs) - 1
	for i, doc := range h.docs[:last] {
		if len(doc) > 0 {
			updated = doc[len(doc)-1].v
		}
		path := fmt.Sprintf("/%d/%d.atom", h.edition, i)
		h.Feed(path, updated, Archive+prev, h.items(doc)...)
		prev = Prev(path)
	}
	open := h.docs[last]
	if last > 0 && h.r.IntN(4) == 0 { // it repeats what is in the archive
		before := h.docs[last-1]
		open = slices.Concat(before[h.r.IntN(len(before)+1):], open)
	}
	// it changes with each stage, or nobody would look for what the archive lists now
	h.stage++
	h.Feed("/index.atom", h.clock, fmt.Sprintf("<!-- %d -->", h.stage)+prev, h.items(open)...)
}

// disturb makes a harvest end early, or find a fault. Nothing may be wrong then that was
// right before.
func (h *history) disturb(step string) {
	truth, before := h.Truth(), h.Held()
	if h.r.IntN(2) == 0 {
		h.Interrupted(h.r.IntN(8))
	} else {
		paths := h.paths()
		path := paths[h.r.IntN(len(paths))]
		names := []string{"404", "410", "500", "broken off"}
		if h.Profile.Digests {
			names = append(names, "empty", "half", "login page")
		}
		page := h.Page(path)
		if strings.Contains(page.Body, "<entry>") {
			names = slices.Sorted(maps.Keys(faults))
		}
		name := names[h.r.IntN(len(names))]
		step += ", " + name + " at " + path
		h.Set(path, faults[name](h.Depot, path, page.Body))
		h.Harvest()
		h.Set(path, page)
	}
	held := h.Held()
	for id, s := range held {
		if s != before[id] && s != truth[id] {
			h.t.Errorf("%s: %s is %q, was %q, must be %q", step, id, s, before[id], truth[id])
		}
	}
	for id := range before {
		if truth[id] != "" && held[id] == "" {
			h.t.Errorf("%s: %s was deleted", step, id)
		}
	}
}
