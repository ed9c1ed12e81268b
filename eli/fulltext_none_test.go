package eli_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/eli"
)

// TestNoneChosen: an act whose formats are stated, and of which none is chosen, has its
// metadata, and the reason is counted.
func TestNoneChosen(t *testing.T) {
	page := func(lang, media string) string {
		return strings.Replace(rdfaPage(law+"eli/a", "A", lang+"/pdf"), "application/pdf", media, 1)
	}
	for name, test := range map[string]struct {
		page string
		p    eli.Preferences
		want string // "": something is chosen, or there is nothing to choose from
	}{
		"another type":             {page("en", "application/epub+zip"), eli.Preferences{}, "1 formats are stated (application/epub+zip), and none of them is chosen by text/html, application/xhtml+xml, application/xml, application/pdf"},
		"a type that is not known": {page("en", "../paper"), eli.Preferences{Formats: []string{"text/html"}}, "1 formats are stated (https://www.iana.org/assignments/paper), and none of them is chosen by text/html"},
		"another language":         {page("fr", "application/pdf"), eli.Preferences{Languages: []string{"de", "sv"}, AllLanguages: true}, "in the languages de, sv"},
		"other metadata":           {page("en", "application/rdf+xml"), eli.Preferences{}, "1 formats are stated (application/rdf+xml), and"},
		"strict":                   {page("en", "text/xml"), eli.Preferences{Strict: true}, "(text/xml), and none of them is chosen by"},
		"without a URL": {strings.Replace(rdfaPage(law+"eli/a", "A", "en/pdf"), `about="`+law+`eli/a/en/pdf"`, "", 1), eli.Preferences{},
			"application/pdf without a URL"},
		"chosen":         {page("en", "text/xml"), eli.Preferences{}, ""},
		"nothing stated": {rdfaPage(law+"eli/a", "A"), eli.Preferences{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCollection(t)
			c.source.Preferences = test.p
			report := c.run(newSite(40).add(law+"eli/a", "text/html", test.page).add(law+"eli/a/en/pdf", "text/xml", "<act/>").lists(urlset("a 2026-01-05"), feed("a 2026-01-05T12:00:00Z")))
			require.True(t, report.InStep(), "%v", c.tasks())
			assert.Equal(t, "A", strings.TrimSuffix(c.resource("a").Title[:1], " "))
			if test.want == "" {
				assert.Zero(t, report.Rules["eli-full-text-none"], "%v", c.findings)
				return
			}
			assert.EqualValues(t, 1, report.Rules["eli-full-text-none"], "%v", c.findings)
			for _, f := range c.findings {
				if f.Rule == "eli-full-text-none" {
					assert.Contains(t, f.Message, test.want)
					assert.Equal(t, law+"eli/a", f.Document)
				}
			}
		})
	}
}
