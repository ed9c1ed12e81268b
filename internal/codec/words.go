package codec

import (
	"slices"

	"github.com/websync-go/websync"
)

// Item visits the fields of i.
func (c *Coder) Item(i *websync.Item) {
	outer := c.Begin(8)
	c.Resource(&i.Resource) // first: references in other fields refer to its id
	Uint(c, 0, &i.Seq)
	Uint(c, 1, &i.Born)
	c.Time(2, &i.Time)
	Byte(c, 3, &i.Kind)
	c.content = &i.Resource.Content
	Slice(c, 4, &i.Bodies, (*Coder).body)
	c.Datetime(5, &i.At)
	Uint(c, 6, &i.Prior)
	c.String(7, &i.Source)
	c.End(outer)
}

// Resource visits the fields of r.
func (c *Coder) Resource(r *websync.Resource) {
	outer := c.Begin(11)
	c.ident(0, &r.ID)
	c.id = r.ID
	if c.Has(1, !c.reading && !sameLink(&r.Content, &noLink)) {
		c.link(&r.Content)
	}
	c.Datetime(2, &r.Modified)
	Slice(c, 3, &r.Elements, (*Coder).element)
	Slice(c, 4, &r.Links, (*Coder).link)
	c.String(5, &r.Title)
	c.String(6, &r.Summary)
	c.String(7, &r.Lang)
	Slice(c, 8, &r.Authors, (*Coder).person)
	c.Datetime(9, &r.Published)
	Pointer(c, 10, &r.Origin, (*Coder).origin)
	c.End(outer)
}

func (c *Coder) origin(o *websync.Origin) {
	outer := c.Begin(5)
	c.String(0, &o.ID)
	c.String(1, &o.Title)
	c.Datetime(2, &o.Updated)
	Slice(c, 3, &o.Authors, (*Coder).person)
	c.String(4, &o.Self)
	c.End(outer)
}

// body visits a body, whose Link is in most cases the Content of its resource.
func (c *Coder) body(b *websync.Body) {
	outer := c.Begin(3)
	c.String(0, &b.Name)
	if c.Has(1, !b.Key.IsZero()) {
		c.digest(&b.Key)
	}
	if c.Has(2, !c.reading && !sameLink(&b.Link, c.content)) {
		c.link(&b.Link)
	} else if c.reading {
		b.Link = *c.content
		b.Link.Digests = slices.Clone(b.Link.Digests)
		b.Link.Attrs = slices.Clone(b.Link.Attrs)
	}
	c.End(outer)
}

func (c *Coder) link(l *websync.Link) {
	outer := c.Begin(11)
	c.Reference(0, &l.Href)
	c.String(1, &l.Type)
	Int(c, 2, &l.Length)
	Slice(c, 3, (*[]websync.Digest)(&l.Digests), (*Coder).digest)
	c.Datetime(4, &l.Modified)
	c.String(5, &l.Rel)
	c.String(6, &l.Encoding)
	c.String(7, &l.Lang)
	c.String(8, &l.Title)
	Int(c, 9, &l.Priority)
	Slice(c, 10, &l.Attrs, (*Coder).attr)
	c.End(outer)
}

var noLink websync.Link

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
		c.text(0, &d.Algorithm)
	}
	c.text(0, &d.Sum)
}

func (c *Coder) attr(a *websync.Attr) {
	c.space(&a.Space)
	c.local(&a.Local)
	c.text(0, &a.Value)
}

func (c *Coder) person(p *websync.Person) {
	c.text(0, &p.Name)
	c.text(0, &p.Email)
	c.text(0, &p.URI)
}
