package resourcesync

import (
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/document"
	"github.com/websync-go/websync/sitemap"
)

// A View is an [Entry] whose bytes belong to the [Reader]: they are valid until the next
// call of NextView, Next or All. Clone copies the whole entry.
type View struct {
	*sitemap.View

	Metadata MetadataView
	Links    []LinkView

	known bool     // there is an md
	twice bool     // there are two: which one is meant is not known
	at    position // of it

	// holds the bytes of the fields above; after it grew, older ones use the old one
	buf           document.Buffer
	digests       []DigestView
	attrs, faulty []AttrView
}

// A position is where something starts in a document.
type position struct{ line, column int }

// A MetadataView is a [Metadata] of a View.
type MetadataView struct {
	Capability                 Capability
	At, Completed, From, Until websync.Datetime
	Change                     Change
	Datetime                   websync.Datetime
	Digests                    []DigestView
	Length                     int64
	Type, Encoding, Path       []byte
	Attrs, Faulty              []AttrView
}

// A LinkView is a [Link] of a View.
type LinkView struct {
	Rel, Href, Type, Encoding, Path []byte

	Length        int64
	Digests       []DigestView
	Modified      websync.Datetime
	Priority      int
	Attrs, Faulty []AttrView

	at position
}

// A DigestView is a [websync.Digest] of a View.
type DigestView struct {
	Algorithm string
	Sum       []byte
}

// An AttrView is a [websync.Attr] of a View.
type AttrView struct {
	Space, Local string
	Value        []byte
}

// reset makes v the view of another entry, keeping its memory.
func (v *View) reset() {
	v.Metadata, v.Links, v.known, v.twice = MetadataView{}, v.Links[:0], false, false
	v.buf.Bytes, v.digests, v.attrs, v.faulty = v.buf.Bytes[:0], v.digests[:0], v.attrs[:0], v.faulty[:0]
}

// add copies text into the buffer.
func (v *View) add(text []byte) []byte {
	return v.buf.Of(v.buf.Add(text))
}

// An entryBlock is room for what most entries have few of: one piece of memory instead of
// two.
type entryBlock struct {
	links   [1]Link
	digests [2]websync.Digest // of md
}

// Clone returns the entry in memory of its own.
func (v *View) Clone() (e Entry) {
	e.Entry = v.View.Clone()
	if v.known || len(v.Links) > 0 {
		var k keeper
		k.Grow(len(v.buf.Bytes))
		block := new(entryBlock)
		k.metadata(&e.Metadata, &v.Metadata, block.digests[:])
		e.Links = k.links(block.links[:], v.Links)
	}
	return e
}

// A keeper turns views into what can be kept. Of the text it makes one string, if it has
// grown to hold it.
type keeper struct{ strings.Builder }

func (k *keeper) text(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	n := k.Len()
	k.Write(b)
	return k.String()[n:]
}

func (k *keeper) metadata(kept *Metadata, m *MetadataView, room []websync.Digest) {
	kept.Capability, kept.Change, kept.Datetime = m.Capability, m.Change, m.Datetime
	kept.At, kept.Completed, kept.From, kept.Until = m.At, m.Completed, m.From, m.Until
	kept.Digests, kept.Length = k.digests(room, m.Digests), m.Length
	kept.Type, kept.Encoding, kept.Path = k.text(m.Type), k.text(m.Encoding), k.text(m.Path)
	kept.Attrs, kept.Faulty = k.attrs(m.Attrs), k.attrs(m.Faulty)
}

func (k *keeper) links(room []Link, views []LinkView) []Link {
	all := document.SliceOf(room, len(views))
	for i := range views {
		kept, l := &all[i], &views[i]
		kept.Rel, kept.Href = k.text(l.Rel), k.text(l.Href)
		kept.Type, kept.Encoding, kept.Path = k.text(l.Type), k.text(l.Encoding), k.text(l.Path)
		kept.Length, kept.Modified, kept.Priority = l.Length, l.Modified, l.Priority
		kept.Digests, kept.Attrs, kept.Faulty = k.digests(nil, l.Digests), k.attrs(l.Attrs), k.attrs(l.Faulty)
	}
	return all
}

func (k *keeper) digests(room []websync.Digest, views []DigestView) websync.Digests {
	all := document.SliceOf(room, len(views))
	for i, d := range views {
		all[i] = websync.Digest{Algorithm: d.Algorithm, Sum: k.text(d.Sum)}
	}
	return all
}

func (k *keeper) attrs(views []AttrView) []websync.Attr {
	all := document.SliceOf[websync.Attr](nil, len(views))
	for i, a := range views {
		all[i] = websync.Attr{Space: a.Space, Local: a.Local, Value: k.text(a.Value)}
	}
	return all
}
