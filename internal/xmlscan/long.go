package xmlscan

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// A long is a token that does not fit into MaxToken, or is nested too deep. The Reader
// passes over it, or returns its text in pieces, one buffer at a time, so it is never in
// memory as a whole.
type long struct {
	kind  longKind
	after mode // what comes behind it
	quote byte // of a tag: the quote of the attribute value that is open, or 0

	nested, closed bool // of a CDATA section or a processing instruction: see runsOn
}

type longKind uint8

const (
	longStart  longKind = iota // a start tag of which nothing is read yet
	longTag                    // a start tag behind its name
	longEndTag                 // an end tag in what is nested too deep
	longComment
	longPI
	longCDATA    // a CDATA section whose text is wanted
	longDeepText // a CDATA section in what is nested too deep
)

// overlap is how many bytes of a long token stay in the buffer, so that the end that is
// searched for is never cut in two. A token of at most overlap bytes is not a long one.
const overlap = 64

// beginLong begins a long with the token at r.pos, of which more than MaxToken bytes are
// in the buffer. It returns false if such a token can't be passed over.
func (r *Reader) beginLong() bool {
	b := r.buf[r.pos:r.end]
	switch {
	case r.mode == modeBegin:
		return false
	case b[0] != '<':
		r.beginRun()
	case bytes.HasPrefix(b, []byte("<!--")):
		r.pass(longComment, len("<!--"))
	case bytes.HasPrefix(b, []byte("<![CDATA[")) && len(r.stack) > 0:
		r.beginRun()
		r.pass(longCDATA, len("<![CDATA["))
	case b[1] == '?':
		n := r.piTarget(b)
		if n == 0 {
			return false
		}
		r.pass(longPI, n)
	case class[b[1]]&nameStart != 0 && r.Recover != nil:
		r.pass(longStart, 0)
	default:
		return false
	}
	return true
}

// pass leaves the token at r.pos to passLong, from its byte n on.
func (r *Reader) pass(kind longKind, n int) {
	r.long = long{kind: kind, after: r.mode}
	r.mode = modeLong
	r.pos += n
}

// passLong goes on with a long token and returns the one behind it.
func (r *Reader) passLong() Kind {
	switch {
	case r.long.kind == longStart:
		r.mode = r.long.after
		return r.cutTag("token longer than %d bytes", r.maxToken)
	case r.long.kind == longCDATA:
		return r.passCDATA()
	case !r.passRest():
		return 0
	}
	return r.token()
}

// passRest passes over the rest of a long token. It returns false after an error and if
// the buffer ends first.
func (r *Reader) passRest() bool {
	switch r.long.kind {
	case longTag:
		return r.passTag()
	case longEndTag:
		return r.passEndTag()
	case longComment:
		return r.passComment()
	case longPI:
		return r.passTo("?>")
	}
	return r.passTo("]]>")
}

func (r *Reader) passComment() bool {
	b := r.buf[r.pos:r.end]
	n := bytes.Index(b, []byte("--"))
	switch {
	case n < 0:
		return r.passPart(len(b) - 1)
	case n+2 == len(b):
		return r.passPart(n)
	case b[n+2] != '>':
		return r.fail(r.pos+n, nil, doubleHyphen)
	}
	return r.passEnd(n, len("-->"))
}

func (r *Reader) passTo(end string) bool {
	b := r.buf[r.pos:r.end]
	n := bytes.Index(b, []byte(end))
	if n < 0 {
		r.lookInside(b)
		return r.passPart(len(b) - len(end) + 1)
	}
	r.lookInside(b[:n])
	return r.passEnd(n, len(end))
}

// passPart passes over n bytes of a long token at most. It returns false: more follow.
func (r *Reader) passPart(n int) bool {
	if n > 0 {
		part := wholeChars(r.buf[r.pos : r.pos+n])
		if r.checkChars(part, r.pos) {
			r.pos += len(part)
		}
	}
	return false
}

// passEnd passes over the last n bytes of a long token and the size bytes that end it.
func (r *Reader) passEnd(n, size int) bool {
	if !r.checkChars(r.buf[r.pos:r.pos+n], r.pos) {
		return false
	}
	r.pos += n + size
	r.mode = r.long.after
	return true
}

// passCDATA returns the text of a long CDATA section in pieces, with the text around it.
func (r *Reader) passCDATA() Kind {
	if r.spilled {
		r.startPiece()
	}
	b := r.buf[r.pos:r.end]
	end := bytes.Index(b, []byte("]]>"))
	n := end
	if end < 0 {
		r.lookInside(b)
		n = len(b) - overlap
	} else {
		r.lookInside(b[:end])
	}
	more := n > r.maxToken // than one Text can be
	if n <= 0 && end < 0 {
		return 0
	}
	if end < 0 || more {
		n = cutText(b[:min(n, r.maxToken)])
	}
	if !r.join(b[:n], r.pos, inCDATA) {
		return r.paused()
	}
	r.pos += n
	switch {
	case more:
		r.spilled = true
		return r.paused()
	case end < 0:
		return 0
	}
	r.pos += len("]]>")
	r.mode = modeRun
	return r.run()
}

// passTag passes over the attributes of a tag.
func (r *Reader) passTag() bool {
	for i := r.pos; i < r.end; i++ {
		c := r.buf[i]
		switch quote := r.long.quote; {
		case c == '<':
			return r.fail(i, nil, "'<' in a tag")
		case quote != 0:
			if c == quote {
				r.long.quote = 0
			}
		case c == '"' || c == '\'':
			r.long.quote = c
		case c == '>':
			r.endLongTag(i > r.pos && r.buf[i-1] == '/')
			r.pos = i + 1
			return true
		}
	}
	if last := r.end - 1; last >= r.pos && r.buf[last] == '/' {
		r.pos = last // the next byte says what it means
	} else {
		r.pos = r.end
	}
	return false
}

