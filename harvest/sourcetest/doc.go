// Package sourcetest checks a [harvest.Source] against the rules that the engine relies
// on. It needs the standard library and packages websync and harvest only.
//
// # Checking a Source
//
// A test gives [Run] a Source, the states of a publisher as documents by URL, and a
// Store:
//
//	func TestConformance(t *testing.T) {
//		sourcetest.Run(t, sourcetest.Options{
//			Source: func() harvest.Source { return &sitemap.Source{URL: "https://example.com/sitemap.xml"} },
//			Sites:  []sourcetest.Site{monday, friday},
//			Store:  func(testing.TB) harvest.Store { return memstore.New() },
//		})
//	}
//
// Every case is a subtest and logs the rule it checks. A case that has nothing to check,
// for instance because the Source gives no checkpoint, is skipped with a message.
//
// # What is checked
//
// Undisturbed runs establish what the Store must hold after each state of the publisher.
// Then runs are interrupted after every event and at every document, by an error and by
// the context, and taken up again by a new Source: the Store must be the same. Documents
// are lost, refused, broken off, cut short, emptied, and replaced with a login page or
// another document: a run must report that, delete nothing, and heal later. Passes
// without the engine are broken off after every event and stopped by their context:
// nothing may stay open, no goroutine be left, nothing be asked afterwards. The events
// themselves, their checkpoints and the bytes that come with them are checked against the
// rules that the documentation of package harvest lists. A Getter must keep nothing of an
// answer that fails, and entries that can't be read must be counted as far as
// Options.Skipped states how many there are.
//
// The Sites should hold what is interesting about the format: several documents, entries
// that come, change and go, deletions. The documents of a state are found by URL, so
// redirects, validators and status codes can be stated. An undisturbed pass must be
// without a Problem. Bodies that are not in the Site are answered with 404, and their
// tasks compared.
//
// # The Fetcher
//
// A [Fetcher] serves a [Site] without a network, and is of use in other tests, too: it
// answers conditional requests, keeps a log, and knows what was not closed.
//
// # Not checked
//
// Whether a Source understands its format, politeness, how much memory it takes, and
// whether what a Getter gets is the right thing.
package sourcetest
