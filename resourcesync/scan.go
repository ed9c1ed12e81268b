package resourcesync

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/document"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/internal/xmlscan"
	"github.com/websync-go/websync/sitemap"
)

// Limits on what one entry, or the document itself, has.
const (
	maxText    = 1 << 20 // bytes of the values of md and ln
	maxLinks   = 4096
	maxDigests = 64 // of one md or ln
)

// A scanner reads md and ln, for a Reader and for Validate. The reader of the sitemap
// gives it their start tags.
type scanner struct {
	reports document.Reports
	base    string // absolute HTTP URL that relative references are resolved against; may be empty

	head    Head
	headAt  position   // of its md
	linksAt []position // of its links
	known   bool       // the document has an md
	root    View       // of the element of the document at hand
	size    int        // bytes of the values of the document's elements
	view    View       // of the entry at hand
	entry   position   // of the entry that view belongs to
	full    bool       // that view has passed a limit

	tag *sitemap.Tag // of the element at hand
	to  *View        // view, or root
	// positions are only found if findings are reported
	positions bool
	at        position // of the element at hand
	local     string   // its name
	spaced    bool     // another namespace has been reported
	empty     bool     // the document has been read to its end, and has no entries

	twice int // entries with two md, which a Source does not rely on
}

func newScanner(name, url string) *scanner {
	s := &scanner{reports: document.Reports{Format: "resourcesync", Document: name}}
	if syntax.HTTPHost(url) > 0 {
		s.base = url
	}
	return s
}

// turn returns the view of an entry. It resets the view if the entry is another one than
// before.
func (s *scanner) turn(v *sitemap.View) *View {
	if at := (position{v.Line, v.Column}); at != s.entry {
		s.view.reset()
		s.entry, s.full = at, false
	}
	s.view.View = v
	return &s.view
}

// take reads an element, if it is md or ln.
func (s *scanner) take(t *sitemap.Tag) bool {
	if t.Space != Namespace && !isNear(t.Space) {
		return false
	}
	s.tag, s.local = t, t.Local
	if s.positions {
		s.at.line, s.at.column = t.Position()
	}
	switch {
	case t.Space != Namespace && !s.spaced:
		s.spaced = true
		s.report(ruleNamespace, t.Space, "the namespace is not "+Namespace)
	case t.Local != "md" && t.Local != "ln":
		if s.local = strings.ToLower(t.Local); s.local != "md" && s.local != "ln" {
			s.local = t.Local
			s.report(ruleElement, "", "the elements are md and ln")
			return false
		}
		s.report(ruleElement, t.Local, "the element is named "+s.local)
	}
	if t.Entry == nil {
		return s.takeRoot(t)
	}
	s.to = s.turn(t.Entry)
	if s.local == "md" {
		return s.metadata(t)
	}
	s.link(t)
	return true
}

// takeRoot reads an element of the document itself.
func (s *scanner) takeRoot(t *sitemap.Tag) bool {
	s.root.reset()
	s.root.known = s.known
	s.to = &s.root
	if s.size > maxText || len(s.head.Links) >= maxLinks {
		s.report(ruleSize, "", "more than 1 MiB of values, or 4,096 links, of one document: left out")
		return true
	}
	var k keeper
	if s.local == "md" {
		if !s.metadata(t) {
			return false
		}
		s.headAt, s.known = s.at, true
		k.metadata(&s.head.Metadata, &s.root.Metadata, nil)
	} else {
		s.link(t)
		s.head.Links = append(s.head.Links, k.links(nil, s.root.Links)...)
		s.linksAt = append(s.linksAt, s.at)
	}
	s.size += len(s.root.buf.Bytes)
	return true
}

// isNear reports whether a namespace can only be meant as that of md and ln. A prefix
// that is not declared stands for itself.
func isNear(space string) bool {
	if space == "rs" {
		return true
	}
	space = strings.ToLower(strings.Trim(space, "/# "))
	_, space, ok := strings.Cut(space, "://")
	return ok && strings.TrimPrefix(space, "www.") == "openarchives.org/rs/terms"
}

// report reports on the element at hand.
func (s *scanner) report(rule Rule, value, message string) {
	s.reports.Add(rule, s.at.line, s.at.column, s.local, []byte(value), message)
}

// doubt reports on an attribute of the element at hand, and keeps it as it is.
func (s *scanner) doubt(rule Rule, attr string, value []byte, message string) {
	s.reports.Add(rule, s.at.line, s.at.column, s.local, value, attr+": "+message)
	s.keep("", attr, value)
}

func (s *scanner) keep(space, local string, value []byte) {
	s.to.faulty = append(s.to.faulty, AttrView{space, local, s.to.add(value)})
}

// fits reports whether another element of the entry is read.
func (s *scanner) fits() bool {
	if len(s.to.buf.Bytes) <= maxText && len(s.to.Links) < maxLinks {
		return true
	}
	if !s.full {
		s.full = true
		s.report(ruleSize, "", "more than 1 MiB of values, or 4,096 links, of one entry: left out")
	}
	return false
}

