package harvest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/survive"
)

// releaseTime is how long releasing a claim may take when its context has ended.
const releaseTime = 5 * time.Second

// Hold claims name for the caller, and renews the claim until release is called. It is
// for what processes that share a Store must not do at the same time, such as requests to
// one host: names that begin with "source/" and "work/" are the engine's. If another
// holds the name, the error is a [HeldError].
//
// held ends with ctx, and with ErrFenced as its cause before another can have the name:
// when the claim is lost, or could not be renewed for 7/8 of ttl. If the process dies,
// the name is free after ttl, or at once if the Store has [Owners]. release may be called
// again, and takes up to 5 seconds after the end of ctx if the Store can't be reached. If
// ttl is zero or negative, it is one minute.
func (s *Catalog) Hold(ctx context.Context, name string, ttl time.Duration) (held context.Context, release func(), err error) {
	if ttl <= 0 {
		ttl = time.Minute
	}
	began := time.Now()
	claim, err := s.claim(ctx, name, ttl)
	if err != nil {
		return ctx, nil, err
	}
	held, lose := context.WithCancelCause(ctx)
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		s.keep(held, claim, began, lose)
	}()
	return held, func() {
		lose(nil)
		<-kept
		ctx, cancel := survive.Cancel(ctx, releaseTime)
		defer cancel()
		_ = s.release(ctx, claim) // if this fails, the claim expires
	}, nil
}

// keep renews a claim, which was made at a time, until ctx ends. It calls lose when the
// claim is lost, or can't be renewed in time.
func (s *Catalog) keep(ctx context.Context, claim *claim, at time.Time, lose context.CancelCauseFunc) {
	safe := claim.TTL * 7 / 8
	until := at.Add(safe)
	lost := fmt.Errorf("harvest: %s: %w", websync.RedactURL(claim.Name), ErrFenced)
	tick := time.NewTicker(max(claim.TTL/4, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Until(until)):
			lose(lost)
			return
		case <-tick.C:
		}
		next := time.Now().Add(safe)
		inTime, cancel := context.WithDeadline(ctx, until)
		err := s.renew(inTime, claim)
		cancel()
		switch {
		case err == nil:
			until = next
		case errors.Is(err, ErrFenced):
			lose(lost)
			return
		}
	}
}
