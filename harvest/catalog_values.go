package harvest

import (
	"cmp"
	"encoding/binary"
	"fmt"

	"github.com/websync-go/websync"
)

// layoutVersion is the first byte of the values that every operation reads. The records
// of version 3 have a new form of fingerprint, which can't be computed from the old one.
// Version 4 adds the Prior of records and entries. In version 5 the order of first
// appearances refers to the log. In version 6 records refer to the log, too, and the
// order of first appearances is in blocks. In version 7 these have recordPrints, and the
// numbers of two generations. Version 8 adds the baseline. In version 9 ids are written
// like the first one of their source, usual elements by number, and recordPrints have the
// numbers of documents.
const layoutVersion = 9

// Times in values and in the structs below are microseconds since 1970.

// A head holds the counters of the Catalog.
type head struct {
	generation uint64
	last       websync.Seq // of the newest generation
	firstTime  int64       // of its first entry
	lastTime   int64       // of its last entry
	baseline   websync.Seq // see websync.Head
	begun      bool        // the baseline is known
	clock      int64       // of the last entry ever
	born       websync.Seq // the greatest given out
	sources    uint32      // likewise
	tasks      uint64      // likewise
	bodies     uint64      // likewise
	rewriting  bool        // some tasks have numbers of the generation before
	key        printKey
}

func (h *head) append(b []byte) []byte {
	b = append(b, layoutVersion)
	b = binary.AppendUvarint(b, h.generation)
	b = binary.AppendUvarint(b, uint64(h.last))
	b = binary.AppendVarint(b, h.firstTime)
	b = binary.AppendVarint(b, h.lastTime)
	b = binary.AppendVarint(b, h.clock)
	b = binary.AppendUvarint(b, uint64(h.born))
	b = binary.AppendUvarint(b, uint64(h.sources))
	b = binary.AppendUvarint(b, h.tasks)
	b = binary.AppendUvarint(b, h.bodies)
	b = appendBool(b, h.rewriting)
	b = append(b, h.key[:]...)
	b = binary.AppendUvarint(b, uint64(h.baseline))
	return appendBool(b, h.begun)
}

// parse returns an *olderError for a head that an upgrade must bring up to date first,
// and the error of an unfinished Store.
func (h *head) parse(b []byte) error {
	p := parse(b)
	switch v := b[0]; {
	case v == unfinishedMark:
		var u unfinished
		return cmp.Or(u.parse(b), u.err())
	case v != 0 && v < layoutVersion:
		return &olderError{v}
	}
	p.version()
	*h = head{
		generation: p.uint(), last: websync.Seq(p.uint()), firstTime: p.int(), lastTime: p.int(), clock: p.int(),
		born: websync.Seq(p.uint()), sources: uint32(p.uint()), tasks: p.uint(), bodies: p.uint(), rewriting: p.bool(),
		key: printKey(p.take(len(printKey{}))), baseline: websync.Seq(p.uint()), begun: p.bool(),
	}
	return p.end()
}

// A source is the value of a source that has a Commit.
type source struct {
	idSpace
	live     int64  // records
	records  int64  // tombstones included
	greatest string // id of a record; an id after it is new without a look
}

func (s *source) append(b []byte) []byte {
	b = binary.AppendUvarint(append(b, layoutVersion), uint64(s.n))
	b = binary.AppendVarint(b, s.live)
	b = binary.AppendVarint(b, s.records)
	b = append(append(b, byte(len(s.like))), s.like...)
	return append(b, s.greatest...)
}

func (s *source) parse(b []byte) error {
	p := parse(b)
	p.version()
	*s = source{idSpace: idSpace{n: uint32(p.uint())}, live: p.int(), records: p.int()}
	s.like = string(p.take(int(p.take(1)[0])))
	s.greatest = string(p.rest())
	return p.end()
}

// mayHave reports whether id may have a record or a task.
func (s *source) mayHave(kind byte, id string) bool { return kind != recordKey || id <= s.greatest }

// A heldClaim is the value of the newest claim of a name.
type heldClaim struct {
	epoch, n uint64
	expires  int64
	batch    [16]byte // the last one applied; zero if none, or if it has no ID
	ttl      int64    // microseconds
	owner    string   // who made it; empty if not known
}

// stands reports whether the claim excludes others. A claim with more than twice its ttl
// left was made by a clock that was ahead, and does not count.
func (c *heldClaim) stands(now int64) bool {
	return c.epoch > 0 && now < c.expires && c.expires-now <= 2*c.ttl
}

func (c *heldClaim) append(b []byte) []byte {
	b = binary.AppendUvarint(append(b, layoutVersion), c.epoch)
	b = binary.AppendUvarint(b, c.n)
	b = binary.AppendVarint(b, c.expires)
	b = append(b, c.batch[:]...)
	b = binary.AppendVarint(b, c.ttl)
	return append(b, c.owner...)
}

