package sitemap

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
)

const (
	checkpointVersion = 1
	maxParts          = 20_000 // that a checkpoint remembers: about 2 MB
	maxNote           = 512    // bytes of one text in it
)

// A checkpoint is what lets the next run skip reading: what was known of each document
// when it was last shown in full.
type checkpoint struct {
	options string // fingerprint of the Source's options
	whole   bool   // the snapshot was complete and nothing was skipped
	parts   map[partKey]partNote
}

// A partKey stands for the URL of a document.
type partKey [16]byte

func keyOf(url string) partKey {
	sum := sha256.Sum256([]byte(url))
	return partKey(sum[:])
}

// A partNote is what is known of a document that lists pages.
type partNote struct {
	lastMod      string // in the index; empty if it was none, or no W3C datetime
	settled      bool   // the period of lastMod was over when the document was read
	etag         string
	lastModified string // the header
}

// remember notes a part unless there are too many.
func (c *checkpoint) remember(url string, n partNote) {
	if len(n.etag) > maxNote || len(n.lastModified) > maxNote {
		n.etag, n.lastModified = "", ""
	}
	if len(c.parts) < maxParts {
		c.parts[keyOf(url)] = n
	}
}

// encode writes the parts in the order of their keys, so that equal checkpoints have
// equal bytes.
func (c *checkpoint) encode() []byte {
	b := []byte{flag(c.whole)}
	b = appendString(b, c.options)
	b = binary.AppendUvarint(b, uint64(len(c.parts)))
	compare := func(a, b partKey) int { return bytes.Compare(a[:], b[:]) }
	for _, key := range slices.SortedFunc(maps.Keys(c.parts), compare) {
		n := c.parts[key]
		b = append(b, key[:]...)
		b = append(b, flag(n.settled))
		b = appendString(b, n.lastMod)
		b = appendString(b, n.etag)
		b = appendString(b, n.lastModified)
	}
	return b
}

func flag(set bool) byte {
	if set {
		return 1
	}
	return 0
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// decodeCheckpoint returns false if data is not what encode writes.
func decodeCheckpoint(data []byte) (_ *checkpoint, ok bool) {
	d := decoder{data: data}
	c := &checkpoint{whole: d.flag(), options: d.string(), parts: make(map[partKey]partNote)}
	for n := d.uvarint(); n > 0 && !d.failed; n-- {
		var key partKey
		copy(key[:], d.bytes(uint64(len(key))))
		c.parts[key] = partNote{settled: d.flag(), lastMod: d.string(), etag: d.string(), lastModified: d.string()}
	}
	return c, !d.failed && len(d.data) == 0
}

type decoder struct {
	data   []byte
	failed bool
}

func (d *decoder) bytes(n uint64) []byte {
	if n > uint64(len(d.data)) {
		d.failed, d.data = true, nil
		return nil
	}
	b := d.data[:n]
	d.data = d.data[n:]
	return b
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.data)
	if n <= 0 {
		d.failed = true
		return 0
	}
	d.data = d.data[n:]
	return v
}

func (d *decoder) flag() bool {
	b := d.bytes(1)
	return len(b) == 1 && b[0] == 1
}

func (d *decoder) string() string { return string(d.bytes(d.uvarint())) }
