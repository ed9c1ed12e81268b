package harvest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"math"
	"reflect"
	"slices"

	"github.com/websync-go/websync"
)

// Inspect reads the whole Store at one moment and returns what is inconsistent in it, the
// first thousand faults at most. Runs may go on meanwhile. It takes some twenty bytes of
// memory for each record, and as many for each body. Of bodies that are kept beside the
// Store it looks whether those that records name are there, with the right length.
func (s *Catalog) Inspect(ctx context.Context) (faults []string, err error) {
	err = s.viewListed(ctx, listOf(nil), func(r *reader) error {
		noting := &notingReader{Reader: r.Reader}
		in := &inspection{reader: *r, ctx: ctx, outside: s.Blobs, noting: noting, seed: maphash.MakeSeed()}
		in.reader.Reader = noting
		for _, check := range [...]func(){in.kinds, in.log, in.bodies, in.records, in.sources, in.tasks, in.blobs} {
			if check(); noting.err == nil {
				noting.err = ctx.Err()
			}
		}
		faults = in.faults
		return noting.err
	})
	return faults, err
}

// A notingReader keeps the first error: the checks take it for a fault and go on.
type notingReader struct {
	Reader
	err error
}

func (r *notingReader) note(err error) error {
	if r.err == nil {
		r.err = err
	}
	return err
}

func (r *notingReader) Get(key []byte) ([]byte, error) {
	value, err := r.Reader.Get(key)
	return value, r.note(err)
}

func (r *notingReader) Scan(from, to []byte, n int, fn func(key, value []byte) bool) error {
	if r.err != nil {
		return r.err
	}
	return r.note(r.Reader.Scan(from, to, n, fn))
}

func (r *notingReader) Prefetch(keys [][]byte) error {
	if p, ok := r.Reader.(Prefetcher); ok {
		return r.note(p.Prefetch(keys))
	}
	return nil
}

func (r *notingReader) Absent([]byte) {}

// An inspection is what Inspect knows of a Store.
type inspection struct {
	reader
	ctx     context.Context
	outside Blobs
	noting  *notingReader
	seed    maphash.Seed
	faults  []string

	latest   []websync.Seq // number of the latest entry of each Born; 0 once its record is found
	sums     tally         // of bodies, with the records that name each
	live     map[uint32]int64
	all      map[uint32]int64  // by source, tombstones included
	greatest map[uint32]string // id, by source
}

// A tally counts how often each of many things is seen, by their hashes.
type tally struct {
	hashes []uint64
	n      []int32
}

// close ends adding.
func (t *tally) close() {
	slices.Sort(t.hashes)
	t.n = make([]int32, len(t.hashes))
}

// count returns the place for the number of what has a hash; nil if it is not known.
func (t *tally) count(hash uint64) *int32 {
	i, ok := slices.BinarySearch(t.hashes, hash)
	if !ok {
		return nil
	}
	return &t.n[i]
}

const maxFaults = 1000

func (in *inspection) fault(format string, args ...any) {
	if len(in.faults) < maxFaults {
		in.faults = append(in.faults, fmt.Sprintf(format, args...))
	}
}

func (in *inspection) must(err error, what string, args ...any) {
	if err != nil {
		in.fault("%s: %v", fmt.Sprintf(what, args...), err)
	}
}

// has reports whether a key is there.
func (in *inspection) has(k key) bool {
	v, err := in.Get(k)
	in.must(err, "Get")
	return v != nil
}

// each calls fn with each page of the keys of a kind, and list with the page before,
// which adds the keys that fn needs. It returns their number.
func (in *inspection) each(kind byte, list func(p pair, add func(key)), fn func(p pair)) (n int) {
	from := newKey(kind)
	for to := from.end(); from != nil; {
		page, next, err := in.scan(nil, from, to, pageItems, nil)
		if err == nil && list != nil {
			err = in.prefetch(func(add func(key)) {
				for _, p := range page {
					list(p, add)
				}
			})
		}
		if err != nil {
			return n // noted
		}
		clear(in.reader.blocks)
		for _, p := range page {
			if k := key(p.key); !k.isMoved() && kind != chunkKey && kind != blobKey {
				in.fault("a key %.50x", p.key)
				continue
			}
			n++
			fn(p)
		}
		from = next
	}
	return n
}

