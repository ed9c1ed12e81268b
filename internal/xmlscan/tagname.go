package xmlscan

import "strings"

const (
	tagSize  = 32 // two machine registers: copied without a call
	tagCount = 256
)

// A tag is a checked name as a Writer writes it. Documents repeat themselves, so a Writer keeps the tags of the names it met.
type tag struct {
	size  int           // of the name
	colon int           // the length of its prefix, 0 if it has none
	next  *tag          // the tag of the name that followed last time
	text  [tagSize]byte // "<name>", if it is that short
}

// is tells whether t is the tag of a name.
func (t *tag) is(name string) bool {
	return t != nil && t.size == len(name) && string(t.text[1:1+t.size]) == name
}

// append appends "<name>" to dst.
func (t *tag) append(dst []byte, name string) []byte {
	n := len(dst)
	if n+tagSize > cap(dst) || t.size > tagSize-2 {
		return t.appendSlowly(dst, name)
	}
	*(*[tagSize]byte)(dst[n : n+tagSize]) = t.text
	return dst[:n+2+t.size]
}

func (t *tag) appendSlowly(dst []byte, name string) []byte {
	dst = append(dst, '<')
	dst = append(dst, name...)
	return append(dst, '>')
}

// checkName checks that name is one of Namespaces in XML 1.0 §4. If it is not, there is an error, and the result is nil.
func (w *Writer) checkName(name string) *tag {
	if t := w.last.next; t.is(name) {
		w.last = t
		return t
	}
	return w.findName(name)
}

func (w *Writer) findName(name string) *tag {
	n := len(name)
	if n == 0 || n > tagSize-2 {
		return w.learn(&w.long, name)
	}
	t := &w.known[(uint(name[0])+uint(name[n/2])*7+uint(name[n-1])*31+uint(n)*61)%tagCount]
	if !t.is(name) && w.learn(t, name) == nil {
		return nil
	}
	w.last.next = t
	w.last = t
	return t
}

// learn checks a name and puts its tag into t.
func (w *Writer) learn(t *tag, name string) *tag {
	prefix, local, prefixed := strings.Cut(name, ":")
	if !isNCName(view(prefix)) || prefixed && !isNCName(view(local)) {
		w.fail("bad name %q", name)
		return nil
	}
	*t = tag{size: len(name), next: t.next}
	if prefixed {
		t.colon = len(prefix)
	}
	t.text[0] = '<'
	t.text[1+copy(t.text[1:tagSize-1], name)] = '>'
	return t
}
