package xmlscan

import "unsafe"

// name checks a name as of Namespaces in XML 1.0 §4. If it is none, there is an error,
// and the result is nil.
func (w *Writer) name(name string) *qname {
	if q := w.last.next; q != nil && same(q.raw, name) {
		w.last = q
		return q
	}
	return w.findName(name)
}

// same tells whether two strings lie in the same place: the names that a program writes
// again and again do.
func same(a, b string) bool { return unsafe.StringData(a) == unsafe.StringData(b) && len(a) == len(b) }

func (w *Writer) findName(name string) *qname {
	if w.full && w.state != inTag { // the attributes of an open tag are still needed
		w.forget()
	}
	var q *qname
	if name != "" {
		q = w.find(view(name))
	}
	if q == nil {
		w.fail("bad name %q", name)
		return nil
	}
	q.raw = name // to be found in its place next time
	return q
}

// appendTag appends "<raw>" to dst.
func (q *qname) appendTag(dst []byte) []byte {
	n := len(dst)
	if n+tagSize > cap(dst) || len(q.raw) > tagSize-2 {
		return q.appendTagSlowly(dst)
	}
	*(*[tagSize]byte)(dst[n : n+tagSize]) = q.tag
	return dst[:n+2+len(q.raw)]
}

func (q *qname) appendTagSlowly(dst []byte) []byte {
	dst = append(dst, '<')
	dst = append(dst, q.raw...)
	return append(dst, '>')
}

// appendEndTag appends "</raw>" to dst.
func (q *qname) appendEndTag(dst []byte) []byte {
	n := len(dst)
	dst = q.appendTag(append(dst, '<'))
	dst[n+1] = '/'
	return dst
}
