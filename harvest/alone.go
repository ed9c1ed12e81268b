package harvest

// maxAlone is how many resources in a row a run finds on hosts that it leaves alone
// before it ends getting.
const maxAlone = 512

// maxLeft is how many tasks a worker leaves as they are because of maxAlone. Others get a
// later Due, so that the next run begins with those of other hosts.
const maxLeft = maxAlone / 2

// overdone reports whether getting ends: the budget is spent, or the hosts of the last
// resources are left alone.
func (r *run) overdone() bool { return r.spent() || r.aloneInRow.Load() >= maxAlone }

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
