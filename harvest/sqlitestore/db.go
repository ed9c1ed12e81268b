package sqlitestore

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"zombiezen.com/go/sqlite"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/logkey"
)

// readers is the number of connections that read.
const readers = 4

// busyTimeout is how long SQLite itself waits for a lock. It does not know contexts, so
// it is short; db.patiently repeats the statement. SQLite asks less and less often as it
// waits, so writerTimeout is even shorter: a writer asks every few milliseconds, and does
// not miss the moment when another process has ended one Update and not begun the next.
const (
	busyTimeout   = 200 * time.Millisecond
	writerTimeout = 5 * time.Millisecond
)

// A Store is one SQLite file, with long bodies beside it.
type Store struct {
	file  string // absolute, without symbolic links
	info  os.FileInfo
	cache int
	wait  time.Duration
	// volatile: nothing is flushed to disk
	volatile    bool
	synchronous string // the pragma
	upgrades    [][]string

	owner *owner

	recent atomic.Pointer[recent] // the latest that this process knows
	limits limits

	writing chan struct{} // holds a token while writer is in use
	writer  *conn
	reading chan struct{} // holds a token for each reader in use
	mu      sync.Mutex
	idle    []*conn // readers not in use
	// unsynced are directories with new files whose names may not be durable, and files
	// of which bytes were erased.
	unsynced map[string]bool

	closed    chan struct{}
	closeOnce func() error
}

var (
	_ harvest.Store    = (*Store)(nil)
	_ harvest.Owners   = (*Store)(nil)
	_ harvest.Rester   = (*Store)(nil)
	_ harvest.Shrinker = (*Store)(nil)
)

// View implements [harvest.Store].
func (s *Store) View(ctx context.Context, fn func(harvest.Reader) error) error {
	return s.withReader(ctx, func(c *conn) error {
		if err := errors.Join(c.run(c.begin), s.follow(c)); err != nil {
			return wrap(err)
		}
		return fn(c)
	})
}

// Rest implements [harvest.Rester]. It copies what the write-ahead log has to the
// database, which does not keep others from writing: SQLite would have the Commit of
// another process do it, and that would take long after the large Updates of maintenance.
func (s *Store) Rest(ctx context.Context) error {
	return s.withReader(ctx, func(c *conn) error {
		_, err := c.pragma("wal_checkpoint(PASSIVE)")
		if busy(err) { // another connection is copying
			err = nil
		}
		return wrap(err)
	})
}

// withReader calls fn with a connection that reads, and ends its transaction.
func (s *Store) withReader(ctx context.Context, fn func(*conn) error) (err error) {
	if err := s.acquire(ctx, s.reading); err != nil {
		return wrap(err)
	}
	defer func() { <-s.reading }()
	c, err := s.reader(ctx)
	if err != nil {
		return wrap(err)
	}
	defer func() { err = s.release(c, err) }() // also if fn panics
	return fn(c)
}

// release ends the transaction of a connection that reads. It returns err, the error of
// its use, and its own.
func (s *Store) release(c *conn, err error) error {
	c.emptyArena()
	if !c.AutocommitEnabled() {
		if end := c.end(); end != nil {
			return errors.Join(err, wrap(end), c.Close()) // the connection may be in a transaction
		}
	}
	s.mu.Lock()
	s.idle = append(s.idle, c)
	s.mu.Unlock()
	return err
}

// Update implements [harvest.Store]. It is durable when Update returns.
func (s *Store) Update(ctx context.Context, fn func(harvest.Tx) error) error {
	if err := s.acquire(ctx, s.writing); err != nil {
		return wrap(err)
	}
	defer func() { <-s.writing }()
	c := s.writer
	if err := s.patiently(ctx, func() error { return c.run(c.beginWrite) }); err != nil {
		return wrap(err)
	}
	applied := false
	defer func() { // also if fn panics
		if !applied {
			c.end() // its error is ignored: SQLite may have rolled back already
		}
		c.emptyArena()
		c.written = written{}
	}()
	err := wrap(s.follow(c))
	if err == nil {
		err = fn(c)
	}
	if err == nil {
		err = wrap(errors.Join(c.settle(&s.limits), s.sync(), s.checkInPlace()))
	}
	if err == nil {
		err = wrap(c.run(c.commit))
	}
	if applied = err == nil; applied {
		s.recent.Store(c.recent)
	}
	return err
}

// checkInPlace refuses to write to a file that was removed or renamed: SQLite would not
// notice, and what it writes would be lost when the file is closed.
func (s *Store) checkInPlace() error {
	info, err := os.Stat(s.file)
	if err == nil && !os.SameFile(info, s.info) {
		err = fmt.Errorf("%s was replaced by another file while it was open", s.file)
	}
	return err
}

