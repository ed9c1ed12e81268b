package sitemap

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"net/url"
	"strconv"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/docfetch"
	"github.com/websync-go/websync/internal/element"
	"github.com/websync-go/websync/internal/syntax"
)

// A Source harvests one sitemap: a urlset, a text sitemap, an index with all that it
// lists, or what the Sitemap lines of a robots.txt file name, as one set. Each entry
// becomes a resource with its loc as ID and content, its lastmod as Modified, and
// changefreq, priority and the extension elements as Elements.
//
// A run yields one snapshot. Documents are fetched ahead and checked to their end. Their
// entries are yielded in the order in which the documents are listed, and each document
// is read once. A document that can't be read is a Problem and yields nothing; the others
// are still read. If it is the root, the run ends with its error. A document that
// redirects to another one of the set is a Problem, too, because its entries are unknown.
//
// Entries that are not usable or may be lost in damaged parts, see [Reader.Skipped],
// count as skipped, and so does a text, or a robots.txt file, that may have been cut
// ([harvest.Response] MayBeCut). A loc that the set lists more than once is yielded each
// time, and reported. An index inside another that lists itself also counts as skipped,
// because the server may have sent the outer one under its URL. Damage that turns one URL
// into another can't be detected.
//
// The checkpoint lets the next run skip documents. If Complete is set, a document is
// skipped if its server answers "not modified" and [harvest.Run] Known reports true, and
// what it listed counts as listed: unless bodies are obtained and it has entries without
// a lastmod. One run in ten reads every document in full, unless Sample is negative, and
// so does the one after a run that was not whole. If all are skipped and the engine asks
// for no sample, there is no snapshot.
//
// Otherwise a part of an index is skipped if its server answers "not modified", if it
// lists the same as before, or without a request if its lastmod in the index is the known
// one and can be believed: the part has shown that it is as new as that, the period of it
// was over when the part was read, and no change of a part has contradicted the index. A
// sample of such parts is asked for nevertheless ([harvest.Run] SampleSize), and all of
// them once a lastmod proves wrong, until ten changes in a row were stated truthfully.
//
// A part is in doubt, and counts as skipped, if it has lost all its entries, has those of
// another part, or is older than the one that was read last: what was known of it stays,
// and it is asked for again, until it is the same a day later.
//
// Departures of the documents go to [harvest.Run.Report].
type Source struct {
	// URL is that of a sitemap of any kind, or of a robots.txt file, which is recognised
	// by its path. It is required.
	URL string

	// Name is the Source's key in a Catalog. If empty, it is URL.
	Name string

	// Complete states that the sitemap lists all resources: those that it no longer lists
	// are deleted.
	Complete bool

	// SameHost skips entries, and sitemaps of an index, that are on another host than the
	// sitemap that lists them, as the protocol demands, and counts them as skipped. By
	// default they are yielded, with one finding for each document.
	SameHost bool

	// Include, if set, chooses the entries to yield by their loc. The others don't count
	// as skipped.
	Include func(loc string) bool

	// Extend, if set, is for packages of protocols that extend this one. It is called
	// with each Reader of a document, and may set its Take. It returns the hooks for the
	// document. Each document is read twice, first to check it and then to yield it; only
	// the first Reader has a Report. Extend may be called from several goroutines.
	Extend func(r *Reader) Extended

	// Profile names what Include and Extend do. When it changes, everything is read
	// again, and what is no longer yielded is not deleted without approval.
	Profile string

	// Parallel is how many documents are fetched ahead. If zero or negative, it is 4.
	Parallel int

	// MaxDepth limits how deep indexes may be nested; the protocol allows one. If zero,
	// it is 3; if negative, there is no limit.
	MaxDepth int

	// MaxDocuments limits the documents of one run. If zero, it is 50,000; if negative,
	// there is no limit.
	MaxDocuments int

	// MaxBytes limits each document, decompressed. If zero, it is 1 GiB; if negative,
	// there is no limit.
	MaxBytes int64
}

// An Extended holds the hooks of an extension of the protocol for one document.
type Extended struct {
	// Entry, if set, is called with each entry that is yielded, and may change its event.
	Entry func(v *View, ev *harvest.Event)

	// Part, if set, is called with each entry of an index, before the document that it
	// names is got.
	Part func(v *View)

	// End, if set, is called when the document was read to its end. If it returns an
	// error, the document is a Problem, and nothing of it is yielded.
	End func() error
}

