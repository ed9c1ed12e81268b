package sitemap

import (
	"bytes"
	"io"

	"github.com/websync-go/websync/internal/document"
)

// Sitemaps returns the values of the Sitemap lines of a robots.txt file, each once and in
// their order. They are returned as written, and may be relative. The name of a line may
// be in any case, and a comment starts with "#". The lines belong to no group of the file
// (RFC 9309 §2.2.4).
//
// Sitemaps reads r to its end. Limit it if it can't be trusted; RFC 9309 §2.5 demands
// that readers take 500 KiB.
func Sitemaps(r io.Reader) ([]string, error) {
	const maxURL = 8 << 10
	var (
		urls []string
		seen = make(map[string]bool)
	)
	for l := newLines(r); ; {
		line, long, err := l.next()
		if err == io.EOF {
			return urls, nil
		}
		if err != nil {
			return urls, err
		}
		if l.n == 1 {
			line = bytes.TrimPrefix(line, []byte(document.ByteOrderMark))
		}
		line, _, _ = bytes.Cut(line, []byte("#"))
		name, value, ok := bytes.Cut(line, []byte(":"))
		value = bytes.TrimSpace(value)
		if !ok || long || len(value) == 0 || len(value) > maxURL || !bytes.EqualFold(bytes.TrimSpace(name), []byte("sitemap")) {
			continue
		}
		if url := string(value); !seen[url] {
			seen[url] = true
			urls = append(urls, url)
		}
	}
}
