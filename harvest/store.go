package harvest

import (
	"context"
	"io"
	"time"
)

// A Store is an ordered key-value store. It is used by many goroutines at once.
//
// Keys have 1 to 5,000 bytes (an id may have 4 kB) and compare byte by byte. Values have
// one byte to several megabytes: a resource's description, or [Catalog].ChunkSize. A
// Store does not change what it is given, nor memory behind it.
//
// The functions given to View and Update call neither View nor Update, and use their
// Reader from one goroutine. If a context ends, calls of the Store, its Readers and Txs
// may fail with an error that matches that of the context; they need not. If a function
// panics, nothing is applied, and the Store can be used as before.
//
// A Store may implement [Blobs], [Owners], [Rester] and [Watcher] besides, and its
// Readers and Txs [Prefetcher].
type Store interface {
	// View calls fn with a Reader of one unchanging state of the store, and returns fn's
	// error, or one that wraps it. The state is that of the first read, or an earlier one
	// after the call of View. Several Views may run at a time, also during an Update, and
	// neither waits for the other; a Store may limit the number of Views. If reading
	// fails, View may call fn again from the start, with another state.
	View(ctx context.Context, fn func(Reader) error) error

	// Update calls fn with a Tx. If fn returns nil, all that it has written is applied,
	// durably, before Update returns nil: whatever happens, all of it or nothing. If fn
	// returns an error, nothing is applied and Update returns that error, or one that
	// wraps it. Updates have one order, and each sees what those before it wrote. A Store
	// that detects a conflict of two Updates late, or loses its connection, may call fn
	// again from the start; a conflict is no reason to return an error. If Update returns
	// an error of its own after fn has returned nil, either all is applied or nothing.
	Update(ctx context.Context, fn func(Tx) error) error
}

// A Reader reads. What Get returns and what Scan calls fn with is valid until the
// function that was given the Reader returns. The caller neither changes it nor appends
// to it, and may change key, from and to afterwards.
type Reader interface {
	// Get returns the value of key, nil if there is none. It is not called while a Scan
	// runs.
	Get(key []byte) ([]byte, error)

	// Scan calls fn with each key from <= key < to and its value, in order of the keys,
	// until fn returns false; with none if from is not less than to. It returns its own
	// errors only. In a Tx it need not include what the same Tx has written. n, which is
	// positive, is how many keys the caller expects to need; it may need fewer or more.
	// It is for Stores that read in pages, such as from a server.
	Scan(from, to []byte, n int, fn func(key, value []byte) bool) error
}

// A Tx reads and writes. Get returns what the same Tx has written before. Nothing is
// written while a Scan runs. The caller does not change key and value afterwards: a Store
// may keep them.
type Tx interface {
	Reader
	// Set sets the value of key, whether it has one or not.
	Set(key, value []byte) error
	// Delete removes key; it is no error when there is none.
	Delete(key []byte) error
}

// A Prefetcher is a Reader or Tx that reads many keys at once more cheaply than one by
// one, such as one whose every Get is a round trip to a server.
type Prefetcher interface {
	// Prefetch reads one or more keys, known and unknown, and from then on Get returns
	// what it has read, or what the same Tx has written since, from memory. It is called
	// before most Gets, with all keys that the next step needs, and not while a Scan
	// runs. The caller does not change keys afterwards.
	Prefetch(keys [][]byte) error

	// Absent is called before a Set of key in a Tx where key has no value, so that the
	// Tx need not look. The caller does not change key afterwards.
	Absent(key []byte)
}

// A Rester is a Store that has work to do between the Updates of maintenance: Compact,
// Drop and Vacuum write much more than others do.
type Rester interface {
	// Rest is called after each Update of maintenance that another one follows. Others
	// write meanwhile.
	Rest(ctx context.Context) error
}

// A Watcher is an optional interface of a Store by which the Catalogs of several
// processes notice each other's changes of the log at once. Without it they do so when
// they are asked for the Head.
type Watcher interface {
	// Watch makes the Store call changed soon after an Update of another process, or of
	// another opening in this one, has set or deleted a key that begins with LogKey, and
	// when it may have missed one. Calls without need, as after an Update that has
	// failed, are to be rare. Watch is called at most once, before the first wait, and
	// does not block. changed returns at once, and may be called from any goroutine.
	Watch(changed func())
}

// Blobs keeps long bodies elsewhere than in the Store, such as in files or an object
// store. A Store may implement it; for another Store, [Catalog] has a field. Without it,
// the Store itself holds long bodies, in pieces.
//
// Blobs are not part of an Update. Each has a name of its own that is never used again:
// 26 letters from a to z and digits from 2 to 7 and, of a Store that has [Owners], a full
// stop and the name of an owner. It belongs to the Catalog from the Update on that names
// it. All methods may be called from several goroutines and inside an Update, but not by
// the function that is given to ListBlobs.
type Blobs interface {
	// CreateBlob returns a writer for a new blob. Once its Close has returned nil the
	// blob can be opened, before that perhaps, and is durable when the next Update
	// returns. If ctx has ended
	// before Close, the bytes are not needed, and RemoveBlob follows.
	CreateBlob(ctx context.Context, name string) (io.WriteCloser, error)
	// OpenBlob returns a reader of a blob. The error is [io/fs.ErrNotExist] if there is
	// none. The caller seeks to the end first, to compare the size. If the blob is
	// removed meanwhile, reading may fail, but yields no other bytes.
	OpenBlob(ctx context.Context, name string) (io.ReadSeekCloser, error)
	// RemoveBlob removes a blob; it is no error when there is none.
	RemoveBlob(ctx context.Context, name string) error
	// ListBlobs calls fn with each blob, complete or not, and the time of its last write,
	// until fn returns false. It may leave out blobs that are created or removed
	// meanwhile. Names that CreateBlob was never given are passed over.
	ListBlobs(ctx context.Context, fn func(name string, modified time.Time) bool) error
}

// Owners is an optional interface of a Store that knows the processes which use it. The
// claims of a process that has died then end at once, before they expire.
type Owners interface {
	// Owner returns the name of this opening of the Store, of at most 30 letters and
	// digits; "" if others can't detect whether it has ended.
	Owner() string
	// Dead reports whether the opening of that name has ended. It is false if that is not
	// certain.
	Dead(owner string) bool
}
