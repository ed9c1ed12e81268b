package harvest

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"sync"
	"time"

	"github.com/websync-go/websync"
)

// Several workers may share the tasks of one source. Each has a numbered claim. One value
// of the State lists, by these numbers, the tasks that each worker has in hand. A worker
// takes tasks that no other has in hand, with compare-and-swap. When the claim of a
// worker ends, its tasks are free again. If the value is lost, some tasks are carried out
// twice: the second Commit is a conflict.

// maxWorkers limits how many workers share the tasks of one source.
const maxWorkers = 1000

// workName returns the name of the claim of worker n.
func workName(source string, n int) string { return fmt.Sprintf("work/%d/%s", n, source) }

// A handList has the taskHash of each task in hand, by the number of the worker.
type handList map[int][]byte

func parseHandList(value []byte) handList {
	list := handList{}
	if json.Unmarshal(value, &list) != nil || list == nil {
		list = handList{} // lost
	}
	return list
}

func (l handList) bytes() []byte {
	if len(l) == 0 {
		return nil
	}
	value, _ := json.Marshal(l)
	return value
}

// addTo adds the tasks on the list to set.
func (l handList) addTo(set map[uint64]bool) {
	for _, hashes := range l {
		for ; len(hashes) >= 8; hashes = hashes[8:] {
			set[binary.BigEndian.Uint64(hashes)] = true
		}
	}
}

// taskHash returns a hash of the id of a task.
func taskHash(id string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(id))
	return h.Sum64()
}

// A worker takes tasks for one run.
type worker struct {
	run    *run
	number int // of its claim

	limit int       // of open
	taken time.Time // when the worker last took tasks
	more  bool      // there were tasks that are due, in whosever hand

	mu sync.Mutex
	// inHand has the tasks in hand by taskHash; false if the bodies were obtained and the
	// Commit is still to come.
	inHand  map[uint64]bool
	open    int             // how many of them are true
	left    map[uint64]bool // by taskHash: tasks of hosts that the run leaves alone
	changed chan struct{}   // holds a token after each change
}

func newWorker(r *run, number int) *worker {
	few := min(4*r.concurrency(), r.window())
	w := &worker{run: r, number: number, limit: few, changed: make(chan struct{}, 1)}
	w.inHand, w.left = map[uint64]bool{}, map[uint64]bool{}
	return w
}

// claimWork claims the first number that no other worker of the source holds.
func (r *run) claimWork(ctx context.Context) (*claim, error) {
	for n := range maxWorkers {
		claim, err := r.claim(ctx, workName(r.key, n))
		if errors.Is(err, ErrHeld) {
			continue
		}
		r.worker = newWorker(r, n)
		return claim, err
	}
	return nil, fmt.Errorf("%d workers share the tasks: %w", maxWorkers, ErrHeld)
}

// workBeside is work under a second claim, while the run also holds that of the source.
// If no task is due, it does nothing.
func (r *run) workBeside(ctx context.Context) error {
	tasks, err := r.catalog.due(ctx, r.key, r.dueNow(), 1)
	if err != nil || len(tasks) == 0 {
		return err
	}
	if r.workClaim, err = r.claimWork(ctx); err != nil {
		return err
	}
	r.goBeside(ctx, func(ctx context.Context) {
		r.keepClaim(ctx, func(ctx context.Context) error { return r.catalog.renew(ctx, r.workClaim) })
	})
	return r.work(ctx)
}

// dueNow returns the moment up to which tasks are due.
func (r *run) dueNow() time.Time { return r.report.Started.Truncate(time.Microsecond) }

// work feeds tasks to the other stages, until none is left that was due when the run
// began and that no other worker has in hand.
func (r *run) work(ctx context.Context) error {
	w := r.worker
	r.hasTasks.Store(true)
	if err := r.readMembership(ctx); err != nil {
		return err
	}
	err := r.pipe(ctx, -1, func(ctx context.Context, give func(*slot) error) error {
		var n int64
		for !r.overdone() {
			if err := w.waitForRoom(ctx); err != nil {
				return err
			}
			// before take: if a task ends in between, the worker looks again
			w.mu.Lock()
			idle := len(w.inHand) == 0
			w.mu.Unlock()
			tasks, err := w.take(ctx)
			if err != nil {
				return err
			}
			for i := range tasks {
				n++
				if err := give(&slot{n: n, statement: statement{ev: tasks[i].event(), task: &tasks[i]}}); err != nil {
					return err
				}
			}
			if len(tasks) > 0 {
				continue
			}
			if idle && !(r.h.Wait && w.more) {
				return nil
			}
			if idle { // others have them
				if err := sleep(ctx, pollClaim); err != nil {
					return err
				}
				continue
			}
			n++
			if err := give(newSlot(n, Event{Kind: Mark})); err != nil {
				return err
			}
		}
		return nil
	})
	if e := w.leave(r.ending); e != nil {
		r.log.Warn("list of tasks in hand not cleared", "source", r.key, "err", e)
	}
	return err
}

