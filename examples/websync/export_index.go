package main

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"iter"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/websync-go/websync"
)

// An indexLine is one line of INDEX.
type indexLine struct{ key, uri, size, name string }

// Keep is called by [publish.WriteDir] with the file of an earlier export that has no
// document.
func (e *exporter) Keep(file string) bool { return !e.gone[e.hash(file)] }

// keptLines yields the lines of the last INDEX whose files stay although they have no
// document, and notes the files of the others to be removed.
func (e *exporter) keptLines(ctx context.Context) iter.Seq2[indexLine, error] {
	return func(yield func(indexLine, error) bool) {
		lookup, err := e.newLookup(ctx)
		if err != nil {
			yield(indexLine{}, err)
			return
		}
		isLeft := func(l indexLine) bool { return !e.isCurrent(l.name) }
		for batch, err := range e.lastLines(isLeft) {
			var kept map[indexLine]bool
			if err == nil {
				kept, err = lookup.kept(ctx, batch)
			}
			if err != nil {
				yield(indexLine{}, err)
				return
			}
			for _, l := range batch {
				if kept[l] && !yield(l, nil) {
					return
				}
			}
		}
	}
}

// lastLines yields those lines of the last INDEX that are wanted, some at a time, in a
// slice that the next ones overwrite.
func (e *exporter) lastLines(wanted func(indexLine) bool) iter.Seq2[[]indexLine, error] {
	return func(yield func([]indexLine, error) bool) {
		batch := make([]indexLine, 0, 256)
		for l, err := range e.lastIndex() {
			if err != nil {
				yield(nil, err)
				return
			}
			if len(batch) == cap(batch) {
				if !yield(batch, nil) {
					return
				}
				batch = batch[:0]
			}
			if wanted(l) {
				batch = append(batch, l)
			}
		}
		yield(batch, nil)
	}
}

// lastIndex yields the lines of the INDEX of the last export. One that is not of the
// harvestCommand is a damaged line: it names no file.
func (e *exporter) lastIndex() iter.Seq2[indexLine, error] {
	return func(yield func(indexLine, error) bool) {
		f, err := os.Open(filepath.Join(e.result.Dir, indexName))
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			yield(indexLine{}, err)
			return
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			fields := strings.Split(lines.Text(), "\t")
			if len(fields) == 4 && !yield(indexLine{fields[0], fields[1], fields[2], fields[3]}, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(indexLine{}, err)
		}
	}
}

// isCurrent reports whether a file is that of a document of this export.
func (e *exporter) isCurrent(name string) bool {
	same := e.files[e.hash(name)]
	above := e.files[e.hash(strings.TrimSuffix(name, "/index.html"))]
	return same.seq > 0 || above.seq > 0
}

// reserve keeps the paths of earlier exports for their files that stay: those of what no
// exported source has, or only one with less right to them.
func (e *exporter) reserve(ctx context.Context) error {
	lookup, err := e.newLookup(ctx)
	if err != nil {
		return err
	}
	for batch, err := range e.lastLines(func(indexLine) bool { return true }) {
		if err == nil {
			err = lookup.reserve(ctx, batch)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *lookup) reserve(ctx context.Context, lines []indexLine) error {
	held, err := l.holdings(ctx, lines)
	if err != nil {
		return err
	}
	for i, line := range lines {
		h := &held[i]
		host, _, _ := strings.Cut(line.name, "/")
		own := slices.Contains(h.other.hosts, host)
		stays := h.other.live || !h.exported.known && !h.other.known
		if !stays || h.exported.live && (!own || slices.Contains(h.exported.hosts, host)) {
			continue
		}
		if _, err := l.lstat(line.name); err == nil {
			l.claim(line.name, bodyAt{own: own})
		}
	}
	return nil
}

// A lineHolding is what sources hold of the ids that a line may stand for.
type lineHolding struct{ exported, other holding }

// holdings returns what sources hold of lines.
func (l *lookup) holdings(ctx context.Context, lines []indexLine) ([]lineHolding, error) {
	var ids []string // of each line one or two
	var of []int     // its line
	for i, line := range lines {
		for _, id := range idsOf(line.uri) {
			ids, of = append(ids, id), append(of, i)
		}
	}
	held := make([]lineHolding, len(lines))
	add := func(sources []string, to func(*lineHolding) *holding) error {
		found, err := l.find(ctx, sources, ids)
		for n := range found {
			to(&held[of[n]]).add(&found[n])
		}
		return err
	}
	err := add(l.sources, func(h *lineHolding) *holding { return &h.exported })
	if err == nil {
		err = add(l.others, func(h *lineHolding) *holding { return &h.other })
	}
	return held, err
}

// A lookup decides about files by what the store holds of their resources.
type lookup struct {
	*exporter
	others []string // sources of the store that are not exported
}

func (e *exporter) newLookup(ctx context.Context) (*lookup, error) {
	head, err := e.store.Head(ctx)
	if err != nil {
		return nil, err
	}
	others := slices.Sorted(maps.Keys(head.Live))
	others = slices.DeleteFunc(others, func(s string) bool { return slices.Contains(e.sources, s) })
	return &lookup{e, others}, nil
}

// kept returns those of lines whose files stay.
func (l *lookup) kept(ctx context.Context, lines []indexLine) (map[indexLine]bool, error) {
	held, err := l.holdings(ctx, lines)
	if err != nil {
		return nil, err
	}
	kept := map[indexLine]bool{}
	for i, line := range lines {
		// live in another source: stays; else known: deleted, or without this body
		if h := &held[i]; (h.exported.known || h.other.known) && !h.other.live {
			l.gone[l.hash(line.name)] = true
			l.gone[l.hash(line.name+"/index.html")] = true
			continue
		}
		if l.isDir(line.name) {
			line.name += "/index.html" // moved there
		}
		if l.files[l.hash(line.name)].seq > 0 {
			continue // that of another body, since
		}
		if _, err := l.lstat(line.name); err == nil {
			lines[i] = line
			kept[line] = true
		}
	}
	return kept, nil
}

// A holding is what sources hold of an id.
type holding struct {
	known, live bool
	hosts       []string // of the sources that have it live
}

// add adds what other sources hold, or the same of another id.
func (h *holding) add(other *holding) {
	h.known, h.live, h.hosts = h.known || other.known, h.live || other.live, append(h.hosts, other.hosts...)
}

// find returns what sources hold of ids.
func (l *lookup) find(ctx context.Context, sources, ids []string) ([]holding, error) {
	found := make([]holding, len(ids))
	for _, source := range sources {
		items, err := l.store.Get(ctx, source, ids)
		if err != nil {
			return nil, err
		}
		for i := range items {
			switch {
			case items[i].Resource.ID == "":
			case items[i].Kind == websync.Deleted:
				found[i].known = true
			default:
				found[i].add(&holding{true, true, []string{hostOfKey(source)}})
			}
		}
	}
	return found, nil
}

// idsOf returns the ids that may stand in INDEX as uri: see escapeURI.
func idsOf(uri string) []string {
	id, err := url.PathUnescape(uri)
	if err != nil || id == uri || escapeURI(id) != uri {
		return []string{uri}
	}
	return []string{uri, id}
}
