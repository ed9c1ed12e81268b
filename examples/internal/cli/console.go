package cli

import (
	"errors"
	"fmt"
	"io"
)

// Failed is the exit code of a command that could not do its work.
const Failed = 2

// A Console is where a command writes.
type Console struct {
	Out, Err *Output // standard output and error
	name     string  // of the command, which begins each message
}

// NewConsole returns the Console of the command with a name.
func NewConsole(name string, stdout, stderr io.Writer) *Console {
	return &Console{NewOutput(stdout), NewOutput(stderr), name}
}

// Complain writes a message to standard error.
func (c *Console) Complain(text string) { fmt.Fprintf(c.Err, "%s: %s\n", c.name, text) }

// Complainf formats a message, and writes it to standard error.
func (c *Console) Complainf(format string, args ...any) { c.Complain(fmt.Sprintf(format, args...)) }

// Run runs the command and returns its exit code. A command that returns an error has
// Failed, unless the error is a *HelpRequest. So has one whose standard output could not
// be written.
func (c *Console) Run(command func() (code int, err error)) int {
	code, err := command()
	if help, ok := errors.AsType[*HelpRequest](err); ok {
		code = 0
		fmt.Fprint(c.Out, help.Text)
	} else if err != nil {
		code = Failed
		c.Complain(err.Error())
	}
	if err := c.Out.Err(); err != nil {
		code = Failed
		c.Complain("standard output: " + err.Error())
	}
	return code
}
