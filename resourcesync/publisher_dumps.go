package resourcesync

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/publishing"
	"github.com/websync-go/websync/sitemap"
)

// Dumps makes a [Publisher] publish packages of bitstreams: ZIP files that a reader gets
// in place of each resource by itself. [Publisher.Pack] makes them, and nothing else
// does: a document that is requested never waits for a package. Their documents are
//
//	Base + "resourcedump-1f3a9c02-7.zip"   the packages of the Resource Dump, from 1
//	Base + "resourcedump-1f3a9c02-7.xml"   the manifest of each
//	Base + "resourcedump.xml"              the Resource Dump (Z39.99 §11)
//	Base + "changedump-1f3a9c02-7.zip"     the packages of the Change Dump, from 1
//	Base + "changedump-1f3a9c02-7.xml"     the manifest of each
//	Base + "changedump.xml"                the Change Dump (Z39.99 §13)
//
// The name of a package has a part of its SHA-256, so a URL always has the same bytes.
// The Capability List names a dump if it has a package.
//
// A file in a package has the lastmod of its resource as its time: in UTC, from 1980 on,
// in steps of two seconds, as ZIP files have it. Its lengths and its checksum stand
// before its bytes, unless it is 4 GiB or longer, so a package can be unpacked while it
// arrives. The same state gives the same bytes.
//
// A Resource Dump has the content of every resource of the Resource List. Its at is the
// time of the last commit before it was made, and completed that of the last commit when
// it was ready, if there was one meanwhile.
//
// A Change Dump has all packages since the first Pack, or since the Resource Dump that
// there was then, up to MaxPackages. A package has the changes of a fixed range of the
// log: all deletions, and of the other changes those that are still the latest of
// their resource when the package is made. What a publisher has replaced or withdrawn
// until then is not packed, but a URL that it took from its resource is deleted; the
// change that replaced it comes in the same package or in a later one. What is in a
// package stays there until the package is dropped, even if it is withdrawn later:
// [Publisher.Discard] drops all.
//
// A package that was listed before is available until the next Pack, for readers that
// have begun. Then Document returns [websync.ErrGone] for it.
type Dumps struct {
	// Dir is the directory of the packages. Pack creates it. Publishers may share it. It
	// is required.
	Dir string

	// State names the files in Dir that are in use. If Dir or the value in State is lost,
	// there are no dumps until the next Pack. If nil, it is the Catalog, which must be a
	// State then, as a harvest.Catalog is.
	State websync.State

	// MaxBytes limits the bytes of the bitstreams in a package, before compression. A
	// longer one has a package of its own. If zero, it is 1 GiB; if negative, there is no
	// limit.
	MaxBytes int64

	// MaxEntries limits the resources or changes in a package. If zero or negative, it is
	// 10,000; above 25,000, it is 25,000.
	MaxEntries int

	// MaxPackages limits how many packages the Change Dump lists: the latest. Those with
	// changes since the Resource Dump stay. If zero or negative, or above 50,000, the
	// limit of a document, it is 50,000.
	MaxPackages int
}

const (
	defaultPackBytes = 1 << 30
	mostPackEntries  = sitemap.MaxEntries / 2 // a deletion may have two
	zipType          = "application/zip"
)

// check returns an error if a required field is missing.
func (o *Dumps) check() error {
	switch {
	case o == nil:
		return nil
	case o.Dir == "":
		return errors.New("resourcesync: Publisher.Dumps.Dir is empty; it must name a directory")
	case o.State == nil:
		return errors.New("resourcesync: Publisher.Dumps.State is nil")
	}
	return nil
}

// A publishedDump is the Resource Dump or the Change Dump of a Publisher.
type publishedDump struct {
	*Dumps
	publisher *Publisher
	kind      Capability
	list      *publishing.Site // the dump, and beside it the manifests
	packages  *publishing.Site // beside it the packages
	index     indexCache
}

// newDump returns the dump of a kind, whose documents are below dir.
func (p *Publisher) newDump(kind Capability, dir string) *publishedDump {
	name := dir + string(kind)
	return &publishedDump{
		Dumps: p.Dumps, publisher: p, kind: kind,
		list: p.site.At(name+".xml", p.Sources...), packages: p.site.At(name+".zip", p.Sources...),
	}
}

// dumpAt returns the dump that may have a document at a path; nil if there is none.
func (p *Publisher) dumpAt(path string) *publishedDump {
	for _, d := range p.dumps {
		if _, _, _, ok := d.parse(path); ok || path == d.list.Root {
			return d
		}
	}
	return nil
}

