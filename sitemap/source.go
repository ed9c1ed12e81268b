package sitemap

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/document"
	"github.com/websync-go/websync/internal/spool"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/internal/xmlscan"
)

// A Source harvests one sitemap: a urlset, a text sitemap, an index with all that it
// lists, or what the Sitemap lines of a robots.txt file name, as one set. Each entry
// becomes a resource with its loc as ID and content, its lastmod as Modified, and
// changefreq, priority and the extension elements as Elements.
//
// A run yields one snapshot. Documents are fetched ahead and checked to their end, and
// shown in the order in which they are listed; each is read once. One that can't be read
// is a Problem, yields nothing, and the others go on. If that is the root, the run ends
// with its error. One that redirects to another document of the set is a Problem, too:
// what it would list is not known.
//
// Entries that can't be used or may be lost in what is damaged, see [Reader.Skipped],
// count as skipped, and so does a text, or a robots.txt file, that may have been cut
// ([harvest.Response] MayBeCut). A loc that the set lists more than once is yielded each
// time, and reported. An index that is a part of another and lists itself may be the
// other one, served in its place, and counts as skipped, too. Damage that turns one URL
// into another can't be seen.
//
// What lets the next run skip reading is in the checkpoint. If Complete is set, every
// document is read in full, unless the root has no parts and its server says that it has
// not changed. Otherwise a part of an index is skipped when its lastmod in the index is
// the known one and lay well before the moment when the part was read, or when its server
// says that it has not changed.
//
// Departures of the documents go to [harvest.Run.Report].
type Source struct {
	// URL is that of a sitemap of any kind, or of a robots.txt file, which is known by
	// its path. It is required.
	URL string

	// Name is the Source's key in a Store. The default is URL.
	Name string

	// Complete says that the sitemap lists everything there is: what it no longer lists
	// is gone.
	Complete bool

	// SameHost skips entries, and sitemaps of an index, on another host than the sitemap
	// that lists them, as the protocol demands, and counts them as skipped. By default
	// they are shown, with one finding for each document.
	SameHost bool

	// Include, if set, chooses the entries to show by their loc. The others don't count
	// as skipped.
	Include func(loc string) bool

	// IncludeKey names the choice that Include makes. When it changes everything is read
	// anew, and what is no longer shown is not taken for deleted without a word.
	IncludeKey string

	// Parallel is how many documents are fetched ahead. 0 and negative: 4.
	Parallel int

	// MaxDepth limits how many indexes may stand one inside another; the protocol allows
	// one. 0: 3; negative: no limit.
	MaxDepth int

	// MaxDocuments limits the documents of one run. 0: 50,000; negative: no limit.
	MaxDocuments int

	// MaxBytes limits each document, decompressed. 0: 1 GiB; negative: no limit.
	MaxBytes int64
}

var (
	_ harvest.Source = (*Source)(nil)
	_ harvest.Rooted = (*Source)(nil)
)

// Key returns Name, or URL if there is none.
func (s *Source) Key() string {
	if s.Name != "" {
		return s.Name
	}
	return s.URL
}

// Check reports what is wrong with the settings.
func (s *Source) Check() error {
	if s.URL == "" {
		return errors.New("sitemap: Source.URL is empty")
	}
	return nil
}

// Root returns URL.
func (s *Source) Root() string { return s.URL }

// Events implements [harvest.Source].
func (s *Source) Events(ctx context.Context, run *harvest.Run) iter.Seq2[harvest.Event, error] {
	return func(yield func(harvest.Event, error) bool) {
		w := newWalk(s, run)
		w.from = w.readCheckpoint()
		w.yield = yield
		w.put = func(v *View) bool {
			return yield(harvest.Event{Kind: harvest.Put, Resource: w.resource(v)}, nil)
		}
		w.all(ctx)
	}
}

// All returns an iterator over the entries that a run from the beginning yields, without
// a Store, as the function All does. Of run, only Fetcher is required.
func (s *Source) All(ctx context.Context, run *harvest.Run) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		w := newWalk(s, run)
		w.yield = func(e harvest.Event, err error) bool {
			switch {
			case err != nil:
			case e.Kind == harvest.Problem:
				err = e.Err
			case e.Skipped > 0:
				err = named(s.URL, fmt.Errorf("%d entries can't be read, or may be lost in what is damaged", e.Skipped))
			default:
				return true
			}
			return yield(Entry{}, err)
		}
		w.put = func(v *View) bool { return yield(v.Clone(), nil) }
		w.all(ctx)
	}
}

