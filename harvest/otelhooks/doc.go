// Package otelhooks reports what a [harvest.Harvester] does to OpenTelemetry: a trace for
// each run, and metrics. It is a module of its own and uses the API of OpenTelemetry; the
// program chooses the SDK and the exporters.
//
//	var telemetry otelhooks.Telemetry
//	h := &harvest.Harvester{Catalog: catalog, Fetcher: client, Hooks: telemetry.Hooks()}
//
// [harvest.JoinHooks] joins the hooks with others.
//
// # Traces
//
// The span "websync.harvest" is a run. Its children are the stages, as far as the run
// gets to them: "websync.list" lasts from the first request for a document of the Source
// to the last, "websync.plan" from the first event that is compared with the Store to
// the last, "websync.get" from the first request for a body to the last,
// "websync.commit" from the first Commit to the last, and "websync.sweep" while
// deletions are decided after a complete snapshot. Below them each request is a span
// with the name of its method, of the kind client, by the semantic conventions for HTTP
// 1.43, and each Commit is a span "websync.store.commit". The context of the run has its
// span, so what a Source or a Fetcher traces belongs to the run, too. Traces have
// sources and URLs without secrets.
//
// # Metrics
//
//   - http.client.request.duration: a histogram in seconds by the semantic conventions
//     for HTTP 1.43, with http.request.method, server.address, server.port,
//     http.response.status_code and error.type
//   - websync.harvest.events: a counter by websync.outcome, the word of a
//     [harvest.Outcome], and error.type if an attempt failed
//   - websync.harvest.findings: a counter by websync.rule and websync.severity
//   - websync.harvest.problems: a counter by error.type of documents that could not be
//     read
//   - websync.harvest.run.duration: a histogram in seconds by websync.in_step and
//     error.type
//   - websync.store.commit.duration: a histogram in seconds of Commits that succeeded
//   - websync.harvest.runs: a gauge of the runs that are going on
//   - websync.harvest.listed, websync.harvest.done, websync.harvest.getting: gauges of
//     the events that these runs have listed and finished, and of the resources in
//     between whose bodies they are getting
//   - websync.harvest.waiting_hosts: a gauge of the hosts that the Fetcher waits for
//
// The gauges of a source end with its last run: a value that nobody measures any more is
// not repeated.
//
// All but http.client.request.duration and websync.harvest.waiting_hosts have
// websync.source. Telemetry.WithoutSource and Telemetry.WithoutHost leave the attributes
// out of which there may be many.
//
// # Errors
//
// The attribute error.type is the status if there is one, else a word for the sentinel
// error that an error matches, such as "mismatch" or "forbidden", or "_OTHER". It never
// comes from the text of an error.
package otelhooks
