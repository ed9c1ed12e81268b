package anyfeed

import (
	"slices"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/internal/xmlscan"
)

// rssFeed reads the root element of RSS.
func (r *reader) rssFeed() error {
	for {
		kind, err := r.next()
		if err != nil || kind == xmlscan.End {
			return err
		}
		name := r.xml.Name()
		switch local := r.lowered.of(name.Local); {
		case r.vocabulary(name.Space) != own:
			err = r.element(&r.meta.Elements)
		case local == "channel":
			err = r.channel()
		case local == "item":
			err = r.item()
		default:
			if !slices.Contains(rssChildren, local) && local != "entry" {
				r.unknown(r.root.Local)
			}
			err = r.element(&r.meta.Elements)
		}
		if err != nil {
			return err
		}
	}
}

// channel reads the metadata of a feed, and its items if they are in it. If there are
// several channels, the first one that states something counts.
func (r *reader) channel() error {
	root := r.at
	defer func() { r.at = root }()
	if r.channels++; r.channels > 1 {
		r.doubt("channel", nil, "a second channel, which may be that of another feed")
	}
	if space := r.xml.Name().Space; r.version == "" && space == rss10Namespace {
		r.version = "1.0"
	} else if r.version == "" && (space == rss09Namespace || space == rss09MyNamespace) {
		r.version = "0.9"
	}
	if r.enter(); r.channels == 1 {
		r.metaAt = r.at
	}
	for {
		kind, err := r.next()
		if err != nil || kind == xmlscan.End {
			return err
		}
		name := r.xml.Name()
		if err := r.channelChild(r.vocabulary(name.Space), r.lowered.of(name.Local)); err != nil {
			return err
		}
	}
}

// channelChild reads a child of a channel. Those that Atom has no place for, or only the
// first of which has one, are kept as they are until the end.
func (r *reader) channelChild(v vocabulary, local string) error {
	m := &r.meta
	switch v {
	case own:
		return r.rssMetadata(local)
	case atomElements:
		switch local {
		case "id", "title", "subtitle":
			return r.skip()
		}
		return r.atomFeedValue(m, local)
	case history:
		m.Complete = m.Complete || local == "complete"
		m.Archive = m.Archive || local == "archive"
	case dublinCore:
		return r.dublinChild(&m.Authors, &m.Contributors, &m.Categories, &m.Elements, local)
	}
	return r.element(&m.Elements)
}

// rssMetadata reads a child of a channel that RSS defines.
func (r *reader) rssMetadata(local string) (err error) {
	m := &r.meta
	if local == "item" {
		return r.item()
	}
	if !slices.Contains(channelChildren, local) && local != "entry" {
		r.unknown("channel")
	}
	isFirst := r.isFirst(local)
	switch {
	case local == "title" && isFirst && m.Title.IsZero():
		m.Title, err = r.construct(asText)
	case local == "description" && isFirst && m.Subtitle.IsZero():
		m.Subtitle, err = r.construct(asText)
	case local == "link":
		err = r.rssLink(&m.Links)
	case local == "managingeditor":
		err = r.person(&m.Authors)
	case local == "webmaster":
		err = r.person(&m.Contributors)
	case local == "category":
		err = r.category(&m.Categories, &m.Elements)
	case local == "items":
		err = r.skip() // the list of the items that follow
	default:
		err = r.element(&m.Elements)
	}
	return err
}

