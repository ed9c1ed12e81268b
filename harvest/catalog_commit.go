package harvest

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/websync-go/websync"
)

// commit applies the batch, all or nothing, durably. It returns ErrFenced if (Epoch, N)
// of the claim is not the newest. If the Base or the Task of any Put or Touch does not
// match what the Catalog holds, Commit applies nothing and returns the ids of all such
// changes as conflicts, without an error. On success it increases c.N. It succeeds
// without applying a batch whose ID is that of the last one applied under this name. Each
// entry of the log has a time of its own.
func (s *Catalog) commit(ctx context.Context, c *claim, b *batch) ([]string, error) {
	if c == nil {
		return nil, ErrFenced
	}
	if err := check(b); err != nil {
		return nil, err
	}
	bodies, err := s.finish(b.Bodies)
	if err != nil {
		return nil, err
	}
	p, err := s.newPack(ctx, b.Bodies, bodies)
	if err != nil {
		return nil, err
	}
	var done commit
	ran := false
	err = s.update(ctx, func(w *writer) error {
		done = commit{writer: w, s: s, ctx: ctx, now: s.now(), batch: b, bodies: bodies, pack: p, records: -1}
		err := done.run(c)
		ran = err == nil
		return err
	}, newKey(claimKey).text(c.Name), newKey(sourceKey).text(b.Source), usageKeyOf(b.Source))
	for _, bw := range b.Bodies {
		w := bw.(*bodyWriter)
		w.afterCommit(err == nil, err == nil && done.used[w], ran)
	}
	switch {
	case p.name == "":
	case err == nil && done.packed > 0, ran && err != nil: // bodies in it are stored, or may be
		s.endWriting(p.name)
	default:
		s.discardPack(ctx, p)
	}
	if len(done.conflicts) > 0 {
		return done.conflicts, nil
	}
	if err != nil {
		return nil, err
	}
	c.N, c.records = done.claim.n, done.records
	if len(b.Puts) > 0 {
		s.logChanged()
	}
	return nil, nil
}

// check checks the batch by itself, without the Store.
func check(b *batch) error {
	seen := make(map[string]struct{}, len(b.Puts)+len(b.Touches))
	for _, changes := range [...][]change{b.Puts, b.Touches} {
		for i := range changes {
			id := changes[i].Record.Resource.ID
			if err := checkID(id); err != nil {
				return err
			}
			if _, twice := seen[id]; twice {
				return fmt.Errorf("%w: the id %.100q is in it twice: one Put or Touch of an id is right", errBatch, id)
			}
			seen[id] = struct{}{}
		}
	}
	for i := range b.Tasks {
		if err := checkID(b.Tasks[i].Resource.ID); err != nil {
			return err
		}
	}
	return nil
}

func checkID(id string) error {
	switch {
	case id == "":
		return fmt.Errorf("%w: an id is empty: 1 to %d bytes are right", errBatch, MaxID)
	case len(id) > MaxID:
		return fmt.Errorf("%w: the id %.100q… has %d bytes: 1 to %d are right", errBatch, id, len(id), MaxID)
	}
	return nil
}

// A commit is the Update of one batch.
type commit struct {
	*writer
	s      *Catalog
	ctx    context.Context
	now    int64
	batch  *batch
	bodies map[sum]*bodyWriter
	used   map[*bodyWriter]bool
	pack   pack
	packed uint64 // bodies that are stored in it

	claim     heldClaim
	source    source
	records   int64 // see claim
	counting  bool  // what the source holds
	usage     usage
	olds      []old  // of Puts, then of Touches
	greatest  string // id of a change
	conflicts []string
}

// An old is what a Commit needs of the record that a change replaces.
type old struct {
	known   bool
	kind    websync.ChangeKind
	seq     websync.Seq
	prior   websync.Seq // if item is not nil
	born    websync.Seq
	touched bool          // the record has an item of its own
	item    *websync.Item // nil if it is not needed
}

func (o *old) live() bool { return o.known && o.kind != websync.Deleted }

