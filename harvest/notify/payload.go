package notify

import (
	"context"
	"errors"
	"time"

	"github.com/websync-go/websync/harvest"
)

// A PayloadSource is a Source that can read the content of notices, for example a
// resourcesync.Source.
type PayloadSource interface {
	harvest.Source

	// Payload returns a Source with the same Key that yields what body lists. It does no
	// I/O, and may keep body, which nobody changes. The error says why body cannot be
	// used.
	//
	// The Runner runs that Source once, at any time after the call. The run must be safe
	// although payloads get lost, come late, come twice or in another order: it moves the
	// checkpoint over nothing that a run of the PayloadSource itself has not read, and
	// yields nothing that such a run would not correct. If it cannot be sure of that,
	// because of the checkpoint that it begins with for instance, it yields an error and
	// no event.
	Payload(body []byte) (harvest.Source, error)
}

// maxPayloads is how many payloads of a source may wait.
const maxPayloads = 16

// Payload announces a change at url with the content of the notice, and reports whether a
// source has that URL. It never waits. It fits the field Payload of Subscriber. The
// Runner keeps body, which must not change.
//
// If the source is a [PayloadSource], the payload is applied by a run of its own. The
// source itself runs as well, as after Notify, if the payload cannot be used, if its run
// ends in an error, skips an entry or leaves a task for one, or if 16 payloads are
// waiting already. A source that is no PayloadSource just runs.
func (r *Runner) Payload(url string, body []byte) bool {
	r.start()
	t := r.named[url]
	if t == nil {
		return false
	}
	if _, ok := t.src.(PayloadSource); !ok || len(body) == 0 {
		raise(t.notice)
		return true
	}
	select {
	case t.payloads <- body:
	default:
		r.log.Warn("notify: too many payloads", "source", t.src.Key())
		raise(t.notice)
	}
	return true
}

// applyAll applies a payload, if there is one, and those that are waiting now. If one of
// them is not applied wholly, the source itself is to run.
func (r *Runner) applyAll(ctx context.Context, t *turn, body []byte) {
	for n := len(t.payloads); ctx.Err() == nil; n-- {
		if body != nil && !r.apply(ctx, t, body) {
			raise(t.notice)
		}
		if n == 0 {
			return
		}
		body = <-t.payloads
	}
}

var errNotWhole = errors.New("the payload was not applied wholly")

// apply runs what a payload lists, and reports whether nothing of it is left to do.
func (r *Runner) apply(ctx context.Context, t *turn, body []byte) bool {
	began := time.Now()
	src, err := t.src.(PayloadSource).Payload(body)
	if err == nil {
		var report *harvest.Report
		report, err = r.Harvest(ctx, src)
		if err == nil && !isWhole(report) {
			err = errNotWhole
		}
	}
	log := r.log.With("source", t.src.Key(), "bytes", len(body), "dur", time.Since(began))
	switch {
	case err == nil:
		log.Debug("notify: payload applied")
	case ctx.Err() == nil:
		log.Warn("notify: payload not applied: the source itself runs", "error", err)
	}
	return err == nil
}

// isWhole reports whether a run has done everything that its source has listed. Tasks of
// earlier runs do not count.
func isWhole(r *harvest.Report) bool {
	return r != nil && r.Listed() && r.Failed == 0 && r.Deferred == 0 && r.Withheld == 0
}