// patiently repeats f while another process has the database locked.
func (s *Store) patiently(ctx context.Context, f func() error) error {
	start := time.Now()
	for {
		err := f()
		if !busy(err) || s.wait > 0 && time.Since(start) > s.wait {
			return err
		}
		// SQLite itself has waited, except where it expects a deadlock
		if err := pause(ctx, 5*time.Millisecond); err != nil {
			return err
		}
	}
}

// pause waits.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

func busy(err error) bool { return sqlite.ErrCode(err).ToPrimary() == sqlite.ResultBusy }

// acquire takes a token of sem.
func (s *Store) acquire(ctx context.Context, sem chan struct{}) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-s.closed:
		return os.ErrClosed
	default:
	}
	select {
	case sem <- struct{}{}:
		return nil
	case <-s.closed:
		return os.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Store) reader(ctx context.Context) (*conn, error) {
	s.mu.Lock()
	if n := len(s.idle); n > 0 {
		c := s.idle[n-1]
		s.idle = s.idle[:n-1]
		s.mu.Unlock()
		return c, nil
	}
	s.mu.Unlock()
	c, err := s.connect(ctx, sqlite.OpenReadWrite, s.cache/2/readers, "query_only = on")
	if err != nil {
		return nil, err
	}
	if err = c.prepare(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (s *Store) close() error {
	close(s.closed)
	s.writing <- struct{}{} // never released
	for range readers {
		s.reading <- struct{}{}
	}
	var errs []error
	for _, c := range s.idle {
		errs = append(errs, c.Close())
	}
	errs = append(errs, s.writer.Close(), s.owner.close())
	return errors.Join(errs...)
}

// Owner implements [harvest.Owners].
func (s *Store) Owner() string { return s.owner.key() }

// Dead implements [harvest.Owners].
func (s *Store) Dead(owner string) bool { return s.owner.dead(owner) }

// A conn is one connection with its prepared statements. In a transaction it is a
// [harvest.Tx].
type conn struct {
	*sqlite.Conn
	begin, beginWrite, commit, rollback *sqlite.Stmt
	get, getLong, scan                  *sqlite.Stmt
	set, setLong, remove, removeLong    *sqlite.Stmt
	bounds, rows, insertRow, removeRows *sqlite.Stmt
	between                             *sqlite.Stmt
	getLog, scanLog, setLog, removeLog  *sqlite.Stmt

	arena   []byte  // the results of Get and Scan in this transaction
	recent  *recent // likewise
	written written // in this Update
}

// connect returns a connection with a cache of the given number of bytes. The settings
// make SQLite read the schema, so it may have to wait for a process that locks the
// database as it closes it.
func (s *Store) connect(ctx context.Context, mode sqlite.OpenFlags, cache int, pragmas ...string) (c *conn, err error) {
	err = s.patiently(ctx, func() error {
		opened, err := sqlite.OpenConn(s.file, mode)
		if err != nil {
			return err
		}
		c = &conn{Conn: opened}
		c.SetBusyTimeout(busyTimeout)
		for _, pragma := range append([]string{
			fmt.Sprintf("cache_size = -%d", max(cache>>10, 64)), // KiB
			"synchronous = " + s.synchronous,
			"fullfsync = on", // macOS: an fsync reaches the disk
			"checkpoint_fullfsync = on",
			"temp_store = file",
			"mmap_size = 0",
			// 16 MB in pages: fewer copies of pages that are rewritten often
			"wal_autocheckpoint = 4000",
			fmt.Sprintf("journal_size_limit = %d", 64<<20),
			"trusted_schema = off",
			"secure_delete = on", // see Shrink
		}, pragmas...) {
			if _, err := c.pragma(pragma); err != nil {
				return errors.Join(err, c.Close())
			}
		}
		return nil
	})
	return c, err
}

// pragma returns the answer, "" if there is none.
func (c *conn) pragma(pragma string) (answer string, err error) {
	return c.ask("PRAGMA " + pragma)
}

// ask runs any one statement and returns the first column of the first row as text.
func (c *conn) ask(sql string) (answer string, err error) {
	s, _, err := c.PrepareTransient(sql)
	if err != nil {
		return "", err
	}
	defer s.Finalize()
	row, err := s.Step()
	if row {
		answer = s.ColumnText(0)
	}
	for row && err == nil {
		row, err = s.Step()
	}
	return answer, err
}

func (c *conn) prepare() (err error) {
	for _, p := range []struct {
		to  **sqlite.Stmt
		sql string
	}{
		{&c.begin, "BEGIN"},
		{&c.beginWrite, "BEGIN IMMEDIATE"},
		{&c.commit, "COMMIT"},
		{&c.rollback, "ROLLBACK"},
		{&c.get, sqlGet},
		{&c.getLong, sqlGetLong},
		{&c.scan, sqlScan},
		{&c.set, sqlSet},
		{&c.setLong, sqlSetLong},
		{&c.remove, sqlDelete},
		{&c.removeLong, sqlDeleteLong},
		{&c.bounds, sqlBounds},
		{&c.rows, sqlRows},
		{&c.insertRow, sqlInsertRow},
		{&c.removeRows, sqlDeleteRows},
		{&c.between, sqlBetween},
		{&c.getLog, sqlGetLog},
		{&c.scanLog, sqlScanLog},
		{&c.setLog, sqlSetLog},
		{&c.removeLog, sqlDeleteLog},
	} {
		if *p.to, err = c.Prepare(p.sql); err != nil {
			return err
		}
	}
	return nil
}

const (
	sqlGet     = "SELECT value, long FROM kv WHERE key = ?"
	sqlGetLong = "SELECT value FROM long WHERE n = ?"
	sqlScan    = "SELECT key, value, long FROM kv WHERE key >= ? AND key < ? ORDER BY key"
	sqlSet     = "INSERT INTO kv (key, value, long) VALUES (?, ?, ?) " +
		"ON CONFLICT DO UPDATE SET value = excluded.value, long = excluded.long"
	sqlSetLong = "INSERT INTO long (value) VALUES (?)"
	sqlDelete  = "DELETE FROM kv WHERE key = ?"
	sqlBetween = "SELECT 1 FROM kv WHERE key > ? AND key < ? LIMIT 1"

	sqlDeleteLong = "DELETE FROM long WHERE n = ?"

	sqlBounds     = "SELECT (SELECT min(n) FROM recent), (SELECT max(n) FROM recent)"
	sqlRows       = "SELECT n, writes FROM recent WHERE n > ? ORDER BY n"
	sqlInsertRow  = "INSERT INTO recent (n, writes) VALUES (?, ?)"
	sqlDeleteRows = "DELETE FROM recent WHERE n < ?"

	sqlGetLog    = "SELECT value FROM log WHERE n = ?"
	sqlScanLog   = "SELECT n, value FROM log WHERE n >= ? AND n < ? ORDER BY n"
	sqlSetLog    = "INSERT INTO log (n, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value"
	sqlDeleteLog = "DELETE FROM log WHERE n = ?"
)

// run runs a statement that has no rows.
func (c *conn) run(s *sqlite.Stmt) error {
	_, err := s.Step()
	return errors.Join(err, s.Reset())
}

// end rolls back the transaction.
func (c *conn) end() error { return c.run(c.rollback) }

// The arena grows to what a transaction of usual size needs, and is kept for the next.
const (
	minArena = 64 << 10
	maxArena = 256 << 10
)

// emptyArena ends what room has returned. One that had room for a long value goes.
func (c *conn) emptyArena() {
	if cap(c.arena) > maxArena {
		c.arena = nil
	}
	c.arena = c.arena[:0]
}

// room returns an empty slice with room for n bytes, valid until the transaction ends.
func (c *conn) room(n int) []byte {
	if cap(c.arena)-len(c.arena) < n {
		c.arena = make([]byte, 0, max(n, min(2*cap(c.arena), maxArena), minArena))
	}
	at := len(c.arena)
	c.arena = c.arena[:at+n]
	return c.arena[at : at : at+n]
}

// column returns a copy of a column that is valid until the transaction ends.
func (c *conn) column(s *sqlite.Stmt, i int) []byte {
	n := s.ColumnLen(i)
	b := c.room(n)[:n]
	s.ColumnBytes(i, b)
	return b
}

// Get implements [harvest.Reader].
func (c *conn) Get(key []byte) (value []byte, err error) {
	get, long := c.get, true
	if logkey.Is(key) {
		get, long = c.getLog, false
		n, ok := logkey.Row(key)
		if !ok {
			return nil, nil
		}
		get.BindInt64(1, n)
	} else {
		if form := c.recent.keys.Get(key); form != nil {
			value, err := c.formed(form)
			return value, wrap(err)
		}
		get.BindBytes(1, key)
	}
	row, err := get.Step()
	if row && long {
		value, err = c.value(get, 0)
	} else if row {
		value = c.column(get, 0)
	}
	return value, wrap(errors.Join(err, get.Reset()))
}

// value returns the value in columns i and i+1.
func (c *conn) value(s *sqlite.Stmt, i int) (value []byte, err error) {
	if n := s.ColumnInt64(i + 1); n != 0 {
		return c.long(n)
	}
	return c.column(s, i), nil
}

// formed returns the value of a form; nil if that is of a deleted key.
func (c *conn) formed(form []byte) ([]byte, error) {
	switch form[0] {
	case formDeleted:
		return nil, nil
	case formShort:
		return form[1:], nil
	}
	return c.long(longRow(form))
}

func (c *conn) long(n int64) (value []byte, err error) {
	c.getLong.BindInt64(1, n)
	row, err := c.getLong.Step()
	if row {
		value = c.column(c.getLong, 0)
	}
	return value, errors.Join(err, c.getLong.Reset())
}

// Scan implements [harvest.Reader].
func (c *conn) Scan(from, to []byte, _ int, fn func(key, value []byte) bool) error {
	for _, part := range [...]struct {
		from, to []byte // of the keys
		scan     func(from, to []byte, fn func(key, value []byte) bool) (more bool, err error)
	}{{nil, logkey.From, c.scanKV}, {logkey.From, logkey.To, c.scanLogKeys}, {logkey.To, nil, c.scanKV}} {
		begin, end := from, to
		if bytes.Compare(begin, part.from) < 0 {
			begin = part.from
		}
		if part.to != nil && bytes.Compare(end, part.to) > 0 {
			end = part.to
		}
		if bytes.Compare(begin, end) >= 0 {
			continue
		}
		if more, err := part.scan(begin, end, fn); err != nil || !more {
			return wrap(err)
		}
	}
	return nil
}

func (c *conn) scanKV(from, to []byte, fn func(key, value []byte) bool) (more bool, err error) {
	more = true
	written := func(key, form []byte) bool {
		value, e := c.formed(form)
		if err = e; err == nil && value != nil {
			more = fn(key, value)
		}
		return more && err == nil
	}
	scanErr := c.recent.keys.ScanOver(from, to, func(fn func(key, value []byte) bool) (err error) {
		more, err = c.scanRows(from, to, fn)
		return err
	}, written, fn)
	return more, errors.Join(err, scanErr)
}

// scanRows is scanKV without what is recent.
func (c *conn) scanRows(from, to []byte, fn func(key, value []byte) bool) (more bool, err error) {
	defer func() { err = errors.Join(err, c.scan.Reset()) }()
	c.scan.BindBytes(1, from)
	c.scan.BindBytes(2, to)
	row, err := c.scan.Step()
	for more = true; row && more && err == nil; {
		var value []byte
		key := c.column(c.scan, 0)
		if value, err = c.value(c.scan, 1); err != nil {
			break
		}
		if more = fn(key, value); more {
			row, err = c.scan.Step()
		}
	}
	return more, err
}

func (c *conn) scanLogKeys(from, to []byte, fn func(key, value []byte) bool) (more bool, err error) {
	defer func() { err = errors.Join(err, c.scanLog.Reset()) }()
	c.scanLog.BindInt64(1, logkey.Bound(from))
	c.scanLog.BindInt64(2, logkey.Bound(to))
	row, err := c.scanLog.Step()
	for more = true; row && more && err == nil; {
		key := logkey.Append(c.room(logkey.Size), c.scanLog.ColumnInt64(0))
		if more = fn(key, c.column(c.scanLog, 1)); more {
			row, err = c.scanLog.Step()
		}
	}
	return more, err
}

// Set implements [harvest.Tx].
func (c *conn) Set(key, value []byte) error {
	if logkey.Is(key) {
		n, ok := logkey.Row(key)
		if !ok {
			return wrap(fmt.Errorf("the key %x: a key of the log has a generation below 2^%d and a number below 2^%d",
				key, logkey.GenerationBits, logkey.SeqBits))
		}
		c.setLog.BindInt64(1, n)
		c.setLog.BindBytes(2, value)
		return wrap(c.run(c.setLog))
	}
	if len(value) < longValue {
		return wrap(c.write(key, formShort, value))
	}
	c.setLong.BindBytes(1, value)
	if err := c.run(c.setLong); err != nil {
		return wrap(err)
	}
	return wrap(c.write(key, formLong, binary.AppendUvarint(nil, uint64(c.LastInsertRowID()))))
}

// Delete implements [harvest.Tx].
func (c *conn) Delete(key []byte) error {
	if n, ok := logkey.Row(key); ok {
		c.removeLog.BindInt64(1, n)
		return wrap(c.run(c.removeLog))
	}
	return wrap(c.write(key, formDeleted, nil))
}
