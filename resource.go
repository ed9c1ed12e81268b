package websync

// A Resource is the description of one thing on the web by an entry of a sitemap, a feed
// or a Resource List. Only ID is required.
type Resource struct {
	// ID is the URI that names the resource: loc, atom:id or an ELI. Readers trim it and
	// resolve it against the document; otherwise they keep it byte for byte.
	ID string

	Title   string
	Summary string
	Lang    string // BCP 47
	Authors []Person

	// Modified and Published are the times that the publisher states.
	Modified  Datetime
	Published Datetime

	// Content is the primary representation. If its Href is empty, it came inline.
	Content Link

	// Links are all other links: alternates, enclosures, mirrors, metadata, versions,
	// collections, via.
	Links []Link

	// Origin is the feed or source that the entry first came from, as atom:source states
	// it. It is nil if none is stated.
	Origin *Origin

	// Elements hold the rest: changefreq, priority, category, rights, image, dct:title
	// and so on.
	Elements []Element
}

// Size returns about how many bytes the description takes: those of its texts, and 128
// for each link.
func (r *Resource) Size() int {
	n := len(r.ID) + len(r.Title) + len(r.Summary) + len(r.Lang) + sizeOf(r.Authors) + r.Content.Size() + r.Origin.Size()
	for i := range r.Links {
		n += r.Links[i].Size()
	}
	for i := range r.Elements {
		n += len(r.Elements[i].XML)
	}
	return n
}

func sizeOf(authors []Person) (n int) {
	for i := range authors {
		n += len(authors[i].Name) + len(authors[i].Email) + len(authors[i].URI)
	}
	return n
}

// Link returns the first of r.Links with the relation rel.
func (r *Resource) Link(rel string) (Link, bool) {
	for _, l := range r.Links {
		if l.Rel == rel {
			return l, true
		}
	}
	return Link{}, false
}

// Via returns the link to the resource at its first publisher. A resource without such a
// link is the publisher's own.
func (r *Resource) Via() (Link, bool) { return r.Link("via") }

// A Person is an author or contributor.
type Person struct {
	Name  string
	Email string
	URI   string
}

// An Origin describes the feed or source that a resource first came from (RFC 4287
// §4.2.11).
type Origin struct {
	ID      string
	Title   string
	Updated Datetime
	Authors []Person
	Self    string // URL of the feed itself
}

// Size returns how many bytes its texts take; 0 if o is nil.
func (o *Origin) Size() int {
	if o == nil {
		return 0
	}
	return len(o.ID) + len(o.Title) + len(o.Self) + sizeOf(o.Authors)
}
