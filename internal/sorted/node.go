package sorted

import (
	"bytes"
	"slices"
)

// An edit is the identity of a Map. A node belongs to the Map that made it, which alone
// may change it; others copy it first. So a Map that was cloned never changes.
type edit struct{ _ byte }

// A node of a B+ tree. Entries lie in the leaves.
type node struct {
	edit *edit
	// keys are those of the entries of a leaf. In other nodes there is one for each kid,
	// not greater than the kid's first key.
	keys   [][]byte
	values [][]byte // of a leaf
	kids   []*node
}

// maxKeys is how many keys a node holds at most. Small nodes are cheap to copy.
const maxKeys = 32

func (n *node) leaf() bool { return n.kids == nil }

func (n *node) first() []byte { return n.keys[0] }

// search returns the index of the first key >= key, and whether it is key.
func (n *node) search(key []byte) (int, bool) {
	low, high := 0, len(n.keys)
	for low < high {
		mid := int(uint(low+high) >> 1)
		switch c := bytes.Compare(n.keys[mid], key); {
		case c == 0:
			return mid, true
		case c < 0:
			low = mid + 1
		default:
			high = mid
		}
	}
	return low, false
}

// kid returns the index of the kid that key belongs to.
func (n *node) kid(key []byte) int {
	i, ok := n.search(key)
	if !ok {
		i = max(i-1, 0)
	}
	return i
}

func (n *node) get(key []byte) []byte {
	for !n.leaf() {
		n = n.kids[n.kid(key)]
	}
	if i, ok := n.search(key); ok {
		return n.values[i]
	}
	return nil
}

// scan reports whether to go on with the next leaf: fn returned true, and every key was
// less than to.
func (n *node) scan(from, to []byte, fn func(key, value []byte) bool) bool {
	if !n.leaf() {
		for i := n.kid(from); i < len(n.kids) && (i == 0 || bytes.Compare(n.keys[i], to) < 0); i++ {
			if !n.kids[i].scan(from, to, fn) {
				return false
			}
		}
		return true
	}
	for i, _ := n.search(from); i < len(n.keys); i++ {
		if bytes.Compare(n.keys[i], to) >= 0 || !fn(n.keys[i], n.values[i]) {
			return false
		}
	}
	return true
}

// own returns n, or a copy of it, that e may change.
func (n *node) own(e *edit) *node {
	if n.edit == e {
		return n
	}
	return newNode(n, 0, e)
}

// newNode returns a node with what n has from index at on.
func newNode(n *node, at int, e *edit) *node {
	c := &node{edit: e, keys: roomy(n.keys[at:])}
	if n.leaf() {
		c.values = roomy(n.values[at:])
	} else {
		c.kids = roomy(n.kids[at:])
	}
	return c
}

// roomy copies s and leaves room for all that a node may hold before it is split.
func roomy[T any](s []T) []T { return append(make([]T, 0, maxKeys+1), s...) }

// set returns the node with key in it, and the node that was split off its end, if any.
func (n *node) set(key, value []byte, e *edit) (left, right *node) {
	n = n.own(e)
	if !n.leaf() {
		i := n.kid(key)
		kid, split := n.kids[i].set(key, value, e)
		n.kids[i] = kid
		n.keys[i] = kid.first()
		if split == nil {
			return n, nil
		}
		n.keys = slices.Insert(n.keys, i+1, split.first())
		n.kids = slices.Insert(n.kids, i+1, split)
		return n, n.split(i+1, e)
	}
	i, ok := n.search(key)
	if ok {
		n.values[i] = value
		return n, nil
	}
	n.keys = slices.Insert(n.keys, i, key)
	n.values = slices.Insert(n.values, i, value)
	return n, n.split(i, e)
}

// split cuts a node that is too large in two. When its last key has just been added, at
// index last, the keys probably come in their order, and the first node stays full.
func (n *node) split(last int, e *edit) *node {
	if len(n.keys) <= maxKeys {
		return nil
	}
	at := len(n.keys) / 2
	if last == len(n.keys)-1 {
		at = last
	}
	right := newNode(n, at, e)
	clear(n.keys[at:])
	n.keys = n.keys[:at]
	if n.leaf() {
		clear(n.values[at:])
		n.values = n.values[:at]
	} else {
		clear(n.kids[at:])
		n.kids = n.kids[:at]
	}
	return right
}

// delete returns the node without key, which is there.
func (n *node) delete(key []byte, e *edit) *node {
	n = n.own(e)
	if n.leaf() {
		i, _ := n.search(key)
		n.keys = slices.Delete(n.keys, i, i+1)
		n.values = slices.Delete(n.values, i, i+1)
		return n
	}
	i := n.kid(key)
	n.kids[i] = n.kids[i].delete(key, e)
	n.tidy(i, e)
	return n
}

// tidy joins kid i with a neighbour when both are small.
func (n *node) tidy(i int, e *edit) {
	switch small := len(n.kids[i].keys); {
	case small >= maxKeys/4 || len(n.kids) == 1:
	case i > 0 && len(n.kids[i-1].keys)+small <= maxKeys*3/4:
		n.join(i-1, e)
	case i+1 < len(n.kids) && len(n.kids[i+1].keys)+small <= maxKeys*3/4:
		n.join(i, e)
	case small == 0:
		n.keys = slices.Delete(n.keys, i, i+1)
		n.kids = slices.Delete(n.kids, i, i+1)
	}
}

// join appends kid i+1 to kid i.
func (n *node) join(i int, e *edit) {
	left, right := n.kids[i].own(e), n.kids[i+1]
	left.keys = append(left.keys, right.keys...)
	left.values = append(left.values, right.values...)
	left.kids = append(left.kids, right.kids...)
	n.kids[i] = left
	n.keys = slices.Delete(n.keys, i+1, i+2)
	n.kids = slices.Delete(n.kids, i+1, i+2)
}