func (c *heldClaim) parse(b []byte) error {
	p := parse(b)
	p.version()
	*c = heldClaim{epoch: p.uint(), n: p.uint(), expires: p.int()}
	copy(c.batch[:], p.take(16))
	c.ttl = p.int()
	c.owner = string(p.rest())
	return p.end()
}

// A named is the value of the name of a source.
type named struct {
	idSpace
	name string
}

func (v *named) append(b []byte) []byte {
	b = append(append(b, byte(len(v.like))), v.like...)
	return append(b, v.name...)
}

func (v *named) parse(b []byte) error {
	p := parse(b)
	v.like = string(p.take(int(p.take(1)[0])))
	v.name = string(p.rest())
	return p.end()
}

type token [16]byte

// A body is the value of a body that a Commit has taken.
type body struct {
	refs  int64 // by current records
	since int64 // when it was stored, or when the last record ceased to name it
	size  int64
	n     uint64 // of its bytes if it is not in a blob; where it begins in a pack; 0 if it is a blob
	blob  string // the name of its blob; empty if it is none
}

// inPack reports whether other bodies are in the same blob.
func (v *body) inPack() bool { return v.blob != "" && v.n != 0 }

func (v *body) append(b []byte) []byte {
	b = binary.AppendVarint(append(b, layoutVersion), v.refs)
	b = binary.AppendVarint(b, v.since)
	b = binary.AppendVarint(b, v.size)
	b = binary.AppendUvarint(b, v.n)
	return append(b, v.blob...)
}

func (v *body) parse(b []byte) error {
	p := parse(b)
	p.version()
	*v = body{refs: p.int(), since: p.int(), size: p.int(), n: p.uint(), blob: string(p.rest())}
	return p.end()
}

// A compaction is the progress of writing a new generation.
type compaction struct {
	token               token       // of the call
	from, to            websync.Seq // the last entry read, the last one written
	firstTime, lastTime int64       // of those written
	baseline            websync.Seq // of the new generation
	next                uint64      // the new generation
}

func (c *compaction) append(b []byte) []byte {
	b = append(b, c.token[:]...)
	b = binary.AppendUvarint(b, uint64(c.from))
	b = binary.AppendUvarint(b, uint64(c.to))
	b = binary.AppendVarint(b, c.firstTime)
	b = binary.AppendVarint(b, c.lastTime)
	b = binary.AppendUvarint(b, uint64(c.baseline))
	return binary.AppendUvarint(b, c.next)
}

func (c *compaction) parse(b []byte) error {
	p := parse(b)
	copy(c.token[:], p.take(16))
	c.from, c.to = websync.Seq(p.uint()), websync.Seq(p.uint())
	c.firstTime, c.lastTime, c.baseline, c.next = p.int(), p.int(), websync.Seq(p.uint()), p.uint()
	return p.end()
}

func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

// A parser reads values from the front of b. After an error it returns zero values.
type parser struct {
	b   []byte
	err error
}

func parse(b []byte) *parser { return &parser{b: b} }

func (p *parser) fail(err error) {
	if p.err == nil {
		p.err = err
	}
	p.b = nil
}

// end returns the error, which is also set if bytes are left.
func (p *parser) end() error {
	if len(p.b) > 0 {
		p.fail(ErrCorrupt)
	}
	return p.err
}

func (p *parser) take(n int) []byte {
	if len(p.b) < n {
		p.fail(ErrCorrupt)
		return make([]byte, n)
	}
	b := p.b[:n]
	p.b = p.b[n:]
	return b
}

// rest reads all remaining bytes.
func (p *parser) rest() []byte {
	b := p.b
	p.b = nil
	return b
}

// version reads the layout in which a value was written. It may be older than that of the
// head: an upgrade rewrites only what has changed.
func (p *parser) version() {
	switch v := p.take(1)[0]; {
	case v > layoutVersion:
		p.fail(newerLayout(v))
	case v == 0:
		p.fail(ErrCorrupt)
	}
}

func newerLayout(v byte) error {
	return fmt.Errorf("%w: the Store has layout %d, this version reads layout %d", ErrNewer, v, layoutVersion)
}

func (p *parser) uint() uint64 {
	v, n := binary.Uvarint(p.b)
	if n <= 0 {
		p.fail(ErrCorrupt)
		return 0
	}
	p.b = p.b[n:]
	return v
}

func (p *parser) int() int64 {
	v, n := binary.Varint(p.b)
	if n <= 0 {
		p.fail(ErrCorrupt)
		return 0
	}
	p.b = p.b[n:]
	return v
}

func (p *parser) bool() bool { return p.take(1)[0] != 0 }
