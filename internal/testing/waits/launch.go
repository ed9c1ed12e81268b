package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// A launcher starts sides from a small process of its own: a process begins with the
// resident size of the one that starts it, and the site in this one is large.
type launcher struct {
	to   *json.Encoder
	from *json.Decoder
}

func newLauncher() *launcher {
	c := peer("launch")
	in, err := c.StdinPipe()
	check(err)
	out, err := c.StdoutPipe()
	check(err)
	c.Stderr = os.Stderr
	check(c.Start())
	return &launcher{json.NewEncoder(in), json.NewDecoder(out)}
}

// A cost is what one run of a side took.
type cost struct {
	CPU, Wall time.Duration
	Memory    int64 // greatest resident size, in KiB
	Failure   string
}

// A started is a command that a launcher starts.
type started struct{ Args, Env []string }

// run runs a command.
func (l *launcher) run(c *exec.Cmd) (took cost) {
	check(l.to.Encode(started{c.Args, c.Env}))
	check(l.from.Decode(&took))
	return took
}

// launch runs the commands that come from standard input, and answers with their costs.
func launch([]string) error {
	from, to := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var next started
		if err := from.Decode(&next); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		c := exec.Command(next.Args[0], next.Args[1:]...)
		c.Env = next.Env
		var took cost
		began := time.Now()
		out, err := c.CombinedOutput()
		took.Wall = time.Since(began)
		if err != nil {
			took.Failure = fmt.Sprintf("%v: %v\n%s", c.Args, err, out)
		} else {
			took.CPU = c.ProcessState.UserTime() + c.ProcessState.SystemTime()
			took.Memory = peak(c.ProcessState)
		}
		if err := to.Encode(took); err != nil {
			return err
		}
	}
}
