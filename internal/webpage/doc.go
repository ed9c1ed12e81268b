// Package webpage reads what pages of the web consist of.
//
// [Decode] returns a page in UTF-8, whatever its encoding. A [Tokenizer] reads its
// tokens, with limits. [ReadHead] reads the title and the links in its head (HTML
// §4.2.4). A [LinkReader] reads links in the syntax of the Link header field (RFC 8288
// §3) and of documents of the type application/link-format (RFC 6690), which TimeMaps
// have (RFC 7089 §5).
package webpage
