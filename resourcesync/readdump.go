package resourcesync

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/docfetch"
)

// A dump is a Resource Dump or a Change Dump, with all the documents that an index lists.
type dump struct {
	url      string
	head     Head
	packages []*dumpPackage
	contents map[docfetch.Key]*dumpPackage // by the manifest beside it
	earliest websync.Datetime              // at of the dump, of its parts and packages
	held     holding                       // of packages
}

func newDump(url string, head Head) *dump {
	return &dump{url: url, head: head, contents: make(map[docfetch.Key]*dumpPackage), earliest: head.Metadata.At}
}

// earlier returns the earlier one of two moments; a if b is not stated.
func earlier(a, b websync.Datetime) websync.Datetime {
	if !b.IsZero() && b.Time().Before(a.Time()) {
		return b
	}
	return a
}

// readDump reads a dump of a capability, but for its packages.
func (w *walk) readDump(ctx context.Context, url string, c Capability) (*dump, error) {
	head, entries, err := w.small(ctx, &docfetch.Document{URL: url}, docfetch.Validators{}, c)
	if err != nil {
		return nil, err
	}
	d := newDump(url, head)
	if !head.Index {
		return d, w.addPackages(d, entries)
	}
	return d, w.addDumps(ctx, d, entries, c)
}

// addDumps adds the packages of the dumps that an index lists.
func (w *walk) addDumps(ctx context.Context, d *dump, listed []Entry, c Capability) error {
	for i := range listed {
		w.ask(listed[i].Loc)
	}
	for i := range listed {
		url := listed[i].Loc
		head, entries, err := w.small(ctx, &docfetch.Document{URL: url}, docfetch.Validators{}, c)
		if err == nil && head.Index {
			err = &docfetch.Error{Err: w.Named(url, errors.New("an index of dumps inside another one"))}
		}
		if err != nil {
			return err
		}
		d.earliest = earlier(d.earliest, head.Metadata.At)
		if err := w.addPackages(d, entries); err != nil {
			return err
		}
	}
	return nil
}

// addPackages adds packages. If several link to one manifest, it is that of none: each
// has one inside.
func (w *walk) addPackages(d *dump, entries []Entry) error {
	kind := ResourceDumpManifest
	if d.head.Metadata.Capability == ChangeDump {
		kind = ChangeDumpManifest
	}
	for i := range entries {
		if err := d.held.add(d.url, &entries[i]); err != nil {
			return err
		}
		p := w.newPackage(&entries[i], kind)
		p.begun = d.head.Metadata.At
		d.earliest = earlier(d.earliest, p.Metadata.At)
		if key := docfetch.KeyOf(p.manifest.URL); p.isBeside() {
			if other := d.contents[key]; other != nil {
				p.manifest.URL, other.manifest.URL = p.Loc, other.Loc
			}
			d.contents[key] = p
		}
		w.ask(p.Loc)
		w.ask(p.manifest.URL)
		d.packages = append(d.packages, p)
	}
	return nil
}

// Close removes the packages.
func (d *dump) Close() {
	for _, p := range d.packages {
		p.Close()
	}
}

// errUnread is matched by the error of yieldDump for a package that can't be read.
var errUnread = errors.New("the rest of the dump is not read")

// yieldDump yields a Resource Dump as a snapshot. A package that can't be read is a
// Problem, or ends the snapshot if there is a Resource List to do without it. The dump
// describes the moment of the earliest of its packages.
func (w *walk) yieldDump(ctx context.Context, d *dump, hasList bool) error {
	defer d.Close()
	at := w.baselineTime(d.url, d.head.Metadata.At)
	if d.earliest.Time().Before(at.Time()) {
		w.reportOlder(d.url, d.earliest, at)
		at = d.earliest
	}
	return w.snapshot(ctx, at, func() (skipped int, err error) {
		earliest := at
		defer func() { w.begin(earliest) }()
		for _, p := range d.packages {
			more, err := w.yieldPackage(ctx, p)
			switch {
			case docfetch.IsOfDocument(err) && hasList:
				return 0, cmp.Or(w.abandon(), fmt.Errorf("%w: %w", errUnread, err))
			case docfetch.IsOfDocument(err):
				err = w.Problem(err)
			}
			if err != nil {
				return 0, err
			}
			skipped += more
			if of := earlier(earliest, p.at); of != earliest {
				w.reportOlder(p.Loc, of, at)
				earliest, w.older = of, true
			}
		}
		return skipped, nil
	})
}

// yieldPackage yields what a package holds, and lets the engine read it.
func (w *walk) yieldPackage(ctx context.Context, p *dumpPackage) (skipped int, err error) {
	defer p.Close()
	if err := p.begin(ctx, docfetch.Validators{}); err != nil {
		return 0, err
	}
	var tally docfetch.Tally
	err = p.entries(w.Report, func(v *View) error {
		tally.Add(v.Loc, v.LastMod)
		if len(v.Loc) > maxID {
			skipped += w.tooLong(p.Loc, string(v.Loc), v.Line, v.Column)
		}
		return nil
	})
	if err != nil {
		return 0, &docfetch.Error{Err: err}
	}
	w.Document(tally.Document(p.Loc, cmp.Or(p.at, p.Metadata.At).Time()))
	skipped += p.skipped
	err = p.entries(nil, func(v *View) error {
		if !w.includes(v.Loc) {
			return nil
		}
		e := v.Clone()
		return w.bitstream(&e, p.opener(ctx, e.Metadata.Path))
	})
	if err != nil {
		return 0, err
	}
	if err := w.Drain(); err != nil {
		return 0, err
	}
	return skipped + p.check(w.Report), nil
}