// All returns an iterator over the entries of a whole site: of the sitemap at url, of any
// kind, with all documents that it lists, or of those that the Sitemap lines of a
// robots.txt file name. The entries come in the order in which they are listed. Line and
// Column are those in their document.
//
// A yielded error comes with an empty Entry. It names a document that can't be read, and
// the others follow; if entries can't be read, one error for all of them comes last. If
// the document at url can't be read, its error is all there is. The iterator can be
// ranged over again, which fetches all anew.
//
// Package harvest/fetch has the Fetcher for HTTP. For options, and for what departs from
// the protocol, see [Source.All].
func All(ctx context.Context, fetcher harvest.Fetcher, url string) iter.Seq2[Entry, error] {
	return (&Source{URL: url}).All(ctx, &harvest.Run{Fetcher: fetcher})
}

// options is a fingerprint of what decides which entries are shown.
func (s *Source) options() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %t %t %q", s.URL, s.SameHost, s.Include != nil, s.IncludeKey))
	return hex.EncodeToString(sum[:8])
}

// A walk is one run over the documents of a Source.
type walk struct {
	source *Source
	run    *harvest.Run
	yield  func(harvest.Event, error) bool
	put    func(*View) bool // yields an entry

	from *checkpoint // empty if there is none that can be used
	next checkpoint

	asked      map[string]bool   // documents that are listed; keys are canonical URLs
	read       map[string]string // under which URL each document was asked for; the keys are those after redirects
	listed     locSet
	documents  int
	incomplete bool // there was a Problem
	skipped    int

	shown  int64 // entries of the documents shown so far
	leaves int64 // how many these are
	open   int64 // documents that are listed and not yet shown

	freqs map[ChangeFreq]websync.Element // the same few come again and again
	prios map[float32]websync.Element
}

func newWalk(s *Source, run *harvest.Run) *walk {
	return &walk{
		source: s,
		run:    run.WithDefaults(),
		from:   new(checkpoint),
		next:   checkpoint{options: s.options(), parts: make(map[partKey]partNote)},
		asked:  make(map[string]bool),
		read:   make(map[string]string),
		freqs:  make(map[ChangeFreq]websync.Element),
		prios:  make(map[float32]websync.Element),
	}
}

// A part is one document of the set.
type part struct {
	url     string
	index   *part            // that lists it; nil for the root
	lastMod websync.Datetime // in the index, if it is a W3C datetime
	depth   int              // indexes around it
	known   partNote         // from the checkpoint

	final     string // URL after redirects; empty if it was not asked for
	mayBeCut  bool
	vouched   []string // hosts whose robots.txt lists the set: entries on them are in their place
	hosts     []string // where its entries belong
	spool     io.ReadSeekCloser
	kind      Kind
	entries   int64
	skipped   int
	date      time.Time // of the response
	etag      string
	modified  string
	unchanged bool
	err       error
	panicked  *fetchPanic
}

// A fetchPanic is a panic of the Fetcher or of run.Report in the background, in the
// goroutine that ranges over the Source.
type fetchPanic struct {
	value any
	stack []byte
}

func (p *fetchPanic) Error() string { return fmt.Sprintf("%v\n\n%s", p.value, p.stack) }

// Unwrap returns the value of the panic if that is an error.
func (p *fetchPanic) Unwrap() error {
	err, _ := p.value.(error)
	return err
}

func (p *part) close() {
	if p.spool != nil {
		p.spool.Close()
		p.spool = nil
	}
}

// readCheckpoint returns an empty one if that of the run can't be read or belongs to
// other options.
func (w *walk) readCheckpoint() *checkpoint {
	if w.run.From.Version == checkpointVersion {
		if c, ok := decodeCheckpoint(w.run.From.Data); ok && c.options == w.next.options {
			return c
		}
	}
	return new(checkpoint)
}