// finishChannel sets what Elements of the feed state and is not set yet.
func (r *reader) finishChannel() {
	m := &r.meta
	r.at = r.metaAt
	take := func(names ...name) string { return r.take(&m.Elements, names...) }
	plain := func(t *atom.Text, names ...name) {
		if t.IsZero() {
			*t = text(atom.PlainText, take(names...))
		}
	}
	plain(&m.Title, name{dublinCore, "title"}, name{itunes, "title"})
	plain(&m.Subtitle, name{dublinCore, "description"}, name{itunes, "summary"}, name{itunes, "subtitle"})
	plain(&m.Rights, name{own, "copyright"}, name{dublinCore, "rights"})
	if m.Lang == "" {
		m.Lang = first(r.at.lang, take(name{own, "language"}, name{dublinCore, "language"}))
	}
	if m.Generator.Name == "" {
		m.Generator.Name = take(name{own, "generator"})
	}
	if m.Updated.IsZero() && m.UpdatedText == "" {
		m.Updated, m.UpdatedText = r.date("updated", take(name{own, "lastbuilddate"}, name{dublinTerms, "modified"},
			name{own, "pubdate"}, name{dublinCore, "date"}))
	}
	if len(m.Authors) == 0 {
		addPerson(&m.Authors, parsePerson(take(name{itunes, "author"})))
	}
	if m.Logo == "" {
		m.Logo = r.logo()
	}
}

// logo returns the picture of a channel. The element stays, because it states more.
func (r *reader) logo() string {
	for i := range r.meta.Elements {
		x := &r.meta.Elements[i]
		r.open(x)
		switch v := r.vocabulary(x.Space); {
		case v == itunes && x.Local == "image":
			return r.link(r.inner, "icon", "href").Href
		case v == media && x.Local == "thumbnail":
			return r.link(r.inner, "icon", "url").Href
		case v != own || x.Local != "image":
			continue
		}
		for {
			kind, err := r.inner.NextTag()
			if err != nil || kind == xmlscan.End {
				break
			}
			isURL := r.lowered.of(r.inner.Name().Local) == "url" && r.vocabulary(r.inner.Name().Space) == own
			value, err := r.inner.ElementText()
			if url := r.resolved(r.at.base, value); isURL && url != "" || err != nil {
				return url
			}
		}
	}
	return ""
}

// item reads an item.
func (r *reader) item() error {
	space := r.xml.Name().Space
	r.mustID = r.mustID || space == rss10Namespace
	about, _ := r.xml.Attr(rdfNamespace, "about")
	if about == nil {
		about, _ = r.xml.Attr("rdf", "about") // the prefix is not declared
	}
	id := r.kept.keep(xmlscan.Trim(about))
	lang, _ := r.stated(r.xml)
	e, err := r.beginEntry()
	if err != nil {
		return err
	}
	var seen rssSeen
	for {
		kind, err := r.next()
		if err != nil {
			return err
		}
		if kind == xmlscan.End {
			break
		}
		if err := r.itemChild(e, &seen); err != nil {
			return err
		}
	}
	e.ID = first(e.ID, id)
	r.finishItem(e, &seen, lang)
	r.endEntry(seen.deleted)
	return nil
}

// rssSeen is what is known of an item besides its fields.
type rssSeen struct {
	permalink, deleted bool
	modules            bool // there are elements that finishItem may look for
}

// itemChild reads a child of an item. What has no place in an entry is kept as it is.
func (r *reader) itemChild(e *atom.Entry, seen *rssSeen) error {
	name := r.xml.Name()
	local := r.lowered.of(name.Local)
	v := r.vocabulary(name.Space)
	seen.modules = seen.modules || v != own && v != foreign
	switch v {
	case own:
		return r.rssChild(e, seen, local)
	case dublinCore:
		return r.dublinChild(&e.Authors, &e.Contributors, &e.Categories, &e.Elements, local)
	case contentModule, xhtml:
		return r.rssContent(e, v, local)
	case atomElements:
		if local == "id" || local == "title" {
			return r.skip()
		}
		return r.atomChild(e, local)
	case media, itunes:
		n := len(e.Elements)
		if err := r.element(&e.Elements); err != nil || len(e.Elements) == n || v == itunes && local != "image" {
			return err
		}
		return r.mediaLinks(&e.Elements[n])
	}
	seen.deleted = seen.deleted || r.isDeletion(name)
	return r.element(&e.Elements)
}

