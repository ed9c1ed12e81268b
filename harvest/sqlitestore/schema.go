package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/websync-go/websync/harvest"
)

// applicationID marks the file as ours, in the header of the database: "wsyn".
const applicationID = 0x7773796e

// schema holds the steps that bring a database from version i to version i+1. A step that
// was released never changes.
//
// Times are microseconds since 1970. Columns beside data hold what is decided in the
// transaction, and win over what data says. Ids, keys and names are blobs: they compare
// by bytes and need not be UTF-8.
var schema = []string{`
CREATE TABLE counters (
	id         INTEGER PRIMARY KEY CHECK (id = 1),
	generation INTEGER NOT NULL, -- the newest
	seq        INTEGER NOT NULL, -- the last number in it
	born       INTEGER NOT NULL,
	time       INTEGER NOT NULL, -- of the last commit that left an entry
	task       INTEGER NOT NULL,
	blob       INTEGER NOT NULL,
	mark       INTEGER NOT NULL  -- how many times Vacuum began
) STRICT;
INSERT INTO counters VALUES (1, 1, 0, 0, 0, 0, 0, 0);

CREATE TABLE generations (
	generation INTEGER PRIMARY KEY -- can be read
) STRICT;
INSERT INTO generations VALUES (1);

CREATE TABLE sources (
	id         INTEGER PRIMARY KEY,
	key        BLOB NOT NULL UNIQUE,
	live       INTEGER NOT NULL, -- records
	version    INTEGER NOT NULL, -- of the checkpoint
	checkpoint BLOB
) STRICT;

CREATE TABLE records (
	source INTEGER NOT NULL,
	id     BLOB NOT NULL,
	seq    INTEGER NOT NULL,
	born   INTEGER NOT NULL,
	time   INTEGER NOT NULL,
	kind   INTEGER NOT NULL,
	keys   BLOB,             -- sha-256 sums of the bodies it names, one after the other
	data   BLOB NOT NULL,
	PRIMARY KEY (source, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX records_born ON records (born) WHERE born > 0;
CREATE INDEX records_source ON records (source, born) WHERE born > 0;

CREATE TABLE log (
	n      INTEGER PRIMARY KEY, -- generation << 40 | seq
	source INTEGER NOT NULL,
	born   INTEGER NOT NULL,
	time   INTEGER NOT NULL,
	kind   INTEGER NOT NULL,
	data   BLOB NOT NULL
) STRICT;
CREATE INDEX log_source ON log (source, n);

CREATE TABLE tasks (
	source INTEGER NOT NULL,
	id     BLOB NOT NULL,
	n      INTEGER NOT NULL,
	due    INTEGER, -- NULL: never
	base   INTEGER NOT NULL,
	data   BLOB NOT NULL,
	PRIMARY KEY (source, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX tasks_due ON tasks (source, due) WHERE due IS NOT NULL;

CREATE TABLE bodies (
	key  BLOB PRIMARY KEY, -- sha-256 sum
	size INTEGER NOT NULL,
	used INTEGER NOT NULL, -- when a commit last named it or ceased to
	mark INTEGER NOT NULL, -- of counters at that moment
	blob INTEGER           -- NULL: a file
) STRICT, WITHOUT ROWID;
CREATE TABLE blobs (
	n    INTEGER PRIMARY KEY,
	data BLOB NOT NULL
) STRICT;

CREATE TABLE state (
	key   BLOB PRIMARY KEY,
	value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE claims (
	name    BLOB PRIMARY KEY,
	epoch   INTEGER NOT NULL,
	n       INTEGER NOT NULL,
	held    INTEGER NOT NULL,
	expires INTEGER NOT NULL,
	owner   BLOB, -- NULL: not known
	batch   BLOB  -- the last that was applied
) STRICT, WITHOUT ROWID;
`, `
ALTER TABLE claims ADD COLUMN ttl INTEGER; -- in microseconds; NULL: not known
`}

