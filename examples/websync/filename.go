package main

import (
	"crypto/sha256"
	"fmt"
	"net/url"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
)

const (
	maxSegment = 200  // bytes of one name
	maxPath    = 1000 // bytes of a path
	keptPart   = 80   // bytes of a name that is too long
)

// filePath returns the path of the file for a body: its host, the path of its URL and its
// query, and its name, unless it is the content or has a URL of its own. A body whose URI
// has no host is in "other". The result is a valid, relative path on all systems, without
// names that are special on one of them.
func filePath(b *liveBody) string {
	u := hostedURL(b)
	suffix := ""
	if b.body.Name != websync.ContentName && (u == nil || u.String() == b.id) {
		suffix = "~" + b.body.Name
	}
	if u == nil {
		return "other/" + segment(b.id+suffix)
	}
	host := hostOf(u)
	segments := strings.Split(strings.TrimPrefix(u.EscapedPath(), "/"), "/")
	last := &segments[len(segments)-1]
	if *last == "" {
		*last = "index.html"
	}
	if u.RawQuery != "" || u.ForceQuery {
		*last += "?" + u.RawQuery
	}
	if u.Fragment != "" {
		*last += "#" + u.EscapedFragment()
	}
	*last += suffix
	for i, s := range segments {
		segments[i] = segment(s)
	}
	host = segment(host)
	if strings.EqualFold(host, indexName) || strings.EqualFold(host, ".websync") {
		host = "_" + host // names of the export itself
	}
	name := host + "/" + path.Join(segments...)
	if len(name) > maxPath {
		name = host + "/" + shortened(name)
	}
	return name
}

// hostedURL returns the URL of a body, or that of its resource; nil if neither has a
// host.
func hostedURL(b *liveBody) *url.URL {
	u, err := url.Parse(b.body.Link.Href)
	if err != nil || u.Host == "" {
		u, err = url.Parse(b.id)
	}
	if err == nil && u.Scheme == "file" && u.Host == "" {
		u.Host = "localhost" // RFC 8089 §2
	}
	if err != nil || u.Host == "" {
		return nil
	}
	return u
}

// hostOf returns the name of the directory for a host; "" for no URL.
func hostOf(u *url.URL) string {
	if u == nil {
		return ""
	}
	host := strings.ToLower(u.Hostname())
	if port := u.Port(); port != "" {
		host += "_" + port
	}
	return host
}

// hostOfKey returns that of the host of a source.
func hostOfKey(source string) string {
	if u, err := url.Parse(source); err == nil {
		return hostOf(u)
	}
	return ""
}

// isOn reports whether a source is on the host of a URL.
func isOn(source string, u *url.URL) bool { return u != nil && hostOf(u) == hostOfKey(source) }

// isOnHost reports whether a source is on the host of an id.
func isOnHost(source, id string) bool {
	u, err := url.Parse(id)
	return err == nil && isOn(source, u)
}

// segment returns s as one name of a path.
func segment(s string) string {
	if s == "" {
		return "_"
	}
	name := syntax.Escape(s, func(c byte) bool {
		return c > ' ' && c < 0x7f && strings.IndexByte(`<>:"/\|?*`, c) < 0
	})
	if strings.Trim(name, ".") == "" {
		return strings.ReplaceAll(name, ".", "%2E")
	}
	if head, ok := strings.CutSuffix(name, "."); ok { // Windows removes the dot
		name = head + "%2E"
	}
	if reserved(name) || strings.HasPrefix(name, ".websync-") {
		name = "_" + name
	}
	if len(name) > maxSegment {
		name = shortened(name)
	}
	return name
}

// shortened returns the beginning of a name, a hash, and its extension, if it has one.
func shortened(name string) string {
	ext := path.Ext(name)
	if len(ext) > 10 || strings.ContainsAny(ext, "%~") {
		ext = ""
	}
	sum := sha256.Sum256([]byte(name))
	return fmt.Sprintf("%s~%x%s", strings.ReplaceAll(name[:keptPart], "/", "_"), sum[:16], ext)
}

// reserved reports whether a name is that of a device on Windows, whatever its extension.
func reserved(name string) bool {
	name, _, _ = strings.Cut(strings.ToUpper(name), ".")
	switch name {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	if len(name) != 4 {
		return false
	}
	return (name[:3] == "COM" || name[:3] == "LPT") && name[3] >= '0' && name[3] <= '9'
}

// escapeURI escapes white space, control characters and bytes that are not UTF-8.
func escapeURI(uri string) string {
	odd := func(r rune) bool { return r == utf8.RuneError || unicode.IsSpace(r) || !unicode.IsPrint(r) }
	if strings.IndexFunc(uri, odd) < 0 {
		return uri
	}
	var b strings.Builder
	for len(uri) > 0 {
		r, n := utf8.DecodeRuneInString(uri)
		b.WriteString(syntax.Escape(uri[:n], func(byte) bool { return !odd(r) }))
		uri = uri[n:]
	}
	return b.String()
}
