package sqlitestore

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// An owner shows others that this Store is alive: a file of its own that it keeps locked.
// When the process ends, however it ends, the lock goes, and whoever can lock the file
// knows that its owner is dead. Where there are no such locks the owner has no file, and
// its claims end with their time.
type owner struct {
	id   string
	dir  string
	file *os.File // nil: there are no locks
}

// unlocked begins the id of an owner without a lock.
const unlocked = "x-"

func newOwner(dir string) (*owner, error) {
	for tries := 0; ; tries++ {
		o, err := tryOwner(dir)
		if err == nil || !errors.Is(err, fs.ErrNotExist) || tries == 100 {
			return o, err
		}
		// Somebody who closed or cleaned up took the directory or the file away.
	}
}

func tryOwner(dir string) (*owner, error) {
	o := &owner{id: strings.ToLower(rand.Text()), dir: dir}
	if !canLock {
		o.id = unlocked + o.id
		return o, nil
	}
	if err := os.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	f, err := os.OpenFile(o.path(o.id), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	locked, err := tryLock(f)
	if err != nil { // this file system has no locks
		o.discard(f)
		o.id = unlocked + o.id
		return o, nil
	}
	o.file = f
	if !locked || !o.inPlace() {
		f.Close()
		return nil, fs.ErrNotExist // somebody took it for the file of a dead owner
	}
	o.sweep()
	return o, nil
}

func (o *owner) path(id string) string { return filepath.Join(o.dir, id) }

// inPlace reports whether the locked file is still the one under the name.
func (o *owner) inPlace() bool {
	named, err := os.Stat(o.path(o.id))
	if err != nil {
		return false
	}
	opened, err := o.file.Stat()
	return err == nil && os.SameFile(named, opened)
}

// key returns what a claim of this owner bears: "" if nobody can find out whether it is
// alive.
func (o *owner) key() string {
	if o.file == nil {
		return ""
	}
	return o.id
}

// dead reports whether the owner of that id has ended for certain, and if so removes its
// file.
func (o *owner) dead(id string) bool {
	if o.file == nil || id == "" || strings.HasPrefix(id, unlocked) || filepath.Base(id) != id {
		return false
	}
	f, err := os.OpenFile(o.path(id), os.O_RDWR, 0)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	locked, err := tryLock(f)
	if err != nil || !locked {
		f.Close()
		return false
	}
	o.discard(f)
	return true
}

// sweep removes the files of dead owners.
func (o *owner) sweep() {
	entries, _ := os.ReadDir(o.dir)
	for _, e := range entries {
		o.dead(e.Name())
	}
}

func (o *owner) discard(f *os.File) {
	os.Remove(f.Name())
	f.Close()
}

func (o *owner) close() error {
	if o.file == nil {
		return nil
	}
	err := os.Remove(o.file.Name())
	os.Remove(o.dir) // succeeds when it is empty
	return errors.Join(err, o.file.Close())
}
