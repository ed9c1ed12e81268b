package atom

import (
	"bytes"
	"html"
	"iter"
	"strings"

	"github.com/websync-go/websync/internal/syntax"
)

// absolute returns HTML in which the relative references of attributes are resolved
// against base, or against a base element; text itself if there are none. What names a
// place in the same text, such as "#a", stays. All else is copied as it is.
func absolute(text []byte, base string) []byte {
	var b []byte
	copied := 0
	for i := 0; ; {
		at := bytes.IndexByte(text[i:], '<')
		if at < 0 {
			break
		}
		i += at + 1
		if rest := text[i:]; bytes.HasPrefix(rest, []byte("!--")) {
			i += max(bytes.Index(rest, []byte("-->")), 0)
			continue
		} else if len(rest) == 0 || !syntax.IsAlpha(rest[0]) {
			continue
		}
		name, end := tagEnd(text, i)
		if end == 0 {
			continue
		}
		element := text[i:name]
		for a := range attributes(text[name:end]) {
			resolve := a.resolver()
			if resolve == nil {
				continue
			}
			stated := html.UnescapeString(string(a.value))
			whole := resolve(stated, base)
			if whole != stated {
				b = append(append(b, text[copied:name+a.from]...), '"')
				b = append(append(b, html.EscapeString(whole)...), '"')
				copied = name + a.to
			}
			if isOneOf(element, "base") {
				base = whole
			}
		}
		if i = end; isRaw(element) && !isClosed(text[name:end]) {
			if i = rawEnd(text, element, end); i == 0 {
				break
			}
		}
	}
	if copied == 0 {
		return text
	}
	return append(b, text[copied:]...)
}

// An attribute is one of a tag of HTML, and where its value is, with quotes.
type attribute struct {
	name, value []byte
	from, to    int
}

// attributes returns the attributes that have values. The tag ends with '>'.
func attributes(tag []byte) iter.Seq[attribute] {
	return func(yield func(attribute) bool) {
		for i := 0; ; {
			for syntax.IsSpace(tag[i]) || tag[i] == '/' {
				i++
			}
			if tag[i] == '>' {
				return
			}
			name := i
			for i++; !syntax.IsSpace(tag[i]) && bytes.IndexByte([]byte("/>="), tag[i]) < 0; i++ {
			}
			a := attribute{name: tag[name:i]}
			for syntax.IsSpace(tag[i]) {
				i++
			}
			if tag[i] != '=' {
				continue
			}
			for i++; syntax.IsSpace(tag[i]); i++ {
			}
			a.from = i
			if quote := tag[i]; quote == '"' || quote == '\'' {
				n := bytes.IndexByte(tag[i+1:], quote)
				if n < 0 {
					return
				}
				a.value = tag[i+1 : i+1+n]
				i += n + len(`""`)
			} else {
				for !syntax.IsSpace(tag[i]) && tag[i] != '>' {
					i++
				}
				a.value = tag[a.from:i]
			}
			if a.to = i; !yield(a) {
				return
			}
		}
	}
}

// isClosed reports whether a tag ends like that of an empty element of XML: <br/>, but not
// <a href=x/>.
func isClosed(tag []byte) bool {
	end := 0
	for a := range attributes(tag) {
		end = a.to
	}
	return end < len(tag)-1 && tag[len(tag)-2] == '/'
}

// resolver returns what resolves the value of an attribute; nil if it is no reference.
func (a *attribute) resolver() func(value, base string) string {
	switch {
	case isOneOf(a.name, "action", "background", "cite", "data", "formaction", "href", "longdesc", "poster", "src",
		"xlink:href", "rdf:about", "rdf:resource"):
		return absoluteReference
	case isOneOf(a.name, "srcset", "imagesrcset"):
		return absoluteSet
	}
	return nil
}

// absoluteReference resolves a reference that is relative and not to the same text.
func absoluteReference(ref, base string) string {
	trimmed := strings.TrimSpace(ref)
	if trimmed == "" || trimmed[0] == '#' || syntax.Scheme(trimmed) > 0 {
		return ref
	}
	return string(syntax.AppendResolved(nil, base, []byte(trimmed)))
}

// absoluteSet resolves the references of a srcset (HTML, Srcset attributes).
func absoluteSet(set, base string) string {
	const space = " \t\r\n\f"
	var b strings.Builder
	for {
		ref := strings.TrimLeft(set, space+",")
		b.WriteString(set[:len(set)-len(ref)])
		if ref == "" {
			return b.String()
		}
		end := strings.IndexAny(ref+" ", space)
		end = len(strings.TrimRight(ref[:end], ","))
		b.WriteString(absoluteReference(ref[:end], base))
		next := strings.IndexByte(ref[end:]+",", ',') + end // of the descriptors
		b.WriteString(ref[end:next])
		set = ref[next:]
	}
}
