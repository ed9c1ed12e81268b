package harvest

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"reflect"

	"github.com/websync-go/websync"
)

// Inspect reads all of the Catalog's Store into memory and returns what is inconsistent
// in it. It is for tests. It does not read bodies that are kept beside the Store.
func (s *Catalog) Inspect(ctx context.Context) (faults []string, err error) {
	err = s.store.View(ctx, func(r Reader) error {
		noting := &notingReader{Reader: r}
		in := &inspection{reader: reader{Reader: noting}, keys: map[byte][]pair{}, chunked: s.Blobs == nil}
		err := r.Scan([]byte{0}, []byte{0xff}, pageScan, func(k, v []byte) bool {
			in.keys[k[0]] = append(in.keys[k[0]], pair{k, v})
			return true
		})
		if err == nil {
			err = in.open(listOf(nil))
		}
		if err != nil {
			return err
		}
		for _, check := range [...]func(){in.kinds, in.records, in.sources, in.usages, in.log, in.tasks, in.bodies} {
			check()
		}
		faults = in.faults
		return noting.err
	})
	return faults, err
}

// A notingReader keeps an error of Get: the checks take it for a fault and go on.
type notingReader struct {
	Reader
	err error
}

func (r *notingReader) Get(key []byte) ([]byte, error) {
	value, err := r.Reader.Get(key)
	if err != nil {
		r.err = err
	}
	return value, err
}

// An inspection is what Inspect knows of a Store.
type inspection struct {
	reader
	keys    map[byte][]pair
	chunked bool // blobs are in the Store
	faults  []string
	refs    map[sum]int64
	live    map[uint32]int64 // by source
	all     map[uint32]int64 // likewise, tombstones included

	latest   map[string]websync.Seq // number of each record, by source and id
	greatest map[uint32]string      // id, by source
}

func (in *inspection) fault(format string, args ...any) {
	in.faults = append(in.faults, fmt.Sprintf(format, args...))
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

func (in *inspection) kinds() {
	for kind := range in.keys {
		if !bytes.ContainsRune([]byte("hgsnprblktqBDFXPCZcSu"), rune(kind)) {
			in.fault("a key of kind %q", kind)
		}
	}
}

// idOf returns the id that the key of a record or a task has, and the idSpace of its
// source.
func (in *inspection) idOf(k []byte) (idSpace, string) {
	v, err := in.named(binary.BigEndian.Uint32(k[1:]))
	in.must(err, "name of %x", k[1:5])
	return v.idSpace, v.idOf(k[5:])
}

func (in *inspection) records() {
	in.refs, in.live, in.latest = map[sum]int64{}, map[uint32]int64{}, map[string]websync.Seq{}
	in.all, in.greatest = map[uint32]int64{}, map[uint32]string{}
	born := 0
	for _, p := range in.keys[recordKey] {
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
		}
		if rec.Seq > 0 && !in.has(newKey(logKey).entry(in.head.generation, rec.Seq)) {
			in.fault("record %q: no entry %d", id, rec.Seq)
		}
		if rec.Live() {
			in.live[n]++
		}
		in.all[n]++
		in.latest[string(p.key[1:5])+id] = rec.Seq
		in.greatest[n] = max(in.greatest[n], id)
		if rec.Born > 0 {
			born++
			in.born(n, &rec)
		}
		for _, b := range rec.Bodies {
			if k, ok := sumOf(b.Key); ok {
				in.refs[k]++
			}
		}
	}
	in.blocks(born)
}

