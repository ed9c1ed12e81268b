package resourcesync

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/publishing"
	"github.com/websync-go/websync/sitemap"
)

// Pack makes packages: of the whole set, for a new Resource Dump, if the log has an entry
// that the present one has not; and of the changes since the latest package, for the
// Change Dump. It makes the given dumps, [ResourceDump] and [ChangeDump], or both if none
// is given, so that a program can pack changes every hour and all resources once a week.
// The first Pack of changes makes no package: it is where the Change Dump begins. So is
// the first one after the log got a new generation, or after other settings.
//
// Pack may be stopped at any time, and the next one goes on from what was there before
// it. If two run at once, in different processes too, one of them returns
// [websync.ErrConflict] and leaves no file; so does one during which the log gets a new
// generation. An error concerns one dump; the other one may have been made before it.
//
// A dump must have all that the lists have: a reader takes what is missing in it for
// deleted. If the content of a resource is not kept in the Catalog, Pack returns an error
// that names the resource, and there is no such dump any more until a Pack succeeds.
func (p *Publisher) Pack(ctx context.Context, dumps ...Capability) error {
	return p.eachDump(dumps, func(d *publishedDump) error { return d.pack(ctx) })
}

// Discard removes dumps with all their files at once: for example because something in a
// package must not be published any more. Without arguments it removes both. The next
// Pack begins anew, with what the Catalog has then.
func (p *Publisher) Discard(ctx context.Context, dumps ...Capability) error {
	return p.eachDump(dumps, func(d *publishedDump) error { return d.drop(ctx) })
}

// eachDump calls do with the given dumps, or with both, the Resource Dump first.
func (p *Publisher) eachDump(kinds []Capability, do func(*publishedDump) error) error {
	if err := p.Check(); err != nil {
		return err
	}
	if p.Dumps == nil {
		return errors.New("resourcesync: Publisher.Dumps is nil; it must name a directory and a State")
	}
	for _, kind := range kinds {
		if kind != ResourceDump && kind != ChangeDump {
			return fmt.Errorf("resourcesync: Publisher.Pack and Discard take %q and %q, not %.100q",
				ResourceDump, ChangeDump, kind)
		}
	}
	for _, d := range p.dumps {
		if len(kinds) > 0 && !slices.Contains(kinds, d.kind) {
			continue
		}
		if err := do(d); err != nil {
			return err
		}
	}
	return nil
}

// drop removes the dump.
func (d *publishedDump) drop(ctx context.Context) error {
	c, err := d.begin(ctx)
	if err != nil {
		return err
	}
	return c.commit(ctx, new(dumpIndex))
}

// pack makes the dump.
func (d *publishedDump) pack(ctx context.Context) error {
	c, err := d.begin(ctx)
	if err != nil {
		return err
	}
	var next *dumpIndex
	if d.kind == ResourceDump {
		next, err = c.resourceDump(ctx)
	} else {
		next, err = c.changeDump(ctx)
	}
	if err == nil {
		err = c.commit(ctx, next)
	}
	if err == nil {
		return nil
	}
	err = errors.Join(err, c.discard())
	var lack *lackError
	if errors.As(err, &lack) {
		err = errors.Join(err, d.drop(ctx))
	}
	return err
}

// A lackError says that the content of a resource is not kept.
type lackError struct {
	kind Capability
	id   string
}

func (e *lackError) Error() string {
	return fmt.Sprintf("resourcesync: no %s: the content of %.200q is not kept; a dump must have that of every resource",
		formOf(documentKind{capability: e.kind}).name, e.id)
}

// newIndex returns an index of no packages, up to the last commit.
func newIndex(head *websync.Head) *dumpIndex {
	return &dumpIndex{Generation: head.Generation, First: head.FirstTime, Last: head.Last, Time: head.LastTime}
}

