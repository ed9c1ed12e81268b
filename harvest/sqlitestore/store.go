package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync"
	"time"

	"zombiezen.com/go/sqlite"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/kvstore"
)

// Options configure a Store. The zero value is the recommended setting.
type Options struct {
	// InlineBody limits the bytes of a body that is kept in the database and waits in
	// memory for its Commit. Longer bodies become files. If zero, it is 16 KiB; if
	// negative, there is no limit: there are no files, and no body may be longer than a
	// gigabyte.
	InlineBody int
	// Cache limits the bytes of memory for pages of the database: half of them for the
	// writing connection, the rest for the reading ones. If zero or negative, it is 16
	// MiB.
	Cache int
	// Wait limits how long a call waits for a transaction of another process. If zero, it
	// is a minute; if negative, there is no limit other than the call's context.
	Wait time.Duration
	// Now is the clock. If nil, it is time.Now.
	Now func() time.Time
}

const (
	defaultInline = 16 << 10
	defaultCache  = 16 << 20
	defaultWait   = time.Minute
)

// A Store is a [kvstore.Store] on one SQLite file, with long bodies beside it.
type Store struct {
	*kvstore.Store
	db *db
}

var (
	_ harvest.Store      = (*Store)(nil)
	_ harvest.Maintainer = (*Store)(nil)
)

// Open opens the Store in file, or creates it. It refuses a file that another program or
// an older version wrote, and does not change it; for a file of a newer version the error
// is [harvest.ErrNewer]. It refuses a Store that lost a part with [io/fs.ErrNotExist]: a
// database without its directory of bodies, and a write-ahead log or a directory of
// bodies without its database. If o is nil, it is the zero Options.
//
// Any number of Stores on one host may have the same file open, in this process and in
// others.
func Open(ctx context.Context, file string, o *Options) (*Store, error) {
	if o == nil {
		o = new(Options)
	}
	db, err := openDB(ctx, file, o)
	if err != nil {
		return nil, wrap(err)
	}
	s := &Store{kvstore.New(db), db}
	s.Now = o.Now
	switch {
	case o.InlineBody < 0:
		s.ChunkSize = math.MaxInt
	case o.InlineBody == 0:
		s.ChunkSize = defaultInline
	default:
		s.ChunkSize = o.InlineBody
	}
	if err := s.checkBlobDir(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// checkBlobDir refuses a database that was copied or moved without its bodies.
func (s *Store) checkBlobDir(ctx context.Context) error {
	_, err := os.Stat(s.db.blobDir())
	if !errors.Is(err, fs.ErrNotExist) {
		return wrap(err)
	}
	names, nameErr := s.NamesBlobs(ctx)
	if nameErr != nil {
		return nameErr
	}
	if names {
		return fmt.Errorf("sqlitestore: %s has bodies in files: copy or move their directory with it: %w", s.db.file, err)
	}
	return nil
}

// Close ends the claims that were made through s, and closes the file. It waits for
// running calls. It may be called more than once.
func (s *Store) Close() error { return wrap(s.db.closeOnce()) }

func openDB(ctx context.Context, file string, o *Options) (*db, error) {
	if file == "" || file == ":memory:" {
		return nil, fmt.Errorf("%q is not the name of a file", file)
	}
	file, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Dir(file)); err != nil {
		return nil, err // SQLite's own error has no reason
	}
	d := newDB(file, o)
	if d.writer, err = d.openWriter(ctx); err != nil {
		return nil, err
	}
	// The names of the files beside the database begin with its real name, as those of
	// SQLite do.
	if d.file, err = filepath.EvalSymlinks(file); err == nil {
		d.info, err = os.Stat(d.file)
	}
	if err == nil {
		d.owner, err = newOwner(d.file + ".owners")
	}
	if err != nil {
		return nil, errors.Join(err, d.writer.Close())
	}
	return d, nil
}

func newDB(file string, o *Options) *db {
	d := &db{
		file:     file,
		cache:    o.Cache,
		wait:     o.Wait,
		writing:  make(chan struct{}, 1),
		reading:  make(chan struct{}, readers),
		unsynced: map[string]bool{},
		closed:   make(chan struct{}),
	}
	if d.cache <= 0 {
		d.cache = defaultCache
	}
	if d.wait == 0 {
		d.wait = defaultWait
	}
	d.closeOnce = sync.OnceValue(d.close)
	return d
}

// wrap adds the name of the package, and what SQLite leaves out of "disk I/O error".
func wrap(err error) error {
	if err == nil {
		return nil
	}
	switch code := sqlite.ErrCode(err); {
	case code == sqlite.ResultIOErrSHMSize:
		return fmt.Errorf("sqlitestore: %w: no space left on device for the index of the write-ahead log", err)
	case code.ToPrimary() == sqlite.ResultIOErr && code != sqlite.ResultIOErr:
		return fmt.Errorf("sqlitestore: %w (%v)", err, code)
	}
	return fmt.Errorf("sqlitestore: %w", err)
}
