package rinfo_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/rinfo"
)

// TestSpecification reads the examples of the specification: what a Source yields, and
// what Validate reports. Where the text has dots in place of what is not of interest, the
// example is completed.
func TestSpecification(t *testing.T) {
	testkit.GoldenFiles(t, "testdata", []string{"fuzz", "mutants"}, func(t *testing.T, data []byte) string {
		var out strings.Builder
		f := &sourcetest.Fetcher{Site: sourcetest.Site{feedURL: {Body: string(data)}}}
		source := &rinfo.Source{URL: feedURL, AcceptGaps: true}
		for ev, err := range source.Events(t.Context(), &harvest.Run{Fetcher: f}) {
			require.NoError(t, err)
			r := &ev.Resource
			fmt.Fprintf(&out, "%v", ev.Kind)
			if r.ID == "" {
				fmt.Fprintf(&out, " complete %t, skipped %d\n", ev.Complete, ev.Skipped)
				continue
			}
			fmt.Fprintf(&out, " %s\n  at %v, published %v\n", r.ID, ev.At, r.Published)
			for _, l := range append([]websync.Link{r.Content}, r.Links...) {
				if l.Href == "" {
					continue
				}
				fmt.Fprintf(&out, "  %s %s %s length %d, %v\n", l.Rel, l.Type, l.Href, l.Length, l.Digests)
				if l.Rel == "enclosure" {
					url, err := rinfo.AttachmentURL(r, l)
					fmt.Fprintf(&out, "    kept at %s, %v\n", url, err)
				}
			}
		}
		_, err := rinfo.Validate(bytes.NewReader(data), atom.ValidateOptions{Document: "x", URL: feedURL, Report: func(f websync.Finding) {
			fmt.Fprintln(&out, f)
		}})
		require.NoError(t, err)
		return out.String()
	})
}
