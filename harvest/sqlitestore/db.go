package sqlitestore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"zombiezen.com/go/sqlite"

	"github.com/websync-go/websync/harvest/kvstore"
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

// A db is the ordered key-value store that kvstore works on.
type db struct {
	file  string // absolute, without symbolic links
	info  os.FileInfo
	cache int
	wait  time.Duration

	owner *owner

	writing chan struct{} // holds a token while writer is in use
	writer  *conn
	reading chan struct{} // holds a token for each reader in use
	mu      sync.Mutex
	idle    []*conn // readers not in use
	// unsynced are directories with new files whose names may not be durable.
	unsynced map[string]bool

	closed    chan struct{}
	closeOnce func() error
}

var (
	_ kvstore.DB     = (*db)(nil)
	_ kvstore.Owners = (*db)(nil)
	_ kvstore.Rester = (*db)(nil)
)

// View implements [kvstore.DB].
func (d *db) View(ctx context.Context, fn func(kvstore.Reader) error) error {
	return d.withReader(ctx, func(c *conn) error {
		if err := c.run(c.begin); err != nil {
			return wrap(err)
		}
		return fn(c)
	})
}

// Rest implements [kvstore.Rester]. It copies what the write-ahead log has to the
// database, which does not keep others from writing: SQLite would have the Commit of
// another process do it, and that would take long after the large Updates of maintenance.
func (d *db) Rest(ctx context.Context) error {
	return d.withReader(ctx, func(c *conn) error {
		_, err := c.pragma("wal_checkpoint(PASSIVE)")
		if busy(err) { // another connection is copying
			err = nil
		}
		return wrap(err)
	})
}

// withReader calls fn with a connection that reads, and ends its transaction.
func (d *db) withReader(ctx context.Context, fn func(*conn) error) error {
	if err := d.acquire(ctx, d.reading); err != nil {
		return wrap(err)
	}
	defer func() { <-d.reading }()
	c, err := d.reader(ctx)
	if err != nil {
		return wrap(err)
	}
	err = fn(c)
	c.arena = c.arena[:0]
	if !c.AutocommitEnabled() {
		if end := c.end(); end != nil {
			return errors.Join(err, wrap(end), c.Close()) // the connection may be in a transaction
		}
	}
	d.mu.Lock()
	d.idle = append(d.idle, c)
	d.mu.Unlock()
	return err
}

// Update implements [kvstore.DB]. It is durable when Update returns.
func (d *db) Update(ctx context.Context, fn func(kvstore.Tx) error) error {
	if err := d.acquire(ctx, d.writing); err != nil {
		return wrap(err)
	}
	defer func() { <-d.writing }()
	c := d.writer
	if err := d.patiently(ctx, func() error { return c.run(c.beginWrite) }); err != nil {
		return wrap(err)
	}
	err := fn(c)
	if err == nil {
		err = wrap(errors.Join(d.syncDirs(), d.checkInPlace()))
	}
	if err == nil {
		err = wrap(c.run(c.commit))
	}
	if err != nil {
		c.end() // its error is ignored: SQLite may have rolled back already
	}
	c.arena = c.arena[:0]
	return err
}

// checkInPlace refuses to write to a file that was removed or renamed: SQLite would not
// notice, and what it writes would be lost when the file is closed.
func (d *db) checkInPlace() error {
	info, err := os.Stat(d.file)
	if err == nil && !os.SameFile(info, d.info) {
		err = fmt.Errorf("%s was replaced by another file while it was open", d.file)
	}
	return err
}

// patiently repeats f while another process has the database locked.
func (d *db) patiently(ctx context.Context, f func() error) error {
	start := time.Now()
	for {
		err := f()
		if !busy(err) || d.wait > 0 && time.Since(start) > d.wait {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond): // SQLite itself has waited, except where it expects a deadlock
		}
	}
}

func busy(err error) bool { return sqlite.ErrCode(err).ToPrimary() == sqlite.ResultBusy }

