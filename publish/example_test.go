package publish_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/publish"
)

// filled returns a Store that holds one page.
func filled() *harvest.Catalog {
	store, page := harvest.NewCatalog(memstore.New()), "<p>Hello.</p>\n"
	testkit.Fill(testkit.Must, store, "demo", []string{page}, websync.Item{
		Resource: websync.Resource{ID: "https://example.org/hello"},
		Bodies:   []websync.Body{{Name: "content", Link: websync.Link{Type: "text/html"}, Key: websync.SHA256([]byte(page))}},
	})
	return store
}

// A Store's bodies are served at their URLs, beside a text.
func ExampleHandler() {
	store := filled()
	handler := &publish.Handler{Publishers: []websync.Publisher{
		publish.Bodies(store, websync.PathLocator{Base: "https://example.org/", Own: []string{"demo"}}),
		publish.Text("/robots.txt", "User-agent: *\nAllow: /\n"),
	}}
	defer handler.Close()

	server := httptest.NewServer(handler)
	defer server.Close()
	for _, path := range []string{"/hello", "/robots.txt", "/nothing"} {
		resp, err := http.Get(server.URL + path)
		if err != nil {
			fmt.Println(err)
			return
		}
		text, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		fmt.Printf("%d %s\n%s", resp.StatusCode, resp.Header.Get("Content-Type"), text)
	}
	// Output:
	// 200 text/html
	// <p>Hello.</p>
	// 200 text/plain; charset=utf-8
	// User-agent: *
	// Allow: /
	// 404 text/plain; charset=utf-8
	// Not Found
}

// WriteDir writes the same documents as files, for any web server. It does not rewrite
// files that have not changed.
func ExampleWriteDir() {
	ctx := context.Background()
	store := filled()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	bodies := publish.Bodies(store, websync.PathLocator{Base: "https://example.org/", Own: []string{"demo"}})
	for _, robots := range []string{"User-agent: *\nAllow: /\n", "User-agent: *\nDisallow: /\n"} {
		done, err := publish.WriteDir(ctx, dir, bodies, publish.Text("/robots.txt", robots))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%d written, %d unchanged, %d removed\n", done.Written, done.Unchanged, done.Removed)
	}
	text, _ := os.ReadFile(filepath.Join(dir, "hello"))
	fmt.Printf("%s", text)
	// Output:
	// 2 written, 0 unchanged, 0 removed
	// 1 written, 1 unchanged, 0 removed
	// <p>Hello.</p>
}

// Subscribers are notified after each commit.
func ExamplePinger() {
	notified := make(chan string)
	subscriber := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { notified <- r.FormValue("url") }))
	defer subscriber.Close()

	pinger := &publish.Pinger{
		Topics:      []string{"https://example.org/sitemap.xml"},
		Subscribers: []string{subscriber.URL},
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go pinger.Run(ctx)

	hooks := harvest.Hooks{Commit: func(_ context.Context, c harvest.CommitInfo) {
		if c.Puts > 0 {
			pinger.Notify()
		}
	}}
	hooks.Commit(ctx, harvest.CommitInfo{Puts: 1}) // which the engine does
	fmt.Println(<-notified)
	// Output:
	// https://example.org/sitemap.xml
}