// headerSize is the length of the header of every SQLite database.
const headerSize = 100

var errForeign = errors.New("the file is not a websync store")

// checkFile refuses a file that is not ours, before anything is written to it.
func (s *Store) checkFile(ctx context.Context) error {
	info, err := os.Stat(s.file)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Size() < headerSize { // SQLite takes one byte for an empty database
		return fmt.Errorf("%s: %w", s.file, errForeign)
	}
	c, err := s.connect(ctx, "ro", 0)
	if err == nil {
		_, err = s.currentVersion(ctx, c, len(schema))
		err = errors.Join(err, c.Close())
	}
	if hasCode(err, codeReadOnly) {
		return nil // a transaction was cut short and must be rolled back first; setUp asks again
	}
	if hasCode(err, codeNotADB) {
		err = errForeign
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.file, err)
	}
	return nil
}

// currentVersion returns the version of the schema at one moment. Another process may be
// about to set it up, or to mend it after a crash.
func (s *Store) currentVersion(ctx context.Context, c *conn, known int) (v int, err error) {
	err = s.patiently(ctx, func() error {
		if err := c.exec(sqlBeginRead); err != nil {
			return err
		}
		var err error
		v, err = version(c, known)
		return errors.Join(err, c.exec(sqlRollback))
	})
	return v, err
}

// version returns the version of the schema: 0 for an empty database. A database that
// must be left alone is errForeign, or harvest.ErrNewer when its version is not known.
func version(c *conn, known int) (int, error) {
	id, err := c.number("PRAGMA application_id")
	if err != nil {
		return 0, err
	}
	v, err := schemaVersion(c, known)
	if id == applicationID {
		return v, err
	}
	tables, err := c.number("SELECT count(*) FROM sqlite_schema")
	if err == nil && (id != 0 || v != 0 || tables != 0) {
		err = errForeign
	}
	return 0, err
}

// schemaVersion is asked in every writing transaction: another process may have brought
// the schema up to date.
func schemaVersion(c *conn, known int) (int, error) {
	v, err := c.number("PRAGMA user_version")
	if err == nil && v > int64(known) {
		err = fmt.Errorf("%w: its schema is %d, this one knows %d", harvest.ErrNewer, v, known)
	}
	return int(v), err
}

// setUp creates the schema or brings it up to date, one transaction for each step, and
// turns on the write-ahead log.
func (s *Store) setUp(ctx context.Context, c *conn, steps []string) error {
	v, err := s.currentVersion(ctx, c, len(steps))
	if err != nil {
		return fmt.Errorf("%s: %w", s.file, err)
	}
	if err = s.turnOnWAL(ctx, c); err != nil {
		return err
	}
	for v < len(steps) {
		if err = s.step(ctx, c, steps); err != nil {
			return err
		}
		if v, err = s.currentVersion(ctx, c, len(steps)); err != nil {
			return err
		}
	}
	return nil
}

// step takes one step, unless another process has.
func (s *Store) step(ctx context.Context, c *conn, steps []string) error {
	return s.transact(ctx, c, func(c *conn) error {
		v, err := version(c, len(steps))
		if err != nil || v >= len(steps) {
			return err
		}
		if err = c.exec(steps[v]); err == nil {
			err = c.exec(fmt.Sprintf("PRAGMA application_id = %d", applicationID))
		}
		if err == nil {
			err = c.exec(fmt.Sprintf("PRAGMA user_version = %d", v+1))
		}
		return err
	})
}

func (s *Store) turnOnWAL(ctx context.Context, c *conn) error {
	return s.patiently(ctx, func() error {
		row, err := c.one("PRAGMA journal_mode = wal")
		if err != nil {
			return err
		}
		if mode, _ := row[0].(string); !strings.EqualFold(mode, "wal") {
			return fmt.Errorf("%s: the file system has no write-ahead log: journal mode %s", s.file, mode)
		}
		return nil
	})
}
