package pgstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/logkey"
	"github.com/websync-go/websync/internal/survive"
)

// A tx is one transaction. It begins with the first statement that is sent.
type tx struct {
	db      *Store
	ctx     context.Context // of the call
	conn    *pgxpool.Conn
	access  access
	begun   bool
	dirty   bool // something was written
	notify  bool
	failure error // of the first round trip that failed
	known   map[string]pair
	chunks  map[int64]*chunk // that were read, by their first rows
	arena   []byte
}

var (
	_ harvest.Tx         = (*tx)(nil)
	_ harvest.Prefetcher = (*tx)(nil)
)

// A pair is what a transaction knows of a key.
type pair struct {
	value   []byte // nil if there is none
	state   state  // in the database
	changed bool   // value is to be written
	in      *chunk // that has the entry of the log; nil if none does
}

// A state is what is known of a key in the database.
type state byte

const (
	unknown state = iota
	absent
	present
)

// An access is what a transaction may do.
type access byte

const (
	reading access = iota
	writing
)

func (s *Store) begin(ctx context.Context, a access) (*tx, error) {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return nil, s.failed(ctx, err)
	}
	return &tx{db: s, ctx: ctx, conn: conn, access: a, known: map[string]pair{}, chunks: map[int64]*chunk{}}, nil
}

// batch returns a batch to which the statements of the next round trip are added.
func (t *tx) batch() *batch {
	b := new(batch)
	switch {
	case t.begun:
	case t.access == writing:
		b.add("begin isolation level read committed", nil)
		b.add(sqlLock, nil, t.db.lock)
	default:
		b.add("begin isolation level repeatable read, read only", nil)
		b.add(sqlSettings, nil)
	}
	t.begun = true
	return b
}

// send makes one round trip. After an error the transaction is over.
func (t *tx) send(b *batch) error {
	if t.failure == nil {
		ctx, cancel := context.WithTimeout(t.ctx, t.db.answer)
		defer cancel()
		err := b.run(ctx, t.conn.Conn().PgConn())
		if err != nil && ctx.Err() != nil {
			err = fmt.Errorf("no answer within %v: %w", t.db.answer, err)
		}
		t.failure = t.db.failed(t.ctx, err)
	}
	return t.failure
}

// end rolls back the transaction. If that fails, or another statement has failed, the
// pool closes the connection.
func (t *tx) end() {
	if t.failure == nil && t.begun {
		b := new(batch)
		b.add("rollback", nil)
		t.send(b)
	}
}

// endLater ends a View: nobody waits for the end of a transaction that changes nothing,
// nor does Close.
func (t *tx) endLater() {
	defer t.conn.Release()
	ctx, cancel := context.WithTimeout(t.db.closing, time.Minute)
	defer cancel()
	t.ctx = ctx
	t.end()
}

// answerTime is how long a COMMIT waits for the server's answer after its call has been
// cancelled.
const answerTime = 5 * time.Second

// commit writes what has changed, in one round trip.
func (t *tx) commit() error {
	b := t.batch()
	t.addChanges(b)
	b.add(t.db.sql.applied, nil, t.db.session, t.db.updates)
	if !t.db.expired {
		b.add(t.db.sql.expire, nil)
	}
	if t.notify {
		b.add("select pg_notify($1, '')", nil, t.db.channel)
	}
	b.add("commit", nil)
	ctx, cancel := survive.Cancel(t.ctx, answerTime) // the caller is to know whether it is applied
	defer cancel()
	t.ctx = ctx
	if err := t.send(b); err != nil {
		return err
	}
	if b.tag != "COMMIT" {
		return fmt.Errorf("pgstore: the server answers COMMIT with %s", b.tag)
	}
	t.db.expired = true
	return nil
}

// maxStatement is the size in bytes from which what is written is divided.
const maxStatement = 4 << 20

// addChanges adds the statements that write what has changed, in order of the keys.
func (t *tx) addChanges(b *batch) {
	var remove, removeLong [][]byte
	var entries []entry
	chunks := map[*chunk]bool{}
	var insert, replace, long [2][][]byte
	size := 0
	flush := func() {
		t.addPairs(b, &insert, &replace, &long)
		size = 0
	}
	for _, key := range slices.Sorted(maps.Keys(t.known)) {
		p := t.known[key]
		k := []byte(key)
		switch row, isLog := logkey.Row(k); {
		case !p.changed || p.value == nil && p.state == absent:
			continue
		case p.in != nil:
			chunks[p.in] = true
			continue
		case isLog:
			entries = append(entries, entry{row, p.value})
			continue
		case p.value == nil && isLong(k):
			removeLong = append(removeLong, hash(k))
		case p.value == nil:
			remove = append(remove, k)
		case isLong(k):
			long[0], long[1] = append(long[0], k), append(long[1], p.value)
		case p.state == absent:
			insert[0], insert[1] = append(insert[0], k), append(insert[1], p.value)
		default:
			replace[0], replace[1] = append(replace[0], k), append(replace[1], p.value)
		}
		if size += len(k) + len(p.value); size > maxStatement {
			flush()
		}
	}
	flush()
	t.addLog(b, entries, chunks)
	if len(remove) > 0 {
		b.add(t.db.sql.remove, nil, remove)
	}
	if len(removeLong) > 0 {
		b.add(t.db.sql.removeLong, nil, removeLong)
	}
}

