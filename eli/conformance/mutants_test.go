package conformance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli/conformance"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// transcript returns what a check says: the requests, the findings, the Result as JSON
// and the Profile.
func (w *world) transcript() (string, *conformance.Result) {
	r := w.check()
	var b bytes.Buffer
	fmt.Fprintln(&b, strings.Join(w.asked, "\n"))
	for _, f := range w.found {
		fmt.Fprintf(&b, "%+v\n", f)
	}
	require.NoError(w.t, json.NewEncoder(&b).Encode(r))
	if r.Profile != nil {
		require.NoError(w.t, r.Profile.Write(&b))
	}
	return b.String(), r
}

// TestTranscripts: checks of all publishers that depart from a rule say what they said
// before.
func TestTranscripts(t *testing.T) {
	racing.Skip(t)
	var b bytes.Buffer
	for _, rule := range slices.Sorted(maps.Keys(departures)) {
		for i, d := range departures[rule] {
			w := newWorld(t)
			d.make(w)
			text, r := w.transcript()
			var report strings.Builder
			require.NoError(t, r.WriteHTML(&report))
			h := fnv.New64a()
			h.Write([]byte(text + strings.ReplaceAll(report.String(), websync.Version, "VERSION")))
			fmt.Fprintf(&b, "%s %d %016x\n", rule, i+1, h.Sum64())
		}
	}
	testkit.Golden(t, "testdata/transcripts.golden", b.Bytes())
}

// TestMutants: checks of sitemaps, feeds and pages, damaged ones among them, say what
// they said before.
func TestMutants(t *testing.T) {
	testkit.Mutants(t, []string{"report"}, func(piece string) string { return piece }, func(doc []byte) string {
		var b strings.Builder
		for _, change := range []func(w *world){
			func(*world) {},
			func(w *world) { w.visited(40) },
			func(w *world) { w.files() },
		} {
			w := newWorld(t)
			change(w)
			text := string(doc)
			switch {
			case strings.Contains(text, "<feed"):
				w.set(feedURL, "application/atom+xml", text)
			case strings.Contains(text, "<urlset"), strings.Contains(text, "<sitemapindex"):
				w.set(sitemapURL, "application/xml", text)
			default:
				w.set(act1, "text/html", text)
			}
			text, _ = w.transcript()
			b.WriteString(text)
		}
		return b.String()
	})
}
