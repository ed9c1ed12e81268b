package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// queueSchema is the schema of the queue's tables.
const queueSchema = "websync_river"

// openQueue connects to the database, and makes the queue's tables if they are not there.
func openQueue(ctx context.Context, dsn string) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, errors.New("queue: the connection string can't be parsed") // without the password in it
	}
	// A pool between the processes and the server, such as PgBouncer in its transaction
	// mode, may give each transaction another connection: without prepared statements, and
	// without locks that a transaction leaves.
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("queue: %w", err)
	}
	if err := makeQueue(ctx, pool); err != nil {
		pool.Close()
		return nil, fmt.Errorf("queue: %w", err)
	}
	return pool, nil
}

// makeQueue makes the tables, one machine at a time.
func makeQueue(ctx context.Context, pool *pgxpool.Pool) error {
	return pgx.BeginFunc(ctx, pool, func(lock pgx.Tx) error {
		if _, err := lock.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtext($1))", queueSchema); err != nil {
			return err
		}
		if _, err := pool.Exec(ctx, "CREATE SCHEMA IF NOT EXISTS "+queueSchema); err != nil {
			return err
		}
		migrator, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Schema: queueSchema})
		if err != nil {
			return err
		}
		_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
		return err
	})
}
