package conformance_test

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/websync-go/websync/eli/conformance"
)

// One of two lists may be there although it was not given.
func TestAlone(t *testing.T) {
	for _, given := range []string{"sitemap", "feed"} {
		w := newWorld(t)
		if given == "sitemap" {
			w.Feed = conformance.Input{}
		} else {
			w.Sitemap = conformance.Input{}
		}
		assert.Equal(t, conformance.Fail, row(t, w.check(), "P4-001").Status, given)
		w.Alone = true
		r := w.check()
		assert.Equal(t, conformance.NotChecked, row(t, r, "P4-001").Status, given)
		for _, rule := range r.Rules {
			assert.NotEqual(t, conformance.Fail, rule.Status, "%s: %s", given, rule.ID)
		}
	}
}

// A page is checked without lists: fetched, or from bytes.
func TestPage(t *testing.T) {
	w := newWorld(t)
	w.Sitemap, w.Feed, w.Page = conformance.Input{}, conformance.Input{}, conformance.Input{Name: act1}
	r := w.check()
	assert.Equal(t, "page", r.Page.Kind)
	assert.Equal(t, 1, r.Pages)
	assert.Contains(t, w.asked, act1)
	assert.NotContains(t, w.asked, act2)
	assert.Equal(t, conformance.Pass, row(t, r, "P4-040").Status)
	for _, rule := range r.Rules {
		assert.NotEqual(t, conformance.Fail, rule.Status, rule.ID)
	}

	given := func(body string) *conformance.Result {
		w.Fetcher, w.Crawler, w.asked = nil, nil, nil
		w.Page = conformance.Input{Name: "act.html", Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(body)), nil }}
		return w.check()
	}
	r = given(pageOf(act1))
	assert.Zero(t, r.Page.Errors)
	assert.Empty(t, r.Page.Error)
	assert.Equal(t, conformance.Pass, row(t, r, "P4-040").Status)
	r = given(strings.ReplaceAll(pageOf(act1), "language/ENG", "language/english"))
	assert.Positive(t, r.Page.Errors+r.Page.Warnings, "an unknown language")
	r = given("<!doctype html><title>no act</title>")
	assert.Positive(t, r.Page.Errors)
	r = given(pageOf(act1) + strings.Repeat(" ", 12<<20))
	assert.Contains(t, r.Page.Error, "more than 12582912 bytes")
	assert.Equal(t, conformance.NotChecked, row(t, r, "P4-040").Status)
}
