package sqlitestore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// Commit implements [harvest.Store]. Everything is one transaction, which is on the disk
// when Commit returns.
func (s *Store) Commit(ctx context.Context, c *harvest.Claim, b *harvest.Batch) (conflicts []string, err error) {
	if c == nil {
		return nil, wrap(harvest.ErrFenced)
	}
	t := &commit{s: s, claim: c, batch: b}
	if err = t.prepare(); err != nil {
		return nil, wrap(err)
	}
	if err = s.write(ctx, func(c *conn) error { return t.apply(ctx, c) }); err != nil {
		return nil, wrap(err)
	}
	if len(t.conflicts) > 0 {
		return t.conflicts, nil
	}
	t.applied()
	return nil, nil
}

// A commit is one Batch on its way into the database. Whatever can be done before the
// lock is taken, prepare does.
type commit struct {
	s     *Store
	claim *harvest.Claim
	batch *harvest.Batch

	changes []change // Puts, then Touches
	tasks   [][]byte
	writers []*bodyWriter          // of the batch
	bodies  map[string]*bodyWriter // one of them for each sum

	*conn
	counters
	n         uint64 // of the claim, after success
	source    int64
	newSource bool
	live      int64 // how many more records live than before
	now       int64
	named     map[string]bool // sums of bodies that were seen to
	dirs      map[string]bool // to be synced before the transaction ends
	conflicts []string
	repeated  bool
}

// A change is a Change of the Batch with what is stored of it.
type change struct {
	*harvest.Change
	put    bool
	id     []byte
	record []byte
	entry  []byte // of the log, if put
	keys   []byte
	old    stored
}

// stored is what the database knows of a record.
type stored struct {
	known     bool
	seq, born int64
	kind      websync.ChangeKind
	keys      []byte
}

func (o *stored) live() bool { return o.known && o.kind != websync.Deleted }

// prepare checks and encodes the batch.
func (t *commit) prepare() error {
	b := t.batch
	if b.ID == [16]byte{} {
		return fmt.Errorf("%w: it has no ID", harvest.ErrBatch)
	}
	seen := make(map[string]bool, len(b.Puts)+len(b.Touches))
	t.changes = make([]change, 0, len(b.Puts)+len(b.Touches))
	for _, list := range [][]harvest.Change{b.Puts, b.Touches} {
		for i := range list {
			id := list[i].Record.Resource.ID
			if err := checkID(id); err != nil {
				return err
			}
			if seen[id] {
				return fmt.Errorf("%w: %.200q is there twice", harvest.ErrBatch, id)
			}
			seen[id] = true
			t.changes = append(t.changes, change{Change: &list[i], put: len(t.changes) < len(b.Puts)})
		}
	}
	if err := t.encodeChanges(); err != nil {
		return err
	}
	return errors.Join(t.encodeTasks(), t.finishBodies())
}

func checkID(id string) error {
	switch {
	case id == "":
		return fmt.Errorf("%w: an id is empty", harvest.ErrBatch)
	case len(id) > harvest.MaxID:
		return fmt.Errorf("%w: an id of %d bytes: %.100q…", harvest.ErrBatch, len(id), id)
	}
	return nil
}

// encodeChanges leaves out what the columns say.
func (t *commit) encodeChanges() error {
	var buf []byte
	for i := range t.changes {
		c := &t.changes[i]
		r := c.Record
		r.Seq, r.Born, r.Source = 0, 0, ""
		r.Time = timeOf(0)
		c.id = []byte(r.Resource.ID)
		start := len(buf)
		buf = harvest.AppendRecord(buf, &r)
		c.record = buf[start:len(buf):len(buf)]
		if c.put {
			start = len(buf)
			buf = harvest.AppendItem(buf, &r.Item)
			c.entry = buf[start:len(buf):len(buf)]
		}
		var err error
		if c.keys, err = keysOf(r.Bodies); err != nil {
			return fmt.Errorf("%.200q: %w", r.Resource.ID, err)
		}
	}
	return nil
}

