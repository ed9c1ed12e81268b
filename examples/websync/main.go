// Websync harvests, publishes, checks and relays by the web's synchronisation protocols.
// Without arguments it is a demonstration. Run it with -h for its subcommands.
package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/examples/internal/cli"
)

// Exit codes. The worst of all sources, files or documents counts.
const (
	exitDone   = 0
	exitLeft   = 1          // something is left to do, is missing, or is wrong
	exitFailed = cli.Failed // wrong usage, or something could not be read
)

func main() {
	cli.Main(func(ctx context.Context, args []string) int { return run(ctx, args, os.Stdout, os.Stderr) })
}

// A command is a subcommand.
type command struct {
	name string
	line func() *cli.Line
	run  func(ctx context.Context, args []string) int
}

// commands returns all subcommands.
func commands(stdout, stderr io.Writer) []command {
	at := func(name string) *cli.Console { return cli.NewConsole(name, stdout, stderr) }
	harvest := &harvestCommand{Console: at("harvest"), live: stderr == os.Stderr && isTerminal(os.Stderr)}
	publish := &publishCommand{Console: at("publish")}
	check := newCheck(at("check"), os.Stdin)
	relay := &relayCommand{Console: at("relay"), alone: stderr == os.Stderr}
	quarantine := &quarantineCommand{Console: at("quarantine")}
	store := &storeCommand{Console: at("store"), stdin: os.Stdin, stdout: stdout}
	return []command{
		{"harvest", harvest.line, harvest.run},
		{"publish", publish.line, publish.run},
		{"check", check.line, check.run},
		{"relay", relay.line, relay.run},
		{"quarantine", quarantine.line, quarantine.run},
		{"store", store.line, store.run},
	}
}

//go:embed help/websync.txt
var help string

// run carries out the subcommand that args begin with; without args, the demonstration of
// harvest.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	all := commands(stdout, stderr)
	if len(args) == 0 {
		return all[0].run(ctx, nil)
	}
	if slices.Contains([]string{"version", "-version", "--version"}, args[0]) {
		fmt.Fprintln(stdout, "websync", websync.Version)
		return exitDone
	}
	for _, c := range all {
		if c.name == args[0] {
			return c.run(ctx, args[1:])
		}
	}
	console := cli.NewConsole("websync", stdout, stderr)
	return console.Run(func() (int, error) {
		return exitDone, cli.NewLine("websync", help).Parse(args, func(names []string) error {
			if len(names) == 0 || names[0] != "completion" {
				return fmt.Errorf("there is no subcommand %q", args[0])
			}
			script, err := completion(names[1:], all)
			fmt.Fprint(console.Out, script)
			return err
		})
	})
}
