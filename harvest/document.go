package harvest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/websync-go/websync"
)

// A document that can be read may still be the wrong one: an empty one, that of a sibling
// from a cache that mixes up its keys, a copy from before. So the engine keeps a note of
// each document of the last complete snapshot. A snapshot that would delete records, and
// has a document that its note makes improbable, is in doubt: the guard withholds its
// deletions.

// A ListedDocument is a document that lists resources, such as one part of a Sitemap.
type ListedDocument struct {
	URL     string           // the same in each run
	Entries int64            // how many resources it lists
	Newest  websync.Datetime // the latest time that an entry states; zero if none does
	Made    time.Time        // when it was made, by its own word or its Last-Modified; zero if not stated
	Sum     uint64           // a hash of its entries; another document with the same entries has the same
}

// A documentNote is what the Store keeps of a ListedDocument.
type documentNote struct {
	Key          uint64 // a hash of the URL
	Entries      int64
	Newest, Made int64 // in nanoseconds since 1970; 0 if not stated
	Read         int64 // by the publisher's clock, in the same unit
	Sum          uint64

	// OlderSum is that of the document which was in doubt as older, if the last one was,
	// and OlderSince when that was read first, in the same unit.
	OlderSum   uint64
	OlderSince int64
}

const noteSize = 8 * 8

// olderAfter is for how long a document must be the same to be no older copy of another
// one: caches are not that patient.
const olderAfter = 7 * 24 * time.Hour

// maxNotes limits the notes of a source: a Source reads 50,000 documents by default.
const maxNotes = 50_000

// documents are those of the snapshot that is being listed.
type documents struct {
	mu     sync.Mutex
	listed []ListedDocument
}

// add implements Run.Document.
func (d *documents) add(doc ListedDocument) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.listed) < maxNotes {
		d.listed = append(d.listed, doc)
	}
}

// take returns the documents since the last take.
func (d *documents) take() []ListedDocument {
	d.mu.Lock()
	defer d.mu.Unlock()
	listed := d.listed
	d.listed = nil
	return listed
}

// documentKey returns the key of the note of the document at a URL.
func documentKey(url string) uint64 {
	key := fnv.New64a()
	key.Write([]byte(url))
	return key.Sum64()
}

// note returns the note of a document. Times in the future are not believed.
func (r *run) note(d *ListedDocument) documentNote {
	n := documentNote{Key: documentKey(d.URL), Entries: d.Entries, Sum: d.Sum, Read: r.clock().UnixNano()}
	n.Newest = nanoseconds(r.horizon().past(d.Newest))
	n.Made = nanoseconds(r.horizon().past(websync.NewDatetime(d.Made)))
	return n
}

// nanoseconds returns a time in nanoseconds since 1970; 0 if it is none, or too far away.
func nanoseconds(d websync.Datetime) int64 {
	t := d.UTC().Time()
	if d.IsZero() || t.Year() < 1700 || t.Year() > 2200 {
		return 0
	}
	return t.UnixNano()
}

// documentNotes reads the notes of the last complete snapshot, by their keys.
func (r *run) documentNotes(ctx context.Context) (map[uint64]documentNote, error) {
	data, err := r.catalog.State(ctx, documentsState.of(r.key))
	if err != nil {
		return nil, &StoreError{err}
	}
	list := make([]documentNote, len(data)/noteSize)
	if _, err := binary.Decode(data, binary.BigEndian, list); err != nil {
		return nil, nil // damaged: as if there were none
	}
	notes := make(map[uint64]documentNote, len(list))
	for _, n := range list {
		notes[n.Key] = n
	}
	return notes, nil
}

// keepDocuments adds the notes of the snapshot's documents to the batch, if they are new.
// What is improbable keeps its last note and, if deletions are withheld, what is missing.
func (w *sweeper) keepDocuments(ctx context.Context, d *documentDoubts) error {
	notes := make([]documentNote, len(w.documents))
	for _, url := range w.snap.members.kept {
		if was, ok := d.before[documentKey(url)]; ok {
			notes = append(notes, was)
			delete(d.before, was.Key)
		}
	}
	for i := range w.documents {
		notes[i] = w.note(&w.documents[i])
		stays, ok := d.improbable[notes[i].Key]
		if !ok {
			stays = notes[i]
			stays.Read = d.before[stays.Key].Read
			ok = stays == d.before[stays.Key] // it was read before
		}
		if ok {
			notes[i] = stays
		}
		delete(d.before, notes[i].Key)
	}
	if w.why != nil {
		notes = slices.AppendSeq(notes, maps.Values(d.before))
	}
	slices.SortFunc(notes, func(a, b documentNote) int { return cmp.Compare(a.Key, b.Key) })
	data, _ := binary.Append(nil, binary.BigEndian, notes) // numbers
	held, err := w.catalog.State(ctx, documentsState.of(w.key))
	if err != nil {
		return &StoreError{err}
	}
	if !bytes.Equal(data, held) {
		w.batch.State[documentsState.of(w.key)] = data
	}
	return nil
}