// resourceDump returns the Resource Dump of the present; nil if that is the one that
// there is.
func (c *dumpChange) resourceDump(ctx context.Context) (*dumpIndex, error) {
	s := c.publisher.site
	head, err := s.Head(ctx)
	if err != nil {
		return nil, err
	}
	if old := c.old; old.fits(&head) && old.Last == head.Last && c.isWhole(old) {
		return c.withoutRetired(), nil
	}
	next := newIndex(&head)
	next.Retired = c.old.Packages
	m := maker{
		dumpChange: c, index: next, dir: "resources",
		head: Head{Metadata: Metadata{Capability: ResourceDumpManifest, At: timeOf(head.LastTime)}},
	}
	for after := websync.Seq(0); after < head.Born; after = m.end {
		m.items = func(refuse func(*websync.Item, error)) iter.Seq2[*websync.Item, error] {
			return s.Resources(ctx, websync.Range{After: after, Until: head.Born}, refuse)
		}
		m.end, m.endTime = head.Born, head.LastTime
		if err := m.makeNext(ctx); err != nil {
			return nil, err
		}
	}
	if len(next.Packages) > sitemap.MaxEntries {
		return nil, fmt.Errorf("resourcesync: %d packages; at most %d can be listed: "+
			"Publisher.Dumps needs a greater MaxBytes or MaxEntries: %w",
			len(next.Packages), sitemap.MaxEntries, websync.ErrLimit)
	}
	now, err := c.sameLog(ctx, &head)
	if err == nil && now.Last != head.Last {
		next.Completed = now.LastTime
	}
	return next, err
}

// sameLog returns the Head of now. The error is ErrConflict if the log has got a new
// generation, which numbers everything anew: what was read meanwhile may be incomplete.
func (c *dumpChange) sameLog(ctx context.Context, head *websync.Head) (now websync.Head, err error) {
	s := c.publisher.site
	now, err = s.Head(ctx)
	if err == nil && now.Generation != head.Generation {
		err = s.NewGeneration()
	}
	return now, err
}

// withoutRetired returns the index without packages that are not listed; nil if there are
// none.
func (c *dumpChange) withoutRetired() *dumpIndex {
	if len(c.old.Retired) == 0 {
		return nil
	}
	next := *c.old
	next.Retired = nil
	return &next
}

// changeDump returns the Change Dump with the changes up to the present; nil if there are
// no new ones.
func (c *dumpChange) changeDump(ctx context.Context) (*dumpIndex, error) {
	p := c.publisher
	log, head, err := p.changes.Whole(ctx)
	if err != nil {
		return nil, err
	}
	resources, err := p.dumps[0].load(ctx)
	if err != nil {
		return nil, err
	}
	hasResources := resources.fits(&head) && len(resources.Packages) > 0
	next := *c.old
	next.Packages, next.Retired = slices.Clone(c.old.Packages), nil
	isNew := !c.old.fits(&head) || !c.isWhole(c.old)
	if isNew {
		next = *newIndex(&head)
		next.Retired = c.old.Packages
		if hasResources {
			next.Last, next.Time = resources.Last, resources.Time
		}
	}
	m := maker{dumpChange: c, index: &next, dir: "changes"}
	packages := len(next.Packages)
	for next.Last < head.Last {
		part := log
		part.After = next.Last
		m.head = Head{Metadata: Metadata{Capability: ChangeDumpManifest, From: timeOf(next.Time)}}
		m.items = func(refuse func(*websync.Item, error)) iter.Seq2[*websync.Item, error] {
			return c.latest(ctx, &part, refuse)
		}
		m.log = &part
		m.end, m.endTime = head.Last, head.LastTime
		made := len(next.Packages)
		if err := m.makeNext(ctx); err != nil {
			return nil, err
		}
		if next.Last = m.end; len(next.Packages) > made { // otherwise nothing up to there is listed
			next.Time = m.endTime
		}
	}
	if _, err := c.sameLog(ctx, &head); err != nil {
		return nil, err
	}
	if !isNew && len(next.Packages) == packages {
		return c.withoutRetired(), nil
	}
	needed := head.LastTime
	if hasResources {
		needed = resources.Time
	}
	next.retire(limitOf(c.MaxPackages, sitemap.MaxEntries, sitemap.MaxEntries), needed)
	return &next, nil
}

// retire retires the oldest packages if there are too many, but none with changes after a
// time, unless there are more than a document can list.
func (x *dumpIndex) retire(most int, needed time.Time) {
	n := 0
	for n < len(x.Packages)-most && (!x.Packages[n].Until.After(needed) || len(x.Packages)-n > sitemap.MaxEntries) {
		n++
	}
	x.Retired = append(x.Retired, x.Packages[:n]...)
	x.Packages = x.Packages[n:]
}

// latest yields the changes of a part of the log: the deletions, and those other changes
// that are still the latest of their resource. What was replaced or withdrawn must not
// come to light again; of such a change it yields the deletion of a URL that the resource
// has no longer.
func (c *dumpChange) latest(
	ctx context.Context, log *publishing.Segment, refuse func(*websync.Item, error),
) iter.Seq2[*websync.Item, error] {
	return func(yield func(*websync.Item, error) bool) {
		for items, err := range publishing.Batches(log.Entries(ctx, refuse)) {
			var superseded []*websync.Item
			if err == nil {
				superseded, err = c.superseded(ctx, log, items)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			for _, item := range items {
				if len(superseded) > 0 && item == superseded[0] {
					if superseded = superseded[1:]; item.Kind != websync.Deleted {
						continue
					}
				}
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}

// superseded returns those of some changes that are not the latest of their resource. Of
// these it makes deletions of those whose resource had another URL before.
func (c *dumpChange) superseded(ctx context.Context, log *publishing.Segment, items []*websync.Item) ([]*websync.Item, error) {
	puts := slices.DeleteFunc(slices.Clone(items), func(item *websync.Item) bool { return item.Kind == websync.Deleted })
	current, err := c.publisher.site.Current(ctx, puts)
	if err != nil {
		return nil, err
	}
	superseded := puts[:0]
	for i, item := range puts {
		if current[i].Seq != item.Seq {
			superseded = append(superseded, item)
		}
	}
	priors, err := log.Priors(ctx, superseded)
	d := c.publisher.newDescriber()
	for i, prior := range priors {
		if prior == nil {
			continue
		}
		if item, old := superseded[i], d.urlOf(prior); old != "" && old != d.urlOf(item) {
			item.Kind, item.Bodies = websync.Deleted, nil
		}
	}
	return superseded, err
}

// A maker makes the packages of a dump, one after the other.
type maker struct {
	*dumpChange
	index *dumpIndex // to which it adds them
	head  Head       // of the manifest, without links
	dir   string     // of the bitstreams in it

	// log is the part of the log that is packed; nil for a Resource Dump.
	log *publishing.Segment

	// items are what is to be packed. They can be read again: what changes while it is
	// packed is not there any more.
	items func(refuse func(*websync.Item, error)) iter.Seq2[*websync.Item, error]

	// At the beginning, the number and time up to which items reach; then, those up to
	// which the package does.
	end     websync.Seq
	endTime time.Time
}

// errVanished is the error for a body that the Catalog does not keep any more.
var errVanished = errors.New("the Catalog does not keep the bytes that it has named")

// makeNext makes the next package, unless there is nothing to pack.
func (m *maker) makeNext(ctx context.Context) error {
	const attempts = 10
	end, endTime, most := m.end, m.endTime, limitOf(m.MaxEntries, defaultSize, mostPackEntries)
	for n, silent := 0, false; ; silent = true {
		m.end, m.endTime = end, endTime
		files := len(m.created)
		pack := &packing{maker: m, most: most, silent: silent, bitstreams: bitstreams{dir: m.dir}}
		made, err := pack.make(ctx)
		switch {
		case err == nil:
			if made != nil {
				m.index.Packages = append(m.index.Packages, *made)
			}
			return nil
		case errors.Is(err, errManifest) && pack.count > 1:
			most = pack.count / 2
		case errors.Is(err, errVanished) && n < attempts:
			n++
		default:
			return err
		}
		unused := m.created[files:]
		m.created = m.created[:files]
		if err := m.remove(unused); err != nil {
			return err
		}
	}
}

// A bitstreams is what a package has besides its manifest.
type bitstreams struct {
	dir string // of their paths
	all []bitstream
}

// A bitstream is one file in a package.
type bitstream struct {
	id         string
	modified   websync.Datetime // lastmod in the manifest
	body       websync.Body
	compressed bool // already, by its media type
}

// path returns the path of the next bitstream. No part of it is of a stranger's choice.
func (b *bitstreams) path() string { return b.pathOf(len(b.all)) }

func (b *bitstreams) pathOf(i int) string { return fmt.Sprintf("/%s/%06d", b.dir, i+1) }

// add adds the content of an item, whose entry in the manifest has a lastmod.
func (b *bitstreams) add(item *websync.Item, lastMod websync.Datetime) {
	content, _ := item.Body(websync.ContentName)
	link := &content.Link
	b.all = append(b.all, bitstream{item.Resource.ID, lastMod, content, link.Encoding != "" || isCompressed(link.Type)})
}

// A packing is one attempt to make a package.
type packing struct {
	*maker
	bitstreams
	most   int  // entries
	silent bool // an earlier attempt has reported

	count    int   // entries so far
	bytes    int64 // of their bitstreams
	manifest int64 // bytes of their entries in the manifest, at most
}

// errManifest is the error for a manifest that becomes too long.
var errManifest = errors.New("a manifest that is longer than a document may be")

// make makes a package; nil if there is nothing to pack.
func (k *packing) make(ctx context.Context) (*madePackage, error) {
	made := &madePackage{N: 1}
	if n := len(k.index.Packages); n > 0 {
		made.N = k.index.Packages[n-1].N + 1
	}
	manifest, file, err := k.writeManifest(ctx)
	if err != nil || manifest == nil {
		return nil, err
	}
	defer manifest.Close()
	made.Manifest = file
	if made.Package, err = k.writePackage(ctx, manifest); err != nil {
		return nil, err
	}
	if k.kind == ChangeDump {
		made.From, made.Until = k.index.Time, k.endTime
	}
	return made, nil
}

// A sumWriter writes a file in Dumps.Dir.
type sumWriter struct {
	file *os.File
	buf  *bufio.Writer // to the file and the hash
	hash hash.Hash
}

func (k *packing) newWriter(ext string) (*sumWriter, error) {
	f, err := k.create(ext)
	if err != nil {
		return nil, err
	}
	w := &sumWriter{file: f, hash: sha256.New()}
	w.buf = bufio.NewWriterSize(io.MultiWriter(f, w.hash), 64<<10)
	return w, nil
}

// finish flushes the file to disk. It stays open.
func (w *sumWriter) finish() (packedFile, error) {
	err := w.buf.Flush()
	if err == nil {
		err = w.file.Sync()
	}
	var length int64
	if err == nil {
		length, err = w.file.Seek(0, io.SeekEnd)
	}
	if err != nil {
		return packedFile{}, dumpError(err)
	}
	digest := websync.Digest{Algorithm: "sha-256", Sum: string(w.hash.Sum(nil))}
	return packedFile{filepath.Base(w.file.Name()), length, digest}, nil
}

// writeManifest writes the manifest of a package, and so decides what is in it. The file
// is open; it is nil if there is nothing to pack.
func (k *packing) writeManifest(ctx context.Context) (_ *os.File, file packedFile, err error) {
	p, head := k.publisher, k.head
	head.Links = linksOf(p.site.URL())
	if k.kind == ChangeDump {
		if err := k.measure(ctx); err != nil || k.count == 0 {
			return nil, file, err
		}
		head.Metadata.Until = timeOf(k.endTime)
	}
	w, err := k.newWriter(".xml")
	if err != nil {
		return nil, file, err
	}
	k.count, k.bytes, k.manifest = 0, 0, 0
	l := p.newLister(w.buf, head, k.list.URL(), k.log, k.isReported)
	l.pack = &k.bitstreams
	err = l.addAll(ctx, k.limited(ctx, k.items(l.refuse)))
	if errors.Is(err, websync.ErrLimit) {
		err = fmt.Errorf("%w: %w", errManifest, err)
	}
	if err != nil || l.out.Entries() == 0 {
		return nil, file, errors.Join(err, w.file.Close())
	}
	if err = l.close(ctx); err == nil {
		file, err = w.finish()
	}
	if err != nil {
		return nil, file, errors.Join(err, w.file.Close())
	}
	return w.file, file, nil
}

// measure finds how far the package reaches, which the head of its manifest states.
func (k *packing) measure(ctx context.Context) error {
	for _, err := range k.limited(ctx, k.items(func(*websync.Item, error) {})) {
		if err != nil {
			return err
		}
	}
	return nil
}

// isReported reports whether what is wrong with an item was reported before.
func (k *packing) isReported(seq websync.Seq) bool {
	return k.silent || k.old.Generation == k.index.Generation && seq <= k.old.Last
}

// limited yields items as long as they fit into the package, and sets where it ends.
func (k *packing) limited(ctx context.Context, items iter.Seq2[*websync.Item, error]) iter.Seq2[*websync.Item, error] {
	return func(yield func(*websync.Item, error) bool) {
		var end websync.Seq
		var endTime time.Time
		for item, err := range items {
			if err == nil {
				err = k.setLength(ctx, item)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			at := item.Born
			if k.kind == ChangeDump {
				at = item.Seq
			}
			if at > k.end {
				return
			}
			if !k.fits(item) {
				k.end, k.endTime = end, endTime
				return
			}
			if end, endTime = at, item.Time; !yield(item, nil) {
				return
			}
		}
	}
}

// fits reports whether an item fits into the package, and counts it.
func (k *packing) fits(item *websync.Item) bool {
	entry, _ := k.publisher.bound(item)
	if item.Kind == websync.Deleted {
		entry *= 2
	}
	content, _ := item.Body(websync.ContentName)
	length, _ := content.Link.StatedLength()
	most := cmp.Or(k.MaxBytes, defaultPackBytes)
	isFull := k.count >= k.most || most > 0 && length > 0 && k.bytes+length > most ||
		k.manifest+entry > sitemap.MaxBytes-roomOfHead
	if k.count > 0 && isFull {
		return false
	}
	k.count++
	k.bytes += length
	k.manifest += entry
	return true
}

// setLength makes the content of an item state its length. The error is a *lackError if
// the content is not kept.
func (k *packing) setLength(ctx context.Context, item *websync.Item) error {
	if item.Kind == websync.Deleted {
		return nil
	}
	i := slices.IndexFunc(item.Bodies, func(b websync.Body) bool { return b.Name == websync.ContentName })
	if i < 0 || !publishing.IsKept(&item.Bodies[i]) {
		return &lackError{k.kind, item.Resource.ID}
	}
	b := &item.Bodies[i]
	if _, stated := b.Link.StatedLength(); stated {
		return nil
	}
	r, err := k.openBody(ctx, b)
	if err != nil {
		return err
	}
	length, err := r.Seek(0, io.SeekEnd)
	b.Link.Length = length
	if length == 0 {
		b.Link.Length = websync.StatedZero
	}
	return errors.Join(err, r.Close())
}

// openBody opens a body. The error is errVanished if it is not kept any more.
func (k *packing) openBody(ctx context.Context, b *websync.Body) (io.ReadSeekCloser, error) {
	r, err := k.publisher.Catalog.Open(ctx, *b)
	if errors.Is(err, websync.ErrNotFound) {
		return nil, fmt.Errorf("resourcesync: %w: %v", errVanished, err)
	}
	if err != nil {
		return nil, k.publisher.site.CatalogError(err)
	}
	return r, nil
}

// writePackage writes the ZIP file. Nothing in it depends on the clock.
func (k *packing) writePackage(ctx context.Context, manifest io.ReadSeeker) (file packedFile, err error) {
	w, err := k.newWriter(".zip")
	if err != nil {
		return file, err
	}
	defer func() { err = errors.Join(err, w.file.Close()) }()
	if _, err := manifest.Seek(0, io.SeekStart); err != nil {
		return file, dumpError(err)
	}
	z, err := newZipper(w.buf, k.Dir)
	if err != nil {
		return file, dumpError(err)
	}
	defer z.spool.Close()
	if err := z.add(manifestName, k.endTime, z.packed, manifest); err != nil {
		return file, dumpError(err)
	}
	for i := range k.all {
		if err := k.packBitstream(ctx, z, i); err != nil {
			return file, err
		}
	}
	if err := z.Close(); err != nil {
		return file, dumpError(err)
	}
	return w.finish()
}

// packBitstream adds a bitstream to a package, and verifies it: the manifest states its
// length and digest already.
func (k *packing) packBitstream(ctx context.Context, z *zipper, i int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	b := &k.all[i]
	r, err := k.openBody(ctx, &b.body)
	if err != nil {
		return err
	}
	stated := websync.Link{Length: b.body.Link.Length, Digests: websync.Digests{b.body.Key}}
	f := z.packed
	if b.compressed {
		f = z.plain
	}
	err = z.add(k.pathOf(i)[1:], b.modified.Time(), f, stated.Verify(r))
	if err = errors.Join(err, r.Close()); err != nil {
		return fmt.Errorf("resourcesync: packing the content of %.200q: %w", b.id, err)
	}
	return nil
}