// rssChild reads a child of an item that RSS defines. Of several, the first counts.
func (r *reader) rssChild(e *atom.Entry, seen *rssSeen, local string) (err error) {
	if !r.isFirst(local) {
		return r.element(&e.Elements)
	}
	switch local {
	case "guid":
		permalink, _ := r.xml.Attr("", "isPermaLink")
		seen.permalink = !syntax.EqualFold(xmlscan.Trim(permalink), "false")
		e.ID, err = r.id()
	case "title":
		e.Title, err = r.construct(asText)
	case "description":
		e.Summary, err = r.construct(asHTML)
	case "pubdate":
		e.Published, e.PublishedText, err = r.dateOf("published")
	case "link":
		err = r.rssLink(&e.Links)
	case "enclosure":
		l := r.link(r.xml, "enclosure", "url")
		if err = r.skip(); err == nil {
			err = r.addMedia(l)
		}
	case "comments":
		l := websync.Link{Rel: "replies"}
		if l.Href, err = r.reference(); err == nil {
			err = r.addLink(&e.Links, l)
		}
	case "source":
		e.Source, err = r.rssSource()
	case "category":
		err = r.category(&e.Categories, &e.Elements)
	case "author":
		err = r.person(&e.Authors)
	case "item", "entry":
		err = r.skip()
	default:
		err = r.element(&e.Elements)
	}
	return err
}

// rssSource reads the feed that an item was copied from.
func (r *reader) rssSource() (f *atom.Feed, err error) {
	f = new(atom.Feed)
	l := r.link(r.xml, "self", "url")
	if f.Title, err = r.construct(asText); err == nil {
		err = r.addLink(&f.Links, l)
	}
	return f, err
}

// rssContent reads the content of an item.
func (r *reader) rssContent(e *atom.Entry, v vocabulary, local string) error {
	isContent := v == contentModule && local == "encoded" || v == xhtml && (local == "body" || local == "div")
	if !isContent || !e.Content.IsZero() {
		return r.element(&e.Elements)
	}
	as := asHTML
	if v == xhtml {
		as = asMarkup
	}
	t, err := r.construct(as)
	e.Content = atom.Content{Link: websync.Link{Type: t.Type, Lang: t.Lang}, Value: t.Value, Base: t.Base}
	return err
}

// dublinChild reads an element of Dublin Core. Of some, all count.
func (r *reader) dublinChild(
	authors, contributors *[]websync.Person, categories *[]atom.Category, elements *[]websync.Element, local string,
) error {
	switch local {
	case "creator":
		return r.person(authors)
	case "contributor":
		return r.person(contributors)
	case "subject":
		if err := r.part(0); err != nil {
			return err
		}
		subject, err := r.text()
		category(categories, subject, "", "")
		return err
	}
	return r.element(elements)
}

// rssLink reads a link, which some write as one of Atom. It comes before
// alternates of atom:link: other readers take no other for the page of an item.
func (r *reader) rssLink(to *[]websync.Link) error {
	_, base := r.stated(r.xml)
	var l websync.Link
	if len(r.xml.Attrs()) > 0 {
		l = r.link(r.xml, "", "href")
	}
	value, err := r.alone()
	if err != nil {
		return err
	}
	if len(value) > 0 {
		l = websync.Link{Href: r.resolved(first(base, r.at.base), value)}
	}
	n := len(*to)
	if err = r.addLink(to, l); len(*to) > n && isAlternate((*to)[n]) {
		l = (*to)[n]
		*to = slices.Insert((*to)[:n], slices.IndexFunc(*to, isAlternate), l)
	}
	return err
}

// addMedia adds the link to a file, or what is new about one that is there.
func (r *reader) addMedia(l websync.Link) error {
	const most = 16 // links that are compared
	for i := range r.current.Links[:min(len(r.current.Links), most)] {
		if old := &r.current.Links[i]; old.Rel == l.Rel && old.Href == l.Href {
			old.Type, old.Lang, old.Title = first(old.Type, l.Type), first(old.Lang, l.Lang), first(old.Title, l.Title)
			old.Length = max(old.Length, l.Length)
			return nil
		}
	}
	return r.addLink(&r.current.Links, l)
}

