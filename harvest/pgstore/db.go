package pgstore

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/puddle/v2"

	"github.com/websync-go/websync/harvest"
)

// A Store is a schema of a PostgreSQL database.
type Store struct {
	pool     *pgxpool.Pool
	schema   string
	sql      statements
	upgrades [][]string
	lock     int64  // the advisory lock that orders Updates
	channel  string // of notifications
	retry    time.Duration
	answer   time.Duration // how long the server may take to answer
	outage   outage
	// readOnly is set if the server allowed only reading when the Store was opened.
	readOnly bool

	// Each Update writes the name of this opening of the Store and its own number. If its
	// COMMIT is lost, it looks whether they are there, so there is one Update at a time.
	updating chan struct{} // holds a token while an Update runs
	session  []byte
	updates  int64
	expired  bool // the old sessions are removed

	closing   context.Context // ends when Close is called
	closeOnce func()
	listening sync.WaitGroup
}

var (
	_ harvest.Store   = (*Store)(nil)
	_ harvest.Watcher = (*Store)(nil)
)

func newStore(ctx context.Context, config *pgxpool.Config, o *Options) (*Store, error) {
	schema := cmp.Or(o.Schema, defaultSchema)
	hash := fnv.New64a()
	hash.Write([]byte("websync " + schema))
	s := &Store{
		schema:   schema,
		sql:      newStatements(schema),
		upgrades: upgrades[:],
		lock:     int64(hash.Sum64()),
		channel:  fmt.Sprintf("websync_%x", hash.Sum64()),
		retry:    cmp.Or(o.Retry, defaultRetry),
		answer:   defaultAnswer,
		updating: make(chan struct{}, 1),
		session:  []byte(rand.Text()),
	}
	if params := config.ConnConfig.RuntimeParams; params["application_name"] == "" {
		params["application_name"] = "websync"
	}
	// A dead connection is noticed, and replaced, when it is used.
	config.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false }
	var err error
	if s.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, err
	}
	var stop context.CancelFunc
	s.closing, stop = context.WithCancel(context.Background())
	s.closeOnce = sync.OnceFunc(func() {
		stop()
		s.listening.Wait()
		s.pool.Close()
	})
	return s, nil
}

// View implements [harvest.Store].
func (s *Store) View(ctx context.Context, fn func(harvest.Reader) error) error {
	return s.patiently(ctx, func() error {
		t, err := s.begin(ctx, reading)
		if err != nil {
			return err
		}
		defer func() { go t.endLater() }() // also if fn panics
		err = fn(t)
		if t.failure != nil {
			err = t.failure
		}
		return err
	})
}

// Update implements [harvest.Store].
func (s *Store) Update(ctx context.Context, fn func(harvest.Tx) error) error {
	select {
	case s.updating <- struct{}{}:
	case <-ctx.Done():
		return wrap(ctx.Err())
	}
	defer func() { <-s.updating }()
	s.updates++
	doubt := false
	err := s.patiently(ctx, func() (err error) {
		if doubt {
			if applied, err := s.isApplied(ctx); err != nil || applied {
				return err
			}
		}
		doubt, err = s.update(ctx, fn)
		return err
	})
	if err != nil && doubt {
		err = fmt.Errorf("%w; the last transaction may have been applied", err)
	}
	return err
}

// update is one attempt of an Update. If it ends in COMMIT without an answer of the
// server, doubt is true.
func (s *Store) update(ctx context.Context, fn func(harvest.Tx) error) (doubt bool, err error) {
	t, err := s.begin(ctx, writing)
	if err != nil {
		return false, err
	}
	defer t.conn.Release()
	err = fn(t)
	switch {
	case t.failure != nil:
		return false, t.failure
	case err != nil || !t.dirty:
		t.end()
		return false, err
	}
	err = t.commit()
	_, lost := errors.AsType[*lostError](err)
	_, answered := errors.AsType[*pgconn.PgError](err)
	return err != nil && (lost || !answered), err
}

// isApplied reports whether the latest Update of this session is in the database. The
// lock waits for the end of the transaction whose connection was lost.
func (s *Store) isApplied(ctx context.Context) (applied bool, err error) {
	t, err := s.begin(ctx, writing)
	if err != nil {
		return false, err
	}
	defer t.conn.Release()
	b := t.batch()
	b.add(s.sql.isApplied, func([][]byte) { applied = true }, s.session, s.updates)
	if err := t.send(b); err != nil {
		return false, err
	}
	t.end()
	return applied, nil
}

// An outage is a time in which no call reaches the server.
type outage struct {
	mu          sync.Mutex
	first, last time.Time // failures
}

