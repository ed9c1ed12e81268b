package publish

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A validator holds what the conditions of a request are compared with (RFC 9110 §8.8 and
// §13).
type validator struct {
	tag      string // opaque, of the bytes as they are; empty: not known
	modified time.Time
	vary     bool   // the document has a gzip form
	gzip     bool   // the gzip form is sent
	matched  string // the tag that If-None-Match named
}

const gzipSuffix = "-gzip"

// entityTag returns a Publisher's tag, or its hash if it is no opaque-tag (RFC 9110
// §8.8.3).
func entityTag(tag string) string {
	for i := range len(tag) {
		if c := tag[i]; c <= ' ' || c == '"' || c >= 0x7f {
			sum := sha256.Sum256([]byte(tag))
			return hex.EncodeToString(sum[:16])
		}
	}
	return tag
}

// etag returns the field's value.
func (v *validator) etag() string {
	switch {
	case v.matched != "":
		return v.matched
	case v.tag == "":
		return ""
	case v.gzip:
		return `"` + v.tag + gzipSuffix + `"`
	}
	return `"` + v.tag + `"`
}

// changed returns the time of the last change in whole seconds, rounded up: if it were
// rounded down, a version that was replaced within that second would have the same time.
func (v *validator) changed() time.Time {
	if t := v.modified.Truncate(time.Second); t.Before(v.modified) {
		return t.Add(time.Second)
	}
	return v.modified
}

// lastModified returns the time for the field Last-Modified. It is zero until that time
// has come (RFC 9110 §8.8.2.1).
func (v *validator) lastModified(now time.Time) time.Time {
	if t := v.changed(); !t.After(now) {
		return t
	}
	return time.Time{}
}

// check evaluates the conditions of a request and returns the status of the answer: 412,
// 304, or 200 if they hold. If-None-Match may name either form; the answer then names
// that one.
func (v *validator) check(h http.Header, now time.Time) int {
	if !isConditional(h) {
		return http.StatusOK
	}
	own, other := v.etag(), ""
	if own != "" && v.onlyNoneMatch(h) && h.Get("If-None-Match") == own {
		v.matched = own
		return http.StatusNotModified
	}
	if v.vary && h.Get("If-None-Match") != "" {
		other = (&validator{tag: v.tag, gzip: !v.gzip}).etag()
	}
	status := v.evaluate(h, own, now)
	if status == http.StatusOK && other != "" && v.evaluate(h, other, now) == http.StatusNotModified {
		own, status = other, http.StatusNotModified
	}
	if status == http.StatusNotModified {
		v.matched = own
	}
	return status
}

// conditional are the fields that make a request conditional.
var conditional = [...]string{"If-Match", "If-Unmodified-Since", "If-None-Match", "If-Modified-Since"}

// isConditional reports whether a request has conditions.
func isConditional(h http.Header) bool {
	return slices.ContainsFunc(conditional[:], func(name string) bool { return len(h[name]) > 0 })
}

// evaluate has net/http evaluate the conditions in their order (RFC 9110 §13.2.2) with
// this tag. It reads only the first line of each field.
func (v *validator) evaluate(h http.Header, tag string, now time.Time) int {
	conditions := make(http.Header)
	for _, name := range conditional {
		if values := h.Values(name); len(values) > 0 {
			conditions.Set(name, strings.Join(values, ","))
		}
	}
	if v.lastModified(now).IsZero() {
		conditions.Del("If-Modified-Since")
	}
	w := statusWriter{header: http.Header{"Content-Type": nil, "Etag": {tag}}}
	http.ServeContent(&w, &http.Request{Method: http.MethodGet, Header: conditions}, "", v.changed(), strings.NewReader(""))
	return w.status
}

// A statusWriter is an [http.ResponseWriter] that keeps the status only.
type statusWriter struct {
	header http.Header
	status int
}

func (w *statusWriter) Header() http.Header         { return w.header }
func (w *statusWriter) Write(p []byte) (int, error) { return len(p), nil }
func (w *statusWriter) WriteHeader(status int)      { w.status = status }

// onlyNoneMatch reports whether check needs only the tag.
func (v *validator) onlyNoneMatch(h http.Header) bool {
	return h.Get("If-None-Match") != "" && h.Get("If-Match") == "" && h.Get("If-Unmodified-Since") == ""
}

// ifRange reports whether the If-Range condition holds (RFC 9110 §13.1.5). A date never
// matches a document that has two forms.
func (v *validator) ifRange(h http.Header, now time.Time) bool {
	cond := h.Get("If-Range")
	if cond == "" {
		return true
	}
	if t, err := http.ParseTime(cond); err == nil {
		return !v.vary && t.Equal(v.lastModified(now))
	}
	return cond == v.etag()
}

// rangeOf returns the range of size bytes that a request asks for, and the status of the
// answer: 200, 206 or 416 (RFC 9110 §14.2). It ignores other units, which it must and
// [http.ServeContent] does not, and several ranges and invalid ones, which it may. An
// empty document has no ranges.
func rangeOf(h http.Header, size int64) (first, length int64, status int) {
	values := h.Values("Range")
	if len(values) != 1 || size == 0 {
		return 0, size, http.StatusOK
	}
	spec, ofBytes := strings.CutPrefix(values[0], "bytes=")
	from, to, dash := strings.Cut(strings.TrimSpace(spec), "-")
	first, isFirst := position(from)
	last, isLast := position(to)
	switch {
	case !ofBytes || !dash:
		return 0, size, http.StatusOK
	case from == "" && isLast: // the number of last bytes
		first, last = size-min(last, size), size-1
	case isFirst && to == "":
		last = size - 1
	case !isFirst || !isLast || last < first:
		return 0, size, http.StatusOK
	}
	if first >= size {
		return 0, 0, http.StatusRequestedRangeNotSatisfiable
	}
	return first, min(last, size-1) - first + 1, http.StatusPartialContent
}

// position parses a number of bytes. A number above the largest int64 becomes that.
func position(text string) (int64, bool) {
	n, err := strconv.ParseUint(text, 10, 63)
	return int64(n), err == nil || errors.Is(err, strconv.ErrRange)
}
