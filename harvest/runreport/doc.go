// Package runreport writes what runs did as one HTML page for people: whether the Store
// is in step and what to do next, then pictures of the requests and the outcomes over
// time and of the slowest hosts, then the numbers in tables.
//
//	var rec runreport.Recorder
//	client := fetch.New(store)
//	client.OnAttempt = rec.Request
//	h := &harvest.Harvester{Catalog: store, Fetcher: client, Hooks: rec.Hooks()}
//	report, err := h.Run(ctx, source)
//	rec.Add(runreport.Run{Report: report, Err: err})
//	err = rec.WriteHTML(w)
//
// The page needs nothing but itself: no script, no font, no picture from elsewhere. It
// can be read on a phone, in the dark and on paper. What comes from the web is escaped,
// and the secrets of URLs are redacted ([websync.RedactURL]).
//
// # Memory
//
// A Recorder holds counts, not events: at most 120 periods of time, which become longer
// as the runs do; at most 200 hosts, groups of failures and rules each, and of every
// group a few examples; the last 200 runs. Whatever is beyond that is counted together,
// and the page says so.
package runreport