// keysOf returns the sums of the bodies, each once.
func keysOf(bodies []websync.Body) (keys []byte, err error) {
	for _, b := range bodies {
		if b.Key.IsZero() {
			continue
		}
		sum, ok := sumOf(b.Key)
		if !ok {
			return nil, fmt.Errorf("%w: %v", harvest.ErrNoBody, b.Key)
		}
		if !contains(keys, sum) {
			keys = append(keys, sum...)
		}
	}
	return keys, nil
}

// sums calls f with each of keys.
func sums(keys []byte, f func(sum []byte) error) error {
	for ; len(keys) >= sha256.Size; keys = keys[sha256.Size:] {
		if err := f(keys[:sha256.Size]); err != nil {
			return err
		}
	}
	return nil
}

func contains(keys, sum []byte) bool {
	for ; len(keys) >= sha256.Size; keys = keys[sha256.Size:] {
		if bytes.Equal(keys[:sha256.Size], sum) {
			return true
		}
	}
	return false
}

func (t *commit) encodeTasks() error {
	for _, task := range t.batch.Tasks {
		if err := checkID(task.Resource.ID); err != nil {
			return err
		}
		task.Source, task.Base, task.N = "", 0, 0
		t.tasks = append(t.tasks, harvest.AppendTask(nil, &task))
	}
	return nil
}

func (t *commit) finishBodies() error {
	t.named = make(map[string]bool)
	t.bodies = make(map[string]*bodyWriter, len(t.batch.Bodies))
	for _, b := range t.batch.Bodies {
		w, ok := b.(*bodyWriter)
		if !ok || w.s != t.s {
			return fmt.Errorf("%w: a body of another store", harvest.ErrBatch)
		}
		if err := w.finished(); err != nil {
			return fmt.Errorf("a body: %w", err)
		}
		t.writers = append(t.writers, w)
		t.bodies[string(w.sum)] = w
	}
	return nil
}

