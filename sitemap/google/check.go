package google

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/element"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/sitemap"
)

// A format describes the elements of a namespace and the rules for them.
type format struct {
	space, local         string
	child, value, length websync.Rule
	children             []childSpec
	also                 func(n *element.Node, now time.Time, found foundFunc)
}

// A foundFunc receives a fault of an element or of its value.
type foundFunc func(rule websync.Rule, element, value, message string)

// A childSpec states the requirements of a child element.
type childSpec struct {
	name     string
	required bool
	max      int                        // how many there can be; one if 0
	chars    int                        // how long the text can be; no limit if 0
	check    func(text string) string   // returns what is wrong
	old      bool                       // no longer used
	empty    bool                       // the text can be empty
	attrs    func(*element.Node) string // returns what is wrong
	children []childSpec
}

// check reports all faults of e, an element of the format.
func (x *format) check(e *websync.Element, now time.Time, report func(websync.Finding)) {
	n, err := element.Parse(e)
	if err != nil {
		return // the caller has checked this
	}
	found := func(rule websync.Rule, element, value, message string) {
		report(rule.Finding("", 0, 0, element, []byte(value), message))
	}
	x.checkChildren(n, x.children, found)
	if x.also != nil {
		x.also(n, now, found)
	}
}

func (x *format) checkChildren(n *element.Node, specs []childSpec, found foundFunc) {
	counts := make([]int, len(specs))
	for i := range n.Children {
		c := &n.Children[i]
		if c.Space != x.space {
			continue
		}
		k := 0
		for k < len(specs) && specs[k].name != c.Local {
			k++
		}
		if k == len(specs) {
			found(ruleUnknown, c.Local, c.Text, fmt.Sprintf("the extension has no element %.100q in %s", c.Local, n.Local))
			continue
		}
		counts[k]++
		if spec := &specs[k]; counts[k] == max(spec.max, 1)+1 {
			found(x.child, c.Local, c.Text, fmt.Sprintf("more than %d of one %s", max(spec.max, 1), n.Local))
		} else {
			x.checkChild(c, spec, found)
		}
	}
	for k, spec := range specs {
		if spec.required && counts[k] == 0 {
			found(x.child, n.Local, "", "no "+spec.name)
		}
	}
}

func (x *format) checkChild(c *element.Node, spec *childSpec, found foundFunc) {
	if spec.old {
		found(ruleDeprecated, c.Local, c.Text, "no longer used")
	}
	if len(spec.children) > 0 {
		x.checkChildren(c, spec.children, found)
		return
	}
	switch {
	case c.Text == "" && spec.required:
		found(x.child, c.Local, "", "empty, though it is required")
	case c.Text == "" && spec.empty:
	case c.Text == "":
		found(x.value, c.Local, "", "empty")
	case spec.chars > 0 && utf8.RuneCountInString(c.Text) > spec.chars:
		found(x.length, c.Local, c.Text, fmt.Sprintf("more than %d characters", spec.chars))
	case spec.check != nil:
		if message := spec.check(c.Text); message != "" {
			found(x.value, c.Local, c.Text, message)
		}
	}
	if spec.attrs != nil {
		if message := spec.attrs(c); message != "" {
			found(x.value, c.Local, c.Text, message)
		}
	}
}

const maxURL = 2048 // a URL is shorter than this many characters

// The checks of values return what is wrong; "" if nothing.

func checkURL(text string) string {
	if fault := syntax.URLFault(text); fault != "" {
		return fault
	}
	if utf8.RuneCountInString(text) >= maxURL {
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
	case strings.ContainsAny(text, "tz"):
		return "not a W3C date: T and Z are written in capitals"
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

// checkWords checks each word of a list that white space separates.
func checkWords(check func(word string) string) func(string) string {
	return func(text string) string {
		for word := range strings.FieldsSeq(text) {
			if message := check(word); message != "" {
				return fmt.Sprintf("%s: %.100q", message, word)
			}
		}
		return ""
	}
}

func checkCountry(code string) string {
	right := syntax.CountryMeant(code)
	switch {
	case syntax.IsCountry(code) && code == strings.ToUpper(code):
		return ""
	case right != "":
		return "not a country code of ISO 3166, where it is " + right
	}
	return "not a country code of ISO 3166, in capitals"
}

// read returns the elements of an entry that belong to x. If some can't be read, it
// returns the others, and an error that joins one for each.
func read[T any](e *sitemap.Entry, x *format, value func(*values, *element.Node) T) (all []T, err error) {
	var errs []error
	for i := range e.Elements {
		at := &e.Elements[i]
		if at.Space != x.space || at.Local != x.local {
			continue
		}
		v := values{local: x.local}
		n, err := element.Parse(at)
		if err == nil {
			one := value(&v, n)
			if err = v.err; err == nil {
				all = append(all, one)
				continue
			}
		}
		errs = append(errs, refusal(e.Loc, x, err))
	}
	return all, errors.Join(errs...)
}

// build returns the element that b has built, if it follows the rules of its format.
func (x *format) build(b *element.Builder) (websync.Element, error) {
	e, err := b.Element()
	if err == nil {
		x.check(&e, time.Time{}, func(f websync.Finding) {
			if f.Severity < websync.SeverityError || err != nil {
				return
			}
			if err = errors.New(f.Message); f.Element != x.local {
				err = errors.New(f.Element + ": " + f.Message)
			}
		})
	}
	if err != nil {
		return websync.Element{}, refusal("", x, err)
	}
	return e, nil
}

func refusal(loc string, x *format, err error) error {
	return &websync.EntryError{Format: "sitemap", ID: loc, Element: x.local, Err: err}
}

// number returns n as text: "" for 0, and "0" for websync.StatedZero.
func number[T int | int64](n T) string {
	switch n {
	case 0:
		return ""
	case websync.StatedZero:
		return "0"
	}
	return strconv.FormatInt(int64(n), 10)
}

// A values reads the typed values of an element. Its first error sticks.
type values struct {
	local string // of the element itself
	err   error
}

func (v *values) fail(c *element.Node, message string) {
	if c.Local != "" && c.Local != v.local {
		message = c.Local + ": " + message
	}
	if v.err == nil {
		v.err = errors.New(message)
	}
}

// required returns the text of a child that can't be missing.
func (v *values) required(n *element.Node, local string) string {
	c := n.Child(local)
	if c.Text == "" {
		v.fail(n, "no "+local)
	}
	return c.Text
}

func (v *values) date(n *element.Node, local string) websync.Datetime {
	c := n.Child(local)
	if c.Text == "" {
		return websync.Datetime{}
	}
	d, _, err := websync.ParseDatetimeLenient(c.Text)
	if err != nil {
		v.fail(c, err.Error())
	}
	return d
}

// whole reads a whole number: 0 if it is not stated, websync.StatedZero if it is zero.
func (v *values) whole(n *element.Node, local string) int64 {
	c := n.Child(local)
	if c.Text == "" {
		return 0
	}
	i, err := strconv.ParseInt(c.Text, 10, 64)
	if err != nil || i < 0 {
		v.fail(c, "not a whole number")
		return 0
	}
	if i == 0 {
		return websync.StatedZero
	}
	return i
}
