package publish

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// A validator is what the conditions of a request are compared with (RFC 9110 §8.8 and
// §13).
type validator struct {
	tag      string // opaque, of the bytes as they are; empty: not known
	modified time.Time
	vary     bool   // there is a gzip form, too
	gzip     bool   // it is the one that is sent
	matched  string // by If-None-Match
}

const gzipSuffix = "-gzip"

// entityTag returns a Publisher's tag as it may stand between quotes (RFC 9110 §8.8.3).
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

// changed returns the time of the last change in whole seconds, rounded up: rounded down
// it would also fit a version that was replaced within that second.
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

// check evaluates the conditions in their order (RFC 9110 §13.2.2) and returns the status
// of the answer: 412, 304, or 0 if they hold.
func (v *validator) check(h http.Header, now time.Time) int {
	if match := h.Values("If-Match"); len(match) > 0 {
		if !anyTag(match, func(tag string, weak bool) bool { return tag == "*" || !weak && tag == v.etag() }) {
			return http.StatusPreconditionFailed
		}
	} else if t, ok := date(h, "If-Unmodified-Since"); ok && v.changed().After(t) {
		return http.StatusPreconditionFailed
	}
	if none := h.Values("If-None-Match"); len(none) > 0 {
		if v.tag != "" && anyTag(none, v.has) {
			return http.StatusNotModified
		}
		return 0
	}
	last := v.lastModified(now)
	if t, ok := date(h, "If-Modified-Since"); ok && !last.IsZero() && !last.After(t) {
		return http.StatusNotModified
	}
	return 0
}

// onlyNoneMatch reports whether check needs no more than to know the tag.
func (v *validator) onlyNoneMatch(h http.Header) bool {
	return h.Get("If-None-Match") != "" && h.Get("If-Match") == "" && h.Get("If-Unmodified-Since") == ""
}

// has reports whether tag, weak or not, is that of one of the two forms. The answer then
// names this one.
func (v *validator) has(tag string, _ bool) bool {
	switch {
	case tag == "*":
		return true
	case tag == `"`+v.tag+`"`, v.vary && tag == `"`+v.tag+gzipSuffix+`"`:
		v.matched = tag
		return true
	}
	return false
}

// ifRange reports whether the reader's part belongs to the bytes that would be sent (RFC
// 9110 §13.1.5). A date says nothing about the coding.
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

// date reads a field that is one date. What is not a date is as if it were not there.
func date(h http.Header, name string) (time.Time, bool) {
	values := h.Values(name)
	if len(values) != 1 {
		return time.Time{}, false
	}
	t, err := http.ParseTime(values[0])
	return t, err == nil
}

// anyTag reports whether ok holds for one of the entity tags in a list, or for "*".
func anyTag(values []string, ok func(tag string, weak bool) bool) bool {
	list := strings.Join(values, ",")
	for {
		list = strings.TrimLeft(list, " \t,")
		if list == "*" {
			return ok("*", false)
		}
		rest, weak := strings.CutPrefix(list, "W/")
		if !strings.HasPrefix(rest, `"`) {
			return false
		}
		end := strings.IndexByte(rest[1:], '"')
		if end < 0 {
			return false
		}
		if ok(rest[:end+2], weak) {
			return true
		}
		list = rest[end+2:]
	}
}

// rangeOf returns the part of size bytes that a request asks for, and the status of the
// answer: 200, 206 or 416 (RFC 9110 §14.2). Other units must be ignored; several ranges,
// and what is none, may be. Of no bytes there is no part.
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
	case from == "" && isLast: // how many of the last
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

// position reads a number of bytes. One that is too large stands for the largest.
func position(text string) (int64, bool) {
	n, err := strconv.ParseUint(text, 10, 63)
	return int64(n), err == nil || errors.Is(err, strconv.ErrRange)
}
