package sitemap

import (
	"bytes"
	"io"

	"github.com/websync-go/websync/internal/document"
)

// Sitemaps returns the URLs that the Sitemap lines of a robots.txt file name, each once
// and in their order. They are returned as they stand, which may be relative. A line's
// name may be in any case; everything from a "#" is a comment. The lines belong to no
// group of the file (RFC 9309 §2.2.4).
//
// Robots.txt files are bounded in practice (RFC 9309 §2.5 asks readers for 500 KiB):
// limit r if it can't be trusted.
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
