package anyfeed

import (
	"crypto/sha256"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
)

// identify makes an ID for each entry whose link is not its own, and leaves out entries
// with the ID of another one.
func (p *parser) identify() {
	p.checkLinked()
	shared := p.sharedLinks()
	for _, i := range p.linked {
		if e := p.items[i].Entry; shared[e.ID] {
			e.ID = linkID(e)
		}
	}
	p.dropTwins()
}

// checkLinked reports entries without the ID that their format demands. If others have
// one, it may be lost, and with it the entry that it names.
func (p *parser) checkLinked() {
	if !p.mustID {
		return
	}
	outcome := ""
	if len(p.linked) < len(p.items) {
		outcome = ", and the entry counts as skipped because others have one"
		p.skipped += len(p.linked)
	}
	for _, i := range p.linked {
		e := p.items[i].Entry
		p.at.line, p.at.column = e.Line, e.Column
		p.find(ruleLinkID, "id", e.ID, "an entry without an id: its link stands for it"+outcome)
	}
}

// sharedLinks returns the links that are those of no single entry: those of the feed,
// which lead to all of it, and those that are the IDs of several entries that differ.
func (p *parser) sharedLinks() map[string]bool {
	shared := map[string]bool{p.doc.URL: true}
	for _, l := range p.feed.Links {
		shared[l.Href] = true
	}
	if len(p.linked) == 0 {
		return shared
	}
	first := make(map[string]int, len(p.items))
	for i, item := range p.items {
		if j, ok := first[item.Entry.ID]; !ok {
			first[item.Entry.ID] = i
		} else if !equal(item.Entry, p.items[j].Entry) {
			shared[item.Entry.ID] = true
		}
	}
	for _, i := range p.linked {
		if id := p.items[i].Entry.ID; shared[id] && first[id] != i {
			p.compare(ruleLinkID, i, first[id], "shares its link with",
				"the id is made of the link, the title, the date and the enclosures")
		}
	}
	return shared
}

// linkID returns the ID of an entry whose link is not its own. It is made of nothing but
// the entry, so that it does not depend on the entries beside it, and of what editors
// seldom change.
func linkID(e *atom.Entry) string {
	published := e.PublishedText
	if !e.Published.IsZero() {
		published = e.Published.Time().UTC().Format(time.RFC3339Nano)
	}
	parts := []string{e.Title.Value, published}
	for _, l := range e.Links {
		if l.Rel == "enclosure" {
			parts = append(parts, l.Href)
		}
	}
	if strings.Join(parts, "") == "" {
		parts = append(parts, e.Summary.Value, e.Content.Value)
	}
	separator := "#"
	if strings.Contains(e.ID, separator) {
		separator = "-"
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", parts))
	return fmt.Sprintf("%s%s%x", e.ID, separator, sum[:8])
}

// dropTwins leaves out each entry that has the ID of an earlier one and differs from it,
// unless both state when they were updated, and the times differ: then they are versions
// of one entry. What is there twice stays.
func (p *parser) dropTwins() {
	type version struct {
		id string
		at time.Time
	}
	first, versions := make(map[string]int, len(p.items)), make(map[version]int)
	kept := make([]atom.Item, 0, len(p.items))
	for i, item := range p.items {
		e := item.Entry
		j, ok := first[e.ID]
		if !ok {
			first[e.ID] = i
		}
		if !e.Updated.IsZero() {
			v := version{e.ID, e.Updated.Time().UTC()}
			if ok && !p.items[j].Entry.Updated.IsZero() {
				j, ok = versions[v]
			}
			if !ok {
				versions[v] = i
			}
		}
		if ok && !equal(e, p.items[j].Entry) {
			p.skipped++
			p.compare(ruleSameID, i, j, "has the id of", "it is left out")
			continue
		}
		kept = append(kept, item)
	}
	p.items = kept
}

// compare reports what entry i has in common with an earlier one.
func (p *parser) compare(rule websync.Rule, i, earlier int, relation, outcome string) {
	e := p.items[i].Entry
	p.at.line, p.at.column = e.Line, e.Column
	p.find(rule, "id", e.ID, fmt.Sprintf("%s %s %s: %s", p.describe(i), relation, p.describe(earlier), outcome))
}

// describe returns the words for entry i.
func (p *parser) describe(i int) string {
	e := p.items[i].Entry
	page, _ := e.Link("alternate")
	text := fmt.Sprintf("entry %d, %.100q", i+1, e.Title.Value)
	if e.Line > 0 {
		text += fmt.Sprintf(" in line %d", e.Line)
	}
	return fmt.Sprintf("%s with the link %.200q", text, websync.RedactURL(page.Href))
}

// equal reports whether two entries differ in their positions only.
func equal(a, b *atom.Entry) bool {
	x, y := *a, *b
	x.Line, x.Column, y.Line, y.Column = 0, 0, 0, 0
	return reflect.DeepEqual(x, y)
}
