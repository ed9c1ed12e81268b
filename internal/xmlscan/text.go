package xmlscan

import (
	"bytes"
	"unicode/utf8"
)

// passIndentation passes over white space in front of a tag.
func (r *Reader) passIndentation() {
	i := r.indentationEnd()
	if tag := r.buf[i] == '<' && i+1 < r.end && r.buf[i+1] != '!' && r.buf[i+1] != '?'; tag && i-r.pos <= r.maxToken {
		r.pos = i
	}
}

// indentationEnd returns where the white space at r.pos ends.
func (r *Reader) indentationEnd() int {
	i := r.pos
	if r.buf[i] == '\n' {
		i += 1 + indentation(r.buf[i+1:])
	}
	for r.buf[i] == '\n' || r.buf[i] == ' ' || r.buf[i] == '\t' {
		i++
	}
	return i
}

// plainRun reads a run of text in one piece, the common case; others are left to run.
func (r *Reader) plainRun() Kind {
	p, i := r.pos, r.indentationEnd()
	if r.buf[i] == '<' {
		return r.endPlainRun(p, i, r.buf[p:i:i], i-p)
	}
	for {
		i += textStops.clean(r.buf[i:])
		switch c := r.buf[i]; {
		case c == '<':
			return r.endPlainRun(p, i, r.buf[p:i:i], i-p)
		case c == '\n', c == '\t':
			i++
		default:
			return r.codedRun(p, i)
		}
	}
}

// codedRun reads a run of text in one piece, of which the bytes from p to i are clean.
func (r *Reader) codedRun(p, i int) Kind {
	joined, i := r.decodeSimple(r.joined[:0], p, i, textStops)
	r.joined = joined
	n := bytes.IndexByte(r.buf[i:r.end], '<')
	if n < 0 {
		return 0
	}
	return r.endPlainRun(p, i+n, joined, i-p)
}

// endPlainRun takes the text buf[p:i] that a '<' follows. Decoded, the first n bytes of
// it are text.
func (r *Reader) endPlainRun(p, i int, text []byte, n int) Kind {
	switch c := r.buf[i+1]; {
	case c == '!' || c == '?':
		return r.run()
	case i+1 == r.end:
		return 0
	case i-p > r.maxToken:
		return r.run()
	}
	r.tok = p
	r.pos = i
	r.text = text
	if r.verbatim = n == i-p; !r.verbatim {
		return r.decodeRun(p, n)
	}
	return Text
}

// decodeRun decodes what starts at buf[p] and ends at r.pos, from byte n on. If nothing
// is left of the text, decodeRun returns the next token.
func (r *Reader) decodeRun(p, n int) (k Kind) {
	joined, ok := r.decode(r.text, r.buf[p:r.pos], n, p, inText)
	r.joined = joined
	switch {
	case !ok:
		return 0
	case len(joined) == 0:
		return r.token()
	}
	r.text = joined
	return Text
}

// run reads text, CDATA sections, comments and processing instructions up to the next tag
// and joins the text. It is called again for the same run when the buffer has ended, and
// after a Text of the greatest length.
func (r *Reader) run() Kind {
	r.beginRun()
	for {
		b := r.buf[r.pos:r.end]
		switch {
		case len(b) > 0 && b[0] != '<':
			if !r.textPiece() {
				return r.paused()
			}
		case len(b) < 2:
			return 0
		case b[1] == '!':
			if !r.comment() && !r.cdata() {
				return r.paused()
			}
		case b[1] == '?':
			if !r.pi() {
				return 0
			}
		case b[1] != '/' && class[b[1]]&nameStart == 0:
			r.fail(r.pos, nil, "'<' in text")
			return 0
		default:
			return r.endRun()
		}
	}
}

// beginRun begins a run, or the next Text of the current run.
func (r *Reader) beginRun() {
	r.verbatim = false
	if r.mode != modeRun || r.spilled {
		r.mode = modeRun
		r.startPiece()
	}
}

func (r *Reader) startPiece() {
	r.spilled = false
	r.joined = r.joined[:0]
	r.tok = r.pos
}

// paused returns the joined text if it has the greatest length of one Text.
func (r *Reader) paused() Kind {
	switch {
	case r.err != nil:
		return 0
	case r.spilled && len(r.joined) > 0:
		r.text = r.joined
		return Text
	case r.spilled, r.mode == modeLong:
		r.spilled = false
		return r.token()
	}
	return 0
}

func (r *Reader) endRun() Kind {
	r.mode = modeContent
	if len(r.joined) == 0 {
		return r.token()
	}
	r.text = r.joined
	return Text
}