// kinds looks for keys of kinds that there are not.
func (in *inspection) kinds() {
	from := key{0}
	for _, kind := range []byte("BCDFPSXZbcghklnpqrstu\xff") {
		in.must(in.Scan(from, []byte{kind}, 1, func(k, _ []byte) bool {
			in.fault("a key of kind %q", k[0])
			return false
		}), "Scan")
		from = key{kind + 1}
	}
}

// idOf returns the id that the key of a record or a task has, and the idSpace of its
// source.
func (in *inspection) idOf(k []byte) (idSpace, string) {
	v, err := in.named(binary.BigEndian.Uint32(k[1:]))
	in.must(err, "name of %x", k[1:5])
	return v.idSpace, v.idOf(k[5:])
}

func (in *inspection) log() {
	blocks := in.each(bornKey, nil, func(pair) {})
	if in.head.born >= websync.Seq(blocks+1)*blockSize { // Born begins with 1
		in.fault("the last Born is %d, there are %d blocks", in.head.born, blocks)
		in.head.born = websync.Seq(blocks) * blockSize
	}
	in.latest = make([]websync.Seq, in.head.born+1)
	ends := map[uint64]websync.Seq{in.head.generation: in.head.last}
	in.each(generationKey, nil, func(p pair) {
		ends[binary.BigEndian.Uint64(p.key[1:])] = websync.Seq(parse(p.value).uint())
	})
	compacting := in.has(newKey(compactionKey))
	var generation uint64
	var last websync.Seq
	time, kept := int64(math.MinInt64), false
	end := func() {
		if n, ok := ends[generation]; ok && n != last {
			in.fault("generation %d: %d entries of %d", generation, last, n)
		}
		delete(ends, generation)
	}
	in.each(logKey, nil, func(p pair) {
		g, seq := binary.BigEndian.Uint64(p.key[1:]), numberOf(p.key)
		if g > in.head.generation && compacting {
			return // being written, or left by a call that has ended
		}
		if g != generation {
			end()
			generation, last, time = g, 0, math.MinInt64
			if _, kept = ends[g]; !kept {
				in.fault("entries of generation %d, which is not kept: if a Drop was interrupted, the next one removes them", g)
			}
		}
		if !kept {
			return
		}
		if seq != last+1 {
			in.fault("generation %d: entry %d after %d", g, seq, last)
		}
		last = seq
		var item websync.Item
		_, err := in.decodeEntry(p.value, &item)
		in.must(err, "entry %d", seq)
		if t := item.Time.UnixMicro(); t <= time || t > in.head.clock {
			in.fault("generation %d: entry %d: time %d after %d, the last is %d", g, seq, t, time, in.head.clock)
		}
		time = item.Time.UnixMicro()
		switch {
		case g != in.head.generation:
		case item.Born == 0 || item.Born > in.head.born:
			in.fault("entry %d: born %d", seq, item.Born)
		default:
			in.prior(seq, &item, in.latest[item.Born])
			in.latest[item.Born] = seq
		}
	})
	end()
	for g, n := range ends {
		if n > 0 {
			in.fault("generation %d: no entries of %d", g, n)
		}
	}
	if in.head.baseline > in.head.last {
		in.fault("the baseline is %d, the last entry %d", in.head.baseline, in.head.last)
	}
}

// prior checks the Prior of an entry of the present generation, which Compact may have
// copied.
func (in *inspection) prior(seq websync.Seq, item *websync.Item, preceding websync.Seq) {
	copied := in.head.generation > 1 && item.Prior == 0
	if item.Prior != preceding && !copied {
		in.fault("entry %d has the Prior %d, the preceding entry is %d", seq, item.Prior, preceding)
	}
}

// bodies notes which bodies there are.
func (in *inspection) bodies() {
	in.each(bodyKey, nil, func(p pair) { in.sums.hashes = append(in.sums.hashes, in.hash(p.key)) })
	in.sums.close()
}

func (in *inspection) hash(key []byte) uint64 { return maphash.Bytes(in.seed, key) }