// acquire takes a token of sem.
func (d *db) acquire(ctx context.Context, sem chan struct{}) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-d.closed:
		return os.ErrClosed
	default:
	}
	select {
	case sem <- struct{}{}:
		return nil
	case <-d.closed:
		return os.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (d *db) reader(ctx context.Context) (*conn, error) {
	d.mu.Lock()
	if n := len(d.idle); n > 0 {
		c := d.idle[n-1]
		d.idle = d.idle[:n-1]
		d.mu.Unlock()
		return c, nil
	}
	d.mu.Unlock()
	c, err := d.connect(ctx, sqlite.OpenReadWrite, d.cache/2/readers, "query_only = on")
	if err != nil {
		return nil, err
	}
	if err = c.prepare(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (d *db) close() error {
	close(d.closed)
	d.writing <- struct{}{} // never released
	for range readers {
		d.reading <- struct{}{}
	}
	var errs []error
	for _, c := range d.idle {
		errs = append(errs, c.Close())
	}
	errs = append(errs, d.writer.Close(), d.owner.close())
	return errors.Join(errs...)
}

// Owner implements [kvstore.Owners].
func (d *db) Owner() string { return d.owner.key() }

// Dead implements [kvstore.Owners].
func (d *db) Dead(owner string) bool { return d.owner.dead(owner) }

// A conn is one connection with its prepared statements. In a transaction it is a
// [kvstore.Tx].
type conn struct {
	*sqlite.Conn
	begin, beginWrite, commit, rollback *sqlite.Stmt
	get, getLong, scan                  *sqlite.Stmt
	set, setLong, remove                *sqlite.Stmt
	getLog, scanLog, setLog, removeLog  *sqlite.Stmt

	arena []byte // the results of Get and Scan in this transaction
}

// connect returns a connection with a cache of the given number of bytes. The settings
// make SQLite read the schema, so it may have to wait for a process that locks the
// database as it closes it.
func (d *db) connect(ctx context.Context, mode sqlite.OpenFlags, cache int, pragmas ...string) (c *conn, err error) {
	err = d.patiently(ctx, func() error {
		opened, err := sqlite.OpenConn(d.file, mode)
		if err != nil {
			return err
		}
		c = &conn{Conn: opened}
		c.SetBusyTimeout(busyTimeout)
		for _, pragma := range append([]string{
			fmt.Sprintf("cache_size = -%d", max(cache>>10, 64)), // KiB
			"synchronous = full",
			"fullfsync = on", // macOS: an fsync reaches the disk
			"checkpoint_fullfsync = on",
			"temp_store = file",
			"mmap_size = 0",
			// 16 MB in pages: fewer copies of pages that are rewritten often
			"wal_autocheckpoint = 4000",
			fmt.Sprintf("journal_size_limit = %d", 64<<20),
			"trusted_schema = off",
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
	sqlSet     = "INSERT INTO kv (key, value, long) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value, long = excluded.long"
	sqlSetLong = "INSERT INTO long (value) VALUES (?)"
	sqlDelete  = "DELETE FROM kv WHERE key = ?"

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

// Get implements [kvstore.Reader].
func (c *conn) Get(key []byte) (value []byte, err error) {
	get, long := c.get, true
	if isLog(key) {
		get, long = c.getLog, false
		n, ok := logRow(key)
		if !ok {
			return nil, nil
		}
		get.BindInt64(1, n)
	} else {
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
	long := s.ColumnInt64(i + 1)
	if long == 0 {
		return c.column(s, i), nil
	}
	c.getLong.BindInt64(1, long)
	row, err := c.getLong.Step()
	if row {
		value = c.column(c.getLong, 0)
	}
	return value, errors.Join(err, c.getLong.Reset())
}

// Scan implements [kvstore.Reader].
func (c *conn) Scan(from, to []byte, fn func(key, value []byte) bool) error {
	for _, part := range [...]struct {
		from, to []byte // of the keys
		scan     func(from, to []byte, fn func(key, value []byte) bool) (more bool, err error)
	}{{nil, logFrom, c.scanKV}, {logFrom, logTo, c.scanLogKeys}, {logTo, nil, c.scanKV}} {
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
	return more, errors.Join(err, c.scan.Reset())
}

func (c *conn) scanLogKeys(from, to []byte, fn func(key, value []byte) bool) (more bool, err error) {
	c.scanLog.BindInt64(1, logBound(from))
	c.scanLog.BindInt64(2, logBound(to))
	row, err := c.scanLog.Step()
	for more = true; row && more && err == nil; {
		key := c.logKey(c.scanLog.ColumnInt64(0))
		if more = fn(key, c.column(c.scanLog, 1)); more {
			row, err = c.scanLog.Step()
		}
	}
	return more, errors.Join(err, c.scanLog.Reset())
}

// Set implements [kvstore.Tx].
func (c *conn) Set(key, value []byte) error {
	if isLog(key) {
		n, ok := logRow(key)
		if !ok {
			return wrap(fmt.Errorf("the key %x: a key of the log has a generation below 2^%d and a number below 2^%d", key, generationBits, seqBits))
		}
		c.setLog.BindInt64(1, n)
		c.setLog.BindBytes(2, value)
		return wrap(c.run(c.setLog))
	}
	c.set.BindBytes(1, key)
	if len(value) < longValue {
		c.set.BindBytes(2, value)
		c.set.BindNull(3)
		return wrap(c.run(c.set))
	}
	c.setLong.BindBytes(1, value)
	if err := c.run(c.setLong); err != nil {
		return wrap(err)
	}
	c.set.BindNull(2)
	c.set.BindInt64(3, c.LastInsertRowID())
	return wrap(c.run(c.set))
}

// Delete implements [kvstore.Tx].
func (c *conn) Delete(key []byte) error {
	if n, ok := logRow(key); ok {
		c.removeLog.BindInt64(1, n)
		return wrap(c.run(c.removeLog))
	}
	c.remove.BindBytes(1, key)
	return wrap(c.run(c.remove))
}