var _ harvest.Source = (*Source)(nil)

// Key returns Name, or URL if there is none.
func (s *Source) Key() string { return cmp.Or(s.Name, s.URL) }

// Events implements [harvest.Source].
func (s *Source) Events(ctx context.Context, run *harvest.Run) iter.Seq2[harvest.Event, error] {
	return s.events(ctx, run, func(w *walk, v *View) error {
		w.ev = harvest.Event{Kind: harvest.Put, Resource: w.resource(v), Document: w.reading}
		if w.extended.Entry != nil {
			w.extended.Entry(v, &w.ev)
		}
		return w.Yield(w.ev)
	})
}

// events is Events, but passes the entries to put.
func (s *Source) events(ctx context.Context, run *harvest.Run, put func(*walk, *View) error) iter.Seq2[harvest.Event, error] {
	pass := docfetch.Pass{Format: "sitemap", Accept: "application/xml, text/xml;q=0.9, text/plain;q=0.8, */*;q=0.5"}
	return pass.Events(run, func(p *docfetch.Pass) error {
		if err := s.Check(); err != nil {
			return err
		}
		return newWalk(s, p, put).all(ctx)
	})
}

// All returns an iterator over the entries that a run from the beginning yields, without
// a Store, as the function All does. Of run, only Fetcher is required.
func (s *Source) All(ctx context.Context, run *harvest.Run) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		run := run.WithDefaults()
		run.From = harvest.Checkpoint{}
		events := s.events(ctx, run, func(_ *walk, v *View) error {
			if !yield(v.Clone(), nil) {
				return docfetch.ErrStopped
			}
			return nil
		})
		for ev, err := range events {
			switch {
			case ev.Kind == harvest.Problem:
				err = ev.Err
			case ev.Skipped > 0:
				err = docfetch.Skipped("sitemap", s.URL, ev.Skipped)
			}
			if err != nil && !yield(Entry{}, err) {
				return
			}
		}
	}
}

// All returns an iterator over the entries of a whole site: of the sitemap at url, of any
// kind, with all documents that it lists, or of those that the Sitemap lines of a
// robots.txt file name. The entries come in the order in which they are listed. Line and
// Column are those in their document.
//
// An error is yielded with an empty Entry. It names a document that can't be read, and
// the entries of the others follow. If entries can't be read, one error for all of them
// is yielded last. If the document at url can't be read, only its error is yielded.
// Ranging over the iterator again fetches everything again.
//
// Package harvest/fetch has the Fetcher for HTTP. For options, and for reports of
// departures from the protocol, see [Source.All].
func All(ctx context.Context, fetcher harvest.Fetcher, url string) iter.Seq2[Entry, error] {
	return (&Source{URL: url}).All(ctx, &harvest.Run{Fetcher: fetcher})
}

// Check returns an error if the settings are not valid.
func (s *Source) Check() error { return docfetch.CheckURL("sitemap", s.URL) }

// Root returns URL.
func (s *Source) Root() string { return s.URL }

// options returns a fingerprint of the settings that change which entries are yielded.
func (s *Source) options() string {
	return docfetch.Fingerprint("%q %t %t %q", s.URL, s.SameHost, s.Include != nil, s.Profile)
}

// A walk is one run over the documents of a Source.
type walk struct {
	*docfetch.Pass
	source *Source
	put    func(*walk, *View) error // yields an entry

	from *checkpoint // empty if there is no usable one
	next checkpoint

	memory

	set       docfetch.Set
	listed    locSet
	documents int
	overLimit bool // there are more documents than MaxDocuments
	skipped   int
	partial   bool // a document was skipped because it is unchanged

	begun bool // the snapshot
	// if Complete is set: documents that are unchanged may be left out; the URL of the one
	// that is being yielded; and those of the unchanged ones
	leavesOut bool
	reading   string
	kept      []string

	yielded int64 // entries of the documents yielded so far
	leaves  int64 // number of these documents
	open    int64 // documents that are listed and not yet yielded

	extended Extended      // of the document that is being yielded
	ev       harvest.Event // the last one of Events

	freqs map[ChangeFreq]websync.Element // caches: the same few recur
	prios map[float32]websync.Element
}

