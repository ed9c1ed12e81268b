package endtoend

import (
	"bytes"
	"compress/gzip"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/racing"
)

var everyFault = flag.Bool("every-fault", false, "TestFaults puts each fault at every request, not at a third of them or less")

// An exchange is one request that a fault answers.
type exchange struct {
	w    http.ResponseWriter
	r    *http.Request
	site *site
	old  *site  // the edition before
	path string // with its query
	text string // what a server without the fault sends; empty if there is no such document
	list bool   // the path is that of a list, not of a body
}

// raw sends bytes instead of an answer and closes the connection.
func (x *exchange) raw(format string, args ...any) {
	conn, rw, err := http.NewResponseController(x.w).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	fmt.Fprintf(rw, format, args...)
	rw.Flush()
}

// reset closes the connection with a reset.
func (x *exchange) reset(format string, args ...any) {
	conn, rw, err := http.NewResponseController(x.w).Hijack()
	if err != nil {
		return
	}
	fmt.Fprintf(rw, format, args...)
	rw.Flush()
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	conn.Close()
}

func (x *exchange) status(code int, text string, header ...string) {
	for k := 0; k < len(header); k += 2 {
		x.w.Header().Set(header[k], header[k+1])
	}
	x.w.WriteHeader(code)
	io.WriteString(x.w, text)
}

func (x *exchange) half() string { return x.text[:len(x.text)/2] }

// another returns another document of the same kind.
func (x *exchange) another() string {
	for _, path := range x.site.lists {
		if x.list && path != x.path {
			return x.site.files[path]
		}
	}
	for path, text := range x.site.files {
		if path != x.path && strings.HasPrefix(path, "/doc/") {
			return text
		}
	}
	return ""
}

func zipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, text)
	z.Close()
	return b.String()
}

const login = "<!DOCTYPE html><html><head><title>Log in</title></head><body><form><input name=user></form></body></html>"

// These values say where a fault can be detected.
const (
	always  = iota
	inLists // not in a body without a digest and a length
	inXML   // nor in a text sitemap, which has neither an end nor a beginning of its own
	never   // the answer is complete, but another one, or an older one
)

