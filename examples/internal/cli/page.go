package cli

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/status"
)

// pageInterval is the time between two writings of a page during runs.
const pageInterval = 30 * time.Second

// CheckPage returns an error if the file of -report is more likely a mistake.
func CheckPage(file string) error {
	if strings.Contains(file, "://") || strings.HasPrefix(file, "-") {
		return fmt.Errorf("-report %q: not the name of a file", websync.RedactURL(file))
	}
	return nil
}

// A Page is the file of -report. All methods do nothing if it is nil.
type Page struct {
	file string
	rec  status.Summary

	mu    sync.Mutex
	wrote time.Time
}

// OpenPage begins the page and writes it, so that a file that can't be written ends the
// program before it has worked for hours. The page recommends flags of the program
// harvest, which the command names. It returns nil if file is empty.
func OpenPage(file, command string) (*Page, error) {
	if file == "" {
		return nil, nil
	}
	p := &Page{file: file}
	p.rec.Approve, p.rec.AcceptSkipped = command+"-approve", command+"-accept-skipped"
	p.rec.Recheck, p.rec.Plan = command+"-recheck", command+"-plan -full"
	if err := p.Write(); err != nil {
		return nil, err
	}
	return p, nil
}

// Write writes the page.
func (p *Page) Write() error {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wrote = time.Now()
	return p.rec.WriteFile(p.file)
}

// Refresh writes the page if it is due. An error comes up again at the end.
func (p *Page) Refresh() {
	if p == nil {
		return
	}
	p.mu.Lock()
	due := time.Since(p.wrote) >= pageInterval
	p.mu.Unlock()
	if due {
		p.Write()
	}
}

// Next returns what to do after a run, with the flags of the program harvest.
func Next(r *status.Result) []string {
	names := status.Summary{Approve: "-approve", AcceptSkipped: "-accept-skipped", Recheck: "-recheck", Plan: "-plan -full"}
	return names.Next(r)
}

// Add adds a run that has ended.
func (p *Page) Add(r status.Result) {
	if p != nil {
		p.rec.Add(r)
	}
}

// Fail adds an error outside of any run.
func (p *Page) Fail(err error) {
	if p != nil {
		p.rec.Fail(err)
	}
}

// Request adds a request of a client. It fits fetch.Client.OnAttempt.
func (p *Page) Request(ctx context.Context, a harvest.AttemptInfo) {
	if p != nil {
		p.rec.Request(ctx, a)
	}
}

// Hooks returns those that record runs, and write the page now and then.
func (p *Page) Hooks() *harvest.Hooks {
	if p == nil {
		return nil
	}
	return harvest.JoinHooks(p.rec.Hooks(), &harvest.Hooks{Progress: func(harvest.Progress) { p.Refresh() }})
}