func newWalk(s *Source, pass *docfetch.Pass, put func(*walk, *View) error) *walk {
	w := &walk{
		Pass:   pass,
		source: s,
		put:    put,
		from:   new(checkpoint),
		next:   newCheckpoint(s.options()),
		memory: memory{sums: make(map[uint64]int)},
		freqs:  make(map[ChangeFreq]websync.Element),
		prios:  make(map[float32]websync.Element),
	}
	var read columns
	if docfetch.ReadCheckpoint(pass.From, checkpointVersion, &read) && read.Options == w.next.options {
		if c, ok := read.checkpoint(); ok {
			w.from, w.next.trust = c, c.trust
			w.leavesOut = s.Complete && c.whole && (pass.Sample < 0 || c.kept < maxKept)
		}
	}
	return w
}

// A part is one document of the set.
type part struct {
	docfetch.Document
	index        *part            // the index that lists it; nil for the root
	line, column int              // of its entry there
	lastMod      websync.Datetime // in the index, if it is a W3C datetime
	depth        int              // number of indexes around it
	known        partNote         // from the checkpoint
	noted        bool             // the checkpoint has known

	// hosts whose robots.txt lists the set, so that it may have entries on them
	vouched   []string
	hosts     []string // where it may have entries
	kind      Kind
	entries   int64
	listed    harvest.ListedDocument
	dated     bool // every entry states a lastmod
	open      bool // a page may change without another lastmod, because the period of its own is not over
	trusted   bool // its lastmod in the index is trusted: it need not be asked for
	unchanged bool
	err       error
}

func (w *walk) all(ctx context.Context) error {
	root := &part{Document: docfetch.Document{URL: w.source.URL}}
	if isRobots(root.URL) {
		return w.robots(ctx, root)
	}
	if !w.source.Complete || w.from.whole {
		w.know(root)
	}
	w.set.Ask(docfetch.KeyOf(root.URL))
	w.documents++
	w.load(ctx, root)
	defer root.Close()
	switch {
	case root.err != nil:
		return root.err
	case root.unchanged && !(w.Samples && w.leavesOut && w.Known(root.URL)):
		return w.Mark(w.From, 0)
	}
	return w.snapshot(ctx, func() error { return w.document(ctx, root) })
}

// snapshot yields what list yields as a snapshot. If Complete is set and all documents
// are those of the last run and unchanged, there is none.
func (w *walk) snapshot(ctx context.Context, list func() error) error {
	if !w.source.Complete {
		if err := w.begin(); err != nil {
			return err
		}
	}
	err := list()
	if err == nil {
		err = w.checkTrusted(ctx)
	}
	if err != nil {
		return err
	}
	w.judge()
	return w.end()
}

// end ends the pass: what list has yielded is all there is.
func (w *walk) end() error {
	w.next.whole = w.source.Complete && !w.Incomplete() && w.skipped == 0 && !w.next.crowded
	if len(w.kept) > 0 {
		w.next.kept = w.from.kept + 1
	}
	if !w.begun && !w.Samples && w.next.whole && len(w.kept) > 0 && len(w.kept) == len(w.from.parts) {
		return w.Mark(docfetch.Checkpoint(checkpointVersion, w.next.columns()), 0)
	}
	if err := w.begin(); err != nil {
		return err
	}
	for _, url := range w.kept {
		if err := w.Yield(harvest.Event{Kind: harvest.Unchanged, Document: url}); err != nil {
			return err
		}
	}
	return w.Yield(harvest.Event{
		Kind: harvest.SnapshotEnd, Complete: w.source.Complete, Whole: !w.partial, Skipped: w.skipped, Options: w.next.options,
		Resume: docfetch.Checkpoint(checkpointVersion, w.next.columns()),
	})
}

// begin begins the snapshot, once.
func (w *walk) begin() error {
	if w.begun {
		return nil
	}
	w.begun = true
	return w.Yield(harvest.Event{Kind: harvest.SnapshotStart})
}

// Problem yields a Problem inside the snapshot.
func (w *walk) Problem(err error) error {
	if err := w.begin(); err != nil {
		return err
	}
	return w.Pass.Problem(err)
}

// know sets what the checkpoint knows of a document.
func (w *walk) know(p *part) { p.known, p.noted = w.from.parts[keyOf(p.URL)] }

