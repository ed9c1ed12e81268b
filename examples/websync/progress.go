package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/examples/internal/cli"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/display"
)

const (
	plainInterval = 10 * time.Second // between lines of progress if there is no terminal
	liveWidth     = 79
	// from when on a run that takes so long says what would make it shorter
	paceKnown = 10 * time.Second
	longRun   = 30 * time.Second
	eraseLine = "\r\x1b[K"
	// limit of findings, problems and failures that are written during a run, of each
	// kind
	maxLines = 10
)

// isTerminal reports whether f is a terminal, or another device on which a live line is
// harmless.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}

// progress reports the progress of runs: on a terminal in one line that it redraws,
// elsewhere in a line every ten seconds.
type progress struct {
	w    *cli.Output
	live bool

	mu    sync.Mutex
	drawn bool // the live line is on the screen
	wrote time.Time
	lines map[string]int // written at once, by kind
}

func newProgress(w *cli.Output, live bool) *progress {
	return &progress{w: w, live: live, wrote: time.Now(), lines: map[string]int{}}
}

func (p *progress) hooks() *harvest.Hooks {
	return &harvest.Hooks{
		Progress: func(now harvest.Progress) { p.pace(now); p.update(now) },
		Finding:  func(source string, f websync.Finding) { p.note("finding", named(f.String(), source)) },
		Problem:  func(source string, err error) { p.note("problem", named(err.Error(), source)) },
		Outcome: func(source, id string, o harvest.Outcome, err error) {
			if o == harvest.OutcomeFailed || o == harvest.OutcomeParked {
				p.note(o.String(), websync.RedactURL(source)+": "+named(err.Error(), id))
			}
		},
	}
}

func (p *progress) update(now harvest.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.live:
		line := p.line(now)
		if r := []rune(line); len(r) > liveWidth {
			line = string(r[:liveWidth])
		}
		p.w.Control(eraseLine)
		fmt.Fprint(p.w, line)
		p.drawn = true
	case time.Since(p.wrote) >= plainInterval:
		fmt.Fprintf(p.w, "%s: %s\n", cli.OneLine(websync.RedactURL(now.Source)), p.line(now))
		p.wrote = time.Now()
	}
}

// pace writes, once in a run that takes long because it asks politely, how long that is
// and what makes it shorter.
func (p *progress) pace(now harvest.Progress) {
	left := now.ETA(time.Now())
	if left < longRun || len(now.Waiting) == 0 || time.Since(now.Started) < paceKnown {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lines["pace"]++; p.lines["pace"] > 1 {
		return
	}
	p.erase()
	const message = "%s: %s left for %s: the site is asked slowly, out of politeness; " +
		"-rate 20 asks 20 times a second, if its owner agrees\n"
	fmt.Fprintf(p.w, message, cli.OneLine(websync.RedactURL(now.Source)), display.Duration(left.Round(time.Second)),
		display.Plural(now.Total-now.Done, "entry", "entries"))
}

// line describes the progress of a run: done and total, rate, time left, bodies to get,
// waiting hosts.
func (p *progress) line(at harvest.Progress) string {
	now := time.Now()
	parts := []string{fmt.Sprintf("%d done, %d listed", at.Done, at.Listed)}
	if at.Total > 0 {
		parts[0] = fmt.Sprintf("%d of %d (%d%%)", at.Done, at.Total, 100*at.Done/max(at.Total, at.Done))
	}
	parts = append(parts, rateText(at.Rate(now)))
	if left := at.ETA(now); left > 0 {
		parts = append(parts, left.Round(time.Second).String()+" left")
	}
	if at.Getting > 0 {
		parts = append(parts, fmt.Sprintf("%d to get", at.Getting))
	}
	for _, host := range slices.Sorted(maps.Keys(at.Waiting)) {
		text := "waiting for " + host
		if until := at.Waiting[host]; until.After(now) {
			text += " " + until.Sub(now).Round(time.Second).String()
		}
		parts = append(parts, text)
	}
	return cli.OneLine(strings.Join(parts, ", "))
}

// rateText returns a rate in three digits, or a whole number if it has more.
func rateText(r float64) string {
	if r >= 100 {
		return fmt.Sprintf("%.0f/s", r)
	}
	return fmt.Sprintf("%.3g/s", r)
}

// note writes a line that stays, unless there were already many of its kind.
func (p *progress) note(kind, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines[kind]++
	switch n := p.lines[kind]; {
	case n <= maxLines:
		p.erase()
		fmt.Fprintf(p.w, "%s: %s\n", kind, cli.OneLine(text))
	case n == maxLines+1:
		p.erase()
		fmt.Fprintf(p.w, "%s: further ones of this run are not shown here\n", kind)
	}
}

// end removes the live line at the end of a run.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	clear(p.lines)
}

func (p *progress) erase() {
	if p.drawn {
		p.w.Control(eraseLine)
		p.drawn = false
	}
}
