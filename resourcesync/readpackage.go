package resourcesync

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"sync"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/docfetch"
	"github.com/websync-go/websync/internal/syntax"
)

// A dumpPackage is one package of a Resource Dump or a Change Dump. It is got when a
// resource in it is opened, or for its manifest, if there is no copy of that beside it.
type dumpPackage struct {
	Entry
	walk     *walk
	kind     Capability // of the manifest
	manifest *docfetch.Document
	contents websync.Link     // to the manifest beside the package
	begun    websync.Datetime // the moment of the dump: no manifest is older
	inside   bool             // the manifest in the package is used
	skipped  int              // entries of the manifest
	at       websync.Datetime // of the manifest, when it was read

	once     sync.Once
	document docfetch.Document
	bundle   *bundle
	err      error
}

// newPackage returns the package of an entry of a dump. The manifest of a package has the
// capability kind.
func (w *walk) newPackage(e *Entry, kind Capability) *dumpPackage {
	p := &dumpPackage{Entry: *e, walk: w, kind: kind, manifest: &docfetch.Document{URL: e.Loc}}
	for i := range e.Links {
		if l := &e.Links[i]; l.Rel == "contents" && syntax.HTTPHost(l.Href) > 0 {
			p.manifest.URL, p.contents = l.Href, l.Link
			break
		}
	}
	return p
}

// isBeside reports whether a copy of the manifest beside the package is used.
func (p *dumpPackage) isBeside() bool { return !p.inside && p.manifest.URL != p.Loc }

// sum returns a digest of what the dump says of the bytes of the package; 0 if it says
// nothing.
func (p *dumpPackage) sum() uint64 {
	m := &p.Metadata
	if m.Length == 0 && len(m.Digests) == 0 && p.LastMod.IsZero() {
		return 0
	}
	h := fnv.New64a()
	fmt.Fprint(h, m.Length, m.Digests, p.LastMod)
	return h.Sum64()
}

// begin gets the manifest, unless it is still the known one: the copy beside the package,
// so that the package need not be got if nothing in it is new, or else the one in it. It
// may be called from several goroutines, for one package each.
func (p *dumpPackage) begin(ctx context.Context, known docfetch.Validators) error {
	m := p.manifest
	if p.isBeside() {
		doubt, err := p.beside(ctx, known)
		if err != nil || doubt == nil {
			return err
		}
		p.walk.Report(ruleContents.Finding(m.URL, 0, 0, "", nil,
			fmt.Sprintf("the manifest in %s is read in its place: %v", websync.RedactURL(p.Loc), doubt)))
		m.Close()
		p.inside, known = true, docfetch.Validators{}
	}
	if err := p.load(ctx, known); err != nil {
		return err
	}
	url := m.URL
	*m = p.document
	if m.Body = nil; p.inside {
		m.URL, m.Validators = url, docfetch.Validators{} // no validators of what is at this URL
	}
	if m.NotModified {
		return nil
	}
	m.Final += "#" + manifestName
	var err error
	if m.Body, err = p.bundle.Reopen("/" + manifestName); err != nil {
		return &docfetch.Error{Err: p.walk.Named(p.Loc, err)}
	}
	return nil
}

// beside gets the copy of the manifest, unless it is still the known one. The doubt is
// why it is not what the dump states of it and of its package: it may be an old one.
func (p *dumpPackage) beside(ctx context.Context, known docfetch.Validators) (doubt, err error) {
	m := p.manifest
	m.AsSent = p.contents.Verifiable()
	if err := p.walk.get(ctx, m, known); err != nil || m.NotModified {
		return nil, err
	}
	if err := p.walk.place(m); err != nil {
		return nil, err
	}
	if p.contents.Verifiable() {
		if doubt = verify(p.contents, m.Body); doubt != nil {
			return doubt, nil
		}
		if err := p.walk.Rewind(m); err != nil {
			return nil, err
		}
	}
	head, err := p.walk.reader(m, nil).Head()
	if err == nil && head.Metadata.Capability == p.kind { // if not, reading it reports why
		doubt = p.checkTimes(&head.Metadata)
	}
	return doubt, p.walk.Rewind(m)
}

// checkTimes returns an error if a manifest does not have the times that the dump states
// of its package.
func (p *dumpPackage) checkTimes(in *Metadata) error {
	of := &p.Metadata
	if other := in.otherTimes(of); len(other) > 0 {
		t := other[0]
		return fmt.Errorf("%s is %q, and %q of its package: it may be an old copy", t.attr, t.has, t.stated)
	}
	if of.At.IsZero() && in.At.Before(p.begun) {
		return fmt.Errorf("at is %q, before %q of the dump: it may be an old copy", in.At, p.begun)
	}
	return nil
}

// An otherTime is a time of a document, which is not as stated of it elsewhere.
type otherTime struct {
	attr        string
	has, stated websync.Datetime
}

// otherTimes returns the times of a document that are not those stated of it.
func (m *Metadata) otherTimes(stated *Metadata) (other []otherTime) {
	for _, t := range [...]otherTime{
		{"at", m.At, stated.At}, {"completed", m.Completed, stated.Completed},
		{"from", m.From, stated.From}, {"until", m.Until, stated.Until},
	} {
		if !t.stated.IsZero() && !t.has.Overlaps(t.stated) {
			other = append(other, t)
		}
	}
	return other
}

// bytes returns what an entry states of bytes at a URL.
func (m *Metadata) bytes(url string) websync.Link {
	return websync.Link{Href: url, Length: m.Length, Digests: m.Digests}
}

