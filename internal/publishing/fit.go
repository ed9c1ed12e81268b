package publishing

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
)

const (
	defaultDescription = 64 << 10
	cutTitle           = 1 << 10 // what is left of a title that does not fit
	longLink           = 8 << 10 // a link that is needed, or to a body, has no more
	longValue          = 256     // nor have its type, language and coding
	mostReported       = 4096    // items whose cuts are known to be reported
)

var ruleLong = websync.Rule{
	Name:     "publish-long",
	Severity: websync.SeverityWarning,
	Summary:  "a description that is longer than Publisher.MaxDescription: what does not fit is left out",
}

var errLong = errors.New("its id and the links that it needs are longer than Publisher.MaxDescription")

// isLong reports whether a description is longer than MaxDescription, and not the
// publisher's own work.
func (s *Site) isLong(item *websync.Item) bool {
	return s.longest > 0 && item.Resource.Size() > s.longest && !s.Locator.Owns(item.Source)
}

// fit leaves out of a description what does not fit into MaxDescription, each part as a
// whole but the title: there is room first for the id, the content and the links via and
// describedby, which always stay, then for the title, the summary, the other links, and
// last for foreign elements. The result depends on the item only.
func (s *Site) fit(item *websync.Item) {
	if !s.isLong(item) {
		return
	}
	item.Bodies = slices.Clone(item.Bodies)
	for i := range item.Bodies {
		item.Bodies[i].Link = slim(item.Bodies[i].Link)
	}
	whole := item.Resource
	f := fitting{room: s.longest - len(whole.ID), left: map[string]bool{}}
	r := websync.Resource{ID: whole.ID, Modified: whole.Modified, Published: whole.Published, Content: slim(whole.Content)}
	links := slices.Clone(whole.Links)
	f.room -= r.Content.Size()
	for i := range links {
		if isNeeded(&links[i]) {
			links[i] = slim(links[i])
			f.room -= links[i].Size()
		}
	}
	r.Lang = f.text("lang", whole.Lang)
	if r.Title = f.text("title", whole.Title); r.Title == "" {
		r.Title = shortened(whole.Title, min(f.room, cutTitle))
		f.room -= len(r.Title)
	}
	r.Summary = f.text("summary", whole.Summary)
	r.Links = slices.DeleteFunc(links, func(l websync.Link) bool { return !isNeeded(&l) && !f.takes("links", l.Size()) })
	for _, author := range whole.Authors {
		if f.takes("authors", len(author.Name)+len(author.Email)+len(author.URI)) {
			r.Authors = append(r.Authors, author)
		}
	}
	if f.takes("origin", whole.Origin.Size()) {
		r.Origin = whole.Origin
	}
	for _, x := range whole.Elements {
		if f.takes("elements", len(x.XML)) {
			r.Elements = append(r.Elements, x)
		}
	}
	item.Resource = r
	s.reportCut(item, &whole, f.left)
}

// A fitting has the room that is left, and the names of the parts that did not fit.
type fitting struct {
	room int
	left map[string]bool
}

func (f *fitting) takes(part string, size int) bool {
	if size > max(f.room, 0) {
		f.left[part] = true
		return false
	}
	f.room -= size
	return true
}

func (f *fitting) text(part, text string) string {
	if !f.takes(part, len(text)) {
		return ""
	}
	return text
}

// isNeeded reports whether a link always stays.
func isNeeded(l *websync.Link) bool {
	return IsVia(l.Rel) || syntax.RelationName(l.Rel) == "describedby"
}

// slim returns a link without what makes it long, except for its URL and its relation.
func slim(l websync.Link) websync.Link {
	if l.Size() <= longLink {
		return l
	}
	strongest, ok := l.Digests.Strongest()
	l.Title, l.Attrs, l.Digests = "", nil, nil
	if ok {
		l.Digests = websync.Digests{strongest}
	}
	for _, value := range []*string{&l.Type, &l.Lang, &l.Encoding} {
		if len(*value) > longValue {
			*value = ""
		}
	}
	return l
}

// shortened returns the first runes of a text and an ellipsis, in at most n bytes.
func shortened(text string, n int) string {
	const ellipsis = "…"
	if n -= len(ellipsis); n <= 0 || text == "" {
		return ""
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + ellipsis
}

// reportCut reports, once, that parts of a description are left out.
func (s *Site) reportCut(item *websync.Item, whole *websync.Resource, left map[string]bool) {
	if s.settings.Report == nil {
		return
	}
	s.mu.Lock()
	at := item.Time.UnixMicro() // which is one entry's, in each generation
	_, before := s.reported[at]
	if s.reported == nil || len(s.reported) == mostReported {
		s.reported = make(map[int64]struct{})
	}
	s.reported[at] = struct{}{}
	s.mu.Unlock()
	if before {
		return
	}
	var parts []string
	for _, part := range []string{"title", "summary", "links", "authors", "origin", "elements", "lang"} {
		if left[part] {
			parts = append(parts, part)
		}
	}
	s.settings.Report(ruleLong.Finding(s.URL(), 0, 0, "", []byte(item.Resource.ID), fmt.Sprintf(
		"the description of %.200q has %d bytes, more than %d: what does not fit is left out (%s)",
		item.Resource.ID, whole.Size(), s.longest, cmp.Or(strings.Join(parts, ", "), "of its links"))))
}
