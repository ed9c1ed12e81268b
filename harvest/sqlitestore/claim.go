package sqlitestore

import (
	"context"
	"time"

	"github.com/websync-go/websync/harvest"
)

// Claim implements [harvest.Store]. The claim of a Store that was closed, or whose process ended in whatever way, need
// not expire to be taken over.
func (s *Store) Claim(ctx context.Context, name string, ttl time.Duration) (*harvest.Claim, error) {
	claim := &harvest.Claim{Name: name, TTL: ttl}
	err := s.write(ctx, func(c *conn) error { return s.claim(c, claim) })
	if err != nil {
		return nil, wrap(err)
	}
	return claim, nil
}

func (s *Store) claim(c *conn, claim *harvest.Claim) error {
	row, err := c.one("SELECT epoch, n, held, expires, owner FROM claims WHERE name = ?", bytesOf(claim.Name))
	if err != nil {
		return err
	}
	if row != nil {
		held, expires, owner := integer(row[2]) != 0, integer(row[3]), string(blob(row[4]))
		if held && s.micros() < expires && !s.owner.dead(owner) {
			return harvest.ErrHeld
		}
		claim.Epoch, claim.N = uint64(integer(row[0])), uint64(integer(row[1]))
	}
	claim.Epoch++
	expires := s.expiry(claim)
	claim.Expires = timeOf(expires)
	return c.exec(`INSERT INTO claims (name, epoch, n, held, expires, owner) VALUES (?1, ?2, ?3, 1, ?4, ?5)
		ON CONFLICT DO UPDATE SET epoch = ?2, held = 1, expires = ?4, owner = ?5`,
		bytesOf(claim.Name), int64(claim.Epoch), int64(claim.N), expires, s.owner.key())
}

// expiry returns when a claim made or renewed now expires.
func (s *Store) expiry(c *harvest.Claim) int64 { return s.now().Add(c.TTL).UnixMicro() }

// Renew implements [harvest.Store].
func (s *Store) Renew(ctx context.Context, c *harvest.Claim) error {
	expires := s.expiry(c)
	err := s.write(ctx, func(conn *conn) error {
		changed, err := conn.execContext(context.Background(),
			"UPDATE claims SET expires = ? WHERE name = ? AND epoch = ? AND held", expires, bytesOf(c.Name), int64(c.Epoch))
		if err == nil && changed == 0 {
			err = harvest.ErrFenced
		}
		return err
	})
	if err != nil {
		return wrap(err)
	}
	c.Expires = timeOf(expires)
	return nil
}

// Release implements [harvest.Store].
func (s *Store) Release(ctx context.Context, c *harvest.Claim) error {
	return wrap(s.write(ctx, func(conn *conn) error {
		return conn.exec("UPDATE claims SET held = 0 WHERE name = ? AND epoch = ?", bytesOf(c.Name), int64(c.Epoch))
	}))
}
