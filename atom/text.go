package atom

import (
	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
)

// The types of a [Text], and of a [Content] beside media types.
const (
	PlainText = "text"
	HTML      = "html"
	XHTML     = "xhtml"
)

// A Text is a text construct (RFC 4287 §3.1). The zero Text is "not stated".
type Text struct {
	// Type is PlainText, HTML or XHTML. Writers take an empty one of a Text with a Value
	// for PlainText.
	Type string

	// Value is the text: plain, HTML as it is after XML's escapes are undone, or, of
	// XHTML, the div element as XML that declares every prefix it uses. Readers leave out
	// the white space around it.
	Value string

	Lang string // BCP 47, where the element itself states it; "und" where it takes back the one around it
	Base string // where the element itself states xml:base, resolved
}

// IsZero reports whether the text is not stated. An empty text that is stated has a Type.
func (t Text) IsZero() bool { return t.Type == "" && t.Value == "" }

// A Content is atom:content (RFC 4287 §4.1.3), in one of five forms:
//
//	Type PlainText, HTML, XHTML    Value is as in a Text
//	Type is an XML media type      Value is one element as XML that declares every prefix it uses
//	Type is text/…                 Value is the text
//	Type is another media type     Value is base64, of which Readers leave out the white space
//	Href is not empty (src)        the content is there; Type is a media type or not stated
//
// Of the Link, Href, Type, Lang, Digests, Modified and Attrs are used; Length is read,
// but not written, for only links have one. The zero Content is "not stated".
type Content struct {
	websync.Link

	// Value is the content if it is inline.
	Value string

	// Base is xml:base where the element itself states it, resolved.
	Base string
}

// IsZero reports whether there is no content. Empty content that is stated has a Type.
func (c *Content) IsZero() bool { return c.Type == "" && c.Href == "" && c.Value == "" }

// date3339 reads a date as Atom has it: RFC 3339, with a time, seconds, a zone, and the
// letters T and Z as capitals (RFC 4287 §3.3). What is only a departure from that, and
// has a time all the same, is returned with its fault.
func date3339[T syntax.Text](s T) (d websync.Datetime, fault string) {
	d, err := websync.ParseDatetime(string(s))
	switch {
	case err != nil:
		d, fault, err = websync.ParseDatetimeLenient(string(s))
		if err != nil {
			return websync.Datetime{}, "not an RFC 3339 date: " + err.Error()
		}
		return d, "not an RFC 3339 date: " + fault
	case d.Precision() <= websync.PrecisionDay:
		return d, "a date without a time"
	case d.Precision() < websync.PrecisionSecond:
		return d, "a time without seconds"
	case syntax.IndexAny(s, "tz") < len(s):
		return d, "a small t or z"
	}
	return d, ""
}