// run applies the batch. If something conflicts, it sets c.conflicts and returns an
// error.
func (c *commit) run(by *claim) error {
	k := newKey(claimKey).text(by.Name)
	if _, err := c.get(k, &c.claim); err != nil {
		return err
	}
	if c.batch.ID != [16]byte{} && c.batch.ID == c.claim.batch {
		return nil
	}
	if c.claim.epoch == 0 || c.claim.epoch != by.Epoch || c.claim.n != by.N {
		return ErrFenced
	}
	c.records = by.records
	c.claim.n++
	c.claim.batch = c.batch.ID
	if err := c.put(k, &c.claim); err != nil {
		return err
	}
	b := c.batch
	b.moved = nil
	if b.Checkpoint != nil || len(b.Puts)+len(b.Touches)+len(b.Listed)+len(b.Tasks)+len(b.Done)+len(b.Bodies) > 0 {
		if err := c.inSource(); err != nil {
			return err
		}
	}
	return c.state()
}

// inSource applies the parts of the batch that belong to its source.
func (c *commit) inSource() error {
	k := newKey(sourceKey).text(c.batch.Source)
	if _, err := c.get(k, &c.source); err != nil {
		return err
	}
	before := c.source
	if c.records != c.source.records {
		c.records = -1
	}
	var err error
	if c.counting, err = c.get(usageKeyOf(c.batch.Source), &c.usage); err != nil {
		return err
	}
	if err := c.nameSource(); err != nil {
		return err
	}
	steps := [...]func() error{c.read, c.bindBodies, c.puts, c.touches, c.listed, c.setBlocks, c.tasks, c.checkpoint}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	if c.counting && len(c.batch.Puts) > 0 {
		c.usage.enter(c.now, len(c.batch.Puts))
		if err := c.put(usageKeyOf(c.batch.Source), &c.usage); err != nil {
			return err
		}
	}
	if c.records >= 0 {
		c.records = c.source.records
	}
	if c.source == before {
		return nil
	}
	return c.put(k, &c.source)
}

// nameSource gives a new source its number, and one without an id the id like which
// others are written.
func (c *commit) nameSource() error {
	before := c.source.idSpace
	if c.source.n == 0 {
		c.head.sources++
		c.source.n = c.head.sources
		if c.source.n == 1 {
			rand.Read(c.head.key[:])
		}
	}
	if c.source.like == "" {
		like := c.batch.firstID()
		c.source.like = like[:min(len(like), maxLike)]
	}
	v := &named{c.source.idSpace, c.batch.Source}
	c.know(v)
	if c.source.idSpace == before {
		return nil
	}
	return c.put(newKey(nameKey).source(c.source.n), v)
}

// firstID returns the id of the first change or task, "" if there is none.
func (b *batch) firstID() string {
	switch {
	case len(b.Puts) > 0:
		return b.Puts[0].Record.Resource.ID
	case len(b.Touches) > 0:
		return b.Touches[0].Record.Resource.ID
	case len(b.Tasks) > 0:
		return b.Tasks[0].Resource.ID
	}
	return ""
}

// prefetchChanges prefetches all records and tasks of the batch, and what their changes
// need besides.
func (c *commit) prefetchChanges() error {
	ids := &c.source.idSpace
	touched := make(map[string]bool, len(c.batch.Touches))
	for i := range c.batch.Touches {
		touched[c.batch.Touches[i].Record.Resource.ID] = true
	}
	blocks := map[uint64]bool{}
	return c.prefetchStored(func(add func(key)) {
		for _, changes := range [...][]change{c.batch.Puts, c.batch.Touches} {
			for i := range changes {
				id := changes[i].Record.Resource.ID
				if c.mayHave(&changes[i]) {
					add(ids.key(recordKey, id))
				}
				if changes[i].Task != 0 {
					add(ids.key(taskKey, id))
				}
			}
		}
		for _, ref := range c.batch.Done {
			add(ids.key(taskKey, ref.ID))
		}
		for i := range c.batch.Tasks {
			add(ids.key(taskKey, c.batch.Tasks[i].Resource.ID))
		}
		if len(c.batch.Puts) > 0 {
			add(blockKey(c.lastBlock))
		}
		for _, l := range c.batch.Listed {
			add(blockKey(blockOf(l.Born)))
		}
	}, func(k key, v *stored, add func(key)) {
		var rec record
		id := ids.idOf(k[1+4:])
		if k[0] != recordKey || decodeRecord(v.data, id, &rec) != nil {
			return // read reports the error
		}
		if c.needsItem(&rec, touched[id]) {
			addEntry(k, v, add)
		}
		if block := blockOf(rec.Born); rec.Born != 0 && !blocks[block] {
			blocks[block] = true
			add(blockKey(block))
		}
	})
}