// metadata reads an md. It returns false for the second one.
func (s *scanner) metadata(t *sitemap.Tag) bool {
	v := s.to
	if v.known {
		s.repeated(v)
		return false
	}
	if v.known, v.at = true, s.at; !s.fits() {
		return true
	}
	m := &v.Metadata
	attrs, faulty := len(v.attrs), len(v.faulty)
	s.attrs(t, func(local string, value []byte) bool {
		switch local {
		case "capability":
			m.Capability = s.capability(value)
		case "at":
			m.At = s.time(local, value)
		case "completed":
			m.Completed = s.time(local, value)
		case "from":
			m.From = s.time(local, value)
		case "until":
			m.Until = s.time(local, value)
		case "datetime":
			m.Datetime = s.time(local, value)
		case "change":
			m.Change = s.change(value)
		case "hash":
			m.Digests = s.digests(value)
		case "length":
			m.Length = s.length(value)
		case "type":
			m.Type = v.add(xmlscan.Trim(value))
		case "encoding":
			m.Encoding = v.add(xmlscan.Trim(value))
		case "path":
			m.Path = s.path(value)
		default:
			return false
		}
		return true
	})
	m.Attrs, m.Faulty = v.attrs[attrs:len(v.attrs):len(v.attrs)], v.faulty[faulty:len(v.faulty):len(v.faulty)]
	return true
}

// repeated reports the second md of v.
func (s *scanner) repeated(v *View) {
	s.report(ruleMetadataRepeated, "", "md is there already: the first counts")
	if !v.twice {
		v.twice = true
		s.twice++
	}
}

// link reads an ln.
func (s *scanner) link(t *sitemap.Tag) {
	if !s.fits() {
		return
	}
	v := s.to
	n := len(v.Links)
	v.Links = slices.Grow(v.Links, 1)[:n+1]
	l := &v.Links[n]
	*l = LinkView{at: s.at}
	attrs, faulty := len(v.attrs), len(v.faulty)
	s.attrs(t, func(local string, value []byte) bool {
		switch local {
		case "rel":
			l.Rel = s.relation(value)
		case "href":
			l.Href = s.href(value)
		case "modified":
			l.Modified = s.time(local, value)
		case "hash":
			l.Digests = s.digests(value)
		case "length":
			l.Length = s.length(value)
		case "type":
			l.Type = v.add(xmlscan.Trim(value))
		case "encoding":
			l.Encoding = v.add(xmlscan.Trim(value))
		case "path":
			l.Path = s.path(value)
		case "pri":
			l.Priority = s.priority(value)
		default:
			return false
		}
		return true
	})
	l.Attrs, l.Faulty = v.attrs[attrs:len(v.attrs):len(v.attrs)], v.faulty[faulty:len(v.faulty):len(v.faulty)]
	if len(l.Rel) == 0 {
		s.report(ruleRelationMissing, "", "a link must have a rel")
	}
	if len(l.Href) == 0 {
		s.report(ruleHrefMissing, "", "a link must have an href")
	}
}

// attrs passes the attributes of an element to read, which returns false for those that
// the element does not have, and keeps those of other namespaces.
func (s *scanner) attrs(t *sitemap.Tag, read func(local string, value []byte) bool) {
	for i := range t.Attrs() {
		space, local, value := t.Attr(i)
		switch {
		case space == "":
		case space == Namespace, isNear(space):
			s.report(ruleAttributePrefix, local, "the attributes of "+s.local+" have no prefix")
		default:
			s.to.attrs = append(s.to.attrs, AttrView{space, local, s.to.add(value)})
			continue
		}
		if !read(local, value) {
			s.reports.Add(ruleAttribute, s.at.line, s.at.column, s.local, value,
				fmt.Sprintf("%s has no attribute %.100q", s.local, local))
			s.keep(space, local, value)
		}
	}
}

func (s *scanner) capability(value []byte) Capability {
	text := xmlscan.Trim(value)
	for i := range forms {
		if c := forms[i].capability; string(text) == string(c) {
			return c
		}
	}
	if c := Capability(text).folded(); c.Known() {
		s.doubt(ruleCapability, "capability", value, "it is written "+string(c))
		return c
	}
	rule := ruleCapability
	if !Capability(text).inDoubt() {
		rule = ruleCapabilityOther
	}
	s.doubt(rule, "capability", value, "not a capability that Z39.99 defines")
	return Capability(text)
}

func (s *scanner) change(value []byte) Change {
	text := xmlscan.Trim(value)
	for _, c := range [...]Change{Updated, Created, Deleted} {
		if string(text) == string(c) {
			return c
		}
	}
	for _, c := range [...]Change{Updated, Created, Deleted} {
		if syntax.EqualFold(text, string(c)) {
			s.doubt(ruleChange, "change", value, "it is written "+string(c))
			return c
		}
	}
	s.doubt(ruleChange, "change", value, "not created, updated or deleted")
	return ""
}

