package anyfeed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	gofeed "github.com/mmcdole/gofeed/json"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/internal/survive"
)

// json reads a JSON Feed. It decodes the items one by one, so that one that can't be read
// does not affect the others.
func (p *parser) json(data []byte) error {
	if err := p.limitJSON(data); err != nil {
		return err
	}
	if err := json.Unmarshal(data, new(struct{})); err != nil {
		return p.badJSON(data, err)
	}
	members := map[string][]byte{}
	name := ""
	for i, part := range parts(data) {
		if i%2 == 1 {
			members[name] = part
		} else if err := json.Unmarshal(part, &name); err != nil {
			return p.badJSON(data, err)
		}
	}
	version, _ := member[string](members, "version")
	_, number, known := strings.Cut(version, "//jsonfeed.org/version/")
	items := members["items"]
	switch {
	case !known:
		return p.doc.Fail(1, 1, "", p.doc.Not("JSON that is no JSON Feed"))
	case !bytes.HasPrefix(items, []byte("[")):
		return p.doc.Fail(1, 1, "", p.doc.Not("a JSON Feed without items"))
	}
	n := 0
	for range parts(items) {
		n++
	}
	if limit := p.scaled(MaxEntries); n > limit {
		return p.doc.Fail(0, 0, "", fmt.Errorf("more than %d entries: %w", limit, websync.ErrLimit))
	}
	p.begin("a JSON Feed "+number, notes{base: p.doc.URL})
	p.mustID = true
	p.jsonFeed(members)
	names := make(map[string]bool)
	p.once(data, "the feed", names)
	for i, raw := range parts(items) {
		var item gofeed.Item
		if err := survive.Panic("gofeed", func() error { return json.Unmarshal(raw, &item) }); err != nil {
			const enough = 1 << 10
			p.skipped++
			p.find(ruleLeftOut, "items", string(raw[:min(len(raw), enough)]), fmt.Sprintf("item %d is left out: %v", i+1, err))
			continue
		}
		p.once(raw, fmt.Sprintf("item %d", i+1), names)
		if err := p.jsonItem(&item); err != nil {
			return err
		}
	}
	return nil
}

// once checks that a sound object has each of its members once: the second one may be
// that of another item. seen is used again for each object.
func (p *parser) once(data []byte, object string, seen map[string]bool) {
	clear(seen)
	for i, part := range parts(data) {
		if i%2 == 1 {
			continue
		}
		if seen[string(part)] {
			p.skipped++
			p.find(ruleStructure, "", string(part), object+" has a member twice: one may be that of another item")
			return
		}
		seen[string(part)] = true
	}
}

// limitJSON checks the limits before anything is built.
func (p *parser) limitJSON(data []byte) error {
	nodes, depth := 0, 0
	for at := 0; at < len(data); {
		n := 1
		switch c := data[at]; c {
		case '{', '[':
			depth++
			nodes++
		case '}', ']':
			depth--
			nodes++
		case ' ', '\t', '\r', '\n', ',', ':':
		default:
			n = scalar(data[at:])
			nodes++
		}
		at += n
		switch {
		case depth > maxDepth, nodes > p.scaled(maxNodes):
			err := fmt.Errorf("more than %d values, or more than %d deep: %w", p.scaled(maxNodes), maxDepth, websync.ErrLimit)
			return p.doc.Fail(0, 0, "", err)
		case n > p.maxValue():
			return p.doc.Fail(0, 0, "", p.tooLong("a name or value"))
		}
	}
	return nil
}

// scalar returns the length of the string, number or word at the start of b.
func scalar(b []byte) int {
	if b[0] != '"' {
		if n := bytes.IndexAny(b[1:], " \t\r\n,:{}[]\""); n >= 0 {
			return 1 + n
		}
		return len(b)
	}
	for at := 1; at < len(b); at++ {
		switch b[at] {
		case '\\':
			at++
		case '"':
			return at + 1
		}
	}
	return len(b)
}

// parts returns the values of a sound array, or the names and values of a sound object,
// in turn.
func parts(data []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		i, from, depth := 0, 0, 0
		for at := 0; at < len(data); {
			n := 1
			switch c := data[at]; c {
			case '{', '[':
				depth++
				if depth == 2 {
					from = at
				}
			case '}', ']':
				depth--
			case ' ', '\t', '\r', '\n', ',', ':':
				at++
				continue
			default:
				if n = scalar(data[at:]); depth == 1 {
					from = at
				}
			}
			at += n
			if opens := data[at-n] == '{' || data[at-n] == '['; depth != 1 || opens {
				continue
			}
			if !yield(i, data[from:at]) {
				return
			}
			i++
		}
	}
}

