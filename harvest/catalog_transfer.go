package harvest

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"io/fs"

	"github.com/websync-go/websync"
)

// exportMagic begins an export, whose version it has. Frames follow: the kind (1 byte),
// the size of the content (4 bytes), a CRC-32C of both and the content (4 bytes), and the
// content.
const exportMagic = "websync export 1\n"

const (
	layoutFrame = 'L' // the first: the layout of the Store
	pairsFrame  = 'p' // pairs in order of the keys: uvarint size of the key, key, likewise the value
	blobFrame   = 'b' // the name of a blob; its key follows after it
	dataFrame   = 'd' // bytes of the blob
	blobEnd     = 'e'
	endFrame    = 'E' // the last: SHA-256 of all frames before, and the head
)

const (
	frameHeader = 1 + 4 + 4
	// maxFrame limits a frame to somewhat more than the longest value that a Store of
	// this module can hold.
	maxFrame = 1<<30 + 1<<20
	dataSize = 64 << 10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Export writes to to all that the Catalog holds, for Import: records with their numbers,
// all generations of the log, tasks, checkpoints, State and bodies, but no claims. It is
// what the Catalog held at one moment; runs may go on beside it. All that time one View
// of the Store is open. If to is slower than the Store bears, Export fails.
//
// A body whose file beside the Store is missing is missing in the export, too.
func (s *Catalog) Export(ctx context.Context, to io.Writer) error {
	e := &exporter{s: s, ctx: ctx, to: bufio.NewWriterSize(to, 1<<20), hash: sha256.New()}
	err := s.view(ctx, func(r *reader) error {
		if e.began { // the Store calls again, with another moment
			return errors.New("the Store could not keep the moment at which the export began: export again")
		}
		e.began = true
		return e.write(r)
	})
	if err = cmp.Or(err, e.to.Flush()); err != nil {
		err = fmt.Errorf("harvest: export: %w", err)
	}
	return err
}

type exporter struct {
	s     *Catalog
	ctx   context.Context
	to    *bufio.Writer
	hash  hash.Hash // of all frames
	began bool
	pairs []byte
}

func (e *exporter) write(r *reader) error {
	head, err := r.Get(newKey(headKey))
	if err != nil {
		return err
	}
	e.to.WriteString(exportMagic) // an error sticks
	if err := e.frame(layoutFrame, []byte{layoutVersion}); err != nil {
		return err
	}
	for from := (key{0}); from != nil; {
		var page []pair
		if page, from, err = r.scan(nil, from, key{0xff}, pageItems, nil); err != nil {
			return err
		}
		for _, p := range page {
			if err := e.add(r, p); err != nil {
				return err
			}
		}
		if err := cmp.Or(e.flush(), e.ctx.Err()); err != nil {
			return err
		}
	}
	return e.frame(endFrame, append(e.hash.Sum(nil), head...))
}

// add adds a pair, and before it the blob that it names.
func (e *exporter) add(r *reader, p pair) error {
	switch p.key[0] {
	case headKey, claimKey, blobKey, chunkKey:
		return nil
	case takenKey:
		if err := cmp.Or(e.flush(), e.blob(r, string(p.key[1:]))); err != nil {
			return err
		}
	}
	for _, part := range [...][]byte{p.key, p.value} {
		e.pairs = append(binary.AppendUvarint(e.pairs, uint64(len(part))), part...)
	}
	return nil
}

func (e *exporter) flush() error {
	if len(e.pairs) == 0 {
		return nil
	}
	defer func() { e.pairs = e.pairs[:0] }()
	return e.frame(pairsFrame, e.pairs)
}

func (e *exporter) frame(kind byte, content []byte) error {
	if len(content) > maxFrame {
		return fmt.Errorf("%w: a value of %d bytes", websync.ErrLimit, len(content))
	}
	var h [frameHeader]byte
	h[0] = kind
	binary.BigEndian.PutUint32(h[1:], uint32(len(content)))
	binary.BigEndian.PutUint32(h[5:], frameSum(h[:5], content))
	out := io.MultiWriter(e.hash, e.to)
	out.Write(h[:]) // an error sticks
	_, err := out.Write(content)
	return err
}

func frameSum(header, content []byte) uint32 {
	return crc32.Update(crc32.Checksum(header, castagnoli), castagnoli, content)
}

// blob writes a blob, if there is one.
func (e *exporter) blob(r *reader, name string) error {
	if e.s.Blobs != nil {
		b, err := e.s.Blobs.OpenBlob(e.ctx, name)
		if err == nil {
			err = cmp.Or(e.frame(blobFrame, []byte(name)), e.data(b))
			return cmp.Or(err, b.Close(), e.frame(blobEnd, nil))
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	inside := false
	for from, to := blobKeyOf(chunkKey, name), blobKeyOf(chunkKey, name).end(); from != nil; {
		page, next, err := r.scan(nil, from, to, pageItems, nil)
		for _, p := range page {
			if !inside {
				inside = true
				err = cmp.Or(err, e.frame(blobFrame, []byte(name)))
			}
			err = cmp.Or(err, e.frame(dataFrame, p.value))
		}
		if err != nil {
			return err
		}
		from = next
	}
	if !inside {
		return nil
	}
	return e.frame(blobEnd, nil)
}

func (e *exporter) data(from io.Reader) error {
	buf := make([]byte, dataSize)
	for {
		n, err := io.ReadFull(from, buf)
		if n > 0 {
			err = cmp.Or(e.frame(dataFrame, buf[:n]), err)
		}
		switch err {
		case nil:
		case io.EOF, io.ErrUnexpectedEOF:
			return nil
		default:
			return err
		}
	}
}

// A progress is how much of an export has been imported.
type progress struct {
	token  token  // of the Import that writes
	frames uint64 // 0 if the end is reached
	sum    sum    // SHA-256 of these
}

// importBytes is how much of an export one Update writes, about. Of the bytes of blobs,
// which are written already, a part counts.
const (
	importBytes = 4 << 20
	blobShare   = 16
)

// Import reads what Export has written into an empty Store, or goes on where an earlier
// Import of the same export, or of an export of the same state, was interrupted. It reads
// from from no more than the export. While it is not complete, all else that is done with
// the Store fails with [ErrUnfinished]. Then the Catalog is like the one that was
// exported: its readers go on with the numbers that they know.
//
// The export is not trusted: of a damaged or truncated one the error says at which byte,
// and matches [websync.ErrNotDocument], [websync.ErrTruncated], [websync.ErrLimit] or
// [websync.ErrMismatch]. For one of a newer version it is [ErrNewer]. Whether what it
// holds is consistent is what Inspect finds out.
func (s *Catalog) Import(ctx context.Context, from io.Reader) error {
	in := &importer{
		Catalog: &Catalog{
			Now: s.Now, ChunkSize: s.ChunkSize, Blobs: s.Blobs, store: s.store, onePage: s.onePage, importing: true,
		},
		ctx: ctx, from: bufio.NewReaderSize(from, 1<<20), hash: sha256.New(),
	}
	rand.Read(in.done.token[:])
	err := in.magic()
	if err == nil {
		err = in.begin()
	}
	if err == nil {
		if err = in.read(); err != nil {
			err = fmt.Errorf("at byte %d of the export: %w", in.at, err)
		}
	}
	if err != nil {
		return fmt.Errorf("harvest: import: %w", err)
	}
	s.logChanged()
	return nil
}

type importer struct {
	*Catalog
	ctx    context.Context
	from   *bufio.Reader
	at     int64 // where the frame begins
	next   int64 // and the one after it
	hash   hash.Hash
	frames uint64
	last   []byte // key
	// before is what an earlier Import has done: these frames are not written again.
	before, done progress
	pairs        []pair // to be written
	size         int
	layout       byte
}

// begin makes an empty Store unfinished, or takes over one that an Import has left.
func (in *importer) begin() error {
	return in.update(in.ctx, func(w *writer) error {
		held, err := w.unfinished()
		if err != nil || held.why == forImport {
			in.before = held.imported
		} else {
			err = w.mustBeEmpty()
		}
		if err != nil {
			return err
		}
		in.done.frames, in.done.sum = in.before.frames, in.before.sum
		return w.put(newKey(headKey), &unfinished{why: forImport, imported: in.done})
	})
}

// unfinished returns what is in the place of the head, if that is an unfinished.
func (w *writer) unfinished() (u unfinished, err error) {
	b, err := w.Get(newKey(headKey))
	if err == nil && len(b) > 0 && b[0] == unfinishedMark {
		err = u.parse(b)
	}
	return u, err
}

func (w *writer) mustBeEmpty() error {
	used, err := w.any(key{0}, key{0xff})
	if err == nil && used {
		err = errors.New("the Store is in use: an empty one is right")
	}
	return err
}

// magic reads what an export begins with.
func (in *importer) magic() error {
	magic := make([]byte, len(exportMagic))
	_, err := io.ReadFull(in.from, magic)
	switch err = cut(err); {
	case err != nil && !errors.Is(err, websync.ErrTruncated):
		return err
	case string(magic) != exportMagic:
		return fmt.Errorf("%w: an export begins with %q", websync.ErrNotDocument, exportMagic)
	}
	in.next = int64(len(magic))
	return nil
}

// read reads all frames.
func (in *importer) read() error {
	for {
		sum := in.hash.Sum(nil)
		kind, content, err := in.frame()
		if err == nil {
			switch kind {
			case layoutFrame:
				err = in.begins(content)
			case pairsFrame:
				err = in.add(content)
			case blobFrame:
				err = in.blob(string(content))
			case endFrame:
				return in.end(content, sum)
			default:
				err = fmt.Errorf("%w: a frame %q is not expected here", websync.ErrMismatch, kind)
			}
		}
		if err != nil {
			return err
		}
	}
}

// frame reads the next frame.
func (in *importer) frame() (kind byte, content []byte, err error) {
	if err := in.ctx.Err(); err != nil {
		return 0, nil, err
	}
	in.at = in.next
	var h [frameHeader]byte
	if _, err := io.ReadFull(in.from, h[:]); err != nil {
		return 0, nil, cut(err)
	}
	size := int64(binary.BigEndian.Uint32(h[1:]))
	if size > maxFrame {
		return 0, nil, fmt.Errorf("%w: a frame of %d bytes", websync.ErrLimit, size)
	}
	var b bytes.Buffer
	b.Grow(int(min(size, 1<<20)))
	if n, err := io.CopyN(&b, in.from, size); n < size {
		return 0, nil, cut(err)
	}
	if frameSum(h[:5], b.Bytes()) != binary.BigEndian.Uint32(h[5:]) {
		return 0, nil, fmt.Errorf("%w: the checksum of the frame is another one", websync.ErrMismatch)
	}
	in.hash.Write(h[:])
	in.hash.Write(b.Bytes())
	in.next += frameHeader + size
	in.frames++
	if in.frames == in.before.frames && sum(in.hash.Sum(nil)) != in.before.sum {
		return 0, nil, errors.New("the Store has a part of another export, or of another state of the same Store: " +
			"import that one, or import into an empty Store")
	}
	return h[0], b.Bytes(), nil
}

func cut(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("%w: it has no end", websync.ErrTruncated)
	}
	return err
}

// skips reports whether an earlier Import has written what is read.
func (in *importer) skips() bool { return in.frames <= in.before.frames }

func (in *importer) begins(content []byte) error {
	switch {
	case in.frames != 1 || len(content) != 1 || content[0] == 0:
		return fmt.Errorf("%w: not the beginning of an export", websync.ErrMismatch)
	case content[0] > layoutVersion:
		return newerLayout(content[0])
	}
	in.layout = content[0]
	return nil
}

// add adds the pairs of a frame to those that are to be written.
func (in *importer) add(content []byte) error {
	for p := parse(content); len(p.b) > 0; {
		var parts [2][]byte
		for i := range parts {
			n := p.uint()
			if p.err != nil || n == 0 || n > uint64(len(p.b)) {
				return fmt.Errorf("%w: a pair is cut", websync.ErrMismatch)
			}
			parts[i] = p.take(int(n))
		}
		k := key(parts[0])
		if !k.isMoved() || bytes.Compare(k, in.last) <= 0 {
			return fmt.Errorf("%w: the key %.50x is not of an export, or not in its order", websync.ErrMismatch, k)
		}
		in.last = k
		if !in.skips() {
			in.pairs = append(in.pairs, pair{k, parts[1]})
			in.size += len(parts[0]) + len(parts[1])
		}
	}
	if in.skips() || in.size < importBytes && len(in.pairs) < pageScan && !in.onePage {
		return nil
	}
	in.done.frames, in.done.sum = in.frames, sum(in.hash.Sum(nil))
	return in.write((&unfinished{why: forImport, imported: in.done}).append(nil))
}

// write writes the pairs, and what is in the place of the head then.
func (in *importer) write(head []byte) error {
	err := in.update(in.ctx, func(w *writer) error {
		held, err := w.unfinished()
		if err == nil && held.imported.token != in.done.token {
			err = fmt.Errorf("another import into the Store has begun: %w", ErrHeld)
		}
		if err != nil {
			return err
		}
		inserts, _ := w.Reader.(Prefetcher)
		for _, p := range in.pairs {
			if inserts != nil {
				inserts.Absent(p.key)
			}
			if err := w.tx.Set(p.key, p.value); err != nil {
				return err
			}
		}
		return w.set(newKey(headKey), head)
	})
	in.pairs, in.size = nil, 0
	return err
}

// blob reads a blob. A pack that can't be erased outside goes into the Store.
func (in *importer) blob(name string) error {
	if !blobName.MatchString(name) {
		return fmt.Errorf("%w: %.50q is not the name of a blob", websync.ErrMismatch, name)
	}
	skips := in.skips()
	var to io.WriteCloser
	ctx, cancel := context.WithCancel(in.ctx)
	defer cancel()
	for {
		kind, content, err := in.frame()
		switch {
		case err != nil:
		case kind != dataFrame && kind != blobEnd:
			err = fmt.Errorf("%w: a frame %q is inside of a blob", websync.ErrMismatch, kind)
		case to == nil && !skips:
			to, err = in.newBlob(ctx, name, content)
		}
		if err == nil && to != nil {
			in.size += len(content) / blobShare
			_, err = to.Write(content)
		}
		if err != nil {
			cancel()
		}
		if err != nil || kind == blobEnd {
			if to != nil {
				err = cmp.Or(err, to.Close())
			}
			return err
		}
	}
}

func (in *importer) newBlob(ctx context.Context, name string, begins []byte) (io.WriteCloser, error) {
	to := in.Blobs
	if _, erases := to.(Eraser); to == nil || !erases && bytes.HasPrefix(begins, []byte(packHeader)) {
		to = chunks{in.Catalog}
	}
	if err := to.RemoveBlob(ctx, name); err != nil { // of an Import that was interrupted
		return nil, err
	}
	return to.CreateBlob(ctx, name)
}

// end makes the Store whole. content is that of the last frame.
func (in *importer) end(content, sum []byte) error {
	head, ok := bytes.CutPrefix(content, sum)
	switch {
	case !ok || in.layout == 0:
		return fmt.Errorf("%w: parts of the export are missing", websync.ErrMismatch)
	case in.frames <= in.before.frames:
		return errors.New("the Store has more of another export: import that one, or import into an empty Store")
	case len(head) > 0 && head[0] != in.layout:
		return fmt.Errorf("%w: the head has layout %d, the export %d", websync.ErrMismatch, head[0], in.layout)
	}
	return in.write(head)
}
