package sqlitestore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/websync-go/websync/harvest"
)

// Options of a Store. The zero value is the recommended setting.
type Options struct {
	// InlineBody is the greatest size in bytes of a body that is kept in the database and
	// waits in memory for its Commit. Longer ones become files. 0 means 16 KiB; negative
	// means no limit: then there are no files, and no body may be longer than a gigabyte.
	InlineBody int

	// Cache is the memory in bytes for pages of the database: half of it for the writing
	// connection, the rest for the reading ones. 0 and negative mean 16 MiB.
	Cache int

	// Wait is how long a call waits for a transaction of another process. 0 means a
	// minute; negative means as long as its context lasts.
	Wait time.Duration

	// Now is the clock. If nil, it is time.Now.
	Now func() time.Time
}

const (
	defaultInline = 16 << 10
	defaultCache  = 16 << 20
	defaultWait   = time.Minute

	readers = 4 // connections
)

// A Store keeps everything in one SQLite file, and long bodies beside it. It is safe for
// concurrent use.
type Store struct {
	file   string // absolute, without symbolic links
	inline int    // negative: no limit
	cache  int
	wait   time.Duration
	now    func() time.Time
	owner  *owner
	temps  atomic.Uint64 // names of temporary files

	writing chan struct{} // holds a token while writer is in use
	writer  *conn

	reading chan struct{} // holds a token for each reader in use
	mu      sync.Mutex
	idle    []*conn // readers not in use

	closed   chan struct{}
	closeErr func() error

	sources sync.Map // key string -> int64; never changes
	keys    sync.Map // the reverse
}

var (
	_ harvest.Store      = (*Store)(nil)
	_ harvest.Maintainer = (*Store)(nil)
)

// Open opens the Store in file, or creates it. A file that something else wrote is
// refused and left as it is; one that a newer version wrote is [harvest.ErrNewer]; one of
// an older version is brought up to date. A nil o means the zero Options.
//
// Any number of Stores on one host may have the same file open, in this process and in
// others.
func Open(ctx context.Context, file string, o *Options) (*Store, error) {
	s, err := open(ctx, file, o)
	if err != nil {
		return nil, wrap(err)
	}
	return s, nil
}

func open(ctx context.Context, file string, o *Options) (*Store, error) {
	if file == "" || file == ":memory:" {
		return nil, fmt.Errorf("%q is not the name of a file", file)
	}
	file, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Dir(file)); err != nil {
		return nil, err // SQLite would say no more than that it can't
	}
	s := newStore(file, o)
	if s.writer, err = s.openWriter(ctx); err != nil {
		return nil, err
	}
	// The files beside the database go by its real name, as SQLite's own do.
	if s.file, err = filepath.EvalSymlinks(file); err == nil {
		s.owner, err = newOwner(s.file + ".owners")
	}
	if err != nil {
		return nil, errors.Join(err, s.writer.Close())
	}
	return s, nil
}

func newStore(file string, o *Options) *Store {
	if o == nil {
		o = new(Options)
	}
	s := &Store{
		file:    file,
		inline:  o.InlineBody,
		cache:   o.Cache,
		wait:    o.Wait,
		now:     o.Now,
		writing: make(chan struct{}, 1),
		reading: make(chan struct{}, readers),
		closed:  make(chan struct{}),
	}
	if s.inline == 0 {
		s.inline = defaultInline
	}
	if s.cache <= 0 {
		s.cache = defaultCache
	}
	if s.wait == 0 {
		s.wait = defaultWait
	}
	if s.now == nil {
		s.now = time.Now
	}
	s.closeErr = sync.OnceValue(s.close)
	return s
}

