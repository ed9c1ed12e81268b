package resourcesync

import (
	"github.com/websync-go/websync"
	"github.com/websync-go/websync/sitemap"
)

// A Metadata is the element md (Z39.99 §7): of a document itself, or of an entry.
type Metadata struct {
	// Capability is the kind of the document, or of what the entry leads to. One that
	// this package does not know is kept.
	Capability Capability

	// At and Completed are when a snapshot was begun and completed. From and Until are
	// the interval that a document or package covers; without Until it is open: more
	// changes will be added to it.
	At, Completed, From, Until websync.Datetime

	// Change is what happened to the resource, and Datetime when (version 1.1). Without
	// Datetime, Entry.LastMod is the best guess. Without both, only the order of the
	// entries is known.
	Change   Change
	Datetime websync.Datetime

	Digests  websync.Digests // the attribute hash
	Length   int64           // in bytes; zero if not stated, websync.StatedZero if stated as zero
	Type     string          // media type
	Encoding string          // content coding of the bytes that Length and Digests describe

	// Path is where the bitstream is in its package. It begins with a slash and has no
	// segments "." and "..". A path that may lead out of the package is only in Faulty.
	Path string

	// Attrs are attributes of other namespaces, verbatim.
	Attrs []websync.Attr

	// Faulty are attributes that are not as the specification demands, verbatim: those
	// that the Reader could not read, or only with doubt, and those that md does not
	// have. Each is a finding. A Writer ignores them.
	Faulty []websync.Attr
}

// A Link is the element ln (Z39.99 §7): it leads from a document, or from the resource of
// an entry, to another. Its Title and Lang are always empty.
type Link struct {
	websync.Link

	// Path is where the target is in the package of a manifest, as Metadata.Path.
	Path string

	// Faulty is as in Metadata.
	Faulty []websync.Attr
}

// RelationPatch is the relation of a link to what differs between the last version of a
// resource and the one before (Z39.99 §14.4).
const RelationPatch = Namespace + "patch"

// An Entry is one <url> or <sitemap>: a resource, a change, a bitstream, a package or
// another document.
type Entry struct {
	// Entry is what a sitemap has. Its Elements are those that are neither md nor ln.
	sitemap.Entry

	Metadata Metadata
	Links    []Link
}

// A Head is the metadata of a document itself, which precede its entries.
type Head struct {
	// Index reports that the document lists documents of its own Capability: its root
	// element is sitemapindex.
	Index bool

	Metadata Metadata
	Links    []Link

	// Elements are the other extension elements of the document itself.
	Elements []websync.Element
}

// Href returns the target of the first link of a relation; empty if there is none. The
// relation up leads to the document above, index to the index that lists this one.
func (h *Head) Href(rel string) string {
	for i := range h.Links {
		if h.Links[i].Rel == rel {
			return h.Links[i].Href
		}
	}
	return ""
}

// isZero reports whether there is nothing to write.
func (m *Metadata) isZero() bool {
	return m.Capability == "" && m.At.IsZero() && m.Completed.IsZero() && m.From.IsZero() && m.Until.IsZero() &&
		m.Change == "" && m.Datetime.IsZero() &&
		len(m.Digests) == 0 && m.Length == 0 && m.Type == "" && m.Encoding == "" && m.Path == "" && len(m.Attrs) == 0
}
