package eli_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// expressionPage is the page of the French expression of the act a, with a file.
func expressionPage(title string) string {
	page := rdfaPage(law+"eli/a", title, "fr/pdf")
	from, to := strings.Index(page, `<div about="`+law+`eli/a" `), strings.Index(page, `<div about="`+law+`eli/a/fr"`)
	return page[:from] + "<div><div>" + page[to:]
}

// linkingSite has an act whose page describes its English expression, and links to the
// French one.
func linkingSite(day int, title string) *lawSite {
	s := newSite(day).act("a", title, "en/pdf")
	page := strings.Replace(rdfaPage(law+"eli/a", title, "en/pdf"), "</h1>", `</h1><a rel="eli:is_realized_by" href="`+law+`eli/a/fr"></a>`, 1)
	return s.add("eli/a", "text/html", page).add("eli/a/fr/pdf", "application/pdf", "La loi "+title).
		lists(urlset(fmt.Sprint("a ", dayOf(day))), feed(fmt.Sprint("a ", timeOf(day))))
}

// TestLinked: the page of an expression that the page of the act only links to is
// requested if that is asked for.
func TestLinked(t *testing.T) {
	c := newCollection(t)
	c.source.Preferences.AllLanguages = true
	c.h.Sample = -1
	require.True(t, c.run(linkingSite(40, "One").add("eli/a/fr", "text/html", expressionPage("Un"))).InStep())
	assert.Equal(t, map[string]string{"a": "content: One in en/pdf"}, c.bodies(), "not asked for")
	assert.NotContains(t, c.asked, "a/fr")

	c.source.Linked, c.h.Recheck = true, true
	require.True(t, c.run(linkingSite(40, "One").add("eli/a/fr", "text/html", expressionPage("Un"))).InStep(), "%v", c.tasks())
	got := c.bodies()
	assert.Contains(t, got["a"], "La loi One")
	assert.Contains(t, got["a"], "One in en/pdf")
	assert.Contains(t, c.asked, "a/fr")
	assert.NotContains(t, c.asked, "a/en", "the page of the act describes it")
	entries := len(c.entries())
	require.True(t, c.run(linkingSite(40, "One").add("eli/a/fr", "text/html", expressionPage("Un"))).InStep(), "%v", c.tasks())
	assert.Len(t, c.entries(), entries, "nothing has changed")

	require.True(t, c.run(linkingSite(40, "One").add("eli/a/fr", "text/html", expressionPage("Une autre"))).InStep(), "%v", c.tasks())
	assert.Contains(t, c.graph("a"), "Une autre", "only the page of the expression has changed")
	assert.NotContains(t, c.graph("a"), `"Un (fr)"`)
}

// TestLinkedFaults: what becomes of an expression whose page is not as it must be.
func TestLinkedFaults(t *testing.T) {
	for name, test := range map[string]struct {
		break_      func(s *lawSite) *lawSite
		known, gone bool // what is known stays, and there is a task; or it goes
	}{
		"gone":                {func(s *lawSite) *lawSite { return s.gone("eli/a/fr", 404) }, false, true},
		"an error":            {func(s *lawSite) *lawSite { return s.gone("eli/a/fr", 503) }, true, false},
		"a shell":             {func(s *lawSite) *lawSite { return s.add("eli/a/fr", "text/html", shellPage) }, false, false},
		"a PDF":               {func(s *lawSite) *lawSite { return s.add("eli/a/fr", "application/pdf", "%PDF") }, false, false},
		"the page of the act": {func(s *lawSite) *lawSite { return s.moved("eli/a/fr", "eli/a") }, false, false},
		"the page of another": {func(s *lawSite) *lawSite { return s.add("eli/a/fr", "text/html", rdfaPage(law+"eli/b", "B")) }, false, false},
		"an empty answer":     {func(s *lawSite) *lawSite { return s.add("eli/a/fr", "text/html", "") }, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCollection(t)
			c.source.Linked, c.source.Preferences, c.h.Sample = true, eli.Preferences{AllLanguages: true}, -1
			report := c.run(test.break_(linkingSite(40, "One")))
			if test.known {
				assert.Len(t, c.tasks(), 1)
			} else {
				require.True(t, report.InStep(), "%v", c.tasks())
				assert.Contains(t, testkit.Rules(c.findings), "eli-linked")
				assert.NotContains(t, c.graph("a"), "(fr)")
			}
			require.True(t, c.run(linkingSite(41, "Two").add("eli/a/fr", "text/html", expressionPage("Deux"))).InStep(), "%v", c.tasks())
			assert.Contains(t, c.graph("a"), "Deux")

			report = c.run(test.break_(linkingSite(42, "Three")))
			assert.Equal(t, test.gone, report.InStep())
			assert.Equal(t, !test.gone, strings.Contains(c.graph("a"), "Deux"), "what is known stays")
		})
	}
}

// TestLinkedMany: of very many links the first are followed.
func TestLinkedMany(t *testing.T) {
	s := newSite(40).act("a", "One", "en/pdf").lists(urlset("a "+dayOf(40)), feed("a "+timeOf(40)))
	var links strings.Builder
	for i := range 103 {
		fmt.Fprintf(&links, `<a rel="eli:is_realized_by" href="%seli/a/x%d"></a>`, law, i)
	}
	s.add("eli/a", "text/html", strings.Replace(rdfaPage(law+"eli/a", "One", "en/pdf"), "</h1>", "</h1>"+links.String(), 1))
	c := newCollection(t)
	c.source.Linked = true
	require.True(t, c.run(s).InStep(), "%v", c.tasks())
	asked := 0
	for _, path := range c.asked {
		if strings.HasPrefix(path, "a/x") {
			asked++
		}
	}
	assert.Equal(t, 100, asked)
	assert.Contains(t, testkit.Rules(c.findings), "eli-linked")
}

// graph returns the N-Quads of an act.
func (c *collection) graph(name string) string {
	c.Helper()
	items, err := c.store.Get(c.Context(), testkit.Src, []string{law + "eli/" + name})
	require.NoError(c, err)
	body, ok := items[0].Body("graph")
	require.True(c, ok || items[0].Resource.ID == "")
	if !ok {
		return ""
	}
	return testkit.Read(c, c.store, body)
}
