package websync

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// The errors that all packages share, to be found with [errors.Is].
var (
	// ErrNotDocument: the bytes are not a document of the expected kind, e.g. a login
	// page.
	ErrNotDocument = errors.New("not a document of this kind")

	// ErrTruncated: the document ends before it is complete.
	ErrTruncated = errors.New("document ends too early")

	// ErrLimit: a limit on size, depth, entries, expansion or time was exceeded.
	ErrLimit = errors.New("over the limit")

	// ErrMismatch: bytes do not have the stated length or digest. The error is a
	// [*MismatchError].
	ErrMismatch = errors.New("not what was stated")

	// ErrNotFound: nothing has this name.
	ErrNotFound = errors.New("not found")

	// ErrGone: what had this name was removed for good.
	ErrGone = errors.New("gone")

	// ErrConflict: the value changed since the caller read it.
	ErrConflict = errors.New("changed in the meantime")
)

// Counts is what was counted in a document, or in several, that were validated.
type Counts struct {
	Entries int   // usable ones
	Skipped int   // entries that were left out, and how often others may have been lost
	Bytes   int64 // uncompressed, as far as read; of a document that fails, by blocks

	Errors, Warnings, Infos int // findings, by severity
}

// Add adds the counts of another document.
func (c *Counts) Add(more Counts) {
	c.Entries += more.Entries
	c.Skipped += more.Skipped
	c.Bytes += more.Bytes
	c.Errors += more.Errors
	c.Warnings += more.Warnings
	c.Infos += more.Infos
}

// A Severity is the weight of a [Finding]. Severities are ordered.
type Severity int8

const (
	SeverityInfo Severity = iota - 1 // allowed, but worth knowing
	// against advice, or a departure that readers accept; the zero value
	SeverityWarning
	SeverityError // against a requirement of the specification
)

var severities = [...]string{"info", "warning", "error"}

// String returns "info", "warning" or "error".
func (s Severity) String() string {
	if s < SeverityInfo || s > SeverityError {
		return fmt.Sprintf("Severity(%d)", int8(s))
	}
	return severities[s-SeverityInfo]
}

// MarshalText implements [encoding.TextMarshaler].
func (s Severity) MarshalText() ([]byte, error) {
	if s < SeverityInfo || s > SeverityError {
		return nil, fmt.Errorf("severity %d is not SeverityInfo, SeverityWarning or SeverityError", int8(s))
	}
	return []byte(severities[s-SeverityInfo]), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (s *Severity) UnmarshalText(text []byte) error {
	for i, name := range severities {
		if string(text) == name {
			*s = Severity(i) + SeverityInfo
			return nil
		}
	}
	return fmt.Errorf(`severity %.40q is not "info", "warning" or "error"`, text)
}

// A Rule is one requirement of a specification. Findings carry its name, section and
// severity.
type Rule struct {
	Name     string // the value of [Finding.Rule]
	Section  string // of the specification
	Severity Severity
	Summary  string // of the departure, in one line
}

// Finding returns a departure from the rule at a position of a document. It keeps the
// first 1,024 bytes of value.
func (r Rule) Finding(document string, line, column int, element string, value []byte, message string) Finding {
	const maxValue = 1024
	return Finding{
		Document: document, Rule: r.Name, Section: r.Section, Severity: r.Severity,
		Line: line, Column: column, Element: element, Value: string(value[:min(len(value), maxValue)]), Message: message,
	}
}

// A ReportFunc reports that a part of a document, such as an entry, departs from a rule.
// Its arguments are the rule, the local name of the wrong element, its value, if it has
// one, and what is wrong. An empty element is that of the part.
type ReportFunc func(rule Rule, element, value, message string)

// A Finding is one departure of a document from its specification.
type Finding struct {
	Document string `json:"file"` // URL or file name
	// short, stable name of the rule, e.g. "lastmod-format"
	Rule     string   `json:"rule"`
	Section  string   `json:"section"`         // of the specification, e.g. "RFC 5005 §4"
	Severity Severity `json:"severity"`        // as text
	Line     int      `json:"line"`            // from 1; zero if not known
	Column   int      `json:"column"`          // in bytes, from 1; zero if not known
	Element  string   `json:"element"`         // local name
	Value    string   `json:"value,omitempty"` // the text in the document, unchanged
	Message  string   `json:"message"`
}

// String returns the finding as one line: document:line:column: severity: message (rule,
// section). It leaves out what is not known, secrets in the document's URL and in a value
// that is a URL ([RedactURL]), and control characters.
func (f Finding) String() string {
	var b strings.Builder
	position := RedactURL(f.Document)
	if f.Line > 0 {
		position = join(":", position, strconv.Itoa(f.Line))
		if f.Column > 0 {
			position = join(":", position, strconv.Itoa(f.Column))
		}
	}
	b.WriteString(join(": ", position, f.Severity.String(), f.Message))
	if f.Value != "" {
		fmt.Fprintf(&b, ": %.80q", RedactURL(f.Value))
	}
	if source := join(", ", f.Rule, f.Section); source != "" {
		b.WriteString(" (" + source + ")")
	}
	return oneLine(b.String())
}

// A ParseError is an error of a reader with its position in the document.
type ParseError struct {
	Format   string // "sitemap", "atom", …: the package that reads it
	Document string // URL or file name; may be empty
	Line     int    // from 1; zero if not known
	Column   int    // in bytes, from 1; zero if not known
	Element  string // local name; may be empty
	Err      error
}

// Error returns, for example, "sitemap: line 12: lastmod: not a W3C date". It leaves out
// what is not known, secrets in the document's URL ([RedactURL]) and control characters.
func (e *ParseError) Error() string {
	var position, cause string
	if e.Line > 0 {
		position = "line " + strconv.Itoa(e.Line)
		if e.Column > 0 {
			position += ", column " + strconv.Itoa(e.Column)
		}
	}
	if e.Err != nil {
		cause = e.Err.Error()
	}
	return oneLine(join(": ", e.Format, RedactURL(e.Document), position, e.Element, cause))
}

// Unwrap returns e.Err.
func (e *ParseError) Unwrap() error { return e.Err }

// An EntryError is why a writer refuses an entry, or an element of one.
type EntryError struct {
	Format  string // "sitemap", "atom", …: the package that writes it
	ID      string // loc or id of the entry; may be empty
	Element string // local name; may be empty
	// of the specification that forbids it, e.g. "RFC 4287 §4.2.15"; may be empty
	Section string
	Err     error
}

// Error returns, for example, "atom: urn:example:1: updated: missing (RFC 4287 §4.1.2)".
func (e *EntryError) Error() string {
	id := strings.Trim(strconv.Quote(e.ID[:min(len(e.ID), 200)]), `"`)
	text := join(": ", e.Format, id, e.Element, e.Err.Error())
	if e.Section != "" {
		text += " (" + e.Section + ")"
	}
	return text
}

// Unwrap returns e.Err.
func (e *EntryError) Unwrap() error { return e.Err }

// join joins the parts that are not empty.
func join(sep string, parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		if p == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(sep)
		}
		b.WriteString(p)
	}
	return b.String()
}

// oneLine replaces control characters, which could break a line or drive a terminal.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, s)
}
