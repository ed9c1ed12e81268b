package resourcesync

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/docfetch"
)

// A walk is one run over the documents of a Source.
type walk struct {
	*docfetch.Pass
	source *Source

	from checkpoint // empty if there is none that can be used
	next checkpoint

	offers     map[Capability]string // what the Capability List names; nil until it is read
	hidden     int                   // entries of it that may name what it seems not to offer
	validators docfetch.Validators   // of the Capability List
	date       time.Time             // the latest Date of the documents that small has read; zero if none
	mu         sync.Mutex            // of set
	set        docfetch.Set          // of small documents, manifests and packages
	documents  atomic.Int64
	counted    int // skipped entries that a SnapshotEnd has counted
	notes      versionNotes
	older      bool // a document of the baseline is from before the moment that it was taken to describe
}

func newWalk(s *Source, pass *docfetch.Pass) *walk {
	w := &walk{Pass: pass, source: s}
	options := s.options()
	var c checkpoint
	if docfetch.ReadCheckpoint(pass.From, checkpointVersion, &c) && c.Options == options {
		w.from = c
	}
	w.next = w.from
	w.next.Options = options
	return w
}

func (w *walk) run(ctx context.Context) error {
	if w.from.Listed && !w.from.Stale && !w.from.Damaged && w.from.Root != "" {
		b, err := w.readQueue(ctx)
		if err == nil {
			return w.yieldQueue(ctx, b)
		}
		if !w.isGap(err) {
			return err
		}
	}
	return w.baseline(ctx)
}

// isGap reports whether an error is a gap, and reports that one.
func (w *walk) isGap(err error) bool {
	var gap *gapError
	if !errors.As(err, &gap) {
		return false
	}
	w.Report(ruleGap.Finding(gap.document, 0, 0, "", nil, gap.Error()))
	return true
}

// baseline yields the Resource List, or a Resource Dump, and then what has changed since.
func (w *walk) baseline(ctx context.Context) error {
	if err := w.capabilities(ctx); err != nil {
		return err
	}
	list, packed, log := w.offers[ResourceList], w.offers[ResourceDump], w.log()
	w.next = checkpoint{Options: w.next.Options, Root: log, Listed: true}
	w.named()
	isFirst := !w.from.Listed && !w.Full // as far as the checkpoint shows
	if packed != "" && (list == "" || isFirst && !w.source.NoDumps) {
		if ok, err := w.dumpBaseline(ctx, packed, list != ""); ok || err != nil {
			return err
		}
	}
	if list != "" {
		return w.list(ctx, list)
	}
	if log == "" {
		return w.Named(w.source.URL,
			errors.New("the Capability List offers no Resource List, Resource Dump, Change List or Change Dump"))
	}
	w.countListed(w.hidden)
	b, err := w.sinceBaseline(ctx)
	if err != nil {
		return err
	}
	return w.yieldQueue(ctx, b)
}

// dumpBaseline yields a Resource Dump, and then what has changed since. It returns false
// if the dump can't be read and the Resource List, if there is one, has to be read in its
// place.
func (w *walk) dumpBaseline(ctx context.Context, url string, hasList bool) (ok bool, err error) {
	d, err := w.readDump(ctx, url, ResourceDump)
	if err == nil && hasList && len(d.packages) > 0 { // is it a format that can be read?
		err = d.packages[0].load(ctx, docfetch.Validators{})
	}
	if err != nil && d != nil {
		d.Close()
	}
	switch {
	case err == nil:
		if err = w.yieldDump(ctx, d, hasList); !errors.Is(err, errUnread) {
			return true, err
		}
	case ctx.Err() != nil:
		return false, ctx.Err()
	case !hasList:
		return false, err
	}
	w.Report(ruleUnpack.Finding(url, 0, 0, "", nil, "the Resource List is read in its place: "+err.Error()))
	return false, nil
}

