package resourcesync_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"time"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/notify"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/resourcesync"
)

// A publisher announces changes at a hub of WebSub. What the hub sends is a Change List,
// and is applied without a request for the publisher's own.
func ExampleSource_Channel() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	requests := make(chan url.Values, 1)
	hub := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.ParseForm()
		requests <- r.PostForm
		w.WriteHeader(http.StatusAccepted)
	}))
	defer hub.Close()

	const start = `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:rs="http://www.openarchives.org/rs/terms/">`
	entry := func(path, md string) string {
		return "<url><loc>https://example.org/" + path + "</loc><rs:md " + md + "/></url>"
	}
	// package harvest/fetch has the Fetcher for HTTP
	web := &sourcetest.Fetcher{Site: sourcetest.Site{
		"https://example.org/laws.xml": {Body: start +
			`<rs:ln rel="self" href="https://example.org/laws.xml"/><rs:ln rel="hub" href="` + hub.URL + `"/>` +
			`<rs:md capability="capabilitylist"/>` +
			entry("list.xml", `capability="resourcelist"`) + entry("changes.xml", `capability="changelist"`) + "</urlset>"},
		"https://example.org/list.xml": {Body: start + `<rs:md capability="resourcelist" at="2025-01-02T00:00:00Z"/>` +
			entry("law/1", "") + "</urlset>"},
		"https://example.org/changes.xml": {Body: start + `<rs:md capability="changelist" from="2025-01-01T00:00:00Z"/></urlset>`},
		"https://example.org/law/1":       {Body: "The first law."},
		"https://example.org/law/2":       {Body: "The second law."},
	}}
	source := &resourcesync.Source{URL: "https://example.org/laws.xml"}
	topic, at, err := source.Channel(ctx, web)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("topic:", topic)

	harvester := &harvest.Harvester{Store: memstore.New(), Fetcher: web}
	ran := make(chan *harvest.Report)
	runner := &notify.Runner{
		Sources: map[string]harvest.Source{topic: source},
		Harvest: func(ctx context.Context, src harvest.Source) (*harvest.Report, error) {
			report, err := harvester.Run(ctx, src)
			ran <- report
			return report, err
		},
	}
	go runner.Run(ctx)
	subscriber := &notify.Subscriber{
		State:   memstore.New(),
		Notify:  runner.Notify,
		Payload: runner.Payload,
		// A nil Client would refuse the loopback address of this hub.
		Client: hub.Client(),
	}
	server := httptest.NewServer(subscriber)
	defer server.Close()
	subscriber.Callback = server.URL + "/websub/"
	go subscriber.Run(ctx)
	if err := subscriber.Subscribe(ctx, topic, at); err != nil {
		fmt.Println(err)
		return
	}

	// On the other side: the hub verifies the subscription, which makes the source run.
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
	report := <-ran
	fmt.Println("created:", report.Created, "requests:", report.Requests[200])

	// Then the hub sends a change.
	payload := []byte(start + `<rs:md capability="changelist" from="2025-01-01T00:00:00Z"/>` +
		entry("law/2", `change="created" datetime="2025-01-03T00:00:00Z"`) + "</urlset>")
	mac := hmac.New(sha256.New, []byte(request.Get("hub.secret")))
	mac.Write(payload)
	post, err := http.NewRequestWithContext(ctx, "POST", request.Get("hub.callback"), bytes.NewReader(payload))
	if err != nil {
		fmt.Println(err)
		return
	}
	post.Header.Set("X-Hub-Signature", fmt.Sprintf("sha256=%x", mac.Sum(nil)))
	if answer, err = http.DefaultClient.Do(post); err != nil {
		fmt.Println(err)
		return
	}
	answer.Body.Close()
	select {
	case report = <-ran:
		fmt.Println("created:", report.Created, "requests:", report.Requests[200])
	case <-time.After(time.Minute):
		fmt.Println("nothing came")
	}
	// Output:
	// topic: https://example.org/laws.xml
	// created: 1 requests: 4
	// created: 1 requests: 1
}
