package websync

import (
	"context"
	"io"
	"iter"
	"time"
)

// A Document is one answer of a [Publisher]. Exactly one of Write and Open is set.
type Document struct {
	Type     string    // media type
	Encoding string    // content coding of the bytes, e.g. "gzip"; empty: none
	ETag     string    // opaque, without quotes, the same for the same bytes; empty: to be made from the bytes
	Modified time.Time // zero: not known
	Final    bool      // the document never changes again
	Digests  Digests   // of the bytes, as far as they are known without reading them
	Links    []Link    // for the HTTP Link header

	// Write writes a list. It may be called more than once. After an error what was
	// written is worthless, with one exception: [ErrConflict] after the last byte says
	// that the [Catalog] changed while it was read. The bytes are then a whole document,
	// but perhaps not the one that ETag and Modified describe.
	Write func(ctx context.Context, w io.Writer) error

	// Open opens a package or a body. The caller closes it.
	Open func(ctx context.Context) (io.ReadSeekCloser, error)
}

// A Publisher turns a [Catalog] into the documents of a protocol. Protocol packages
// implement it; package publish serves it over HTTP or writes it to files. It is safe for
// concurrent use.
type Publisher interface {
	// Document returns the document at path: that of its URL from the root of the host,
	// with the slash it starts with, escaped as it is there, without a query. An unknown
	// one is [ErrNotFound], one that was there and will not come back is [ErrGone].
	// Nothing is rendered before Write or Open is called, and a document whose ETag is
	// known costs no reading of what it lists.
	Document(ctx context.Context, path string) (*Document, error)

	// Documents yields the path of every document, for a static export: leaves before
	// what links to them, so that files written in this order never link to one that is
	// missing. An error is the last thing yielded.
	Documents(ctx context.Context) iter.Seq2[string, error]
}

// A Locator gives every body its URL and finds it again. One Locator is shared by all
// Publishers of a site and by the handler of the bodies. It is safe for concurrent use,
// and it does no I/O. [PathLocator] is the default one.
//
// Who writes a Locator decides what strangers can put on the host. An id says nothing of
// who chose it; only the source does.
type Locator interface {
	// URL returns the absolute URL of the body with the given name of an item, of which
	// it uses the Source and the id. Different bodies of one source have different URLs.
	URL(item *Item, body string) string

	// Find returns the id and the name of the body whose URL has this path, from the root
	// of the host and escaped as it is there. It does not know whether there is such a
	// body, or of which source: the caller gets the items with this id, and takes the one
	// for which URL returns the path. Ok is false for a path that is in no URL that URL
	// returns.
	Find(path string) (id, body string, ok bool)

	// Owns reports whether the resources of a source are the publisher's own work. Those
	// of other sources are published as copies, with a link to where they come from.
	Owns(source string) bool
}
