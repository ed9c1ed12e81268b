// Package conformance checks publishers by ELI Pillar IV 1.0: their sitemap, their update
// feed, their pages and their full texts, by 63 rules.
//
// [Checker.Check] checks a pair of a sitemap and a feed:
//
//	c := &conformance.Checker{
//		Sitemap: conformance.Input{Name: "https://law.example/eli/sitemap.xml"},
//		Feed:    conformance.Input{Name: "https://law.example/eli/eli-update-feed.atom"},
//		Fetcher: fetch.New(nil),
//	}
//	result, err := c.Check(ctx)
//
// # Results
//
// The [Result] has a [Row] for each rule: passed, failed, warned, or not checked with the
// reason. Findings are passed to Checker.Report as they are made. [Result.WriteHTML]
// writes a report for people. The JSON of a Result is stable.
//
// [Rules] returns the rules. Their severity is that of the specification's words: MUST is
// an error, SHOULD a warning. A check that can only guess gives a warning. The rules
// P4-017, P4-018 and P4-045 are not in the specification: what breaks them harms clients.
//
// # Files, pages, visits
//
// Saved files are enough for the rules on documents. With a Fetcher, a sample of pages is
// visited, with 5 seconds between two requests, and the robots.txt of hosts are read.
// Some rules need two visits: keep Result.Profile, and give it to the next check as
// Checker.Last. Others need the pairs of the ELI registry: Checker.Registry.
//
// The sitemap and the feed are read as streams, of any length: a URL of the sitemap takes
// 16 to 24 bytes, and 40 while the table grows.
//
// # Not supported
//
// Tombstones in feeds, which ELI does not have, are passed over. Whether a list is
// complete can't be proven: there are only hints.
package conformance
