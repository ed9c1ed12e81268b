package publish

import (
	"encoding/base64"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
)

// The policies of documents.
const (
	sandbox = "sandbox; default-src 'none'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; " +
		"font-src 'self'; media-src 'self'"

	forever    = "public, max-age=31536000, immutable"
	revalidate = "no-cache" // a cache may keep it, but must revalidate it
)

// header sets the fields of an answer with a document.
func (a *answer) header(h http.Header) {
	a.cacheHeader(h)
	h.Set("Content-Type", contentType(a.doc.Type))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Accept-Ranges", "bytes")
	if !a.h.Trusted {
		h.Set("Content-Security-Policy", sandbox)
	}
	switch {
	case a.gzip:
		h.Set("Content-Encoding", "gzip")
	case isTokens(a.doc.Encoding):
		h.Set("Content-Encoding", a.doc.Encoding)
	}
	if !a.gzip {
		digestHeaders(h, a.doc.Digests)
	}
	for _, l := range a.doc.Links {
		if text := formatLink(l); text != "" {
			h.Add("Link", text)
		}
	}
}

// cacheHeader sets the fields that a 304 also has (RFC 9110 §15.4.5).
func (a *answer) cacheHeader(h http.Header) {
	if tag := a.etag(); tag != "" {
		h.Set("ETag", tag)
	}
	if t := a.lastModified(time.Now()); !t.IsZero() {
		h.Set("Last-Modified", t.UTC().Format(http.TimeFormat))
	}
	if a.doc.Final {
		h.Set("Cache-Control", forever)
	} else {
		h.Set("Cache-Control", revalidate)
	}
	if a.vary {
		h.Add("Vary", "Accept-Encoding")
	}
}

// contentType returns text if it is a media type that is safe to send, and otherwise
// application/octet-stream: a client may guess any type if it is invalid, and the parts
// of a multipart/x-mixed-replace have their own headers, without the policy.
func contentType(text string) string {
	name, _, err := mime.ParseMediaType(text)
	if err != nil || !isPrintable(text) || !strings.Contains(text, "/") || name == "multipart/x-mixed-replace" {
		return "application/octet-stream"
	}
	return text
}

// isTokens reports whether s is a list of content codings.
func isTokens(s string) bool {
	const separators = `"(),/:;<=>?@[\]{} `
	for token := range strings.SplitSeq(s, ",") {
		token = strings.Trim(token, " \t")
		if token == "" || !isPrintable(token) || strings.ContainsAny(token, separators) {
			return false
		}
	}
	return true
}

// isPrintable reports whether s is printable ASCII.
func isPrintable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// The names of algorithms in Repr-Digest, which allows strong ones only, and in Digest.
var (
	reprNames   = map[string]string{"sha-256": "sha-256", "sha-512": "sha-512"}
	digestNames = map[string]string{"md5": "MD5", "sha-1": "SHA", "sha-256": "SHA-256", "sha-512": "SHA-512"}
)

// digestHeaders sets Repr-Digest (RFC 9530 §3) and the older Digest (RFC 3230 §4.3.2).
func digestHeaders(h http.Header, ds websync.Digests) {
	var repr, older []string
	for _, d := range ds {
		if !d.Known() {
			continue
		}
		sum := base64.StdEncoding.EncodeToString([]byte(d.Sum))
		if name, ok := reprNames[d.Algorithm]; ok {
			repr = append(repr, name+"=:"+sum+":")
		}
		older = append(older, digestNames[d.Algorithm]+"="+sum)
	}
	if len(repr) > 0 {
		h.Set("Repr-Digest", strings.Join(repr, ", "))
	}
	if len(older) > 0 {
		h.Set("Digest", strings.Join(older, ","))
	}
}

// formatLink returns a link in the syntax of RFC 8288 §3, or "" if it has no target or no
// printable relation.
func formatLink(l websync.Link) string {
	if l.Href == "" || l.Rel == "" || !isPrintable(l.Rel) {
		return ""
	}
	var b strings.Builder
	b.WriteString("<" + syntax.Escape(l.Href, syntax.URI.Has) + ">; rel=" + quoted(l.Rel))
	if l.Type != "" && isPrintable(l.Type) {
		b.WriteString("; type=" + quoted(l.Type))
	}
	if l.Lang != "" && isTokens(l.Lang) && !strings.Contains(l.Lang, ",") {
		b.WriteString("; hreflang=" + l.Lang)
	}
	switch {
	case l.Title == "":
	case isPrintable(l.Title):
		b.WriteString("; title=" + quoted(l.Title))
	default:
		b.WriteString("; title*=UTF-8''" + syntax.Escape(strings.ToValidUTF8(l.Title, "\uFFFD"), syntax.Alnum.Has))
	}
	return b.String()
}

// quoted returns a quoted-string (RFC 9110 §5.6.4) of printable text.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
