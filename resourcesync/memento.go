package resourcesync

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/docfetch"
	"github.com/websync-go/websync/internal/spool"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/internal/webpage"
)

// Versions chooses which versions of a resource a [Source] obtains (Z39.99 §14.6).
type Versions uint8

const (
	// LatestVersion is what loc leads to. If these are not the bytes that the entry
	// states, because the resource has changed again, the version that the entry
	// announces is obtained instead, as with AnnouncedVersion.
	LatestVersion Versions = iota

	// AnnouncedVersion is the version that the entry announces: what its link memento
	// leads to, or else what the TimeGate of its link timegate has for the time of the
	// resource (RFC 7089 §4). If neither is there, it is what loc leads to.
	AnnouncedVersion

	// EveryVersion is AnnouncedVersion, and besides each memento that the TimeMap of the
	// link timemap names is yielded as a resource of its own. Its ID is the URI of the
	// memento, Modified is its datetime, and a link original leads to the resource.
	// Without a TimeMap of the type application/link-format, the target of the link
	// memento is yielded so.
	//
	// All TimeMaps are read for each baseline, and that of a resource for each of its
	// changes. They don't count for MaxDocuments. One that can't be read is a Problem. A
	// page of a TimeMap may name mementos on its own host only; others are a finding, and
	// count as skipped. A resource that is chosen of what the set lists is never taken
	// for a memento. Include is not asked about mementos. Those of a resource that is not
	// listed any more are deleted by the next baseline.
	EveryVersion
)

// maxTimeMaps limits the pages of one TimeMap.
const maxTimeMaps = 1000

// A history says where the versions of a resource are.
type history struct {
	Original string       `json:"original"`
	TimeMap  string       `json:"timemap,omitempty"`
	Memento  websync.Link `json:"memento,omitzero"` // the announced version
	Listed   bool         `json:"listed,omitempty"` // by a baseline, not by a change
}

// historyOf returns where the versions of a resource are. It is false if the entry does
// not state it.
func historyOf(r *websync.Resource) (h history, ok bool) {
	h.Original = r.ID
	for _, l := range targets(r, "timemap") {
		if l.Type == "" || syntax.IsOfType(l.Type, webpage.LinkFormat) {
			h.TimeMap = l.Href
			break
		}
	}
	if link, ok := mementoOf(r); ok {
		h.Memento = link
	}
	return h, h.TimeMap != "" || h.Memento.Href != ""
}

// mementoOf returns the link to the version of a resource that its entry announces.
func mementoOf(r *websync.Resource) (websync.Link, bool) {
	links := targets(r, "memento")
	if len(links) == 0 {
		return websync.Link{}, false
	}
	link := sameBytes(r.Content, links[0])
	link.Modified = links[0].Modified
	if link.Modified.IsZero() {
		link.Modified = r.Modified
	}
	return link, true
}

// memento returns a version as a resource of its own.
func memento(original string, link websync.Link) websync.Resource {
	r := websync.Resource{
		ID: link.Href, Modified: link.Modified, Content: link, Links: []websync.Link{{Rel: "original", Href: original}},
	}
	r.Content.Modified = websync.Datetime{}
	return r
}

// isMemento reports whether a resource is a version of another one.
func isMemento(r *websync.Resource) bool {
	_, ok := r.Link("original")
	return ok
}

// acceptDatetime returns the Accept-Datetime header for the version of a resource that
// was modified at d (RFC 7089 §2.1.1): the last second of that period.
func acceptDatetime(d websync.Datetime) string {
	t := d.End().Add(-1).Truncate(time.Second)
	if t.Before(d.Time()) {
		t = t.Add(time.Second) // it must not be the version before
	}
	return t.UTC().Format(docfetch.HTTPDate)
}

// mementoTime reads a datetime of a version (RFC 7089 §2.1.1).
func mementoTime(text string) (websync.Datetime, bool) {
	t, err := time.Parse(docfetch.HTTPDate, text)
	return websync.NewDatetime(t), err == nil
}

// A versionNotes notes, while resources are yielded, where their versions are. Mementos
// are yielded after the resources, so that none is taken for a resource that is listed.
type versionNotes struct {
	listed  []uint64        // idSum of the URIs that a baseline lists
	changed map[uint64]bool // those that have changed since; nil except in a baseline
	done    bool            // the baseline has all of them
	file    spool.File      // a line of JSON for each history
}

func (n *versionNotes) add(h *history) error {
	line, err := json.Marshal(h)
	if err == nil {
		_, err = n.file.Write(append(line, '\n'))
	}
	return err
}

// all calls yield with each history.
func (n *versionNotes) all(yield func(*history) error) error {
	lines := json.NewDecoder(bufio.NewReader(n.file.Section(spool.Span{Size: n.file.Size()})))
	for {
		var h history
		if err := lines.Decode(&h); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := yield(&h); err != nil {
			return err
		}
	}
}

