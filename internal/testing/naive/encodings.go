package naive

import (
	"bytes"
	"compress/gzip"
	"strings"
	"unicode/utf16"
)

// encodings are ways in which a good document can be served.
var encodings = map[string]func(string) Page{
	"byte-order mark":               func(s string) Page { return Page{Body: "\ufeff" + s} },
	"UTF-16LE":                      func(s string) Page { return Page{Body: utf16Of(declare(s, "utf-16"), 0)} },
	"UTF-16BE":                      func(s string) Page { return Page{Body: utf16Of(declare(s, "UTF-16"), 8)} },
	"UTF-8 as UTF-16":               func(s string) Page { return Page{Body: declare(s, "utf-16")} },
	"gzip":                          func(s string) Page { return Page{Body: zip(s), Encoding: "gzip"} },
	"gzip that is not declared":     func(s string) Page { return Page{Body: zip(s)} },
	"a line before the declaration": func(s string) Page { return Page{Body: "\n " + s} },
	"as text/html":                  func(s string) Page { return Page{Body: s, Type: "text/html; charset=iso-8859-1"} },
	"Windows-1252": func(s string) Page {
		return Page{Body: strings.ReplaceAll(declare(s, "Windows-1252"), "<title>Feed", "<title>F\xf6rfattning \x93x\x94")}
	},
	"ISO-8859-1": func(s string) Page {
		return Page{Body: strings.ReplaceAll(declare(s, "iso-8859-1"), "<title>Feed", "<title>F\xf6rfattning")}
	},
	"prefixes": func(s string) Page {
		for name := range strings.FieldsSeq("feed entry id title updated published link content author name email summary") {
			s = strings.NewReplacer("<"+name+" ", "<a:"+name+" ", "<"+name+">", "<a:"+name+">", "<"+name+"/>", "<a:"+name+"/>", "</"+name+">", "</a:"+name+">").Replace(s)
		}
		return Page{Body: strings.Replace(s, "xmlns=", "xmlns:a=", 1)}
	},
	"comments, CDATA and processing instructions": func(s string) Page {
		return Page{Body: strings.NewReplacer("<entry>", "<!-- <entry> --><entry><?x <entry>?>", "<title>T</title>", "<title><![CDATA[</title></entry>]]></title>",
			"<updated>2020", "<updated><!-- 1999 -->20<![CDATA[20]]>").Replace(s)}
	},
	"metadata last": func(s string) Page {
		i, j, k := strings.Index(s, "<id>"), strings.Index(s, "<entry>"), strings.Index(s, "</feed>")
		return Page{Body: s[:i] + s[j:k] + s[i:j] + s[k:]}
	},
	"white space in values": func(s string) Page {
		return Page{Body: strings.NewReplacer("<id>", "<id>\r\n  ", "<updated>", "<updated> ", "</id>", "\r\n</id>").Replace(s)}
	},
}

func declare(s, encoding string) string { return strings.Replace(s, "utf-8", encoding, 1) }

// utf16Of returns a text with a byte-order mark; shift is 8 for the big end first.
func utf16Of(s string, shift int) string {
	var b []byte
	for _, u := range append([]uint16{0xfeff}, utf16.Encode([]rune(s))...) {
		b = append(b, byte(u>>shift), byte(u>>(8-shift)))
	}
	return string(b)
}

func zip(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(s))
	w.Close()
	return b.String()
}
