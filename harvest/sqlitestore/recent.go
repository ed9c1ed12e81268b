package sqlitestore

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/websync-go/websync/internal/sorted"
)

// Keys that lie scattered over the tree of kv need a page each: every Update would read, log and write back as many pages
// as it has keys. So what such an Update writes goes into the table recent, whose rows lie one after the other, and every
// process has it in memory, in order. When there is much of it, it is written to kv in the order of the keys: then a page
// is written once for many of them.

// A recent is what the rows of the table recent hold. What is published is never changed.
type recent struct {
	first, last int64       // rows; the first one is empty: kv has all that was written before it
	keys        *sorted.Map // form of the value, by key
	size        int         // bytes of the rows
}

// limits say which Updates go into the table recent, and how much of them.
type limits struct {
	keys  int // an Update with fewer goes to kv at once, if nothing is recent
	apart int // so does one of whose pairs of keys no more are apart: see isScattered
	bytes int
	rows  int64
}

// pairs is how many pairs of keys are looked at.
const pairs = 16

// The form of a value is one of these, and what follows.
const (
	formDeleted = iota
	formShort   // the value
	formLong    // uvarint number of the row of the table long
)

func newRecent(row int64) *recent { return &recent{first: row, last: row, keys: sorted.New()} }

func (r *recent) empty() bool { return r.first == r.last }

func (r *recent) clone() *recent {
	next := *r
	next.keys = r.keys.Clone()
	return &next
}

// add adds what a row holds.
func (r *recent) add(row []byte) error {
	r.size += len(row)
	part := func() []byte {
		n, used := binary.Uvarint(row)
		if used <= 0 || n > uint64(len(row)-used) {
			row = nil
			return nil
		}
		b := row[used : used+int(n) : used+int(n)]
		row = row[used+int(n):]
		return b
	}
	for len(row) > 0 {
		key, form := part(), part()
		if len(key) == 0 || len(form) == 0 {
			return errors.New("a row of the table recent is damaged")
		}
		r.keys.Set(key, form)
	}
	return nil
}

// follow sets c.recent to the state of the transaction that c has begun, or begins a later one.
func (s *Store) follow(c *conn) error {
	for {
		row, err := c.bounds.Step()
		var first, last int64
		if row {
			first, last = c.bounds.ColumnInt64(0), c.bounds.ColumnInt64(1)
		}
		if err = errors.Join(err, c.bounds.Reset()); err != nil {
			return err
		}
		known := s.recent.Load()
		if known.first == first && known.last == last {
			c.recent = known
			return nil
		}
		if known.first > first || known.first == first && known.last > last {
			if err := errors.Join(c.end(), c.run(c.begin)); err != nil {
				return err
			}
			continue // another goroutine has committed meanwhile
		}
		next := newRecent(first)
		if known.first == first {
			next = known.clone()
		}
		if c.recent, err = next, c.load(next); err == nil {
			s.recent.CompareAndSwap(known, next)
		}
		return err
	}
}

// load adds the rows that r does not have.
func (c *conn) load(r *recent) (err error) {
	defer func() { err = errors.Join(err, c.rows.Reset()) }()
	c.rows.BindInt64(1, r.last)
	for {
		row, err := c.rows.Step()
		if !row || err != nil {
			return err
		}
		r.last = c.rows.ColumnInt64(0)
		value := make([]byte, c.rows.ColumnLen(1))
		c.rows.ColumnBytes(1, value)
		if err := r.add(value); err != nil {
			return err
		}
	}
}

// written is what an Update has written, in rows of the table recent.
type written struct {
	rows [][]byte
	size int
}

// The room for a row, of which the first one of an Update is small: most Updates write little.
const (
	firstRow = 2 << 10
	laterRow = 64 << 10
)

