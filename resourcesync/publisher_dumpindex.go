package resourcesync

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/publishing"
	"github.com/websync-go/websync/internal/spool"
)

// A packedFile is a file in Dumps.Dir.
type packedFile struct {
	Name   string         `json:"name"`
	Length int64          `json:"length"`
	Digest websync.Digest `json:"digest"` // SHA-256
}

// A madePackage is one package with its manifest.
type madePackage struct {
	N        uint64     `json:"n"` // its number in the URL
	Package  packedFile `json:"package"`
	Manifest packedFile `json:"manifest"`

	// Of a Change Dump: the interval of its changes.
	From  time.Time `json:"from,omitzero"`
	Until time.Time `json:"until,omitzero"`
}

// id returns what identifies the bytes of the package in its URL.
func (p *madePackage) id() string { return digits(p.Package.Digest)[:8] }

// digits returns the hexadecimal digits of a SHA-256.
func digits(d websync.Digest) string { return strings.TrimPrefix(d.String(), "sha-256:") }

// A dumpIndex is what there is of a dump. It is a file in Dumps.Dir, which never changes;
// the State names it. So a dump is replaced at once.
type dumpIndex struct {
	Settings string `json:"settings"` // a hash

	// The log, and how far the dump goes: of a Resource Dump, the last commit before it
	// was made. A Generation of 0 stands for no dump.
	Generation uint64      `json:"generation"`
	First      time.Time   `json:"first"`
	Last       websync.Seq `json:"last"`
	Time       time.Time   `json:"time"`
	Completed  time.Time   `json:"completed,omitzero"`

	Packages []madePackage `json:"packages"`
	Retired  []madePackage `json:"retired,omitempty"` // not listed, but still available

	state []byte // the value of the State
}

// fits reports whether the dump is of this log.
func (x *dumpIndex) fits(head *websync.Head) bool {
	return x.Generation == head.Generation && x.First.Equal(head.FirstTime) && x.Last <= head.Last
}

// find returns a package; nil if there is none.
func (x *dumpIndex) find(id string, n uint64) *madePackage {
	for _, all := range [][]madePackage{x.Packages, x.Retired} {
		for i := range all {
			if p := &all[i]; p.N == n && p.id() == id {
				return p
			}
		}
	}
	return nil
}

// files returns the names of all files in use, with that of the index.
func (x *dumpIndex) files() map[string]bool {
	names := map[string]bool{stateName(x.state): true}
	for _, p := range slices.Concat(x.Packages, x.Retired) {
		names[p.Package.Name], names[p.Manifest.Name] = true, true
	}
	return names
}

// An indexCache keeps the index that was read last.
type indexCache struct {
	mu   sync.Mutex
	last *dumpIndex
}

// stateKey returns the name of the value in the State.
func (d *publishedDump) stateKey() string {
	return "resourcesync/" + string(d.kind) + " " + d.publisher.site.URL()
}

// prefix begins the names of all files of the dump: Publishers may share the directory.
func (d *publishedDump) prefix() string {
	return string(d.kind) + "-" + publishing.Hash([]byte(d.publisher.site.URL())) + "-"
}

// settings identifies what decides, besides the log, what is in the packages.
func (d *publishedDump) settings() string {
	return publishing.Hash(fmt.Appendf(nil, "%s %q", d.publisher.packing, d.publisher.site.Key()))
}

// stateName returns the name of the index file in a value of the State.
func stateName(value []byte) string {
	name, _, _ := strings.Cut(string(value), " ")
	return name
}

// load returns the index that the State names. If there is none, or it was lost or is of
// other settings, the index is empty; it always has the value of the State.
func (d *publishedDump) load(ctx context.Context) (*dumpIndex, error) {
	value, err := d.State.State(ctx, d.stateKey())
	if err != nil {
		return nil, dumpError(err)
	}
	d.index.mu.Lock()
	defer d.index.mu.Unlock()
	if last := d.index.last; last == nil || !bytes.Equal(last.state, value) {
		if last, err = d.read(value); err != nil {
			return nil, dumpError(err)
		}
		d.index.last = last
	}
	if d.index.last.Settings != d.settings() {
		return &dumpIndex{state: value}, nil
	}
	return d.index.last, nil
}

