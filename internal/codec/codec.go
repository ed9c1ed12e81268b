// Package codec is the binary form of package websync's types: small, quick to read, and
// the same in every Store.
//
// Each type has one function that visits its fields, in an order that never changes. A
// [Coder] either writes what is visited or reads it, so writing and reading can't differ.
// A struct is a uvarint with one bit for each field that is not empty, and then those
// fields in the order of their bits:
//
//	string     uvarint length, the bytes as they are
//	reference  a URL as a string; length 0 is the id of the resource
//	id         a string; relative to a base: uvarint of the bytes that both share, the
//	           rest as a string
//	name       index in spaces or locals, or 0 and a string
//	slice      uvarint count, the elements
//	unsigned   uvarint; signed: zigzag varint; true: nothing; hash: 8 bytes;
//	           kind: 1 byte
//	time.Time  signed microseconds since 1970; anything finer is cut off
//	Datetime   1 and signed seconds (a second in Z), or 2 and signed days (a day),
//	           or its text as a string
//	Digest     index in algorithms, or 0 and the algorithm as a string;
//	           the sum as a string
//
// Structs of a few strings have no bits. Empty slices are decoded as nil. A new field
// takes the next bit, and needs a new version number: a program that does not know the
// field must refuse the bytes rather than lose it.
package codec

import (
	"encoding/binary"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/websync-go/websync"
)

// A Coder writes the values behind the pointers that it gets, or sets them to what it
// reads. After an error it sets them to zero values.
type Coder struct {
	out     []byte // what is written
	in      string // what is left to read; strings that are read are parts of it
	reading bool
	long    bool // in is longer than maxShared: what is read are copies
	failed  bool

	bits    uint64        // of the fields of the struct that are not empty
	bitsAt  int           // where they are to be written
	base    string        // to which ids are relative
	id      string        // of the resource, for references
	tag     []byte        // room
	content *websync.Link // of the resource, for bodies
}

// maxShared is up to how many bytes the strings of a T share one allocation. In a longer
// one, an id that somebody keeps would keep all the rest.
const maxShared = 16 << 10

var coders = sync.Pool{New: func() any { return new(Coder) }}

// Append appends the form of v, which visit visits, to dst.
func Append[T any](dst []byte, v *T, visit func(*Coder, *T)) []byte {
	c := coders.Get().(*Coder)
	c.out = dst
	visit(c, v)
	dst = c.out
	*c = Coder{tag: c.tag}
	coders.Put(c)
	return dst
}

// Decode sets v from b and reports whether b is the form of a T and nothing more. If not,
// v is the zero value. v shares no memory with b.
func Decode[T any](b []byte, v *T, visit func(*Coder, *T)) bool {
	*v = *new(T)
	c := coders.Get().(*Coder)
	c.in, c.reading, c.long = string(b), true, len(b) > maxShared
	visit(c, v)
	ok := !c.failed && c.in == ""
	*c = Coder{tag: c.tag}
	coders.Put(c)
	if !ok {
		*v = *new(T)
	}
	return ok
}

// Reading reports whether c decodes.
func (c *Coder) Reading() bool { return c.reading }

func (c *Coder) fail() {
	c.failed = true
	c.in = ""
}

// About sets the id that references refer to, before a resource is visited.
func (c *Coder) About(id string) { c.id = id }

// Relative sets the string to which the ids of resources are relative from now on: of one that begins alike, the rest
// is written.
func (c *Coder) Relative(base string) { c.base = base }

// Rest skips the rest of what is read.
func (c *Coder) Rest() { c.in = "" }

// An outer is the state of the struct around the one that is visited.
type outer struct {
	bits uint64
	at   int
}

// Begin begins a struct of n fields, which are numbered from 0. Its result is the
// argument of End.
func (c *Coder) Begin(n int) outer {
	around := outer{c.bits, c.bitsAt}
	if c.reading {
		c.bits = c.uvarint()
		if c.bits>>n != 0 {
			c.fail()
		}
	} else {
		c.bits, c.bitsAt = 0, len(c.out)
		c.out = append(c.out, 0)
	}
	return around
}

// End ends a struct.
func (c *Coder) End(around outer) {
	switch {
	case c.reading:
	case c.bits < 0x80:
		c.out[c.bitsAt] = byte(c.bits)
	default:
		bits := binary.AppendUvarint(make([]byte, 0, binary.MaxVarintLen64), c.bits)
		c.out = slices.Replace(c.out, c.bitsAt, c.bitsAt+1, bits...)
	}
	c.bits, c.bitsAt = around.bits, around.at
}

