package resourcesync

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/docfetch"
	"github.com/websync-go/websync/internal/syntax"
)

// A dump is a Resource Dump, with all the documents that an index lists.
type dump struct {
	url      string
	at       websync.Datetime
	packages []*dumpPackage
}

// readDump reads a Resource Dump, but for its packages.
func (w *walk) readDump(ctx context.Context, url string) (*dump, error) {
	head, entries, err := w.small(ctx, url, ResourceDump)
	if err != nil {
		return nil, err
	}
	d := &dump{url: url, at: head.Metadata.At}
	if !head.Index {
		d.add(w, entries)
		return d, nil
	}
	for i := range entries {
		w.set.Ask(docfetch.KeyOf(entries[i].Loc))
	}
	for i := range entries {
		head, entries, err := w.small(ctx, entries[i].Loc, ResourceDump)
		if err == nil && head.Index {
			err = w.Named(url, errors.New("an index of Resource Dumps inside another one"))
		}
		if err != nil {
			return nil, err
		}
		d.add(w, entries)
	}
	return d, nil
}

func (d *dump) add(w *walk, entries []Entry) {
	for i := range entries {
		w.set.Ask(docfetch.KeyOf(entries[i].Loc))
		d.packages = append(d.packages, &dumpPackage{Entry: entries[i], walk: w})
	}
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
// Problem, or ends the snapshot if there is a Resource List to do without it.
func (w *walk) yieldDump(ctx context.Context, d *dump, hasList bool) error {
	defer d.Close()
	return w.snapshot(ctx, w.believed(d.url, d.at), func() (skipped int, err error) {
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
		}
		return skipped, nil
	})
}

// yieldPackage yields what a package holds, and lets the engine read it.
func (w *walk) yieldPackage(ctx context.Context, p *dumpPackage) (skipped int, err error) {
	defer p.Close()
	if err := p.begin(ctx); err != nil {
		return 0, err
	}
	err = p.read(w.Report, func(e *Entry) error {
		if len(e.Loc) > maxID {
			skipped += w.tooLong(p.Loc, e.Loc, e.Line, e.Column)
		}
		return nil
	})
	if err != nil {
		return 0, &docfetch.Error{Err: err}
	}
	err = p.read(nil, func(e *Entry) error {
		if !w.includes([]byte(e.Loc)) {
			return nil
		}
		path := e.Metadata.Path
		if path == "" {
			return w.bitstream(e, nil)
		}
		return w.bitstream(e, func() (io.ReadCloser, error) { return p.Open(ctx, path) })
	})
	if err != nil {
		return 0, err
	}
	if err := w.drain(); err != nil {
		return 0, err
	}
	p.report(w.Report)
	return skipped + p.skipped, nil
}

// A dumpPackage is one package of a dump.
type dumpPackage struct {
	Entry
	walk     *walk
	contents docfetch.Document // the manifest beside the package, if there is one
	skipped  int

	once     sync.Once
	document docfetch.Document
	bundle   *bundle
	err      error
}

// begin gets the manifest: the copy that the dump links to, so that the package need not
// be got if nothing in it is new, or else the one in the package.
func (p *dumpPackage) begin(ctx context.Context) error {
	for i := range p.Links {
		if l := &p.Links[i]; l.Rel == "contents" && syntax.HTTPHost(l.Href) > 0 {
			p.contents.URL = l.Href
			if err := p.walk.get(ctx, &p.contents, docfetch.Validators{}); err != nil {
				return err
			}
			return p.walk.place(&p.contents)
		}
	}
	return p.load(ctx)
}

