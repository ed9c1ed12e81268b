package resourcesync

import (
	"fmt"
	"strings"

	"github.com/websync-go/websync/internal/syntax"
)

// link checks a link by itself.
func (c *checker) link(at subject, l *Link) {
	c.bytes(at, l.Digests, l.Length, l.Type, l.Encoding, l.Path)
	if l.Rel != "" {
		if fault := relationFault(l.Rel); fault != "" {
			c.report(ruleRelation, at, l.Rel, "rel: "+fault)
		}
	}
	if l.Href != "" && !c.stated(l.Faulty, "href") {
		if fault := syntax.IRIFault(l.Href); fault != "" {
			c.report(ruleHref, at, l.Href, "href: "+fault)
		}
	}
	if !c.writing {
		c.timeForm(at, "modified", l.Modified)
		return
	}
	if l.Rel == "" {
		c.report(ruleRelationMissing, at, "", "a link must have a rel")
	}
	if l.Href == "" {
		c.report(ruleHrefMissing, at, "", "a link must have an href")
	}
	if l.Priority < 0 || l.Priority > lowestPriority {
		c.report(rulePriority, at, fmt.Sprint(l.Priority), "pri: not an integer from 1 to 999,999")
	}
}

func relationFault(rel string) string {
	switch rel {
	case "up", "index", "describedby", "contents", "duplicate", "alternate", "canonical", "describes",
		"memento", "timegate", "timemap", "collection", "via":
		return ""
	}
	if syntax.Scheme(rel) > 0 {
		return syntax.IRIFault(rel)
	}
	if !syntax.IsRelation(rel) {
		return "neither a registered relation nor a URI"
	}
	return ""
}

// links checks the links of an entry.
func (c *checker) links(e *Entry) {
	var seen seenLinks
	for i := range e.Links {
		at, l := subject(i), &e.Links[i]
		c.link(at, l)
		if !c.form.manifest && c.form != &anyForm && (l.Path != "" || c.stated(l.Faulty, "path")) {
			c.report(rulePathPlace, at, l.Path, "a link of an entry of "+c.form.name+" has no path")
		}
		c.relation(at, l, &e.Metadata, &seen)
	}
	if seen.versions && e.LastMod.IsZero() && e.LastModText == "" {
		c.report(ruleMementoLastMod, onEntry, "", "an entry with versions must have a lastmod")
	}
	if c.form.capability == Description && !c.form.index && !seen.describedBy {
		c.report(ruleDescribedBy, onEntry, "", "an entry of a Source Description should have a link describedby")
	}
}

// A seenLinks is what is known of the links of an entry.
type seenLinks struct {
	mementos, vias        int
	versions, describedBy bool // there is a link to other versions, or to a description
}

// relation checks what is demanded of the relation of a link of an entry.
func (c *checker) relation(at subject, l *Link, m *Metadata, seen *seenLinks) {
	switch l.Rel {
	case "describedby":
		seen.describedBy = true
	case "contents":
		if !c.form.packages && c.form != &anyForm {
			c.report(ruleContentsPlace, at, l.Href, "a link contents is of a package")
		}
	case "duplicate":
		c.sameBytes(at, l, m)
		if describes(l.Digests, l.Length, l.Type, l.Encoding) {
			c.report(ruleMirror, at, "",
				"a mirror has the hash, length, type and encoding of the resource: they should be left out")
		}
	case "alternate":
		if l.Type == "" {
			c.report(ruleAlternateType, at, l.Href, "a link alternate should have a type")
		}
	case RelationPatch:
		c.patch(at, l, m.Change)
	case "memento", "timegate", "timemap":
		seen.versions = true
		c.version(at, l, m, seen)
	case "via":
		if seen.vias++; seen.vias == 2 {
			c.report(ruleVia, at, l.Href, "an entry should have the link via of its first source only")
		}
	}
}

// version checks a link to other versions (Z39.99 §14.5).
func (c *checker) version(at subject, l *Link, m *Metadata, seen *seenLinks) {
	switch l.Rel {
	case "memento":
		c.sameBytes(at, l, m)
		if seen.mementos++; seen.mementos == 2 {
			c.report(ruleMemento, at, l.Href, "an entry has one link memento: that of its own version")
		}
	case "timegate":
		if !l.Modified.IsZero() || l.Path != "" || describes(l.Digests, l.Length, l.Type, l.Encoding) {
			c.report(ruleTimegate, at, "", "a link timegate should have rel and href only")
		}
	}
}

// patch checks a link to a patch (Z39.99 §14.4).
func (c *checker) patch(at subject, l *Link, change Change) {
	if !c.form.changes && c.form != &anyForm {
		c.report(rulePatchPlace, at, l.Href, "a patch is for a change")
	}
	if change == Created || change == Deleted {
		c.report(rulePatchChange, at, l.Href, "a patch is for a resource that was updated: this one was "+string(change))
	}
	if l.Type == "" {
		c.report(rulePatchType, at, l.Href, "a patch must have a type")
	}
	if c.form.capability == ChangeDumpManifest && l.Path == "" && !c.stated(l.Faulty, "path") {
		c.report(rulePatchPath, at, l.Href, "a patch must have a path in a package")
	}
}

// sameBytes checks that a link to the same bytes as those of an entry does not state
// others: a mirror has the resource, and a memento its present version.
func (c *checker) sameBytes(at subject, l *Link, m *Metadata) {
	if l.Type != "" && m.Type != "" && !strings.EqualFold(syntax.Essence(l.Type), syntax.Essence(m.Type)) {
		c.report(ruleSameBytes, at, l.Type, "type: that of the resource is "+m.Type)
	}
	if !strings.EqualFold(l.Encoding, m.Encoding) {
		return // length and hash are of encoded bytes
	}
	if l.Length != 0 && m.Length != 0 && l.Length != m.Length {
		here, _ := l.StatedLength()
		c.report(ruleSameBytes, at, fmt.Sprint(here), "length: not that of the resource")
	}
	for _, d := range l.Digests {
		if other, ok := m.Digests.Get(d.Algorithm); ok && other != d {
			c.report(ruleSameBytes, at, d.String(), "hash: that of the resource is "+other.String())
		}
	}
}
