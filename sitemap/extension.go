package sitemap

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
)

// The namespaces of the extensions that the package knows.
const (
	ImageNamespace = "http://www.google.com/schemas/sitemap-image/1.1"
	VideoNamespace = "http://www.google.com/schemas/sitemap-video/1.1"
	NewsNamespace  = "http://www.google.com/schemas/sitemap-news/0.9"
	XHTMLNamespace = "http://www.w3.org/1999/xhtml"
)

var errNotElement = errors.New("not one element")

// An extension is the elements that a namespace has, and the rules they break.
type extension struct {
	space, local         string
	child, value, length Rule
	children             []childSpec
}

// A childSpec is what is demanded of a child element.
type childSpec struct {
	name     string
	required bool
	max      int                      // how many there can be; 0: one
	chars    int                      // how long the text can be; 0: no limit
	check    func(text string) string // returns what is wrong
	old      bool                     // no longer used
	empty    bool                     // the text can be empty
	attrs    func(*node) string       // returns what is wrong
	children []childSpec
}

var extensions = []*extension{imageExtension, videoExtension, newsExtension}

func extensionOf(space string) *extension {
	for _, x := range extensions {
		if x.space == space {
			return x
		}
	}
	return nil
}

// A fault is what is wrong with an extension element.
type fault struct {
	rule           Rule
	element, value string
	message        string
}

func (f *fault) Error() string {
	if f.element == "" {
		return f.message
	}
	return f.element + ": " + f.message
}

// check tells all that is wrong with n, an element of x.
func (x *extension) check(n *node, found func(fault)) {
	if n.local != x.local {
		found(fault{ruleExtUnknown, n.local, "", "the extension has no such element here"})
		return
	}
	x.checkChildren(n, x.children, found)
	if x == videoExtension && n.child("content_loc").text == "" && n.child("player_loc").text == "" {
		found(fault{x.child, n.local, "", "neither content_loc nor player_loc"})
	}
}

func (x *extension) checkChildren(n *node, specs []childSpec, found func(fault)) {
	counts := make([]int, len(specs))
	for i := range n.children {
		c := &n.children[i]
		if c.space != x.space {
			continue
		}
		k := 0
		for k < len(specs) && specs[k].name != c.local {
			k++
		}
		if k == len(specs) {
			found(fault{ruleExtUnknown, c.local, c.text, "the extension has no such element in " + n.local})
			continue
		}
		counts[k]++
		if spec := &specs[k]; counts[k] == max(spec.max, 1)+1 {
			found(fault{x.child, c.local, c.text, fmt.Sprintf("more than %d of one %s", max(spec.max, 1), n.local)})
		} else {
			x.checkChild(c, spec, found)
		}
	}
	for k, spec := range specs {
		if spec.required && counts[k] == 0 {
			found(fault{x.child, n.local, "", "no " + spec.name})
		}
	}
}

func (x *extension) checkChild(c *node, spec *childSpec, found func(fault)) {
	if spec.old {
		found(fault{ruleExtDeprecated, c.local, c.text, "no longer used"})
	}
	if len(spec.children) > 0 {
		x.checkChildren(c, spec.children, found)
		return
	}
	switch {
	case c.text == "" && spec.required:
		found(fault{x.child, c.local, "", "empty, though it is required"})
	case c.text == "" && spec.empty:
	case c.text == "":
		found(fault{x.value, c.local, "", "empty"})
	case spec.chars > 0 && utf8.RuneCountInString(c.text) > spec.chars:
		found(fault{x.length, c.local, c.text, fmt.Sprintf("more than %d characters", spec.chars)})
	case spec.check != nil:
		if message := spec.check(c.text); message != "" {
			found(fault{x.value, c.local, c.text, message})
		}
	}
	if spec.attrs != nil {
		if message := spec.attrs(c); message != "" {
			found(fault{x.value, c.local, c.text, message})
		}
	}
}

// checkNode returns the first error of an extension element; nil if it has none, or is of
// no known extension.
func checkNode(n *node) (err error) {
	found := func(f fault) {
		if f.rule.Severity == websync.SeverityError && err == nil {
			err = &f
		}
	}
	if near, right := nearExtension(n.space); near {
		return &fault{ruleExtNamespace, n.local, n.space, "the namespace is " + right}
	}
	if x := extensionOf(n.space); x != nil {
		x.check(n, found)
	}
	if n.isAlternate() {
		n.checkAlternate(found)
	}
	return err
}

