package publish

import (
	"bufio"
	"context"
	"errors"
	"io"
	"iter"
	"path/filepath"
	"strings"
)

// The manifest lists the files that exports have written, or were about to write, in the
// order of a sorter: what is not in it is never removed.
const (
	manifestFile   = private + "/manifest"
	manifestHeader = "websync export 1"
)

// readManifest yields the names in the manifest; none if there is none.
func (t *tree) readManifest() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		f, err := t.open(manifestFile)
		if f == nil {
			if err != nil {
				yield("", err)
			}
			return
		}
		defer f.Close()
		r := bufio.NewReaderSize(f, 64<<10)
		last, header := "", true
		for {
			line, err := r.ReadString('\n')
			if err == io.EOF && line == "" && !header {
				return
			}
			line, whole := strings.CutSuffix(line, "\n")
			valid := whole && (header && line == manifestHeader || !header && filepath.IsLocal(line) && before(last, line))
			switch {
			case err != nil && err != io.EOF:
				yield("", err)
				return
			case !valid:
				yield("", errors.New(manifestFile+" is damaged"))
				return
			case !header && !yield(line, nil):
				return
			case !header:
				last = line
			}
			header = false
		}
	}
}

// before reports whether a comes before b in the order of a sorter.
func before(a, b string) bool {
	return strings.ReplaceAll(a, "/", slashes) < strings.ReplaceAll(b, "/", slashes)
}

// writeManifest replaces the manifest.
func (t *tree) writeManifest(ctx context.Context, names iter.Seq2[string, error]) error {
	w, err := t.newWriter(manifestFile, 0)
	if err != nil {
		return err
	}
	defer w.close()
	b := bufio.NewWriterSize(w, 64<<10)
	b.WriteString(manifestHeader + "\n")
	for name, err := range names {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		b.WriteString(name + "\n")
	}
	if err := b.Flush(); err != nil {
		return err
	}
	unchanged, err := w.finish()
	if err != nil || unchanged {
		return err
	}
	return t.place(manifestFile, 0)
}

// A pair is a name that is in one or both of two lists.
type pair struct {
	name  string
	inOld bool
	row   []string // of the plan; nil: not in it
}

// merge yields the names of two lists in their common order. The rows of a plan may have
// names in common, too.
func merge(old iter.Seq2[string, error], plan iter.Seq2[[]string, error]) iter.Seq2[pair, error] {
	return func(yield func(pair, error) bool) {
		next, stop := iter.Pull2(old)
		defer stop()
		name, err, more := next()
		// upTo yields the old names before the given one; "" stands for the end.
		upTo := func(end string) bool {
			for more && err == nil && (end == "" || before(name, end)) {
				if !yield(pair{name: name, inOld: true}, nil) {
					return false
				}
				name, err, more = next()
			}
			if err != nil {
				yield(pair{}, err)
			}
			return err == nil
		}
		last := "" // of the old names that are in the plan
		for row, rowErr := range plan {
			if rowErr != nil {
				yield(pair{}, rowErr)
				return
			}
			if !upTo(row[0]) {
				return
			}
			if more && name == row[0] {
				last = name
				name, err, more = next()
			}
			if !yield(pair{row[0], last == row[0], row}, nil) {
				return
			}
		}
		upTo("")
	}
}
