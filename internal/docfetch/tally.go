package docfetch

import (
	"encoding/binary"
	"math/bits"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// A Tally counts the entries of a document for [harvest.Run.Document]. Documents that
// list the same entries have the same sum, in whatever order they list them.
type Tally struct {
	entries int64
	newest  websync.Datetime
	sum     uint64
}

// Add adds an entry with its time, which may be zero.
func (t *Tally) Add(id []byte, at websync.Datetime) {
	when := at.UTC().Time()
	h := mix(uint64(len(id)), uint64(when.Unix())^uint64(when.Nanosecond())<<32^uint64(at.Precision())<<56)
	for ; len(id) >= 8; id = id[8:] {
		h = mix(h, binary.LittleEndian.Uint64(id))
	}
	var rest [8]byte
	copy(rest[:], id)
	t.sum += mix(h, binary.LittleEndian.Uint64(rest[:]))
	t.entries++
	if at.Compare(t.newest) > 0 {
		t.newest = at
	}
}

// mix returns a hash of two numbers.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^0x9e3779b97f4a7c15, b^0xd6e8feb86659fd93)
	return hi ^ lo
}

// Document returns what was counted, of a document made at a moment; zero if that is not
// stated.
func (t *Tally) Document(url string, made time.Time) harvest.ListedDocument {
	return harvest.ListedDocument{URL: url, Entries: t.entries, Newest: t.newest, Made: made, Sum: t.sum}
}
