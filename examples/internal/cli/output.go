package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// An Output is a program's standard output or error, which may be a terminal. Harvested
// text cannot control the terminal: control characters other than line feeds and tabs
// are written as \uXXXX, as in JSON, and bytes that are not UTF-8 as \xXX. Each Write
// must hold whole characters.
type Output struct {
	mu  sync.Mutex
	w   io.Writer
	err error
}

// NewOutput returns an Output that writes to w.
func NewOutput(w io.Writer) *Output { return &Output{w: w} }

// Write implements io.Writer.
func (o *Output) Write(p []byte) (int, error) {
	if err := o.write(escape(string(p), drivesTerminal)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Control writes a control sequence as it is.
func (o *Output) Control(sequence string) { o.write(sequence) }

func (o *Output) write(text string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		_, o.err = io.WriteString(o.w, text)
	}
	return o.err
}

// Err returns the first error of a write. After it, Write writes nothing.
func (o *Output) Err() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// OneLine returns text with line feeds, tabs and control characters escaped.
func OneLine(text string) string {
	return escape(text, func(r rune) bool { return r == '\n' || r == '\t' || drivesTerminal(r) })
}

// drivesTerminal reports whether r is a control character, or one that changes the order
// in which others are displayed.
func drivesTerminal(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case unicode.IsControl(r), r == '\u061c', r == '\u200e', r == '\u200f',
		'\u2028' <= r && r <= '\u202e', '\u2066' <= r && r <= '\u2069':
		return true
	}
	return false
}

func escape(text string, odd func(rune) bool) string {
	if utf8.ValidString(text) && strings.IndexFunc(text, odd) < 0 {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd"):
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case odd(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Asked reports whether args set a boolean flag, even if they cannot be parsed.
func Asked(args []string, name string) bool {
	asked := false
	for _, arg := range args {
		if arg == "--" {
			break
		}
		flag, value, hasValue := strings.Cut(arg, "=")
		if flag == "-"+name || flag == "--"+name {
			on, err := strconv.ParseBool(value)
			asked = !hasValue || err != nil || on
		}
	}
	return asked
}

// Given returns the last value that args give to a flag, even if they cannot be parsed;
// "" if they give none.
func Given(args []string, name string) (value string) {
	for i, arg := range args {
		if arg == "--" {
			break
		}
		flag, after, ok := strings.Cut(arg, "=")
		switch {
		case flag != "-"+name && flag != "--"+name:
		case ok:
			value = after
		case i+1 < len(args):
			value = args[i+1]
		}
	}
	return value
}
