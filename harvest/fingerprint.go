package harvest

import (
	"crypto/sha256"
	"encoding/binary"
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
