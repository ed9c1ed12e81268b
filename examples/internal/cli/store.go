package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sqlitestore"
)

// A Store is the value of the flag -store.
type Store struct{ Kind, Name string }

// ParseStore reads mem, sqlite:FILE or postgres:DSN.
func ParseStore(text string) (Store, error) {
	kind, name, named := strings.Cut(text, ":")
	switch {
	case kind == "mem" && !named:
	case (kind == "sqlite" || kind == "postgres") && name != "":
	default:
		return Store{}, fmt.Errorf("-store %q: not one of mem, sqlite:FILE, postgres:DSN", text)
	}
	return Store{kind, name}, nil
}

// ChooseStore returns the Store that a flag names, or an SQLite store in a temporary
// directory if the flag is empty. remove removes that directory.
func ChooseStore(flag string) (_ Store, remove func(), err error) {
	if flag != "" {
		s, err := ParseStore(flag)
		return s, func() {}, err
	}
	dir, err := os.MkdirTemp("", "websync-")
	if err != nil {
		return Store{}, func() {}, err
	}
	return Store{"sqlite", filepath.Join(dir, "websync.db")}, func() { os.RemoveAll(dir) }, nil
}

func (s Store) String() string {
	if s.Name == "" {
		return s.Kind
	}
	return s.Kind + ":" + s.Name
}

// Exists reports whether the store may hold anything before it is opened.
func (s Store) Exists() bool {
	if s.Kind != "sqlite" {
		return s.Kind != "mem"
	}
	_, err := os.Stat(s.Name)
	return !errors.Is(err, os.ErrNotExist)
}

// Open opens the store. If dry is true, a file that does not exist is an empty store and
// is not created.
func (s Store) Open(ctx context.Context, dry bool) (harvest.Store, func() error, error) {
	if s.Kind == "mem" || dry && !s.Exists() {
		return memstore.New(), func() error { return nil }, nil
	}
	store, err := sqlitestore.Open(ctx, s.Name, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("store %s: %w", s, err)
	}
	return store, func() error {
		if err := store.Close(); err != nil {
			return fmt.Errorf("store %s: %w", s, err)
		}
		return nil
	}, nil
}
