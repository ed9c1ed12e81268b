package harvest

import "fmt"

// An Outcome says what becomes of an event.
type Outcome uint8

const (
	// Unchanged: the Store has it already.
	Unchanged Outcome = iota
	// Created: the id was not there before.
	Created
	// Updated: there was another state of it.
	Updated
	// Deleted: it was there and is gone.
	Deleted
	// Touched: the same bytes and description, listed with another time or served with
	// another validator; no entry in the log, and nothing of what a Catalog shows
	// changes.
	Touched
	// History: the Store has a younger state, or a later event of the same run replaces
	// it.
	History
	// Deferred: a task is stored: to be done later in this run or by another, at its
	// time. If the same failed as often as is allowed, only another event makes it due
	// again.
	Deferred
	// Failed: the bodies could not be obtained; a task is stored.
	Failed
	// Parked: it failed as often as is allowed; the task waits for an event that states
	// something else.
	Parked
	// Gone: the server says for good that there is nothing; a task keeps that in mind
	// until the source states something else.
	Gone
	// Withheld: a deletion that the guard did not let pass; a task is stored.
	Withheld

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
