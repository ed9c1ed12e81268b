package resourcesync

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/docfetch"
)

// packages returns the manifests of the packages that a Change Dump, or an index of such,
// names: a log in which the bytes come along (Z39.99 §13).
func (w *walk) packages(ctx context.Context, root *changeList, entries []Entry) (lists []*changeList, err error) {
	d := newDump(root.URL, root.head)
	if root.head.Index {
		err = w.addDumps(ctx, d, entries, ChangeDump)
	} else {
		err = w.addPackages(d, entries)
	}
	for _, p := range d.packages {
		lists = append(lists, packageList(p))
	}
	return lists, err
}

// A changeBytes finds the bytes of changes in the packages of a Change Dump, one package
// after the other, while a Change List says what has changed.
type changeBytes struct {
	packages []*dumpPackage // that are worth it, in the order of time
	at       int            // the package that paths are of
	paths    map[changeKey]packed
	repeated map[changeKey]bool // of several changes, which a package may not all have
}

// A changeKey names a change.
type changeKey struct {
	uri  uint64 // its idSum
	time websync.Datetime
}

// A packed says where the bytes of a change are.
type packed struct {
	path string
	link websync.Link // to verify them by
}

// Close removes the packages.
func (c *changeBytes) Close() {
	if c == nil {
		return
	}
	for _, p := range c.packages {
		p.Close()
	}
}

// check reports what of the package that was read last can't be used.
func (c *changeBytes) check(report func(websync.Finding)) {
	if c != nil && c.paths != nil {
		c.packages[c.at].check(report)
	}
}

// find returns the index of the package with the changes of a moment, or -1. A moment at
// which one interval ends and the next begins belongs to the first.
func (c *changeBytes) find(t websync.Datetime) int {
	if t.IsZero() || len(c.packages) == 0 || t.Before(c.packages[0].Metadata.From) {
		return -1
	}
	i, _ := slices.BinarySearchFunc(c.packages, t, func(p *dumpPackage, t websync.Datetime) int {
		return cmp.Or(p.Metadata.From.Time().Compare(t.Time()), 1)
	})
	i = max(i-1, 0)
	if until := c.packages[i].Metadata.Until; !until.IsZero() && until.End().Before(t.Time()) {
		return -1
	}
	return i
}

// What a request costs besides the bytes of its answer, in bytes; and how many changes
// must be new so that the Change Dump is asked for.
const (
	requestCost = 64 << 10
	minPacked   = 10
)

// planBytes finds the packages that are cheaper than one request for each change.
func (w *walk) planBytes(ctx context.Context, b *changeQueue) {
	if w.next.Dump == "" || w.source.NoDumps || b.packed || b.newEntries() < minPacked {
		return
	}
	d, err := w.readDump(ctx, w.next.Dump, ChangeDump)
	if err == nil {
		noFrom := func(p *dumpPackage) bool { return p.Metadata.From.IsZero() }
		c := &changeBytes{packages: slices.DeleteFunc(d.packages, noFrom), at: -1}
		slices.SortStableFunc(c.packages, func(a, b *dumpPackage) int {
			return a.Metadata.From.Time().Compare(b.Metadata.From.Time())
		})
		if err = w.weigh(b, c); err == nil {
			b.bytes = c
		}
	}
	if err != nil {
		w.Report(ruleUnpack.Finding(w.next.Dump, 0, 0, "", nil, "changed resources are fetched one by one: "+err.Error()))
	}
}

// weigh keeps the packages that are cheaper than a request for each of their changes that
// are to be yielded.
func (w *walk) weigh(b *changeQueue, c *changeBytes) error {
	costs := make([]int64, len(c.packages))
	c.repeated = make(map[changeKey]bool)
	var moment websync.Datetime
	var changed map[uint64]bool // at that moment
	for _, l := range b.lists {
		r, err := w.again(&l.Document)
		if err != nil {
			return err
		}
		for i := 0; ; i++ {
			v, err := r.NextView()
			if err == io.EOF {
				break
			}
			if err != nil {
				return err
			}
			t, id := changeTime(v), idSum(v.Loc)
			if t != moment || changed == nil {
				moment, changed = t, make(map[uint64]bool)
			}
			if changed[id] {
				c.repeated[changeKey{id, t}] = true
			}
			changed[id] = true
			if i < l.first || w.source.removes(v) || !b.isLatest(l, i, v) || !w.includes(v.Loc) {
				continue
			}
			if k := c.find(t); k >= 0 {
				costs[k] += requestCost + max(v.Metadata.Length, 0)
			}
		}
	}
	k := -1
	c.packages = slices.DeleteFunc(c.packages, func(p *dumpPackage) bool {
		k++
		cost := requestCost + max(p.Metadata.Length, 0)
		if p.isBeside() {
			cost += requestCost
		}
		return cost >= costs[k]
	})
	return nil
}

// bytesOf returns what opens the bytes of a change; nil if no package has them.
func (w *walk) bytesOf(ctx context.Context, b *changeQueue, v *View) (func() (io.ReadCloser, error), error) {
	c := b.bytes
	if c == nil || w.source.removes(v) {
		return nil, nil
	}
	key := changeKey{idSum(v.Loc), changeTime(v)}
	k := c.find(key.time)
	if k < 0 || k < c.at || c.repeated[key] && len(v.Metadata.Digests) == 0 {
		return nil, nil
	}
	if k > c.at {
		if err := w.nextPackage(ctx, c, k); err != nil {
			return nil, err
		}
	}
	at, ok := c.paths[key]
	if !ok {
		return nil, nil
	}
	open := c.packages[k].opener(ctx, at.path)
	return func() (io.ReadCloser, error) {
		r, err := open()
		if err != nil {
			return nil, err
		}
		return verified{at.link.Verify(r), r}, nil
	}, nil
}

// A verified is a stream that is verified while it is read.
type verified struct {
	io.Reader
	io.Closer
}

// nextPackage goes on to a package. One that can't be read has no bytes.
func (w *walk) nextPackage(ctx context.Context, c *changeBytes, k int) error {
	if c.at >= 0 {
		if err := w.Drain(); err != nil {
			return err
		}
		c.check(w.Report)
		c.packages[c.at].Close()
	}
	c.at, c.paths = k, make(map[changeKey]packed)
	p := c.packages[k]
	err := p.begin(ctx, docfetch.Validators{})
	if err == nil {
		err = p.entries(w.Report, func(v *View) error {
			if len(v.Metadata.Path) > 0 {
				e := v.Clone()
				c.paths[changeKey{idSum(v.Loc), changeTime(v)}] = packed{e.Metadata.Path, e.Metadata.bytes(p.Loc)}
			}
			return nil
		})
	}
	if err != nil {
		c.paths = nil
		if ctx.Err() != nil {
			return ctx.Err()
		}
		w.Report(ruleUnpack.Finding(p.Loc, 0, 0, "", nil, fmt.Sprint("its resources are fetched one by one: ", err)))
	}
	return nil
}
