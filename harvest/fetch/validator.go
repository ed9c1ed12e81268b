package fetch

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/websync-go/websync/harvest"
)

// condition adds the Request's Validator to the header, and reports whether it has added
// anything. An ETag identifies one representation. A date does not, so it is sent only to
// a URL with the path and query of the request: behind a redirect an older document would
// pass for an unchanged one.
func (k *call) condition(h http.Header, u *url.URL) bool {
	v := k.req.Validator
	if k.plain || v.IsZero() || v.URL != "" && v.URL != k.req.URL || !sendable(v.ETag, v.LastModified) {
		return false
	}
	if v.ETag != "" {
		h["If-None-Match"] = []string{v.ETag}
	}
	same := u == k.url || u.Path == k.url.Path && u.RawQuery == k.url.RawQuery
	if v.LastModified != "" && same {
		h["If-Modified-Since"] = []string{v.LastModified}
	}
	return v.ETag != "" || same
}

// isAnother reports whether the answer is a 304 for another representation than that of
// v: its ETag or, without one, its Last-Modified is not the one that was sent.
//
// QUIRK: WEBrick and civetweb compare the date alone if the ETag differs, and mini_httpd
// has no ETags, so that a file that is replaced by an older one is not modified for ever.
// If-Modified-Since must be ignored beside If-None-Match (RFC 9110 §13.1.3), and a 304
// for what is not held is no answer (RFC 2616 §10.3.5).
func (x *exchange) isAnother(v harvest.Validator) bool {
	if x.resp.StatusCode != http.StatusNotModified || !x.conditional {
		return false
	}
	if got := etagOf(x.resp.Header); got != "" && v.ETag != "" {
		return opaqueTag(got) != opaqueTag(v.ETag)
	}
	sent, err := http.ParseTime(v.LastModified)
	got, err2 := http.ParseTime(x.resp.Header.Get("Last-Modified"))
	return err == nil && err2 == nil && !got.Equal(sent)
}

// opaqueTag returns what the weak comparison compares (RFC 9110 §8.8.3.2), without the
// suffix that servers give the ETag of a compressed representation.
func opaqueTag(etag string) string {
	etag = strings.Trim(strings.TrimPrefix(etag, "W/"), `"`)
	if plain, ok := strings.CutSuffix(etag, "gzip"); ok {
		etag = strings.TrimRight(plain, "-+;:/_")
	}
	return etag
}

// validator returns the Validator of the representation that an answer contains.
func validator(url string, h http.Header) harvest.Validator {
	const long = 1024 // Stores hold millions of them
	v := harvest.Validator{URL: url, ETag: etagOf(h), LastModified: h.Get("Last-Modified")}
	if len(v.ETag) > long || !sendable(v.ETag) {
		v.ETag = ""
	}
	if v.LastModified != "" && (len(v.LastModified) > long || !isPast(v.LastModified, h.Get("Date"))) {
		v.LastModified = ""
	}
	return v
}

func etagOf(h http.Header) string { return strings.TrimSpace(h.Get("ETag")) }

// isPast reports whether a Last-Modified is a date in an earlier second than its answer.
// Within the same second the representation may have changed again, and would pass for
// unchanged for ever (RFC 9110 §8.8.2.2).
func isPast(lastModified, date string) bool {
	modified, err := http.ParseTime(lastModified)
	if err != nil {
		return false
	}
	answered, err := http.ParseTime(date)
	return err != nil || modified.Before(answered)
}

// lastModifiedAge is how much older than its answer a Last-Modified must be to be a
// strong validator (RFC 9110 §8.8.2.2).
const lastModifiedAge = time.Minute

// rangeValidator returns what may stand in If-Range (RFC 9110 §13.1.5): a strong ETag or,
// without an ETag, a Last-Modified that is a strong validator. It is empty if there is
// neither, or if the server states that it does not support ranges.
func rangeValidator(h http.Header) string {
	if strings.EqualFold(strings.TrimSpace(h.Get("Accept-Ranges")), "none") {
		return ""
	}
	if etag := etagOf(h); etag != "" {
		if len(etag) < 2 || etag[0] != '"' || etag[len(etag)-1] != '"' || !sendable(etag) {
			return "" // weak, or malformed
		}
		return etag
	}
	modified, err := http.ParseTime(h.Get("Last-Modified"))
	if err != nil {
		return ""
	}
	date, err := http.ParseTime(h.Get("Date"))
	if err != nil || date.Sub(modified) < lastModifiedAge {
		return ""
	}
	return h.Get("Last-Modified")
}

// sendable reports whether all values may be sent in a header.
func sendable(values ...string) bool {
	for _, v := range values {
		if strings.ContainsFunc(v, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			return false
		}
	}
	return true
}
