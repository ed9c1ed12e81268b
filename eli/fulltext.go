package eli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/websync-go/websync/eli/rdf"
	"github.com/websync-go/websync/internal/syntax"
)

// Preferences choose among the expressions and formats of a legal resource. The zero
// value chooses one file: of the first expression, in HTML, XHTML, XML or PDF.
type Preferences struct {
	// Languages are language tags, codes of three letters or URIs of the EU's table, the
	// preferred one first: "fr" stands for fr-BE, too. Other languages come after them.
	Languages []string

	// AllLanguages chooses a file of each expression instead of the preferred one. With
	// Languages, only of those languages.
	AllLanguages bool

	// Formats are media types without parameters, the preferred one first. Others are not
	// chosen, except that application/xml stands for other XML of an act, too, such as
	// text/xml and application/akn+xml, and text/html for application/html. If empty,
	// they are those of annex 4.2: HTML, XHTML, XML and PDF. File types such as "pdf"
	// stand for their media types.
	Formats []string

	// AllFormats chooses a file of each of the Formats instead of the preferred one.
	AllFormats bool

	// Strict accepts media types only as annex 4.2 writes them, and no others for them:
	// https://www.iana.org/assignments/media-types/text/html, for example.
	Strict bool
}

// Check returns an error for the first language or format that is none.
func (p *Preferences) Check() error {
	for _, l := range p.Languages {
		if languageTag(lastStep(l)) == "" {
			return fmt.Errorf("eli: Preferences.Languages: %q must be a language such as fr, fra or fr-BE", l)
		}
	}
	for _, f := range p.Formats {
		if shortTypes[strings.ToLower(f)] == "" && !isMediaType(f) {
			return fmt.Errorf("eli: Preferences.Formats: %q must be a media type such as application/pdf, "+
				"or a file type such as pdf", f)
		}
	}
	return nil
}

// A Candidate is a URL that may have the full text.
type Candidate struct {
	URL        string
	MediaType  string // "" if not known
	Lang       string // of the expression; "" if not known
	Expression string // URI; "" for a blank node
	Format     string // URI; "" for a blank node

	// Step is where annex 4.2 has it: 1(a) to 1(d) for HTML, XHTML, XML and PDF by
	// media_type, 1(e) by format; and 2(a) for a URL of is_exemplified_by, 2(b) for the
	// URI of the format: "1(a), 2(b)". What the annex does not have is "tolerant".
	Step string
}

const stepTolerant = "tolerant"

// annexTypes are the media types of annex 4.2, in its order.
var annexTypes = []string{typeHTML, typeXHTML, typeXML, typePDF}

// FullText returns where the full text is, by annex 4.2: a list for each file that p
// chooses. The URLs of a list are in the order in which they are to be tried, until one
// of them is there. Without full text the result is empty.
//
// If p is not strict, media types may be stated in other ways, and a format without one
// has that of its URI's last step, or any. Its URI is tried after the URLs of
// is_exemplified_by.
func (r *LegalResource) FullText(p Preferences) [][]Candidate {
	lists, _ := r.choose(p)
	return lists
}

// choose returns what FullText does, and why formats are stated of which none is chosen.
func (r *LegalResource) choose(p Preferences) (lists [][]Candidate, reasons []string) {
	if len(p.Formats) == 0 {
		p.Formats = annexTypes
	}
	p.Formats = slices.Clone(p.Formats)
	for i, f := range p.Formats {
		p.Formats[i] = cmp.Or(shortTypes[strings.ToLower(f)], f)
	}
	groups := p.groups(r)
	if len(groups) == 0 && len(r.Expressions) > 0 {
		var all []*Expression
		for i := range r.Expressions {
			all = append(all, &r.Expressions[i])
		}
		if reason := p.reason(all); reason != "" {
			reasons = append(reasons, reason+", in the languages "+strings.Join(p.Languages, ", "))
		}
	}
	for _, expressions := range groups {
		before, together := len(lists), len(p.Formats)
		if p.AllFormats {
			together = 1
		}
		for f := range slices.Chunk(p.Formats, together) {
			var list candidates
			for _, x := range expressions {
				list.addExpression(x, f, p)
			}
			if len(list.all) > 0 {
				lists = append(lists, list.all)
			}
		}
		if reason := p.reason(expressions); reason != "" && len(lists) == before && len(reasons) < maxOfFormat {
			reasons = append(reasons, reason)
		}
	}
	return lists, reasons
}