func (t *tx) addPairs(b *batch, insert, replace, long *[2][][]byte) {
	if len(insert[0]) > 0 {
		b.add(t.db.sql.insert, nil, insert[0], insert[1])
	}
	if len(replace[0]) > 0 {
		b.add(t.db.sql.replace, nil, replace[0], replace[1])
	}
	if len(long[0]) > 0 {
		b.add(t.db.sql.replaceLong, nil, long[0], long[1])
	}
	*insert, *replace, *long = [2][][]byte{}, [2][][]byte{}, [2][][]byte{}
}

// Get implements [harvest.Reader].
func (t *tx) Get(key []byte) ([]byte, error) {
	p, ok := t.known[string(key)]
	if !ok {
		if err := t.Prefetch([][]byte{key}); err != nil {
			return nil, err
		}
		p = t.known[string(key)]
	}
	return p.value, nil
}

// maxKnown is how many keys a View keeps in memory at least: it may read all there are.
const maxKnown = 8192

// Prefetch implements [harvest.Prefetcher].
func (t *tx) Prefetch(keys [][]byte) error {
	if t.access == reading && len(t.known) > maxKnown {
		clear(t.known)
	}
	var short, hashes [][]byte
	var rows []int64
	for _, k := range keys {
		if _, ok := t.known[string(k)]; ok {
			continue
		}
		t.known[string(k)] = pair{state: absent}
		switch row, isLog := logkey.Row(k); {
		case isLog:
			rows = append(rows, row)
		case isLong(k):
			hashes = append(hashes, hash(k))
		default:
			short = append(short, k)
		}
	}
	if len(short)+len(hashes)+len(rows) == 0 {
		return nil
	}
	b := t.batch()
	found := func(row [][]byte) { t.known[string(row[0])] = pair{value: t.keep(row[1]), state: present} }
	if len(short) > 0 {
		b.add(t.db.sql.get, found, short)
	}
	if len(hashes) > 0 {
		b.add(t.db.sql.getLong, found, hashes)
	}
	if len(rows) > 0 {
		b.add(t.db.sql.getLog, t.learn, rows)
	}
	return t.send(b)
}

// Absent implements [harvest.Prefetcher].
func (t *tx) Absent(key []byte) {
	if _, ok := t.known[string(key)]; !ok {
		t.known[string(key)] = pair{state: absent}
	}
}

// Set implements [harvest.Tx].
func (t *tx) Set(key, value []byte) error {
	if err := checkLog(key); err != nil {
		return err
	}
	return t.write(key, value)
}

// Delete implements [harvest.Tx].
func (t *tx) Delete(key []byte) error { return t.write(key, nil) }

func (t *tx) write(key, value []byte) error {
	p, known := t.known[string(key)]
	if isLog := logkey.Is(key); isLog && !known {
		if _, err := t.Get(key); err != nil { // the chunk must be known
			return err
		}
		p = t.known[string(key)]
	}
	t.dirty = true
	t.notify = t.notify || key[0] == harvest.LogKey
	p.value, p.changed = value, true
	t.known[string(key)] = p
	return nil
}

// maxPage limits the keys that a Scan reads in one round trip. Their number grows from
// page to page.
const maxPage = 8192

// Scan implements [harvest.Reader].
func (t *tx) Scan(from, to []byte, n int, fn func(key, value []byte) bool) error {
	for n = min(n, maxPage); ; n = min(4*n, maxPage) {
		p := page{t: t, fn: fn, left: n}
		b := t.batch()
		p.addScan(b, from, to)
		if !logkey.Is(from) || bytes.Compare(to, logkey.To) > 0 {
			long := func(row [][]byte) { p.others = append(p.others, [2][]byte{t.keep(row[0]), t.keep(row[1])}) }
			b.add(t.db.sql.scanLong, long, from, to, prefix(from), prefix(to), int64(n))
			b.add(t.db.sql.scan, p.row, from, to, int64(n))
		}
		if err := t.send(b); err != nil {
			return err
		}
		p.sort()
		p.upTo(p.end)
		switch {
		case p.over || p.left > 0 && p.end == nil:
			return nil
		case p.left > 0:
			from = p.end
		default:
			from = append(bytes.Clone(p.last), 0)
		}
	}
}