// parse returns what the path of a package or of its manifest states.
func (d *publishedDump) parse(path string) (id string, n uint64, manifest, ok bool) {
	if id, n, ok = d.packages.ParseNumbered(path); !ok {
		id, n, ok = d.list.ParseNumbered(path)
		manifest = true
	}
	return id, n, manifest, ok && publishing.IsHash(id)
}

// document returns the dump, a package or a manifest.
func (d *publishedDump) document(ctx context.Context, path string) (*websync.Document, error) {
	index, err := d.load(ctx)
	if err != nil {
		return nil, err
	}
	if path == d.list.Root {
		return d.listDocument(index)
	}
	id, n, manifest, _ := d.parse(path)
	pack := index.find(id, n)
	if pack == nil {
		return nil, d.list.DocumentError(path, websync.ErrGone)
	}
	file, mediaType := pack.Package, zipType
	if manifest {
		file, mediaType = pack.Manifest, documentType
	}
	return &websync.Document{
		Type: mediaType, ETag: digits(file.Digest)[:16], Final: true, Digests: websync.Digests{file.Digest},
		Open: func(context.Context) (io.ReadSeekCloser, error) { return d.open(path, file) },
	}, nil
}

// open opens a file.
func (d *publishedDump) open(path string, file packedFile) (io.ReadSeekCloser, error) {
	f, err := os.Open(filepath.Join(d.Dir, file.Name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, d.list.DocumentError(path, websync.ErrGone)
	}
	if err != nil {
		return nil, dumpError(err)
	}
	info, err := f.Stat()
	if err == nil && info.Size() != file.Length {
		err = fmt.Errorf("%s has %d bytes, not %d: %w", f.Name(), info.Size(), file.Length, websync.ErrMismatch)
	}
	if err != nil {
		return nil, dumpError(errors.Join(err, f.Close()))
	}
	return f, nil
}

// dumpError returns an error of a file or of the State.
func dumpError(err error) error { return fmt.Errorf("resourcesync: Publisher.Dumps: %w", err) }

// path returns the path of a package.
func (d *publishedDump) path(p *madePackage) string { return d.packages.Numbered(p.id(), p.N) }

// manifestPath returns the path of the manifest beside a package.
func (d *publishedDump) manifestPath(p *madePackage) string { return d.list.Numbered(p.id(), p.N) }

// listDocument returns the Resource Dump or the Change Dump.
func (d *publishedDump) listDocument(index *dumpIndex) (*websync.Document, error) {
	if len(index.Packages) == 0 {
		return nil, d.list.DocumentError(d.list.Root, websync.ErrNotFound)
	}
	head := Head{Metadata: Metadata{Capability: d.kind}, Links: linksOf(d.publisher.site.URL())}
	if d.kind == ResourceDump {
		head.Metadata.At = timeOf(index.Time)
		if !index.Completed.IsZero() {
			head.Metadata.Completed = timeOf(index.Completed)
		}
	} else {
		head.Metadata.From = timeOf(index.Packages[0].From)
	}
	return &websync.Document{
		Type: documentType, ETag: digits(websync.SHA256(index.state))[:16],
		Write: func(_ context.Context, w io.Writer) error { return writeAll(w, head, d.entries(index)) },
	}, nil
}

// entries returns the entries of the dump: its packages.
func (d *publishedDump) entries(index *dumpIndex) (entries []Entry) {
	for i := range index.Packages {
		p := &index.Packages[i]
		m := Metadata{Type: zipType, Length: p.Package.Length, Digests: websync.Digests{p.Package.Digest}}
		if d.kind == ResourceDump {
			m.At = timeOf(index.Time)
		} else {
			m.From, m.Until = timeOf(p.From), timeOf(p.Until)
		}
		contents := linkOf("contents", d.list.Origin+d.manifestPath(p))
		contents.Type = documentType
		entries = append(entries,
			Entry{Entry: sitemap.Entry{Loc: d.list.Origin + d.path(p)}, Metadata: m, Links: []Link{contents}})
	}
	return entries
}

// numbered returns the paths of the packages, the manifests and the dump.
func (d *publishedDump) numbered(ctx context.Context) publishing.Numbered {
	var paths []string
	return func(n uint64) (string, bool, error) {
		if n == 1 {
			index, err := d.load(ctx)
			if err != nil {
				return "", false, err
			}
			for _, p := range slices.Concat(index.Packages, index.Retired) {
				paths = append(paths, d.path(&p), d.manifestPath(&p))
			}
			if len(index.Packages) > 0 {
				paths = append(paths, d.list.Root)
			}
		}
		if n > uint64(len(paths)) {
			return "", false, nil
		}
		return paths[n-1], true, nil
	}
}