// apply does everything inside the transaction.
func (t *commit) apply(ctx context.Context, c *conn) (err error) {
	t.conn = c
	defer func() {
		if err != nil {
			for _, w := range t.writers {
				w.returned()
			}
		}
	}()
	for _, step := range []func() error{
		t.fence, t.begin, t.match, t.placeBodies, t.writeRecords, t.writeTasks, t.writeState, t.writeCounters, t.syncDirs, ctx.Err,
	} {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// fence finds out whether the claim is the newest, and whether the batch was applied
// before.
func (t *commit) fence() error {
	row, err := t.one("SELECT epoch, n, held, batch FROM claims WHERE name = ?", bytesOf(t.claim.Name))
	if err != nil {
		return err
	}
	if row == nil {
		return harvest.ErrFenced
	}
	epoch, n, held := uint64(integer(row[0])), uint64(integer(row[1])), integer(row[2]) != 0
	if bytes.Equal(blob(row[3]), t.batch.ID[:]) {
		t.repeated = true
		t.n = t.claim.N
		if held && epoch == t.claim.Epoch {
			t.n = n
		}
		return errRollback
	}
	if !held || epoch != t.claim.Epoch || n != t.claim.N {
		return harvest.ErrFenced
	}
	t.n = n + 1
	return t.exec("UPDATE claims SET n = ?, batch = ? WHERE name = ?",
		int64(t.n), t.batch.ID[:], bytesOf(t.claim.Name))
}

// begin reads the counters and finds the source.
func (t *commit) begin() (err error) {
	if err = t.counters.load(t.conn); err != nil {
		return err
	}
	t.now = t.s.micros()
	b := t.batch
	if len(t.changes) == 0 && len(b.Tasks) == 0 && len(b.Done) == 0 && b.Checkpoint == nil {
		return nil
	}
	t.source, err = t.s.sourceID(t.conn, b.Source)
	if err != nil || t.source != 0 {
		return err
	}
	t.newSource = true
	if err = t.exec("INSERT INTO sources (key, live, version) VALUES (?, 0, 0)", bytesOf(b.Source)); err == nil {
		t.source, err = t.number("SELECT id FROM sources WHERE key = ?", bytesOf(b.Source))
	}
	return err
}

// oneTaskN finds the task with this N.
const oneTaskN = "SELECT 1 FROM tasks WHERE source = ? AND id = ? AND n = ?"

// match compares the batch with the records it was planned against, and with the tasks
// that it carries out.
func (t *commit) match() (bad error) {
	for i := range t.changes {
		c := &t.changes[i]
		row, err := t.one("SELECT seq, born, kind, keys FROM records WHERE source = ? AND id = ?", t.source, c.id)
		if err != nil {
			return err
		}
		if row != nil {
			c.old = stored{true, integer(row[0]), integer(row[1]), websync.ChangeKind(integer(row[2])), blob(row[3])}
		}
		fits := websync.Seq(c.old.seq) == c.Base
		if fits && c.Task != 0 {
			row, err := t.one(oneTaskN, t.source, c.id, int64(c.Task))
			if err != nil {
				return err
			}
			fits = row != nil
		}
		if !fits {
			t.conflicts = append(t.conflicts, c.Record.Resource.ID)
		}
		if !c.put && !c.old.known && c.Record.Kind != websync.Deleted {
			bad = fmt.Errorf("%w: touch of an unknown id: %.200q", harvest.ErrBatch, c.id)
		}
	}
	if len(t.conflicts) > 0 {
		return errRollback
	}
	return bad
}

// placeBodies makes sure that every body that is named is there.
func (t *commit) placeBodies() error {
	for i := range t.changes {
		c := &t.changes[i]
		err := sums(c.keys, func(sum []byte) error {
			if contains(c.old.keys, sum) {
				return nil // a current record pins it
			}
			return t.name(sum)
		})
		if err != nil {
			return err
		}
		err = sums(c.old.keys, func(sum []byte) error {
			if contains(c.keys, sum) {
				return nil
			}
			return t.exec("UPDATE bodies SET used = ? WHERE key = ?", t.now, sum)
		})
		if err != nil {
			return err
		}
	}
	for sum := range t.bodies {
		if err := t.name([]byte(sum)); err != nil {
			return err
		}
	}
	return nil
}

// name notes that a body is named by this commit, and stores it if it is in the batch.
func (t *commit) name(sum []byte) error {
	if t.named[string(sum)] {
		return nil
	}
	t.named[string(sum)] = true
	row, err := t.one("SELECT blob FROM bodies WHERE key = ?", sum)
	if err != nil {
		return err
	}
	if row == nil {
		return t.insertBody(sum)
	}
	if row[0] == nil {
		if err := t.checkBodyFile(sum); err != nil {
			return err
		}
	}
	return t.exec("UPDATE bodies SET used = ?, mark = ? WHERE key = ?", t.now, t.mark, sum)
}

func (t *commit) insertBody(sum []byte) error {
	data, err := t.placeBody(sum)
	if err != nil {
		return err
	}
	w := t.bodies[string(sum)]
	if w.path != "" {
		return t.exec("INSERT INTO bodies (key, size, used, mark) VALUES (?, ?, ?, ?)", sum, w.size, t.now, t.mark)
	}
	if data == nil {
		data = []byte{}
	}
	t.blob++
	if err := t.exec("INSERT INTO blobs (n, data) VALUES (?, ?)", t.blob, data); err != nil {
		return err
	}
	return t.exec("INSERT INTO bodies (key, size, used, mark, blob) VALUES (?, ?, ?, ?, ?)",
		sum, w.size, t.now, t.mark, t.blob)
}

// placeBody takes a body out of the batch.
func (t *commit) placeBody(sum []byte) ([]byte, error) {
	w := t.bodies[string(sum)]
	if w == nil {
		return nil, fmt.Errorf("%w: %v", harvest.ErrNoBody, websync.Digest{Algorithm: sha256Name, Sum: string(sum)})
	}
	data, err := w.place()
	if err == nil && w.path != "" {
		if t.dirs == nil {
			t.dirs = make(map[string]bool)
		}
		t.dirs[filepath.Dir(t.s.bodyPath(sum))] = true
	}
	return data, err
}

// checkBodyFile repairs a file that is missing, if it can.
func (t *commit) checkBodyFile(sum []byte) error {
	_, err := os.Stat(t.s.bodyPath(sum))
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if w := t.bodies[string(sum)]; w != nil && w.path == "" {
		// Stores with different settings share the file.
		if err := t.exec("DELETE FROM bodies WHERE key = ?", sum); err != nil {
			return err
		}
		return t.insertBody(sum)
	}
	_, err = t.placeBody(sum)
	return err
}

// writeRecords writes the records and the log.
func (t *commit) writeRecords() error {
	for i := range t.changes {
		c := &t.changes[i]
		var err error
		if c.put {
			err = t.writePut(c)
		} else {
			err = t.writeTouch(c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

const sqlInsertRecord = "INSERT INTO records (source, id, seq, born, time, kind, keys, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"

func (t *commit) writePut(c *change) error {
	t.seq++
	t.time = max(t.now, t.time+1)
	born := c.old.born
	if born == 0 {
		t.born++
		born = t.born
	}
	if c.old.live() {
		t.live--
	}
	kind := c.Record.Kind
	if kind != websync.Deleted {
		t.live++
	}
	err := t.exec("INSERT INTO log (n, source, born, time, kind, data) VALUES (?, ?, ?, ?, ?, ?)",
		entry(t.generation, t.seq), t.source, born, t.time, int64(kind), c.entry)
	if err != nil {
		return err
	}
	if !c.old.known {
		return t.exec(sqlInsertRecord, t.source, c.id, t.seq, born, t.time, int64(kind), null(c.keys), c.record)
	}
	err = t.exec("UPDATE records SET seq = ?, time = ?, kind = ?, keys = ?, data = ? WHERE source = ? AND id = ?",
		t.seq, t.time, int64(kind), null(c.keys), c.record, t.source, c.id)
	if err == nil && c.old.born == 0 { // apart from the other columns, since it is in the indexes
		err = t.exec("UPDATE records SET born = ? WHERE source = ? AND id = ?", born, t.source, c.id)
	}
	return err
}

func (t *commit) writeTouch(c *change) error {
	if !c.old.known {
		return t.exec(sqlInsertRecord, t.source, c.id, int64(0), int64(0), int64(0), int64(websync.Deleted), null(c.keys), c.record)
	}
	return t.exec("UPDATE records SET keys = ?, data = ? WHERE source = ? AND id = ?", null(c.keys), c.record, t.source, c.id)
}

// null returns what binds an empty blob as NULL.
func null(b []byte) any {
	if len(b) == 0 {
		return nil
	}
	return b
}

// replacedBits are how many bits of a task's N count how often it was replaced. The bits
// above count the tasks: they say whether an id had its task already when an iterator
// began.
const replacedBits = 24

var sqlSetTask = fmt.Sprintf(`INSERT INTO tasks (source, id, n, due, base, data) VALUES (?, ?, ?, ?, ?, ?)
	ON CONFLICT DO UPDATE SET n = iif((n + 1) & %d = 0, excluded.n, n + 1), due = excluded.due, base = excluded.base, data = excluded.data`,
	1<<replacedBits-1)

func (t *commit) writeTasks() error {
	if err := t.deleteDone(); err != nil {
		return err
	}
	for i, data := range t.tasks {
		task := &t.batch.Tasks[i]
		if task.N != 0 {
			row, err := t.one(oneTaskN, t.source, []byte(task.Resource.ID), int64(task.N))
			if err != nil {
				return err
			}
			if row == nil {
				continue // somebody has replaced it, or ended it
			}
		}
		var due any
		if task.Kind == harvest.TaskGet && !task.Parked {
			due = task.Due.UnixMicro()
		}
		t.task++
		err := t.exec(sqlSetTask, t.source, []byte(task.Resource.ID), t.task<<replacedBits, due, int64(task.Base), data)
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *commit) deleteDone() error {
	if len(t.batch.Done) == 0 {
		return nil
	}
	// Most batches name tasks that were never stored.
	if row, err := t.one("SELECT 1 FROM tasks WHERE source = ? LIMIT 1", t.source); err != nil || row == nil {
		return err
	}
	for _, done := range t.batch.Done {
		err := t.exec("DELETE FROM tasks WHERE source = ?1 AND id = ?2 AND (?3 = 0 OR n = ?3)",
			t.source, bytesOf(done.ID), int64(done.N))
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *commit) writeState() error {
	for key, value := range t.batch.State {
		if err := setState(t.conn, key, value); err != nil {
			return err
		}
	}
	return nil
}

func (t *commit) writeCounters() error {
	if c := t.batch.Checkpoint; c != nil {
		err := t.exec("UPDATE sources SET version = ?, checkpoint = ? WHERE id = ?", int64(c.Version), null(c.Data), t.source)
		if err != nil {
			return err
		}
	}
	if t.live != 0 {
		if err := t.exec("UPDATE sources SET live = live + ? WHERE id = ?", t.live, t.source); err != nil {
			return err
		}
	}
	return t.counters.save(t.conn)
}

func (t *commit) syncDirs() error {
	for dir := range t.dirs {
		if err := syncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

// applied is called after success.
func (t *commit) applied() {
	t.claim.N = t.n
	for _, w := range t.writers {
		w.taken()
	}
	if t.newSource {
		t.s.remember(t.batch.Source, t.source)
	}
}

// counters are the row of that name.
type counters struct {
	generation, seq, born, time, task, blob, mark int64
}

func (n *counters) load(c *conn) error {
	row, err := c.one("SELECT generation, seq, born, time, task, blob, mark FROM counters WHERE id = 1")
	if err != nil {
		return err
	}
	if row == nil {
		return harvest.ErrCorrupt
	}
	for i, p := range []*int64{&n.generation, &n.seq, &n.born, &n.time, &n.task, &n.blob, &n.mark} {
		*p = integer(row[i])
	}
	return nil
}

func (n *counters) save(c *conn) error {
	return c.exec("UPDATE counters SET generation = ?, seq = ?, born = ?, time = ?, task = ?, blob = ?, mark = ? WHERE id = 1",
		n.generation, n.seq, n.born, n.time, n.task, n.blob, n.mark)
}

// seqBits is how many bits of a key of the log are the number.
const seqBits = 40

// entry returns the key of an entry of the log.
func entry(generation, seq int64) int64 { return generation<<seqBits | seq }

// sourceID returns the number of a source, 0 if it has none yet.
func (s *Store) sourceID(c *conn, key string) (int64, error) {
	if id, ok := s.sources.Load(key); ok {
		return id.(int64), nil
	}
	row, err := c.one("SELECT id FROM sources WHERE key = ?", bytesOf(key))
	if err != nil || row == nil {
		return 0, err
	}
	return integer(row[0]), nil
}

// sourceKey is the inverse of sourceID.
func (s *Store) sourceKey(c *conn, id int64) (string, error) {
	if key, ok := s.keys.Load(id); ok {
		return key.(string), nil
	}
	row, err := c.one("SELECT key FROM sources WHERE id = ?", id)
	if err != nil {
		return "", err
	}
	if row == nil {
		return "", harvest.ErrCorrupt
	}
	key := string(blob(row[0]))
	s.remember(key, id) // read in a transaction that sees only what is committed
	return key, nil
}

func (s *Store) remember(key string, id int64) {
	s.sources.Store(key, id)
	s.keys.Store(id, key)
}