// faults are the ways in which a server fails, at the same URL during the whole run.
var faults = []struct {
	name    string
	noticed int
	answer  func(x *exchange)
}{
	{"400", always, func(x *exchange) { x.status(400, "bad request") }},
	{"401", always, func(x *exchange) { x.status(401, login, "WWW-Authenticate", "Basic") }},
	{"403", always, func(x *exchange) { x.status(403, login) }},
	{"404", always, func(x *exchange) { x.status(404, login) }},
	{"405", always, func(x *exchange) { x.status(405, "") }},
	{"410", always, func(x *exchange) { x.status(410, "") }},
	{"416", always, func(x *exchange) { x.status(416, "") }},
	{"429", always, func(x *exchange) { x.status(429, "") }},
	{"500", always, func(x *exchange) { x.status(500, login) }},
	{"500 with the document", always, func(x *exchange) { x.status(500, x.text) }},
	{"502", always, func(x *exchange) { x.status(502, "") }},
	{"503 at once again", always, func(x *exchange) { x.status(503, "", "Retry-After", "0") }},
	{"504", always, func(x *exchange) { x.status(504, "") }},
	{"599", always, func(x *exchange) { x.status(599, "") }},
	{"204", always, func(x *exchange) { x.status(204, "") }},
	{"205", always, func(x *exchange) { x.status(205, "") }},
	{"206 without a range", always, func(x *exchange) {
		x.status(206, x.half(), "Content-Range", fmt.Sprintf("bytes 0-%d/%d", len(x.half())-1, len(x.text)))
	}},
	{"300", always, func(x *exchange) { x.status(300, login) }},
	{"304 that was not asked for", always, func(x *exchange) {
		if x.r.Header.Get("If-None-Match") != "" {
			x.status(500, "")
			return
		}
		x.status(304, "")
	}},
	{"a redirect to itself", always, func(x *exchange) { x.status(302, "", "Location", x.path) }},
	{"a redirect without a place", always, func(x *exchange) { x.status(302, "") }},
	{"a redirect to nowhere", always, func(x *exchange) { x.status(301, "", "Location", "/nowhere") }},
	{"a redirect to a login page", inLists, func(x *exchange) { x.status(302, "", "Location", "/login") }},
	{"a redirect to the root of the set", inLists, func(x *exchange) {
		if x.path == x.site.lists[0] {
			x.status(302, "", "Location", "/login")
			return
		}
		x.status(302, "", "Location", x.site.lists[0])
	}},
	{"a redirect to the last document of the set", inLists, func(x *exchange) {
		last := x.site.lists[len(x.site.lists)-1]
		if x.path == last {
			x.status(302, "", "Location", "/login")
			return
		}
		x.status(302, "", "Location", last)
	}},
	{"a login page", inLists, func(x *exchange) { x.status(200, login, "Content-Type", "text/html") }},
	{"a login page as XML", inLists, func(x *exchange) { x.status(200, login, "Content-Type", "application/xml") }},
	{"an error in JSON", inLists, func(x *exchange) { x.status(200, `{"error":"try later"}`, "Content-Type", "application/json") }},
	{"nothing", inLists, func(x *exchange) { x.status(200, "") }},
	{"white space", inLists, func(x *exchange) { x.status(200, "\n\n  \n") }},
	{"zero bytes", inLists, func(x *exchange) { x.status(200, strings.Repeat("\x00", len(x.text))) }},
	{"half of it", inXML, func(x *exchange) { x.status(200, x.half()) }},
	{"half of it, by its length", always, func(x *exchange) {
		x.raw("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(x.text), x.half())
	}},
	{"half of it, in chunks", always, func(x *exchange) {
		x.raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(x.half()), x.half())
	}},
	{"half of it, up to the end of the connection", inLists, func(x *exchange) {
		x.raw("HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\n%s", x.half())
	}},
	{"half of it, HTTP/1.1 without a length", inLists, func(x *exchange) {
		x.raw("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n%s", x.half())
	}},
	{"half of it and a reset", always, func(x *exchange) {
		x.reset("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(x.text), x.half())
	}},
	{"half of its gzip", always, func(x *exchange) {
		z := zipped(x.text)
		x.status(200, z[:len(z)/2], "Content-Encoding", "gzip")
	}},
	{"gzip in name only", always, func(x *exchange) { x.status(200, x.text, "Content-Encoding", "gzip") }},
	{"gzip with a wrong sum", always, func(x *exchange) {
		z := []byte(zipped(x.text))
		z[len(z)-6] ^= 1
		x.status(200, string(z), "Content-Encoding", "gzip")
	}},
	{"an unknown coding", always, func(x *exchange) { x.status(200, x.text, "Content-Encoding", "x-zoo") }},
	{"a closed connection", always, func(x *exchange) { x.raw("") }},
	{"a reset", always, func(x *exchange) { x.reset("") }},
	{"half a header", always, func(x *exchange) { x.raw("HTTP/1.1 200 OK\r\nContent-Le") }},
	{"not HTTP", always, func(x *exchange) { x.raw("220 ready\r\n") }},
	{"two lengths", always, func(x *exchange) {
		x.raw("HTTP/1.1 200 OK\r\nContent-Length: %d\r\nContent-Length: 7\r\n\r\n%s", len(x.text), x.text)
	}},
	{"another document", never, func(x *exchange) { x.status(200, x.another()) }},
	{"the old document", never, func(x *exchange) {
		old, ok := x.old.files[x.path]
		if !ok {
			x.status(404, "")
			return
		}
		x.status(200, old)
	}},
	{"a byte changed", never, func(x *exchange) {
		b := []byte(x.text)
		if len(b) > 0 {
			b[len(b)/2] ^= 1
		}
		x.status(200, string(b))
	}},
	{"304 with another entity tag", never, func(x *exchange) {
		if x.r.Header.Get("If-None-Match") == "" {
			x.status(500, "")
			return
		}
		x.status(304, "", "ETag", `"another"`)
	}},
}

// A server serves a site, and fails at one path in one way.
type server struct {
	mu    sync.Mutex
	site  *site
	old   *site
	fault func(*exchange)
	at    string
	asked []string // the paths requested, in order, each once
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := r.URL.RequestURI()
	s.mu.Lock()
	site, fault := s.site, s.fault
	if path != s.at {
		fault = nil
	}
	known := false
	for _, p := range s.asked {
		known = known || p == path
	}
	if !known {
		s.asked = append(s.asked, path)
	}
	s.mu.Unlock()

	w.Header().Set("Date", "Sun, 01 Nov 2026 12:00:00 GMT")
	text, ok := site.files[path]
	x := &exchange{w: w, r: r, site: site, old: s.old, path: path, text: text}
	for _, list := range site.lists {
		x.list = x.list || list == path
	}
	switch {
	case fault != nil:
		fault(x)
	case path == "/login":
		x.status(200, login, "Content-Type", "text/html")
	case !ok:
		http.NotFound(w, r)
	default:
		w.Header().Set("ETag", etag(x.text))
		w.Header().Set("Content-Type", site.mediaType(path))
		if r.Header.Get("If-None-Match") == etag(x.text) {
			w.WriteHeader(304)
			return
		}
		io.WriteString(w, text)
	}
}

func (s *server) serve(now *site, at string, fault func(*exchange)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.site, s.at, s.fault, s.asked = now, at, fault, nil
}

// client returns a Fetcher that reaches the server under every name and makes each
// request once.
func (s *server) client(addr string) *fetch.Client {
	var dialer net.Dialer
	transport := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, network, addr)
	}}
	c := fetch.New(nil)
	c.Transport, c.Rate, c.Attempts = transport, 1e6, -1
	return c
}

