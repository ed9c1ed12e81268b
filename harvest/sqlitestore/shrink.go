package sqlitestore

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/websync-go/websync/harvest"
)

const (
	shrinkPages = 1000                  // in one step
	shrinkRest  = 10 * time.Millisecond // for others, between two steps
	// shrinkTries is how often Shrink tries to empty the write-ahead log while others
	// read it.
	shrinkTries = 20
)

// Shrink implements [harvest.Shrinker]. SQLite overwrites what is deleted
// (secure_delete), except for copies that rows have left when they moved to another page
// of their tree. Shrink moves what is recent to kv, makes the file shorter by the pages
// that are not in use, overwrites those copies, and empties the write-ahead log. Files of
// earlier versions keep their length and those copies.
func (s *Store) Shrink(ctx context.Context) error {
	free := 0
	for before := -1; free != before; {
		before = free
		err := s.step(ctx, func(c *conn) (err error) {
			if err = c.merge(); err == nil {
				_, err = c.pragma(fmt.Sprintf("incremental_vacuum(%d)", shrinkPages))
			}
			if err == nil {
				free, err = c.number("freelist_count")
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	for page := 2; page > 0; {
		if err := s.step(ctx, func(c *conn) (err error) {
			page, err = c.wipe(page)
			return err
		}); err != nil {
			return err
		}
	}
	return wrap(s.truncateLog(ctx))
}

// step calls fn in an Update, and rests.
func (s *Store) step(ctx context.Context, fn func(*conn) error) error {
	err := s.Update(ctx, func(tx harvest.Tx) error { return wrap(fn(tx.(*conn))) })
	if err == nil {
		err = errors.Join(s.Rest(ctx), pause(ctx, shrinkRest))
	}
	return err
}

// number returns the answer of a pragma.
func (c *conn) number(pragma string) (int, error) {
	answer, err := c.pragma(pragma)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(answer)
}

// The types of pages in a page of a pointer map, of which each entry has 5 bytes.
const (
	pageRoot = 1
	pageTree = 5
)

// wipe overwrites what is not in use of the pages of trees after the pointer map in page
// first, and returns the number of the next pointer map; 0 if there is none.
func (c *conn) wipe(first int) (next int, err error) {
	var numbers [3]int
	for i, pragma := range [...]string{"auto_vacuum", "page_count", "page_size"} {
		if numbers[i], err = c.number(pragma); err != nil {
			return 0, err
		}
	}
	hasMap, pages, size := numbers[0] != 0, numbers[1], numbers[2]
	if !hasMap {
		return 0, nil
	}
	at := first
	if lockPage := 1<<30/size + 1; first == lockPage { // SQLite does not use it
		at++
	}
	types, page := make([]byte, size), make([]byte, size)
	if err := c.readPage(at, types); err != nil {
		return 0, err
	}
	for n := range min(size/5, pages-at) {
		if kind := types[5*n]; kind != pageRoot && kind != pageTree {
			continue
		}
		if err := c.readPage(at+1+n, page); err != nil {
			return 0, err
		}
		if wipeGap(page) {
			if err := c.writePage(at+1+n, page); err != nil {
				return 0, err
			}
		}
	}
	if next = first + 1 + size/5; next >= pages {
		next = 0
	}
	return next, nil
}

// readPage reads a page of the file.
func (c *conn) readPage(n int, page []byte) error {
	s, err := c.Prepare("SELECT data FROM sqlite_dbpage WHERE pgno = ?")
	if err != nil {
		return err
	}
	s.BindInt64(1, int64(n))
	_, err = s.Step()
	s.ColumnBytes(0, page)
	return errors.Join(err, s.Reset())
}

// writePage replaces a page of the file.
func (c *conn) writePage(n int, page []byte) error {
	s, err := c.Prepare("UPDATE sqlite_dbpage SET data = ? WHERE pgno = ?")
	if err != nil {
		return err
	}
	s.BindBytes(1, page)
	s.BindInt64(2, int64(n))
	return c.run(s)
}

// wipeGap overwrites the gap between the pointers of the page of a tree and its rows, and
// reports whether there was anything.
func wipeGap(page []byte) bool {
	from := 8 + 2*int(binary.BigEndian.Uint16(page[3:]))
	if page[0] < 8 { // not a leaf
		from += 4
	}
	to := int(binary.BigEndian.Uint16(page[5:]))
	if from >= to || to > len(page) {
		return false
	}
	gap := page[from:to]
	had := bytes.ContainsFunc(gap, func(r rune) bool { return r != 0 })
	clear(gap)
	return had
}

// truncateLog makes the write-ahead log empty, unless others go on reading it.
func (s *Store) truncateLog(ctx context.Context) error {
	if err := s.acquire(ctx, s.writing); err != nil {
		return err
	}
	defer func() { <-s.writing }()
	for range shrinkTries {
		isBusy, err := s.writer.pragma("wal_checkpoint(TRUNCATE)")
		if !busy(err) && (err != nil || isBusy == "0") {
			return err
		}
		if err := pause(ctx, shrinkRest); err != nil {
			return err
		}
	}
	return nil
}