func isRobots(rawURL string) bool {
	u, err := url.Parse(rawURL)
	return err == nil && u.Path == "/robots.txt"
}

// robots yields the entries of all sitemaps that a robots.txt file names.
func (w *walk) robots(ctx context.Context, file *part) error {
	const maxFile = 1 << 20
	err := w.Get(ctx, &file.Document, docfetch.Validators{}, maxFile)
	defer file.Close()
	if err != nil {
		return err
	}
	file.findHosts()
	urls, err := Sitemaps(file.Body)
	if err == nil && len(urls) == 0 {
		err = sitemapKind.Not("a robots.txt file without Sitemap lines")
	}
	if err != nil {
		return w.Named(file.URL, err)
	}
	w.skipped += w.cut(file)
	base := newBase(file.Final)
	file.vouched = file.hosts
	w.open += int64(len(urls))
	return w.snapshot(ctx, func() error {
		return w.list(ctx, func() (*part, bool) {
			for len(urls) > 0 {
				loc := []byte(urls[0])
				urls = urls[1:]
				w.open--
				if syntax.HTTPHost(loc) == 0 {
					absolute, _, message := base.resolve(loc)
					w.Report(ruleRobots.Finding(file.Final, 0, 0, "", loc, message))
					if absolute == nil {
						w.skipped++
						continue
					}
					loc = absolute
				}
				if holdsTwo(loc) {
					w.Report(ruleRobots.Finding(file.Final, 0, 0, "", loc, errTwo.Error()))
					w.skipped++
					continue
				}
				if p := w.part(file, &View{Loc: loc}); p != nil {
					return p, true
				}
			}
			return nil, false
		})
	})
}

// document yields the entries of a document that was read, or of all the documents that
// it lists.
func (w *walk) document(ctx context.Context, p *part) error {
	defer p.Close()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case p.err != nil:
		return w.Problem(p.err)
	}
	if p.Final != "" {
		if err := w.set.Add(&p.Document); err != nil {
			return w.Problem(w.Named(p.URL, err))
		}
	}
	if p.unchanged {
		w.partial = true
		if w.source.Complete {
			w.kept = append(w.kept, p.URL)
		}
		w.remember(p)
		return nil
	}
	w.skipped += p.Skipped
	if p.kind != Index {
		return w.leaf(p)
	}
	return w.index(ctx, p)
}

// leaf yields the entries of a document that lists pages. The document was checked
// before, so only reading the temporary file can fail.
func (w *walk) leaf(p *part) error {
	if err := w.begin(); err != nil {
		return err
	}
	if w.source.Complete {
		w.reading = p.URL
	}
	w.leaves++
	w.yielded += p.entries
	w.Expect(w.yielded + w.yielded*w.open/w.leaves)
	var again first
	r := w.reader(p)
	w.extended = w.extend(r)
	for {
		v, err := r.NextView()
		if err == io.EOF {
			again.report(w, p, ruleLocTwice, "are listed before, here or in another document of the set")
			w.Document(p.listed)
			w.remember(p)
			return nil
		}
		if err != nil {
			return w.Problem(err)
		}
		if !w.usable(p, v) || w.source.Include != nil && !w.source.Include(string(v.Loc)) {
			continue
		}
		if w.listed.add(v.Loc) {
			again.add(v)
		}
		if err := w.put(w, v); err != nil {
			return err
		}
	}
}

// usable reports whether an entry of p can be yielded. If not, it counts as skipped.
func (w *walk) usable(p *part, v *View) bool {
	return len(v.Loc) <= harvest.MaxID && (!w.source.SameHost || p.sameHost(v.Loc))
}

