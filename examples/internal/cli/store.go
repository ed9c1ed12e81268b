package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/pgstore"
	"github.com/websync-go/websync/harvest/sqlitestore"
)

// A Store is the value of the flag -store.
type Store struct {
	Kind, Name string
	// Temporary states that the store is removed at the end of the program.
	Temporary bool
}

// StoreForms is what the flag -store may be.
const StoreForms = "mem, sqlite:FILE, postgres:DSN"

// ParseStore reads one of StoreForms. A URL of PostgreSQL, postgres://…, is one, too.
func ParseStore(text string) (Store, error) {
	kind, name, named := strings.Cut(text, ":")
	if (kind == "postgres" || kind == "postgresql") && strings.HasPrefix(name, "//") {
		return Store{Kind: "postgres", Name: text}, nil
	}
	switch {
	case kind == "mem" && !named:
	case (kind == "sqlite" || kind == "postgres") && name != "":
	default:
		return Store{}, fmt.Errorf("-store %q: not one of %s", websync.RedactURL(text), StoreForms)
	}
	return Store{Kind: kind, Name: name}, nil
}

// CheckStore returns an error unless a flag is empty or names a Store.
func CheckStore(flag string) error {
	if flag == "" {
		return nil
	}
	_, err := ParseStore(flag)
	return err
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
	return Store{Kind: "sqlite", Name: filepath.Join(dir, "websync.db"), Temporary: true}, func() { os.RemoveAll(dir) }, nil
}

// String returns how messages name the store. It has no password.
func (s Store) String() string {
	switch s.Kind {
	case "mem":
		return s.Kind
	case "postgres":
		config, err := pgconn.ParseConfig(s.Name)
		if err != nil {
			return "postgres"
		}
		return fmt.Sprintf("postgres:%s at %s:%d", config.Database, config.Host, config.Port)
	}
	return s.Kind + ":" + s.Name
}

// Open opens the store, or creates it. It returns the Catalog and what closes the store.
func (s Store) Open(ctx context.Context) (*harvest.Catalog, func() error, error) {
	return s.open(ctx, pgstore.Options{})
}

// OpenExisting opens the store. If there is none, it creates none: the error is
// [io/fs.ErrNotExist].
func (s Store) OpenExisting(ctx context.Context) (*harvest.Catalog, func() error, error) {
	if s.Kind == "sqlite" {
		if _, err := os.Stat(s.Name); err != nil {
			return nil, nil, s.failed(err)
		}
	}
	return s.open(ctx, pgstore.Options{Existing: true})
}

// OpenDry opens the store, or an empty one in memory if there is none.
func (s Store) OpenDry(ctx context.Context) (*harvest.Catalog, func() error, error) {
	store, closeStore, err := s.OpenExisting(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return Store{Kind: "mem"}.Open(ctx)
	}
	return store, closeStore, err
}

func (s Store) open(ctx context.Context, postgres pgstore.Options) (*harvest.Catalog, func() error, error) {
	var store interface {
		harvest.Store
		Close() error
	}
	var err error
	switch s.Kind {
	case "mem":
		return harvest.NewCatalog(memstore.New()), func() error { return nil }, nil
	case "postgres":
		store, err = pgstore.Open(ctx, s.Name, &postgres)
	default:
		store, err = sqlitestore.Open(ctx, s.Name, &sqlitestore.Options{Temporary: s.Temporary})
	}
	if err != nil {
		return nil, nil, s.failed(err)
	}
	return harvest.NewCatalog(store), func() error { return s.failed(store.Close()) }, nil
}

// failed adds the name of the store.
func (s Store) failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("store %s: %w", s, err)
}