// mediaLinks adds links to the files and pictures that a kept element of media RSS
// states, or itunes:image.
func (r *reader) mediaLinks(x *websync.Element) error {
	r.open(x)
	if x.Local == "image" {
		return r.addMedia(r.link(r.inner, "icon", "href"))
	}
	file := websync.Link{}
	for kind, err := xmlscan.Start, error(nil); err == nil; kind, err = r.inner.NextTag() {
		name := r.inner.Name()
		if r.vocabulary(name.Space) != media {
			continue
		}
		var added websync.Link
		switch isEnd := kind == xmlscan.End; {
		case name.Local == "content" && isEnd:
			file, added = websync.Link{}, file
		case name.Local == "content":
			file = r.link(r.inner, "enclosure", "url")
		case name.Local == "title" && !isEnd:
			title, _ := r.inner.ElementText()
			file.Title = first(file.Title, r.kept.keep(xmlscan.Trim(title)))
		case name.Local == "thumbnail" && !isEnd:
			added = r.link(r.inner, "icon", "url")
		}
		if err := r.addMedia(added); err != nil {
			return err
		}
	}
	return nil
}

// finishItem sets what Elements of an item state and is not set yet.
func (r *reader) finishItem(e *atom.Entry, seen *rssSeen, lang string) {
	take := func(names ...name) string {
		if !seen.modules {
			return ""
		}
		return r.take(&e.Elements, names...)
	}
	if e.Title.IsZero() {
		e.Title = text(atom.PlainText, take(name{dublinCore, "title"}, name{itunes, "title"}))
	}
	if e.Summary.IsZero() {
		e.Summary = text(atom.HTML, take(name{dublinCore, "description"}, name{itunes, "summary"}))
	}
	if e.Rights.IsZero() {
		e.Rights = text(atom.PlainText, take(name{dublinCore, "rights"}))
	}
	if e.Published.IsZero() && e.PublishedText == "" {
		e.Published, e.PublishedText = r.date("published", take(name{dublinTerms, "created"}, name{dublinTerms, "issued"},
			name{dublinCore, "date"}))
	}
	if e.Updated.IsZero() && e.UpdatedText == "" {
		e.Updated, e.UpdatedText = r.date("updated", take(name{dublinTerms, "modified"}))
	}
	if len(e.Authors) == 0 {
		addPerson(&e.Authors, parsePerson(take(name{itunes, "author"})))
	}
	if lang == "" {
		e.Lang = first(take(name{dublinCore, "language"}), e.Lang)
	}
	if seen.permalink && syntax.IsHTTP(e.ID) && !slices.ContainsFunc(r.current.Links, isAlternate) {
		r.current.Links = append(r.current.Links, websync.Link{Rel: "alternate", Href: e.ID})
	}
}

func isAlternate(l websync.Link) bool { return l.Rel == "alternate" }

// parsePerson reads a name and an address in the forms "address (name)", "name (address)"
// and "name <address>", or one of both.
func parsePerson(s string) websync.Person {
	s = strings.TrimSpace(s)
	before, inside := s, ""
	if at := strings.IndexAny(s, "(<"); at >= 0 && strings.HasSuffix(s, map[byte]string{'(': ")", '<': ">"}[s[at]]) {
		before, inside = strings.TrimSpace(s[:at]), strings.TrimSpace(s[at+1:len(s)-1])
	}
	switch {
	case isAddress(before):
		return websync.Person{Name: inside, Email: before}
	case isAddress(inside):
		return websync.Person{Name: before, Email: inside}
	}
	return websync.Person{Name: s}
}

func isAddress(s string) bool {
	local, domain, _ := strings.Cut(s, "@")
	return local != "" && domain != "" && !strings.ContainsAny(domain, "@") && !strings.ContainsAny(s, " \t\r\n()<>")
}
