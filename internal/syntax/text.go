package syntax

import "unicode/utf8"

// EmailFault checks a mail address: local@domain (RFC 5322 §3.4.1), without a name and
// without comments.
func EmailFault[T Text](s T) string {
	const fault = "not an e-mail address"
	at := dotAtomEnd(s, 0)
	if len(s) > 0 && s[0] == '"' {
		at = quotedEnd(s, 0)
	}
	if at == 0 || at == len(s) || s[at] != '@' {
		return fault
	}
	domain := s[at+1:]
	if len(domain) > 2 && domain[0] == '[' {
		if end := IndexAny(domain[1:], "[]\\ \t\r\n"); end != len(domain)-2 || domain[end+1] != ']' {
			return fault
		}
		return ""
	}
	if len(domain) == 0 || dotAtomEnd(domain, 0) != len(domain) {
		return fault
	}
	return ""
}

// dotAtomEnd returns the end of the atoms, with single dots between them, that begin at
// i, or i if there are none. Letters outside ASCII count as atext (RFC 6531 §3.3).
func dotAtomEnd[T Text](s T, i int) int {
	start := i
	for i < len(s) {
		switch c := s[i]; {
		case c >= utf8.RuneSelf, classAtom.Has(c):
		case c == '.' && i > start && s[i-1] != '.' && i+1 < len(s) && s[i+1] != '@':
		default:
			return i
		}
		i++
	}
	return i
}

// Base64Fault checks Base64 (RFC 4648 §4) with white space around it and single line
// feeds between its lines (RFC 4287 §4.1.3.3).
func Base64Fault[T Text](s T) string {
	i, end := spaceEnd(s, 0), len(s)
	for end > i && IsSpace(s[end-1]) {
		end--
	}
	digits, padding := 0, 0
	for ; i < end; i++ {
		switch c := s[i]; {
		case c == '\n':
			if s[i+1] == '\n' {
				return "an empty line in Base64"
			}
		case IsSpace(c):
			return "a space in Base64"
		case c == '=':
			padding++
		case padding > 0:
			return "something after the end of Base64"
		case Alnum.Has(c), c == '+', c == '/':
			digits++
		default:
			return "a character that Base64 does not have"
		}
	}
	if (digits+padding)%4 != 0 || padding > 2 {
		return "Base64 that is cut short, or with wrong padding"
	}
	return ""
}