// TestFaults harvests a site, then its next edition from a server that fails at one URL,
// then from one that does not. The second run deletes nothing that is still there and
// reports to be in step only if it is. After the third everything is as it should be.
func TestFaults(t *testing.T) {
	first := edition{end: 30, part: 10}
	next := edition{end: 33, gone: []int{3, 17}, changed: []int{5, 28}, part: 10}
	for _, shape := range append(shapes, textSitemap) {
		before, after := shape(first), shape(next)
		t.Run(before.name, func(t *testing.T) {
			t.Parallel()
			faultsOf(t, &trial{before: before, after: after})
		})
	}
	for _, of := range []struct {
		name  string
		shape func(edition) *site
		trial trial
	}{
		{"changes", listAndChanges, trial{}},
		{"changes", indexesOfLists, trial{}},
		{"a new baseline", listAndChanges, trial{full: true}},
		{"a new baseline", indexesOfLists, trial{full: true}},
		{"a new baseline", dumpAndChanges, trial{full: true}},
		{"a new baseline", dumpWithManifests, trial{full: true}},
		{"the first baseline", dumpBesideList, trial{fresh: true}},
	} {
		of.trial.before = of.shape(edition{end: 9, base: 9, part: 3})
		of.trial.after = of.shape(edition{end: 10, base: 9, gone: []int{3}, changed: []int{5}, part: 3, relisted: of.trial.full})
		t.Run(of.trial.before.name+", "+of.name, func(t *testing.T) {
			t.Parallel()
			faultsOf(t, &of.trial)
		})
	}
	t.Run("our sitemap", func(t *testing.T) {
		t.Parallel()
		before, after := published(t, "our sitemap", openSitemap, asSitemap, first, next)
		faultsOf(t, &trial{before: before, after: after})
	})
	t.Run("our archive", func(t *testing.T) {
		t.Parallel()
		before, after := published(t, "our archive", openAtom, asArchive, first, next)
		faultsOf(t, &trial{before: before, after: after})
	})
}

func faultsOf(t *testing.T, trial *trial) {
	s := &server{site: trial.after, old: trial.before}
	web := httptest.NewServer(s)
	defer web.Close()
	web.Config.ErrorLog = nil
	trial.server, trial.addr = s, web.Listener.Addr().String()
	store := trial.baseline(t)
	s.serve(trial.after, "", nil)
	report := trial.run(t, store, false)
	require.True(t, report.InStep(), "%+v", report)
	require.Equal(t, trial.after.truth, live(t, store, trial.after.source().Key()))
	asked := s.asked
	require.Greater(t, len(asked), 2)

	one := 3 // in so many requests
	switch {
	case *everyFault:
		one = 1
	case racing.Few():
		one = 30
	}
	for k, f := range faults {
		for n, path := range asked {
			if (n+k)%one != 0 {
				continue
			}
			trial.survive(t, fmt.Sprintf("%s at %s", f.name, path), path, f.answer, f.noticed)
		}
	}
}

// A trial harvests one edition of a site after another.
type trial struct {
	before, after *site
	fresh         bool // the one before is not harvested
	full          bool // the one after is listed from the beginning

	server *server
	addr   string
}

func (r *trial) baseline(t *testing.T) *harvest.Catalog {
	store := harvest.NewCatalog(memstore.New())
	if r.fresh {
		return store
	}
	h := &harvest.Harvester{Catalog: store, Fetcher: r.before.fetcher()}
	report, err := h.Run(t.Context(), r.before.source())
	require.NoError(t, err)
	require.True(t, report.InStep(), "%+v", report)
	return store
}

func (r *trial) run(t *testing.T, store *harvest.Catalog, heal bool) *harvest.Report {
	client := r.server.client(r.addr)
	defer client.CloseIdleConnections() // there are thousands of runs
	h := &harvest.Harvester{Catalog: store, Fetcher: client, Full: heal || r.full, Recheck: heal}
	report, err := h.Run(t.Context(), r.after.source())
	if err != nil {
		assert.False(t, report.InStep())
	}
	return report
}

func (r *trial) survive(t *testing.T, name, path string, fault func(*exchange), noticed int) {
	store := r.baseline(t)
	key := r.after.source().Key()
	r.server.serve(r.after, path, fault)
	report := r.run(t, store, false)
	held := live(t, store, key)
	inList := false
	for _, list := range r.after.lists {
		inList = inList || list == path
	}
	text := strings.HasSuffix(path, ".txt")
	silent := noticed == never || noticed == inLists && !inList || noticed == inXML && (!inList || text)
	if r.after.verified && !inList {
		silent = false // the lists state the digest of each body
	}
	if !r.fresh && (!silent || !inList) {
		for id := range r.before.truth {
			if _, still := r.after.truth[id]; still {
				assert.Contains(t, held, id, "%s: deleted", name)
			}
		}
	}
	if report.InStep() && !silent {
		assert.Equal(t, r.after.truth, held, "%s: in step, but not the truth", name)
	}
	if r.fresh && silent {
		return // a list that changes under the same at is one of when it was read
	}
	r.server.serve(r.after, "", nil)
	for range 2 {
		report = r.run(t, store, silent)
	}
	assert.True(t, report.InStep(), "%s: not in step when all is well again: %+v", name, report)
	assert.Equal(t, r.after.truth, live(t, store, key), "%s: not healed", name)
}
