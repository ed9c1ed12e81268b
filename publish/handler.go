package publish

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
)

// A Handler serves the documents of Publishers over HTTP. Set its fields before the first
// request and leave them alone afterwards. It is safe for concurrent use.
//
// A Handler uses the path of a request as it was sent, with its escapes. If there is no
// such document, it looks for one without the escapes of marks such as "=" and "+". Paths
// begin at the root of the host, as in the documents' links. So a Handler can have any
// pattern of a [http.ServeMux], but not be behind [http.StripPrefix]. If its pattern is
// not "/", route "/robots.txt" and "/.well-known/" to it as well. It ignores queries.
type Handler struct {
	// Publishers are asked as by [Join].
	Publishers []websync.Publisher

	// Dir is the directory of the temporary files. If empty, it is [os.TempDir].
	Dir string

	// MemoryMax limits the bytes of short lists, up to 256 KiB each, that are kept in
	// memory. If zero, it is 64 MiB; if negative, there is no limit.
	MemoryMax int64

	// SpoolMax limits the bytes of longer lists that are kept in temporary files. If
	// zero, it is 4 GiB; if negative, there is no limit. A list that is being rendered or
	// read does not count.
	SpoolMax int64

	// Concurrency limits how many lists are rendered or compressed at the same time. If
	// zero, it is 4; if negative, there is no limit.
	Concurrency int

	// Trusted declares that all documents are the publisher's own work. If false, they
	// are sent with a Content-Security-Policy that lets a page use its pictures and
	// styles, but not run scripts, send forms or access its host: a harvested page must
	// not act in the name of the site that publishes it again.
	Trusted bool

	// Log receives requests that are answered with a status of 500 (error) or 503
	// (warning), and answers that were cut off. If nil, only errors of the configuration
	// are logged, to [slog.Default]: settings that a [Checker] refuses, or a Catalog that
	// breaks its contract. The text of an error is never sent to a client.
	Log *slog.Logger

	once  sync.Once
	site  websync.Publisher
	slots chan struct{} // if nil, any number
	cache *cache
	log   *slog.Logger
	wrong error // with the settings
	warn  sync.Once
}

var _ http.Handler = (*Handler)(nil)

func (h *Handler) start() {
	h.once.Do(func() {
		h.site = Join(h.Publishers...)
		h.cache = newCache(h.Dir, limit(h.MemoryMax, 64<<20), limit(h.SpoolMax, 4<<30))
		if n := limit(int64(h.Concurrency), 4); n != noLimit {
			h.slots = make(chan struct{}, n)
		}
		h.log = h.Log
		if h.log == nil {
			h.log = slog.New(slog.DiscardHandler)
		}
		h.wrong = h.site.(Checker).Check()
	})
}

// Check checks the Publishers' settings. As long as it returns an error, all requests are
// answered with a status of 500.
func (h *Handler) Check() error {
	h.start()
	return h.wrong
}

// configLog returns the Logger for errors of the configuration.
func (h *Handler) configLog() *slog.Logger {
	if h.Log == nil {
		return slog.Default()
	}
	return h.Log
}

// Close releases all lists that are kept. Answers in progress are finished, and the
// Handler stays usable. On systems that can't remove open files, such as Windows, it
// removes the temporary files. The error is always nil.
func (h *Handler) Close() error {
	h.start()
	h.cache.clear()
	return nil
}

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.start()
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed)
		return
	}
	if h.wrong != nil {
		h.warn.Do(func() { h.configLog().Error("publish: no request can be answered", "error", h.wrong) })
		refuse(w, http.StatusInternalServerError)
		return
	}
	err := error(websync.ErrConflict)
	for left := conflictAttempts; left > 0 && errors.Is(err, websync.ErrConflict); left-- {
		err = h.serve(w, r, left == 1)
	}
	if err != nil {
		h.fail(w, r, err)
	}
}

// conflictAttempts limits how often a list is rendered while the Catalog changes. The
// last rendering is used even if the Catalog changed.
const conflictAttempts = 4

// serve answers one request. If it returns an error, nothing has been sent. The error is
// ErrConflict if the document changed while it was rendered, unless this is the last
// attempt.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request, last bool) error {
	path := r.URL.EscapedPath()
	doc, err := h.site.Document(r.Context(), path)
	if errors.Is(err, websync.ErrNotFound) { // QUIRK: Wget2 1.99 escapes the marks of a path, as in a%2Bb
		if plain := syntax.Unescape(path, syntax.Marks); len(plain) < len(path) {
			path = plain
			doc, err = h.site.Document(r.Context(), path)
		}
	}
	if err != nil {
		return err
	}
	a := newAnswer(h, r, path, doc)
	if a.decided() {
		if status := a.precondition(); status != http.StatusOK {
			a.sendStatus(w, status)
			return nil
		}
	}
	if err := a.open(last); err != nil {
		return err
	}
	if a.content != nil {
		defer a.content.Close()
	}
	switch status := a.precondition(); {
	case status != http.StatusOK:
		a.sendStatus(w, status)
	case a.content == nil:
		a.header(w.Header()) // a HEAD of unknown length
	default:
		return a.send(w)
	}
	return nil
}

// fail answers with an error.
func (h *Handler) fail(w http.ResponseWriter, r *http.Request, err error) {
	level, status := slog.LevelError, http.StatusInternalServerError
	switch {
	case r.Context().Err() != nil:
		// the client has gone away
		level, status = slog.LevelDebug, http.StatusServiceUnavailable
	case errors.Is(err, websync.ErrNotFound):
		level, status = slog.LevelDebug, http.StatusNotFound
	case errors.Is(err, websync.ErrGone):
		level, status = slog.LevelDebug, http.StatusGone
	case errors.Is(err, errSpool), errors.Is(err, websync.ErrLimit),
		errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		level, status = slog.LevelWarn, http.StatusServiceUnavailable
	}
	log := h.log
	if errors.Is(err, websync.ErrCatalog) {
		log = h.configLog()
	}
	log.Log(r.Context(), level, "publish: no answer", "uri", r.URL.EscapedPath(), "status", status, "error", err)
	refuse(w, status)
}

// refuse answers with a status and its name.
func refuse(w http.ResponseWriter, status int) {
	w.Header().Set("Cache-Control", "no-cache")
	http.Error(w, http.StatusText(status), status)
}

// acquire waits for a turn to render. The caller ends the turn with release.
func (h *Handler) acquire(ctx context.Context) (release func(), err error) {
	if h.slots == nil {
		return func() {}, nil
	}
	select {
	case h.slots <- struct{}{}:
		return func() { <-h.slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// noLimit stands for a negative limit.
const noLimit = 1<<63 - 1

// limit returns the limit that a field states: zero stands for std, negative for none.
func limit(v, std int64) int64 {
	switch {
	case v == 0:
		return std
	case v < 0:
		return noLimit
	}
	return v
}
