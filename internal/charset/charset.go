// Package charset decodes documents of every character encoding that the web has
// (Encoding Standard §4.2), and decides which one an XML document is in.
//
// What can't be decoded becomes the byte [Invalid], in its place, so that the reader of
// the UTF-8 finds and reports it.
package charset

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"sync"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"

	"github.com/websync-go/websync/internal/syntax"
)

// An Encoding is a character encoding. The zero Encoding is none; Encodings are
// comparable.
type Encoding struct {
	name string
	text encoding.Encoding // nil if the bytes are left as they are
}

// The encodings that the bytes of a document show. UTF32 can't be decoded.
var (
	UTF8    = Encoding{name: "UTF-8"}
	UTF16LE = Encoding{"UTF-16", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)}
	UTF16BE = Encoding{"UTF-16", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)}
	UTF32   = Encoding{name: "UTF-32"}
)

// none is the Encoding that is not known.
var none Encoding

// ascii is US-ASCII. Bytes that it does not have are those of Windows-1252, as on the
// web.
var ascii = Encoding{"US-ASCII", charmap.Windows1252}

// String returns the name.
func (e Encoding) String() string { return e.name }

// IsWide reports whether e has two or four bytes for each character of ASCII.
func (e Encoding) IsWide() bool { return strings.HasPrefix(e.name, "UTF-16") || e == UTF32 }

// isPlain reports whether e has no bytes beyond ASCII, or only those of UTF-8.
func (e Encoding) isPlain() bool { return e == UTF8 || e == ascii }

// Lookup returns the encoding with a label of the Encoding Standard, or with another
// common one; the zero Encoding if there is none, or if it can't be decoded. Case and
// white space around the label make no difference, and neither do hyphens, underscores
// and full stops in the name of an encoding. On the web, ISO-8859-1 is Windows-1252,
// ISO-8859-9 is Windows-1254, and GB 2312 is GB 18030.
func Lookup(label string) Encoding {
	if strings.EqualFold(label, "utf-8") { // most of them
		return UTF8
	}
	label = strings.ToLower(strings.TrimSpace(label))
	if name, ok := aliases()[reduced(label)]; ok {
		label = name
	}
	e, err := htmlindex.Get(label)
	if err != nil {
		return others()[label]
	}
	switch name, _ := htmlindex.Name(e); name {
	case "replacement":
		return none
	case "utf-8":
		return UTF8
	case "utf-16le":
		return UTF16LE
	case "utf-16be":
		return UTF16BE
	case "gbk":
		return Encoding{name, simplifiedchinese.GB18030}
	default:
		return Encoding{name, e}
	}
}

// reduced returns a label without the signs in which its spellings differ.
var reduced = strings.NewReplacer("-", "", "_", "", ".", "").Replace

// others returns the encodings that the Encoding Standard does not have, and US-ASCII,
// which it takes for Windows-1252.
var others = sync.OnceValue(func() map[string]Encoding {
	return map[string]Encoding{
		"x-us-ascii": ascii,
		"x-utf-32":   UTF32,
		"x-ibm437":   {"ibm437", charmap.CodePage437},
		"x-ibm850":   {"ibm850", charmap.CodePage850},
		"x-ibm852":   {"ibm852", charmap.CodePage852},
	}
})

// aliases returns the labels for those that the Encoding Standard does not have, reduced.
var aliases = sync.OnceValue(func() map[string]string {
	labels := map[string]string{
		"utf8mb3": "utf-8", "utf8mb4": "utf-8", "cp65001": "utf-8",
		"utf32": "x-utf-32", "utf32le": "x-utf-32", "utf32be": "x-utf-32", "ucs4": "x-utf-32", "iso10646ucs4": "x-utf-32",
		"ascii": "x-us-ascii", "usascii": "x-us-ascii", "ansix341968": "x-us-ascii",
		"cp936": "gbk", "ms936": "gbk", "windows936": "gbk", "euccn": "gbk",
		"big5hkscs": "big5", "cp950": "big5", "ms950": "big5",
		"cp932": "shift_jis", "cp949": "euc-kr", "ms949": "euc-kr", "uhc": "euc-kr",
		"cp437": "x-ibm437", "ibm437": "x-ibm437", "cp850": "x-ibm850", "ibm850": "x-ibm850",
		"cp852": "x-ibm852", "ibm852": "x-ibm852",
	}
	for name := range strings.FieldsSeq("utf-8 utf-16 utf-16le utf-16be macintosh x-mac-cyrillic ibm866 koi8-r koi8-u " +
		"windows-874 gb18030 euc-jp iso-2022-jp shift_jis euc-kr iso-8859-8-i iso-8859-10 iso-8859-13 iso-8859-14 iso-8859-16") {
		labels[reduced(name)] = name
	}
	for n := '1'; n <= '9'; n++ {
		labels["iso8859"+string(n)] = "iso-8859-" + string(n)
	}
	labels["iso885915"] = "iso-8859-15"
	for n := '0'; n <= '8'; n++ {
		labels["windows125"+string(n)] = "windows-125" + string(n)
		labels["win125"+string(n)] = "windows-125" + string(n)
	}
	return labels
})

