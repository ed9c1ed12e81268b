package anyfeed

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/internal/jsonscan"
	"github.com/websync-go/websync/internal/xmlscan"
)

// JSONNamespace is that of the elements and attributes that stand for members of JSON Feed
// which Atom has no place for.
const JSONNamespace = "https://jsonfeed.org/version/1.1"

// A jsonReader reads a JSON Feed (version 1.1) in one pass.
type jsonReader struct {
	*parser
	*jsonscan.Scanner
	feed    atom.Feed // until the format is known
	version string
	isFeed  bool // there is a list of items
	offset  int  // of the member that is read
	xml     []byte

	// of the item that is read
	number int // 0: the feed
	lost   bool
	links  []websync.Link
}

// json reads a JSON Feed.
func (p *parser) json(data string) error {
	j := &jsonReader{parser: p, Scanner: jsonscan.New(data)}
	j.Fault = func(offset int) {
		j.to(offset)
		j.find(ruleBytes, "", "", "what is no character became U+FFFD")
	}
	p.at.base, p.mustID = p.doc.URL, true
	j.members(&j.feed.Elements, j.feedMember)
	if err := j.End(); err != nil {
		if limit := new(websync.ParseError); errors.As(err, &limit) {
			return limit
		}
		j.to(j.Offset())
		return p.fail("", err)
	}
	_, number, known := strings.Cut(j.version, "//jsonfeed.org/version/")
	switch {
	case !known:
		return p.doc.Fail(1, 1, "", p.doc.Not("JSON that is no JSON Feed"))
	case !j.isFeed:
		return p.doc.Fail(1, 1, "", p.doc.Not("a JSON Feed without items"))
	}
	p.begin("a JSON Feed "+number, notes{base: p.doc.URL})
	sortLinks(j.feed.Links)
	*p.feed = j.feed
	for _, item := range p.items {
		if item.Entry.Lang == "" {
			item.Entry.Lang = p.feed.Lang
		}
	}
	return nil
}

// to makes an offset the place of findings.
func (j *jsonReader) to(offset int) { j.at.line, j.at.column = j.Position(offset) }

// essential are the members of an item that it cannot be without, if it has them.
var essential = []string{"id", "url", "content_html", "content_text", "attachments", "attachments.url"}

// leave reports a member that is left out.
func (j *jsonReader) leave(name, why string) {
	j.lost = j.lost || slices.Contains(essential, name)
	j.to(j.offset)
	j.find(ruleLeftOut, name, "", why)
}

// spend counts an item, a link, a category, a person or an element, and what is kept of
// it beyond its length in the document.
func (j *jsonReader) spend(bytes int) {
	if err := j.part(bytes); err != nil {
		j.Stop(err)
	}
}

// members gives the members of an object to take, the first of each name. One that is
// null is not stated. If take returns false, the member is kept as an element. A second
// member of one name may be that of another item.
func (j *jsonReader) members(elements *[]websync.Element, take func(name string) bool) {
	var seen names
	twice := false
	for name := range j.Members() {
		offset := j.Offset()
		j.offset = offset
		switch {
		case !seen.add(name):
			if !twice {
				j.to(j.offset)
				j.skipped++
				j.find(ruleStructure, "", name, j.what()+" has a member twice: one may be that of another item")
				twice = true
			}
		case j.Kind() != 'n' && !take(name):
			j.keep(elements, name, offset)
		}
	}
	slices.SortFunc(*elements, func(a, b websync.Element) int { return cmp.Compare(a.XML, b.XML) })
}

// linkOrder is the order of links, because members have none.
var linkOrder = []string{"self", "next", "alternate", "related", "icon", "enclosure", "hub"}

func sortLinks(links []websync.Link) {
	slices.SortStableFunc(links, func(a, b websync.Link) int {
		return slices.Index(linkOrder, a.Rel) - slices.Index(linkOrder, b.Rel)
	})
}

// what names the object that is read.
func (j *jsonReader) what() string {
	if j.number == 0 {
		return "the feed"
	}
	return fmt.Sprintf("item %d", j.number)
}

// names are those of the members of an object.
type names struct {
	few  [24]string
	n    int // of few
	many map[string]bool
}

// add returns false if the object has had the name.
func (n *names) add(name string) bool {
	for _, other := range n.few[:n.n] {
		if string(other) == name {
			return false
		}
	}
	switch {
	case n.n < len(n.few):
		n.few[n.n] = name
		n.n++
		return true
	case n.many == nil:
		n.many = make(map[string]bool)
	case n.many[name]:
		return false
	}
	n.many[name] = true
	return true
}

