package atompmh_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atompmh"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// TestSpecification: every example of the specification reads to the meaning that its
// text gives it. A file of testdata/spec holds the documents of an example by their URLs,
// of which the first is the subscription document; those of an earlier run, with "first";
// the titles of the records that are left, with the targets of their links; and how many
// tags are damaged, which only a Source with Repair reads.
func TestSpecification(t *testing.T) {
	files, err := filepath.Glob("testdata/spec/*.txt")
	require.NoError(t, err)
	require.Len(t, files, 11)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			heads := regexp.MustCompile(`(?m)^-- (.*) --\n`).FindAllSubmatchIndex(data, -1)
			first, site := sourcetest.Site{}, sourcetest.Site{}
			var url, meaning string
			damaged := 0
			for i, at := range heads {
				end := len(data)
				if i+1 < len(heads) {
					end = heads[i+1][0]
				}
				name, text := string(data[at[2]:at[3]]), string(data[at[1]:end])
				earlier, isFirst := strings.CutPrefix(name, "first ")
				switch {
				case name == "meaning":
					meaning = text
				case name == "damaged":
					damaged, err = strconv.Atoi(strings.TrimSpace(text))
					require.NoError(t, err)
				case isFirst:
					first[earlier] = sourcetest.Document{Body: text}
				case url == "":
					url = name
					fallthrough
				default:
					site[name] = sourcetest.Document{Body: text}
				}
			}
			if len(first) > 0 {
				for name, doc := range site {
					if _, ok := first[name]; !ok {
						first[name] = doc
					}
				}
			}

			store := harvest.NewCatalog(memstore.New())
			record := func(_ context.Context, _ int, req *harvest.Request, doc sourcetest.Document) (sourcetest.Document, error) {
				if strings.HasPrefix(req.URL, "http://example.org/entry/") {
					doc = sourcetest.Document{Body: req.URL}
				}
				return doc, nil
			}
			var rules []string
			source := &atompmh.Source{URL: url, AllFormats: true, Repair: true}
			for _, docs := range []sourcetest.Site{first, site} {
				if len(docs) == 0 {
					continue
				}
				rules = nil
				h := &harvest.Harvester{Sample: -1, Catalog: store, Fetcher: &sourcetest.Fetcher{Site: docs, Hook: record}, AcceptSkipped: true, MaxDelete: -1,
					Hooks: testkit.OnFinding(func(f websync.Finding) { rules = append(rules, f.Rule) })}
				r, err := h.Run(t.Context(), source)
				require.NoError(t, err)
				require.True(t, r.InStep(), "%v %v", r.Problems, r.Failures)
				if damaged > 0 {
					assert.Positive(t, r.Skipped)
				}
			}
			var got []string
			for item, err := range store.Resources(t.Context(), websync.Range{}) {
				require.NoError(t, err)
				var links []string
				for _, l := range item.Resource.Links {
					links = append(links, strings.TrimPrefix(l.Href, "http://example.org/entry/"))
				}
				got = append(got, item.Resource.Title+": "+strings.Join(links, " "))
				assert.Len(t, item.Bodies, len(links))
			}
			want := strings.Split(strings.TrimSpace(meaning), "\n")
			slices.Sort(want)
			slices.Sort(got)
			assert.Equal(t, want, got)
			assert.Equal(t, damaged, strings.Count(strings.Join(rules, "\n"), "atom-xml"))

			if damaged > 0 {
				r, _ := (&harvest.Harvester{Sample: -1, Catalog: harvest.NewCatalog(memstore.New()), Fetcher: &sourcetest.Fetcher{Site: site, Hook: record}}).Run(t.Context(), &atompmh.Source{URL: url})
				assert.False(t, r.InStep(), "without Repair")
			}
			var found []string
			for name, doc := range site {
				_, err := atompmh.Validate(strings.NewReader(doc.Body), atom.ValidateOptions{Document: name, Report: func(f websync.Finding) {
					if strings.HasPrefix(f.Rule, "atompmh-") && f.Severity == websync.SeverityError {
						found = append(found, f.Rule)
					}
				}})
				assert.Equal(t, strings.Contains(doc.Body, `"/20`) || strings.Contains(doc.Body, "/complete/>"), err != nil, name)
			}
			if strings.Contains(file, "example-5") { // its feed is older than its second entry
				assert.Equal(t, []string{"atompmh-updated"}, found)
			} else {
				assert.Empty(t, found)
			}
		})
	}
}
