package schedule

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// watch runs a source, and ends the run if it stalls.
func (s *Scheduler) watch(ctx context.Context, t *turn, src harvest.Source) (*harvest.Report, error) {
	stall := cmp.Or(s.Stall, time.Hour)
	h, alive := *s.Harvester, new(atomic.Bool)
	if t.Budget != (harvest.Budget{}) {
		h.Budget = t.Budget
	}
	h.SameHost = h.SameHost || t.SameHost
	if !reflect.ValueOf(t.Quota).IsZero() {
		h.Quota = t.Quota
	}
	if len(t.Filter.Include)+len(t.Filter.Exclude) > 0 {
		h.Filter = t.Filter
	}
	if len(t.Also) > 0 {
		h.Also = t.Also
	}
	h.Hooks = progressHooks(h.Hooks, func() {
		alive.Store(true)
		t.goesOn()
	})
	run := h.Run
	if s.run != nil {
		run = s.run
	}
	if stall < 0 {
		return run(ctx, src)
	}

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan struct{})
	defer close(done)
	go func() {
		ticker := time.NewTicker(stall)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				if !alive.Swap(false) {
					cancel(fmt.Errorf("schedule: %q: %w for %v", websync.RedactURL(t.key), ErrStalled, stall))
					return
				}
			}
		}
	}()
	alive.Store(true)
	report, err := run(ctx, src)
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(err, cause) {
		err = cause
	}
	return report, err
}

// progressHooks returns hooks that call progress before those of others.
func progressHooks(others *harvest.Hooks, progress func()) *harvest.Hooks {
	return harvest.JoinHooks(&harvest.Hooks{
		Outcome: func(string, string, harvest.Outcome, error) { progress() },
		Attempt: func(context.Context, harvest.AttemptInfo) { progress() },
		Commit:  func(context.Context, harvest.CommitInfo) { progress() },
	}, others)
}