func (w *walk) resource(v *View) websync.Resource {
	_, stated := v.StatedPriority()
	room := 0
	for _, own := range []bool{v.ChangeFreq != "", stated, v.LastMod.IsZero() && len(v.LastModText) > 0} {
		if own {
			room++
		}
	}
	e := v.clone(room)
	if e.ChangeFreq != "" {
		x, ok := w.freqs[e.ChangeFreq]
		if !ok {
			x = protocolElement("changefreq", string(e.ChangeFreq))
			w.freqs[e.ChangeFreq] = x
		}
		e.Elements = append(e.Elements, x)
	}
	if p, stated := e.StatedPriority(); stated {
		const maxPrios = 1000
		x, ok := w.prios[p]
		if !ok {
			x = protocolElement("priority", strconv.FormatFloat(float64(p), 'f', -1, 32))
			if len(w.prios) < maxPrios {
				w.prios[p] = x
			}
		}
		e.Elements = append(e.Elements, x)
	}
	if e.LastMod.IsZero() && e.LastModText != "" {
		// Its meaning is unknown, but it makes a change visible.
		e.Elements = append(e.Elements, protocolElement("lastmod", e.LastModText))
	}
	return websync.Resource{ID: e.Loc, Modified: e.LastMod, Content: websync.Link{Href: e.Loc}, Elements: e.Elements}
}

// protocolElement returns an element of the protocol that holds text.
func protocolElement(local, text string) websync.Element {
	// no error is possible: text from XML has only characters that XML allows
	x, _ := element.Text(Namespace, local, strings.ToValidUTF8(text, "\ufffd"))
	return x
}

// index yields the entries of the documents that an index lists.
func (w *walk) index(ctx context.Context, p *part) error {
	maxDepth := cmp.Or(w.source.MaxDepth, 3)
	if maxDepth > 0 && p.depth >= maxDepth {
		err := fmt.Errorf("more than %d indexes, one inside another: %w", maxDepth, websync.ErrLimit)
		return w.Problem(w.Named(p.URL, err))
	}
	if p.depth > 0 {
		w.Report(ruleNested.Finding(p.Final, 0, 0, "sitemapindex", nil, "an index inside an index"))
	}
	w.remember(p)
	r := w.reader(p)
	extended := w.extend(r)
	w.open += p.entries
	return w.list(ctx, func() (*part, bool) {
		for {
			v, err := r.NextView()
			if err == io.EOF {
				return nil, false
			}
			if err != nil {
				return &part{err: err}, true
			}
			w.open--
			if !w.usable(p, v) {
				continue
			}
			if extended.Part != nil {
				extended.Part(v)
			}
			child := w.part(p, v)
			if child == nil {
				continue
			}
			child.depth = p.depth + 1
			if !child.trusted {
				return child, true
			}
			w.trust(child)
		}
	})
}

// part returns the document that an entry of an index names; nil if it must not be read.
func (w *walk) part(index *part, v *View) *part {
	p := &part{
		Document: docfetch.Document{URL: string(v.Loc)},
		index:    index, line: v.Line, column: v.Column, vouched: index.vouched,
	}
	key := docfetch.KeyOf(p.URL)
	if w.set.Asked(key) || index.within(key) {
		w.Report(ruleRepeated.Finding(index.Final, v.Line, v.Column, "loc", v.Loc, "a document that the set lists twice"))
		if index.depth > 0 && docfetch.KeyOf(index.URL) == key {
			w.skipped++ // the server may have sent the outer index under this URL
		}
		return nil
	}
	if other := w.set.ReadAs(key); other != "" {
		p.err = w.Named(other, docfetch.RedirectError(p.URL))
	}
	if err := w.CheckLimit(index.URL, w.documents, w.source.MaxDocuments); err != nil {
		if w.overLimit {
			return nil // the Problem was yielded before
		}
		w.overLimit, p.err = true, err
	}
	w.set.Ask(key)
	w.documents++
	w.open++
	if len(v.LastModText) == 0 {
		p.lastMod = v.LastMod
	}
	if !w.source.Complete {
		w.know(p)
		p.trusted = p.err == nil && w.from.trust > 0 && p.known.proves(p.lastMod)
	} else if w.leavesOut && w.Known(p.URL) {
		w.know(p)
	}
	return p
}

// within reports whether a URL is that of p or of one of the indexes around it, after
// redirects.
func (p *part) within(key docfetch.Key) bool {
	for ; p != nil; p = p.index {
		if docfetch.KeyOf(p.Final) == key {
			return true
		}
	}
	return false
}

