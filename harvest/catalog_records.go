package harvest

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/websync-go/websync"
)

// A stored is the stored form of a record, or of a task with its Base: a number with its
// generation, and the bytes of the codec.
type stored struct {
	generation uint64
	seq        websync.Seq
	prior      websync.Seq // of a record; if gone, the entry has it
	data       []byte      // nil if there is none
	read       int         // bytes that were read of the entry
}

func (v *stored) append(b []byte) []byte {
	b = binary.AppendUvarint(b, v.generation)
	b = binary.AppendUvarint(b, uint64(v.seq))
	b = binary.AppendUvarint(b, uint64(v.prior))
	return append(b, v.data...)
}

func (v *stored) parse(b []byte) error {
	p := parse(b)
	v.generation, v.seq = p.uint(), websync.Seq(p.uint())
	v.prior = websync.Seq(p.uint())
	v.data = p.b
	return p.err
}

// entryKey returns the key of the entry of the log of a record.
func (v *stored) entryKey() key { return newKey(logKey).entry(v.generation, v.seq) }

// stored returns the value of k, with its number in the newest generation.
func (r *reader) stored(k key) (v stored, err error) {
	b, err := r.Get(k)
	if err != nil || b == nil {
		return v, err
	}
	if err = v.parse(b); err == nil {
		err = r.renumber(k, &v)
	}
	return v, err
}

// gone is the number of an entry that the newest generation does not have. No entry ever
// has it.
const gone = websync.Seq(1<<63 - 1)

// renumber gives the value of k its number in the newest generation.
func (r *reader) renumber(k key, v *stored) (err error) {
	if !v.isOld(&r.head) {
		v.generation = r.head.generation
		return nil
	}
	if k[0] == taskKey {
		v.seq, err = r.renumberBase(k, v)
	} else {
		var ref reference
		ref, err = r.referenceOf(v)
		v.seq, v.prior = ref.seq(&r.head), gone
	}
	v.generation = r.head.generation
	return err
}

// renumberBase returns the Base of a task in the newest generation: the number of the
// record if Base is the one that the record had before, otherwise gone.
func (r *reader) renumberBase(k key, task *stored) (websync.Seq, error) {
	var rec stored
	if ok, err := r.get(recordOfTask(k), &rec); err != nil || !ok || rec.seq == 0 {
		return gone, err
	}
	ref, err := r.referenceOf(&rec)
	if err != nil || ref.numbers[task.generation&1] != task.seq {
		return gone, err
	}
	return ref.seq(&r.head), nil
}

// recordOfTask returns the key of the record that has the id of a task.
func recordOfTask(k key) key { return newKey(recordKey).bytes(k[1:]) }

// referenceOf returns the reference of a record that has a number.
func (r *reader) referenceOf(v *stored) (reference, error) {
	b, err := v.brief("")
	if err != nil {
		return reference{}, err
	}
	return r.reference(b.Born)
}

// isOld reports whether v has a number of an earlier generation.
func (v *stored) isOld(h *head) bool {
	return v.generation != h.generation && v.seq != 0 && v.seq != gone
}

// record returns the record of id.
func (r *reader) record(v *stored, source, id string) (rec Record, err error) {
	if v.data == nil {
		return rec, nil
	}
	var held record
	if err := decodeRecord(v.data, id, &held); err != nil {
		return rec, err
	}
	rec.Stated, rec.Validators, rec.Early = held.Stated, held.validators, held.Early
	err = r.itemOf(v, &held, &rec.Item)
	rec.Source = source
	return rec, err
}

// item returns the item of the record of id.
func (r *reader) item(v *stored, source, id string) (item websync.Item, err error) {
	rec, err := r.record(v, source, id)
	return rec.Item, err
}

// itemOf sets item to that of the record v, without Source.
func (r *reader) itemOf(v *stored, rec *record, item *websync.Item) error {
	if rec.own == nil || v.prior == gone {
		b, err := r.Get(v.entryKey())
		if err != nil {
			return err
		}
		if _, err := r.decodeEntry(b, item); err != nil {
			return err
		}
		v.read = len(b)
		if v.prior == gone {
			v.prior = item.Prior
		}
	}
	if rec.own != nil {
		*item = *rec.own
	}
	item.Seq, item.Prior = v.seq, v.prior
	return nil
}

// An entry is the value of an entry of the log.
type entry struct {
	n           uint32 // source
	born, prior websync.Seq
	time        int64
	item        []byte // in the form of the codec, without what is above, Seq and Source
}

func (e *entry) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, e.n)
	b = binary.AppendUvarint(b, uint64(e.born))
	b = binary.AppendUvarint(b, uint64(e.prior))
	b = binary.AppendVarint(b, e.time)
	return append(b, e.item...)
}

func (e *entry) parse(b []byte) error {
	p := parse(b)
	e.n = binary.BigEndian.Uint32(p.take(4))
	e.born, e.prior, e.time = websync.Seq(p.uint()), websync.Seq(p.uint()), p.int()
	e.item = p.b
	return p.err
}

