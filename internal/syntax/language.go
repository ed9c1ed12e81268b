package syntax

// A langTag is the unread rest of a language tag.
type langTag[T Text] struct{ rest T }

// peek returns the next subtag.
func (t *langTag[T]) peek() T { return t.rest[:IndexAny(t.rest, "-")] }

// next skips the next subtag.
func (t *langTag[T]) next() {
	n := len(t.peek())
	t.rest = t.rest[min(n+1, len(t.rest)):]
}

// take skips the next subtag if it has from least to most characters, all of a class.
func (t *langTag[T]) take(least, most int, class Class) bool {
	sub := t.peek()
	if len(sub) < least || len(sub) > most || !isAll(sub, class) {
		return false
	}
	t.next()
	return true
}

// irregular are the tags that are valid although the grammar does not cover them (RFC
// 5646 §2.2.8).
var irregular = [...]string{
	"en-gb-oed", "i-ami", "i-bnn", "i-default", "i-enochian", "i-hak", "i-klingon", "i-lux", "i-mingo", "i-navajo", "i-pwn",
	"i-tao", "i-tay", "i-tsu", "sgn-be-fr", "sgn-be-nl", "sgn-ch-de",
}

// LanguageFault checks that a language tag is well-formed (RFC 5646 §2.1).
func LanguageFault[T Text](s T) string {
	const fault = "not a language tag"
	for _, known := range irregular {
		if EqualFold(s, known) {
			return ""
		}
	}
	if len(s) == 0 || s[len(s)-1] == '-' {
		return fault
	}
	t := langTag[T]{s}
	if sub := t.peek(); !EqualFold(sub, "x") {
		t.language()
		if len(t.rest) == len(s) || !t.extensions() {
			return fault
		}
	}
	if EqualFold(t.peek(), "x") && len(t.peek()) < len(t.rest) {
		for t.next(); t.take(1, 8, Alnum); {
		}
	}
	if len(t.rest) > 0 {
		return fault
	}
	return ""
}

// language skips language, script, region and variants.
func (t *langTag[T]) language() {
	switch n := len(t.peek()); {
	case n < 2 || !t.take(2, 8, classAlpha):
		return
	case n <= 3:
		for range 3 {
			t.take(3, 3, classAlpha)
		}
	}
	t.take(4, 4, classAlpha)
	if !t.take(2, 2, classAlpha) { // the region
		t.take(3, 3, classDigit)
	}
	for {
		sub := t.peek()
		if len(sub) < 4 || len(sub) == 4 && !IsDigit(sub[0]) || !t.take(4, 8, Alnum) {
			return
		}
	}
}

// extensions skips the extensions. It returns false if one has only its letter.
func (t *langTag[T]) extensions() bool {
	for {
		sub := t.peek()
		if len(sub) != 1 || EqualFold(sub, "x") || !isAll(sub, Alnum) {
			return true
		}
		t.next()
		if !t.take(2, 8, Alnum) {
			return false
		}
		for t.take(2, 8, Alnum) {
		}
	}
}
