// Package notify runs sources when their publishers say that there is something new: by a
// WebSub hub (W3C Recommendation of 23 January 2018) or by a ping, the URL of a list or
// feed in a POST request.
//
// A notice is a hint and nothing else. Its content is dropped; what it names must be on
// the user's list, and then the source reads its own documents as in any other run. So
// whoever sends false notices can bring about a run that finds nothing, not more often
// than [Runner.Interval] lets it. And notices get lost on their way: [Runner.Every] runs
// the sources without one.
//
// # Running
//
// A [Runner] holds the list. It runs a source once at a time, and makes one run of all
// the notices that came during the last:
//
//	runner := &notify.Runner{
//		Harvest: harvester.Run,
//		Sources: map[string]harvest.Source{"https://example.org/feed.atom": source},
//		Every:   time.Hour,
//	}
//	go runner.Run(ctx)
//
// # Pings
//
// A [Receiver] is the http.Handler to ping. It understands what a publish.Pinger sends to
// its Subscribers:
//
//	http.Handle("/ping", &notify.Receiver{Notify: runner.Notify})
//
// # WebSub
//
// A [Subscriber] asks hubs for notices, confirms that it did, checks who sends them, and
// renews its subscriptions before they end. What it has to remember is in a
// [websync.State]; every Store of package harvest is one:
//
//	subscriber := &notify.Subscriber{Callback: "https://my.example/websub/", State: store, Notify: runner.Notify}
//	http.Handle("/websub/", subscriber)
//	go subscriber.Run(ctx)
//	err := subscriber.Subscribe(ctx, "https://example.org/feed.atom", "https://hub.example.net/")
//
// The two URLs are what the feed links to as self and hub, in its HTTP Link headers or,
// if it has none there, in itself (WebSub §4), where atom.Reader.Feed finds them. Since
// the publisher may have moved to another hub, look there again from time to time:
// Subscribe with the hub that is known already does nothing.
//
// # Not supported
//
// Content that hubs send along is not used, and there is no hub here. The Handlers set no
// deadlines: give the http.Server a ReadTimeout.
package notify
