// Package cli holds what the subcommands of websync and the program worker have in
// common: command lines, output, stores, and the Sources and Publishers of protocols.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

// Main runs a program with its arguments and exits with its code. A signal ends the
// context; a second one ends the process at once.
func Main(run func(ctx context.Context, args []string) int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:]))
}

// A Line is a command line: flags, and names among them. The help text says what the
// flags mean.
type Line struct {
	*flag.FlagSet
	help string // its first line is the usage
}

// NewLine returns a Line without flags.
func NewLine(name, help string) *Line {
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	return &Line{fs, help}
}

// List declares a flag that may be given several times.
func (l *Line) List(to *[]string, name string) {
	l.Func(name, "", func(value string) error {
		*to = append(*to, value)
		return nil
	})
}

// Words declares a flag with a list that commas separate.
func (l *Line) Words(to *[]string, name string) {
	l.Func(name, "", func(value string) error {
		*to = strings.Split(value, ",")
		return nil
	})
}

// A HelpRequest is the error of a command line that asks for help.
type HelpRequest struct{ Text string }

func (*HelpRequest) Error() string { return "help" }

// Parse parses flags and names in any order and calls check with the names. Its error is
// a text for the user, or a *HelpRequest.
func (l *Line) Parse(args []string, check func(names []string) error) error {
	var names []string
	err := l.FlagSet.Parse(args)
	for ; err == nil && l.NArg() > 0; err = l.FlagSet.Parse(l.Args()[1:]) {
		names = append(names, l.Arg(0))
	}
	if errors.Is(err, flag.ErrHelp) {
		return &HelpRequest{l.help}
	}
	if err == nil {
		err = check(names)
	}
	if err != nil {
		usage, _, _ := strings.Cut(l.help, "\n")
		return fmt.Errorf("%w\n%s; -h explains", err, usage)
	}
	return nil
}

// OneOf returns an error unless value is one of the choices of a flag.
func OneOf(name, value string, choices []string) error {
	return Refuse(!slices.Contains(choices, value), "-%s %q: not one of %s", name, value, strings.Join(choices, ", "))
}

// Refuse returns an error with a text for the user if something is wrong.
func Refuse(wrong bool, format string, args ...any) error {
	if !wrong {
		return nil
	}
	return fmt.Errorf(format, args...)
}
