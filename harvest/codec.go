package harvest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/websync-go/websync"
)

// ErrCorrupt: bytes that a Store kept are not what it wrote.
var ErrCorrupt = errors.New("stored data is damaged")

// The codec is how all Stores keep items, records and tasks. The first byte says what
// follows (high half) and in which version (low half). Then each struct is a uvarint of
// bits, one for each field that is not empty, and those fields, in the order of the bits:
//
//	string     uvarint length, the bytes as they are
//	reference  likewise, of a URL; length 0 stands for the id of the resource
//	slice      uvarint count, the elements
//	unsigned   uvarint; signed: zigzag varint; true: nothing; hash: 8 bytes; Run: 16 bytes; kind: 1 byte
//	time.Time  signed microseconds since 1970: what is finer is cut off
//	Datetime   1 and signed seconds (a second in Z), or 2 and signed days (a day), or its text as a string
//	Digest     index in codecAlgorithms, or 0 and the algorithm as a string; the sum as a string
//	Resource   its own bits and fields; it comes first, and its id first of all, for the sake of the references
//
// Empty slices come back as nil. A field to be added takes the next bit and raises
// codecVersion, so that a program that does not know it refuses the bytes rather than
// lose it.
const (
	codecVersion = 3

	codecItem   = 1 << 4
	codecRecord = 2 << 4
	codecTask   = 3 << 4
)

var codecAlgorithms = [...]string{"", "md5", "sha-1", "sha-256", "sha-512"}

// AppendItem appends the binary form of i to dst. The binary forms of items, records and
// tasks are the same in all Stores and stay readable by newer versions of this module.
func AppendItem(dst []byte, i *websync.Item) []byte {
	return appendItem(append(dst, codecItem|codecVersion), i)
}

// DecodeItem sets i from the binary form of an item, or from that of a record, whose
// other fields it does not look at. It returns ErrNewer or ErrCorrupt, and then i is the
// zero Item. Nothing of b is kept.
func DecodeItem(b []byte, i *websync.Item) error {
	*i = websync.Item{}
	record := len(b) > 0 && b[0]&^0xf == codecRecord
	what := byte(codecItem)
	if record {
		what = codecRecord
	}
	d, err := newDecoder(b, what)
	if err != nil {
		return err
	}
	d.item(i)
	if record && !d.failed {
		return nil
	}
	if err = d.end(); err != nil {
		*i = websync.Item{}
	}
	return err
}

// AppendRecord appends the binary form of r to dst.
func AppendRecord(dst []byte, r *Record) []byte {
	dst = appendItem(append(dst, codecRecord|codecVersion), &r.Item)
	dst = appendBits(dst, r.Stated != 0, len(r.Validators) > 0, r.Restated != nil, r.Early)
	if r.Stated != 0 {
		dst = binary.BigEndian.AppendUint64(dst, r.Stated)
	}
	dst = appendSlice(dst, r.Validators, r.Resource.ID, appendValidator)
	if r.Restated != nil {
		dst = appendTimes(dst, r.Restated)
	}
	return dst
}

// DecodeRecord sets r from the binary form of a record. It returns ErrNewer or
// ErrCorrupt, and then r is the zero Record. Nothing of b is kept.
func DecodeRecord(b []byte, r *Record) error {
	*r = Record{}
	d, err := newDecoder(b, codecRecord)
	if err == nil {
		d.item(&r.Item)
		bits := d.bits(4)
		if bits.has(0) {
			r.Stated = d.hash()
		}
		if bits.has(1) {
			r.Validators = decodeSlice(d, (*decoder).validator)
		}
		if bits.has(2) {
			r.Restated = d.times()
		}
		r.Early = bits.has(3)
		err = d.end()
	}
	if err != nil {
		*r = Record{}
	}
	return err
}

// AppendTask appends the binary form of t to dst.
func AppendTask(dst []byte, t *Task) []byte {
	dst = append(dst, codecTask|codecVersion)
	dst = appendBits(dst, t.Source != "", t.Kind != 0, !t.At.IsZero(), t.Base != 0, t.Run != [16]byte{},
		t.Attempts != 0, !t.Due.IsZero(), t.Parked, t.Error != "", t.N != 0, t.Tag != "", t.Gone, len(t.Hint) > 0)
	dst = appendResource(dst, &t.Resource)
	dst = appendSome(dst, t.Source)
	if t.Kind != 0 {
		dst = append(dst, byte(t.Kind))
	}
	dst = appendDatetime(dst, t.At)
	dst = appendUint(dst, uint64(t.Base))
	if t.Run != [16]byte{} {
		dst = append(dst, t.Run[:]...)
	}
	dst = appendInt(dst, int64(t.Attempts))
	dst = appendTime(dst, t.Due)
	dst = appendSome(dst, t.Error)
	dst = appendUint(dst, t.N)
	dst = appendSome(dst, t.Tag)
	return appendSome(dst, string(t.Hint))
}

