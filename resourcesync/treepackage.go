package resourcesync

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/spool"
	"github.com/websync-go/websync/internal/syntax"
)

const defaultPackage int64 = 64 << 30 // bytes of a package

// isPackage reports whether a package that is stated to be of this media type may be one
// that can be read. Communities may define formats of their own (Z39.99 §11.1).
func isPackage(mediaType string) bool {
	switch syntax.Essence(mediaType) {
	case "", "application/zip", "application/x-zip-compressed", "application/octet-stream", "application/x-tar",
		"application/tar", "application/x-gtar", "application/gzip", "application/x-gzip",
		"application/x-compressed-tar", "application/x-xz":
		return true
	}
	return false
}

// visitPackage checks a package of a dump, and the manifest in it. If that can't be read,
// the manifest beside the package stands for it.
func (t *tree) visitPackage(n *node) {
	if !t.readPackage(n) {
		n.partial = true
		if m := n.beside; m != nil {
			n.url, n.head, n.set, n.listed, n.partial = m.url, m.head, n.above.set, m.copied, m.uncertain
		}
	}
	t.finish(n)
}

// readPackage reports whether the manifest in a package could be read.
func (t *tree) readPackage(n *node) bool {
	var file spool.File
	defer file.Close()
	b, err := t.openPackage(&file, n)
	if err != nil {
		t.report(ruleTreePackage, n.pack, "", "", err.Error())
		return false
	}
	defer b.Close()
	t.sum.Packages++
	manifest, err := b.Open("/" + manifestName)
	if err != nil {
		t.report(ruleTreeManifest, n.pack, "", "", err.Error())
		return false
	}
	defer manifest.Close()
	listed := make(map[string]bool) // files of the package only
	read := t.read(n, manifest, func(_ *checker, e *Entry) {
		t.bitstream(b, n, listed, e, "url", e.Metadata.Path, e.Metadata.bytes(""))
		for i := range e.Links {
			t.bitstream(b, n, listed, e, "ln", e.Links[i].Path, e.Links[i].Link)
		}
	})
	if !read {
		return false
	}
	if path, files := b.Unlisted(listed); files > 0 {
		t.report(ruleUnlisted, n.pack, "", path, fmt.Sprintf("%d files that the manifest does not list", files))
	}
	if n.beside != nil && !n.beside.uncertain && !n.partial {
		t.compareManifests(n)
	}
	return true
}

// openPackage gets a package into a file, and compares it with what the dump states.
func (t *tree) openPackage(file *spool.File, n *node) (*bundle, error) {
	body, err := t.o.OpenPackage(n.pack)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	limit, src := cmp.Or(t.o.MaxPackage, defaultPackage), io.Reader(body)
	if limit > 0 {
		src = io.LimitReader(body, limit+1)
	}
	span, err := file.Append(src)
	switch {
	case err != nil:
		return nil, err
	case limit > 0 && span.Size > limit:
		return nil, fmt.Errorf("a package of more than %d bytes: %w", limit, websync.ErrLimit)
	}
	stated := n.entry.bytes(n.pack)
	if _, err := io.Copy(io.Discard, stated.Verify(file.Section(span))); errors.Is(err, websync.ErrMismatch) {
		t.report(ruleTreeBytes, n.pack, "", "", err.Error())
	} else if err != nil {
		return nil, err
	}
	return openBundle(file.Section(span), span.Size)
}

// bitstream checks a file of a package that an entry of its manifest states. A file that
// several entries state is read for the first of them.
func (t *tree) bitstream(b *bundle, n *node, listed map[string]bool, e *Entry, element, path string, stated websync.Link) {
	if path == "" {
		return
	}
	report := func(rule Rule, err error) {
		t.count(rule.Finding(n.url, e.Line, e.Column, element, []byte(path), err.Error()))
	}
	_, name, err := b.file(path)
	if err != nil {
		report(ruleTreeBitstream, err)
		return
	}
	if listed[name] {
		return
	}
	listed[name] = true
	r, err := b.Open(path)
	if err != nil {
		report(ruleTreeBitstream, err)
		return
	}
	defer r.Close()
	switch _, err := io.Copy(io.Discard, stated.Verify(r)); {
	case errors.Is(err, websync.ErrMismatch):
		report(ruleTreeBytes, err)
	case err != nil:
		report(ruleTreeBitstream, err)
	}
}

// compareManifests compares the manifest beside a package with the one in it.
func (t *tree) compareManifests(n *node) {
	beside, in := n.beside, n
	a, b := &beside.head.Metadata, &in.head.Metadata
	message := ""
	switch {
	case a.Capability != b.Capability || beside.head.Index != in.head.Index:
		message = "is a document of another kind"
	case a.At.UTC() != b.At.UTC() || a.Completed.UTC() != b.Completed.UTC(),
		a.From.UTC() != b.From.UTC() || a.Until.UTC() != b.Until.UTC():
		message = "states other times"
	case beside.all.n != in.all.n:
		message = fmt.Sprintf("has %d entries, not %d", in.all.n, beside.all.n)
	case beside.all != in.all:
		message = "has other entries"
	default:
		return
	}
	t.report(ruleTreeContents, beside.url, "", "", "the manifest in "+in.pack+" "+message)
}
