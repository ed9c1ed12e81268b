package atom

import (
	"slices"
	"strings"

	"github.com/websync-go/websync"
)

// feed appends the root of a feed document, and its metadata (RFC 4287 §4.1.1).
func (c *encoder) feed(f *Feed) {
	c.margin = margins[:1]
	c.open("feed")
	c.b = append(c.b, ` xmlns="`+Namespace+`" xmlns:at="`+TombstoneNamespace+`"`...)
	if f.Complete || f.Archive {
		c.b = append(c.b, ` xmlns:fh="`+HistoryNamespace+`"`...)
	}
	c.declared()
	c.within("feed", f.Lang, f.Base)
	c.b = append(c.b, '>')
	c.margin = margins[:3]
	c.required(f.ID, &f.Title, f.Updated, &ruleFeedChild)
	c.metadata(f)
	c.marks(f, "")
	c.history(f)
	c.elements(f.Elements, HistoryNamespace, TombstoneNamespace)
}

// marks appends the marks of RFC 5005. declaration is that of their namespace where the
// root does not have it.
func (c *encoder) marks(f *Feed, declaration string) {
	mark := func(name string, is bool) {
		if is {
			c.open(name)
			c.b = append(append(c.b, declaration...), "/>"...)
		}
	}
	mark("fh:complete", f.Complete)
	mark("fh:archive", f.Archive)
}

// required refuses a feed or an entry without one of the elements that both must have.
func (c *encoder) required(id string, title *Text, updated websync.Datetime, r *Rule) {
	switch {
	case id == "":
		c.refuse("id", r.Section, errMissing)
	case title.IsZero():
		c.refuse("title", r.Section, errMissing)
	case updated.IsZero():
		c.refuse("updated", r.Section, errMissing)
	}
}

// metadata appends what a feed and the source of an entry have in common.
func (c *encoder) metadata(f *Feed) {
	c.iri("id", &ruleID, f.ID)
	c.text("title", &f.Title)
	c.text("subtitle", &f.Subtitle)
	c.date("updated", f.Updated)
	c.people(f.Authors, f.Contributors)
	c.categories(f.Categories)
	c.generator(&f.Generator)
	c.iri("icon", &ruleIRI, f.Icon)
	c.iri("logo", &ruleIRI, f.Logo)
	c.text("rights", &f.Rights)
	c.links(f.Links)
	c.alternates(f.Links)
}

// generator appends a generator, if there is one (RFC 4287 §4.2.4).
func (c *encoder) generator(g *Generator) {
	if *g == (Generator{}) {
		return
	}
	c.open("generator")
	if g.URI != "" {
		c.iriAttr("generator", ` uri="`, &ruleIRI, g.URI)
	}
	c.stated("generator", ` version="`, g.Version)
	c.b = append(c.b, '>')
	c.value("generator", g.Name)
	c.close("generator")
}

// pageRelations are the relations between the documents of one feed (RFC 5005 §3, §4).
var pageRelations = [...]string{"first", "last", "next", "previous", "prev", "prev-archive", "next-archive", "current"}

// history refuses a feed whose links to its other documents contradict each other.
func (c *encoder) history(f *Feed) {
	self, _ := f.Link("self")
	var targets [len(pageRelations)]string
	for i := range f.Links {
		l := &f.Links[i]
		n := slices.Index(pageRelations[:], l.Rel)
		if n < 0 {
			continue
		}
		switch same := l.Href == self.Href; {
		case targets[n] != "" && targets[n] != l.Href:
			c.breaks("link", &rulePagingTwice)
		case f.Complete && !same:
			c.breaks("link", &ruleCompletePaged)
		case f.Archive && same && l.Rel == "current":
			c.breaks("link", &ruleArchiveSelf)
		case same && strings.HasPrefix(l.Rel, "next"), same && strings.HasPrefix(l.Rel, "prev"):
			c.breaks("link", &rulePagingSelf)
		}
		targets[n] = l.Href
	}
	if f.Complete && f.Archive {
		c.breaks("complete", &ruleCompletePaged)
	}
}
