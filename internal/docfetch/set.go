package docfetch

import (
	"crypto/sha256"
	"fmt"

	"github.com/websync-go/websync/internal/syntax"
)

// A Set holds the documents of a pass: those that were requested, and where servers
// redirected to. The zero Set is empty.
type Set struct {
	asked map[Key]bool
	read  map[Key]string // the requested URL by the URL after a redirect
}

// A Key is a digest of the canonical form of a URL; equivalent URLs have the same.
// However long the URLs are, a Set is short.
type Key [16]byte

// KeyOf returns the Key of a URL.
func KeyOf(url string) (k Key) {
	sum := sha256.Sum256([]byte(syntax.Canonical(url)))
	copy(k[:], sum[:])
	return k
}

// Ask records that a document is requested.
func (s *Set) Ask(k Key) {
	if s.asked == nil {
		s.asked, s.read = make(map[Key]bool), make(map[Key]string)
	}
	s.asked[k] = true
}

// Asked reports whether a document was requested.
func (s *Set) Asked(k Key) bool { return s.asked[k] }

// ReadAs returns the URL of the document whose request was redirected to k; "" if there
// is none.
func (s *Set) ReadAs(k Key) string { return s.read[k] }

// Read records that a document was read that was asked for.
func (s *Set) Read(d *Document) {
	if final := KeyOf(d.Final); !s.asked[final] {
		s.read[final] = d.URL
	}
}

// Add records that a document was requested and read, unless CheckNotInSet returns an
// error.
func (s *Set) Add(d *Document) error {
	s.Ask(KeyOf(d.URL))
	if err := s.CheckNotInSet(d); err != nil {
		return err
	}
	s.Read(d)
	return nil
}

// CheckNotInSet returns an error if the server redirected d to another document of the
// set, since the entries of d itself are then unknown. d may be read several times.
func (s *Set) CheckNotInSet(d *Document) error {
	final, other := KeyOf(d.Final), s.ReadAs(KeyOf(d.Final))
	if final != KeyOf(d.URL) && (s.Asked(final) || other != "" && other != d.URL) {
		return RedirectError(d.Final)
	}
	return nil
}

// RedirectError returns the error of a document that redirects to another one of its set.
func RedirectError(to string) error {
	return fmt.Errorf("redirects to %s, which is another document of the set: its own entries are not known", to)
}
