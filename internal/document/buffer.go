package document

import (
	"bytes"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/internal/xmlscan"
)

// A Buffer holds the bytes of all values of a view. It is reused for the next one. A Span
// is one of the values.
type Buffer struct{ Bytes []byte }

// A Span is a part of a Buffer, which may move while it grows.
type Span struct{ From, To int }

// IsEmpty reports whether a Span has no bytes.
func (s Span) IsEmpty() bool { return s.From == s.To }

// A Digest is a [websync.Digest] whose sum is in a Buffer.
type Digest struct {
	Algorithm string
	Sum       Span
}

// Add copies text into the buffer.
func (b *Buffer) Add(text []byte) Span {
	from := len(b.Bytes)
	b.Bytes = append(b.Bytes, text...)
	return b.Since(from)
}

// Since returns what was appended since the length of the buffer was n.
func (b *Buffer) Since(n int) Span { return Span{n, len(b.Bytes)} }

// Of returns the bytes of s. They are valid until the next change of the buffer.
func (b *Buffer) Of(s Span) []byte { return b.Bytes[s.From:s.To:s.To] }

// Trimmed returns s without the white space around it.
func (b *Buffer) Trimmed(s Span) Span {
	for s.From < s.To && syntax.IsSpace(b.Bytes[s.From]) {
		s.From++
	}
	for s.From < s.To && syntax.IsSpace(b.Bytes[s.To-1]) {
		s.To--
	}
	return s
}

// AddHex adds the digest of a common algorithm. It returns false if the algorithm has
// another name, or sum is not written in hex.
func (b *Buffer) AddHex(algorithm, sum []byte) (d Digest, ok bool) {
	from := len(b.Bytes)
	b.Bytes, d.Algorithm = syntax.AppendDigest(b.Bytes, algorithm, sum)
	d.Sum = b.Since(from)
	return d, d.Algorithm != ""
}

// AddDigest adds a digest that is written algorithm:sum. The error is that of
// [websync.ParseDigest].
func (b *Buffer) AddDigest(field []byte) (Digest, error) {
	algorithm, sum, _ := bytes.Cut(field, []byte(":"))
	if d, ok := b.AddHex(algorithm, sum); ok {
		return d, nil
	}
	d, err := websync.ParseDigest(string(field))
	if err != nil {
		return Digest{}, err
	}
	return Digest{d.Algorithm, b.Add([]byte(d.Sum))}, nil
}

// AddRelation adds a relation without the white space around it. In the name of a
// registered one, capitals make no difference (RFC 8288 §2.1.1): it reports whether there
// were any, and replaces them.
func (b *Buffer) AddRelation(rel []byte) (s Span, capitals bool) {
	s = b.Add(xmlscan.Trim(rel))
	added := b.Of(s)
	if syntax.Scheme(added) > 0 {
		return s, false
	}
	for i, c := range added {
		if c >= 'A' && c <= 'Z' {
			added[i] = c | 0x20
			capitals = true
		}
	}
	return s, capitals
}

// Length reads the length of a representation in bytes, as [websync.Link] states it, and
// returns what is wrong with it.
func Length(value []byte) (n int64, fault string) {
	n, fault = syntax.Length(xmlscan.Trim(value))
	if n == 0 && fault == "" {
		n = websync.StatedZero
	}
	return n, fault
}

// SliceOf returns a slice of n zero values: the first ones of room if it is long enough,
// or else new ones.
func SliceOf[T any](room []T, n int) []T {
	switch {
	case n == 0:
		return nil
	case n <= len(room):
		return room[:n:n]
	}
	return make([]T, n)
}
