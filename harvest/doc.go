// Package harvest keeps a [Catalog] in step with publishers on the web. A [Source] turns
// the documents of a protocol into events. The engine compares the events with the
// Catalog, gets the bodies through a [Fetcher], verifies them and commits the result to
// the Catalog's [Store]. What is in the Catalog can be published again.
//
// # Harvesting
//
//	store, err := sqlitestore.Open(ctx, "laws.db", nil)
//	…
//	catalog := harvest.NewCatalog(store)
//	h := &harvest.Harvester{Catalog: catalog, Fetcher: fetch.New(catalog)}
//	source := &sitemap.Source{URL: "https://example.org/sitemap.xml", Complete: true}
//	report, err := h.Run(ctx, source)
//
// Run may be called at any time. A resource that is unchanged gets no entry in the log
// and costs no request for its body, or a conditional one if its source states neither a
// time nor a digest. The context, or a power cut, may stop a run at any moment; the next
// Run continues from there. The error is what ended the run. The [Report] lists what
// failed for one resource or one document, and the Store holds a [Task] for each resource
// that is left to do. [Report.InStep] reports whether nothing is left. RunAll runs
// several sources at once.
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
// A time of publication orders nothing, and neither does the time of an entry in a feed
// that lists its latest entries only: of such events, with [Event.Current], what was read
// last counts, also if its time has moved back. A deletion that states a later time
// counts nevertheless.
//
// A source may consist of two lists, whose times for one change differ: a feed beside a
// sitemap. Then the time of an act in one list is compared with the last one in the same
// list, and any other time, also an earlier one, states a change.
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
// # What seems unchanged
//
// A run that is in step says something about the publisher, so it needs a reason for each
// resource that it leaves as it is: the server's "not modified", equal bytes, an equal
// digest, or a time that the source has kept. What can be wrong is checked again:
//
//   - If a source states a later change, and the server still sends the bytes from before
//     it, a task asks again in the next run, and then each time after half as long again,
//     for 30 days. A run is in step with such a task: see Left.Lagging of a Report.
//   - Each snapshot asks for a random sample of the resources that seem unchanged, most
//     of them conditionally: see Harvester.Sample. Report.Rechecked counts how often the
//     statements of the source, and the validators of the server, were wrong. If they
//     often are, the engine asks for everything.
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
// panics, the goroutine that ranges over its Events, or has called Get, panics with the
// same value.
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
// If a host refuses too many requests in a row, the run leaves it alone
// ([LeftAloneError]): what it has of the host becomes tasks, or stays one, and no attempt
// is counted. When 512 resources in a row are on such hosts, the run gets no more. A task
// of an id that a listing in full ([Event] Complete or Whole) no longer has ends, unless
// the listing is only Whole and a live record of the id is held.
//
// A Fetcher that breaks its contract fails the resource, or the document, with an error
// that names it.
//
// One resource or source never ends the process. If a Getter panics, or a Fetcher or a
// Reader that it calls, that is a failure of the resource, and the run goes on. If a
// Source panics while it lists, that is a Problem, and the run ends with an error: what
// was finished before is committed, and nothing that was not listed is deleted. Both
// errors have a [websync.PanicError], and its stack is logged. A panic of the Store, of a
// hook or of the engine continues in the goroutine that called Run, after the claim is
// released, even if a Source has called it and recovers it. A goroutine that ends with
// runtime.Goexit is no failure of a resource: it ends the run, and in Events the
// goroutine that called Run.
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
// Documents that can be read may still be wrong. If a snapshot would delete records, all
// its deletions are withheld if one of its documents had entries and has none, lists the
// same as another one and did not before, lost by itself more than MaxDelete allows, is
// no longer listed, or seems older than it was (see Run.Document): it was made before
// that or, where that is not stated, its newest entry is gone. If it is then the same for
// a week, it is believed.
//
// Withheld deletions are stored as tasks and reported. A withheld deletion ends if its id
// is listed again; Approve carries out the others, as does a later snapshot that the
// guard accepts. The engine does not list an unchanged list again, so new settings alone
// have no effect on it: call Approve or set Harvester.Full.
//
// Bodies are guarded, too. If most of the last 64 bodies that would replace others, and
// at least three, become equal to each other, such as a notice of maintenance or a login
// page, the run keeps the old ones and gets nothing more. What it did not get are tasks:
// a later run gets the right bodies, or Approve accepts this one.
//
// # What cannot be noticed
//
// Some answers are wrong and do not look wrong. Without digests the engine cannot notice:
//
//   - an earlier version of a list, from a stale cache, if neither its entries nor the
//     list have times: entries added since seem to be gone, and if the list is complete
//     they are deleted, within the delete guard;
//   - another URL, id or time instead of the right one, because a byte of a list was
//     damaged;
//   - "not modified" for a document that was modified;
//   - a login page with status 200 for a few resources, another resource's bytes, or an
//     answer that ended early with its connection, as a body for which neither length nor
//     digest is stated;
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
// Protocols have packages of their own (sitemap, atom). A table of a database is a Source
// by [Rows], a directory in harvest/dirsource. HTTP is in harvest/fetch. Package harvest
// itself does no I/O except for temporary files.
//
// # Writing a Store
//
// A [Store] is any ordered key-value store: View and Update around Get, Set, Delete and
// Scan. The [Catalog] on it does the rest: the records, the log, the tasks, the bodies
// and the claims. Package memstore is an ordered map in memory, sqlitestore a file of
// SQLite, pgstore a schema of PostgreSQL, and the example of NewCatalog a sorted slice.
//
// A Store must keep the contracts of [Store], [Reader] and [Tx]. It may implement further
// interfaces, which a Catalog detects:
//
//   - [Prefetcher], of Readers and Txs, for a Store behind a network: the reads of a Commit
//     are at most four round trips then, whatever its size, and those of a lookup two;
//     records that have not changed since a Compact need one more;
//   - [Blobs], for bodies longer than [Catalog].ChunkSize: files or objects beside the
//     Store. Without it they are kept in the Store, in pieces;
//   - [Owners], of a Store that can find out that a process has died: its claims end at
//     once;
//   - [Rester], of a Store that has work to do between the Updates of maintenance;
//   - [Watcher], of a Store that can notify the other processes that use it: [WaitLog] then
//     returns at once.
//
// Package storetest checks whether a Store keeps the contracts, and Inspect shows what
// interrupted processes have left in one.
//
// # Costs of a Catalog
//
// A resource is described in the log only, where writes are in order; its record refers
// to the entry, and holds what shows whether an event states something new. A Commit is
// one Update: for each put two Sets, and one Get unless its id is greater than those of
// all records. Blocks of 32 records, in the order of their Born, have the numbers of the
// entries and the Fingerprints: Compact changes only these and the log, and Fingerprints
// reads only these, unless the source has few of the records. Other iterators read a page
// of up to 256 records in one View and yield it after the View has ended; meanwhile they
// may read the next one. A short body waits in memory for its Commit. A long one is
// written as it comes and becomes visible with the Commit that names it; what no Commit
// has named is removed by Vacuum. Compact, Drop and Vacuum work in many Updates of a few
// hundredths of a second, with a rest after each.
//
// # Versions of a Catalog
//
// A Store holds the version of its layout. A Catalog refuses one with a newer layout with
// [ErrNewer]. It also refuses one with an older layout, and does not change it: harvest
// again into an empty Store.
package harvest