func (n *versionNotes) close() {
	n.file.Close()
	*n = versionNotes{}
}

// noteListed notes where the versions of a resource of a baseline are.
func (w *walk) noteListed(r *websync.Resource) error {
	if w.source.Versions != EveryVersion {
		return nil
	}
	w.notes.listed = append(w.notes.listed, idSum([]byte(r.ID)))
	if h, ok := historyOf(r); ok {
		h.Listed = true
		return w.notes.add(&h)
	}
	return nil
}

// noteSince notes where the versions of resources are that have changed since a baseline.
// They are versions of what the set lists now, so they are part of the baseline.
func (w *walk) noteSince(since *changeQueue) error {
	w.notes.changed = make(map[uint64]bool)
	for _, l := range since.lists {
		err := w.eachNew(since, l, func(v *View, _ websync.Datetime, isLatest bool) error {
			w.notes.changed[idSum(v.Loc)] = true
			return w.noteChanged(v, isLatest)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// noteChanged notes where the versions of a resource are after a change. If another
// change follows in the same queue, the TimeMap is left to that one.
func (w *walk) noteChanged(v *View, isLatest bool) error {
	if w.source.Versions != EveryVersion || w.notes.done || w.source.removes(v) {
		return nil
	}
	_, r := changed(v)
	if h, ok := historyOf(&r); ok && (isLatest || h.TimeMap == "") {
		return w.notes.add(&h)
	}
	return nil
}

// listedVersions yields the versions of the resources of a baseline. Since is the log
// that comes after it; it may be nil.
func (w *walk) listedVersions(ctx context.Context, since *changeQueue) (skipped int, err error) {
	if w.source.Versions != EveryVersion {
		return 0, nil
	}
	defer func() {
		w.notes.close()
		w.notes.done = true
	}()
	if since != nil {
		if err := w.noteSince(since); err != nil {
			return 0, err
		}
	}
	slices.Sort(w.notes.listed)
	return w.yieldVersions(ctx, func(uri string) bool {
		_, listed := slices.BinarySearch(w.notes.listed, idSum([]byte(uri)))
		return listed || since.names(uri)
	})
}

// yieldVersions yields the versions that are noted, except resources of the set. A
// TimeMap that can't be read is a Problem.
func (w *walk) yieldVersions(ctx context.Context, isListed func(uri string) bool) (skipped int, err error) {
	err = w.notes.all(func(h *history) error {
		if h.Listed && h.TimeMap != "" && w.notes.changed[idSum([]byte(h.Original))] {
			return nil // that is left to the change
		}
		more, err := w.yieldHistory(ctx, h, isListed)
		skipped += more
		if docfetch.IsOfDocument(err) {
			return w.Problem(err)
		}
		return err
	})
	return skipped, err
}

// names reports whether the queue has an entry of a URI.
func (b *changeQueue) names(uri string) bool {
	if b == nil {
		return false
	}
	_, ok := b.latest[idSum([]byte(uri))]
	return ok
}

// yieldHistory yields the versions of a resource. The error is that of a TimeMap that
// can't be read, of yielding, or of ctx.
func (w *walk) yieldHistory(ctx context.Context, h *history, isListed func(uri string) bool) (skipped int, err error) {
	if h.TimeMap == "" {
		return 0, w.yieldMemento(h, h.Memento, isListed)
	}
	t := &timeMap{walk: w, original: h.Original}
	t.follow(h.TimeMap, h.TimeMap)
	err = t.read(ctx, func(link websync.Link) error { return w.yieldMemento(h, link, isListed) })
	return t.skipped, err
}

// yieldMemento yields a version, unless it is a resource of the set.
func (w *walk) yieldMemento(h *history, link websync.Link, isListed func(uri string) bool) error {
	if len(link.Href) > maxID || isListed(link.Href) {
		return nil
	}
	return w.putVersion(memento(h.Original, link))
}

// isSame reports whether two URIs are equivalent, whatever their schemes.
func isSame(a, b string) bool {
	_, restA, _ := strings.Cut(syntax.Canonical(a), "://")
	_, restB, _ := strings.Cut(syntax.Canonical(b), "://")
	return a == b || restA != "" && restA == restB
}

// A timeMap reads the TimeMap of a resource (RFC 7089 §5), which may have pages (§5.1.2).
type timeMap struct {
	*walk
	original string
	pages    []string // to be read
	known    int      // pages so far
	pageSet  docfetch.Set
	mementos int
	skipped  int
}

// follow adds a page, unless it is known.
func (t *timeMap) follow(document, url string) {
	key := docfetch.KeyOf(url)
	if syntax.HTTPHost(url) == 0 || len(url) > maxID || t.pageSet.Asked(key) || t.pageSet.ReadAs(key) != "" {
		return
	}
	if t.known++; t.known > maxTimeMaps {
		if t.known == maxTimeMaps+1 {
			t.skip(1, document, url, fmt.Sprintf("more than %d pages: the others are not read", maxTimeMaps))
		}
		return
	}
	t.pageSet.Ask(key)
	t.pages = append(t.pages, url)
}

// skip reports what is not read, and counts it.
func (t *timeMap) skip(n int, document, value, message string) {
	t.skipped += n
	t.Report(ruleTimeMap.Finding(document, 0, 0, "", []byte(value), message))
}

// read yields the mementos of all pages.
func (t *timeMap) read(ctx context.Context, yield func(websync.Link) error) error {
	for len(t.pages) > 0 {
		url := t.pages[0]
		t.pages = t.pages[1:]
		if err := t.page(ctx, url, yield); err != nil {
			return err
		}
	}
	return nil
}

// page reads a page to its end, and then yields its mementos.
func (t *timeMap) page(ctx context.Context, url string, yield func(websync.Link) error) error {
	d := &docfetch.Document{URL: url}
	get := docfetch.Pass{Run: t.Run, Format: t.Format, Accept: webpage.LinkFormat}
	if err := get.Get(ctx, d, docfetch.Validators{}, t.source.MaxBytes); err != nil {
		return err
	}
	defer d.Close()
	err := t.check(d)
	if err == nil {
		err = t.Rewind(d)
	}
	if err != nil {
		return &docfetch.Error{Err: t.Named(url, err)}
	}
	return t.yield(d, yield)
}

// check reads a page to its end, and notes the pages that it names.
func (t *timeMap) check(d *docfetch.Document) error {
	if err := t.pageSet.Add(d); err != nil {
		return err
	}
	if d.MayBeCut {
		return fmt.Errorf("only the closed connection ended it: %w", websync.ErrTruncated)
	}
	isTimeMap := false
	for l, err := range webpage.NewLinkReader(d.Body, d.Final).All() {
		if err != nil {
			return err
		}
		target := targetOf(d, &l)
		switch {
		case l.HasRel("original"):
			if isTimeMap = isSame(target, t.original); !isTimeMap {
				return fmt.Errorf("a TimeMap of %.200q, which must be one of %.200q",
					websync.RedactURL(target), websync.RedactURL(t.original))
			}
		case l.HasRel("timemap") && !l.HasRel("self"):
			if kind := l.Get("type"); kind == "" || syntax.IsOfType(kind, webpage.LinkFormat) {
				t.follow(d.Final, target)
			}
		}
	}
	if !isTimeMap {
		return fmt.Errorf("no link original, which a TimeMap must have: %w", websync.ErrNotDocument)
	}
	return nil
}

// yield yields the mementos of a page that are on its own host.
func (t *timeMap) yield(d *docfetch.Document, yield func(websync.Link) error) error {
	limit := cmp.Or(t.source.MaxMementos, 10_000)
	host := hostOf(d.Final)
	foreign, first, badTimes, badTime := 0, "", 0, ""
	for l, err := range webpage.NewLinkReader(d.Body, d.Final).All() {
		if err != nil {
			return &docfetch.Error{Err: err}
		}
		link := websync.Link{Href: targetOf(d, &l)}
		switch {
		case !l.HasRel("memento"), isSame(link.Href, t.original):
			continue
		case hostOf(link.Href) != host || len(link.Href) > maxID:
			foreign, first = foreign+1, cmp.Or(first, link.Href)
			continue
		}
		if t.mementos++; limit > 0 && t.mementos > limit {
			t.pages = nil
			t.skip(1, d.Final, link.Href, fmt.Sprintf("more than %d mementos: the others are not yielded", limit))
			break
		}
		var ok bool
		if link.Modified, ok = mementoTime(l.Get("datetime")); !ok {
			badTimes, badTime = badTimes+1, cmp.Or(badTime, l.Get("datetime"))
		}
		if kind := l.Get("type"); syntax.MediaTypeFault(kind) == "" {
			link.Type = kind
		}
		if err := yield(link); err != nil {
			return err
		}
	}
	if foreign > 0 {
		t.skip(foreign, d.Final, first,
			fmt.Sprintf("%d mementos that are not on the host of the TimeMap, or too long: not yielded", foreign))
	}
	if badTimes > 0 {
		t.Report(ruleTimeMap.Finding(d.Final, 0, 0, "", []byte(badTime),
			fmt.Sprintf("%d mementos without a datetime that can be read", badTimes)))
	}
	return nil
}

// targetOf returns the target of a link of a TimeMap, byte for byte as it is written.
func targetOf(d *docfetch.Document, l *webpage.Link) string {
	return string(syntax.AppendResolved(nil, d.Final, []byte(l.Target)))
}

// hostOf returns the host and port of a URL; empty if it is none of the web.
func hostOf(url string) string {
	origin, _ := syntax.OriginOf(url)
	_, host := origin.Split()
	return host
}
