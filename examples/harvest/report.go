package main

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/harvest/runreport"
)

// pageInterval is the time between two writings of the page during a run.
const pageInterval = 30 * time.Second

// checkPage returns an error if the file of -report is more likely a mistake.
func checkPage(file string) error {
	if strings.Contains(file, "://") || strings.HasPrefix(file, "-") {
		return fmt.Errorf("-report %q: not the name of a file", websync.RedactURL(file))
	}
	return nil
}

// A pageFile is the file of -report.
type pageFile struct {
	file string
	rec  runreport.Recorder

	mu    sync.Mutex
	wrote time.Time
}

// openPage begins the page and writes it, so that a file that can't be written ends the
// program before it has worked for hours. It does nothing if file is empty.
func (p *program) openPage(file string) bool {
	if file == "" || checkPage(file) != nil {
		return true
	}
	p.page = &pageFile{file: file, wrote: time.Now()}
	p.page.rec.Approve, p.page.rec.AcceptSkipped, p.page.rec.Recheck = "-approve", "-accept-skipped", "-recheck"
	err := p.page.rec.WriteFile(file)
	if err != nil {
		p.page = nil
		p.fail(err)
	}
	return err == nil
}

// writePage writes the page, if there is one, and returns an exit code.
func (p *program) writePage() int {
	if p.page == nil {
		return exitInStep
	}
	if err := p.page.rec.WriteFile(p.page.file); err != nil {
		return p.fail(err)
	}
	return exitInStep
}

// attempt records a request of the client.
func (p *pageFile) attempt(a fetch.Attempt) {
	p.rec.Request(runreport.Request{Host: a.Host, URL: a.URL, Status: a.Status, Bytes: a.Bytes, Duration: a.Duration, Err: a.Err})
}

// hooks returns those that record runs, and write the page now and then.
func (p *pageFile) hooks() *harvest.Hooks {
	return harvest.JoinHooks(p.rec.Hooks(), &harvest.Hooks{Progress: func(harvest.Progress) { p.refresh() }})
}

// refresh writes the page if it is due. An error comes up again at the end.
func (p *pageFile) refresh() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.wrote) >= pageInterval {
		p.rec.WriteFile(p.file)
		p.wrote = time.Now()
	}
}