// entries calls do with each entry of the manifest, which begin has got.
func (p *dumpPackage) entries(report func(websync.Finding), do func(*View) error) error {
	if err := p.walk.Rewind(p.manifest); err != nil {
		return err
	}
	head, skipped, err := p.walk.entries(p.manifest, p.kind, report, do)
	p.at, p.skipped = head.Metadata.At, skipped
	return err
}

// entries calls do with each entry of a manifest of a kind.
func (w *walk) entries(
	manifest *docfetch.Document, kind Capability, report func(websync.Finding), do func(*View) error,
) (head Head, skipped int, err error) {
	r := w.reader(manifest, report)
	if head, err = r.Head(); err != nil {
		return head, 0, err
	}
	if c := head.Metadata.Capability; c != kind || head.Index {
		return head, 0, w.Named(r.Document, head.Metadata.notOf(kind))
	}
	err = eachView(r, func(_ int, v *View) error {
		if v.twice {
			skipped++
			return nil
		}
		return do(v)
	})
	if err != nil {
		return head, 0, err
	}
	return head, skipped + r.Skipped(), nil
}

// opener returns what opens the bitstream at a path; nil if the path is empty.
func (p *dumpPackage) opener(ctx context.Context, path string) func() (io.ReadCloser, error) {
	if path == "" {
		return nil
	}
	return func() (io.ReadCloser, error) {
		if err := p.load(ctx, docfetch.Validators{}); err != nil {
			return nil, err
		}
		return p.bundle.Open(path)
	}
}

// load gets the package, once, unless it is still the known one. Its error is that of the
// package, or of ctx.
func (p *dumpPackage) load(ctx context.Context, known docfetch.Validators) error {
	p.once.Do(func() {
		d := &p.document
		d.URL, d.AsSent = p.Loc, true
		if p.err = p.walk.Get(ctx, d, known, cmp.Or(p.walk.source.MaxPackage, defaultPackage)); p.err != nil || d.NotModified {
			return
		}
		if err := p.open(); err != nil {
			p.err = &docfetch.Error{Err: p.walk.Named(p.Loc, err)}
		}
	})
	return p.err
}

// verify compares bytes that came as they were sent with what is stated of them. If they
// are gzip, it may be stated of what they unpack to.
func verify(stated websync.Link, sent io.ReadSeeker) error {
	_, err := io.Copy(io.Discard, stated.Verify(sent))
	if !errors.Is(err, websync.ErrMismatch) {
		return err
	}
	size, seek := sent.Seek(0, io.SeekEnd)
	if _, failed := sent.Seek(0, io.SeekStart); seek != nil || failed != nil {
		return errors.Join(seek, failed)
	}
	z, notGzip := gzip.NewReader(bufio.NewReader(sent))
	if notGzip != nil {
		return err
	}
	if _, other := io.Copy(io.Discard, stated.Verify(&expanding{r: z, size: size})); other != nil {
		return err
	}
	return nil
}

// open verifies what was got, and reads the directory of the package.
func (p *dumpPackage) open() error {
	if err := p.walk.place(&p.document); err != nil {
		return err
	}
	body := p.document.Body
	if err := verify(p.Metadata.bytes(p.Loc), body); err != nil {
		return err
	}
	size, err := body.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	p.bundle, err = openBundle(&seekReaderAt{src: body}, size)
	return err
}

// check reports what of a package that was got can't be used, or why the package could
// not be got: resources were then fetched one by one. It returns how many entries of the
// manifest in the package are missing in the copy beside it.
func (p *dumpPackage) check(report func(websync.Finding)) (hidden int) {
	if p.err != nil {
		report(ruleUnpack.Finding(p.Loc, 0, 0, "", nil, "its resources are fetched one by one: "+p.err.Error()))
		return 0
	}
	if p.bundle == nil {
		return 0
	}
	paths, uris := make(map[string]bool), make(map[uint64]bool)
	unusable, why := 0, error(nil) // the first
	err := p.entries(nil, func(v *View) error {
		uris[idSum(v.Loc)] = true
		path := string(v.Metadata.Path)
		if path == "" {
			return nil
		}
		_, name, err := p.bundle.file(path)
		if err != nil {
			unusable++
			why = cmp.Or(why, err)
		}
		paths[name] = true
		return nil
	})
	if err != nil {
		return 0 // which the first reading has reported
	}
	if unusable > 0 {
		report(ruleUnpack.Finding(p.Loc, 0, 0, "", nil, fmt.Sprintf("%d resources are fetched one by one: %v", unusable, why)))
	}
	if path, n := p.bundle.Unlisted(paths); n > 0 {
		report(ruleUnlisted.Finding(p.Loc, 0, 0, "", []byte(path), fmt.Sprintf("%d files that the manifest does not list", n)))
	}
	if !p.isBeside() {
		return 0
	}
	inside := docfetch.Document{URL: p.Loc, Final: p.document.Final + "#" + manifestName}
	if inside.Body, err = p.bundle.Reopen("/" + manifestName); err != nil {
		return 0
	}
	defer inside.Close()
	first := ""
	_, _, _ = p.walk.entries(&inside, p.kind, nil, func(v *View) error { // what can't be read lists nothing
		if !uris[idSum(v.Loc)] {
			if hidden++; hidden == 1 {
				first = string(v.Loc)
			}
		}
		return nil
	})
	if hidden > 0 {
		report(ruleContents.Finding(p.manifest.Final, 0, 0, "", []byte(first),
			fmt.Sprintf("%d entries of the manifest in %s are missing", hidden, websync.RedactURL(p.Loc))))
	}
	return hidden
}

// Close removes what was got.
func (p *dumpPackage) Close() {
	p.manifest.Close()
	p.bundle.Close()
	p.document.Close()
}
