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
	Links    []Link    // for the HTTP Link header

	// Write writes a list. It may be called more than once and writes the same bytes each time. After an error what
	// was written is worthless.
	Write func(ctx context.Context, w io.Writer) error

	// Open opens a package or a body. The caller closes it.
	Open func(ctx context.Context) (io.ReadSeekCloser, error)
}

// A Publisher turns a [Catalog] into the documents of a protocol. Protocol packages implement it; package publish
// serves it over HTTP or writes it to files. It is safe for concurrent use.
type Publisher interface {
	// Document returns the document at path. The path counts from the root of the host and starts with a slash, without
	// a query. An unknown one is [ErrNotFound]. Nothing is rendered before Write or Open is called.
	Document(ctx context.Context, path string) (*Document, error)

	// Documents yields the path of every document, for a static export: leaves before what links to them, so that files
	// written in this order never link to one that is missing. An error is the last thing yielded.
	Documents(ctx context.Context) iter.Seq2[string, error]
}

// A Locator gives every body its URL and finds it again. One Locator is shared by all Publishers of a site and by the
// handler of the bodies. It is safe for concurrent use, and it does no I/O.
type Locator interface {
	// URL returns the absolute URL of a body of item. It depends on the item's id and the body's name only.
	URL(item *Item, b Body) string

	// Find is the inverse of URL: it returns the id and the name of the body. It does not say that they exist. Ok is
	// false for a URL that URL never returns.
	Find(url string) (id, body string, ok bool)
}
