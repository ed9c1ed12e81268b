package kvstore

import (
	"fmt"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/codec"
)

// Items, records and tasks are written in the form of package codec, after a byte with
// their type (high half) and version (low half).
const (
	codecVersion = 4

	codecItem   = 1 << 4
	codecRecord = 2 << 4
	codecTask   = 3 << 4
)

func appendItem(dst []byte, i *websync.Item) []byte {
	return codec.Append(append(dst, codecItem|codecVersion), i, (*codec.Coder).Item)
}

func appendRecord(dst []byte, r *harvest.Record) []byte {
	return codec.Append(append(dst, codecRecord|codecVersion), r, visitRecord)
}

func appendTask(dst []byte, t *harvest.Task) []byte {
	return codec.Append(append(dst, codecTask|codecVersion), t, visitTask)
}

// decodeItem takes the item of a record as well.
func decodeItem(b []byte, i *websync.Item) error {
	if len(b) > 0 && b[0]&^0xf == codecRecord {
		return decode(b, codecRecord, i, visitItemOnly)
	}
	return decode(b, codecItem, i, (*codec.Coder).Item)
}

func decodeRecord(b []byte, r *harvest.Record) error { return decode(b, codecRecord, r, visitRecord) }

func decodeTask(b []byte, t *harvest.Task) error { return decode(b, codecTask, t, visitTask) }

// decode returns ErrNewer or ErrCorrupt, and then v is the zero value.
func decode[T any](b []byte, what byte, v *T, visit func(*codec.Coder, *T)) error {
	switch {
	case len(b) == 0 || b[0]&^0xf != what || b[0]&0xf == 0:
		*v = *new(T)
		return harvest.ErrCorrupt
	case b[0]&0xf > codecVersion:
		*v = *new(T)
		return fmt.Errorf("%w: format %d", harvest.ErrNewer, b[0]&0xf)
	case !codec.Decode(b[1:], v, visit):
		return harvest.ErrCorrupt
	}
	return nil
}

func visitItemOnly(c *codec.Coder, i *websync.Item) {
	c.Item(i)
	c.Rest()
}

func visitRecord(c *codec.Coder, r *harvest.Record) {
	c.Item(&r.Item)
	outer := c.Begin(4)
	c.Hash(0, &r.Stated.Hash)
	codec.Slice(c, 1, &r.Validators, visitValidator)
	visitStatedTimes(c, r)
	c.Bool(3, &r.Early)
	c.End(outer)
}

func visitValidator(c *codec.Coder, v *harvest.Validator) {
	outer := c.Begin(3)
	c.Reference(0, &v.URL)
	c.String(1, &v.ETag)
	c.String(2, &v.LastModified)
	c.End(outer)
}

// visitStatedTimes leaves out times that equal those of the item.
func visitStatedTimes(c *codec.Coder, r *harvest.Record) {
	at, modified := &r.Stated.At, &r.Stated.Modified
	switch {
	case c.Has(2, !c.Reading() && (*at != r.At || *modified != r.Resource.Modified)):
		outer := c.Begin(2)
		c.Datetime(0, at)
		c.Datetime(1, modified)
		c.End(outer)
	case c.Reading():
		*at, *modified = r.At, r.Resource.Modified
	}
}

func visitTask(c *codec.Coder, t *harvest.Task) {
	outer := c.Begin(13)
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
	c.End(outer)
}
