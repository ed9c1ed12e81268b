package harvest

import (
	"time"

	"github.com/websync-go/websync"
)

// Hooks are called while a run goes on. Any of them may be nil. They are called from
// several goroutines and hold up the engine while they run.
type Hooks struct {
	// Progress is called a few times a second at most, and at the end.
	Progress func(Progress)
	// Outcome is called for every event once it is known what becomes of it. Err says why
	// an attempt failed or a deletion is withheld.
	Outcome func(source, id string, o Outcome, err error)
	// Attempt is called after each request to the Fetcher, for lists and bodies alike.
	Attempt func(Attempt)
	// Commit is called after each Commit that succeeded.
	Commit func(Committed)
	// Finding is called for each departure of a document from its specification.
	Finding func(source string, f websync.Finding)
	// Problem is called for each document that could not be read or may have been missed.
	Problem func(source string, err error)
}

// Progress tells how far a run is.
type Progress struct {
	Source  string
	Started time.Time
	Listed  int64                // events so far
	Total   int64                // events to come in all, as far as the Source knows; 0: not known
	Getting int64                // resources whose bodies are being obtained or wait for it
	Done    int64                // events that are finished
	Bytes   int64                // of bodies
	Waiting map[string]time.Time // hosts that the Fetcher waits for, and until when; zero: not known
}

// Rate returns the finished events a second.
func (p Progress) Rate(now time.Time) float64 {
	if d := now.Sub(p.Started).Seconds(); d > 0 {
		return float64(p.Done) / d
	}
	return 0
}

// ETA returns how long the rest takes at this rate; 0: not known.
func (p Progress) ETA(now time.Time) time.Duration {
	rate := p.Rate(now)
	if p.Total <= p.Done || rate == 0 {
		return 0
	}
	return time.Duration(float64(p.Total-p.Done) / rate * float64(time.Second))
}

// An Attempt is one request that the engine or a Source made.
type Attempt struct {
	Source   string
	URL      string
	List     bool // a document of the Source, rather than a body
	Status   int  // 0: no answer
	Duration time.Duration
	Err      error
}

// A Committed tells of one Commit.
type Committed struct {
	Source                     string
	Puts, Touches, Tasks, Done int
	Checkpoint                 bool // it moved
	Duration                   time.Duration
}
