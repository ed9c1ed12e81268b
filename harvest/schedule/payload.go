package schedule

import (
	"context"
	"errors"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/survive"
)

// A PayloadSource is a Source that can read the content of notices, for example a
// resourcesync.Source.
type PayloadSource interface {
	harvest.Source

	// Payload returns a Source with the same Key that yields what body lists. It does no
	// I/O, and may keep body, which nobody changes. The error says why body cannot be
	// used; a panic counts as one.
	//
	// The Scheduler runs that Source once, at any time after the call. The run must be
	// safe although payloads get lost, come late, come twice or in another order: it
	// moves the checkpoint over nothing that a run of the PayloadSource itself has not
	// read, and yields nothing that such a run would not correct. If it cannot be sure of
	// that, because of the checkpoint that it begins with for instance, it yields an
	// error and no event.
	Payload(body []byte) (harvest.Source, error)
}

// How many payloads of a source, and how many bytes of all of them, may wait.
const (
	maxPayloads     = 16
	maxPayloadBytes = 32 << 20
)

// Payload announces a change at url with the content of the notice, and reports whether
// an entry has that URL. It never waits. It fits the field Payload of notify.Subscriber.
// The Scheduler keeps body, which must not change.
//
// If the source is a [PayloadSource], the payload is applied by a run of its own. The
// source itself runs as well, as after Notify, if the payload cannot be used, if its run
// ends in an error, skips an entry or leaves a task for one, or if 16 payloads of the
// source, or 32 MiB of all sources, would be waiting already. A source that is no
// PayloadSource just runs.
func (s *Scheduler) Payload(url string, body []byte) bool {
	if s.start() != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.named[url]
	if t == nil {
		return false
	}
	_, readable := t.Source.(PayloadSource)
	switch {
	case len(body) == 0 || !readable:
		t.noticed = true
	case len(t.payloads) >= maxPayloads, s.held+len(body) > maxPayloadBytes:
		s.log.Warn("schedule: too many payloads", "source", t.key)
		t.noticed = true
	default:
		if len(t.payloads) == 0 {
			t.came = time.Now()
		}
		t.payloads = append(t.payloads, body)
		s.held += len(body)
	}
	s.wake()
	return true
}

// release notes that payloads wait no more.
func (s *Scheduler) release(payloads ...[]byte) {
	for _, body := range payloads {
		s.held -= len(body)
	}
}

var errNotWhole = errors.New("the payload was not applied wholly")

// apply runs what a payload lists, and reports whether nothing of it is left to do.
func (s *Scheduler) apply(ctx context.Context, t *turn, body []byte) bool {
	var src harvest.Source
	err := survive.Panic("the Source", func() (err error) {
		src, err = t.Source.(PayloadSource).Payload(body)
		return err
	})
	if caught, ok := errors.AsType[*websync.PanicError](err); ok {
		s.log.Error("schedule: panic", "source", t.key, "error", err, "stack", string(caught.Stack))
	}
	if err == nil {
		var report *harvest.Report
		report, err = s.harvest(ctx, t, src)
		if err == nil && !isWhole(report) {
			err = errNotWhole
		}
	}
	if err != nil && ctx.Err() == nil {
		s.log.Warn("schedule: payload not applied: the source itself runs", "source", t.key, "bytes", len(body), "error", err)
	}
	return err == nil
}

// isWhole reports whether a run has done everything that its source has listed. Tasks of
// earlier runs do not count.
func isWhole(r *harvest.Report) bool {
	return r.Listed() && r.Failed == 0 && r.Deferred == 0 && r.Withheld == 0
}
