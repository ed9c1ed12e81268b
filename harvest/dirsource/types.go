package dirsource

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// typeByExtension returns the media type of files whose name ends in ext, "" if it is not
// known. The table is the same on every system. Text has no charset parameter, since the
// name does not state one.
func typeByExtension(ext string) string {
	switch ext {
	case ".html", ".htm":
		return "text/html"
	case ".xhtml", ".xht":
		return "application/xhtml+xml"
	case ".txt", ".text", ".log":
		return "text/plain"
	case ".css":
		return "text/css"
	case ".csv":
		return "text/csv"
	case ".tsv":
		return "text/tab-separated-values"
	case ".md", ".markdown":
		return "text/markdown"
	case ".ics":
		return "text/calendar"
	case ".vcf":
		return "text/vcard"
	case ".vtt":
		return "text/vtt"
	case ".js", ".mjs":
		return "text/javascript"
	case ".json":
		return "application/json"
	case ".jsonld":
		return "application/ld+json"
	case ".geojson":
		return "application/geo+json"
	case ".yaml", ".yml":
		return "application/yaml"
	case ".xml", ".xsd":
		return "application/xml"
	case ".xsl", ".xslt":
		return "application/xslt+xml"
	case ".atom":
		return "application/atom+xml"
	case ".rss":
		return "application/rss+xml"
	case ".rdf", ".owl":
		return "application/rdf+xml"
	case ".ttl":
		return "text/turtle"
	case ".trig":
		return "application/trig"
	case ".nt":
		return "application/n-triples"
	case ".nq":
		return "application/n-quads"
	case ".n3":
		return "text/n3"
	case ".akn":
		return "application/akn+xml"
	case ".pdf":
		return "application/pdf"
	case ".ps", ".eps":
		return "application/postscript"
	case ".rtf":
		return "application/rtf"
	case ".epub":
		return "application/epub+zip"
	case ".odt":
		return "application/vnd.oasis.opendocument.text"
	case ".ods":
		return "application/vnd.oasis.opendocument.spreadsheet"
	case ".odp":
		return "application/vnd.oasis.opendocument.presentation"
	case ".doc":
		return "application/msword"
	case ".xls":
		return "application/vnd.ms-excel"
	case ".ppt":
		return "application/vnd.ms-powerpoint"
	case ".docx":
		return "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	case ".xlsx":
		return "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	case ".pptx":
		return "application/vnd.openxmlformats-officedocument.presentationml.presentation"
	case ".png":
		return "image/png"
	case ".jpg", ".jpeg":
		return "image/jpeg"
	case ".gif":
		return "image/gif"
	case ".webp":
		return "image/webp"
	case ".avif":
		return "image/avif"
	case ".svg":
		return "image/svg+xml"
	case ".tif", ".tiff":
		return "image/tiff"
	case ".ico":
		return "image/vnd.microsoft.icon"
	case ".woff":
		return "font/woff"
	case ".woff2":
		return "font/woff2"
	case ".ttf":
		return "font/ttf"
	case ".otf":
		return "font/otf"
	case ".mp3":
		return "audio/mpeg"
	case ".ogg", ".oga":
		return "audio/ogg"
	case ".flac":
		return "audio/flac"
	case ".mp4":
		return "video/mp4"
	case ".webm":
		return "video/webm"
	case ".zip":
		return "application/zip"
	case ".gz", ".tgz":
		return "application/gzip"
	case ".zst":
		return "application/zstd"
	case ".tar":
		return "application/x-tar"
	case ".wasm":
		return "application/wasm"
	}
	return ""
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
