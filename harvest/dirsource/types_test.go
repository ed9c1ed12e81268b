package dirsource_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/websync-go/websync/harvest/dirsource"
)

func TestTypeByContent(t *testing.T) {
	const binary, utf8 = "application/octet-stream", "text/plain; charset=utf-8"
	for _, c := range []struct{ name, head, want string }{
		{"empty", "", binary},
		{"PDF", "%PDF-1.7\n%\xe2\xe3", "application/pdf"},
		{"PostScript", "%!PS-Adobe-3.0", "application/postscript"},
		{"RTF", `{\rtf1`, "application/rtf"},
		{"PNG", "\x89PNG\r\n\x1a\n\x00\x00", "image/png"},
		{"JPEG", "\xff\xd8\xff\xe0", "image/jpeg"},
		{"GIF", "GIF89a\x01\x00", "image/gif"},
		{"WebP", "RIFF\x10\x00\x00\x00WEBPVP8 ", "image/webp"},
		{"another RIFF", "RIFF\x10\x00\x00\x00WAVEfmt ", binary},
		{"ZIP", "PK\x03\x04\x14\x00", "application/zip"},
		{"gzip", "\x1f\x8b\x08", "application/gzip"},
		{"XML", "<?xml version=\"1.0\"?><a/>", "application/xml"},
		{"XML after a mark", "\ufeff<?xml version=\"1.0\"?><a/>", "application/xml"},
		{"HTML", "\n <!DOCTYPE HTML><p>", "text/html"},
		{"HTML without doctype", "<html lang=\"sv\">", "text/html"},
		{"SVG", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>", "image/svg+xml"},
		{"ASCII", "Be it enacted\r\n\tthat", "text/plain"},
		{"UTF-8", "Härmed förordnas", utf8},
		{"marked", "\ufeffplain", utf8},
		{"Latin-1", "H\xe4rmed", binary},
		{"control characters", "text\x00", binary},
		{"a character cut at the end", strings.Repeat("x", 510) + "\xe2\x82", utf8},
		{"a character missing at the end", "short \xe2\x82", binary},
		{"a wrong character at the end", strings.Repeat("x", 511) + "\xff", binary},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, dirsource.TypeByContent([]byte(c.head))) })
	}
}

func TestTypeByName(t *testing.T) {
	s := &dirsource.Source{Types: map[string]string{".foo": "text/x-foo", ".pdf": ""}}
	for name, want := range map[string]string{"a.html": "text/html", "A.HTM": "text/html", "a.tar.gz": "application/gzip", "a": "",
		"a.": "", "a.unknown": "", "a.foo": "text/x-foo", "A.FOO": "text/x-foo", "a.pdf": "", ".json": "application/json"} {
		assert.Equal(t, want, dirsource.TypeByName(s, name), name)
	}
}
