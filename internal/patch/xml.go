package patch

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/beevik/etree"
)

// XMLMediaType is what ResourceSync calls XML patches (Z39.99 §14.4).
const XMLMediaType = "application/patch-ops-error+xml"

// ApplyXML reads a document and an XML patch (RFC 5261), and writes the patched document
// to dst. The root element of the patch may have any name; its children are <add>,
// <replace> and <remove>, which are carried out in their order. Both documents are held
// in memory.
//
// If the patch does not fit the document, nothing is written.
func ApplyXML(dst io.Writer, document, patch io.Reader) error {
	doc, err := read("document", document)
	if err != nil {
		return err
	}
	diff, err := read("patch", patch)
	if err != nil {
		return err
	}
	for op := range diff.Root().ChildElementsSeq() {
		if err := apply(doc, op); err != nil {
			return fmt.Errorf("xmlpatch: <%s sel=%.200q>: %w", op.Tag, op.SelectAttrValue("sel", ""), err)
		}
	}
	if n := len(doc.ChildElements()); n != 1 {
		return fmt.Errorf("xmlpatch: the patched document has %d root elements; it must have one", n)
	}
	doc.WriteSettings = etree.WriteSettings{CanonicalText: true, CanonicalAttrVal: true}
	_, err = doc.WriteTo(dst)
	return err
}

func read(what string, src io.Reader) (*etree.Document, error) {
	doc := etree.NewDocument()
	doc.ReadSettings = etree.ReadSettings{PreserveCData: true, PreserveDuplicateAttrs: true}
	if _, err := doc.ReadFrom(src); err != nil {
		return nil, fmt.Errorf("xmlpatch: %s: %w", what, err)
	}
	if n := len(doc.ChildElements()); n != 1 {
		return nil, fmt.Errorf("xmlpatch: %s: %d root elements; it must have one", what, n)
	}
	return doc, nil
}

func apply(doc *etree.Document, op *etree.Element) error {
	sel := op.SelectAttr("sel")
	if sel == nil {
		return errors.New("the attribute is missing")
	}
	at, err := locate(doc, op, sel.Value)
	if err != nil {
		return err
	}
	pos := op.SelectAttrValue("pos", "")
	if at.isDocument() && (op.Tag != "add" || pos == "before" || pos == "after" || op.SelectAttr("type") != nil) {
		return errors.New("the document can only be added to, with nodes")
	}
	switch op.Tag {
	case "add":
		return add(op, at)
	case "replace":
		return replace(op, at)
	case "remove":
		return remove(op, at)
	}
	return errors.New("an operation must be add, replace or remove")
}

// add carries out an <add> (§4.3).
func add(op *etree.Element, at node) error {
	kind, pos := op.SelectAttrValue("type", ""), op.SelectAttrValue("pos", "")
	e := at.element()
	if at.attr != "" || e == nil && pos != "before" && pos != "after" {
		return errors.New("this adds to elements only")
	}
	switch name, isNamespace := strings.CutPrefix(kind, "namespace::"); {
	case kind == "":
	case e == nil:
		return errors.New("attributes are added to elements only")
	case isNamespace:
		return addAttr(e, "xmlns:"+name, op.Text())
	case kind[0] == '@':
		name := kind[1:]
		if prefix, local, ok := strings.Cut(name, ":"); ok { // it has another one here, or none
			name = prefixOf(e, namespace(op, prefix), prefix) + ":" + local
		}
		return addAttr(e, name, op.Text())
	default:
		return fmt.Errorf("type %.100q must be @ and a name, or namespace:: and a prefix", kind)
	}
	switch pos {
	case "":
		insert(e, len(e.Child), op.Child)
	case "prepend":
		insert(e, 0, op.Child)
	case "before":
		insert(at.parent, at.first(), op.Child)
	case "after":
		insert(at.parent, at.last()+1, op.Child)
	default:
		return fmt.Errorf("pos %.100q must be prepend, before or after", pos)
	}
	return nil
}

func addAttr(e *etree.Element, name, value string) error {
	if len(attributes(e, func(a etree.Attr) bool { return a.FullKey() == name })) > 0 {
		return fmt.Errorf("the element has the attribute %.100q already", name)
	}
	e.CreateAttr(name, value)
	return nil
}

// replace carries out a <replace> (§4.4).
func replace(op *etree.Element, at node) error {
	if at.attr != "" {
		at.parent.CreateAttr(at.attr, op.Text())
		return nil
	}
	by := op.Child
	if !at.isText() { // the white space around what replaces another node is no part of it
		by = slices.DeleteFunc(slices.Clone(by), func(t etree.Token) bool { return isSpace(t) })
		if len(by) != 1 || kindOf(by[0]) != kindOf(at.tokens[0]) {
			return errors.New("a node must be replaced by one of its kind")
		}
	} else if len(op.ChildElements()) > 0 {
		return errors.New("a text must be replaced by text")
	}
	index := at.first()
	at.remove()
	insert(at.parent, index, by)
	return nil
}

// remove carries out a <remove> (§4.5).
func remove(op *etree.Element, at node) error {
	ws := op.SelectAttrValue("ws", "")
	before, after := ws == "before" || ws == "both", ws == "after" || ws == "both"
	switch {
	case ws != "" && !before && !after:
		return fmt.Errorf("ws %.100q must be before, after or both", ws)
	case ws != "" && (at.attr != "" || at.isText()):
		return errors.New("ws is for elements, comments and instructions")
	case at.attr != "":
		at.parent.RemoveAttr(at.attr)
		return nil
	case before && !childIsSpace(at.parent, at.first()-1), after && !childIsSpace(at.parent, at.last()+1):
		return fmt.Errorf("ws is %s, but there is no such white space", ws)
	}
	first := at.first()
	at.remove()
	if after {
		at.parent.RemoveChildAt(first)
	}
	if before {
		at.parent.RemoveChildAt(first - 1)
	}
	return nil
}

// childIsSpace reports whether a child of e is white space.
func childIsSpace(e *etree.Element, index int) bool {
	return index >= 0 && index < len(e.Child) && isSpace(e.Child[index])
}

func isSpace(t etree.Token) bool {
	text, ok := t.(*etree.CharData)
	return ok && strings.Trim(text.Data, " \t\r\n") == ""
}

// insert inserts copies of tokens of the patch before the child of e at index.
func insert(e *etree.Element, index int, tokens []etree.Token) {
	for i, t := range tokens {
		switch t := t.(type) {
		case *etree.Element:
			added := t.Copy()
			e.InsertChildAt(index+i, added)
			rename(added, t)
		case *etree.CharData:
			text := etree.NewText(t.Data)
			if t.IsCData() {
				text = etree.NewCData(t.Data)
			}
			e.InsertChildAt(index+i, text)
		case *etree.Comment:
			e.InsertChildAt(index+i, etree.NewComment(t.Data))
		case *etree.ProcInst:
			e.InsertChildAt(index+i, etree.NewProcInst(t.Target, t.Inst))
		}
	}
}
