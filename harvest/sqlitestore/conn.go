package sqlitestore

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"time"

	"modernc.org/sqlite"

	"github.com/websync-go/websync/harvest"
)

// busyTimeout is how long SQLite itself waits for a lock. It does not look at contexts,
// so it is short; Store.patiently repeats the statement.
const busyTimeout = 200 * time.Millisecond

const (
	sqlBeginWrite = "BEGIN IMMEDIATE"
	sqlBeginRead  = "BEGIN"
	sqlCommit     = "COMMIT"
	sqlRollback   = "ROLLBACK"
)

// A conn is one connection and its prepared statements. It is used by one goroutine at a
// time. It calls the driver itself: database/sql would add about as much again to each of
// the many short statements.
type conn struct {
	driver.Conn
	stmts map[string]driver.Stmt
	args  []driver.NamedValue
	row   [8]driver.Value
}

func connect(ctx context.Context, dsn string) (*conn, error) {
	connector, err := sqlite.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	c, err := connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, stmts: make(map[string]driver.Stmt)}, nil
}

// Close closes the statements and the connection.
func (c *conn) Close() error {
	var errs []error
	for _, stmt := range c.stmts {
		errs = append(errs, stmt.Close())
	}
	c.stmts = nil
	return errors.Join(append(errs, c.Conn.Close())...)
}

func (c *conn) stmt(sql string) (driver.Stmt, error) {
	if s, ok := c.stmts[sql]; ok {
		return s, nil
	}
	s, err := c.Conn.(driver.ConnPrepareContext).PrepareContext(context.Background(), sql)
	if err == nil {
		c.stmts[sql] = s
	}
	return s, err
}

func (c *conn) bind(args []any) []driver.NamedValue {
	c.args = c.args[:0]
	for i, v := range args {
		c.args = append(c.args, driver.NamedValue{Ordinal: i + 1, Value: v})
	}
	return c.args
}

// exec runs a statement for its effect. Args are int64, []byte or nil. It can't be
// interrupted: the driver would start a goroutine for each statement.
func (c *conn) exec(sql string, args ...any) error {
	_, err := c.execContext(context.Background(), sql, args...)
	return err
}

// execContext runs a statement until it ends or ctx does, and returns the number of rows
// it changed.
func (c *conn) execContext(ctx context.Context, sql string, args ...any) (int64, error) {
	s, err := c.stmt(sql)
	if err != nil {
		return 0, err
	}
	res, err := s.(driver.StmtExecContext).ExecContext(ctx, c.bind(args))
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// query calls each with the rows of the result until it returns false. Row is valid
// during the call, blobs in it longer.
func (c *conn) query(each func(row []driver.Value) (bool, error), sql string, args ...any) (err error) {
	rows, err := c.start(sql, args)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	row := make([]driver.Value, len(rows.Columns()))
	for {
		if err := rows.Next(row); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if more, err := each(row); err != nil || !more {
			return err
		}
	}
}

// one returns the first row of the result, nil if there is none. The row is valid until
// the next call of one.
func (c *conn) one(sql string, args ...any) (row []driver.Value, err error) {
	rows, err := c.start(sql, args)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	row = c.row[:len(rows.Columns())]
	if err := rows.Next(row); err == io.EOF {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return row, nil
}

func (c *conn) start(sql string, args []any) (driver.Rows, error) {
	s, err := c.stmt(sql)
	if err != nil {
		return nil, err
	}
	return s.(driver.StmtQueryContext).QueryContext(context.Background(), c.bind(args))
}

// number returns the only value of the only row.
func (c *conn) number(sql string, args ...any) (int64, error) {
	row, err := c.one(sql, args...)
	if err != nil {
		return 0, err
	}
	if row == nil {
		return 0, fmt.Errorf("%w: no row for %s", harvest.ErrCorrupt, sql)
	}
	return integer(row[0]), nil
}

// integer returns the value of an INTEGER column, 0 for NULL.
func integer(v driver.Value) int64 {
	n, _ := v.(int64)
	return n
}

// blob returns the value of a BLOB column, nil for NULL and for the empty one.
func blob(v driver.Value) []byte {
	b, _ := v.([]byte)
	return b
}

// bytesOf returns what binds the empty string as an empty blob rather than NULL.
func bytesOf(s string) []byte {
	if s == "" {
		return []byte{}
	}
	return []byte(s)
}

// Result codes of SQLite.
const (
	codeBusy     = 5
	codeReadOnly = 8
	codeNotADB   = 26
)

func busy(err error) bool { return hasCode(err, codeBusy) }

func hasCode(err error, code int) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == code
}