func (in *inspection) records() {
	in.live, in.all, in.greatest = map[uint32]int64{}, map[uint32]int64{}, map[uint32]string{}
	usages := in.usages()
	born := 0
	from := newKey(recordKey)
	for to := from.end(); from != nil; {
		page, next, err := in.scan(nil, from, to, pageItems, nil)
		if err != nil || in.prefetchListed(page, in.prefetchRecord) != nil {
			return // noted
		}
		clear(in.reader.blocks)
		for _, p := range page {
			if k := key(p.key); !k.isMoved() {
				in.fault("a record %.50x", p.key)
			} else if in.recordAt(p, usages) {
				born++
			}
		}
		from = next
	}
	for born, seq := range in.latest {
		if seq != 0 {
			in.fault("entry %d, born %d: no record has this number", seq, born)
		}
	}
	for n, u := range usages {
		if u[0] != u[1] {
			in.fault("source %d holds %+v, counted %+v", n, u[1], u[0])
		}
	}
	referred := 0
	in.each(bornKey, nil, func(p pair) {
		if len(p.value)%referenceSize != 0 || len(p.value) > blockSize*referenceSize {
			in.fault("block %d has %d bytes", numberOf(p.key), len(p.value))
		}
		for i := range len(p.value) / referenceSize {
			var ref reference
			if ref.parse(p.value, i) {
				referred++
			}
		}
	})
	if referred != born {
		in.fault("%d records with a Born, %d in order of Born", born, referred)
	}
}

func (in *inspection) prefetchRecord(k key, v *stored, add func(key)) {
	addEntry(k, v, add)
	addBlock(v, add)
}

// recordAt checks a record, and reports whether it has a Born.
func (in *inspection) recordAt(p pair, usages map[uint32]*[2]usage) bool {
	ids, id := in.idOf(p.key)
	n := ids.n
	var v stored
	in.must(v.parse(p.value), "record %q", id)
	if v.generation > in.head.generation {
		in.fault("record %q has a number of generation %d", id, v.generation)
	}
	in.must(in.renumber(p.key, &v), "record %q", id)
	rec, err := in.record(&v, "", id)
	in.must(err, "record %q", id)
	in.held(&v, &rec)
	if rec.Resource.ID != id || rec.Seq > in.head.last || rec.Born > in.head.born {
		in.fault("record %q: %q, number %d, born %d", id, rec.Resource.ID, rec.Seq, rec.Born)
		return rec.Born > 0
	}
	in.all[n]++
	in.greatest[n] = max(in.greatest[n], id)
	if rec.Live() {
		in.live[n]++
		if u := usages[n]; u != nil && u[0].counts(id) {
			u[1].add(1, &rec.Item)
		}
	}
	for _, b := range rec.Bodies {
		if sum, ok := sumOf(b.Key); ok {
			if n := in.sums.count(in.hash(newKey(bodyKey).bytes(sum[:]))); n != nil {
				*n++
			} else {
				in.fault("record %q: its body %x is not there", id, sum[:4])
			}
		}
	}
	if rec.Born == 0 {
		return false
	}
	if latest := &in.latest[rec.Born]; *latest != rec.Seq {
		in.fault("record %q: number %d, the latest entry is %d", id, rec.Seq, *latest)
	} else {
		*latest = 0
	}
	in.born(n, &rec)
	return true
}

// usages returns what sources are counted to hold, and room to count it again.
func (in *inspection) usages() map[uint32]*[2]usage {
	all := map[uint32]*[2]usage{}
	in.each(usageKey, nil, func(p pair) {
		var u usage
		in.must(u.parse(p.value), "usage of %q", p.key[1:])
		src, _, err := in.source(string(p.key[1:]))
		in.must(err, "source %q", p.key[1:])
		all[src.n] = &[2]usage{u, {day: u.day, entries: u.entries, all: u.all, counted: u.counted}}
	})
	return all
}

