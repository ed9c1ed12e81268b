package kvstore

import "context"

// OnePage makes each step of the maintenance of s one page long.
func OnePage(s *Store) *Store {
	s.onePage = true
	return s
}

// Keys counts the keys that begin with letter.
func Keys(ctx context.Context, db DB, letter byte) (n int) {
	db.View(ctx, func(r Reader) error {
		from := newKey(letter)
		return r.Scan(from, from.end(), func(_, _ []byte) bool {
			n++
			return true
		})
	})
	return n
}
