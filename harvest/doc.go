// Package harvest keeps a Store in step with publishers on the web. A [Source] turns the
// documents of a protocol into events. The engine compares the events with the [Store],
// gets the bodies through a [Fetcher], verifies them and commits the result. What is in
// the Store can be published again.
//
// # Harvesting
//
//	store, err := sqlitestore.Open(ctx, "laws.db", nil)
//	…
//	h := &harvest.Harvester{Store: store, Fetcher: fetch.New(store)}
//	source := &sitemap.Source{URL: "https://example.org/sitemap.xml", Complete: true}
//	report, err := h.Run(ctx, source)
//
// Run may be called at any time. A resource that is unchanged gets no entry in the log
// and costs no request for its body, or a conditional one if its source states neither a
// time nor a digest. The context, or a power cut, may stop a run at any moment; the next
// Run continues from there. The error is what ended the run. The [Report] lists what
// failed for one resource or one document, and the Store holds a [Task] for each resource
// that is left to do. [Report.InStep] reports whether nothing is left.
//
// # The five stages
//
// The stages run at the same time and are joined by bounded queues:
//
//	list    the Source walks its documents and yields events
//	plan    compares them, in batches, with the records of the Store
//	get     fetches bodies, several at a time, and verifies them while they stream
//	commit  stores finished work, one transaction a batch, and moves the checkpoint
//	sweep   deletes what a complete snapshot did not list, within the delete guard
//
// List and Work are the two halves of Run, for programs that list in one process and get
// in others. What cannot be got at once is stored as a task: listing never waits long for
// getting, and a restart continues where the run ended.
//
// # Which event wins
//
// Events of one id are decided and committed in their order. Events that arrive while
// their id is being fetched are coalesced into the last; the others are history.
//
// In a log an event is history if its time and that of the record are both stated and its
// own is earlier; without times the order decides. Within one instant the last event of
// an id counts, so a log may repeat a whole instant. In a snapshot every event that
// differs from the record wins, unless the record changed after the moment that the
// snapshot describes and the event states no later time. If a snapshot lists an id twice,
// the latest time wins, and of equal times the last. For these two rules the engine holds
// back up to 1024 events that state something else but no later time: in a log until its
// time moves on, in a snapshot until it ends.
//
// The moment that a snapshot describes is its At, or the latest time of its own entries
// if that is later. If the listing changes but its At does not, its moment is the time of
// the last reading before the change. Both are findings.
//
// A description of the same moment that states less, such as no digest, no title or a
// coarser time, changes nothing; what it does not state is kept. If two times of
// different precision may be the same, the finer one is fetched. A later description
// replaces everything: bodies that it no longer states are not kept.
//
// A record that a snapshot deleted keeps its last Modified; a log event that is not later
// does not revive it. Equal bodies and an equal description with another time only touch
// the record, unless a log states a later change: the log of the Store gets no entry, and
// a Catalog returns the same as before.
//
// A stated time that is more than a day later than the Date of the answers with lists is
// a finding and is not compared: a later event corrects it. If no answer has a Date, only
// a full pass checks this, by the local clock.
//
// If a source states neither a time nor a digest, the engine sends a conditional request,
// and compares the digest of the bytes if there is an answer with bytes. A body that was
// fetched before the period of its stated time was over, such as the day of a date or the
// second of a second, may have changed since at the same stated time. The engine asks for
// it once more, conditionally, when a snapshot lists it after that period (a day later
// for dates, a minute later for all others), or when a log states it again.
// Harvester.Recheck does this for everything.
//
// # Rules for Sources
//
// One Source is one set. What lets it skip reading (validators of its documents,
// positions) is in its [Checkpoint], and so moves with the commit. Between SnapshotStart
// and SnapshotEnd no event carries Resume. A snapshot that ends Complete has read each of
// its documents in full in this run. A document that could not be read is a Problem; the
// Source continues with the others, and gives no Resume past it and no Complete. The end
// of the context is no Problem: the Source yields it as its error. A Source reads a list
// document to its end and checks it before the first event, and holds no connection, lock
// or cursor across a yield. Bytes that come with an event may be opened until the yield
// of the next Mark returns. A run may repeat the last events of the previous one. Of
// several states of an id at one instant a Source yields only the last. A first pass over
// a source that also has a log begins with a Mark that carries the log's position, before
// the snapshot: what changes meanwhile is then in the log. If a goroutine of a Source
// panics, the goroutine that ranges over its Events panics with the same value.
//
// # Failures
//
// A body that cannot be got, for whatever reason, becomes a task; the record and its
// bodies stay. The next Run tries again, and later ones after waits that grow to a day.
// After Harvester.Attempts the task is parked. The wait holds, and a parked task stays
// parked, however often the source lists the same: a resource is tried earlier only if
// the source states something else, or if Harvester.Recheck asks for everything. Bytes
// that come with an event and have no URL cannot be tried again: their failure is a
// Problem, and the run deletes nothing that a snapshot does not list.
//
// If the last two attempts at a resource returned [websync.ErrGone], the server has
// removed it. It is counted separately and not asked for again, and a run is in step
// without it. Its record stays, unless Harvester.DeleteGone is set.
//
// A Store or a Fetcher that breaks its contract ends the run, or fails the resource, with
// an error that names it. A panic in any goroutine of a run continues in the goroutine
// that called Run, after the claim is released.
//
// # Deletions
//
// If entries could not be listed, the run is not in step, unless Harvester.AcceptSkipped
// is set. Absence is a deletion only after a snapshot that ended Complete, in a run
// without a Problem and without skipped entries, under the same options as the last one,
// and within Harvester.MaxDelete and MaxDeletes. The guard looks at ten complete
// snapshots in a row: what they deleted in sum, less what was added meanwhile, must be
// within MaxDelete, too. A snapshot without any of a source's records deletes none of
// them, however few there are. MaxDeletes also limits deletions that a log states.
// Withheld deletions are stored as tasks and reported. A withheld deletion ends if its id
// is listed again; Approve carries out the others, as does a later snapshot that the
// guard accepts. The engine does not list an unchanged list again, so new settings alone
// have no effect on it: call Approve or set Harvester.Full.
//
// # What cannot be noticed
//
// Some answers are wrong and do not look wrong. Without digests the engine cannot notice:
//
//   - an earlier version of a list, from a stale cache: entries added since seem to be
//     gone, and if the list is complete they are deleted, within the delete guard;
//   - another URL, id or time instead of the right one, because a byte of a list was
//     damaged;
//   - "not modified" for a document that was modified;
//   - a login page with status 200, another resource's bytes, or an answer that ended
//     early with its connection, as a body for which neither length nor digest is stated;
//   - a redirect from a document of an archive to an older one that no run has read.
//
// The next correct listing repairs lists. A body stays wrong until its source states a
// change, or Harvester.Recheck asks for it, and the server answers that correctly: both
// may ask conditionally.
//
// # Sets
//
// A Publisher publishes one source, or several that have no id in common: package union
// checks that, and makes one source of several that have ids in common.
//
// # Plans and audits
//
// Plan is a run that writes nothing. Audit also compares what a run skips, the stored
// bytes included. [Each] passes every committed change to a function, to a search index
// for instance, and stores its position.
//
// # Other packages
//
// Protocols have packages of their own (sitemap, atom). A directory as a Source is in
// harvest/dirsource, HTTP in harvest/fetch, Stores in harvest/memstore,
// harvest/sqlitestore, harvest/pgstore and, for any ordered key-value store,
// harvest/kvstore. Package harvest itself does no I/O except for temporary files.
package harvest