// needsItem reports whether a change needs the item of the record that it replaces: to
// count its bodies or what it takes, or to compare it.
func (c *commit) needsItem(rec *record, isTouch bool) bool { return rec.keyed || isTouch || c.counting }

// read looks up the records that the changes would replace.
func (c *commit) read() error {
	if err := c.prefetchChanges(); err != nil {
		return err
	}
	c.olds = make([]old, 0, len(c.batch.Puts)+len(c.batch.Touches))
	k := newKey(recordKey)
	for i, changes := range [...][]change{c.batch.Puts, c.batch.Touches} {
		for j := range changes {
			id := changes[j].Record.Resource.ID
			k = c.source.id(k.of(recordKey).source(c.source.n), id)
			var was old
			if c.mayHave(&changes[j]) {
				var err error
				if was, err = c.old(k, id, i == 1); err != nil {
					return err
				}
			}
			fits := was.seq == changes[j].Base
			if n := changes[j].Task; fits && n != 0 {
				var err error
				if fits, err = c.hasTask(id, n); err != nil {
					return err
				}
			}
			if !fits {
				c.conflicts = append(c.conflicts, id)
			}
			c.olds = append(c.olds, was)
			c.greatest = max(c.greatest, id)
		}
	}
	if len(c.conflicts) > 0 {
		return websync.ErrConflict // rolls back the new N of the claim
	}
	c.source.greatest = max(c.source.greatest, c.greatest)
	return nil
}

// mayHave reports whether there may be a record of the id of a change.
func (c *commit) mayHave(change *change) bool {
	return !(change.New && c.records >= 0) && c.source.mayHave(recordKey, change.Record.Resource.ID)
}

// old reads the record of id, whose key is k.
func (c *commit) old(k key, id string, isTouch bool) (was old, err error) {
	v, err := c.stored(k)
	if err != nil || v.data == nil {
		return was, err
	}
	var rec record
	if err := decodeRecord(v.data, id, &rec); err != nil {
		return was, err
	}
	was = old{known: true, kind: rec.Kind, seq: v.seq, born: rec.Born, touched: rec.own != nil}
	if c.needsItem(&rec, isTouch) {
		was.item = new(websync.Item)
		err = c.itemOf(&v, &rec, was.item)
		was.prior = v.prior
	}
	return was, err
}

// hasTask reports whether an id has the task with this N.
func (c *commit) hasTask(id string, n uint64) (bool, error) {
	v, err := c.stored(c.source.key(taskKey, id))
	if err != nil {
		return false, err
	}
	t, err := v.task("")
	return t.N == n, err
}

func (c *commit) puts() error {
	if last := c.head.last + websync.Seq(len(c.batch.Puts)); last > maxSeq {
		return fmt.Errorf("harvest: the log would have %d entries: %d fit, Compact makes room", last, websync.Seq(maxSeq))
	}
	for i := range c.batch.Puts {
		was := &c.olds[i]
		rec := newRecord(&c.batch.Puts[i].Record)
		item := c.batch.Puts[i].Record.Item
		seq := c.number(&item, was)
		rec.Born = item.Born
		c.count(was, rec, &item)
		if err := c.setEntry(c.head.generation, seq, &c.source.idSpace, &item); err != nil {
			return err
		}
		if err := c.setRecord(was, seq, was.seq, rec); err != nil {
			return err
		}
		if err := c.indexBorn(rec, was, seq, &c.batch.Puts[i]); err != nil {
			return err
		}
	}
	return nil
}

// count counts what a put takes, and no longer what it replaces.
func (c *commit) count(was *old, rec *record, item *websync.Item) {
	if !c.counting || !c.usage.counts(rec.ID) {
		return
	}
	if was.live() {
		c.usage.add(-1, was.item)
	}
	if rec.Live() {
		c.usage.add(1, item)
	}
}

// setRecord writes the record that replaces was, with its numbers in the newest
// generation.
func (c *commit) setRecord(was *old, seq, prior websync.Seq, rec *record) error {
	c.scratch = (&stored{generation: c.head.generation, seq: seq, prior: prior}).append(c.scratch[:0])
	c.scratch = appendRecord(c.scratch, rec)
	k := c.source.id(c.key(recordKey).source(c.source.n), rec.ID)
	if !was.known {
		c.source.records++
		return c.insert(k, c.scratch)
	}
	return c.set(k, c.scratch)
}

