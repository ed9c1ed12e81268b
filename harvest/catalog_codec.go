package harvest

import (
	"fmt"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/codec"
)

// Items, records and tasks are written in the form of package codec, after a byte with
// their type (high half) and version (low half).
const (
	codecVersion = 7

	codecItem   = 1 << 4
	codecRecord = 2 << 4
	codecTask   = 3 << 4
)

// appendItem appends an item. Its id is relative to the id like.
func appendItem(dst []byte, i *websync.Item, like string) []byte {
	return codec.Append(append(dst, codecItem|codecVersion), i, visitItem(like))
}

func visitItem(like string) func(*codec.Coder, *websync.Item) {
	return func(c *codec.Coder, i *websync.Item) {
		c.Relative(like)
		c.Item(i)
	}
}

func appendRecord(dst []byte, r *record) []byte {
	return codec.Append(append(dst, codecRecord|codecVersion), r, visitRecord)
}

func appendTask(dst []byte, t *Task) []byte {
	return codec.Append(append(dst, codecTask|codecVersion), t, visitTask)
}

func decodeItem(b []byte, i *websync.Item, like string) error {
	return decode(b, codecItem, i, visitItem(like))
}

// decodeRecord decodes the record of id.
func decodeRecord(b []byte, id string, r *record) error {
	return decode(b, codecRecord, r, func(c *codec.Coder, r *record) {
		r.ID = id
		visitRecord(c, r)
	})
}

// decodeBrief decodes the brief of the record of id, without its numbers.
func decodeBrief(b []byte, id string, v *brief) error {
	return decode(b, codecRecord, v, func(c *codec.Coder, v *brief) {
		v.ID = id
		c.Begin(recordFields)
		visitBrief(c, v)
		c.Rest()
	})
}

func decodeTask(b []byte, t *Task) error { return decode(b, codecTask, t, visitTask) }

// decode returns ErrNewer or ErrCorrupt, and then v is the zero value.
func decode[T any](b []byte, what byte, v *T, visit func(*codec.Coder, *T)) error {
	switch {
	case len(b) == 0 || b[0]&^0xf != what || b[0]&0xf < codecVersion:
		*v = *new(T)
		return ErrCorrupt
	case b[0]&0xf > codecVersion:
		*v = *new(T)
		return fmt.Errorf("%w: format %d", ErrNewer, b[0]&0xf)
	case !codec.Decode(b[1:], v, visit):
		return ErrCorrupt
	}
	return nil
}

// A record is the stored form of a record, beside its numbers and its id. Its item is
// that of its entry in the log, unless it has one of its own.
type record struct {
	brief
	keyed      bool // a body has a Key
	validators []Validator
	own        *websync.Item // without Seq, Prior and Source
}

const recordFields = 12

// visitRecord visits what belongs to the brief first.
func visitRecord(c *codec.Coder, r *record) {
	outer := c.Begin(recordFields)
	visitBrief(c, &r.brief)
	c.About(r.ID)
	c.Relative(r.ID)
	c.Bool(9, &r.keyed)
	codec.Slice(c, 10, &r.validators, visitValidator)
	codec.Pointer(c, 11, &r.own, (*codec.Coder).Item)
	c.End(outer)
}

func visitBrief(c *codec.Coder, b *brief) {
	codec.Byte(c, 0, &b.Kind)
	codec.Uint(c, 1, &b.Born)
	c.Hash(2, &b.Stated.Hash)
	c.Datetime(3, &b.Stated.Modified)
	visitStatedAt(c, &b.Stated)
	c.Bool(6, &b.Early)
	c.Bool(7, &b.HasContent)
	c.Bool(8, &b.KeepsContent)
}

// visitStatedAt leaves out an At that equals Modified.
func visitStatedAt(c *codec.Coder, s *Stated) {
	switch {
	case c.Has(4, !c.Reading() && s.At != s.Modified && !s.At.IsZero()):
		c.Datetime(4, &s.At)
	case !c.Has(5, !c.Reading() && s.At != s.Modified) && c.Reading():
		s.At = s.Modified
	}
}

func visitValidator(c *codec.Coder, v *Validator) {
	outer := c.Begin(3)
	c.Reference(0, &v.URL)
	c.String(1, &v.ETag)
	c.String(2, &v.LastModified)
	c.End(outer)
}

func visitTask(c *codec.Coder, t *Task) {
	outer := c.Begin(15)
	c.Resource(&t.Resource)
	c.String(0, &t.Source)
	codec.Byte(c, 1, &t.Kind)
	c.Datetime(2, &t.At)
	codec.Uint(c, 3, &t.Base)
	c.Token(4, &t.Run)
	codec.Int(c, 5, &t.Attempts)
	c.Time(6, &t.Due)
	c.Bool(7, &t.Parked)
	c.String(8, &t.Error)
	codec.Uint(c, 9, &t.N)
	c.String(10, &t.Tag)
	c.Bool(11, &t.Gone)
	c.Bytes(12, &t.Hint)
	c.Time(13, &t.Since)
	number := uint64(t.Document)
	codec.Uint(c, 14, &number)
	t.Document = documentNumber(number)
	c.End(outer)
}
