package fetch_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/fetch"
)

func Example() {
	site := demo()
	defer site.Close()
	client := fetch.New(nil) // or a Store, to stay polite across restarts
	client.Contact = "https://example.org/bot"

	req := &harvest.Request{URL: site.URL + "/moved", Root: site.URL}
	resp, err := client.Fetch(context.Background(), req)
	if err != nil {
		fmt.Println(err)
		return
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	fmt.Println(resp.Status, string(body), err)

	req.Validator = resp.Validator
	resp, err = client.Fetch(context.Background(), req)
	fmt.Println(resp.Status, resp.NotModified, err)

	_, err = client.Fetch(context.Background(), &harvest.Request{URL: site.URL + "/private", Root: site.URL})
	fmt.Println(errors.Is(err, harvest.ErrForbidden))
	// Output:
	// 200 hello <nil>
	// 304 true <nil>
	// true
}

func ExampleClient_Authorize() {
	client := fetch.New(nil)
	client.Authorize("https://example.org", fetch.Basic("me", "secret"))
	client.Authorize("https://files.example.org:8443", func(r *http.Request) error {
		r.Header.Set("X-Api-Key", "another secret")
		return nil
	})
	fmt.Println(client.Authorize("https://example.org/only/here", fetch.Bearer("t")))
	// Output:
	// fetch: origin "https://example.org/only/here" must have no path and no query
}

// A source may be on a private address, but it can't send its readers to another.
func ExampleGuard() {
	inside := demo()
	defer inside.Close()
	site := httptest.NewServer(http.RedirectHandler(inside.URL, http.StatusFound))
	defer site.Close()

	client := fetch.New(nil)
	client.IgnoreRobots = true
	_, err := client.Fetch(context.Background(), &harvest.Request{URL: site.URL, Root: site.URL})
	fmt.Println(errors.Is(err, harvest.ErrForbidden))
	// Output:
	// true
}

func demo() *httptest.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("/robots.txt", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "User-agent: *\nDisallow: /private\n")
	})
	mux.Handle("/moved", http.RedirectHandler("/hello", http.StatusMovedPermanently))
	mux.HandleFunc("/hello", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		if r.Header.Get("If-None-Match") == `"1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprint(w, "hello")
	})
	return httptest.NewServer(mux)
}

// The error of a request says whether to ask again, and when: harvest.RetryAfter finds the
// time in errors of any Fetcher.
func ExampleStatusError() {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/busy":
			w.Header().Set("Retry-After", "Fri, 01 Jan 2100 00:00:00 GMT")
			w.WriteHeader(http.StatusServiceUnavailable)
		case "/agent":
			fmt.Fprint(w, strings.Contains(r.UserAgent(), "websync/"+websync.Version), " ", r.Header.Get("X-Api-Key"))
		default:
			http.NotFound(w, r)
		}
	}))
	defer site.Close()
	client := &fetch.Client{AllowPrivate: true, Rate: -1, Attempts: 1}
	key, err := fetch.Header("X-Api-Key", "secret")
	if err == nil {
		err = client.Authorize(site.URL, key)
	}
	if err != nil {
		fmt.Println(err)
	}
	get := func(path string) {
		resp, err := client.Fetch(context.Background(), &harvest.Request{URL: site.URL + path, Root: site.URL})
		status, answered := errors.AsType[*fetch.StatusError](err)
		request, failed := errors.AsType[*fetch.RequestError](err)
		_, stated := harvest.RetryAfter(err) // the time
		switch {
		case answered:
			fmt.Println(status.Code, "gone:", errors.Is(err, websync.ErrGone), "temporary:", errors.Is(err, harvest.ErrTemporary), "time stated:", stated)
		case failed:
			fmt.Println("no answer, temporary:", request.Kind == harvest.ErrTemporary, "too early:", errors.Is(err, harvest.ErrNotYet), "time stated:", stated)
		default:
			text, _ := io.ReadAll(resp.Body)
			fmt.Println(string(text), resp.Body.Close())
		}
	}
	get("/agent")
	get("/nothing")
	get("/busy")
	get("/agent") // the host asked to wait
	// Output:
	// true secret <nil>
	// 404 gone: true temporary: false time stated: false
	// 503 gone: false temporary: true time stated: true
	// no answer, temporary: true too early: true time stated: true
}
