package harvest_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// TestUnsure states a deletion that the source contradicts: the server decides.
func TestUnsure(t *testing.T) {
	for name, test := range map[string]struct {
		now    func(*site)
		bodies harvest.BodyMode
		unsure bool
		live   bool
		inStep bool
	}{
		"sure":              {now: func(*site) {}, live: false, inStep: true},
		"it is there":       {now: func(*site) {}, unsure: true, live: true, inStep: true},
		"it is there anew":  {now: func(s *site) { s.set(testkit.Base+"a", "2") }, unsure: true, live: true, inStep: true},
		"it is not there":   {now: func(s *site) { delete(s.pages, testkit.Base+"a") }, unsure: true, live: false, inStep: true},
		"it can't be asked": {now: func(s *site) { s.failing[testkit.Base+"a"] = errors.New("500") }, unsure: true, live: true},
		"no bodies":         {now: func(*site) {}, bodies: harvest.SkipBodies, unsure: true, live: true, inStep: true},
	} {
		t.Run(name, func(t *testing.T) {
			store, s := harvest.NewCatalog(memstore.New()), newSite()
			s.set(testkit.Base+"a", "1")
			run := func(ev harvest.Event) *harvest.Report {
				h := &harvest.Harvester{Catalog: store, Fetcher: s, Sample: -1, Bodies: test.bodies}
				report, err := h.Run(t.Context(), harvest.Of(testkit.Src, ev))
				require.NoError(t, err)
				return report
			}
			require.True(t, run(testkit.Put("a", testkit.Day(1))).InStep())
			test.now(s)
			ev := testkit.Del("a", testkit.Day(2))
			ev.Unsure = test.unsure
			for range 2 {
				report := run(ev)
				assert.Equal(t, test.inStep, report.InStep(), report.Failures)
				record := testkit.Record(t, store, "a")
				assert.Equal(t, test.live, record.Live())
				if !test.live {
					assert.Equal(t, testkit.Day(2), record.At)
				} else {
					assert.Equal(t, testkit.Day(1), record.Stated.Modified)
				}
				if b, ok := record.Body(websync.ContentName); ok && test.inStep && test.bodies == harvest.KeepBodies {
					assert.Equal(t, s.pages[testkit.Base+"a"], testkit.Read(t, store, b))
				}
			}
		})
	}
}
