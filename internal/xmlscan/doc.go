// Package xmlscan reads XML 1.0 (fifth edition) with Namespaces in XML 1.0 (third
// edition) as a stream, checks it in full, and allocates nothing per token. It escapes
// text for those who write XML.
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
// What is not well-formed ends reading with a [SyntaxError]; input that is empty, cut
// short, not XML at all or over a limit is distinguished by the sentinel errors. Entity
// declarations are refused, never expanded. With [Reader.Recover] set, faults in
// characters and references are reported and read over, and what passes a limit is left
// out; [Reader.Losses] counts what that costs. Faults of structure are never read over,
// and a "--" inside of a comment is one: where the end of a comment is damaged, it runs
// on to the end of another.
//
// Writing. [AppendText] and [AppendAttr] escape values and refuse characters that XML
// can't carry. [Reader.AppendElement] copies an element of a document so that it can
// stand in any other.
//
// The inside of a DOCTYPE is passed over, not checked: that its declarations are
// well-formed is not known. The Reader only searches it for entity declarations and for
// its end.
//
// Not supported: validation, external entities, default attribute values and attribute
// types from a DOCTYPE (every attribute is normalised as CDATA), XML 1.1, and encodings
// of more than one byte a character other than UTF-8 and UTF-16.
package xmlscan
