package harvest

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
)

// A pack is a blob with the short bodies of one Commit, one after the other, so that they
// share its sync.
type pack struct {
	name string // empty if there is none
	size int64
	at   map[*bodyWriter]uint64 // where each begins
}

// packHeader begins a pack, so that no body begins at 0.
const packHeader = "websync\n"

// newPack writes the short bodies among writers into a pack if they are long together.
// bodies has those whose bytes no earlier one has.
func (s *Catalog) newPack(ctx context.Context, writers []pendingBody, bodies map[sum]*bodyWriter) (p pack, err error) {
	var short []*bodyWriter
	total := 0
	for _, w := range writers {
		w := w.(*bodyWriter)
		if k, _ := sumOf(w.key); bodies[k] == w && len(w.bytes()) > 0 {
			short = append(short, w)
			total += len(w.bytes())
		}
	}
	if _, ok := s.Blobs.(Eraser); !ok || s.planned || total <= s.chunkSize() {
		return pack{}, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	name, blob, err := s.createBlob(ctx)
	if err != nil {
		return pack{}, err
	}
	p = pack{name: name, size: int64(len(packHeader)), at: make(map[*bodyWriter]uint64, len(short))}
	to := bufio.NewWriterSize(blob, 64<<10)
	to.WriteString(packHeader) // an error sticks
	for _, w := range short {
		p.at[w] = uint64(p.size)
		n, _ := to.Write(w.bytes())
		p.size += int64(n)
	}
	if err = to.Flush(); err != nil {
		cancel()
	}
	if err = errors.Join(err, blob.Close()); err != nil {
		s.discardPack(ctx, p)
	}
	return p, err
}

// bytes returns what waits in memory.
func (w *bodyWriter) bytes() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf
}

// discardPack removes a pack of which nothing is stored.
func (s *Catalog) discardPack(ctx context.Context, p pack) {
	s.Blobs.RemoveBlob(context.WithoutCancel(ctx), p.name) // if that fails, Vacuum removes it
	s.endWriting(p.name)
}

// unpack reads a body from the pack that is open at its beginning. If Vacuum has erased
// it meanwhile, the error is ErrCorrupt.
func unpack(r io.ReadCloser, v *body, k sum) (io.ReadSeekCloser, error) {
	data := make([]byte, v.size)
	_, err := io.ReadFull(r, data)
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, err
	}
	if sha256.Sum256(data) != k {
		return nil, fmt.Errorf("%w: the blob %s has other bytes at %d than those of sha-256:%x", ErrCorrupt, v.blob, v.n, k)
	}
	return smallBody{bytes.NewReader(data)}, nil
}

// setTaken notes how many bodies are in a blob.
func (w *writer) setTaken(blob string, n uint64) error {
	w.scratch = binary.AppendUvarint(w.scratch[:0], n)
	return w.set(blobKeyOf(takenKey, blob), w.scratch)
}

// untake notes that a blob has one body less, and returns how many are left.
func (w *writer) untake(blob string) (left uint64, err error) {
	k := blobKeyOf(takenKey, blob)
	v, err := w.Get(k)
	if n := parse(v).uint(); err != nil || n <= 1 {
		return 0, errors.Join(err, w.delete(k))
	} else {
		left = n - 1
	}
	return left, w.setTaken(blob, left)
}

// erasedKey returns the key of a body that is to be erased from a pack.
func erasedKey(v *body) key {
	return blobKeyOf(deadKey, v.blob).text("\x00").number(v.n).number(uint64(v.size))
}

// removeBlob removes what a key of dead blobs names: a blob, or a body in a pack.
func (s *Catalog) removeBlob(ctx context.Context, dead string) error {
	name, place, inPack := strings.Cut(dead, "\x00")
	if !inPack {
		return s.blobs().RemoveBlob(ctx, name)
	}
	if len(place) != 16 {
		return ErrCorrupt
	}
	at, size := int64(binary.BigEndian.Uint64([]byte(place))), int64(binary.BigEndian.Uint64([]byte(place[8:])))
	err := chunks{s}.EraseBlob(ctx, name, at, size) // Import has put it there if Blobs is no Eraser
	if outside, ok := s.Blobs.(Eraser); ok && err == nil {
		err = outside.EraseBlob(ctx, name, at, size)
	}
	return err
}
