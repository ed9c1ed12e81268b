package anyfeed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	gofeed "github.com/mmcdole/gofeed/json"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
)

// json reads a JSON Feed. It decodes the items one by one, so that one that can't be read
// does not affect the others.
func (p *parser) json(data []byte) error {
	if err := p.countJSON(data); err != nil {
		return err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return p.badJSON(data, err)
	}
	version, _ := member[string](members, "version")
	_, number, known := strings.Cut(version, "//jsonfeed.org/version/")
	items, listed := member[[]json.RawMessage](members, "items")
	switch {
	case !known:
		return p.doc.Fail(1, 1, "", p.doc.Not("JSON that is no JSON Feed"))
	case !listed:
		return p.doc.Fail(1, 1, "", p.doc.Not("a JSON Feed without items"))
	case len(items) > MaxEntries:
		return p.doc.Fail(0, 0, "", fmt.Errorf("more than %d entries: %w", MaxEntries, websync.ErrLimit))
	}
	p.begin("a JSON Feed "+number, notes{base: p.doc.URL})
	delete(members, "items")
	if err := p.jsonFeed(members); err != nil {
		return p.doc.Fail(0, 0, "", err)
	}
	for i, raw := range items {
		var item gofeed.Item
		if err := guard(func() error { return json.Unmarshal(raw, &item) }); err != nil {
			p.skipped++
			p.find(ruleLeftOut, "items", string(raw), fmt.Sprintf("item %d is left out: %v", i+1, err))
			continue
		}
		p.jsonItem(&item)
	}
	return nil
}

// countJSON checks the limits before anything is built.
func (p *parser) countJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	for nodes, depth := 0, 0; ; nodes++ {
		token, err := dec.Token()
		if err != nil {
			return p.badJSON(data, err)
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		switch {
		case depth == 0:
			return nil
		case depth > maxDepth, nodes > maxNodes:
			return p.doc.Fail(0, 0, "", fmt.Errorf("more than %d values, or more than %d deep: %w", maxNodes, maxDepth, websync.ErrLimit))
		}
	}
}

// badJSON returns an error of the decoder with its position.
func (p *parser) badJSON(data []byte, err error) error {
	var syntax *json.SyntaxError
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return p.doc.Fail(0, 0, "", websync.ErrTruncated)
	}
	if !errors.As(err, &syntax) {
		return p.doc.Fail(0, 0, "", err)
	}
	before := data[:max(0, min(int(syntax.Offset)-1, len(data)))]
	return p.doc.Fail(1+bytes.Count(before, []byte("\n")), 0, "", err)
}

// member decodes a member of an object. ok is false if there is none, or one of another
// type.
func member[T any](members map[string]json.RawMessage, name string) (value T, ok bool) {
	raw, ok := members[name]
	return value, ok && string(raw) != "null" && json.Unmarshal(raw, &value) == nil
}

func (p *parser) jsonFeed(members map[string]json.RawMessage) error {
	data, err := json.Marshal(members)
	if err != nil {
		return err
	}
	var f gofeed.Feed
	if err := guard(func() error { return json.Unmarshal(data, &f) }); err != nil {
		p.find(ruleLeftOut, "", "", err.Error()) // the other members were read
	}
	p.feed.ID = first(f.FeedURL)
	p.feed.Lang = first(f.Language)
	p.feed.Title, p.feed.Subtitle = text(atom.PlainText, f.Title), text(atom.PlainText, f.Description)
	p.feed.Icon, p.feed.Logo = p.url(f.Favicon), p.url(f.Icon)
	p.feed.Authors = p.jsonPeople(f.Authors, f.Author)
	p.feedLink(websync.Link{Rel: "self", Href: f.FeedURL})
	p.feedLink(websync.Link{Href: f.HomePageURL})
	hubs, _ := member[[]struct{ Type, URL string }](members, "hubs")
	for _, hub := range hubs {
		if strings.EqualFold(hub.Type, "WebSub") {
			p.feedLink(websync.Link{Rel: "hub", Href: hub.URL})
		}
	}
	return nil
}

func (p *parser) jsonItem(i *gofeed.Item) {
	e := p.entry(notes{base: p.doc.URL, lang: first(i.Language)})
	e.ID = first(i.ID, p.url(i.URL))
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
	p.link(&e.Links, websync.Link{Href: i.URL})
	p.link(&e.Links, websync.Link{Rel: "related", Href: i.ExternalURL})
	if i.Attachments != nil {
		for _, a := range *i.Attachments {
			p.link(&e.Links, websync.Link{Rel: "enclosure", Href: a.URL, Type: a.MimeType, Title: a.Title, Length: max(a.SizeInBytes, 0)})
		}
	}
	p.add(e)
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
