package anyfeed

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"

	"github.com/websync-go/websync"
)

// A repairer makes a feed well-formed whose elements are not closed, or closed twice.
type repairer struct {
	*decoder
	to     pages
	open   []tag
	isAtom bool
}

// A tag is an element that is open.
type tag struct {
	name         string // with its prefix
	isText       bool   // it is, or is in, one of texts
	insideOfText bool
}

// rootOf returns the local name of the root element; empty if there is none.
func (p *parser) rootOf(text *pages) string {
	for d := newDecoder(p, text); ; {
		d.begin()
		token, err := d.dec.RawToken()
		if err != nil {
			return ""
		}
		if t, ok := token.(xml.StartElement); ok {
			return t.Name.Local
		}
	}
}

// repair returns a document in which each element is closed: when its end tag comes, or
// that of an element around it. Elements of HTML that have no end tag are closed at once
// in texts, and links and categories of Atom before its next element. Lines stay the
// same. The text is dropped on the way. In Atom, CDATA sections become escaped text,
// because gofeed takes all of an element for escaped once if there is one in it.
func (p *parser) repair(text *pages, isAtom bool) (*pages, error) {
	r := &repairer{decoder: newDecoder(p, text), isAtom: isAtom}
	for {
		from := r.offset()
		r.begin()
		token, err := r.dec.RawToken()
		if err != nil {
			return nil, r.syntax(err)
		}
		if err := r.token(token, span{from, r.offset()}); err != nil {
			return nil, err
		}
		if r.started && len(r.open) == 0 {
			r.copy(span{r.offset(), text.size})
			p.cost = int64(r.to.size)
			return &r.to, p.afford(0)
		}
		text.drop(r.offset())
	}
}

// token copies a token.
func (r *repairer) token(token xml.Token, at span) error {
	switch t := token.(type) {
	case xml.StartElement:
		if len(t.Attr) > maxAttributes {
			return r.p.fail("", fmt.Errorf("more than %d attributes: %w", maxAttributes, websync.ErrLimit))
		}
		r.start(t, at)
	case xml.EndElement:
		r.end(rawName(t.Name), at)
	case xml.Directive:
		if r.started {
			r.p.doubt("", t, "a declaration inside of a feed may hide an entry")
		}
		r.lines(at, r.to.size)
	case xml.CharData:
		r.text(t, at)
	case xml.ProcInst:
		if r.isAtom && bytes.Contains(t.Inst, []byte("<?")) {
			r.p.doubt("", t.Inst, "a processing instruction contains the start of another: its end may be damaged")
		}
		r.copy(at)
	default:
		r.copy(at)
	}
	if len(r.open) > maxDepth {
		return r.p.fail("", fmt.Errorf("elements more than %d deep: %w", maxDepth, websync.ErrLimit))
	}
	r.p.cost = int64(r.to.size)
	return r.p.afford(0)
}

// text copies a text.
func (r *repairer) text(t []byte, at span) {
	if !r.isAtom || r.data.byte(at.from) != '<' {
		r.copy(at)
		return
	}
	last := len(r.open) - 1
	if last >= 0 && bytes.Contains(t, []byte("<![CDATA[")) && bytes.Contains(t, []byte("</"+r.open[last].name)) {
		r.p.doubt(r.open[last].name, nil, "a CDATA section contains the start of another: its end may be damaged")
	}
	r.to.Write(appendEscaped(nil, t, inText))
}

// copy copies a part of the document as it is.
func (r *repairer) copy(s span) {
	for s.from < s.to {
		page := r.data.rest(s.from)
		n, _ := r.to.Write(page[:min(len(page), s.to-s.from)])
		s.from += n
	}
}

func (r *repairer) inText() bool { return len(r.open) > 0 && r.open[len(r.open)-1].isText }

// start copies a start tag without the faults of its attributes. If it is that of an
// empty element, its end follows.
func (r *repairer) start(t xml.StartElement, at span) {
	inText, from := r.inText(), r.to.size
	r.started = true
	name := rawName(t.Name)
	if last := len(r.open) - 1; r.isAtom && last >= 0 && !inText && isEmptyInAtom(r.open[last].name, name) {
		r.close()
	}
	b := append([]byte("<"), name...)
	for i, a := range t.Attr {
		if slices.ContainsFunc(t.Attr[:i], func(before xml.Attr) bool { return before.Name == a.Name }) {
			continue
		}
		b = append(append(append(b, ' '), rawName(a.Name)...), `="`...)
		b = append(appendEscaped(b, []byte(a.Value), inQuotes), '"')
	}
	r.to.Write(b)
	r.lines(at, from)
	if r.data.byte(at.to-len("/>")) == '/' {
		r.to.Write([]byte("/>"))
		return
	}
	r.to.Write([]byte(">"))
	isText := inText || slices.Contains(texts, strings.ToLower(t.Name.Local))
	r.open = append(r.open, tag{name, isText, inText})
	if inText && isVoid(name) {
		r.close()
	}
}

// isEmptyInAtom reports whether an element of Atom can't have a child with the prefix of
// another.
func isEmptyInAtom(name, child string) bool {
	prefix, ok := strings.CutSuffix(name, "link")
	if !ok {
		prefix, ok = strings.CutSuffix(name, "category")
	}
	return ok && strings.HasPrefix(child, prefix) && !strings.Contains(child[len(prefix):], ":")
}

func rawName(n xml.Name) string {
	if n.Space == "" {
		return n.Local
	}
	return n.Space + ":" + n.Local
}

// end closes the innermost element with a name, and those in it. It leaves out an end tag
// without a start tag.
func (r *repairer) end(name string, at span) {
	if at.from == at.to { // of an empty element
		return
	}
	last := len(r.open) - 1
	i := last
	for i >= 0 && !strings.EqualFold(r.open[i].name, name) {
		i--
	}
	switch {
	case i < 0 && !r.inText():
		r.p.doubt(name, nil, "%s ends and has not begun: it may be that of an entry", name)
	case i >= 0:
		for ; last > i; last-- {
			if t := &r.open[last]; !t.insideOfText {
				r.p.doubt(t.name, nil, "%s is not closed: it may contain what is not its own", t.name)
			}
			r.close()
		}
		r.close()
	}
	r.lines(at, r.to.size)
}

// close writes the end tag of the innermost element.
func (r *repairer) close() {
	last := len(r.open) - 1
	fmt.Fprintf(&r.to, "</%s>", r.open[last].name)
	r.open = r.open[:last]
}

// lines writes the line feeds of a part of the document that are not in what was written
// since.
func (r *repairer) lines(at span, since int) {
	n := r.data.count(at, '\n') - r.to.count(span{since, r.to.size}, '\n')
	r.to.Write(bytes.Repeat([]byte("\n"), max(0, n)))
}
