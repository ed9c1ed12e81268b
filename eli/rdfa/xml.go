package rdfa

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/net/html"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/charset"
	"github.com/websync-go/websync/internal/document"
	"github.com/websync-go/websync/internal/xmlscan"
)

// parseXHTML reads the document as XML, and as HTML if it is not well-formed.
func (d *extraction) parseXHTML(p *processor) error {
	data, err := d.document.All()
	if err != nil {
		return err
	}
	d.document.Reader = bufio.NewReader(bytes.NewReader(data))
	err = d.parseXML(p, xhtml5)
	if err == nil || errors.Is(err, websync.ErrTruncated) || errors.Is(err, websync.ErrLimit) || !isMarkup(data) {
		return err
	}
	parse, _ := errors.AsType[*websync.ParseError](err)
	d.add(ruleXML, parse.Line, parse.Column, parse.Element, "", parse.Err.Error()+": read as HTML")
	if err = d.parsePage(p, data, charset.Of(d.document.ContentType)); err != nil {
		return err
	}
	p.host = xhtml5
	if isXHTML1(data[:min(len(data), maxProlog)], p.root) {
		p.host = xhtml1
	}
	return nil
}

// parseXML reads the document as XML. The names of its nodes are those of the document,
// with their prefixes, and namespace declarations are attributes. Unless the root element
// is that of XHTML, the host language is other.
func (d *extraction) parseXML(p *processor, other host) error {
	head := bytes.Clone(d.document.Head())
	d.document.Name = "well-formed XML"
	x, err := d.document.XML()
	if err != nil {
		return err
	}
	b := builder{x: x.Reader, extraction: d}
	p.root = b.start()
	switch root := x.Name(); {
	case other == xml && (root.Local != "html" || root.Space != xhtmlSpace):
		p.host = other
	case isXHTML1(head, p.root):
		p.host = xhtml1
	default:
		p.host = xhtml5
	}
	return d.parseElements(x, &b, p.root)
}

// parseElements adds what is in the root element to it.
func (d *extraction) parseElements(x *document.XML, b *builder, at *html.Node) error {
	for {
		k, err := x.Next()
		switch {
		case err == io.EOF && x.Losses().Cut > 0:
			return d.document.Fail(0, 0, "", fmt.Errorf("elements deeper than %d, or too many attributes: %w", maxDepth,
				websync.ErrLimit))
		case err == io.EOF:
			return nil
		case err != nil:
			return x.Fail(err)
		}
		if d.maxNodes > 0 && b.size > d.maxNodes {
			line, column := x.Position()
			return d.document.Fail(line, column, "", errTree)
		}
		switch k {
		case xmlscan.Start:
			n := b.start()
			at.AppendChild(n)
			at = n
		case xmlscan.Text:
			n := b.node()
			n.Type, n.Data = html.TextNode, string(x.Text())
			b.size += len(n.Data) / textPerNode
			at.AppendChild(n)
		case xmlscan.End:
			if at.Parent != nil {
				at = at.Parent
			}
		}
	}
}

// maxProlog is how many bytes of a document are searched for its DOCTYPE.
const maxProlog = 4 << 10

// isXHTML1 reports whether a document in XHTML has the rules of XHTML+RDFa: its DOCTYPE
// is one of XHTML+RDFa, or @version of the root element names it (HTML+RDFa §3.1). Other
// DOCTYPEs, those of XHTML 1.0 among them, are of XHTML5.
func isXHTML1(head []byte, root *html.Node) bool {
	if _, after, ok := bytes.Cut(head, []byte("<!DOCTYPE")); ok {
		doctype, _, _ := bytes.Cut(after, []byte(">"))
		if bytes.Contains(doctype, []byte("//DTD XHTML+RDFa 1.")) {
			return true
		}
	}
	return strings.HasPrefix(trim(attr(root, "version")), "XHTML+RDFa 1.")
}

// A builder makes nodes of the tokens of an XML document.
type builder struct {
	x *xmlscan.Reader
	*extraction
	size  int // of the tree, as a treeSize counts
	free  []html.Node
	attrs []html.Attribute
}

func (b *builder) node() *html.Node {
	if len(b.free) == 0 {
		b.free = make([]html.Node, 64)
	}
	n := &b.free[0]
	b.free = b.free[1:]
	b.size++
	return n
}

// start returns the node of the current start tag.
func (b *builder) start() *html.Node {
	n := b.node()
	n.Type, n.Data, n.Namespace = html.ElementNode, b.x.RawName(), b.x.Name().Space
	if cap(b.attrs)-len(b.attrs) < maxAttrs {
		b.attrs = make([]html.Attribute, 0, 2*maxAttrs)
	}
	from := len(b.attrs)
	for i, a := range b.x.Attrs() {
		name := b.x.RawAttrName(i)
		b.attrs = append(b.attrs, html.Attribute{Key: name, Val: string(a.Value)})
		b.locate(b.attrs[len(b.attrs)-1].Val)
	}
	for prefix, space := range b.x.Declarations() {
		name := "xmlns"
		if prefix != "" {
			name += ":" + prefix
		}
		b.attrs = append(b.attrs, html.Attribute{Key: name, Val: space})
	}
	n.Attr = b.attrs[from:len(b.attrs):len(b.attrs)]
	b.size += (len(n.Attr) + 1) / 2
	for i := range n.Attr {
		b.size += len(n.Attr[i].Val) / textPerNode
	}
	return n
}

// locate notes where the value of an attribute, and each value in it, first occur.
func (b *builder) locate(value string) {
	if b.to == nil || len(b.lines) >= 1<<16 {
		return
	}
	if b.lines == nil {
		b.lines = make(map[string]int)
	}
	line, _ := b.x.Position()
	note := func(v string) {
		if b.lines[v] == 0 {
			b.lines[v] = line
		}
	}
	note(trim(value))
	for v, rest := cutValue(value); v != ""; v, rest = cutValue(rest) {
		note(v)
	}
}