// openWriter opens the writing connection to a database that is ours and up to date.
func (s *Store) openWriter(ctx context.Context) (*conn, error) {
	if err := s.checkFile(ctx); err != nil {
		return nil, err
	}
	c, err := s.connect(ctx, "rwc", s.cache/2)
	if err != nil {
		return nil, err
	}
	if err = s.setUp(ctx, c, schema); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// connect returns a connection with a cache of so many bytes. The settings make SQLite
// read the schema, so it may have to wait: the last to close the database locks it.
func (s *Store) connect(ctx context.Context, mode string, cache int, pragmas ...string) (c *conn, err error) {
	dsn := s.dsn(mode, cache, pragmas)
	err = s.patiently(ctx, func() error {
		c, err = connect(ctx, dsn)
		return err
	})
	return c, err
}

func (s *Store) dsn(mode string, cache int, pragmas []string) string {
	path := filepath.ToSlash(s.file)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive letter
	}
	u := url.URL{Path: path}
	dsn := "file://" + u.EscapedPath() + "?mode=" + mode + "&_txlock=immediate&_dqs=0"
	for _, pragma := range append([]string{
		fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()),
		fmt.Sprintf("cache_size(-%d)", max(cache>>10, 64)), // KiB
		"synchronous(full)",
		"fullfsync(on)", // macOS: an fsync reaches the disk
		"checkpoint_fullfsync(on)",
		"temp_store(file)",
		"mmap_size(0)",
		"wal_autocheckpoint(4000)", // pages: 16 MB; pages that are written again and again are copied less often
		fmt.Sprintf("journal_size_limit(%d)", 64<<20),
		"trusted_schema(off)",
	}, pragmas...) {
		dsn += "&_pragma=" + pragma
	}
	return dsn
}

// Close ends the claims that were made through s, and closes the file. It waits for calls
// that are under way. It may be called again.
func (s *Store) Close() error { return wrap(s.closeErr()) }

func (s *Store) close() error {
	close(s.closed)
	s.writing <- struct{}{} // for good
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

// acquire takes a token of sem.
func (s *Store) acquire(ctx context.Context, sem chan struct{}) error {
	if err := ctx.Err(); err != nil {
		return err
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

// errRollback makes write undo what was done and return nil.
var errRollback = errors.New("rollback")

// write runs f in a transaction of the writing connection.
func (s *Store) write(ctx context.Context, f func(*conn) error) error {
	return s.writeOn(ctx, s.writer, f)
}

// writeOn runs f in a writing transaction of c. If f returns nil it is committed,
// whatever becomes of ctx.
func (s *Store) writeOn(ctx context.Context, c *conn, f func(*conn) error) error {
	if err := s.acquire(ctx, s.writing); err != nil {
		return err
	}
	defer func() { <-s.writing }()
	return s.transact(ctx, c, func(c *conn) error {
		if _, err := schemaVersion(c, len(schema)); err != nil {
			return err
		}
		return f(c)
	})
}

// transact waits while another process has a writing transaction.
func (s *Store) transact(ctx context.Context, c *conn, f func(*conn) error) error {
	if err := s.patiently(ctx, func() error { return c.exec(sqlBeginWrite) }); err != nil {
		return err
	}
	err := f(c)
	if err == nil {
		err = c.exec(sqlCommit)
	}
	if err != nil {
		c.exec(sqlRollback) // no error of interest: SQLite may have done it already
	}
	if err == errRollback {
		return nil
	}
	return err
}

// patiently repeats f while the database is locked.
func (s *Store) patiently(ctx context.Context, f func() error) error {
	start := time.Now()
	for {
		err := f()
		if !busy(err) || s.wait > 0 && time.Since(start) > s.wait {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond): // SQLite has waited itself, except where it sees a deadlock coming
		}
	}
}

// read runs f in a transaction of a reading connection, so that all f sees is of one
// moment.
func (s *Store) read(ctx context.Context, f func(*conn) error) error {
	if err := s.acquire(ctx, s.reading); err != nil {
		return err
	}
	defer func() { <-s.reading }()
	c, err := s.reader(ctx)
	if err != nil {
		return err
	}
	if err = c.exec(sqlBeginRead); err == nil {
		err = f(c)
	}
	if end := c.exec(sqlRollback); end != nil { // it may be in any state
		return errors.Join(err, end, c.Close())
	}
	s.mu.Lock()
	s.idle = append(s.idle, c)
	s.mu.Unlock()
	return err
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
	return s.connect(ctx, "rw", s.cache/2/readers, "query_only(on)")
}

// micros returns the time as the database keeps it.
func (s *Store) micros() int64 { return s.now().UnixMicro() }

// timeOf is the inverse of micros; 0 is the zero Time.
func timeOf(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}

// wrap adds the name of the package.
func wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("sqlitestore: %w", err)
}

// random returns a new name.
func random() string { return strings.ToLower(rand.Text()) }
