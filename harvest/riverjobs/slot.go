package riverjobs

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/outlast"
)

// errSlotLost: the job may no longer make requests to its host.
var errSlotLost = errors.New("slot of the host lost")

// A slot is the right to make requests to a host.
type slot struct {
	store harvest.Store
	claim *harvest.Claim
	lose  context.CancelCauseFunc
	done  chan struct{}
}

// hold takes one of n slots of a host. Its context ends when the slot is lost. The error
// matches ErrHeld if others have them all.
func hold(ctx context.Context, store harvest.Store, host string, n int, ttl time.Duration) (context.Context, *slot, error) {
	var claim *harvest.Claim
	err := harvest.ErrHeld
	for i := 0; i < n && errors.Is(err, harvest.ErrHeld); i++ {
		claim, err = store.Claim(ctx, "host/"+host+"/"+strconv.Itoa(i), ttl)
	}
	if err != nil {
		return ctx, nil, fmt.Errorf("riverjobs: a slot of %s: %w", host, err)
	}
	s := &slot{store: store, claim: claim, done: make(chan struct{})}
	ctx, s.lose = context.WithCancelCause(ctx)
	go s.keep(ctx)
	return ctx, s, nil
}

// keep renews the claim until ctx ends, and ends ctx when the claim is lost, or can't be
// renewed in time: then another may have it.
func (s *slot) keep(ctx context.Context) {
	defer close(s.done)
	safe := s.claim.TTL * 7 / 8
	until := time.Now().Add(safe)
	tick := time.NewTicker(s.claim.TTL / 4)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Until(until)):
			s.lose(errSlotLost)
			return
		case <-tick.C:
		}
		next := time.Now().Add(safe)
		inTime, cancel := context.WithDeadline(ctx, until)
		err := s.store.Renew(inTime, s.claim)
		cancel()
		switch {
		case err == nil:
			until = next
		case errors.Is(err, harvest.ErrFenced):
			s.lose(fmt.Errorf("%w: %w", errSlotLost, err))
			return
		}
	}
}

// releaseTime is how long a cancelled job may take to release its slot.
const releaseTime = 5 * time.Second

// release gives the slot to the next job.
func (s *slot) release(ctx context.Context) {
	s.lose(nil)
	<-s.done
	ctx, cancel := outlast.Context(ctx, releaseTime)
	defer cancel()
	_ = s.store.Release(ctx, s.claim) // if this fails, the claim expires
}