// Has reports whether field n is not empty. When c writes, that is present. When c reads,
// present must be false, as it is for a value that has not been read yet.
func (c *Coder) Has(n int, present bool) bool {
	if present {
		c.bits |= 1 << n
	}
	return c.bits&(1<<n) != 0
}

// The methods below visit field n. They write nothing for an empty field. String and
// Datetime test for that in so little code that the compiler inlines the test.

// Bool visits a field.
func (c *Coder) Bool(n int, v *bool) { *v = c.Has(n, *v) }

// String visits a field.
func (c *Coder) String(n int, v *string) {
	if *v != "" || c.bits&(1<<n) != 0 {
		c.text(1<<n, v)
	}
}

// Bytes visits a field.
func (c *Coder) Bytes(n int, v *[]byte) {
	switch {
	case !c.Has(n, len(*v) > 0):
	case !c.reading:
		c.out = append(binary.AppendUvarint(c.out, uint64(len(*v))), *v...)
	default:
		if s := c.take(c.uvarint()); s != "" {
			*v = []byte(s)
		}
	}
}

// Reference visits a field that is a URL, often the id of the resource.
func (c *Coder) Reference(n int, v *string) {
	switch {
	case !c.Has(n, *v != ""):
	case !c.reading && *v == c.id:
		c.out = append(c.out, 0)
	default:
		c.text(0, v)
		if c.reading && *v == "" {
			*v = c.id
		}
	}
}

// ident visits a field that is the id of a resource.
func (c *Coder) ident(n int, v *string) {
	switch {
	case c.base == "":
		c.String(n, v)
	case !c.Has(n, *v != ""):
	case c.reading:
		shared, rest := c.uvarint(), ""
		if c.text(0, &rest); shared > uint64(len(c.base)) {
			c.fail()
			return
		}
		*v = c.base[:shared] + rest
	default:
		shared := Shared(c.base, *v)
		c.out = binary.AppendUvarint(c.out, uint64(shared))
		rest := (*v)[shared:]
		c.text(0, &rest)
	}
}