// keep appends the element of a member, whose value begins at an offset.
func (j *jsonReader) keep(elements *[]websync.Element, name string, offset int) {
	if j.Offset() == offset {
		j.Skip()
	}
	value := j.Since(offset)
	if len(name)+len(value) > j.maxValue() {
		j.Stop(j.fail("", j.tooLong("a name or value")))
	}
	b, err := xmlscan.AppendAttr(j.xml[:0], `<member xmlns="`+JSONNamespace+`" name="`, name)
	if err == nil {
		b, err = xmlscan.AppendText(append(b, '>'), value)
	}
	if err != nil {
		j.leave(name, err.Error())
		return
	}
	j.xml = append(b, "</member>"...)
	j.spend(len(j.xml) - len(value))
	*elements = append(*elements, websync.Element{Space: JSONNamespace, Local: "member", XML: string(j.xml)})
}

// string takes a text.
func (j *jsonReader) string(name string) string {
	s, ok := j.Text()
	switch {
	case len(s) > j.maxValue():
		j.Stop(j.fail(name, j.tooLong("a name or value")))
	case !ok:
		j.leave(name, "a member that must be a string is left out")
	}
	return s
}

// plain takes a plain text; an empty one is not stated.
func (j *jsonReader) plain(name string) atom.Text { return text(atom.PlainText, j.string(name)) }

// feedMember takes a member of the feed (JSON Feed 1.1, Top-level).
func (j *jsonReader) feedMember(name string) bool {
	f := &j.feed
	switch name {
	case "version":
		j.version = j.string("version")
	case "items":
		j.items()
	case "title":
		f.Title = j.plain("title")
	case "description":
		f.Subtitle = j.plain("description")
	case "icon":
		f.Logo = j.url(j.string("icon"))
	case "favicon":
		f.Icon = j.url(j.string("favicon"))
	case "language":
		f.Lang = first(j.string("language"))
	case "feed_url":
		f.ID = first(j.string("feed_url"))
		j.link(&f.Links, websync.Link{Rel: "self", Href: f.ID})
	case "next_url":
		j.link(&f.Links, websync.Link{Rel: "next", Href: j.string("next_url")})
	case "home_page_url":
		j.link(&f.Links, websync.Link{Href: j.string("home_page_url")})
	case "author", "authors":
		return j.people(name, &f.Authors)
	case "hubs":
		return j.hubs()
	default:
		return false
	}
	return true
}

// items takes the items.
func (j *jsonReader) items() {
	j.isFeed = j.Kind() == '['
	limit := j.scaled(MaxEntries)
	defer func() { j.number = 0 }()
	for i := range j.Elements() {
		if i == limit {
			j.Stop(j.fail("", fmt.Errorf("more than %d entries: %w", limit, websync.ErrLimit)))
		} else if j.Kind() == '{' {
			j.number = i + 1
			j.item()
		} else {
			j.skipped++
			j.offset = j.Offset()
			j.leave("items", fmt.Sprintf("item %d is no object, and is left out", i+1))
		}
	}
}

// item takes an item (JSON Feed 1.1, Items).
func (j *jsonReader) item() {
	j.to(j.Offset())
	e := &atom.Entry{Base: j.doc.URL, Line: j.at.line, Column: j.at.column}
	j.spend(0)
	j.parts, j.lost, j.links = 0, false, j.links[:0]
	html := false
	j.members(&e.Elements, func(name string) bool {
		switch name {
		case "id":
			e.ID = j.id()
		case "url":
			j.link(&j.links, websync.Link{Href: j.string("url")})
		case "external_url":
			j.link(&j.links, websync.Link{Rel: "related", Href: j.string("external_url")})
		case "image":
			j.link(&j.links, websync.Link{Rel: "icon", Href: j.string("image")})
		case "title":
			e.Title = j.plain("title")
		case "summary":
			e.Summary = j.plain("summary")
		case "content_html":
			html = true
			e.Content.Type, e.Content.Value = atom.HTML, j.string("content_html")
		case "content_text":
			if !html {
				e.Content.Type, e.Content.Value = atom.PlainText, j.string("content_text")
			}
		case "date_published":
			e.Published, e.PublishedText = j.time("date_published")
		case "date_modified":
			e.Updated, e.UpdatedText = j.time("date_modified")
		case "language":
			e.Lang = first(j.string("language"))
		case "author", "authors":
			return j.people(name, &e.Authors)
		case "tags":
			j.list("tags", '"', func() { category(&e.Categories, j.string("tags"), "", "") })
		case "attachments":
			return j.attachments()
		default:
			return false
		}
		return true
	})
	sortLinks(j.links)
	e.Links = slices.Clone(j.links)
	j.at.line, j.at.column = e.Line, e.Column
	if j.lost {
		j.skipped++
		j.find(ruleLeftOut, "items", e.ID, j.what()+" is left out, because a member of it can't be read")
		return
	}
	j.add(e)
}

