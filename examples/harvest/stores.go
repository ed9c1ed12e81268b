package main

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

const defaultStore = "sqlite:websync.db"

// A storeSpec is what -store names.
type storeSpec struct{ kind, name string }

func (s storeSpec) String() string {
	if s.name == "" {
		return s.kind
	}
	return s.kind + ":" + s.name
}

func parseStore(text string) (storeSpec, error) {
	kind, name, named := strings.Cut(text, ":")
	switch {
	case kind == "mem" && !named:
	case (kind == "sqlite" || kind == "postgres") && name != "":
	default:
		return storeSpec{}, fmt.Errorf("-store %q: not one of mem, sqlite:FILE, postgres:DSN", text)
	}
	return storeSpec{kind, name}, nil
}

// storeSpec returns the store to use, and what to do when it is closed. The demonstration has one of its own.
func (p *program) storeSpec() (_ storeSpec, remove func(), err error) {
	remove = func() {}
	switch {
	case p.storeFlag != "":
		s, err := parseStore(p.storeFlag)
		return s, remove, err
	case len(p.urls) > 0:
		s, err := parseStore(defaultStore)
		return s, remove, err
	}
	dir, err := os.MkdirTemp("", "websync-demonstration-")
	if err != nil {
		return storeSpec{}, remove, err
	}
	return storeSpec{"sqlite", filepath.Join(dir, "websync.db")}, func() { os.RemoveAll(dir) }, nil
}

// lasts reports whether the store is there after the process has ended.
func (p *program) lasts() bool {
	return p.storeFlag != "mem" && (p.storeFlag != "" || len(p.urls) > 0)
}

// open opens the store. When nothing is to be written, a file that is not there is an empty store, and stays away.
func (s storeSpec) open(ctx context.Context, dry bool) (harvest.Store, func() error, error) {
	absent := false
	if dry && s.kind == "sqlite" {
		_, err := os.Stat(s.name)
		absent = errors.Is(err, os.ErrNotExist)
	}
	if s.kind == "mem" || absent {
		return memstore.New(), func() error { return nil }, nil
	}
	store, err := sqlitestore.Open(ctx, s.name, nil)
	if err != nil {
		return nil, nil, err
	}
	return store, store.Close, nil
}
