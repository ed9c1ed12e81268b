package publish

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/spool"
)

// An answer is the response to one request: a document in one of its two codings.
type answer struct {
	h    *Handler
	r    *http.Request
	path string
	doc  *websync.Document
	validator

	content io.ReadSeekCloser // if nil, a HEAD without a length
	size    int64
}

func newAnswer(h *Handler, r *http.Request, path string, doc *websync.Document) *answer {
	a := &answer{h: h, r: r, path: path, doc: doc}
	a.validator = validator{tag: entityTag(doc.ETag), modified: doc.Modified, vary: doc.Encoding == "" && compressible(doc.Type)}
	a.gzip = a.vary && acceptsGzip(r.Header.Values("Accept-Encoding"))
	return a
}

// Documents that are opened are compressed only if their length is within these limits:
// a short one gains nothing, and of a long one no byte can be sent before all of it is
// compressed.
const (
	gzipMin = 1 << 10
	gzipMax = 16 << 20
)

// keptBody is up to how many bytes documents that are opened are kept in memory.
const keptBody = 64 << 10

// decided reports whether the preconditions can be evaluated before the document is
// opened: the tag is known, and the coding is known or does not matter.
func (a *answer) decided() bool {
	coding := !a.gzip || a.onlyNoneMatch(a.r.Header) || a.doc.Write != nil && a.r.Header.Get("If-Match") == ""
	return a.tag != "" && coding
}

func (a *answer) precondition() int { return a.check(a.r.Header, time.Now()) }

// open obtains the bytes. It returns ErrConflict if they changed meanwhile, unless this
// is the last attempt.
func (a *answer) open(last bool) error {
	if a.doc.Write == nil {
		return a.openDocument()
	}
	if a.headOnly() {
		return nil
	}
	s, err := a.list()
	if err != nil {
		return err
	}
	if s.moved {
		if !last {
			s.release()
			return websync.ErrConflict
		}
		// The document's tag and time belong to another state than these bytes.
		a.doc = &websync.Document{Type: a.doc.Type, Links: a.doc.Links}
		a.tag, a.modified = "", time.Time{}
	}
	return a.use(s.reader())
}

// use makes content the content, finds its length, and makes a tag from it if there is
// none. It closes content if it fails.
func (a *answer) use(content io.ReadSeekCloser) (err error) {
	if a.tag == "" {
		a.tag, err = sumTag(content)
	}
	if err == nil {
		a.size, err = content.Seek(0, io.SeekEnd)
	}
	if err != nil {
		return errors.Join(err, content.Close())
	}
	a.content = content
	return nil
}

// headOnly reports whether the request is a HEAD that can be answered without rendering
// the list. If the cache has the list, it becomes the content.
func (a *answer) headOnly() bool {
	if a.r.Method != http.MethodHead || a.tag == "" {
		return false
	}
	s := a.h.cache.held(key{slot{a.path, a.gzip}, a.tag})
	if s != nil && a.gzip && s.isNone() {
		s.release()
		a.gzip = false
		s = a.h.cache.held(key{slot{a.path, false}, a.tag})
	}
	if s != nil {
		a.use(s.reader()) // it has a tag, and a length
	}
	return true
}

// list returns the bytes of a list in the chosen coding, or without one if their gzip
// form would expand too much.
func (a *answer) list() (*rendering, error) {
	ctx, h := a.r.Context(), a.h
	get := func(ctx context.Context) (*rendering, error) {
		return h.cache.get(ctx, key{slot{a.path, false}, a.tag}, h.turn(a.doc.Write))
	}
	getZipped := func() (*rendering, error) {
		return h.cache.get(ctx, key{slot{a.path, true}, a.tag}, h.compressed(get))
	}
	if a.tag == "" {
		// Without a tag, the cache cannot recognise two renderings of the same state.
		plain, err := h.cache.render(ctx, h.turn(a.doc.Write))
		if err != nil {
			return nil, err
		}
		defer plain.release()
		get = func(context.Context) (*rendering, error) {
			plain.refs.Add(1)
			return plain, nil
		}
		getZipped = func() (*rendering, error) { return h.cache.render(ctx, h.compressed(get)) }
	}
	if !a.gzip {
		return get(ctx)
	}
	s, err := getZipped()
	if err == nil && s.isNone() {
		s.release()
		a.gzip = false
		return get(ctx)
	}
	return s, err
}

// turn returns a function that waits for its turn and then calls write.
func (h *Handler) turn(write func(context.Context, io.Writer) error) func(context.Context, io.Writer) error {
	return func(ctx context.Context, w io.Writer) error {
		release, err := h.acquire(ctx)
		if err != nil {
			return err
		}
		defer release()
		return write(ctx, w)
	}
}

