package anyfeed

import (
	"slices"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/internal/xmlscan"
)

// atomFeed reads the root element of Atom.
func (r *reader) atomFeed() error {
	if r.version == "" && r.root.Space == atom.Namespace {
		r.version = "1.0"
	}
	for {
		kind, err := r.next()
		if err != nil || kind == xmlscan.End {
			return err
		}
		name := r.xml.Name()
		local := r.lowered.of(name.Local)
		isOwn := r.vocabulary(name.Space) == own
		if isOwn && slices.Contains(atomNames, local) {
			r.atoms++
		}
		switch {
		case isOwn && local == "entry":
			err = r.atomEntry()
		case isOwn && local == "item":
			err = r.skip()
		case isOwn && !slices.Contains(feedChildren, local):
			r.unknown(r.root.Local)
			err = r.element(&r.meta.Elements)
		default:
			err = r.atomMetadata(&r.meta, name, local)
		}
		if err != nil {
			return err
		}
	}
}

// atomSource reads the feed that an entry was copied from.
func (r *reader) atomSource() (*atom.Feed, error) {
	at := r.at
	defer func() { r.at = at }()
	r.enter()
	f := new(atom.Feed)
	f.Lang, f.Base = r.stated(r.xml)
	for {
		kind, err := r.next()
		if err != nil || kind == xmlscan.End {
			return f, err
		}
		name := r.xml.Name()
		if err := r.atomMetadata(f, name, r.lowered.of(name.Local)); err != nil {
			return f, err
		}
	}
}

// atomMetadata reads a child of a feed or source.
func (r *reader) atomMetadata(f *atom.Feed, name xmlscan.Name, local string) (err error) {
	switch r.vocabulary(name.Space) {
	case own:
		return r.atomFeedValue(f, local)
	case history:
		f.Complete = f.Complete || local == "complete"
		f.Archive = f.Archive || local == "archive"
	}
	return r.element(&f.Elements)
}

// atomFeedValue reads a child of a feed or source that is of Atom. Of several, the first
// counts.
func (r *reader) atomFeedValue(f *atom.Feed, local string) (err error) {
	if !r.isFirst(local) {
		return r.element(&f.Elements)
	}
	switch local {
	case "id":
		f.ID, err = r.id()
	case "title":
		f.Title, err = r.atomText()
	case "subtitle", "tagline":
		f.Subtitle, err = r.atomText()
	case "rights", "copyright":
		f.Rights, err = r.atomText()
	case "updated", "modified":
		f.Updated, f.UpdatedText, err = r.dateOf("updated")
	case "icon":
		f.Icon, err = r.reference()
	case "logo":
		f.Logo, err = r.reference()
	case "generator":
		f.Generator, err = r.generator()
	case "link":
		err = r.atomLink(&f.Links)
	default:
		return r.credit(&f.Authors, &f.Contributors, &f.Categories, &f.Elements, local)
	}
	return err
}

// credit reads an author, a contributor or a category, and keeps what is none.
func (r *reader) credit(
	authors, contributors *[]websync.Person, categories *[]atom.Category, elements *[]websync.Element, local string,
) error {
	switch local {
	case "author":
		return r.person(authors)
	case "contributor":
		return r.person(contributors)
	case "category":
		return r.category(categories, elements)
	}
	return r.element(elements)
}

// atomEntry reads an entry.
func (r *reader) atomEntry() error {
	e, err := r.beginEntry()
	if err != nil {
		return err
	}
	deleted := false
	for {
		kind, err := r.next()
		if err != nil {
			return err
		}
		if kind == xmlscan.End {
			break
		}
		name := r.xml.Name()
		local := r.lowered.of(name.Local)
		if r.vocabulary(name.Space) == own {
			err = r.atomChild(e, local)
		} else {
			deleted = deleted || r.isDeletion(name)
			err = r.element(&e.Elements)
		}
		if err != nil {
			return err
		}
	}
	if e.Published.IsZero() && e.PublishedText == "" {
		e.Published, e.PublishedText = r.date("published", r.take(&e.Elements, name{own, "created"}))
	}
	r.endEntry(deleted)
	return nil
}

