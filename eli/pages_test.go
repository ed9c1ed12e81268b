package eli_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/eli/jsonld"
	"github.com/websync-go/websync/eli/rdfa"
	"github.com/websync-go/websync/internal/testing/testkit"
)

const actURI = "https://law.example/eli/act/2016/501"

// all are the extractors of programs.
var all = []eli.Extractor{&rdfa.Extractor{}, &jsonld.Extractor{}}

// TestPages reads pages of all styles that publishers have: what they say, where the full
// text is, for a harvester and by the letter of annex 4.2, and what is wrong with them.
func TestPages(t *testing.T) {
	testkit.GoldenFiles(t, "testdata/pages", nil, func(t *testing.T, page []byte) string {
		var b strings.Builder
		var findings []websync.Finding
		g, err := eli.ReadPage(page, actURI, "text/html", all, func(f websync.Finding) { findings = append(findings, f) })
		require.NoError(t, err)
		act, err := g.Resource(actURI)
		if err != nil {
			fmt.Fprintln(&b, err)
		} else {
			describe(&b, act)
		}
		for _, f := range findings {
			f.Document = ""
			fmt.Fprintln(&b, f)
		}
		return b.String()
	})
}

func describe(b *strings.Builder, act *eli.LegalResource) {
	line := func(name string, values ...any) {
		if text := strings.Trim(fmt.Sprint(values...), "[] "); text != "" {
			fmt.Fprintln(b, name, text)
		}
	}
	line("URI", act.URI)
	line("types", act.Types)
	line("titles", act.AllTitles())
	line("short titles", act.TitlesShort)
	line("type", act.TypeDocument)
	line("in force", act.InForce)
	line("version", act.Version)
	line("ids", act.IDLocal)
	line("numbers", act.Number)
	line("schema", act.URISchema)
	line("document", act.DateDocument)
	line("publication", act.DatePublication)
	line("entry in force", act.FirstDateEntryInForce)
	line("member of", act.IsMemberOf)
	line("consolidates", act.Consolidates)
	line("changes", act.Changes)
	line("amended by", act.AmendedBy)
	line("repealed by", act.RepealedBy)
	line("cites", act.Cites)
	line("transposes", act.Transposes)
	line("passed by", act.PassedBy)
	for _, x := range act.Expressions {
		fmt.Fprintf(b, "expression %s %q linked=%t\n", x.URI, x.Language, x.Linked)
		for _, f := range x.Formats {
			fmt.Fprintf(b, "  format %s %q stated as %q\n", f.URI, f.MediaType, f.Stated)
			line("    publisher", f.Publisher)
			line("    legal value", f.LegalValue)
		}
	}
	text := func(name string, p eli.Preferences) {
		for _, list := range act.FullText(p) {
			fmt.Fprintln(b, name)
			for _, c := range list {
				fmt.Fprintf(b, "  %s %q %q %s\n", c.URL, c.MediaType, c.Lang, c.Step)
			}
		}
	}
	text("full text", eli.Preferences{})
	text("of each language", eli.Preferences{AllLanguages: true})
	text("strictly", eli.Preferences{AllLanguages: true, Strict: true})
}