// sinceBaseline returns what has changed since the moment of the Resource List. If that
// is before the oldest change that is still listed, it returns all changes, and the run
// is not in step.
func (w *walk) sinceBaseline(ctx context.Context) (*changeQueue, error) {
	b, err := w.readQueue(ctx)
	if !w.isGap(err) {
		return b, err
	}
	w.next.Stale = true
	w.next.Skipped++
	w.next.Log = cursor{}
	return w.readQueue(ctx)
}

// capabilities reads the Capability List, unless it was read in this run.
func (w *walk) capabilities(ctx context.Context) error {
	if w.offers != nil {
		return nil
	}
	return w.readCapabilities(ctx, docfetch.Validators{})
}

// readCapabilities reads the Capability List, unless it is still the known one.
func (w *walk) readCapabilities(ctx context.Context, known docfetch.Validators) error {
	d := &docfetch.Document{URL: w.source.URL}
	for range 2 {
		head, entries, err := w.small(ctx, d, known, "")
		if err != nil || d.NotModified {
			return err
		}
		switch head.Metadata.Capability {
		case CapabilityList:
			if d.URL == w.source.URL {
				w.validators = d.Validators.Kept()
			}
			w.offers, err = w.offered(d.URL, entries)
			return err
		case Description:
			if head.Index || len(entries) != 1 {
				return w.Named(d.URL,
					fmt.Errorf("a Source Description of %d Capability Lists: each is a Source of its own", len(entries)))
			}
			d, known = &docfetch.Document{URL: entries[0].Loc}, docfetch.Validators{}
		default:
			return w.Named(d.URL, head.Metadata.notOf(CapabilityList))
		}
	}
	return w.Named(w.source.URL,
		fmt.Errorf("a Source Description that names another one, %s: %w", websync.RedactURL(d.URL), websync.ErrNotDocument))
}

// offered returns what a Capability List names. If there is no baseline or no log, an
// entry whose capability is missing, or almost a known one, counts as hidden: it may be
// that one. Those of other specifications are passed over (§6.1).
func (w *walk) offered(url string, entries []Entry) (map[Capability]string, error) {
	offers := make(map[Capability]string)
	unknown := 0
	for _, e := range entries {
		switch c := e.Metadata.Capability; {
		case c == ResourceList, c == ResourceDump, c == ChangeList, c == ChangeDump:
			if first, ok := offers[c]; ok && first != e.Loc {
				return nil, w.Named(url, fmt.Errorf("two entries of the capability %q, %s and %s: there must be one (Z39.99 §9)",
					c, websync.RedactURL(first), websync.RedactURL(e.Loc)))
			}
			offers[c] = e.Loc
		case !c.Known() && c.inDoubt():
			unknown++
		}
	}
	if offers[ResourceList] == "" && offers[ResourceDump] == "" || offers[ChangeList] == "" && offers[ChangeDump] == "" {
		w.hidden = unknown
	}
	return offers, nil
}

// log returns what the Capability List names as the log: its Change List or, if there is
// none, its Change Dump.
func (w *walk) log() string { return cmp.Or(w.offers[ChangeList], w.offers[ChangeDump]) }

// named records in the checkpoint what the Capability List names, if it was read.
func (w *walk) named() {
	if w.offers == nil {
		return
	}
	w.next.Named, w.next.Dump, w.next.Capabilities = w.log(), "", w.validators
	if w.offers[ChangeList] != "" {
		w.next.Dump = w.offers[ChangeDump]
	}
}

// small reads a document of few entries, unless it is still the known one. If want is not
// empty, it must have that capability. The error is that of the document, or of ctx.
func (w *walk) small(
	ctx context.Context, d *docfetch.Document, known docfetch.Validators, want Capability,
) (head Head, entries []Entry, err error) {
	if err := w.get(ctx, d, known); err != nil || d.NotModified {
		return head, nil, err
	}
	defer d.Close()
	if d.Date.After(w.date) {
		w.date = d.Date
	}
	if err := w.place(d); err != nil {
		return head, nil, err
	}
	r := w.reader(d, w.Report)
	r.MaxEntries = maxKept
	var kept holding
	for e, err := range r.All() {
		if err == nil {
			err = kept.add(d.URL, &e)
		}
		if err != nil {
			return head, nil, err
		}
		entries = append(entries, e)
	}
	if head, err = r.Head(); err != nil {
		return head, nil, err
	}
	if c := head.Metadata.Capability; want != "" && c != want {
		return head, nil, w.Named(d.URL, head.Metadata.notOf(want))
	}
	if r.Skipped() > 0 {
		return head, nil, docfetch.Skipped("resourcesync", d.URL, r.Skipped())
	}
	return head, entries, nil
}

