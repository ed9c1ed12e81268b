package main

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/resourcesync"
)

// TestHarvestLeftBehind: a set that the Source Description no longer names is harvested
// as before, and every run says so, until the user removes it or it is named again.
func TestHarvestLeftBehind(t *testing.T) {
	for _, protocol := range []string{"auto", "resourcesync"} {
		t.Run(protocol, func(t *testing.T) {
			w := resourceSync(t)
			both := w.pages[resourcesync.WellKnown]
			one := text(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:rs="http://www.openarchives.org/rs/terms/"><rs:md capability="description"/>` +
				"<url><loc>" + w.URL + `/1/list</loc><rs:md capability="capabilitylist"/></url></urlset>`)
			args := []string{storeFlag(t), "-rate=1e6", "-protocol", protocol, w.URL + resourcesync.WellKnown}
			first, second := w.URL+"/1/list", w.URL+"/2/list"
			callHarvest(t, args...).is(t, exitDone)
			sets := []string{first, second}
			require.Equal(t, sets, live(t, args[0]))

			w.set(resourcesync.WellKnown, one)
			full := append(args, "-full") // finds it out
			if protocol == "resourcesync" {
				full = args
			}
			left := func(args ...string) {
				t.Helper()
				a := callHarvest(t, append(args, "-json")...)
				a.is(t, exitLeft)
				assert.Contains(t, a.stderr, w.URL+resourcesync.WellKnown+" no longer leads to "+second+": its records stay, and it is harvested as before; -approve removes them")
				s := a.parsed(t)
				assert.False(t, s.InStep)
				require.Len(t, s.Reports, 2)
				assert.Nil(t, s.Reports[0]["left_behind"])
				assert.Equal(t, true, s.Reports[1]["left_behind"])
				assert.Equal(t, second, s.Reports[1]["source"])
				assert.Equal(t, sets, live(t, args[0]))
			}
			left(append(full, "-approve")...) // nobody has said so before
			left(args...)
			left(append(args, "-plan")...)
			left(args...)

			w.set(resourcesync.WellKnown, both)
			callHarvest(t, args...).is(t, exitDone)
			w.set(resourcesync.WellKnown, one)
			left(full...)
			w.set(resourcesync.WellKnown, answerWith(http.StatusServiceUnavailable))
			a := callHarvest(t, args...)
			a.is(t, exitFailed)
			assert.Contains(t, a.stderr, "503")
			assert.Equal(t, sets, live(t, args[0]), "in an outage nothing is known, and what was known is harvested")

			w.set(resourcesync.WellKnown, one)
			a = callHarvest(t, append(args, "-approve")...)
			a.is(t, exitDone)
			assert.Equal(t, []string{first}, live(t, args[0]))
			callHarvest(t, args...).is(t, exitDone)
		})
	}
}

// TestAnotherOffer: a document that became one of another kind is no set that was left
// behind; one that a page no longer links to is.
func TestAnotherOffer(t *testing.T) {
	w := newWeb(t)
	w.set("/list", text(w.urlset(w.serve("p", 2)...)))
	args := []string{storeFlag(t), "-rate=1e6", w.URL + "/list"}
	callHarvest(t, args...).is(t, exitDone)
	w.set("/list", w.feedOf("news", w.serve("n", 2)...))
	callHarvest(t, args...).is(t, exitFailed)
	callHarvest(t, args...).is(t, exitDone)

	w.set("/new", w.feedOf("new", w.serve("m", 2)...))
	w.set("/list", text(`<!doctype html><link rel="alternate" type="application/atom+xml" href="/new">`))
	callHarvest(t, args...).is(t, exitFailed)
	a := callHarvest(t, args...)
	a.is(t, exitFailed) // the page is no feed
	assert.Contains(t, a.stderr, w.URL+"/list no longer leads to "+w.URL+"/list")
	assert.Equal(t, []string{w.URL + "/list", w.URL + "/new"}, live(t, args[0]))
	callHarvest(t, append(args, "-approve")...).is(t, exitDone)
	assert.Equal(t, []string{w.URL + "/new"}, live(t, args[0]))
}
