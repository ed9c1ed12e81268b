package cli_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/examples/internal/cli"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/publish"
)

// fillSite commits resources of three sources, in 60 runs: some thousands of them, with
// changes and deletions. The source "own" has pages with the metadata of ELI.
func fillSite(t *testing.T, base string) *harvest.Catalog {
	c := harvest.NewCatalog(memstore.New())
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	c.Now = func() time.Time { return now }
	h := &harvest.Harvester{Catalog: c, MaxDelete: -1, Concurrency: 1}
	for run := range 60 {
		now = now.Add(7 * time.Hour)
		for _, source := range []string{"own", "https://a.example/feed", "urn:b"} {
			var puts, deletes []harvest.Event // one after the other, so that their order is known
			for k := range 40 {
				n := (run*40*(1+k%3) + k) % 1500
				modified := websync.NewDatetime(now.Add(-time.Duration(n) * time.Minute))
				id := fmt.Sprintf("%seli/act/%d", base, n)
				switch source {
				case "urn:b":
					id = fmt.Sprintf("urn:b:%d", n)
				case "https://a.example/feed":
					id = fmt.Sprintf("https://a.example/é/%d?x=%d&y", n, n%7)
				}
				if (run+k)%13 == 12 {
					deletes = append(deletes, harvest.Event{Kind: harvest.Delete, At: modified, Resource: websync.Resource{ID: id}})
					continue
				}
				text := fmt.Sprintf(pageText, id, run, strings.Repeat("–", n%50))
				puts = append(puts, harvest.Event{Open: harvest.OpenBytes([]byte(text)), Resource: websync.Resource{ID: id, Modified: modified,
					Title: fmt.Sprintf("Act <%d> & more", n), Content: websync.Link{Type: "text/html"}}})
			}
			for _, events := range [][]harvest.Event{puts, deletes} {
				_, err := h.Run(t.Context(), harvest.Of(source, events...))
				require.NoError(t, err)
			}
		}
	}
	return c
}

const pageText = `<!DOCTYPE html><html prefix="eli: http://data.europa.eu/eli/ontology#"><body about="%[1]s" typeof="eli:LegalResource">
<div property="eli:is_realized_by" resource="%[1]s/en" typeof="eli:LegalExpression">
<link property="eli:language" href="http://publications.europa.eu/resource/authority/language/ENG">
<div property="eli:is_embodied_by" resource="%[1]s" typeof="eli:Format">
<link property="eli:media_type" href="https://www.iana.org/assignments/media-types/text/html"></div></div>%[2]d%[3]s</body></html>
`

// TestPublishedStays: what all protocols publish of a site is byte for byte what it was.
// Readers read a document again if it changes.
func TestPublishedStays(t *testing.T) {
	const base = "https://site.example/x/"
	c := fillSite(t, base)
	var sums strings.Builder
	for _, protocol := range cli.Published {
		dir := t.TempDir()
		site := &publish.Site{Catalog: c, Base: base, Own: []string{"own"}, Report: func(websync.Finding) {}}
		list := &cli.Publication{Protocol: protocol}
		_, err := site.WriteDir(context.Background(), dir, list.Publisher(base))
		require.NoError(t, err)
		files, all := 0, sha256.New()
		require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				if d != nil && d.Name() == ".websync" { // is the export's own
					return fs.SkipDir
				}
				return err
			}
			data, err := os.ReadFile(path)
			name, _ := filepath.Rel(dir, path)
			fmt.Fprintf(all, "%s %x\n", filepath.ToSlash(name), sha256.Sum256(data))
			files++
			return err
		}))
		fmt.Fprintf(&sums, "%s: %d files, %x\n", protocol, files, all.Sum(nil))
	}
	testkit.Golden(t, filepath.Join("testdata", "published"), []byte(sums.String()))
}
