package resourcesync

import (
	"cmp"
	"context"
	"iter"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/docfetch"
)

// A Source harvests one set of resources: what one Capability List offers.
//
// The first run makes a baseline of the Resource List, or of an index and all that it
// lists: a snapshot, so that what it does not list is deleted. Then, and in every later
// run, the Change Lists say what has changed since. They are followed as Z39.99 §12
// describes: a list that is open is read again, conditionally; after one that is closed
// come those that the index or the Capability List names next. The order of the entries
// is what counts: a time that is before that of an earlier entry stands for the same
// moment as that one.
//
// The position in the log survives lists that grow, are rewritten, split or moved to an
// index, entries of one time, and entries without any. If the oldest list begins after
// the position, changes may have passed unseen: that is a finding, and a new baseline is
// made. So is one in each run if no Change List is offered.
//
// A document that can't be read is a Problem: what comes after it is yielded, but the
// checkpoint stays before it. Entries that can't be read count as skipped, those of a
// Change List in each run until the next baseline.
//
// Departures of the documents go to [harvest.Run.Report].
type Source struct {
	// URL is that of the Capability List, or of a Source Description that names only one.
	// It is required.
	URL string

	// Name is the Source's key in a Store. If empty, it is URL.
	Name string

	// Include, if set, chooses the resources to yield by their URI. Deletions of the
	// others are not yielded either, and they don't count as skipped.
	Include func(uri string) bool

	// Profile names the choice that Include makes. When it changes everything is read
	// anew, and what is no longer yielded is not deleted without approval.
	Profile string

	// NoDumps makes the first run read the Resource List, although a Resource Dump is
	// offered. By default the packages of the dump are fetched; later baselines, of which
	// little is new, are always made of the Resource List if there is one.
	NoDumps bool

	// Parallel is how many documents are fetched ahead. If zero or negative, it is 4.
	Parallel int

	// MaxDocuments limits the documents of one run. If zero, it is 50,000; if negative,
	// there is no limit.
	MaxDocuments int

	// MaxBytes limits each document, decompressed. If zero, it is 1 GiB; if negative,
	// there is no limit.
	MaxBytes int64

	// MaxPackage limits each package of a dump, in bytes. If zero, it is 64 GiB; if
	// negative, there is no limit. A package is kept in a temporary file while its
	// resources are read.
	MaxPackage int64
}

var _ harvest.Source = (*Source)(nil)

// Key returns Name, or URL if there is none.
func (s *Source) Key() string { return cmp.Or(s.Name, s.URL) }

// Check reports what is wrong with the settings.
func (s *Source) Check() error { return docfetch.CheckURL("resourcesync", s.URL) }

// Root returns URL.
func (s *Source) Root() string { return s.URL }

func (s *Source) maxPackage() int64 { return cmp.Or(s.MaxPackage, 64<<30) }

// options is a fingerprint of what decides what is yielded.
func (s *Source) options() string {
	return docfetch.Fingerprint("%q %t %q", s.URL, s.Include != nil, s.Profile)
}

// accept is the Accept header of requests for documents.
const accept = "application/xml, text/xml;q=0.9, */*;q=0.5"

// Events implements [harvest.Source].
func (s *Source) Events(ctx context.Context, run *harvest.Run) iter.Seq2[harvest.Event, error] {
	pass := docfetch.Pass{Format: "resourcesync", Accept: accept}
	return pass.Events(run, func(p *docfetch.Pass) error {
		if err := s.Check(); err != nil {
			return err
		}
		return newWalk(s, p).run(ctx)
	})
}
