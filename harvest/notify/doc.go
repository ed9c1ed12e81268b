// Package notify receives the announcements of publishers that something has changed:
// through a WebSub hub (W3C Recommendation of 23 January 2018) or by a ping, a POST
// request with the URL of a list or feed. Its handlers hand them to a schedule.Scheduler,
// which runs the sources.
//
// A notice is only a hint: its URL must be on the user's list, and then the source reads
// its own documents as in any other run. A notice that its hub has signed may be more
// than a hint: see Payloads.
//
// # Pings
//
// A [Receiver] is the http.Handler for pings. It accepts what a publish.Pinger sends to
// its Subscribers:
//
//	http.Handle("/ping", &notify.Receiver{Notify: scheduler.Notify})
//
// # WebSub
//
// A [Subscriber] finds the hubs that documents name, subscribes there, confirms its
// subscriptions, checks the signatures of notices, and renews subscriptions before they
// end. It stores them in a [websync.State]; a Catalog of package harvest is one:
//
//	finder := &discover.Finder{Fetcher: client}
//	subscriber := &notify.Subscriber{
//		Callback: "https://my.example/websub/",
//		State:    catalog,
//		Discover: finder.Channel,
//		Notify:   scheduler.Notify,
//	}
//	http.Handle("/websub/", subscriber)
//	go subscriber.Run(ctx)
//	err := subscriber.Subscribe(ctx, "https://example.org/feed")
//
// Nothing but the URL has to be known. Topic and hub are those of the links self and hub
// in the HTTP header of the document or, of a relation that the header does not have, in
// the document itself (WebSub §4). They are found again before a renewal, so a topic or a
// hub that moves is followed, and nothing that is announced in between is lost. The
// source of a document without a hub runs by its schedule alone.
//
// A document may name whatever it likes as its topic and hub. A notice makes the source
// of the URL run that Subscribe was given, and no other; and hubs at private addresses
// are not asked, unless the Client allows them.
//
// # Payloads
//
// What a hub sends may list the changes themselves. If Subscriber.Payload is set, the
// content of signed notices goes to sources that can read it, each a
// schedule.PayloadSource, for example a resourcesync.Source; the Scheduler applies it at
// once, without a request for a list:
//
//	subscriber.Payload = scheduler.Payload
//
// The hub is then trusted as much as the publisher is. A payload that can't be used, or
// not wholly, makes the source run as after any other notice.
//
// # Not supported
//
// The package has no hub. The content of pings, of notices without a signature, and for
// other sources is dropped. The Handlers set no deadlines: give the http.Server a
// ReadTimeout.
package notify