// id takes an id, which may be a number.
func (j *jsonReader) id() string {
	if j.Kind() != '0' {
		return first(j.string("id"))
	}
	j.Skip()
	return j.Since(j.offset)
}

// time takes a date.
func (j *jsonReader) time(name string) (websync.Datetime, string) {
	s := j.string(name)
	j.to(j.offset)
	return j.date(name, s)
}

// list takes the elements of an array, each of which must be of a kind.
func (j *jsonReader) list(name string, kind byte, take func()) {
	if j.Kind() != '[' {
		j.leave(name, "a member that must be an array is left out")
	}
	for range j.Elements() {
		if j.spend(0); j.Kind() == kind {
			take()
		} else {
			j.offset = j.Offset()
			j.leave(name, "a value of the wrong type in an array is left out")
		}
	}
}

// people takes the authors of version 1.1, or the author of version 1.0, which counts if
// there are no others.
func (j *jsonReader) people(name string, people *[]websync.Person) bool {
	var stated []websync.Person
	whole := true
	take := func() {
		var x websync.Person
		whole = j.object(func(name string) bool {
			switch name {
			case "name":
				x.Name = strings.TrimSpace(j.string("authors.name"))
			case "url":
				x.URI = j.url(j.string("authors.url"))
			default:
				return false
			}
			return true
		}) && whole
		person(&stated, x)
	}
	switch {
	case name == "authors":
		j.list(name, '{', take)
	case j.Kind() == '{':
		j.spend(0)
		take()
	default:
		j.leave(name, "a member that must be an object is left out")
	}
	if len(stated) > 0 && (name == "authors" || len(*people) == 0) {
		*people = stated
	}
	return whole
}

// hubs takes the hubs of the feed, of which those of WebSub become links.
func (j *jsonReader) hubs() bool {
	whole := true
	j.list("hubs", '{', func() {
		protocol, url := "", ""
		whole = j.object(func(name string) bool {
			switch name {
			case "type":
				protocol = j.string("hubs.type")
			case "url":
				url = j.string("hubs.url")
			default:
				return false
			}
			return true
		}) && whole && strings.EqualFold(protocol, "WebSub")
		if strings.EqualFold(protocol, "WebSub") {
			j.link(&j.feed.Links, websync.Link{Rel: "hub", Href: url})
		}
	})
	return whole
}

// attachments takes the attachments of an item.
func (j *jsonReader) attachments() bool {
	whole := true
	j.list("attachments", '{', func() {
		l := websync.Link{Rel: "enclosure"}
		whole = j.object(func(name string) bool {
			switch name {
			case "url":
				l.Href = j.string("attachments.url")
			case "mime_type":
				l.Type = j.string("mime_type")
			case "title":
				l.Title = j.string("title")
			case "size_in_bytes":
				l.Length = j.size("size_in_bytes")
			case "duration_in_seconds":
				offset := j.Offset()
				j.Skip()
				l.Attrs = []websync.Attr{{Space: JSONNamespace, Local: name, Value: j.Since(offset)}}
			default:
				return false
			}
			return true
		}) && whole
		j.link(&j.links, l)
	})
	return whole
}

// object takes a small object, whose members Atom has all places for if it returns true.
func (j *jsonReader) object(take func(name string) bool) bool {
	whole := true
	var seen names
	for name := range j.Members() {
		if seen.add(name) && j.Kind() != 'n' {
			whole = take(name) && whole
		}
	}
	return whole
}

// size takes a number of bytes. Producers write 0 for an unknown one.
func (j *jsonReader) size(name string) int64 {
	offset := j.Offset()
	j.Skip()
	n, err := strconv.ParseFloat(strings.Trim(j.Since(offset), `"`), 64)
	if err != nil || n != math.Trunc(n) || n < 0 || n > 1<<53 {
		j.leave(name, "a member that must be a number of bytes is left out")
		return 0
	}
	return int64(n)
}
