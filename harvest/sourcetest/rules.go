package sourcetest

import (
	"context"

	"github.com/websync-go/websync/internal/testing/suite"
)

type (
	rule  = suite.Rule[Options, *tester]
	topic = suite.Topic[Options, *tester]
)

// cases returns a case for every rule.
func cases() []suite.Case[Options] {
	return suite.Cases(newTester,
		topic{Name: "identity", Rules: []rule{
			{Name: "key", Rule: "Key is not empty and stays the same: for another Source of the same configuration, and before, during and after a pass.", Check: identityKey},
			{Name: "again", Rule: "Events of one Source can be ranged over again, also after a break, and yields the same.", Check: identityAgain},
			{Name: "at-once", Rule: "Two Sources of the same configuration can be ranged over at the same time; each yields the same.", Check: identityAtOnce},
			{Name: "inside", Rule: "Inside the loop over one Source another can be ranged over: no lock is held across a yield.", Check: identityInside},
		}},
		topic{Name: "events", Rules: []rule{
			{Name: "undisturbed", Rule: "Undisturbed, a Source yields a Put, and neither an error nor a Problem.", Check: eventUndisturbed},
			{Name: "kinds", Rule: "An event has one of the kinds there are, and no fields but those of its kind.", Check: eachEvent((*tester).every, eventKinds)},
			{Name: "ids", Rule: "Put and Delete name an id of 1 to MaxID bytes, the same from pass to pass.", Check: eventIDs},
			{Name: "id-case", Rule: "An id is kept as it is written: no letter changes its case.", Check: eventIDCase},
			{Name: "newest-last", Rule: "When an id comes twice in a pass, the second state is not older than the first.", Check: eachEvent((*tester).plain, eventNewestLast)},
			{Name: "instant", Rule: "Of an id's states at one instant, a Source yields only the last: an id comes once at each time, and once without a time in a snapshot.", Check: eachEvent((*tester).plain, eventInstant)},
			{Name: "baseline", Rule: "A Source that also has a log begins its first pass with a Mark that carries the log's position, before the snapshot.", Check: eachEvent(afterSnapshot, eventBaseline)},
			{Name: "described", Rule: "The same state of a resource is described in the same words, from whatever checkpoint the pass begins.", Check: eventDescribed},
			{Name: "skipped", Rule: "Entries that can't be read are counted, all of them, in Skipped.", Check: eventSkipped},
			{Name: "order", Rule: "Outside of snapshots, events come oldest first.", Check: eachEvent((*tester).plain, eventOrder)},
			{Name: "snapshots", Rule: "Each SnapshotStart has its SnapshotEnd, and none begins inside another, unless an error ends the pass.", Check: eachEvent((*tester).every, eventSnapshots)},
			{Name: "resume", Rule: "No event carries Resume from SnapshotStart until its SnapshotEnd, nor from a Problem on. A Checkpoint has a Version.", Check: eachEvent((*tester).every, eventResume)},
			{Name: "complete", Rule: "After a Problem no snapshot ends Complete.", Check: eachEvent((*tester).every, eventComplete)},
			{Name: "error-last", Rule: "An error is the last thing that is yielded.", Check: eventErrorLast},
			{Name: "same", Rule: "The same documents give the same events in the same order, however long each takes to come.", Check: eventSame},
			{Name: "kept", Rule: "What an event holds does not change after the yield: the engine keeps it.", Check: eachEvent((*tester).plain, eventKept)},
			{Name: "findings", Rule: "A finding has its document, its rule, and a message or a section; the number given to Expect is not negative.", Check: eventFindings},
		}},
		topic{Name: "bytes", Rules: []rule{
			{Name: "open", Rule: "The bytes of an event can be opened again and by several at once, until the yield of the next Mark returns, or after the pass if there is none.", Check: byteOpen},
			{Name: "stated", Rule: "The bytes of an event have the length and the digests that it states.", Check: byteStated},
		}},
		topic{Name: "get", Rules: []rule{
			{Name: "failure", Rule: "When an answer that a Getter needs fails or breaks off, nothing is kept: the record is as it was, and the task stays, or the run is incomplete if no task can repeat the event.", Check: getFailure},
			{Name: "answer", Rule: "An answer that fails is a failed attempt: Get returns ErrGone only if the server did, and never ErrNotYet, which would be tried again for ever.", Check: getAnswer},
		}},
		topic{Name: "checkpoint", Rules: []rule{
			{Name: "unreadable", Rule: "A Source that gets a checkpoint that it can't read, or of another Version, makes a full pass.", Check: checkpointUnreadable},
			{Name: "damaged", Rule: "A checkpoint with a part missing is no error, whatever the Source reads it as.", Check: checkpointDamaged},
			{Name: "finds-all", Rule: "A run from the checkpoint of an earlier state finds everything that a pass from the beginning finds.", Check: checkpointFindsAll},
			{Name: "unchanged", Rule: "Harvesting what has not changed changes nothing in the Store, and requests no more than the time before.", Check: checkpointUnchanged},
		}},
		topic{Name: "release", Rules: []rule{
			{Name: "end", Rule: "After a pass no stream or spool is open, no goroutine is left, and the Source does nothing more.", Check: releaseEnd},
			{Name: "break", Rule: "After a break at any event no stream or spool is open, no goroutine is left, and the Source does nothing more.", Check: releaseBreak},
			{Name: "pending", Rule: "A break cancels the requests that are under way: the Source does not wait for their answers.", Check: releasePending},
			{Name: "failure", Rule: "After a pass in which a document failed, no stream or spool is open, no goroutine is left, and the Source does nothing more.", Check: releaseFailure},
			{Name: "yield", Rule: "During a yield, which may take days, no stream is open: the Source holds no connection.", Check: releaseYield},
		}},
		topic{Name: "stop", Rules: []rule{
			{Name: "before", Rule: "When the context has ended before it begins, a pass yields the context's error or, if it needs no request, all its events.", Check: stopBefore},
			{Name: "during", Rule: "When the context ends after an event, the pass ends with its error or yields the other events; no document becomes a Problem. All is released.", Check: stopDuring},
			{Name: "waiting", Rule: "When the context ends while a document is awaited, the pass ends, with the context's error.", Check: stopWaiting},
		}},
		topic{Name: "interrupt", Rules: []rule{
			{Name: "events", Rule: "A run that ends after any event, all before it stored, and the next run leave what an undisturbed run does.", Check: interrupted((*tester).afterEvents, errInterrupted)},
			{Name: "context", Rule: "A run whose context ends after any event, and the next run, leave what an undisturbed run does.", Check: interrupted((*tester).afterEvents, context.Canceled)},
			{Name: "documents", Rule: "A run in which any request for a document fails, and the next run, leave what an undisturbed run does.", Check: interrupted((*tester).atDocuments, errNoAnswer)},
			{Name: "documents-context", Rule: "A run whose context ends at any request for a document, and the next run, leave what an undisturbed run does.", Check: interrupted((*tester).atDocuments, context.Canceled)},
			{Name: "again", Rule: "Runs that are interrupted again and again, each a little later, leave what an undisturbed run does in the end.", Check: interruptAgain},
			{Name: "moved-on", Rule: "When the publisher moves on between an interrupted run and the next, the next finds all that is there then, or is not complete.", Check: interruptMovedOn},
		}},
		topic{Name: "failure", Rules: []rule{
			{Name: "reported", Rule: "A document that fails, in whatever way, is reported as a Problem or as the error of the pass, never as a collection without it; no snapshot is Complete.", Check: failureReported},
			{Name: "named", Rule: "The Problem, or the error, for a failed document names it.", Check: failureNamed},
			{Name: "nothing-of-it", Rule: "Nothing of a document that fails is yielded: it is read to its end and checked before its first event.", Check: failureNothingOfIt},
			{Name: "deletes-nothing", Rule: "A document that fails deletes nothing, and the run is not complete.", Check: failureDeletesNothing},
			{Name: "heals", Rule: "When the document is back, the next run is complete and leaves what an undisturbed run does.", Check: failureHeals},
		}},
	)
}
