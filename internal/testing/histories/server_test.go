package histories

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/fetch"
)

// An entry is what a document says of one resource.
type entry struct {
	id, title, link string
	time            websync.Datetime // zero if none is stated
	content         string           // inline; if empty, it is at the link
	deleted         bool             // a tombstone
}

// A version is one state of a document or a page.
type version struct {
	number   int
	body     []byte
	etag     string
	modified time.Time // by the server's clock; zero if a program made it in an error, which states none
	entries  []entry   // of a list
	run      int       // in which it came to be
}

// newest returns the latest time that an entry states.
func (v *version) newest() (latest websync.Datetime) {
	for _, e := range v.entries {
		if e.time.Compare(latest) > 0 {
			latest = e.time
		}
	}
	return latest
}

// An answer is what a request of a run was answered with.
type answer struct {
	url    string
	v      *version
	how    string // the fault; empty if the answer is the truth
	status int
	exact  bool // a 304 to the validators of this version, which was sent before
}

// shown reports whether the answer shows what the version says.
func (a *answer) shown() bool { return a.status == http.StatusOK || a.exact }

// entries returns the entries of a list that was sent.
func (a *answer) entries() []entry {
	if a.v == nil || a.status != http.StatusOK {
		return nil
	}
	return a.v.entries
}

func (a *answer) String() string {
	s := fmt.Sprintf("%s → %d", short(a.url), a.status)
	if a.v != nil {
		s += fmt.Sprintf(" version %d", a.v.number)
	}
	if a.how != "" {
		s += " (" + a.how + ")"
	}
	if a.v == nil || a.status != http.StatusOK {
		return s
	}
	if a.v.entries == nil {
		return s + fmt.Sprintf(" %.40q", a.v.body)
	}
	for _, e := range a.v.entries {
		s += " " + e.String()
	}
	return s
}

func (e entry) String() string {
	s := short(e.id)
	if !e.time.IsZero() {
		s += "@" + e.time.String()
	}
	if e.deleted {
		s = "-" + s
	}
	if e.content != "" {
		s += fmt.Sprintf("=%q", e.content)
	}
	return s
}

const base = "https://example.org/"

func short(url string) string { return strings.TrimPrefix(url, base) }

// Validators that a server may send.
const (
	noValidator = iota
	etagOnly
	modifiedOnly
	bothValidators
)

// A server answers for the publisher, through a cache that may be wrong.
type server struct {
	h *history

	mu        sync.Mutex
	docs      map[string][]*version
	gone      map[string]bool
	lists     map[string]bool
	answers   []answer                     // of the run
	sent      map[string]map[*version]bool // by URL: with their bytes
	raced     bool
	lagsUntil map[string]int // by URL: the first run whose answers are no longer behind

	lists304, pages304 int // which validators lists and pages have
	exact304           bool
	dateThen           bool // a stale answer has the Date at which the cache got it
}

// put publishes a document, or a page.
func (s *server) put(url string, body []byte, entries []entry) {
	versions := s.docs[url]
	if n := len(versions); n > 0 && !s.gone[url] && bytes.Equal(versions[n-1].body, body) {
		return
	}
	delete(s.gone, url)
	sum := fnv.New64a()
	sum.Write(body)
	s.docs[url] = append(versions, &version{
		number: len(versions) + 1, body: body, etag: fmt.Sprintf(`"%x"`, sum.Sum64()),
		modified: s.h.server(), entries: entries, run: s.h.run,
	})
	if entries != nil {
		s.lists[url] = true
	} else if len(versions) > 0 && s.h.happens("page-lag", url, len(versions)) {
		s.lagsUntil[url] = s.h.run + 1 + s.h.draw("lag", url, len(versions)).IntN(2)
	}
}

func (s *server) remove(url string) { s.gone[url] = true }

// current returns the present version.
func (s *server) current(url string) *version {
	versions := s.docs[url]
	if len(versions) == 0 || s.gone[url] {
		return nil
	}
	return versions[len(versions)-1]
}

// later reports whether a text is a later state of a page than that of an answer.
func (s *server) later(a answer, text string) bool {
	return a.v.number > 0 && slices.ContainsFunc(s.docs[a.url], func(v *version) bool {
		return v.number > a.v.number && string(v.body) == text
	})
}