// reason returns why no format of some expressions is chosen; "" if they have none.
func (p *Preferences) reason(expressions []*Expression) string {
	var types []string
	n := 0
	for _, x := range expressions {
		for i := range x.Formats {
			f := &x.Formats[i]
			n++
			t := cmp.Or(f.MediaType, f.Stated, "no media type")
			if len(f.ExemplifiedBy) == 0 && !syntax.IsHTTP(f.URI) {
				t += " without a URL"
			}
			if !slices.Contains(types, t) && len(types) < maxOfFormat {
				types = append(types, t)
			}
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d formats are stated (%.500s), and none of them is chosen by %s",
		n, strings.Join(types, ", "), strings.Join(p.Formats, ", "))
}

// groups returns the expressions that each file is chosen from.
func (p *Preferences) groups(r *LegalResource) [][]*Expression {
	rank := func(x *Expression) int {
		at := slices.IndexFunc(p.Languages, func(l string) bool { return x.in(l) != "" })
		if at < 0 {
			return len(p.Languages)
		}
		return at
	}
	var all []*Expression
	for i := range r.Expressions {
		x := &r.Expressions[i]
		if !p.AllLanguages || len(p.Languages) == 0 || rank(x) < len(p.Languages) {
			all = append(all, x)
		}
	}
	slices.SortStableFunc(all, func(a, b *Expression) int { return rank(a) - rank(b) })
	if !p.AllLanguages {
		return [][]*Expression{all}
	}
	groups := make([][]*Expression, len(all))
	for i := range all {
		groups[i] = all[i : i+1]
	}
	return groups
}

// in returns the tag of the language of an expression that is a wanted one; "" if none is.
func (x *Expression) in(wanted string) string {
	for _, tag := range x.Languages {
		if matchesLanguage(tag, wanted) {
			return tag
		}
	}
	return ""
}

// candidates is a list of Candidates, each URL once.
type candidates struct {
	all   []Candidate
	known map[string]bool
}

// addExpression adds the files of an expression in some formats: steps 1 and 2.
func (c *candidates) addExpression(x *Expression, formats []string, p Preferences) {
	for _, property := range [...]string{"media_type", "format"} {
		for _, media := range formats {
			step := stepTolerant
			switch at := slices.Index(annexTypes, media); {
			case at >= 0 && property == "format":
				step = "1(e)"
			case at >= 0:
				step = "1(" + string(rune('a'+at)) + ")"
			}
			if p.Strict {
				c.addStated(x, property, step, p, func(t statedType) bool { return t.value == rdf.IRI(registry+media) })
				continue
			}
			c.addStated(x, property, step, p, func(t statedType) bool { return strings.EqualFold(t.media, media) })
			c.addStated(x, property, stepTolerant, p, func(t statedType) bool { return kindOf(t.media) == media })
		}
	}
	if p.Strict {
		return
	}
	for _, media := range append(slices.Clone(formats), "") {
		for i := range x.Formats {
			if f := &x.Formats[i]; f.Stated == "" && f.MediaType == media {
				c.addFormat(x, f, media, stepTolerant, p)
			}
		}
	}
}

// addStated adds the formats of which a property states a type that is wanted.
func (c *candidates) addStated(x *Expression, property, step string, p Preferences, wanted func(statedType) bool) {
	for i := range x.Formats {
		f := &x.Formats[i]
		at := slices.IndexFunc(f.types, func(t statedType) bool { return t.property == property && wanted(t) })
		if at >= 0 {
			c.addFormat(x, f, f.types[at].media, step, p)
		}
	}
}

// addFormat adds the URLs of a format: step 2.
func (c *candidates) addFormat(x *Expression, f *Format, media, step string, p Preferences) {
	add := func(url, second string) {
		if !syntax.IsHTTP(url) || c.known[url] {
			return
		}
		if c.known == nil {
			c.known = make(map[string]bool)
		}
		c.known[url] = true
		by := step
		if step != stepTolerant {
			by += ", " + second
		}
		lang := x.Language
		for _, wanted := range slices.Backward(p.Languages) {
			lang = cmp.Or(x.in(wanted), lang)
		}
		c.all = append(c.all, Candidate{
			URL: url, MediaType: media, Lang: lang, Expression: x.URI, Format: f.URI, Step: by,
		})
	}
	for _, url := range f.ExemplifiedBy {
		add(url, "2(a)")
	}
	if len(f.ExemplifiedBy) == 0 || !p.Strict {
		if len(f.ExemplifiedBy) > 0 {
			step = stepTolerant
		}
		add(f.URI, "2(b)")
	}
}
