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
	return &tx{db: s, ctx: ctx, conn: conn, access: a, known: map[string]pair{}}, nil
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
	var insert, replace, long [2][][]byte
	size := 0
	flush := func() {
		t.addPairs(b, &insert, &replace, &long)
		size = 0
	}
	for _, key := range slices.Sorted(maps.Keys(t.known)) {
		p := t.known[key]
		k := []byte(key)
		switch {
		case !p.changed || p.value == nil && p.state == absent:
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

// Prefetch implements [harvest.Prefetcher].
func (t *tx) Prefetch(keys [][]byte) error {
	var short, hashes [][]byte
	for _, k := range keys {
		if _, ok := t.known[string(k)]; ok {
			continue
		}
		t.known[string(k)] = pair{state: absent}
		if isLong(k) {
			hashes = append(hashes, hash(k))
		} else {
			short = append(short, k)
		}
	}
	if len(short)+len(hashes) == 0 {
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
	t.write(key, value)
	return nil
}

// Delete implements [harvest.Tx].
func (t *tx) Delete(key []byte) error {
	t.write(key, nil)
	return nil
}

func (t *tx) write(key, value []byte) {
	t.dirty = true
	t.notify = t.notify || key[0] == harvest.LogKey
	t.known[string(key)] = pair{value, t.known[string(key)].state, true}
}

// maxPage limits the keys that a Scan reads in one round trip. Their number grows from
// page to page.
const maxPage = 8192

// Scan implements [harvest.Reader].
func (t *tx) Scan(from, to []byte, n int, fn func(key, value []byte) bool) error {
	for n = min(n, maxPage); ; n = min(4*n, maxPage) {
		p := page{t: t, fn: fn, left: n}
		b := t.batch()
		long := func(row [][]byte) { p.long = append(p.long, [2][]byte{t.keep(row[0]), t.keep(row[1])}) }
		b.add(t.db.sql.scanLong, long, from, to, prefix(from), prefix(to), int64(n))
		b.add(t.db.sql.scan, p.row, from, to, int64(n))
		if err := t.send(b); err != nil {
			return err
		}
		p.upTo(nil)
		if p.left > 0 || p.over {
			return nil
		}
		from = append(bytes.Clone(p.last), 0)
	}
}

// A page merges up to a number of keys of both tables, in their order.
type page struct {
	t    *tx
	fn   func(key, value []byte) bool
	long [][2][]byte
	left int    // keys
	last []byte // the last key that fn was given
	over bool   // fn wants no more
}

func (p *page) row(row [][]byte) {
	p.upTo(row[0])
	if p.left > 0 && !p.over {
		p.give(p.t.keep(row[0]), p.t.keep(row[1]))
	}
}

// upTo gives fn the long keys before limit, all of them if it is nil.
func (p *page) upTo(limit []byte) {
	for len(p.long) > 0 && p.left > 0 && !p.over && (limit == nil || bytes.Compare(p.long[0][0], limit) < 0) {
		p.give(p.long[0][0], p.long[0][1])
		p.long = p.long[1:]
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
			values[i], types[i] = array(p), oidByteaArray
		}
	}
	b.ExecParams(sql, values, types, binaryFormat, binaryFormat)
	b.rows = append(b.rows, row)
}

// array returns an array of byte strings in the binary format.
func array(elements [][]byte) []byte {
	size := 20
	for _, e := range elements {
		size += 4 + len(e)
	}
	b := make([]byte, 0, size)
	for _, n := range [...]uint32{1, 0, oidBytea, uint32(len(elements)), 1} { // dimensions, nulls, type, size, first index
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
