package sqlitestore

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/websync-go/websync/internal/spool"
)

// An owner is a locked file that proves to others that this Store is alive. When the
// process ends, for whatever reason, the lock ends, so another process that can lock the
// file knows that its owner is dead. On systems without such locks an owner has no file,
// and its claims end when they expire.
type owner struct {
	id   string
	dir  string
	file *os.File // nil if there are no locks
}

// unlocked is the prefix of the id of an owner without a lock.
const unlocked = "x-"

func newOwner(dir string) (*owner, error) {
	for tries := 0; ; tries++ {
		o, err := tryOwner(dir)
		if err == nil || !errors.Is(err, fs.ErrNotExist) || tries == 100 {
			return o, err
		}
		// Another process that closed or cleaned up has removed the directory or the
		// file.
	}
}

func tryOwner(dir string) (*owner, error) {
	o := &owner{id: strings.ToLower(rand.Text()), dir: dir}
	if !spool.CanLock {
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
	locked, err := spool.TryLock(f)
	if err != nil { // the file system has no locks
		o.discard(f)
		o.id = unlocked + o.id
		return o, nil
	}
	o.file = f
	if !locked || !o.inPlace() {
		f.Close()
		return nil, fs.ErrNotExist // another process took its owner for dead
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		o.dead(e.Name()) // removes the file of one that has ended
	}
	return o, nil
}

func (o *owner) path(id string) string { return filepath.Join(o.dir, id) }

// inPlace reports whether the name still refers to the locked file.
func (o *owner) inPlace() bool {
	named, err := os.Stat(o.path(o.id))
	if err != nil {
		return false
	}
	opened, err := o.file.Stat()
	return err == nil && os.SameFile(named, opened)
}

// key returns the name of this owner in its claims; "" if others can't detect whether it
// is alive.
func (o *owner) key() string {
	if o.file == nil {
		return ""
	}
	return o.id
}

// dead reports whether the owner with this id has certainly ended. If so, it removes its
// file.
func (o *owner) dead(id string) bool {
	if o.file == nil || id == "" || strings.HasPrefix(id, unlocked) || filepath.Base(id) != id {
		return false
	}
	f, err := os.OpenFile(o.path(id), os.O_RDWR, 0)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	locked, err := spool.TryLock(f)
	if err != nil || !locked {
		f.Close()
		return false
	}
	o.discard(f)
	return true
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
