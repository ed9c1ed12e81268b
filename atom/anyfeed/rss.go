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
	switch space := r.xml.Name().Space; {
	case r.version != "":
	case space == rss10Namespace:
		r.version = "1.0"
	case space == rss09Namespace, space == rss09MyNamespace:
		r.version = "0.9"
	}
	r.enter()
	at := r.at
	if r.channels == 1 {
		r.metaAt = at
	}
	for {
		kind, err := r.next()
		if err != nil || kind == xmlscan.End {
			return err
		}
		name := r.xml.Name()
		local := r.lowered.of(name.Local)
		switch v := r.vocabulary(name.Space); {
		case v == own && local == "item":
			err = r.item()
		case v == own:
			err = r.channelChild(local)
		case v == atomElements && local != "id" && local != "title" && local != "subtitle":
			err = r.atomFeedValue(&r.meta, local)
		case v == history:
			r.meta.Complete = r.meta.Complete || local == "complete"
			r.meta.Archive = r.meta.Archive || local == "archive"
			err = r.skip()
		case v == dublinCore && (local == "creator" || local == "subject" || local == "contributor"):
			err = r.dublinChild(&r.meta.Authors, &r.meta.Contributors, &r.meta.Categories, local)
		default:
			err = r.element(&r.meta.Elements)
		}
		if err != nil {
			return err
		}
	}
}

// channelChild reads a child of a channel that RSS defines. Those that Atom has no place
// for, or only the first of which has one, are kept as they are until the end.
func (r *reader) channelChild(local string) error {
	m := &r.meta
	if !slices.Contains(channelChildren, local) && local != "entry" {
		r.unknown("channel")
	}
	r.once(local)
	switch {
	case local == "title" && m.Title.IsZero():
		t, err := r.construct(asText)
		m.Title = t
		return err
	case local == "description" && m.Subtitle.IsZero():
		t, err := r.construct(asText)
		m.Subtitle = t
		return err
	case local == "link":
		return r.rssLink(&m.Links)
	case local == "managingeditor":
		return r.person(&m.Authors)
	case local == "webmaster":
		return r.person(&m.Contributors)
	case local == "category":
		return r.category(&m.Categories, &m.Elements)
	case local == "items":
		return r.skip() // the list of the items that follow
	}
	return r.element(&m.Elements)
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

// rssSeen are those elements of an item that count although their value may be empty, or
// another element has set it.
type rssSeen struct {
	title, permalink, deleted bool
	modules                   bool // elements that finishItem looks for
}

// itemChild reads a child of an item. What has no place in an entry is kept as it is.
func (r *reader) itemChild(e *atom.Entry, seen *rssSeen) (err error) {
	name := r.xml.Name()
	local := r.lowered.of(name.Local)
	v := r.vocabulary(name.Space)
	switch {
	case v == own:
		r.once(local)
		return r.rssChild(e, seen, local)
	case v == dublinCore && (local == "creator" || local == "subject" || local == "contributor"):
		return r.dublinChild(&e.Authors, &e.Contributors, &e.Categories, local)
	case (v == contentModule && local == "encoded" || v == xhtml && (local == "body" || local == "div")) && e.Content.IsZero():
		as := asHTML
		if v == xhtml {
			as = asMarkup
		}
		t, err := r.construct(as)
		e.Content = atom.Content{Link: websync.Link{Type: t.Type, Lang: t.Lang}, Value: t.Value, Base: t.Base}
		return err
	case v == atomElements && local != "id" && local != "title":
		return r.atomChild(e, local)
	case v == media || v == itunes && local == "image":
		n := len(e.Elements)
		if err = r.element(&e.Elements); err == nil && len(e.Elements) > n {
			err = r.mediaLinks(&e.Elements[n])
		}
		return err
	}
	seen.deleted = seen.deleted || v == foreign && r.isDeletion(name)
	seen.modules = seen.modules || v != foreign
	return r.element(&e.Elements)
}

// rssChild reads a child of an item that RSS defines.
func (r *reader) rssChild(e *atom.Entry, seen *rssSeen, local string) (err error) {
	switch {
	case local == "guid" && e.ID == "":
		permalink, _ := r.xml.Attr("", "isPermaLink")
		seen.permalink = !syntax.EqualFold(xmlscan.Trim(permalink), "false")
		e.ID, err = r.id()
	case local == "title" && !seen.title:
		seen.title = true
		e.Title, err = r.construct(asText)
	case local == "description" && e.Summary.IsZero():
		e.Summary, err = r.construct(asHTML)
	case local == "pubdate" && e.Published.IsZero() && e.PublishedText == "":
		e.Published, e.PublishedText, err = r.dateOf("published")
	case local == "link":
		err = r.rssLink(&r.current.Links)
	case local == "enclosure":
		l := r.link(r.xml, "enclosure", "url")
		if err = r.skip(); err == nil {
			err = r.addMedia(l)
		}
	case local == "comments":
		var href string
		if href, err = r.reference(); err == nil {
			err = r.addLink(&r.current.Links, websync.Link{Rel: "replies", Href: href})
		}
	case local == "source" && e.Source == nil:
		l := r.link(r.xml, "self", "url")
		f := new(atom.Feed)
		if f.Title, err = r.construct(asText); err == nil {
			err = r.addLink(&f.Links, l)
		}
		e.Source = f
	case local == "category":
		err = r.category(&e.Categories, &e.Elements)
	case local == "author":
		err = r.person(&e.Authors)
	case local == "item", local == "entry":
		err = r.skip()
	default:
		err = r.element(&e.Elements)
	}
	return err
}

// dublinChild reads an element of Dublin Core of which all count.
func (r *reader) dublinChild(authors, contributors *[]websync.Person, categories *[]atom.Category, local string) error {
	switch local {
	case "creator":
		return r.person(authors)
	case "contributor":
		return r.person(contributors)
	}
	if err := r.part(); err != nil {
		return err
	}
	subject, err := r.text()
	category(categories, subject, "", "")
	return err
}

// rssLink reads a link, which some write as one of Atom.
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
	return r.addLink(to, l)
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

// mediaLinks adds links to the files and pictures that a kept element states.
func (r *reader) mediaLinks(x *websync.Element) error {
	r.open(x)
	file := websync.Link{}
	for kind := xmlscan.Start; ; {
		name := r.inner.Name()
		isMedia := r.vocabulary(name.Space) == media
		var err error
		switch isStart := kind == xmlscan.Start; {
		case isMedia && name.Local == "content" && isStart:
			file = r.link(r.inner, "enclosure", "url")
		case isMedia && name.Local == "content":
			err = r.addMedia(file)
			file = websync.Link{}
		case isMedia && name.Local == "title" && isStart && file.Href != "":
			title, _ := r.inner.ElementText()
			file.Title = first(file.Title, r.kept.keep(xmlscan.Trim(title)))
		case isMedia && name.Local == "thumbnail" && isStart:
			err = r.addMedia(r.link(r.inner, "icon", "url"))
		case name.Local == "image" && isStart && !isMedia:
			err = r.addMedia(r.link(r.inner, "icon", "href"))
		}
		if err != nil {
			return err
		}
		if kind, err = r.inner.NextTag(); err != nil {
			return nil // its end
		}
	}
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
	isAlternate := func(l websync.Link) bool { return l.Rel == "alternate" }
	if seen.permalink && syntax.IsHTTP(e.ID) && !slices.ContainsFunc(r.current.Links, isAlternate) {
		r.current.Links = append(r.current.Links, websync.Link{Rel: "alternate", Href: e.ID})
	}
}

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
