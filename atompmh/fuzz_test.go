package atompmh_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atompmh"
)

// FuzzValidate: no document makes Validate panic, every finding has a rule, and what
// atom.Validate reads is read in the same way.
func FuzzValidate(f *testing.F) {
	for _, doc := range []string{
		docOf(2, isComplete, active("b", 2, "a", "b"), active("a", 1, "a")),
		docOf(9, prev("1"), deletionOf("a", 9), active("a", 1, "a"), active("a", 1, "b"), entryOf("c", 3)),
		docOf(1, isArchive, rel("next", "2"), entryOf("a", 2, link("a", "a"), "<content>x</content>"), deletionOf("b", 2), deletionOf("b", 2)),
		"<entry xmlns='" + atom.Namespace + "'><id>urn:a</id></entry>",
	} {
		f.Add(doc)
	}
	f.Fuzz(func(t *testing.T, doc string) {
		n := 0
		o := atom.ValidateOptions{Document: feedURL, Report: func(f websync.Finding) {
			require.NotEmpty(t, f.Rule)
			n++
		}}
		sum, err := atompmh.Validate(strings.NewReader(doc), o)
		require.Equal(t, n, sum.Errors+sum.Warnings+sum.Infos)
		plain, plainErr := atom.Validate(strings.NewReader(doc), atom.ValidateOptions{Document: feedURL})
		require.Equal(t, plainErr, err)
		require.Equal(t, []int{plain.Entries, plain.Tombstones, plain.Skipped}, []int{sum.Entries, sum.Tombstones, sum.Skipped})
	})
}
