package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/charset"
	"github.com/websync-go/websync/internal/xmlscan"
)

// An XML reads a document as XML. Its positions are those in the document.
type XML struct {
	*xmlscan.Reader
	doc   *Document
	start *prologue
	above int // lines before the XML declaration
}

// XML reads the start of the document, up to the root element, which is then the current
// token. It reports and skips lines before the XML declaration.
func (d *Document) XML() (*XML, error) {
	head := bytes.Clone(d.Head())
	x := &XML{doc: d}
	if !StartsAsXML(head) {
		at := bytes.Index(head, []byte("<?xml "))
		if at < 1 || head[at-1] != '\n' {
			return nil, d.NotThis(head)
		}
		d.Report(Preamble, 1, 1, bytes.TrimSpace(head[:at]), "a line before the XML declaration")
		x.above = bytes.Count(head[:at], []byte("\n"))
		d.Discard(at)
	}
	x.start = &prologue{src: d}
	x.Reader = xmlscan.NewReader(x.start)
	x.Charset, x.MaxDepth, x.RepairTags = charset.Of(d.ContentType), d.MaxDepth, d.RepairTags
	if !d.Strict {
		x.Recover = func(line, column int, message string) {
			d.Report(Fault, line+x.above, column, nil, message)
		}
	}
	_, err := x.NextTag()
	if err == nil {
		return x, nil
	}
	if errors.Is(err, xmlscan.ErrEmpty) || errors.Is(err, xmlscan.ErrNotXML) || looksLike(head) != "" {
		return nil, d.NotThis(head)
	}
	x.CheckPrologue()
	return nil, x.Fail(err)
}

// CheckPrologue reports a DOCTYPE and any encoding but UTF-8: not every reader supports
// them.
func (x *XML) CheckPrologue() {
	p := x.start
	switch label := p.encoding(); {
	case p.wide:
		x.doc.Report(Encoding, 1+x.above, 1, nil, "the document is in UTF-16, not UTF-8")
	case label != "" && !strings.EqualFold(label, "utf-8"):
		x.doc.Report(Encoding, 1+x.above, 1, []byte(label), "the declared encoding is not UTF-8")
	case x.Charset != "" && charset.Lookup(x.Charset) != charset.UTF8:
		x.doc.Report(Encoding, 1+x.above, 1, []byte(x.Charset), "the charset of the Content-Type is not UTF-8")
	}
	if p.doctype.line > 0 {
		x.doc.Report(Doctype, p.doctype.line+x.above, p.doctype.column, nil, "a DOCTYPE")
	}
}

// Position returns the position of the current token.
func (x *XML) Position() (line, column int) {
	line, column = x.Reader.Position()
	return line + x.above, column
}

// NextTagAndText is NextTag, but passes text that is not only white space to found, with
// its position.
func (x *XML) NextTagAndText(found func(line, column int, text []byte)) (xmlscan.Kind, error) {
	for {
		kind, err := x.NextTagOrText()
		if err != nil || kind != xmlscan.Text {
			return kind, err
		}
		text := xmlscan.Trim(x.Text())
		if len(text) == 0 {
			continue
		}
		line, column := x.Position()
		space, _, _ := bytes.Cut(x.Text(), text[:1])
		if n := bytes.Count(space, []byte("\n")); n > 0 {
			line, column = line+n, 0
			space = space[bytes.LastIndexByte(space, '\n'):]
		}
		found(line, column+len(space), text)
	}
}

// End reads what follows the root element. Without an error, the document was well-formed
// to its last byte.
func (x *XML) End() error {
	if _, err := x.Next(); err != io.EOF {
		return x.Fail(err)
	}
	return nil
}

// Fail returns an error of x with its position in the document. A passed limit is
// [websync.ErrLimit].
func (x *XML) Fail(err error) error {
	var syntax *xmlscan.SyntaxError
	if !errors.As(err, &syntax) {
		line, column := x.Position()
		if src := errors.Unwrap(err); src != nil {
			err = src
		}
		return x.doc.Fail(line, column, "", err)
	}
	return x.doc.Fail(syntax.Line+x.above, syntax.Column, "", Cause(syntax))
}

// Cause returns why reading has ended, without the position. A passed limit is
// [websync.ErrLimit].
func Cause(syntax *xmlscan.SyntaxError) error {
	switch {
	case errors.Is(syntax.Err, xmlscan.ErrTruncated):
		return fmt.Errorf("%s: %w", syntax.Msg, websync.ErrTruncated)
	case errors.Is(syntax.Err, xmlscan.ErrLimit):
		return fmt.Errorf("%s: %w", syntax.Msg, websync.ErrLimit)
	}
	return &cause{syntax}
}

// A cause has the message of a SyntaxError, and unwraps to its reason.
type cause struct{ syntax *xmlscan.SyntaxError }

func (c *cause) Error() string { return c.syntax.Msg }
func (c *cause) Unwrap() error { return c.syntax.Err }

const (
	atom   = "http://www.w3.org/2005/Atom"
	atom03 = "http://purl.org/atom/ns#"
)

// WhatRoot returns what a document is, with an article, given its root element.
func WhatRoot(name xmlscan.Name) string {
	switch name.Local {
	case "rss":
		return "an RSS feed"
	case "RDF":
		if name.Space == "http://www.w3.org/1999/02/22-rdf-syntax-ns#" {
			return "an RDF document or RSS 1.0 feed"
		}
	case "feed", "entry":
		switch name.Space {
		case atom03:
			return "an Atom 0.3 " + name.Local
		case atom, "":
			return "an Atom " + name.Local
		}
	case "urlset":
		return "a sitemap"
	case "sitemapindex":
		return "a sitemap index"
	}
	if strings.EqualFold(name.Local, "html") {
		return HTMLPage
	}
	return fmt.Sprintf("an XML document with the root element %.100q", name.Local)
}
