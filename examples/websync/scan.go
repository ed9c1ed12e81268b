package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/websync-go/websync/examples/internal/cli"
	"github.com/websync-go/websync/harvest"
)

// A scanner keeps a store in step with a directory, or with a list of acts.
type scanner struct {
	source    harvest.Source
	what      string // "files" or "acts"
	remote    bool   // it is not on this machine
	harvester *harvest.Harvester
	every     time.Duration
	console   *cli.Console

	mu     sync.Mutex
	ended  time.Time
	took   time.Duration
	inStep bool     // with all files
	failed []string // what could not be read
}

// scan brings the store in step with the directory.
func (s *scanner) scan(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.scanLocked(ctx)
}

func (s *scanner) scanLocked(ctx context.Context) error {
	began := time.Now()
	report, err := s.harvester.Run(ctx, s.source)
	s.ended = time.Now()
	s.took = s.ended.Sub(began)
	s.inStep = err == nil && report.InStep()
	if err == nil {
		s.report(report)
	}
	return err
}

// report writes what changed and what could not be read. It writes the same errors once.
func (s *scanner) report(r *harvest.Report) {
	if r.Created+r.Updated+r.Deleted > 0 {
		s.console.Complainf("%s: %d created, %d updated, %d deleted", s.what, r.Created, r.Updated, r.Deleted)
	}
	var failed []string
	if r.Skipped > 0 && s.what == "acts" {
		const format = "%d lines can't be read, so nothing is deleted: see websync check -spec csv"
		failed = append(failed, fmt.Sprintf(format, r.Skipped))
	}
	if r.Guard != nil {
		failed = append(failed, cli.OneLine(r.Guard.Error()))
	}
	for _, f := range append(r.Problems, r.Failures...) {
		if f.ID != "" {
			f.Error = f.ID + ": " + f.Error
		}
		failed = append(failed, cli.OneLine(f.Error))
	}
	if !slices.Equal(failed, s.failed) {
		for _, text := range failed {
			s.console.Complain(text)
		}
	}
	s.failed = failed
}

// watch scans at intervals until the context ends. After a scan it waits at least ten
// times as long as the scan took. The first scan, which reads all files, does not count.
func (s *scanner) watch(ctx context.Context) {
	for wait := s.every; ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		s.complain(s.scan(ctx))
		s.mu.Lock()
		wait = max(s.every, 10*s.took)
		s.mu.Unlock()
	}
}

// refresh scans before a list is served, unless a scan takes long or has just ended.
func (s *scanner) refresh(ctx context.Context) {
	const quick = 500 * time.Millisecond
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.took > quick || time.Since(s.ended) < s.took {
		return
	}
	s.complain(s.scanLocked(context.WithoutCancel(ctx)))
}

func (s *scanner) complain(err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		s.console.Complain(err.Error())
	}
}
