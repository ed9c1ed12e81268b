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
	longNeeded         = 2 << 10 // a link of a longer URL and relation is not needed
	mostNeeded         = 4       // nor is one after so many
	mostReported       = 4096    // items whose cuts are known to be reported
)

var ruleLong = websync.Rule{
	Name:     "publish-long",
	Severity: websync.SeverityWarning,
	Summary: "a description that is longer than Publisher.MaxDescription, or than there is room in its document: " +
		"what does not fit is left out",
}

var errLong = errors.New("its id, its content's URL and the links that it needs are longer than Publisher.MaxDescription")

// isLong reports whether a description is longer than a limit, and not the publisher's
// own work.
func (s *Site) isLong(item *websync.Item, limit int) bool {
	return item.Resource.Size() > limit && !s.Locator.Owns(item.Source)
}

// A Budget limits the descriptions of a document that lists entries in an order that
// never changes. Set the fields before first use.
type Budget struct {
	Site *Site
	// Bytes is what the descriptions of Size entries may take: a quarter at once, the
	// rest with each entry, so that no entry takes what others need. If negative, there
	// is no limit.
	Bytes, Size int

	entries int
	spent   int64
}

// Fit leaves out of the description of the next entry what has no room.
func (b *Budget) Fit(item *websync.Item) {
	if b.entries++; b.Bytes < 0 || b.Site.Locator.Owns(item.Source) {
		return
	}
	room := int64(b.Bytes)/4 + int64(b.Bytes)*3/4*int64(b.entries)/int64(b.Size) - b.spent
	b.Site.fit(item, int(min(int64(b.Site.longest), room)))
	b.spent += int64(item.Resource.Size())
}

// fit leaves out of a description what does not fit into a limit, each part as a whole
// but the title: there is room first for the id, the content and the first links via and
// describedby, which always stay, then for the title, the summary, the other links, and
// last for foreign elements. The result depends on the item and the limit only.
func (s *Site) fit(item *websync.Item, limit int) {
	if !s.isLong(item, limit) {
		return
	}
	item.Bodies = slices.Clone(item.Bodies)
	for i := range item.Bodies {
		item.Bodies[i].Link = slim(item.Bodies[i].Link)
	}
	whole := item.Resource
	f := fitting{room: limit - len(whole.ID), left: map[string]bool{}}
	r := websync.Resource{ID: whole.ID, Modified: whole.Modified, Published: whole.Published, Content: slim(whole.Content)}
	links := slices.Clone(whole.Links)
	f.room -= r.Content.Size()
	needed := make([]bool, len(links))
	for i, n := 0, 0; i < len(links) && n < mostNeeded; i++ {
		if needed[i] = isNeeded(&links[i]); needed[i] {
			links[i] = slim(links[i])
			f.room -= links[i].Size()
			n++
		}
	}
	r.Lang = f.text("lang", whole.Lang)
	if r.Title = f.text("title", whole.Title); r.Title == "" {
		r.Title = shortened(whole.Title, min(f.room, cutTitle))
		f.room -= len(r.Title)
	}
	r.Summary = f.text("summary", whole.Summary)
	for i := range links {
		if needed[i] || f.takes("links", links[i].Size()) {
			r.Links = append(r.Links, links[i])
		}
	}
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
	s.reportCut(item, whole.Size(), limit, f.left)
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
	return len(l.Href)+len(l.Rel) <= longNeeded && (IsVia(l.Rel) || syntax.RelationName(l.Rel) == "describedby")
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
func (s *Site) reportCut(item *websync.Item, size, limit int, left map[string]bool) {
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
		"the description of %.200q has %d bytes, and room for %d: what does not fit is left out (%s)",
		item.Resource.ID, size, max(limit, 0), cmp.Or(strings.Join(parts, ", "), "of its links"))))
}
