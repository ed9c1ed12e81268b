// Package status shows people what runs did, in two HTML pages: a [Summary] is a file
// about the runs of one program, a [Handler] serves a page about the sources of a Catalog.
//
// Each page lists runs: a [Run] has its numbers, its [State], a sentence about it and what
// went wrong. A [Result] is what the run returned; it has the same in words, for programs
// that print text, and status.json has it for other programs.
//
// # The page of a program
//
//	var summary status.Summary
//	client := fetch.New(catalog)
//	client.OnAttempt = summary.Request
//	h := &harvest.Harvester{Catalog: catalog, Fetcher: client, Hooks: summary.Hooks()}
//	report, err := h.Run(ctx, source)
//	summary.Add(status.Result{Report: report, Err: err})
//	err = summary.WriteHTML(w)
//
// It shows whether the Catalog is in step and what to do next, then pictures of the
// requests and the outcomes over time and of the slowest hosts, then the numbers in
// tables.
//
// A Summary holds counts, not events: at most 120 periods of time, which become longer as
// the runs do; at most 200 hosts, groups of failures and rules each, and of every group a
// few examples; the last 200 runs. Whatever is beyond that is counted together, and the
// page says so.
//
// # The page of a Catalog
//
// It shows how far each source lags behind, its last runs, what waits, failed or is
// withheld and why, the requests by status and host, and pictures of all that.
//
// A [Recorder] notes runs in the State of the Catalog, and a [Handler] reads them there. So
// the page also shows the runs of other processes that share the Catalog and have a
// Recorder, and those before a restart.
//
//	recorder := &status.Recorder{State: catalog}
//	client.OnAttempt = recorder.Request
//	h := &harvest.Harvester{Catalog: catalog, Fetcher: client, Hooks: recorder.Hooks()}
//	http.Handle("/status/", http.StripPrefix("/status", &status.Handler{Catalog: catalog}))
//
// A program that finds out which sources a URL leads to reports with [Recorder.Opened]
// whether that has succeeded: until then the URL is on the page as a source that failed.
//
// The path "/" is the page, "/status.json" has the same as JSON. Both answer GET and HEAD
// only and change nothing. The page names sources and errors: serve it to those who may
// see them.
//
// It costs the same for ten records and for a hundred million: it reads the head of the
// log, at most 100 tasks of each source and 2,000 in all, and one value of the State for
// each source. What it does not count to the end is "at least". It is made anew at most
// once in Handler.MaxAge.
//
// The State keeps of each source its last 30 runs, counts of 30 days, and requests to its
// 8 busiest hosts in 48 hours: at most about 60 KB. Runs in a row that found nothing to
// do count as one. This history is advisory: losing it changes nothing that is harvested.
//
// # What both pages have
//
// A page needs nothing but itself: no script, no font, no picture from elsewhere. It can
// be read on a phone, in the dark and on paper. What comes from the web is escaped, and
// the secrets of URLs are redacted ([websync.RedactURL]).
package status