func (s *scanner) time(attr string, value []byte) websync.Datetime {
	d, err := s.tag.ParseDatetime(value)
	if err == nil {
		if i := len("2006-01-02"); len(value) > i && (value[i] == 't' || value[len(value)-1] == 'z') {
			s.doubt(ruleTime, attr, value, "T and Z are written in capitals")
		}
		return d
	}
	d, departure, lenientErr := websync.ParseDatetimeLenient(string(value))
	if lenientErr != nil {
		departure = lenientErr.Error()
	}
	s.doubt(ruleTime, attr, value, "not a W3C datetime: "+departure)
	return d
}

func (s *scanner) length(value []byte) int64 {
	n, fault := document.Length(value)
	if fault != "" {
		s.doubt(ruleLength, "length", value, fault)
	}
	return n
}

const lowestPriority = 999_999

func (s *scanner) priority(value []byte) (n int) {
	digits := xmlscan.Trim(value)
	if len(digits) <= len("999999") {
		for _, c := range digits {
			if !syntax.IsDigit(c) {
				n = 0
				break
			}
			n = n*10 + int(c-'0')
		}
	}
	if n == 0 {
		s.doubt(rulePriority, "pri", value, "not an integer from 1 to 999,999")
	}
	return n
}

// relation reads a rel.
func (s *scanner) relation(value []byte) []byte {
	rel, capitals := s.to.buf.AddRelation(value)
	if capitals {
		s.doubt(ruleRelation, "rel", value, "names of relations are written in small letters")
	}
	return s.to.buf.Of(rel)
}

// href reads a URI. A relative one is resolved, if there is something to resolve it
// against.
func (s *scanner) href(value []byte) []byte {
	uri := xmlscan.Trim(value)
	if len(uri) == 0 || syntax.Scheme(uri) > 0 {
		return s.to.add(uri)
	}
	s.doubt(ruleHref, "href", value, "a relative reference")
	if s.base == "" {
		return s.to.add(uri)
	}
	return s.to.add(syntax.AppendResolved(nil, s.base, uri))
}

// path reads where a bitstream is in its package.
func (s *scanner) path(value []byte) []byte {
	fault := pathFault(value)
	if fault == "" {
		return s.to.add(value)
	}
	path := s.to.add(slices.Concat([]byte("/"), bytes.TrimPrefix(xmlscan.Trim(value), []byte("./"))))
	if pathFault(path) != "" {
		s.doubt(rulePath, "path", value, fault)
		return nil
	}
	s.doubt(rulePath, "path", value, fault+": taken for one")
	return path
}

// pathFault checks a path of a package (Z39.99 §11.2): it begins with a slash and leads
// to a file of the package on every system.
func pathFault[T syntax.Text](path T) string {
	if len(path) == 0 || path[0] != '/' {
		return "a path begins with a slash"
	}
	start := 1
	for i := 1; i <= len(path); i++ {
		if i < len(path) && path[i] != '/' {
			switch c := path[i]; {
			case c < ' ', c == 0x7f:
				return "a control character"
			case c == '\\', c == ':' && i == 2 && syntax.IsAlpha(path[1]):
				return "a backslash or a drive letter"
			}
			continue
		}
		switch string(path[start:i]) {
		case "":
			return "an empty segment, or a slash at the end"
		case ".", "..":
			return "a segment that is . or .."
		}
		start = i + 1
	}
	return ""
}

// digests reads a hash.
func (s *scanner) digests(value []byte) []DigestView {
	v := s.to
	from := len(v.digests)
	fault := ""
	for rest := value; len(rest) > 0; {
		field := rest
		if end := bytes.IndexByte(rest, ' '); end >= 0 {
			field, rest = rest[:end], rest[end+1:]
		} else {
			rest = nil
		}
		if len(v.digests)-from >= maxDigests {
			fault = "more than 64 digests: the others are left out"
			break
		}
		if colon := bytes.IndexByte(field, ':'); colon > 0 {
			if d, ok := v.buf.AddHex(field[:colon], field[colon+1:]); ok {
				v.addDigest(d)
				continue
			}
		}
		for part := range bytes.FieldsSeq(field) { // line breaks by reference
			if wrong := v.addOddDigest(part); fault == "" {
				fault = wrong
			}
		}
	}
	if len(v.digests) == from && fault == "" {
		fault = "no digest"
	}
	if fault != "" {
		s.doubt(ruleHash, "hash", value, fault)
	}
	return v.digests[from:len(v.digests):len(v.digests)]
}

func (v *View) addDigest(d document.Digest) {
	v.digests = append(v.digests, DigestView{d.Algorithm, v.buf.Of(d.Sum)})
}

// addOddDigest adds an algorithm:digest in another form, or of another algorithm. It
// returns what is wrong with it; one that can't be read is left out.
func (v *View) addOddDigest(field []byte) (fault string) {
	d, err := v.buf.AddDigest(field)
	if err != nil {
		return err.Error()
	}
	v.addDigest(d)
	fault = syntax.DigestFault(field)
	if name, _, _ := bytes.Cut(field, []byte(":")); fault == "" && string(name) != d.Algorithm {
		fault = "the algorithm is written " + d.Algorithm
	}
	return fault
}
