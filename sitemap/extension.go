package sitemap

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/element"
	"github.com/websync-go/websync/internal/xmlscan"
)

// XHTMLNamespace is the namespace of the link elements of alternates.
const XHTMLNamespace = "http://www.w3.org/1999/xhtml"

// An Extension is an element of another namespace that entries of a urlset can have.
// Those for images, videos and news are in package sitemap/google.
type Extension struct {
	// Space and Local are the name of the element.
	Space, Local string

	// Check reports each departure of one such element from its specification. The
	// element is well-formed. Now is ValidateOptions.Now, the zero Time for writers.
	// Document, Line and Column of the findings are filled in by the caller. Check must
	// be safe for concurrent use.
	Check func(x *websync.Element, now time.Time, report func(websync.Finding))

	// PerEntry and PerDocument limit the number of such elements, and EntryRule and
	// DocumentRule are the rules that one more breaks. If zero, there is no limit.
	PerEntry, PerDocument   int
	EntryRule, DocumentRule Rule
}

// An Appender writes the elements of one extension straight into a document, without a
// [websync.Element] for each. What it appends is not checked.
type Appender struct {
	// Prefix and Space are a namespace declaration of the root element, for the elements
	// that Document and Entry append.
	Prefix, Space string

	// Document appends elements of the document itself. They come before Head.Elements.
	Document func(b []byte) []byte

	// Entry appends elements of one entry. They come before Entry.Elements.
	Entry func(b []byte, e *Entry) []byte
}

// An extensions holds the Extensions of a validator or a writer.
type extensions []Extension

// of returns the index of the extension that has a namespace; -1 if there is none.
func (all extensions) of(space string) int {
	return slices.IndexFunc(all, func(x Extension) bool { return x.Space == space })
}

// near returns the namespace of the extension, or of alternates, that space is a variant
// of; "" if space is right, or unlike all of them.
func (all extensions) near(space string) string {
	if all.of(space) >= 0 || space == XHTMLNamespace {
		return ""
	}
	for i := range all {
		if strings.Contains(space, stem(all[i].Space)) {
			return all[i].Space
		}
	}
	if strings.EqualFold(strings.TrimRight(strings.Replace(space, "https:", "http:", 1), "/"), XHTMLNamespace) {
		return XHTMLNamespace
	}
	return ""
}

// stem returns a namespace without the parts in which variants of it differ.
func stem(space string) string {
	_, space, _ = strings.Cut(space, "://")
	space = strings.TrimPrefix(space, "www.")
	return space[:max(0, strings.LastIndexByte(space, '/'))]
}

// belongs reports whether an entry can have an element with this name.
func (all extensions) belongs(space, local string) bool {
	if i := all.of(space); i >= 0 {
		return local == all[i].Local
	}
	return space == XHTMLNamespace && local == "link"
}

// check reports the faults of a single element. It returns an alternate as a Node. It
// returns an error if it finds that the element is not well-formed, which it does not
// always do.
func (all extensions) check(
	x *websync.Element, now time.Time, report func(websync.Finding),
) (alternate *element.Node, err error) {
	switch i := all.of(x.Space); {
	case i >= 0 && x.Local != all[i].Local:
		report(ruleExtUnknown.Finding("", 0, 0, x.Local, nil, "the extension has no element "+shorten(x.Local)+" here"))
	case i >= 0:
		all[i].Check(x, now, report)
	case x.Space == XHTMLNamespace:
		n, err := element.Parse(x)
		if err != nil || !isAlternate(n) {
			return nil, err
		}
		checkAlternate(n, report)
		return n, nil
	}
	return nil, nil
}

// refusal returns why an entry can't have an element; nil if it can have it. It returns
// an alternate as a Node.
func (all extensions) refusal(x *websync.Element) (alternate *element.Node, wrong *websync.Finding) {
	refuse := func(rule Rule, message string) {
		f := rule.Finding("", 0, 0, x.Local, nil, message)
		wrong = &f
	}
	if x.Space == "" || x.Space == Namespace || isNear(x.Space) {
		refuse(ruleExtUnknown, "an extension has a namespace of its own")
		return nil, wrong
	}
	var err error
	if x.Space != XHTMLNamespace {
		err = element.Check(x)
	}
	right := all.near(x.Space)
	if err == nil && right == "" {
		alternate, err = all.check(x, time.Time{}, func(f websync.Finding) {
			if f.Severity == websync.SeverityError && wrong == nil {
				wrong = &f
			}
		})
	}
	switch {
	case err != nil:
		refuse(ruleExtUnknown, "raw element: "+err.Error())
	case right != "":
		refuse(ruleExtNamespace, "the namespace is "+right)
	}
	return alternate, wrong
}

// refused returns the error of a writer for a finding.
func refused(loc string, x *websync.Element, f *websync.Finding) error {
	message := f.Message
	if f.Element != "" && f.Element != x.Local {
		message = f.Element + ": " + message
	}
	return &websync.EntryError{Format: "sitemap", ID: loc, Element: x.Local, Err: errors.New(message)}
}

// A Tag is the start tag of an extension element. It belongs to the [Reader].
type Tag struct {
	Space, Local string
	Entry        *View // the entry that has it, as far as it was read; nil: the document

	attrs  []xmlscan.Attr
	reader *Reader
}

// Position returns where the element starts, as Entry.Line and Entry.Column.
func (t *Tag) Position() (line, column int) { return t.reader.xml.Position() }

// ParseDatetime is [websync.ParseDatetime]. It is faster if text equals the last lastmod,
// as times in an entry often do.
func (t *Tag) ParseDatetime(text []byte) (websync.Datetime, error) {
	if r := t.reader; len(text) > 0 && string(text) == string(r.lastText) {
		return r.lastMod, nil
	}
	return websync.ParseDatetime(string(text))
}

// Attrs returns the number of attributes, without namespace declarations.
func (t *Tag) Attrs() int { return len(t.attrs) }

// Attr returns attribute i, counted from 0 in the order of the document. The value is
// valid until Take returns.
func (t *Tag) Attr(i int) (space, local string, value []byte) {
	a := &t.attrs[i]
	return a.Name.Space, a.Name.Local, a.Value
}

// take calls Take with the current element, and passes over its content if Take returns
// true. Its errors are those of child.
func (r *Reader) take(name xmlscan.Name, entry *View) (taken bool, err error) {
	if r.Take == nil {
		return false, nil
	}
	r.start = Tag{name.Space, name.Local, entry, r.xml.Attrs(), r}
	if !r.Take(&r.start) {
		return false, nil
	}
	var line, column int
	if r.Report != nil || r.Strict {
		line, column = r.xml.Position()
	}
	r.parent = false
	text, err := r.xml.ElementText()
	switch {
	case err == nil && len(text) == 0 && !r.parent:
	case err == xmlscan.ErrStopped:
		r.interrupted(ruleNesting, "an entry inside of "+shorten(name.Local))
	case err != nil:
	case hasEntry(text, "</"):
		r.reports.Doubt(ruleNesting, line, column, name.Local, nil, textWithEntry)
	case r.parent || len(xmlscan.Trim(text)) > 0:
		r.reports.Add(ruleText, line, column, name.Local, text, "content in an element that has none")
	}
	return true, err
}
