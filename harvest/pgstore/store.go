package pgstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Options configure a Store. The zero value is the recommended setting.
type Options struct {
	// Schema is the schema of the Store's tables. Open creates it. Stores in different
	// schemas of a database have nothing in common. If empty, it is "websync".
	Schema string
	// Retry is how long calls are tried again while the server can't be reached. If zero,
	// it is 30 seconds; if negative, there is no limit other than the call's context. A
	// connection on which the server does not answer for 5 minutes is lost.
	Retry time.Duration
	// Existing makes Open refuse a schema without a Store with [io/fs.ErrNotExist],
	// rather than create one.
	Existing bool
}

const (
	defaultSchema = "websync"
	defaultRetry  = 30 * time.Second
	defaultAnswer = 5 * time.Minute
)

// Open opens the Store in a database, or creates it. The connection string is a URL, such
// as "postgres://user@host/database", or a list, such as "host=db.example dbname=laws".
// What it leaves out is taken from the environment, as psql does; pool_max_conns limits
// the number of connections. If o is nil, it is the zero Options.
//
// Open writes nothing if the Store exists, unless it is of an older version, from schema 2
// on, which Open brings up to date: a role that may only read it, or a standby, is enough
// to read.
//
// For a Store of a newer version of this package the error is [harvest.ErrNewer]. No
// error contains the connection string or a password.
//
// Any number of Stores, in any number of processes and on any number of hosts, may have
// the same schema open.
func Open(ctx context.Context, connection string, o *Options) (*Store, error) {
	config, err := pgxpool.ParseConfig(connection)
	if err != nil {
		return nil, errConnection // not err, which may contain a password
	}
	if o == nil {
		o = new(Options)
	}
	// A host that no longer answers must not keep a call waiting for many minutes.
	alive := net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 4}
	dialer := &net.Dialer{KeepAliveConfig: alive}
	config.ConnConfig.DialFunc = dialer.DialContext
	config.ConnConfig.ConnectTimeout = cmp.Or(config.ConnConfig.ConnectTimeout, 10*time.Second)
	return open(ctx, config, o)
}

var errConnection = errors.New("pgstore: the connection string can't be parsed: " +
	`"postgres://user@host:5432/database" or "host=… user=… dbname=…" is right`)

func open(ctx context.Context, config *pgxpool.Config, o *Options) (*Store, error) {
	s, err := newStore(ctx, config, o)
	if err != nil {
		return nil, wrap(err)
	}
	if err := s.setUp(ctx, o.Existing); err != nil {
		s.closeOnce()
		return nil, err
	}
	return s, nil
}

// setUp checks the Store, and creates it or brings it up to date.
func (s *Store) setUp(ctx context.Context, existing bool) error {
	version, err := s.inspect(ctx)
	if err == nil && version == 0 && existing {
		return fmt.Errorf("pgstore: the schema %q holds no Store: %w", s.schema, fs.ErrNotExist)
	}
	for err == nil && version < schemaVersion {
		version, err = s.upgrade(ctx)
	}
	return err
}

// Close closes all connections. It waits for running calls. It may be called more than
// once.
func (s *Store) Close() error {
	s.closeOnce()
	return nil
}

// wrap adds the name of the package.
func wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("pgstore: %w", err)
}