func (w *walk) all(ctx context.Context) {
	if err := w.source.Check(); err != nil {
		w.yield(harvest.Event{}, err)
		return
	}
	if isRobots(w.source.URL) {
		w.robots(ctx)
		return
	}
	root := &part{url: w.source.URL}
	if !w.source.Complete || w.from.whole {
		root.known = w.from.parts[keyOf(root.url)]
	}
	w.asked[syntax.Canonical(root.url)] = true
	w.documents++
	w.fetchAndCheck(ctx, root)
	defer root.close()
	switch {
	case root.err != nil:
		w.yield(harvest.Event{}, root.err)
	case root.unchanged:
		w.yield(harvest.Event{Kind: harvest.Mark, Resume: w.run.From}, nil)
	default:
		w.snapshot(func() bool { return w.show(ctx, root) })
	}
}

// snapshot yields what show yields as a snapshot.
func (w *walk) snapshot(show func() bool) {
	if !w.yield(harvest.Event{Kind: harvest.SnapshotStart}, nil) || !show() {
		return
	}
	end := harvest.Event{Kind: harvest.SnapshotEnd, Skipped: w.skipped, Options: w.next.options}
	if !w.incomplete {
		end.Complete = w.source.Complete
		w.next.whole = end.Complete && w.skipped == 0
		end.Resume = harvest.Checkpoint{Version: checkpointVersion, Data: w.next.encode()}
	}
	w.yield(end, nil)
}

func isRobots(rawURL string) bool {
	u, err := url.Parse(rawURL)
	return err == nil && u.Path == "/robots.txt"
}

// robots shows all sitemaps that a robots.txt file names.
func (w *walk) robots(ctx context.Context) {
	const maxFile = 1 << 20
	file := &part{url: w.source.URL}
	w.fetch(ctx, file, maxFile)
	defer file.close()
	var urls []string
	if file.err == nil {
		var err error
		if urls, err = Sitemaps(file.spool); err != nil {
			file.err = named(file.url, err)
		} else if len(urls) == 0 {
			file.err = named(file.url, sitemapKind.Not("a robots.txt file without Sitemap lines"))
		}
	}
	if file.err != nil {
		w.yield(harvest.Event{}, file.err)
		return
	}
	w.skipped += w.cut(file)
	base := newBase(file.final)
	file.vouched = file.hosts
	list := func() (*part, bool) {
		for len(urls) > 0 {
			loc := []byte(urls[0])
			urls = urls[1:]
			w.open--
			if syntax.HTTPHost(loc) == 0 {
				absolute, _, message := base.resolve(loc)
				w.run.Report(ruleRobots.Finding(file.final, 0, 0, "", loc, message))
				if absolute == nil {
					w.skipped++
					continue
				}
				loc = absolute
			}
			if p := w.part(file, &View{Loc: loc}); p != nil {
				return p, true
			}
		}
		return nil, false
	}
	w.open += int64(len(urls))
	w.snapshot(func() bool { return w.list(ctx, list) })
}

// show yields the entries of a document that was read, or of all the documents that it
// lists. It returns false when nothing more may be yielded.
func (w *walk) show(ctx context.Context, p *part) bool {
	defer p.close()
	switch {
	case ctx.Err() != nil:
		w.yield(harvest.Event{}, ctx.Err())
		return false
	case p.err != nil:
		return w.problem(p.err)
	}
	if err := w.redirected(p); err != nil {
		return w.problem(err)
	}
	if p.unchanged {
		w.remember(p)
		return true
	}
	w.skipped += p.skipped
	if p.kind != Index {
		return w.leaf(p)
	}
	return w.index(ctx, p)
}

// redirected returns an error if p redirects to another document of the set: what p
// itself would list was not read.
func (w *walk) redirected(p *part) error {
	final := syntax.Canonical(p.final)
	if p.final == "" {
		return nil
	}
	_, read := w.read[final]
	if final != syntax.Canonical(p.url) && (read || w.asked[final]) {
		return named(p.url, errRedirect(p.final))
	}
	w.read[final] = p.url
	return nil
}

func errRedirect(to string) error {
	return fmt.Errorf("redirects to %s, which is another document of the set: its own entries are not known", to)
}

func (w *walk) problem(err error) bool {
	w.incomplete = true
	return w.yield(harvest.Event{Kind: harvest.Problem, Err: err}, nil)
}