// DecodeTask sets t from the binary form of a task. It returns ErrNewer or ErrCorrupt,
// and then t is the zero Task. Nothing of b is kept.
func DecodeTask(b []byte, t *Task) error {
	*t = Task{}
	d, err := newDecoder(b, codecTask)
	if err == nil {
		d.task(t)
		err = d.end()
	}
	if err != nil {
		*t = Task{}
	}
	return err
}

func appendTimes(dst []byte, t *Times) []byte {
	dst = appendBits(dst, !t.At.IsZero(), !t.Modified.IsZero())
	return appendDatetime(appendDatetime(dst, t.At), t.Modified)
}

func appendItem(dst []byte, i *websync.Item) []byte {
	dst = appendBits(dst, i.Seq != 0, i.Born != 0, !i.Time.IsZero(), i.Kind != 0, len(i.Bodies) > 0,
		!i.At.IsZero(), i.Source != "")
	dst = appendResource(dst, &i.Resource)
	dst = appendUint(dst, uint64(i.Seq))
	dst = appendUint(dst, uint64(i.Born))
	dst = appendTime(dst, i.Time)
	if i.Kind != 0 {
		dst = append(dst, byte(i.Kind))
	}
	dst = appendBodies(dst, i)
	dst = appendDatetime(dst, i.At)
	return appendSome(dst, i.Source)
}

func appendBodies(dst []byte, i *websync.Item) []byte {
	if len(i.Bodies) == 0 {
		return dst
	}
	dst = binary.AppendUvarint(dst, uint64(len(i.Bodies)))
	for j := range i.Bodies {
		b := &i.Bodies[j]
		same := sameLink(&b.Link, &i.Resource.Content)
		dst = appendBits(dst, b.Name != "", !b.Key.IsZero(), !same)
		dst = appendSome(dst, b.Name)
		if !b.Key.IsZero() {
			dst = appendDigest(dst, &b.Key, "")
		}
		if !same {
			dst = appendLink(dst, &b.Link, i.Resource.ID)
		}
	}
	return dst
}

func sameLink(a, b *websync.Link) bool {
	return a.Href == b.Href && a.Length == b.Length && a.Modified == b.Modified && a.Priority == b.Priority &&
		a.Rel == b.Rel && a.Type == b.Type && a.Lang == b.Lang && a.Title == b.Title && a.Encoding == b.Encoding &&
		slices.Equal(a.Digests, b.Digests) && slices.Equal(a.Attrs, b.Attrs)
}

func appendResource(dst []byte, r *websync.Resource) []byte {
	dst = appendBits(dst, r.ID != "", !emptyLink(&r.Content), !r.Modified.IsZero(), len(r.Elements) > 0,
		len(r.Links) > 0, r.Title != "", r.Summary != "",
		r.Lang != "", len(r.Authors) > 0, !r.Published.IsZero(), r.Origin != nil)
	dst = appendSome(dst, r.ID)
	if !emptyLink(&r.Content) {
		dst = appendLink(dst, &r.Content, r.ID)
	}
	dst = appendDatetime(dst, r.Modified)
	dst = appendSlice(dst, r.Elements, "", appendElement)
	dst = appendSlice(dst, r.Links, r.ID, appendLink)
	dst = appendSome(dst, r.Title)
	dst = appendSome(dst, r.Summary)
	dst = appendSome(dst, r.Lang)
	dst = appendSlice(dst, r.Authors, "", appendPerson)
	dst = appendDatetime(dst, r.Published)
	if r.Origin != nil {
		dst = appendOrigin(dst, r.Origin)
	}
	return dst
}

func emptyLink(l *websync.Link) bool { return sameLink(l, &websync.Link{}) }

