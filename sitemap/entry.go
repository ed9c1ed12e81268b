package sitemap

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/document"
	"github.com/websync-go/websync/internal/syntax"
)

// Namespace is the XML namespace of sitemaps.org's version 0.9.
const Namespace = "http://www.sitemaps.org/schemas/sitemap/0.9"

// A ChangeFreq is how often a page is likely to change; empty if that is not stated.
type ChangeFreq string

// The values of a ChangeFreq.
const (
	Always  ChangeFreq = "always"
	Hourly  ChangeFreq = "hourly"
	Daily   ChangeFreq = "daily"
	Weekly  ChangeFreq = "weekly"
	Monthly ChangeFreq = "monthly"
	Yearly  ChangeFreq = "yearly"
	Never   ChangeFreq = "never"
)

// An Entry is one <url> of a urlset, one <sitemap> of an index, or one line of a text
// sitemap.
type Entry struct {
	// Loc is the URL: trimmed, made absolute with [Reader.Document] if it is relative,
	// otherwise byte for byte.
	Loc string

	LastMod websync.Datetime

	// LastModText is the text of a lastmod that is not a W3C datetime, otherwise empty.
	// LastMod is then its only possible meaning, or zero.
	LastModText string

	ChangeFreq ChangeFreq

	// Priority is from 0 to 1. If it is not stated, it is 0, and readers assume 0.5. If
	// it is stated as 0.0, it is websync.StatedZero.
	Priority float32

	// Elements are the extension elements, in their order: images, videos, news,
	// xhtml:link, rs:md and so on, and elements that the protocol does not define.
	Elements []websync.Element

	// Line and Column are the position of the entry in the decompressed document, from 1.
	// Column counts bytes of UTF-8.
	Line, Column int
}

// A Head holds what a document states besides its entries.
type Head struct {
	Kind     Kind
	Elements []websync.Element // extension elements of the root: rs:md, rs:ln and so on

	// Attrs are attributes of other namespaces of the root, for example dct:relation.
	// Namespaces are the prefixes that the root declares for them; their other namespaces
	// get prefixes like "ns1", which are reserved.
	Attrs      []websync.Attr
	Namespaces map[string]string

	// A Publisher sets these fields before it calls Publisher.Head. URL is that of the
	// document. Index is the URL of the index if the document is a part. At is the time
	// of the last change before the document is written; zero if there is none.
	URL, Index string
	At         websync.Datetime
}

// StatedPriority returns the priority, and whether it is stated.
func (e *Entry) StatedPriority() (float32, bool) { return statedPriority(e.Priority) }

// A View is an [Entry] whose bytes belong to the [Reader]: they are valid until the next
// call of NextView, Next or All. Clone returns a copy without that limit.
type View struct {
	Loc          []byte
	LastMod      websync.Datetime
	LastModText  []byte
	ChangeFreq   ChangeFreq
	Priority     float32
	Line, Column int

	buf    document.Buffer // holds the bytes of the fields above
	loc    span
	at     position // of loc
	modAt  position // of lastmod
	text   span
	pieces []piece
}

// A span is a part of View.buf.
type span = document.Span

type piece struct {
	space, local string
	span
	position
}

// StatedPriority returns the priority, and whether it is stated.
func (v *View) StatedPriority() (float32, bool) { return statedPriority(v.Priority) }

func statedPriority(p float32) (float32, bool) {
	if p == websync.StatedZero {
		return 0, true
	}
	return p, p != 0
}

// Elements returns the extension elements, in memory of their own.
func (v *View) Elements() []websync.Element { return v.Clone().Elements }

// Clone returns the entry in memory of its own: one string for all of its text.
func (v *View) Clone() Entry { return v.clone(0) }

// clone is Clone with room for more Elements.
func (v *View) clone(room int) (e Entry) {
	v.copyTo(&e, string(v.buf.Bytes), room)
	return e
}

// copyTo sets e, which is zero, to the entry, whose text is s.
func (v *View) copyTo(e *Entry, s string, room int) {
	e.Loc = s[v.loc.From:v.loc.To]
	e.LastMod = v.LastMod
	if v.text != (span{}) {
		e.LastModText = s[v.text.From:v.text.To]
	}
	e.ChangeFreq = v.ChangeFreq
	e.Priority = v.Priority
	e.Line, e.Column = v.Line, v.Column
	if n := len(v.pieces) + room; n > 0 {
		e.Elements = make([]websync.Element, 0, n)
	}
	for i := range v.pieces {
		p := &v.pieces[i]
		e.Elements = append(e.Elements, websync.Element{Space: p.space, Local: p.local, XML: s[p.From:p.To]})
	}
}

// Short texts share blocks of such a size.
const (
	maxShared = 128
	blockSize = 1024
)

// texts makes strings of short texts that share memory.
type texts struct{ block strings.Builder }

// copy returns b as a string.
func (t *texts) copy(b []byte) string {
	if len(b) > maxShared {
		return string(b)
	}
	if t.block.Cap()-t.block.Len() < len(b) {
		t.block.Reset()
		t.block.Grow(blockSize)
	}
	from := t.block.Len()
	t.block.Write(b)
	return t.block.String()[from:]
}

func (v *View) reset(line, column int) {
	v.Loc, v.LastMod, v.LastModText, v.ChangeFreq, v.Priority = nil, websync.Datetime{}, nil, "", 0
	v.Line, v.Column = line, column
	v.buf.Bytes, v.pieces, v.loc, v.text = v.buf.Bytes[:0], v.pieces[:0], span{}, span{}
}

// finish sets the views, since the buffer no longer moves.
func (v *View) finish() {
	v.Loc, v.LastModText = v.buf.Of(v.loc), v.buf.Of(v.text)
}

var changeFreqs = []ChangeFreq{Always, Hourly, Daily, Weekly, Monthly, Yearly, Never}

// parseChangeFreq returns "" for a text that is none of the values. exact is false if
// only the case of letters differs.
func parseChangeFreq(text []byte) (_ ChangeFreq, exact bool) {
	for _, f := range changeFreqs {
		if syntax.EqualFold(text, string(f)) {
			return f, string(text) == string(f)
		}
	}
	return "", false
}

// parsePriority reads a decimal from 0 to 1 and returns it as Entry.Priority states it.
func parsePriority(text []byte) (p float32, ok bool) {
	if len(text) == 3 && text[0] == '0' && text[1] == '.' && '1' <= text[2] && text[2] <= '9' {
		return float32(text[2]-'0') / 10, true
	}
	if len(bytes.Trim(text, "0123456789.+-")) > 0 {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(text), 32)
	if err != nil || f < 0 || f > 1 {
		return 0, false
	}
	if f == 0 {
		return websync.StatedZero, true
	}
	return float32(f), true
}