// number returns the next number, and gives item the next time, its Born and its Prior.
func (c *commit) number(item *websync.Item, was *old) websync.Seq {
	h := &c.head
	h.last++
	h.clock = max(c.now, h.clock+1)
	h.lastTime = h.clock
	if h.last == 1 {
		h.firstTime = h.clock
	}
	item.Time, item.Born, item.Prior = micro(h.clock), was.born, was.seq
	if item.Born == 0 {
		h.born++
		item.Born = h.born
	}
	return h.last
}

// indexBorn keeps the order of first appearances. seq is the number of the record's
// entry. The record has no number in the next generation until Compact copies the entry.
func (c *commit) indexBorn(rec *record, was *old, seq websync.Seq, change *change) error {
	if was.live() {
		c.source.live--
	}
	ref := reference{born: rec.Born, n: c.source.n, deleted: !rec.Live()}
	ref.numbers[c.head.generation&1] = seq
	if rec.Live() {
		c.source.live++
		ref.print, ref.listed = c.head.key.Of(&rec.brief), outlineFlags(&change.Record.Item)
		if was.live() {
			before, err := c.reference(rec.Born)
			if err != nil {
				return err
			}
			ref.print.Document = before.print.Document
		}
		c.move(rec.ID, &ref, change.Document)
	}
	return c.setReference(&ref)
}

func (c *commit) touches() error {
	for i := range c.batch.Touches {
		was := &c.olds[len(c.batch.Puts)+i]
		change := &c.batch.Touches[i].Record
		if !was.known {
			if change.Kind != websync.Deleted {
				const message = "%w: a Touch of the unknown id %.100q has the Kind %v: only Deleted is right"
				return fmt.Errorf(message, errBatch, change.Resource.ID, change.Kind)
			}
			was.kind = websync.Deleted
		}
		rec := newRecord(change)
		rec.Born, rec.Kind = was.born, was.kind
		item := c.touch(change.Item, was)
		if was.seq == 0 || was.touched || !c.isSame(item, was.item) {
			rec.own = item
		}
		if err := c.indexTouch(rec, c.batch.Touches[i].Document); err != nil {
			return err
		}
		if err := c.setRecord(was, was.seq, was.prior, rec); err != nil {
			return err
		}
	}
	return nil
}

// indexTouch keeps the reference of a touched record.
func (c *commit) indexTouch(rec *record, document documentNumber) error {
	if rec.Born == 0 {
		return nil
	}
	ref, err := c.reference(rec.Born)
	if err != nil {
		return err
	}
	touched := rec.own != nil
	ref.touched = [2]bool{touched, touched}
	if rec.Live() {
		before := ref.print.Document
		ref.print = c.head.key.Of(&rec.brief)
		ref.print.Document = before
		c.move(rec.ID, &ref, document)
	}
	if touched {
		ref.listed = outlineFlags(rec.own)
	}
	return c.setReference(&ref)
}

// listed notes which documents list records.
func (c *commit) listed() error {
	for _, l := range c.batch.Listed {
		ref, err := c.reference(l.Born)
		if err != nil {
			return err
		}
		if ref.n != c.source.n || ref.deleted {
			continue // another run has changed it
		}
		c.move(l.ID, &ref, l.Document)
		if err := c.setReference(&ref); err != nil {
			return err
		}
	}
	return nil
}

// move sets the document of a live record, unless to is 0, and notes the one that it had.
func (c *commit) move(id string, ref *reference, to documentNumber) {
	was := ref.print.Document
	if to == 0 || to == was {
		return
	}
	if was != 0 {
		c.batch.moved = append(c.batch.moved, listedIn{id, ref.born, was})
	}
	ref.print.Document = to
}

// touch returns the item that a Touch leaves, in the form of record.own.
func (c *commit) touch(item websync.Item, was *old) *websync.Item {
	item.Seq, item.Prior, item.Source = 0, 0, ""
	item.Born, item.Kind, item.Time = was.born, was.kind, time.Time{}
	if was.item != nil {
		item.Time = was.item.Time
	}
	return &item
}

