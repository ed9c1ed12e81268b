package publish

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"iter"
	"math/bits"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/websync-go/websync/internal/spool"
)

// A plan holds the hashes of the names of all files that earlier exports wrote or this
// one will write: 25 bytes a name. The documents are in a temporary file.
type plan struct {
	lines spool.File // path, NUL, name; in the order of Documents
	table []planEntry
	// index of the first entry of each share in the sorted table, and at last its length
	starts []int
	moves  bool // there are documents whose state is moved
}

// shareSize is how many entries a share of the table has on average. Hashes are spread
// evenly.
const shareSize = 16

// A planEntry is the name of a file.
type planEntry struct {
	hash  [15]byte
	state state
	doc   int64 // 1 + where the line of its document begins; if 0, it has none
}

type state uint8

const (
	old      state = 1 << iota // it is in the manifest
	above                      // other names are below it
	aboveNew                   // those of other documents are
	moved                      // the file of its document is index.html below it
	index                      // it is that index.html
	kept                       // it is the file of its document
	staged                     // the new file is complete and not yet in place
)

func hashOf(name string) (h [15]byte) {
	sum := sha256.Sum256([]byte(name))
	copy(h[:], sum[:])
	return h
}

// shareOf returns which of n shares a hash is in.
func shareOf(hash [15]byte, n int) int {
	share, _ := bits.Mul64(binary.BigEndian.Uint64(hash[:]), uint64(n))
	return int(share)
}

// find returns the entry of a name, valid until the next add, or nil.
func (p *plan) find(name string) *planEntry {
	hash := hashOf(name)
	at := shareOf(hash, len(p.starts)-1)
	share := p.table[p.starts[at]:p.starts[at+1]]
	for i := range share {
		if share[i].hash == hash {
			return &share[i]
		}
	}
	return nil
}

// add adds an entry, which is found after the next sort.
func (p *plan) add(e planEntry) { p.table = append(p.table, e) }

// sort sorts the entries. Of several with one name it makes one, with the first document.
func (p *plan) sort() {
	slices.SortFunc(p.table, func(a, b planEntry) int {
		return cmp.Or(bytes.Compare(a.hash[:], b.hash[:]), cmp.Compare(a.doc, b.doc))
	})
	p.table = slices.CompactFunc(p.table, func(a, b planEntry) bool { return a.hash == b.hash })
	n := len(p.table)/shareSize + 1
	p.starts = slices.Grow(p.starts[:0], n+1)
	for i, e := range p.table {
		for at := shareOf(e.hash, n); len(p.starts) <= at; {
			p.starts = append(p.starts, i)
		}
	}
	for len(p.starts) <= n {
		p.starts = append(p.starts, len(p.table))
	}
}

// A planned is a document that can have a file.
type planned struct {
	at         int64 // as planEntry.doc
	path, name string
	state      state // of the entry of its file
}

// newFile returns the new file of the document.
func (d *planned) newFile() newFile {
	return newFile{d.name, path.Join(newDir, strconv.FormatInt(d.at, 10))}
}

// documents yields the documents in the order of Documents, with the names that their
// paths stand for.
func (p *plan) documents(ctx context.Context) iter.Seq2[planned, error] {
	return func(yield func(planned, error) bool) {
		at := int64(1)
		lines := bufio.NewScanner(p.lines.Section(spool.Span{Size: p.lines.Size()}))
		for lines.Scan() {
			if err := ctx.Err(); err != nil {
				yield(planned{}, err)
				return
			}
			path, name, _ := strings.Cut(lines.Text(), "\x00")
			if !yield(planned{at: at, path: path, name: name}, nil) {
				return
			}
			at += int64(len(lines.Bytes())) + 1
		}
		if err := lines.Err(); err != nil {
			yield(planned{}, err)
		}
	}
}

// files yields the documents that have a file, with its name.
func (p *plan) files(ctx context.Context) iter.Seq2[planned, error] {
	return func(yield func(planned, error) bool) {
		for d, err := range p.documents(ctx) {
			if err != nil {
				yield(d, err)
				return
			}
			file := p.find(d.name)
			if file.doc == d.at && file.state&moved != 0 {
				d.name = path.Join(d.name, indexFile)
				file = p.find(d.name)
			}
			d.state = file.state
			if file.doc == d.at && file.state&kept != 0 && !yield(d, nil) {
				return
			}
		}
	}
}

// path returns the path of a document.
func (p *plan) path(doc int64) (string, error) {
	r := bufio.NewReaderSize(p.lines.Section(spool.Span{At: doc - 1, Size: p.lines.Size()}), 512)
	line, err := r.ReadString('\x00')
	return strings.TrimSuffix(line, "\x00"), err
}

// markDirectories marks the old and the new names that are directories of other names.
func (p *plan) markDirectories(ctx context.Context, manifest iter.Seq2[string, error]) error {
	last := ""
	mark := func(name string, s state) {
		for dir := path.Dir(name); dir != "." && !strings.HasPrefix(last, dir+"/"); dir = path.Dir(dir) {
			if known := p.find(dir); known != nil {
				known.state |= s
			}
		}
		last = name
	}
	for name, err := range manifest {
		if err != nil {
			return err
		}
		mark(name, above)
	}
	last = ""
	for d, err := range p.documents(ctx) {
		if err != nil {
			return err
		}
		mark(d.name, above|aboveNew)
	}
	return nil
}

// move gives each document whose name is a directory the index.html in that directory.
// The export refuses any other document with that name or below it.
func (p *plan) move(ctx context.Context) error {
	for d, err := range p.documents(ctx) {
		if err != nil {
			return err
		}
		known := p.find(d.name)
		if known.doc != d.at || known.state&above == 0 || strings.HasSuffix(d.path, "/") {
			continue
		}
		known.state |= moved
		p.moves = true
		name := path.Join(d.name, indexFile)
		if known := p.find(name); known != nil {
			known.doc, known.state = d.at, known.state|index
		} else {
			p.add(planEntry{hash: hashOf(name), doc: d.at, state: index})
		}
	}
	p.sort()
	return nil
}

// fileAbove returns the entry of a document's index.html that is above name, or nil.
func (p *plan) fileAbove(name string) *planEntry {
	for dir := path.Dir(name); p.moves && dir != "."; dir = path.Dir(dir) {
		if known := p.find(dir); known != nil && known.state&index != 0 {
			return known
		}
	}
	return nil
}