// held checks what a record holds beside its item.
func (in *inspection) held(v *stored, rec *Record) {
	id := rec.Resource.ID
	var held record
	in.must(decodeRecord(v.data, id, &held), "record %q", id)
	brief, err := v.brief(id)
	in.must(err, "record %q", id)
	if want := rec.brief(); brief != want || held.keyed != newRecord(rec).keyed {
		in.fault("record %q: %+v, keyed %v, but its item is %+v", id, brief, held.keyed, rec.Item)
	}
	if held.own == nil && v.seq == 0 {
		in.fault("record %q has neither an entry nor an item", id)
	}
}

// born checks the place of a record in the order of first appearances.
func (in *inspection) born(n uint32, rec *Record) {
	id := rec.Resource.ID
	ref, err := in.reference(rec.Born)
	in.must(err, "born %d", rec.Born)
	if err != nil {
		return
	}
	var item websync.Item
	_, err = in.follow(&ref, &item)
	in.must(err, "born %d", rec.Born)
	if ref.n != n || ref.seq(&in.head) != rec.Seq || ref.deleted == rec.Live() || !reflect.DeepEqual(item, rec.Item) {
		in.fault("record %q of source %d: %+v; by born %d it is of source %d, deleted %v: %+v",
			id, n, rec.Item, rec.Born, ref.n, ref.deleted, item)
	}
	var want recordPrint
	if brief := rec.brief(); rec.Live() {
		want = in.head.key.Of(&brief)
		want.Document = ref.print.Document
	}
	if ref.print != want {
		in.fault("record %q: by born %d its print is %+v, right is %+v", id, rec.Born, ref.print, want)
	}
}

func (in *inspection) sources() {
	in.each(sourceKey, nil, func(p pair) {
		var src source
		in.must(src.parse(p.value), "source %q", p.key[1:])
		name := string(p.key[1:])
		var v named
		_, err := in.get(newKey(nameKey).source(src.n), &v)
		in.must(err, "name of %d", src.n)
		if v.name != name || v.like != src.like || src.n > in.head.sources {
			in.fault("source %d is %q and %q, with ids like %q and %q", src.n, name, v.name, src.like, v.like)
		}
		if src.live != in.live[src.n] || src.records != in.all[src.n] {
			in.fault("source %q: %d records, %d of them live, counted %d and %d",
				name, src.records, src.live, in.all[src.n], in.live[src.n])
		}
		if src.greatest != in.greatest[src.n] {
			in.fault("source %q: the greatest id is %q, in the records %q", name, src.greatest, in.greatest[src.n])
		}
		delete(in.all, src.n)
	})
	for n := range in.all {
		in.fault("records of the unknown source %d", n)
	}
}

func (in *inspection) tasks() {
	due := 0
	task := func(p pair) (ids idSpace, t Task, err error) {
		ids, id := in.idOf(p.key)
		var v stored
		if err = v.parse(p.value); err == nil {
			t, err = v.task("")
		}
		if err == nil && t.Resource.ID != id {
			err = fmt.Errorf("its id is %q", t.Resource.ID)
		}
		return ids, t, err
	}
	in.each(taskKey, func(p pair, add func(key)) {
		if ids, t, err := task(p); err == nil {
			add(dueKeyOf(&ids, &t))
		}
	}, func(p pair) {
		ids, t, err := task(p)
		in.must(err, "task %q", p.key)
		if t.N > in.head.tasks*(replacements+1)+replacements {
			in.fault("task %q: N %d", t.Resource.ID, t.N)
		}
		if in.has(dueKeyOf(&ids, &t)) != mayFallDue(&t) {
			in.fault("task %q: kind %d, parked %v: due %v", t.Resource.ID, t.Kind, t.Parked, !mayFallDue(&t))
		}
		if mayFallDue(&t) {
			due++
		}
	})
	if n := in.each(dueKey, nil, func(pair) {}); n != due {
		in.fault("%d tasks may fall due, %d in order of Due", due, n)
	}
}

