// Package harvest keeps a Store in step with publishers on the web. A [Source] tells what
// changed, in the words of its protocol turned into events; the engine compares it with
// the [Store], gets the bodies through a [Fetcher], verifies and commits them; whatever
// is in the Store can be published again.
//
// # Harvesting
//
//	store, err := sqlitestore.Open(ctx, "laws.db", nil)
//	…
//	h := &harvest.Harvester{Store: store, Fetcher: fetch.New(store)}
//	report, err := h.Run(ctx, &sitemap.Source{URL: "https://example.org/sitemap.xml", Complete: true})
//
// Run may be called as often as one likes: what is unchanged leaves no entry in the log
// and costs no request for its body, or a conditional one where its source states neither
// a time nor a digest. It may be stopped at any moment, by the context or by a power cut;
// the next Run goes on from there. The error is for what ended the run; what failed for
// one resource or one document is in the [Report], and what is left to do is a [Task] in
// the Store. [Report.InStep] says whether anything is.
//
// # The five stages
//
// They run at the same time and are joined by bounded queues:
//
//	list    the Source walks its documents and yields events
//	plan    compares them, in batches, with the Store: new, newer, different, unchanged, history
//	get     bodies, several at a time, verified against stated lengths and digests while they stream
//	commit  finished work in batches, one transaction each; the checkpoint moves only over what is finished
//	sweep   after a complete snapshot: what was not shown is gone, within the delete guard
//
// List and Work are the two halves of Run, for programs that list in one process and get
// in others. What can't be got at once is stored as tasks, so listing never waits for
// getting for long, and a restart goes on where it was.
//
// # Which event wins
//
// Events of one id are decided and committed in their order. Those that arrive while
// their id is being fetched are coalesced into the last of them; the others are history.
//
// In a log an event is history if its time and the record's are both stated and its own
// is earlier; without times the order decides. Within one instant the last event of an id
// counts, so a log may repeat a whole instant. In a snapshot, different is enough, unless
// the record changed after the moment that the snapshot describes and the snapshot does
// not state a later time for it. Of an id that a snapshot lists twice the latest time
// wins, and of equal ones the last. For these two rules up to 1024 events that state
// something else, and no later time, are held back: in a log until its time moves on, in
// a snapshot until it ends.
//
// The moment that a snapshot describes is its At, or the latest time that its own entries
// state, if that is later. If the listing changes and its At does not move, its moment is
// when it was last read before it changed. Both are findings.
//
// A description of the same moment that states less, such as no digest, no title or a
// coarser time, changes nothing, and what it does not state stays as it is known. Of two
// times of different precision that may be the same, the finer one is looked at. A later
// description replaces all: bodies that it no longer states are not kept.
//
// A record that a snapshot swept keeps its last Modified; a log event not later than that
// does not revive it. Equal bodies and an equal description with another time only touch
// the record, unless a log states a later change: they leave no entry in the log, and
// what a Catalog shows stays as it is.
//
// A stated time that is more than a day later than the Date of the answers with lists is
// a finding, and is not compared: a later event corrects it. Without any Date only a full
// pass does this, by the local clock.
//
// Where a source states neither a time nor a digest, a conditional request decides, and
// at last the digest of the bytes. A body that was obtained before its stated time was
// over, such as the day of a date or the second of a second, may have changed since at
// the same stated time. It is asked for once more, conditionally, when a snapshot lists
// it after that time (a day later for dates, a minute later for all others), or when a
// log states it again. Harvester.Recheck asks so for everything.
//
// # Rules for Sources
//
// One Source is one set. What lets it skip reading (validators of its documents,
// positions) is in its [Checkpoint], and so moves with the commit. Between SnapshotStart
// and SnapshotEnd no event carries Resume. A snapshot that ends Complete has read every
// one of its documents in full in this run. A document that could not be read is a
// Problem; the Source goes on with the others, and gives no Resume past it and no
// Complete. The end of the context is no Problem: the Source yields it as its error. A
// list document is read to its end and checked before its first event, and no connection,
// lock or cursor is held across a yield. Bytes that come along with an event may be
// opened until the yield of the next Mark returns. At the border of two runs a Source may
// tell again what it told before. A panic in a goroutine of a Source goes on in the one
// that ranges over its Events.
//
// # Failures
//
// A body that can't be got, whatever the reason, is a task; the record and the bodies
// that were there stay. The next Run tries again, and later ones after waits that grow to
// a day. After Harvester.Attempts the task is parked. The wait holds, and a parked task
// stays parked, however often the source lists the same: only when it states something
// else, or when Harvester.Recheck asks for everything, is the resource tried before.
// Bytes that came along with an event, and have no URL, can't be tried again: they are a
// Problem, and the run deletes nothing that a snapshot does not list.
//
// A resource whose last attempts were answered with [websync.ErrGone] is gone by its server: it
// is counted apart, no longer asked for, and no reason not to be in step. What was
// obtained before stays, unless Harvester.DeleteGone.
//
// A Store or a Fetcher that breaks its contract ends the run, or fails the resource, with
// an error that names it. A panic, also one of another goroutine, goes on in the
// goroutine that called Run, when the claim is released.
//
// # Deletions
//
// Entries that could not be listed leave the run not in step, unless
// Harvester.AcceptSkipped says that this is all right. Absence is a deletion only after a
// snapshot that ended Complete, in a run without a Problem and without skipped entries,
// under the same options as the last, and within Harvester.MaxDelete and MaxDeletes. The
// guard looks at ten complete snapshots in a row: what they took away in sum, less what
// was added meanwhile, must be within MaxDelete, too. A snapshot without any of a
// source's records deletes none of them, however few there are. MaxDeletes holds for
// deletions that a log states, too. What is withheld is stored as tasks and reported; an
// id that is shown again is no longer withheld, and Approve carries the others out, as
// does a later snapshot that the guard lets pass. A list that the publisher has not
// changed since is not listed again, so other settings alone change nothing: that needs
// Approve or Harvester.Full.
//
// # What nobody can notice
//
// Some answers are wrong and show no sign of it. Without digests nobody can notice them:
//
//   - a list as it was earlier, from a stale cache: entries added since seem to be gone,
//     and of a complete list they are deleted, within the delete guard;
//   - another URL, id or time in the place of the right one, where a byte of a list was
//     damaged;
//   - "not modified" for what was modified;
//   - a login page with status 200, another resource's bytes, or an answer that ended
//     early with its connection, in the place of a body for which neither length nor
//     digest is stated;
//   - a redirect from a document of an archive to an older one that no run has read.
//
// The next sound listing heals lists. A body stays wrong until its source states a
// change, or until Harvester.Recheck asks for it.
//
// # Sets
//
// What a Publisher publishes is one source, or several without an id in common:
// package union checks that, and makes one source of several that have.
//
// # Looking first
//
// Plan tells what the next Run would do and writes nothing. Audit compares everything,
// the stored bytes included. [Each] hands every change that was committed to a function,
// a search index for instance, and remembers how far it came.
//
// # Not here
//
// Protocols are in packages of their own (sitemap, atom), a directory as a Source is in
// harvest/dirsource, HTTP is in harvest/fetch, stores are in harvest/memstore,
// harvest/sqlitestore and, on any ordered key-value store, harvest/kvstore. Package
// harvest itself does no I/O but for temporary files.
package harvest
