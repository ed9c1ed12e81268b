package main

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/websync-go/websync/harvest"
)

// A file is a Store for one process: what it holds is in memory, and each Update writes
// it as a whole.
type file struct {
	name     string
	values   atomic.Pointer[values] // never changed: an Update makes other ones
	updating sync.Mutex
}

func open(name string) (*file, error) {
	f, v := &file{name: name}, values{}
	data, err := os.ReadFile(name)
	if err == nil {
		err = gob.NewDecoder(bytes.NewReader(data)).Decode(&v)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	f.values.Store(&v)
	return f, err
}

func (f *file) View(_ context.Context, fn func(harvest.Reader) error) error {
	return fn(*f.values.Load())
}

func (f *file) Update(_ context.Context, fn func(harvest.Tx) error) error {
	f.updating.Lock()
	defer f.updating.Unlock()
	next, data := maps.Clone(*f.values.Load()), new(bytes.Buffer)
	err := fn(next)
	if err == nil {
		err = gob.NewEncoder(data).Encode(next)
	}
	if err == nil {
		err = os.WriteFile(f.name+".new", data.Bytes(), 0o600)
	}
	if err == nil {
		err = os.Rename(f.name+".new", f.name)
	}
	if err == nil {
		f.values.Store(&next)
	}
	return err
}

type values map[string][]byte

func (v values) Get(key []byte) ([]byte, error) { return v[string(key)], nil }
func (v values) Set(key, value []byte) error    { v[string(key)] = value; return nil }
func (v values) Delete(key []byte) error        { delete(v, string(key)); return nil }

func (v values) Scan(from, to []byte, _ int, fn func(key, value []byte) bool) error {
	for _, k := range slices.Sorted(maps.Keys(v)) {
		if k >= string(from) && (k >= string(to) || !fn([]byte(k), v[k])) {
			return nil
		}
	}
	return nil
}