// list yields the entries of documents in their order, while the next ones are fetched.
func (w *walk) list(ctx context.Context, next func() (*part, bool)) error {
	ahead := docfetch.Ahead[*part]{
		Parallel: w.source.Parallel,
		Next:     next,
		Ready:    func(p *part) bool { return p.err != nil || p.unchanged },
		Get:      w.load,
		Close:    func(p *part) { p.Close() },
	}
	for p := range ahead.All(ctx) {
		w.open--
		if err := w.document(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// load loads a document. It sets one of p.unchanged, p.err and p.Body.
func (w *walk) load(ctx context.Context, p *part) {
	p.err = w.Load(ctx, &p.Document, p.known.usable(), w.source.MaxBytes, nil, func() error { return w.check(p) })
	p.unchanged = p.NotModified
}

// findHosts sets the hosts on which a document that was fetched may have entries.
func (p *part) findHosts() {
	p.hosts = append([]string{hostName(p.URL), hostName(p.Final)}, p.vouched...)
}

func (w *walk) reader(p *part) *Reader {
	r := NewReader(p.Body)
	r.Document, r.ContentType = p.Final, p.ContentType
	r.MaxBytes = w.source.MaxBytes
	return r
}

// check reads a document to its end and reports its departures.
func (w *walk) check(p *part) error {
	p.findHosts()
	r := w.reader(p)
	r.Report = w.Report
	r.Now = p.Date
	extended := w.extend(r)
	var off first
	var tally docfetch.Tally
	p.dated = true
	for {
		v, err := r.NextView()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		p.entries++
		p.dated = p.dated && !v.LastMod.IsZero()
		p.open = p.open || !v.LastMod.IsZero() && !p.Date.IsZero() && !v.LastMod.IsOver(p.Date)
		if !p.sameHost(v.Loc) {
			off.add(v)
		}
		if len(v.Loc) > harvest.MaxID {
			w.Report(ruleLocLength.Finding(p.Final, v.Line, v.Column, "loc", v.Loc, "longer than any Store accepts: skipped"))
		}
		if !w.usable(p, v) {
			p.Skipped++
			continue
		}
		tally.Add(v.Loc, v.LastMod)
	}
	p.listed = tally.Document(p.URL, p.Made())
	if extended.End != nil {
		if err := extended.End(); err != nil {
			return w.Named(p.URL, err)
		}
	}
	p.kind = r.Kind()
	p.open = p.open && p.kind != Index
	p.Skipped += r.Skipped()
	if p.kind == Text {
		p.Skipped += w.cut(p)
	}
	off.report(w, p, ruleHost, "are on another host")
	return nil
}

func (w *walk) extend(r *Reader) Extended {
	if w.source.Extend == nil {
		return Extended{}
	}
	return w.source.Extend(r)
}

// cut returns 1 and reports a finding if the end of the text of p may be missing.
func (w *walk) cut(p *part) int {
	if !p.MayBeCut {
		return 0
	}
	w.Report(ruleCut.Finding(p.Final, 0, 0, "", nil, "only the closed connection ended this text: the end may be missing"))
	return 1
}

// A first counts entries of a document, and holds the first one.
type first struct {
	n            int64
	loc          []byte
	line, column int
}

func (f *first) add(v *View) {
	if f.n++; f.n == 1 {
		f.loc, f.line, f.column = bytes.Clone(v.Loc), v.Line, v.Column
	}
}

// report reports the entries, if there are any, in one finding at the position of the
// first.
func (f *first) report(w *walk, p *part, rule Rule, what string) {
	if f.n > 0 {
		message := fmt.Sprintf("%d of %d entries %s", f.n, p.entries, what)
		w.Report(rule.Finding(p.Final, f.line, f.column, "loc", f.loc, message))
	}
}

// sameHost reports whether an entry is on the host of its sitemap, under the name before
// or after redirects.
func (p *part) sameHost(loc []byte) bool {
	from := syntax.HTTPHost(loc)
	if from == 0 {
		return false
	}
	host := loc[from:]
	if end := bytes.IndexAny(host, "/?#"); end >= 0 {
		host = host[:end]
	}
	for _, h := range p.hosts {
		if string(host) == h {
			return true
		}
	}
	name := hostName(string(loc))
	for _, h := range p.hosts {
		if name == h {
			return true
		}
	}
	return false
}

// hostName returns the host of a URL in lower case, with its port if that is not the
// scheme's own.
func hostName(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		return ""
	}
	host := strings.ToLower(u.Host)
	switch strings.ToLower(u.Scheme) {
	case "http":
		return strings.TrimSuffix(host, ":80")
	case "https":
		return strings.TrimSuffix(host, ":443")
	}
	return host
}
