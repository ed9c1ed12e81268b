package websync

import (
	"hash"
	"io"
	"strconv"
)

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

// Verify returns a reader that passes r through and checks it against the stated length
// and the strongest stated digest. It ends in io.EOF only if both match, otherwise in a
// [*MismatchError], which is [ErrMismatch]. It does not pass on bytes beyond the stated
// length. It returns errors of r unchanged. If nothing can be checked, Verify returns r.
//
// A caller that keeps the bytes must not publish them before it has read the io.EOF.
func (l Link) Verify(r io.Reader) io.Reader {
	length, hasLength := l.StatedLength()
	digest, hasDigest := l.Digests.Strongest()
	if !hasLength && !hasDigest {
		return r
	}
	v := &verifier{r: r, href: l.Href, length: -1, digest: digest}
	if hasLength {
		v.length = length
	}
	if hasDigest {
		v.hash, _ = NewHash(digest.Algorithm)
	}
	return v
}

type verifier struct {
	r      io.Reader
	href   string
	length int64 // negative if not stated
	digest Digest
	hash   hash.Hash // nil if there is no digest
	n      int64     // bytes read
	err    error     // returned by every later Read
}

func (v *verifier) Read(p []byte) (int, error) {
	if v.err != nil || len(p) == 0 {
		return 0, v.err
	}
	if v.n == v.length {
		return 0, v.readEnd()
	}
	if v.length >= 0 && int64(len(p)) > v.length-v.n {
		p = p[:v.length-v.n]
	}
	n, err := v.r.Read(p)
	v.n += int64(n)
	if v.hash != nil {
		v.hash.Write(p[:n])
	}
	if err == io.EOF {
		err = v.check()
	}
	v.err = err
	return n, err
}

// readEnd looks for the end of r after the last byte of the stated length.
func (v *verifier) readEnd() error {
	var extra [1]byte
	n, err := v.r.Read(extra[:])
	switch {
	case n > 0:
		want := strconv.FormatInt(v.length, 10)
		err = &MismatchError{Href: v.href, What: "length", Want: want, Got: "more"}
	case err == io.EOF:
		err = v.check()
	}
	v.err = err
	return err
}

// check compares at the end of r. It returns io.EOF or a *MismatchError.
func (v *verifier) check() error {
	if v.length >= 0 && v.n != v.length {
		want, got := strconv.FormatInt(v.length, 10), strconv.FormatInt(v.n, 10)
		return &MismatchError{Href: v.href, What: "length", Want: want, Got: got}
	}
	if v.hash != nil {
		got := Digest{v.digest.Algorithm, string(v.hash.Sum(nil))}
		if got != v.digest {
			return &MismatchError{Href: v.href, What: got.Algorithm, Want: v.digest.sum(), Got: got.sum()}
		}
	}
	return io.EOF
}

// A MismatchError reports bytes that are not what the link to them states. It is
// [ErrMismatch].
type MismatchError struct {
	Href string
	What string // "length" or the algorithm of the digest
	Want string // stated: a decimal number or the digest in hex
	Got  string // found: likewise, or "more" for bytes beyond the stated length
}

// Error returns, for example, "https://example.com/a: length: want 120, got 118". It
// leaves secrets of the URL out ([RedactURL]).
func (e *MismatchError) Error() string {
	return oneLine(join(": ", RedactURL(e.Href), e.What, "want "+e.Want+", got "+e.Got))
}

// Is lets [errors.Is] match ErrMismatch.
func (e *MismatchError) Is(target error) bool { return target == ErrMismatch }