// endLongTag sets what follows a start tag.
func (r *Reader) endLongTag(empty bool) {
	r.mode = r.long.after
	switch {
	case r.mode == modeDeep && empty:
		r.deep--
	case empty:
		r.mode = modeEmpty
	}
}

func (r *Reader) passEndTag() bool {
	b := r.buf[r.pos:r.end]
	n := bytes.IndexByte(b, '>')
	if i := bytes.IndexByte(b, '<'); i >= 0 && (n < 0 || i < n) {
		return r.fail(r.pos+i, nil, "'<' in a tag")
	}
	if n < 0 {
		r.pos = r.end
		return false
	}
	r.pos += n + 1
	r.deep--
	r.mode = modeDeep
	return true
}

// cutTag opens the element whose start tag passes a limit, without its attributes.
func (r *Reader) cutTag(format string, limit int) Kind {
	r.attrs, r.raws, r.decls = r.attrs[:0], r.raws[:0], r.decls[:0]
	r.cooked, r.verbatim = true, true
	q, p := r.readName(r.pos+1, word(r.buf, r.pos+1))
	switch {
	case q == nil && r.err == nil:
		r.fail(r.pos, ErrLimit, "name longer than %d bytes", r.maxToken)
		return 0
	case q == nil, !r.cut(r.pos, format, limit), !r.open(q, p, modeContent):
		return 0
	}
	r.pass(longTag, 0)
	return Start
}

// cut handles what passes a limit. It reports whether reading goes on without it.
func (r *Reader) cut(at int, format string, limit int) bool {
	if r.Recover == nil {
		return r.fail(at, ErrLimit, format, limit)
	}
	r.losses.Cut++
	return r.fault(at, fmt.Sprintf(format, limit))
}

// passDeep passes over what is nested too deep. There, tags are counted, but names are
// not compared: they would take memory for each level.
func (r *Reader) passDeep() Kind {
	for r.deep > 0 {
		b := r.buf[r.pos:r.end]
		text := bytes.IndexByte(b, '<')
		if text < 0 {
			text = len(b)
		}
		if r.pos += text; len(b)-text < 2 {
			return 0
		}
		comment, short := r.starts("<!--")
		cdata, shorter := r.starts("<![CDATA[")
		switch c := r.buf[r.pos+1]; {
		case short || shorter:
			return 0
		case comment:
			r.pass(longComment, len("<!--"))
		case cdata:
			r.pass(longDeepText, len("<![CDATA["))
		case c == '?':
			r.pass(longPI, len("<?"))
		case c == '/':
			r.pass(longEndTag, len("</"))
		case class[c]&nameStart != 0:
			r.deep++
			r.pass(longTag, 1)
		default:
			r.fail(r.pos, nil, "'<' in text")
			return 0
		}
		if !r.passRest() {
			return 0
		}
	}
	r.mode = modeContent
	return r.token()
}

// beginDeep passes over the element that starts at r.pos and is nested too deep.
func (r *Reader) beginDeep() Kind {
	if !r.cut(r.pos, "elements nested deeper than %d", r.maxDepth) {
		return 0
	}
	r.mode, r.deep = modeDeep, 1
	r.pass(longTag, 1)
	return r.passLong()
}

// lookInside looks for the start of another section in a long one, of which b is a part.
func (r *Reader) lookInside(b []byte) {
	l := &r.long
	switch l.kind {
	case longPI:
		if hasPI(b) && !l.nested {
			l.nested = true
			r.runsOn(&r.losses.Instructions)
		}
	case longCDATA:
		had := l.nested && l.closed
		l.nested = l.nested || bytes.Contains(b, cdataStart)
		l.closed = l.closed || r.hasEndTag(b)
		if l.nested && l.closed && !had {
			r.runsOn(&r.losses.Sections)
		}
	}
}

var cdataStart = []byte("<![CDATA[")

func hasPI(b []byte) bool { return bytes.Contains(b, []byte("<?")) }

// hasEndTag reports whether b holds what looks like the end tag of the element that is
// open.
func (r *Reader) hasEndTag(b []byte) bool {
	name := r.stack[len(r.stack)-1].name.raw
	for {
		i := bytes.Index(b, []byte("</"))
		if i < 0 {
			return false
		}
		if b = b[i+2:]; bytes.HasPrefix(b, []byte(name)) {
			return true
		}
	}
}

// runsOn counts a CDATA section that contains the end tag of its element and the start of
// another section, or a processing instruction that contains the start of another one.
// Both are well-formed, but more likely the end of the first is damaged.
func (r *Reader) runsOn(count *int) {
	*count++
	r.note(r.pos, "a CDATA section or processing instruction contains the start of another: its end may be damaged")
}

// wholeChars returns b without a character at its end that is cut off.
func wholeChars(b []byte) []byte {
	for n := len(b) - 1; n >= 0 && n >= len(b)-utf8.UTFMax; n-- {
		if utf8.RuneStart(b[n]) {
			if !utf8.FullRune(b[n:]) {
				return b[:n]
			}
			break
		}
	}
	return b
}

// cutText returns how much of b, which is text that goes on, can be decoded by itself: a
// reference, "]]>", a line end or a character is not cut in two.
func cutText(b []byte) int {
	n := len(wholeChars(b))
	tail := max(0, n-overlap)
	if i := bytes.LastIndexByte(b[tail:n], '&'); i >= 0 && bytes.IndexByte(b[tail+i:n], ';') < 0 {
		n = tail + i
	}
	for n > 0 && (b[n-1] == '\r' || b[n-1] == ']') {
		n--
	}
	if n == 0 {
		return len(b)
	}
	return n
}
