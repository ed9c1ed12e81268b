package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/union"
)

// mergedKey is the source of a store that is the union of the others: what is published
// where there are several.
const mergedKey = "merged"

// How often a merger looks for changes.
const (
	mergeInterval = 200 * time.Millisecond // at most, while there are changes
	mergePause    = 15 * time.Second       // at least: a store may not announce those of other processes
	recountPause  = time.Hour              // of conflicts, which reads all records
)

// A merger keeps the union of a store's sources there.
type merger struct {
	catalog *harvest.Catalog
	log     *slog.Logger
	fail    func(error)
	// changed, if set, is called after a change of what is published.
	changed func()
	// member returns how a source is a member of the union, and false if it is not.
	member func(source string) (union.Member, bool)
	// known returns sources that the store may not hold yet. It may be nil.
	known func() []string
	// again, if set, receives a value after a change of what member returns.
	again chan struct{}

	mu        sync.Mutex
	conflicts []union.Conflict
}

// union returns the union of the store's sources, and how many records of it the store has.
// It has no members if there are no sources, or none that is published.
func (m *merger) union(ctx context.Context) (all *union.Source, live int64, err error) {
	head, err := m.catalog.Head(ctx)
	if err != nil {
		return nil, 0, err
	}
	sources := slices.Collect(maps.Keys(head.Live))
	if m.known != nil {
		sources = append(sources, m.known()...)
	}
	slices.Sort(sources)
	all = &union.Source{Name: mergedKey}
	for _, source := range slices.Compact(sources) {
		if source == mergedKey {
			continue
		}
		if member, ok := m.member(source); ok {
			member.Catalog, member.Source = m.catalog, source
			all.Members = append(all.Members, member)
		}
	}
	return all, head.Live[mergedKey], nil
}

// step brings the union in step with the sources, once. What the settings exclude since is
// deleted: whoever wrote them has approved it.
func (m *merger) step(ctx context.Context) error {
	all, live, err := m.union(ctx)
	if err != nil || len(all.Members) == 0 && live == 0 {
		return err
	}
	h := &harvest.Harvester{Catalog: m.catalog, MaxDelete: -1, Sample: -1, Log: m.log}
	run := h.Run
	if len(all.Members) == 0 {
		run = h.Remove
	}
	report, err := run(ctx, all)
	changes := changesOf(report)
	if err == nil && report.Guard != nil {
		var approved *harvest.Report
		if approved, err = h.Approve(ctx, all); err == nil {
			report, err = h.Run(ctx, all)
		}
		changes += changesOf(approved) + changesOf(report)
	}
	if err == nil && !report.Listed() {
		err = fmt.Errorf("not all was read: %v", report.Problems)
	}
	if m.changed != nil && changes > 0 {
		m.changed()
	}
	return err
}

// changesOf returns how many records a run has changed.
func changesOf(r *harvest.Report) int64 { return r.Created + r.Updated + r.Deleted }

// run keeps the union in step until ctx ends.
func (m *merger) run(ctx context.Context) error {
	failing := ""
	for recounted := (time.Time{}); ctx.Err() == nil; {
		changed := m.catalog.LogChanged()
		err := m.step(ctx)
		if err == nil && time.Since(recounted) >= recountPause {
			err, recounted = m.recount(ctx), time.Now()
		}
		if err != nil && ctx.Err() == nil && err.Error() != failing {
			m.fail(fmt.Errorf("merging: %w", err))
		}
		failing = fmt.Sprint(err)
		pause := time.After(mergePause)
		select {
		case <-ctx.Done():
		case <-time.After(mergeInterval):
		}
		select {
		case <-ctx.Done():
		case <-changed:
		case <-m.again:
		case <-pause:
		}
	}
	return nil
}

// ready brings the union in step before anything is published, so that nobody sees a part
// of it. It waits for a store that cannot be used yet, or that another process merges; one
// that is damaged, closed or of a newer version is an error.
func (m *merger) ready(ctx context.Context) error {
	for told := false; ; told = true {
		err := m.step(ctx)
		final := errors.Is(err, harvest.ErrCorrupt) || errors.Is(err, harvest.ErrNewer) || errors.Is(err, fs.ErrClosed)
		if err == nil || final || ctx.Err() != nil {
			return err
		}
		if !told {
			m.fail(fmt.Errorf("merging: %w", err))
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// recount counts the conflicts of the sources, and reports those that are new.
func (m *merger) recount(ctx context.Context) error {
	all, _, err := m.union(ctx)
	if err != nil || len(all.Members) == 0 {
		return err
	}
	conflicts, err := all.Conflicts(ctx)
	if err != nil {
		return err
	}
	m.mu.Lock()
	before := m.conflicts
	m.conflicts = conflicts
	m.mu.Unlock()
	for _, c := range conflicts {
		if !slices.ContainsFunc(before, func(b union.Conflict) bool { return b.Owner == c.Owner && b.Other == c.Other }) {
			m.fail(errors.New(c.String()))
		}
	}
	return nil
}

// sharedID returns an id that several of the sources have live, or "" if there is none.
func sharedID(ctx context.Context, c *harvest.Catalog, sources []string) (string, error) {
	const batch = 500
	for i, source := range sources[:max(len(sources)-1, 0)] { // the last one has nobody after it
		var ids []string
		look := func() (string, error) {
			for _, other := range sources[i+1:] {
				found, err := c.Get(ctx, other, ids)
				if err != nil {
					return "", err
				}
				for n := range found {
					if found[n].Seq > 0 && found[n].Kind != websync.Deleted {
						return ids[n], nil
					}
				}
			}
			ids = ids[:0]
			return "", nil
		}
		for id, err := range c.IDs(ctx, source, "") {
			if err != nil {
				return "", err
			}
			if ids = append(ids, id); len(ids) < batch {
				continue
			}
			if shared, err := look(); err != nil || shared != "" {
				return shared, err
			}
		}
		if shared, err := look(); err != nil || shared != "" {
			return shared, err
		}
	}
	return "", nil
}

// Conflicts returns the conflicts of the sources when they were last counted.
func (m *merger) Conflicts() []union.Conflict {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.conflicts
}
