// Package codec is the binary form of package websync's types: small, quick to read, and
// the same in every Store.
//
// Each type has one function that visits its fields, in an order that never changes. A
// [Coder] either writes what is visited or reads it, so writing and reading can't differ.
// A struct is a uvarint with one bit for each field that is not empty, and then those
// fields in the order of their bits:
//
//	string     uvarint length, the bytes as they are
//	reference  likewise, of a URL; length 0 stands for the id of the resource
//	slice      uvarint count, the elements
//	unsigned   uvarint; signed: zigzag varint; true: nothing; hash: 8 bytes; kind: 1 byte
//	time.Time  signed microseconds since 1970; anything finer is cut off
//	Datetime   1 and signed seconds (a second in Z), or 2 and signed days (a day), or its text as a string
//	Digest     index in algorithms, or 0 and the algorithm as a string; the sum as a string
//
// Structs of a few strings have no bits. Empty slices are decoded as nil. A new field
// takes the next bit, and needs a new version number: a program that does not know the
// field must refuse the bytes rather than lose it.
package codec

import (
	"encoding/binary"
	"slices"
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
	failed  bool

	fields  Fields        // of the struct that is visited
	id      string        // of the resource, for references
	content *websync.Link // of the resource, for bodies
}

var coders = sync.Pool{New: func() any { return new(Coder) }}

// Append appends the form of v, which visit visits, to dst.
func Append[T any](dst []byte, v *T, visit func(*Coder, *T)) []byte {
	c := coders.Get().(*Coder)
	c.out = dst
	visit(c, v)
	dst = c.out
	*c = Coder{}
	coders.Put(c)
	return dst
}