// Fetch implements harvest.Fetcher.
func (s *server) Fetch(_ context.Context, req *harvest.Request) (*harvest.Response, error) {
	time.Sleep(100 * time.Millisecond)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lists[req.URL] && !s.raced && s.h.happens("racing", req.URL) {
		s.raced = true
		s.h.say("  while %s is asked for:", short(req.URL))
		s.h.step("racing", 0)
		s.h.publisher.publish()
	}
	v, how := s.choose(req.URL)
	a := answer{url: req.URL, v: v, how: how}
	defer func() {
		s.answers = append(s.answers, a)
		s.h.say("  %s", a.String())
	}()
	if how == "outage" {
		a.status = http.StatusServiceUnavailable
		return nil, &fetch.StatusError{URL: req.URL, Code: a.status}
	}
	if v == nil {
		a.status = http.StatusNotFound
		return nil, &fetch.StatusError{URL: req.URL, Code: a.status}
	}
	kind := s.pages304
	if s.lists[req.URL] {
		kind = s.lists304
	}
	header := http.Header{}
	date := s.h.server()
	if s.dateThen && strings.HasPrefix(how, "stale") {
		date = v.modified
	}
	header.Set("Date", date.Format(http.TimeFormat))
	val := harvest.Validator{URL: req.URL}
	if kind&etagOnly != 0 {
		val.ETag = v.etag
		header.Set("ETag", v.etag)
	}
	if kind&modifiedOnly != 0 && !v.modified.IsZero() {
		val.LastModified = v.modified.Format(http.TimeFormat)
		header.Set("Last-Modified", val.LastModified)
	}
	resp := &harvest.Response{URL: req.URL, Status: http.StatusOK, Header: header, Validator: val, Length: int64(len(v.body))}
	if s.matches(req.Validator, val) {
		a.status, a.exact = http.StatusNotModified, req.Validator == val && s.sent[req.URL][v]
		resp.Status, resp.NotModified, resp.Length, resp.Validator = a.status, true, -1, req.Validator
		return resp, nil
	}
	a.status = http.StatusOK
	if s.sent[req.URL] == nil {
		s.sent[req.URL] = map[*version]bool{}
	}
	s.sent[req.URL][v] = true
	resp.Body = body{bytes.NewReader(v.body)}
	return resp, nil
}

// matches reports whether a condition holds for a representation (RFC 9110 §13.2.2).
func (s *server) matches(have, is harvest.Validator) bool {
	if have.ETag != "" && is.ETag != "" {
		return have.ETag == is.ETag
	}
	if have.LastModified == "" || is.LastModified == "" {
		return false
	}
	if s.exact304 {
		return have.LastModified == is.LastModified
	}
	since, err := http.ParseTime(have.LastModified)
	modified, _ := http.ParseTime(is.LastModified)
	return err == nil && !modified.After(since)
}

// choose returns what a URL is answered with in this run, and the fault in it.
func (s *server) choose(url string) (*version, string) {
	h, v := s.h, s.current(url)
	if h.happens("outage", url) {
		return v, "outage"
	}
	if v == nil {
		return nil, ""
	}
	versions := s.docs[url]
	if !s.lists[url] {
		switch {
		case h.happens("maintenance", "all"):
			return &version{body: []byte("<p>We are back soon.</p>"), etag: `"soon"`}, "maintenance"
		case v.number > 1 && h.happens("page-stale", url):
			back := 1 + h.draw("stale", url).IntN(min(2, v.number-1))
			return versions[v.number-1-back], "stale page"
		case h.behind(s.lagsUntil[url]):
			return versions[v.number-2], "page lags"
		}
		return v, ""
	}
	rng := h.draw("fault", url)
	if v.number > 1 && h.happens("list-stale", url) {
		back := 1 + rng.IntN(min(3, v.number-1))
		return versions[v.number-1-back], "stale"
	}
	siblings := h.publisher.siblings(url)
	if len(siblings) > 0 && h.happens("list-swapped", url) {
		other := siblings[rng.IntN(len(siblings))]
		if w := s.current(other); w != nil && !bytes.Equal(w.body, v.body) {
			how := "swapped with " + short(other)
			if h.family != "sitemap" || rng.IntN(3) > 0 || len(w.entries) < 2 {
				return w, how
			}
			order := slices.Clone(w.entries)
			slices.Reverse(order)
			doc := s.h.publisher.render(url, order)
			return &version{body: doc, etag: `"in another order"`, modified: w.modified, entries: order, run: w.run}, how + ", in another order"
		}
	}
	for _, kind := range []string{"list-empty", "list-half"} {
		if len(v.entries) == 0 || !h.happens(kind, url) {
			continue
		}
		keep := []entry{}
		if kind == "list-half" {
			for _, e := range v.entries {
				if rng.IntN(3) == 0 {
					keep = append(keep, e)
				}
			}
		}
		if bad := h.publisher.render(url, keep); bad != nil && len(keep) < len(v.entries) {
			return &version{body: bad, etag: fmt.Sprintf(`"%s-%d"`, kind, h.run), entries: keep, run: h.run}, kind
		}
	}
	if h.happens("bad-byte", url) {
		if bad := h.publisher.damage(v.body, rng); bad != nil {
			w := *v
			w.body = bad
			return &w, fmt.Sprintf("bad byte: %q", difference(v.body, bad))
		}
	}
	return v, ""
}

// difference returns the line of a damaged document that is not in the whole one.
func difference(whole, bad []byte) []byte {
	for line := range bytes.Lines(bad) {
		if !bytes.Contains(whole, line) {
			return line
		}
	}
	return nil
}

type body struct{ *bytes.Reader }

func (body) Close() error { return nil }

var _ io.ReadSeekCloser = body{}