// Limits of the entries that are held at the same time: those of a document that names
// others, or of all documents of a dump.
const (
	maxKept      = 50_000
	maxKeptBytes = 64 << 20
)

// A holding counts entries that are held.
type holding struct{ entries, bytes int }

// add adds an entry of the document at url. The error is a *docfetch.Error.
func (h *holding) add(url string, e *Entry) error {
	r := resource(e)
	h.entries++
	h.bytes += r.Size() + len(e.Metadata.Path) + len(e.Metadata.Capability)
	for i := range e.Links {
		h.bytes += e.Links[i].Size()
	}
	if h.entries <= maxKept && h.bytes <= maxKeptBytes {
		return nil
	}
	return &docfetch.Error{Err: docfetch.Named("resourcesync", url,
		fmt.Errorf("more than %d documents are named, or in more than %d bytes: %w", maxKept, maxKeptBytes, websync.ErrLimit))}
}

// ask records that a document of the set is to be got.
func (w *walk) ask(url string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.set.Ask(docfetch.KeyOf(url))
}

// place adds a document that was got to the set, unless it is another one of it. It may
// be called from several goroutines.
func (w *walk) place(d *docfetch.Document) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.set.Add(d); err != nil {
		d.Close()
		return &docfetch.Error{Err: w.Named(d.URL, err)}
	}
	return nil
}

// get gets a document, unless there are too many. It may be called from several
// goroutines.
func (w *walk) get(ctx context.Context, d *docfetch.Document, known docfetch.Validators) error {
	if err := w.CheckLimit(d.URL, int(w.documents.Add(1))-1, w.source.MaxDocuments); err != nil {
		return &docfetch.Error{Err: err}
	}
	return w.Get(ctx, d, known, w.source.MaxBytes)
}

// notOf returns the error of a document that does not have the capability that it must
// have.
func (m *Metadata) notOf(want Capability) error {
	return fmt.Errorf("the capability %.100q, which must be %q: %w", m.Capability, want, websync.ErrNotDocument)
}

// eachView calls do with the rest of the entries of a document, which it numbers from 0.
func eachView(r *Reader, do func(i int, v *View) error) error {
	for i := 0; ; i++ {
		v, err := r.NextView()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = do(i, v)
		}
		if err != nil {
			return err
		}
	}
}

// reader returns a Reader of a document that was got, from its beginning.
func (w *walk) reader(d *docfetch.Document, report func(websync.Finding)) *Reader {
	r := NewReader(d.Body)
	r.Document, r.ContentType, r.MaxBytes, r.Report = d.Final, d.ContentType, w.source.MaxBytes, report
	return r
}

// describe adds what md and ln say to a resource. A patch is of use only once, and no
// part of the description.
func describe(r *websync.Resource, e *Entry) {
	m := &e.Metadata
	r.Content = m.bytes(e.Loc)
	r.Content.Type, r.Content.Encoding, r.Content.Attrs = m.Type, m.Encoding, m.Attrs
	for i := range e.Links {
		if l := &e.Links[i].Link; l.Rel != RelationPatch && l.Rel != "" && l.Href != "" {
			r.Links = append(r.Links, *l)
		}
	}
}

// resource returns the resource of an entry.
func resource(e *Entry) websync.Resource {
	r := websync.Resource{ID: e.Loc, Modified: e.LastMod, Elements: e.Elements}
	describe(&r, e)
	return r
}
