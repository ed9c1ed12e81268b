package eli_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// TestMutants: pages and lists of acts, damaged ones among them, are read as before. What
// does not begin like markup is a list.
func TestMutants(t *testing.T) {
	testkit.Mutants(t, []string{"publisher", "site"}, numberedActs, func(doc []byte) string {
		var b strings.Builder
		if !strings.HasPrefix(strings.TrimSpace(string(doc)), "<") {
			acts, skipped, findings, err := readCSV(csvOf(string(doc)))
			fmt.Fprintf(&b, "%q %d %q %v\n", acts, skipped, findings, err)
			return b.String()
		}
		report := func(f websync.Finding) { fmt.Fprintln(&b, f) }
		g, err := eli.ReadPage(doc, actURI, "text/html", all, report)
		if err != nil {
			return fmt.Sprintln(b.String(), err)
		}
		act, err := g.Resource(actURI)
		if err != nil {
			return fmt.Sprintln(b.String(), err)
		}
		describe(&b, act)
		return b.String()
	})
}
