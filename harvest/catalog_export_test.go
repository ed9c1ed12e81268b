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

// UpgradeAlso gives a Catalog a step from the layout before this one's first: page
// changes the values of all States, each once.
func UpgradeAlso(c *Catalog, page func(value []byte) []byte) {
	from := newKey(stateKey)
	c.upgrades = append([]upgrade{{from, from.end(), func(tx Tx, pairs []pair) error {
		for _, p := range pairs {
			if err := tx.Set(p.key, page(p.value)); err != nil {
				return err
			}
		}
		return nil
	}}}, c.upgrades...)
}