// nearExtension tells whether a namespace can only be meant as that of an extension, and
// as which.
func nearExtension(space string) (near bool, right string) {
	if !strings.Contains(space, "google.com/schemas/sitemap-") {
		if space != XHTMLNamespace && strings.EqualFold(strings.TrimRight(strings.Replace(space, "https:", "http:", 1), "/"), XHTMLNamespace) {
			return true, XHTMLNamespace
		}
		return false, ""
	}
	for _, x := range extensions {
		if space == x.space {
			return false, ""
		}
		if strings.Contains(space, "schemas/sitemap-"+x.local) {
			return true, x.space
		}
	}
	return false, ""
}

// The checks of values return what is wrong.

func checkURL(text string) string {
	if fault := syntax.URLFault(text); fault != "" {
		return fault
	}
	if utf8.RuneCountInString(text) >= maxLoc {
		return "2,048 characters or more"
	}
	return ""
}

// checkDate checks a full date, with or without a time.
func checkDate(text string) string {
	d, err := websync.ParseDatetime(text)
	switch {
	case err != nil:
		return "not a W3C date: " + err.Error()
	case hasSmallTZ(text):
		return smallTZ
	case d.Precision() < websync.PrecisionDay:
		return "not a full date"
	}
	return ""
}

func checkYesNo(text string) string { return checkOneOf("yes", "Yes", "YES", "no", "No", "NO")(text) }

func checkOneOf(values ...string) func(string) string {
	return func(text string) string {
		if slices.Contains(values, text) {
			return ""
		}
		return "none of " + strings.Join(values, ", ")
	}
}

func checkPattern(pattern, message string) func(string) string {
	p := regexp.MustCompile("^(?:" + pattern + ")$")
	return func(text string) string {
		if p.MatchString(text) {
			return ""
		}
		return message
	}
}

func checkWhole(least, most int64) func(string) string {
	return func(text string) string {
		if n, err := strconv.ParseInt(text, 10, 64); err != nil || n < least || n > most || text[0] == '+' || text[0] == '-' {
			return fmt.Sprintf("not a whole number from %d to %d", least, most)
		}
		return ""
	}
}

// parseDecimal reads a decimal number without exponent from 0 to most.
func parseDecimal(text string, most float64) (float64, bool) {
	if strings.Trim(text, "0123456789.") != "" {
		return 0, false
	}
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil && f <= most
}

// checkWords checks a list of words separated by white space.
func checkWords(ok func(word string) bool, message string) func(string) string {
	return func(text string) string {
		for word := range strings.FieldsSeq(text) {
			if !ok(word) {
				return message + ": " + shorten(word)
			}
		}
		return ""
	}
}

func letters(s string, least, most int) bool {
	for _, c := range []byte(s) {
		if c|0x20 < 'a' || c|0x20 > 'z' {
			return false
		}
	}
	return least <= len(s) && len(s) <= most
}

// extensionsOf reads the elements of an entry that are one of local in space. Read
// returns the value of one. It returns those that can be read even if there is an error,
// which joins one for each of the others.
func extensionsOf[T any](e *Entry, space, local string, read func(*node) (T, error)) (all []T, err error) {
	var t treeReader
	var errs []error
	for _, x := range e.Elements {
		if x.Space != space || x.Local != local {
			continue
		}
		n, err := t.read([]byte(x.XML))
		if err != nil {
			errs = append(errs, &EntryError{Loc: e.Loc, Element: local, Err: err})
			continue
		}
		v, err := read(&n)
		if err != nil {
			errs = append(errs, &EntryError{Loc: e.Loc, Element: local, Err: err})
			continue
		}
		all = append(all, v)
	}
	return all, errors.Join(errs...)
}

// A values reads the typed values of an element. Its first error sticks.
type values struct{ err error }

func (v *values) fail(c *node, message string) {
	if v.err == nil {
		v.err = &fault{element: c.local, message: message}
	}
}

// required returns the text of a child that can't be missing.
func (v *values) required(n *node, local string) string {
	c := n.child(local)
	if c.text == "" {
		v.fail(n, "no "+local)
	}
	return c.text
}

func (v *values) date(n *node, local string) websync.Datetime {
	c := n.child(local)
	if c.text == "" {
		return websync.Datetime{}
	}
	d, _, err := websync.ParseDatetimeLenient(c.text)
	if err != nil {
		v.fail(c, err.Error())
	}
	return d
}

// whole reads a whole number: 0 if it is not stated, websync.StatedZero if it is zero.
func (v *values) whole(n *node, local string) int64 {
	c := n.child(local)
	if c.text == "" {
		return 0
	}
	i, err := strconv.ParseInt(c.text, 10, 64)
	if err != nil || i < 0 {
		v.fail(c, "not a whole number")
		return 0
	}
	if i == 0 {
		return websync.StatedZero
	}
	return i
}
