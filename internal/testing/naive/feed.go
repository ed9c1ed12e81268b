// Package naive is what tests compare the packages of the Atom profiles with: a server
// whose documents a test changes at will, and a reader of feeds that was written from RFC
// 4287, RFC 5005 and RFC 6721 alone. It stands on encoding/xml, holds everything in
// memory, and shares nothing with package atom. Only tests import it.
package naive

import (
	"encoding/xml"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// A Feed is one document of a feed.
type Feed struct {
	XMLName  xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	URL      string      `xml:"-"`
	ID       string      `xml:"http://www.w3.org/2005/Atom id"`
	Title    *string     `xml:"http://www.w3.org/2005/Atom title"`
	Updated  string      `xml:"http://www.w3.org/2005/Atom updated"`
	Authors  []Person    `xml:"http://www.w3.org/2005/Atom author"`
	Links    []Link      `xml:"http://www.w3.org/2005/Atom link"`
	Complete *struct{}   `xml:"http://purl.org/syndication/history/1.0 complete"`
	Archive  *struct{}   `xml:"http://purl.org/syndication/history/1.0 archive"`
	Deleted  []Tombstone `xml:"http://purl.org/atompub/tombstones/1.0 deleted-entry"`
	Entries  []Entry     `xml:"http://www.w3.org/2005/Atom entry"`
}

// A Person is an author.
type Person struct {
	Name  string `xml:"http://www.w3.org/2005/Atom name"`
	Email string `xml:"http://www.w3.org/2005/Atom email"`
	URI   string `xml:"http://www.w3.org/2005/Atom uri"`
}

// A Link is a link or a content.
type Link struct {
	Rel    string `xml:"rel,attr"`
	Href   string `xml:"href,attr"`
	Src    string `xml:"src,attr"`
	Type   string `xml:"type,attr"`
	Lang   string `xml:"hreflang,attr"`
	Length string `xml:"length,attr"`
	Hash   string `xml:"hash,attr"`
	Inner  string `xml:",innerxml"`
}

// An Entry is one entry.
type Entry struct {
	ID        []string `xml:"http://www.w3.org/2005/Atom id"`
	Title     []string `xml:"http://www.w3.org/2005/Atom title"`
	Updated   []string `xml:"http://www.w3.org/2005/Atom updated"`
	Published []string `xml:"http://www.w3.org/2005/Atom published"`
	Summary   []string `xml:"http://www.w3.org/2005/Atom summary"`
	Authors   []Person `xml:"http://www.w3.org/2005/Atom author"`
	Content   []Link   `xml:"http://www.w3.org/2005/Atom content"`
	Links     []Link   `xml:"http://www.w3.org/2005/Atom link"`
}

// A Tombstone is a deletion.
type Tombstone struct {
	Ref  string `xml:"ref,attr"`
	When string `xml:"when,attr"`
}

// Read reads one document and resolves its links.
func Read(at string, data []byte) (*Feed, error) {
	f := &Feed{URL: at}
	if err := xml.Unmarshal(data, f); err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	base, err := url.Parse(at)
	if err != nil {
		return nil, err
	}
	resolve := func(ref *string) {
		if u, e := base.Parse(*ref); e == nil && *ref != "" {
			*ref = u.String()
		}
	}
	for i := range f.Links {
		resolve(&f.Links[i].Href)
	}
	for i := range f.Entries {
		e := &f.Entries[i]
		for j := range e.Links {
			resolve(&e.Links[j].Href)
			if e.Links[j].Rel == "" {
				e.Links[j].Rel = "alternate"
			}
		}
		for j := range e.Content {
			resolve(&e.Content[j].Src)
		}
	}
	return f, nil
}

// Link returns the target of the feed's link with a relation, or nothing.
func (f *Feed) Link(rel string) string {
	i := slices.IndexFunc(f.Links, func(l Link) bool { return l.Rel == rel })
	if i < 0 {
		return ""
	}
	return f.Links[i].Href
}

// Walk reads a feed from its subscription document to the oldest archive document.
func Walk(at string, get func(url string) ([]byte, error)) (feeds []*Feed, err error) {
	seen := map[string]bool{}
	for at != "" {
		if seen[at] {
			return feeds, fmt.Errorf("%s is in the chain twice", at)
		}
		seen[at] = true
		data, err := get(at)
		if err != nil {
			return feeds, err
		}
		f, err := Read(at, data)
		if err != nil {
			return feeds, err
		}
		feeds = append(feeds, f)
		at = f.Link("prev-archive")
	}
	return feeds, nil
}

// A State is the latest state of an id: an entry, or a deletion.
type State struct {
	Time  time.Time
	Entry *Entry
}

// Latest returns the latest state of each id: the one with the latest time; of equal
// times the one in the newer document; and in one document a tombstone, or else the first
// entry. What has no time is left out. feeds are as Walk returns them.
func Latest(feeds []*Feed) map[string]State {
	states := map[string]State{}
	add := func(id, when string, e *Entry) {
		at, err := time.Parse(time.RFC3339Nano, strings.TrimSpace(when))
		if err != nil {
			return
		}
		id = strings.TrimSpace(id)
		if held, ok := states[id]; !ok || at.After(held.Time) {
			states[id] = State{at, e}
		}
	}
	for _, f := range feeds {
		for i := range f.Deleted {
			add(f.Deleted[i].Ref, f.Deleted[i].When, nil)
		}
		for i := range f.Entries {
			e := &f.Entries[i]
			add(e.ID[0], e.Updated[0], e)
		}
	}
	return states
}