// ended notes that the server was reached.
func (o *outage) ended() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.first, o.last = time.Time{}, time.Time{}
}

// goesOn notes that the server was not reached, and returns for how long by now. A
// failure long after the one before it begins another outage.
func (o *outage) goesOn(pause time.Duration) time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	if now.Sub(o.last) > pause {
		o.first = now
	}
	o.last = now
	return now.Sub(o.first)
}

// patiently repeats f while the server can't be reached. A call has the time of Retry,
// and so have all calls together while none reaches the server.
func (s *Store) patiently(ctx context.Context, f func() error) error {
	var since time.Time // the first failure
	var lost *lostError // the last one
	for wait := time.Duration(0); ; wait = min(2*wait+10*time.Millisecond, time.Second) {
		err := f()
		again, ok := errors.AsType[*lostError](err)
		switch {
		case ok:
			lost = again
		case err == nil:
			s.outage.ended()
			return nil
		case lost != nil && ctx.Err() != nil:
			return lost.until(ctx)
		default:
			return err
		}
		if since.IsZero() {
			since = time.Now()
		}
		if max(time.Since(since), s.outage.goesOn(max(s.retry, time.Minute))) > s.retry && s.retry > 0 {
			return fmt.Errorf("pgstore: no connection to the server for %v: %w", s.retry, lost.error)
		}
		s.pool.Reset() // its other connections are likely to be lost, too
		select {
		case <-ctx.Done():
			return lost.until(ctx)
		case <-s.closing.Done():
			return wrap(os.ErrClosed)
		case <-time.After(wait):
		}
	}
}

// A lostError is that of a connection that is lost or can't be made, so that the same
// may succeed on another one.
type lostError struct{ error }

func (e *lostError) Unwrap() error { return e.error }

// until returns the error of a call that waited for a connection until its context ended.
func (e *lostError) until(ctx context.Context) error {
	return fmt.Errorf("pgstore: no connection to the server: %w: %w", ctx.Err(), e.error)
}

// failed makes an error of pgx one of this package: a *lostError if it is worth while to
// try again.
func (s *Store) failed(ctx context.Context, err error) error {
	switch server, ok := errors.AsType[*pgconn.PgError](err); {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return wrap(ctx.Err())
	case errors.Is(err, puddle.ErrClosedPool):
		return wrap(os.ErrClosed)
	case ok && !s.isTemporary(server.Code):
		return wrap(s.explain(err, server.Code))
	}
	return &lostError{wrap(err)}
}

// explain adds what is missing to an error of the server.
func (s *Store) explain(err error, code string) error {
	switch code {
	case readOnlyTransaction:
		return fmt.Errorf("the Store can only be read: %w: to write, connect to a server that is not a standby, "+
			"as a role without default_transaction_read_only", err)
	case "42501": // insufficient_privilege
		return fmt.Errorf("the role %q lacks a right: %w: reading needs USAGE on the schema %q and SELECT on its tables, "+
			"writing also INSERT, UPDATE and DELETE, creating it CREATE on the database",
			s.pool.Config().ConnConfig.User, err, s.schema)
	}
	return err
}

// readOnlyTransaction is the SQLSTATE of a write in a transaction that can only read.
const readOnlyTransaction = "25006"

// isTemporary reports whether another connection may succeed after an error with this
// SQLSTATE.
func (s *Store) isTemporary(code string) bool {
	switch code {
	case readOnlyTransaction: // of a server that is no longer the primary one
		return !s.readOnly
	case "25P03", // idle_in_transaction_session_timeout
		"40001", // serialization_failure
		"40P01", // deadlock_detected
		"53300", // too_many_connections
		"57P01", // admin_shutdown
		"57P02", // crash_shutdown
		"57P03", // cannot_connect_now
		"57P05": // idle_session_timeout
		return true
	}
	return strings.HasPrefix(code, "08") // connection_exception
}

// Watch implements [harvest.Watcher].
func (s *Store) Watch(changed func()) {
	s.listening.Go(func() {
		for s.closing.Err() == nil {
			s.listen(s.closing, changed) // its error is that of a connection that is lost
			select {
			case <-s.closing.Done():
			case <-time.After(time.Second):
			}
		}
	})
}

// listen calls changed after each notification until the connection is lost.
func (s *Store) listen(ctx context.Context, changed func()) error {
	conn, err := pgx.ConnectConfig(ctx, s.pool.Config().ConnConfig)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	if _, err := conn.PgConn().Exec(ctx, "listen "+s.channel).ReadAll(); err != nil {
		return err
	}
	for err == nil {
		changed() // the first time because one may have been missed
		err = conn.PgConn().WaitForNotification(ctx)
	}
	return err
}
