package status

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/union"
)

// A Handler serves the page and its twin in JSON. Its fields must not change while it is
// in use.
type Handler struct {
	// Catalog is what the page is about. It is required.
	Catalog *harvest.Catalog
	// Due returns the sources that are scheduled, by their keys, with the times of their
	// next runs; a zero time is not known. It fits schedule.Scheduler.Due. If nil, the
	// page has the sources that have run.
	Due func() map[string]time.Time
	// Merged is the key of the [union.Source] under which other sources are published. It
	// is not listed, and its records do not count: those of its members do.
	Merged string
	// Conflicts returns which sources state the same ids: see [union.Source.Conflicts].
	// If nil, the page has none.
	Conflicts func() []union.Conflict
	// Origin returns the URL that has led to a source. The page has 500 sources: if there
	// are more, each origin has its share. If nil, those of one host have one origin.
	Origin func(source string) string
	// Recorder, if set, notes the runs of this process. While it cannot write to the Store,
	// whose disk may be full, what the Store has of runs is old: the page says so and is
	// "fail", and /healthz is 503.
	Recorder *Recorder
	// Hosts are names at which the page may be asked for, in the header Host, without a
	// port: besides localhost and any address. If a page of a stranger gives its own name
	// the address of this server, a browser sends that name.
	Hosts []string
	// Title is the heading of the page. If empty, it is "Harvest status".
	Title string
	// Metrics, if set, writes more metrics after those of /metrics, in the text format of
	// Prometheus: those of a process, for example, which an exporter collects.
	Metrics func(io.Writer) error
	// MaxAge is how long an answer is used again. If zero, it is 5 seconds; if negative,
	// each answer is made anew.
	MaxAge time.Duration
	// Log receives why the page can't be made (error). If nil, nothing is logged.
	Log *slog.Logger

	mu   sync.Mutex // held while the answers are made
	made time.Time
	all  map[string]answer // by path
}

// An answer is what is served at one path.
type answer struct {
	mediaType, etag string
	body            []byte
}

func newAnswer(mediaType string, body []byte) answer {
	sum := sha256.Sum256(body)
	return answer{mediaType, `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`, body}
}

// contentPolicy lets a page load nothing.
const contentPolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// ServeHTTP answers GET and HEAD for the paths "/" and "/status.json"; for "/metrics", with
// the state of each source in the text format of Prometheus; and for "/healthz", in one
// line: 200 while the Store can be read and runs can be noted, or else 503. Sources that
// fail do not count there.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Content-Security-Policy", contentPolicy)
	header.Set("Cache-Control", "private, no-cache")
	switch {
	case !h.knows(r.Host):
		http.Error(w, "The page is not known by this name.", http.StatusMisdirectedRequest)
		return
	case !slices.Contains([]string{"/", "/status.json", "/metrics", "/healthz"}, r.URL.Path):
		http.Error(w, "The page is at /, as JSON at /status.json, and as metrics at /metrics.", http.StatusNotFound)
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		header.Set("Allow", "GET, HEAD")
		http.Error(w, "This page can only be read.", http.StatusMethodNotAllowed)
		return
	}
	if r.URL.Path == "/healthz" {
		h.serveHealth(w, r)
		return
	}
	all, err := h.answers(r.Context())
	if err != nil {
		if h.Log != nil {
			h.Log.Error("status page", "err", err)
		}
		http.Error(w, "The store can't be read now.", http.StatusServiceUnavailable)
		return
	}
	a := all[r.URL.Path]
	if r.URL.Path == "/metrics" && h.Metrics != nil {
		if a, err = h.withMetrics(a); err != nil {
			http.Error(w, "The metrics can't be collected now.", http.StatusInternalServerError)
			return
		}
	}
	header.Set("ETag", a.etag)
	if matches(r.Header.Values("If-None-Match"), a.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	header.Set("Content-Type", a.mediaType)
	header.Set("Content-Length", strconv.Itoa(len(a.body)))
	if r.Method == http.MethodGet {
		w.Write(a.body)
	}
}

// serveHealth answers whether this process can do its work.
func (h *Handler) serveHealth(w http.ResponseWriter, r *http.Request) {
	_, err := h.Catalog.Head(r.Context())
	switch {
	case err != nil:
		http.Error(w, "the store can't be read", http.StatusServiceUnavailable)
	case h.Recorder.failure() != nil:
		http.Error(w, "the store can't be written", http.StatusServiceUnavailable)
	default:
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		io.WriteString(w, "ok\n")
	}
}

// knows reports whether the page may be asked for at a Host. No page of a stranger can
// make a browser send an address that is not its own.
func (h *Handler) knows(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	isHost := func(name string) bool { return strings.EqualFold(name, host) }
	return err == nil || isHost("localhost") || slices.ContainsFunc(h.Hosts, isHost)
}

// matches reports whether If-None-Match has an ETag (RFC 9110 §13.1.2).
func matches(values []string, etag string) bool {
	for _, value := range values {
		for tag := range strings.SplitSeq(value, ",") {
			if tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/"); tag == etag || tag == "*" {
				return true
			}
		}
	}
	return false
}

// withMetrics returns metrics with those of Handler.Metrics.
func (h *Handler) withMetrics(a answer) (answer, error) {
	more := new(bytes.Buffer)
	more.Write(a.body)
	err := h.Metrics(more)
	return newAnswer(a.mediaType, more.Bytes()), err
}

// answers returns what is served at each path, all of the same moment.
func (h *Handler) answers(ctx context.Context) (map[string]answer, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	age := h.MaxAge
	if age == 0 {
		age = 5 * time.Second
	}
	if since := time.Since(h.made); !h.made.IsZero() && since >= 0 && since < age {
		return h.all, nil
	}
	s, err := h.Status(ctx)
	if err != nil {
		return nil, err
	}
	var html bytes.Buffer
	if err := statusTemplate.Execute(&html, newView(s)); err != nil {
		return nil, fmt.Errorf("status: %w", err)
	}
	data, err := json.MarshalIndent(s, "", "\t")
	if err != nil {
		return nil, fmt.Errorf("status: %w", err)
	}
	h.made, h.all = time.Now(), map[string]answer{
		"/":            newAnswer("text/html; charset=utf-8", html.Bytes()),
		"/status.json": newAnswer("application/json", append(data, '\n')),
		"/metrics":     newAnswer(metricsType, s.metrics(h.Recorder.failure() == nil)),
	}
	return h.all, nil
}
