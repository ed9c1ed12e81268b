package websync

import (
	"hash"
	"io"
	"strconv"
)

// Verify returns a reader that passes r through and checks it against the stated length
// and the strongest stated digest. It ends in io.EOF only if both match, otherwise in a
// [*MismatchError], which is [ErrMismatch]. It does not pass on bytes beyond the stated
// length. It returns errors of r unchanged. If nothing can be checked, Verify returns r.
//
// A Body of harvest.Response has a method Sent(w io.Writer) bool, which reports whether it
// decodes a content coding. If r is one that does, it is enough if the bytes match that
// were sent: publishers state the length and the digests of one form or the other, with or
// without Encoding. Then the reader's method AsSent() bool returns true after io.EOF.
//
// A caller that keeps the bytes must not publish them before it has read the io.EOF.
func (l Link) Verify(r io.Reader) io.Reader {
	if !l.Verifiable() {
		return r
	}
	v := &verifier{r: r, sum: newSum(&l)}
	sent := newSum(&l)
	if r, ok := r.(interface{ Sent(w io.Writer) bool }); ok && r.Sent(sent) {
		v.sent = sent
	}
	return v
}

type verifier struct {
	r    io.Reader
	sum  *sum
	sent *sum  // of the coded bytes; nil if r has no coding
	err  error // returned by every later Read
}

func (v *verifier) Read(p []byte) (int, error) {
	if v.err != nil || len(p) == 0 {
		return 0, v.err
	}
	if v.sent == nil && v.sum.length >= 0 {
		left := v.sum.length - v.sum.n
		if left == 0 {
			return 0, v.readEnd()
		}
		p = p[:min(int64(len(p)), left)]
	}
	n, err := v.r.Read(p)
	v.sum.Write(p[:n])
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
		err = v.sum.mismatch("length", strconv.FormatInt(v.sum.length, 10), "more")
	case err == io.EOF:
		err = v.check()
	}
	v.err = err
	return err
}

// check compares at the end of r. It returns io.EOF or a *MismatchError.
func (v *verifier) check() error {
	if v.AsSent() {
		return io.EOF
	}
	return v.sum.check()
}

// AsSent reports whether the bytes match that were sent, and not those that were read.
func (v *verifier) AsSent() bool {
	return v.sent != nil && v.sum.check() != io.EOF && v.sent.check() == io.EOF
}

// A sum is that of some bytes, to be compared with what a link states of them.
type sum struct {
	href   string
	length int64 // negative if not stated
	digest Digest
	hash   hash.Hash // nil if there is no digest
	n      int64     // bytes written
}

func newSum(l *Link) *sum {
	s := &sum{href: l.Href, length: -1}
	if n, ok := l.StatedLength(); ok {
		s.length = n
	}
	if d, ok := l.Digests.Strongest(); ok {
		s.digest = d
		s.hash, _ = NewHash(d.Algorithm)
	}
	return s
}

// Write implements io.Writer. It never fails.
func (s *sum) Write(p []byte) (int, error) {
	s.n += int64(len(p))
	if s.hash != nil {
		s.hash.Write(p)
	}
	return len(p), nil
}

// check compares what was written. It returns io.EOF or a *MismatchError.
func (s *sum) check() error {
	if s.length >= 0 && s.n != s.length {
		return s.mismatch("length", strconv.FormatInt(s.length, 10), strconv.FormatInt(s.n, 10))
	}
	if s.hash != nil {
		if got := (Digest{s.digest.Algorithm, string(s.hash.Sum(nil))}); got != s.digest {
			return s.mismatch(got.Algorithm, s.digest.sum(), got.sum())
		}
	}
	return io.EOF
}

func (s *sum) mismatch(what, want, got string) error {
	return &MismatchError{Href: s.href, What: what, Want: want, Got: got}
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
