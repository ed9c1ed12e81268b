package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// Main runs a program with its arguments and exits with its code. A signal ends the
// context; a second one ends the process at once.
func Main(run func(ctx context.Context, args []string) int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:]))
}

// Planned are the protocols that a later version will have.
var Planned = []string{"resourcesync", "eli", "atompmh", "rinfo"}

// Available returns an error if the value of a flag is one of the Planned protocols.
func Available(name, value string) error {
	if slices.Contains(Planned, value) {
		return fmt.Errorf("this version does not have -%s %s yet; -h names what it has", name, value)
	}
	return nil
}
