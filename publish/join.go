package publish

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
)

// A Checker is a [websync.Publisher] that can check its own settings. Check does no I/O.
// A [Handler], [WriteDir] and the result of [Join] call it first.
type Checker interface {
	// Check returns an error if the settings allow no document to be published.
	Check() error
}

// Join makes one Publisher of several that share a host. A document is that of the first
// Publisher that has its path. A path is gone if one Publisher returns [websync.ErrGone]
// and no other has it.
//
// Two kinds of documents belong to the host and not to one Publisher. /robots.txt has the
// lines of all Publishers' /robots.txt, each Sitemap line once: first those of [Bodies],
// then those of the others in their order. A plain text under /.well-known/ (RFC 8615)
// has the lines of all texts of that name, each line once. A document with a content
// coding, or under /.well-known/ one of another type, cannot be joined: if it comes first
// it is the document, and otherwise it is left out. A text of more than 512 KiB, about
// what crawlers read (RFC 9309 §2.5), is [websync.ErrLimit].
//
// Documents yields each path once: first those of [Bodies], because the others link to
// them, then those of the others in their order, and at last those that belong to the
// host.
func Join(publishers ...websync.Publisher) websync.Publisher {
	var all joined
	for _, p := range publishers {
		if parts, ok := p.(joined); ok {
			all = append(all, parts...)
		} else {
			all = append(all, p)
		}
	}
	return all
}

type joined []websync.Publisher

const robotsPath = "/robots.txt"

// Document implements [websync.Publisher].
func (j joined) Document(ctx context.Context, path string) (*websync.Document, error) {
	if syntax.OfHost(path) {
		return j.hostDocument(ctx, path)
	}
	missing := websync.ErrNotFound
	for _, p := range j {
		doc, err := p.Document(ctx, path)
		switch {
		case err == nil:
			return doc, nil
		case errors.Is(err, websync.ErrGone):
			missing = err
		case !errors.Is(err, websync.ErrNotFound):
			return nil, err
		}
	}
	return nil, missing
}

// hostDocument returns a document that belongs to the host.
func (j joined) hostDocument(ctx context.Context, path string) (*websync.Document, error) {
	var found []*websync.Document
	missing := websync.ErrNotFound
	for _, i := range j.exportOrder() {
		doc, err := j[i].Document(ctx, path)
		switch {
		case err == nil:
			found = append(found, doc)
		case errors.Is(err, websync.ErrGone):
			missing = err
		case !errors.Is(err, websync.ErrNotFound):
			return nil, err
		}
	}
	if len(found) == 0 {
		return nil, missing
	}
	if len(found) == 1 || !isLines(path, found[0]) {
		return found[0], nil
	}
	return union(path, slices.DeleteFunc(found, func(d *websync.Document) bool { return !isLines(path, d) })), nil
}

// Check implements [Checker].
func (j joined) Check() error {
	var errs []error
	for i, p := range j {
		if p == nil {
			errs = append(errs, fmt.Errorf("publish: Publisher %d of %d is nil", i+1, len(j)))
		} else if c, ok := p.(Checker); ok {
			errs = append(errs, c.Check())
		}
	}
	return errors.Join(errs...)
}

// Documents implements [websync.Publisher].
func (j joined) Documents(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		var last []string
		for _, i := range j.exportOrder() {
			for path, err := range j[i].Documents(ctx) {
				if err == nil && syntax.OfHost(path) {
					last = append(last, path)
					continue
				}
				if err == nil {
					_, err = j[:i].Document(ctx, path)
					if err == nil {
						continue // an earlier Publisher has it
					}
					if isMissing(err) {
						err = nil
					}
				}
				if err != nil {
					yield("", err)
					return
				}
				if !yield(path, nil) {
					return
				}
			}
		}
		slices.Sort(last)
		for _, path := range slices.Compact(last) {
			if !yield(path, nil) {
				return
			}
		}
	}
}