// blocks checks that the blocks of the order of Born have as many records.
func (in *inspection) blocks(born int) {
	referred := 0
	for _, p := range in.keys[bornKey] {
		if len(p.value)%referenceSize != 0 || len(p.value) > blockSize*referenceSize {
			in.fault("block %d has %d bytes", numberOf(p.key), len(p.value))
		}
		referred += references(p.value)
	}
	if referred != born {
		in.fault("%d records with a Born, %d in order of Born", born, referred)
	}
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

// references counts the references of a block.
func references(block []byte) (n int) {
	for i := range len(block) / referenceSize {
		var ref reference
		if ref.parse(block, i) {
			n++
		}
	}
	return n
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
	for _, p := range in.keys[sourceKey] {
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
	}
	for n := range in.all {
		in.fault("records of the unknown source %d", n)
	}
}

// usages checks what sources are counted to hold.
func (in *inspection) usages() {
	for _, p := range in.keys[usageKey] {
		var u usage
		in.must(u.parse(p.value), "usage of %q", p.key[1:])
		src, _, err := in.source(string(p.key[1:]))
		in.must(err, "source %q", p.key[1:])
		counted := usage{day: u.day, entries: u.entries, all: u.all, counted: u.counted}
		for _, rp := range in.keys[recordKey] {
			ids, id := in.idOf(rp.key)
			if ids.n != src.n || !u.counts(id) {
				continue
			}
			v, err := in.stored(rp.key)
			in.must(err, "record %q", id)
			if item, err := in.item(&v, "", id); err == nil && item.Kind != websync.Deleted {
				counted.add(1, &item)
			}
		}
		if u != counted {
			in.fault("source %q holds %+v, counted %+v", p.key[1:], counted, u)
		}
	}
}

func (in *inspection) log() {
	last := map[uint64]websync.Seq{}
	latest := map[string]websync.Seq{}
	var time int64
	for _, p := range in.keys[logKey] {
		generation, seq := binary.BigEndian.Uint64(p.key[1:]), numberOf(p.key)
		if generation > in.head.generation && len(in.keys[compactionKey]) > 0 {
			continue // being written, or left by a call that has ended
		}
		if generation != in.head.generation && !in.has(newKey(generationKey).number(generation)) {
			in.fault("an entry of generation %d", generation)
		}
		if seq != last[generation]+1 {
			in.fault("generation %d: entry %d after %d", generation, seq, last[generation])
		}
		if last[generation] == 0 {
			time = -1 << 63
		}
		last[generation] = seq
		var item websync.Item
		_, err := in.decodeEntry(p.value, &item)
		in.must(err, "entry %d", seq)
		if generation == in.head.generation {
			id := string(p.value[:4]) + item.Resource.ID
			in.prior(seq, &item, latest[id])
			latest[id] = seq
		}
		if t := item.Time.UnixMicro(); t <= time || t > in.head.clock {
			in.fault("generation %d: entry %d: time %d after %d, the last is %d", generation, seq, t, time, in.head.clock)
		}
		time = item.Time.UnixMicro()
	}
	for id, seq := range latest {
		if in.latest[id] != seq {
			in.fault("record %q: number %d, the latest entry is %d", id, in.latest[id], seq)
		}
	}
	in.generations(last)
}

// prior checks the Prior of an entry of the present generation, which Compact may have
// copied.
func (in *inspection) prior(seq websync.Seq, item *websync.Item, preceding websync.Seq) {
	copied := in.head.generation > 1 && item.Prior == 0
	if item.Prior != preceding && !copied {
		in.fault("entry %d has the Prior %d, the preceding entry is %d", seq, item.Prior, preceding)
	}
}

// generations checks how many entries each generation has.
func (in *inspection) generations(last map[uint64]websync.Seq) {
	for _, p := range in.keys[generationKey] {
		generation := binary.BigEndian.Uint64(p.key[1:])
		if n := parse(p.value).uint(); n != uint64(last[generation]) {
			in.fault("generation %d: %d entries of %d", generation, last[generation], n)
		}
	}
	if last[in.head.generation] != in.head.last {
		in.fault("the last entry is %d, the head says %d", last[in.head.generation], in.head.last)
	}
	if in.head.baseline > in.head.last {
		in.fault("the baseline is %d, the last entry %d", in.head.baseline, in.head.last)
	}
}

func (in *inspection) tasks() {
	due := 0
	for _, p := range in.keys[taskKey] {
		ids, id := in.idOf(p.key)
		v, err := in.stored(p.key)
		in.must(err, "task %q", id)
		t, err := v.task("")
		in.must(err, "task %q", id)
		if t.Resource.ID != id || t.N > in.head.tasks*(replacements+1)+replacements {
			in.fault("task %q: %q, N %d", id, t.Resource.ID, t.N)
		}
		if in.has(dueKeyOf(&ids, &t)) != mayFallDue(&t) {
			in.fault("task %q: kind %d, parked %v: due %v", id, t.Kind, t.Parked, !mayFallDue(&t))
		}
		if mayFallDue(&t) {
			due++
		}
	}
	if n := len(in.keys[dueKey]); n != due {
		in.fault("%d tasks may fall due, %d in order of Due", due, n)
	}
}

func (in *inspection) bodies() {
	unused, data, taken := 0, 0, map[string]uint64{}
	for _, p := range in.keys[bodyKey] {
		k := sum(p.key[1:])
		var v body
		in.must(v.parse(p.value), "body %x", k[:4])
		if v.refs != in.refs[k] {
			in.fault("body %x: %d records, counted %d", k[:4], v.refs, in.refs[k])
		}
		delete(in.refs, k)
		if v.refs == 0 {
			unused++
		}
		if in.has(newKey(unusedKey).time(micro(v.since)).bytes(k[:])) != (v.refs == 0) {
			in.fault("body %x: %d records: not as listed", k[:4], v.refs)
		}
		inline := v.blob == "" && v.size > 0
		if inline {
			data++
		}
		if v.blob != "" {
			taken[v.blob]++
			in.blob(k, &v)
		} else if in.has(newKey(dataKey).number(v.n)) != inline {
			in.fault("body %x: its bytes", k[:4])
		}
	}
	for k := range in.refs {
		in.fault("body %x is not there", k[:4])
	}
	for _, p := range in.keys[takenKey] {
		if n := parse(p.value).uint(); n != taken[string(p.key[1:])] {
			in.fault("blob %s: %d bodies, counted %d", p.key[1:], taken[string(p.key[1:])], n)
		}
	}
	chunks := in.chunks()
	if unused != len(in.keys[unusedKey]) || data != len(in.keys[dataKey]) || len(taken) != len(in.keys[takenKey]) ||
		chunks != uint64(len(in.keys[chunkKey])) {
		in.fault("unused %d of %d, data %d of %d, taken %d of %d, chunks %d of %d", unused, len(in.keys[unusedKey]),
			data, len(in.keys[dataKey]), len(taken), len(in.keys[takenKey]), chunks, len(in.keys[chunkKey]))
	}
}

// blob checks the blob of a body.
func (in *inspection) blob(k sum, v *body) {
	if !in.has(blobKeyOf(takenKey, v.blob)) || in.has(blobKeyOf(deadKey, v.blob)) || in.has(erasedKey(v)) {
		in.fault("body %x: its blob is not marked as taken", k[:4])
	}
	var b blob
	ok, err := in.get(blobKeyOf(blobKey, v.blob), &b)
	in.must(err, "blob %s", v.blob)
	if in.chunked && (!ok || b.size != v.size) {
		in.fault("body %x: its blob has %d bytes", k[:4], b.size)
	}
}

// chunks checks that the chunks of all blobs are there, and returns how many these are.
func (in *inspection) chunks() (n uint64) {
	for _, p := range in.keys[blobKey] {
		var b blob
		in.must(b.parse(p.value), "blob %s", p.key[1:])
		n += b.chunks()
		for i := range b.chunks() {
			if !in.has(blobKeyOf(chunkKey, string(p.key[1:])).number(i)) {
				in.fault("chunk %d of %s", i, p.key[1:])
			}
		}
	}
	return n
}
