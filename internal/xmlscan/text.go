package xmlscan

import (
	"bytes"
	"unicode/utf8"
)

// passIndentation passes over white space in front of a tag.
func (r *Reader) passIndentation() {
	i := r.indentationEnd()
	if r.buf[i] == '<' && i-r.pos <= r.maxToken {
		if c := r.buf[i+1]; c == '/' || class[c]&nameStart != 0 {
			r.pos = i
		}
	}
}

// indentationEnd returns where the white space at r.pos ends. Most is a line feed and a
// few spaces.
func (r *Reader) indentationEnd() int {
	i := r.pos
	if r.buf[i] == '\n' {
		i += 1 + indentation(word(r.buf, i+1))
	}
	if c := r.buf[i]; c == ' ' || c == '\n' || c == '\t' {
		i += blank(r.buf[i:])
	}
	return i
}

// plainRun reads a run of text in one piece, the common case; others are left to run.
func (r *Reader) plainRun() Kind {
	p := r.pos
	i := p
	if r.buf[i] == '\n' {
		i = r.indentationEnd()
	}
	if r.buf[i] != '<' {
		i += textStops.plain(r.buf[i:])
	}
	if r.buf[i] != '<' || r.buf[i+1] == '!' || r.buf[i+1] == '?' || i+1 >= r.end || i-p > r.maxToken {
		return r.codedRun(p, i+cleanText(r.buf[i:]))
	}
	r.tok, r.pos = p, i
	r.text = r.buf[p:i:i]
	r.verbatim = true
	return Text
}

// codedRun reads a run of text that has references or characters outside ASCII, or is not
// in one piece. The bytes from p to i are clean. It decodes simple references; what else
// needs decoding is left to decode.
func (r *Reader) codedRun(p, i int) Kind {
	b, joined := r.buf, r.joined[:0]
	from := p
	for b[i] != '<' {
		c, n := simpleReference(b[i:])
		if n == 0 {
			break
		}
		joined = append(append(joined, b[from:i]...), c)
		from = i + n
		i = from + cleanText(b[from:])
	}
	n := bytes.IndexByte(b[i:r.end], '<')
	if n < 0 {
		return 0
	}
	end := i + n
	switch c := b[end+1]; {
	case c == '!' || c == '?':
		return r.run()
	case end+1 == r.end:
		return 0
	case end-p > r.maxToken:
		return r.run()
	}
	r.tok, r.pos = p, end
	if r.verbatim = from == p && n == 0; r.verbatim {
		r.text = b[p:end:end]
		return Text
	}
	r.text = append(joined, b[from:i]...)
	return r.decodeRun(p, i-p)
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
	n := cleanText(piece)
	r.joined, ok = r.decode(append(r.joined, piece[:n]...), piece, n, at, where)
	return ok
}

// checkChars checks the content of a comment or processing instruction.
func (r *Reader) checkChars(b []byte, at int) (ok bool) {
	n := cleanText(b)
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

// clean returns the length of a prefix of b that stands for itself, in double quotes if
// it is a value.
func (w where) clean(b []byte) int {
	if w == inValue {
		return doubleStops.clean(b)
	}
	return cleanText(b)
}

// decode appends src, which starts at buf[at], to dst from byte i on: characters checked,
// line ends as §2.11 says, references replaced unless in CDATA, and in attribute values
// white space as §3.3.3 says.
func (r *Reader) decode(dst, src []byte, i, at int, where where) ([]byte, bool) {
	for i < len(src) {
		n, ok := 0, true
		switch c := src[i]; {
		case c == '&' && where != inCDATA:
			from := len(dst)
			dst, n, ok = r.reference(dst, src[i:], at+i)
			if where == inValue && n > 1 && src[i+1] != '#' { // §3.3.3: of an entity, too
				spaceOut(dst[from:])
			}
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
		case where == inValue && (c == '\n' || c == '\t'):
			dst, n = append(dst, ' '), 1
		case c < ' ':
			n, ok = 1, r.lose(at+i, src[i:i+1], func() string { return "control character " + hex(rune(c)) })
		default:
			dst, n = append(dst, c), 1
		}
		if !ok {
			return dst, false
		}
		i += n
		n = where.clean(src[i:])
		dst = append(dst, src[i:i+n]...)
		i += n
	}
	return dst, true
}

// spaceOut replaces each character of white space by a space.
func spaceOut(b []byte) {
	for i, c := range b {
		if isSpace(c) {
			b[i] = ' '
		}
	}
}

// lineEnd is what a line end becomes.
var lineEnd = [...]byte{inText: '\n', inCDATA: '\n', inValue: ' '}

// badCharacter handles what src, at buf[at], starts with: a character that XML forbids,
// or a byte that is not of the encoding.
func (r *Reader) badCharacter(dst, src []byte, at int) ([]byte, int, bool) {
	c, n := utf8.DecodeRune(src)
	if c == utf8.RuneError && n == 1 {
		return append(dst, "\uFFFD"...), n, r.lose(at, nil, func() string { return "byte that is not " + r.enc.name() })
	}
	return dst, n, r.lose(at, src[:n], func() string { return "character " + hex(c) })
}