// waitForRoom waits until half of the limit is free.
func (w *worker) waitForRoom(ctx context.Context) error {
	for {
		w.mu.Lock()
		half := w.limit / 2
		room := w.open <= half && len(w.inHand) <= w.run.window()-w.limit+half
		w.mu.Unlock()
		if room {
			return nil
		}
		select {
		case <-w.changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// maxLeft is how many tasks a worker leaves as they are because of maxAlone. Others get a
// later Due, so that the next run begins with those of other hosts.
const maxLeft = maxAlone / 2

// leaves reports whether the task of id stays as it is, and does not take it again then.
func (w *worker) leaves(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.left) == maxLeft {
		return false
	}
	w.left[taskHash(id)] = true
	return true
}

// adapt sets the limit to about as many tasks as the worker carries out in a second, so
// that slow tasks are shared with other workers.
func (w *worker) adapt() {
	switch since := time.Since(w.taken); {
	case w.taken.IsZero():
	case since < time.Second:
		w.limit = min(2*w.limit, w.run.window())
	case since > 10*time.Second:
		w.limit = max(w.limit/2, min(4*w.run.concurrency(), w.run.window()))
	}
	w.taken = time.Now()
}

// take returns tasks that are due and that no worker has in hand, and notes them as its
// own.
func (w *worker) take(ctx context.Context) ([]Task, error) {
	w.adapt()
	var tasks []Task
	err := w.change(ctx, func(list handList) (changed bool, err error) {
		delete(list, w.number)
		var mine []byte
		w.mu.Lock()
		for hash := range w.inHand {
			mine = binary.BigEndian.AppendUint64(mine, hash)
		}
		n := w.limit - w.open
		w.mu.Unlock()
		tasks, err = w.find(ctx, list, mine, n)
		for i := range tasks {
			mine = binary.BigEndian.AppendUint64(mine, taskHash(tasks[i].Resource.ID))
		}
		list[w.number] = mine
		return len(tasks) > 0, err
	})
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range tasks {
		w.inHand[taskHash(tasks[i].Resource.ID)] = true
	}
	w.open += len(tasks)
	return tasks, nil
}

// change changes the list of the tasks in hand as f does, with compare-and-swap. f reports
// whether there is a change.
func (w *worker) change(ctx context.Context, f func(list handList) (changed bool, err error)) error {
	r := w.run
	for {
		saved, err := r.catalog.State(ctx, workState.of(r.key))
		if err != nil {
			return &StoreError{err}
		}
		list := parseHandList(saved)
		if changed, err := f(list); err != nil || !changed {
			return err
		}
		switch err := r.catalog.Swap(ctx, workState.of(r.key), saved, list.bytes()); {
		case err == nil:
			return nil
		case !errors.Is(err, websync.ErrConflict):
			return &StoreError{err}
		}
	}
}

// find returns at most n tasks that are due and that no worker has in hand. If there are
// none, it removes dead workers from others and looks again.
func (w *worker) find(ctx context.Context, others handList, mine []byte, n int) ([]Task, error) {
	r := w.run
	for {
		inHand := map[uint64]bool{}
		handList{w.number: mine}.addTo(inHand)
		others.addTo(inHand)
		w.mu.Lock()
		left := maps.Clone(w.left)
		w.mu.Unlock()
		tasks, err := r.catalog.due(ctx, r.key, r.dueNow(), n+len(inHand)+len(left))
		if err != nil {
			return nil, &StoreError{err}
		}
		w.more = false
		var free []Task
		for i := range tasks {
			t := &tasks[i]
			hash := taskHash(t.Resource.ID)
			if left[hash] {
				continue
			}
			w.more = true
			switch {
			case inHand[hash]:
			case len(free) < n:
				free = append(free, *t)
			}
		}
		if len(free) > 0 {
			return free, nil
		}
		if dropped, err := w.dropDead(ctx, others); err != nil || !dropped {
			return nil, err
		}
	}
}

// dropDead removes the workers whose claims have ended, and reports whether there were
// any.
func (w *worker) dropDead(ctx context.Context, others handList) (dropped bool, err error) {
	for n := range others {
		claim, err := w.run.claim(ctx, workName(w.run.key, n))
		if errors.Is(err, ErrHeld) {
			continue
		}
		if err == nil {
			err = w.run.catalog.release(ctx, claim)
		}
		if err != nil {
			return false, &StoreError{err}
		}
		delete(others, n)
		dropped = true
	}
	return dropped, nil
}

// leave removes the worker from the list.
func (w *worker) leave(ctx context.Context) error {
	return w.change(ctx, func(list handList) (bool, error) {
		_, listed := list[w.number]
		delete(list, w.number)
		return listed, nil
	})
}

// noteGot notes that the bodies of a slot were obtained.
func (w *worker) noteGot(s *slot) {
	w.note(s, func(hash uint64) {
		if w.inHand[hash] {
			w.inHand[hash] = false
			w.open--
		}
	})
}

// noteCommitted notes that the task of a slot is no longer in hand.
func (w *worker) noteCommitted(s *slot) {
	w.note(s, func(hash uint64) {
		if w.inHand[hash] {
			w.open--
		}
		delete(w.inHand, hash)
	})
}

// note calls change, which changes what is in hand, with the taskHash of a slot.
func (w *worker) note(s *slot, change func(hash uint64)) {
	if w == nil || s.task == nil {
		return
	}
	w.mu.Lock()
	change(taskHash(s.id()))
	w.mu.Unlock()
	select {
	case w.changed <- struct{}{}:
	default:
	}
}
