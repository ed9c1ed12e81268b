package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Main runs a program with its arguments and exits with its code. A signal ends the
// context; a second one ends the process at once.
func Main(run func(ctx context.Context, args []string) int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:]))
}

// Failed is the exit code of a command that could not do its work.
const Failed = 2

// Run runs a command and returns its exit code. A command that returns an error has
// Failed, unless the error is a *HelpRequest. So has one whose standard output could not
// be written.
func Run(name string, stdout, stderr io.Writer, command func(out, errOut *Output) (code int, err error)) int {
	out, errOut := NewOutput(stdout), NewOutput(stderr)
	code, err := command(out, errOut)
	if help, ok := errors.AsType[*HelpRequest](err); ok {
		code = 0
		fmt.Fprint(out, help.Text)
	} else if err != nil {
		fmt.Fprintf(errOut, "%s: %v\n", name, err)
		code = Failed
	}
	if err := out.Err(); err != nil {
		fmt.Fprintf(errOut, "%s: standard output: %v\n", name, err)
		code = Failed
	}
	return code
}
