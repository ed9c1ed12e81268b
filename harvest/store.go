package harvest

import (
	"context"
	"io"
	"time"
)

// A Store is an ordered key-value store, on which a [Catalog] stands. Many goroutines use
// it at once. It may also implement [Blobs], [Eraser], [Owners], [Rester], [Shrinker] and
// [Watcher], and its Readers and Txs [Prefetcher].
//
// Keys have 1 to 5,000 bytes and are ordered byte by byte. Values have one byte to
// several megabytes: a description, or a piece of [Catalog].ChunkSize. A Store does not
// change the slices that it is given, nor the memory behind them.
//
// The functions given to View and Update call neither View nor Update, and use their
// Reader from one goroutine. When the context ends, a call may fail with an error that
// matches the context's. If a function panics, nothing is applied, and the Store can be
// used as before.
type Store interface {
	// View calls fn with a Reader of one unchanging state, and returns fn's error, or one
	// that wraps it. The state is one that the Store had between the call of View and the
	// first read. Views and an Update run at the same time and do not wait for each
	// other; a Store may limit the number of Views. If reading fails, View may call fn
	// again from the start, with another state.
	View(ctx context.Context, fn func(Reader) error) error
	// Update calls fn with a Tx. If fn returns nil, Update applies what fn has written,
	// all or nothing, and returns nil once it is durable. If fn returns an error, Update
	// applies nothing and returns that error, or one that wraps it. Updates have one
	// order, and each sees what those before it wrote. A Store that detects a conflict of
	// two Updates late, or loses its connection, may call fn again from the start; it
	// returns no error for a conflict. If Update returns an error of its own after fn has
	// returned nil, either all is applied or nothing.
	Update(ctx context.Context, fn func(Tx) error) error
}

// A Reader reads one state of a Store. The slices that Get returns and that Scan passes
// to fn are valid until the function that was given the Reader returns. The caller
// neither changes them nor appends to them. It may change key, from and to after the
// call.
type Reader interface {
	// Get returns the value of key, nil if there is none. It is not called during a Scan.
	Get(key []byte) ([]byte, error)
	// Scan calls fn with each key from <= key < to and its value, in order of the keys,
	// until fn returns false. If from is not less than to, there are none. Scan returns
	// its own errors only. In a Tx it need not include what the same Tx has written. n is
	// positive: how many keys the caller expects to need, for Stores that read in pages.
	// It may need fewer or more.
	Scan(from, to []byte, n int, fn func(key, value []byte) bool) error
}

// A Tx reads and writes in an Update. Get returns what the same Tx has written. Set and
// Delete are not called during a Scan. The caller does not change key and value after the
// call: a Store may keep them.
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
	// Prefetch reads one or more keys, with or without a value. From then on Get returns
	// from memory what it has read, or what the same Tx has written since. It is called
	// before most Gets, with all keys of the next step, and not during a Scan. The caller
	// does not change keys after the call.
	Prefetch(keys [][]byte) error
	// Absent is called before a Set of a key that has no value, so that the Tx need not
	// look. The caller does not change key after the call.
	Absent(key []byte)
}

// A Rester is a Store that has work to do between the Updates of Retain, Compact, Drop
// and Vacuum, which write much.
type Rester interface {
	// Rest is called after each such Update that another one follows. Others write
	// meanwhile.
	Rest(ctx context.Context) error
}

// A Shrinker is a Store that does not give back by itself the space of what was deleted.
type Shrinker interface {
	// Shrink gives it back, in short steps beside Updates and Views. What was deleted
	// before is then no longer on the disk.
	Shrink(ctx context.Context) error
}

// A Watcher is a Store by which the Catalogs of several processes notice each other's
// changes of the log at once. Without it they do so when they are asked for the Head.
type Watcher interface {
	// Watch makes the Store call changed soon after an Update of another process, or of
	// another opening in this one, has set or deleted a key that begins with LogKey, and
	// when it may have missed one. Needless calls, as after an Update that failed, are
	// rare. Watch is called at most once, and does not block. changed returns at once,
	// and may be called from any goroutine.
	Watch(changed func())
}

// Blobs keeps long bodies beside a Store, such as in files or an object store. A Store
// may implement it; for any other, [Catalog] has a field. Without it the Store holds long
// bodies in pieces.
//
// Blobs are not part of an Update. A name is never used again: 26 letters from a to z and
// digits from 2 to 7 and, of a Store that has [Owners], a full stop and an owner. All
// methods may be called from several goroutines and inside an Update, but not by the
// function given to ListBlobs.
type Blobs interface {
	// CreateBlob returns a writer for a new blob. After its Close the blob can be opened,
	// perhaps before, and is durable when the next Update returns. If ctx has ended
	// before Close, the bytes are not needed, and RemoveBlob follows.
	CreateBlob(ctx context.Context, name string) (io.WriteCloser, error)
	// OpenBlob opens a blob. The error is [io/fs.ErrNotExist] if there is none. The
	// caller seeks to the end first, to compare the size. If the blob is removed while it
	// is read, Read may fail, but returns no other bytes.
	OpenBlob(ctx context.Context, name string) (io.ReadSeekCloser, error)
	// RemoveBlob removes a blob. It is no error if there is none.
	RemoveBlob(ctx context.Context, name string) error
	// ListBlobs calls fn with each blob, complete or not, and the time of its last write,
	// until fn returns false. It may omit blobs that are created or removed meanwhile.
	// The caller ignores names of another form.
	ListBlobs(ctx context.Context, fn func(name string, modified time.Time) bool) error
}

// An Eraser is Blobs that can remove a part of a blob. If Blobs are an Eraser, a [Catalog]
// stores the short bodies of a large Update in one blob.
type Eraser interface {
	// EraseBlob replaces size bytes of a complete blob, from offset on, with zeros, and
	// gives back their space as far as it can. A reader that is open may get either. This
	// is durable when the next Update returns. It is no error if there is no such blob.
	EraseBlob(ctx context.Context, name string, offset, size int64) error
}

// Owners is implemented by a Store that knows which processes use it. The claims of a
// process that has died then end at once, before they expire.
type Owners interface {
	// Owner returns the name of this opening of the Store, at most 30 letters and digits,
	// or "" if others can't detect whether it has ended.
	Owner() string
	// Dead reports whether it is certain that the opening of that name has ended.
	Dead(owner string) bool
}

// A StoreError is a failure of the Store, which ends the run. The error of a cancelled
// run has one only if the Store failed at its end: what was fetched last may not be
// stored, and the next run fetches it again.
type StoreError struct{ Err error }

func (e *StoreError) Error() string { return "store: " + e.Err.Error() }

func (e *StoreError) Unwrap() error { return e.Err }