// isDeletion reports whether the current element states that its entry is deleted.
func (r *reader) isDeletion(name xmlscan.Name) bool {
	deleted, _ := r.xml.Attr("", "deleted")
	return name == xmlscan.Name{Space: atom.GDataNamespace, Local: "deleted"} ||
		name == xmlscan.Name{Space: atom.FeedSyncNamespace, Local: "sync"} && string(deleted) == "true"
}

// atomChild reads a child of an entry that Atom defines. Of several, the first counts.
func (r *reader) atomChild(e *atom.Entry, local string) (err error) {
	if !r.isFirst(local) {
		return r.element(&e.Elements)
	}
	switch local {
	case "id":
		e.ID, err = r.id()
	case "title":
		e.Title, err = r.atomText()
	case "summary":
		e.Summary, err = r.atomText()
	case "rights", "copyright":
		e.Rights, err = r.atomText()
	case "updated", "modified":
		e.Updated, e.UpdatedText, err = r.dateOf("updated")
	case "published", "issued":
		e.Published, e.PublishedText, err = r.dateOf("published")
	case "content":
		err = r.atomContent(&e.Content)
	case "source":
		e.Source, err = r.atomSource()
	case "link":
		err = r.atomLink(&e.Links)
	case "entry", "item":
		err = r.skip()
	default:
		err = r.credit(&e.Authors, &e.Contributors, &e.Categories, &e.Elements, local)
	}
	return err
}

// id reads what names an entry or a feed.
func (r *reader) id() (string, error) {
	value, err := r.alone()
	return r.kept.keep(value), err
}

// dateOf reads a date.
func (r *reader) dateOf(element string) (d websync.Datetime, text string, err error) {
	if text, err = r.text(); err == nil {
		d, text = r.date(element, text)
	}
	return d, text, err
}

// reference reads a reference, which it resolves.
func (r *reader) reference() (string, error) {
	_, base := r.stated(r.xml)
	value, err := r.value()
	return r.resolved(first(base, r.at.base), value), err
}

// generator reads the software that made the feed.
func (r *reader) generator() (g atom.Generator, err error) {
	_, base := r.stated(r.xml)
	for _, attr := range []string{"uri", "url"} {
		if uri, ok := r.xml.Attr("", attr); ok && g.URI == "" {
			g.URI = r.resolved(first(base, r.at.base), uri)
		}
	}
	version, _ := r.xml.Attr("", "version")
	g.Version = r.kept.keep(xmlscan.Trim(version))
	g.Name, err = r.text()
	return g, err
}

// atomLink reads a link of Atom.
func (r *reader) atomLink(to *[]websync.Link) error {
	l := r.link(r.xml, "", "href")
	if err := r.addLink(to, l); err != nil {
		return err
	}
	return r.skip()
}

// category reads a category: of Atom by its attributes, of RSS with a text. One whose
// scheme can't be kept stays as it is, too.
func (r *reader) category(to *[]atom.Category, elements *[]websync.Element) error {
	if err := r.part(0); err != nil {
		return err
	}
	attr := func(name string) string {
		value, _ := r.xml.Attr("", name)
		return r.kept.keep(xmlscan.Trim(value))
	}
	term, label, scheme := attr("term"), attr("label"), first(attr("scheme"), attr("domain"))
	if space := r.xml.Name().Space; scheme != "" && syntax.Scheme(scheme) == 0 && space != atom.Namespace {
		n := len(*elements)
		if err := r.element(elements); err != nil || len(*elements) == n {
			return err
		}
		r.open(&(*elements)[n])
		text, _ := r.inner.ElementText()
		category(to, first(term, r.kept.keep(xmlscan.Trim(text))), "", label)
		return nil
	}
	text, err := r.value()
	if term == "" {
		term = r.kept.keep(text)
	}
	category(to, term, scheme, label)
	return err
}