// Decode sets v from b and reports whether b is the form of a T and nothing more. If not,
// v is the zero value. v shares no memory with b.
func Decode[T any](b []byte, v *T, visit func(*Coder, *T)) bool {
	*v = *new(T)
	c := coders.Get().(*Coder)
	c.in, c.reading = string(b), true
	visit(c, v)
	ok := !c.failed && c.in == ""
	*c = Coder{}
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

// Rest skips the rest of what is read.
func (c *Coder) Rest() { c.in = "" }

// Fields are the bits of a struct.
type Fields struct {
	at   int    // where they are to be written
	bits uint64 // of the fields that are there
	next uint64 // of the field that comes next
}

// Begin begins a struct. Its result is the argument of End.
func (c *Coder) Begin() (outer Fields) {
	outer = c.fields
	c.fields = Fields{next: 1}
	if c.reading {
		c.fields.bits = c.uvarint()
	} else {
		c.fields.at = len(c.out)
		c.out = append(c.out, 0)
	}
	return outer
}

// End ends a struct.
func (c *Coder) End(outer Fields) {
	f := c.fields
	c.fields = outer
	switch {
	case c.reading:
		if f.bits >= f.next {
			c.fail()
		}
	case f.bits < 0x80:
		c.out[f.at] = byte(f.bits)
	default:
		c.out = slices.Replace(c.out, f.at, f.at+1, binary.AppendUvarint(make([]byte, 0, binary.MaxVarintLen64), f.bits)...)
	}
}

// Has reports whether the next field is there. When c writes, that is present. When c
// reads, present must be false, as it is for a value that has not been read yet.
func (c *Coder) Has(present bool) bool {
	bit := c.fields.next
	c.fields.next <<= 1
	if present {
		c.fields.bits |= bit
	}
	return c.fields.bits&bit != 0
}

// The methods below visit fields: nothing is written for an empty one.

// Bool is a field.
func (c *Coder) Bool(v *bool) { *v = c.Has(*v) }

// String is a field.
func (c *Coder) String(v *string) {
	if c.Has(*v != "") {
		c.text(v)
	}
}

// Bytes is a field.
func (c *Coder) Bytes(v *[]byte) {
	switch {
	case !c.Has(len(*v) > 0):
	case c.reading:
		if s := c.take(c.uvarint()); s != "" {
			*v = []byte(s)
		}
	default:
		c.out = append(binary.AppendUvarint(c.out, uint64(len(*v))), *v...)
	}
}

// Reference is a field: a URL that is often the id of the resource.
func (c *Coder) Reference(v *string) {
	switch {
	case !c.Has(*v != ""):
	case !c.reading && *v == c.id:
		c.out = append(c.out, 0)
	default:
		c.text(v)
		if c.reading && *v == "" {
			*v = c.id
		}
	}
}

// Byte is a field of one byte.
func Byte[T ~uint8](c *Coder, v *T) {
	switch {
	case !c.Has(*v != 0):
	case c.reading:
		*v = T(c.byte())
	default:
		c.out = append(c.out, byte(*v))
	}
}

// Uint is a field.
func Uint[T ~uint64](c *Coder, v *T) {
	switch {
	case !c.Has(*v != 0):
	case c.reading:
		*v = T(c.uvarint())
	default:
		c.out = binary.AppendUvarint(c.out, uint64(*v))
	}
}

// Int is a field.
func Int[T ~int | ~int64](c *Coder, v *T) {
	switch {
	case !c.Has(*v != 0):
	case c.reading:
		n := c.varint()
		if *v = T(n); int64(*v) != n {
			c.fail()
		}
	default:
		c.out = binary.AppendVarint(c.out, int64(*v))
	}
}

// Hash is a field of 8 bytes.
func (c *Coder) Hash(v *uint64) {
	switch {
	case !c.Has(*v != 0):
	case c.reading:
		var b [8]byte
		copy(b[:], c.take(8))
		*v = binary.BigEndian.Uint64(b[:])
	default:
		c.out = binary.BigEndian.AppendUint64(c.out, *v)
	}
}

// Token is a field of 16 bytes.
func (c *Coder) Token(v *[16]byte) {
	switch {
	case !c.Has(*v != [16]byte{}):
	case c.reading:
		copy(v[:], c.take(16))
	default:
		c.out = append(c.out, v[:]...)
	}
}

// Time is a field.
func (c *Coder) Time(v *time.Time) {
	switch {
	case !c.Has(!v.IsZero()):
	case !c.reading:
		c.out = binary.AppendVarint(c.out, v.UnixMicro())
	default:
		if n := c.varint(); !c.failed {
			*v = time.UnixMicro(n).UTC()
		}
	}
}

// Datetime is a field.
func (c *Coder) Datetime(v *websync.Datetime) {
	switch {
	case !c.Has(!v.IsZero()):
	case c.reading:
		*v = c.datetime()
	default:
		c.out = appendDatetime(c.out, *v)
	}
}

const secondsPerDay = 24 * 60 * 60

func appendDatetime(dst []byte, d websync.Datetime) []byte {
	switch d.Precision() {
	case websync.PrecisionSecond:
		if t := d.Time(); websync.NewDatetime(t.UTC()) == d {
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

func (c *Coder) datetime() (v websync.Datetime) {
	switch n := c.uvarint(); n {
	case 1:
		v = websync.NewDatetime(time.Unix(c.varint(), 0).UTC())
	case 2:
		if days := c.varint(); days > -1e6 && days < 1e7 {
			v = websync.DateOf(time.Unix(days*secondsPerDay, 0).UTC())
		}
	default:
		v, _ = websync.ParseDatetime(c.take(n))
	}
	if v.IsZero() {
		c.fail()
	}
	return v
}

// trusted is how many elements are allocated because of a count alone; more are allocated
// as they are read.
const trusted = 16

// Slice is a field whose elements visit visits.
func Slice[T any](c *Coder, v *[]T, visit func(*Coder, *T)) {
	switch {
	case !c.Has(len(*v) > 0):
	case !c.reading:
		c.out = binary.AppendUvarint(c.out, uint64(len(*v)))
		for i := range *v {
			visit(c, &(*v)[i])
		}
	default:
		n := c.uvarint()
		if n == 0 || n > uint64(len(c.in)) { // an element takes at least a byte
			c.fail()
			return
		}
		s := make([]T, 0, min(n, trusted))
		for ; n > 0 && !c.failed; n-- {
			s = append(s, *new(T))
			visit(c, &s[len(s)-1])
		}
		*v = s
	}
}

// Pointer is a field whose value visit visits.
func Pointer[T any](c *Coder, v **T, visit func(*Coder, *T)) {
	if !c.Has(*v != nil) {
		return
	}
	if c.reading {
		*v = new(T)
	}
	visit(c, *v)
}

// The methods below visit parts that are always written.

func (c *Coder) text(v *string) {
	if c.reading {
		*v = c.take(c.uvarint())
		return
	}
	c.out = append(binary.AppendUvarint(c.out, uint64(len(*v))), *v...)
}

func (c *Coder) take(n uint64) string {
	if n > uint64(len(c.in)) {
		c.fail()
		return ""
	}
	s := c.in[:n]
	c.in = c.in[n:]
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