// documentDoubts are the documents of a snapshot that are improbable.
type documentDoubts struct {
	before     map[uint64]documentNote // the notes of the last snapshot
	improbable map[uint64]documentNote // those that stay
	why        string                  // the first of them is; "" if none is
}

func (d *documentDoubts) add(url string, stays documentNote, format string, values ...any) {
	d.improbable[stays.Key] = stays
	if d.why == "" {
		d.why = websync.RedactURL(url) + " " + fmt.Sprintf(format, values...)
	}
}

// doubtDocuments compares the documents of the snapshot with those of the last one, whose
// notes it takes over.
func (w *sweeper) doubtDocuments(before map[uint64]documentNote, l *lost) *documentDoubts {
	d := &documentDoubts{before: before, improbable: make(map[uint64]documentNote)}
	if l.gone == 0 {
		return d
	}
	missing := maps.Clone(before)
	listing := make(map[uint64]string, len(w.documents)) // URLs by Sum
	for _, url := range w.snap.members.kept {
		if was, ok := before[documentKey(url)]; ok && was.Entries > 0 {
			listing[was.Sum] = url
			delete(missing, was.Key)
		}
	}
	for i := range w.documents {
		doc := &w.documents[i]
		if sibling := listing[doc.Sum]; sibling != "" && doc.Entries > 0 {
			d.doubtCopy(doc.URL, sibling, doc.Sum)
			d.doubtCopy(sibling, doc.URL, doc.Sum)
		}
		listing[doc.Sum] = doc.URL
		now := w.note(doc)
		delete(missing, now.Key)
		if was, ok := before[now.Key]; ok {
			w.doubtDocument(d, doc.URL, was, &now, l)
		}
	}
	w.doubtMissing(d, missing, l)
	return d
}

// doubtCopy doubts a document that lists the same as another one, and did not before.
func (d *documentDoubts) doubtCopy(url, of string, sum uint64) {
	if was, ok := d.before[documentKey(url)]; ok && was.Sum != sum {
		d.add(url, was, "lists the same as %s", websync.RedactURL(of))
	}
}

// doubtDocument doubts a document that has lost too many entries, or is older than
// before.
func (w *sweeper) doubtDocument(d *documentDoubts, url string, was documentNote, now *documentNote, l *lost) {
	fewer := was.Entries - now.Entries
	switch {
	case was.Entries > 0 && now.Entries == 0:
		d.add(url, was, "had %d entries and has none", was.Entries)
	case w.tooMany(fewer, was.Entries) && 2*l.gone >= fewer: // others may have moved
		const message = "had %d entries and has %d, which takes away more than the guard allows"
		d.add(url, was, message, was.Entries, now.Entries)
	case was.Sum != now.Sum && now.isOlder(&was, l):
		if was.OlderSum != now.Sum {
			was.OlderSum, was.OlderSince = now.Sum, now.Read
		} else if now.Read-was.OlderSince >= int64(olderAfter) {
			return
		}
		d.add(url, was, "is older than the one that was read before")
	}
}

// doubtMissing doubts the listing if it lacks a document of many entries, which has not
// got another name.
func (w *sweeper) doubtMissing(d *documentDoubts, missing map[uint64]documentNote, l *lost) {
	added := len(w.documents) + len(w.snap.members.kept) + len(missing) - len(d.before)
	if added >= len(missing) || len(w.documents) >= maxNotes {
		return
	}
	most := int64(0)
	for _, was := range missing {
		if w.tooMany(was.Entries, was.Entries) && 2*l.gone >= was.Entries {
			most = max(most, was.Entries)
		}
	}
	if most > 0 && d.why == "" {
		d.why = fmt.Sprintf("a document of %d entries is no longer part of the listing", most)
	}
}

// lost is what a snapshot takes away.
type lost struct {
	gone int64 // records that it omits
	// newest are the times of the documents' newest entries. They are true if it omits a
	// record of this time, or states an earlier time of it.
	newest map[int64]bool
}

func (w *sweeper) lost(before map[uint64]documentNote) *lost {
	l := &lost{newest: make(map[int64]bool, len(before))}
	for _, was := range before {
		l.newest[was.Newest] = w.snap.back[was.Newest]
	}
	return l
}

func (l *lost) add(rec *brief) {
	l.gone++
	at := nanoseconds(rec.Stated.time())
	if _, ok := l.newest[at]; ok {
		l.newest[at] = true
	}
}

// isOlder reports whether a document seems to be from before another state of it. It was
// made before that or, if that is not known, its newest entry is older, and the newest
// one of the other state is lost, or was when it was last in doubt.
func (n *documentNote) isOlder(was *documentNote, l *lost) bool {
	switch {
	case n.Made != 0 && was.Made != 0:
		return n.Made < was.Made && n.Newest <= was.Newest
	case n.Made > was.Read:
		return false
	}
	return n.Newest != 0 && n.Newest < was.Newest && (l.newest[was.Newest] || was.OlderSince != 0)
}
