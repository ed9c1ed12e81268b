package element

import (
	"strings"
	"unicode/utf8"
)

const xmlNamespace = "http://www.w3.org/XML/1998/namespace"

// IsAttrSpace reports whether a foreign attribute may be in the namespace space, in a
// document whose own namespace is own.
func IsAttrSpace(space, own string) bool {
	return space != "" && space != own && space != xmlNamespace && space != "http://www.w3.org/2000/xmlns/"
}

// IsPrefix reports whether the user of a Writer may declare a prefix: it is a name, not
// reserved for XML, and has not the form of the prefixes that Writers generate: "ns1".
func IsPrefix(prefix string) bool {
	generated := len(prefix) > 2 && prefix[:2] == "ns" && prefix[2] >= '0' && prefix[2] <= '9'
	reserved := len(prefix) >= 3 && strings.EqualFold(prefix[:3], "xml")
	return !generated && !reserved && IsLocal(prefix)
}

// IsLocal reports whether s is a name without a colon.
func IsLocal(s string) bool {
	for i := range len(s) {
		c := s[i]
		switch isLetter := c|0x20 >= 'a' && c|0x20 <= 'z'; {
		case isLetter, c == '_':
		case i > 0 && (c >= '0' && c <= '9' || c == '-' || c == '.'):
		case c < utf8.RuneSelf:
			return false
		default:
			name, err := Name("<" + s + ` xmlns=""/>`)
			return err == nil && name.Local == s
		}
	}
	return s != ""
}
