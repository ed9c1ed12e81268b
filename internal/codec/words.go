package codec

import (
	"slices"

	"github.com/websync-go/websync"
)

// Item visits the fields of i.
func (c *Coder) Item(i *websync.Item) {
	outer := c.Begin()
	c.Resource(&i.Resource) // first, for the sake of the references to its id
	Uint(c, &i.Seq)
	Uint(c, &i.Born)
	c.Time(&i.Time)
	Byte(c, &i.Kind)
	c.content = &i.Resource.Content
	Slice(c, &i.Bodies, (*Coder).body)
	c.Datetime(&i.At)
	c.String(&i.Source)
	c.End(outer)
}

// Resource visits the fields of r.
func (c *Coder) Resource(r *websync.Resource) {
	outer := c.Begin()
	c.String(&r.ID)
	c.id = r.ID
	if c.Has(!c.reading && !sameLink(&r.Content, &websync.Link{})) {
		c.link(&r.Content)
	}
	c.Datetime(&r.Modified)
	Slice(c, &r.Elements, (*Coder).element)
	Slice(c, &r.Links, (*Coder).link)
	c.String(&r.Title)
	c.String(&r.Summary)
	c.String(&r.Lang)
	Slice(c, &r.Authors, (*Coder).person)
	c.Datetime(&r.Published)
	Pointer(c, &r.Origin, (*Coder).origin)
	c.End(outer)
}

func (c *Coder) origin(o *websync.Origin) {
	outer := c.Begin()
	c.String(&o.ID)
	c.String(&o.Title)
	c.Datetime(&o.Updated)
	Slice(c, &o.Authors, (*Coder).person)
	c.String(&o.Self)
	c.End(outer)
}

// body visits a body, whose Link is in most cases the Content of its resource.
func (c *Coder) body(b *websync.Body) {
	outer := c.Begin()
	c.String(&b.Name)
	if c.Has(!b.Key.IsZero()) {
		c.digest(&b.Key)
	}
	if c.Has(!c.reading && !sameLink(&b.Link, c.content)) {
		c.link(&b.Link)
	} else if c.reading {
		b.Link = *c.content
		b.Link.Digests = slices.Clone(b.Link.Digests)
		b.Link.Attrs = slices.Clone(b.Link.Attrs)
	}
	c.End(outer)
}

func (c *Coder) link(l *websync.Link) {
	outer := c.Begin()
	c.Reference(&l.Href)
	c.String(&l.Type)
	Int(c, &l.Length)
	Slice(c, (*[]websync.Digest)(&l.Digests), (*Coder).digest)
	c.Datetime(&l.Modified)
	c.String(&l.Rel)
	c.String(&l.Encoding)
	c.String(&l.Lang)
	c.String(&l.Title)
	Int(c, &l.Priority)
	Slice(c, &l.Attrs, (*Coder).attr)
	c.End(outer)
}

func sameLink(a, b *websync.Link) bool {
	return a.Href == b.Href && a.Length == b.Length && a.Modified == b.Modified && a.Priority == b.Priority &&
		a.Rel == b.Rel && a.Type == b.Type && a.Lang == b.Lang && a.Title == b.Title && a.Encoding == b.Encoding &&
		slices.Equal(a.Digests, b.Digests) && slices.Equal(a.Attrs, b.Attrs)
}

// algorithms are written as their index.
var algorithms = [...]string{"", "md5", "sha-1", "sha-256", "sha-512"}

func (c *Coder) digest(d *websync.Digest) {
	var i int
	if c.reading {
		if i = int(c.byte()); i < len(algorithms) {
			d.Algorithm = algorithms[i]
		} else {
			c.fail()
		}
	} else {
		i = max(slices.Index(algorithms[:], d.Algorithm), 0)
		c.out = append(c.out, byte(i))
	}
	if i == 0 {
		c.text(&d.Algorithm)
	}
	c.text(&d.Sum)
}

func (c *Coder) attr(a *websync.Attr) {
	c.text(&a.Space)
	c.text(&a.Local)
	c.text(&a.Value)
}

func (c *Coder) element(e *websync.Element) {
	c.text(&e.Space)
	c.text(&e.Local)
	c.text(&e.XML)
}

func (c *Coder) person(p *websync.Person) {
	c.text(&p.Name)
	c.text(&p.Email)
	c.text(&p.URI)
}