// Shared returns how many bytes at their beginning two strings share.
func Shared(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// Byte visits a field of one byte.
func Byte[T ~uint8](c *Coder, n int, v *T) {
	switch {
	case !c.Has(n, *v != 0):
	case c.reading:
		*v = T(c.byte())
	default:
		c.out = append(c.out, byte(*v))
	}
}

// Uint visits a field.
func Uint[T ~uint64](c *Coder, n int, v *T) {
	switch {
	case !c.Has(n, *v != 0):
	case c.reading:
		*v = T(c.uvarint())
	default:
		c.out = binary.AppendUvarint(c.out, uint64(*v))
	}
}

// Int visits a field.
func Int[T ~int | ~int64](c *Coder, n int, v *T) {
	switch {
	case !c.Has(n, *v != 0):
	case c.reading:
		i := c.varint()
		if *v = T(i); int64(*v) != i {
			c.fail()
		}
	default:
		c.out = binary.AppendVarint(c.out, int64(*v))
	}
}

// Hash visits a field of 8 bytes.
func (c *Coder) Hash(n int, v *uint64) {
	switch {
	case !c.Has(n, *v != 0):
	case c.reading:
		var b [8]byte
		copy(b[:], c.take(8))
		*v = binary.BigEndian.Uint64(b[:])
	default:
		c.out = binary.BigEndian.AppendUint64(c.out, *v)
	}
}

// Token visits a field of 16 bytes.
func (c *Coder) Token(n int, v *[16]byte) {
	switch {
	case !c.Has(n, *v != [16]byte{}):
	case c.reading:
		copy(v[:], c.take(16))
	default:
		c.out = append(c.out, v[:]...)
	}
}

// Time visits a field.
func (c *Coder) Time(n int, v *time.Time) {
	switch {
	case !c.Has(n, !v.IsZero()):
	case !c.reading:
		c.out = binary.AppendVarint(c.out, v.UnixMicro())
	default:
		if i := c.varint(); !c.failed {
			*v = time.UnixMicro(i).UTC()
		}
	}
}

// Datetime visits a field.
func (c *Coder) Datetime(n int, v *websync.Datetime) {
	if c.bits&(1<<n) != 0 || !v.IsZero() {
		c.datetime(n, v)
	}
}

const secondsPerDay = 24 * 60 * 60

func (c *Coder) datetime(n int, v *websync.Datetime) {
	c.bits |= 1 << n
	if c.reading {
		c.readDatetime(v)
	} else {
		c.out = appendDatetime(c.out, v)
	}
}

func appendDatetime(dst []byte, d *websync.Datetime) []byte {
	switch d.Precision() {
	case websync.PrecisionSecond:
		if t := d.Time(); websync.NewDatetime(t.UTC()) == *d {
			return binary.AppendVarint(append(dst, 1), t.Unix())
		}
	case websync.PrecisionDay:
		if t := d.Time(); !t.IsZero() {
			return binary.AppendVarint(append(dst, 2), t.Unix()/secondsPerDay)
		}
	}
	at := len(dst)
	dst, _ = d.AppendText(append(dst, 0))
	dst[at] = byte(len(dst) - at - 1) // 4 to 35: never one of the forms above
	return dst
}

func (c *Coder) readDatetime(v *websync.Datetime) {
	switch n := c.uvarint(); n {
	case 1:
		*v = websync.NewDatetime(time.Unix(c.varint(), 0).UTC())
	case 2:
		if days := c.varint(); days > -1e6 && days < 1e7 {
			*v = websync.DateOf(time.Unix(days*secondsPerDay, 0).UTC())
		}
	default:
		*v, _ = websync.ParseDatetime(c.take(n))
	}
	if v.IsZero() {
		c.fail()
	}
}

// trusted is how many elements are allocated before any is read. More are allocated as
// they are read, because a count may be wrong.
const trusted = 16

// Slice visits a field whose elements visit visits.
func Slice[T any](c *Coder, n int, v *[]T, visit func(*Coder, *T)) {
	switch {
	case !c.Has(n, len(*v) > 0):
	case c.reading:
		*v = readSlice(c, visit)
	default:
		c.out = binary.AppendUvarint(c.out, uint64(len(*v)))
		for i := range *v {
			visit(c, &(*v)[i])
		}
	}
}

func readSlice[T any](c *Coder, visit func(*Coder, *T)) []T {
	n := c.uvarint()
	if n == 0 || n > uint64(len(c.in)) { // an element takes at least a byte
		c.fail()
		return nil
	}
	s := make([]T, 0, min(n, trusted))
	for ; n > 0 && !c.failed; n-- {
		s = append(s, *new(T))
		visit(c, &s[len(s)-1])
	}
	return s
}

// Pointer visits a field whose value visit visits.
func Pointer[T any](c *Coder, n int, v **T, visit func(*Coder, *T)) {
	if !c.Has(n, *v != nil) {
		return
	}
	if c.reading {
		*v = new(T)
	}
	visit(c, *v)
}

// The methods below visit parts that are always written.

// text visits a string, and sets the bit of its field, if it is one.
func (c *Coder) text(bit uint64, v *string) {
	c.bits |= bit
	s, n := *v, len(c.out)
	switch {
	case c.reading:
		*v = c.take(c.uvarint())
	case len(s) < 0x80 && len(s) < cap(c.out)-n: // most are short
		c.out = c.out[:n+1+len(s)]
		c.out[n] = byte(len(s))
		copy(c.out[n+1:], s)
	default:
		c.out = append(binary.AppendUvarint(c.out, uint64(len(s))), s...)
	}
}

func (c *Coder) take(n uint64) string {
	if n > uint64(len(c.in)) {
		c.fail()
		return ""
	}
	s := c.in[:n]
	c.in = c.in[n:]
	if c.long {
		return strings.Clone(s)
	}
	return s
}

func (c *Coder) byte() byte {
	if c.in == "" {
		c.fail()
		return 0
	}
	b := c.in[0]
	c.in = c.in[1:]
	return b
}

func (c *Coder) uvarint() uint64 {
	if c.in != "" && c.in[0] < 0x80 { // most are short
		v := uint64(c.in[0])
		c.in = c.in[1:]
		return v
	}
	var v uint64
	for i := range min(len(c.in), binary.MaxVarintLen64) {
		b := c.in[i]
		v |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			if i == binary.MaxVarintLen64-1 && b > 1 {
				break
			}
			c.in = c.in[i+1:]
			return v
		}
	}
	c.fail()
	return 0
}

func (c *Coder) varint() int64 {
	u := c.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}
