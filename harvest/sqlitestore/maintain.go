package sqlitestore

import (
	"context"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Maintenance has a connection of its own, so that its temporary tables go with it.
func (s *Store) maintain(ctx context.Context, f func(*conn) error) (err error) {
	select {
	case <-s.closed:
		return os.ErrClosed
	default:
	}
	c, err := s.connect(ctx, "rw", s.cache/2)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	return f(c)
}

// Compact implements [harvest.Maintainer]. It is one transaction: others that want to
// write wait until it ends.
func (s *Store) Compact(ctx context.Context) (generation uint64, err error) {
	err = s.maintain(ctx, func(c *conn) error {
		return s.writeOn(ctx, c, func(c *conn) error {
			generation, err = compact(ctx, c)
			return err
		})
	})
	if err != nil {
		return 0, wrap(err)
	}
	return generation, nil
}

func compact(ctx context.Context, c *conn) (uint64, error) {
	var n counters
	if err := n.load(c); err != nil {
		return 0, err
	}
	next := entry(n.generation+1, 0)
	for _, step := range []struct {
		sql  string
		args []any
	}{
		{"CREATE TEMP TABLE renumbered (old INTEGER PRIMARY KEY, new INTEGER NOT NULL)", nil},
		{"INSERT INTO renumbered SELECT seq, row_number() OVER (ORDER BY seq) FROM records WHERE seq > 0 ORDER BY seq", nil},
		{`INSERT INTO log (n, source, born, time, kind, data)
			SELECT ?1 + row_number() OVER (ORDER BY seq), source, born, time, kind, data
			FROM records WHERE seq > 0 ORDER BY seq`, []any{next}},
		// A task whose record has changed since must not meet it again by chance.
		{`UPDATE tasks SET base = ifnull((SELECT new FROM records c JOIN temp.renumbered r ON r.old = c.seq
			WHERE c.source = tasks.source AND c.id = tasks.id AND c.seq = tasks.base), ?) WHERE base > 0`,
			[]any{int64(math.MaxInt64)}},
		{"UPDATE records SET seq = (SELECT new FROM temp.renumbered WHERE old = records.seq) WHERE seq > 0", nil},
		{"UPDATE claims SET epoch = epoch + 1, held = 0", nil},
		{"INSERT INTO generations VALUES (?)", []any{n.generation + 1}},
	} {
		if _, err := c.execContext(ctx, step.sql, step.args...); err != nil {
			return 0, err
		}
	}
	var err error
	if n.seq, err = c.number("SELECT count(*) FROM temp.renumbered"); err != nil {
		return 0, err
	}
	n.generation++
	if err = n.save(c); err == nil {
		err = ctx.Err()
	}
	return uint64(n.generation), err
}

// dropRows is how many entries Drop removes in one transaction.
const dropRows = 10_000

// Drop implements [harvest.Maintainer]. The newest generation stays in any case.
func (s *Store) Drop(ctx context.Context, before uint64) error {
	var end int64 // first entry to stay
	err := s.write(ctx, func(c *conn) error {
		var n counters
		if err := n.load(c); err != nil {
			return err
		}
		first := int64(min(before, uint64(n.generation)))
		end = entry(first, 0)
		return c.exec("DELETE FROM generations WHERE generation < ?", first)
	})
	for more := true; more && err == nil; {
		err = s.write(ctx, func(c *conn) error {
			n, err := c.execContext(context.Background(),
				"DELETE FROM log WHERE n IN (SELECT n FROM log WHERE n < ? ORDER BY n LIMIT ?)", end, int64(dropRows))
			more = n == dropRows
			return err
		})
	}
	return wrap(err)
}

// Vacuum implements [harvest.Maintainer]. It also removes the temporary files of
// processes that are no more. The database file does not get shorter: what is free is
// used again.
//
// Vacuum lists the bodies that current records name, then removes the others. A Commit
// that names a body in the meantime marks it, and a marked body stays.
func (s *Store) Vacuum(ctx context.Context, grace time.Duration) (removed int, err error) {
	err = s.maintain(ctx, func(c *conn) error {
		v := vacuum{s: s, conn: c, ctx: ctx, before: s.now().Add(-grace).UnixMicro()}
		err := v.run()
		removed = v.removed
		return err
	})
	return removed, wrap(err)
}

type vacuum struct {
	s *Store
	*conn
	ctx     context.Context
	before  int64 // bodies used later stay
	mark    int64 // and so do those with this mark or a later one
	removed int
}

func (v *vacuum) run() error {
	if err := v.begin(); err != nil {
		return err
	}
	if err := v.listNamed(); err != nil {
		return err
	}
	if err := v.removeRows(); err != nil {
		return err
	}
	return v.removeFiles()
}

func (v *vacuum) begin() error {
	return v.s.writeOn(v.ctx, v.conn, func(c *conn) error {
		var n counters
		if err := n.load(c); err != nil {
			return err
		}
		n.mark++
		v.mark = n.mark
		return n.save(c)
	})
}

// listNamed fills a temporary table with the keys of all bodies that current records
// name.
func (v *vacuum) listNamed() error {
	err := v.exec("CREATE TEMP TABLE named (key BLOB PRIMARY KEY) WITHOUT ROWID")
	source, id := int64(0), []byte{}
	for more := true; more && err == nil; {
		if err = v.ctx.Err(); err != nil {
			break
		}
		more = false
		err = v.inTransaction(func() error {
			return v.query(func(row []driver.Value) (bool, error) {
				more = true
				source, id = integer(row[0]), blob(row[1])
				return true, sums(blob(row[2]), func(sum []byte) error {
					return v.exec("INSERT OR IGNORE INTO temp.named VALUES (?)", sum)
				})
			}, `SELECT source, id, keys FROM records WHERE (source, id) > (?, ?) AND keys IS NOT NULL
				ORDER BY source, id LIMIT 1000`, source, id)
		})
	}
	return err
}

// inTransaction runs f in a transaction that reads the database and may write temporary
// tables.
func (v *vacuum) inTransaction(f func() error) error {
	if err := v.exec(sqlBeginRead); err != nil {
		return err
	}
	err := f()
	if err == nil {
		return v.exec(sqlCommit)
	}
	return errors.Join(err, v.exec(sqlRollback))
}

// removeRows removes bodies that nothing names, a few in each transaction.
func (v *vacuum) removeRows() error {
	last := []byte{}
	for {
		var keys [][]byte
		err := v.query(func(row []driver.Value) (bool, error) {
			keys = append(keys, blob(row[0]))
			return true, nil
		}, `SELECT key FROM bodies WHERE key > ? AND used <= ? AND mark < ? AND key NOT IN (SELECT key FROM temp.named)
			ORDER BY key LIMIT 200`, last, v.before, v.mark)
		if err != nil || len(keys) == 0 {
			return err
		}
		n := 0
		err = v.s.writeOn(v.ctx, v.conn, func(*conn) error {
			n, err = v.removeBodies(keys)
			return err
		})
		if err != nil {
			return err
		}
		v.removed += n
		last = keys[len(keys)-1]
	}
}

// removeBodies removes those of keys that no Commit has named meanwhile. It runs inside a
// writing transaction, so that none can while the files go.
func (v *vacuum) removeBodies(keys [][]byte) (n int, err error) {
	for _, key := range keys {
		row, err := v.one("SELECT blob FROM bodies WHERE key = ? AND used <= ? AND mark < ?", key, v.before, v.mark)
		if err != nil {
			return n, err
		}
		if row == nil {
			continue
		}
		if row[0] != nil {
			err = v.exec("DELETE FROM blobs WHERE n = ?", row[0])
		} else if err = os.Remove(v.s.bodyPath(key)); errors.Is(err, fs.ErrNotExist) {
			err = nil
		} else if err != nil {
			continue // somebody reads it, on a system where that counts
		}
		if err == nil {
			err = v.exec("DELETE FROM bodies WHERE key = ?", key)
		}
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// removeFiles removes what crashes have left: temporary files, and files that no row
// stands for.
func (v *vacuum) removeFiles() error {
	if err := v.files(v.s.tempDir(), v.removeTemps); err != nil {
		return err
	}
	var dirs []string
	err := v.files(v.s.bodyDir(), func(names []string) error {
		for _, name := range names {
			if len(name) == 2 { // the first byte of a key
				dirs = append(dirs, name)
			}
		}
		return nil
	})
	for _, dir := range dirs {
		if err != nil {
			return err
		}
		err = v.files(filepath.Join(v.s.bodyDir(), dir), func(names []string) error { return v.removeOrphans(dir, names) })
	}
	return err
}

// files calls f with the names in dir, some at a time.
func (v *vacuum) files(dir string, f func(names []string) error) error {
	d, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.Close()
	for {
		names, err := d.Readdirnames(200)
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = f(names)
		}
		if err == nil {
			err = v.ctx.Err()
		}
		if err != nil {
			return err
		}
	}
}

// staleAfter is the age at which a temporary file goes when nobody can tell whether its
// owner is alive.
const staleAfter = 24 * time.Hour

func (v *vacuum) removeTemps(names []string) error {
	for _, name := range names {
		owner, _, _ := strings.Cut(name, ".")
		path := filepath.Join(v.s.tempDir(), name)
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		if v.s.owner.dead(owner) || owner != v.s.owner.id && time.Since(info.ModTime()) > staleAfter && !v.s.owner.canTell(owner) {
			os.Remove(path)
		}
	}
	return nil
}

// removeOrphans removes the files that have no row. The second look is inside a writing
// transaction: no Commit is between naming its files and writing its rows.
func (v *vacuum) removeOrphans(dir string, names []string) error {
	orphans, err := v.orphans(dir, names)
	if err != nil || len(orphans) == 0 {
		return err
	}
	return v.s.writeOn(v.ctx, v.conn, func(*conn) error {
		orphans, err := v.orphans(dir, orphans)
		for _, name := range orphans {
			os.Remove(filepath.Join(v.s.bodyDir(), dir, name))
		}
		return err
	})
}

func (v *vacuum) orphans(dir string, names []string) (orphans []string, err error) {
	for _, name := range names {
		sum, err := hex.DecodeString(dir + name)
		if err != nil {
			continue // not ours
		}
		row, err := v.one("SELECT 1 FROM bodies WHERE key = ? AND blob IS NULL", sum)
		if err != nil {
			return nil, err
		}
		if row == nil {
			orphans = append(orphans, name)
		}
	}
	return orphans, nil
}
