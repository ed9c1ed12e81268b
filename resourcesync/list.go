package resourcesync

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/sitemap"
)

// list yields a Resource List, or all that an index lists, as a snapshot.
func (w *walk) list(ctx context.Context, url string) error {
	l := &resourceList{walk: w}
	source := &sitemap.Source{
		URL: url, Complete: true, Extend: l.extend, Profile: w.source.Profile,
		Parallel: w.source.Parallel, MaxDepth: 1, MaxDocuments: w.source.MaxDocuments, MaxBytes: w.source.MaxBytes,
	}
	if w.source.Include != nil {
		source.Include = func(loc string) bool { return w.source.Include(loc) }
	}
	run := *w.Run
	run.From = harvest.Checkpoint{}
	next, stop := iter.Pull2(source.Events(ctx, &run))
	defer stop()
	start, err, ok := next()
	if err != nil || !ok || start.Kind != harvest.SnapshotStart {
		return err
	}
	return w.snapshot(ctx, l.at, func() (skipped int, err error) {
		for {
			ev, err, ok := next()
			if err != nil || !ok {
				return 0, err
			}
			if ev.Kind == harvest.SnapshotEnd {
				return ev.Skipped, nil
			}
			if err := w.Yield(ev); err != nil {
				return 0, err
			}
		}
	})
}

// A resourceList reads what the documents of a Resource List have besides a sitemap.
type resourceList struct {
	*walk
	once sync.Once
	at   websync.Datetime // of the root, which is read first
}

// extend is sitemap.Source.Extend.
func (l *resourceList) extend(r *sitemap.Reader) sitemap.Extended {
	s := newScanner(r.Document, r.Document)
	s.reports.To = r.Report
	r.Take = s.take
	return sitemap.Extended{
		Entry: func(v *sitemap.View, ev *harvest.Event) {
			e := s.turn(v).Clone()
			describe(&ev.Resource, &e)
		},
		End: func() error {
			s.end()
			if c := s.head.Metadata.Capability; c != ResourceList {
				return fmt.Errorf("the capability %.100q, not that of a Resource List: %w", c, websync.ErrNotDocument)
			}
			l.once.Do(func() { l.at = s.head.Metadata.At })
			return nil
		},
	}
}
