package kvstore

import "context"

// A DB is an ordered key-value store. It is used by many goroutines at once.
//
// Keys are up to 5 kB long (an id may have 4 kB) and compare byte by byte; neither keys
// nor values are empty. Values are as large as a resource's description, or as
// [Store].ChunkSize.
type DB interface {
	// View calls fn with a Reader that shows one state of the store throughout, and
	// returns fn's error. It may run beside an Update, and many at a time.
	View(ctx context.Context, fn func(Reader) error) error

	// Update calls fn with a Tx. If fn returns nil, all that it has written is applied,
	// durably, before Update returns nil: whatever happens, all of it or nothing. If fn
	// returns an error nothing is applied and Update returns that error. Updates have one
	// order, and each sees what those before it wrote. A DB that finds out too late that
	// two of them are in each other's way may call fn again from the start.
	Update(ctx context.Context, fn func(Tx) error) error
}

// A Reader reads. What it returns is valid until the function that was given the Reader
// returns, and is not changed.
type Reader interface {
	// Get returns the value of key, nil if there is none. It is not called while a Scan
	// runs.
	Get(key []byte) ([]byte, error)

	// Scan calls fn with each key from <= key < to and its value, in order of the keys,
	// until fn returns false. It returns its own errors only. In a Tx it need not show
	// what the same Tx has written.
	Scan(from, to []byte, fn func(key, value []byte) bool) error
}

// A Tx reads and writes. Get shows what the same Tx has written before. Nothing is
// written while a Scan runs. The caller does not change key and value afterwards: a DB
// may keep them.
type Tx interface {
	Reader
	Set(key, value []byte) error
	// Delete removes key; it is no error when there is none.
	Delete(key []byte) error
}