// read reads the index that a value of the State names.
func (d *publishedDump) read(value []byte) (*dumpIndex, error) {
	x := &dumpIndex{state: value}
	name, sum, _ := strings.Cut(string(value), " ")
	if !d.isFile(name) {
		return x, nil
	}
	text, err := os.ReadFile(filepath.Join(d.Dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return x, nil
	}
	if err != nil {
		return nil, err
	}
	if websync.SHA256(text).String() != sum || json.Unmarshal(text, x) != nil {
		return &dumpIndex{state: value}, nil // damaged: as if lost
	}
	return x, nil
}

// isFile reports whether a name can be that of a file of the dump.
func (d *publishedDump) isFile(name string) bool {
	return strings.HasPrefix(name, d.prefix()) && filepath.Base(name) == name
}

// isWhole reports whether all files of the packages are there.
func (d *publishedDump) isWhole(x *dumpIndex) bool {
	for i := range x.Packages {
		for _, file := range []packedFile{x.Packages[i].Package, x.Packages[i].Manifest} {
			info, err := os.Stat(filepath.Join(d.Dir, file.Name))
			if err != nil || info.Size() != file.Length {
				return false
			}
		}
	}
	return true
}

// A change replaces a dump. Until commit, what it creates is in use by nobody; after a
// kill, the next change removes it.
//
// Two changes at once: the State decides which one counts. A change removes only files
// that were there before it took effect, so a file of another change that it removes is
// of one that will fail.
type dumpChange struct {
	*publishedDump
	old     *dumpIndex
	created []string // files that are not in use yet
}

// begin begins a change of what there is.
func (d *publishedDump) begin(ctx context.Context) (*dumpChange, error) {
	if err := os.MkdirAll(d.Dir, 0o755); err != nil {
		return nil, dumpError(err)
	}
	old, err := d.load(ctx)
	return &dumpChange{publishedDump: d, old: old}, err
}

// create creates a file.
func (c *dumpChange) create(ext string) (*os.File, error) {
	f, err := os.CreateTemp(c.Dir, c.prefix()+"*"+ext)
	if err != nil {
		return nil, dumpError(err)
	}
	c.created = append(c.created, filepath.Base(f.Name()))
	return f, nil
}

// discard removes what was created and is not used.
func (c *dumpChange) discard() error {
	err := c.remove(c.created)
	c.created = nil
	return err
}

func (c *dumpChange) remove(names []string) (err error) {
	for _, name := range names {
		if e := os.Remove(filepath.Join(c.Dir, name)); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = cmp.Or(err, dumpError(e))
		}
	}
	return err
}

// listing returns the names of all files of the dump in the directory.
func (c *dumpChange) listing() (names []string, err error) {
	entries, err := os.ReadDir(c.Dir)
	if err != nil {
		return nil, dumpError(err)
	}
	for _, e := range entries {
		if c.isFile(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// commit makes next the dump, and removes the files that it does not use. If next is nil,
// nothing changes but that; if it is empty, there is no dump any more. It returns
// ErrConflict if another change has taken effect meanwhile.
func (c *dumpChange) commit(ctx context.Context, next *dumpIndex) error {
	before, err := c.listing()
	if err != nil {
		return err
	}
	if next == nil {
		if !slices.ContainsFunc(before, func(name string) bool { return !c.old.files()[name] }) {
			return nil
		}
		next = new(*c.old) // with another name: a change that has the files in the making fails
	}
	if err := c.write(next); err != nil {
		return err
	}
	if err := c.swap(ctx, next.state); err != nil {
		return err
	}
	used := next.files()
	return c.remove(slices.DeleteFunc(before, func(name string) bool { return used[name] }))
}

// write writes the file of an index, and sets the value of the State that names it. An
// empty index needs no file: a full disk does not keep it from taking effect.
func (c *dumpChange) write(x *dumpIndex) error {
	if x.Generation == 0 {
		x.state = []byte(c.prefix() + rand.Text())
		return nil
	}
	x.Settings = c.settings()
	text, err := json.Marshal(x)
	if err != nil {
		return err // of fields that can always be encoded
	}
	f, err := c.create(".json")
	if err != nil {
		return err
	}
	if _, err = f.Write(text); err == nil {
		err = f.Sync()
	}
	var dir *os.File
	if err = errors.Join(err, f.Close()); err == nil {
		dir, err = os.Open(c.Dir)
	}
	if err == nil {
		err = spool.SyncDir(dir)
	}
	if err != nil {
		return dumpError(err)
	}
	x.state = []byte(filepath.Base(f.Name()) + " " + websync.SHA256(text).String())
	return nil
}

// swap sets the value of the State. If that fails, it may have taken effect all the same:
// unless that is known, the files stay.
func (c *dumpChange) swap(ctx context.Context, value []byte) error {
	swapped := c.State.Swap(ctx, c.stateKey(), c.old.state, value)
	if swapped == nil {
		c.created = nil
		return nil
	}
	now, err := c.State.State(context.WithoutCancel(ctx), c.stateKey())
	switch {
	case err == nil && bytes.Equal(now, value):
		c.created = nil
		return nil
	case err == nil && errors.Is(swapped, websync.ErrConflict):
		return fmt.Errorf("resourcesync: another Pack or Discard of the same dump has changed it meanwhile: %w", swapped)
	}
	c.created = nil
	return dumpError(swapped)
}
