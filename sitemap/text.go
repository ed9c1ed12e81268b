package sitemap

import (
	"bufio"
	"bytes"
	"io"
	"unicode"
	"unicode/utf8"

	"github.com/websync-go/websync/internal/charset"
	"github.com/websync-go/websync/internal/document"
	"github.com/websync-go/websync/internal/syntax"
)

// maxLine limits the lines of text sitemaps and robots.txt files. Longer lines are passed
// over.
const maxLine = 64 << 10

// A lines reads a text line by line. Lines end with LF, CRLF or CR.
type lines struct {
	src  *bufio.Reader
	n    int // of the current line
	cr   bool
	line []byte
}

func newLines(src io.Reader) *lines {
	return &lines{src: bufio.NewReaderSize(src, maxLine)}
}

// next returns the next line without its end, as a view. If a line is longer than
// maxLine, it returns its beginning, and long is true. At the end of the text the error
// is io.EOF.
func (l *lines) next() (line []byte, long bool, err error) {
	l.line = l.line[:0]
	l.n++
	for {
		// Peek fills the buffer, so that b has at least one byte.
		if _, err := l.src.Peek(1); err != nil {
			if err == io.EOF && (len(l.line) > 0 || long) {
				err = nil
			}
			return l.line, long, err
		}
		b, _ := l.src.Peek(l.src.Buffered())
		if l.cr && b[0] == '\n' {
			l.cr = false
			l.src.Discard(1)
			continue
		}
		l.cr = false
		piece, end := b, bytes.IndexAny(b, "\r\n")
		if end >= 0 {
			piece = b[:end]
		}
		if room := maxLine - len(l.line); len(piece) > room {
			piece, long = piece[:room], true
		}
		l.line = append(l.line, piece...)
		if end < 0 {
			l.src.Discard(len(b))
			continue
		}
		l.cr = b[end] == '\r'
		l.src.Discard(end + 1)
		return l.line, long, nil
	}
}

// text returns a text sitemap in UTF-8.
func (r *Reader) text() io.Reader {
	shown, _ := charset.Sniff(r.doc.Head())
	c, notes := charset.Choose(shown, charset.Of(r.ContentType), "")
	for _, note := range notes {
		r.reportDocument(document.Encoding, 1, 1, nil, note)
	}
	if c.Encoding == charset.UTF8 {
		return r.doc
	}
	r.reportDocument(document.Encoding, 1, 1, []byte(r.ContentType), "the charset of the Content-Type is not UTF-8")
	return charset.NewReader(r.doc, c, nil, nil)
}

// isText reports whether a document is a text sitemap: its first line that is neither
// blank nor a comment is a URL.
func isText(head []byte) bool {
	for line := range bytes.FieldsFuncSeq(bytes.TrimPrefix(head, []byte(document.ByteOrderMark)),
		func(c rune) bool { return c == '\n' || c == '\r' }) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' {
			return syntax.HTTPHost(line) > 0
		}
	}
	return false
}

// nextLine reads one entry of a text sitemap.
func (r *Reader) nextLine() error {
	for {
		if r.reports.Fatal != nil {
			return r.reports.Fatal
		}
		line, long, err := r.lines.next()
		if err == io.EOF {
			return r.end()
		}
		if err != nil {
			return r.doc.Fail(r.lines.n, 1, "", err)
		}
		if r.lines.n == 1 {
			line = bytes.TrimPrefix(line, []byte(document.ByteOrderMark))
		}
		rest := bytes.TrimLeftFunc(line, unicode.IsSpace)
		url := bytes.TrimRightFunc(rest, unicode.IsSpace)
		if len(url) == 0 {
			continue
		}
		r.line, r.column = r.lines.n, 1+len(line)-len(rest)
		r.view.reset(r.line, r.column)
		if url[0] == '#' {
			r.reportChild(ruleTextLine, url, "a comment: text sitemaps hold nothing but URLs")
			continue
		}
		if err := r.count(); err != nil {
			return err
		}
		if wrong := lineFault(url, long); wrong != "" {
			r.reports.Skipped++
			r.reports.Loss(ruleTextLine, r.line, r.column, "", url, wrong)
			continue
		}
		if len(url) != len(line) {
			r.reportChild(ruleLocSpace, line, "white space around the URL")
		}
		r.takeLoc(url)
		if r.view.loc == (span{}) {
			r.reports.Skipped++
			continue
		}
		r.view.finish()
		return r.reports.Fatal
	}
}

func lineFault(url []byte, long bool) string {
	switch {
	case long:
		return "a line over 64 KiB"
	case !utf8.Valid(url):
		return "a line that is not UTF-8"
	case syntax.HTTPHost(url) == 0:
		return "a line that is not an absolute URL"
	case bytes.ContainsAny(url, " \t\v\f"):
		return "white space inside the line: one URL a line, nothing else"
	}
	return ""
}
