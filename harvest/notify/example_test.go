package notify_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/discover"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/notify"
	"github.com/websync-go/websync/harvest/schedule"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/publish"
)

// acts is a Source of one resource that comes with its bytes. The Sources for the web are
// in the packages of their protocols.
var acts = harvest.Of("https://law.example/feed.atom",
	harvest.Event{Resource: websync.Resource{ID: "https://law.example/act/1"}, Open: harvest.OpenBytes([]byte("Be it enacted"))},
)

// A ping of the publisher runs its source.
func Example() {
	ctx, cancel := context.WithCancel(context.Background())
	harvester := &harvest.Harvester{Catalog: harvest.NewCatalog(memstore.New())}
	scheduler := &schedule.Scheduler{
		Harvester: harvester,
		Entries:   []schedule.Entry{{Source: acts, URLs: []string{"https://law.example/feed.atom"}, Every: -1}},
		Ended: func(_ harvest.Source, report *harvest.Report, err error) {
			fmt.Println("created", report.Created, err)
			cancel() // one run is enough
		},
	}
	server := httptest.NewServer(&notify.Receiver{Notify: scheduler.Notify})
	defer server.Close()

	// On the other side:
	pinger := &publish.Pinger{Topics: []string{"https://law.example/feed.atom"}, Subscribers: []string{server.URL}}
	go pinger.Run(ctx)
	pinger.Notify()

	fmt.Println(scheduler.Run(ctx))
	// Output:
	// created 1 <nil>
	// context canceled
}

// A Subscriber finds the hub that a feed names, and requests a subscription there; the hub
// verifies it.
func ExampleSubscriber() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	requests := make(chan url.Values, 1)
	hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.ParseForm()
		requests <- r.PostForm
		w.WriteHeader(http.StatusAccepted)
	}))
	defer hub.Close()

	// a program has fetch.New(store)
	web := &sourcetest.Fetcher{Site: sourcetest.Site{"https://law.example/feed.atom": {
		Body: `<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:law</id><link rel="hub" href="` + hub.URL + `"/></feed>`,
	}}}
	subscriber := &notify.Subscriber{
		State:    harvest.NewCatalog(memstore.New()),
		Discover: (&discover.Finder{Fetcher: web}).Channel,
		// Usually scheduler.Notify.
		Notify: func(url string) bool { fmt.Println("run the source of", url); return true },
		// A nil Client would refuse the loopback address of this hub.
		Client: hub.Client(),
	}
	server := httptest.NewServer(subscriber)
	defer server.Close()
	subscriber.Callback = server.URL + "/websub/"
	go subscriber.Run(ctx)
	if err := subscriber.Subscribe(ctx, "https://law.example/feed.atom"); err != nil {
		fmt.Println(err)
		return
	}

	// On the other side:
	request := <-requests
	query := url.Values{
		"hub.mode": request["hub.mode"], "hub.topic": request["hub.topic"],
		"hub.challenge": {"12345"}, "hub.lease_seconds": request["hub.lease_seconds"],
	}
	answer, err := http.Get(request.Get("hub.callback") + "?" + query.Encode())
	if err != nil {
		fmt.Println(err)
		return
	}
	answer.Body.Close()
	fmt.Println(answer.Status)

	for sub, err := range subscriber.Subscriptions(ctx) {
		fmt.Println(sub.Status, time.Until(sub.Expires).Round(time.Hour), err)
	}
	// Output:
	// run the source of https://law.example/feed.atom
	// 200 OK
	// active 240h0m0s <nil>
}

// A hub in a private network needs a Client that allows its address, but no other private
// one.
func ExampleSubscriber_innerNetwork() {
	guard := &fetch.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}}
	dialer := &net.Dialer{Timeout: 10 * time.Second, Control: guard.Control}
	subscriber := &notify.Subscriber{
		Callback: "https://my.example/websub/",
		Client:   &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext}},
	}

	_, err := subscriber.Client.Get("http://127.0.0.1/")
	fmt.Println(errors.Is(err, harvest.ErrForbidden))
	// Output:
	// true
}
