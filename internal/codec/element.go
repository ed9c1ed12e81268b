package codec

import (
	"strings"

	"github.com/websync-go/websync"
)

// spaces are namespaces that are written as their index, those of the formats that are harvested and of their usual
// extensions. A new one goes to the end, and needs a new layout of the Catalog: fingerprints are made of this form.
var spaces = [...]string{
	"",
	"http://www.sitemaps.org/schemas/sitemap/0.9",
	"http://www.google.com/schemas/sitemap-image/1.1",
	"http://www.google.com/schemas/sitemap-news/0.9",
	"http://www.google.com/schemas/sitemap-video/1.1",
	"http://www.w3.org/1999/xhtml",
	"http://www.openarchives.org/rs/terms/",
	"http://www.w3.org/2005/Atom",
	"http://purl.org/dc/elements/1.1/",
	"http://purl.org/dc/terms/",
	"http://search.yahoo.com/mrss/",
	"http://www.itunes.com/dtds/podcast-1.0.dtd",
	"http://purl.org/rss/1.0/modules/content/",
	"http://purl.org/rss/1.0/modules/slash/",
	"http://purl.org/rss/1.0/modules/syndication/",
	"http://wellformedweb.org/CommentAPI/",
	"http://purl.org/syndication/thread/1.0",
	"http://purl.org/atompub/tombstones/1.0",
	"http://purl.org/atompub/link-extensions/1.0",
	"http://purl.org/syndication/history/1.0",
	"http://www.georss.org/georss",
	"http://www.w3.org/2003/01/geo/wgs84_pos#",
	"https://podcastindex.org/namespace/1.0",
	"http://creativecommons.org/ns#",
	"http://www.w3.org/1999/02/22-rdf-syntax-ns#",
	"http://schema.org/",
	"http://data.europa.eu/eli/ontology#",
	"http://www.w3.org/XML/1998/namespace",
}

// locals are names of elements and attributes that are written as their index. A new one goes to the end, as in spaces.
var locals = [...]string{
	"", "changefreq", "priority", "lastmod", "image", "news", "video", "link", "ln", "md", "category", "rights", "contributor",
	"source", "generator", "icon", "logo", "summary", "content", "title", "author", "creator", "subject", "description",
	"publisher", "date", "type", "format", "identifier", "language", "relation", "coverage", "thumbnail", "group", "credit",
	"keywords", "duration", "explicit", "episode", "season", "encoded", "comments", "commentRss", "in-reply-to", "total", "point",
	"lat", "long", "guid", "pubDate", "license", "issued", "modified", "created", "abstract", "subtitle", "lang", "base",
}

var spacesBySize, localsBySize = bySize(spaces[:]), bySize(locals[:])

// bySize returns the indexes of words but the empty one, by their sizes: few words have the same.
func bySize(words []string) (indexes [64][]byte) {
	for i, word := range words[1:] {
		indexes[len(word)] = append(indexes[len(word)], byte(i+1))
	}
	return indexes
}

// word visits a string that is written as its index in words, or after a 0 as it is.
func (c *Coder) word(v *string, words []string, bySize *[64][]byte) {
	if c.reading {
		switch i := int(c.byte()); {
		case i == 0:
			c.text(0, v)
		case i < len(words):
			*v = words[i]
		default:
			c.fail()
		}
		return
	}
	if len(*v) < len(bySize) {
		for _, i := range bySize[len(*v)] {
			if words[i] == *v {
				c.out = append(c.out, i)
				return
			}
		}
	}
	c.out = append(c.out, 0)
	c.text(0, v)
}

func (c *Coder) space(v *string) { c.word(v, spaces[:], &spacesBySize) }
func (c *Coder) local(v *string) { c.word(v, locals[:], &localsBySize) }

// The parts of an element's text that its names imply, and that are not written.
const (
	hasStart     = 1 << iota // <local xmlns="space" or <prefix:local xmlns:prefix="space"
	hasPrefix                // the latter
	startTagEnds             // > after that
	hasEnd                   // the end tag
)

// element visits an element. Its text is written without what its names imply.
func (c *Coder) element(e *websync.Element) {
	c.space(&e.Space)
	c.local(&e.Local)
	if c.reading {
		c.readXML(e)
		return
	}
	prefix := prefixOf(e)
	xml, parts := e.XML, byte(0)
	if rest, ok := cutStart(xml, prefix, e); ok {
		xml, parts = rest, hasStart
		if prefix != "" {
			parts |= hasPrefix
		}
		if rest, ok = strings.CutPrefix(xml, ">"); ok {
			xml, parts = rest, parts|startTagEnds
		}
		if rest, ok = cutEnd(xml, prefix, e); ok {
			xml, parts = rest, parts|hasEnd
		}
	}
	c.out = append(c.out, parts)
	if parts&hasPrefix != 0 {
		c.text(0, &prefix)
	}
	c.text(0, &xml)
}

// readXML reads the text of an element whose names are known.
func (c *Coder) readXML(e *websync.Element) {
	parts, prefix := c.byte(), ""
	if parts&hasPrefix != 0 {
		c.text(0, &prefix)
	}
	c.text(0, &e.XML)
	if parts == 0 {
		return
	}
	c.tag = appendStart(c.tag[:0], prefix, e)
	if parts&startTagEnds != 0 {
		c.tag = append(c.tag, '>')
	}
	c.tag = append(c.tag, e.XML...)
	if parts&hasEnd != 0 {
		c.tag = appendEnd(c.tag, prefix, e)
	}
	e.XML = string(c.tag)
}

// prefixOf returns the prefix of the name with which the text of an element begins.
func prefixOf(e *websync.Element) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(e.XML, "<"), " ")
	prefix, ok := strings.CutSuffix(name, e.Local)
	if prefix, colon := strings.CutSuffix(prefix, ":"); ok && colon {
		return prefix
	}
	return ""
}

// cutStart returns xml without what appendStart appends.
func cutStart(xml, prefix string, e *websync.Element) (rest string, ok bool) {
	parts := [...]string{"<", prefix, ":", e.Local, " xmlns", ":", prefix, `="`, e.Space, `"`}
	if prefix == "" {
		parts[2], parts[5] = "", ""
	}
	n := len(parts)
	if e.Space == "" {
		n = 4
	}
	for _, part := range parts[:n] {
		if xml, ok = strings.CutPrefix(xml, part); !ok {
			return "", false
		}
	}
	return xml, true
}

// cutEnd returns xml without what appendEnd appends.
func cutEnd(xml, prefix string, e *websync.Element) (rest string, ok bool) {
	parts := [...]string{">", e.Local, ":", prefix, "</"}
	if prefix == "" {
		parts[2] = ""
	}
	for _, part := range parts {
		if xml, ok = strings.CutSuffix(xml, part); !ok {
			return "", false
		}
	}
	return xml, true
}

func appendName(dst []byte, prefix string, e *websync.Element) []byte {
	if prefix != "" {
		dst = append(append(dst, prefix...), ':')
	}
	return append(dst, e.Local...)
}

func appendStart(dst []byte, prefix string, e *websync.Element) []byte {
	dst = appendName(append(dst, '<'), prefix, e)
	if e.Space == "" {
		return dst
	}
	dst = append(dst, " xmlns"...)
	if prefix != "" {
		dst = append(append(dst, ':'), prefix...)
	}
	return append(append(append(dst, `="`...), e.Space...), '"')
}

func appendEnd(dst []byte, prefix string, e *websync.Element) []byte {
	return append(appendName(append(dst, "</"...), prefix, e), '>')
}
