package websync

import (
	"context"
	"io"
	"iter"
	"time"
)

// A Document is one answer of a [Publisher]. Exactly one of Write and Open is set.
type Document struct {
	Type     string // media type
	Encoding string // content coding of the bytes, e.g. "gzip"; empty if there is none
	// opaque, without quotes, the same for the same bytes; if empty, the server derives
	// one from the bytes
	ETag     string
	Modified time.Time // zero if not known
	Final    bool      // the document never changes again
	Digests  Digests   // of the bytes, if known without reading them
	Links    []Link    // for the HTTP Link header

	// Write writes a list. It may be called more than once. On error discard the output,
	// except for [ErrConflict]: the [Catalog] changed while Write read it, and the
	// document is complete but may not match ETag and Modified.
	Write func(ctx context.Context, w io.Writer) error

	// Open opens a package or a body. The caller closes it.
	Open func(ctx context.Context) (io.ReadSeekCloser, error)
}

// A Publisher turns a [Catalog] into the documents of a protocol. Protocol packages
// implement it; package publish serves it over HTTP or writes it to files. It is safe for
// concurrent use.
type Publisher interface {
	// Document returns the document at path. The path is that of the document's URL: it
	// begins with a slash, is escaped as in the URL, and has no query. Document returns
	// [ErrNotFound] for an unknown path and [ErrGone] for a removed one. It renders
	// nothing before Write or Open is called, and reads nothing of what a document lists
	// if it knows the ETag.
	Document(ctx context.Context, path string) (*Document, error)

	// Documents yields the path of every document, for a static export. A document comes
	// after those it links to, so that files written in this order never link to a
	// missing file. An error is the last value that it yields.
	Documents(ctx context.Context) iter.Seq2[string, error]
}

// A Locator maps bodies to URLs, and URLs back to bodies. All Publishers of a site and
// the handler of the bodies share one Locator. It is safe for concurrent use and does no
// I/O. [PathLocator] is the default.
//
// A Locator decides which paths of the host a stranger can take. An id does not reveal
// who chose it; only the source does.
type Locator interface {
	// URL returns the absolute URL of the body with the given name of an item. It uses
	// the item's Source and id only. Different bodies of one source have different URLs.
	URL(item *Item, body string) string

	// Find returns the id and the name of the body whose URL has this path, from the root
	// of the host and escaped as in the URL. It does not know whether such a body exists,
	// or in which source: the caller gets the items with this id and uses the one for
	// which URL returns the path. Ok is false if URL never returns this path.
	Find(path string) (id, body string, ok bool)

	// Owns reports whether the resources of a source are the publisher's own work. Those
	// of other sources are published as copies, with a link to where they come from.
	Owns(source string) bool
}
