package harvest

import (
	"crypto/sha256"
	"encoding/binary"
	"iter"
	"sync"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/codec"
)

// A description is a resource in its binary form, without id and Modified. The form stays
// the same from release to release: a new one makes every record look changed once.
type description struct {
	resource websync.Resource
	form     []byte
}

var descriptions = sync.Pool{New: func() any { return new(description) }}

// fingerprint returns a hash, never 0, of the description of r and of an event's tag.
func fingerprint(r *websync.Resource, tag string) uint64 {
	d := descriptions.Get().(*description)
	d.resource = *r
	d.resource.ID, d.resource.Modified = "", websync.Datetime{}
	d.form = codec.Append(d.form[:0], &d.resource, (*codec.Coder).Resource)
	d.form = append(d.form, tag...)
	sum := sha256.Sum256(d.form)
	d.resource = websync.Resource{}
	descriptions.Put(d)
	return max(1, binary.BigEndian.Uint64(sum[:]))
}

// A recordPrint is what a Catalog keeps of each live record to show in little time
// whether an event states something new.
type recordPrint struct {
	// ID is the hash of the id.
	ID uint64
	// State is a hash of 56 bits of what the source stated last, and of Modified. It is 0
	// if the record must be looked up: it is Early, or has no Stated.Hash.
	State uint64
	Born  websync.Seq // of one in recordPrints
	// Document is that of the snapshot that listed the record last.
	Document documentNumber
	contentMarks
}

// A printKey is the key of the hashes in recordPrints. A Catalog has a random one, so
// that no publisher can make ids with the same hash.
type printKey [16]byte

// recordPrints are those of the live records of a source.
type recordPrints struct {
	Key printKey
	// Others is the number of the source's records that are not live.
	Others int64
	// All yields them in no particular order, with their Borns: those of the records that
	// are live from the call of fingerprints to its end, and none of a record with a later
	// Born.
	All iter.Seq2[recordPrint, error]
}

// Of returns the recordPrint of a record, without Document.
func (k *printKey) Of(b *brief) recordPrint {
	f := recordPrint{ID: k.id(b.ID), contentMarks: b.contentMarks}
	if b.Stated.Hash != 0 && !b.Early {
		f.State = k.state(b.Stated.Hash, b.Stated.Modified)
	}
	return f
}

func (k *printKey) id(id string) uint64 { return sipHash(k, id) }

// state returns the State, never 0, of a record with this Hash and this Modified.
func (k *printKey) state(stated uint64, modified websync.Datetime) uint64 {
	room := make([]byte, 0, 64)
	form := codec.Append(binary.BigEndian.AppendUint64(room, stated), &modified, func(c *codec.Coder, d *websync.Datetime) {
		outer := c.Begin(1)
		c.Datetime(0, d)
		c.End(outer)
	})
	return max(1, sipHash(k, string(form))>>8)
}
