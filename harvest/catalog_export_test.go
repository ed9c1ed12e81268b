package harvest

import "context"

// StoreOf returns the Store of a Catalog.
func StoreOf(c *Catalog) Store { return c.store }

// OnePage makes each step of the maintenance of s one page long.
func OnePage(s *Catalog) *Catalog {
	s.onePage = true
	return s
}

// Keys counts the keys that begin with letter.
func Keys(ctx context.Context, db Store, letter byte) (n int) {
	db.View(ctx, func(r Reader) error {
		from := newKey(letter)
		return r.Scan(from, from.end(), 1, func(_, _ []byte) bool {
			n++
			return true
		})
	})
	return n
}
