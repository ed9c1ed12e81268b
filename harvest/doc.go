// Package harvest keeps a [Catalog] in step with publishers on the web. A [Source] turns
// the documents of a protocol into events. The engine compares these with the records of
// the Catalog, fetches bodies through a [Fetcher], verifies them, and commits the result
// to the [Store] on which the Catalog stands. Package publish publishes a Catalog.
//
// # Using
//
//	store, err := sqlitestore.Open(ctx, "laws.db", nil)
//	…
//	catalog := harvest.NewCatalog(store)
//	h := &harvest.Harvester{Catalog: catalog, Fetcher: fetch.New(catalog)}
//	source := &sitemap.Source{URL: "https://example.org/sitemap.xml", Complete: true}
//	report, err := h.Run(ctx, source)
//
// Run may be called at any time. A resource that is unchanged gets no entry in the log
// and costs no request, or a conditional one if its source states neither a time nor a
// digest. The context, or a power cut, may end a run at any moment; the next one
// continues from there. The error is what ended the run. The [Report] lists what failed
// for one resource or one document, and [Report.InStep] reports whether nothing is left
// to do.
//
// RunAll runs several sources at once. List and Work are the two halves of Run, to list
// in one process and fetch in others. Plan is a Run that writes nothing; Audit also
// compares what a run skips. Approve carries out what the guards withheld. Remove deletes
// the records of a source.
//
// Each protocol has a package with a Source. [Rows] is a Source over a table of a
// database, package dirsource has one over a directory, and package union has one over
// others, to publish together those with ids in common. [Each] passes every change to a
// function, such as one that feeds a search index.
//
// A run has five stages, which work at the same time and are joined by bounded queues:
//
//	list    the Source walks its documents and yields events
//	plan    compares them with the records of the Catalog
//	get     fetches bodies, several at a time, and verifies them while they stream
//	commit  stores finished work, many events an Update, and moves the checkpoint
//	sweep   deletes what a complete snapshot did not list, within the delete guard
//
// What can't be fetched at once is stored as a [Task]: listing never waits long for it.
//
// # Which event wins
//
// Events of one id are decided and committed in order. Of those that arrive while their
// id is being fetched, only the one that wins is carried out. The others change nothing
// and are counted as history ([OutcomeHistory]).
//
// In a log, an event whose time is before that of the record is history. If one of the
// times is not stated, the order of the events decides. Within one instant the last event
// counts, so a log may repeat an instant.
//
// In a snapshot, every event that differs from the record wins, unless the record changed
// at or after the moment that the snapshot describes ([Event].At) and the event states no
// later time. If a snapshot lists an id twice, the latest time wins, and of equal times
// the last. To find the last, the engine holds back up to 1024 events.
//
// If an event has the time of the record and states less, such as no digest, no title or
// a coarser time, the record stays as it is. Of two times of different precision that may
// be the same, the finer one is fetched. A later description replaces everything: bodies
// that it does not state are not kept. If only the time has changed, the Catalog's log
// gets no entry, unless an event of a log states it.
//
// A record that a snapshot deleted keeps its last Modified. A log event that is not later
// does not revive it; a snapshot that lists it again does.
//
// A time more than a day later than the Date of the answers with lists is a finding and
// is not compared. If no answer has a Date, only a full pass checks this, by the local
// clock.
//
// # What seems unchanged
//
// A run in step has a reason for each resource that it leaves as it is: "not modified",
// equal bytes, an equal digest, or a time that the source has kept. Reasons that can be
// wrong are checked again:
//
//   - A body that was fetched before the period of its stated time was over, such as the
//     day of a date, is asked for once more when a snapshot lists it after that period (a
//     day later for dates, a minute for others), or when a log states it again.
//   - If a source states a later change and the server sends the bytes from before it, a
//     task asks again in the next run, then after waits that grow by half each time, for
//     30 days.
//   - Each snapshot asks for a random sample: see [Harvester].Sample.
//
// # Deletions
//
// Absence is a deletion only after a snapshot that ended Complete, in a run without a
// Problem and without skipped entries, under the same options as the last one, and within
// [Harvester].MaxDelete and MaxDeletes. All deletions of a snapshot are also withheld if
// one of its documents
//
//   - had entries and has none,
//   - lost more of them than MaxDelete allows,
//   - lists the same as another one and did not before,
//   - is no longer listed, or
//   - seems older than it was, by its time or because its newest entry is gone, and has
//     not been the same for a week.
//
// Withheld deletions are stored as tasks. Such a task ends if its id is listed again.
// Approve carries out the others, as does a later snapshot that the guard accepts. An
// unchanged list is not listed again: after new settings call Approve, or set Full.
//
// Bodies are guarded, too. If most of the last 64 bodies that would replace others, and
// at least three, become equal to each other, such as a notice of maintenance, the run
// keeps the old ones and fetches no more. A later run fetches them again, or Approve
// accepts the new ones.
//
// # Failures
//
// A body that can't be fetched becomes a task; the record and its bodies stay. Later runs
// try again after waits that grow to a day. After [Harvester].Attempts failures the task
// is parked: they stop, even if the source goes on listing the resource. See also
// [OutcomeGone] and [LeftAloneError]. They try earlier only if the source states
// something else, or with Recheck. Bytes that come with an event and have no URL can't be
// tried again: their failure is a Problem.
//
// A panic of a Getter, or of a Fetcher or Reader that it calls, is a failure of its
// resource. A panic of a Source that lists is a Problem and ends the run with an error.
// Both errors have a [websync.PanicError], whose stack is logged. A panic of the Store, a
// hook or the engine continues in the goroutine that called Run, after the claim is
// released, even if a Source recovers it. [runtime.Goexit] in a goroutine ends the run
// and, in Events, the goroutine that called Run.
//
// # What cannot be noticed
//
// Without digests the engine takes some wrong answers for right:
//
//   - an earlier version of a list, if neither it nor its entries have times
//   - another URL, id or time, if a byte of a list was damaged
//   - a false "not modified"
//   - for a body without a stated length, the bytes of another resource, a truncated
//     answer, or a login page with status 200 for a few resources
//   - a redirect from a document of an archive to an older one that no run has read
//
// The next correct listing repairs lists. A body stays wrong until its source states a
// change, or Recheck asks for it, and the server answers correctly.
//
// # Writing a Source
//
// A [Source] yields each [Event] of one set: puts and deletions, as a log, or as a
// snapshot between SnapshotStart and SnapshotEnd. A [Getter] also obtains the bodies,
// with the methods of a [Job]. Package sourcetest checks most of these rules:
//
//   - What lets a Source skip reading, such as positions and validators of its documents,
//     is in its [Checkpoint], and so moves with the commit.
//   - A snapshot that ends Complete has read each of its documents in full in this pass,
//     or states it as Unchanged. For that each Put states its Document, and Run.Known is
//     asked before a request is made conditional. If the whole is not modified, the Source
//     yields no snapshot, only a Mark, unless Run.Samples is set and it knows all documents.
//   - A document that can't be read is a Problem. The Source continues with the others,
//     and gives no Resume past it and no Complete.
//   - A list document is read to its end and checked before its first event. What damage
//     in it may hide counts as Skipped.
//   - A pass may repeat the last events of the previous one. Of the states of an id at
//     one instant it yields only the last. What an event holds does not change after its
//     yield.
//   - The first pass over a source that also has a log begins with a Mark with the log's
//     position, before the snapshot: what changes meanwhile is then in the log.
//   - If a goroutine of a Source panics, the one that ranges over its Events, or has
//     called Get, panics with the same value.
//
// # Writing a Store
//
// A [Store] is an ordered key-value store: View and Update around Get, Set, Delete and
// Scan. The [Catalog] on it does the rest. Packages memstore, sqlitestore and pgstore are
// Stores, as is the example of NewCatalog. Package storetest checks the contracts of
// Store, [Reader], [Tx], and the optional interfaces, which a Catalog detects:
// [Prefetcher] for a Store behind a network, [Blobs] for files or objects beside it,
// [Owners] if it can find out that a process has died, [Rester] if it has work to do
// between the Updates of maintenance, [Shrinker] if it does not give back space by
// itself, and [Watcher] if it can notify other processes.
//
// One Update stores many finished events: for each put two Sets, and one Get unless its
// id is greater than all others. With a Prefetcher the reads of an Update are at most
// four round trips, and those of a View that looks up records two; after a Compact one
// more. An iterator reads up to 256 records in one View and yields them after it. Retain,
// Compact, Drop and Vacuum work in many Updates of a few hundredths of a second, with a
// rest after each. For the keys see [LogKey] and [BlobKey].
//
// A Store holds the version of its layout. A Catalog brings a Store of an older layout,
// from 9 on, up to date before the first thing that it does with it, in many Updates: if
// it is interrupted, the next Catalog goes on. [ErrNewer] is the error for a newer
// layout.
package harvest
