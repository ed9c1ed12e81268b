package kvstore

import (
	"context"
	"math"
	"time"

	"github.com/websync-go/websync/harvest"
)

// over is the expiry of a claim that was released: any clock is past it.
const over = math.MinInt64

// Claim implements [harvest.Store].
func (s *Store) Claim(ctx context.Context, name string, ttl time.Duration) (*harvest.Claim, error) {
	var c claim
	k := newKey(claimKey).text(name)
	err := s.update(ctx, func(w *writer) error {
		c = claim{}
		if _, err := w.get(k, &c); err != nil {
			return err
		}
		now := s.now()
		if c.stands(now) && !s.dead(c.owner) {
			return harvest.ErrHeld
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
	return &harvest.Claim{Name: name, Epoch: c.epoch, N: c.n, TTL: ttl, Expires: micro(c.expires)}, nil
}

// Renew implements [harvest.Store].
func (s *Store) Renew(ctx context.Context, c *harvest.Claim) error {
	if c == nil {
		return harvest.ErrFenced
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

// Release implements [harvest.Store].
func (s *Store) Release(ctx context.Context, c *harvest.Claim) error {
	if c == nil {
		return harvest.ErrFenced
	}
	k := newKey(claimKey).text(c.Name)
	return s.update(ctx, func(w *writer) error {
		held, err := w.held(c)
		if err == harvest.ErrFenced {
			return nil
		}
		if err != nil {
			return err
		}
		return w.endClaim(k, held)
	}, k)
}

// endClaim fences the holder of c and frees its name.
func (w *writer) endClaim(k key, c claim) error {
	c.epoch++
	c.expires = over
	return w.put(k, &c)
}

// held returns the claim c as it is stored, or ErrFenced.
func (r *reader) held(c *harvest.Claim) (held claim, err error) {
	if _, err := r.get(newKey(claimKey).text(c.Name), &held); err != nil {
		return claim{}, err
	}
	if held.epoch != c.Epoch || held.epoch == 0 {
		return claim{}, harvest.ErrFenced
	}
	return held, nil
}
