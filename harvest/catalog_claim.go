package harvest

import (
	"context"
	"math"
	"time"
)

// over is the expiry of a claim that was released: any clock is past it.
const over = math.MinInt64

// claim makes the caller the holder of name for ttl. A process that lists a source claims
// "source/" and its key; each worker that carries out its tasks claims "work/", a number,
// "/" and the key. While the claim of another holder is valid, Claim returns a HeldError.
// It takes over an expired claim, or one whose holder is known to be dead, with a higher
// Epoch. It also takes over a claim that has more than twice its ttl left: such a claim
// was made while the clock was ahead, and must not hold the name until the clock gets
// there again.
//
// Every method that takes a Claim returns ErrFenced if it is nil.
func (s *Catalog) claim(ctx context.Context, name string, ttl time.Duration) (*claim, error) {
	var c heldClaim
	k := newKey(claimKey).text(name)
	err := s.update(ctx, func(w *writer) error {
		c = heldClaim{}
		if _, err := w.get(k, &c); err != nil {
			return err
		}
		now := s.now()
		if c.stands(now) && !s.dead(c.owner) {
			return &HeldError{Name: name, Expires: micro(c.expires)}
		}
		c.epoch++
		c.owner = s.owner()
		c.ttl = ttl.Microseconds()
		c.expires = now + c.ttl
		return w.put(k, &c)
	}, k)
	if err != nil {
		return nil, err
	}
	return &claim{Name: name, Epoch: c.epoch, N: c.n, TTL: ttl, Expires: micro(c.expires)}, nil
}

// renew extends the claim to its ttl from now. It returns ErrFenced if another holder has
// the name.
func (s *Catalog) renew(ctx context.Context, c *claim) error {
	if c == nil {
		return ErrFenced
	}
	var expires int64
	k := newKey(claimKey).text(c.Name)
	err := s.update(ctx, func(w *writer) error {
		held, err := w.held(c)
		if err != nil {
			return err
		}
		held.ttl = c.TTL.Microseconds()
		expires = s.now() + held.ttl
		held.expires = expires
		return w.put(k, &held)
	}, k)
	if err == nil {
		c.Expires = micro(expires)
	}
	return err
}

// release gives the claim up; the next holder need not wait. It is no error if the claim
// is already lost.
func (s *Catalog) release(ctx context.Context, c *claim) error {
	if c == nil {
		return ErrFenced
	}
	k := newKey(claimKey).text(c.Name)
	return s.update(ctx, func(w *writer) error {
		held, err := w.held(c)
		if err == ErrFenced {
			return nil
		}
		if err != nil {
			return err
		}
		return w.endClaim(k, held)
	}, k)
}

// endClaim fences the holder of c and frees its name.
func (w *writer) endClaim(k key, c heldClaim) error {
	c.epoch++
	c.expires = over
	return w.put(k, &c)
}

// held returns the claim c as it is stored, or ErrFenced.
func (r *reader) held(c *claim) (held heldClaim, err error) {
	if _, err := r.get(newKey(claimKey).text(c.Name), &held); err != nil {
		return heldClaim{}, err
	}
	if held.epoch != c.Epoch || held.epoch == 0 {
		return heldClaim{}, ErrFenced
	}
	return held, nil
}