// badJSON returns an error of the decoder with its position.
func (p *parser) badJSON(data []byte, err error) error {
	var syntax *json.SyntaxError
	switch {
	case !errors.As(err, &syntax):
		return p.doc.Fail(0, 0, "", err)
	case int(syntax.Offset) >= len(data) && strings.Contains(syntax.Error(), "unexpected end"):
		return p.doc.Fail(0, 0, "", websync.ErrTruncated)
	}
	before := data[:max(0, min(int(syntax.Offset)-1, len(data)))]
	return p.doc.Fail(1+bytes.Count(before, []byte("\n")), 0, "", err)
}

// member decodes a member of an object. ok is false if there is none, or one of another
// type.
func member[T any](members map[string][]byte, name string) (value T, ok bool) {
	raw, ok := members[name]
	return value, ok && string(raw) != "null" && json.Unmarshal(raw, &value) == nil
}

func (p *parser) jsonFeed(members map[string][]byte) {
	var f gofeed.Feed
	for _, name := range []string{
		"title", "description", "home_page_url", "feed_url", "next_url", "icon", "favicon", "language", "author", "authors",
	} {
		if raw := members[name]; raw != nil {
			one := slices.Concat([]byte(`{"`+name+`":`), raw, []byte("}"))
			if err := survive.Panic("gofeed", func() error { return json.Unmarshal(one, &f) }); err != nil {
				p.find(ruleLeftOut, name, "", err.Error()) // the other members are read
			}
		}
	}
	p.feed.ID = first(f.FeedURL)
	p.feed.Lang = first(f.Language)
	p.feed.Title, p.feed.Subtitle = text(atom.PlainText, f.Title), text(atom.PlainText, f.Description)
	p.feed.Icon, p.feed.Logo = p.url(f.Favicon), p.url(f.Icon)
	p.feed.Authors = p.jsonPeople(f.Authors, f.Author)
	p.link(&p.feed.Links, websync.Link{Rel: "self", Href: f.FeedURL})
	p.link(&p.feed.Links, websync.Link{Rel: "next", Href: f.NextURL})
	p.link(&p.feed.Links, websync.Link{Href: f.HomePageURL})
	hubs, _ := member[[]struct{ Type, URL string }](members, "hubs")
	for _, hub := range hubs {
		if strings.EqualFold(hub.Type, "WebSub") {
			p.link(&p.feed.Links, websync.Link{Rel: "hub", Href: hub.URL})
		}
	}
}

func (p *parser) jsonItem(i *gofeed.Item) error {
	attachments := 0
	if i.Attachments != nil {
		attachments = len(*i.Attachments)
	}
	lists := len(i.Tags) + len(i.Authors) + attachments
	p.cost += partCost * int64(1+lists)
	if err := p.afford(0); err != nil {
		return err
	}
	e := p.entry(notes{base: p.doc.URL, lang: first(i.Language)})
	e.ID = first(i.ID)
	e.Title, e.Summary = text(atom.PlainText, i.Title), text(atom.PlainText, i.Summary)
	switch {
	case i.ContentHTML != "":
		e.Content.Type, e.Content.Value = atom.HTML, i.ContentHTML
	case i.ContentText != "":
		e.Content.Type, e.Content.Value = atom.PlainText, i.ContentText
	}
	e.Published, e.PublishedText = p.date("date_published", i.DatePublished)
	e.Updated, e.UpdatedText = p.date("date_modified", i.DateModified)
	e.Authors = p.jsonPeople(i.Authors, i.Author)
	for _, tag := range i.Tags {
		category(&e.Categories, tag, "", "")
	}
	e.Links = make([]websync.Link, 0, 1+attachments)
	p.link(&e.Links, websync.Link{Href: i.URL})
	p.link(&e.Links, websync.Link{Rel: "related", Href: i.ExternalURL})
	if i.Attachments != nil {
		for _, a := range *i.Attachments {
			p.link(&e.Links, websync.Link{
				Rel: "enclosure", Href: a.URL, Type: a.MimeType, Title: a.Title, Length: max(a.SizeInBytes, 0),
			})
		}
	}
	p.add(e)
	return nil
}

// jsonPeople returns the authors of version 1.1, or else the author of version 1.0.
func (p *parser) jsonPeople(authors []*gofeed.Author, author *gofeed.Author) (people []websync.Person) {
	if len(authors) == 0 {
		authors = []*gofeed.Author{author}
	}
	for _, a := range authors {
		if a != nil {
			person(&people, websync.Person{Name: strings.TrimSpace(a.Name), URI: p.url(a.URL)})
		}
	}
	return people
}