func appendOrigin(dst []byte, o *websync.Origin) []byte {
	dst = appendBits(dst, o.ID != "", o.Title != "", !o.Updated.IsZero(), len(o.Authors) > 0, o.Self != "")
	dst = appendSome(dst, o.ID)
	dst = appendSome(dst, o.Title)
	dst = appendDatetime(dst, o.Updated)
	dst = appendSlice(dst, o.Authors, "", appendPerson)
	return appendSome(dst, o.Self)
}

func appendLink(dst []byte, l *websync.Link, id string) []byte {
	dst = appendBits(dst, l.Href != "", l.Type != "", l.Length != 0, len(l.Digests) > 0, !l.Modified.IsZero(),
		l.Rel != "", l.Encoding != "",
		l.Lang != "", l.Title != "", l.Priority != 0, len(l.Attrs) > 0)
	dst = appendReference(dst, l.Href, id)
	dst = appendSome(dst, l.Type)
	dst = appendInt(dst, l.Length)
	dst = appendSlice(dst, l.Digests, "", appendDigest)
	dst = appendDatetime(dst, l.Modified)
	dst = appendSome(dst, l.Rel)
	dst = appendSome(dst, l.Encoding)
	dst = appendSome(dst, l.Lang)
	dst = appendSome(dst, l.Title)
	dst = appendInt(dst, int64(l.Priority))
	return appendSlice(dst, l.Attrs, "", appendAttr)
}

func appendDigest(dst []byte, d *websync.Digest, _ string) []byte {
	i := max(slices.Index(codecAlgorithms[:], d.Algorithm), 0)
	dst = append(dst, byte(i))
	if i == 0 {
		dst = appendString(dst, d.Algorithm)
	}
	return appendString(dst, d.Sum)
}

func appendAttr(dst []byte, a *websync.Attr, _ string) []byte {
	return appendString(appendString(appendString(dst, a.Space), a.Local), a.Value)
}

func appendElement(dst []byte, e *websync.Element, _ string) []byte {
	return appendString(appendString(appendString(dst, e.Space), e.Local), e.XML)
}

func appendPerson(dst []byte, p *websync.Person, _ string) []byte {
	return appendString(appendString(appendString(dst, p.Name), p.Email), p.URI)
}

func appendValidator(dst []byte, v *Validator, id string) []byte {
	dst = appendBits(dst, v.URL != "", v.ETag != "", v.LastModified != "")
	dst = appendReference(dst, v.URL, id)
	dst = appendSome(dst, v.ETag)
	return appendSome(dst, v.LastModified)
}

func appendBits(dst []byte, fields ...bool) []byte {
	var bits uint64
	for i, present := range fields {
		if present {
			bits |= 1 << i
		}
	}
	return binary.AppendUvarint(dst, bits)
}

// The following append nothing for an empty value: its bit says so.

func appendSlice[T any](dst []byte, s []T, id string, element func([]byte, *T, string) []byte) []byte {
	if len(s) == 0 {
		return dst
	}
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	for i := range s {
		dst = element(dst, &s[i], id)
	}
	return dst
}

func appendSome(dst []byte, s string) []byte {
	if s == "" {
		return dst
	}
	return appendString(dst, s)
}

func appendReference(dst []byte, s, id string) []byte {
	switch s {
	case "":
		return dst
	case id:
		return append(dst, 0)
	}
	return appendString(dst, s)
}

func appendUint(dst []byte, v uint64) []byte {
	if v == 0 {
		return dst
	}
	return binary.AppendUvarint(dst, v)
}

func appendInt(dst []byte, v int64) []byte {
	if v == 0 {
		return dst
	}
	return binary.AppendVarint(dst, v)
}

func appendTime(dst []byte, t time.Time) []byte {
	if t.IsZero() {
		return dst
	}
	return binary.AppendVarint(dst, t.UnixMicro())
}

const secondsPerDay = 24 * 60 * 60

