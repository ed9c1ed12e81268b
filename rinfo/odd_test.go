package rinfo_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/internal/testing/naive"
)

// TestOddDepots: whatever a Catalog holds, a validator of RFC 4287, RFC 5005 and RFC 6721
// that shares nothing with package atom finds no fault in what is published, and neither
// does that package.
func TestOddDepots(t *testing.T) {
	for seed := range 20 * uint64(*foreignSeeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			p := newPublisher(naive.Odd(t, seed, depotBase))
			p.ArchiveSize, p.LatestOnly, p.Complete, p.LegacyMD5 = 1+int(seed%5), seed%3 == 0, seed%7 == 6, seed%2 == 0
			p.Title = []string{"", "Acts & <b>", strings.Repeat("long ", 100)}[seed%3]
			naive.CheckPublished(t, p, func(path string, doc []byte) {
				_, err := atom.Validate(bytes.NewReader(doc), atom.ValidateOptions{Document: path, URL: depotBase + path[1:], Report: func(f websync.Finding) {
					assert.Less(t, f.Severity, websync.SeverityError, "%v", f)
				}})
				require.NoError(t, err)
			})
		})
	}
}
