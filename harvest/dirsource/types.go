package dirsource

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// typeByExtension has the media types of files by the end of their name. The table is the
// same on every system. Text has no charset parameter, since the name does not state one.
var typeByExtension = map[string]string{
	".html": "text/html", ".htm": "text/html",
	".xhtml": "application/xhtml+xml", ".xht": "application/xhtml+xml",
	".txt": "text/plain", ".text": "text/plain", ".log": "text/plain",
	".css": "text/css",
	".csv": "text/csv",
	".tsv": "text/tab-separated-values",
	".md":  "text/markdown", ".markdown": "text/markdown",
	".ics": "text/calendar",
	".vcf": "text/vcard",
	".vtt": "text/vtt",
	".js":  "text/javascript", ".mjs": "text/javascript",
	".json":    "application/json",
	".jsonld":  "application/ld+json",
	".geojson": "application/geo+json",
	".yaml":    "application/yaml", ".yml": "application/yaml",
	".xml": "application/xml", ".xsd": "application/xml",
	".xsl": "application/xslt+xml", ".xslt": "application/xslt+xml",
	".atom": "application/atom+xml",
	".rss":  "application/rss+xml",
	".rdf":  "application/rdf+xml", ".owl": "application/rdf+xml",
	".ttl":  "text/turtle",
	".trig": "application/trig",
	".nt":   "application/n-triples",
	".nq":   "application/n-quads",
	".n3":   "text/n3",
	".akn":  "application/akn+xml",
	".pdf":  "application/pdf",
	".ps":   "application/postscript", ".eps": "application/postscript",
	".rtf":  "application/rtf",
	".epub": "application/epub+zip",
	".odt":  "application/vnd.oasis.opendocument.text",
	".ods":  "application/vnd.oasis.opendocument.spreadsheet",
	".odp":  "application/vnd.oasis.opendocument.presentation",
	".doc":  "application/msword",
	".xls":  "application/vnd.ms-excel",
	".ppt":  "application/vnd.ms-powerpoint",
	".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
	".png":  "image/png",
	".jpg":  "image/jpeg", ".jpeg": "image/jpeg",
	".gif":  "image/gif",
	".webp": "image/webp",
	".avif": "image/avif",
	".svg":  "image/svg+xml",
	".tif":  "image/tiff", ".tiff": "image/tiff",
	".ico":   "image/vnd.microsoft.icon",
	".woff":  "font/woff",
	".woff2": "font/woff2",
	".ttf":   "font/ttf",
	".otf":   "font/otf",
	".mp3":   "audio/mpeg",
	".ogg":   "audio/ogg", ".oga": "audio/ogg",
	".flac": "audio/flac",
	".mp4":  "video/mp4",
	".webm": "video/webm",
	".zip":  "application/zip",
	".gz":   "application/gzip", ".tgz": "application/gzip",
	".zst":  "application/zstd",
	".tar":  "application/x-tar",
	".wasm": "application/wasm",
}

// sniffed is how many of the first bytes decide the type of a file.
const sniffed = 512

// magic are beginnings of files that are not text.
var magic = [...]struct{ start, mediaType string }{
	{"%PDF-", "application/pdf"},
	{"%!PS-", "application/postscript"},
	{`{\rtf`, "application/rtf"},
	{"\x89PNG\r\n\x1a\n", "image/png"},
	{"\xff\xd8\xff", "image/jpeg"},
	{"GIF87a", "image/gif"},
	{"GIF89a", "image/gif"},
	{"II*\x00", "image/tiff"},
	{"MM\x00*", "image/tiff"},
	{"PK\x03\x04", "application/zip"},
	{"PK\x05\x06", "application/zip"},
	{"\x1f\x8b", "application/gzip"},
	{"\x28\xb5\x2f\xfd", "application/zstd"},
	{"\x00asm", "application/wasm"},
}

// markup are beginnings of texts, in lower case, that identify their type.
var markup = [...]struct{ start, mediaType string }{
	{"<?xml", "application/xml"},
	{"<!doctype html", "text/html"},
	{"<html", "text/html"},
	{"<svg", "image/svg+xml"},
}

// typeByContent returns the media type of a file by its first bytes: at least sniffed of
// them, if it has as many.
func typeByContent(head []byte) string {
	for _, m := range magic {
		if bytes.HasPrefix(head, []byte(m.start)) {
			return m.mediaType
		}
	}
	if len(head) >= 12 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP" {
		return "image/webp"
	}
	text, marked := bytes.CutPrefix(head, []byte("\ufeff"))
	if len(head) == 0 || !isText(text, len(head) >= sniffed) {
		return "application/octet-stream"
	}
	start := strings.ToLower(string(bytes.TrimLeft(text, " \t\r\n")))
	for _, m := range markup {
		if strings.HasPrefix(start, m.start) {
			return m.mediaType
		}
	}
	if marked || !isASCII(text) {
		return "text/plain; charset=utf-8"
	}
	return "text/plain" // the bytes of the next types may contain ASCII
}

// isText reports whether b is UTF-8 without control characters that texts don't have. If
// cut is true, its last character may be incomplete.
func isText(b []byte, cut bool) bool {
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		switch {
		case r == utf8.RuneError && n == 1:
			return cut && !utf8.FullRune(b)
		case r < ' ' && !strings.ContainsRune("\t\n\f\r\x1b", r), r == 0x7f:
			return false
		}
		b = b[n:]
	}
	return true
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