// add adds a key and the parts of its form, and returns the copies of both.
func (w *written) add(key []byte, kind byte, value []byte) (k, form []byte) {
	n := 2*binary.MaxVarintLen64 + len(key) + 1 + len(value)
	last := len(w.rows) - 1
	if last < 0 || cap(w.rows[last])-len(w.rows[last]) < n {
		room := laterRow
		if last < 0 {
			room = firstRow
		}
		w.rows = append(w.rows, make([]byte, 0, max(room, n)))
		last++
	}
	b := w.rows[last]
	begin := len(b)
	b = append(binary.AppendUvarint(b, uint64(len(key))), key...)
	k = b[len(b)-len(key) : len(b) : len(b)]
	b = append(append(binary.AppendUvarint(b, uint64(1+len(value))), kind), value...)
	form = b[len(b)-1-len(value) : len(b) : len(b)]
	w.rows[last] = b
	w.size += len(b) - begin
	return k, form
}

// write notes what an Update writes to kv.
func (c *conn) write(key []byte, kind byte, value []byte) error {
	if len(c.written.rows) == 0 {
		c.recent = c.recent.clone()
	}
	if was := c.recent.keys.Get(key); len(was) > 0 && was[0] == formLong {
		if err := c.dropLong(was); err != nil {
			return err
		}
	}
	c.recent.keys.Set(c.written.add(key, kind, value))
	return nil
}

// dropLong deletes the row of a long value that kv does not name yet.
func (c *conn) dropLong(form []byte) error {
	c.removeLong.BindInt64(1, longRow(form))
	return c.run(c.removeLong)
}

func longRow(form []byte) int64 {
	n, _ := binary.Uvarint(form[1:])
	return int64(n)
}

// settle writes to the tables what the Update has written.
func (c *conn) settle(l *limits) error {
	switch r := c.recent; {
	case len(c.written.rows) == 0:
		return nil
	case r.size+c.written.size > l.bytes || r.last-r.first+int64(len(c.written.rows)) > l.rows:
		return c.merge()
	case r.empty():
		if scattered, err := c.isScattered(l); err != nil || !scattered {
			return errors.Join(err, c.merge())
		}
	}
	for _, row := range c.written.rows {
		if err := c.addRow(row); err != nil {
			return err
		}
	}
	c.recent.size += c.written.size
	return nil
}

// addRow adds a row after the last one.
func (c *conn) addRow(row []byte) error {
	c.recent.last++
	c.insertRow.BindInt64(1, c.recent.last)
	c.insertRow.BindBytes(2, row)
	return c.run(c.insertRow)
}

// merge writes all that is recent to kv, in the order of the keys, and empties the table recent.
func (c *conn) merge() (err error) {
	r := c.recent
	r.keys.Scan(nil, endOfKeys, func(key, form []byte) bool {
		switch form[0] {
		case formDeleted:
			c.remove.BindBytes(1, key)
			err = c.run(c.remove)
			return err == nil
		case formShort:
			c.set.BindBytes(2, form[1:])
			c.set.BindNull(3)
		default:
			c.set.BindNull(2)
			c.set.BindInt64(3, longRow(form))
		}
		c.set.BindBytes(1, key)
		err = c.run(c.set)
		return err == nil
	})
	if c.recent = newRecent(r.last); err != nil || r.empty() {
		return err
	}
	if err := c.addRow(nil); err != nil {
		return err
	}
	c.recent.first = c.recent.last
	c.removeRows.BindInt64(1, c.recent.first)
	return c.run(c.removeRows)
}

// endOfKeys is greater than all keys: harvest.Store limits their length.
var endOfKeys = bytes.Repeat([]byte{0xff}, 5001)

// isScattered reports whether the Update writes many keys, and kv has others between most of them.
func (c *conn) isScattered(l *limits) (bool, error) {
	var keys [][]byte
	c.recent.keys.Scan(nil, endOfKeys, func(key, _ []byte) bool {
		keys = append(keys, key)
		return true
	})
	if len(keys) < l.keys {
		return false, nil
	}
	apart := 0
	for i := range min(pairs, len(keys)-1) {
		at := i * (len(keys) - 1) / pairs
		c.between.BindBytes(1, keys[at])
		c.between.BindBytes(2, keys[at+1])
		row, err := c.between.Step()
		if err = errors.Join(err, c.between.Reset()); err != nil {
			return false, err
		}
		if row {
			apart++
		}
	}
	return apart > l.apart, nil
}