// A page merges up to a number of keys of all tables, in their order.
type page struct {
	t      *tx
	fn     func(key, value []byte) bool
	others [][2][]byte // of the log and of long keys, which are read first
	sorted bool        // others are in their order
	left   int         // keys
	end    []byte      // the page has no keys from here on; nil if it has all there are
	last   []byte      // the last key that fn was given
	over   bool        // fn wants no more
}

func (p *page) row(row [][]byte) {
	p.sort()
	if p.end != nil && bytes.Compare(row[0], p.end) >= 0 {
		return
	}
	p.upTo(row[0])
	if p.left > 0 && !p.over {
		p.give(p.t.keep(row[0]), p.t.keep(row[1]))
	}
}

// sort puts the others in their order, once all of them are read.
func (p *page) sort() {
	if !p.sorted {
		slices.SortFunc(p.others, func(a, b [2][]byte) int { return bytes.Compare(a[0], b[0]) })
		p.sorted = true
	}
}

// upTo gives fn the other keys before limit, all of them if it is nil.
func (p *page) upTo(limit []byte) {
	for len(p.others) > 0 && p.left > 0 && !p.over && (limit == nil || bytes.Compare(p.others[0][0], limit) < 0) {
		p.give(p.others[0][0], p.others[0][1])
		p.others = p.others[1:]
	}
}

func (p *page) give(key, value []byte) {
	p.left--
	p.last = key
	p.over = !p.fn(key, value)
}

// keep returns a copy that is valid until the transaction ends.
func (t *tx) keep(b []byte) []byte {
	const block = 64 << 10
	if cap(t.arena)-len(t.arena) < len(b) {
		t.arena = make([]byte, 0, max(block, len(b)))
	}
	at := len(t.arena)
	t.arena = append(t.arena, b...)
	return t.arena[at:len(t.arena):len(t.arena)]
}

// A batch is the statements of one round trip.
type batch struct {
	pgconn.Batch
	rows []func(row [][]byte) // one for each statement; nil if it has no rows
	tag  string               // of the last statement
}

// The types of parameters, by their numbers in pg_type.
const (
	oidBytea      = 17
	oidInt8       = 20
	oidText       = 25
	oidByteaArray = 1001
	oidInt8Array  = 1016
)

var binaryFormat = []int16{1}

// add adds a statement. Its rows have the binary format.
func (b *batch) add(sql string, row func(row [][]byte), params ...any) {
	values := make([][]byte, len(params))
	types := make([]uint32, len(params))
	for i, p := range params {
		switch p := p.(type) {
		case int64:
			values[i], types[i] = binary.BigEndian.AppendUint64(nil, uint64(p)), oidInt8
		case string:
			values[i], types[i] = []byte(p), oidText
		case []byte:
			values[i], types[i] = p, oidBytea
		case [][]byte:
			values[i], types[i] = array(oidBytea, p), oidByteaArray
		case []int64:
			numbers := make([][]byte, len(p))
			for i, n := range p {
				numbers[i] = binary.BigEndian.AppendUint64(nil, uint64(n))
			}
			values[i], types[i] = array(oidInt8, numbers), oidInt8Array
		}
	}
	b.ExecParams(sql, values, types, binaryFormat, binaryFormat)
	b.rows = append(b.rows, row)
}

// array returns an array of elements of a type in the binary format.
func array(oid uint32, elements [][]byte) []byte {
	size := 20
	for _, e := range elements {
		size += 4 + len(e)
	}
	b := make([]byte, 0, size)
	for _, n := range [...]uint32{1, 0, oid, uint32(len(elements)), 1} { // dimensions, nulls, type, size, first index
		b = binary.BigEndian.AppendUint32(b, n)
	}
	for _, e := range elements {
		b = binary.BigEndian.AppendUint32(b, uint32(len(e)))
		b = append(b, e...)
	}
	return b
}

// run sends the statements and reads all results.
func (b *batch) run(ctx context.Context, conn *pgconn.PgConn) error {
	results := conn.ExecBatch(ctx, &b.Batch)
	for _, row := range b.rows {
		if !results.NextResult() {
			break
		}
		r := results.ResultReader()
		for r.NextRow() {
			if row != nil {
				row(r.Values())
			}
		}
		tag, err := r.Close()
		if err != nil {
			break
		}
		b.tag = tag.String()
	}
	return results.Close()
}

// maxKey is the length in bytes from which keys are long: an index of PostgreSQL holds no
// entries above 2,704 bytes.
const maxKey = 2600

func isLong(key []byte) bool { return len(key) > maxKey }

// prefix returns the part of a long key by which the table of long keys is ordered.
func prefix(key []byte) []byte { return key[:min(len(key), maxKey)] }

func hash(key []byte) []byte {
	sum := sha256.Sum256(key)
	return sum[:]
}
