package sitemap

import (
	"bytes"
	"crypto/sha256"
	"maps"
	"slices"

	"github.com/websync-go/websync/internal/docfetch"
)

const (
	checkpointVersion = 2
	maxNotes          = 8 << 20 // bytes of the notes in a checkpoint: about 80,000 parts
)

// A checkpoint lets the next run skip documents: it holds what was known of each document
// when it was last yielded in full.
type checkpoint struct {
	options string // fingerprint of the Source's options
	whole   bool   // the snapshot was complete and nothing was skipped
	parts   map[partKey]partNote
	size    int // of the parts, in bytes
}

// A partKey is a hash of the URL of a document.
type partKey [16]byte

func keyOf(url string) partKey {
	sum := sha256.Sum256([]byte(url))
	return partKey(sum[:])
}

// A partNote is what is known of a document that lists pages.
type partNote struct {
	// the lastmod in the index, if any later change must carry a newer one; otherwise
	// empty
	lastMod string
	docfetch.Validators
}

// remember records a part, unless there are too many.
func (c *checkpoint) remember(url string, n partNote) {
	n.Validators = n.Kept()
	size := len(partKey{}) + len(n.lastMod) + len(n.ETag) + len(n.LastModified)
	if c.size+size <= maxNotes {
		c.size += size
		c.parts[keyOf(url)] = n
	}
}

// columns is a checkpoint in JSON. The parts are in the order of their keys, so equal
// checkpoints have equal bytes. Each column is a separate list, which makes the JSON
// short and fast to read.
type columns struct {
	Options      string   `json:"options"`
	Whole        bool     `json:"whole,omitempty"`
	Keys         []byte   `json:"keys,omitempty"` // one after the other
	LastMod      []string `json:"lastmod,omitempty"`
	ETag         []string `json:"etag,omitempty"`
	LastModified []string `json:"modified,omitempty"`
}

func (c *checkpoint) columns() *columns {
	n := len(c.parts)
	to := &columns{
		Options: c.options, Whole: c.whole, Keys: make([]byte, 0, n*len(partKey{})),
		LastMod: make([]string, 0, n), ETag: make([]string, 0, n), LastModified: make([]string, 0, n),
	}
	compare := func(a, b partKey) int { return bytes.Compare(a[:], b[:]) }
	for _, key := range slices.SortedFunc(maps.Keys(c.parts), compare) {
		note := c.parts[key]
		to.Keys = append(to.Keys, key[:]...)
		to.LastMod = append(to.LastMod, note.lastMod)
		to.ETag = append(to.ETag, note.ETag)
		to.LastModified = append(to.LastModified, note.LastModified)
	}
	return to
}

// checkpoint returns the checkpoint in the columns. It returns false if the columns
// differ in length.
func (from *columns) checkpoint() (*checkpoint, bool) {
	n := len(from.LastMod)
	c := &checkpoint{options: from.Options, whole: from.Whole, parts: make(map[partKey]partNote, n)}
	if len(from.Keys) != n*len(partKey{}) || len(from.ETag) != n || len(from.LastModified) != n {
		return nil, false
	}
	i := 0
	for key := range slices.Chunk(from.Keys, len(partKey{})) {
		c.parts[partKey(key)] = partNote{from.LastMod[i], docfetch.Validators{ETag: from.ETag[i], LastModified: from.LastModified[i]}}
		i++
	}
	return c, true
}