// decodeEntry sets item to that of an entry of the log, without Seq and Source, and
// returns the number of the source.
func (r *reader) decodeEntry(b []byte, item *websync.Item) (n uint32, err error) {
	*item = websync.Item{}
	var e entry
	if err := e.parse(b); err != nil {
		return 0, err
	}
	source, err := r.named(e.n)
	if err != nil {
		return 0, err
	}
	err = decodeItem(e.item, item, source.like)
	item.Born, item.Prior, item.Time = e.born, e.prior, micro(e.time)
	return e.n, err
}

// brief returns the brief of the record of id.
func (v *stored) brief(id string) (b brief, err error) {
	if v.data == nil {
		return b, nil
	}
	err = decodeBrief(v.data, id, &b)
	b.Seq = v.seq
	return b, err
}

func (v *stored) task(source string) (t Task, err error) {
	if v.data == nil {
		return t, nil
	}
	err = decodeTask(v.data, &t)
	t.Base, t.Source = v.seq, source
	return t, err
}

// newRecord returns the stored form of r, whose item is in the log.
func newRecord(r *Record) *record {
	return &record{
		brief:      r.brief(),
		keyed:      slices.ContainsFunc(r.Bodies, func(b websync.Body) bool { return !b.Key.IsZero() }),
		validators: r.Validators,
	}
}

// setTask replaces the task of its id: any task, or only the one with the task's N if
// that is not 0.
func (w *writer) setTask(ids *idSpace, t Task) error {
	old, err := w.deleteTask(ids, taskRef{ID: t.Resource.ID, N: t.N})
	if err != nil || t.N != 0 && old == 0 {
		return err
	}
	t.N = old + 1
	if t.N&replacements == 0 || old == 0 {
		w.head.tasks++
		t.N = w.head.tasks * (replacements + 1)
	}
	base := t.Base
	t.Base, t.Source = 0, ""
	w.scratch = (&stored{generation: w.head.generation, seq: base}).append(w.scratch[:0])
	w.scratch = appendTask(w.scratch, &t)
	if err := w.set(ids.key(taskKey, t.Resource.ID), w.scratch); err != nil || !mayFallDue(&t) {
		return err
	}
	return w.set(dueKeyOf(ids, &t), present)
}

// replacements masks the bits of a task's N that count its replacements. The bits above
// count the tasks: an iterator uses them to skip tasks added after it began.
const replacements = 1<<24 - 1

// deleteTask returns the N of the task that it has deleted; 0 if there is no such task.
func (w *writer) deleteTask(ids *idSpace, ref taskRef) (deleted uint64, err error) {
	k := ids.key(taskKey, ref.ID)
	v, err := w.stored(k)
	if err != nil || v.data == nil {
		return 0, err
	}
	t, err := v.task("")
	if err != nil {
		return 0, err
	}
	if ref.N != 0 && ref.N != t.N {
		return 0, nil
	}
	if err := w.delete(k); err != nil || !mayFallDue(&t) {
		return t.N, err
	}
	return t.N, w.delete(dueKeyOf(ids, &t))
}

func mayFallDue(t *Task) bool { return t.Kind == TaskGet && !t.Parked }

func dueKeyOf(ids *idSpace, t *Task) key {
	return ids.id(newKey(dueKey).source(ids.n).time(t.Due), t.Resource.ID)
}

// setEntry writes an entry of the log. It clears what is not a part of entry.item.
func (w *writer) setEntry(generation uint64, seq websync.Seq, ids *idSpace, item *websync.Item) error {
	e := entry{n: ids.n, born: item.Born, prior: item.Prior, time: item.Time.UnixMicro()}
	clearEntry(item)
	w.scratch = appendItem(e.append(w.scratch[:0]), item, ids.like)
	return w.insert(w.key(logKey).entry(generation, seq), w.scratch)
}

// clearEntry clears what is not a part of entry.item.
func clearEntry(item *websync.Item) {
	item.Seq, item.Born, item.Prior, item.Time, item.Source = 0, 0, 0, time.Time{}, ""
}

// A filter selects sources.
type filter struct {
	all     bool
	sources []uint32
}

func (r *reader) filter(names []string) (f filter, err error) {
	f.all = len(names) == 0
	err = r.prefetch(func(add func(key)) {
		for _, name := range names {
			add(newKey(sourceKey).text(name))
		}
	})
	if err != nil {
		return f, err
	}
	for _, name := range names {
		src, ok, err := r.source(name)
		if err != nil {
			return f, err
		}
		if ok {
			f.sources = append(f.sources, src.n)
		}
	}
	return f, nil
}

func (f *filter) nothing() bool { return !f.all && len(f.sources) == 0 }

func (f *filter) has(n uint32) bool { return f.all || slices.Contains(f.sources, n) }
