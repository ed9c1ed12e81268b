package kvstore

import (
	"context"
	"io"
	"time"
)

// A DB is an ordered key-value store. It is used by many goroutines at once.
//
// Keys are up to 5 kB long (an id may have 4 kB) and compare byte by byte; neither keys
// nor values are empty. Values are as large as a resource's description, or as
// [Store].ChunkSize.
//
// The functions given to View and Update call neither View nor Update, and use their
// Reader from one goroutine. A context that ends may end the wait for other Updates; it
// need not end anything else.
//
// A DB may implement [Blobs], [Owners], [Rester] and [LogWatcher] besides, its Readers
// [Prefetcher] and [Pager], and its Txs [Inserter] and [LogNotifier].
type DB interface {
	// View calls fn with a Reader of one unchanging state of the store, and returns fn's
	// error. Many Views may run at a time, also during an Update. If reading fails, View
	// may call fn again from the start, with another state.
	View(ctx context.Context, fn func(Reader) error) error

	// Update calls fn with a Tx. If fn returns nil, all that it has written is applied,
	// durably, before Update returns nil: whatever happens, all of it or nothing. If fn
	// returns an error, nothing is applied and Update returns that error. Updates have
	// one order, and each sees what those before it wrote. A DB that detects a conflict
	// of two Updates late, or loses its connection, may call fn again from the start. If
	// Update returns an error of its own after fn has returned nil, either all is applied
	// or nothing.
	Update(ctx context.Context, fn func(Tx) error) error
}

// A Reader reads. What Get returns and what Scan calls fn with is valid until the
// function that was given the Reader returns, and is not changed.
type Reader interface {
	// Get returns the value of key, nil if there is none. It is not called while a Scan
	// runs.
	Get(key []byte) ([]byte, error)

	// Scan calls fn with each key from <= key < to and its value, in order of the keys,
	// until fn returns false. It returns its own errors only. In a Tx it need not include
	// what the same Tx has written.
	Scan(from, to []byte, fn func(key, value []byte) bool) error
}

// A Tx reads and writes. Get returns what the same Tx has written before. Nothing is
// written while a Scan runs. The caller does not change key and value afterwards: a DB
// may keep them.
type Tx interface {
	Reader
	// Set sets the value of key, whether it has one or not.
	Set(key, value []byte) error
	// Delete removes key; it is no error when there is none.
	Delete(key []byte) error
}

// A Prefetcher is a Reader that reads many keys at once more cheaply than one by one,
// such as one whose every Get is a round trip to a server.
type Prefetcher interface {
	// Prefetch reads keys, known and unknown, and from then on Get returns what it has
	// read, or what the same Tx has written since, from memory. It is called before most
	// Gets, with all keys that the next step needs, and not while a Scan runs. The caller
	// does not change keys afterwards.
	Prefetch(keys [][]byte) error
}

// A Pager is a Reader that reads the keys of a Scan in pages, such as from a server.
type Pager interface {
	// ScanPage is Scan for a caller that expects to read n keys, and may read fewer or
	// more.
	ScanPage(from, to []byte, n int, fn func(key, value []byte) bool) error
}

// An Inserter is a Tx that writes a key more cheaply if it knows that it is new.
type Inserter interface {
	// Insert is Set of a key that has no value.
	Insert(key, value []byte) error
}

// A Rester is a DB that has work to do between the Updates of maintenance: Compact, Drop
// and Vacuum write much more than others do.
type Rester interface {
	// Rest is called after each Update of maintenance that another one follows. Others
	// write meanwhile.
	Rest(ctx context.Context) error
}

// A LogNotifier is a Tx of a DB that is a LogWatcher.
type LogNotifier interface {
	// NotifyLog is called in every Update that changes the log. If the Update is applied,
	// the Stores of other processes are to be notified.
	NotifyLog()
}

// A LogWatcher is an optional interface of a DB by which the Stores of several processes
// notice each other's changes of the log at once. Without it they do so when they are
// asked for the Head.
type LogWatcher interface {
	// WatchLog makes the DB call changed soon after an Update of another process in which
	// NotifyLog was called, and when it may have missed one. It is called at most once,
	// before the first wait. It does not block, and changed may be called from any
	// goroutine.
	WatchLog(changed func())
}

// Blobs keeps long bodies elsewhere than in the DB, such as in files or an object store.
// A DB may implement it; for another DB, [Store] has a field. Without it, the DB itself
// holds long bodies, in pieces.
//
// Blobs are not part of an Update. Each has a name of its own that is never used again,
// of at most 64 letters, digits and full stops, and belongs to the Store from the Update
// on that names it. All methods may be called from several goroutines and inside an
// Update.
type Blobs interface {
	// CreateBlob returns a writer for a new blob. Once its Close has returned nil the
	// blob can be opened, and is durable when the next Update returns. If ctx has ended
	// before Close, the bytes are not needed, and RemoveBlob follows.
	CreateBlob(ctx context.Context, name string) (io.WriteCloser, error)
	// OpenBlob returns a reader of a blob. The error is [io/fs.ErrNotExist] if there is
	// none. The caller seeks to the end first, to compare the size.
	OpenBlob(ctx context.Context, name string) (io.ReadSeekCloser, error)
	// RemoveBlob removes a blob; it is no error when there is none.
	RemoveBlob(ctx context.Context, name string) error
	// ListBlobs calls fn with each blob, complete or not, and the time of its last write,
	// until fn returns false. It may leave out blobs that are created or removed
	// meanwhile. Names that CreateBlob was never given are passed over.
	ListBlobs(ctx context.Context, fn func(name string, modified time.Time) bool) error
}

// Owners is an optional interface of a DB that knows the processes which use it. The
// claims of a process that has died then end at once, before they expire.
type Owners interface {
	// Owner returns the name of this opening of the DB, of at most 30 letters and digits;
	// "" if others can't detect whether it has ended.
	Owner() string
	// Dead reports whether it is certain that the owner of that name has ended.
	Dead(owner string) bool
}
