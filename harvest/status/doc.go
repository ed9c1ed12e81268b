// Package status serves a page for operators: what the sources of a Store do. It shows
// how far each source lags behind, its last runs, what waits, failed or is withheld and
// why, the requests by status and host, and pictures of all that.
//
// A [Recorder] notes runs in the State of the Store, and a [Handler] reads them there. So
// the page also shows the runs of other processes that share the Store and have a
// Recorder, and those before a restart.
//
//	recorder := &status.Recorder{State: store}
//	client.OnAttempt = recorder.Request
//	h := &harvest.Harvester{Catalog: store, Fetcher: client, Hooks: recorder.Hooks()}
//	http.Handle("/status/", http.StripPrefix("/status", &status.Handler{Catalog: store}))
//
// A program that finds out which sources a URL leads to reports with [Recorder.Opened]
// whether that has succeeded: until then the URL is on the page as a source that failed.
//
// The path "/" is the page, "/status.json" has the same as JSON. Both answer GET and HEAD
// only, change nothing, and need no script. The page loads nothing else. What comes from
// the web is escaped, and the secrets of URLs are redacted ([websync.RedactURL]). The
// page names sources and errors: serve it to those who may see them.
//
// # Cost
//
// The page costs the same for ten records and for a hundred million: it reads the head of
// the log, at most 100 tasks of each source and 2,000 in all, and one value of the State
// for each source. What it does not count to the end is "at least". It is made anew at
// most once in Handler.MaxAge.
//
// # History
//
// The State keeps of each source its last 30 runs, counts of 30 days, and requests to its
// 8 busiest hosts in 48 hours: at most about 60 KB. Runs in a row that found nothing to
// do count as one. History is advisory: losing it changes nothing that is harvested.
package status