// compressed returns a function that writes the gzip form of a rendering and releases it.
func (h *Handler) compressed(get func(context.Context) (*rendering, error)) func(context.Context, io.Writer) error {
	return func(ctx context.Context, w io.Writer) error {
		s, err := get(ctx)
		if err != nil {
			return err
		}
		r := s.reader()
		defer r.Close()
		err = h.turn(func(_ context.Context, w io.Writer) error { return spool.Gzip(w, r) })(ctx, w)
		if (err == nil || err == spool.ErrExpands) && s.moved {
			err = errors.Join(err, websync.ErrConflict)
		}
		return err
	}
}

// openDocument opens a package or a body.
func (a *answer) openDocument() error {
	if err := a.openOnce(); err != nil {
		return err
	}
	a.gzip = a.gzip && a.size >= gzipMin && a.size <= gzipMax
	if !a.gzip {
		return nil
	}
	a.content.Close()
	a.content = nil
	if a.headOnly() {
		return nil
	}
	s, err := a.h.cache.get(a.r.Context(), key{slot{a.path, true}, a.tag}, a.h.turn(func(ctx context.Context, w io.Writer) error {
		content, err := a.doc.Open(ctx)
		if err != nil {
			return err
		}
		defer content.Close()
		return spool.Gzip(w, content)
	}))
	if err != nil {
		return err
	}
	if !s.isNone() {
		return a.use(s.reader())
	}
	s.release()
	a.gzip = false
	return a.openOnce()
}

// openOnce makes the bytes of a package or a body the content. Short ones with a tag are
// kept in memory.
func (a *answer) openOnce() error {
	k := key{slot{a.path, false}, a.tag}
	if s := a.h.cache.held(k); s != nil && a.tag != "" {
		return a.use(s.reader())
	}
	content, err := a.doc.Open(a.r.Context())
	if err != nil {
		return err
	}
	if err := a.use(content); err != nil || a.size > keptBody || a.doc.ETag == "" {
		return err
	}
	s, err := a.h.cache.render(a.r.Context(), func(_ context.Context, w io.Writer) error {
		_, err := content.Seek(0, io.SeekStart)
		if err == nil {
			_, err = io.CopyN(w, content, a.size)
		}
		return errors.Join(err, content.Close())
	})
	if err != nil {
		a.content = nil
		return err
	}
	a.h.cache.keepNew(k, s)
	return a.use(s.reader())
}

// sumTag makes a tag from the bytes of r.
func sumTag(r io.Reader) (string, error) {
	sum := sha256.New()
	_, err := io.Copy(sum, r)
	return hex.EncodeToString(sum.Sum(nil)[:16]), err
}

// sendStatus answers 304 or 412.
func (a *answer) sendStatus(w http.ResponseWriter, status int) {
	if status == http.StatusPreconditionFailed {
		refuse(w, status)
		return
	}
	a.cacheHeader(w.Header())
	w.WriteHeader(status)
}

// send answers with the content or a range of it. If it cannot send as many bytes as
// Content-Length states, it aborts the connection, because some clients would take the
// part for the whole. If it returns an error, nothing has been sent.
func (a *answer) send(w http.ResponseWriter) error {
	first, length, status := int64(0), a.size, http.StatusOK
	if a.r.Method == http.MethodGet && a.ifRange(a.r.Header, time.Now()) {
		first, length, status = rangeOf(a.r.Header, a.size)
	}
	h := w.Header()
	if status == http.StatusRequestedRangeNotSatisfiable {
		h.Set("Content-Range", fmt.Sprintf("bytes */%d", a.size))
		refuse(w, status)
		return nil
	}
	if _, err := a.content.Seek(first, io.SeekStart); err != nil {
		return err
	}
	a.header(h)
	h.Set("Content-Length", strconv.FormatInt(length, 10))
	if status == http.StatusPartialContent {
		h.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", first, first+length-1, a.size))
	}
	w.WriteHeader(status)
	if a.r.Method == http.MethodGet {
		a.copy(w, length)
	}
	return nil
}

// copy sends the next bytes of the content.
func (a *answer) copy(w io.Writer, length int64) {
	content := &counter{Reader: a.content}
	var err error
	if r, ok := a.content.(*renderingReader); ok && r.rendering.text != nil {
		_, err = w.Write(r.next(length))
	} else {
		_, err = io.CopyN(w, content, length)
	}
	if err == nil {
		return
	}
	level := slog.LevelDebug // the client closed the connection
	if content.n < length && content.err != nil {
		level, err = slog.LevelError, content.err
	}
	a.h.log.Log(a.r.Context(), level, "publish: answer cut off", "uri", a.path, "bytes", content.n, "error", err)
	panic(http.ErrAbortHandler)
}

// A counter counts the bytes that are read.
type counter struct {
	io.Reader
	n   int64
	err error
}

func (c *counter) Read(p []byte) (n int, err error) {
	n, err = c.Reader.Read(p)
	c.n += int64(n)
	c.err = err
	return n, err
}
