// Package sorted is an ordered map in memory whose state can be kept at no cost: memstore
// holds its keys in one, and a dry run what it would write.
package sorted

import "bytes"

// A Map is an ordered map from keys to values, a B+ tree. Keys and values are not copied.
type Map struct {
	root *node
	edit *edit
}

// New returns an empty Map.
func New() *Map { return (&Map{root: new(node)}).Clone() }

// Clone returns a Map with the same content, which may be changed. From then on m must
// not be changed.
func (m *Map) Clone() *Map { return &Map{root: m.root, edit: new(edit)} }

// Get returns the value of key, nil if there is none.
func (m *Map) Get(key []byte) []byte { return m.root.get(key) }

// Scan calls fn with each key in from <= key < to, in byte order, until fn returns false.
func (m *Map) Scan(from, to []byte, fn func(key, value []byte) bool) { m.root.scan(from, to, fn) }

// ScanOver calls written with each entry of m, and below with those of what lies below m whose keys m does not have, in
// the order of the keys, until one of them returns false. scan yields what lies below m.
func (m *Map) ScanOver(from, to []byte, scan func(fn func(key, value []byte) bool) error,
	written, below func(key, value []byte) bool) error {
	rest, more := bytes.Clone(from), true // of the range of m
	own := func(k, v []byte) bool {
		more = written(k, v)
		return more
	}
	err := scan(func(k, v []byte) bool {
		m.Scan(rest, k, own)
		rest = append(rest[:0], k...)
		if more && m.Get(k) == nil {
			rest = append(rest, 0)
			more = below(k, v)
		}
		return more
	})
	if err == nil && more {
		m.Scan(rest, to, own)
	}
	return err
}

// Set sets the value of key. It is not called during a Scan.
func (m *Map) Set(key, value []byte) {
	left, right := m.root.set(key, value, m.edit)
	if right != nil {
		left = &node{edit: m.edit, keys: [][]byte{left.first(), right.first()}, kids: []*node{left, right}}
	}
	m.root = left
}

// Delete removes key, if it is there. It is not called during a Scan.
func (m *Map) Delete(key []byte) {
	if m.root.get(key) == nil {
		return
	}
	m.root = m.root.delete(key, m.edit)
	for len(m.root.kids) == 1 {
		m.root = m.root.kids[0]
	}
}
