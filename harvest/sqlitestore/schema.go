package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"zombiezen.com/go/sqlite"

	"github.com/websync-go/websync/harvest"
)

// applicationID identifies the file, in the header of the database: "wsyn".
const applicationID = 0x7773796e

// schemaVersion is the version of schema. Versions 1 and 2 had a table for each kind of
// value, version 3 had no table of the log, and version 4 no table recent.
const schemaVersion = 5

// schema is the schema of the database. Package harvest defines the keys and values, with
// a version of its own. The log is in a table by number: SQLite fills the pages of a
// table that grows at its end, but not those in the middle of one. Of the other values,
// one that would take most of a page is in a table without an order, so that those of a
// commit are stored together, whatever their keys. See type recent for the table of that
// name.
var schema = [...]string{
	"CREATE TABLE log (n INTEGER PRIMARY KEY, value BLOB NOT NULL) STRICT",
	"CREATE TABLE kv (key BLOB PRIMARY KEY, value BLOB, long INTEGER) STRICT, WITHOUT ROWID",
	"CREATE TABLE long (n INTEGER PRIMARY KEY, value BLOB NOT NULL) STRICT",
	"CREATE TABLE recent (n INTEGER PRIMARY KEY, writes BLOB NOT NULL) STRICT",
	"INSERT INTO recent VALUES (0, x'')",
	"CREATE TRIGGER kv_update AFTER UPDATE ON kv WHEN old.long IS NOT NULL BEGIN DELETE FROM long WHERE n = old.long; END",
	"CREATE TRIGGER kv_delete AFTER DELETE ON kv WHEN old.long IS NOT NULL BEGIN DELETE FROM long WHERE n = old.long; END",
}

// upgrades has the statements that bring each schema, from the first one that is upgraded,
// to the next. It is empty: that is schemaVersion. A change of schema adds an element.
var upgrades [0][]string

// longValue is the size in bytes from which a value is long.
const longValue = 1000

// headerSize is the length of the header of every SQLite database.
const headerSize = 100

var (
	errForeign = errors.New("the file is not a websync store")
	errOlder   = errors.New("written by an older version of this module; harvest again into a new file")
)

// openWriter opens the writing connection, if the database is ours.
func (s *Store) openWriter(ctx context.Context) (*conn, error) {
	if err := s.checkFile(ctx); err != nil {
		return nil, err
	}
	c, err := s.connect(ctx, sqlite.OpenReadWrite|sqlite.OpenCreate, s.cache/2)
	if err != nil {
		return nil, err
	}
	if err = s.setUp(ctx, c); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	c.SetBusyTimeout(writerTimeout)
	return c, nil
}

// checkFile returns an error for a file that is not ours, before anything is written to
// it.
func (s *Store) checkFile(ctx context.Context) error {
	if err := checkNotLost(target(s.file)); err != nil {
		return err
	}
	info, err := os.Stat(s.file)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Size() < headerSize { // SQLite takes a file of one byte for an empty database
		return fmt.Errorf("%s: %w", s.file, errForeign)
	}
	c, err := s.connect(ctx, sqlite.OpenReadOnly, 0)
	if err == nil {
		_, err = s.version(ctx, c)
		err = errors.Join(err, c.Close())
	}
	switch sqlite.ErrCode(err).ToPrimary() {
	case sqlite.ResultReadOnly:
		// a transaction was cut short and must be rolled back first; setUp checks again
		return nil
	case sqlite.ResultNotADB:
		err = errForeign
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.file, err)
	}
	return nil
}

// checkNotLost refuses to create a database beside the log or the bodies of one that is
// missing: SQLite would delete the log. The database is created before both, so it is
// looked for after them: another process may create all three meanwhile.
func checkNotLost(file string) error {
	var rest []string
	for _, path := range [...]string{file + "-wal", file + ".bodies"} {
		if _, err := os.Lstat(path); err == nil {
			rest = append(rest, path)
		}
	}
	_, err := os.Stat(file)
	if len(rest) == 0 || !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("%s: a Store that lost its main file: restore it, "+
		"or remove the rest of the Store, %s, to create a new one: %w",
		file, strings.Join(rest, " and "), err)
}

// target follows symbolic links, even to a file that does not exist yet.
func target(file string) string {
	for range 40 { // the limit of Linux
		to, err := os.Readlink(file)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(file), to)
		}
		file = to
	}
	return file
}

// version returns the version of the schema that the database has; 0 if it is empty.
// Another process may be about to create it, or to recover the database after a crash.
func (s *Store) version(ctx context.Context, c *conn) (version int, err error) {
	err = s.patiently(ctx, func() error {
		if _, err := c.ask("BEGIN"); err != nil {
			return err
		}
		version, err = s.versionIn(c)
		_, end := c.ask("ROLLBACK")
		return errors.Join(err, end)
	})
	return version, err
}

// versionIn is version in a transaction.
func (s *Store) versionIn(c *conn) (int, error) {
	var numbers [3]int
	for i, sql := range [...]string{"PRAGMA application_id", "PRAGMA user_version", "SELECT count(*) FROM sqlite_schema"} {
		answer, err := c.ask(sql)
		if err == nil {
			numbers[i], err = strconv.Atoi(answer)
		}
		if err != nil {
			return 0, err
		}
	}
	id, version := numbers[0], numbers[1]
	var wrong error
	switch {
	case numbers == [3]int{}:
		return 0, nil
	case id != applicationID:
		return 0, errForeign
	case version > schemaVersion:
		wrong = harvest.ErrNewer
	case version < schemaVersion-len(s.upgrades):
		wrong = errOlder
	default:
		return version, nil
	}
	return 0, fmt.Errorf("%w: the file has schema %d, this version reads schema %d", wrong, version, schemaVersion)
}

// setUp turns on the write-ahead log, creates the schema if the database is empty or
// brings it up to date, and prepares the statements.
func (s *Store) setUp(ctx context.Context, c *conn) error {
	version, err := s.version(ctx, c)
	if err != nil {
		return fmt.Errorf("%s: %w", s.file, err)
	}
	err = s.patiently(ctx, func() error {
		if version == 0 {
			if _, err := c.pragma("auto_vacuum = incremental"); err != nil { // see Shrink
				return err
			}
		}
		mode, err := c.pragma("journal_mode = wal")
		if err == nil && !strings.EqualFold(mode, "wal") {
			err = fmt.Errorf("%s: the file system has no write-ahead log: journal mode %s", s.file, mode)
		}
		return err
	})
	for err == nil && version < schemaVersion {
		err = s.patiently(ctx, func() (err error) {
			version, err = s.upgrade(c)
			return err
		})
	}
	if err != nil {
		return err
	}
	return c.prepare()
}

// upgrade creates the schema, or brings it to the next version, unless another process
// has done so. It returns the version.
func (s *Store) upgrade(c *conn) (version int, err error) {
	if _, err := c.ask("BEGIN IMMEDIATE"); err != nil {
		return 0, err
	}
	version, err = s.versionIn(c)
	var step []string
	switch {
	case version == 0:
		step, version = schema[:], schemaVersion
	case version < schemaVersion:
		step, version = s.upgrades[len(s.upgrades)-(schemaVersion-version)], version+1
	}
	for _, sql := range append(slices.Clone(step), fmt.Sprintf("PRAGMA application_id = %d", applicationID),
		fmt.Sprintf("PRAGMA user_version = %d", version)) {
		if err == nil {
			_, err = c.ask(sql)
		}
	}
	end := "COMMIT"
	if err != nil {
		end = "ROLLBACK"
	}
	_, endErr := c.ask(end)
	return version, errors.Join(err, endErr)
}
