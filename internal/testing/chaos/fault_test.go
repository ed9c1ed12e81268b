package chaos

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
)

// run harvests once into a Store that it opens and closes.
func (s *site) run(ctx context.Context, at storage) (report *harvest.Report, err error) {
	store, err := at.open(ctx, func() {})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	h, client := harvester(store.Catalog)
	defer client.CloseIdleConnections()
	return patiently(ctx, s.way.source(s.place), h.Run)
}

// faulty runs under a fault, and reports whether it was felt: then an error says which of
// these it was.
func (s *site) faulty(t *testing.T, at storage, says ...string) bool {
	t.Helper()
	report, err := s.run(t.Context(), at)
	if err == nil && report.InStep() {
		return false
	}
	text := fmt.Sprint(err)
	if err == nil {
		text = fmt.Sprintf("%+v %+v", report.Problems, report.Failures)
	}
	for _, say := range says {
		if strings.Contains(strings.ToLower(text), say) {
			return true
		}
	}
	require.Fail(t, "no error says "+strings.Join(says, " or "), text)
	return true
}

// recovers runs after a fault, and compares what came of it.
func (s *site) recovers(t *testing.T, at storage, ever map[string]bool) {
	t.Helper()
	report, err := s.run(t.Context(), at)
	require.NoError(t, err)
	require.True(t, report.InStep(), "%+v", report)
	h := at.inspected(t)
	s.requireInStep(t, h, ever)
	h.add(ever)
}

// times is how often each fault is tried.
func times() int { return min(max(*kills/2, 1), 25) }
