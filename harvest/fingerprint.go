package harvest

import (
	"crypto/sha256"
	"encoding/binary"
	"sync"

	"github.com/websync-go/websync"
)

// A description is a resource in one unambiguous form, to be compared by hash. The form
// stays the same from release to release: a new one makes every record look changed once.
type description []byte

var descriptions = sync.Pool{New: func() any { d := make(description, 0, 512); return &d }}

// fingerprint returns a hash, never 0, of the description of r, Modified apart, and of an
// event's tag.
func fingerprint(r *websync.Resource, tag string) uint64 {
	p := descriptions.Get().(*description)
	d := (*p)[:0]
	d = d.strings(r.Title, r.Summary, r.Lang)
	d = d.people(r.Authors)
	d = d.time(r.Published)
	d = d.link(&r.Content)
	d = d.count(len(r.Links))
	for i := range r.Links {
		d = d.link(&r.Links[i])
	}
	if r.Origin != nil {
		d = d.strings("origin", r.Origin.ID, r.Origin.Title, r.Origin.Self)
		d = d.time(r.Origin.Updated)
		d = d.people(r.Origin.Authors)
	}
	d = d.count(len(r.Elements))
	for _, e := range r.Elements {
		d = d.strings(e.Space, e.Local, e.XML)
	}
	if tag != "" {
		d = d.strings("tag", tag)
	}
	sum := sha256.Sum256(d)
	*p = d
	descriptions.Put(p)
	return max(1, binary.BigEndian.Uint64(sum[:]))
}

func (d description) count(n int) description { return binary.AppendUvarint(d, uint64(n)) }

func (d description) strings(ss ...string) description {
	for _, s := range ss {
		d = append(d.count(len(s)), s...)
	}
	return d
}

func (d description) time(t websync.Datetime) description {
	at := len(d)
	d = append(d, 0)
	d, _ = t.AppendText(d)
	d[at] = byte(len(d) - at - 1)
	return d
}

func (d description) people(pp []websync.Person) description {
	d = d.count(len(pp))
	for _, p := range pp {
		d = d.strings(p.Name, p.Email, p.URI)
	}
	return d
}

func (d description) link(l *websync.Link) description {
	d = d.strings(l.Rel, l.Href, l.Type, l.Lang, l.Title, l.Encoding)
	d = binary.AppendVarint(d, l.Length)
	d = binary.AppendVarint(d, int64(l.Priority))
	d = d.time(l.Modified)
	d = d.count(len(l.Digests))
	for _, g := range l.Digests {
		d = d.strings(g.Algorithm, g.Sum)
	}
	d = d.count(len(l.Attrs))
	for _, a := range l.Attrs {
		d = d.strings(a.Space, a.Local, a.Value)
	}
	return d
}
