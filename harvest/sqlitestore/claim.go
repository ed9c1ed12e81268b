package sqlitestore

import (
	"context"
	"time"

	"github.com/websync-go/websync/harvest"
)

// Claim implements [harvest.Store]. The claim of a Store that was closed, or whose
// process ended in whatever way, need not expire to be taken over.
func (s *Store) Claim(ctx context.Context, name string, ttl time.Duration) (*harvest.Claim, error) {
	claim := &harvest.Claim{Name: name, TTL: ttl}
	err := s.write(ctx, func(c *conn) error { return s.claim(c, claim) })
	if err != nil {
		return nil, wrap(err)
	}
	return claim, nil
}

func (s *Store) claim(c *conn, claim *harvest.Claim) error {
	row, err := c.one("SELECT epoch, n, held, expires, owner, ttl FROM claims WHERE name = ?", bytesOf(claim.Name))
	if err != nil {
		return err
	}
	if row != nil {
		held, left, owner, ttl := integer(row[2]) != 0, integer(row[3])-s.micros(), string(blob(row[4])), integer(row[5])
		ahead := ttl > 0 && left > 2*ttl // it was made by a clock that was ahead
		if held && left > 0 && !ahead && !s.owner.dead(owner) {
			return harvest.ErrHeld
		}
		claim.Epoch, claim.N = uint64(integer(row[0])), uint64(integer(row[1]))
	}
	claim.Epoch++
	expires := s.expiry(claim)
	claim.Expires = timeOf(expires)
	return c.exec(`INSERT INTO claims (name, epoch, n, held, expires, owner, ttl) VALUES (?1, ?2, ?3, 1, ?4, ?5, ?6)
		ON CONFLICT DO UPDATE SET epoch = ?2, held = 1, expires = ?4, owner = ?5, ttl = ?6`,
		bytesOf(claim.Name), int64(claim.Epoch), int64(claim.N), expires, s.owner.key(), claim.TTL.Microseconds())
}

// expiry returns when a claim made or renewed now expires.
func (s *Store) expiry(c *harvest.Claim) int64 { return s.now().Add(c.TTL).UnixMicro() }

// Renew implements [harvest.Store].
func (s *Store) Renew(ctx context.Context, c *harvest.Claim) error {
	if c == nil {
		return wrap(harvest.ErrFenced)
	}
	expires := s.expiry(c)
	err := s.write(ctx, func(conn *conn) error {
		changed, err := conn.execContext(context.Background(),
			"UPDATE claims SET expires = ?, ttl = ? WHERE name = ? AND epoch = ? AND held",
			expires, c.TTL.Microseconds(), bytesOf(c.Name), int64(c.Epoch))
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
	if c == nil {
		return wrap(harvest.ErrFenced)
	}
	return wrap(s.write(ctx, func(conn *conn) error {
		return conn.exec("UPDATE claims SET held = 0 WHERE name = ? AND epoch = ?", bytesOf(c.Name), int64(c.Epoch))
	}))
}
