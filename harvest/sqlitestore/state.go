package sqlitestore

import (
	"bytes"
	"context"

	"github.com/websync-go/websync"
)

// State implements [websync.State].
func (s *Store) State(ctx context.Context, key string) (value []byte, err error) {
	err = s.read(ctx, func(c *conn) error {
		value, err = getState(c, key)
		return err
	})
	return value, wrap(err)
}

// Swap implements [websync.State].
func (s *Store) Swap(ctx context.Context, key string, old, new []byte) error {
	return wrap(s.write(ctx, func(c *conn) error {
		value, err := getState(c, key)
		if err != nil {
			return err
		}
		if !bytes.Equal(value, old) {
			return websync.ErrConflict
		}
		return setState(c, key, new)
	}))
}

func getState(c *conn, key string) ([]byte, error) {
	row, err := c.one("SELECT value FROM state WHERE key = ?", bytesOf(key))
	if err != nil || row == nil {
		return nil, err
	}
	return blob(row[0]), nil
}

func setState(c *conn, key string, value []byte) error {
	if len(value) == 0 {
		return c.exec("DELETE FROM state WHERE key = ?", bytesOf(key))
	}
	return c.exec("REPLACE INTO state (key, value) VALUES (?, ?)", bytesOf(key), value)
}
