package websync

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"strings"
	"unicode"
)

// A Digest is the sum of some bytes under one algorithm. Digests can be compared with ==
// and used as map keys. The zero value is no digest. [Link.Verify] compares bytes with
// those that a link states.
type Digest struct {
	// Algorithm is the name in the IANA registry of hash function textual names, in lower
	// case. The known algorithms are "md5", "sha-1", "sha-224", "sha-256", "sha-384" and
	// "sha-512". Any other one is kept and printed, but never trusted.
	Algorithm string

	// Sum holds the raw bytes of the sum, or its text if the algorithm is unknown.
	Sum string
}

// algorithms are the known ones, weakest first.
var algorithms = [...]struct {
	name string
	size int
	new  func() hash.Hash
}{
	{"md5", md5.Size, md5.New},
	{"sha-1", sha1.Size, sha1.New},
	{"sha-224", sha256.Size224, sha256.New224},
	{"sha-256", sha256.Size, sha256.New},
	{"sha-384", sha512.Size384, sha512.New384},
	{"sha-512", sha512.Size, sha512.New},
}

// rank returns the index of a canonical name in algorithms, or -1.
func rank(algorithm string) int {
	for i := range algorithms {
		if algorithms[i].name == algorithm {
			return i
		}
	}
	return -1
}

// canonical returns the registered name of an algorithm that may be written SHA256 or
// sha_256. Other names it returns in lower case.
func canonical(algorithm string) string {
	name := strings.ToLower(algorithm)
	if rank(name) >= 0 {
		return name
	}
	if bits, ok := strings.CutPrefix(name, "sha"); ok {
		if i := rank("sha-" + strings.TrimPrefix(bits, "_")); i >= 0 {
			return algorithms[i].name
		}
	}
	return name
}

// NewHash returns a new hash of the algorithm. It accepts the same names as ParseDigest.
func NewHash(algorithm string) (hash.Hash, bool) {
	i := rank(canonical(algorithm))
	if i < 0 {
		return nil, false
	}
	return algorithms[i].new(), true
}

// SHA256 returns the SHA-256 digest of data.
func SHA256(data []byte) Digest {
	sum := sha256.Sum256(data)
	return Digest{"sha-256", string(sum[:])}
}

// ParseDigest reads one "algorithm:sum". The name of a known algorithm may be in any case
// and have an underscore, or nothing, instead of the hyphen; its sum may be in hex or in
// base64. ParseDigest keeps the text of the sum of an unknown algorithm.
func ParseDigest(s string) (Digest, error) {
	name, text, ok := strings.Cut(s, ":")
	if !ok || name == "" || text == "" || strings.ContainsFunc(s, unicode.IsSpace) {
		return Digest{}, fmt.Errorf("digest %.80q is not algorithm:sum", s)
	}
	d := Digest{Algorithm: canonical(name)}
	i := rank(d.Algorithm)
	if i < 0 {
		d.Sum = text
		return d, nil
	}
	size := algorithms[i].size
	if d.Sum, ok = decodeSum(text, size); !ok {
		return Digest{}, fmt.Errorf("%.160q is not a %s digest of %d bytes in hex or base64", text, d.Algorithm, size)
	}
	return d, nil
}

// decodeSum reads the hex or base64 form of a sum of size bytes. Their lengths differ for
// every known algorithm.
func decodeSum(text string, size int) (string, bool) {
	if len(text) == hex.EncodedLen(size) {
		sum, err := hex.DecodeString(text)
		return string(sum), err == nil
	}
	encoding := base64.RawStdEncoding
	if strings.ContainsAny(text, "-_") {
		encoding = base64.RawURLEncoding
	}
	sum, err := encoding.DecodeString(strings.TrimRight(text, "="))
	return string(sum), err == nil && len(sum) == size
}

// IsZero reports whether d is the zero value.
func (d Digest) IsZero() bool { return d == Digest{} }

// Known reports whether the bytes can be checked: the algorithm is known and the sum has
// its length.
func (d Digest) Known() bool {
	i := rank(d.Algorithm)
	return i >= 0 && len(d.Sum) == algorithms[i].size
}

// String returns "algorithm:sum", the sum in lower-case hex; "" for the zero value.
func (d Digest) String() string {
	if d.IsZero() {
		return ""
	}
	return d.Algorithm + ":" + d.sum()
}

// sum returns the text of the sum.
func (d Digest) sum() string {
	if !d.Known() { // nor was it when it was read
		return d.Sum
	}
	return hex.EncodeToString([]byte(d.Sum))
}

// MarshalText implements [encoding.TextMarshaler] with the form of String.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler]. Empty text is the zero value.
func (d *Digest) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*d = Digest{}
		return nil
	}
	parsed, err := ParseDigest(string(text))
	if err != nil {
		return err
	}
	*d = parsed
	return nil
}

// Digests are the digests of the same bytes under several algorithms.
type Digests []Digest

// ParseDigests reads digests separated by white space, as in the hash attribute of
// ResourceSync and of the Atom link extensions: "md5:… sha-256:…". It returns every
// digest that it can read, and an error that joins the errors of the others.
func ParseDigests(s string) (Digests, error) {
	var (
		ds   Digests
		errs []error
	)
	for field := range strings.FieldsSeq(s) {
		d, err := ParseDigest(field)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		ds = append(ds, d)
	}
	return ds, errors.Join(errs...)
}

// Get returns the first digest of an algorithm, by the algorithm's registered name.
func (ds Digests) Get(algorithm string) (Digest, bool) {
	for _, d := range ds {
		if d.Algorithm == algorithm {
			return d, true
		}
	}
	return Digest{}, false
}

// Strongest returns the first digest of the strongest algorithm that is known: SHA-512,
// SHA-384, SHA-256, SHA-224, SHA-1, MD5. Ok is false if none is known.
func (ds Digests) Strongest() (d Digest, ok bool) {
	best := -1
	for _, candidate := range ds {
		if i := rank(candidate.Algorithm); i > best && candidate.Known() {
			d, best = candidate, i
		}
	}
	return d, best >= 0
}

// String returns the digests separated by spaces, in their order.
func (ds Digests) String() string {
	var b strings.Builder
	for i, d := range ds {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(d.String())
	}
	return b.String()
}

// MarshalText implements [encoding.TextMarshaler] with the form of String.
func (ds Digests) MarshalText() ([]byte, error) { return []byte(ds.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler]. Like ParseDigests it keeps every
// digest that it can read.
func (ds *Digests) UnmarshalText(text []byte) (err error) {
	*ds, err = ParseDigests(string(text))
	return err
}