// Of returns the charset parameter of a Content-Type header; empty if it has none.
func Of(contentType string) string {
	_, params, _ := strings.Cut(contentType, ";")
	for param := range strings.FieldsFuncSeq(params, func(c rune) bool { return c == ';' || c == ',' }) {
		name, value, _ := strings.Cut(param, "=")
		if strings.EqualFold(strings.TrimSpace(name), "charset") {
			return strings.Trim(value, " \t\"'")
		}
	}
	return ""
}

// A Choice is the encoding of a document.
type Choice struct {
	Encoding Encoding

	// OrUTF8 means that the document may be in UTF-8 instead. A Reader decides by the
	// bytes.
	OrUTF8 bool
}

// Known reports whether c can be decoded.
func (c Choice) Known() bool { return c.Encoding != none && c.Encoding != UTF32 }

// Sniff returns the encoding that the first four bytes of an XML document show, and the
// length of the byte-order mark; the zero Encoding if they show none. A mark counts more
// than anything else (RFC 7303 §3.2).
func Sniff(b []byte) (e Encoding, mark int) {
	switch {
	case bytes.HasPrefix(b, []byte("\uFEFF")):
		return UTF8, len("\uFEFF")
	case bytes.HasPrefix(b, []byte{0xFF, 0xFE, 0, 0}), bytes.HasPrefix(b, []byte{0, 0, 0xFE, 0xFF}),
		bytes.HasPrefix(b, []byte{'<', 0, 0, 0}), bytes.HasPrefix(b, []byte{0, 0, 0, '<'}):
		return UTF32, 0
	case bytes.HasPrefix(b, []byte{0xFF, 0xFE}):
		return UTF16LE, 2
	case bytes.HasPrefix(b, []byte{0xFE, 0xFF}):
		return UTF16BE, 2
	case len(b) >= 2 && b[1] == 0 && (b[0] == '<' || syntax.IsSpace(b[0])):
		return UTF16LE, 0
	case len(b) >= 2 && b[0] == 0 && (b[1] == '<' || syntax.IsSpace(b[1])):
		return UTF16BE, 0
	}
	return none, 0
}

// Choose returns the encoding of an XML document: shown is what its first bytes show,
// stated the charset of its Content-Type, and declared the encoding in its XML
// declaration. Each may be empty. What is shown counts most, and then what is stated (RFC
// 7303 §3.2); without any, it is UTF-8. Where one of stated and declared is UTF-8 and the
// other is not, the bytes decide: many servers state the same charset for everything, and
// others convert documents and leave their declarations. A label of UTF-16 or UTF-32 does
// not count, because the bytes would show it, nor does a charset that is not known. If
// the declaration is not known, neither is the Choice.
//
// Notes are what is wrong with the labels, except where the bytes decide.
func Choose(shown Encoding, stated, declared string) (c Choice, notes []string) {
	in := cmp.Or(shown, UTF8)
	usable := func(what, label string) Encoding {
		e := Lookup(label)
		switch {
		case label == "":
		case e == none:
			notes = append(notes, fmt.Sprintf("%s %.100s, which is not known, or not supported", what, label))
		case e.IsWide() != in.IsWide(), shown == UTF8 && !e.isPlain():
			notes = append(notes, fmt.Sprintf("%s %.100s, but the document is in %s", what, label, in))
			return none
		}
		return e
	}
	s, d := usable("charset of the Content-Type", stated), usable("declared encoding", declared)
	switch {
	case shown != none:
		return Choice{Encoding: shown}, notes
	case declared != "" && Lookup(declared) == none:
		return Choice{}, notes
	}
	d = cmp.Or(d, UTF8)
	s = cmp.Or(s, d)
	if s != d && !s.isPlain() && !d.isPlain() {
		notes = append(notes,
			fmt.Sprintf("declared encoding %.100s, but the charset of the Content-Type is %.100s", declared, stated))
	}
	return between(s, d), notes
}

// between returns the Choice between two encodings, of which the first counts more.
func between(s, d Encoding) Choice {
	e := s
	if e.isPlain() && d != UTF8 {
		e = d
	}
	// what is in doubt with ISO-2022-JP is ASCII, and so would be UTF-8, too
	inDoubt := (s.isPlain() || d.isPlain()) && e != UTF8 && e.text != japanese.ISO2022JP
	return Choice{e, inDoubt}
}
