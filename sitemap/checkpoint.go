package sitemap

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/docfetch"
)

const (
	checkpointVersion = 4
	maxNotes          = 8 << 20 // bytes of the notes in a checkpoint: of more than 50,000 parts
)

// A checkpoint lets the next run skip documents: it holds what was known of each document
// when it was last believed.
type checkpoint struct {
	options string // fingerprint of the Source's options
	whole   bool   // the snapshot was complete, nothing was skipped, and all documents are in parts
	kept    int    // how many complete snapshots in a row have left out documents
	crowded bool   // not all documents are in parts
	parts   map[partKey]partNote
	doubts  map[partKey]doubt // of documents whose last answer was in doubt
	size    int               // of both, in bytes

	// 1 if a change was stated truthfully by a lastmod in an index, and none has been
	// wrong since; below 0 after a wrong one, until enough changes were stated truthfully
	trust int
}

func newCheckpoint(options string) checkpoint {
	return checkpoint{options: options, parts: make(map[partKey]partNote), doubts: make(map[partKey]doubt)}
}

// maxKept is how many complete snapshots in a row may leave out documents: a server may be
// wrong about what is not modified, and pages of a document may change and their lastmods
// not.
const maxKept = 9

// A partKey is a hash of the URL of a document.
type partKey [16]byte

func keyOf(url string) partKey {
	sum := sha256.Sum256([]byte(url))
	return partKey(sum[:])
}

// A partNote is what is known of a document.
type partNote struct {
	docfetch.Validators
	lastMod string // in the index, when these entries were first read
	flags   uint8
	sum     uint64           // of the entries; 0 if there are none
	newest  websync.Datetime // the latest lastmod of an entry
}

// A doubt is an answer that may not be the document that was asked for.
type doubt struct {
	sum   uint64 // of the entries
	since int64  // when it was first read, by the server's clock, in Unix time; 0 if not known
}

// remember records a document, unless there are too many.
func (c *checkpoint) remember(key partKey, n partNote) {
	n.Validators = n.Kept()
	size := len(partKey{}) + sumSize + 1 + maxDate + len(n.lastMod) + len(n.ETag) + len(n.LastModified)
	if c.crowded = c.crowded || c.size+size > maxNotes; c.crowded {
		return
	}
	c.size += size
	c.parts[key] = n
}

// doubt records a document whose answer is in doubt, unless there are too many.
func (c *checkpoint) doubt(key partKey, d doubt) {
	if c.size+doubtSize <= maxNotes {
		c.size += doubtSize
		c.doubts[key] = d
	}
}

const (
	sumSize   = 8 // bytes
	doubtSize = len(partKey{}) + 2*sumSize
	maxDate   = len("2006-01-02T15:04:05.999999999+07:00")
)

// columns is a checkpoint in JSON. The parts are in the order of their keys, so equal
// checkpoints have equal bytes. Each column is a separate list, which makes the JSON
// short and fast to read.
type columns struct {
	Options      string             `json:"options"`
	Whole        bool               `json:"whole,omitempty"`
	Kept         int                `json:"kept,omitempty"`
	Trust        int                `json:"trust,omitempty"`
	Keys         []byte             `json:"keys,omitempty"` // one after the other
	LastMod      []string           `json:"lastmod,omitempty"`
	ETag         []string           `json:"etag,omitempty"`
	LastModified []string           `json:"modified,omitempty"`
	Newest       []websync.Datetime `json:"newest,omitempty"`
	Sums         []byte             `json:"sums,omitempty"` // of 8 bytes each
	Flags        []byte             `json:"flags,omitempty"`
	Doubts       []byte             `json:"doubts,omitempty"` // key, sum and time of each
}

func (c *checkpoint) columns() *columns {
	n := len(c.parts)
	to := &columns{
		Options: c.options, Whole: c.whole, Kept: c.kept, Trust: c.trust, Keys: make([]byte, 0, n*len(partKey{})),
		LastMod: make([]string, 0, n), ETag: make([]string, 0, n), LastModified: make([]string, 0, n),
		Newest: make([]websync.Datetime, 0, n), Sums: make([]byte, 0, n*sumSize), Flags: make([]byte, 0, n),
	}
	for _, key := range sortedKeys(c.parts) {
		note := c.parts[key]
		to.Keys = append(to.Keys, key[:]...)
		to.LastMod = append(to.LastMod, note.lastMod)
		to.ETag = append(to.ETag, note.ETag)
		to.LastModified = append(to.LastModified, note.LastModified)
		to.Newest = append(to.Newest, note.newest)
		to.Sums = binary.LittleEndian.AppendUint64(to.Sums, note.sum)
		to.Flags = append(to.Flags, note.flags)
	}
	for _, key := range sortedKeys(c.doubts) {
		d := c.doubts[key]
		to.Doubts = append(to.Doubts, key[:]...)
		to.Doubts = binary.LittleEndian.AppendUint64(to.Doubts, d.sum)
		to.Doubts = binary.LittleEndian.AppendUint64(to.Doubts, uint64(d.since))
	}
	return to
}

func sortedKeys[V any](m map[partKey]V) []partKey {
	return slices.SortedFunc(maps.Keys(m), func(a, b partKey) int { return bytes.Compare(a[:], b[:]) })
}

// checkpoint returns the checkpoint in the columns. It returns false if the columns
// differ in length.
func (from *columns) checkpoint() (*checkpoint, bool) {
	n := len(from.LastMod)
	if len(from.Keys) != n*len(partKey{}) || len(from.ETag) != n || len(from.LastModified) != n ||
		len(from.Newest) != n || len(from.Sums) != n*sumSize || len(from.Flags) != n || len(from.Doubts)%doubtSize != 0 {
		return nil, false
	}
	c := newCheckpoint(from.Options)
	c.whole, c.kept, c.trust = from.Whole, from.Kept, from.Trust
	for i := range n {
		key := partKey(from.Keys[i*len(partKey{}):])
		c.parts[key] = partNote{
			Validators: docfetch.Validators{ETag: from.ETag[i], LastModified: from.LastModified[i]},
			lastMod:    from.LastMod[i],
			flags:      from.Flags[i],
			sum:        binary.LittleEndian.Uint64(from.Sums[i*sumSize:]),
			newest:     from.Newest[i],
		}
	}
	for d := range slices.Chunk(from.Doubts, doubtSize) {
		numbers := d[len(partKey{}):]
		c.doubts[partKey(d)] = doubt{binary.LittleEndian.Uint64(numbers), int64(binary.LittleEndian.Uint64(numbers[sumSize:]))}
	}
	return &c, true
}