// read reads the manifest.
func (p *dumpPackage) read(report func(websync.Finding), take func(*Entry) error) error {
	var r *Reader
	if p.contents.URL != "" {
		if err := p.walk.Rewind(&p.contents); err != nil {
			return err
		}
		r = p.walk.reader(&p.contents, report)
	} else {
		file, err := p.bundle.Open("/" + manifestName)
		if err != nil {
			return p.walk.Named(p.Loc, err)
		}
		defer file.Close()
		r = NewReader(file)
		r.Document, r.MaxBytes, r.Report = p.Loc+"#"+manifestName, p.walk.source.MaxBytes, report
	}
	head, err := r.Head()
	if err != nil {
		return err
	}
	if c := head.Metadata.Capability; c != ResourceDumpManifest || head.Index {
		return p.walk.Named(r.Document, fmt.Errorf("the capability %.100q, which must be %q: %w", c, ResourceDumpManifest, websync.ErrNotDocument))
	}
	for e, err := range r.All() {
		if err == nil {
			err = take(&e)
		}
		if err != nil {
			return err
		}
	}
	p.skipped = r.Skipped()
	return nil
}

// Open opens a bitstream.
func (p *dumpPackage) Open(ctx context.Context, path string) (io.ReadCloser, error) {
	if err := p.load(ctx); err != nil {
		return nil, err
	}
	return p.bundle.Open(path)
}

// load gets the package, once. Its error is that of the package, or of ctx.
func (p *dumpPackage) load(ctx context.Context) error {
	p.once.Do(func() {
		p.document.URL = p.Loc
		if p.err = p.walk.Get(ctx, &p.document, docfetch.Validators{}, p.walk.source.maxPackage()); p.err != nil {
			return
		}
		if err := p.open(); err != nil {
			p.err = &docfetch.Error{Err: p.walk.Named(p.Loc, err)}
		}
	})
	return p.err
}

// open verifies what was got, and reads the directory of the package.
func (p *dumpPackage) open() error {
	if err := p.walk.place(&p.document); err != nil {
		return err
	}
	body := p.document.Body
	link := websync.Link{Href: p.Loc, Length: p.Metadata.Length, Digests: p.Metadata.Digests}
	if _, err := io.Copy(io.Discard, link.Verify(body)); err != nil {
		return err
	}
	size, err := body.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	p.bundle, err = openBundle(&seekReaderAt{src: body}, size)
	return err
}

// report reports which files of a package that was got can't be used and which are in no
// manifest, or why the package could not be got: resources were then got one by one.
func (p *dumpPackage) report(to func(websync.Finding)) {
	if p.err != nil {
		to(ruleUnpack.Finding(p.Loc, 0, 0, "", nil, "its resources are fetched one by one: "+p.err.Error()))
		return
	}
	if p.bundle == nil {
		return
	}
	listed := make(map[string]bool)
	unusable, why := 0, error(nil) // the first
	err := p.read(nil, func(e *Entry) error {
		if _, err := p.bundle.file(e.Metadata.Path); err != nil && e.Metadata.Path != "" {
			unusable++
			why = cmp.Or(why, err)
		}
		if name, err := cleanPath(e.Metadata.Path); err == nil {
			listed[name] = true
		}
		return nil
	})
	if unusable > 0 && err == nil {
		to(ruleUnpack.Finding(p.Loc, 0, 0, "", nil, fmt.Sprintf("%d resources are fetched one by one: %v", unusable, why)))
	}
	if path, n := p.bundle.Unlisted(listed); n > 0 && err == nil {
		to(ruleUnlisted.Finding(p.Loc, 0, 0, "", []byte(path), fmt.Sprintf("%d files that the manifest does not list", n)))
	}
}

// Close removes what was got.
func (p *dumpPackage) Close() {
	p.contents.Close()
	p.document.Close()
}

// A seekReaderAt reads at any offset of what can seek. It may be used by many goroutines.
type seekReaderAt struct {
	mu  sync.Mutex
	src io.ReadSeeker
}

func (r *seekReaderAt) ReadAt(b []byte, at int64) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := r.src.Seek(at, io.SeekStart); err != nil {
		return 0, err
	}
	n, err := io.ReadFull(r.src, b)
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	return n, err
}
