package harvest

import (
	"context"
	"sync"
)

// A queue holds the slots that wait for get.
type queue struct {
	mu     sync.Mutex
	slots  []*slot
	closed bool
	ready  chan struct{} // holds a token while somebody should look
}

func newQueue() *queue { return &queue{ready: make(chan struct{}, 1)} }

func (q *queue) push(s *slot) {
	q.mu.Lock()
	q.slots = append(q.slots, s)
	q.mu.Unlock()
	q.signal()
}

func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.signal()
}

func (q *queue) signal() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// pop returns the next slot; nil when the queue is closed or ctx has ended.
func (q *queue) pop(ctx context.Context) *slot {
	for {
		q.mu.Lock()
		var s *slot
		if len(q.slots) > 0 {
			s, q.slots[0] = q.slots[0], nil
			q.slots = q.slots[1:]
		}
		more := len(q.slots) > 0 || q.closed
		q.mu.Unlock()
		if more {
			q.signal()
		}
		if s != nil || more {
			return s
		}
		select {
		case <-q.ready:
		case <-ctx.Done():
			return nil
		}
	}
}

// withdraw takes back the slots that wait and can be done later: those whose bytes did
// not come along.
func (q *queue) withdraw() (taken []*slot) {
	q.mu.Lock()
	defer q.mu.Unlock()
	kept := q.slots[:0]
	for _, s := range q.slots {
		if s.ev.Open == nil {
			taken = append(taken, s)
		} else {
			kept = append(kept, s)
		}
	}
	clear(q.slots[len(kept):])
	q.slots = kept
	return taken
}