// leaf yields the entries of a document that lists pages. It has been checked: what fails
// now is reading the spool.
func (w *walk) leaf(p *part) bool {
	w.leaves++
	w.shown += p.entries
	w.run.Expect(w.shown + w.shown*w.open/w.leaves)
	var again first
	for r := w.reader(p); ; {
		v, err := r.NextView()
		if err == io.EOF {
			again.report(w, p, ruleLocTwice, "are listed before, here or in another document of the set")
			w.remember(p)
			return true
		}
		if err != nil {
			return w.problem(err)
		}
		if !w.usable(p, v) || w.source.Include != nil && !w.source.Include(string(v.Loc)) {
			continue
		}
		if w.listed.add(v.Loc) {
			again.add(v)
		}
		if !w.put(v) {
			return false
		}
	}
}

// usable tells whether an entry of p can be shown; otherwise it is skipped.
func (w *walk) usable(p *part, v *View) bool {
	return len(v.Loc) <= harvest.MaxID && (!w.source.SameHost || p.sameHost(v.Loc))
}

func (w *walk) resource(v *View) websync.Resource {
	p, stated := v.StatedPriority()
	unread := v.LastMod.IsZero() && len(v.LastModText) > 0
	room := 0
	for _, own := range []bool{v.ChangeFreq != "", stated, unread} {
		if own {
			room++
		}
	}
	e := v.clone(room)
	if e.ChangeFreq != "" {
		x, ok := w.freqs[e.ChangeFreq]
		if !ok {
			x = element("changefreq", string(e.ChangeFreq))
			w.freqs[e.ChangeFreq] = x
		}
		e.Elements = append(e.Elements, x)
	}
	if stated {
		const maxPrios = 1000
		x, ok := w.prios[p]
		if !ok {
			x = element("priority", strconv.FormatFloat(float64(p), 'f', -1, 32))
			if len(w.prios) < maxPrios {
				w.prios[p] = x
			}
		}
		e.Elements = append(e.Elements, x)
	}
	if unread {
		// Nobody can tell what it means, but everybody when it becomes another.
		e.Elements = append(e.Elements, element("lastmod", e.LastModText))
	}
	return websync.Resource{ID: e.Loc, Modified: e.LastMod, Content: websync.Link{Href: e.Loc}, Elements: e.Elements}
}

// element returns an element of the protocol that holds text.
func element(local, text string) websync.Element {
	b := []byte("<" + local + ` xmlns="` + Namespace + `">`)
	b, _ = xmlscan.AppendText(b, strings.ToValidUTF8(text, "\ufffd")) // from XML: it has no character that XML lacks
	return websync.Element{Space: Namespace, Local: local, XML: string(b) + "</" + local + ">"}
}

// index shows what a document lists.
func (w *walk) index(ctx context.Context, p *part) bool {
	maxDepth := w.source.MaxDepth
	if maxDepth == 0 {
		maxDepth = 3
	}
	if maxDepth > 0 && p.depth >= maxDepth {
		err := fmt.Errorf("more than %d indexes, one inside another: %w", maxDepth, websync.ErrLimit)
		return w.problem(named(p.url, err))
	}
	if p.depth > 0 {
		w.run.Report(ruleNested.Finding(p.final, 0, 0, "sitemapindex", nil, "an index inside an index"))
	}
	r := w.reader(p)
	w.open += p.entries
	return w.list(ctx, func() (*part, bool) {
		for {
			v, err := r.NextView()
			if err == io.EOF {
				return nil, false
			}
			if err != nil {
				return &part{url: p.url, err: err}, true
			}
			w.open--
			if !w.usable(p, v) {
				continue
			}
			if child := w.part(p, v); child != nil {
				child.depth = p.depth + 1
				return child, true
			}
		}
	})
}

