// Package xmlscan reads XML 1.0 (fifth edition) with Namespaces in XML 1.0 (third
// edition) as a stream, checks it in full, and allocates nothing per token. It also
// escapes text for writers of XML.
//
// Reading. A [Reader] returns one token a call, as views into its own buffer that are
// valid until the next call:
//
//	r := xmlscan.NewReader(src)
//	for {
//		kind, err := r.Next()
//		if err == io.EOF {
//			break // the root element is closed and nothing but comments and white space followed
//		}
//		if err != nil {
//			return err
//		}
//		switch kind {
//		case xmlscan.Start: // r.Name, r.Attrs, r.Attr
//		case xmlscan.Text:  // r.Text: adjacent text, CDATA and references in one piece
//		case xmlscan.End:   // r.Name; also follows the Start of an empty element
//		}
//	}
//
// Readers of protocols walk by element: [Reader.NextTag] passes over text, and after a
// Start exactly one of [Reader.Skip], [Reader.ElementText] and [Reader.AppendElement]
// takes the whole element, up to and including its End:
//
//	for {
//		kind, err := r.NextTag()
//		if err != nil || kind == xmlscan.End {
//			return err // End: of the element that was open before the loop
//		}
//		switch r.Name() {
//		case xmlscan.Name{Space: ns, Local: "loc"}:
//			text, err := r.ElementText()
//			…
//		default:
//			err = r.Skip()
//		}
//	}
//
// A document that is not well-formed ends reading with a [SyntaxError]. A
// sentinel error in it distinguishes empty input, input that is cut short, input that is
// not XML, and a limit. The Reader refuses entity declarations unless [Reader.Entities] is
// set, and never reads anything else than its document.
//
// If [Reader.Recover] is set, the Reader reports faults in characters and references and
// goes on. It leaves out what passes a limit, and [Reader.Losses] counts what is missing.
// A fault of structure always ends reading. A "--" in a comment is such a fault: the end
// of that comment may be damaged, and what follows would be hidden up to the end of
// another comment.
//
// Writing. [AppendText] and [AppendAttr] escape values and refuse characters that XML
// can't carry. [Reader.AppendElement] copies an element of a document so that it can
// stand in any other.
//
// The Reader does not check the declarations inside a DOCTYPE. It searches them only for
// entity declarations and for the end of the DOCTYPE.
//
// Encodings. Package internal/charset decodes those of the web. [Reader.Charset] says how
// a Reader chooses. A byte that the encoding does not have is a fault at its place.
//
// Not supported: validation, external entities, default attribute values and attribute
// types from a DOCTYPE (every attribute is normalised as CDATA), XML 1.1, and UTF-32.
package xmlscan
