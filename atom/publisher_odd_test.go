package atom_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/internal/testing/naive"
)

// TestOddPublisher: whatever a Catalog holds, a validator of RFC 4287, RFC 5005 and RFC
// 6721 that shares nothing with this package finds no fault in what is published, and
// neither does Validate.
func TestOddPublisher(t *testing.T) {
	for seed := range uint64(200) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			p := newPublisher(naive.Odd(t, seed, pubSite+"/"), 1+int(seed%5))
			p.Locator = websync.PathLocator{Base: p.Base, Own: []string{"own"}, Reserved: p.Reserved}
			p.LatestOnly, p.Complete, p.LegacyMD5, p.History = seed%3 == 0, seed%7 == 6, seed%2 == 0, time.Duration(seed%4)*time.Second
			p.Hubs = []string{"https://hub.example.org/?a&b"}
			naive.CheckPublished(t, p, func(path string, doc []byte) {
				_, err := atom.Validate(bytes.NewReader(doc), atom.ValidateOptions{Document: path, URL: pubSite + path, Report: func(f websync.Finding) {
					assert.Less(t, f.Severity, websync.SeverityError, "%v", f)
				}})
				require.NoError(t, err)
			})
		})
	}
}