// blobs checks the bytes of bodies.
func (in *inspection) blobs() {
	var data, taken tally
	dataHash := func(k []byte, s sum) uint64 { return in.hash(append(bytes.Clone(k), s[:]...)) }
	in.each(dataKey, nil, func(p pair) { data.hashes = append(data.hashes, dataHash(p.key, sha256.Sum256(p.value))) })
	in.each(takenKey, nil, func(p pair) { taken.hashes = append(taken.hashes, in.hash(p.key)) })
	data.close()
	taken.close()
	chunked := in.chunks()
	unused := 0
	in.each(bodyKey, func(p pair, add func(key)) {
		var v body
		if v.parse(p.value) == nil {
			add(newKey(unusedKey).time(micro(v.since)).bytes(p.key[1:]))
			if v.blob != "" {
				add(blobKeyOf(deadKey, v.blob))
				add(blobKeyOf(blobKey, v.blob))
				add(erasedKey(&v))
			}
		}
	}, func(p pair) {
		k := sum(p.key[1:])
		var v body
		in.must(v.parse(p.value), "body %x", k[:4])
		if n := in.sums.count(in.hash(p.key)); n == nil || v.refs != int64(*n) {
			in.fault("body %x: %d records", k[:4], v.refs)
		}
		if v.refs == 0 {
			unused++
		}
		if in.has(newKey(unusedKey).time(micro(v.since)).bytes(k[:])) != (v.refs == 0) {
			in.fault("body %x: %d records: not as listed", k[:4], v.refs)
		}
		var n *int32
		switch {
		case v.blob != "":
			n = taken.count(in.hash(blobKeyOf(takenKey, v.blob)))
			in.blob(k, &v)
		case v.size > 0:
			n = data.count(dataHash(newKey(dataKey).number(v.n), k))
		default:
			return
		}
		if n == nil {
			in.fault("body %x: its bytes are not there, or other ones", k[:4])
		} else {
			*n++
		}
	})
	in.each(takenKey, nil, func(p pair) {
		if n := taken.count(in.hash(p.key)); parse(p.value).uint() != uint64(*n) {
			in.fault("blob %s: %d bodies, counted %d", p.key[1:], parse(p.value).uint(), *n)
		}
	})
	for _, n := range data.n {
		if n != 1 {
			in.fault("bytes of %d bodies", n)
		}
	}
	if n := in.each(unusedKey, nil, func(pair) {}); n != unused {
		in.fault("unused %d of %d", unused, n)
	}
	if n := in.each(blobKey, nil, func(pair) {}); n != chunked {
		in.fault("%d blobs in chunks, %d of them have any", n, chunked)
	}
}

// blob checks the blob of a body, outside only if a record names it.
func (in *inspection) blob(k sum, v *body) {
	if in.has(blobKeyOf(deadKey, v.blob)) || in.has(erasedKey(v)) {
		in.fault("body %x: its blob is to be removed", k[:4])
	}
	if v.refs == 0 {
		return
	}
	if in.outside != nil {
		r, err := openBlob(in.ctx, in.outside, v)
		if err == nil {
			err = r.Close()
		}
		if !errors.Is(err, fs.ErrNotExist) {
			in.must(err, "body %x", k[:4])
			return
		}
	}
	var b blob
	ok, err := in.get(blobKeyOf(blobKey, v.blob), &b)
	in.must(err, "blob %s", v.blob)
	if end := int64(v.n) + v.size; !ok || b.size < end || b.size > end && !v.inPack() {
		in.fault("body %x: its blob %s is not there, or has another size", k[:4], v.blob)
	}
}

// chunks checks blobs in chunks, and returns their number.
func (in *inspection) chunks() (blobs int) {
	name, next, size := "", uint64(0), int64(0)
	end := func() {
		var b blob
		if name == "" {
			return
		}
		blobs++
		_, err := in.get(blobKeyOf(blobKey, name), &b)
		in.must(err, "blob %s", name)
		if b.size != size {
			in.fault("blob %s: %d bytes in chunks, %d are right", name, size, b.size)
		}
	}
	in.each(chunkKey, nil, func(p pair) {
		if len(p.key) < 1+8 {
			in.fault("a chunk %x", p.key)
			return
		}
		if n := string(p.key[1 : len(p.key)-8]); n != name {
			end()
			name, next, size = n, 0, 0
		}
		if i := uint64(numberOf(p.key)); i != next {
			in.fault("blob %s: chunk %d after %d others", name, i, next)
		}
		next++
		size += int64(len(p.value))
	})
	end()
	return blobs
}
