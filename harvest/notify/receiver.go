package notify

import (
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/websync-go/websync"
)

// A Receiver is the address to ping: a POST request names the URLs of lists or feeds that
// have changed, in the fields url and feed of a form or of the query, or as lines of
// text. It is answered with
//
//	202  at least one of the URLs is on the list, and its source will run
//	400  there is no URL
//	404  none of them is on the list
//	405  not a POST
//	413  more than 64 KiB
//
// Nothing is fetched but what is on the list, so anybody may be let ping. Its fields are
// not changed while it is in use.
type Receiver struct {
	// Notify receives each URL and reports whether it is on the list: the method of a
	// Runner. It must return at once. Nil: none is.
	Notify func(url string) bool

	// Log gets pings that are on the list (debug). Nil: silent.
	Log *slog.Logger
}

var _ http.Handler = (*Receiver)(nil)

const maxPing = 64 << 10

// ServeHTTP answers a ping. The run comes later.
func (v *Receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "pings are POST requests", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxPing))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		http.Error(w, "too large for a ping", http.StatusRequestEntityTooLarge)
		return
	}
	urls := pinged(r, string(body))
	if err != nil || len(urls) == 0 {
		http.Error(w, "no URL: send it in the field url of a form, or as text", http.StatusBadRequest)
		return
	}
	if !v.notify(urls) {
		http.Error(w, "not on the list", http.StatusNotFound)
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

// pinged returns the URLs that a request names.
func pinged(r *http.Request, body string) []string {
	urls := fields(r.URL.Query())
	if media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); media == "application/x-www-form-urlencoded" {
		form, _ := url.ParseQuery(body) // what can be read of it
		urls = append(urls, fields(form)...)
	}
	if len(urls) == 0 {
		return strings.Fields(body) // also where a client calls a bare URL a form
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