// part returns the document that an entry of an index names; nil if it is not to be read.
func (w *walk) part(index *part, v *View) *part {
	p := &part{url: string(v.Loc), index: index, vouched: index.vouched}
	key := syntax.Canonical(p.url)
	if w.asked[key] || index.within(key) {
		w.run.Report(ruleRepeated.Finding(index.final, v.Line, v.Column, "loc", v.Loc, "a document that the set lists twice"))
		if index.depth > 0 && syntax.Canonical(index.url) == key {
			w.skipped++ // the index around it, perhaps, served in its place
		}
		return nil
	}
	if by, ok := w.read[key]; ok {
		p.err = named(by, errRedirect(p.url))
	}
	maxDocuments := w.source.MaxDocuments
	if maxDocuments == 0 {
		maxDocuments = 50_000
	}
	if maxDocuments > 0 && w.documents >= maxDocuments {
		if w.documents > maxDocuments {
			return nil // has been told
		}
		p.err = named(index.url, fmt.Errorf("more than %d documents: %w", maxDocuments, websync.ErrLimit))
	}
	w.asked[key] = true
	w.documents++
	w.open++
	if len(v.LastModText) == 0 {
		p.lastMod = v.LastMod
	}
	if !w.source.Complete {
		p.known = w.from.parts[keyOf(p.url)]
		p.unchanged = p.known.settled && p.known.lastMod == p.lastMod.String()
	}
	return p
}

// within reports whether a document is p or one of the indexes around it, under the URL
// after redirects.
func (p *part) within(key string) bool {
	for ; p != nil; p = p.index {
		if syntax.Canonical(p.final) == key {
			return true
		}
	}
	return false
}

// list shows documents in their order, while the next ones are fetched. It returns false
// when nothing more may be yielded.
func (w *walk) list(ctx context.Context, next func() (*part, bool)) bool {
	parallel := w.source.Parallel
	if parallel <= 0 {
		parallel = 4
	}
	ctx, cancel := context.WithCancel(ctx)
	var ahead []chan *part
	defer func() {
		cancel()
		var panicked *fetchPanic
		for _, c := range ahead {
			p := <-c
			p.close()
			panicked = cmp.Or(panicked, p.panicked)
		}
		if panicked != nil {
			panic(panicked)
		}
	}()
	fetchAhead := func() {
		for len(ahead) < parallel {
			p, ok := next()
			if !ok {
				return
			}
			ahead = append(ahead, w.start(ctx, p))
		}
	}
	for {
		fetchAhead()
		if len(ahead) == 0 {
			return true
		}
		p := <-ahead[0]
		ahead = ahead[1:]
		if p.panicked != nil {
			p.close()
			panic(p.panicked)
		}
		w.open--
		fetchAhead()
		if !w.show(ctx, p) {
			return false
		}
	}
}

// start reads p in the background, unless that isn't needed.
func (w *walk) start(ctx context.Context, p *part) chan *part {
	done := make(chan *part, 1)
	if p.err != nil || p.unchanged {
		done <- p
		return done
	}
	go func() {
		p.panicked = &fetchPanic{value: "the Fetcher ended its goroutine"}
		defer func() {
			if v := recover(); v != nil {
				p.panicked = &fetchPanic{v, debug.Stack()}
			}
			done <- p
		}()
		w.fetchAndCheck(ctx, p)
		p.panicked = nil
	}()
	return done
}

// fetchAndCheck gets a document and reads it to its end. Afterwards p has one of
// unchanged, err and spool.
func (w *walk) fetchAndCheck(ctx context.Context, p *part) {
	limit := w.source.MaxBytes
	if limit == 0 {
		limit = document.DefaultBytes
	}
	w.fetch(ctx, p, limit)
	if p.err != nil || p.unchanged {
		return
	}
	if p.err = w.check(p); p.err != nil {
		p.close()
	}
}

// fetch gets a document to its end.
func (w *walk) fetch(ctx context.Context, p *part, maxBytes int64) {
	resp, err := w.run.Fetcher.Fetch(ctx, &harvest.Request{
		URL:       p.url,
		Accept:    "application/xml, text/xml;q=0.9, text/plain;q=0.8, */*;q=0.5",
		Validator: harvest.Validator{URL: p.url, ETag: p.known.etag, LastModified: p.known.lastModified},
		MaxBytes:  maxBytes,
		Spool:     true,
	})
	if err != nil {
		p.err = fmt.Errorf("sitemap: %w", err) // which names the URL
		return
	}
	p.date = responseDate(resp)
	p.etag, p.modified = resp.Validator.ETag, resp.Validator.LastModified
	p.mayBeCut = resp.MayBeCut
	if p.final = resp.URL; p.final == "" {
		p.final = p.url
	}
	if resp.NotModified {
		p.unchanged = true
		return
	}
	p.hosts = append([]string{hostName(p.url), hostName(p.final)}, p.vouched...)
	if p.spool, err = spooled(resp.Body); err != nil {
		p.err = named(p.url, err)
	}
}

