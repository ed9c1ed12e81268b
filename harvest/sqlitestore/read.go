package sqlitestore

import (
	"context"
	"database/sql/driver"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// Iterators read one page after the other, each in a transaction of its own that has
// ended when the first of it is yielded. A page ends at either limit.
const (
	pageRows  = 500
	pageBytes = 1 << 20
)

// A page is being filled.
type page[T any] struct {
	items []T
	bytes int
}

// add takes an item that was data bytes long, and reports whether there is room for more.
func (p *page[T]) add(item T, data []byte) bool {
	p.items = append(p.items, item)
	p.bytes += len(data)
	return len(p.items) < pageRows && p.bytes < pageBytes
}

// paged yields what the function that start returns adds to its pages, until it adds
// nothing.
func paged[T any](ctx context.Context, s *Store, start func() func(*conn, *page[T]) error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var p page[T]
		next := start()
		for {
			clear(p.items)
			p.items, p.bytes = p.items[:0], 0
			if err := s.read(ctx, func(c *conn) error { return next(c, &p) }); err != nil {
				yield(*new(T), wrap(err))
				return
			}
			if len(p.items) == 0 {
				return
			}
			for _, item := range p.items {
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}

// Head implements [websync.Catalog].
func (s *Store) Head(ctx context.Context) (head websync.Head, err error) {
	err = s.read(ctx, func(c *conn) error {
		head, err = readHead(c)
		return err
	})
	if err != nil {
		return websync.Head{}, wrap(err)
	}
	return head, nil
}

func readHead(c *conn) (websync.Head, error) {
	var n counters
	if err := n.load(c); err != nil {
		return websync.Head{}, err
	}
	h := websync.Head{Generation: uint64(n.generation), Born: websync.Seq(n.born), Live: make(map[string]int64)}
	if n.seq > 0 {
		h.First, h.Last = 1, websync.Seq(n.seq)
		first, err := c.number("SELECT time FROM log WHERE n = ?", entry(n.generation, 1))
		if err != nil {
			return h, err
		}
		h.FirstTime, h.LastTime = timeOf(first), timeOf(n.time)
	}
	return h, c.query(func(row []driver.Value) (bool, error) {
		h.Live[string(blob(row[0]))] = integer(row[1])
		return true, nil
	}, "SELECT key, live FROM sources WHERE live > 0")
}

// Checkpoint implements [harvest.Store].
func (s *Store) Checkpoint(ctx context.Context, source string) (cp harvest.Checkpoint, err error) {
	err = s.read(ctx, func(c *conn) error {
		row, err := c.one("SELECT version, checkpoint FROM sources WHERE key = ?", bytesOf(source))
		if err == nil && row != nil {
			cp = harvest.Checkpoint{Version: int(integer(row[0])), Data: blob(row[1])}
		}
		return err
	})
	return cp, wrap(err)
}

// Get implements [websync.Catalog].
func (s *Store) Get(ctx context.Context, source string, ids []string) ([]websync.Item, error) {
	items := make([]websync.Item, len(ids))
	err := s.each(ctx, oneRecord, source, ids, func(i int, row []driver.Value) error { return decodeItem(row, source, &items[i]) })
	if err != nil {
		return nil, wrap(err)
	}
	return items, nil
}

// Lookup implements [harvest.Store].
func (s *Store) Lookup(ctx context.Context, source string, ids []string) ([]harvest.Record, error) {
	records := make([]harvest.Record, len(ids))
	err := s.each(ctx, oneRecord, source, ids, func(i int, row []driver.Value) error { return decodeRecord(row, source, &records[i]) })
	if err != nil {
		return nil, wrap(err)
	}
	return records, nil
}

// LookupTasks implements [harvest.Store].
func (s *Store) LookupTasks(ctx context.Context, source string, ids []string) ([]harvest.Task, error) {
	tasks := make([]harvest.Task, len(ids))
	err := s.each(ctx, oneTask, source, ids, func(i int, row []driver.Value) error { return decodeTask(row, source, &tasks[i]) })
	if err != nil {
		return nil, wrap(err)
	}
	return tasks, nil
}

// each calls f with the row that a statement finds, for every id that has one.
func (s *Store) each(ctx context.Context, statement, source string, ids []string, f func(i int, row []driver.Value) error) error {
	return s.read(ctx, func(c *conn) error {
		number, err := s.sourceID(c, source)
		if err != nil || number == 0 {
			return err
		}
		for i, id := range ids {
			row, err := c.one(statement, number, bytesOf(id))
			if err == nil && row != nil {
				err = f(i, row)
			}
			if err != nil {
				return err
			}
		}
		return ctx.Err()
	})
}

// recordColumns are what decodeItem and decodeRecord take, taskColumns what decodeTask
// takes.
const (
	recordColumns = "data, seq, born, time, kind"
	taskColumns   = "data, n, base"

	oneRecord = "SELECT " + recordColumns + " FROM records WHERE source = ? AND id = ?"
	oneTask   = "SELECT " + taskColumns + " FROM tasks WHERE source = ? AND id = ?"
)

func decodeRecord(row []driver.Value, source string, r *harvest.Record) error {
	if err := harvest.DecodeRecord(blob(row[0]), r); err != nil {
		return err
	}
	setColumns(row, source, &r.Item)
	return nil
}

func decodeItem(row []driver.Value, source string, i *websync.Item) error {
	if err := harvest.DecodeItem(blob(row[0]), i); err != nil {
		return err
	}
	setColumns(row, source, i)
	return nil
}

func setColumns(row []driver.Value, source string, i *websync.Item) {
	i.Seq, i.Born = websync.Seq(integer(row[1])), websync.Seq(integer(row[2]))
	i.Time, i.Kind, i.Source = timeOf(integer(row[3])), websync.ChangeKind(integer(row[4])), source
}

// Records implements [harvest.Store].
func (s *Store) Records(ctx context.Context, source, after string) iter.Seq2[harvest.Record, error] {
	return paged(ctx, s, func() func(*conn, *page[harvest.Record]) error {
		last := bytesOf(after)
		var began beginning
		return func(c *conn, p *page[harvest.Record]) error {
			number, err := s.sourceID(c, source)
			if err == nil {
				err = began.load(c)
			}
			if err != nil || number == 0 {
				return err
			}
			err = c.query(func(row []driver.Value) (bool, error) {
				var r harvest.Record
				err := decodeRecord(row, source, &r)
				return p.add(r, blob(row[0])), err
			}, "SELECT "+recordColumns+" FROM records WHERE source = ? AND id > ? AND born <= ? ORDER BY id LIMIT ?", number, last, began.born, int64(pageRows))
			if n := len(p.items); n > 0 {
				last = []byte(p.items[n-1].Resource.ID)
			}
			return err
		}
	})
}

// Resources implements [websync.Catalog].
func (s *Store) Resources(ctx context.Context, r websync.Range) iter.Seq2[websync.Item, error] {
	r.Sources = slices.Clone(r.Sources)
	return paged(ctx, s, func() func(*conn, *page[websync.Item]) error {
		last, until := limits(r)
		var began beginning
		return func(c *conn, p *page[websync.Item]) error {
			if err := began.load(c); err != nil {
				return err
			}
			until = min(until, began.born)
			q := rangeQuery{
				columns: recordColumns, table: "records", key: "born", source: "records_source",
				where: fmt.Sprintf("AND kind <> %d AND born > 0", websync.Deleted),
			}
			err := s.queryRange(c, &q, r.Sources, last, until, func(row []driver.Value, source string) (bool, error) {
				var i websync.Item
				err := decodeItem(row, source, &i)
				return p.add(i, blob(row[0])), err
			})
			if n := len(p.items); n > 0 {
				last = int64(p.items[n-1].Born)
			}
			return err
		}
	})
}

// Changes implements [websync.Catalog].
func (s *Store) Changes(ctx context.Context, r websync.Range) iter.Seq2[websync.Item, error] {
	r.Sources = slices.Clone(r.Sources)
	return paged(ctx, s, func() func(*conn, *page[websync.Item]) error {
		last, until := limits(r)
		generation := int64(min(r.Generation, 1<<(63-seqBits)-1)) // beyond that there is none
		var began beginning
		return func(c *conn, p *page[websync.Item]) (err error) {
			if err := began.load(c); err != nil {
				return err
			}
			if generation == 0 {
				generation = began.generation
			}
			if generation == began.generation {
				until = min(until, began.seq)
			}
			if err := readable(c, generation); err != nil {
				return err
			}
			q := rangeQuery{columns: "data, n, born, time, kind", table: "log", key: "n", source: "log_source"}
			base := entry(generation, 0)
			err = s.queryRange(c, &q, r.Sources, base+last, base+until, func(row []driver.Value, source string) (bool, error) {
				var i websync.Item
				row[1] = integer(row[1]) - base
				err := decodeItem(row, source, &i)
				return p.add(i, blob(row[0])), err
			})
			if n := len(p.items); n > 0 {
				last = int64(p.items[n-1].Seq)
			}
			return err
		}
	})
}

// limits returns r.After and r.Until as numbers that fit into a key of the log.
func limits(r websync.Range) (after, until int64) {
	const most = 1<<seqBits - 1
	after, until = int64(min(r.After, most)), int64(min(r.Until, most))
	if until == 0 {
		until = most
	}
	return after, until
}

// readable returns [websync.ErrNotFound] if there is no such generation.
func readable(c *conn, generation int64) error {
	row, err := c.one("SELECT 1 FROM generations WHERE generation = ?", generation)
	if err == nil && row == nil {
		err = fmt.Errorf("%w: generation %d of the log", websync.ErrNotFound, generation)
	}
	return err
}

// A beginning is what the counters were when an iterator read its first page. What came
// later it does not yield, so a loop that commits comes to its end.
type beginning struct {
	counters
	known bool
}

func (b *beginning) load(c *conn) (err error) {
	if !b.known {
		err = b.counters.load(c)
		b.known = err == nil
	}
	return err
}

// A rangeQuery reads rows in the order of a key.
type rangeQuery struct {
	columns, table, key string
	source              string // index for the rows of one source
	where               string // further condition, beginning with AND
}

// sql returns the statement for all sources, for one, or for several. It takes the limits
// of the key, the number of rows and the source or a JSON array of sources.
func (q *rangeQuery) sql(sources int) string {
	from, which := q.table, ""
	switch {
	case sources == 1:
		from += " INDEXED BY " + q.source
		which = "AND source = ?4 "
	case sources > 1:
		which = "AND +source IN (SELECT value FROM json_each(?4)) "
	}
	return fmt.Sprintf("SELECT %s, source FROM %s WHERE %s > ?1 AND %[3]s <= ?2 %s%s ORDER BY %[3]s LIMIT ?3",
		q.columns, from, q.key, which, q.where)
}

// queryRange calls each with the rows after < key <= until of the sources, all if there
// are none, in the order of the key.
func (s *Store) queryRange(c *conn, q *rangeQuery, sources []string, after, until int64,
	each func(row []driver.Value, source string) (bool, error)) error {
	args := []any{after, until, int64(pageRows)}
	var numbers []int64
	for _, source := range sources {
		number, err := s.sourceID(c, source)
		if err != nil {
			return err
		}
		if number != 0 {
			numbers = append(numbers, number)
		}
	}
	switch {
	case len(sources) == 0:
	case len(numbers) == 0:
		return nil
	case len(numbers) == 1:
		args = append(args, numbers[0])
	default:
		args = append(args, strings.ReplaceAll(fmt.Sprint(numbers), " ", ","))
	}
	return c.query(func(row []driver.Value) (bool, error) {
		source, err := s.sourceKey(c, integer(row[len(row)-1]))
		if err != nil {
			return false, err
		}
		return each(row, source)
	}, q.sql(len(numbers)), args...)
}

// Due implements [harvest.Store].
func (s *Store) Due(ctx context.Context, source string, now time.Time, n int) (tasks []harvest.Task, err error) {
	err = s.read(ctx, func(c *conn) error {
		number, err := s.sourceID(c, source)
		if err != nil || number == 0 || n <= 0 {
			return err
		}
		return c.query(func(row []driver.Value) (bool, error) {
			var t harvest.Task
			err := decodeTask(row, source, &t)
			tasks = append(tasks, t)
			return true, err
		}, "SELECT "+taskColumns+" FROM tasks WHERE source = ? AND due <= ? ORDER BY due, id LIMIT ?", number, now.UnixMicro(), int64(n))
	})
	if err != nil {
		return nil, wrap(err)
	}
	return tasks, nil
}

// Tasks implements [harvest.Store].
func (s *Store) Tasks(ctx context.Context, source, after string) iter.Seq2[harvest.Task, error] {
	return paged(ctx, s, func() func(*conn, *page[harvest.Task]) error {
		last := bytesOf(after)
		var began beginning
		return func(c *conn, p *page[harvest.Task]) error {
			number, err := s.sourceID(c, source)
			if err == nil {
				err = began.load(c)
			}
			if err != nil || number == 0 {
				return err
			}
			err = c.query(func(row []driver.Value) (bool, error) {
				var t harvest.Task
				err := decodeTask(row, source, &t)
				return p.add(t, blob(row[0])), err
			}, "SELECT "+taskColumns+" FROM tasks WHERE source = ? AND id > ? AND n >> ? <= ? ORDER BY id LIMIT ?",
				number, last, int64(replacedBits), began.task, int64(pageRows))
			if n := len(p.items); n > 0 {
				last = []byte(p.items[n-1].Resource.ID)
			}
			return err
		}
	})
}

func decodeTask(row []driver.Value, source string, t *harvest.Task) error {
	if err := harvest.DecodeTask(blob(row[0]), t); err != nil {
		return err
	}
	t.Source, t.N, t.Base = source, uint64(integer(row[1])), websync.Seq(integer(row[2]))
	return nil
}
