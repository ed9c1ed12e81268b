package harvest

import "fmt"

// An Outcome is the result of an event.
type Outcome uint8

const (
	// OutcomeUnchanged: the Store already has this state.
	OutcomeUnchanged Outcome = iota
	// OutcomeCreated: the id is new, or was deleted before.
	OutcomeCreated
	// OutcomeUpdated: the record has a new state.
	OutcomeUpdated
	// OutcomeDeleted: the record became a tombstone.
	OutcomeDeleted
	// OutcomeTouched: the bytes and the description are the same; the time that the source
	// states or the validators of the server are new. The log has no new entry.
	OutcomeTouched
	// OutcomeHistory: the Store has a later state, or the run has a later event of the id.
	OutcomeHistory
	// OutcomeDeferred: a task is stored, for this run or a later one. After the last
	// attempt only another event makes it due again.
	OutcomeDeferred
	// OutcomeFailed: the bodies could not be fetched; a task is stored.
	OutcomeFailed
	// OutcomeParked: the last attempt failed; the task waits for an event that states
	// something else.
	OutcomeParked
	// OutcomeGone: the last two attempts were answered with [websync.ErrGone]; a task
	// remembers that until the source states something else.
	OutcomeGone
	// OutcomeWithheld: the guard did not allow a deletion; a task is stored.
	OutcomeWithheld

	numOutcomes
)

var outcomes = [numOutcomes]string{"unchanged", "created", "updated", "deleted", "touched", "history", "deferred", "failed", "parked", "gone", "withheld"}

// String returns the outcome in one lower-case word.
func (o Outcome) String() string {
	if o < numOutcomes {
		return outcomes[o]
	}
	return fmt.Sprintf("outcome %d", uint8(o))
}

// MarshalText returns the same word.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }
