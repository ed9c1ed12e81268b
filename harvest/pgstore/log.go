package pgstore

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/websync-go/websync/internal/logkey"
)

// A chunk is a row of the table log: entries of the log with consecutive numbers, each
// with its length before it. One row for many of them takes less room and less time than
// a row for each.
type chunk struct {
	first   int64 // row of the first entry, as package logkey numbers them
	entries []byte
}

// maxChunk is the size in bytes above which a chunk gets no further entry: four rows of
// this size fill a page, and PostgreSQL keeps longer values apart.
const maxChunk = 1900

// each calls fn with the entries of c until it returns false.
func (c *chunk) each(fn func(row int64, value []byte) bool) {
	rest := c.entries
	for row := c.first; len(rest) > 0; row++ {
		size, n := binary.Uvarint(rest)
		if n <= 0 || size > uint64(len(rest)-n) {
			return // what is damaged is missing
		}
		end := n + int(size)
		if !fn(row, rest[n:end:end]) {
			return
		}
		rest = rest[end:]
	}
}

// readChunk returns the chunk of a row of a result, in an Update the same one each time.
// A View may read the whole log, and keeps none.
func (t *tx) readChunk(row [][]byte) *chunk {
	first := int64(binary.BigEndian.Uint64(row[0]))
	c := t.chunks[first]
	if c == nil {
		c = &chunk{first, t.keep(row[1])}
		if t.access == writing {
			t.chunks[first] = c
		}
	}
	return c
}

// learn notes the entries of a chunk for which t was asked.
func (t *tx) learn(row [][]byte) {
	c := t.readChunk(row)
	room := make([]byte, 0, logkey.Size)
	c.each(func(row int64, value []byte) bool {
		key := logkey.Append(room, row)
		if p, asked := t.known[string(key)]; asked && !p.changed {
			t.known[string(key)] = pair{value: value, state: present, in: c}
		}
		return true
	})
}

// checkLog returns an error for a key that has the letter of the log and no row in it.
func checkLog(key []byte) error {
	if _, ok := logkey.Row(key); !ok && logkey.Is(key) {
		return fmt.Errorf("pgstore: the key %x: a key of the log has a generation below 2^%d and a number below 2^%d",
			key, logkey.GenerationBits, logkey.SeqBits)
	}
	return nil
}

// An entry is an entry of the log that is to be written.
type entry struct {
	row   int64
	value []byte
}

// addLog adds the statements that write entries, and again what is left of the chunks in
// which something has changed.
func (t *tx) addLog(b *batch, entries []entry, changed map[*chunk]bool) {
	var old []int64
	room := make([]byte, 0, logkey.Size)
	for c := range changed {
		old = append(old, c.first)
		c.each(func(row int64, value []byte) bool {
			if p := t.known[string(logkey.Append(room, row))]; p.changed {
				value = p.value
			}
			if value != nil {
				entries = append(entries, entry{row, value})
			}
			return true
		})
	}
	if len(old) > 0 {
		slices.Sort(old)
		b.add(t.db.sql.removeLog, nil, old)
	}
	slices.SortFunc(entries, func(x, y entry) int { return cmp.Compare(x.row, y.row) })
	var rows []int64
	var chunks [][]byte
	size := 0
	flush := func() {
		if len(rows) > 0 {
			b.add(t.db.sql.insertLog, nil, rows, chunks)
		}
		rows, chunks, size = nil, nil, 0
	}
	for i, e := range entries {
		last := len(chunks) - 1
		if last < 0 || entries[i-1].row+1 != e.row || len(chunks[last])+len(e.value) > maxChunk {
			if size > maxStatement {
				flush()
			}
			rows, chunks = append(rows, e.row), append(chunks, nil)
			last = len(chunks) - 1
		}
		chunks[last] = append(binary.AppendUvarint(chunks[last], uint64(len(e.value))), e.value...)
		size += len(e.value)
	}
	flush()
}

// chunksOf is how many entries a chunk has, about.
const chunksOf = 16

// addScan adds the statement that reads a page of the log, and sets p.end if there is
// more of it.
func (p *page) addScan(b *batch, from, to []byte) {
	from, to = latest(from, logkey.From), earliest(to, logkey.To)
	if bytes.Compare(from, to) >= 0 {
		return
	}
	first, end := logkey.Bound(from), logkey.Bound(to)
	limit := p.left/chunksOf + 2
	rows := 0
	b.add(p.t.db.sql.scanLog, func(row [][]byte) {
		c := p.t.readChunk(row)
		rows++
		c.each(func(row int64, value []byte) bool {
			if row < first || row >= end {
				return row < end
			}
			key := logkey.Append(make([]byte, 0, logkey.Size), row)
			p.others = append(p.others, [2][]byte{key, value})
			if rows == limit {
				p.end = logkey.Append(make([]byte, 0, logkey.Size), row+1)
			}
			if _, known := p.t.known[string(key)]; !known && p.t.access == writing {
				p.t.known[string(key)] = pair{value: value, state: present, in: c}
			}
			return true
		})
	}, first, end, int64(limit))
}

func latest(a, b []byte) []byte {
	if bytes.Compare(a, b) < 0 {
		return b
	}
	return a
}

func earliest(a, b []byte) []byte {
	if bytes.Compare(a, b) > 0 {
		return b
	}
	return a
}
