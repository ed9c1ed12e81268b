package jsonscan

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Escapes has the character that a letter after a backslash stands for; 0 if there is
// none, or it is u.
var Escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// AppendUnquoted appends the text of a valid string, which is given without its quotes.
// Half of a surrogate pair, which is no character, becomes the three bytes that UTF-8
// would have for it, so that no two texts are equal that differ.
func AppendUnquoted(b []byte, inner string) []byte {
	for {
		n := strings.IndexByte(inner, '\\')
		if n < 0 {
			return append(b, inner...)
		}
		b = append(b, inner[:n]...)
		letter := inner[n+1]
		inner = inner[n+2:]
		if letter == 'u' {
			r := hex4(inner)
			inner = inner[4:]
			if len(inner) >= 6 && inner[0] == '\\' && inner[1] == 'u' {
				if pair := utf16.DecodeRune(r, hex4(inner[2:])); pair != utf8.RuneError {
					r = pair
					inner = inner[6:]
				}
			}
			if utf16.IsSurrogate(r) {
				b = append(b, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f)
			} else {
				b = utf8.AppendRune(b, r)
			}
			continue
		}
		b = append(b, Escapes[letter])
	}
}

func hex4(digits string) rune {
	n, _ := strconv.ParseUint(digits[:4], 16, 16)
	return rune(n)
}