// exportOrder returns the indexes of the Publishers, those of bodies first.
func (j joined) exportOrder() (order []int) {
	for _, leaves := range []bool{true, false} {
		for i, p := range j {
			if isBodies(p) == leaves {
				order = append(order, i)
			}
		}
	}
	return order
}

func isMissing(err error) bool {
	return errors.Is(err, websync.ErrNotFound) || errors.Is(err, websync.ErrGone)
}

// isLines reports whether a document can be joined line by line. The type of /robots.txt
// does not matter.
func isLines(path string, d *websync.Document) bool {
	name, _, _ := strings.Cut(d.Type, ";")
	return d.Encoding == "" && (path == robotsPath || strings.EqualFold(strings.TrimSpace(name), "text/plain"))
}

// union returns the document of all lines of docs.
func union(path string, docs []*websync.Document) *websync.Document {
	doc := &websync.Document{Type: "text/plain; charset=utf-8", ETag: unionTag(docs), Modified: latest(docs)}
	for _, d := range docs {
		doc.Links = append(doc.Links, d.Links...)
	}
	once := func(line string) bool { return line != "" }
	if path == robotsPath {
		once = isSitemapLine
	}
	doc.Write = func(ctx context.Context, w io.Writer) error { return inPath(path, writeUnion(ctx, w, docs, once)) }
	return doc
}

// latest returns the time of the last change, or zero if one of the times is not known.
func latest(docs []*websync.Document) (t time.Time) {
	for _, d := range docs {
		if d.Modified.IsZero() {
			return time.Time{}
		}
		if d.Modified.After(t) {
			t = d.Modified
		}
	}
	return t
}

// unionTag makes a tag of those of docs. It is empty if one of them is.
func unionTag(docs []*websync.Document) string {
	sum := sha256.New()
	for _, d := range docs { // in their order
		if d.ETag == "" {
			return ""
		}
		io.WriteString(sum, d.ETag+"\n")
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// isSitemapLine reports whether a line of robots.txt names a sitemap. Other lines belong
// to a group, and mean something else in each (RFC 9309 §2.2.1).
func isSitemapLine(line string) bool {
	name, _, _ := strings.Cut(line, ":")
	return strings.EqualFold(strings.TrimSpace(name), "sitemap")
}

// writeUnion writes the lines of docs. It writes a line for which once returns true only
// once.
func writeUnion(ctx context.Context, w io.Writer, docs []*websync.Document, once func(string) bool) error {
	var moved error
	written := make(map[string]bool)
	for _, d := range docs {
		var part lines
		err := copyDocument(ctx, &part, d)
		if errors.Is(err, websync.ErrConflict) {
			moved = err
		} else if err != nil {
			return err
		}
		for line := range strings.Lines(strings.TrimPrefix(part.text.String(), "\uFEFF")) {
			line = strings.TrimRight(line, "\r\n")
			if once(line) && written[line] {
				continue
			}
			written[line] = true
			if _, err := io.WriteString(w, line+"\n"); err != nil {
				return err
			}
		}
	}
	return moved
}

// lines is a text that is joined with others. It is limited, because it is held in
// memory.
type lines struct{ text bytes.Buffer }

// maxLines is how many bytes of one text can be joined with others.
const maxLines = 512 << 10

// Write implements [io.Writer].
func (l *lines) Write(p []byte) (int, error) {
	if l.text.Len()+len(p) > maxLines {
		return 0, fmt.Errorf("a text of more than %d bytes can't be joined with others: %w", maxLines, websync.ErrLimit)
	}
	return l.text.Write(p)
}

// copyDocument writes the bytes of a document to w. As with Write, ErrConflict comes
// after the last byte.
func copyDocument(ctx context.Context, w io.Writer, d *websync.Document) error {
	if d.Write != nil {
		return d.Write(ctx, w)
	}
	r, err := d.Open(ctx)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, r)
	return errors.Join(err, r.Close())
}
