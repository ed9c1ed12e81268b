package status

import (
	"cmp"
	"maps"
	"slices"
)

// keep is how many rows of a table are counted apart, at least.
const keep = 100

// A row is what a table counts under one name.
type row[T any] interface {
	*T
	add(*T)        // the counts of another row
	weight() int64 // of rows that are too many, the lightest are counted together
}

// A table counts by name in bounded memory. When it has twice keep names, the lightest of
// them are added to others. A name that comes again after that has a new row.
type table[T any, R row[T]] struct {
	rows   map[string]*T
	others T
	folded int64 // rows that others holds
}

// at returns the row of a name.
func (t *table[T, R]) at(name string) *T {
	if row := t.rows[name]; row != nil {
		return row
	}
	if t.rows == nil {
		t.rows = map[string]*T{}
	}
	if len(t.rows) >= 2*keep {
		for _, light := range t.sorted()[keep:] {
			t.fold(light)
		}
	}
	row := new(T)
	t.rows[name] = row
	return row
}

func (t *table[T, R]) fold(name string) {
	R(&t.others).add(t.rows[name])
	t.folded++
	delete(t.rows, name)
}

// sorted returns the names, the heaviest first.
func (t *table[T, R]) sorted() []string {
	return slices.SortedFunc(maps.Keys(t.rows), func(a, b string) int {
		return cmp.Or(cmp.Compare(R(t.rows[b]).weight(), R(t.rows[a]).weight()), cmp.Compare(a, b))
	})
}

// top returns the n heaviest names, and all other rows in one.
func (t *table[T, R]) top(n int) (names []string, others T, folded int64) {
	names, others, folded = t.sorted(), t.others, t.folded
	if len(names) <= n {
		return names, others, folded
	}
	for _, light := range names[n:] {
		R(&others).add(t.rows[light])
		folded++
	}
	return names[:n], others, folded
}