// textPiece adds the text up to the next '<' to the run, at most MaxToken bytes.
func (r *Reader) textPiece() bool {
	b := r.buf[r.pos:r.end]
	n := bytes.IndexByte(b, '<')
	switch {
	case n < 0 && len(b) <= max(r.maxToken, overlap):
		return false
	case n < 0 || n > r.maxToken:
		n = cutText(b[:r.maxToken])
	}
	if !r.join(b[:n], r.pos, inText) {
		return false
	}
	r.pos += n
	return true
}

// cdata adds a CDATA section to the run. Nothing else that starts with "<!" can stand
// here.
func (r *Reader) cdata() bool {
	if !r.declares("<![CDATA[", `"<!" in an element starts neither a comment nor a CDATA section`) {
		return false
	}
	from := r.pos + len("<![CDATA[")
	n := bytes.Index(r.buf[from:r.end], []byte("]]>"))
	switch {
	case n < 0:
		return false
	case n > r.maxToken:
		r.pass(longCDATA, len("<![CDATA["))
		return false
	}
	body := r.buf[from : from+n]
	if !r.join(body, from, inCDATA) {
		return false
	}
	if bytes.Contains(body, cdataStart) && r.hasEndTag(body) {
		r.runsOn(&r.losses.Sections)
	}
	r.pos = from + n + len("]]>")
	return true
}

// join adds a piece, buf[at:], to the run. It returns false after an error and if the run
// would pass MaxToken.
func (r *Reader) join(piece []byte, at int, where where) (ok bool) {
	if len(r.joined) > 0 && len(r.joined)+len(piece) > r.maxToken {
		r.spilled = true
		return false
	}
	n := textStops.clean(piece)
	r.joined, ok = r.decode(append(r.joined, piece[:n]...), piece, n, at, where)
	return ok
}

// checkChars checks the content of a comment or processing instruction.
func (r *Reader) checkChars(b []byte, at int) (ok bool) {
	n := textStops.clean(b)
	if n == len(b) {
		return true
	}
	r.scrap, ok = r.decode(r.scrap[:0], b, n, at, inCDATA)
	return ok
}

// A where selects the rules by which characters are decoded.
type where uint8

const (
	inText where = iota
	inCDATA
	inValue
)

// decodeSimple appends to dst the text from buf[p] on up to the first stop that is not a
// simple reference. The bytes before to are known to be clean. It returns where it ends.
func (r *Reader) decodeSimple(dst []byte, p, to int, stops stops) ([]byte, int) {
	b := r.buf
	for {
		dst = append(dst, b[p:to]...)
		c, n := simpleReference(b[to:])
		if n == 0 {
			return dst, to
		}
		dst = append(dst, c)
		p = to + n
		to = p + stops.clean(b[p:])
	}
}

// decode appends src, which starts at buf[at], to dst from byte i on: characters checked,
// line ends as §2.11 says, references replaced unless in CDATA, and in attribute values
// white space as §3.3.3 says.
func (r *Reader) decode(dst, src []byte, i, at int, where where) ([]byte, bool) {
	for i < len(src) {
		n, ok := 0, true
		switch c := src[i]; {
		case c == '&' && where != inCDATA:
			dst, n, ok = r.reference(dst, src[i:], at+i)
		case c == '>' && where == inText && bytes.HasSuffix(src[:i], []byte("]]")):
			ok = r.fault(at+i-2, `"]]>" in text`)
			dst, n = append(dst, c), 1
		case c >= utf8.RuneSelf:
			dst, n, ok = r.badCharacter(dst, src[i:], at+i)
		case c == '\r':
			if n = 1; i+1 < len(src) && src[i+1] == '\n' {
				n = 2
			}
			dst = append(dst, lineEnd[where])
		case c == '\n':
			dst, n = append(dst, lineEnd[where]), 1
		case c == '\t' && where == inValue:
			dst, n = append(dst, ' '), 1
		case c < ' ' && c != '\t':
			n, ok = 1, r.lose(at+i, "control character "+hex(rune(c)))
		default:
			dst, n = append(dst, c), 1
		}
		if !ok {
			return dst, false
		}
		i += n
		n = textStops.clean(src[i:])
		dst = append(dst, src[i:i+n]...)
		i += n
	}
	return dst, true
}

// lineEnd is what a line end becomes.
var lineEnd = [...]byte{inText: '\n', inCDATA: '\n', inValue: ' '}

// badCharacter handles what src, at buf[at], starts with: a character that XML forbids,
// or a byte that is not of the encoding.
func (r *Reader) badCharacter(dst, src []byte, at int) ([]byte, int, bool) {
	c, n := utf8.DecodeRune(src)
	if c == utf8.RuneError && n == 1 {
		return append(dst, "\uFFFD"...), n, r.lose(at, "byte that is not "+r.enc.name())
	}
	return dst, n, r.lose(at, "character "+hex(c))
}
