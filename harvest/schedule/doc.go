// Package schedule runs many sources, each when it is due: at an interval, at times of
// the day, after a notice of its publisher, or when a task that a run has left is due.
//
// A [Scheduler] holds the list:
//
//	scheduler := &schedule.Scheduler{
//		Harvester: harvester,
//		Entries: []schedule.Entry{
//			{Source: &sitemap.Source{URL: "https://example.org/sitemap.xml"}, Every: 6 * time.Hour},
//			{Source: &atom.Source{URL: "https://example.org/feed.atom"}, URLs: []string{"https://example.org/feed.atom"}},
//			{Source: &eli.Source{Sitemap: "https://law.example/eli/sitemap.xml"}, Daily: []time.Duration{3 * time.Hour}},
//		},
//	}
//	err := scheduler.Run(ctx)
//
// The time at which each source is due next is kept in the State of the Harvester's
// Store, so a restart loses none, and runs none too early. Several processes that share a
// Store may have the same list: each run is made by one of them, but two that look at the
// same moment may both make it, one after the other.
//
// A source never runs twice at the same time. Which of the sources that are due runs next
// is decided by their hosts: that with the fewest runs comes first, and among equals the
// source that has been due for longest. So a host with a thousand sources does not keep
// the others waiting.
//
// Scheduler.Add and Scheduler.Remove change the list while it runs.
//
// # Notices
//
// Notify and Payload of a Scheduler fit the Receiver and the Subscriber of package
// notify. A notice is only a hint: its URL must be on the list, and the source then reads
// its own documents as in any other run. So false notices can cause runs that find
// nothing, but not more often than Entry.Interval allows. Notices may also get lost:
// Entry.Every runs the sources without them.
//
// # Failures
//
// A run that ends in an error is repeated after 1, 2, 4 and 8 minutes, less a random part
// of up to a half; after that the source waits until it is due. A run without any
// progress is ended: see Scheduler.Stall. A run that another process has begun is left
// alone, and looked at again a minute later.
//
// While the Store fails, for example because its server is away, no run begins. The
// Scheduler logs that and asks the Store again after 1, 2, 4 and more seconds, at most
// 64, less a random part of up to a half. Notices are kept meanwhile. Run ends with an
// error only if that will not pass: see [Scheduler.Run].
package schedule
