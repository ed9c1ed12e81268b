package xmlscan

import (
	"bytes"
	"fmt"
)

// fault handles a fault at buf[at] that does not touch the structure. It reports whether
// reading goes on. It may be called only when the token is in the buffer as a whole: a
// token is scanned again when it was cut short.
func (r *Reader) fault(at int, msg string) bool {
	if r.Recover == nil {
		return r.fail(at, nil, "%s", msg)
	}
	r.note(at, msg)
	return true
}

// maxMessages limits the messages that are kept.
const maxMessages = 64

// lose handles a fault at buf[at] that costs a character. A document may consist of such
// faults: the message about the same bytes is made once.
func (r *Reader) lose(at int, of []byte, message func() string) bool {
	r.losses.Characters++
	msg, ok := r.messages[string(of)]
	if !ok {
		msg = message()
		if r.messages == nil {
			r.messages = make(map[string]string)
		}
		if len(r.messages) < maxMessages {
			r.messages[string(of)] = msg
		}
	}
	return r.fault(at, msg)
}

// misread handles a reference at buf[at] that is left as it is.
func (r *Reader) misread(at int, msg string) bool {
	r.losses.References++
	return r.fault(at, msg)
}

// note reports something that is no error.
func (r *Reader) note(at int, msg string) {
	if r.Recover != nil {
		p := r.position(at)
		r.Recover(p.line+1, p.col+1, msg)
	}
}

func hex(c rune) string { return fmt.Sprintf("U+%04X", c) }

// repair returns where a start tag with a fault ends, and the mode after it. It returns
// -1 if the fault stands, or if the buffer ends before the tag does. Before is the mode
// before the tag.
func (r *Reader) repair(before mode) (int, mode) {
	fault, ok := r.err.(*SyntaxError)
	if !ok || fault.Err != nil && fault.Err != ErrAttribute || !r.RepairTags || r.Recover == nil || len(r.stack) == 0 {
		return -1, before
	}
	n := bytes.IndexAny(r.buf[r.sound:r.end], "<>")
	p := r.sound + n
	switch {
	case n < 0 && r.srcErr == nil:
		r.err, r.mode = nil, before // there is more to read
		return -1, before
	case n < 0, r.buf[p] == '<':
		return -1, before
	}
	r.err, r.mode = nil, before
	r.losses.Cut++
	r.Recover(fault.Line, fault.Column, fault.Msg+": the rest of the tag is left out")
	if r.buf[p-1] == '/' {
		return p, modeEmpty
	}
	return p, modeContent
}
