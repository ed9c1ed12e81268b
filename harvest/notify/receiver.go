package notify

import (
	"cmp"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/websync-go/websync"
)

// A Receiver is the http.Handler for pings: POST requests with the URLs of lists or feeds
// that have changed, in the fields url and feed of a form or of the query, or as lines of
// text. Its answers are
//
//	202  at least one of the URLs is on the list; its source will run
//	400  there is no URL
//	404  none of the URLs is on the list, or the status that Refusal names
//	405  the method is not POST
//	413  the body is longer than 64 KiB, or there are more than 100 URLs
//
// Nothing but the sources on the list is fetched, so pings need no authentication. Do not
// change the fields while the Receiver is in use.
type Receiver struct {
	// Notify receives each URL and reports whether it is on the list: the method of a
	// schedule.Scheduler. It must return at once. If nil, the list is empty.
	Notify func(url string) bool

	// Refusal is the status for a ping none of whose URLs is on the list. If zero, it
	// is 404. Where it is known that only approved sources are run, it is 403.
	Refusal int

	// Log receives the pings whose URL is on the list (debug). If nil, nothing is logged.
	Log *slog.Logger
}

var _ http.Handler = (*Receiver)(nil)

// How many bytes a ping may have, and how many URLs: each is looked for in the list.
const (
	maxPing     = 64 << 10
	maxPingURLs = 100
)

// ServeHTTP answers a ping. It does not wait for the run.
func (v *Receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "a ping must be a POST request", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxPing))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		http.Error(w, "a ping must not be longer than 64 KiB", http.StatusRequestEntityTooLarge)
		return
	}
	urls := pinged(r, string(body))
	if err != nil || len(urls) == 0 {
		http.Error(w, "a ping must have a URL, in the field url of a form or as text", http.StatusBadRequest)
		return
	}
	if len(urls) > maxPingURLs {
		http.Error(w, "a ping must not have more than 100 URLs", http.StatusRequestEntityTooLarge)
		return
	}
	if !v.notify(urls) {
		http.Error(w, "no source has this URL", cmp.Or(v.Refusal, http.StatusNotFound))
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

// notify reports whether one of the URLs is on the list.
func (v *Receiver) notify(urls []string) (known bool) {
	if v.Notify == nil {
		return false
	}
	for _, u := range urls {
		if v.Notify(u) {
			known = true
			logger(v.Log).Debug("notify: ping", "uri", websync.RedactURL(u))
		}
	}
	return known
}

// pinged returns the URLs in a request.
func pinged(r *http.Request, body string) []string {
	urls := fields(r.URL.Query())
	if media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); media == "application/x-www-form-urlencoded" {
		form, _ := url.ParseQuery(body) // without malformed fields
		urls = append(urls, fields(form)...)
	}
	if len(urls) == 0 {
		return strings.Fields(body) // also if a client sends a bare URL as a form
	}
	return urls
}

func fields(form url.Values) (urls []string) {
	for _, field := range []string{"url", "feed"} {
		for _, u := range form[field] {
			urls = append(urls, strings.TrimSpace(u))
		}
	}
	return urls
}
