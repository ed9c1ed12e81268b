package websync

// StatedZero is the value of a number that a document states as zero, wherever 0 stands
// for "not stated".
const StatedZero = -1

// A Link points to a representation or to another resource. It is what atom:link, rs:ln,
// rs:md with loc, and atom:content with src have in common.
type Link struct {
	Rel      string
	Href     string
	Type     string // media type
	Lang     string // BCP 47
	Title    string
	Encoding string   // content coding of the bytes that Length and Digests describe
	Length   int64    // in bytes; zero if not stated, StatedZero if stated as zero
	Digests  Digests  // of the bytes
	Modified Datetime // of the target
	// among links of one Rel: 1 is highest, 999,999 lowest, zero not stated (Z39.99 §7)
	Priority int
	Attrs    []Attr // attributes of other namespaces, e.g. dct:isFormatOf, verbatim
}

// Size returns about how many bytes the link takes: those of its texts, and 128.
func (l *Link) Size() int {
	n := 128 + len(l.Rel) + len(l.Href) + len(l.Type) + len(l.Lang) + len(l.Title) + len(l.Encoding)
	for i := range l.Digests {
		n += len(l.Digests[i].Algorithm) + len(l.Digests[i].Sum)
	}
	for i := range l.Attrs {
		n += len(l.Attrs[i].Space) + len(l.Attrs[i].Local) + len(l.Attrs[i].Value)
	}
	return n
}

// StatedLength returns the length in bytes and reports whether it is stated.
func (l Link) StatedLength() (int64, bool) {
	switch {
	case l.Length > 0:
		return l.Length, true
	case l.Length == StatedZero:
		return 0, true
	}
	return 0, false
}

// Verifiable reports whether Verify can check something: whether the link states a
// length, or a digest of a known algorithm.
func (l Link) Verifiable() bool {
	_, length := l.StatedLength()
	_, digest := l.Digests.Strongest()
	return length || digest
}
