package atom

import (
	"slices"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/xmlscan"
)

// source reads the feed that an entry was copied from (RFC 4287 §4.2.11).
func (r *Reader) source(in inherited) (*Feed, error) {
	f := new(Feed)
	f.Lang, f.Base = r.stated(in)
	in = in.with(f.Lang, f.Base)
	var seen children
	kept := 0
	for {
		tag, err := r.nextTag()
		if err != nil || tag == xmlscan.End {
			return f, err
		}
		if err := r.feedChild(f, &seen, in, &kept); err != nil {
			return nil, err
		}
	}
}

// feedChild reads a child of a feed or source into f, in memory of its own.
func (r *Reader) feedChild(f *Feed, seen *children, in inherited, kept *int) error {
	v := &r.view
	buf, digests, attrs := len(v.buf), len(v.digests), len(v.attrs)
	name := r.scan.Name()
	var err error
	switch child := childNamed(name.Local) & feedChildren; {
	case name.Space == HistoryNamespace && name.Local == "complete":
		f.Complete = true
		err = r.scan.Skip()
	case name.Space == HistoryNamespace && name.Local == "archive":
		f.Archive = true
		err = r.scan.Skip()
	case !r.own(name.Space) || child == 0:
		err = r.feedElement(f, name, *kept)
	case !r.admits(child, seen, *kept, &ruleFeedChild):
		err = r.scan.Skip()
	default:
		err = r.feedValue(f, child, in)
	}
	*kept += perChild + len(v.buf) - buf
	v.buf, v.digests, v.attrs = v.buf[:buf], v.digests[:digests], v.attrs[:attrs]
	return err
}

// feedElement keeps an extension of a feed.
func (r *Reader) feedElement(f *Feed, name xmlscan.Name, kept int) (err error) {
	v := &r.view
	if r.own(name.Space) {
		r.reportChild(ruleUnknown, nil, "Atom has no such element here")
	}
	if !r.hasRoom(kept) {
		return r.scan.Skip()
	}
	from := len(v.buf)
	if v.buf, err = r.scan.AppendElement(v.buf); err == nil && len(v.buf) > from {
		var k keeper
		f.Elements = append(f.Elements, k.element(&ElementView{name.Space, name.Local, v.from(from)}))
	}
	return err
}

// feedValue reads a child that Atom has.
func (r *Reader) feedValue(f *Feed, child children, in inherited) error {
	var k keeper
	switch child {
	case childID:
		id, err := r.id("an id that is not one IRI: left out")
		f.ID = k.text(id)
		return err
	case childTitle:
		return r.feedText(&f.Title, in)
	case childSubtitle:
		return r.feedText(&f.Subtitle, in)
	case childRights:
		return r.feedText(&f.Rights, in)
	case childUpdated:
		d, text, err := r.date(&r.updated)
		r.checkFuture(d)
		f.Updated, f.UpdatedText = d, k.text(text)
		return err
	case childGenerator:
		return r.generator(&f.Generator, in)
	case childIcon:
		icon, err := r.reference(in)
		f.Icon = k.text(icon)
		return err
	case childLogo:
		logo, err := r.reference(in)
		f.Logo = k.text(logo)
		return err
	case childAuthor:
		return r.feedPerson(&f.Authors, in)
	case childContributor:
		return r.feedPerson(&f.Contributors, in)
	case childCategory:
		var c CategoryView
		ok, err := r.category(&c, in)
		if ok {
			f.Categories = append(f.Categories, k.category(&c))
		}
		return err
	}
	var l LinkView
	ok, err := r.link(&l, in)
	if !ok && err == nil && slices.Contains(pageRelations[:], string(l.Rel)) {
		l.Href = r.resolved(in.base, nil) // as if href were empty: a document may be lost, and a Source must notice
		ok = len(l.Href) > 0
	}
	if ok {
		f.Links = append(f.Links, k.links(nil, []LinkView{l})...)
	}
	return err
}

func (r *Reader) feedPerson(all *[]websync.Person, in inherited) error {
	var p PersonView
	var k keeper
	err := r.person(&p, in)
	if !p.isZero() {
		*all = append(*all, k.person(&p))
	}
	return err
}

func (r *Reader) feedText(kept *Text, in inherited) error {
	var t TextView
	var k keeper
	err := r.construct(&t, in)
	k.construct(kept, &t)
	return err
}

// generator reads what made the feed (RFC 4287 §4.2.4).
func (r *Reader) generator(g *Generator, in inherited) error {
	var k keeper
	in = in.with(r.stated(in))
	if uri, ok := r.scan.Attr("", "uri"); ok {
		g.URI = k.text(r.resolved(in.base, uri))
	}
	version, _ := r.scan.Attr("", "version")
	g.Version = k.text(version)
	name, err := r.value()
	g.Name = k.text(name)
	return err
}