// isSame reports whether the item of a touched record is the one that it was.
func (c *commit) isSame(item, was *websync.Item) bool {
	before := *was
	before.Seq, before.Prior = 0, 0
	c.scratch = appendItem(c.scratch[:0], item, "")
	n := len(c.scratch)
	c.scratch = appendItem(c.scratch, &before, "")
	return bytes.Equal(c.scratch[:n], c.scratch[n:])
}

func (c *commit) tasks() error {
	for _, ref := range c.batch.Done {
		if _, err := c.deleteTask(&c.source.idSpace, ref); err != nil {
			return err
		}
	}
	for i := range c.batch.Tasks {
		if err := c.setTask(&c.source.idSpace, c.batch.Tasks[i]); err != nil {
			return err
		}
	}
	return nil
}

func (c *commit) checkpoint() error {
	p := c.batch.Checkpoint
	if p == nil {
		return nil
	}
	k := newKey(checkpointKey).source(c.source.n)
	if p.IsZero() {
		return c.delete(k)
	}
	c.scratch = binary.AppendVarint(c.scratch[:0], int64(p.Version))
	return c.set(k, append(c.scratch, p.Data...))
}

func (c *commit) state() error {
	for _, name := range slices.Sorted(maps.Keys(c.batch.State)) {
		if err := c.set(newKey(stateKey).text(name), c.batch.State[name]); err != nil {
			return err
		}
	}
	return nil
}

// sum is a sha-256.
type sum [32]byte

func sumOf(d websync.Digest) (s sum, ok bool) {
	if d.Algorithm != "sha-256" || len(d.Sum) != len(s) {
		return s, false
	}
	copy(s[:], d.Sum)
	return s, true
}

// bindBodies takes the bodies of the batch and counts the records that name each.
func (c *commit) bindBodies() error {
	if c.s.planned {
		return nil
	}
	named := make(map[sum]int64, len(c.bodies))
	used := make(map[sum]int64, len(c.bodies)) // minus those that the old records named
	for i := range c.olds {
		item := c.olds[i].item
		if item == nil {
			continue
		}
		for _, b := range item.Bodies {
			if k, ok := sumOf(b.Key); ok {
				used[k]--
			}
		}
	}
	for _, changes := range [...][]change{c.batch.Puts, c.batch.Touches} {
		for i := range changes {
			rec := &changes[i].Record
			for _, b := range rec.Bodies {
				k, ok := sumOf(b.Key)
				if b.Key.IsZero() {
					continue
				}
				if !ok {
					return noBody(rec, b)
				}
				named[k]++
				used[k]++
			}
		}
	}
	for k := range c.bodies {
		used[k] += 0
	}
	order := slices.SortedFunc(maps.Keys(used), func(a, b sum) int { return bytes.Compare(a[:], b[:]) })
	if err := c.prefetchBodies(order); err != nil {
		return err
	}
	bk := newKey(bodyKey)
	for _, k := range order {
		bk = bk.of(bodyKey).bytes(k[:])
		if err := c.bindBody(bk, k, c.bodies[k], named[k] > 0, used[k]); err != nil {
			return err
		}
	}
	if c.packed == 0 {
		return nil
	}
	if err := c.checkBlob(&body{blob: c.pack.name, n: 1, size: c.pack.size - 1}); err != nil {
		return err
	}
	return c.setTaken(c.pack.name, c.packed)
}

func (c *commit) prefetchBodies(sums []sum) error {
	return c.prefetch(func(add func(key)) {
		if c.pack.name != "" {
			add(blobKeyOf(deadKey, c.pack.name))
		}
		for _, k := range sums {
			add(newKey(bodyKey).bytes(k[:]))
			if from := c.bodies[k]; from != nil && from.name != "" {
				add(blobKeyOf(deadKey, from.name))
				add(blobKeyOf(blobKey, from.name))
			}
		}
	})
}

func noBody(rec *Record, b websync.Body) error {
	const message = "%w: the body %.100q of %.100q has the Key %v: a sha-256 or none is right"
	return fmt.Errorf(message, errNoBody, b.Name, rec.Resource.ID, b.Key)
}

