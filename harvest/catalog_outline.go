package harvest

import (
	"context"
	"fmt"
	"iter"

	"github.com/websync-go/websync"
)

// The bits of a reference's flags that state what an Outline does.
const (
	flagLinks  = 1 << 7
	classShift = 5
	classMask  = 3
)

var _ websync.Outliner = (*Catalog)(nil)

// outlineClasses are how many bytes entries of a class take at most. Nothing is known of
// the first class.
var outlineClasses = [classMask + 1]int64{0, 2304, 4096, 16 << 10}

// outlineFlags returns the flags of a reference that state what an Outline does.
func outlineFlags(item *websync.Item) (flags byte) {
	o := websync.OutlineOf(item)
	for class := classMask; class > 0 && o.Bytes <= outlineClasses[class]; class-- {
		flags = byte(class) << classShift
	}
	if o.Links {
		flags |= flagLinks
	}
	return flags
}

// outline returns what a reference states.
func (v *reference) outline(h *head) websync.Outline {
	return websync.Outline{
		Born: v.born, Seq: v.seq(h), Deleted: v.deleted,
		Bytes: outlineClasses[v.listed>>classShift&classMask], Links: v.listed&flagLinks != 0,
	}
}

// Outlines implements [websync.Outliner].
func (s *Catalog) Outlines(ctx context.Context, rng websync.Range) iter.Seq2[websync.Outline, error] {
	return func(yield func(websync.Outline, error) bool) {
		next, last := blockOf(rng.After+1), rng.Until
		pages(func(room []websync.Outline) (page []websync.Outline, more bool, err error) {
			from := next
			err = s.view(ctx, func(r *reader) error {
				page, next = room, from
				if rng.Generation != r.head.generation {
					return fmt.Errorf("%w: generation %d of the log is not the newest", websync.ErrNotFound, rng.Generation)
				}
				if last == 0 || last > r.head.born {
					last = r.head.born
				}
				f, err := r.filter(rng.Sources)
				if more = err == nil && !f.nothing() && from <= blockOf(last); !more {
					return err
				}
				next = min(blockOf(last)+1, from+fingerprintBlocks)
				return r.Scan(blockKey(from), blockKey(next), fingerprintBlocks, func(k, block []byte) bool {
					first := numberOf(k) * blockSize
					for i := range min(len(block)/referenceSize, blockSize) {
						ref := reference{born: first + websync.Seq(i)}
						if ref.born > rng.After && ref.born <= last && ref.parse(block, i) && f.has(ref.n) {
							page = append(page, ref.outline(&r.head))
						}
					}
					return true
				})
			})
			return page, more, err
		})(yield)
	}
}

// HoldsBodies reports whether the Catalog holds any body.
func (s *Catalog) HoldsBodies(ctx context.Context) (held bool, err error) {
	err = s.view(ctx, func(r *reader) (err error) {
		held, err = r.any(newKey(bodyKey), newKey(bodyKey).end())
		return err
	})
	return held, err
}

// End returns the newest generation of the log and its greatest number. It reads less
// than Head does.
func (s *Catalog) End(ctx context.Context) (generation uint64, last websync.Seq, err error) {
	err = s.view(ctx, func(r *reader) error {
		generation, last = r.head.generation, r.head.last
		return nil
	})
	return generation, last, err
}