// spooled returns the body of a response as one that can be read again.
func spooled(body io.ReadCloser) (io.ReadSeekCloser, error) {
	if body == nil {
		return spool.Read(bytes.NewReader(nil), 0)
	}
	if s, ok := body.(io.ReadSeekCloser); ok {
		return s, nil
	}
	s, err := spool.Read(body, 0)
	if err = errors.Join(err, body.Close()); err != nil {
		return nil, err
	}
	return s, nil
}

// responseDate returns the server's clock; zero if it is not told.
func responseDate(resp *harvest.Response) time.Time {
	if dates := resp.Header["Date"]; len(dates) > 0 {
		if t, err := time.Parse("Mon, 02 Jan 2006 15:04:05 GMT", dates[0]); err == nil {
			return t
		}
	}
	return time.Time{}
}

// named makes sure that an error names the document.
func named(url string, err error) error {
	var parse *websync.ParseError
	if errors.As(err, &parse) {
		return err
	}
	return &websync.ParseError{Format: "sitemap", Document: url, Err: err}
}

func (w *walk) reader(p *part) *Reader {
	r := NewReader(p.spool)
	r.Document = p.final
	r.MaxBytes = w.source.MaxBytes
	return r
}

// check reads a document to its end, reports its departures and rewinds it.
func (w *walk) check(p *part) error {
	r := w.reader(p)
	r.Report = w.run.Report
	r.Now = p.date
	var off first
	for {
		v, err := r.NextView()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		p.entries++
		if !p.sameHost(v.Loc) {
			off.add(v)
		}
		if len(v.Loc) > harvest.MaxID {
			w.run.Report(ruleLocLength.Finding(p.final, v.Line, v.Column, "loc", v.Loc, "longer than any store takes: skipped"))
		}
		if !w.usable(p, v) {
			p.skipped++
		}
	}
	p.kind = r.Kind()
	p.skipped += r.Skipped()
	if p.kind == Text {
		p.skipped += w.cut(p)
	}
	off.report(w, p, ruleHost, "are on another host")
	if _, err := p.spool.Seek(0, io.SeekStart); err != nil {
		return named(p.url, err)
	}
	return nil
}

// cut returns 1, and reports it, if the text of p may lack its end.
func (w *walk) cut(p *part) int {
	if !p.mayBeCut {
		return 0
	}
	w.run.Report(ruleCut.Finding(p.final, 0, 0, "", nil, "only the end of the connection ended this text: there may have been more"))
	return 1
}

// A first counts entries of a document, and remembers the first.
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

// report reports the entries, if there are any, in one finding at the first.
func (f *first) report(w *walk, p *part, rule Rule, what string) {
	if f.n > 0 {
		message := fmt.Sprintf("%d of %d entries %s", f.n, p.entries, what)
		w.run.Report(rule.Finding(p.final, f.line, f.column, "loc", f.loc, message))
	}
}

// sameHost tells whether an entry is on the host of its sitemap, under the name before or
// after redirects.
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

// remember keeps what the next run has to know to skip a document.
func (w *walk) remember(p *part) {
	if w.source.Complete && p.url != w.source.URL || p.skipped > 0 { // the next run reads it again, and counts them again
		return
	}
	n := partNote{
		lastMod:      p.lastMod.String(),
		settled:      settled(p.lastMod, p.date),
		etag:         p.etag,
		lastModified: p.modified,
	}
	if p.unchanged {
		if p.date.IsZero() {
			n.settled = p.known.settled && p.known.lastMod == n.lastMod
		}
		if n.etag == "" && n.lastModified == "" {
			n.etag, n.lastModified = p.known.etag, p.known.lastModified
		}
	}
	w.next.remember(p.url, n)
}

// settled tells whether a document that was read at a moment of its server's clock can't
// change any more and still have this lastmod. A day may end a day later than in UTC for
// its publisher, and two clocks are never the same.
func settled(lastMod websync.Datetime, read time.Time) bool {
	if lastMod.IsZero() || read.IsZero() {
		return false
	}
	slack := time.Minute
	if lastMod.Precision() <= websync.PrecisionDay {
		slack = 24 * time.Hour
	}
	return !lastMod.End().Add(slack).After(read)
}