// bindBody changes the count of one body, whose bytes are from's if that is not nil. Its
// key is bk.
func (c *commit) bindBody(bk key, k sum, from *bodyWriter, named bool, delta int64) error {
	var v body
	before, there, err := c.heldBody(bk, named || from != nil)
	if err != nil {
		return err
	}
	if before != nil {
		v = *before
	}
	switch {
	case !there && from != nil:
		if err = c.store(&v, from); err != nil {
			return err
		}
	case !there && named:
		return fmt.Errorf("%w: sha-256:%x", errNoBody, k)
	case !there && before == nil:
		return nil
	}
	v.refs += delta
	if v.refs <= 0 && (delta < 0 || from != nil) {
		v.since = c.now
	}
	return c.setBody(bk, k, before, &v)
}

// heldBody returns the body with this key, nil if there is none, and reports whether its
// bytes are there. It takes that for granted of one that is not to be named.
func (c *commit) heldBody(bk key, named bool) (held *body, there bool, err error) {
	held = new(body)
	if there, err = c.get(bk, held); err != nil || !there {
		return nil, false, err
	}
	if named {
		there, err = c.isThere(held)
	}
	return held, there, err
}

// isThere reports whether the blob of a body that is to be named is there and complete:
// its file may have been removed or truncated. If the Store itself holds the bytes, they
// are there.
func (c *commit) isThere(v *body) (bool, error) {
	outside := c.s.Blobs
	if v.blob == "" || outside == nil {
		return true, nil
	}
	r, err := openBlob(c.ctx, outside, v)
	switch {
	case err == nil:
		return true, r.Close()
	case errors.Is(err, fs.ErrNotExist):
		return c.isInside(v)
	case errors.Is(err, ErrCorrupt):
		return false, nil
	}
	return false, err
}

// isInside reports whether the blob of a body is complete in chunks.
func (c *commit) isInside(v *body) (bool, error) {
	var b blob
	there, err := c.get(blobKeyOf(blobKey, v.blob), &b)
	return there && b.size == v.size, err
}

// setBody replaces before, if that is not nil, with v, and updates the list of bodies
// that no record names.
func (c *commit) setBody(bk key, k sum, before, v *body) error {
	if before != nil && *before == *v {
		return nil
	}
	unused := func(v *body) key { return newKey(unusedKey).time(micro(v.since)).bytes(k[:]) }
	if before != nil && before.refs <= 0 {
		if err := c.delete(unused(before)); err != nil {
			return err
		}
	}
	if v.refs <= 0 {
		if err := c.set(unused(v), present); err != nil {
			return err
		}
	}
	return c.put(bk, v)
}

// store makes the bytes that from has written the bytes of v.
func (c *commit) store(v *body, from *bodyWriter) error {
	if err := from.take(); err != nil {
		return err
	}
	if c.used == nil {
		c.used = make(map[*bodyWriter]bool, len(c.bodies))
	}
	c.used[from] = true
	if v.blob != "" { // the old blob is missing
		if _, err := c.untake(v.blob); err != nil {
			return err
		}
	}
	v.since, v.size, v.blob, v.n = c.now, from.size, from.name, 0
	if at, ok := c.pack.at[from]; ok {
		v.blob, v.n = c.pack.name, at
		c.packed++
		return nil
	}
	if v.blob == "" {
		c.head.bodies++
		v.n = c.head.bodies
		if v.size == 0 {
			return nil
		}
		return c.tx.Set(bytes.Clone(c.key(dataKey).number(v.n)), from.buf)
	}
	if err := c.checkBlob(v); err != nil {
		return err
	}
	return c.setTaken(v.blob, 1)
}

// checkBlob returns errNoBody if Vacuum has removed the blob, or has begun to.
func (c *commit) checkBlob(v *body) error {
	dead, err := c.Get(blobKeyOf(deadKey, v.blob))
	if err != nil {
		return err
	}
	there := false
	if c.s.Blobs != nil {
		there, err = c.isThere(v)
	} else {
		there, err = c.isInside(v)
	}
	if err == nil && (dead != nil || !there) {
		err = fmt.Errorf("%w: the body was removed before its Commit", errNoBody)
	}
	return err
}

// endBaseline makes the entries so far the first state, unless that has ended before: see
// [websync.Head].
func (s *Catalog) endBaseline(ctx context.Context) error {
	ended := false
	err := s.view(ctx, func(r *reader) error {
		ended = r.head.begun
		return nil
	})
	if err != nil || ended {
		return err
	}
	return s.update(ctx, func(w *writer) error {
		if !w.head.begun {
			w.head.baseline, w.head.begun = w.head.last, true
		}
		return nil
	})
}
