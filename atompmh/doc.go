// Package atompmh harvests, publishes and checks feeds of the Atom Feed Protocol for
// Metadata Harvesting 1.0 (Atom-PMH, draft of 23 November 2012): Atom feeds whose entries
// stand for metadata records in one or several formats. It adds to package atom only what
// this profile demands; its documents are read with [atom.Reader].
//
// An entry with alternate links and without content is the active entry of a record, or a
// historical one if a later entry has its id. An entry with an empty content and without
// alternate links deletes the record. A feed is archived, or complete and without
// deletions.
//
// # Validating
//
// [Validate] reads one document and reports each departure from Atom and from Atom-PMH.
// [NewChainValidator] returns a validator of all documents of a feed.
//
// # Harvesting
//
// A [Source] harvests a feed, starting at its subscription document. Its Formats are the
// media types in which records are wanted:
//
//	report, err := h.Run(ctx, &atompmh.Source{
//		URL:     "https://example.org/feed",
//		Formats: []string{"application/rdf+xml", "*/*"},
//	})
//
// # Publishing
//
// A [Publisher] turns a Catalog into an archived feed with deletion entries, or into a
// complete feed. Package publish serves both, and the bodies that the entries link to.
//
// # Not supported
//
// Atom-RDC and other formats of records are bytes to this package. Paged feeds (RFC 5005
// §3), which the specification leaves out, are not followed. The specification allows a
// reader to take 403 for the absence of a record; a Source does not.
//
// # Rules
//
// Every finding names one of the rules that [Rules] or [atom.Rules] returns.
package atompmh
