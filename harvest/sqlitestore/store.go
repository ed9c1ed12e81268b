package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"zombiezen.com/go/sqlite"

	"github.com/websync-go/websync/harvest"
)

// Options configure a Store. The zero value is the recommended setting.
type Options struct {
	// Cache limits the bytes of memory for pages of the database: half of them for the
	// writing connection, the rest for the reading ones. If zero or negative, it is 8
	// MiB.
	Cache int
	// Wait limits how long a call waits for a transaction of another process. If zero, it
	// is a minute; if negative, there is no limit other than the call's context.
	Wait time.Duration
	// Temporary states that the file need not outlive the process that opens it: nothing
	// is flushed to disk.
	Temporary bool
}

const (
	defaultCache = 8 << 20
	defaultWait  = time.Minute
)

// Open opens the Store in file, or creates it. It brings a file of an older version up to
// date, from schema 5 on. It refuses a file that another program or a still older version
// wrote, and does not change it; for a file of a newer version the error is
// [harvest.ErrNewer]. It refuses a Store that lost a part with [io/fs.ErrNotExist]: a
// database without its directory of bodies, and a write-ahead log or a directory of
// bodies without its database. If o is nil, it is the zero Options.
//
// Any number of Stores on one host may have the same file open, in this process and in
// others.
func Open(ctx context.Context, file string, o *Options) (*Store, error) {
	if o == nil {
		o = new(Options)
	}
	s, err := openFile(ctx, file, o, upgrades[:])
	if err != nil {
		return nil, wrap(err)
	}
	if err := s.checkBlobDir(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// checkBlobDir refuses a database that was copied or moved without its bodies.
func (s *Store) checkBlobDir(ctx context.Context) error {
	_, err := os.Stat(s.blobDir())
	if !errors.Is(err, fs.ErrNotExist) {
		return wrap(err)
	}
	named := false
	from, to := []byte{harvest.BlobKey}, []byte{harvest.BlobKey + 1}
	scanErr := s.View(ctx, func(r harvest.Reader) error {
		return r.Scan(from, to, 1, func(_, _ []byte) bool {
			named = true
			return false
		})
	})
	if scanErr != nil {
		return scanErr
	}
	if named {
		return fmt.Errorf("sqlitestore: %s has bodies in files: copy or move their directory with it: %w", s.file, err)
	}
	return nil
}

// Close ends the claims that were made through s, and closes the file. It waits for
// running calls. It may be called more than once.
func (s *Store) Close() error { return wrap(s.closeOnce()) }

func openFile(ctx context.Context, file string, o *Options, upgrades [][]string) (*Store, error) {
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
	s := newStore(file, o)
	s.upgrades = upgrades
	if s.writer, err = s.openWriter(ctx); err != nil {
		return nil, err
	}
	// The names of the files beside the database begin with its real name, as those of
	// SQLite do.
	if s.file, err = filepath.EvalSymlinks(file); err == nil {
		s.info, err = os.Stat(s.file)
	}
	if err == nil {
		s.owner, err = newOwner(s.file + ".owners")
	}
	if err != nil {
		return nil, errors.Join(err, s.writer.Close())
	}
	return s, nil
}

func newStore(file string, o *Options) *Store {
	s := &Store{
		file:     file,
		cache:    o.Cache,
		wait:     o.Wait,
		volatile: o.Temporary,
		writing:  make(chan struct{}, 1),
		reading:  make(chan struct{}, readers),
		unsynced: map[string]bool{},
		limits:   limits{keys: 64, apart: pairs / 2, bytes: 4 << 20, rows: 4096},
		closed:   make(chan struct{}),
	}
	s.recent.Store(newRecent(0))
	if s.cache <= 0 {
		s.cache = defaultCache
	}
	if s.wait == 0 {
		s.wait = defaultWait
	}
	if s.synchronous = "full"; s.volatile {
		s.synchronous = "off"
	}
	s.closeOnce = sync.OnceValue(s.close)
	return s
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
