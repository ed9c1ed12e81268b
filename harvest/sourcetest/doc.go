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
// Then runs are interrupted at every event and every document, and a new Source goes on:
// the Store must be the same. Documents fail in many ways: a run must report that, delete
// nothing, and heal later. Passes without the engine end in a break or with their context
// at every event: they must release everything. The events, their checkpoints and bytes,
// and the failed answers of a Getter are checked against the rules in the documentation
// of package harvest.
//
// The Sites should hold what is interesting about the format: several documents, entries
// that come, change and go, deletions, redirects, validators. A body that is not in the
// Site is answered with 404, and its task is compared.
//
// Not checked are whether a Source understands its format, politeness, memory, and
// whether a Getter gets the right bodies.
package sourcetest