func appendDatetime(dst []byte, d websync.Datetime) []byte {
	switch d.Precision() {
	case websync.PrecisionUnstated:
		return dst
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

func appendString(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// A decoder takes values off the front of s. Its strings are parts of s. After an error
// it gives empty values.
type decoder struct {
	s       string
	id      string        // of the resource, for references
	content *websync.Link // of the resource, for bodies
	failed  bool
}

func newDecoder(b []byte, what byte) (*decoder, error) {
	switch {
	case len(b) == 0 || b[0]&^0xf != what || b[0]&0xf == 0:
		return nil, ErrCorrupt
	case b[0]&0xf > codecVersion:
		return nil, fmt.Errorf("%w: format %d", ErrNewer, b[0]&0xf)
	}
	return &decoder{s: string(b[1:])}, nil
}

// end returns the error, if there was one or something is left.
func (d *decoder) end() error {
	if d.failed || d.s != "" {
		return ErrCorrupt
	}
	return nil
}

func (d *decoder) fail() {
	d.failed = true
	d.s = ""
}

func (d *decoder) item(i *websync.Item) {
	b := d.bits(7)
	d.resource(&i.Resource)
	if b.has(0) {
		i.Seq = websync.Seq(d.uint())
	}
	if b.has(1) {
		i.Born = websync.Seq(d.uint())
	}
	if b.has(2) {
		i.Time = d.time()
	}
	if b.has(3) {
		i.Kind = websync.ChangeKind(d.byte())
	}
	if b.has(4) {
		d.content = &i.Resource.Content
		i.Bodies = decodeSlice(d, (*decoder).body)
	}
	if b.has(5) {
		i.At = d.datetime()
	}
	if b.has(6) {
		i.Source = d.string()
	}
}

func (d *decoder) times() *Times {
	t := new(Times)
	b := d.bits(2)
	if b.has(0) {
		t.At = d.datetime()
	}
	if b.has(1) {
		t.Modified = d.datetime()
	}
	return t
}

func (d *decoder) body(body *websync.Body) {
	b := d.bits(3)
	if b.has(0) {
		body.Name = d.string()
	}
	if b.has(1) {
		d.digest(&body.Key)
	}
	if b.has(2) {
		d.link(&body.Link)
		return
	}
	body.Link = *d.content
	body.Link.Digests = slices.Clone(body.Link.Digests)
	body.Link.Attrs = slices.Clone(body.Link.Attrs)
}

func (d *decoder) task(t *Task) {
	b := d.bits(13)
	d.resource(&t.Resource)
	if b.has(0) {
		t.Source = d.string()
	}
	if b.has(1) {
		t.Kind = TaskKind(d.byte())
	}
	if b.has(2) {
		t.At = d.datetime()
	}
	if b.has(3) {
		t.Base = websync.Seq(d.uint())
	}
	if b.has(4) {
		copy(t.Run[:], d.take(16))
	}
	if b.has(5) {
		t.Attempts = d.int()
	}
	if b.has(6) {
		t.Due = d.time()
	}
	t.Parked, t.Gone = b.has(7), b.has(11)
	if b.has(8) {
		t.Error = d.string()
	}
	if b.has(9) {
		t.N = d.uint()
	}
	if b.has(10) {
		t.Tag = d.string()
	}
	if b.has(12) {
		t.Hint = []byte(d.string())
	}
}

func (d *decoder) resource(r *websync.Resource) {
	b := d.bits(11)
	if b.has(0) {
		r.ID = d.string()
		d.id = r.ID
	}
	if b.has(1) {
		d.link(&r.Content)
	}
	if b.has(2) {
		r.Modified = d.datetime()
	}
	if b.has(3) {
		r.Elements = decodeSlice(d, (*decoder).element)
	}
	if b.has(4) {
		r.Links = decodeSlice(d, (*decoder).link)
	}
	if b.has(5) {
		r.Title = d.string()
	}
	if b.has(6) {
		r.Summary = d.string()
	}
	if b.has(7) {
		r.Lang = d.string()
	}
	if b.has(8) {
		r.Authors = decodeSlice(d, (*decoder).person)
	}
	if b.has(9) {
		r.Published = d.datetime()
	}
	if b.has(10) {
		r.Origin = new(websync.Origin)
		d.origin(r.Origin)
	}
}

func (d *decoder) origin(o *websync.Origin) {
	b := d.bits(5)
	if b.has(0) {
		o.ID = d.string()
	}
	if b.has(1) {
		o.Title = d.string()
	}
	if b.has(2) {
		o.Updated = d.datetime()
	}
	if b.has(3) {
		o.Authors = decodeSlice(d, (*decoder).person)
	}
	if b.has(4) {
		o.Self = d.string()
	}
}

func (d *decoder) link(l *websync.Link) {
	b := d.bits(11)
	if b.has(0) {
		l.Href = d.reference()
	}
	if b.has(1) {
		l.Type = d.string()
	}
	if b.has(2) {
		l.Length = d.varint()
	}
	if b.has(3) {
		l.Digests = decodeSlice(d, (*decoder).digest)
	}
	if b.has(4) {
		l.Modified = d.datetime()
	}
	if b.has(5) {
		l.Rel = d.string()
	}
	if b.has(6) {
		l.Encoding = d.string()
	}
	if b.has(7) {
		l.Lang = d.string()
	}
	if b.has(8) {
		l.Title = d.string()
	}
	if b.has(9) {
		l.Priority = d.int()
	}
	if b.has(10) {
		l.Attrs = decodeSlice(d, (*decoder).attr)
	}
}

func (d *decoder) digest(v *websync.Digest) {
	switch i := int(d.byte()); {
	case i == 0:
		v.Algorithm = d.string()
	case i < len(codecAlgorithms):
		v.Algorithm = codecAlgorithms[i]
	default:
		d.fail()
	}
	v.Sum = d.string()
}

func (d *decoder) attr(a *websync.Attr) {
	a.Space, a.Local, a.Value = d.string(), d.string(), d.string()
}

func (d *decoder) element(e *websync.Element) {
	e.Space, e.Local, e.XML = d.string(), d.string(), d.string()
}

func (d *decoder) person(p *websync.Person) {
	p.Name, p.Email, p.URI = d.string(), d.string(), d.string()
}

func (d *decoder) validator(v *Validator) {
	b := d.bits(3)
	if b.has(0) {
		v.URL = d.reference()
	}
	if b.has(1) {
		v.ETag = d.string()
	}
	if b.has(2) {
		v.LastModified = d.string()
	}
}

// trusted is how many elements are allocated on the word of a count; more only as they
// come.
const trusted = 16

func decodeSlice[T any](d *decoder, element func(*decoder, *T)) []T {
	n := d.uint()
	if n == 0 || n > uint64(len(d.s)) { // an element takes at least a byte
		d.fail()
		return nil
	}
	s := make([]T, 0, min(n, trusted))
	for ; n > 0 && !d.failed; n-- {
		s = append(s, *new(T))
		element(d, &s[len(s)-1])
	}
	return s
}

// presence are the bits that say which fields follow.
type presence uint64

func (p presence) has(bit int) bool { return p&(1<<bit) != 0 }

// bits takes the bits of a struct of n fields.
func (d *decoder) bits(n int) presence {
	b := d.uint()
	if b>>n != 0 {
		d.fail()
		return 0
	}
	return presence(b)
}

func (d *decoder) take(n uint64) string {
	if n > uint64(len(d.s)) {
		d.fail()
		return ""
	}
	s := d.s[:n]
	d.s = d.s[n:]
	return s
}

func (d *decoder) byte() byte {
	if d.s == "" {
		d.fail()
		return 0
	}
	b := d.s[0]
	d.s = d.s[1:]
	return b
}

func (d *decoder) string() string { return d.take(d.uint()) }

func (d *decoder) reference() string {
	if s := d.string(); s != "" || d.failed {
		return s
	}
	return d.id
}

// hash takes 8 bytes.
func (d *decoder) hash() uint64 {
	var b [8]byte
	copy(b[:], d.take(8))
	return binary.BigEndian.Uint64(b[:])
}

func (d *decoder) uint() uint64 {
	var v uint64
	for i := range min(len(d.s), binary.MaxVarintLen64) {
		c := d.s[i]
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			if i == binary.MaxVarintLen64-1 && c > 1 {
				break
			}
			d.s = d.s[i+1:]
			return v
		}
	}
	d.fail()
	return 0
}

func (d *decoder) varint() int64 {
	u := d.uint()
	return int64(u>>1) ^ -int64(u&1)
}

func (d *decoder) int() int {
	v := d.varint()
	if int64(int(v)) != v {
		d.fail()
	}
	return int(v)
}

func (d *decoder) time() time.Time {
	if v := d.varint(); !d.failed {
		return time.UnixMicro(v).UTC()
	}
	return time.Time{}
}

func (d *decoder) datetime() websync.Datetime {
	var v websync.Datetime
	switch n := d.uint(); n {
	case 1:
		v = websync.NewDatetime(time.Unix(d.varint(), 0).UTC())
	case 2:
		if days := d.varint(); days > -1e6 && days < 1e7 {
			v = websync.DateOf(time.Unix(days*secondsPerDay, 0).UTC())
		}
	default:
		v, _ = websync.ParseDatetime(d.take(n))
	}
	if v.IsZero() {
		d.fail()
	}
	return v
}
