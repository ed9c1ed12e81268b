// Package cli holds what the example programs have in common: flags, help texts, output
// and the names of stores.
package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A Line is a program's command line.
type Line struct {
	*flag.FlagSet
	Usage string // one line
	About string // help before the flags
	After string // help after the flags
}

// New returns a Line without flags.
func New(name, usage, about, after string) *Line {
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	return &Line{fs, usage, about, after}
}

// A HelpRequest is the error of a command line that asks for help.
type HelpRequest struct{ Text string }

func (*HelpRequest) Error() string { return "help" }

// Parse parses flags and names in any order and calls check with the names. Its error is
// a text for the user, or a *HelpRequest.
func (l *Line) Parse(args []string, check func(names []string) error) error {
	names, err := l.parseAll(args)
	if errors.Is(err, flag.ErrHelp) {
		return &HelpRequest{l.help()}
	}
	if err == nil {
		err = check(names)
	}
	if err != nil {
		return fmt.Errorf("%w\n%s; -h explains", err, l.Usage)
	}
	return nil
}

func (l *Line) parseAll(args []string) (names []string, err error) {
	for {
		if err := l.FlagSet.Parse(args); err != nil {
			return nil, err
		}
		if l.NArg() == 0 {
			return names, nil
		}
		names, args = append(names, l.Arg(0)), l.Args()[1:]
	}
}

func (l *Line) help() string {
	var b strings.Builder
	b.WriteString(l.Usage + "\n\n" + l.About + "\n")
	l.SetOutput(&b)
	l.PrintDefaults()
	l.SetOutput(io.Discard)
	return b.String() + "\n" + l.After
}

// OneOf returns an error unless value is one of the choices of a flag.
func OneOf(name, value string, choices []string) error {
	if slices.Contains(choices, value) {
		return nil
	}
	return fmt.Errorf("-%s %q: not one of %s", name, value, strings.Join(choices, ", "))
}
